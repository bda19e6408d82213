"""How much of long work is done is told in order, and never more than there is."""

from itertools import pairwise

import pytest

from gradcli.program import Options, load

VECTOR = load("input x: float[5]\ny = x * x.sum()\nz = y.sum()\ny")
INPUT = {"x": [1.0, 2.0, 3.0, 4.0, 5.0]}
SEVERAL = load("input x = 1.0\na = sin(x)\nb = x ** 2\nb")


def told(ask, compiled="never"):
    found = []
    ask(Options(compile=compiled, progress=lambda done, total: found.append((done, total))))
    return found


@pytest.mark.parametrize("compiled", ["never", "always"])
@pytest.mark.parametrize("of", [["a"], ["a", "b"], ["b", "a", "b"]])
def test_a_plot_tells_of_each_point_of_each_result(of, compiled):
    at = [0.1 * k for k in range(7)]
    found = told(lambda options: SEVERAL.plot(over="x", at=at, of=of, options=options), compiled)
    total = len(at) * len(of)
    assert found == [(done, total) for done in range(1, total + 1)]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("question", ["jacobian", "hessian"])
def test_a_matrix_tells_of_its_directions(question, mode):
    of = {"jacobian": "y", "hessian": "z"}[question]
    ask = getattr(VECTOR, question)
    found = told(lambda options: ask(INPUT, of=of, mode=mode, options=options))
    assert found
    assert {total for _, total in found} == {5}
    assert all(0 <= done <= total for done, total in found)
    assert all(a < b for (a, _), (b, _) in pairwise(found))


def test_a_check_counts_its_runs():
    found = told(lambda options: VECTOR.gradcheck(INPUT, of="z", options=options))
    assert found == [(runs, None) for runs in range(1, len(found) + 1)]
    assert len(found) > 5
