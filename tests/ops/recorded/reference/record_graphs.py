"""Record the nodes that PyTorch makes: `python tests/ops/recorded/reference/record_graphs.py`, with PyTorch
2.13 installed.

For every operation that a program can name and PyTorch has: the graph of each result at the
operation's own samples, down to its arguments. `graphs.json` has, by operation, the graphs
that it makes, as texts, and the samples that make each: their numbers, and "1/0" for sample 1 with a Python number as its
argument 0. `MulBackward0(0, -)`: a name and what it is made of, an argument's number for a leaf and
`-` for none; `;` parts results. `twins` has the graph of argument 0, a computed value, after the
operation has changed it in place, with the first sample of which it can be. `operators` are those of expressions in a matrix `x` and numbers.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import record  # noqa: E402  # beside this file

sys.path.insert(0, str(HERE.parents[2]))

from support.checks.oracles import samples, table, values  # noqa: E402

LONGEST = 400  # characters of a graph
NUMBER = 0.5
EXPRESSIONS = (
    *(f"{a} {sign} {b}" for sign in "+-*/" for a, b in (("x", "x"), ("x", "2"), ("2.0", "x"))),
    *("x ** x", "x ** 2", "2 ** x", "x @ x", "-x", "+x", "x % 2.0", "1 - x * x", "1 / (1 + x)"),
    *("x[0]", "x[:, 1]", "x[[0, 1]]", "x[None]", "x[0:1]", "x[:]", "x[...]", "x[x > 1]"),
    *("x.T", "x.mT", "x.t()", "abs(x)", "x.sum()", "x.sum(0)", "x.mean()", "x.mean(1)"),
    *("x.view(4)", "x.reshape(-1)", "x.clone()", "x.clamp(0, 1)", "x.clamp(min=0)", "x.relu()"),
)


def graph(node: Any, leaves: dict[Any, str]) -> str:
    """The text of the graph under a node."""
    if node is None:
        return "-"
    if type(node).__name__ == "AccumulateGrad":
        return leaves.get(id(node.variable), "leaf")
    under = ", ".join(
        graph(n, leaves) + (f".{index}" if index else "") for n, index in node.next_functions
    )
    return f"{node.name()}({under})"


def traced(x: Any, leaves: dict[Any, str]) -> str:
    """The text of the graph that made a result, "" for one that is not recorded."""
    if not isinstance(x, torch.Tensor) or not x.requires_grad:
        return ""
    if x.grad_fn is None:
        return leaves[id(x)]
    return graph(x.grad_fn, leaves) + (f".{x.output_nr}" if x.output_nr else "")


def graphs(op: Any, given: list[Any], params: dict[str, Any], number: int | None) -> str:
    """The graphs of an op's results, argument `number` being a Python number."""
    args = [record.tensor(v, torch.float64) for v in given]
    leaves = {}
    for i, a in enumerate(args):
        if i == number:
            args[i] = NUMBER
        elif a is not None and a.is_floating_point():
            a.requires_grad_()
            leaves[id(a)] = str(i)
    return "; ".join(traced(o, leaves) for o in record.call(op, args, params))


def calls(op: Any) -> Iterator[tuple[str, Any, int | None]]:
    """Each sample under its number, and again with a number in the place of each argument."""
    for i, s in enumerate(samples(op)):
        yield str(i), s, None
    if op.value.number is not None and len(op.args) > 1 and len(samples(op)) > 1:
        for at in range(len(op.args)):
            yield f"1/{at}", samples(op)[1], at


def rows(op: Any) -> dict[str, list[str]]:
    """By graph the calls that make it; what PyTorch refuses stands in absent.json."""
    found: dict[str, list[str]] = {}
    for key, s, number in calls(op):
        params = {k: v for k, v in s.params.items() if k != "dim" or v is not None}
        try:
            text = graphs(op, values(s.args), params, number)
        except Exception:  # whatever it is, there is no graph
            continue
        if len(text) < LONGEST and text.strip("; ") and "NotImplemented" not in text:
            found.setdefault(text, []).append(key)
    return found


def twin(op: Any) -> list[Any] | None:
    """The first sample for which PyTorch does the operation in place, and the graph that it makes."""
    for i, s in enumerate(samples(op)):
        args = [record.tensor(v, torch.float64) for v in values(s.args)]
        for a in args:
            if a is not None and a.is_floating_point():
                a.requires_grad_()
        leaves = {id(a): str(i) for i, a in enumerate(args)}
        named = dict(zip(op.args, args, strict=False))
        named |= {k: record.parameter(op, k, v) for k, v in s.params.items()}
        named = {k: v for k, v in named.items() if v is not None}
        try:
            changed = named.pop(op.args[0]).clone()
            in_place = getattr(changed, op.name + "_")
            try:
                in_place(**named)
            except TypeError:
                in_place(*named.values())
            return [i, traced(changed, leaves)]
        except Exception:  # whatever it is, it has none
            continue
    return None


def main() -> None:
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    twins: dict[str, Any] = {}
    for op in table().values():
        room = record.ops.families[op.name].rpartition(".")[0]
        if (
            room.endswith("internal")
            or op.constant is not record.REQUIRED
            or op.host.call is not None
        ):
            continue
        if not op.differentiable and op.value.body is None:
            continue
        if record.function(op.name) is None:
            continue
        graphs_of = rows(op)
        if graphs_of:
            found[op.name] = graphs_of
        if op.memory.inplace and (of_twin := twin(op)) is not None:
            twins[op.name] = of_twin
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    told = {text: traced(eval(text, {"x": x}), {id(x): "x"}) for text in EXPRESSIONS}
    head = json.dumps(torch.__version__.partition("+")[0])
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in found.items())
    (HERE / "graphs.json").write_text(
        f'{{"pytorch": {head}, "graphs": {{\n{lines}\n}}, "twins": {json.dumps(twins)}, "operators": '
        f"{json.dumps(told, indent=1)}}}\n",
        "utf-8",
    )


if __name__ == "__main__":
    main()
