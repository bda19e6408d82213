"""One point a call: functions whose data are bound, beside JAX's jit, PyTorch and C by hand."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

from benchmarks import peers
from benchmarks.clock import Timing, race, table
from gradcli.program import load

CALLS = 1000

ROSENBROCK = "param a = 1.2\nparam b = 1.0\n100 * (b - a ** 2) ** 2 + (1 - a) ** 2"
SCHOOLS = """
param mu = 0.5
param log_tau = 0.1
param eta: float[8]
input y: float[8]
input s: float[8]
theta = mu + exp(log_tau) * eta
prior = -0.5 * (mu / 5) ** 2 - 0.5 * (exp(log_tau) / 5) ** 2 + log_tau - 0.5 * (eta ** 2).sum()
prior - 0.5 * (((y - theta) / s) ** 2).sum()
"""
REGRESSION = """
param b: float[5]
param c = 0.1
param log_s = 0.1
input y: float[n]
total = 0.0
for t in range(5, n):
    m = c + b[0] * y[t - 1] + b[1] * y[t - 2] + b[2] * y[t - 3] + b[3] * y[t - 4] + b[4] * y[t - 5]
    total = total - 0.5 * ((y[t] - m) * exp(-log_s)) ** 2 - log_s
total
"""
MIXTURE = """
param a = 0.3
param m1 = -1.0
param m2 = 1.5
param s1 = 0.1
param s2 = -0.1
input y: float[n]
p = sigmoid(a)
left = p * exp(-0.5 * ((y - m1) * exp(-s1)) ** 2 - s1)
right = (1 - p) * exp(-0.5 * ((y - m2) * exp(-s2)) ** 2 - s2)
log(left + right).sum()
"""
GARCH = """
param mu = 0.1
param a0 = 0.2
param a1 = 0.3
param b1 = 0.4
input y: float[n]
sigma2 = 1.0
total = 0.0
for t in range(1, n):
    sigma2 = a0 + a1 * (y[t - 1] - mu) ** 2 + b1 * sigma2
    total = total - 0.5 * log(sigma2) - 0.5 * (y[t] - mu) ** 2 / sigma2
total
"""
GROUPS = """
param mu = 0.1
param log_tau = 0.2
param eta: float[8]
param log_s = 0.0
input group: int[n]
input y: float[n]
theta = mu + exp(log_tau) * eta
rest = (y - theta[group]) * exp(-log_s)
-0.5 * (eta ** 2).sum() - 0.5 * (rest ** 2).sum() - n * log_s
"""
CLASSES = """
param w: float[5, 3]
input x: float[n, 5]
input y: float[n, 3]
(y * log_softmax(x @ w, 1)).sum()
"""
NETWORK = """
param v: float[8, 4]
param b: float[8]
param w: float[8]
input x: float[n, 4]
input y: float[n]
((tanh(x @ v.T + b) @ w - y) ** 2).mean()
"""
EIGHT = "".join(f"param a{k}: float\n" for k in range(8))
CURVE = f"""{EIGHT}
input y: float[n]
total = 0.0
for t in range(1, n):
    m = a0 + a1 * tanh(a2 * y[t - 1]) + a3 * exp(-a4 * y[t - 1] ** 2) + a5 * sin(a6 * t)
    total = total + (y[t] - m) ** 2 * exp(-a7)
total
"""
ARITHMETIC = f"""{EIGHT}
input y: float[n]
total = 0.0
s = 1.0
for t in range(1, n):
    s = a0 + a1 * y[t - 1] ** 2 + a2 * s
    m = a3 + a4 * y[t - 1] + a5 * y[t - 1] * y[t - 1] + a6 * s
    total = total + (y[t] - m) ** 2 / s * a7
