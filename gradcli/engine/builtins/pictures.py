"""Plots by matplotlib's names."""

from __future__ import annotations

from gradcli.engine.ops.op import Op, constant
from gradcli.engine.run.language.pictures import Canvas

FAMILY = 360, "Plots"

pyplot: Op = constant(
    "pyplot",
    Canvas("pyplot"),
    "`matplotlib.pyplot`: `plot`, `scatter`, `title`, `subplots`, `show` and the like, which "
    "`--plots DIR` draws into files; else they are left out, with one note.",
)

d2l: Op = constant(
    "d2l_torch",
    Canvas("d2l"),
    "d2l's functions for plots: `plot`, `set_figsize` and `plt`, which is `matplotlib.pyplot`.",
)
