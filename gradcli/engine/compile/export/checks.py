"""Tests of exported functions, in the language of the function, with gradcli's numbers."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.compile.export.languages.c_header import works
from gradcli.engine.compile.export.unit import Parameter, Unit
from gradcli.engine.compile.export.written import read, size, statements
from gradcli.record import Record

_LEAST = 1000  # numbers of work memory at first
_ULPS = 4.0 * 2.0**-52


class Point(Record):
    """Values of the inputs by name, as lists of their elements, their shapes, and the numbers of
    each output.
    """

    __slots__ = ("inputs", "shapes", "outputs")
    inputs: Mapping[str, Sequence[Any]]
    shapes: Mapping[str, tuple[int, ...]]
    outputs: Mapping[str, Sequence[float]]


def in_c(unit: Unit, points: Sequence[Point], header: str, by: str) -> str:
    """The text of a C program that tests the function: its status is 1 if a number differs."""
    family, version = platform.libc_ver()
    lines = [
        f"/* Test of {unit.name}, written by {by} with its numbers. Build it together with the",
        " * function and run it; the status is 0 if all numbers are right.",
        " *",
        f" * The numbers are from {family or 'another C library'} {version} on "
        f"{platform.machine()}; there they",
        " * are compared bit by bit, elsewhere up to 4 units in the last place an operation.",
        " */",
        "",
        f'#include "{header}"',
        "",
        "#include <math.h>",
        "#include <stdbool.h>",
        "#include <stdint.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "",
        *_exactly(unit, family, version),
        "",
        _DIFFERS,
    ]
    for k, point in enumerate(points, 1):
        lines += _point_in_c(unit, point, k)
    lines += ["int main(void)", "{", "    int wrong = 0;"]
    lines += [f"    wrong += point_{k}();" for k in range(1, len(points) + 1)]
    lines += ['    printf("%s\\n", wrong ? "some numbers differ" : "all numbers are right");']
    return "\n".join([*lines, "    return wrong ? 1 : 0;", "}", ""])


_DIFFERS = """\
/* The number of elements that are not the expected ones. */
static int differs(const char *name, const double *found, const double *expected, size_t count)
{
    int wrong = 0;
    double largest = 0.0;
    for (size_t k = 0; k < count; k++) {
        largest = fmax(largest, fabs(expected[k]));
    }
    for (size_t k = 0; k < count; k++) {
        if (!(fabs(found[k] - expected[k]) <= ALLOWED * largest)) {
            printf("%s[%lu] is %.17g, not %.17g\\n", name, (unsigned long) k, found[k],
                   expected[k]);
            wrong++;
        }
    }
    return wrong;
}
"""


def _exactly(unit: Unit, family: str, version: str) -> list[str]:
    allowed = f"#define ALLOWED {_allowed(unit)!r}"
    major, _, minor = version.partition(".")
    if family != "glibc" or not unit.is_exact or not minor.isdigit():
        return [allowed]
    test = f"defined(__GLIBC__) && __GLIBC__ == {major} && __GLIBC_MINOR__ == {minor}"
    machine = f" && defined(__{platform.machine()}__)"
    return [f"#if {test}{machine}", "#define ALLOWED 0.0", "#else", allowed, "#endif"]


def _allowed(unit: Unit) -> float:
    """The relative difference that is allowed if the C library is another one."""
    every = [x for s in statements(unit.body) for x in read(s)]
    return _ULPS * max(1, sum(map(size, every)))


def _point_in_c(unit: Unit, point: Point, k: int) -> list[str]:
    lines = [f"static int point_{k}(void)", "{", "    int wrong = 0;"]
    given = []
    for p in unit.parameters:
        numbers = [_number(x, p.type) for x in point.inputs[p.of]]
        if p.shape:
            type_ = {"float": "double", "int": "int64_t", "bool": "bool"}[p.type]
            lines += [f"    const {type_} {p.name}[] = {{{', '.join(numbers)}}};"]
            given.append(p.name)
            given += [str(point.shapes[p.of][p.shape.index(v)]) for v in p.sizes]
        else:
            given += numbers
    for o in unit.outputs:
        numbers = [_number(x, "float") for x in point.outputs[o.name]]
        lines += [f"    const double expected_{o.name}[] = {{", *_in_lines(numbers), "    };"]
        lines += [f"    double {o.name}[{len(numbers)}];"]
        given.append(o.name)
    if works(unit):
        lines += _called_with_work(unit, given)
    else:
        lines += [f"    int status = {unit.name}({', '.join(given)});"]
    lines += [
        "    if (status != 0) {",
        f'        printf("point {k} has status %d\\n", status);',
        "        return 1;",
        "    }",
    ]
    for o in unit.outputs:
        said = f'"{o.name}", {o.name}, expected_{o.name}, {len(point.outputs[o.name])}'
        lines += [f"    wrong += differs({said});"]
    return [*lines, "    return wrong;", "}", ""]


def _called_with_work(unit: Unit, given: Sequence[str]) -> list[str]:
    """A call with as much work memory as it needs."""
    size_ = _LEAST if unit.tape.per_turn or not isinstance(unit.work, int) else unit.work
    return [
        f"    size_t work_size = {size_};",
        "    double *work = NULL;",
        "    int status;",
        "    do {",
        "        work_size *= 2;",
        "        free(work);",
        "        work = malloc(work_size * sizeof(double));",
        "        if (work == NULL) {",
        "            return 1;",
        "        }",
        f"        status = {unit.name}({', '.join([*given, 'work', 'work_size'])});",
        "    } while (status == 1);",
        "    free(work);",
    ]


def _in_lines(numbers: Sequence[str]) -> list[str]:
    return [f"        {', '.join(numbers[k : k + 4])}," for k in range(0, len(numbers), 4)]


def _number(x: Any, type: str) -> str:
    if type == "float":
        return float(x).hex()
    return ("true" if x else "false") if type == "bool" else str(int(x))


def in_python(unit: Unit, points: Sequence[Point], module: str, by: str) -> str:
    """The text of a Python file that tests the function, alone or under pytest."""
    lines = [
        f'"""Test of {unit.name}, written by {by} with its numbers.',
        "",
        f"They are from {' '.join(platform.libc_ver()).strip() or 'another C library'} on "
        f"{platform.machine()}. There they are compared bit by bit, elsewhere",
        "up to 4 units in the last place for each operation.",
        '"""',
        "",
        "import platform",
        "",
        "import numpy as np",
        "",
        f"from {module} import {unit.name}",
        "",
        f"WHERE = ({platform.libc_ver()!r}, {platform.machine()!r})",
        f"IS_EXACT = {unit.is_exact} and (platform.libc_ver(), platform.machine()) == WHERE",
        f"ALLOWED = 0.0 if IS_EXACT else {_allowed(unit)!r}",
        "",
        "POINTS = [",
    ]
    for point in points:
        inputs = [_in_python(p, point) for p in unit.parameters]
        outputs = [f"np.array([{', '.join(map(repr, point.outputs[o.name]))}])"
                   for o in unit.outputs]  # fmt: skip
        lines += ["    (", f"        [{', '.join(inputs)}],", f"        [{', '.join(outputs)}],"]
        lines += ["    ),"]
    lines += [
        "]",
        "",
        "",
        f"def test_{unit.name}():",
        "    for inputs, expected in POINTS:",
        f"        found = {unit.name}(*inputs)",
        *(["        found = (found,)"] if len(unit.outputs) == 1 else []),
        "        for x, y in zip(found, expected, strict=True):",
        "            assert np.max(np.abs(np.ravel(x) - y)) <= ALLOWED * np.max(np.abs(y)), (x, y)",
        "",
        "",
        'if __name__ == "__main__":',
        f"    test_{unit.name}()",
        '    print("all numbers are right")',
        "",
    ]
    return "\n".join(lines)


def _in_python(p: Parameter, point: Point) -> str:
    text, shape = ", ".join(map(repr, point.inputs[p.of])), point.shapes[p.of]
    if not p.shape:
        return text
    return f"np.array([{text}])" + (f".reshape{shape}" if len(shape) > 1 else "")
