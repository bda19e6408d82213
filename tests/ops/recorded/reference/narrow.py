"""Record the dtypes and values of PyTorch's results for dtypes of fewer bits: `python
tests/ops/recorded/reference/narrow.py`.

For every operation the dtype of what it gives for the calls of `dtype_calls.narrow_calls`, a letter
for each in `narrow.json`, "-" where PyTorch refuses; and of element-wise ones the values.
`tests/ops/recorded/test_narrow.py` compares with it.
"""

from __future__ import annotations

import importlib
import json
import warnings
from typing import Any

import numpy as np
import torch
from promotions import OPERATORS  # it finds what stands beside the rooms
from record import HERE, call

from gradcli.engine.ops.catalog import ops

calls = importlib.import_module("support.programs.dtype_calls")
table = importlib.import_module("support.checks.oracles").table
LETTERS = {**calls.LETTERS, **calls.NARROW}


def answers(op: Any) -> list[str]:
    """What PyTorch gives in each call: a letter for every result."""
    sign = OPERATORS.get(op.name)
    found = []
    for _, args, params in calls.narrow_calls(op):
        given = [torch.tensor(a) if isinstance(a, np.ndarray) else a for a in args]
        try:
            out = (sign(*given),) if sign and not params else call(op, given, params)
        except Exception:
            found.append("-")
            continue
        names = [str(getattr(o, "dtype", "")).removeprefix("torch.") for o in out]
        found.append("".join(LETTERS.get(n, "-") for n in names))
    return found


def texts() -> dict[str, list[str]]:
    """What PyTorch prints for them, by dtype; "-" where it refuses."""
    found: dict[str, list[str]] = {}
    for name in calls.NARROW:
        dtype = getattr(torch, name)
        ends = torch.finfo(dtype) if dtype.is_floating_point else torch.iinfo(dtype)
        x = torch.tensor([ends.max, ends.min, 5, 0], dtype=dtype)
        found[name] = [_text(expression, x) for expression in calls.EXPRESSIONS]
    return found


def _text(expression: str, x: Any) -> str:
    try:
        return str(eval(expression, {"x": x, "abs": abs, "torch": torch}))
    except Exception:
        return "-"


def main() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    warnings.simplefilter("ignore")
    rows = {}
    for name, op in table().items():
        if op.host.call is None and ".internal." not in ops.families[name]:
            found = answers(op)
            if set("".join(found)) - {"-"}:
                rows[name] = (" " if max(map(len, found)) > 1 else "").join(found)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in rows.items())
    printed = json.dumps(texts(), indent=0)
    head = json.dumps({"pytorch": torch.__version__.partition("+")[0]})[:-1]
    text = f'{head}, "dtypes": {{\n{lines}\n}}, "texts": {printed}}}\n'
    (HERE.parent / "narrow.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
