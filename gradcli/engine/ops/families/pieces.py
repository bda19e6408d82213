"""Element-wise ops of floats whose values one function in pieces computes, such as `erfcx`."""

from __future__ import annotations

from typing import Any

from gradcli.engine.numerics.piecewise import Kernel, on_array, on_number
from gradcli.engine.ops.op import Op, elementwise
from gradcli.engine.ops.promotion import floating


def in_pieces(name: str, kernel: Kernel, **fields: Any) -> Op:
    """The op whose value on numbers and on arrays is that of `kernel(x, m, **params)`, where `m`
    has the mathematical functions of either.
    """
    return elementwise(
        name, number=on_number(kernel), array=on_array(kernel), dtype=floating, **fields
    )
