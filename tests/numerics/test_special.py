"""The special functions where their formulas are in danger: tails, zeros, poles and high orders."""

from __future__ import annotations

import math
import subprocess
import sys

import mpmath as mp
import numpy as np
import pytest
from support.checks.oracles import Run, forward, reverse

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, dtype_of
from gradcli.errors import RunError
from gradcli.program import load

INF, NAN = math.inf, math.nan


@pytest.fixture(autouse=True)
def precise():
    with Quiet(), mp.workdps(80):
        yield


def derivatives(name: str, points, orders: int, **params):
    """Value and derivatives of an op at points, one order after the other, in reverse mode."""
    run = Run(ops[name], [np.array(points)], params)
    found, ones = [data_of(run.outs[0])], np.ones(len(points))
    out = run.outs[0]
    for _ in range(orders):
        out = reverse([out], [ones], run.leaves, graph=True)[0]
        found.append(data_of(out))
    return found


def agree(got, expected, bound: float) -> None:
    for a, b in zip(got, expected, strict=True):
        assert abs(mp.mpf(float(a)) - b) <= bound * abs(b), f"got {a!r}, expected {mp.nstr(b, 20)}"


# tails


def test_erfc_keeps_its_digits_down_to_the_smallest_numbers():
    x = np.linspace(0.5, 26.2, 400)
    agree(ops.erfc(x), [mp.erfc(v) for v in x], 1e-15)
    agree([ops.erfc(v) for v in x.tolist()], [mp.erfc(v) for v in x], 1e-15)
    assert 0 < ops.erfc(26.2) < 1e-299


def test_the_square_in_the_exponent_is_exact():
    x = np.linspace(-26.3, 26.3, 500)
    agree(ops.exp_neg_square(x), [mp.exp(-(mp.mpf(v) ** 2)) for v in x], 5e-16)
    agree(ops.exp_neg_square(x, share=0.5), [mp.exp(-(mp.mpf(v) ** 2) / 2) for v in x], 5e-16)


def test_ndtr_keeps_its_digits_in_the_lower_tail():
    x = np.linspace(-37.0, 5.0, 300)
    agree(ops.ndtr(x), [mp.ncdf(v) for v in x], 1e-15)


def test_log_ndtr_far_out():
    assert ops.log_ndtr(-1e10) == pytest.approx(-5e19, rel=1e-15)
    value, slope, bend, third = derivatives("log_ndtr", [-1e10, -1e5, -50.0], 3)
    assert value[0] == pytest.approx(-5e19, rel=1e-15)
    assert slope[0] == 1e10
    assert bend[0] == -1.0

    def truth(order):
        with mp.workdps(80):
            return [
                mp.diff(lambda t: mp.log(mp.erfc(-t / mp.sqrt(2))), x, order, h=mp.mpf(10) ** -15)
                for x in (-1e5, -50.0)
            ]

    agree(slope[1:], truth(1), 1e-15)
    agree(bend[1:], truth(2), 1e-15)
    agree(third[2:], truth(3)[1:], 1e-11)  # a small difference between terms of the order of 1 / x


@pytest.mark.parametrize("x", [0.3, 2.0, 10.0, 300.0])
def test_derivatives_of_erfcx_are_products(x):
    """They alternate in sign: n! 2 ** n e ** (x x) times the n-fold integral of erfc."""
    found = derivatives("erfcx", [x], 4)

    def truth(order):
        with mp.workdps(200):
            a, b = 2 / mp.sqrt(mp.pi), mp.exp(mp.mpf(x) ** 2) * mp.erfc(x)
            for k in range(1, order + 1):
                a, b = b, (a - 2 * x * b) / (2 * k)
            return (-2) ** order * math.factorial(order) * b

    for order, got in enumerate(found):
        agree(got, [truth(order)], 3e-15)


RATIOS = np.concatenate([np.linspace(-20, 1, 30), np.linspace(1.0, 30.0, 30)])


@pytest.fixture(scope="module")
def ratios():
    """Those of the first five orders at each point."""

    def at(v):
        v = mp.mpf(v)
        a, b = 2 / mp.sqrt(mp.pi), mp.exp(v * v) * mp.erfc(v)
        for k in range(1, 6):
            a, b = b, (a - 2 * v * b) / (2 * k)
            yield b / a

    with mp.workdps(600):
        return [[*at(v)] for v in RATIOS]


