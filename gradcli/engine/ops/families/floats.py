"""Element-wise ops of floats that a function of NumPy, or a piecewise one, computes.

Their slopes are functions of the arguments, which they save unless an entry says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.engine.numerics.ufunc import real
from gradcli.engine.ops.op import Op, elementwise
from gradcli.engine.ops.promotion import floating

if TYPE_CHECKING:
    from gradcli.engine.numerics.piecewise import Kernel


def by_numpy(name: str, number: Callable[..., Any], function: str = "", **fields: Any) -> Op:
    """The op whose value on arrays is NumPy's `function`, by default the one of its own name;
    `number` is the value on numbers.
    """
    return _of_floats(name, number=number, array=real(function or name), **fields)


def in_pieces(name: str, kernel: Kernel, **fields: Any) -> Op:
    """The op whose value on numbers and on arrays is that of `kernel(x, m, **params)`, where `m`
    has the mathematical functions of either.
    """
    from gradcli.engine.numerics.piecewise import on_array, on_number

    return _of_floats(name, number=on_number(kernel), array=on_array(kernel), **fields)


def _of_floats(name: str, **fields: Any) -> Op:
    fields.setdefault("saves", fields.get("args", ("input",)))
    return elementwise(name, dtype=floating, **fields)
