"""Lessons that solve equations by SciPy's, JAX's and torchdiffeq's names give their numbers."""

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

SCIPY = """
import numpy as np
from scipy.integrate import odeint, quad, solve_ivp
from scipy.optimize import minimize, root, fsolve, brentq, bisect, newton, fixed_point
import scipy.optimize

def pendulum(y, t, b, c):
    theta, omega = y
    return [omega, -b * omega - c * np.sin(theta)]

def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)

def system(x):
    return [x[0] * np.cos(x[1]) - 4, x[1] * x[0] - x[1] - 5]
"""
LESSONS = {  # recorded from SciPy 1.17
    "odeint(pendulum, [np.pi - 0.1, 0.0], np.linspace(0, 10, 11), args=(0.25, 5.0))[-1].tolist()": (
        [0.02001168, 1.56781812],
        1e-6,
    ),
    "odeint(lambda y, t, k: -k * y, 5.0, [0, 1], args=(0.3,))[1].tolist()": ([3.70409110], 1e-7),
    "odeint(lambda t, y: -t * y, [1.0], [0, 1], tfirst=True)[1].tolist()": ([0.60653066], 1e-7),
    "[quad(lambda x, a: np.exp(-a * x), 0, np.inf, args=(2.0,))[0]]": ([0.5], 1e-10),
    "[quad(np.sin, 0, np.pi)[0], quad(np.sin, 0, np.pi)[1] < 1e-8]": ([2.0, 1.0], 1e-10),
    "solve_ivp(lambda t, y: -0.5 * y, [0, 10], [2, 4], t_eval=[0, 1, 10]).y.tolist()": (
        [[2.0, 1.21305, 0.0134760], [4.0, 2.42610, 0.0269521]],
        1e-3,
    ),
    "minimize(rosen, np.array([1.3, 0.7, 0.8, 1.9, 1.2]), method='BFGS').x.tolist()": (
        [1.0] * 5,
        1e-8,
    ),
    "[minimize(lambda x, a: (x[0] - a) ** 2 + 1, [0.0], args=(3.0,)).fun]": ([1.0], 1e-12),
    "minimize(lambda x, a: (x - a) ** 2 + 1, 0.0, args=(3.0,)).fun": (1.0, 1e-12),
    "[scipy.optimize.minimize(lambda x: np.sum((x - 3) ** 2), 0).success]": ([1.0], 0),
    "root(system, [1, 1]).x.tolist()": ([6.50409711, 0.90841421], 1e-8),
    "fsolve(system, [1, 1]).tolist()": ([6.50409711, 0.90841421], 1e-8),
    "fsolve(lambda x: x ** 2 - 2, 1.0).tolist()": ([1.41421356], 1e-8),
    "[brentq(lambda x, a: x ** 3 - a, 0, 2, args=(2.0,))]": ([2 ** (1 / 3)], 1e-12),
    "[bisect(lambda x: np.cos(x), 1, 2)]": ([np.pi / 2], 1e-12),
    "[newton(lambda x: x ** 3 - 1, 1.5)]": ([1.0], 1e-12),
    "[fixed_point(lambda x, c: np.sqrt(c / (x + 3)), 1.2, args=(10.0,))]": ([1.49203330], 1e-8),
}


def result(text):
    return load(text).run(options=Options(compile="never")).result


@pytest.mark.parametrize("call", LESSONS)
def test_a_lesson_for_scipy(call):
    wanted, within = LESSONS[call]
    found = np.asarray(result(f"{SCIPY}{call}"), float)
    assert found.shape == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, rtol=max(within, 1e-7), atol=within)


def test_a_lesson_for_jax():
    """Recorded from JAX 0.10."""
    text = """
import jax
import jax.numpy as jnp
from jax.experimental.ode import odeint
from jax.scipy.optimize import minimize
def f(k):
    return odeint(lambda y, t, k: jnp.array([y[1], -k * jnp.sin(y[0])]), jnp.array([1.0, 0.0]),
                  jnp.linspace(0, 2, 3), k)
x = minimize(lambda x, a: (x[0] - a) ** 2 + (x[1] - x[0]) ** 2, jnp.array([0.0, 0.0]), args=(1.5,), method="BFGS")
(f(2.0).tolist(), jax.jacrev(f)(2.0).tolist(), x.x.tolist(), x.success)
"""
    value, slope, x, success = result(text)
    theirs = [[1.0, 0.0], [0.24723366, -1.31040574], [-0.88699263, -0.60479347]]
    slopes = [[0.0, 0.0], [-0.32760143, -0.44996279], [-0.30239673, 0.62397696]]
    np.testing.assert_allclose(value, theirs, atol=1e-7)
    np.testing.assert_allclose(slope, slopes, atol=1e-7)
    np.testing.assert_allclose(x, [1.5, 1.5], rtol=1e-12)
    assert success


def test_a_lesson_for_torchdiffeq():
    """The spiral of its examples; the numbers are those of the matrix exponential."""
    text = """
import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint
A = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
class Spiral(nn.Module):
    def forward(self, t, y):
        return y @ A
y0, t = torch.tensor([[2.0, 0.0]]), torch.linspace(0.0, 1.0, 3)
(odeint(Spiral(), y0, t)[-1].tolist(), odeint_adjoint(Spiral(), y0, t, method="dopri5").shape)
"""
    value, shape = result(text)
    wanted = 2 * np.exp(-0.1) * np.array([[np.cos(2), np.sin(2)]])
    np.testing.assert_allclose(value, wanted, atol=1e-6)
    assert tuple(shape) == (3, 1, 2)


