"""The operators of the language: the op of each, and its meaning for text, tuples, identity and
items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import ge, gt, le, lt
from typing import Any

from gradcli.engine.ops.binding import static
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.fast import scalars
from gradcli.engine.run.fast.call import Function, augmented, by_place, do_op, in_order, of_tensors
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Number, Tensor, truth
from gradcli.engine.values import memory
from gradcli.engine.values.data import KEYS, NUMBERS
from gradcli.engine.values.fields import VIEWS, Fields, Named
from gradcli.engine.values.limits import check_items, check_memory, check_text
from gradcli.engine.values.objects import Object, Shown
from gradcli.engine.values.sizes import Size, whole
from gradcli.errors import RunError, run_error

LONGEST_AS_TUPLE = 32  # a longer list is always an index of its own
_SEQUENCES = (tuple, str, range, Fields)

OPS = {
    ("+", 2): "add",
    ("-", 2): "sub",
    ("*", 2): "mul",
    ("/", 2): "div",
    ("@", 2): "matmul",
    ("//", 2): "floor_divide",
    ("%", 2): "remainder",
    ("**", 2): "pow",
    ("&", 2): "bitwise_and",
    ("|", 2): "bitwise_or",
    ("^", 2): "bitwise_xor",
    ("<<", 2): "bitwise_left_shift",
    (">>", 2): "bitwise_right_shift",
    ("+", 1): "positive",
    ("-", 1): "neg",
    ("~", 1): "bitwise_not",
    ("<", 2): "lt",
    ("<=", 2): "le",
    (">", 2): "gt",
    (">=", 2): "ge",
    ("==", 2): "eq",
    ("!=", 2): "ne",
    ("[]", 2): "getitem",
    ("+[]", 2): "add",
    ("*[]", 2): "mul",
    ("+=", 2): "add",
    ("-=", 2): "sub",
    ("*=", 2): "mul",
    ("/=", 2): "div",
    ("@=", 2): "matmul",
    ("//=", 2): "floor_divide",
    ("%=", 2): "remainder",
    ("**=", 2): "pow",
    ("&=", 2): "bitwise_and",
    ("|=", 2): "bitwise_or",
    ("^=", 2): "bitwise_xor",
    ("<<=", 2): "bitwise_left_shift",
    (">>=", 2): "bitwise_right_shift",
}
"""The op that an operator does on numbers and tensors, by its sign and its number of operands."""


def function(sign: str, count: int, site: Site | None) -> Function:
    """The function that an operator with `count` operands calls at a site."""
    made = _LANGUAGE.get(sign) if count == 2 or sign == "not" else None
    if made is not None:
        return made(site)
    return by_place(ops[OPS[sign, count]], site)


def update(sign: str, site: Site | None) -> Function:
    """The function that an operator such as `x += e` calls at a site."""
    if sign.endswith("="):
        return _of_objects(sign[:-1], site)
    if sign == "@":
        return function(sign, 2, site)
    made = _UPDATES.get(sign)
    plain = function(sign, 2, site) if made is None else made(site)
    return augmented(ops[OPS[sign, 2]], plain, site)


def _of_objects(sign: str, site: Site | None) -> Function:
    """The function of `x += e` in a program whose classes may define it themselves."""
    plain, op = update(sign, site), ops[OPS[sign, 2]]

    return lambda session, x, y: (
        objects().updated(op, x, y) if isinstance(x, Object) else plain(session, x, y)
    )


def _lists() -> Any:
    """The module of operators on lists, loaded when a program has some."""
    from gradcli.engine.run.language import lists

    return lists


def _items() -> Any:
    """The fast path of items, loaded when a program has some."""
    from gradcli.engine.run.fast import items

    return items


def objects() -> Any:
    """The module of operators on objects of classes, loaded when a program has some."""
    from gradcli.engine.run.session import classes

    return classes


@cache
def _plus(on_lists: str) -> scalars.Maker:
    """`+`, which joins text and tuples, does what that function does on lists, and adds anything
    else.
    """
    plain = in_order(ops.add)

    def add(session: Evaluator, site: Site | None, x: Any, y: Any) -> Any:
        kind, other = type(x), type(y)
        if kind is list or other is list:
            found = getattr(_lists(), on_lists)(session, x, y, site)
            if found is not None:
                return found
        if kind in _TEXTS or other in _TEXTS:
            if kind is other is str:
                return joined(x, y)
            arrays = _as_arrays(x, y)
            return plain(session, site, *arrays) if arrays else joined(x, y)
        return plain(session, site, x, y)

    return scalars.binary(ops.add, add, of_tensors)


@cache
def _times(on_lists: str) -> scalars.Maker:
    """`*`, which does what that function does on lists, and multiplies anything else."""
    plain = in_order(ops.mul)

    def multiply(session: Evaluator, site: Site | None, x: Any, y: Any) -> Any:
        if type(x) is list or type(y) is list:
            found = getattr(_lists(), on_lists)(session, x, y, site)
            if found is not None:
                return found
        if type(x) in _TEXTS or type(y) in _TEXTS:
            arrays = _as_arrays(x, y)
            return plain(session, site, *arrays) if arrays else repeated(x, y)
        return plain(session, site, x, y)

    return scalars.binary(ops.mul, multiply, of_tensors)


def _of_lists(maker: Callable[[str], scalars.Maker], on_lists: str, site: Site | None) -> Function:
    return maker(on_lists)(site)


@cache
def _beside(sign: str) -> scalars.Maker:
    """An operator on numbers, tensors and Python's own values."""
    op = ops[OPS[sign, 2]]
    plain = in_order(op)

    of_text = _OF_TEXT.get(sign)

    def operate(session: Evaluator, site: Site | None, x: Any, y: Any) -> Any:
        if of_text is not None and type(x) is type(y) is str:
            return of_text(x, y)
        if type(x) in _PYTHONS or type(y) in _PYTHONS:
            arrays = _as_arrays(x, y)
            return plain(session, site, *arrays) if arrays else _among_pythons(session, sign, x, y)
        return plain(session, site, x, y)

    return scalars.binary(op, operate, of_tensors)