@pytest.mark.parametrize(("n", "bound"), [(1, 1e-15), (2, 2e-15), (3, 3e-15), (5, 1e-14)])
def test_ratio_of_integrals_of_erfc(n, bound, ratios):
    x = RATIOS
    expected = [found[n - 1] for found in ratios]
    agree(ops.erfc_ratio(x, n=n), expected, bound)
    agree([ops.erfc_ratio(v, n=n) for v in x.tolist()], expected, bound)
    assert ops.erfc_ratio(np.array([2.0, NAN]), n=n)[0] == ops.erfc_ratio(np.array([2.0]), n=n)[0]


def test_inverses_in_their_tails():
    p = np.array([1e-140, 1e-100, 1e-10, 0.2, 0.7, 1 - 1e-10])
    _, slope, bend = derivatives("ndtri", p, 2)
    for i, v in enumerate(p):
        q, x = min(mp.mpf(v), 1 - mp.mpf(v)), mp.mpf(ops.ndtri(float(min(v, 1 - v))))
        for _ in range(4):
            x -= (mp.erfc(-x / mp.sqrt(2)) / 2 - q) / mp.npdf(x)
        expected = 1 / mp.npdf(x)
        agree([slope[i]], [expected], 4e-15)
        agree([bend[i]], [(x if v < 0.5 else -x) * expected**2], 1e-14)
    for name, ends in (("ndtri", [0.0, 1.0]), ("erfinv", [-1.0, 1.0])):
        _, slope, bend = derivatives(name, ends, 2)
        np.testing.assert_array_equal(slope, [INF, INF])
        np.testing.assert_array_equal(bend, [-INF, INF])


def test_third_derivative_of_erfinv_at_zero():
    c = math.sqrt(math.pi) / 2
    _, first, second, third = derivatives("erfinv", [0.0], 3)
    assert first[0] == c
    assert second[0] == 0.0
    assert third[0] == pytest.approx(2 * c**3, rel=1e-14)


def test_scaled_bessel_functions_far_out():
    x = [31.0, 1e3, 1e10, 1e100]
    _, slope, bend = derivatives("i0e", x, 2)
    agree(slope, [-_moment(1, v) for v in x], 2e-15)
    agree(bend, [_moment(2, v) for v in x], 3e-15)
    _, slope, _ = derivatives("i1e", x, 2)
    agree(slope, [_moment(2, v) - _moment(1, v) for v in x], 2e-15)


def _moment(n, x):
    x = mp.mpf(x)
    terms = (mp.binomial(2 * k, k) / 8**k * mp.gamma(n + k + 0.5) / x ** (n + k) for k in range(40))
    return mp.fsum(terms) / (mp.pi * mp.sqrt(2 * x))


def test_bessel_derivatives_at_zero():
    assert [d[0] for d in derivatives("i0", [0.0], 4)] == [1.0, 0.0, 0.5, 0.0, 0.375]
    assert [d[0] for d in derivatives("i1", [0.0], 3)] == [0.0, 0.5, 0.0, 0.375]


# gamma functions


def test_lgamma_beside_its_zeros():
    steps = [s * 10.0**-k for k in range(1, 16) for s in (1, -1)]
    x = np.array([z + s for z in (1.0, 2.0) for s in steps])
    x = x[(x != 1) & (x != 2)]
    agree(ops.lgamma(x), [mp.loggamma(v) for v in x], 1e-15)
    assert ops.lgamma(1.0) == ops.lgamma(2.0) == 0.0
    assert ops.lgamma(1) == 0.0


def test_digamma_beside_its_zero():
    zero = 1.4616321449683622
    x = np.array([zero + s * 10.0**-k for k in range(1, 16) for s in (1, -1)])
    agree(ops.digamma(x), [mp.digamma(v) for v in x], 2e-15)


def test_below_zero_the_error_is_that_of_one_rounding_of_the_input():
    rng = np.random.default_rng(0)
    x = np.concatenate([-rng.uniform(0, 12, 200), -rng.uniform(12, 300, 50)])
    x = np.append(x, [-2.457024738220801, -2.7476826467274127, -0.5040830082644554])
    for f, truth, slope in (
        (ops.lgamma, lambda v: mp.log(abs(mp.gamma(v))), mp.digamma),
        (ops.digamma, mp.digamma, lambda v: mp.psi(1, v)),
    ):
        for got, v in zip(f(x), x, strict=True):
            t = truth(mp.mpf(v))
            assert abs(mp.mpf(float(got)) - t) <= 1e-15 * (abs(t) + abs(v * slope(mp.mpf(v))))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 20, 60, 120])
