"""Record what PyTorch's results lie on: `python tests/ops/recorded/memory/record_memory.py`, with PyTorch 2.13
installed.

For every operation, at its own samples, with arguments that lie in memory in the ways of
`memory_layouts.py`: does a result share memory with an argument, and is it contiguous.
`tests/ops/recorded/test_memory.py` compares with what it writes, `results.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).parent
sys.path += [str(HERE.parents[2]), str(HERE.parent / "reference")]

from record import call, of_pytorch, prepare  # noqa: E402
from support.checks.memory_layouts import LAYOUTS, laid  # noqa: E402
from support.checks.oracles import samples, values  # noqa: E402

from gradcli.engine.ops.op import Op  # noqa: E402


def tensor(value: Any) -> Any:
    """A tensor on the memory of an array, with its strides."""
    if value is None:
        return None
    return torch.from_numpy(value) if hasattr(value, "strides") else torch.tensor(value)


def code(result: Any, args: list[Any]) -> str:
    """How a result lies: "n" new, "v0" on the memory of argument 0, "s0" argument 0 itself; then
    "c" where it is contiguous, else "-".
    """
    shares = "n"
    for i, a in enumerate(args):
        if result is a:
            shares = f"s{i}"
        elif (
            a is not None
            and result.numel()
            and result.untyped_storage().data_ptr() == (a.untyped_storage().data_ptr())
        ):
            shares = f"v{i}"
        if shares != "n":
            break
    return shares + ("c" if result.is_contiguous() else "-")


def row(op: Op, layout: str) -> list[str]:
    """The codes of the results of each sample; "" for what PyTorch refuses."""
    found = []
    for s in samples(op):
        given = values(s.args)
        args = [tensor(laid(a, layout)) if hasattr(a, "shape") else tensor(a) for a in given]
        try:
            outs = call(op, args, s.params)
            found.append(" ".join(code(o, args) for o in outs))
        except Exception:  # whatever it is
            found.append("")
    return found


def main() -> None:
    prepare()
    lines = []
    for name, op in of_pytorch():
        rows = [",".join(row(op, layout)) for layout in LAYOUTS]
        lines.append(f"{json.dumps(name)}: {json.dumps(rows, separators=(',', ':'))}")
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    (HERE / "results.json").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
