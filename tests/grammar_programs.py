"""Generated syntax trees and the built-ins that the tests of the grammar pretend to have."""

from hypothesis import strategies as st

from gradcli.grammar import ast
from gradcli.ir import Signature
from gradcli.source import Source, Span

AT = Span(0, 0)
BINARY = ["+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^"]
COMPARISONS = ["<", "<=", ">", ">=", "==", "!=", "is", "in", "is not", "not in"]


def source(text):
    return Source("t.grad", text)


# --- built-ins -----------------------------------------------------------------------------------


def signature(name, positional=("x",), required=None, **others):
    fields = {
        "required": len(positional) if required is None else required,
        "keywords": (),
        "variadic": False,
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
            signature("pi", (), constant=True, method=False),
            signature("e", (), constant=True, method=False),
        ]
        self._table = {entry.name: entry for entry in table}

    def __contains__(self, name):
        return name in self._table

    def __getitem__(self, name):
        return self._table[name]

    def names(self):
        return list(self._table)

    def attributes(self):
        return frozenset({"grad", "shape", "backward", "append", "saved_tensors", "apply", "data"})


# --- expressions ---------------------------------------------------------------------------------

names = st.sampled_from(["x", "y", "w1", "_a", "input", "param", "f", "iffy", "\u03b1"])
texts = st.text(
    st.one_of(
        st.sampled_from("ab {}\\'\"\n\r\t\0#\u202e\u00e9\U0001f600"),
        st.characters(exclude_categories=("Cs",)),
    ),
    max_size=6,
)
numbers = st.one_of(st.integers(0, 2**63 - 1), st.floats(0, allow_nan=False, allow_infinity=False))
literals = st.builds(
    ast.Literal, st.just(AT), st.one_of(numbers, texts, st.sampled_from([True, False, None, ...]))
)
leaves = st.one_of(literals, st.builds(ast.Name, st.just(AT), names))


def node(kind, *fields):
    return st.builds(kind, st.just(AT), *fields)


def tuples(values, least=0, most=3):
    return st.lists(values, min_size=least, max_size=most).map(tuple)


def params(values):
    return tuples(node(ast.Param, names, st.none() | values))


def compare(values):
    ops = st.sampled_from(COMPARISONS)
    pairs = st.lists(st.tuples(ops, values), min_size=1, max_size=2)
    return st.builds(
        lambda first, rest: ast.Compare(
            AT, first, tuple(op for op, _ in rest), tuple(value for _, value in rest)
        ),
        values,
        pairs,
    )


def merged(parts):
    """Texts of an f-string as the parser leaves them: none empty, no two side by side."""
    kept = []
    for part in parts:
        if isinstance(part, ast.Literal) and kept and isinstance(kept[-1], ast.Literal):
            kept[-1] = ast.Literal(AT, kept[-1].value + part.value)
        elif not (isinstance(part, ast.Literal) and part.value == ""):
            kept.append(part)
    return tuple(kept)


pieces = node(ast.Literal, texts)


def formatted(values, spec):
    return node(ast.Formatted, values, st.just(""), st.sampled_from(["", "r", "s", "a"]), spec)


def fstrings(values):
    simple = formatted(values, st.just(()))
    spec = st.lists(st.one_of(pieces, simple), max_size=2).map(merged)
    parts = st.lists(st.one_of(pieces, formatted(values, spec)), max_size=3).map(merged)
    return node(ast.FString, parts)


def indices(values):
    bounds = st.none() | values
    one = st.one_of(values, node(ast.Slice, bounds, bounds, bounds))
    return st.one_of(one, node(ast.Tuple, tuples(one, 1)))


def inner(values):
    keywords = tuples(node(ast.Keyword, names, values), 0, 2)
    binary = st.sampled_from(BINARY)
    return st.one_of(
        node(ast.List, tuples(values)),
        node(ast.Tuple, tuples(values)),
        node(ast.Unary, st.sampled_from(["+", "-", "~", "not"]), values),
        node(ast.Binary, binary, values, values),
        compare(values),
        node(ast.Boolean, st.sampled_from(["and", "or"]), tuples(values, 2)),
        node(ast.IfElse, values, values, values),
        node(ast.Call, values, tuples(values, 0, 2), keywords),
        node(ast.Index, values, indices(values)),
        node(ast.Attribute, values, names),
        node(ast.Lambda, params(values), values),
    )


plain = st.recursive(leaves, inner, max_leaves=10)
expressions = st.one_of(
    plain, st.recursive(st.one_of(leaves, fstrings(leaves)), inner, max_leaves=8)
)

# --- statements ----------------------------------------------------------------------------------

types = node(
    ast.Type,
    st.sampled_from(["float", "int", "bool"]),
    st.one_of(st.none(), st.just((...,)), tuples(st.one_of(st.integers(0, 99), names), 1)),
)
modules = st.sampled_from(["torch", "torch.nn.functional", "math"])
aliases = st.sampled_from(["", "T"])
imports = st.one_of(
    node(ast.Import, modules, st.tuples(st.tuples(st.just(""), aliases))),
    node(ast.Import, modules, tuples(st.tuples(names, aliases), 1)),
    node(ast.Import, modules, st.just((("*", ""),))),
)
simple = st.one_of(
    node(ast.Assign, tuples(expressions, 1, 2), expressions),
    node(ast.Update, expressions, st.sampled_from(BINARY), expressions),
    node(ast.ExprStatement, expressions),
    st.sampled_from([ast.Break(AT), ast.Continue(AT), ast.Pass(AT)]),
    node(ast.Assert, expressions, st.none() | expressions),
    node(ast.Return, st.none() | expressions),
    node(
        ast.Declaration,
        st.sampled_from(["input", "param"]),
        names,
        st.none() | types,
        st.none() | expressions,
    ),
    imports,
)


def compound(statements):
    body = tuples(statements, 1, 2)
    return st.one_of(
        node(ast.If, expressions, body, st.one_of(st.just(()), body)),
        node(ast.While, expressions, body),
        node(ast.For, expressions, expressions, body),
        node(ast.With, expressions, body),
        node(ast.Def, names, params(expressions), body, tuples(st.just("staticmethod"), 0, 1)),
        node(ast.Class, names, expressions, body),
    )


statements = st.recursive(simple, compound, max_leaves=4)
programs = node(ast.Module, tuples(statements, 0, 3))
