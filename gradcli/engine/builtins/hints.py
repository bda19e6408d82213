"""Names of Python's `typing`."""

from __future__ import annotations

from gradcli.engine.ops.op import Op, constant
from gradcli.engine.run.language.hints import Hint

FAMILY = 346, "Types"

hint: Op = constant(
    "python_typing_hint",
    Hint(),
    "Names of Python's `typing`, such as `Optional[float]`: what they say of types has no effect.",
)
