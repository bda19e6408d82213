"""The supported parts of Python's `functools` and `itertools`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from gradcli.engine.builtins.names.modules import done, of_module
from gradcli.engine.ops.op import Op
from gradcli.engine.run.code.functions import called
from gradcli.engine.values.limits import check_items
from gradcli.engine.values.sizes import whole
from gradcli.errors import run_error

FAMILY = 335, "Python's functools and itertools"


def _partial(session: Any, *values: Any, named: Any) -> Any:
    if not values or not callable(values[0]):
        raise run_error("wrong-type", "`partial` needs a function as its first argument")
    function, *first = values

    def part(*args: Any, **keywords: Any) -> Any:
        return called(function, [*first, *args], "partial", {**named, **keywords})

    return part


def _reduce(session: Any, function: Any, iterable: Any, initial: Any) -> Any:
    items = session.items(iterable)
    if initial is not None:
        items = [initial, *items]
    if not items:
        raise run_error("bad-argument", "`reduce` of nothing", raises=TypeError)
    found, *others = items
    for item in others:
        found = called(function, [found, item], "reduce")
    return found


def _through(name: str) -> Callable[..., Any]:
    plain = getattr(itertools, name)

    def go(session: Any, *values: Any) -> Iterator[Any]:
        found: Iterator[Any] = plain(*(session.iterate(value) for value in values))
        return found

    return go


def _count(value: Any, name: str) -> int:
    """How many items something is made of, each of which takes memory before there is one."""
    count = whole(value, name)
    if count < 0:
        raise run_error("bad-argument", f"`{name}` is 0 or more, got {count}", raises=ValueError)
    check_items(count)
    return count


def _by_size(name: str) -> Callable[..., Any]:
    plain = getattr(itertools, name)

    def go(session: Any, iterable: Any, r: Any) -> Iterator[Any]:
        items = session.items(iterable)
        found: Iterator[Any] = plain(items, len(items) if r is None else _count(r, "r"))
        return found

    return go


def _product(session: Any, *values: Any, repeat: Any) -> Iterator[Any]:
    times = _count(repeat, "repeat")
    check_items(times * len(values))
    return itertools.product(*map(session.items, values), repeat=times)


def _accumulated(session: Any, iterable: Any, function: Any, initial: Any) -> Iterator[Any]:
    def added(a: Any, b: Any) -> Any:
        joined = type(a) is type(b) and isinstance(a, (str, list, tuple))
        return a + b if joined else done(session, "add", a, b)

    def folded(a: Any, b: Any) -> Any:
        return called(function, [a, b], "accumulate")

    items = session.iterate(iterable)
    return itertools.accumulate(items, added if function is None else folded, initial=initial)


def _counted(session: Any, start: Any, step: Any) -> Iterator[Any]:
    at = 0 if start is None else start
    while True:
        yield at
        at = done(session, "add", at, 1 if step is None else step)


def _sliced(session: Any, *values: Any) -> Iterator[Any]:
    if not 2 <= len(values) <= 4:
        raise run_error("wrong-arity", f"`islice` takes 2 to 4 arguments, got {len(values)}")
    ends = [None if n is None else whole(n, "islice") for n in values[1:]]
    if any(n is not None and n < 0 for n in ends) or ends[2:] == [0]:
        raise run_error("bad-argument", "`islice` counts from 0 on by 1 or more", raises=ValueError)
    return itertools.islice(session.iterate(values[0]), *ends)


def _repeated(session: Any, value: Any, times: Any) -> Iterator[Any]:
    if times is None:
        return itertools.repeat(value)
    return itertools.repeat(value, whole(times, "times"))


def _longest(session: Any, *values: Any, fillvalue: Any) -> Iterator[Any]:
    return itertools.zip_longest(*map(session.iterate, values), fillvalue=fillvalue)


def _wraps(session: Any, wrapped: Any, assigned: Any, updated: Any) -> Any:
    def decorator(wrapper: Any) -> Any:
        if isinstance(wrapper, FunctionType):
            wrapper.__name__ = getattr(wrapped, "__name__", wrapper.__name__)
        return wrapper

    return decorator


_SEVERAL: dict[str, Any] = {"args": ("*values=None",)}

partial: Op = of_module(
    "functools",
    "partial",
    _partial,
    "a function with its first arguments, and some by name, given",
    any_name=True,
    **_SEVERAL,
)
reduce: Op = of_module(
    "functools",
    "reduce",
    _reduce,
    "what a function of two makes of the items, from the first one on",
    args=("function", "iterable", "initial=None"),
)
chain: Op = of_module(
    "itertools", "chain", _through("chain"), "the items of one value after the other", **_SEVERAL
)
from_iterable: Op = of_module(
    "itertools",
    "from_iterable",
    lambda session, iterable: itertools.chain.from_iterable(
        map(session.iterate, session.iterate(iterable))
    ),
    "the items of each item of a value",
    args=("iterable",),
)
product: Op = of_module(
    "itertools",
    "product",
    _product,
    "the tuples of an item of each value",
    params={"repeat": 1},
    **_SEVERAL,
)
combinations: Op = of_module(
    "itertools",
    "combinations",
    _by_size("combinations"),
    "the tuples of `r` of the items, in their order",
    args=("iterable", "r"),
)
permutations: Op = of_module(
    "itertools",
    "permutations",
    _by_size("permutations"),
    "the tuples of `r` of the items, in each order",
    args=("iterable", "r=None"),
)
accumulate: Op = of_module(
    "itertools",
    "accumulate",
    _accumulated,
    "the sums of the items so far, or what a function makes of them",
    args=("iterable", "function=None", "initial=None"),
)
count: Op = of_module(
    "itertools",
    "count",
    _counted,
    "the numbers from `start` on by `step`, without an end",
    args=("start=None", "step=None"),
)
islice: Op = of_module(
    "itertools", "islice", _sliced, "some of the items, as a slice has them", args=("*values",)
)
repeat: Op = of_module(
    "itertools",
    "repeat",
    _repeated,
    "a value again and again, `times` times if that is given",
    args=("value", "times=None"),
)
cycle: Op = of_module(
    "itertools",
    "cycle",
    lambda session, iterable: itertools.cycle(session.items(iterable)),
    "the items again and again",
    args=("iterable",),
)
zip_longest: Op = of_module(
    "itertools",
    "zip_longest",
    _longest,
    "the items of all values together, up to the longest",
    params={"fillvalue": None},
    **_SEVERAL,
)
pairwise: Op = of_module(
    "itertools",
    "pairwise",
    _through("pairwise"),
    "each item together with the next one",
    args=("iterable",),
)
wraps: Op = of_module(
    "functools",
    "wraps",
    _wraps,
    "a decorator that gives a function the name of the one that it wraps",
    args=("wrapped", "assigned=None", "updated=None"),
)
