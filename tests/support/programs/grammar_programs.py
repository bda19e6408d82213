"""Random texts in all forms of the language, and the pretended built-ins of the grammar's tests."""

import random

from gradcli.ir.signature import Signature
from gradcli.source import Source, Span

AT = Span(0, 0)


def source(text):
    return Source("t.grad", text)


# --- built-ins -----------------------------------------------------------------------------------


def signature(name, positional=("x",), required=None, **others):
    fields = {
        "required": len(positional) if required is None else required,
        "keywords": (),
        "variadic": False,
        "any_name": False,
        "gathers": False,
        "aliases": {},
        "constant": False,
        "pure": True,
        "method": True,
    }
    return Signature(name=name, positional=positional, **{**fields, **others})


class FakeSignatures:
    """A handful of built-ins of every kind."""

    def __init__(self):
        made = ("requires_grad", "dtype")
        table = [
            *(signature(name) for name in ("sin", "exp", "relu", "sqrt", "t", "mean")),
            signature(
                "sum",
                ("x", "dim", "keepdim"),
                1,
                keywords=("dtype",),
                aliases={"axis": "dim", "keepdims": "keepdim"},
            ),
            signature("tensor", ("data",), keywords=made, method=False),
            signature("zeros", (), keywords=made, variadic=True, method=False),
            signature("randn", (), keywords=made, variadic=True, pure=False, method=False),
            signature("Variable", ("data", "requires_grad"), 1, method=False),
            signature("print", (), keywords=("sep", "end"), variadic=True, pure=False),
            signature("range", ("start", "stop", "step"), 1, method=False),
            signature("grad", ("f", "argnums"), 1, method=False),
            signature("maximum", ("x", "y")),
            signature("pi", (), constant="a number", method=False),
            signature("e", (), constant="a number", method=False),
            signature("forward_index", ("value", "index"), method=False),
        ]
        self._table = {entry.name: entry for entry in table}

    def __contains__(self, name):
        return name in self._table

    def __getitem__(self, name):
        return self._table[name]

    def names(self):
        return list(self._table)

    def in_library(self, path):
        return path in ("ValueError", "torch.nn.Linear")

    def exported(self, module):
        return []

    def names_later(self, path):
        return False

    def is_member(self, name):
        return False

    @property
    def attributes(self):
        return frozenset({"grad", "shape", "backward", "append", "saved_tensors", "apply", "data"})

    @property
    def of_python(self):
        return frozenset()


# --- texts ---------------------------------------------------------------------------------------

NAMES = ["x", "y", "w1", "_a", "input", "param", "f", "iffy", "\u03b1"]
LITERALS = ["0", "1_000", "0x1F", "0b1_0", "2.5e-3", ".5", "5.", "True", "False", "None", "..."]
STRINGS = ["''", "\"a\" 'b'", r"r'\d'", "'''a\n\"b'''", r"'\x41\q'", '"# {}"', "'a\\\nb'"]
BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!=", "is", "in", "is not", "not in"]


