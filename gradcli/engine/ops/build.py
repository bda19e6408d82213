"""Write `index.json` anew from the entries: `python -m gradcli.engine.ops.build`."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path

from gradcli.engine.ops.registry import entries

FAMILIES = (
    "ops.families.arithmetic",
    "ops.families.rounding",
    "ops.families.exponential",
    "ops.families.trigonometric",
    "ops.families.special",
    "ops.families.special_scipy",
    "ops.families.compare",
    "ops.families.choice",
    "ops.families.reduce",
    "ops.families.extreme",
    "ops.families.statistics",
    "ops.families.norm",
    "ops.families.cumulative",
    "ops.families.ordering",
    "ops.families.shape",
    "ops.families.arrange",
    "ops.families.diagonal",
    "ops.families.join",
    "ops.families.index",
    "ops.families.scatter",
    "ops.families.linalg",
    "ops.families.product",
    "ops.families.solve",
    "ops.families.decompose",
    "ops.families.matrix_function",
    "ops.families.nn",
    "ops.families.activation",
    "ops.families.loss",
    "ops.families.layer",
    "ops.families.convolution",
    "builtins.create",
    "builtins.random",
    "builtins.python",
    "builtins.transforms",
    "ops.internal.core",
    "ops.internal.index",
    "ops.internal.reduce",
    "ops.internal.window",
    "ops.internal.solve",
    "ops.internal.decompose",
    "ops.internal.contraction",
    "ops.internal.special",
)
INDEX = Path(__file__).with_name("index.json")


def index() -> str:
    """Text of the index: the names of each family, and the names of results' fields."""
    found = {f: entries(vars(import_module(f"gradcli.engine.{f}"))) for f in FAMILIES}
    fields = {field for family in found.values() for op in family.values() for field in op.fields}
    text = {
        "families": {family: sorted(names) for family, names in found.items()},
        "fields": sorted(fields),
    }
    return json.dumps(text, indent=1) + "\n"


if __name__ == "__main__":
    INDEX.write_text(index(), "utf-8")