def test_autograd_has_its_own_fixed_point_and_solver():
    text = """
import autograd.numpy as np
from autograd import grad
from autograd.scipy.integrate import odeint
from autograd.misc.fixed_points import fixed_point
f = lambda k: odeint(lambda y, t, k: -k * y, np.array([1.0]), np.array([0.0, 1.0]), (k,))[1, 0]
g = lambda a: fixed_point(lambda a: lambda x: (x + a / x) / 2, a, 1.0, lambda x, y: abs(x - y), 1e-12)
[grad(f)(0.5), g(4.0)]
"""
    np.testing.assert_allclose(np.asarray(result(text), float), [-np.exp(-0.5), 2.0], rtol=1e-7)


@pytest.mark.parametrize("way", ["never", "always"])
def test_their_derivatives_are_exact(way):
    text = """
from scipy.integrate import odeint, quad
param k = 2.0
y = odeint(lambda y, t, k: -k * y, [1.0], [0.0, 1.0], args=(k,))
y[1, 0] + quad(lambda x: np.exp(-k * x), 0, np.inf)[0]
"""
    found = load(f"import numpy as np{text}").grad(options=Options(compile=way)).grad["k"]
    assert float(found) == pytest.approx(-np.exp(-2) - 0.25, rel=1e-7)


def test_a_result_of_scipy_is_differentiated():
    text = "from scipy.optimize import minimize\nparam a = 3.0\nminimize(lambda x: (x[0] - a ** 2) ** 2, 0).x[0]"
    assert float(load(text).grad().grad["a"]) == pytest.approx(6.0)


BOUNDED = """
import numpy as np
from scipy.optimize import minimize
param a = {a}
f = lambda x: (x[0] - a) ** 2 + (x[1] - a * a) ** 4 + x[0] * x[1]
r = minimize(f, np.array([0.5, 0.5]), bounds=[(0, None), (0.1, 2)])
r.x[0] * 3 + r.x[1] * a + r.fun
"""


@pytest.mark.parametrize("a", [1.3, 0.6, 3.0, 0.01])
def test_a_minimum_between_bounds_is_differentiated(a):
    """Inside, on an edge and in a corner: both orders, by central differences of the values."""
    step = 1e-4
    found = load(BOUNDED.format(a=a)).hessian()
    below, at, above = (result(BOUNDED.format(a=x)) for x in (a - step, a, a + step))
    assert float(found.grad["a"]) == pytest.approx((above - below) / (2 * step), rel=1e-6)
    curve = (above - 2 * at + below) / step**2
    assert float(found.hessian["a"]["a"]) == pytest.approx(curve, rel=1e-4, abs=1e-4)


REFUSED = {
    "minimize(rosen, [0, 0], bounds=[(0, 1)])": "1 bounds for 2 unknowns",
    "minimize(rosen, [0, 0], bounds=[(1, 0)] * 2)": "above its upper bound",
    "minimize(rosen, [0, 0], constraints={'type': 'eq'})": "no constraints",
    "minimize(rosen, [0, 0], jac=True)": "the value alone",
    "solve_ivp(lambda t, y: y, [0, 1], [1.0])": "t_eval",
    "solve_ivp(lambda t, y: y, [0, 1], [1.0], method='BDF', t_eval=[1.0])": "'RK45'",
    "brentq(lambda x: x ** 2 + 1, 0, 2)": "different signs",
    "odeint(pendulum, [0.0, 1.0], [0, 1], full_output=True)": "full_output",
}


@pytest.mark.parametrize("call", REFUSED)
def test_options_that_are_not_there_are_refused(call):
    with pytest.raises(GradError, match=REFUSED[call]):
        result(SCIPY + call)


def test_other_methods_of_torchdiffeq_are_refused():
    call = "odeint(lambda t, y: y, torch.ones(1), torch.ones(2), method='rk4')"
    with pytest.raises(GradError, match="'dopri5'"):
        result(f"import torch\nfrom torchdiffeq import odeint\n{call}")


COUNTS = {
    "minimize(f, [3.0, 1.0])": "nfev",
    "root(lambda x: [f(x) - 20.0, x[1] - 2.0], [3.0, 1.0])": "nfev",
    "least_squares(lambda x: np.array([f(x), x[1] - 2.0]), [3.0, 1.0])": "nfev",
    "minimize_scalar(lambda x: f([x, x ** 2]))": "nfev",
    "root_scalar(lambda x: f([x, 0.0]) - 20.0, bracket=[1.0, 9.0])": "function_calls",
}


@pytest.mark.parametrize("call", COUNTS)
def test_a_result_tells_how_often_the_function_ran_to_find_it(call):
    """The result's own value and Jacobian are taken once more, at the point that was found."""
    text = f"""
import numpy as np
from scipy.optimize import least_squares, minimize, minimize_scalar, root, root_scalar

runs = []

def f(x):
    runs.append(1)
    return (x[0] - 1.0) ** 2 + (x[1] - 2.0) ** 4 + x[1] ** 2

found = {call}
[len(runs), found.{COUNTS[call]}]
"""
    ran, told = result(text)
    assert ran == told > 3
