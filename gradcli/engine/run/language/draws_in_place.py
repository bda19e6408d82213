"""Methods that replace the elements of a tensor by random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.session.state import Session
from gradcli.engine.run.session.torch_stream import source
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import NUMBERS, np, plain
from gradcli.engine.values.sizes import describe, number, whole
from gradcli.errors import run_error

Shape = tuple[int, ...]

_Draw = Callable[..., Any]
"""From the source of numbers, a shape, the dtype whose numbers are drawn and the parameters."""


def _drawn(name: str, draw: _Draw, **defaults: float) -> Callable[..., Tensor]:
    """A method that draws as many numbers as the tensor has, with its parameters and defaults."""

    def method(
        session: Session,
        site: Site | None,
        x: Tensor,
        *given: Any,
        generator: Any = None,
        **named: Any,
    ) -> Tensor:
        asked = {**dict(zip(defaults, given, strict=False)), **named}
        if len(given) > len(defaults) or len(asked) < len(given) + len(named):
            raise run_error("wrong-arity", f"`{name}` takes {', '.join(defaults)}, each once")
        for parameter in asked:
            if parameter not in defaults:
                raise run_error("wrong-arity", f"`{name}` takes no argument `{parameter}`")
        params = {at: number(value, name) for at, value in {**defaults, **asked}.items()}
        random = session.random
        precision = random.precision_for(x.dtype)
        found = draw(source(random, generator), x.shape, precision, *params.values())
        return _filled(session, site, x, found)

    return method


def _uniform(numbers: Any, shape: Shape, precision: str, low: float, high: float) -> Any:
    if not low <= high:
        raise run_error("bad-argument", f"`uniform_` draws from low to high, got {low} and {high}")
    return numbers.uniform(shape, precision) * (high - low) + low


def _normal(numbers: Any, shape: Shape, precision: str, mean: float, std: float) -> Any:
    if not std >= 0:
        raise run_error("bad-argument", f"`std` cannot be negative, got {std}")
    return numbers.normal(shape, precision) * std + mean


def _exponential(numbers: Any, shape: Shape, precision: str, rate: float) -> Any:
    if not rate > 0:
        raise run_error("bad-argument", f"the rate of `exponential_` is positive, got {rate}")
    return numbers.exponential(shape) / rate


_LARGEST = {"float64": 2**53, "float32": 2**24, "float16": 2**11, "bool": 1}
"""The largest int that `random_` draws for a dtype without bounds; of the ints it is their own."""

_LONG = ("int64", "float64")
"""The dtypes for which it takes two words of random bits."""


def _random_(
    session: Session, site: Site | None, x: Tensor, *bounds: Any, generator: Any = None
) -> Tensor:
    """`x.random_(low, high)`: replace the elements by random ints from low to below high."""
    numbers = source(session.random, generator)
    if bounds:
        low, high = (whole(value, "random_") for value in (0, *bounds)[-2:])
        if low >= high or len(bounds) > 2:
            raise run_error("bad-argument", f"`random_` draws from low to below high, got {bounds}")
        found = numbers.integers(low, high, x.shape)
    else:
        name = session.random.precision_for(x.dtype)
        largest = _LARGEST.get(name) or int(np.iinfo(name).max)
        found = numbers.remainders(largest + 1, x.shape, 64 if name in _LONG else 32)
    return _filled(session, site, x, found)


def _bernoulli_(
    session: Session, site: Site | None, x: Tensor, p: Any = 0.5, *, generator: Any = None
) -> Tensor:
    """`x.bernoulli_(p)`: replace the elements by ones with the chance p, a number or a tensor of
    chances, and zeros else.
    """
    given = session.tensor(p)
    if not isinstance(given, Tensor) and type(given) not in NUMBERS:
        raise run_error("wrong-type", f"`p` must be a number or tensor, got {describe(p)}")
    chance = np.asarray(data_of(given), float)
    if not np.all((chance >= 0) & (chance <= 1)):
        raise run_error("bad-argument", "the chances of `bernoulli_` must lie between 0 and 1")
    try:
        chance = np.broadcast_to(chance, x.shape)
    except ValueError:
        message = (
            f"chances of shape {list(chance.shape)} do not fit a tensor of shape {list(x.shape)}"
        )
        raise run_error("shape-mismatch", message) from None
    numbers = source(session.random, generator).uniform(x.shape, "float64")
    return _filled(session, site, x, np.less(numbers, chance))


def _filled(session: Session, site: Site | None, x: Tensor, found: Any) -> Tensor:
    made = Tensor(converted(plain(np.asarray(found)), x.dtype))
    return apply_inplace(ops.fill, x, [made], {}, site, recording=session.recording)


METHODS: dict[str, Any] = {
    "uniform_": _drawn("uniform_", _uniform, **{"from": 0.0, "to": 1.0}),
    "normal_": _drawn("normal_", _normal, mean=0.0, std=1.0),
    "exponential_": _drawn("exponential_", _exponential, lambd=1.0),
    "random_": _random_,
    "bernoulli_": _bernoulli_,
}
