"""NumPy's generators of random numbers, as values of a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.run.language.members import DRAWS
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import np, plain
from gradcli.engine.values.dtypes import DTYPES
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import sizes
from gradcli.errors import run_error


def seeded(kind: str, seed: Any) -> Any:
    """A generator of a kind at the beginning of a seed's numbers."""
    try:
        return getattr(np.random, kind)(seed)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise run_error(
            "bad-argument", f"no generator begins at this seed: {error}", raises=ValueError
        ) from None


_DTYPES_AT = {"random": 1, "standard_normal": 1, "integers": 3}
"""The place of the dtype among the arguments of the draws that have one."""


def drawn(rng: Any, name: str, args: Any, keywords: Any) -> Any:
    """The numbers that a generator draws: one, or a tensor if a size is given."""
    function = getattr(rng, name, None)
    if function is None:
        raise run_error("unknown-attribute", f"this generator has no `{name}`")
    given = [_given(value) for value in args]
    named = {key: _given(value) for key, value in keywords.items()}
    if name == "multivariate_normal":
        named.setdefault("check_valid", "raise")  # NumPy warns of a wrong covariance, and draws
    at = _DTYPES_AT.get(name, len(given))
    for asked in (*given[at : at + 1], named.get("dtype")):
        if isinstance(asked, str) and asked not in DTYPES:
            raise run_error("bad-argument", f"`{name}` draws numbers of no dtype `{asked}`")
    place = DRAWS[name]
    size = given if place is None else given[place] if len(given) > place else named.get("size")
    if size is not None and not isinstance(size, np.ndarray):
        check_memory(sizes(size))
    if name == "choice" and given and type(given[0]) is int:
        check_memory(sizes(given[0]))
    try:
        found = function(*given, **named)
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise run_error("bad-argument", f"`{name}` cannot draw: {error}", raises=kind) from None
    made = np.asarray(found)
    if made.dtype.kind not in "biuf":  # a choice of texts
        return made.tolist()
    return Tensor(plain(made)) if isinstance(found, np.ndarray) else plain(made)


def shuffled(rng: Any, value: Any) -> None:
    """Put the items of a list or the rows of a tensor into another order, in place."""
    if type(value) is list:
        rng.shuffle(value)
    elif isinstance(value, Tensor) and value.ndim and not value.requires_grad:
        rng.shuffle(value.data)
    else:
        raise run_error("wrong-type", "`shuffle` needs a list, or a tensor without a gradient")


def _given(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_given, value))
    data = data_of(value)
    if callable(data):
        raise run_error("wrong-type", "a generator takes numbers and sizes")
    return data


def _method(name: str) -> Callable[..., Any]:
    return lambda value, *args, **named: drawn(value.rng, name, args, named)


_METHODS: dict[str, Any] = {
    **{name: _method(name) for name in DRAWS},
    "shuffle": lambda value, items: shuffled(value.rng, items),
}


class Generator:
    """A generator of NumPy's: one made by `default_rng`, or a `RandomState`."""

    __slots__ = ("rng",)
    _members: tuple[dict[str, Any], dict[str, Any]] = ({}, _METHODS)

    def __init__(self, rng: Any) -> None:
        self.rng = rng

    def __repr__(self) -> str:
        return repr(self.rng)
