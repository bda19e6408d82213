"""Print functions of the written form as Python that needs NumPy and `math` alone."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from gradcli.engine.compile.export.python_support import SUPPORT, SURE, WORDS
from gradcli.engine.compile.export.unit import Output, Parameter, Unit
from gradcli.engine.compile.export.written import (
    Apply,
    Assign,
    Attempt,
    Called,
    Count,
    Declare,
    Expression,
    Function,
    Item,
    Keep,
    Leave,
    Let,
    Math,
    Refuse,
    Remark,
    Return,
    Statement,
    Take,
    Until,
    Variable,
    When,
    While,
    every,
    read,
    statements,
)

RESERVED = WORDS
_WIDTH = 99
_CHOICE, _OR, _AND, _NOT, _ORDER, _BITS, _SUM, _PRODUCT, _UNARY, _ATOM = range(10)
_INFIX = {
    "float_mul": ("*", _PRODUCT),
    "int_mul": ("*", _PRODUCT),
    **{f"{t}_add": ("+", _SUM) for t in ("float", "int")},
    **{f"{t}_sub": ("-", _SUM) for t in ("float", "int")},
    **{
        f"{t}_{name}": (sign, _ORDER)
        for t in ("float", "int")
        for name, sign in (
            *(("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")),
            *(("eq", "=="), ("ne", "!=")),
        )
    },
    "int_and": ("&", _BITS),
    "int_or": ("|", _BITS),
    "int_xor": ("^", _BITS),
    "bool_xor": ("!=", _ORDER),
    "bool_and": ("and", _AND),
    "bool_or": ("or", _OR),
}
"""The sign of a primitive between its operands, and how tightly it binds."""
_CALLS = {
    "float_abs": "abs({})",
    "float_sqrt": "sqrt({})",
    "float_copysign": "math.copysign({}, {})",
    "float_is_nan": "math.isnan({})",
    "float_to_int": "int({})",
    "int_to_float": "float({})",
    "float_binade": "math.ldexp(0.5, math.frexp({})[1])",
    "int_wrapped_add": "wrapped({} + {})",
    "int_wrapped_sub": "wrapped({} - {})",
    "int_div": "cut({}, {})",
    "int_rest": "rest({}, {})",
    "int_abs": "abs({})",
    "bool_to_int": "int({})",
    "bool_to_float": "float({})",
    "float_div": "divide({}, {})",
    "int_bit_length": "int({}).bit_length()",
}
_CHECKED = {"int_add": "+", "int_sub": "-", "int_mul": "*"}
_UPDATES = {
    "float_add": "+",
    "float_sub": "-",
    "float_mul": "*",
    "int_add": "+",
    "int_sub": "-",
}
_MOST = 12  # results that the documentation names one by one


def source(unit: Unit, by: str) -> str:
    """The text of the Python file."""
    return "\n".join(_Source(unit).lines(by)) + "\n"


class _Source:
    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._support: dict[str, None] = {}

    def lines(self, by: str) -> list[str]:
        """The lines of the file."""
        unit = self._unit
        functions = [line for f in unit.functions for line in self._function(f)]
        main = self._main()
        support = [line for name in self._support for line in _support(name)]
        digits = "Its digits are those of gradcli on a machine with the same C library."
        head = [f"{unit.name}: written by {by} from {unit.source}.", "", digits]
        imports = ["from __future__ import annotations", "", "import math", ""]
        imports += ["import numpy as np", ""]
        return [*_docstring(head, ""), "", *imports, *support, *functions, *main]

    def _function(self, f: Function) -> list[str]:
        names = ", ".join(f"{v.name}: {v.type}" for v in f.parameters)
        about = f.about.partition("\n")[0].strip()
        head = _docstring([about], "    ") if about else []
        body = self._body(f.body, "    ")
        return ["", *_signature(f"def {f.name}({names}) -> {f.type}:"), *head, *body, ""]

    def _main(self) -> list[str]:
        unit = self._unit
        types = ["float" if o.is_number else "np.ndarray" for o in unit.outputs]
        gives = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        names = ", ".join(map(_parameter, unit.parameters))
        lines = ["", *_signature(f"def {unit.name}({names}) -> {gives}:")]
        lines += _docstring(_contract(unit), "    ")
        lines += [_elements(p) for p in unit.parameters if p.shape and p.name not in unit.unread]
        if unit.tape.fixed or unit.tape.per_turn:
            lines.append("    tape: list[float] = []")
        if unit.body:
            lines += self._body(unit.body, "    ")
        tests = [f"math.isfinite({name})" for name in self._results()]
        if tests:
            lines += _code(f"if not ({' and '.join(tests)}):", "    ")
            lines += ['        raise ArithmeticError("a result is not finite")']
        given = [self._output(output) for output in unit.outputs]
        return [*lines, *_code(f"return {', '.join(given)}", "    ")]

    def _results(self) -> list[str]:
        """The results that may not be finite."""
        found: dict[str, None] = {}
        for output in self._unit.outputs:
            for x in output.values:
                if isinstance(x, (Variable, Item)):
                    found[self._text(x)] = None
        return [*found]

    def _output(self, output: Output) -> str:
        texts = [*map(self._text, output.values)]
        return texts[0] if output.is_number else f"np.array([{', '.join(texts)}])"

    # --- statements -----------------------------------------------------------------------------

    def _body(self, body: Sequence[Statement], indent: str) -> list[str]:
        lines = [line for s in body for line in self._statement(s, indent)]
        return lines or [f"{indent}pass"]

    def _statement(self, s: Statement, indent: str) -> list[str]:
        more = indent + "    "
        match s:
            case Remark(lines=said):
                return [f"{indent}# {line}" for line in said]
            case Let(variable=v, value=x):
                return _code(f"{v.name} = {self._text(x)}", indent)
            case Assign(variable=v, value=x):
                return _code(self._assigned(v, x), indent)
            case Declare():
                return []
            case Attempt(variable=v, function=function, args=args):
                return _code(f"{v.name} = {self._attempted(function, args)}", indent)
            case When():
                return self._branch(s, indent)
            case Count():
                return [*_code(self._range(s), indent), *self._body(s.body, more)]
            case While(test=test, body=body):
                return [*_code(f"while {self._text(test)}:", indent), *self._body(body, more)]
            case Until(test=test, body=body):
                lines = [f"{indent}while True:", *self._body(body, more)]
                if test is not True:
                    done = self._text(Apply("bool_not", (test,)))
                    lines += [*_code(f"if {done}:", more), f"{more}    break"]
                return lines
            case Leave():
                return [f"{indent}break"]
            case Refuse(test=test):
                self._support.setdefault("refuse")
                return _code(f"refuse({self._text(test)})", indent)
            case Keep(values=values):
                if len(values) == 1:
                    return _code(f"tape.append({self._text(values[0])})", indent)
                return _code(f"tape += [{', '.join(map(self._text, values))}]", indent)
            case Take(variables=several):
                return [f"{indent}{v.name or '_'} = tape.pop()" for v in reversed(several)]
            case Return(value=x):
                return _code(f"return {self._text(x)}", indent)
        raise AssertionError(type(s).__name__)

    def _range(self, s: Count) -> str:
        """The first line of a loop that counts."""
        bounds = [self._text(s.start), self._text(s.stop)]
        bounds += [] if s.step == 1 else [str(s.step)]
        if len(bounds) == len(("start", "stop")) and bounds[0] == "0":
            bounds = bounds[1:]
        name = s.variable.name if _reads(s.body, s.variable) else "_"
        return f"for {name} in range({', '.join(bounds)}):"

    def _assigned(self, v: Variable, x: Expression) -> str:
        if isinstance(x, Apply) and x.primitive in _UPDATES and x.args[0] == v:
            return f"{v.name} {_UPDATES[x.primitive]}= {self._text(x.args[1])}"
        return f"{v.name} = {self._text(x)}"

    def _attempted(self, function: str, args: Sequence[Expression]) -> str:
        if function in _CHECKED:
            self._support.setdefault("int64")
            a, b = (self._within(x, _ATOM) for x in args)
            return f"int64({a} {_CHECKED[function]} {b})"
        return f"{function}({', '.join(map(self._text, args))})"

    def _branch(self, s: When, indent: str) -> list[str]:
        more = indent + "    "
        lines = [*_code(f"if {self._text(s.test)}:", indent), *self._body(s.then, more)]
        orelse = s.orelse
        while len(orelse) == 1 and isinstance(orelse[0], When):
            (inner,) = orelse
            assert isinstance(inner, When)
            lines += _code(f"elif {self._text(inner.test)}:", indent)
            lines += self._body(inner.then, more)
            orelse = inner.orelse
        return [*lines, *([f"{indent}else:", *self._body(orelse, more)] if orelse else [])]

    # --- expressions ------------------------------------------------------------------------------

    def _text(self, x: Expression) -> str:
        return self._bound(x)[0]

    def _within(self, x: Expression, least: int) -> str:
        text, level = self._bound(x)
        return text if level >= least else f"({text})"

    def _bound(self, x: Expression) -> tuple[str, int]:
        """The text of an expression, and how tightly it binds."""
        match x:
            case Variable(name=name):
                return name, _ATOM
            case Item(array=array, at=at):
                return f"{array}[{self._text(at)}]", _ATOM
            case Math(function=function, args=args):
                return f"{self._library(function)}({', '.join(map(self._text, args))})", _ATOM
            case Called(function=function, args=args):
                return f"{function}({', '.join(map(self._text, args))})", _ATOM
            case Apply(primitive=primitive, args=args):
                return self._applied(primitive, args)
        return _constant(x)

    def _library(self, function: str) -> str:
        """The name of a function of C's math library."""
        if function in SURE:
            return f"math.{function}"
        name = "power" if function == "pow" else function
        self._support.setdefault(name)
        return name

    def _applied(self, primitive: str, args: Sequence[Expression]) -> tuple[str, int]:
        if primitive in _INFIX:
            sign, level = _INFIX[primitive]
            a, b = args
            left = _BITS if level == _ORDER else level
            right = left if level in (_ORDER, _AND, _OR) else left + 1
            return f"{self._within(a, left)} {sign} {self._within(b, right)}", level
        if primitive == "float_div" and type(args[1]) is float and args[1]:
            over = self._within(args[0], _PRODUCT)
            return f"{over} / {self._within(args[1], _UNARY)}", _PRODUCT
        if primitive.endswith("_select"):
            test, a, b = args
            said = f"{self._within(a, _OR)} if {self._within(test, _OR)}"
            return f"{said} else {self._within(b, _CHOICE)}", _CHOICE
        if primitive in _OTHERS:
            text, least, level = _OTHERS[primitive]
            return text.format(self._within(args[0], least)), level
        call = _CALLS[primitive]
        name = call.partition("(")[0]
        if name in SUPPORT:
            self._support.setdefault(name)
        return call.format(*map(self._text, args)), _ATOM


