"""NumPy's dtypes, which make values of themselves when they are called: `np.float32(1.5)`."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.sizes import describe
from gradcli.errors import run_error

FAMILY = 351, "NumPy's dtypes"

_OWN = {"float64": float, "int64": int}
"""The dtypes whose single values are the language's own numbers."""


def _made(name: str) -> Any:
    def call(session: Any, value: Any) -> Any:
        given = 0 if value is None else _parsed(value, name)
        found = session.tensor(list(given) if isinstance(given, (tuple, range)) else given)
        if isinstance(found, Number) and name == "float64":
            return found
        if isinstance(found, Tensor):
            return session.do(ops.cast, [found], {"dtype": name})
        if type(found) not in NUMBERS:
            raise run_error("wrong-type", f"a number or tensor is needed, got {describe(value)}")
        made = converted(found, name)
        return _OWN[name](made) if name in _OWN else Tensor(made)

    return call


def _parsed(value: Any, name: str) -> Any:
    """The number that a string says; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return (float if name.startswith("float") else int)(value)
    except ValueError as error:
        message = f"`np.{name}` cannot read {value!r}"
        raise run_error("bad-argument", message, raises=error) from None


def _dtype(name: str) -> Op:
    return host(
        f"numpy_{name}",
        _made(name),
        args=("value=None",),
        infer=lambda known, value: known.unknown(value),
        doc=f"`np.{name}`: the dtype, and the function that makes a value or an array of it.",
        source=f"NumPy: {name}",
    )


float64: Op = _dtype("float64")
float32: Op = _dtype("float32")
float16: Op = _dtype("float16")
int64: Op = _dtype("int64")
int32: Op = _dtype("int32")
int16: Op = _dtype("int16")
int8: Op = _dtype("int8")
uint8: Op = _dtype("uint8")
