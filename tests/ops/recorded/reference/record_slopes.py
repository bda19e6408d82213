"""Record which derivatives have a graph in PyTorch: `python tests/ops/recorded/reference/record_slopes.py`,
with PyTorch 2.13 installed.

For every operation that a program can name and PyTorch has, at its own samples: whether the gradient
of its results by each floating argument is left out, `-`, a constant, `c`, or can be differentiated
again, by each argument in turn: of `x * y` they are `(-c) (c-)`, where `g` is one that still can.
`slopes.json` has, by operation, these texts and the numbers of the samples of each.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import record  # noqa: E402  # beside this file

sys.path.insert(0, str(HERE.parents[2]))

from support.checks.oracles import samples, table, values  # noqa: E402


def told(op: Any, given: list[Any], params: dict[str, Any]) -> str:
    """Which derivatives of an op have a graph."""
    args = [record.tensor(v, torch.float64) for v in given]
    leaves = [a.requires_grad_() for a in args if a is not None and a.is_floating_point()]
    outs = [o for o in record.call(op, args, params) if o.requires_grad]
    if not outs:
        return ""
    return " ".join(_again(g, leaves) for g in _slopes(outs, leaves))


def _slopes(outs: list[Any], leaves: list[Any]) -> Any:
    units = [torch.ones_like(o) for o in outs]
    return torch.autograd.grad(outs, leaves, units, create_graph=True, allow_unused=True)


def _again(g: Any, leaves: list[Any]) -> str:
    if _letter(g) != "g":
        return _letter(g)
    return f"({''.join(map(_letter, _slopes([g], leaves)))})"


def _letter(g: Any) -> str:
    return "-" if g is None else "g" if g.requires_grad else "c"


def rows(op: Any) -> dict[str, list[int]]:
    """By text the samples that it is of; what PyTorch refuses is left out."""
    found: dict[str, list[int]] = {}
    for i, s in enumerate(samples(op)):
        params = {k: v for k, v in s.params.items() if k != "dim" or v is not None}
        try:
            text = told(op, values(s.args), params)
        except Exception:  # whatever it is, there is no derivative
            continue
        if text:
            found.setdefault(text, []).append(i)
    return found


def main() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for op in table().values():
        room = record.ops.families[op.name].rpartition(".")[0]
        if (
            room.endswith("internal")
            or op.constant is not record.REQUIRED
            or op.host.call is not None
        ):
            continue
        if (op.differentiable or op.value.body is not None) and record.function(
            op.name
        ) is not None:
            of_op = rows(op)
            if of_op:
                found[op.name] = of_op
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(of_op)}" for name, of_op in found.items())
    head = json.dumps(torch.__version__.partition("+")[0])
    (HERE / "slopes.json").write_text(
        f'{{"pytorch": {head}, "slopes": {{\n{lines}\n}}}}\n', "utf-8"
    )


if __name__ == "__main__":
    main()
