"""Independent computations of derivatives, as references for the engine."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from math import prod
from typing import Any

import numpy as np
import pytest

from gradcli.engine.autodiff import backward
from gradcli.engine.autodiff import forward as forward_mode
from gradcli.engine.ops.build import families
from gradcli.engine.ops.catalog import entries, ops
from gradcli.engine.ops.op import Op, Sample, sample
from gradcli.engine.tape.tensor import OpNode, Tensor, leaf
from gradcli.engine.values.carrier import Like, data_of
from gradcli.engine.values.data import NUMBERS

EPS, ATOL, RTOL = 1e-6, 1e-5, 1e-3


def table() -> dict[str, Op]:
    """Every op of every family by name, without aliases."""
    found: dict[str, Op] = {}
    for module in families().values():
        found.update({op.name: op for op in entries(vars(module)).values()})
    return found


def per_op(cases: Iterable[tuple[Op, Any]]) -> list[Any]:
    """Test parameters: one test for each op with all its cases, since a case takes less time than a
    test.
    """
    return [pytest.param(op, found, id=op.name) for op, found in cases if found]


def values(args: tuple[Any, ...]) -> list[Any]:
    """A sample's arguments as plain data, with lists as arrays."""
    return [np.asarray(a) if isinstance(a, (list, tuple)) else a for a in args]


SQUARE = [[4.0, 1.0], [1.0, 3.0]]
MORE = {  # ops without samples, whose derivatives other tests check
    **dict.fromkeys(("all", "any"), (sample([[1.0, 0.0]], dim=1), sample([1.0]), sample(1.0))),
    **dict.fromkeys(("argmax", "argmin"), (sample([[1.0, 2.0]], dim=0, keepdim=True), sample(2.0))),
    **dict.fromkeys(("slogdet", "matrix_rank", "cholesky", "eigh", "eigvalsh"), (sample(SQUARE),)),
    **dict.fromkeys(("argwhere", "nonzero"), (sample([[1.0, 0.0]]),)),
    "lstsq": (sample(SQUARE, [[1.0], [2.0]]), sample([*SQUARE, [1.0, 1.0]], [[1.0], [2.0], [0.5]])),
}


def samples(op: Op) -> list[Sample]:
    """The samples of an op, or substitutes if it has none."""
    return [*op.page.samples(), *MORE.get(op.name, ())]


def cast(a: Any, kind: str) -> Any:
    """An argument with another dtype; numbers stay numbers, except for float32."""
    if a is None:
        return None
    if type(a) in NUMBERS and kind != "float32":
        return {"float64": float, "int64": int, "bool": bool}[kind](a)
    return np.asarray(a).astype(kind)


def floating(a: Any) -> bool:
    return type(a) is float or (isinstance(a, np.ndarray) and a.dtype.kind == "f")


class Poison(Like):
    """A `Like` that raises if a rule reads it as a value."""

    __slots__ = ()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("a rule reads a value that its op does not save")

    def __bool__(self) -> bool:
        raise TypeError("a rule reads a value that its op does not save")


def _poison(nodes: Iterable[Any]) -> None:
    """Make rules fail that read values which their op does not save."""
    for node in nodes:
        if isinstance(node, OpNode) and Like in map(type, node.args):
            args = (Poison(a.shape, a.dtype) if type(a) is Like else a for a in node.args)
            node.args = tuple(args)


def _recorded(values: list[Any]) -> list[Any]:
    """The values of a recorded pass, with its own rules poisoned, too."""
    _poison(
        {n for v in values if isinstance(v, Tensor) and v.node is not None for n in _below(v.node)}
    )
    return values


class Run:
    """An op applied to a sample's arguments, with floats as leaves."""

    def __init__(self, op: Op, args: list[Any], params: dict[str, Any]) -> None:
        self.inputs = [leaf(a) if floating(a) else a for a in args]
        out = op(*self.inputs, **params)
        self.results = [
            r if isinstance(r, Tensor) else Tensor(r)
            for r in (out if isinstance(out, tuple) else (out,))
        ]
        self.outs = [r for r in self.results if r.node is not None]
        self.leaves = [x for x in self.inputs if isinstance(x, Tensor)]
        edges = {n for r in self.outs for n in _below(r.node)}
        self.leaves = [x for x in self.leaves if x.node in edges]
        _poison(edges)


def _below(node: Any) -> set[Any]:
    seen, stack = {node}, [node]
    while stack:
        for under in stack.pop().edges:
            if under is not None and under not in seen:
                seen.add(under)
                stack.append(under)
    return seen


def reverse(outs: list[Tensor], gs: list[Any], leaves: list[Tensor], *, graph: bool = False):
    """Cotangents of the leaves; zeros where results do not depend on them."""
    roots = [(o.node, o.index, g) for o, g in zip(outs, gs, strict=True) if o.node is not None]
    pull = backward.recorded_cotangents if graph else backward.cotangents
    found = pull(roots, [x.node for x in leaves])
    cotangents = [found.get(x.node, zeros(x)) for x in leaves]
    return _recorded(cotangents) if graph else cotangents