_OTHERS = {
    "float_neg": ("-{}", _ATOM, _UNARY),
    "bool_not": ("not {}", _ORDER, _NOT),
    "float_is_nonfinite": ("not math.isfinite({})", _CHOICE, _NOT),
    "int_half": ("{} // 2", _UNARY, _PRODUCT),
    "int_is_odd": ("{} % 2 == 1", _UNARY, _ORDER),
    "int_is_inexact": ("abs({}) > 2**53", _CHOICE, _ORDER),
}
"""Primitives of one operand: their texts, how tightly that must bind, and how tightly they do."""


def _constant(x: Expression) -> tuple[str, int]:
    if isinstance(x, float) and not math.isfinite(x):
        name = "math.nan" if math.isnan(x) else "math.inf" if x > 0 else "-math.inf"
        return name, _UNARY if name.startswith("-") else _ATOM
    text = repr(x)
    return text, _UNARY if text.startswith("-") else _ATOM


def _reads(body: Sequence[Statement], v: Variable) -> bool:
    return any(part == v for s in statements(body) for x in read(s) for part in every(x))


def _parameter(p: Parameter) -> str:
    return f"{p.name}: np.ndarray" if p.shape else f"{p.name}: {p.type}"


def _elements(p: Parameter) -> str:
    dtype = {"float": "float", "int": "np.int64", "bool": "bool"}[p.type]
    count = math.prod(p.shape)
    return f"    {p.name} = np.asarray({p.name}, dtype={dtype}).reshape({count}).tolist()"


