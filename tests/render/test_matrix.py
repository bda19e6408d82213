"""Jacobians and Hessians by several names: one matrix for people, at every width."""

from itertools import pairwise

import numpy as np
import pytest

from gradcli import load
from gradcli.render.derivatives.answers import derivative_view
from gradcli.render.text import cells, plain_text


def shown(result, width=80, precision=6):
    return plain_text(derivative_view(result, precision=precision, width=width))


HESSIAN = """\
result = 12

name  gradient
x     12
y      4

hessian  x  y
x        6  4
y        4  0

by reverse mode
"""


def test_second_derivatives_by_several_names_are_one_matrix():
    assert shown(load("x ** 2 * y").hessian(x=2, y=3)) == HESSIAN


@pytest.mark.parametrize(
    ("text", "values", "lines"),
    [
        ("x * y", {"x": 2, "y": 3}, ["jacobian  x  y", "result    3  2"]),
        (
            "z = stack([x * y[0], x + y[1]])\nz",
            {"x": 2, "y": [3, 4]},
            ["jacobian  x  y[0]  y[1]", "z[0]      3  2     0", "z[1]      1  0     1"],
        ),
        ("x * 2", {"x": [2, 3]}, ["jacobian.x = [[2, 0],", "              [0, 2]]"]),
        ("x ** 2", {"x": 3}, ["jacobian.x = 6"]),
    ],
)
def test_a_jacobian_has_a_row_for_each_element_of_the_result(text, values, lines):
    found = shown(load(text).jacobian(**values)).splitlines()
    assert found[-2 - len(lines) : -2] == lines


@pytest.mark.parametrize("size", [0, 12, 40])
def test_empty_and_large_tensors_are_shown_block_by_block(size):
    found = shown(load("sum(x) * y").hessian(x=np.ones(size), y=2))
    assert "hessian.x.y = " in found


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_columns_that_do_not_fit_stand_below(width):
    names = [f"coefficient_{k}" for k in range(9)]
    program = load(" + ".join(f"{a} ** {k} * {b}" for k, (a, b) in enumerate(pairwise(names))))
    values = {name: 1 + k / 7 for k, name in enumerate(names)}
    result = program.hessian(**values)
    text = shown(result, width)
    assert max(map(cells, text.splitlines())) <= width
    found = {}
    for panel in text.split("\n\n")[2:-1]:
        head, *rows = panel.splitlines()
        for row in rows:
            name, *numbers = row.split()
            found |= zip([(name, other) for other in head.split()[1:]], numbers, strict=True)
    whole = {(a, b): f"{x:.6g}" for a, row in result.hessian.items() for b, x in row.items()}
    assert found == whole
