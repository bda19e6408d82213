"""Infer the results of built-ins from facts about their arguments.

A long program combines few kinds of values, again and again. So each combination is inferred once
in a walk, and numbers of equal facts share one abstract value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.binding import bind, check_params, needs_no_binding, signature
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op
from gradcli.engine.ops.promotion import common
from gradcli.engine.run.language.operators import LONGEST_AS_TUPLE
from gradcli.engine.static.lists import linked
from gradcli.engine.static.value import NEW, UNSURE, Value, constant, inferred, tensor, unknown
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values import refusals
from gradcli.engine.values.data import NUMBERS, is_whole, np
from gradcli.engine.values.sizes import filled


def result(name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """The result of a built-in. Lists among its arguments are Python's.

    Raises:
        GradError: If it fails for all possible values.
    """
    if name not in ops or ops[name].constant is not REQUIRED:
        return unknown(linked([*args, *keywords.values()]))
    op = ops[name]
    complete = not keywords and len(args) == len(op.args) and needs_no_binding(op)
    if complete and all(type(a) is Value and a.known is not None for a in args):
        return inferred(op, args, op.params)
    if len(args) == 1 and not keywords and (added := _added(op, args[0])) is not None:
        return added
    given = list(args) if op.variadic else [_tensor(a) for a in args]
    bound, params = bind(op, given, keywords)
    return _result(op, bound, params)


def bound_result(name: str, named: Mapping[str, Any]) -> Any:
    """The result of a built-in for arguments that are bound to their names.

    Raises:
        GradError: If it fails for all possible values.
    """
    op = ops[name]
    params = {n: named.get(n, default) for n, default in op.params.items()}
    if REQUIRED in params.values():
        return unknown(linked(named.values()))
    if len(named) == 1 and (added := _added(op, named.get(op.args[0]))) is not None:
        return added
    return _result(op, [_tensor(named.get(a)) for a in op.args], params)


def _added(op: Op, items: Any) -> Any:
    """The result of an op that adds the items of a list or tuple; None for a tensor."""
    if op.host.on_items is None or not isinstance(items, (list, tuple)):
        return None
    kinds = {v.kind if isinstance(v, Value) else "list" for v in items}
    if isinstance(items, list) and "list" in kinds <= {"number", "list"}:
        return None
    if not kinds <= {"number", "tensor"}:
        return unknown(linked(items))
    total = constant(0)
    for item in items:
        total = result("add", [total, item], {})
    return total


def unbound(name: str, named: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Bound arguments by place, as far as they are there in order, and the others by name."""
    places = signature(ops[name]).positional
    by_place = [n for n, place in zip(named, places, strict=False) if n == place]
    return [named[n] for n in by_place], {n: named[n] for n in named if n not in by_place}


def _result(op: Op, bound: list[Any], params: Mapping[str, Any]) -> Any:
    link = linked(bound)
    bound = [None if isinstance(a, Value) and a.known is None else _tensor(a) for a in bound]
    clean = {k: _settled(static(v)) for k, v in params.items()}
    missing = None in (bound if op.variadic else bound[: len(op.args) - op.optional])
    if (
        missing
        or UNSURE in clean.values()
        or any(a is not None and type(a) is not Value for a in bound)
    ):
        return unknown(link)
    check_params(op, clean)
    return inferred(op, bound, clean)


def _settled(value: Any) -> Any:
    """A static parameter as a run has it: lists are tuples."""
    return tuple(map(_settled, value)) if isinstance(value, (list, tuple)) else value


def indexed(name: str, args: Sequence[Any], index: Any) -> Any:
    """The result of `getitem` or `set_at` for an index as the program writes it, with Python's
    lists.

    Raises:
        GradError: If it fails for all possible values.
    """
    tensors = [_tensor(a) for a in args]
    link = linked(tensors)
    at = _place(index)
    if at is UNSURE or not all(isinstance(t, Value) and t.shape is not None for t in tensors):
        return unknown(link)
    if any(
        hasattr(p, "dtype") and p.dtype.kind == "b" for p in (at if type(at) is tuple else (at,))
    ):
        inferred(ops.getitem, tensors[:1], {"index": at})
        return unknown(link)  # the mask's numbers tell how many elements there are
    return inferred(ops[name], tensors, {"index": at})


def _place(index: Any) -> Any:
    """The index between the brackets: a list that holds more than numbers is a tuple."""
    if isinstance(index, list) and len(index) < LONGEST_AS_TUPLE:
        if any(isinstance(i, Value) and i.kind is None and i.known is UNSURE for i in index):
            return UNSURE
        if any(map(_is_place, index)):
            index = tuple(index)
    return _index(index)


def _is_place(item: Any) -> bool:
    if not isinstance(item, Value):
        return isinstance(item, (list, tuple))
    known = item.known
    return item.kind == "tensor" or known is None or known is ... or isinstance(known, slice)


