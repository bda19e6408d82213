"""The supported parts of Python's modules `random`, `time`, `itertools` and others."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.language.copying import deep_copy
from gradcli.engine.run.session.state import RandomNumbers
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


def done(session: Any, name: str, *args: Any) -> Any:
    """What an op makes of values, with its own defaults."""
    op = ops[name]
    return session.do(op, session.operands(op, args), op.params)


def _between(session: Any, a: Any, b: Any) -> Any:
    drawn = session.random.python.random()
    return done(session, "add", a, done(session, "mul", done(session, "sub", b, a), drawn))


def _gauss(name: str) -> Callable[..., Any]:
    def draw(session: Any, mu: Any, sigma: Any) -> Any:
        drawn = getattr(session.random.python, name)(0.0, 1.0)
        spread = drawn if sigma is None else done(session, "mul", drawn, sigma)
        return spread if mu is None else done(session, "add", mu, spread)

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


# copy, time, warnings ---------------------------------------------------------------------


def of_module(module: str, name: str, call: Callable[..., Any], doc: str, **fields: Any) -> Op:
    """The entry of a function of one of Python's modules."""
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


copy: Op = of_module(
    "copy", "copy", _copied, "a list, dictionary or set of the same items", args=("value",)
)
deepcopy: Op = of_module(
    "copy",
    "deepcopy",
    deep_copy,
    "a value with copies of all that it holds: tensors, objects, lists, dictionaries",
    args=("value",),
)
sleep: Op = of_module("time", "sleep", _slept, "waits for so many seconds", args=("seconds",))
nothing: Op = of_module(
    "warnings",
    "nothing",
    lambda session, *values, named: None,
    "`filterwarnings` and `simplefilter`, which change nothing here",
    any_name=True,
    args=("*values=None",),
)