class Text:
    """Writes a random program in all forms of the language, which need not make sense."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def program(self) -> str:
        """Its text."""
        return "".join(self.statement(2) for _ in range(self.rng.randint(0, 4)))

    # expressions: any, an operand, a callee

    def test(self, depth: int) -> str:
        a = self.operand(depth)
        if depth <= 0:
            return a
        b, c = self.operand(depth - 1), self.operand(depth - 1)
        forms = [
            a, a, a, f"{a} if {b} else {c}", f"lambda {self.parameters(depth)}: {a}",
            f"{a} or {b} and {c}", f"not {a}", f"{a} {self.one(COMPARISONS)} {b}",
            f"{a} {self.one(COMPARISONS)} {b} {self.one(COMPARISONS)} {c}",
        ]  # fmt: skip
        return self.one(forms)

    def operand(self, depth: int) -> str:
        a = self.atom(depth)
        if depth <= 0:
            return a
        b, gap = self.operand(depth - 1), self.one(["", " ", " \\\n "])
        return self.one([a, f"{a} {self.one(BINARY)}{gap}{b}", f"{self.one('+-~')}{gap}{b}"])

    def atom(self, depth: int) -> str:
        leaf = self.one([*NAMES, *NAMES, *LITERALS, self.one(STRINGS)])
        if depth <= 0:
            return leaf
        name, other = self.one(NAMES), self.one(NAMES)
        forms = [
            leaf, f"({self.test(depth - 1)})", f"({self.several(depth)})", "()", "[]",
            f"[{self.several(depth)}]", f"({leaf}).{name}", f"{name}.{other}",
            f"{name}({self.arguments(depth)})", f"{name}[{self.subscripts(depth)}]",
            f"f'{self.replaced()}'",
        ]  # fmt: skip
        return self.one(forms)

    def several(self, depth: int) -> str:
        """One or more items in brackets, where a line may end anywhere."""
        gap = self.one([" ", "\n  ", "  # c\n"])
        parts = [self.test(depth - 1) for _ in range(self.rng.randint(1, 3))]
        return f",{gap}".join(parts) + self.one(["", ",", f",{gap}"])

    def arguments(self, depth: int) -> str:
        parts = [self.test(depth - 1) for _ in range(self.rng.randint(0, 2))]
        parts += [f"{name}={self.test(depth - 1)}" for name in NAMES[: self.rng.randint(0, 2)]]
        return ", ".join(parts) + self.one(["", "," if parts else ""])

    def subscripts(self, depth: int) -> str:
        a, b = self.test(depth - 1), self.test(depth - 1)
        forms = [a, f"{a}:", f":{b}", ":", "::", f"{a}:{b}", f"{a}:{b}:{a}", f"::{b}", "..."]
        first, second = self.one(forms), self.one(forms)
        return self.one([first, first, f"{first}, {second}", f"{first},"])

    def replaced(self) -> str:
        """The inside of an f-string in single quotes."""
        value = self.one([*NAMES, "x + y", "x[1:]", '"a"', "(lambda: 1)", "x != y", "x,"])
        after = self.one(["", "=", " = ", "!r", "!s:>3", "=!r", ":.3f", ":>{w}.3f"])
        return f"{self.one(['', 'a', '{{'])}{{{value}{after}}}{self.one(['', '}}', '{x}'])}"

    def parameters(self, depth: int) -> str:
        parts = [f"p{i}" for i in range(self.rng.randint(0, 2))]
        parts += [f"q{i}={self.test(depth - 1)}" for i in range(self.rng.randint(0, 1))]
        return ", ".join(parts)

    # statements, each with the ends of its lines

    def statement(self, depth: int, indent: str = "") -> str:
        if depth > 0 and self.rng.random() < 0.5:
            return self.compound(depth, indent)
        parts = [self.simple() for _ in range(self.one([1, 1, 2]))]
        end = self.one(["\n", "\n", ";\n", "  # c\n", "\r\n", "\n\n  # d\n"])
        return indent + "; ".join(parts) + end

    def simple(self) -> str:
        a, b, name = self.test(2), self.test(2), self.one(NAMES)
        forms = [
            a, f"{a}, {b}", f"{name} = {a}", f"{name} = {name}.y = {a}", f"{name}, y = {a}, {b}",
            f"{name}[{self.subscripts(1)}] = {a}", f"{name} {self.one(BINARY)}= {a}", "pass",
            "break", "continue", f"assert {a}", f"assert {a}, {b}", "return", f"return {a}",
            f"return {a}, {b}", "input x", f"param w: {self.declared()}", f"input k = {a}",
            f"param w: {self.declared()} = {a}, {b}", "import torch", "import math as m, torch",
            "import torch.nn.functional as F", "from math import *", "from math import pi as p, e",
            "from torch.nn import (\n  relu,\n)",
        ]  # fmt: skip
        return self.one(forms)

    def declared(self) -> str:
        return self.one(["float", "int[n]", "bool[...]", "float[3, n,]", "float[2]"])

    def compound(self, depth: int, indent: str) -> str:
        a, b, name = self.test(1), self.test(1), self.one(NAMES)
        block, other = self.block(depth, indent), self.block(depth, indent)
        function = f"def {name}({self.parameters(1)}):{block}"
        forms = [
            f"if {a}:{block}", f"if {a}:{block}{indent}else:{other}",
            f"if {a}:{block}{indent}elif {b}:{other}{indent}else:{block}", function,
            f"while {a}:{block}", f"for {name} in {a}, {b}:{block}", f"with {a}:{block}",
            f"for i, (j, {name}) in {a}:{block}", f"@staticmethod\n{indent}{function}",
            f"class F(Function):{block}",
        ]  # fmt: skip
        return indent + self.one(forms)

    def block(self, depth: int, indent: str) -> str:
        if self.rng.random() < 0.3:
            return f" {self.simple()}\n"
        inner = indent + self.one([" ", "    ", "\t"])
        statements = [self.statement(depth - 1, inner) for _ in range(self.rng.randint(1, 2))]
        return self.one(["\n", "  # c\n", "\n\n"]) + "".join(statements)

    def one(self, forms):
        return self.rng.choice(forms)


def text(seed: int) -> str:
    """A random program in all forms of the language."""
    return Text(seed).program()
