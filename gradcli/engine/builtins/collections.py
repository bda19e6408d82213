"""Python's lists, tuples, sets and dictionaries, and functions on iterables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import extreme as extremes
from gradcli.engine.ops.families import reduce
from gradcli.engine.ops.op import Op, python_host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.run.code.functions import called
from gradcli.engine.run.language.ordering import extreme, ordered
from gradcli.engine.tape.tensor import Tensor, truth
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.objects import Object
from gradcli.engine.values.sizes import describe
from gradcli.errors import run_error

FAMILY = 332, "Python's collections"

# making them ------------------------------------------------------------------------------------


def _set(session: Any, iterable: Any) -> set[Any]:
    from gradcli.engine.run.language.containers import of_items

    return set() if iterable is None else of_items(session, iterable)


def _dict(session: Any, *values: Any, named: Any) -> dict[Any, Any]:
    from gradcli.engine.run.language.containers import pairs

    if len(values) > 1:
        raise run_error("wrong-arity", f"`dict` takes one value, got {len(values)}")
    return {**(pairs(session, values[0]) if values else {}), **named}


list_: Op = python_host(
    "list",
    lambda session, iterable: [] if iterable is None else session.items(iterable),
    args=("iterable=None",),
    traced=lambda code, iterable: [] if iterable is None else [*code.items(iterable)],
    keeps=True,
    gathers=True,
    doc="A new list of the items that a `for` over the value visits.",
)

tuple_: Op = python_host(
    "tuple",
    lambda session, iterable: () if iterable is None else tuple(session.items(iterable)),
    args=("iterable=None",),
    traced=lambda code, iterable: () if iterable is None else tuple(code.items(iterable)),
    keeps=True,
    gathers=True,
    doc="A tuple of the items that a `for` over the value visits.",
)

set_: Op = python_host(
    "set",
    _set,
    args=("iterable=None",),
    keeps=True,
    gathers=True,
    pure=False,
    doc="A new set of the items that a `for` over the value visits, each once.",
)

dict_: Op = python_host(
    "dict",
    _dict,
    args=("*values=None",),
    any_name=True,
    keeps=True,
    gathers=True,
    pure=False,
    doc="A new dictionary of another one, or of pairs, and of the arguments by name.",
)


# going through ----------------------------------------------------------------------------------


def _reversed(session: Any, sequence: Any) -> Iterator[Any]:
    if isinstance(sequence, Iterator) or type(sequence) is set:
        raise run_error("wrong-type", f"{describe(sequence)} has no order to turn round")
    return iter((sequence if type(sequence) is range else session.items(sequence))[::-1])


reversed_: Op = python_host(
    "reversed",
    _reversed,
    args=("sequence",),
    traced=lambda code, sequence: code.each([*code.items(sequence)][::-1], [sequence]),
    keeps=True,
    pure=False,
    doc="The items from the last one to the first.",
)


def _sorted(session: Any, iterable: Any, key: Any, reverse: Any) -> list[Any]:
    reverse = reverse is not None and truth(reverse)
    return ordered(session, session.items(iterable), key, reverse)


_MOST_SORTED = 16  # items of a list that code sorts; it compares all pairs


def _traced_sorted(code: Tracing, iterable: Any, key: Any, reverse: Any) -> list[Any]:
    """The items sorted, each by exchanges with those before it."""
    items = [*code.items(iterable)]
    if len(items) > _MOST_SORTED or type(reverse) not in (bool, NoneType):
        raise code.refused("many items are sorted, or in an order known only at run time")
    found: list[tuple[Any, Any]] = []
    for item in items:
        new = item, item if key is None else code.call(key, [item], {})
        code.hold_ordered(new[1])
        found.append(new)
        for k in range(len(found) - 1, 0, -1):
            (a, by_a), (b, by_b) = found[k - 1 : k + 1]
            test = code.less(by_a, by_b) if reverse else code.less(by_b, by_a)
            found[k - 1] = code.chosen(test, b, a), code.chosen(test, by_b, by_a)
            found[k] = code.chosen(test, a, b), code.chosen(test, by_a, by_b)
    return [item for item, _ in found]


sorted_: Op = python_host(
    "sorted",
    _sorted,
    traced=_traced_sorted,
    args=("iterable", "key=None", "reverse=None"),
    keeps=True,
    gathers=True,
    doc="A new list of the items in order, of what `key` gives for each if there is one.",
)


def _map(session: Any, function: Any, *iterables: Any) -> Iterator[Any]:
    through = [session.iterate(value) for value in iterables]
    return (called(function, items, "map") for items in zip(*through, strict=False))


map_: Op = python_host(
    "map",
    _map,
    args=("*values",),
    traced=lambda code, function, *iterables: code.mapped(function, iterables),
    keeps=True,
    pure=False,
    doc="The results of a function for each item, or for the first items of several values and so "
    "on: `map(function, *iterables)`. It is called when an item is needed.",
)


def _filter(session: Any, function: Any, iterable: Any) -> Iterator[Any]:
    items = session.iterate(iterable)
    if function is None:
        return (item for item in items if truth(item))
    return (item for item in items if truth(called(function, [item], "filter")))


filter_: Op = python_host(
    "filter",
    _filter,
    args=("function", "iterable"),
    keeps=True,
    pure=False,
    doc="The items for which a function gives what is true; without one, `None`, the true items.",
)

iter_: Op = python_host(
    "iter",
    lambda session, iterable: iter(session.iterate(iterable)),
    args=("iterable",),
    keeps=True,
    pure=False,
    doc="An iterator, which gives the items one by one to `next`.",
)


def _next(session: Any, *values: Any) -> Any:
    if not 1 <= len(values) <= 2:
        raise run_error("wrong-arity", f"`next` takes 1 or 2 arguments, got {len(values)}")
    if isinstance(values[0], Object):
        from gradcli.engine.run.session.iteration import following

        return _next(session, following(values[0]), *values[1:])
    if not isinstance(values[0], Iterator):
        message = f"`next` needs an iterator, got {describe(values[0])}"
        raise run_error("wrong-type", message, help="`iter(x)` makes one")
    for item in values[0]:
        return item
    if len(values) == 1:
        raise run_error("no-item", "there are no more items", raises=StopIteration())
    return values[1]


next_: Op = python_host(
    "next",
    _next,
    args=("*values",),
    keeps=True,
    pure=False,
    doc="The next item of an iterator, or else the second argument if there is one.",
)


# one of them, or what is true of them ------------------------------------------------------------


def _is_gone_through(value: Any) -> bool:
    """True if a value is iterated as in Python; a list of lists is a tensor."""
    if type(value) is list:
        return not (value and all(type(item) is list for item in value))
    return value is not None and not isinstance(value, Tensor) and type(value) not in NUMBERS


def _ends(items: range) -> list[int]:
    """The first and the last item of a range, which have its least and its largest."""
    return [items[0], items[-1]] if items else []


def _traced_extreme(code: Tracing, items: Sequence[Any], key: Any, *, largest: bool) -> Any:
    """The first of the items that none is less than, or that is less than none; as `extreme`."""
    best, *others = items
    by = best if key is None else code.call(key, [best], {})
    for item in others:
        value = item if key is None else code.call(key, [item], {})
        is_better = code.less(*((by, value) if largest else (value, by)))
        best, by = code.chosen(is_better, item, best), code.chosen(is_better, value, by)
    return best


def _python_s(op: Any, largest: bool) -> Op:
    """Python's own `max` or `min`, which of a tensor or several is PyTorch's."""
    name = op.name

    def choose(session: Any, *values: Any, dim: Any, keepdim: Any, key: Any, default: Any) -> Any:
        if len(values) > 1 and key is None and NUMBERS.issuperset(map(type, values)):
            of_two: Any = ops[f"{name}imum"].value.number  # the step of a scalar loop
            best, *others = values
            for other in others:
                best = of_two(best, other)
            return best
        if len(values) == 1 and dim is None and (key is not None or _is_gone_through(values[0])):
            of_ends = type(values[0]) is range and key is None
            among = _ends(values[0]) if of_ends else session.items(values[0])
            if not among and default is None:
                help = "`default=` says what it is"
                said = ValueError(f"{name}() arg is an empty sequence")
                raise run_error("bad-argument", f"`{name}` of nothing", help=help, raises=said)
            return extreme(session, among, key, largest=largest) if among else default
        if key is not None and values:
            return extreme(session, values, key, largest=largest)
        return op.host.call(session, *values, dim=dim, keepdim=keepdim)

    def infer(known: Statics, *values: Any, dim: Any, keepdim: Any, key: Any, default: Any) -> Any:
        shaped = len(values) > 1 or getattr(values[0] if values else None, "shape", None)
        if key is not None or default is not None or not shaped:
            return known.unknown(*values)
        return op.statics.infer(known, *values, dim=dim, keepdim=keepdim)

    def traced(code: Tracing, *values: Any, dim: Any, keepdim: Any, key: Any, default: Any) -> Any:
        is_alone = len(values) == 1 and dim is None
        items = code.gathered(values[0]) if is_alone else None
        if items is not None:
            return _traced_extreme(code, items, key, largest=largest) if items else default
        if is_alone and isinstance(values[0], (list, tuple)) and _is_gone_through(values[0]):
            among = code.items(values[0])
            return _traced_extreme(code, among, key, largest=largest) if among else default
        if key is not None and len(values) > 1:
            return _traced_extreme(code, values, key, largest=largest)
        if key is not None or default is not None or isinstance(values[0], (list, tuple)):
            raise code.refused(f"`{name}` of what is gone through")
        assert op.host.traced is not None
        return op.host.traced(code, *values, dim=dim, keepdim=keepdim)

    return python_host(
        f"builtins_{name}",
        choose,
        infer=infer,
        traced=traced,
        by=op.host.by,
        args=("*values",),
        params={"dim": None, "keepdim": False, "key": None, "default": None},
        keeps=True,
        gathers=True,
        by_ends=True,
        doc=f"`{name}` without `torch.`: for a list, tuple or the like it is Python's. It compares "
        "the items, or the results of `key` for them, and gives `default` if there are none.",
    )


max_: Op = _python_s(extremes.max_, largest=True)
min_: Op = _python_s(extremes.min_, largest=False)


def _of_truths(op: Any, stop: bool) -> Op:
    """Python's own `any` or `all`, which of a tensor is PyTorch's; `stop` is what ends it."""
    name = op.name

    def ask(session: Any, iterable: Any) -> Any:
        if not _is_gone_through(iterable):
            args = session.operands(op, [iterable])
            return session.do(op, args, op.params)
        if type(iterable) is range:  # one item at most is zero
            return any(iterable[:2]) if stop else 0 not in iterable
        for item in session.iterate(iterable):
            if truth(item) is stop:
                return stop
        return not stop

    def infer(known: Statics, iterable: Any) -> Any:
        is_tensor = getattr(iterable, "kind", None) == "tensor"
        return op(iterable) if is_tensor else known.unknown(iterable)

    def traced(code: Tracing, iterable: Any) -> Any:
        items = code.gathered(iterable)
        if items is not None or (
            isinstance(iterable, (list, tuple)) and _is_gone_through(iterable)
        ):
            found: Any = not stop
            for item in reversed(code.items(iterable) if items is None else items):
                found = code.chosen(
                    code.converted(item, "bool"), *((True, found) if stop else (found, False))
                )
            return found
        if isinstance(iterable, (list, tuple)):
            raise code.refused(f"`{name}` of a value known only at run time")
        return code.do(op, [iterable], op.params)

    return python_host(
        f"builtins_{name}",
        ask,
        args=("iterable",),
        by=(name,),
        infer=infer,
        traced=traced,
        doc=f"`{name}` without `torch.`: for a list, tuple or the like it is Python's, and stops "
        "at the first item that decides.",
    )


any_: Op = _of_truths(reduce.any_, stop=True)
all_: Op = _of_truths(reduce.all_, stop=False)


# numbers and text -------------------------------------------------------------------------------


def _divided(session: Any, a: Any, b: Any) -> tuple[Any, Any]:
    args = session.operands(ops.floor_divide, [a, b])
    return session.do(ops.floor_divide, args, ops.floor_divide.params), session.do(
        ops.remainder, args, ops.remainder.params
    )


divmod_: Op = python_host(
    "divmod",
    _divided,
    args=("a", "b"),
    by=("floor_divide", "remainder"),
    traced=_divided,
    doc="`a // b` and `a % b`.",
)


def _repr(session: Any, value: Any) -> str:
    from gradcli.engine.run.session.text import repr_text

    return repr_text(value)


def _format(session: Any, value: Any, format_spec: Any) -> str:
    from gradcli.engine.run.session.text import format_value

    spec = "" if format_spec is None else format_spec
    if not isinstance(spec, str):
        raise run_error("wrong-type", "the format of `format` is a string", raises=TypeError)
    return format_value(value, spec=spec)


format_: Op = python_host(
    "format",
    _format,
    args=("value", "format_spec=None"),
    infer=lambda known, value, format_spec: known.text(),
    doc="The text of a value in a format, as an f-string writes it.",
    sees=True,
)

repr_: Op = python_host(
    "repr",
    _repr,
    args=("value",),
    infer=lambda known, value: known.text(),
    doc="The text of a value as it stands in a list: a string in quotes.",
    sees=True,
)


def _character(session: Any, code: Any) -> str:
    if type(code) is not int or not 0 <= code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        message = f"`chr` needs the number of a character, got {describe(code)}"
        of_int = type(code) is int and not 0 <= code <= 0x10FFFF
        said = ValueError("chr() arg not in range(0x110000)") if of_int else TypeError
        raise run_error("bad-argument", message, raises=said)
    return chr(code)


def _number_of(session: Any, character: Any) -> int:
    if type(character) is not str or len(character) != 1:
        raise run_error("wrong-type", f"`ord` needs one character, got {describe(character)}")
    return ord(character)


chr_: Op = python_host(
    "chr",
    _character,
    args=("code",),
    infer=lambda known, code: known.text(),
    doc="The character of a number.",
)

ord_: Op = python_host(
    "ord",
    _number_of,
    args=("character",),
    infer=lambda known, character: known.number("int64"),
    doc="The number of a character.",
)


def _in_base(prefix: str, base: str) -> Any:
    """The function that writes ints in a base."""

    def written(session: Any, number: Any) -> str:
        data = data_of(number) if isinstance(number, Tensor) else number
        if type(data) not in (int, bool):
            message = f"an int is needed, got {describe(number)}"
            raise run_error("wrong-type", message, raises=TypeError)
        return f"{'-' if data < 0 else ''}{prefix}{abs(data):{base}}"

    return written


def _digits(name: str, base: str, doc: str) -> Op:
    return python_host(
        name,
        _in_base(f"0{base}", base),
        args=("number",),
        infer=lambda known, number: known.text(),
        doc=f"The text of an int in {doc} digits, such as `0{base}101`.",
    )


bin_: Op = _digits("bin", "b", "binary")
oct_: Op = _digits("oct", "o", "octal")
hex_: Op = _digits("hex", "x", "hexadecimal")
