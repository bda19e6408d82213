"""Programs in the names of JAX, autograd and NumPy. They print only lists and numbers, so that
Python prints the same, which `run/reference/doors.py` records.
"""

JAX = "import jax\nimport jax.numpy as jnp\n"
NUMPY = "import numpy as np\n"
AUTOGRAD = "import autograd.numpy as np\nfrom autograd import grad, jacobian\n"

PROGRAMS = {
    # own derivatives
    "custom_vjp": JAX
    + """
@jax.custom_vjp
def f(x, y):
    return jnp.sin(x) * y

def fwd(x, y):
    return f(x, y), (jnp.cos(x), jnp.sin(x), y)

def bwd(res, g):
    c, s, y = res
    return 2 * g * c * y, g * s

f.defvjp(fwd, bwd)
print(float(f(0.5, 2.0)), float(jax.grad(f)(0.5, 2.0)), float(jax.grad(f, 1)(0.5, 2.0)))
print(float(jax.grad(jax.grad(f))(0.5, 2.0)), float(jax.grad(jax.grad(f), 1)(0.5, 2.0)))
print(jax.grad(lambda x: f(x, x).sum())(jnp.array([0.1, 0.2])).tolist())
""",
    "custom_vjp of trees": JAX
    + """
@jax.custom_vjp
def f(p, x):
    return p["w"] * x + p["b"], x

def fwd(p, x):
    return f(p, x), (p["w"], x)

def bwd(res, g):
    w, x = res
    return {"w": 3 * g[0] * x, "b": g[0]}, g[0] * w + g[1]

f.defvjp(fwd, bwd)
d = jax.grad(lambda p, x: f(p, x)[0] * 2 + f(p, x)[1])({"w": 2.0, "b": 1.0}, 5.0)
print(float(d["w"]), float(d["b"]), float(jax.grad(lambda x: f({"w": 2.0, "b": 1.0}, x)[1])(5.0)))
""",
    "custom_vjp with an argument apart": JAX
    + """
from functools import partial

@partial(jax.custom_vjp, nondiff_argnums=(0,))
def apply(f, x):
    return f(x)

def fwd(f, x):
    return f(x), x

def bwd(f, x, g):
    return (g * f(x) * 10,)

apply.defvjp(fwd, bwd)
print(float(jax.grad(lambda x: apply(jnp.exp, x))(1.0)))
""",
    "custom_jvp": JAX
    + """
@jax.custom_jvp
def f(x, y):
    return jnp.sin(x) * y

@f.defjvp
def rule(primals, tangents):
    x, y = primals
    dx, dy = tangents
    return f(x, y), 3 * jnp.cos(x) * y * dx + jnp.sin(x) * dy

value, dot = jax.jvp(f, (0.5, 2.0), (1.0, 0.5))
print(float(value), float(dot))
print(float(jax.grad(f)(0.5, 2.0)), float(jax.grad(f, 1)(0.5, 2.0)), float(jax.grad(jax.grad(f))(0.5, 2.0)))
print(jax.grad(lambda x: f(x, 2.0).sum())(jnp.array([0.1, 0.2])).tolist())
print(jax.jacfwd(lambda x: f(x, x))(jnp.array([0.1, 0.2])).tolist())
""",
    "defjvps": JAX
    + """
@jax.custom_jvp
def f(x, y):
    return x * y

f.defjvps(lambda dx, out, x, y: 5 * dx * y, None)
print(float(jax.grad(f)(2.0, 3.0)), float(jax.grad(f, 1)(2.0, 3.0)))
""",
    "primitive": AUTOGRAD
    + """
from autograd.extend import primitive, defvjp

@primitive
def f(x, n):
    return np.sum(x ** n)

defvjp(f, lambda ans, x, n: lambda g: 2 * g * n * x ** (n - 1), None)
x = np.array([1.0, 2.0])
print(float(f(x, 3)), grad(f)(x, 3).tolist(), jacobian(grad(f))(x, 3).tolist())
""",
    "primitive by its result": AUTOGRAD
    + """
from autograd.extend import primitive, defvjp

@primitive
def e(x):
    return np.exp(x)

defvjp(e, lambda ans, x: lambda g: g * ans)
print(float(grad(e)(1.0)), float(grad(grad(e))(1.0)), float(grad(grad(grad(e)))(1.0)))
""",
    # trees
    "trees": JAX
    + """
p = {"w": jnp.array([1.0, 2.0]), "a": [jnp.array(3.0), (jnp.array(4.0), None)]}
g = jax.grad(lambda p: (p["w"] ** 2).sum() * p["a"][0] + p["a"][1][0])(
    {"w": p["w"], "a": [p["a"][0], (p["a"][1][0],)]}
)
print(g["w"].tolist(), float(g["a"][0]), float(g["a"][1][0]))
q = jax.tree.map(lambda x: x * 2, p)
print(q["w"].tolist(), float(q["a"][0]), float(q["a"][1][0]), q["a"][1][1])
print([float(x.sum()) for x in jax.tree.leaves(p)])
r = jax.tree_util.tree_map(lambda x, y: x - y, p, q)
print(r["w"].tolist(), len(jax.tree_util.tree_leaves(r)))
leaves, form = jax.tree_util.tree_flatten(p)
print(jax.tree_util.tree_unflatten(form, [1, 2, 3]))
print(float(jax.tree.reduce(lambda a, b: a + b.sum(), p, 0.0)))
""",
    "a row of a tree": JAX
    + """
from jax.flatten_util import ravel_pytree
flat, back = ravel_pytree({"b": jnp.ones(2), "a": jnp.zeros((1, 2))})
print(flat.tolist(), back(flat * 3)["b"].tolist(), back(flat)["a"].tolist())
""",
    "value_and_grad of a dictionary": JAX
    + """
loss = lambda p, x: ((x @ p["w"] + p["b"]) ** 2).sum()
v, g = jax.value_and_grad(loss)({"w": jnp.array([1.0, -1.0]), "b": 0.5}, jnp.eye(2))
print(float(v), g["w"].tolist(), float(g["b"]))
h = jax.hessian(lambda p: p["a"] ** 2 * p["b"])({"a": 2.0, "b": 3.0})
print(float(h["a"]["a"]), float(h["a"]["b"]), float(h["b"]["a"]), float(h["b"]["b"]))
""",
    "scan": JAX
    + """
step = lambda c, x: (c + x["a"] * x["b"], (c, x["a"]))
xs = {"a": jnp.arange(3.0), "b": jnp.ones(3) * 2}
c, (before, seen) = jax.lax.scan(step, 0.0, xs)
print(float(c), before.tolist(), seen.tolist())
c, ys = jax.lax.scan(lambda c, x: (c * 0.5 + x, c), 1.0, jnp.arange(3.0), reverse=True)
print(float(c), ys.tolist())
c, ys = jax.lax.scan(lambda c, _: (c * 2, None), 1.0, None, length=4, unroll=2)
print(float(c), ys)
print(float(jax.grad(lambda a: jax.lax.scan(lambda c, x: (c * a + x, c), 0.0, jnp.arange(3.0))[0])(2.0)))
""",
    "at": JAX
    + """
x = jnp.arange(5.0)
for y in (
    x.at[1].set(9.0), x.at[1:3].add(10.0), x.at[jnp.array([0, 0, 2])].add(1.0), x.at[2].multiply(7.0),
    x.at[x > 2].set(0.0), x.at[0].max(3.0), x.at[4].min(3.0), x.at[-1].divide(2.0), x.at[1].power(2.0),
    x.at[2].subtract(1.0), x.at[3].mul(2.0), x.at[1].apply(lambda t: t - 8), x.at[1:3].get(), x,
):
    print(y.tolist())
print(jax.grad(lambda x: (x.at[1].set(x[0] ** 2) ** 2).sum())(x).tolist())
print(jnp.zeros((2, 2)).at[0, 1].set(3.0).tolist(), float(x.max()), x.min().tolist())
""",
    # checks
    "check_grads": AUTOGRAD
    + """
from autograd.test_util import check_grads
check_grads(lambda x, y: np.sum(np.sin(x) * y), modes=["rev"])(np.ones(2), 3.0)
print("fine")
""",
    "jax check_grads": JAX
    + """
import jax.test_util
jax.test_util.check_grads(lambda x, y: jnp.sin(x) * y, (0.5, 2.0), order=1, modes=("fwd", "rev"))
print("fine")
""",
    "fixed_point": AUTOGRAD
    + """
from autograd.misc.fixed_points import fixed_point
def root(a):
    return fixed_point(lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: np.abs(x - y), 1e-12)
print(float(root(2.0)), float(grad(root)(2.0)), float(grad(grad(root))(2.0)))
""",
    "optimizers": AUTOGRAD
    + """
from autograd.misc.optimizers import adam, sgd, rmsprop
slope = grad(lambda p, i: np.sum((p[0] - 3.0) ** 2) + p[1] ** 2)
start = [np.array([1.0, 2.0]), np.array(3.0)]
for found in (
    adam(slope, start, num_iters=20, step_size=0.1),
    sgd(slope, start, num_iters=20),
    rmsprop(slope, start, num_iters=20, step_size=0.05),
):
    print(found[0].tolist(), float(found[1]))
seen = []
adam(slope, start, num_iters=3, callback=lambda p, i, g: seen.append((i, float(g[1]))))
print(seen)
""",
    "flatten": AUTOGRAD
    + """
from autograd.misc import flatten
row, back = flatten([(np.ones((1, 2)), np.zeros(1)), 5.0])
print(row.tolist(), back(row + 1)[0][0].tolist())
""",
    # SciPy
    "normal": AUTOGRAD
    + """
import autograd.scipy.stats.norm as norm
print(float(norm.logpdf(0.5, 1.0, 2.0)), float(norm.pdf(0.5)), float(norm.cdf(0.5, 0.0, 2.0)))
print(float(grad(norm.logpdf)(0.5, 1.0, 2.0)), float(grad(lambda s: norm.cdf(0.5, 0.0, s))(2.0)))
""",
    "triangles": JAX
    + """
import jax.scipy as jsp
A = jnp.array([[4.0, 2.0], [2.0, 3.0]])
b = jnp.array([1.0, 2.0])
L = jsp.linalg.cholesky(A, lower=True)
print(L.tolist(), jsp.linalg.cholesky(A).tolist(), jsp.linalg.solve_triangular(L, b, lower=True).tolist())
print(jsp.linalg.solve_triangular(L.T, jnp.eye(2)).tolist())
print(jsp.linalg.solve_triangular(L, b, lower=True, trans=1).tolist())
""",
    "types": NUMPY
    + """
import typing as t
from typing import Callable, Dict, List, Optional, Union
Number = Union[float, np.ndarray]
Many = t.Dict[str, List[Number]]

def twice(x: Number, f: Optional[Callable[[float], float]] = None) -> Number:
    return 2 * x

print(float(twice(1.5)))
""",
    # NumPy
    "elements are numbers": NUMPY
    + """
x = np.array([1.0, 2.0, 3.0])
t = x[0]
x[0] = 5.0
seen = []
for i in range(3):
    x += 1
    seen.append(x[1])
x[0], x[2] = x[2], x[0]
u = v = x[1]
a, b = x[0], x[1]
row = x[1:]
x[1] = 100.0
print(float(t), [float(s) for s in seen], x.tolist(), float(u), float(v), float(a), float(b), row.tolist())
""",
    "joined": NUMPY
    + """
a, b = np.array([1, 2, 3]), np.array([4, 5, 6])
print(np.c_[a, b].tolist(), np.r_[a, 0, 7, b].tolist(), np.r_[0:5].tolist(), np.r_[1:2:0.25].tolist())
print(np.c_[np.ones(3), np.arange(6).reshape(3, 2)].tolist(), np.r_[np.eye(2), np.ones((1, 2))].tolist())
""",
    "narrow dtypes": NUMPY
    + """
x = np.arange(3, dtype=np.int32)
y = np.array([250, 10], dtype=np.uint8)
print((y + y).tolist(), (x / 2).tolist(), x.sum().item(), np.zeros(2, dtype=np.int16).tolist())
print(np.array([0.1], dtype=np.float16).tolist(), (np.array([1], dtype=np.int8) * 2).tolist())
""",
}
