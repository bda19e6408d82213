"""Print the scalar form as LLVM text."""

from __future__ import annotations

from gradcli.engine.compile.llvm.emit.libm import from_library
from gradcli.engine.compile.llvm.emit.writer import (
    RARE,
    TYPES,
    Definition,
    Number,
    Writer,
    constant,
)
from gradcli.engine.compile.scalar.form import (
    CHECKED,
    Bail,
    Block,
    Branch,
    Call,
    Do,
    Edge,
    Function,
    Give,
    GiveUp,
    Instruction,
    Jump,
    Library,
    Operand,
    Repeat,
    Undefined,
    Value,
    type_of,
)

_INF, _ZERO = "0x7FF0000000000000", "0x0000000000000000"
_FABS = "call double @llvm.fabs.f64(double {0})"
_COMPARED = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_SIGNED = {"eq": "eq", "ne": "ne", "lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge"}
_PLAIN = {
    **{f"float_{name}": f"f{name} double {{0}}, {{1}}" for name in ("add", "sub", "mul", "div")},
    **{f"float_{name}": f"fcmp {how} double {{0}}, {{1}}" for name, how in _COMPARED.items()},
    **{f"int_{name}": f"icmp {how} i64 {{0}}, {{1}}" for name, how in _SIGNED.items()},
    **{f"{t}_select": f"select i1 {{0}}, {TYPES[t]} {{1}}, {TYPES[t]} {{2}}" for t in TYPES},
    **{
        f"{t}_{name}": f"{name} {TYPES[t]} {{0}}, {{1}}"
        for t in ("int", "bool")
        for name in ("and", "or", "xor")
    },
}
_TEXTS: dict[str, tuple[str, ...]] = {
    **{name: (text,) for name, text in _PLAIN.items()},
    "float_neg": ("fneg double {0}",),
    "float_abs": (_FABS,),
    "float_sqrt": ("call double @llvm.sqrt.f64(double {0})",),
    "float_copysign": ("call double @llvm.copysign.f64(double {0}, double {1})",),
    "float_binade": (
        "bitcast double {0} to i64",
        f"and i64 {{last}}, {0x7FF << 52}",
        "bitcast i64 {last} to double",
    ),
    "float_is_nan": (f"fcmp uno double {{0}}, {_ZERO}",),
    "float_is_nonfinite": (_FABS, f"fcmp ueq double {{last}}, {_INF}"),
    "float_to_int": ("fptosi double {0} to i64",),
    "int_add": ("call {{i64, i1}} @llvm.sadd.with.overflow.i64(i64 {0}, i64 {1})",),
    "int_sub": ("call {{i64, i1}} @llvm.ssub.with.overflow.i64(i64 {0}, i64 {1})",),
    "int_mul": ("call {{i64, i1}} @llvm.smul.with.overflow.i64(i64 {0}, i64 {1})",),
    "int_wrapped_add": ("add i64 {0}, {1}",),
    "int_wrapped_sub": ("sub i64 {0}, {1}",),
    "int_div": ("sdiv i64 {0}, {1}",),
    "int_rest": ("srem i64 {0}, {1}",),
    "int_abs": ("call i64 @llvm.abs.i64(i64 {0}, i1 false)",),
    "int_half": ("lshr i64 {0}, 1",),
    "int_is_odd": ("trunc i64 {0} to i1",),
    "int_bit_length": ("call i64 @llvm.ctlz.i64(i64 {0}, i1 false)", "sub i64 64, {last}"),
    "int_is_inexact": (f"add i64 {{0}}, {2**53}", f"icmp ugt i64 {{last}}, {2**54}"),
    "int_to_float": ("sitofp i64 {0} to double",),
    "bool_not": ("xor i1 {0}, true",),
    "bool_to_int": ("zext i1 {0} to i64",),
    "bool_to_float": ("uitofp i1 {0} to double",),
}
"""The lines of each primitive; `{last}` is the value of the line before."""


def put(w: Writer, primitive: str, *args: str) -> str:
    """Emit a primitive of the form and return the name of its value."""
    last = ""
    for line in _TEXTS[primitive]:
        last = w.put(line.format(*args, last=last))
    if primitive not in CHECKED:
        return last
    w.fail(w.put(f"extractvalue {{i64, i1}} {last}, 1"))
    return w.put(f"extractvalue {{i64, i1}} {last}, 0")


def name_of(function: str) -> str:
    """LLVM's name of a function of the form."""
    return f"@f.{function}"


def definition(function: Function) -> Definition:
    """The definition of a function.

    Raises:
        Untranslatable: If it calls a function that the C library lacks.
    """
    made = _Printer(function)
    types = [p.type for p in function.params]
    return made.w.function(types, Number(made.result, function.type), function.bails)


class _Printer:
    def __init__(self, function: Function) -> None:
        self.w = Writer("leave")
        self.result = ""
        self._texts = {p.number: f"%a{k}" for k, p in enumerate(function.params)}
        self._ways: dict[int, list[tuple[str, Edge]]] = {}
        holes = [self._block(block) for block in function.blocks]
        for block, hole in zip(reversed(function.blocks), reversed(holes), strict=True):
            if block.params:
                self.w.lines[hole:hole] = self._merges(block)

    def _block(self, block: Block) -> int:
        """Emit a block without its merges, and return the line number where these belong."""
        w = self.w
        if block.label:
            w.start(f"s{block.label}")
        hole = len(w.lines)
        for param in block.params:
            self._texts[param.number] = w.name()
        for i in block.body:
            self._instruction(i)
        match block.end:
            case Jump(to=to) | Repeat(to=to):
                w.go(self._edge(to))
            case Branch(test=test, yes=yes, no=no, rare=rare):
                labels = self._edge(yes), self._edge(no)
                w.branch(self._text(test), *labels, RARE if rare else "")
            case Give(result=result):
                self.result = self._text(result)
            case GiveUp():
                w.leaves = True
                w.go(w.leave)
        return hole

    def _instruction(self, i: Instruction) -> None:
        w = self.w
        match i:
            case Do(target=target, primitive=primitive, args=args):
                self._texts[target.number] = put(w, primitive, *map(self._text, args))
            case Library(target=target, function=function, args=args):
                text = from_library(function, [*map(self._text, args)])
                self._texts[target.number] = w.put(text)
            case Call(target=target, function=function, args=args):
                given = [f"{TYPES[type_of(x)]} {self._text(x)}" for x in args]
                called = w.called(name_of(function), target.type, given)
                self._texts[target.number] = called.text
            case Bail(when=when):
                w.fail(self._text(when))

    def _edge(self, edge: Edge) -> str:
        """The label of an edge's target; records the edge for the merges there."""
        self._ways.setdefault(edge.label, []).append((self.w.block, edge))
        return f"s{edge.label}"

    def _merges(self, block: Block) -> list[str]:
        found = []
        for k, param in enumerate(block.params):
            ways = ((self._text(edge.args[k]), place) for place, edge in self._ways[block.label])
            said = ", ".join(f"[ {x}, %{place} ]" for x, place in ways)
            found.append(f"  {self._texts[param.number]} = phi {TYPES[param.type]} {said}")
        return found

    def _text(self, x: Operand) -> str:
        if isinstance(x, Value):
            return self._texts[x.number]
        if isinstance(x, Undefined):
            return "poison"
        found = constant(x)
        assert found is not None, "the form has ints of 64 bits"
        return found.text
