"""Record which changes PyTorch refuses: `python tests/ops/recorded/memory/record_saved.py`, with PyTorch 2.13
installed.

For every operation, at the first of its samples: an argument or a result is changed in place after the
operation, and then the gradient is taken. `tests/ops/recorded/test_saved.py` compares with what it writes,
`saved.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).parent
FIRST = 2
sys.path += [str(HERE.parents[2]), str(HERE.parent / "reference")]

from record import call, of_pytorch, prepare  # noqa: E402
from support.checks.oracles import samples, values  # noqa: E402

from gradcli.engine.ops.op import Op, Sample  # noqa: E402


def floating(a: Any) -> bool:
    return a is not None and a.is_floating_point()


def arguments(s: Sample, connected: set[int]) -> list[Any]:
    """The sample's arguments, those that are to be differentiated computed from leaves."""
    found = [None if a is None else torch.tensor(a) for a in values(s.args)]
    return [a.clone().requires_grad_() * 1 if i in connected else a for i, a in enumerate(found)]


def change(x: Any) -> None:
    """Change a value in place to what it is."""
    x.mul_(1) if floating(x) else x.copy_(x.clone())


def refused(op: Op, s: Sample, connected: set[int], changed: str) -> bool:
    """Whether the gradient is refused when "0", argument 0, or "r0", result 0, has been changed."""
    args = arguments(s, connected)
    outs = [*call(op, args, s.params)]
    place = int(changed.removeprefix("r"))
    with torch.autograd.set_grad_enabled(True):
        change(outs[place] if changed.startswith("r") else args[place])
    roots = [o for o in outs if o.requires_grad]
    try:
        torch.autograd.backward(roots, [torch.ones_like(o) for o in roots])
    except RuntimeError as error:
        if "modified by an inplace operation" not in str(error):
            raise
        return True
    return False


def cell(op: Op, s: Sample, connected: set[int]) -> str:
    """What must not be changed, of arguments and results; "?" where PyTorch takes none of it."""
    try:
        args = arguments(s, connected)
        outs = call(op, args, s.params)
        if not any(o.requires_grad for o in outs):
            return "?"
        shared = {a.untyped_storage().data_ptr() for a in args if a is not None}
        of_results = [
            f"r{i}" for i, o in enumerate(outs) if o.untyped_storage().data_ptr() not in shared
        ]
        if len(of_results) < len(outs):
            return "?"
        places = [str(i) for i, a in enumerate(args) if a is not None]
        return " ".join(p for p in [*places, *of_results] if refused(op, s, connected, p))
    except Exception:  # whatever it is
        return "?"


def row(op: Op) -> list[str]:
    """For each sample what must not be changed where all floating arguments are differentiated, and
    where each of them is alone.
    """
    found = []
    for s in samples(op)[:FIRST]:
        given = [None if a is None else torch.tensor(a) for a in values(s.args)]
        floats = [i for i, a in enumerate(given) if floating(a)]
        choices = [set(floats), *({i} for i in floats)] if len(floats) > 1 else [set(floats)]
        found.append(";".join(cell(op, s, c) if c else "?" for c in choices))
    return found


def main() -> None:
    prepare()
    lines = []
    for name, op in of_pytorch():
        found = row(op)
        if any(cell.strip("?;") or cell in ("", ";") for cell in found):
            lines.append(f"{json.dumps(name)}: {json.dumps(','.join(found))}")
    (HERE / "saved.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
