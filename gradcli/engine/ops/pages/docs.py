"""Write docs/ops.md from the entries: `python -m gradcli.engine.ops.pages.docs`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from gradcli.engine.ops.pages.describe import operations
from gradcli.results import Operation

PAGE = Path("docs/ops.md")

HEAD = """\
# Built-in operations

Every operation is a function, and where the last column of its row says so a method too:
`sum(x, dim=0)` and `x.sum(dim=0)`. Arguments in the signature stand in their order; `=` gives the
default of one that may be left out, `*` takes any number. `axis` is accepted for `dim`, `keepdims`
for `keepdim`. An operation that says `_` can also be written with `_` behind its name as a method,
`x.sin_()`, and then changes its tensor in place.

Every operation takes `out=x`, a tensor without a gradient that gets the result. Arguments that
PyTorch takes and that mean nothing here, such as `memory_format`, `layout` or the `driver` of
`svd`, are refused by name, and so are ints of 32 bits (`out_int32=True`), LU without pivoting or of
matrices that are not square, and `norm(x, 'nuc')` (`matrix_norm` has it).

"Derivative" gives the cotangent of each argument from g, the cotangent of the result: the
operation's own rule, as it is computed, with `out` for the result (sizes are those of an example;
what broadcasting copied is summed).
Where no formula stands, the derivative is that of the operations it is made of, or goes by cases;
a dash stands for an operation without one. `gradcli ops NAME` tells, besides, what holds at kinks,
ties and edges, and where the formula is from.

This page is made from the operations' own entries by `python -m gradcli.engine.ops.pages.docs`.
"""


def page() -> str:
    """Text of the page."""
    families = groupby(operations(), key=lambda operation: operation.family)
    return "\n".join([HEAD, *(_section(title, list(group)) for title, group in families)])


def _section(title: str, group: list[Operation]) -> str:
    head = ["| operation | meaning | derivative | method |", "|---|---|---|---|"]
    return "\n".join([f"## {title}", "", *head, *map(_row, group), ""])


def _row(operation: Operation) -> str:
    names = "".join(f", `{alias}`" for alias in operation.aliases)
    cells = (
        f"`{operation.signature}`{names}",
        operation.meaning,
        _derivative(operation),
        ("yes, `_`" if operation.inplace else "yes") if operation.method else "",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _derivative(operation: Operation) -> str:
    formulas = [f"{name}: `{text}`" for name, text in operation.derivative.items()]
    return "<br>".join(formulas) or ("" if operation.differentiable else "-")


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
