"""What programs use of Python's modules `random` and `time`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.run.naming import kind_of
from gradcli.engine.values.sizes import whole
from gradcli.errors import run_error

FAMILY = 334, "Python's modules"


def _unknown(known: Statics, *values: Any, **params: Any) -> Any:
    return known.unknown(*values)


def _draw(name: str, call: Callable[..., Any], args: Sequence[str], doc: str) -> Op:
    return host(
        f"python_random_{name}",
        call,
        args=args,
        infer=_unknown,
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
    drawn = session.python_rng.random()
    return _done(session, "add", a, _done(session, "mul", _done(session, "sub", b, a), drawn))


def _gauss(name: str) -> Callable[..., Any]:
    def draw(session: Any, mu: Any, sigma: Any) -> Any:
        drawn = getattr(session.python_rng, name)(0.0, 1.0)
        spread = drawn if sigma is None else _done(session, "mul", drawn, sigma)
        return spread if mu is None else _done(session, "add", mu, spread)

    return draw


def _int_between(session: Any, a: Any, b: Any) -> int:
    first, last = whole(a, "a"), whole(b, "b")
    if last < first:
        raise run_error("bad-argument", f"there is no int from {first} to {last}")
    return int(session.python_rng.randint(first, last))


def _of_range(session: Any, start: Any, stop: Any, step: Any) -> int:
    bounds = [whole(n, "randrange") for n in (start, stop, step) if n is not None]
    if len(bounds) == 3 and bounds[2] == 0:
        raise run_error("bad-argument", "the step of `randrange` cannot be 0")
    found = range(*bounds)
    if not found:
        raise run_error("bad-argument", f"there is no int in {found}")
    return int(session.python_rng.randrange(*bounds))


def _some(session: Any, sequence: Any) -> list[Any]:
    items: list[Any] = session.items(sequence)
    if not items:
        raise run_error("bad-argument", "there is nothing to choose from")
    return items


def _sample(session: Any, population: Any, k: Any) -> list[Any]:
    items, count = session.items(population), whole(k, "k")
    if not 0 <= count <= len(items):
        raise run_error("bad-argument", f"{count} of {len(items)} items cannot be chosen")
    found: list[Any] = session.python_rng.sample(items, count)
    return found


def _choices(session: Any, population: Any, weights: Any, k: Any) -> list[Any]:
    count = 1 if k is None else whole(k, "k")
    of = None
    if weights is not None:
        of = [float(w) for w in session.items(weights)]
    items = _some(session, population)
    if of is not None and (len(of) != len(items) or not sum(of) > 0 or min(of) < 0):
        raise run_error("bad-argument", "the weights are one for each item, and not all 0")
    found: list[Any] = session.python_rng.choices(items, of, k=max(count, 0))
    return found


def _shuffle(session: Any, x: Any) -> None:
    if type(x) is not list:
        raise run_error("wrong-type", f"`shuffle` needs a list, got {kind_of(x)}")
    session.python_rng.shuffle(x)


def _seed(session: Any, seed: Any) -> None:
    if seed is not None and type(seed) not in (int, float, str, bool):
        raise run_error("wrong-type", f"a seed is a number or a string, got {kind_of(seed)}")
    session.python_rng.seed(session.seed_used if seed is None else seed)


seed: Op = _draw(
    "seed", _seed, ("seed=None",), "the numbers of `random` are Python's of the seed from here on"
)
random: Op = _draw(
    "random", lambda session: session.python_rng.random(), (), "a float from 0 to below 1"
)
uniform: Op = _draw("uniform", _between, ("a", "b"), "a float between two")
gauss: Op = _draw(
    "gauss", _gauss("gauss"), ("mu=None", "sigma=None"), "a normal number of mean 0, deviation 1"
)
normalvariate: Op = _draw(
    "normalvariate",
    _gauss("normalvariate"),
    ("mu=None", "sigma=None"),
    "a normal number of mean 0, deviation 1",
)
randint: Op = _draw("randint", _int_between, ("a", "b"), "an int from `a` to `b`")
randrange: Op = _draw(
    "randrange", _of_range, ("start", "stop=None", "step=None"), "an int of `range(...)`"
)
choice: Op = _draw(
    "choice",
    lambda session, sequence: session.python_rng.choice(_some(session, sequence)),
    ("sequence",),
    "one of the items",
)
choices: Op = _draw(
    "choices",
    _choices,
    ("population", "weights=None", "k=None"),
    "a list of `k` items, of which one may come again",
)
sample: Op = _draw("sample", _sample, ("population", "k"), "a list of `k` of the items")
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