def forward(outs: list[Tensor], dots: list[Any], leaves: list[Tensor], *, graph: bool = False):
    """Tangents of results; zeros where they do not depend on the leaves."""
    seeds = {x.node: dot for x, dot in zip(leaves, dots, strict=True)}
    along = forward_mode.recorded_tangents if graph else forward_mode.tangents
    found = along([o.node for o in outs if o.node is not None], seeds)
    result = []
    for o in outs:
        dot = found.get(o.node)
        dot = dot[o.index] if type(dot) is tuple else dot
        result.append(zeros(o) if dot is None else dot)
    return _recorded(result) if graph else result


def zeros(x: Any) -> Any:
    return 0.0 if x.shape == () else np.zeros(x.shape, x.dtype)


def flat(parts: list[Any]) -> np.ndarray:
    """Several values as one vector."""
    flattened = [np.asarray(data_of(p), np.float64).ravel() for p in parts]
    if len(flattened) == 1:
        return flattened[0]
    return np.concatenate(flattened) if flattened else np.zeros(0)


def split(vector: np.ndarray, likes: list[Any]) -> list[Any]:
    """A vector split into values of the given shapes."""
    result, at = [], 0
    for like in likes:
        shape, dtype = like.shape, like.dtype
        size = prod(shape)
        if shape == () and dtype == "float64":
            result.append(vector[at].item())
        else:
            result.append(vector[at : at + size].reshape(shape).astype(dtype))
        at += size
    return result


def basis(likes: list[Any]):
    """The unit vectors of the space of values with the given shapes."""
    size = sum(prod(x.shape) for x in likes)
    for row in np.eye(size):
        yield split(row, likes)


def jacobian_reverse(run: Run) -> np.ndarray:
    rows = [flat(reverse(run.outs, g, run.leaves)) for g in basis(run.outs)]
    return np.array(rows).reshape(len(rows), flat(run.leaves).size)


def jacobian_forward(run: Run) -> np.ndarray:
    columns = [flat(forward(run.outs, dot, run.leaves)) for dot in basis(run.leaves)]
    return np.array(columns).reshape(len(columns), flat(run.outs).size).T


def central_differences(function, x: np.ndarray, step: float = EPS) -> np.ndarray:
    """Numeric Jacobian of a function from vectors to vectors."""
    columns = []
    for direction in np.eye(x.size) * step:
        columns.append((function(x + direction) - function(x - direction)) / (2 * step))
    size = columns[0].size if columns else function(x).size
    return np.array(columns).reshape(x.size, size).T


def ways(size: int, chance: np.random.Generator) -> np.ndarray:
    """Directions for differences, as rows: all unit vectors of up to two dimensions, else two
    random ones, from which no wrong entry can hide.
    """
    return np.eye(size) if size <= 2 else chance.standard_normal((2, size))


def slopes(function, x: np.ndarray, along: np.ndarray, step: float = EPS) -> np.ndarray:
    """Central differences of a function from vectors to numbers along directions."""
    found = [(function(x + w * step) - function(x - w * step)) / (2 * step) for w in along]
    return np.array(found).reshape(len(along))


class Case:
    """An op at a sample, as a function of one vector with all values to differentiate by."""

    def __init__(self, op: Op, s: Sample) -> None:
        self.op, self.sample, self.params = op, s, s.params
        self.args = values(s.args)
        self.run = Run(op, self.args, s.params)
        kept = [x.node for x in self.run.leaves]
        self.places = [
            i for i, x in enumerate(self.run.inputs) if isinstance(x, Tensor) and x.node in kept
        ]
        self.point = flat(self.run.leaves)
        self.indices = [i for i, r in enumerate(self.run.results) if r.node is not None]

    @cached_property
    def rows(self) -> np.ndarray:
        """The Jacobian by reverse mode, one pass a row."""
        return jacobian_reverse(self.run)

    @cached_property
    def columns(self) -> np.ndarray:
        """The Jacobian by forward mode, one pass a column."""
        return jacobian_forward(self.run)

    def at(self, x: np.ndarray) -> Run:
        """The op at another point."""
        args = list(self.args)
        for i, part in zip(self.places, split(x, self.run.leaves), strict=True):
            args[i] = part
        return Run(self.op, args, self.params)

    def value(self, x: np.ndarray) -> np.ndarray:
        args = list(self.args)
        for i, part in zip(self.places, split(x, self.run.leaves), strict=True):
            args[i] = part
        out = self.op(*args, **self.params)
        parts = out if isinstance(out, tuple) else (out,)
        return flat([parts[i] for i in self.indices])


@cache
def cases(op: Op) -> list[Case]:
    """An op at all its differentiable samples, cached for several tests."""
    return [Case(op, s) for s in op.page.samples() if any(floating(a) for a in values(s.args))]


def ulps(a: float, b: float) -> float:
    """Distance of two floats in units in the last place."""
    if a == b or (np.isnan(a) and np.isnan(b)):
        return 0.0
    if not (np.isfinite(a) and np.isfinite(b)):
        return np.inf
    return abs(a - b) / np.spacing(max(abs(a), abs(b)))


__all__ = [
    "floating",
    "ATOL",
    "EPS",
    "RTOL",
    "Case",
    "Poison",
    "Run",
    "cases",
    "central_differences",
    "flat",
    "forward",
    "jacobian_forward",
    "jacobian_reverse",
    "ops",
    "reverse",
    "slopes",
    "split",
    "table",
    "ulps",
    "values",
    "ways",
    "zeros",
]
