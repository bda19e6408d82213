"""docs/kinks.md, row by row, in reverse and in forward mode."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.program import constant, load_source
from gradcli.source import Source

PAGE = (Path(__file__).parents[2] / "docs" / "kinks.md").read_text("utf-8")


def rows():
    """Heading of the third column and the cells of every row."""
    heading = None
    for line in PAGE.splitlines():
        if not line.startswith("|"):
            continue
        cells = [cell.strip("|` ") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[0] == "expression":
            heading = cells
        elif not cells[0].startswith("---"):
            yield heading, cells


FIRST = [cells for heading, cells in rows() if "gradient" in heading]
SECOND = [cells for heading, cells in rows() if "second derivative" in heading]
VALUES = [cells for heading, cells in rows() if "value" in heading]


def value(text):
    return constant(text, "value", text).value


def same(got, text) -> bool:
    """Equal to the value written; to the last two digits where that is no short decimal."""
    expected = np.asarray(value(text), float)
    rounded = 2e-15 if re.search(r"pi|\de", text) else 0.0
    return np.shape(got) == expected.shape and np.allclose(
        got, expected, rtol=rounded, atol=0, equal_nan=True
    )


def points(text):
    """The inputs of `x=0 y=[1, 2]`."""
    return {n: constant(v, n, f"{n}={v}") for n, v in re.findall(r"(\w)=(.*?)(?= \w=|$)", text)}


def gradients(text, count):
    """The texts of `1, 0`, one for each input."""
    return [text] if count == 1 else re.findall(r"\[.*?\]|[^\[\], ]+", text)


@pytest.mark.parametrize("cells", FIRST, ids=lambda c: f"{c[0]} at {c[1]}")
def test_gradient_in_reverse_mode(cells):
    expression, at, gradient, _ = cells
    given = points(at)
    program = load_source(Source("page", f"sum({expression})"), frozenset(given))
    found = program.grad(given, wrt=list(given)).grad
    for name, expected in zip(given, gradients(gradient, len(given)), strict=True):
        assert same(found[name], expected), f"{expression} at {at} by {name}: {found[name]}"


@pytest.mark.parametrize("cells", FIRST, ids=lambda c: f"{c[0]} at {c[1]}")
def test_gradient_in_forward_mode(cells):
    expression, at, gradient, _ = cells
    given = points(at)
    names = list(given)
    for name, expected in zip(names, gradients(gradient, len(given)), strict=True):
        text = f"def f({name}): return sum({expression})\njacfwd(f)({name})"
        program = load_source(Source("page", text), frozenset(given))
        found = program.run(given).result
        assert same(found, expected), f"{expression} at {at} by {name}: {found}"


@pytest.mark.parametrize("cells", SECOND, ids=lambda c: f"{c[0]} at {c[1]}")
@pytest.mark.parametrize("modes", list(itertools.product(["jacrev", "jacfwd"], repeat=2)))
def test_second_derivative(cells, modes):
    expression, at, expected, _ = cells
    given = points(at)
    text = f"def f(x): return sum({expression})\n{modes[0]}({modes[1]}(f))(x)"
    found = load_source(Source("page", text), frozenset(given)).run(given).result
    assert same(found, expected), f"{expression} at {at}: {found}, not {expected}"


@pytest.mark.parametrize("cells", VALUES, ids=lambda c: c[0])
def test_value_or_refusal(cells):
    expression, expected, _ = cells
    program = load_source(Source("page", expression))
    if expected == "error":
        with pytest.raises(GradError):
            program.run()
    else:
        found = program.run().result
        assert same(found, expected), f"{expression}: {found}, not {expected}"


def test_the_page_is_read():
    assert len(FIRST) > 80
    assert len(SECOND) > 5
    assert len(VALUES) > 10