def _of_python(sign: str, site: Site | None) -> Function:
    return _beside(sign)(site)


def _set_updated(sign: str, site: Site | None) -> Function:
    """`x -= y` and similar operators: a set or dictionary changes in place."""
    plain = _of_python(sign, site)

    def update(session: Evaluator, x: Any, y: Any) -> Any:
        if type(x) is set or type(x) is dict:
            from gradcli.engine.run.language.containers import updated

            return updated(session, sign, x, y)
        return plain(session, x, y)

    return update


def _among_pythons(session: Evaluator, sign: str, x: Any, y: Any) -> Any:
    """An operator on strings, tuples, dictionaries and sets."""
    if sign == "%" and type(x) is str:
        from gradcli.engine.run.language.percent import formatted

        return formatted(x, y)
    if sign in _ORDERS and type(x) in (str, tuple) and type(y) is type(x):
        first, second = (x, y) if sign in ("<", "<=") else (y, x)
        return less(session, first, second, or_equal=len(sign) == 2)
    from gradcli.engine.run.language.containers import operated

    return operated(sign, x, y)


def less(session: Evaluator, x: Any, y: Any, *, or_equal: bool = False) -> bool:
    """True if `x < y`, or `x <= y`, in the order of Python: of tuples and lists item by item."""
    if (type(x) in NUMBERS and type(y) in NUMBERS) or (type(x) is str and type(y) is str):
        return bool(x <= y if or_equal else x < y)
    if type(x) is type(y) and type(x) in (tuple, list):
        for a, b in zip(x, y, strict=False):
            if not same(session, a, b):
                return less(session, a, b, or_equal=or_equal)
        return len(x) <= len(y) if or_equal else len(x) < len(y)
    op = ops.le if or_equal else ops.lt
    if isinstance(x, Object) or isinstance(y, Object):
        return truth(objects().operated(op, (x, y), {}))
    if _PYTHONS.isdisjoint((type(x), type(y))):
        return truth(session.do(op, session.operands(op, [x, y]), {}))
    raise run_error("wrong-type", f"{kind_of(x)} and {kind_of(y)} have no order")


