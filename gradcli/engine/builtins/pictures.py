"""Plots by matplotlib's names."""

from __future__ import annotations

from gradcli.engine.ops.op import Op, constant
from gradcli.engine.run.pictures import Canvas

FAMILY = 360, "Plots"

pyplot: Op = constant(
    "pyplot",
    Canvas(),
    "`matplotlib.pyplot`: takes `plot`, `scatter`, `title`, `subplots`, `show` and the like, draws "
    "nothing and says so once.",
)
