"""Write `docs/ops.md` anew from the entries: `python -m gradcli.engine.ops.docs`."""

from __future__ import annotations

from pathlib import Path

from gradcli.engine.call import usage
from gradcli.engine.ops.build import FAMILIES
from gradcli.engine.ops.registry import REQUIRED, Op, ops

PAGE = Path(__file__).parents[3] / "docs" / "ops.md"

TITLES = {
    "arithmetic": "Arithmetic",
    "rounding": "Rounding",
    "exponential": "Exponentials and logarithms",
    "trigonometric": "Trigonometric and hyperbolic functions",
    "compare": "Comparison and logic",
    "choice": "Choice",
    "reduce": "Reductions",
    "extreme": "Largest and smallest",
    "norm": "Norms",
    "shape": "Shape",
    "join": "Joining and splitting",
    "index": "Indexing",
    "linalg": "Products",
    "nn": "Neural networks",
    "create": "Creation",
    "random": "Random numbers",
    "python": "Python's own",
    "transform": "Derivatives of functions",
}
"""Heading of each family; one without a heading is internal."""

INTRODUCTION = """\
# The built-in operations

This page is made from the operations' own table entries; write it anew with
`python -m gradcli.engine.ops.docs`.

Names, argument names and defaults are PyTorch's. Where an operation is marked *method*, it may be
called both ways: `sum(x, dim=0)` and `x.sum(dim=0)`; where it is marked *in place*, there is a twin
with an underscore that changes its first argument: `x.add_(1)`. What is marked *view* may share its
first argument's memory. `axis` is accepted for `dim`,
`keepdims` for `keepdim`. An operation marked *no derivative* gives constants. A star takes any
number of arguments, or one list of them.
"""


def page() -> str:
    """Text of the page: a table for each family."""
    tables = [f"\n## {TITLES[f]}\n\n{_table(f)}" for f in FAMILIES if f in TITLES]
    return INTRODUCTION + "".join(tables)


def _table(family: str) -> str:
    entries = [ops[name] for name, home in ops.families.items() if home == family]
    entries = sorted(set(entries), key=lambda entry: entry.name.lower())
    rows = "".join(_row(entry) for entry in entries)
    return f"| operation | meaning | marks | source |\n|---|---|---|---|\n{rows}"


def _row(entry: Op) -> str:
    also = "".join(f", also `{alias}`" for alias in entry.aliases)
    call = entry.name if entry.constant is not REQUIRED else usage(entry)
    meaning = " ".join(entry.doc.split())
    cells = (f"`{call}`{also}", meaning, ", ".join(_marks(entry)), entry.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _marks(entry: Op) -> list[str]:
    numeric = entry.host is None and entry.constant is REQUIRED and entry.body is None
    marks = {
        "method": entry.method,
        "in place": entry.inplace,
        "view": entry.view,
        "no derivative": numeric and not entry.differentiable,
    }
    return [mark for mark, holds in marks.items() if holds]


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