_OF_TEXT: dict[str, Function] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_ORDERS = frozenset(_OF_TEXT)
_PYTHONS = frozenset({str, tuple, dict, set, *VIEWS})
_KEYS = frozenset({set, type({}.keys())})
_HASHED = frozenset({dict, set})


def _over(site: Site | None) -> Function:
    """`/`."""
    return _division()(site)


@cache
def _division() -> scalars.Maker:
    """A number over a tensor is, as in PyTorch, the tensor's reciprocal times the number."""

    def reflected(session: Evaluator, site: Site | None, x: Any, y: Any) -> Any:
        return session.do(ops.mul, [session.do(ops.reciprocal, [y], {}, site), x], {}, site)

    return scalars.binary(ops.div, in_order(ops.div), of_tensors, reflected)


_TEXTS = frozenset({str, tuple, Size, Fields, Named})

_LANGUAGE: dict[str, Callable[[Site | None], Function]] = {
    "+": partial(_of_lists, _plus, "joined"),
    "+[]": partial(_of_lists, _plus, "joined_as_written"),
    "*": partial(_of_lists, _times, "repeated"),
    "*[]": partial(_of_lists, _times, "repeated_as_written"),
    "/": _over,
    "%": partial(_of_python, "%"),
    **{sign: partial(_of_python, sign) for sign in ("-", "|", "&", "^", "<", "<=", ">", ">=")},
    "not": lambda site: negation,
    "is": lambda site: lambda session, x, y: identity(x, y),
    "is not": lambda site: lambda session, x, y: not identity(x, y),
    "in": lambda site: membership,
    "not in": lambda site: lambda session, x, y: not membership(session, x, y),
    "==": lambda site: lambda session, x, y: equality(session, x, y, site),
    "!=": lambda site: lambda session, x, y: inequality(session, x, y, site),
    "[]": lambda site: _items().getter(item, site),
}
"""Operators that know more than numbers and tensors."""

_UPDATES: dict[str, Callable[[Site | None], Function]] = {
    **{sign: partial(_set_updated, sign) for sign in ("-", "|", "&", "^")},
    "+": partial(_of_lists, _plus, "extended"),
    "*": partial(_of_lists, _times, "repeated_in_place"),
}
"""Those that change a list in place, as in `x += y`."""


def negation(session: Evaluator, value: Any) -> bool:
    """`not value`."""
    return not truth(value)


def identity(left: Any, right: Any) -> bool:
    """`left is right`: numbers and text are compared by type and value."""
    left, right = _seen(left), _seen(right)
    if type(left) in NUMBERS or type(left) is str:
        return type(left) is type(right) and bool(left == right)
    return left is right or _one_dtype(left, right)


def membership(session: Evaluator, value: Any, container: Any) -> bool:
    """`value in container`."""
    if type(container) in _HASHED and type(value) in KEYS:
        return value in container
    if isinstance(container, Object) and objects().has(container, "__contains__"):
        return truth(objects().called(container, "__contains__", (value,), {}))
    if type(container) is range and type(value) in NUMBERS:
        return value % 1 == 0 and int(value) in container  # an int needs no look at each item
    if type(container) is str:
        if type(value) is not str:
            raise run_error("wrong-type", f"{kind_of(value)} cannot be in a string")
        return value in container
    if type(container) is Tensor:
        if not _is_tensor_like(value):
            raise run_error("wrong-type", f"{kind_of(value)} cannot be in a tensor")
        equal = session.do(ops.eq, session.operands(ops.eq, [container, value]), {})
        return truth(session.do(ops.any, [equal], {}))
    if type(container) is set and type(value) is set:
        return False  # a set is mutable, so no item of another
    if type(container) in (dict, set):
        from gradcli.engine.run.language.containers import hashed

        return hashed(value) in container
    return any(same(session, value, item) for item in session.iterate(container))