def _contract(unit: Unit) -> list[str]:
    """The lines of the function's documentation."""
    says = " and ".join(o.name for o in unit.outputs)
    lines = [f"Return {says} of {unit.source}."]
    if unit.head:
        lines += ["", *unit.head]
    lines += ["", "Args:"] if unit.parameters else []
    for p in unit.parameters:
        said = [f"`{p.of}` of the program"] if p.name != p.of else []
        said += [f"an array of {' x '.join(map(str, p.shape))} numbers"] if p.shape else []
        said += [p.about] if p.about else []
        lines.append(f"    {p.name}: {'; '.join(said) or 'a number'}.")
    lines += ["", "Returns:"]
    for o in unit.outputs:
        few = o.says if len(o.says) <= _MOST else (*o.says[:2], "...", o.says[-1])
        lines.append(f"    {o.name}: {', '.join(few)}.")
    lines += ["", "Raises:"]
    why = "If a result is not finite, or gradcli would stop with an error."
    return [*lines, f"    ArithmeticError: {why}"]


def _docstring(lines: Sequence[str], indent: str) -> list[str]:
    wrapped: list[str] = []
    for line in lines:
        inner = " " * (len(line) - len(line.lstrip()) + 4 * line.startswith("    "))
        room = _WIDTH - len(indent) - 6
        wrapped += textwrap.wrap(line, room, subsequent_indent=inner) or [""]
    wrapped = [line.replace("\\", "\\\\").replace('"""', "'''") for line in wrapped]
    if len(wrapped) == 1:
        return [f'{indent}"""{wrapped[0]}"""']
    rest = [f"{indent}{line}".rstrip() for line in wrapped[1:]]
    return [f'{indent}"""{wrapped[0]}', *rest, f'{indent}"""']


def _support(name: str) -> Iterator[str]:
    yield ""
    yield from SUPPORT[name].splitlines()
    yield ""


def _signature(line: str) -> list[str]:
    if len(line) <= _WIDTH:
        return [line]
    head, _, rest = line.partition("(")
    inside, _, gives = rest.rpartition(") -> ")
    return [f"{head}(", *(f"    {part}," for part in inside.split(", ")), f") -> {gives}"]


def _code(line: str, indent: str) -> list[str]:
    """A line of code; a long one has brackets around its value, and is broken at blanks."""
    if len(indent) + len(line) <= _WIDTH:
        return [indent + line]
    word, rest, end = _split(line)
    room = _WIDTH - len(indent) - 4
    body = textwrap.wrap(rest, room, break_long_words=False, break_on_hyphens=False)
    return [f"{indent}{word} (", *(f"{indent}    {part}" for part in body), f"{indent}){end}"]


def _split(line: str) -> tuple[str, str, str]:
    first, _, rest = line.partition(" ")
    if first in ("if", "elif", "while"):
        return first, rest[:-1], ":"
    if first == "return":
        return first, rest, ""
    name, sign, value = line.split(" ", 2)
    return f"{name} {sign}", value, ""
