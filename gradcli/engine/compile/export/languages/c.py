"""Print functions of the written form as C99."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

from gradcli.engine.compile.export.languages.c_header import (
    TYPES,
    comment,
    header,
    prototype,
    work_prototype,
    works,
    wrapped,
)
from gradcli.engine.compile.export.languages.c_support import SUPPORT, WORDS
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
from gradcli.engine.compile.export.unit import Unit
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
    replaced,
    type_of,
)

__all__ = ["RESERVED", "header", "source"]

RESERVED = WORDS
_AT = Variable("at", "int")  # counts the elements of an array on the tape
_CHOICE, _OR, _AND, _EQUAL, _ORDER, _SUM, _PRODUCT, _UNARY = range(1, 9)
_PRODUCTS = {
    "float_mul": "*",
    "float_div": "/",
    "int_mul": "*",
    "int_div": "/",
    "int_rest": "%",
}
_BITS = {"int_and": "&", "int_or": "|", "int_xor": "^"}
_CASTS = {
    "float_to_int": "int64_t",
    "int_to_float": "double",
    "bool_to_int": "int64_t",
    "bool_to_float": "double",
}
_FORMS = {
    **{name: infix(sign, _PRODUCT, _PRODUCT, _UNARY) for name, sign in _PRODUCTS.items()},
    **{name: infix(sign, _SUM, _SUM, _PRODUCT) for name, sign in SUMS.items()},
    **{
        name: infix(sign, _EQUAL if sign in ("==", "!=") else _ORDER, _SUM, _SUM)
        for name, sign in COMPARISONS.items()
    },
    "bool_xor": infix("!=", _EQUAL, _SUM, _SUM),
    "bool_and": Form("{} && {}", _AND, (_EQUAL, _EQUAL), True),
    "bool_or": Form("{} || {}", _OR, (_EQUAL, _EQUAL), True),
    **{f"{t}_select": pattern("{} ? {} : {}", _CHOICE, _EQUAL, _EQUAL, _CHOICE) for t in TYPES},
    "float_neg": pattern("-{}", _UNARY, ATOM),
    "bool_not": pattern("!{}", _UNARY, ATOM),
    "float_is_nonfinite": pattern("!isfinite({})", _UNARY, 0),
    **{name: pattern(f"({type_}) {{}}", _UNARY, ATOM) for name, type_ in _CASTS.items()},
    **{name: pattern(f"({{}} {sign} {{}})", ATOM, ATOM, ATOM) for name, sign in _BITS.items()},
    "int_half": pattern("{} / 2", _PRODUCT, _PRODUCT),
    "int_is_odd": pattern("{} % 2 == 1", _EQUAL, ATOM),
    "float_abs": call("fabs({})"),
    "float_sqrt": call("sqrt({})"),
    "float_copysign": call("copysign({}, {})"),
    "float_is_nan": call("isnan({})"),
    "float_binade": call("scalbn(1.0, ilogb({}))"),
    "int_wrapped_add": call("wrapped_add({}, {})"),
    "int_wrapped_sub": call("wrapped_sub({}, {})"),
    "int_abs": call("absolute({})"),
    "int_bit_length": call("bit_length({})"),
    "int_is_inexact": call("is_inexact({})"),
}


def source(unit: Unit, by: str, header: str) -> str:
    """The text of the C file."""
    return "\n".join(_Source(unit).lines(by, header)) + "\n"


class _Source(Printer):
    """Prints the file of a unit."""

    forms: ClassVar = _FORMS
    blocks: ClassVar = Blocks(
        when="if ({}) {{",
        or_when="}} else if ({}) {{",
        otherwise="}} else {{",
        as_long="while ({}) {{",
        forever="for (;;) {{",
        end="}",
        leave="break;",
    )
    updates: ClassVar = {**SUMS, "float_mul": "*", "float_div": "/"}

    def __init__(self, unit: Unit) -> None:
        super().__init__(SUPPORT)
        self._unit = unit
        self._checks = unit.tape.per_turn != 0
        self._refuses = False

    def lines(self, by: str, header: str) -> list[str]:
        """The lines of the file."""
        unit = self._unit
        functions = [line for f in unit.functions for line in self._function(f)]
        main = self._main()
        size = self._work_size()
        support = [line for name in self.used for line in (*SUPPORT[name].splitlines(), "")]
        digits = (
            "Compile with -std=c99 -ffp-contract=off: the digits are then those of gradcli on a "
            "machine with the same C library."
        )
        every = "\n".join([*functions, *main, *size, *support])
        found = [
            *comment([f"{unit.name}: written by {by} from {unit.source}. {digits}"]),
            "",
            f'#include "{header}"',
            "",
            *(f"#include <{name}.h>" for name in _headers(every)),
            "",
        ]
        return [*found, *support, *functions, *size, *main]

    def _work_size(self) -> list[str]:
        unit = self._unit
        if not works(unit):
            return []
        fixed, per_turn = unit.work, unit.tape.per_turn
        said = []
        if per_turn:
            said = ["turns" if per_turn == 1 else f"{self._size(per_turn, _PRODUCT)} * turns"]
        said += [self._size(fixed)] if fixed != 0 or not per_turn else []
        return [work_prototype(unit), "{", f"    return {' + '.join(said)};", "}", ""]

    def _main(self) -> list[str]:
        unit = self._unit
        lines = [*wrapped(prototype(unit), ""), "{"]
        lines += [f"    (void) {name}; /* the results do not depend on it */"
                  for name in unit.unread]  # fmt: skip
        too_small = " || ".join(f"{v.name} < {unit.least}" for v in unit.sizes)
        if too_small:
            lines += self._when("    ", too_small, "return 2;")
        if unit.room and self._checks:
            lines += self._when("    ", f"work_size < {self._size(unit.room, _SUM)}", "return 1;")
        elif works(unit) and not self._checks:
            sizes = ", ".join(v.name for v in unit.sizes)
            lines += self._when("    ", f"work_size < {unit.name}_work_size({sizes})", "return 1;")
        if unit.tape.fixed or unit.tape.per_turn:
            lines += [f"    size_t used = {self._size(unit.room)};"]
        lines += self.body(unit.body, "    ")
        lines += self._finite()
        for output in unit.outputs:
            lines += [f"    if ({output.name} != NULL) {{"]
            for k, x, count in ((run.at, run.value, run.count) for run in output.runs):
                place = f"{output.name}[{self._size(k)}]" if k or not count else output.name
                if count and isinstance(x, Item):
                    to = f"&{place}" if k else place
                    bytes_ = f"{self._size(count, _PRODUCT)} * sizeof(double)"
                    lines += [f"        memcpy({to}, {x.array}, {bytes_});"]
                else:
                    lines += wrapped(f"{place} = {self.text(x)};", "        ")
            lines += ["    }"]
        return [*lines, "    return 0;", "}"]

    def _finite(self) -> list[str]:
        """Status 2 if a result is not finite."""
        names: dict[str, None] = {}
        for output in self._unit.outputs:
            for x, count in ((run.value, run.count) for run in output.runs):
                if count and isinstance(x, Item):
                    names[f"!{self.use('are_finite')}({x.array}, {self.text(count)})"] = None
                elif not isinstance(x, float) or not math.isfinite(x):
                    names[f"!isfinite({self.text(x)})"] = None
        return self._when("    ", " || ".join(names), "return 2;") if names else []

    def _function(self, f: Function) -> list[str]:
        parameters = [f"{TYPES[v.type]} {v.name}" for v in f.parameters]
        if f.refuses:
            parameters.append(f"{TYPES[f.type]} *result")
        type_ = "int" if f.refuses else TYPES[f.type]
        about = first_sentence(f.about)
        head = comment([about]) if about else []
        head += wrapped(f"static {type_} {f.name}({', '.join(parameters)})", "")
        self._refuses = f.refuses
        ignored = [f"    (void) {name};" for name in _unread(f)]
        return [*head, "{", *ignored, *self.body(f.body, "    "), "}", ""]

    # --- statements -----------------------------------------------------------------------------

    def comment(self, lines: Sequence[str], indent: str) -> list[str]:
        return comment(lines, indent)

    def code(self, line: str, indent: str) -> list[str]:
        return wrapped(line, indent)

    def ended(self, line: str) -> str:
        return f"{line};"

    def let(self, s: Let) -> str:
        const = "const " if s.is_fixed else ""
        return f"{const}{TYPES[s.variable.type]} {s.variable.name} = {self.text(s.value)}"

    def assigned(self, v: Variable, x: Expression) -> str:
        if isinstance(x, Apply) and x.primitive in SUMS and x.args == (v, 1) and v.type == "int":
            return f"{v.name}{SUMS[x.primitive] * 2}"
        return super().assigned(v, x)

    def refusal(self, test: Expression, indent: str) -> list[str]:
        if test is True:
            return [f"{indent}return 2;"]
        return self._when(indent, self.text(test), "return 2;")

    def other(self, s: Statement, indent: str) -> list[str]:
        match s:
            case Declare(variable=v):
                return [f"{indent}{TYPES[v.type]} {v.name};"]
            case Room(array=array, type=type_, count=count, at=at):
                if at is None:
                    return [f"{indent}{TYPES[type_]} {array}[{count}];"]
                return [f"{indent}double *const {array} = &work[{self._size(at)}];"]
            case Table(array=array, type=type_, values=values):
                numbers = ", ".join(map(self.text, values))
                head = f"static const {TYPES[type_]} {array}[{len(values)}]"
                return wrapped(f"{head} = {{{numbers}}};", indent)
            case KeepAll(array=array, type=type_, count=count):
                item, more = Item(array, _AT, type_), indent + self.step
                some = self._size(count, _SUM)
                full = self._when(indent, f"work_size - used < {some}", "return 1;")
                return [
                    *(full if self._checks else []),
                    f"{indent}for (int64_t at = 0; at < {self.text(count)}; at++) {{",
                    f"{more}{self._kept(item)}",
                    f"{indent}}}",
                ]
            case TakeAll(array=array, type=type_, count=count):
                taken = self._number_taken(type_)
                return [
                    f"{indent}for (int64_t at = {self.text(added(count, -1))}; at >= 0; at--) {{",
                    f"{indent}{self.step}{array}[at] = {taken};",
                    f"{indent}}}",
                ]
            case Attempt(variable=v, function=function, args=args):
                given = ", ".join([*map(self.text, args), f"&{v.name}"])
                declared = f"{indent}{TYPES[v.type]} {v.name};"
                failed = f"{self.use(function)}({given}) != 0"
                return [declared, *self._when(indent, failed, "return 2;")]
            case Count(variable=v, start=start, stop=stop, step=step, body=body):
                sign = "<" if step > 0 else ">"
                by = {1: f"{v.name}++", -1: f"{v.name}--"}.get(step, f"{v.name} += {step}")
                head = (
                    f"for (int64_t {v.name} = {self.text(start)}; "
                    f"{v.name} {sign} {self.text(stop)}; {by}) {{"
                )
                return self.block(head, body, indent)
            case Keep(values=values):
                checks: list[str] = []
                if self._checks:
                    checks += self._when(indent, f"work_size - used < {len(values)}", "return 1;")
                return [*checks, *(f"{indent}{self._kept(x)}" for x in values)]
            case Take(variables=several):
                return [f"{indent}{self._taken(v)}" for v in reversed(several)]
            case Return(value=x):
                if self._refuses:
                    return [*wrapped(f"*result = {self.text(x)};", indent), f"{indent}return 0;"]
                return wrapped(f"return {self.text(x)};", indent)
        raise AssertionError(type(s).__name__)

    def _kept(self, x: Expression) -> str:
        if type_of(x) == "int":
            return f"{self.use('put_int')}(&work[used++], {self.text(x)});"
        return f"work[used++] = {self.text(x)};"

    def _taken(self, v: Variable) -> str:
        if not v.name:
            return "used--;"
        return f"const {TYPES[v.type]} {v.name} = {self._number_taken(v.type)};"

    def _number_taken(self, type: str) -> str:
        if type == "int":
            return f"{self.use('get_int')}(&work[--used])"
        return "work[--used] != 0.0" if type == "bool" else "work[--used]"

    def _when(self, indent: str, test: str, then: str) -> list[str]:
        return [*wrapped(f"if ({test}) {{", indent), f"{indent}    {then}", f"{indent}}}"]

    # --- expressions ----------------------------------------------------------------------------

    def library(self, function: str) -> str:
        return function

    def total(self, x: Total) -> str:
        start = x.array if x.start == 0 else f"&{x.array}[{self.text(x.start)}]"
        return f"{self.use('pairwise_sum')}({start}, {self.text(x.count)}, {self.text(x.step)})"

    def _bound(self, x: Expression) -> tuple[str, int]:
        if isinstance(x, Variable) and x.type == "size":
            return f"(int64_t) {x.name}", _UNARY
        if isinstance(x, Apply) and x.primitive == "int_to_float":
            (of,) = x.args
            if isinstance(of, Variable) and of.type == "size":
                return f"(double) {of.name}", _UNARY
        return super()._bound(x)

    def _size(self, x: Expression, least: int = 0) -> str:
        """The text of a size, which is a `size_t`."""
        return self.within(replaced(x, lambda v: Variable(v.name, "int")), least)

    def negative(self) -> int:
        return _UNARY

    def constant(self, x: float | int | bool) -> str:
        if isinstance(x, bool):
            return "true" if x else "false"
        if isinstance(x, int):
            return "INT64_MIN" if x == -(2**63) else str(x)
        if math.isnan(x):
            return "NAN"
        if math.isinf(x):
            return "INFINITY" if x > 0 else "-INFINITY"
        return repr(x)


def _unread(f: Function) -> list[str]:
    seen = names_read(f.body)
    return [v.name for v in f.parameters if v.name not in seen]


def _headers(text: str) -> Iterator[str]:
    yield "math"
    if "bool " in text or "true" in text or "false" in text:
        yield "stdbool"
    if "int64_t" in text or "INT64" in text:
        yield "stdint"
    if "memcpy" in text:
        yield "string"