def same(session: Evaluator, left: Any, right: Any) -> bool:
    """True if two items are one or equal, as Python compares what containers hold."""
    if left is right and type(left) not in NUMBERS:
        return True
    return truth(equality(session, left, right))


def _as_arrays(x: Any, y: Any) -> tuple[Any, Any] | None:
    """The operands of an operator if one is a tuple and the other an array, which NumPy and JAX
    take it for; else None.
    """
    if Tensor not in (type(x), type(y)) or not (isinstance(x, tuple) or isinstance(y, tuple)):
        return None
    from gradcli.engine.run.session.text import library

    if library() == "torch":
        return None
    return (list(x), y) if isinstance(x, tuple) else (x, list(y))


def equality(session: Evaluator, left: Any, right: Any, site: Site | None = None) -> Any:
    """`left == right`: element by element where a tensor takes part, else one bool."""
    if (type(left) in NUMBERS and type(right) in NUMBERS) or type(left) is type(right) is str:
        return left == right
    left, right = _as_arrays(left, right) or (left, right)
    if _is_tensor_like(left) and _is_tensor_like(right):
        kinds = (type(left), type(right))
        if list not in kinds or Tensor in kinds:
            args = [session.tensor(left, site), session.tensor(right, site)]
            return session.do(ops.eq, args, {}, site)
        return kinds == (list, list) and _same_items(session, left, right)
    if type(left) is dict and type(right) is dict:
        return left.keys() == right.keys() and all(
            same(session, item, right[key]) for key, item in left.items()
        )
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _same_items(session, left, right)
    if isinstance(left, Object) or isinstance(right, Object):
        return objects().operated(ops.eq, (left, right), {})
    alike = type(left) is type(right) or _KEYS.issuperset((type(left), type(right)))
    if left is right or (alike and left == right):
        return True
    return _one_dtype(left, right)


def _same_items(session: Evaluator, left: Sequence[Any], right: Sequence[Any]) -> bool:
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and all(same(session, a, b) for a, b in pairs)


def _one_dtype(left: Any, right: Any) -> bool:
    """True if two different values are two names of one dtype, or of one kind: `type(x) == int`."""
    if not (callable(left) or callable(right)):
        return False
    for kind, other in ((left, right), (right, left)):
        if hasattr(kind, "is_made_by"):
            return bool(kind.is_made_by(other))
    from gradcli.engine.values.dtypes import is_same

    return is_same(left, right)


def inequality(session: Evaluator, left: Any, right: Any, site: Site | None = None) -> Any:
    """`left != right`."""
    if (type(left) in NUMBERS and type(right) in NUMBERS) or type(left) is type(right) is str:
        return left != right
    left, right = _as_arrays(left, right) or (left, right)
    if Tensor in (type(left), type(right)) and _is_tensor_like(left) and _is_tensor_like(right):
        args = [session.tensor(left, site), session.tensor(right, site)]
        return session.do(ops.ne, args, {}, site)
    if isinstance(left, Object) or isinstance(right, Object):
        return objects().operated(ops.ne, (left, right), {})
    return not truth(equality(session, left, right, site))


def joined(left: Any, right: Any) -> Any:
    """`left + right` of text or tuples."""
    if type(left) is str and type(right) is str:
        check_text(len(left) + len(right))
        return left + right
    if isinstance(left, tuple) and isinstance(right, tuple):
        check_items(len(left) + len(right))
        return _as_size((*left, *right), left, right)
    if isinstance(left, Object) or isinstance(right, Object):
        return objects().operated(ops.add, (left, right), {})
    text = left if type(left) is str else right
    other = right if type(left) is str else left
    if type(text) is str:
        raise run_error(
            "wrong-type",
            f"`+` joins strings or adds numbers, got a string and {kind_of(other)}",
            help="`str(x)` or an f-string makes text of a value",
        )
    raise run_error("wrong-type", f"`+` cannot add {kind_of(left)} and {kind_of(right)}")


