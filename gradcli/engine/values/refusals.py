"""Errors that both a run and `check` raise, each defined once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from gradcli.errors import RunError, run_error

_MORE = "too many dimensions for generalized|only supports up to|index arrays cannot be"
_TOO_MANY = "maximum .*dimension|number of dimensions must be within"


def unassigned(name: str) -> RunError:
    """A name that is read before it is assigned."""
    return run_error("used-before-assigned", f"`{name}` is used before it has a value")


def wrong_count(items: int, names: int) -> RunError:
    """Another number of items than of names that they are unpacked into."""
    said = f"too many values to unpack (expected {names})"
    if items < names:
        said = f"not enough values to unpack (expected {names}, got {items})"
    message = f"{items} values cannot be unpacked into {names} names"
    return run_error("wrong-count", message, raises=ValueError(said))


def too_few(items: int, names: int) -> RunError:
    """Fewer items than names beside the one with a star that they are unpacked into."""
    said = f"not enough values to unpack (expected at least {names}, got {items})"
    message = f"{items} values cannot be unpacked into {names} names or more"
    return run_error("wrong-count", message, raises=ValueError(said))


def not_callable(kind: str) -> RunError:
    """The error for a call of a value that is not a function; `kind` is such as `a number`."""
    help = (
        "an item is written `x[i]`" if kind.startswith(("a list", "a tensor", "a tuple")) else None
    )
    return run_error("not-callable", f"{kind} is not a function", help=help)


def outgrown(result: Sequence[int], shape: Sequence[int]) -> RunError:
    """The error for a result whose shape is not that of the tensor changed in place."""
    return run_error(
        "shape-mismatch",
        f"the result of shape {list(result)} does not fit into the tensor of shape {list(shape)} "
        "that is changed in place",
    )


def uncast(result: str, dtype: str) -> RunError:
    """The error for a result whose dtype the tensor that is changed in place cannot hold."""
    return run_error(
        "dtype-mismatch",
        f"a result of dtype {result} cannot be put into a tensor of dtype {dtype}",
    )


def ragged(shapes: Iterable[Sequence[int]]) -> RunError:
    """A list of items of several shapes where a tensor is wanted."""
    shown = " and ".join(str(list(shape)) for shape in sorted(map(tuple, shapes))[:2])
    return run_error(
        "ragged-list",
        f"a list becomes a tensor only if its rows are of one shape, got the shapes {shown}",
    )


def too_many_dimensions(error: Exception) -> RunError | None:
    """The error in our words if NumPy refuses a tensor with too many dimensions; None for another
    error.
    """
    if isinstance(error, (ValueError, IndexError)) and re.search(_TOO_MANY, str(error)):
        return run_error("bad-argument", "a tensor has at most 64 dimensions")
    if isinstance(error, (ValueError, IndexError, RuntimeError)) and re.search(_MORE, str(error)):
        return run_error("bad-argument", "no tensor of so many dimensions is taken here")
    return None


def needs_float(
    dtype: str,
    help: str = "write its numbers with a point, as in `tensor([1.0, 2.0], requires_grad=True)`",
) -> RunError:
    """A tensor of ints or bools that is asked to require grad."""
    return run_error(
        "needs-float",
        f"a tensor of dtype {dtype} cannot require grad: only floats have derivatives",
        help=help,
    )
