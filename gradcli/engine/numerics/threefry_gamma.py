"""Numbers of the gamma and beta distributions that `jax.random` draws for a key.

Marsaglia and Tsang, A simple method for generating gamma variables, ACM TOMS 26, 2000, with the
keys of JAX 0.10: each number has a key of its own, and each trial two from that.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics import threefry
from gradcli.engine.values.data import np


def gamma(key: Any, alpha: Any, dtype: str) -> Any:
    """Numbers of the gamma distributions of an array of shapes, of scale 1."""
    a = _precise(alpha, dtype)
    cubes, below = _cubes(key, a.ravel(), dtype)
    rest = 1 - threefry.uniform_each(below, 0.0, 1.0, dtype)
    boost = np.where(a.ravel() >= 1, a.dtype.type(1), rest ** (1 / a.ravel()))
    return (cubes * boost).reshape(a.shape)


def log_gamma(key: Any, alpha: Any, dtype: str) -> Any:
    """Logarithms of numbers of the gamma distributions, which do not underflow."""
    a = _precise(alpha, dtype)
    cubes, below = _cubes(key, a.ravel(), dtype)
    rest = np.log1p(-threefry.uniform_each(below, 0.0, 1.0, dtype))
    boost = np.where((a.ravel() >= 1) | (rest == 0), a.dtype.type(0), rest * (1 / a.ravel()))
    return (np.log(cubes) + boost).reshape(a.shape)


def beta(key: Any, a: Any, b: Any, dtype: str) -> Any:
    """Numbers of the beta distributions of two arrays of shapes, which have one size."""
    first, second = threefry.split(key, 2)
    logs = log_gamma(first, a, dtype), log_gamma(second, b, dtype)
    above, below = (np.exp(v - np.maximum(*logs)) for v in logs)
    return above / (above + below)


def _precise(alpha: Any, dtype: str) -> Any:
    return np.asarray(alpha, np.float64 if dtype == "float64" else np.float32)


def _cubes(key: Any, alpha: Any, dtype: str) -> tuple[Any, Any]:
    """Numbers of the gamma distributions of shapes of at least 1, lesser ones raised by 1, and a
    key of each that is left for the raise.
    """
    one = alpha.dtype.type
    keys = np.ascontiguousarray(threefry.split(key, alpha.size).T) if alpha.size else _none()
    d = np.where(alpha >= 1, alpha, alpha + one(1)) - one(1.0 / 3.0)
    c = one(1.0 / 3.0) / np.sqrt(d)
    keys, below = threefry.split_each(keys, 2)
    cube, open_ = np.ones_like(d), np.arange(alpha.size)
    while open_.size:
        later, bells, chances = threefry.split_each(keys[:, open_], 3)
        keys[:, open_] = later
        x, v = _bells(bells, c[open_], dtype)
        square, cube[open_] = x * x, v * v * v
        u = threefry.uniform_each(chances, 0.0, 1.0, dtype)
        wide = u >= one(1) - one(0.0331) * (square * square)
        tried = cube[open_]
        with np.errstate(divide="ignore"):
            outside = np.log(u) >= square * one(0.5) + d[open_] * (one(1) - tried + np.log(tried))
        open_ = open_[wide & outside]
    return d * cube, below


def _bells(keys: Any, c: Any, dtype: str) -> tuple[Any, Any]:
    """Normal numbers x with 1 + c x above 0, and these."""
    x, v = np.zeros_like(c), -np.ones_like(c)
    open_ = np.arange(c.size)
    while open_.size:
        later, below = threefry.split_each(keys[:, open_], 2)
        keys[:, open_] = later
        x[open_] = threefry.normal_each(below, dtype).astype(c.dtype)
        v[open_] = c.dtype.type(1) + x[open_] * c[open_]
        open_ = open_[v[open_] <= 0]
    return x, v


def _none() -> Any:
    return np.zeros((2, 0), np.uint32)
