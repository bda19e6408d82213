"""Names of Python's `typing`."""

from __future__ import annotations

from gradcli.engine.ops.op import Op, constant, host
from gradcli.engine.run.language.hints import Hint

FAMILY = 346, "Types"

hint: Op = constant(
    "python_typing_hint",
    Hint(),
    "Names of Python's `typing`, such as `Optional[float]`: what they say of types has no effect.",
)

cast: Op = host(
    "python_typing_cast",
    lambda session, typ, val: val,
    args=("typ", "val"),
    doc="`typing.cast`: the value itself.",
    source="Python: typing.cast",
    keeps=True,
)
checking: Op = constant("python_typing_checking", False, "`typing.TYPE_CHECKING`: False.")
