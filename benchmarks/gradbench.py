"""Ten evals of GradBench (https://github.com/gradbench/gradbench) beside PyTorch: processor time of
a call. Value and gradient, where the eval asks for nothing else; inputs are random, of the sizes
that the titles tell.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

from benchmarks.clock import Timing, table
from benchmarks.peers import torch
from benchmarks.recurrent import LSTM
from benchmarks.recurrent import _torch as lstm_in_torch
from gradcli.program import load

Work = Callable[[], object]

SECONDS = 0.15  # of one measure
REPEATS = 5

LLSQ = """
param x: float[m]
input t: float[n]
input s: float[n]
(((t.reshape(-1, 1) ** arange(m)) @ x - s) ** 2).sum() / 2
"""
LSE = "param x: float[n]\nlogsumexp(x, 0)"
DET = """
param a: float[5, 5]
def minors(m):
    if m.shape[0] == 1:
        return m[0, 0]
    total, sign = 0.0, 1.0
    for k in range(m.shape[0]):
        total = total + sign * m[0, k] * minors(cat((m[1:, :k], m[1:, k + 1:]), 1))
        sign = -sign
    return total
minors(a)
"""
ODE = """
param x: float[n]
def slope(y): return cat((x[:1], y[:-1] * cumsum(x[1:], 0)))
y = x * 0
h = 0.01
for i in range(100):
    a = slope(y)
    b = slope(y + h / 2 * a)
    c = slope(y + h / 2 * b)
    y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
y[-1]
"""
GMM = """
param alphas: float[5]
param means: float[5, 5]
param icf: float[5, 15]
input x: float[n, d]
d = means.shape[1]
diagonal = icf[:, :d]
L = zeros(means.shape[0], d, d)
L[:, ROWS, COLUMNS] = icf[:, d:]
away = x.unsqueeze(1) - means
turned = exp(diagonal) * away + (L @ away.unsqueeze(-1)).squeeze(-1)
inner = alphas + diagonal.sum(1) - 0.5 * (turned ** 2).sum(2)
prior = 0.5 * ((exp(diagonal) ** 2).sum() + (icf[:, d:] ** 2).sum())
logsumexp(inner, 1).sum() - x.shape[0] * logsumexp(alphas, 0) + prior
"""
KMEANS = """
param c: float[5, 4]
input points: float[n, d]
def cost(c): return ((points.unsqueeze(1) - c) ** 2).sum(2).amin(1).sum()
slope = grad(cost)(c)
_, curvature = hvp(cost, c, ones(5, 4))
(slope / curvature).sum()
"""
BA = """
param camera: float[11]
param point: float[3]
param w
input feature: float[2]
r = camera[:3]
angle = sqrt(r @ r)
axis = r / angle
away = point - camera[3:6]
crossed = stack((
    axis[1] * away[2] - axis[2] * away[1],
    axis[2] * away[0] - axis[0] * away[2],
    axis[0] * away[1] - axis[1] * away[0]))
p = away * cos(angle) + crossed * sin(angle) + axis * ((axis @ away) * (1 - cos(angle)))
u = p[:2] / p[2]
size = u @ u
bent = u * (1 + camera[9] * size + camera[10] * size * size)
e = w * (bent * camera[6] + camera[7:9] - feature)
e[PART]
"""
PARTICLE = """
param w
input far = 10.0
def distance(x, y): return sqrt(x * x + y * y)
def potential(x, y): return 1 / distance(x - far, y - far + w) + 1 / distance(x - far, y)
x, y, u, v = 0.0, 8.0, 0.75, 0.0
h = 0.1
while y + h * v > 0:
    by_x, by_y = grad(potential, (0, 1))(x, y)
    x, y = x + h * u, y + h * v
    u, v = u - h * by_x, v - h * by_y
end = x - y / v * u
end * end
"""
SADDLE = """
param a = 1.0
param b = 1.0
def f(x1, x2, y1, y2): return (x1 ** 2 + y1 ** 2) - (x2 ** 2 + y2 ** 2)
def highest(x1, x2):
    y1, y2 = 1.0, 1.0
    for i in range(50):
        by1, by2 = grad(f, (2, 3))(x1, x2, y1, y2)
        y1, y2 = y1 - 0.1 * by1, y2 + 0.1 * by2
    return f(x1, x2, y1, y2)
x1, x2 = a, b
for i in range(50):
    by1, by2 = grad(highest, (0, 1))(x1, x2)
    x1, x2 = x1 - 0.1 * by1, x2 + 0.1 * by2
