"""Write docs/ops.md anew from the entries: `python -m gradcli.engine.ops.docs`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from gradcli.engine.ops.build import FAMILIES
from gradcli.engine.ops.registry import REQUIRED, Op, entries

PAGE = Path("docs/ops.md")

HEAD = """\
# Built-in operations

Every operation is a function, and where the last column of its row says so a method too:
`sum(x, dim=0)` and `x.sum(dim=0)`. Arguments in the signature stand in their order; `=` gives the
default of one that may be left out, `*` takes any number. `axis` is accepted for `dim`, `keepdims`
for `keepdim`. "Derivative" is where the rule comes from; without one the result is a constant to
a gradient, or no number at all. Transforms of functions are differentiated by what they call.

This page is made from the operations' own entries by `python -m gradcli.engine.ops.docs`.
"""

_TITLES = {
    "special": "Error and gamma functions",
    "special_scipy": "Special functions of the extra `special`",
    "statistics": "Statistics",
    "cumulative": "Cumulative",
    "ordering": "Sorting and searching",
    "arrange": "Repeating, turning and rolling",
    "diagonal": "Diagonals and triangles",
    "scatter": "Writing elements at places",
    "product": "Products",
    "solve": "Determinants, inverses and linear equations",
    "decompose": "Decompositions of matrices",
    "activation": "Activations",
    "loss": "Losses",
    "layer": "Layers and distances",
    "convolution": "Convolution and pooling",
    "nn": "Neural networks",
    "python": "Python's own",
    "linalg": "Matrix products and transposes",
    "create": "Making tensors",
    "random": "Random numbers",
    "transform": "Transforms of functions",
    "extreme": "Largest and smallest",
    "reduce": "Sums and other reductions",
    "norm": "Norms and distances",
    "shape": "Shapes",
    "join": "Joining and splitting",
    "index": "Picking elements",
    "compare": "Comparison and logic",
    "choice": "Choice and clamping",
}


def page() -> str:
    """Text of the page."""
    families = (f for f in FAMILIES if not f.startswith("internal"))
    return "\n".join([HEAD, *map(_section, families)])


def _section(family: str) -> str:
    found = entries(vars(import_module(f"gradcli.engine.ops.{family}"))).values()
    rows = [_row(entry) for entry in dict.fromkeys(found)]
    title = _TITLES.get(family, family.capitalize())
    head = ["| operation | meaning | derivative | method |", "|---|---|---|---|"]
    return "\n".join([f"## {title}", "", *head, *rows, ""])


def _row(entry: Op) -> str:
    names = "".join(f", `{alias}`" for alias in entry.aliases)
    cells = (
        f"`{_call(entry)}`{names}",
        " ".join(entry.doc.split()),
        _derivative(entry),
        "yes" if entry.method else "",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _call(entry: Op) -> str:
    if entry.constant is not REQUIRED:
        return entry.name
    required = len(entry.args) - entry.optional
    words = []
    for place, name in enumerate(entry.args):
        starred = entry.variadic and place == len(entry.args) - 1
        words.append(
            f"*{name}" if starred else name if place < required else f"{name}=None",
        )
    for name, default in entry.params.items():
        bare = default is REQUIRED or name.startswith("*")
        words.append(name if bare else f"{name}={default!r}")
    return f"{entry.name}({', '.join(words)})"


def _derivative(entry: Op) -> str:
    if entry.differentiable or entry.body is not None:
        return entry.source
    return ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
