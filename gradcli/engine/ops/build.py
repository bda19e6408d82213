"""Write `index.json` anew from the entries: `python -m gradcli.engine.ops.build`."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from gradcli.engine.ops.registry import entries

FAMILIES = (
    "arithmetic",
    "rounding",
    "exponential",
    "trigonometric",
    "special",
    "special_scipy",
    "compare",
    "choice",
    "reduce",
    "extreme",
    "statistics",
    "norm",
    "cumulative",
    "ordering",
    "shape",
    "arrange",
    "diagonal",
    "join",
    "index",
    "scatter",
    "linalg",
    "product",
    "solve",
    "decompose",
    "matrix_function",
    "nn",
    "activation",
    "loss",
    "layer",
    "convolution",
    "create",
    "random",
    "python",
    "transform",
    "internal",
    "internal_index",
    "internal_reduce",
    "internal_window",
    "internal_solve",
    "internal_decompose",
    "internal_contraction",
    "internal_special",
)
INDEX = Path(__file__).with_name("index.json")


def index() -> str:
    """Text of the index: the names of each family, and the names of results' fields."""
    found = {f: entries(vars(import_module(f"gradcli.engine.ops.{f}"))) for f in FAMILIES}
    fields = {field for family in found.values() for op in family.values() for field in op.fields}
    text = {
        "families": {family: sorted(names) for family, names in found.items()},
        "fields": sorted(fields),
    }
    return json.dumps(text, indent=1) + "\n"


if __name__ == "__main__":
    INDEX.write_text(index(), "utf-8")
