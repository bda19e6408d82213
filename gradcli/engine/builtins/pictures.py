"""Plots by matplotlib's names."""

from __future__ import annotations

from gradcli.engine.ops.op import Op, constant, host
from gradcli.engine.run.language.pictures import Canvas, axes_3d

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

python_axes_3d: Op = host(
    "python_axes_3d",
    lambda session, figure, **settings: axes_3d(session, figure),
    args=("figure",),
    any_name=True,
    sees=False,
    doc="`mpl_toolkits.mplot3d.Axes3D`: axes of three dimensions in a figure.",
    source="matplotlib",
    pure=False,
)