highest(x1, x2)
"""


def main() -> None:
    """Print a table for each eval."""
    import numpy as np

    rng, peer = np.random.default_rng(0), torch()
    for title, (ours, theirs) in evals(rng).items():
        works: dict[str, Work] = {"gradcli": ours()}
        if peer is not None:
            works["PyTorch"] = theirs(peer)
        found = {name: _timed(work) for name, work in works.items()}
        print(table(title, found, "us a call", 1e6, [*found][-1]))


def _timed(work: Work) -> Timing:
    """The time of a call, of as many as take some tenths of a second."""
    work()
    start = process_time()
    work()
    count = max(1, int(SECONDS / max(process_time() - start, 1e-7)))
    taken = []
    for _ in range(REPEATS if count > 1 else 2):
        start = process_time()
        for _ in range(count):
            work()
        taken.append((process_time() - start) / count)
    return Timing(min(taken), sorted(taken)[len(taken) // 2])


def evals(rng: Any) -> dict[str, tuple[Callable[[], Work], Callable[[Any], Work]]]:
    """By title: what makes the work of gradcli, and what makes that of PyTorch."""
    import numpy as np

    t = np.linspace(-1, 1, 1000)
    x, s = rng.normal(size=16), np.sign(t)
    many, ode, a = rng.normal(size=10_000), rng.normal(size=10) * 0.1, rng.normal(size=(5, 5))
    rows, columns = np.tril_indices(5, -1)
    mixture = [rng.normal(size=n) for n in (5, (5, 5), (5, 15))]
    data = rng.normal(size=(1000, 5))
    text = GMM.replace("ROWS", str(rows.tolist())).replace("COLUMNS", str(columns.tolist()))
    points, centres = rng.normal(size=(1000, 4)), rng.normal(size=(5, 4))
    sequence, state = rng.normal(size=(50, 14)), rng.normal(size=(4, 14))
    weights = rng.normal(size=266) * 0.1
    cameras = rng.normal(size=(1000, 15)) * 0.1 + np.arange(15) / 5
    features = rng.normal(size=(1000, 2))
    errors = [load(BA.replace("PART", str(k))).compile("camera,point,w") for k in range(2)]

    def residuals() -> object:
        return [f(cameras, feature=features) for f in errors]

    flat = np.concatenate([v.ravel() for v in mixture])
    return {
        "ba: two residuals of 1,000 observations, and their slopes by 15 numbers": (
            lambda: residuals,
            lambda torch: _ba(torch, cameras, features),
        ),
        "det: a determinant of 5 x 5 by minors": (
            partial(_bound, DET, "a", a.ravel()),
            lambda torch: _slope(torch, lambda a: _minors(torch, a.reshape(5, 5)), a.ravel()),
        ),
        "gmm: 1,000 points of 5 numbers, 5 parts": (
            partial(_bound, text, "alphas,means,icf", flat, x=data),
            lambda torch: _slope(torch, _gmm(torch, torch.tensor(data), rows, columns), flat),
        ),
        "kmeans: 1,000 points of 4 numbers, 5 centres, the direction of Newton": (
            partial(_bound, KMEANS, "c", centres.ravel(), "value", points=points),
            lambda torch: _direction(torch, torch.tensor(points), centres),
        ),
        "llsq: 1,000 points, 16 coefficients": (
            partial(_bound, LLSQ, "x", x, t=t, s=s),
            lambda torch: _slope(torch, _llsq(torch, torch.tensor(t), torch.tensor(s)), x),
        ),
        "lse: 10,000 numbers": (
            partial(_bound, LSE, "x", many),
            lambda torch: _slope(torch, lambda x: torch.logsumexp(x, 0), many),
        ),
        "lstm: 50 characters, 266 numbers": (
            partial(_bound, LSTM, None, weights, sequence=sequence, state=state),
            lambda torch: lstm_in_torch(torch, weights, sequence, state),
        ),
        "ode: 10 unknowns, 100 steps of Runge and Kutta": (
            partial(_bound, ODE, "x", ode),
            lambda torch: _slope(torch, lambda x: _ode(torch, x), ode),
        ),
        "particle: its place and the slope by a charge's, a gradient in each step": (
            partial(_bound, PARTICLE, "w", np.array([0.0])),
            lambda torch: _slope(torch, lambda w: _particle(torch, w[0]), np.array([0.0])),
        ),
        "saddle: 50 steps down, in each 50 steps up, by gradients": (
            partial(_bound, SADDLE, "a,b", np.array([1.0, 1.0]), "value"),
            lambda torch: lambda: _saddle(torch),
        ),
    }


def _bound(text: str, wrt: str | None, at: Any, method: str = "__call__", **data: Any) -> Work:
    function = getattr(load(text).compile(wrt).bind(**data), method)
    return lambda: function(at)


# in PyTorch ---------------------------------------------------------------------------------------


def _slope(torch: Any, f: Callable[[Any], Any], at: Any) -> Work:
    """Value and gradient of a function."""

    def work() -> object:
        x = torch.tensor(at, requires_grad=True)
        value = f(x)
        value.backward()
        return value.item(), x.grad

    return work


def _llsq(torch: Any, t: Any, s: Any) -> Callable[[Any], Any]:
    def f(x: Any) -> Any:
        return (((t.reshape(-1, 1) ** torch.arange(len(x))) @ x - s) ** 2).sum() / 2

    return f


def _minors(torch: Any, m: Any) -> Any:
    if len(m) == 1:
        return m[0, 0]
    total, sign = 0.0, 1.0
    for k in range(len(m)):
        rest = torch.cat((m[1:, :k], m[1:, k + 1 :]), 1)
        total = total + sign * m[0, k] * _minors(torch, rest)
        sign = -sign
    return total


def _ode(torch: Any, x: Any) -> Any:
    def slope(y: Any) -> Any:
        return torch.cat((x[:1], y[:-1] * torch.cumsum(x[1:], 0)))

    y, h = x * 0, 0.01
    for _ in range(100):
        a = slope(y)
        b = slope(y + h / 2 * a)
        c = slope(y + h / 2 * b)
        y = y + h / 6 * (a + 2 * b + 2 * c + slope(y + h * c))
    return y[-1]


def _gmm(torch: Any, x: Any, rows: Any, columns: Any) -> Callable[[Any], Any]:
    def f(flat: Any) -> Any:
        alphas, means, icf = flat[:5], flat[5:30].reshape(5, 5), flat[30:].reshape(5, 15)
        diagonal = icf[:, :5]
        low = torch.zeros(5, 5, 5, dtype=torch.float64)
        low[:, rows, columns] = icf[:, 5:]
        away = x.unsqueeze(1) - means
        turned = torch.exp(diagonal) * away + (low @ away.unsqueeze(-1)).squeeze(-1)
        inner = alphas + diagonal.sum(1) - 0.5 * (turned**2).sum(2)
        prior = 0.5 * ((torch.exp(diagonal) ** 2).sum() + (icf[:, 5:] ** 2).sum())
        total = torch.logsumexp(inner, 1).sum() + prior
        return total - len(x) * torch.logsumexp(alphas, 0)

    return f


def _direction(torch: Any, points: Any, at: Any) -> Work:
    def work() -> object:
        c = torch.tensor(at, requires_grad=True)
        cost = ((points.unsqueeze(1) - c) ** 2).sum(2).amin(1).sum()
        (slope,) = torch.autograd.grad(cost, c, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), c)
        return (slope / curvature).sum().item()

    return work


def _ba(torch: Any, cameras: Any, features: Any) -> Work:
    def residuals(p: Any, feature: Any) -> Any:
        camera, point, w = p[:11], p[11:14], p[14]
        r = camera[:3]
        angle = torch.sqrt(r @ r)
        axis, away = r / angle, point - camera[3:6]
        cos, sin = torch.cos(angle), torch.sin(angle)
        crossed = torch.linalg.cross(axis, away)
        q = away * cos + crossed * sin + axis * ((axis @ away) * (1 - cos))
        u = q[:2] / q[2]
        size = u @ u
        bent = u * (1 + camera[9] * size + camera[10] * size * size)
        return w * (bent * camera[6] + camera[7:9] - feature)

    both = torch.func.vmap(torch.func.jacrev(residuals))
    given = torch.tensor(cameras), torch.tensor(features)
    return lambda: both(*given)


def _particle(torch: Any, w: Any) -> Any:
    def potential(p: Any) -> Any:
        x, y = p
        near = torch.sqrt((x - 10) ** 2 + (y - 10 + w) ** 2)
        return 1 / near + 1 / torch.sqrt((x - 10) ** 2 + y**2)

    h = 0.1
    place = torch.tensor([0.0, 8.0], dtype=torch.float64, requires_grad=True)
    speed = torch.tensor([0.75, 0.0], dtype=torch.float64)
    while place[1] + h * speed[1] > 0:
        (slope,) = torch.autograd.grad(potential(place), place, create_graph=True)
        place = place + h * speed
        speed = speed - h * slope
    end = place[0] - place[1] / speed[1] * speed[0]
    return end * end


def _saddle(torch: Any) -> object:
    signs = torch.tensor([1.0, -1.0], dtype=torch.float64)

    def f(x: Any, y: Any) -> Any:
        return (x[0] ** 2 + y[0] ** 2) - (x[1] ** 2 + y[1] ** 2)

    def highest(x: Any) -> Any:
        y = torch.ones(2, dtype=torch.float64, requires_grad=True)
        for _ in range(50):
            (slope,) = torch.autograd.grad(f(x, y), y, create_graph=True)
            y = y - 0.1 * signs * slope
        return f(x, y)

    x = torch.ones(2, dtype=torch.float64)
    for _ in range(50):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(highest(x), x)
        x = x - 0.1 * signs * slope
    return highest(x).item()
