"""What is left beside a share of nearly 1 has its digits, in first and second derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.program import load

POINTS = [[0.0, -40.0, -41.5], [-45.0, 0.5, -39.0], [-100.0, -3.0, 0.0], [-301.0, 0.0, -300.0]]


def shares(x):
    """The shares p, and what each leaves: 1 - p, of the others."""
    e = np.exp(np.array(x) - max(x))
    others = [sum(v for j, v in enumerate(e) if j != i) for i in range(len(e))]
    return e / e.sum(), np.array(others) / e.sum()


def slopes(p, left):
    """The matrix of derivatives of the logarithms of p, and the second ones of logsumexp."""
    of_logs = np.where(np.eye(3) == 1, left[:, None], -p)
    of_total = np.where(np.eye(3) == 1, np.diag(p * left), -np.outer(p, p))
    return of_logs, of_total


@pytest.mark.parametrize("x", POINTS, ids=str)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_derivatives_keep_the_digits_of_what_is_left(x, mode):
    p, left = shares(x)
    logs, total = slopes(p, left)
    expected = {"logsumexp(x, 0)": (p, total)}
    for i in range(3):
        second = p[i] * (np.outer(logs[i], logs[i]) - total)
        expected[f"softmax(x, 0)[{i}]"] = p[i] * logs[i], second
        expected[f"log_softmax(x, 0)[{i}]"] = logs[i], -total
        expected[f"-cross_entropy(x, tensor({i}))"] = logs[i], -total
    for text, (first, second) in expected.items():
        program = load(f"param x = {x}\n{text}")
        found = program.hessian(mode=mode)
        np.testing.assert_allclose(found.grad["x"], first, 1e-14, err_msg=text)
        np.testing.assert_allclose(found.hessian["x"]["x"], second, 1e-14, err_msg=text)
        along = program.jacobian(mode=mode).jacobian["x"]
        np.testing.assert_allclose(along, first, 1e-14, err_msg=text)