def test_polygamma(n):
    x = np.array([1e-3, 0.3, 1.0, 2.5, 9.0, 40.0, 1e3, 1e6, -0.3, -1.5, -2.7, -10.2, -60.4])
    for got, v in zip(ops.polygamma(x, n=n), x, strict=True):
        t, slope = mp.psi(n, mp.mpf(v)), mp.psi(n + 1, mp.mpf(v))
        if abs(t) > 1e308 or abs(t) < 1e-307:
            continue
        assert abs(mp.mpf(float(got)) - t) <= 2e-15 * (abs(t) + abs(v * slope)), v
        assert ops.polygamma(float(v), n=n) == pytest.approx(float(got), rel=4e-15)


def test_poles():
    x = np.array([0.0, -0.0, -1.0, -2.0, -1e17, -INF, INF, NAN])
    same = np.testing.assert_array_equal
    same(ops.lgamma(x), [INF, INF, INF, INF, INF, INF, INF, NAN])
    same(ops.digamma(x), [-INF, INF, NAN, NAN, NAN, NAN, INF, NAN])
    same(ops.polygamma(x, n=1), [INF, INF, INF, INF, INF, NAN, 0.0, NAN])
    same(ops.polygamma(x, n=2), [-INF, -INF, -INF, -INF, -INF, NAN, 0.0, NAN])
    for f in (ops.lgamma, ops.digamma):
        same([f(v) for v in x.tolist()], f(x))
    for n in (1, 2):
        same([ops.polygamma(v, n=n) for v in x.tolist()], ops.polygamma(x, n=n))


def test_all_orders_of_lgamma():
    x = [0.4, 3.5, -1.3]
    for order, got in enumerate(derivatives("lgamma", x, 5)[1:]):
        agree(got, [mp.psi(order, v) for v in map(mp.mpf, x)], 5e-15)


# calls, dtypes and what is missing

CALLS = [
    "polygamma(1, x)",
    "polygamma(n=1, input=x)",
    "polygamma(1, input=x)",
    "torch.special.polygamma(1, x)",
    "x.polygamma(1)",
    "x.polygamma(n=1)",
]


@pytest.mark.parametrize("call", CALLS)
def test_ways_to_call_polygamma(call):
    result = load(f"x = tensor([1.0], requires_grad=True)\n{call}.sum()").grad()
    assert result.value == pytest.approx(math.pi**2 / 6, rel=1e-15)
    assert result.grad["x"] == pytest.approx([-2.4041138063191886], rel=1e-15)


NAMES = ["erf", "erfc", "erfcx", "ndtr", "log_ndtr", "lgamma", "digamma", "erfinv", "i0", "i0e"]


@pytest.mark.parametrize("name", [*NAMES, "i1", "i1e", "ndtri"])
def test_dtypes_and_sizes(name):
    op = ops[name]
    assert dtype_of(op(np.array([1, 0]))) == "float64"
    assert dtype_of(op(np.array([True]))) == "float64"
    assert type(op(1)) is float
    assert op(np.zeros((0, 3))).shape == (0, 3)
    x = np.full((3, 1, 2), 0.25)
    assert op(x.T).shape == (2, 1, 3)
    single = Run(op, [np.array([0.25, 0.5], np.float32)], {})
    assert single.outs[0].dtype == "float32"
    ones = [np.ones(2, np.float32)]
    for slope in (
        reverse(single.outs, ones, single.leaves),
        forward(single.outs, ones, single.leaves),
    ):
        assert dtype_of(slope[0]) == "float32"
    big = np.linspace(0.1, 0.9, 40_000)
    np.testing.assert_array_equal(op(big)[[0, 20_000, 39_999]], op(big[[0, 20_000, 39_999]]))


@pytest.mark.parametrize("x", [0.5, np.array([0.5])])
@pytest.mark.parametrize("name", ["erfinv", "ndtri", "i0", "i0e", "i1", "i1e"])
def test_without_scipy_the_message_says_what_to_install(name, x, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(RunError) as caught:
        ops[name](x)
    said = caught.value.diagnostics[0]
    assert said.code == "missing-extra"
    assert "pip install 'gradcli[special]'" in said.help


def test_numbers_need_no_numpy():
    names = ["erf", "erfc", "erfcx", "ndtr", "log_ndtr", "lgamma", "digamma"]
    program = "\n".join(
        [
            "import sys",
            "from gradcli.engine.ops.catalog import ops",
            f"for name in {names}:",
            "    for x in (0.3, -1.5, 20.0, float('inf'), float('nan')):",
            "        ops[name](x)",
            "ops.polygamma(-1.5, n=2), ops.mvlgamma(2.5, p=3)",
            "assert 'numpy' not in sys.modules",
        ]
    )
    subprocess.run([sys.executable, "-c", program], check=True)
