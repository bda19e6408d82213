"""Tensors as arrays of known shape: an op on them is one instruction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from gradcli.engine.compile.result_type import result_type, result_types
from gradcli.engine.compile.specialize.tracing.values import Cell, is_number, joint
from gradcli.engine.compile.specialize.tracing.values import is_whole as is_tensor
from gradcli.engine.compile.symbols import Symbol, argument, is_whole
from gradcli.engine.compile.typed import DTYPES, Placed, PlacedSeveral, array_type, is_floating
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import Tensor, named
from gradcli.engine.values import memory
from gradcli.engine.values.data import np
from gradcli.engine.values.fields import Fields


class Arrays:
    """Emits ops on arrays."""

    def __init__(self, trace: Any) -> None:
        self._trace = trace

    def takes(self, op: Op, args: Sequence[Any]) -> bool:
        """True if an op with these arguments is one on arrays."""
        if any(map(_is_tensor, args)):
            return True
        return (
            op.value.number is None
            and op.value.body is None
            and not op.memory.view
            and op.value.array is not None
        )

    def types(self, dtype: str, shape: Sequence[int]) -> list[str]:
        """Return the types of the values that make up a tensor."""
        if 0 in shape:
            raise self._trace.refused("a tensor of no elements")
        return [array_type(dtype, shape)]

    def given(self, values: Sequence[Symbol], shape: Sequence[int], visible: bool | None) -> Cell:
        """Return a tensor that is an input, contiguous in memory."""
        (number,) = values
        self._trace.dense.add(number.value.number)
        found: Cell = self._trace.cell(number, visible=visible)
        found.leaf = visible is True
        return found

    def of_known(self, x: Tensor, *, visible: bool | None = False) -> Cell:
        """Return a tensor with known elements."""
        if x.dtype not in DTYPES.values() or not x.data.size:
            raise self._trace.refused(f"a tensor of {x.data.size} elements of {x.dtype}")
        found: Cell = self._trace.cell(self._trace.held(x.data), visible=visible)
        found.frozen = True  # it may share the memory of others
        return found

    def is_dense(self, x: Symbol) -> bool:
        """True if an array is certainly contiguous."""
        return x.value.number in self._trace.dense

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Return the result of an op on tensors and numbers."""
        params = {**op.defaults, **params}
        if op.value.body is not None:
            return self._composed(op, [_data(x) for x in args], params)
        return self._one(op, [*map(self._cell_of, args)], params)

    def _cell_of(self, x: Any) -> Any:
        """Return an argument of an op, a known array as a tensor."""
        return self.of_known(Tensor(_data(x))) if isinstance(_data(x), np.ndarray) else x

    def _composed(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        assert op.value.body is not None
        try:
            found = op.value.body(*args, **params)
        except (TypeError, AttributeError, ValueError):
            raise self._trace.refused(f"`{op.name}` of a tensor with dimensions") from None
        if any(isinstance(x, np.ndarray) for x in (found if isinstance(found, tuple) else ())):
            raise self._trace.refused(f"`{op.name}` gives what is known beside what is not")
        return each_of(found, lambda x, _: self._folded(op, x, args))

    def _folded(self, op: Op, found: Any, args: Sequence[Any]) -> Any:
        """Return the result of an op that is one node above those of its parts."""
        if not op.tape.folds or not isinstance(found, Cell) or any(found is a for a in args):
            return found
        number = found.number
        if not isinstance(number, Symbol) or not is_floating(number.type):
            return found
        return self._cell(self._trace.point(number), found.visible, found.frozen)

    def laid_as(self, number: Any, other: Any) -> Any:
        """Return a number or array in the memory layout of the one that it replaces."""
        if not is_whole(number) or number.ndim < 2:  # one dimension has only one layout
            return number
        if self.is_dense(number) and self.is_dense(other):
            return number
        found = self._trace.on_arrays(ops.laid_as, [number, other], {})
        if self.is_dense(other):
            self._trace.dense.add(found.value.number)
        return found

    def owned(self, op: Op, found: Any, args: Sequence[Any]) -> Any:
        """Return the result of a composite op with its own memory."""
        if op.value.body is None or op.memory.view:
            return found
        made = each_of(found, lambda x, k: self._owned(op, x, args, k))
        if isinstance(found, tuple):
            for x, own in zip(found, made, strict=True):
                if isinstance(own, Cell) and x.frozen:  # it may share the memory of another
                    own.frozen = True
        return made

    def _owned(self, op: Op, found: Any, args: Sequence[Any], k: int) -> Any:
        if not is_tensor(found):
            return found
        layout = (
            op.memory.layouts[min(k, len(op.memory.layouts) - 1)] if op.memory.layouts else None
        )
        if any(found is a for a in args):
            found = self._one(ops.clone, [found], {})
        is_dense = self.is_dense(found.number)
        if layout is memory.in_order and not is_dense:
            return self._one(ops.ordered, [found], {})
        lies_so = is_dense and layout is not memory.in_columns
        if found.frozen or not (lies_so or layout is None):
            given = [self._cell_of(x) for x in args if x is not None]
            return self._one(ops.owned, [found, *given], {"by": op.name, "index": k})
        return found

    def _one(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        trace = self._trace
        inside = [x.number if isinstance(x, Cell) else x for x in args]
        if op.memory.view and not is_whole(inside[0]):
            raise trace.refused(f"`{op.name}` of a tensor shares its memory")
        operands, known = tuple(map(argument, inside)), tuple(params.items())
        if isinstance(op.statics.dtype, list):
            types = result_types(op, inside, params, trace.span)
            several = [*map(trace.symbol, types)]
            targets = tuple([x.value for x in several])
            trace.add(PlacedSeveral(trace.span, targets, op.name, operands, known))
            kept = op.tape.guarded_fields or range(len(several))
            guards = [op.tape.guards_out and k in kept for k in range(len(several))]
            return named(op, map(partial(self._result, op, args), several, guards))
        made = trace.symbol(result_type(op, inside, params, trace.span))
        trace.add(Placed(trace.span, made.value, op.name, operands, known))
        return self._result(op, args, made, op.tape.guards_out)

    def _result(self, op: Op, args: Sequence[Any], made: Symbol, is_guarded: bool) -> Cell:
        """Return a result of an op as a tensor."""
        trace = self._trace
        seen = [x.visible for x in args if isinstance(x, Cell)]
        visible = joint(seen)
        floating = is_floating(made.type)
        self._save(op, args, made)
        if not trace.recording and floating:
            made = trace.cut(made)
        found = self._cell(made, floating and trace.recording and visible, op.memory.view)
        found.saved = is_guarded and trace.recording and floating
        if op.memory.view:
            found.base = args[0], args[0].number
        return found

    def _cell(self, number: Symbol, visible: bool | None, frozen: bool) -> Cell:
        found: Cell = self._trace.cell(number, visible=visible)
        found.frozen = frozen
        return found

    def _save(self, op: Op, args: Sequence[Any], made: Symbol) -> None:
        """Mark the tensors that the rules of an op read as saved."""
        if not self._trace.recording or not is_floating(made.type):
            return
        guards = op.tape.reads if op.tape.guards is None else op.tape.guards
        if op.variadic:
            for x in args if any(map(any, guards)) else ():
                self._keep(x)
            return
        moves = [isinstance(getattr(x, "number", x), Symbol) for x in args]
        for k, x in enumerate(args):
            if any(row[k] for row, is_moving in zip(guards, moves, strict=False) if is_moving):
                self._keep(x)

    def _keep(self, x: Any) -> None:
        """Mark a tensor, and the tensor that it is a view of, as saved."""
        if isinstance(x, Cell) and not x.saved:
            self._trace.touch(x)
            x.saved = True
            self._keep(None if x.base is None else x.base[0])

    def made(self, numbers: Sequence[Any], shape: Sequence[int], visible: bool | None) -> Cell:
        """Return a tensor of these numbers."""
        found = self._one(ops.assembled, numbers, {"size": tuple(shape)})
        found.visible = visible
        return found  # type: ignore[no-any-return]  # an op with one result


def _data(x: Any) -> Any:
    """Return an argument of an op, a known tensor as its array."""
    return x.data if isinstance(x, Tensor) and x.shape else x


def each_of(found: Any, do: Callable[[Any, int], Any]) -> Any:
    """Apply a function to each result of an op, and keep their structure and names."""
    if not isinstance(found, tuple):
        return do(found, 0)
    made = [do(x, k) for k, x in enumerate(found)]
    return Fields(found.name, found.names, made) if isinstance(found, Fields) else tuple(made)


def _is_tensor(x: Any) -> bool:
    """True for a tensor that is no number in the typed program."""
    return is_tensor(x) or (not is_number(x) and isinstance(x, Tensor) and bool(x.shape))
