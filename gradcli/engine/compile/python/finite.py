"""Python code that bails out where a result is not finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.python.code import Code
from gradcli.engine.values.data import NUMBERS, holds_finite, np


class FiniteCode(Code):
    """Python code whose results are looked at when it has ended. That is cheaper than a test in the
    code, as `passes.finite` makes it for machine code.
    """

    def call(self, inputs: Sequence[Any], control: Control) -> tuple[Any, ...]:
        found = super().call(inputs, control)
        if all(math.isfinite(x) if type(x) in NUMBERS else holds_finite(x) for x in found):
            return found
        raise Left("a result is not finite")

    def rows(self, columns: Sequence[Any], control: Control) -> tuple[list[Any], Any]:
        results, left = super().rows(columns, control)
        for result in results:
            if result.dtype.kind == "f":
                left |= ~np.isfinite(result).reshape(len(left), -1).all(axis=1)
        return results, left
