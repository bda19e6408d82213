"""Scalarized tensors: few elements of known number, each a number of its own. An op on the tensor
becomes an op on each element.

This is done only if the op's entry says that its values on numbers have the same bits as its value
on an array. One node of the interpreter becomes several here. They are emitted in an order in which
the cotangents of each element add up as in the interpreter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.values import Cell, Vector, is_number, number_type
from gradcli.engine.compile.sum_order import Tree, sum_order
from gradcli.engine.compile.symbols import Symbol
from gradcli.engine.compile.typed import DTYPES, TooLarge
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.alone import stands_alone
from gradcli.engine.ops.op import Op
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import np
from gradcli.errors import GradError

MOST = 64
"""The most elements of a scalarized tensor."""

_TYPES = {dtype: name for name, dtype in DTYPES.items()}


class Vectors:
    """Emits ops on the elements of scalarized tensors.

    Fields:
        most_picked: the most items of a tensor among which branches pick one.
    """

    most_picked = 8

    def __init__(self, trace: Any) -> None:
        self._trace = trace

    def takes(self, op: Op, args: Sequence[Any]) -> bool:
        """True if an op with these arguments is one on tensors with dimensions."""
        if op.variadic and op.value.by_elements is not None:
            return True
        return any(isinstance(a, Vector) or (isinstance(a, Tensor) and a.shape) for a in args)

    def made(
        self,
        numbers: Sequence[Any],
        shape: Sequence[int],
        visible: bool | None,
        dense: bool = True,
    ) -> Any:
        """Return a tensor of these numbers; a 0-d one if it has no dimensions."""
        if not shape:
            found = self._trace.cell(numbers[0], visible=visible)
            found.frozen = True  # it may share the memory of others
            return found
        if not 0 < len(numbers) <= MOST:
            raise self._too_large(len(numbers))
        if len({number_type(x) for x in numbers}) > 1:
            raise self.refused("a tensor of numbers of several types")
        if visible is not False and self._trace.graph is not None:
            raise TooLarge("a tensor is gone back to whole", self._trace.span)
        self._trace.requires_grad |= visible is True
        return Vector(numbers, shape, visible, self._trace, dense)

    def types(self, dtype: str, shape: Sequence[int]) -> list[str]:
        """Return the types of the elements of a tensor."""
        count = int(np.prod(shape))
        if not 0 < count <= MOST:
            raise self._too_large(count)
        return [_TYPES[dtype]] * count

    def given(self, values: Sequence[Symbol], shape: Sequence[int], visible: bool | None) -> Any:
        """Return a tensor that is an input."""
        return self.made(values, shape, visible)

    def of_known(self, x: Tensor, *, visible: bool | None = False) -> Vector:
        """Return a tensor with known elements."""
        if x.dtype not in DTYPES.values():
            raise self.refused(f"a tensor of {x.dtype}")
        if not 0 < x.data.size <= MOST:
            raise self._too_large(x.data.size)
        dense = bool(x.data.flags.c_contiguous)
        found: Vector = self.made(x.data.reshape(-1).tolist(), x.shape, visible, dense)
        return found

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Return the result of an op on numbers and tensors."""
        args = [self.of_known(x) if isinstance(x, Tensor) and x.shape else x for x in args]
        if op.value.body is not None:
            try:
                return op.value.body(*args, **{**op.params, **params})
            except (TypeError, AttributeError, ValueError):
                raise self._refused(op) from None
        if op.memory.view:
            return self._moved(op, args[0], params)
        if op.value.by_elements is not None:
            return op.value.by_elements(self, *args, **{**op.params, **params})
        if op.elementwise and op.value.array is not None:
            return self._each(op, args, params)
        raise self._refused(op)

    def laid_as(self, number: Any, other: Any) -> Any:
        """Return a number that replaces another."""
        return number

    def owned(self, op: Op, found: Any, args: Sequence[Any]) -> Any:
        """Return the result of a composite op."""
        return found

    def _refused(self, op: Op) -> Exception:
        return self.refused(f"`{op.name}` of a tensor with dimensions")

    # --- moved elements ----------------------------------------------------------------------

    def _moved(self, op: Op, x: Any, params: Mapping[str, Any]) -> Any:
        """Return some of the elements, in another order or shape."""
        if not isinstance(x, Vector):
            raise self._refused(op)
        places = np.arange(len(x.numbers)).reshape(x.shape)
        params = {**op.params, **params}
        try:
            taken = op.value.array(places, **params)  # type: ignore[misc]  # it has one
        except (GradError, IndexError, TypeError, ValueError):
            raise self.refused(f"`{op.name}` of these arguments") from None
        if isinstance(taken, tuple):
            raise self._refused(op)
        chosen = taken.reshape(-1).tolist() if isinstance(taken, np.ndarray) else [int(taken)]
        if len(set(chosen)) < len(chosen):
            raise self.refused("an element is taken twice")
        others = [y for k, y in enumerate(x.numbers) if k not in chosen]
        link = ops.shared if _adds(op, places, taken, params) else ops.passed
        part = self._part([x.numbers[k] for k in chosen], others, link)
        dense = x.dense and (not taken.ndim or taken.flags.c_contiguous)
        return self.made(part, taken.shape, x.visible, dense)

    def _part(self, chosen: Sequence[Any], others: Sequence[Any], link: Op) -> list[Any]:
        """Return numbers taken from a tensor that has other elements, too. The op `link` of one
        number passes their cotangents on.
        """
        found = [link(x) if _is_symbol(x) else x for x in chosen]
        for other in others if found and _is_symbol(found[0]) else ():
            if _is_symbol(other):
                found[0] = ops.beside(found[0], other)
        return found

    # --- element by element ------------------------------------------------------------------

    def _each(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        try:
            shape = np.broadcast_shapes(*(x.shape for x in args if isinstance(x, Vector)))
        except ValueError:
            raise self.refused(f"`{op.name}` of tensors that do not fit") from None
        count = int(np.prod(shape))
        columns = [self._column(op, x, shape, count) for x in args]
        done, known = op, params
        if not op.value.is_exact(*args, **params):
            wide = tuple(isinstance(x, Vector) for x in args)
            done, given = ops.alone, tuple(params.items())
            known = {"of": op.name, "wide": wide, "known": given}
            if not stands_alone(op.name, wide, given):
                raise self._refused(op)
        found = [
            self._trace.do(done, [column[k] for column in columns], known)
            for k in reversed(range(count))  # a pass visits the first one first
        ][::-1]
        types = {number_type(x) for x in found}
        dtype = op.statics.dtype(*args, **params) if callable(op.statics.dtype) else None
        if {DTYPES[type_] for type_ in types} != {dtype}:
            raise self.refused(f"`{op.name}` of tensors differs from that of numbers")
        seen = [x.visible for x in args if isinstance(x, (Vector, Cell))]
        visible = None if None in seen else any(seen) and types == {"float"}
        dense = len(shape) == 1 or all(x.dense for x in args if isinstance(x, Vector))
        return self.made(found, shape, visible and self._trace.recording, dense)

    def _column(self, op: Op, x: Any, shape: Sequence[int], count: int) -> Sequence[Any]:
        """Return an argument's number for each element of the result."""
        if isinstance(x, Vector) and x.shape == tuple(shape):
            return x.numbers
        if isinstance(x, Vector) and len(x.numbers) > 1:
            raise self.refused(f"`{op.name}` of tensors of several shapes")
        number = x.numbers[0] if isinstance(x, Vector) else x.number if isinstance(x, Cell) else x
        if number is not None and not is_number(number):
            raise self._refused(op)
        if not _is_symbol(number):
            return [number] * count
        if len(shape) > 1:
            raise self.refused(f"`{op.name}` of a number and a matrix")
        return self._shared(number, count)

    def _shared(self, number: Any, count: int) -> Sequence[Any]:
        """Return a number for each element, so that their cotangents add up in the interpreter's
        order.
        """
        found: list[Any] = [None] * count

        def share(node: Any, tree: Tree) -> None:
            if isinstance(tree, int):
                found[tree] = node
                return
            for part in tree:
                share(node if isinstance(part, int) else ops.passed(node), part)

        share(ops.spread(number), sum_order(count))
        return found

    # --- the host of the ops' entries --------------------------------------------------------

    def total(self, x: Any) -> Any:
        """Return the sum of the elements."""
        if not isinstance(x, Vector) or len(x.shape) != 1 or x.type != "float":
            raise self.refused("a sum of what is no vector of floats")

        def gather(tree: Tree) -> Any:
            if isinstance(tree, int):
                return x.numbers[tree]
            return ops.passed(ops.add(gather(tree[0]), gather(tree[1])))

        order = sum_order(len(x.numbers))
        only = isinstance(order, int) and _is_symbol(x.numbers[0])
        number = ops.from_zero(ops.passed(x.numbers[0]) if only else gather(order))
        return self._trace.cell(number, visible=x.visible)

    def product(self, a: Any, b: Any) -> Any:
        """Return the inner product of two vectors, in NumPy's order of summation."""
        several = [x for x in (a, b) if isinstance(x, Vector) and len(x.shape) == 1]
        if len(several) < 2 or a.shape != b.shape or {a.type, b.type} != {"float"}:
            raise self.refused("a product that is none of two vectors of floats")
        if not (a.dense and b.dense):
            raise self.refused("a product of vectors that may not be contiguous")
        number = ops.inner_product(*a.numbers, *b.numbers)
        seen = (a.visible, b.visible)
        return self._trace.cell(number, visible=None if None in seen else any(seen))

    def stacked(self, parts: Sequence[Any], dim: Any) -> Any:
        """Return a vector of numbers and 0-d tensors."""
        found = [x.number if isinstance(x, Cell) else x for x in parts]
        if dim != 0 or not all(is_number(x) and number_type(x) == "float" for x in found):
            raise self.refused("tensors are put together that are no single floats")
        numbers = []
        for k in reversed(range(len(found))):  # a pass visits the first one first
            made: Any = self._trace.point(found[k])
            for other in (x for j, x in enumerate(found) if j != k and isinstance(x, Symbol)):
                made = ops.among(made, other)
            numbers.append(made)
        seen = [x.visible for x in parts if isinstance(x, Cell)]
        visible = None if None in seen else any(seen) and self._trace.recording
        return self.made(numbers[::-1], (len(found),), visible)

    def _too_large(self, count: int) -> Exception:
        return TooLarge(f"a tensor of {count} elements", self._trace.span)

    def refused(self, reason: str) -> Exception:
        """Return the error that this place cannot be compiled."""
        found: Exception = self._trace.refused(reason)
        return found


class PickingVectors(Vectors):
    """Scalarized tensors of which branches pick any item, where the program has no other code."""

    most_picked = MOST


def _adds(op: Op, x: Any, taken: Any, params: Mapping[str, Any]) -> bool:
    """True if the rule of an op that takes elements of x adds their cotangents to zeros, as it must
    where an element may be taken twice: then no zero is negative.
    """
    g = np.full(np.shape(taken), -0.0)
    (pulled,) = op.pull(g, taken, [x.astype(float)], params, [True])
    return not np.signbit(pulled).any()


def _is_symbol(x: Any) -> bool:
    """True for an unknown float."""
    return isinstance(x, Symbol) and number_type(x) == "float"
