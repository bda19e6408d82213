"""Print what a C function of the written form promises: its header file and its comments."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from gradcli.engine.compile.export.unit import Output, Parameter, Unit
from gradcli.engine.compile.export.written import Variable, replaced, size_text

WIDTH = 98
TYPES = {"float": "double", "int": "int64_t", "bool": "bool"}


def header(unit: Unit, by: str, file: str) -> str:
    """The text of the header file."""
    guard = "".join(c if c.isalnum() else "_" for c in file.upper())
    lines = [*_about(unit, by), "", f"#ifndef {guard}", f"#define {guard}", ""]
    if any(p.type == "int" for p in unit.parameters):
        lines += ["#include <stdint.h>"]
    if any(p.type == "bool" for p in unit.parameters):
        lines += ["#include <stdbool.h>"]
    lines += ["#include <stddef.h>", ""]
    for output in unit.outputs:
        if output.size != 1 or output.name != "value":
            lines.append(_macro(unit, output))
    lines += ["", *_contract(unit), *wrapped(f"{prototype(unit)};", "")]
    if works(unit):
        lines += ["", *_work_comment(unit), f"{work_prototype(unit)};"]
    lines += ["", "#endif"]
    return "\n".join(lines) + "\n"


def works(unit: Unit) -> bool:
    """True if the function needs work memory."""
    return bool(unit.room or unit.tape.fixed or unit.tape.per_turn)


def _macro(unit: Unit, output: Output) -> str:
    """The line that defines how many numbers an output has."""
    name = f"{unit.name.upper()}_{output.name.upper()}_SIZE"
    if type(output.size) is int:
        return f"#define {name} {output.size}"
    names = ", ".join(v.name for v in unit.sizes)
    size = size_text(replaced(output.size, lambda v: Variable(f"({v.name})", "int")))
    return f"#define {name}({names}) ({size})"


def prototype(unit: Unit) -> str:
    """The head of the function."""
    parameters = [part for p in unit.parameters for part in _parameter(p)]
    parameters += [f"double *{output.name}" for output in unit.outputs]
    if works(unit):
        parameters += ["double *work", "size_t work_size"]
    return f"int {unit.name}({', '.join(parameters)})"


def _parameter(p: Parameter) -> list[str]:
    type_ = TYPES[p.type]
    if not p.shape:
        return [f"{type_} {p.name}"]
    return [f"const {type_} *{p.name}", *(f"size_t {v.name}" for v in p.sizes)]


def work_prototype(unit: Unit) -> str:
    """The head of the function that tells how much work memory is enough."""
    names = ["turns"] if unit.tape.per_turn else []
    names += [v.name for v in unit.sizes]
    given = ", ".join(f"size_t {name}" for name in names)
    return f"size_t {unit.name}_work_size({given or 'void'})"


def _work_comment(unit: Unit) -> list[str]:
    if unit.tape.per_turn:
        return comment(["How many numbers of work memory are enough if the loops take at most "
                         "`turns` turns, all turns of all loops together."])  # fmt: skip
    return comment(["How many numbers of work memory the function needs."])


def _about(unit: Unit, by: str) -> list[str]:
    lines = [
        f"{unit.name}: {', '.join(o.name for o in unit.outputs)} of {unit.source}, written by {by}."
    ]
    if unit.head:
        lines += ["", *unit.head]
    return comment(lines)


def _contract(unit: Unit) -> list[str]:
    lines: list[str] = ["Inputs:"]
    for p in unit.parameters:
        told = []
        if p.name != p.of:
            told.append(f"`{p.of}` of the program")
        if p.shape:
            told.append(f"{' x '.join(map(size_text, p.shape))} numbers" + (
                ", row by row" if len(p.shape) > 1 else ""))  # fmt: skip
        if p.about:
            told.append(p.about)
        lines.append(f"  {p.name}" + (f": {'; '.join(told)}" if told else ""))
        lines += [f"  {v.name}: at least {unit.least}" for v in p.sizes if unit.least > 1]
    lines.append("Outputs, each NULL if it is not wanted:")
    for output in unit.outputs:
        if type(output.size) is not int:
            lines.append(f"  {output.name}: {', '.join(output.says.names)}; "
                         f"{size_text(output.size)} numbers")  # fmt: skip
        elif len(output.says) == 1:
            lines.append(f"  {output.name}[0]: {output.says[0]}")
        else:
            lines += [f"  {output.name}[{k}]: {what}" for k, what in _short(output.says)]
    lines.append("Returns 0; 2 if a result is not finite or gradcli would stop with an error.")
    if works(unit):
        lines[-1] = lines[-1].replace("Returns 0; ", "Returns 0; 1 if `work` is too small; ")
    lines.append("Nothing is written unless it returns 0.")
    return comment(lines)


_MOST = 12


def _short(says: Sequence[str]) -> Iterator[tuple[str, str]]:
    if len(says) <= _MOST:
        for k, said in enumerate(says):
            yield str(k), said
        return
    yield "0", says[0]
    yield "1", says[1]
    yield str(len(says) - 1), says[-1]


def comment(lines: Sequence[str], indent: str = "") -> list[str]:
    """A comment, with lines that are too long broken at blanks."""
    wrapped: list[str] = []
    for line in (line.replace("*/", "* /") for line in lines):
        inner = " " * (len(line) - len(line.lstrip()) + 4 * line.startswith("  "))
        wrapped += textwrap.wrap(
            line, WIDTH - len(indent) - 6, subsequent_indent=inner, break_on_hyphens=False
        ) or [""]
    if len(wrapped) == 1:
        return [f"{indent}/* {wrapped[0]} */"]
    return [f"{indent}/* {wrapped[0]}", *(f"{indent} * {x}".rstrip() for x in wrapped[1:]),
            f"{indent} */"]  # fmt: skip


def wrapped(line: str, indent: str) -> list[str]:
    """A line of code, broken at blanks if it is long."""
    if len(indent) + len(line) <= WIDTH:
        return [indent + line]
    found = textwrap.wrap(
        line.replace("double *", f"double{_HARD}*").replace("size_t ", f"size_t{_HARD}"),
        WIDTH - len(indent),
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [indent + part.replace(_HARD, " ") for part in found]


_HARD = "\0"  # stands for a blank at which no line is broken
