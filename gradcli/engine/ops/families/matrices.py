"""Helpers that ops on matrices share: checks, masks and the LU decomposition of arrays."""

from __future__ import annotations

from math import prod
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, is_whole, np, shape_of
from gradcli.errors import run_error

GILES = "Giles, Collected matrix derivative results for forward and reverse mode AD, 2008"


def checked(name: str, x: Any, *, square: bool = False, rank: int = 2) -> Any:
    """Refuse a value that is no float matrix or batch of them; a tuple is a shape.

    Returns the shape.
    """
    shape = x if type(x) is tuple else shape_of(x)
    if type(x) is not tuple and is_whole(dtype_of(x)):
        raise run_error(
            "dtype-mismatch",
            f"`{name}` needs floating-point elements, got {dtype_of(x)}",
            help="`.double()` makes them so",
        )
    if len(shape) < rank:
        least = "two dimensions" if rank == 2 else "one dimension"
        raise run_error(
            "shape-mismatch", f"`{name}` needs at least {least}, got the shape {list(shape)}"
        )
    if square and shape[-1] != shape[-2]:
        raise run_error(
            "shape-mismatch",
            f"`{name}` needs square matrices, got {shape[-2]} rows and {shape[-1]} columns",
        )
    return shape


def which(flags: Any) -> str:
    """The first matrix of a batch that is flagged, in words."""
    flags = np.asarray(flags)
    if not flags.ndim:
        return "this one"
    at = np.argwhere(flags)[0].tolist()
    return f"the one at {at} of the batch"


def transposed(a: Any) -> Any:
    """Each matrix transposed."""
    return ops.transpose(a, dim0=-2, dim1=-1)


def per_matrix(x: Any) -> Any:
    """One number a matrix, to be broadcast over its elements."""
    if type(x) in NUMBERS or not shape_of(x):
        return x
    return ops.reshape(x, shape=(*shape_of(x), 1, 1))


def inner(a: Any, b: Any) -> Any:
    """Sum of the products of the elements of each pair of matrices."""
    return ops.sum(ops.mul(a, b), dim=(-2, -1))


def eye(a: Any) -> Any:
    """A mask of the diagonal."""
    return np.eye(*shape_of(a)[-2:], dtype=bool)


def diagonal(a: Any) -> Any:
    """Diagonals of square matrices."""
    return ops.sum(ops.where(eye(a), a, 0.0), dim=-1)


def triangle(a: Any, upper: bool, k: int = 0) -> Any:
    """The triangle from the k-th diagonal on, zero elsewhere."""
    mask = np.ones(shape_of(a)[-2:], bool)
    return ops.where(np.triu(mask, k) if upper else np.tril(mask, k), a, 0.0)


def halved(a: Any) -> Any:
    """Lower triangle with half the diagonal."""
    return ops.sub(triangle(a, False), ops.where(eye(a), ops.mul(a, 0.5), 0.0))


def symmetric(a: Any) -> Any:
    """Symmetric part."""
    return ops.mul(ops.add(a, transposed(a)), 0.5)


def lu_parts(x: Data) -> tuple[Data, Data]:
    """Packed LU of each matrix with partial pivoting, and the row met at each step, from 0."""
    m, n = x.shape[-2:]
    batch = x.shape[:-2]
    a = np.array(x).reshape(prod(batch), m, n)
    every = np.arange(len(a))
    pivots = np.zeros((len(a), min(m, n)), np.int64)
    for j in range(min(m, n)):
        at = np.argmax(np.abs(a[:, j:, j]), axis=1) + j if len(a) else every
        pivots[:, j] = at
        row = a[every, at]
        a[every, at] = a[:, j]
        a[:, j] = row
        top = a[:, j, j]
        factor = a[:, j + 1 :, j] / np.where(top == 0, top.dtype.type(1), top)[:, None]
        a[:, j + 1 :, j] = factor
        a[:, j + 1 :, j + 1 :] -= factor[:, :, None] * a[:, j, None, j + 1 :]
    return a.reshape(x.shape), pivots.reshape(*batch, min(m, n))


def square_rule(name: str) -> Any:
    """The shape rule of an op that makes a number of each square matrix."""
    return lambda a, **params: (checked(name, a, square=True), a[:-2])[1]


def determinant(x: Data) -> Data:
    """Determinant of each square matrix."""
    checked("det", x, square=True)
    n = x.shape[-1]
    if n == 0:
        return np.ones(x.shape[:-2], x.dtype)
    if n == 1:
        return x[..., 0, 0].copy()
    if n == 2:
        return x[..., 0, 0] * x[..., 1, 1] - x[..., 0, 1] * x[..., 1, 0]
    lu, pivots = lu_parts(x)
    odd = np.sum(pivots != np.arange(n), axis=-1) % 2 == 1
    out = np.prod(np.diagonal(lu, axis1=-2, axis2=-1), axis=-1)
    return np.asarray(np.where(odd, -out, out), x.dtype)


def refuse_singular(name: str, x: Data) -> None:
    """Refuse matrices without an inverse."""
    lu, _ = lu_parts(x)
    zero = np.any(np.diagonal(lu, axis1=-2, axis2=-1) == 0, axis=-1)
    if np.any(zero):
        raise run_error(
            "bad-argument",
            f"`{name}` needs an invertible matrix, and {which(zero)} is singular",
            help="`pinv` and `lstsq` take singular matrices",
        )