total
"""
LOGISTIC = """
param w: float[8]
input x: float[n, 8]
input y: float[n]
z = x @ w
(log(1 + exp(z)) - y * z).sum()
"""
C = """
#include <math.h>
#include <stdlib.h>
double garch(const double *x, const double *y, long n, double *g) {
    double mu = x[0], a0 = x[1], a1 = x[2], b1 = x[3], s = 1.0, total = 0.0;
    double *kept = malloc((n + 1) * sizeof *kept);
    kept[0] = s;
    for (long t = 1; t < n; t++) {
        double before = y[t - 1] - mu, now = y[t] - mu;
        s = a0 + a1 * before * before + b1 * s;
        kept[t] = s;
        total += -0.5 * log(s) - 0.5 * now * now / s;
    }
    double of_s = 0.0;
    g[0] = g[1] = g[2] = g[3] = 0.0;
    for (long t = n - 1; t >= 1; t--) {
        double before = y[t - 1] - mu, now = y[t] - mu, v = kept[t];
        of_s += -0.5 / v + 0.5 * now * now / (v * v);
        g[0] += now / v - of_s * a1 * 2.0 * before;
        g[1] += of_s;
        g[2] += of_s * before * before;
        g[3] += of_s * kept[t - 1];
        of_s *= b1;
    }
    free(kept);
    return total;
}
"""


def main(repeats: int = 5) -> None:
    """Print the tables."""
    import numpy as np

    numbers = np.random.default_rng(0)
    y8, s8 = numbers.normal(size=8) * 10, numbers.uniform(9, 18, size=8)
    y200, y1000 = numbers.normal(size=200), numbers.normal(size=1000)
    with peers.library(C) as c:
        _race("Rosenbrock", ROSENBROCK, {}, np.array([-1.2, 1.0]), {}, repeats)
        schools = np.concatenate([[0.5, 0.1], numbers.normal(size=8)])
        _race("eight schools", SCHOOLS, {"y": y8, "s": s8}, schools, {}, repeats)
        slopes = np.array([0.2, 0.1, 0.05, -0.1, 0.02, 0.1, 0.1])
        _race("AR(5) over 200 data", REGRESSION, {"y": y200}, slopes, {}, repeats)
        mixed = np.array([0.3, -1.0, 1.5, 0.1, -0.1])
        _race("a mixture over 1,000 data", MIXTURE, {"y": y1000}, mixed, {}, repeats)
        of_garch = np.array([0.1, 0.2, 0.3, 0.4])
        data = {"group": numbers.integers(0, 8, size=200), "y": y200}
        _race("groups of 200 records", GROUPS, data, np.linspace(-0.5, 0.5, 11), {}, repeats)
        data = {
            "x": numbers.normal(size=(200, 5)),
            "y": np.eye(3)[numbers.integers(0, 3, size=200)],
        }
        _race("three classes, 200 rows", CLASSES, data, np.linspace(-0.5, 0.5, 15), {}, repeats)
        data = {"x": numbers.normal(size=(100, 4)), "y": numbers.normal(size=100)}
        _race("a network, 100 rows", NETWORK, data, np.linspace(-0.5, 0.5, 48), {}, repeats)
        by_hand = {} if c is None else {"C by hand": _garch(c, of_garch, y200)}
        _race("GARCH(1,1) over 200 data", GARCH, {"y": y200}, of_garch, by_hand, repeats)
    eight = np.linspace(0.1, 0.8, 8)
    table_x = {"x": numbers.normal(size=(100, 8)), "y": numbers.integers(0, 2, size=100) * 1.0}
    _second("a loop of functions", CURVE, {"y": y200}, eight, repeats)
    _second("a loop of arithmetic", ARITHMETIC, {"y": y200}, eight, repeats)
    _second("a logistic regression", LOGISTIC, table_x, eight, repeats)


def _race(
    title: str,
    text: str,
    data: dict[str, Any],
    x: Any,
    others: dict[str, Callable[[], object]],
    repeats: int,
) -> None:
    """Value and gradient at one point a call."""
    function = load(text).compile()
    bound = function.bind(**data)
    works: dict[str, Callable[[], object]] = {
        "gradcli, bound": lambda: bound(x),
        "gradcli, the value alone": lambda: bound.value(x),
        "gradcli, data in each call": lambda: function(x, **data),
    }
    works |= others
    jax, torch = peers.jax(), peers.torch()
    if jax is not None:
        works["JAX jit"] = _jax(jax, title, x, data)
    slow = {} if torch is None else {"PyTorch": _torch(torch, title, x, data)}
    for work in works.values():
        work()
    found = {
        name: each(t, CALLS) for name, t in race(often(works, CALLS), repeats, process_time).items()
    }
    few = CALLS // 100
    found |= {name: each(t, few) for name, t in race(often(slow, few), 2, process_time).items()}
    print(table(f"{title}, {len(x)} parameters", found, "us a call", 1e6, "gradcli, bound"))


def _second(title: str, text: str, data: dict[str, Any], x: Any, repeats: int) -> None:
    """Value, gradient and Hessian at one point a call, as multiples of value and gradient."""
    works: dict[str, Callable[[], object]] = {}
    for name, order in (("value and gradient", 1), ("with the Hessian", 2), ("the value", 0)):
        bound = load(text).compile(order=order).bind(**data)
        works[name] = partial(bound, x)
        works[name]()
    found = {n: each(t, 100) for n, t in race(often(works, 100), repeats, process_time).items()}
    print(table(f"{title}, {len(x)} numbers", found, "us a call", 1e6, "value and gradient"))


def often(works: dict[str, Callable[[], object]], count: int) -> dict[str, Callable[[], object]]:
    """The works, each done so many times."""

    def repeated(work: Callable[[], object]) -> Callable[[], object]:
        return lambda: [work() for _ in range(count)]

    return {name: repeated(work) for name, work in works.items()}


def each(t: Timing, count: int) -> Timing:
    """The time of one of so many."""
    return Timing(t.least / count, t.median / count)


# the peers -------------------------------------------------------------------------------------


def _models(np: Any, scan: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The models in an array library that has NumPy's names; `scan` adds up a loop's results."""

    def rosenbrock(x: Any) -> Any:
        return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2

    def schools(x: Any, y: Any, s: Any) -> Any:
        mu, log_tau, eta = x[0], x[1], x[2:]
        prior = -0.5 * (mu / 5) ** 2 - 0.5 * (np.exp(log_tau) / 5) ** 2 + log_tau
        theta = mu + np.exp(log_tau) * eta
        return prior - 0.5 * (eta**2).sum() - 0.5 * (((y - theta) / s) ** 2).sum()

    def regression(x: Any, y: Any) -> Any:
        m = x[5] + sum(x[k] * y[4 - k : len(y) - 1 - k] for k in range(5))
        return (-0.5 * ((y[5:] - m) * np.exp(-x[6])) ** 2 - x[6]).sum()

    def mixture(x: Any, y: Any) -> Any:
        p = 1 / (1 + np.exp(-x[0]))
        left = p * np.exp(-0.5 * ((y - x[1]) * np.exp(-x[3])) ** 2 - x[3])
        right = (1 - p) * np.exp(-0.5 * ((y - x[2]) * np.exp(-x[4])) ** 2 - x[4])
        return np.log(left + right).sum()

    def groups(x: Any, group: Any, y: Any) -> Any:
        theta = x[0] + np.exp(x[1]) * x[2:10]
        rest = (y - theta[group]) * np.exp(-x[10])
        return -0.5 * (x[2:10] ** 2).sum() - 0.5 * (rest**2).sum() - len(y) * x[10]

    def classes(x: Any, rows: Any, y: Any) -> Any:
        z = rows @ x.reshape(5, 3)
        top = np.amax(z, 1)[:, None]
        return (y * (z - top - np.log(np.exp(z - top).sum(1))[:, None])).sum()

    def network(x: Any, rows: Any, y: Any) -> Any:
        h = np.tanh(rows @ x[:32].reshape(8, 4).T + x[32:40])
        return ((h @ x[40:] - y) ** 2).mean()

    def garch(x: Any, y: Any) -> Any:
        def turn(sigma2: Any, pair: Any) -> tuple[Any, Any]:
            before, now = pair
            sigma2 = x[1] + x[2] * (before - x[0]) ** 2 + x[3] * sigma2
            return sigma2, -0.5 * np.log(sigma2) - 0.5 * (now - x[0]) ** 2 / sigma2

        return scan(turn, y[:-1], y[1:])

    return {
        "Rosenbrock": rosenbrock,
        "eight schools": schools,
        "AR(5) over 200 data": regression,
        "a mixture over 1,000 data": mixture,
        "groups of 200 records": groups,
        "three classes, 200 rows": classes,
        "a network, 100 rows": network,
        "GARCH(1,1) over 200 data": garch,
    }


