"""Record where PyTorch refuses a second backward pass: `python tests/ops/recorded/memory/record_freed.py`, with
PyTorch 2.13 installed.

For every operation, at the first of its samples, by which of its floating arguments are
differentiated and which is a number of Python's. `tests/ops/recorded/test_freed.py` compares with what it
writes, `freed.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

HERE = Path(__file__).parent
sys.path += [str(HERE.parents[2]), str(HERE.parent / "reference")]

from record import call, of_pytorch, prepare  # noqa: E402
from record_saved import FIRST, arguments, floating  # noqa: E402
from support.checks.oracles import samples, values  # noqa: E402

from gradcli.engine.ops.op import Op, Sample  # noqa: E402

NUMBER = 0.5


def cell(op: Op, s: Sample, connected: set[int], number: int | None) -> str:
    """ "r" where the second pass is refused, "." where it is not, "?" where PyTorch takes none of it."""
    try:
        args = arguments(s, connected)
        if number is not None:
            args[number] = NUMBER
        roots = [o for o in call(op, args, s.params) if o.requires_grad]
        if not roots:
            return "?"
        ones = [torch.ones_like(o) for o in roots]
        edges = [a for i, a in enumerate(args) if i in connected]
        torch.autograd.grad(roots, edges, ones, allow_unused=True)
    except Exception:  # whatever it is
        return "?"
    try:
        torch.autograd.grad(roots, edges, ones, allow_unused=True)
    except RuntimeError as error:
        return "r" if "a second time" in str(error) else "?"
    return "."


def choices(s: Sample) -> list[tuple[set[int], int | None]]:
    """What is differentiated, and what is a number."""
    given = [None if a is None else torch.tensor(a) for a in values(s.args)]
    floats = [i for i, a in enumerate(given) if floating(a)]
    sets = [set(floats), *({i} for i in floats)] if len(floats) > 1 else [set(floats)]
    found: list[tuple[set[int], int | None]] = [(c, None) for c in sets if c]
    return found + [({i}, j) for i in floats for j in floats if i != j]


def row(op: Op) -> str:
    """The answers for the first samples."""
    return ",".join(
        "".join(cell(op, s, *choice) for choice in choices(s)) for s in samples(op)[:FIRST]
    )


def main() -> None:
    prepare()
    rows = {name: row(op) for name, op in of_pytorch()}
    lines = [f"{json.dumps(n)}: {json.dumps(r)}" for n, r in rows.items() if r.strip("?,")]
    (HERE / "freed.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
