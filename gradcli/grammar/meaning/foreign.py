"""Words of other languages and notations, with their equivalents here."""

from __future__ import annotations

import builtins
import sys

_CONSTANTS = {
    **dict.fromkeys(("true", "TRUE"), "True"),
    **dict.fromkeys(("false", "FALSE"), "False"),
    **dict.fromkeys(("null", "NULL", "nil", "none", "undefined"), "None"),
    **dict.fromkeys(("Infinity", "infinity", "INFINITY"), "inf"),
    **dict.fromkeys(("NaN", "NAN"), "nan"),
    **dict.fromkeys(("π", "Pi", "PI"), "pi"),
}
_MODULES = frozenset(
    {
        *("np", "numpy", "jnp", "jax", "anp", "tf", "nn", "optim", "plt", "scipy", "sp", "pd"),
        *("os", "sys", "time", "random", "itertools", "functools", "collections"),
    }
)
_FUNCTIONS = {
    "ln": "log",
    "lg": "log10",
    "arctg": "atan",
    "fabs": "abs",
    "power": "pow",
    "sgn": "sign",
    "sqr": "square",
    "tg": "tan",
}


def constant(name: str) -> str | None:
    """The constant that a name means in other languages; such a name is never an input."""
    return _CONSTANTS.get(name)


def function(name: str) -> str | None:
    """The built-in that a function's name in other languages means."""
    return _FUNCTIONS.get(name)


def module(name: str) -> bool:
    """True if a name that only occurs before a `.` is that of a well-known module."""
    return name in _MODULES


def is_of_python(module: str) -> bool:
    """True for a module of Python's standard library."""
    return module in sys.stdlib_module_names


def of_python(name: str) -> bool:
    """True if Python has a built-in of that name."""
    return hasattr(builtins, name)