def repeated(left: Any, right: Any) -> Any:
    """`left * right` of text or a tuple and an int."""
    if isinstance(left, Object) or isinstance(right, Object):
        return objects().operated(ops.mul, (left, right), {})
    several, count = (left, right) if type(left) in _TEXTS else (right, left)
    count = static(_seen(count))
    if type(count) is not int and type(count) is not bool:
        raise run_error("wrong-type", f"`*` cannot multiply {kind_of(left)} and {kind_of(right)}")
    length = len(several) * max(count, 0)
    if type(several) is str:
        check_text(length)
        return several * count
    check_items(length)
    return _as_size(tuple(several) * count, several)


def _as_size(made: tuple[Any, ...], *of: Any) -> tuple[Any, ...]:
    """A tuple made of others: a size if one of them is a size and all items are ints."""
    return Size(made) if any(type(v) is Size for v in of) and _are_ints(made) else made


def _are_ints(items: tuple[Any, ...]) -> bool:
    return all(type(item) is int for item in items)


def delete_item(receiver: Any, index: Any) -> None:
    """`del receiver[index]`."""
    if type(receiver) is dict:
        from gradcli.engine.run.language import containers

        containers.delete(receiver, index)
        return
    if isinstance(receiver, Object):
        objects().called(receiver, "__delitem__", (index,), {})
        return
    if type(receiver) is not list:
        raise run_error("wrong-type", f"items of {kind_of(receiver)} cannot be deleted")
    where = _position(index)
    if not isinstance(where, (int, slice)):
        raise run_error("wrong-type", "a list takes an int or a slice as its index")
    try:
        del receiver[where]
    except IndexError as error:
        raise _out_of_range(where, receiver, error) from None


def _out_of_range(index: int | slice, value: Any, error: IndexError) -> RunError:
    message = f"index {index} is out of range for {kind_of(value)} of length {len(value)}"
    return run_error("index-out-of-range", message, raises=error)


def item(session: Evaluator, value: Any, index: Any, site: Site | None) -> Any:
    """`value[index]`."""
    if type(value) is Tensor:
        return do_op(ops.getitem, session, [value], {"index": _place(index)}, site)
    if type(value) is list or isinstance(value, _SEQUENCES):
        where = _position(index)
        if type(where) is list or type(where) is tuple:
            if type(value) is list:
                tensor = session.tensor(value, site)
                return session.do(ops.getitem, [tensor], {"index": where}, site)
            if hasattr(value, "at"):
                return _drawn(session, value, index)
            raise run_error("wrong-type", f"{kind_of(value)} takes one int or slice as its index")
        if not isinstance(where, (int, slice)):
            raise run_error("wrong-type", f"{kind_of(value)} takes an int or a slice as its index")
        try:
            found = value[where]
        except IndexError as error:
            raise _out_of_range(where, value, error) from None
        return Size(found) if type(value) is Size and isinstance(found, tuple) else found
    if type(value) is dict:
        from gradcli.engine.run.language import containers

        return containers.get(value, index)
    if isinstance(value, Object):
        return objects().operated(ops.getitem, (value, index), {})
    if isinstance(value, Number) or type(value) in NUMBERS:
        raise run_error("wrong-type", "a number has no items", help="`tensor([...])` has")
    if hasattr(value, "at"):
        return _drawn(session, value, index)
    raise run_error("wrong-type", f"{kind_of(value)} has no items")


def _drawn(session: Evaluator, value: Any, index: Any) -> Any:
    """`axes[0, 1]` of plots."""
    try:
        return value.at(session, index)
    except (IndexError, TypeError) as error:
        raise run_error("index-out-of-range", f"{kind_of(value)}: {error}") from None


