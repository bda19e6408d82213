"""Record the dtypes of PyTorch's results: `python tests/ops/recorded/reference/promotions.py`.

For every operation the dtype of what it gives for the calls of
`dtype_calls.py`: a letter for each in `promotions.json`, "-" where PyTorch refuses;
`tests/ops/recorded/test_promotions.py` compares with it.
"""

from __future__ import annotations

import importlib
import json
import operator
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from record import HERE, call  # it finds what stands beside the rooms

from gradcli.engine.ops.catalog import ops

calls = importlib.import_module("support.programs.dtype_calls")
table = importlib.import_module("support.checks.oracles").table

OPERATORS = {  # which take numbers on both sides, as PyTorch's functions do not
    **{name: getattr(operator, name) for name in ("add", "sub", "mul", "pow", "eq", "ne", "lt")},
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "div": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
}


def letters(op: Any) -> Iterator[str]:
    """What PyTorch gives in each call, a letter for every result."""
    sign = OPERATORS.get(op.name)
    for _, args, params in calls.calls(op):
        given = [torch.tensor(a) if isinstance(a, np.ndarray) else a for a in args]
        try:
            out = (sign(*given),) if sign and not params else call(op, given, params)
        except Exception:
            yield "-"
        else:
            dtypes = [str(getattr(o, "dtype", "")).removeprefix("torch.") for o in out]
            yield "".join(
                calls.LETTERS.get(dtype, "i" if "int" in dtype else "-") for dtype in dtypes
            )


def main() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    warnings.simplefilter("ignore")
    rows = {}
    for name, op in table().items():
        if op.host.call is None and ".internal." not in ops.families[name]:
            found = list(letters(op))
            if set("".join(found)) - {"-"}:
                rows[name] = (" " if max(map(len, found)) > 1 else "").join(found)
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found)}" for name, found in rows.items())
    head = json.dumps({"pytorch": torch.__version__.partition("+")[0]})[:-1]
    (HERE.parent / "promotions.json").write_text(f'{head}, "dtypes": {{\n{lines}\n}}}}\n', "utf-8")


if __name__ == "__main__":
    main()
