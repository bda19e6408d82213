"""Second and mixed derivatives of element-wise ops to the last digits, against mpmath, where the
modes meet in every order: reverse over reverse, forward over reverse, and the other two.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from support.checks.oracles import Run, forward, reverse, table
from support.checks.true_derivatives import FORMS, POINTS, TABLE, check, is_pole
from support.checks.true_functions import sigma

from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet

MODES = {"reverse": reverse, "forward": forward}
STEP = mp.mpf(10) ** -20


@pytest.fixture(autouse=True)
def precise():
    with Quiet(), mp.workdps(60):
        yield


# of one argument

LOST = {
    "gelu_tanh": (
        2.5e-321,
        "beyond |x| = 21.3, where e ** (inner x) is below the normal numbers and its slope is "
        "multiplied by that of the inner function, about 100",
    ),
}
"""Ops that lose digits: the largest absolute error, as measured, and where."""


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", TABLE)
def test_a_second_derivative_is_exact_to_the_last_digits(name, half):
    _, _, second, (low, high) = TABLE[name]
    points = [x for x in POINTS[half].tolist() if low < x < high and not is_pole(name, x)]
    operation, params = FORMS.get(name, (name, {}))
    entry, ones = ops[operation], np.ones(len(points))
    found = {}
    for (inner, first), (outer, then) in product(MODES.items(), repeat=2):
        run = Run(entry, [np.array(points)], params)
        slope = first(run.outs, [ones], run.leaves, graph=True)[0]
        found[f"{outer} over {inner}"] = then([slope], [ones], run.leaves)[0] if on(slope) else None
    for i, x in enumerate(points):
        z = mp.mpf(x)
        true = mp.mpf(second(z))
        for modes, bend in found.items():
            got = 0.0 if bend is None else float(data_of(bend)[i])
            if abs(got - true) > LOST.get(name, (0, ""))[0]:
                check(name, x, f"{modes} derivative", got, true, lambda z: third(second, z))


def third(second, z):
    h = abs(z) * STEP
    return (second(z + h) - second(z - h)) / (2 * h)


def on(x):
    return isinstance(x, Tensor) and x.node is not None


# of several arguments: the entries of the Hessian that are not zero


def hypotenuse(x, y):
    return mp.sqrt(x * x + y * y)


def meeting(x, y, rate=1):
    """The second derivative of log(e ** (rate x) + e ** (rate y)) / rate by x."""
    return rate * sigma(rate * (x - y)) * sigma(rate * (y - x))


def power_twice(x, y):
    return y * (y - 1) * mp.power(x, y - 2)


def power_mixed(x, y):
    return mp.power(x, y - 1) * (1 + y * mp.log(x))


def power_exponent(x, y):
    return mp.power(x, y) * mp.log(x) ** 2


POWER = {(0, 0): power_twice, (0, 1): power_mixed, (1, 1): power_exponent}
TWO = mp.log(2)
SIZES = [1e-300, 1e-160, 1e-20, 1e-8, 0.3, 1.0, 7.0, 40.0, 800.0, 1e8, 1e150]
ANY = [s * size for s in (1, -1) for size in SIZES]
FEW = ANY[::4]
EXPONENTS = [-40.0, -7.0, -0.3, -1e-20, 0.0, 1e-8, 0.3, 1.0, 7.0, 40.0, 400.0]
SHARES = [1e-9, 0.2, 0.5, 0.7, 1 - 1e-9]

HESSIANS = {
    "mul": ({(0, 1): lambda x, y: 1}, ANY, ANY),
    "weigh": ({(0, 1): lambda g, p: 1}, ANY, ANY),
    "gate": ({(0, 1): lambda x, y: 1}, ANY, ANY),
    "div": (
        {(0, 1): lambda x, y: -1 / y**2, (1, 1): lambda x, y: 2 * x / y**3},
        ANY,
        ANY,
    ),
    "pow": (POWER, SIZES, ANY),
    "float_power": (POWER, SIZES, ANY),
    "jax_pow": (POWER, SIZES, ANY),
    "hypot": (
        {
            (0, 0): lambda x, y: y * y / hypotenuse(x, y) ** 3,
            (0, 1): lambda x, y: -x * y / hypotenuse(x, y) ** 3,
            (1, 1): lambda x, y: x * x / hypotenuse(x, y) ** 3,
        },
        ANY,
        ANY,
    ),
    "leg": (
        {
            (0, 0): lambda x, y: -3 * x * y * y / hypotenuse(x, y) ** 5,
            (0, 1): lambda x, y: y * (2 * x * x - y * y) / hypotenuse(x, y) ** 5,
            (1, 1): lambda x, y: x * (2 * y * y - x * x) / hypotenuse(x, y) ** 5,
        },
        ANY,
        ANY,
    ),
    "atan2": (
        {
            (0, 0): lambda y, x: -2 * x * y / hypotenuse(x, y) ** 4,
            (0, 1): lambda y, x: (y * y - x * x) / hypotenuse(x, y) ** 4,
            (1, 1): lambda y, x: 2 * x * y / hypotenuse(x, y) ** 4,
        },
        ANY,
        ANY,
    ),
    "logaddexp": (
        {(0, 0): meeting, (0, 1): lambda x, y: -meeting(x, y), (1, 1): meeting},
        ANY,
        ANY,
    ),
    "logaddexp2": (
        {
            (0, 0): lambda x, y: meeting(x, y, TWO),
            (0, 1): lambda x, y: -meeting(x, y, TWO),
            (1, 1): lambda x, y: meeting(x, y, TWO),
        },
        ANY,
        ANY,
    ),
    "xlogy": ({(0, 1): lambda x, y: 1 / y, (1, 1): lambda x, y: -x / y**2}, ANY, SIZES),
    "xlog1py": (
        {(0, 1): lambda x, y: 1 / (1 + y), (1, 1): lambda x, y: -x / (1 + y) ** 2},
        ANY,
        [*SIZES, -1e-9, -0.5, -0.99],
    ),
    "bernoulli_loss": (
        {
            (0, 0): lambda p, t: t / p**2 + (1 - t) / (1 - p) ** 2,
            (0, 1): lambda p, t: -1 / p - 1 / (1 - p),
        },
        SHARES,
        SHARES,
    ),
    "ldexp": (
        {
            (0, 1): lambda x, y: mp.power(2, y) * TWO,
            (1, 1): lambda x, y: x * mp.power(2, y) * TWO**2,
        },
        ANY,
        EXPONENTS,
    ),
    "lerp": (
        {(0, 2): lambda x, end, w: -1, (1, 2): lambda x, end, w: 1},
        FEW,
        FEW,
        [0.2, 0.7, 3.0],
    ),
    "addcmul": ({(1, 2): lambda x, a, b: 1}, FEW, FEW, FEW),
    "addcdiv": (
        {(1, 2): lambda x, a, b: -1 / b**2, (2, 2): lambda x, a, b: 2 * a / b**3},
        FEW,
        FEW,
        FEW,
    ),
    **dict.fromkeys(
        (
            *("add", "sub", "floor_divide", "remainder", "fmod", "math_remainder", "level"),
            *("maximum", "minimum", "fmax", "fmin", "clamp_min", "clamp_max"),
            *("heaviside", "copysign", "nextafter"),
        ),
        ({}, FEW, FEW),
    ),
    "clamp": ({}, FEW, [-1.0], [7.5]),
}
"""By op: the second derivatives that are not zero, and the values of each argument."""

OF_CONDITIONS = {"where", "masked_fill"}
"""Ops with a condition as an argument: linear in what they give."""


HARD = {
    "pow": (
        lambda x, y: mp.power(x, y - 2) > 1e300 or abs(mp.power(x, y - 2)) < 1e-290,
        "input ** (exponent - 2) overflows, or is below the normal numbers",
    ),
    "atan2": (
        lambda y, x: hypotenuse(x, y) < 1e-154,
        "the square of the radius is below the normal numbers, its reciprocal overflows",
    ),
    "leg": (
        lambda x, y: hypotenuse(x, y) < 1e-154,
        "as of atan2",
    ),
}
HARD["float_power"] = HARD["jax_pow"] = HARD["pow"]
"""Where parts of a true formula are no floats though the whole may be one."""

LESS = dict.fromkeys(("pow", "float_power", "jax_pow"), 8e-14)
"""Relative errors where a factor of |log(input)| counts the rounding of exponent - 1."""


@pytest.mark.parametrize("name", HESSIANS)
def test_a_hessian_is_exact_to_the_last_digits(name):
    entries, *grids = HESSIANS[name]
    points = [p for p in product(*grids) if not (name in HARD and HARD[name][0](*map(mp.mpf, p)))]
    columns = [np.array(c) for c in zip(*points, strict=True)]
    exact = [[mp.mpf(a) for a in p] for p in points]
    wanted = {place: [mp.mpf(true(*z)) for z in exact] for place, true in entries.items()}
    for modes, i, j, found in hessians(ops[name], columns):
        place = min(i, j), max(i, j)
        true = entries.get(place)
        for p, z, got, want in zip(
            points, exact, found.tolist(), wanted.get(place, [mp.mpf(0)] * len(points)), strict=True
        ):
            if got != want and abs(got - want) > LESS.get(name, 0) * abs(want):
                slopes = 0 if true is None else partial(moved, true, z)
                check(name, 1.0, f"{modes} derivative {i}, {j} at {p}", got, want, slopes)


def moved(true, z, _):
    """How much a value changes with its arguments, by their own sizes, in all."""
    total = mp.mpf(0)
    for k, a in enumerate(z):
        up, down = ([*z[:k], a * (1 + s * STEP), *z[k + 1 :]] for s in (1, -1))
        total += abs(true(*up) - true(*down)) / (2 * STEP)
    return total


def hessians(entry, columns):
    """Each entry of an op's Hessian at many points, by all four orders of the modes."""
    count = len(columns)
    ones, zeros = np.ones(len(columns[0])), np.zeros(len(columns[0]))
    units = [[ones if k == i else zeros for k in range(count)] for i in range(count)]
    for inner, i in product(MODES, range(count)):
        run = Run(entry, columns, {})
        along = [u for u, x in zip(units[i], run.inputs, strict=True) if x in run.leaves]
        assert run.inputs[i] in run.leaves or not any(a.any() for a in along)
        if inner == "reverse":
            slopes = reverse(run.outs, [ones], run.leaves, graph=True)
            slope = dict(zip(map(id, run.leaves), slopes, strict=True)).get(id(run.inputs[i]))
        else:
            slope = forward(run.outs, along, run.leaves, graph=True)[0]
        for j, outer in product(range(count), MODES):
            found = zeros
            if on(slope) and run.inputs[j] in run.leaves:
                if outer == "reverse":
                    pulled = reverse([slope], [ones], run.leaves)
                    found = pulled[run.leaves.index(run.inputs[j])]
                else:
                    found = forward([slope], units[j], run.leaves)[0]
            yield f"{outer} over {inner}", i, j, np.broadcast_to(data_of(found), ones.shape)


def test_every_element_wise_op_has_a_row():
    several = {
        op.name
        for op in table().values()
        if op.elementwise and op.differentiable and len(op.args) > 1
    }
    assert several == HESSIANS.keys() | OF_CONDITIONS
