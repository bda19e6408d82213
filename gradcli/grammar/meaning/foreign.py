"""Words of other languages and notations, with those of this one."""

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
    """The constant that a name stands for elsewhere, and never an input here."""
    return _CONSTANTS.get(name)


def function(name: str) -> str | None:
    """The built-in function that a name calls elsewhere."""
    return _FUNCTIONS.get(name)


def module(name: str) -> bool:
    """Whether a name of which only attributes are read is a module elsewhere."""
    return name in _MODULES


def is_of_python(module: str) -> bool:
    """Whether a module is one of Python's own."""
    return module in sys.stdlib_module_names


def of_python(name: str) -> bool:
    """Whether a name that is no built-in here is one of Python's."""
    return hasattr(builtins, name)
