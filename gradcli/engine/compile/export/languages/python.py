"""Print functions of the written form as Python that needs NumPy and `math` alone."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import ClassVar

from gradcli.engine.compile.export.languages.printer import (
    ATOM,
    COMPARISONS,
    SUMS,
    Blocks,
    Form,
    Printer,
    call,
    first_sentence,
    infix,
    pattern,
)
from gradcli.engine.compile.export.languages.python_support import SUPPORT, SURE, WORDS
from gradcli.engine.compile.export.unit import Output, Parameter, Unit
from gradcli.engine.compile.export.written import (
    Apply,
    Attempt,
    Count,
    Declare,
    Expression,
    Function,
    Item,
    Keep,
    KeepAll,
    Let,
    Return,
    Room,
    Statement,
    Table,
    Take,
    TakeAll,
    Total,
    Variable,
    added,
    names_read,
    size_text,
)

RESERVED = WORDS
_WIDTH = 99
_CHOICE, _OR, _AND, _NOT, _ORDER, _BITS, _SUM, _PRODUCT, _UNARY = range(9)
_FORMS = {
    "float_mul": infix("*", _PRODUCT, _PRODUCT, _UNARY),
    "int_mul": infix("*", _PRODUCT, _PRODUCT, _UNARY),
    **{name: infix(sign, _SUM, _SUM, _PRODUCT) for name, sign in SUMS.items()},
    **{name: infix(sign, _ORDER, _BITS, _BITS) for name, sign in COMPARISONS.items()},
    **{
        f"int_{name}": infix(sign, _BITS, _BITS, _SUM)
        for name, sign in (("and", "&"), ("or", "|"), ("xor", "^"))
    },
    "bool_xor": infix("!=", _ORDER, _BITS, _BITS),
    "bool_and": infix("and", _AND, _AND, _AND),
    "bool_or": infix("or", _OR, _OR, _OR),
    "float_div": call("divide({}, {})"),
    "float_neg": pattern("-{}", _UNARY, ATOM),
    "bool_not": pattern("not {}", _NOT, _ORDER),
    "float_is_nonfinite": pattern("not math.isfinite({})", _NOT, _CHOICE),
    "int_half": pattern("{} // 2", _PRODUCT, _UNARY),
    "int_is_odd": pattern("{} % 2 == 1", _ORDER, _UNARY),
    "int_is_inexact": pattern("abs({}) > 2**53", _ORDER, _CHOICE),
    "float_abs": call("abs({})"),
    "float_sqrt": call("sqrt({})"),
    "float_copysign": call("math.copysign({}, {})"),
    "float_is_nan": call("math.isnan({})"),
    "float_to_int": call("int({})"),
    "int_to_float": call("float({})"),
    "float_binade": call("math.ldexp(0.5, math.frexp({})[1])"),
    "int_wrapped_add": call("wrapped({} + {})"),
    "int_wrapped_sub": call("wrapped({} - {})"),
    "int_div": call("cut({}, {})"),
    "int_rest": call("rest({}, {})"),
    "int_abs": call("abs({})"),
    "bool_to_int": call("int({})"),
    "bool_to_float": call("float({})"),
    "int_bit_length": call("int({}).bit_length()"),
}
_BY_CONSTANT = infix("/", _PRODUCT, _PRODUCT, _UNARY)
_SELECT = pattern("{1} if {0} else {2}", _CHOICE, _OR, _OR, _CHOICE)
_CHECKED = {"int_add": "+", "int_sub": "-", "int_mul": "*"}
_ZEROS = {"float": "0.0", "int": "0", "bool": "False"}
_MOST = 12  # results that the documentation names one by one


def source(unit: Unit, by: str) -> str:
    """The text of the Python file."""
    return "\n".join(_Source(unit).lines(by)) + "\n"


class _Source(Printer):
    """Prints the file of a unit."""

    forms: ClassVar = {**_FORMS, **{f"{t}_select": _SELECT for t in ("float", "int", "bool")}}
    blocks: ClassVar = Blocks(
        when="if {}:",
        or_when="elif {}:",
        otherwise="else:",
        as_long="while {}:",
        forever="while True:",
        end="",
        leave="break",
    )
    updates: ClassVar = {**SUMS, "float_mul": "*"}

    def __init__(self, unit: Unit) -> None:
        super().__init__(SUPPORT)
        self._unit = unit

    def lines(self, by: str) -> list[str]:
        """The lines of the file."""
        unit = self._unit
        functions = [line for f in unit.functions for line in self._function(f)]
        main = self._main()
        support = [line for name in self.used for line in _lines_of(name)]
        digits = "Its digits are those of gradcli on a machine with the same C library."
        head = [f"{unit.name}: written by {by} from {unit.source}.", "", digits]
        imports = ["from __future__ import annotations", "", "import math", ""]
        imports += ["import numpy as np", ""]
        return [*_docstring(head, ""), "", *imports, *support, *functions, *main]

    def _function(self, f: Function) -> list[str]:
        names = ", ".join(f"{v.name}: {v.type}" for v in f.parameters)
        about = first_sentence(f.about)
        head = _docstring([about], "    ") if about else []
        body = self.body(f.body, "    ")
        return ["", *_signature(f"def {f.name}({names}) -> {f.type}:"), *head, *body, ""]

    def _main(self) -> list[str]:
        unit = self._unit
        types = ["float" if o.is_number else "np.ndarray" for o in unit.outputs]
        gives = types[0] if len(types) == 1 else f"tuple[{', '.join(types)}]"
        names = ", ".join(map(_parameter, unit.parameters))
        lines = ["", *_signature(f"def {unit.name}({names}) -> {gives}:")]
        lines += _docstring(_contract(unit), "    ")
        lines += [_sizes(p) for p in unit.parameters if p.sizes]
        lines += [self._elements(p) for p in unit.parameters
                  if p.shape and p.name not in unit.unread]  # fmt: skip
        if unit.sizes:
            test = " or ".join(f"{v.name} < {unit.least}" for v in unit.sizes)
            lines += _code(f"{self.use('refuse')}({test})", "    ")
        if unit.tape.fixed or unit.tape.per_turn:
            lines.append("    tape: list[float] = []")
        if unit.body:
            lines += self.body(unit.body, "    ")
        tests = self._results()
        if tests:
            lines += _code(f"if not ({' and '.join(tests)}):", "    ")
            lines += ['        raise ArithmeticError("a result is not finite")']
        given = [self._output(output) for output in unit.outputs]
        return [*lines, *_code(f"return {', '.join(given)}", "    ")]

    def _elements(self, p: Parameter) -> str:
        """The line that makes a list of the elements of an array."""
        dtype = {"float": "float", "int": "np.int64", "bool": "bool"}[p.type]
        count: Expression = 1
        for size in p.shape:
            count = size if count == 1 else _times(count, size)
        text = self.text(count)
        return f"    {p.name} = np.asarray({p.name}, dtype={dtype}).reshape({text}).tolist()"

    def _results(self) -> list[str]:
        """The tests that results are finite."""
        found: dict[str, None] = {}
        for output in self._unit.outputs:
            for x, count in ((run.value, run.count) for run in output.runs):
                if count and isinstance(x, Item):
                    found[f"all(map(math.isfinite, {x.array}))"] = None
                elif isinstance(x, (Variable, Item)):
                    found[f"math.isfinite({self.text(x)})"] = None
        return [*found]

    def _output(self, output: Output) -> str:
        texts = [
            f"*{x.array}" if count and isinstance(x, Item) else self.text(x)
            for x, count in ((run.value, run.count) for run in output.runs)
        ]
        return texts[0] if output.is_number else f"np.array([{', '.join(texts)}])"

    # --- statements -----------------------------------------------------------------------------

    def body(self, body: Sequence[Statement], indent: str) -> list[str]:
        return super().body(body, indent) or [f"{indent}pass"]

    def comment(self, lines: Sequence[str], indent: str) -> list[str]:
        return [f"{indent}# {line}" for line in lines]

    def code(self, line: str, indent: str) -> list[str]:
        return _code(line, indent)

    def let(self, s: Let) -> str:
        return f"{s.variable.name} = {self.text(s.value)}"

    def refusal(self, test: Expression, indent: str) -> list[str]:
        return _code(f"{self.use('refuse')}({self.text(test)})", indent)

    def other(self, s: Statement, indent: str) -> list[str]:
        match s:
            case Declare():
                return []
            case Room(array=array, type=type_, count=count):
                return [f"{indent}{array} = [{_ZEROS[type_]}] * {self.within(count, ATOM)}"]
            case Table(array=array, values=values):
                return _code(f"{array} = [{self.texts(values)}]", indent)
            case KeepAll(array=array):
                return [f"{indent}tape += {array}"]
            case TakeAll(array=array, count=count):
                last = self.within(count, ATOM)
                return [f"{indent}{array} = tape[-{last}:]", f"{indent}del tape[-{last}:]"]
            case Attempt(variable=v, function=function, args=args):
                return _code(f"{v.name} = {self._attempted(function, args)}", indent)
            case Count():
                return self.block(self._range(s), s.body, indent)
            case Keep(values=values):
                if len(values) == 1:
                    return _code(f"tape.append({self.text(values[0])})", indent)
                return _code(f"tape += [{self.texts(values)}]", indent)
            case Take(variables=several):
                return [f"{indent}{v.name or '_'} = tape.pop()" for v in reversed(several)]
            case Return(value=x):
                return _code(f"return {self.text(x)}", indent)
        raise AssertionError(type(s).__name__)

    def _range(self, s: Count) -> str:
        """The first line of a loop that counts."""
        bounds = [self.text(s.start), self.text(s.stop)]
        bounds += [] if s.step == 1 else [str(s.step)]
        if len(bounds) == len(("start", "stop")) and bounds[0] == "0":
            bounds = bounds[1:]
        name = s.variable.name if s.variable.name in names_read(s.body) else "_"
        return f"for {name} in range({', '.join(bounds)}):"

    def _attempted(self, function: str, args: Sequence[Expression]) -> str:
        if function in _CHECKED:
            a, b = (self.within(x, ATOM) for x in args)
            return f"{self.use('int64')}({a} {_CHECKED[function]} {b})"
        return f"{function}({self.texts(args)})"

    def total(self, x: Total) -> str:
        stop = self.text(added(x.start, _times(x.count, x.step)))
        start = self.text(x.start)
        step = "" if x.step == 1 else f":{self.text(x.step)}"
        return f"{self.use('pairwise_sum')}({x.array}[{start}:{stop}{step}])"

    # --- expressions ----------------------------------------------------------------------------

    def library(self, function: str) -> str:
        if function in SURE:
            return f"math.{function}"
        return self.use("power" if function == "pow" else function)

    def form(self, primitive: str, args: Sequence[Expression]) -> Form:
        is_safe = primitive == "float_div" and type(args[1]) is float and bool(args[1])
        return _BY_CONSTANT if is_safe else super().form(primitive, args)

    def negative(self) -> int:
        return _UNARY

    def constant(self, x: float | int | bool) -> str:
        if isinstance(x, float) and not math.isfinite(x):
            return "math.nan" if math.isnan(x) else "math.inf" if x > 0 else "-math.inf"
        return repr(x)


def _times(x: Expression, y: Expression) -> Expression:
    if type(x) is int and type(y) is int:
        return x * y
    return x if y == 1 else Apply("int_mul", (x, y))


def _parameter(p: Parameter) -> str:
    return f"{p.name}: np.ndarray" if p.shape else f"{p.name}: {p.type}"


def _sizes(p: Parameter) -> str:
    """The line that finds the free sizes of an array."""
    own = {v.name for v in p.sizes}
    names = [x.name if isinstance(x, Variable) and x.name in own else "_" for x in p.shape]
    all_of_them = ", ".join(names) if len(names) > 1 else f"({names[0]},)"
    return f"    {all_of_them} = np.shape({p.name})"


def _contract(unit: Unit) -> list[str]:
    """The lines of the function's documentation."""
    says = " and ".join(o.name for o in unit.outputs)
    lines = [f"Return {says} of {unit.source}."]
    if unit.head:
        lines += ["", *unit.head]
    lines += ["", "Args:"] if unit.parameters else []
    for p in unit.parameters:
        said = [f"`{p.of}` of the program"] if p.name != p.of else []
        said += [f"an array of {' x '.join(map(size_text, p.shape))} numbers"] if p.shape else []
        said += [p.about] if p.about else []
        lines.append(f"    {p.name}: {'; '.join(said) or 'a number'}.")
    lines += ["", "Returns:"]
    for o in unit.outputs:
        few = [*o.says] if len(o.says) <= _MOST else [*o.says[:2], "...", o.says[-1]]
        few = few if type(o.size) is int else [*o.says.names, f"{size_text(o.size)} numbers"]
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


def _lines_of(name: str) -> Iterator[str]:
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
