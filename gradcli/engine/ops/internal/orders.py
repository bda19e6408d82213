"""The op that ends a derivative beyond the order to which it is exact."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, elementwise, sample
from gradcli.errors import run_error

_MOST = 6  # where nobody says otherwise


def _next(out: Any, x: Any, *, order: int = _MOST, taken: int = 0, by: str = "root") -> Any:
    if order == taken:
        raise run_error(
            "not-differentiable",
            f"the derivatives of this `{by}` end at order {order}, and a higher one is wanted",
            help="transforms around the call have no last order: write `grad(grad(f))` of a "
            "function f that calls it",
        )
    return zeros_through(x, order=order, taken=taken + 1, by=by)


zeros_through: Op = elementwise(
    "zeros_through",
    doc="Zeros for finite x, with zeros as derivatives up to `order`, of which so many are "
    "`taken`; a higher one is an error. Solutions of equations, whose derivatives are exact up to "
    "an order, add it.",
    number=lambda x, **_: x * 0.0,
    array=lambda x, **_: x * 0.0,
    params={"order": _MOST, "taken": 0, "by": "root"},
    partials=(_next,),
    saves=("input",),
    samples=lambda: (sample(2.0), sample([1.0, -2.0])),
)
