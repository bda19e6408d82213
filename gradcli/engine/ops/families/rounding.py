"""Rounding."""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics import ieee
from gradcli.engine.numerics.ufunc import Function
from gradcli.engine.ops.families import points
from gradcli.engine.ops.op import Op, elementwise, known, sample
from gradcli.engine.ops.promotion import arithmetic
from gradcli.engine.ops.statics import Statics
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.tape.tensor import Number
from gradcli.engine.values.data import NUMBERS, Data, np
from gradcli.engine.values.sizes import whole

FAMILY = 20, "Rounding"


def _to_whole(name: str, number: Function, doc: str, aliases: tuple[str, ...] = ()) -> Op:
    """The op that rounds to whole numbers by the functions of that name."""
    return elementwise(
        name,
        exact=True,
        aliases=aliases,
        doc=f"{doc}. Its derivative is 0.",
        number=number,
        array=lambda x: getattr(np, name)(x) if x.dtype.kind == "f" else x,
        partials=(0.0,),
        samples=points.off_whole,
        known=lambda: (known([-1.0, 0.0, 2.0, 2.5], grad=([0.0, 0.0, 0.0, 0.0],)),),
    )


def _round(x: Data, decimals: int | None = None) -> Data:
    if x.dtype.kind == "b":
        return x
    return np.round(x, ieee.within(decimals))


def _frac(x: Data) -> Data:
    if x.dtype.kind != "f":
        return x ^ x
    return np.subtract(x, np.trunc(x))


floor: Op = _to_whole("floor", ieee.floor, "Largest whole number not above input")
ceil: Op = _to_whole("ceil", ieee.ceil, "Smallest whole number not below input")
trunc: Op = _to_whole("trunc", ieee.trunc, "input without its fraction", aliases=("fix",))

frac: Op = elementwise(
    "frac",
    doc="Fraction input - trunc(input), which has the sign of input. Its derivative is 1.",
    number=ieee.frac,
    array=_frac,
    dtype=arithmetic,
    partials=(1.0,),
    samples=points.off_whole,
    known=lambda: (known([-1.0, 0.0, 2.0, 2.5], grad=([1.0, 1.0, 1.0, 1.0],)),),
)


def _round_value(session: Any, x: Any, decimals: Any = None) -> Any:
    """Python's `round` of a number; of a tensor the op."""
    value = x.data if type(x) is Number else x
    if decimals is not None:
        decimals = whole(decimals, "decimals")
    if type(value) in NUMBERS:
        return ieee.python_round(value, decimals)
    return session.do(round_, session.operands(round_, [x]), {"decimals": decimals})


def _rounded(known: Statics, x: Any, decimals: Any) -> Any:
    value = known.tensor(x)
    shape = getattr(value, "shape", None)
    # without dimensions it may be a number, which becomes an int
    return known.like(x, shape, value.dtype if shape else None)


def _traced(code: Tracing, x: Any, decimals: Any) -> Any:
    number = code.cut(round_(code.number(x), decimals=decimals))
    return number if decimals is not None else code.converted(number, "int64")


round_: Op = elementwise(
    "round",
    params={"decimals": None},
    call=_round_value,
    infer=_rounded,
    traced=_traced,
    doc="input rounded to a number of decimals, a half to the even side. Its derivative is 0. "
    "For a number it is Python's `round`: `round(2.5)` is the int 2.",
    source="IEEE 754, roundTiesToEven",
    number=ieee.round_even,
    array=_round,
    partials=(0.0,),
    node=lambda args, params: f"RoundBackward{int(params.get('decimals') is not None)}",
    samples=lambda: (*points.off_whole(), sample([1.234, -5.678], decimals=2)),
    known=lambda: (known([-1.0, 0.0, 2.0, 2.5], grad=([0.0, 0.0, 0.0, 0.0],)),),
)