def _jax(jax: Any, title: str, x: Any, data: dict[str, Any]) -> Callable[[], object]:
    def scan(turn: Any, before: Any, now: Any) -> Any:
        return jax.lax.scan(turn, 1.0, (before, now))[1].sum()

    model = _models(jax.numpy, scan)[title]
    made = jax.jit(jax.value_and_grad(lambda x: model(x, *map(jax.numpy.asarray, data.values()))))
    return lambda: jax.block_until_ready(made(x))


def _torch(torch: Any, title: str, x: Any, data: dict[str, Any]) -> Callable[[], object]:
    def scan(turn: Any, before: Any, now: Any) -> Any:
        sigma2, total = torch.tensor(1.0, dtype=torch.float64), 0.0
        for pair in zip(before, now, strict=True):
            sigma2, part = turn(sigma2, pair)
            total = total + part
        return total

    model = _models(torch, scan)[title]
    given = [torch.tensor(v) for v in data.values()]

    def work() -> object:
        at = torch.tensor(x, requires_grad=True)
        value = model(at, *given)
        value.backward()
        return value.item(), at.grad

    return work


def _garch(c: Any, x: Any, y: Any) -> Callable[[], object]:
    import numpy as np

    c.garch.restype = ctypes.c_double
    gradient = np.empty(4)
    at = [ctypes.c_void_p(v.ctypes.data) for v in (x, y, gradient)]
    return lambda: (c.garch(at[0], at[1], ctypes.c_long(len(y)), at[2]), gradient.copy())
