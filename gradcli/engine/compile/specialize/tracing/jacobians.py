"""Jacobians that a program with arrays takes of its own functions: all directions as one batch, or
row by row if they may be differentiated again. The interpreter's version is
`engine.run.derivatives.transforms`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from typing import Any

from gradcli.engine.compile.specialize.tracing.differentiated import Followed, number_in
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Cell
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.derivatives.transforms import Tree, mapped, values_in
from gradcli.engine.values.carrier import like_of
from gradcli.engine.values.data import np

_TOGETHER = 2**20
"""The most elements of directions that the interpreter takes in one pass."""


class Matrices:
    """The Jacobian of one call of a function."""

    def __init__(self, trace: Trace, run: Followed) -> None:
        self._trace = trace
        self._run = run
        self._points = [*values_in(run.arguments)]
        self._outs = [*values_in(run.out)]

    def matrix(self, mode: str, by_tuple: bool) -> Tree:
        """Return the Jacobian, with the structure of the result and, inside, of the arguments."""
        rows = iter(self._blocks(mode))

        def by_arguments(_: Any) -> Any:
            blocks = iter(next(rows))
            found = [mapped(lambda _: next(blocks), a) for a in self._run.arguments]
            return tuple(found) if by_tuple else found[0]

        return mapped(by_arguments, self._run.out)

    def _blocks(self, mode: str) -> list[list[Any]]:
        """Return the blocks of the matrix, by result and point."""
        values = self._points if mode == "forward" else self._outs
        count = sum(prod(x.shape) for x in map(like_of, values))
        is_connected = self._run.is_connected
        if not is_connected and count > 1:
            if count * self._run.largest > _TOGETHER:
                raise self._trace.refused(f"{count} directions do not go together")
            return [*(self._columns(count) if mode == "forward" else self._rows())]
        if mode == "forward":
            return self._column_by_column(is_connected)
        return [self._row_by_row(k, out) for k, out in enumerate(self._outs)]

    # --- all directions at once --------------------------------------------------------------

    def _rows(self) -> Iterator[list[Any]]:
        for k, out in enumerate(self._outs):
            shape = like_of(out).shape
            count = prod(shape)
            units: Any = 1.0
            if shape:
                units = np.eye(count).reshape((count, *shape)) if count > 1 else np.ones(shape)
            found = self._run.pulled_together(k, units, count)
            yield [
                self._block(ops.rows_block, x, out, p, rows=count, value=shape)
                for x, p in zip(found, self._points, strict=True)
            ]

    def _columns(self, count: int) -> Iterator[list[Any]]:
        shapes = [like_of(p).shape for p in self._points]
        ends = [*accumulate(map(prod, shapes))]
        parts = np.split(np.eye(count), ends[:-1], axis=1)
        units = [
            np.ascontiguousarray(part).reshape((count, *shape))
            for part, shape in zip(parts, shapes, strict=True)
        ]
        found = self._run.pushed_together(units, count)
        for x, out in zip(found, self._outs, strict=True):
            yield [
                self._block(ops.columns_block, x, out, p, start=end - prod(shape), stop=end)
                for p, shape, end in zip(self._points, shapes, ends, strict=True)
            ]

    def _block(self, op: Any, x: Any, out: Any, point: Any, **places: Any) -> Any:
        """Return a block of the matrix as a value of the program; if both sides are single numbers,
        of the point's kind.
        """
        trace, shape = self._trace, like_of(point).shape
        if not isinstance(x, Symbol):
            x = trace.held(np.full((*like_of(out).shape, *shape), x)) if shape else x
            return self._value(x, out, point)
        made = trace.on_arrays(op, [x], {**places, "point": shape})
        return self._value(trace.cut(made), out, point)

    def _value(self, x: Any, out: Any, point: Any) -> Any:
        like = out if like_of(out).shape and not like_of(point).shape else point
        is_whole = isinstance(x, Symbol) and x.shape
        return self._trace.cell(x) if is_whole or isinstance(like, Cell) else x

    # --- one after the other ------------------------------------------------------------------

    def _row_by_row(self, k: int, out: Any) -> list[Any]:
        shape = like_of(out).shape
        rows = []
        for unit in _units(shape):
            weights: list[Any] = [None] * len(self._outs)
            weights[k] = unit if isinstance(unit, float) else self._trace.held(unit)
            rows.append([*values_in(self._run.pulled(weights))])
        if not shape:
            return rows[0]
        columns = zip(*rows, strict=True)
        return [self._stacked(x, shape, p, 0) for x, p in zip(columns, self._points, strict=True)]

    def _column_by_column(self, is_connected: bool) -> list[list[Any]]:
        run, trace = self._run, self._trace
        shapes = [like_of(p).shape for p in self._points]
        along = [
            {k: unit if isinstance(unit, float) else trace.held(unit)}
            for k, shape in enumerate(shapes)
            for unit in _units(shape)
        ]
        columns = run.columns(along)
        found = []
        for k, out in enumerate(self._outs):
            left = iter([[*values_in(run.by_result(dots))][k] for dots in columns])
            row = []
            for point, shape in zip(self._points, shapes, strict=True):
                parts = [next(left) for _ in range(prod(shape))]
                block = self._stacked(parts, like_of(out).shape, point, -1) if shape else parts[0]
                row.append(self._connected(block, out) if is_connected else block)
            found.append(row)
        return found

    def _connected(self, block: Any, out: Any) -> Any:
        """Return a block that has a graph if the result has one, even if it is constant."""
        total = self._trace.do(ops.sum, [out], {})
        (number,) = self._run.linked([number_in(block)], [number_in(total)])
        if not isinstance(block, Cell):
            return number
        return self._trace.cell(number, visible=self._run.visible)

    def _stacked(self, parts: Sequence[Any], out: Sequence[int], point: Any, dim: int) -> Any:
        """Return derivatives of single elements as one tensor."""
        cells = [x if isinstance(x, Cell) else self._trace.cell(x) for x in parts]
        stacked = self._trace.do(ops.stack, cells, {"dim": dim})
        return self._trace.do(ops.reshape, [stacked], {"shape": (*out, *like_of(point).shape)})


def _units(shape: Sequence[int]) -> list[Any]:
    """Return the unit vectors of a shape."""
    if not shape:
        return [1.0]
    count = prod(shape)
    return [unit.reshape(shape) for unit in np.eye(count)]