def set_item(session: Evaluator, receiver: Any, index: Any, value: Any, site: Site | None) -> None:
    """`receiver[index] = value`, in place."""
    if type(receiver) is dict:
        from gradcli.engine.run.language import containers

        containers.put(receiver, index, value)
        return
    if isinstance(receiver, Object):
        objects().called(receiver, "__setitem__", (index, value), {})
        return
    if type(receiver) is list:
        where = _position(index)
        if type(where) is slice:
            _set_part(session, receiver, where, value)
            return
        if not isinstance(where, int):
            raise run_error("wrong-type", "an item of a list is set by one int")
        try:
            receiver[where] = value
        except IndexError as error:
            raise _out_of_range(where, receiver, error) from None
        return
    if type(receiver) is not Tensor:
        if isinstance(receiver, Shown):  # such as a setting of plots
            return
        raise run_error("wrong-type", f"items of {kind_of(receiver)} cannot be set")
    where = _place(index)
    from gradcli.engine.ops.inplace import apply_inplace

    value = session.operands(ops.set_at, [receiver, value], site)[1]
    if memory.overlaps(receiver.data):  # the indexed part may have memory of its own
        part = session.do(ops.getitem, [receiver], {"index": where}, site)
        if memory.shares(part.data, receiver.data):
            apply_inplace(ops.fill, part, [value], {}, site, recording=session.recording)
            return
    apply_inplace(
        ops.set_at, receiver, [value], {"index": where}, site, recording=session.recording
    )


def _set_part(session: Evaluator, receiver: list[Any], where: slice, value: Any) -> None:
    """A slice of a list replaced by the items of a value."""
    items = session.items(value)
    check_items(len(receiver) + len(items))
    try:
        receiver[where] = items
    except ValueError as error:
        count = len(receiver[where])
        message = f"{len(items)} items cannot take the place of the {count} that the slice shows"
        raise run_error("wrong-count", message, raises=error) from None


def _place(index: Any) -> Any:
    """The index between the brackets, as plain data."""
    return _index(as_tuple(index))


def as_tuple(index: Any) -> Any:
    """The index between the brackets. A list that holds more than numbers is a tuple, as in
    PyTorch: `x[[[0], [1]]]` is `x[[0], [1]]`.
    """
    if type(index) is list and len(index) < LONGEST_AS_TUPLE and any(map(_is_place, index)):
        return tuple(index)
    return index


def _position(index: Any) -> Any:
    """The index of a value that is no tensor, as plain data: a tensor of one int counts as that
    int.
    """
    if type(index) is slice:
        return _part(index)
    if type(index) is float or type(index) is str:
        raise _no_index(index, TypeError)
    if isinstance(index, Tensor) and type(index.data) not in NUMBERS and index.data.size == 1:
        kind = index.data.dtype.kind
        return index.data.item() if kind in "iu" else _place(index)
    return _place(index)


def _part(index: slice) -> slice:
    """A slice with its numbers as ints."""
    start, stop, step = (
        None if number is None else whole(number, name)
        for number, name in ((index.start, "start"), (index.stop, "stop"), (index.step, "step"))
    )
    if step == 0:
        said = ValueError("slice step cannot be zero")
        raise run_error("bad-index", "the step of a slice cannot be 0", raises=said)
    return slice(start, stop, step)


def _is_place(item: Any) -> bool:
    return (item is None or item is Ellipsis or isinstance(item, (list, tuple, slice))) or type(
        item
    ) is Tensor


def _index(index: Any) -> Any:
    """An index as plain data: tensors and lists of ints or bools as arrays."""
    if isinstance(index, Tensor) and index.dtype.startswith("float"):
        message = "an index is an int or a bool, got floats"
        raise run_error("wrong-type", message, raises=IndexError)
    if isinstance(index, Tensor):  # its own copy: later changes must not reach the gradient
        check_memory(index.shape)
        return index.data if type(index.data) in NUMBERS else index.data.copy()
    if type(index) is tuple:
        return tuple(map(_index, index))
    if type(index) is list:
        return [_index(i) for i in index]
    if type(index) is slice:
        return slice(static(index.start), static(index.stop), static(index.step))
    if type(index) is float or type(index) is str:
        raise _no_index(index, IndexError)
    return index


def _no_index(index: float | str, raises: type[Exception]) -> RunError:
    kind = "a string" if type(index) is str else f"the float {index}"
    return run_error("wrong-type", f"an index is an int, got {kind}", raises=raises)


def _seen(value: Any) -> Any:
    return value.data if isinstance(value, Number) else value


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, Tensor) or type(value) in NUMBERS or type(value) is list
