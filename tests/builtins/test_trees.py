"""Trees of values and autograd's optimizers, against plain Python."""

import math

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

HEAD = """import jax
from autograd.misc.optimizers import adam, sgd, rmsprop
from autograd.misc.fixed_points import fixed_point
"""


def result(text):
    return load(HEAD + text).run(options=Options(compile="never")).result


def printed(text):
    lines = []
    load(HEAD + text).run(options=Options(echo=lines.append))
    return "".join(lines).removesuffix("\n")


def slope(x):
    return np.array([2 * x[0] + x[1], x[0] + 6 * x[1] - 1])


def sgd(x, count, step_size=0.1, mass=0.9):
    velocity = np.zeros(2)
    for _ in range(count):
        velocity = mass * velocity - (1 - mass) * slope(x)
        x = x + step_size * velocity
    return x


def rmsprop(x, count, step_size=0.1, gamma=0.9, eps=1e-8):
    average = np.ones(2)
    for _ in range(count):
        g = slope(x)
        average = average * gamma + g**2 * (1 - gamma)
        x = x - step_size * g / (np.sqrt(average) + eps)
    return x


def adam(x, count, step_size=0.001, b1=0.9, b2=0.999, eps=1e-8):
    m = v = np.zeros(2)
    for i in range(count):
        g = slope(x)
        m, v = (1 - b1) * g + b1 * m, (1 - b2) * g**2 + b2 * v
        first, second = m / (1 - b1 ** (i + 1)), v / (1 - b2 ** (i + 1))
        x = x - step_size * first / (np.sqrt(second) + eps)
    return x


OPTIMIZERS = [
    (sgd, {}),
    (sgd, {"step_size": 0.05, "mass": 0.5}),
    (sgd, {"mass": 0.0}),
    (rmsprop, {}),
    (rmsprop, {"step_size": 0.3, "gamma": 0.25, "eps": 0.1}),
    (adam, {}),
    (adam, {"step_size": 0.2, "b1": 0.5, "b2": 0.75, "eps": 0.1}),
]


@pytest.mark.parametrize(("steps", "settings"), OPTIMIZERS)
@pytest.mark.parametrize("count", [0, 1, 2, 7, None])
def test_an_optimizer_takes_the_steps_of_its_formula(steps, settings, count):
    given = "".join(f", {name}={value}" for name, value in settings.items())
    given += "" if count is None else f", num_iters={count}"
    text = "g = lambda x, i: tensor([2 * x[0] + x[1], x[0] + 6 * x[1] - 1])\n"
    found = result(f"{text}{steps.__name__}(g, tensor([1.5, -2.0]){given})")
    usual = 200 if steps is sgd else 100
    wanted = steps(np.array([1.5, -2.0]), usual if count is None else count, **settings)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def test_an_optimizer_tells_each_step():
    text = "l = []\nsgd(lambda x, i: 2.0 * x + i, 1.0, lambda x, i, g: l.append((x, i, g)), 3, mass=0.0)\n"
    assert printed(f"{text}print(l)") == (
        "[(Array(1., dtype=float64), 0, Array(2., dtype=float64)), "
        "(Array(0.8, dtype=float64), 1, Array(2.6, dtype=float64)), "
        "(Array(0.54, dtype=float64), 2, Array(3.08, dtype=float64))]"
    )


@pytest.mark.parametrize("a", [0.3, 0.7])
def test_a_fixed_point_and_its_derivative_solve_the_equation(a):
    """x = cos(a x) has the derivative -x sin(a x) / (1 + a sin(a x))."""
    text = (
        "solve = lambda a: fixed_point(lambda a: lambda x: cos(a * x), a, 1.0, "
        "lambda x, y: abs(x - y), 1e-13)\n"
    )
    x = float(result(f"{text}solve({a})"))
    assert x == pytest.approx(math.cos(a * x), abs=1e-12)
    sine = math.sin(a * x)
    found = float(result(f"{text}grad(solve)({a})"))
    assert found == pytest.approx(-x * sine / (1 + a * sine), abs=1e-11)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("tree_map(lambda a: a + 1, [1, (2, {'k': 3})])", "[2, (3, {'k': 4})]"),
        ("tree_map(lambda a, b, c: a + b * c, [1, 2], [3, 4], [5, 6])", "[16, 26]"),
        ("tree_map(lambda a: a, None)", "None"),
        ("tree_map(lambda a: 5, 3)", "5"),
        ("tree_map(lambda a: 0, [1, [2]], is_leaf=lambda v: v == 1 or len(v) == 1)", "[0, 0]"),
        ("tree_leaves({'b': 1, 'a': [2, None, (3,)]})", "[2, 3, 1]"),
        ("tree_leaves(None)", "[]"),
        ("tree_leaves(4)", "[4]"),
        ("tree_reduce(lambda a, b: a * 10 + b, [1, (2, 3)])", "123"),
        ("tree_reduce(lambda a, b: a * 10 + b, [1, (2, 3)], 4)", "4123"),
        ("tree_reduce(lambda a, b: a * 10 + b, [], 4)", "4"),
        ("tree_flatten({'b': 1, 'a': (2,)})[0]", "[2, 1]"),
        ("tree_unflatten(jax.tree_util.tree_flatten({'b': 1, 'a': (2,)})[1], [5, 6])", "{'a': (5,), 'b': 6}"),
    ],
)  # fmt: skip
def test_trees(call, text):
    assert printed(f"print(jax.tree_util.{call})") == text


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("tree_map(lambda a: a)", "`tree_map` takes a function and a tree, or several"),
        ("tree_map(lambda a, b: a, [1, 2], [1])", "`tree_map` needs trees of one structure"),
        ("tree_map(lambda a, b: a, [1], 1)", "`tree_map` needs trees of one structure"),
        ("tree_reduce(lambda a, b: a, [])", "`tree_reduce` of no values"),
    ],
)
def test_wrong_trees_are_refused(call, message):
    with pytest.raises(GradError) as error:
        result(f"jax.tree_util.{call}")
    assert error.value.diagnostics[0].message == message