def _index(value: Any) -> Any:
    """An index that picks as many elements as one does, and is in range if any is; UNSURE if that
    is not known.
    """
    if isinstance(value, (list, tuple)):
        parts = [_index(v) for v in value]
        if any(p is UNSURE for p in parts):
            return UNSURE
        return parts if isinstance(value, list) else tuple(parts)
    if not isinstance(value, Value):
        return UNSURE
    if value.known is not UNSURE:
        return UNSURE if isinstance(value.known, (float, str)) else value.known
    if value.shape is None or not is_whole(value.dtype):
        return UNSURE
    if value.dtype == "bool":
        return filled(value.shape, False)
    return filled(value.shape, 0) if value.shape else 0


def static(value: Any) -> Any:
    """A static parameter as an op takes it; UNSURE if it is not known."""
    if isinstance(value, Value):
        return value.known
    if isinstance(value, (list, tuple)):
        parts = [static(v) for v in value]
        if any(p is UNSURE for p in parts):
            return UNSURE
        return parts if isinstance(value, list) else tuple(parts)
    if type(value) in NUMBERS or value is None or isinstance(value, (str, slice, type(Ellipsis))):
        return value
    return UNSURE


def stand_in(value: Any) -> Any:
    """A tensor of the shape of a value, to ask what its shape alone tells; None if that is not
    known, or may be a number's.
    """
    if not isinstance(value, Value) or not value.shape:
        return None
    return Tensor(filled(value.shape, zero(value.dtype)))


def zero(dtype: str | None) -> Any:
    """The zero of a dtype: a number, if it is that of one."""
    return np.zeros((), dtype) if dtype not in _ZEROS else _ZEROS[dtype]


_ZEROS: dict[str | None, Any] = {None: 0.0, "float64": 0.0, "int64": 0, "bool": False}


def stacked(value: Any) -> Any:
    """A list of numbers and tensors as the tensor that it becomes, None if that is not known.

    Raises:
        GradError: If they are not of one shape.
    """
    items = [stacked(v) if isinstance(v, list) else v for v in value]
    if not all(isinstance(v, Value) and v.shape is not None for v in items):
        return None
    if not items:
        return tensor((0,), "float64")
    shapes = {v.shape for v in items}
    if len(shapes) > 1:
        raise refusals.ragged(shapes)
    return tensor((len(items), *items[0].shape), common(*items), linked(items))


def _tensor(value: Any) -> Any:
    return (stacked(value) or unknown(linked(value))) if isinstance(value, list) else value


# --- results of equal facts -----------------------------------------------------------------------

Combination: TypeAlias = tuple[Any, ...]
"""An operation, the facts of its operands, and the parameters to which they are bound."""

_MOST = 2000  # results, and constants; then both begin anew
_KINDS = frozenset({"number", "tensor", None})
_COMPARISONS = frozenset({"eq", "ne"})  # are reported at each place if they compare floats


class Remembered:
    """The results of one walk by their combinations, and the values of constants."""

    def __init__(self) -> None:
        self._results: dict[Combination, Value] = {}
        self._constants: dict[tuple[type, Any], Value] = {}

    def result(self, made: Combination) -> Value | None:
        """The result of an earlier operation with equal facts, or None."""
        return self._results.get(made)

    def keep(self, made: Combination, found: Any) -> None:
        """Remember a result if it is a number or a tensor on new memory. Numbers never change; each
        use of a tensor makes a copy, on the memory of its instruction.
        """
        if type(found) is Value and (found.kind == "number" or found.memory == NEW):
            if len(self._results) >= _MOST:
                self._results.clear()
            self._results[made] = found

    def constant(self, known: Any) -> Value:
        """The value of a constant of the program."""
        if type(known) not in NUMBERS or _is_zero(known):
            return constant(known)
        key = type(known), known
        found = self._constants.get(key)
        if found is None:
            if len(self._constants) >= _MOST:
                self._constants.clear()
            found = self._constants[key] = constant(known)
        return found


def combination(
    operation: str, args: Sequence[Any], parameters: Iterable[str] = ()
) -> Combination | None:
    """An operation with the facts of its operands; None if one is neither number nor tensor."""
    made: list[Any] = [operation, *parameters]
    for a in args:
        if type(a) is not Value or a.kind not in _KINDS:
            return None
        known = a.known
        if known is UNSURE:
            made.append((a.kind, a.dtype, a.shape, a.link))
        elif _is_zero(known):
            return None
        else:
            made.append((a.kind, a.dtype, a.shape, a.link, type(known), known))
    return tuple(made)


def _is_zero(known: Any) -> bool:
    """True for 0.0 and -0.0, which are equal and give different results."""
    return type(known) is float and not known


def is_lasting(name: str) -> bool:
    """True if the result of a built-in depends on the facts of its operands alone: neither on its
    place nor on the session.
    """
    if name not in ops or name in _COMPARISONS:
        return False
    return ops[name].host.call is None and not ops[name].derivatives.flat
