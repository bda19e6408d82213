"""The supported parts of Python's modules `random`, `time`, `itertools` and others."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.functions import called
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.language.copying import deep_copy
from gradcli.engine.run.session.state import RandomNumbers
from gradcli.engine.values.limits import check_items
from gradcli.engine.values.sizes import number, whole
from gradcli.errors import run_error

FAMILY = 334, "Python's modules"


def _draw(
    name: str, call: Callable[..., Any], args: Sequence[str], doc: str, part: str | None = "random"
) -> Op:
    return host(
        f"python_random_{name}",
        call,
        part=part,
        args=args,
        keeps=True,
        pure=False,
        sees=False,
        doc=f"`random.{name}`: {doc}.",
        source=f"Python: random.{name}",
    )


def _done(session: Any, name: str, *args: Any) -> Any:
    op = ops[name]
    return session.do(op, session.operands(op, args), op.params)


def _between(session: Any, a: Any, b: Any) -> Any:
    drawn = session.random.python.random()
    return _done(session, "add", a, _done(session, "mul", _done(session, "sub", b, a), drawn))


def _gauss(name: str) -> Callable[..., Any]:
    def draw(session: Any, mu: Any, sigma: Any) -> Any:
        drawn = getattr(session.random.python, name)(0.0, 1.0)
        spread = drawn if sigma is None else _done(session, "mul", drawn, sigma)
        return spread if mu is None else _done(session, "add", mu, spread)

    return draw


def _int_between(random: RandomNumbers, a: Any, b: Any) -> int:
    first, last = whole(a, "a"), whole(b, "b")
    if last < first:
        raise run_error(
            "bad-argument", f"there is no int from {first} to {last}", raises=ValueError
        )
    return int(random.python.randint(first, last))


def _of_range(random: RandomNumbers, start: Any, stop: Any, step: Any) -> int:
    further = [whole(n, "randrange") for n in (stop, step) if n is not None]
    bounds = [whole(start, "start"), *further]
    if len(bounds) == 3 and bounds[2] == 0:
        raise run_error("bad-argument", "the step of `randrange` cannot be 0", raises=ValueError)
    found = range(*bounds)
    if not found:
        raise run_error("bad-argument", f"there is no int in {found}", raises=ValueError)
    return int(random.python.randrange(*bounds))


def _some(session: Any, sequence: Any) -> list[Any]:
    items: list[Any] = session.items(sequence)
    if not items:
        raise run_error("bad-argument", "there is nothing to choose from", raises=IndexError)
    return items


def _sample(session: Any, population: Any, k: Any) -> list[Any]:
    items, count = session.items(population), whole(k, "k")
    if not 0 <= count <= len(items):
        raise run_error(
            "bad-argument", f"{count} of {len(items)} items cannot be chosen", raises=ValueError
        )
    found: list[Any] = session.random.python.sample(items, count)
    return found


def _choices(session: Any, population: Any, weights: Any, k: Any) -> list[Any]:
    count = 1 if k is None else whole(k, "k")
    of = None
    if weights is not None:
        of = [float(number(w, "weights")) for w in session.items(weights)]
    items = _some(session, population)
    if of is not None and (len(of) != len(items) or not sum(of) > 0 or min(of) < 0):
        raise run_error(
            "bad-argument", "the weights are one for each item, and not all 0", raises=ValueError
        )
    found: list[Any] = session.random.python.choices(items, of, k=max(count, 0))
    return found


def _shuffle(random: RandomNumbers, x: Any) -> None:
    if type(x) is not list:
        raise run_error("wrong-type", f"`shuffle` needs a list, got {kind_of(x)}")
    random.python.shuffle(x)


def _seed(random: RandomNumbers, seed: Any) -> None:
    if seed is not None and type(seed) not in (int, float, str, bool):
        raise run_error("wrong-type", f"a seed is a number or a string, got {kind_of(seed)}")
    random.python.seed(random.seed if seed is None else seed)


seed: Op = _draw(
    "seed", _seed, ("seed=None",), "the numbers of `random` are Python's of the seed from here on"
)
random: Op = _draw("random", lambda random: random.python.random(), (), "a float from 0 to below 1")
uniform: Op = _draw("uniform", _between, ("a", "b"), "a float between two", None)
gauss: Op = _draw(
    "gauss",
    _gauss("gauss"),
    ("mu=None", "sigma=None"),
    "a normal number of mean 0, deviation 1",
    None,
)
normalvariate: Op = _draw(
    "normalvariate",
    _gauss("normalvariate"),
    ("mu=None", "sigma=None"),
    "a normal number of mean 0, deviation 1",
    None,
)
randint: Op = _draw("randint", _int_between, ("a", "b"), "an int from `a` to `b`")
randrange: Op = _draw(
    "randrange", _of_range, ("start", "stop=None", "step=None"), "an int of `range(...)`"
)
choice: Op = _draw(
    "choice",
    lambda session, sequence: session.random.python.choice(_some(session, sequence)),
    ("sequence",),
    "one of the items",
    None,
)
choices: Op = _draw(
    "choices",
    _choices,
    ("population", "weights=None", "k=None"),
    "a list of `k` items, of which one may come again",
    None,
)
sample: Op = _draw("sample", _sample, ("population", "k"), "a list of `k` of the items", None)
shuffle: Op = _draw("shuffle", _shuffle, ("x",), "puts the items of a list into some order")


def _clock(name: str, doc: str) -> Op:
    call = getattr(time, name)
    return host(
        f"python_time_{name}",
        lambda session: call(),
        args=(),
        infer=lambda known: known.number("float64"),
        pure=False,
        sees=False,
        doc=f"`time.{name}`: {doc}.",
        source=f"Python: time.{name}",
    )


time_: Op = _clock("time", "the seconds since the beginning of 1970")
perf_counter: Op = _clock("perf_counter", "the seconds of a clock, to measure what lies between")
process_time: Op = _clock("process_time", "the seconds that the processor has worked")
monotonic: Op = _clock("monotonic", "the seconds of a clock that never goes back")


# functools, itertools, copy ---------------------------------------------------------------------


def _of_module(module: str, name: str, call: Callable[..., Any], doc: str, **fields: Any) -> Op:
    return host(
        f"python_{module}_{name}",
        call,
        keeps=True,
        pure=False,
        sees=False,
        doc=f"`{module}.{name}`: {doc}.",
        source=f"Python: {module}.{name}",
        **fields,
    )


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
        return a + b if joined else _done(session, "add", a, b)

    def folded(a: Any, b: Any) -> Any:
        return called(function, [a, b], "accumulate")

    items = session.iterate(iterable)
    return itertools.accumulate(items, added if function is None else folded, initial=initial)


def _counted(session: Any, start: Any, step: Any) -> Iterator[Any]:
    at = 0 if start is None else start
    while True:
        yield at
        at = _done(session, "add", at, 1 if step is None else step)


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


def _slept(session: Any, seconds: Any) -> None:
    """Wait in steps, so that a limit of time is seen meanwhile."""
    wait = float(number(seconds, "seconds"))
    if not 0 <= wait < inf:
        raise run_error("bad-argument", f"cannot sleep for {wait} seconds", raises=ValueError)
    end = time.monotonic() + wait
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.05))


def _copied(session: Any, value: Any) -> Any:
    return type(value)(value) if type(value) in (list, dict, set) else value


_SEVERAL: dict[str, Any] = {"args": ("*values=None",)}

partial: Op = _of_module(
    "functools",
    "partial",
    _partial,
    "a function with its first arguments, and some by name, given",
    any_name=True,
    **_SEVERAL,
)
reduce: Op = _of_module(
    "functools",
    "reduce",
    _reduce,
    "what a function of two makes of the items, from the first one on",
    args=("function", "iterable", "initial=None"),
)
chain: Op = _of_module(
    "itertools", "chain", _through("chain"), "the items of one value after the other", **_SEVERAL
)
product: Op = _of_module(
    "itertools",
    "product",
    _product,
    "the tuples of an item of each value",
    params={"repeat": 1},
    **_SEVERAL,
)
combinations: Op = _of_module(
    "itertools",
    "combinations",
    _by_size("combinations"),
    "the tuples of `r` of the items, in their order",
    args=("iterable", "r"),
)
permutations: Op = _of_module(
    "itertools",
    "permutations",
    _by_size("permutations"),
    "the tuples of `r` of the items, in each order",
    args=("iterable", "r=None"),
)
accumulate: Op = _of_module(
    "itertools",
    "accumulate",
    _accumulated,
    "the sums of the items so far, or what a function makes of them",
    args=("iterable", "function=None", "initial=None"),
)
count: Op = _of_module(
    "itertools",
    "count",
    _counted,
    "the numbers from `start` on by `step`, without an end",
    args=("start=None", "step=None"),
)
islice: Op = _of_module(
    "itertools", "islice", _sliced, "some of the items, as a slice has them", args=("*values",)
)
repeat: Op = _of_module(
    "itertools",
    "repeat",
    _repeated,
    "a value again and again, `times` times if that is given",
    args=("value", "times=None"),
)
cycle: Op = _of_module(
    "itertools",
    "cycle",
    lambda session, iterable: itertools.cycle(session.items(iterable)),
    "the items again and again",
    args=("iterable",),
)
zip_longest: Op = _of_module(
    "itertools",
    "zip_longest",
    _longest,
    "the items of all values together, up to the longest",
    params={"fillvalue": None},
    **_SEVERAL,
)
copy: Op = _of_module(
    "copy", "copy", _copied, "a list, dictionary or set of the same items", args=("value",)
)
deepcopy: Op = _of_module(
    "copy",
    "deepcopy",
    deep_copy,
    "a value with copies of all that it holds: tensors, objects, lists, dictionaries",
    args=("value",),
)
sleep: Op = _of_module("time", "sleep", _slept, "waits for so many seconds", args=("seconds",))
nothing: Op = _of_module(
    "warnings",
    "nothing",
    lambda session, *values, named: None,
    "`filterwarnings` and `simplefilter`, which change nothing here",
    any_name=True,
    **_SEVERAL,
)
