"""Random numbers. The numbers of a seed are PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.builtins.create import (
    OPTIONS,
    inferred,
    laid_as,
    like,
    like_input,
    made,
    of_size,
    size_of,
)
from gradcli.engine.ops.op import REQUIRED, Op, torch_host
from gradcli.engine.ops.promotion import is_number
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.run.session.state import RandomNumbers
from gradcli.engine.run.session.torch_stream import TorchStream, source, torch_seed
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, dtype_of, is_whole, np, plain, shape_of
from gradcli.engine.values.dtypes import dtype_name, is_default
from gradcli.engine.values.limits import QUESTION, check_memory
from gradcli.engine.values.sizes import broadcast, describe, flag, sizes, whole
from gradcli.errors import run_error

FAMILY = 320, "Random numbers"


_OPTIONS = {**OPTIONS, "generator": None}
"""What every random creation function takes."""


def _drawn(
    random: RandomNumbers,
    size: Any,
    draw: str,
    generator: Any,
    dtype: Any,
    precision: str | None = None,
    **options: Any,
) -> Tensor:
    """A tensor of random floats; `precision` is the dtype whose numbers are drawn, if that is not
    the one asked for.
    """
    size = sizes(size)
    check_memory(size)
    name = dtype_name(dtype)
    if is_whole(name):
        raise run_error("dtype-mismatch", f"random floats cannot have the dtype {name}")
    if precision is None:
        precision = random.precision if is_default(dtype) or name is None else name
    found = getattr(source(random, generator), draw)(size, precision)
    return made(plain(np.asarray(found)), dtype, **options)


def _traced(draw: Callable[..., Any]) -> Callable[..., Any]:
    """The `traced` function of a host that draws numbers: the numbers are drawn before compiled
    code runs.
    """
    return lambda code, *args, **params: code.drawn(draw, args, params)


def _of_size(name: str, draw: str, text: str) -> Op:
    def drawn(random: RandomNumbers, size: Any, **options: Any) -> Tensor:
        return _drawn(random, size, draw, **options)

    return torch_host(
        name,
        drawn,
        part="random",
        traced=_traced(drawn),
        params={"*size": REQUIRED, **_OPTIONS},
        infer=of_size,
        doc=f"A new tensor of random numbers, {text}.",
        pure=False,
    )


rand: Op = _of_size("rand", "uniform", "uniform between 0 and 1")
randn: Op = _of_size("randn", "normal", "normal with mean 0 and standard deviation 1")


def _drawn_like(random: RandomNumbers, like: Any, draw: str, dtype: Any, **options: Any) -> Tensor:
    if not isinstance(like, Tensor) and type(like) not in NUMBERS:
        raise run_error("wrong-type", f"a tensor is needed, got {describe(like)}")
    name = dtype_of(like) if dtype is None else dtype
    precision = random.precision_for(dtype_of(like)) if dtype is None else None
    made = _drawn(random, shape_of(like), draw, dtype=name, precision=precision, **options)
    return laid_as(made, like)


def _of_size_like(name: str, draw: str, text: str) -> Op:
    def drawn(random: RandomNumbers, input: Any, **options: Any) -> Tensor:
        return _drawn_like(random, input, draw, **options)

    return torch_host(
        name,
        lambda session, input, **options: drawn(session.random, session.tensor(input), **options),
        traced=lambda code, like, **params: code.drawn(drawn, [code.like(like)], params),
        args=("input",),
        params=_OPTIONS,
        infer=like_input,
        doc=f"Random numbers of the input's size and dtype, {text}.",
        pure=False,
    )


rand_like: Op = _of_size_like("rand_like", "uniform", "uniform between 0 and 1")
randn_like: Op = _of_size_like("randn_like", "normal", "standard normal")


def _randint(
    random: RandomNumbers,
    *bounds: Any,
    size: Any,
    low: Any,
    high: Any,
    generator: Any,
    **options: Any,
) -> Tensor:
    given = list(bounds)
    if size is None and given:
        size = given.pop()
    if high is None and given:
        high = given.pop()
    if low is None and given:
        low = given.pop()
    if size is None or high is None or given:
        raise run_error("wrong-arity", "`randint` is called as randint(low=0, high, size)")
    first, last = whole(0 if low is None else low, "low"), whole(high, "high")
    if first >= last:
        raise run_error("bad-argument", f"there is no int from {first} to below {last}")
    size = sizes(size)
    check_memory(size)
    found = source(random, generator).integers(first, last, size)
    return made(plain(np.asarray(found)), **options)


def _ints_of(known: Statics, *bounds: Any, size: Any, low: Any, high: Any, **options: Any) -> Any:
    given = bounds[-1] if size is None and bounds else size
    return inferred(known, size_of(known, given), "int64", options)


randint: Op = torch_host(
    "randint",
    _randint,
    part="random",
    traced=_traced(_randint),
    args=("*bounds=None",),
    params={"size": None, "low": None, "high": None, **_OPTIONS},
    infer=_ints_of,
    doc="Random ints from `low` (0) to below `high`, all equally likely: `randint(high, size)` or "
    "`randint(low, high, size)`.",
    pure=False,
)


def _randperm(random: RandomNumbers, n: Any, generator: Any, **options: Any) -> Tensor:
    (count,) = sizes((whole(n, "n"),), "n")
    check_memory((count,))
    return made(source(random, generator).permutation(count), **options)


randperm: Op = torch_host(
    "randperm",
    _randperm,
    part="random",
    traced=_traced(_randperm),
    args=("n",),
    params=_OPTIONS,
    infer=lambda known, n, **options: inferred(known, size_of(known, n), "int64", options),
    doc="The ints from 0 to n - 1 in a random order.",
    pure=False,
)


def _numeric(session: Any, value: Any, name: str) -> Any:
    found = session.tensor(list(value) if isinstance(value, tuple) else value)
    if type(found) not in NUMBERS and not hasattr(found, "dtype"):
        raise run_error(
            "wrong-type", f"`{name}` must be a number or a tensor, got {describe(value)}"
        )
    return found


def _precision(*values: Any) -> str | None:
    """The dtype of random floats after these: that of the first tensor, if it is one of floats."""
    for value in values:
        if not is_number(value):
            dtype = dtype_of(value)
            return QUESTION.default_dtype if is_whole(dtype) else dtype
    return QUESTION.default_dtype


def _normal(
    session: Any, mean: Any, std: Any, size: Any, dtype: Any, generator: Any, **options: Any
) -> Tensor:
    mean, std = _numeric(session, mean, "mean"), _numeric(session, std, "std")
    name = dtype_name(dtype) or _precision(mean, std)
    mean, std = data_of(mean), data_of(std)
    if np.any(np.less(std, 0)):
        raise run_error("bad-argument", "`std` cannot be negative")
    shape = broadcast(shape_of(mean), shape_of(std))
    if size is not None:
        if shape:
            raise run_error("bad-argument", "with a `size` the mean and `std` must be numbers")
        shape = sizes(size)
    check_memory(shape)
    precision = session.random.precision_for(name) if is_default(dtype) else str(name)
    found = source(session.random, generator).normal(shape, precision) * std + mean
    return made(plain(np.asarray(found)), name, **options)


def _normal_of(known: Statics, mean: Any, std: Any, size: Any, **options: Any) -> Any:
    mean, std = (v if type(v) is float else known.tensor(v) for v in (mean, std))
    shapes = [() if type(v) is float else like(v)[0] for v in (mean, std)]
    shape = size_of(known, size)
    if shape is None and known.static(size) is None and None not in shapes:
        shape = broadcast(*shapes)
    return inferred(known, shape, _precision(mean, std), options)


normal: Op = torch_host(
    "normal",
    _normal,
    args=("mean",),
    params={"std": 1.0, "size": None, **_OPTIONS},
    infer=_normal_of,
    doc="Random numbers, normal with the mean and standard deviation given, each a number or a "
    "tensor.",
    pure=False,
)


def _bernoulli(session: Any, input: Any, generator: Any) -> Tensor:
    given = _numeric(session, input, "input")
    chance = data_of(given)
    if not np.all(np.greater_equal(chance, 0) & np.less_equal(chance, 1)):
        raise run_error("bad-argument", "the chances of `bernoulli` must lie between 0 and 1")
    precision = session.random.precision_for(dtype_of(chance))
    uniform = source(session.random, generator).uniform(shape_of(chance), precision)
    drawn = np.less(uniform, chance)
    return Tensor(plain(np.asarray(drawn, _precision(given))))


def _bernoulli_of(known: Statics, input: Any, generator: Any) -> Any:
    input = known.tensor(input)
    return known.made(like(input)[0], _precision(input))


bernoulli: Op = torch_host(
    "bernoulli",
    _bernoulli,
    args=("input",),
    params={"generator": None},
    infer=_bernoulli_of,
    doc="Random zeros and ones: one with the chance that the input gives, for each element.",
    method=True,
    pure=False,
)


def _multinomial(
    session: Any, input: Any, num_samples: Any, replacement: Any, generator: Any
) -> Tensor:
    weights = np.asarray(data_of(_numeric(session, input, "input")), np.float64)
    count = whole(num_samples, "num_samples")
    if weights.ndim not in (1, 2):
        raise run_error("shape-mismatch", "`multinomial` needs a vector or a matrix of weights")
    if not (np.all(np.isfinite(weights)) and np.all(weights >= 0)):
        raise run_error("bad-argument", "weights must be finite and not negative")
    again = flag(replacement, "replacement")
    check_memory((*weights.shape[:-1], count))
    rows = np.atleast_2d(weights)
    able = min(np.count_nonzero(rows, axis=1), default=0)
    if count < 1 or able == 0 or (able < count and not again):
        raise run_error("bad-argument", f"{count} places cannot be drawn from {able} with a weight")
    places = source(session.random, generator).places(rows, count, again=again)
    return Tensor(places.reshape((*weights.shape[:-1], count)))


def _places_of(
    known: Statics, input: Any, num_samples: Any, replacement: Any, generator: Any
) -> Any:
    shape, _ = like(known.tensor(input))
    count = known.static(num_samples)
    fits = shape and count is not UNSURE
    return known.made((*shape[:-1], whole(count, "num_samples")) if fits else None, "int64")


multinomial: Op = torch_host(
    "multinomial",
    _multinomial,
    args=("input", "num_samples"),
    params={"replacement": False, "generator": None},
    infer=_places_of,
    doc="Random places, each as likely as its weight in the input (a vector, or a matrix with one "
    "set of weights a row).",
    method=True,
    pure=False,
)


def _manual_seed(random: RandomNumbers, seed: Any) -> None:
    random.begin(torch_seed(seed))


manual_seed: Op = torch_host(
    "manual_seed",
    _manual_seed,
    part="random",
    traced=_traced(_manual_seed),
    args=("seed",),
    infer=lambda known, seed: known.constant(None),
    doc="Starts the random numbers anew from a seed.",
    pure=False,
)

generator: Op = torch_host(
    "Generator",
    lambda session, device: TorchStream(),
    args=("device=None",),
    infer=lambda known, device: known.unknown(),
    doc="`torch.Generator`: random numbers of its own, for the argument `generator`. "
    "`g.manual_seed(seed)` starts them anew; without it they are the same in each run.",
    pure=False,
)
