"""A derivative in per cent for a per cent."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.catalog import ops


def percent(x: Any, slope: Any, value: Any) -> Any:
    """The per cent by which `value` changes if `x` changes by one: x dy/dx / y. It takes plain data
    or symbols; the order of both operations decides how the last digit is rounded.
    """
    return ops.div(ops.mul(x, slope), value)
