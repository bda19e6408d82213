"""Print functions of the written form as C99."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence

from gradcli.engine.compile.export.c_support import SUPPORT, WORDS
from gradcli.engine.compile.export.unit import Parameter, Unit
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
    type_of,
)

RESERVED = WORDS
_WIDTH = 98
_TYPES = {"float": "double", "int": "int64_t", "bool": "bool"}
_ATOM, _UNARY, _PRODUCT, _SUM, _ORDER, _EQUAL, _AND, _OR, _CHOICE = range(9, 0, -1)
_INFIX = {
    "float_mul": ("*", _PRODUCT),
    "float_div": ("/", _PRODUCT),
    "int_mul": ("*", _PRODUCT),
    "int_div": ("/", _PRODUCT),
    "int_rest": ("%", _PRODUCT),
    "int_half": ("/ 2", _PRODUCT),
    **{f"{t}_add": ("+", _SUM) for t in ("float", "int")},
    **{f"{t}_sub": ("-", _SUM) for t in ("float", "int")},
    **{
        f"{t}_{name}": (sign, _ORDER)
        for t in ("float", "int")
        for name, sign in (("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">="))
    },
    **{
        f"{t}_{name}": (sign, _EQUAL)
        for t in ("float", "int")
        for name, sign in (("eq", "=="), ("ne", "!="))
    },
    "bool_xor": ("!=", _EQUAL),
    "bool_and": ("&&", _AND),
    "bool_or": ("||", _OR),
}
"""The sign of a primitive between its operands, and how tightly it binds."""
_UPDATES = {
    "float_add": "+",
    "float_sub": "-",
    "float_mul": "*",
    "float_div": "/",
    "int_add": "+",
    "int_sub": "-",
}
_CALLS = {
    "float_abs": "fabs({})",
    "float_sqrt": "sqrt({})",
    "float_copysign": "copysign({}, {})",
    "float_is_nan": "isnan({})",
    "float_binade": "scalbn(1.0, ilogb({}))",
    "int_wrapped_add": "wrapped_add({}, {})",
    "int_wrapped_sub": "wrapped_sub({}, {})",
    "int_abs": "absolute({})",
    "int_bit_length": "bit_length({})",
    "int_is_inexact": "is_inexact({})",
}
_BITS = {"int_and": "&", "int_or": "|", "int_xor": "^"}
_CASTS = {
    "float_to_int": "int64_t",
    "int_to_float": "double",
    "bool_to_int": "int64_t",
    "bool_to_float": "double",
}


def source(unit: Unit, by: str, header: str) -> str:
    """The text of the C file."""
    return "\n".join(_Source(unit).lines(by, header)) + "\n"


def header(unit: Unit, by: str, file: str) -> str:
    """The text of the header file."""
    guard = "".join(c if c.isalnum() else "_" for c in file.upper())
    lines = [*_about(unit, by), "", f"#ifndef {guard}", f"#define {guard}", ""]
    if any(p.type == "int" for p in unit.parameters):
        lines += ["#include <stdint.h>"]
    if any(p.type == "bool" for p in unit.parameters):
        lines += ["#include <stdbool.h>"]
    if _works(unit) or True:
        lines += ["#include <stddef.h>", ""]
    for output in unit.outputs:
        if len(output.values) > 1 or output.name != "value":
            lines.append(f"#define {unit.name.upper()}_{output.name.upper()}_SIZE "
                         f"{len(output.values)}")  # fmt: skip
    lines += ["", *_contract(unit), *_wrapped(f"{_prototype(unit)};", "")]
    if _works(unit):
        lines += ["", *_work_comment(unit), f"{_work_prototype(unit)};"]
    lines += ["", "#endif"]
    return "\n".join(lines) + "\n"


def _works(unit: Unit) -> bool:
    return bool(unit.tape.fixed or unit.tape.per_turn)


def _prototype(unit: Unit) -> str:
    parameters = [*map(_parameter, unit.parameters)]
    parameters += [f"double *{output.name}" for output in unit.outputs]
    if _works(unit):
        parameters += ["double *work", "size_t work_size"]
    return f"int {unit.name}({', '.join(parameters)})"


def _parameter(p: Parameter) -> str:
    type_ = _TYPES[p.type]
    return f"const {type_} *{p.name}" if p.shape else f"{type_} {p.name}"


def _work_prototype(unit: Unit) -> str:
    return f"size_t {unit.name}_work_size({'size_t turns' if unit.tape.per_turn else 'void'})"


def _work_comment(unit: Unit) -> list[str]:
    if unit.tape.per_turn:
        return _comment(["How many numbers of work memory are enough if the loops take at most "
                         "`turns` turns, all turns of all loops together."])  # fmt: skip
    return _comment(["How many numbers of work memory the function needs."])


def _about(unit: Unit, by: str) -> list[str]:
    lines = [
        f"{unit.name}: {', '.join(o.name for o in unit.outputs)} of {unit.source}, written by {by}."
    ]
    if unit.head:
        lines += ["", *unit.head]
    return _comment(lines)


def _contract(unit: Unit) -> list[str]:
    lines: list[str] = ["Inputs:"]
    for p in unit.parameters:
        said = []
        if p.name != p.of:
            said.append(f"`{p.of}` of the program")
        if p.shape:
            said.append(f"{' x '.join(map(str, p.shape))} numbers" + (
                ", row by row" if len(p.shape) > 1 else ""))  # fmt: skip
        if p.about:
            said.append(p.about)
        lines.append(f"  {p.name}" + (f": {'; '.join(said)}" if said else ""))
    lines.append("Outputs, each NULL if it is not wanted:")
    for output in unit.outputs:
        if len(output.says) == 1:
            lines.append(f"  {output.name}[0]: {output.says[0]}")
        else:
            lines += [f"  {output.name}[{k}]: {said}" for k, said in _short(output.says)]
    lines.append("Returns 0; 2 if a result is not finite or gradcli would stop with an error.")
    if _works(unit):
        lines[-1] = lines[-1].replace("Returns 0; ", "Returns 0; 1 if `work` is too small; ")
    lines.append("Nothing is written unless it returns 0.")
    return _comment(lines)


_MOST = 12


def _short(says: Sequence[str]) -> Iterator[tuple[str, str]]:
    if len(says) <= _MOST:
        for k, said in enumerate(says):
            yield str(k), said
        return
    yield "0", says[0]
    yield "1", says[1]
    yield str(len(says) - 1), says[-1]


def _comment(lines: Sequence[str], indent: str = "") -> list[str]:
    wrapped: list[str] = []
    for line in (line.replace("*/", "* /") for line in lines):
        inner = " " * (len(line) - len(line.lstrip()) + 4 * line.startswith("  "))
        wrapped += textwrap.wrap(
            line, _WIDTH - len(indent) - 6, subsequent_indent=inner, break_on_hyphens=False
        ) or [""]
    if len(wrapped) == 1:
        return [f"{indent}/* {wrapped[0]} */"]
    return [f"{indent}/* {wrapped[0]}", *(f"{indent} * {x}".rstrip() for x in wrapped[1:]),
            f"{indent} */"]  # fmt: skip


class _Source:
    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._checks = unit.tape.per_turn > 0
        self._support: dict[str, None] = {}
        self._uses_tape = _works(unit)

    def lines(self, by: str, header: str) -> list[str]:
        unit = self._unit
        functions = [line for f in unit.functions for line in self._function(f)]
        main = self._main()
        size = self._work_size()
        support = [line for name in self._support for line in (*SUPPORT[name].splitlines(), "")]
        digits = (
            "Compile with -std=c99 -ffp-contract=off: the digits are then those of gradcli on a "
            "machine with the same C library."
        )
        every = "\n".join([*functions, *main, *size, *support])
        found = [
            *_comment([f"{unit.name}: written by {by} from {unit.source}. {digits}"]),
            "",
            f'#include "{header}"',
            "",
            *(f"#include <{name}.h>" for name in _headers(every)),
            "",
        ]
        return [*found, *support, *functions, *size, *main]

    def _work_size(self) -> list[str]:
        unit = self._unit
        if not self._uses_tape:
            return []
        fixed, per_turn = unit.tape.fixed, unit.tape.per_turn
        said = [f"{per_turn} * turns" if per_turn > 1 else "turns"] if per_turn else []
        said += [str(fixed)] if fixed or not per_turn else []
        return [_work_prototype(unit), "{", f"    return {' + '.join(said)};", "}", ""]

    def _main(self) -> list[str]:
        unit = self._unit
        lines = [*_wrapped(_prototype(unit), ""), "{"]
        lines += [f"    (void) {name}; /* the results do not depend on it */"
                  for name in unit.unread]  # fmt: skip
        if self._uses_tape and not self._checks:
            lines += self._when("    ", f"work_size < {unit.name}_work_size()", "return 1;")
        if self._uses_tape:
            lines += ["    size_t used = 0;"]
        lines += self._body(unit.body, "    ", "2")
        lines += self._finite()
        for output in unit.outputs:
            lines += [f"    if ({output.name} != NULL) {{"]
            for k, x in enumerate(output.values):
                lines += _wrapped(f"{output.name}[{k}] = {self._text(x)};", "        ")
            lines += ["    }"]
        return [*lines, "    return 0;", "}"]

    def _finite(self) -> list[str]:
        """Status 2 if a result is not finite."""
        names: dict[str, None] = {}
        for output in self._unit.outputs:
            for x in output.values:
                text = self._text(x)
                if not isinstance(x, float) or not math.isfinite(x):
                    names[text] = None
        if not names:
            return []
        tests = " || ".join(f"!isfinite({name})" for name in names)
        return self._when("    ", tests, "return 2;")

    def _function(self, f: Function) -> list[str]:
        parameters = [f"{_TYPES[v.type]} {v.name}" for v in f.parameters]
        if f.refuses:
            parameters.append(f"{_TYPES[f.type]} *result")
        type_ = "int" if f.refuses else _TYPES[f.type]
        about = f.about.partition("\n")[0].strip()
        head = _comment([about]) if about else []
        head += _wrapped(f"static {type_} {f.name}({', '.join(parameters)})", "")
        self._refuses = f.refuses
        unread = _unread(f)
        ignored = [f"    (void) {name};" for name in unread]
        return [*head, "{", *ignored, *self._body(f.body, "    ", "2"), "}", ""]

    # --- statements -----------------------------------------------------------------------------

    _refuses = False

    def _body(self, body: Sequence[Statement], indent: str, status: str) -> list[str]:
        return [line for s in body for line in self._statement(s, indent)]

    def _statement(self, s: Statement, indent: str) -> list[str]:
        more = indent + "    "
        match s:
            case Remark(lines=lines):
                return _comment(lines, indent)
            case Let(variable=v, value=x, is_fixed=is_fixed):
                const = "const " if is_fixed else ""
                return _wrapped(f"{const}{_TYPES[v.type]} {v.name} = {self._text(x)};", indent)
            case Declare(variable=v):
                return [f"{indent}{_TYPES[v.type]} {v.name};"]
            case Assign(variable=v, value=x):
                return _wrapped(f"{self._assigned(v, x)};", indent)
            case Attempt(variable=v, function=function, args=args):
                if function in SUPPORT:
                    self._support.setdefault(function)
                given = ", ".join([*map(self._text, args), f"&{v.name}"])
                declared = f"{indent}{_TYPES[v.type]} {v.name};"
                return [declared, *self._when(indent, f"{function}({given}) != 0", "return 2;")]
            case When():
                return self._branch(s, indent)
            case Count(variable=v, start=start, stop=stop, step=step, body=body):
                sign = "<" if step > 0 else ">"
                by = {1: f"{v.name}++", -1: f"{v.name}--"}.get(step, f"{v.name} += {step}")
                head = (
                    f"for (int64_t {v.name} = {self._text(start)}; "
                    f"{v.name} {sign} {self._text(stop)}; {by}) {{"
                )
                return [*_wrapped(head, indent), *self._body(body, more, ""), f"{indent}}}"]
            case While(test=test, body=body):
                head = "for (;;) {" if test is True else f"while ({self._text(test)}) {{"
                return [*_wrapped(head, indent), *self._body(body, more, ""), f"{indent}}}"]
            case Until(test=test, body=body):
                inner = self._body(body, more, "")
                if test is not True:
                    inner += self._when(more, self._negated(test), "break;")
                return [f"{indent}for (;;) {{", *inner, f"{indent}}}"]
            case Leave():
                return [f"{indent}break;"]
            case Refuse(test=test):
                if test is True:
                    return [f"{indent}return 2;"]
                return self._when(indent, self._text(test), "return 2;")
            case Keep(values=values):
                checks: list[str] = []
                if self._checks:
                    checks += self._when(indent, f"work_size - used < {len(values)}", "return 1;")
                return [*checks, *(f"{indent}{self._kept(x)}" for x in values)]
            case Take(variables=several):
                return [f"{indent}{self._taken(v)}" for v in reversed(several)]
            case Return(value=x):
                if self._refuses:
                    return [*_wrapped(f"*result = {self._text(x)};", indent), f"{indent}return 0;"]
                return _wrapped(f"return {self._text(x)};", indent)
        raise AssertionError(type(s).__name__)

    def _assigned(self, v: Variable, x: Expression) -> str:
        if isinstance(x, Apply) and x.primitive in _UPDATES and x.args[0] == v:
            by = x.args[1]
            if by == 1 and v.type == "int":
                return f"{v.name}{_UPDATES[x.primitive] * 2}"
            return f"{v.name} {_UPDATES[x.primitive]}= {self._text(by)}"
        return f"{v.name} = {self._text(x)}"

    def _kept(self, x: Expression) -> str:
        if type_of(x) == "int":
            self._support.setdefault("put_int")
            return f"put_int(&work[used++], {self._text(x)});"
        return f"work[used++] = {self._text(x)};"

    def _taken(self, v: Variable) -> str:
        if not v.name:
            return "used--;"
        if v.type == "int":
            self._support.setdefault("get_int")
            return f"const int64_t {v.name} = get_int(&work[--used]);"
        if v.type == "bool":
            return f"const bool {v.name} = work[--used] != 0.0;"
        return f"const double {v.name} = work[--used];"

    def _branch(self, s: When, indent: str) -> list[str]:
        more = indent + "    "
        lines = _wrapped(f"if ({self._text(s.test)}) {{", indent)
        lines += self._body(s.then, more, "")
        orelse = s.orelse
        while len(orelse) == 1 and isinstance(orelse[0], When):
            (inner,) = orelse
            assert isinstance(inner, When)
            lines += _wrapped(f"}} else if ({self._text(inner.test)}) {{", indent)
            lines += self._body(inner.then, more, "")
            orelse = inner.orelse
        if orelse:
            lines += [f"{indent}}} else {{", *self._body(orelse, more, "")]
        return [*lines, f"{indent}}}"]

    def _when(self, indent: str, test: str, then: str) -> list[str]:
        return [*_wrapped(f"if ({test}) {{", indent), f"{indent}    {then}", f"{indent}}}"]

    # --- expressions ------------------------------------------------------------------------------

    def _negated(self, x: Expression) -> str:
        return self._text(Apply("bool_not", (x,)))

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
            case Math(function=function, args=args) | Called(function=function, args=args):
                return f"{function}({', '.join(map(self._text, args))})", _ATOM
            case Apply(primitive=primitive, args=args):
                return self._applied(primitive, args)
        return _constant(x)

    def _applied(self, primitive: str, args: Sequence[Expression]) -> tuple[str, int]:
        if primitive == "int_half":
            return f"{self._within(args[0], _PRODUCT)} / 2", _PRODUCT
        if primitive in _INFIX:
            sign, level = _INFIX[primitive]
            a, b = args
            least = _SUM if sign in ("&&", "||") else level
            left = _AND if sign == "&&" and _is_same(a, sign) else least
            left = _OR if sign == "||" and _is_same(a, sign) else left
            if sign in ("<", "<=", ">", ">=", "==", "!="):
                left = least = _SUM
            if sign in ("&&", "||") and not _is_same(a, sign):
                left = _ORDER - 1
            right = _ORDER - 1 if sign in ("&&", "||") else least + 1
            return f"{self._within(a, left)} {sign} {self._within(b, right)}", level
        if primitive.endswith("_select"):
            test, a, b = args
            said = f"{self._within(test, _EQUAL)} ? {self._within(a, _EQUAL)}"
            return f"{said} : {self._within(b, _CHOICE)}", _CHOICE
        if primitive == "float_neg":
            return f"-{self._within(args[0], _ATOM)}", _UNARY
        if primitive == "bool_not":
            return f"!{self._within(args[0], _ATOM)}", _UNARY
        if primitive == "float_is_nonfinite":
            return f"!isfinite({self._text(args[0])})", _UNARY
        if primitive in _CASTS:
            return f"({_CASTS[primitive]}) {self._within(args[0], _ATOM)}", _UNARY
        if primitive in _BITS:
            left_text, right_text = (self._within(x, _ATOM) for x in args)
            return f"({left_text} {_BITS[primitive]} {right_text})", _ATOM
        if primitive == "int_is_odd":
            return f"{self._within(args[0], _ATOM)} % 2 == 1", _EQUAL
        call = _CALLS[primitive]
        name = call.partition("(")[0]
        if name in SUPPORT:
            self._support.setdefault(name)
        return call.format(*map(self._text, args)), _ATOM


def _is_same(x: Expression, sign: str) -> bool:
    names = {"&&": "bool_and", "||": "bool_or"}
    return isinstance(x, Apply) and x.primitive == names.get(sign)


def _constant(x: Expression) -> tuple[str, int]:
    if isinstance(x, bool):
        return ("true" if x else "false"), _ATOM
    if isinstance(x, int):
        if x == -(2**63):
            return "INT64_MIN", _ATOM
        return str(x), _ATOM if x >= 0 else _UNARY
    assert isinstance(x, float)
    if math.isnan(x):
        return "NAN", _ATOM
    if math.isinf(x):
        return ("INFINITY", _ATOM) if x > 0 else ("-INFINITY", _UNARY)
    return repr(x), _ATOM if math.copysign(1.0, x) > 0 else _UNARY


def _unread(f: Function) -> list[str]:
    seen = {
        part.name
        for s in statements(f.body)
        for x in read(s)
        for part in every(x)
        if isinstance(part, Variable)
    }
    return [v.name for v in f.parameters if v.name not in seen]


def _headers(text: str) -> Iterator[str]:
    yield "math"
    if "bool " in text or "true" in text or "false" in text:
        yield "stdbool"
    if "int64_t" in text or "INT64" in text:
        yield "stdint"
    if "memcpy" in text:
        yield "string"


def _wrapped(line: str, indent: str) -> list[str]:
    """A line of code, broken at blanks if it is long."""
    if len(indent) + len(line) <= _WIDTH:
        return [indent + line]
    found = textwrap.wrap(
        line.replace("double *", f"double{_HARD}*"),
        _WIDTH - len(indent),
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [indent + part.replace(_HARD, " ") for part in found]


_HARD = "\0"  # stands for a blank at which no line is broken
