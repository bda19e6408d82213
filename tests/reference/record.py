"""Record what PyTorch computes: `python tests/reference/record.py`, with PyTorch 2.13 installed.

For every operation that a program can name and PyTorch has: its arguments, result, the gradient of
a weighed result and the derivative along a direction, at the operation's own samples, near them,
and in float32. One file a family; `tests/test_reference.py` compares with it. Rows are made from
the samples by a fixed seed, so that recording twice gives the same bytes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from oracles import table, values  # noqa: E402  # beside this folder

from gradcli.engine.ops.registry import Op, ops  # noqa: E402

SAMPLES = 5  # of each op; each also near it and in float32
NEAR = 0.01
MODULES = (torch, torch.nn.functional, torch.linalg, torch.special)
FUNCTIONAL_FIRST = {"embedding", "max_pool1d", "max_pool2d"}  # torch's own takes other arguments
LINALG_FIRST = {"solve", "cond"}


def function(name: str) -> Any:
    """PyTorch's function of a name, or its method."""
    if name.startswith("linalg_"):
        return getattr(torch.linalg, name.removeprefix("linalg_"), None)
    first: tuple[Any, ...] = ()
    if name in FUNCTIONAL_FIRST or name.endswith("_loss") or "entropy" in name or name == "kl_div":
        first = (torch.nn.functional,)
    elif name in LINALG_FIRST:
        first = (torch.linalg,)
    for module in (*first, *MODULES):
        found = getattr(module, name, None)
        if callable(found):
            return found
    return getattr(torch.Tensor, name, None)


def tensor(value: Any, dtype: Any) -> Any:
    if value is None:
        return None
    found = torch.tensor(np.asarray(value))
    return found.to(dtype) if found.is_floating_point() else found


def parameter(op: Op, name: str, value: Any) -> Any:
    if name == "index" and isinstance(value, list):
        return torch.tensor(value)
    if name == "indices" and isinstance(value, tuple):
        return tuple(torch.tensor(v) for v in value)
    if name in ("indices",) and isinstance(value, list):
        return torch.tensor(value)
    if name == "repeats" and isinstance(value, list):
        return torch.tensor(value)
    if name == "q" and isinstance(value, list):
        return torch.tensor(value, dtype=torch.float64)
    return value


def call(op: Op, args: list[Any], params: dict[str, Any]) -> tuple[Any, ...]:
    """The result of PyTorch's function as a tuple."""
    given = {k.removeprefix("*"): parameter(op, k, v) for k, v in params.items()}
    if not given.get("return_indices", True):
        del given["return_indices"]
    if "lu_solve" in op.name:
        args = [a if a is None or a.is_floating_point() else a.to(torch.int32) for a in args]
    if op.name == "contraction":
        found = torch.einsum(given["equation"], *args)
    elif op.name in (
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "meshgrid",
        "cartesian_prod",
        "block_diag",
    ):
        found = function(op.name)(*args, **given)
    elif op.name == "multi_dot":
        found = torch.linalg.multi_dot(args)
    elif op.variadic:
        found = function(op.name)(args, **given)
    elif op.order:
        named = dict(zip(op.args, args, strict=False)) | given
        named = {k: v for k, v in named.items() if v is not None}
        receiver = named.pop(op.args[0])
        found = _called(op.name, [receiver], named)
    else:
        kept = {k: v for k, v in given.items() if v is not None or k in ("dim", "output_size")}
        cut = next((i for i, a in enumerate(args) if a is None), len(args))
        named = zip(op.args[cut:], args[cut:], strict=False)
        kept |= {name: a for name, a in named if a is not None}
        found = _called(op.name, args[:cut], kept)
    return tuple(found) if isinstance(found, (tuple, list)) else (found,)


def _called(name: str, args: list[Any], params: dict[str, Any]) -> Any:
    """By keyword; then without the `dim=None` that some do not take; then as a method."""
    attempts = [params, {k: v for k, v in params.items() if v is not None}]
    errors = []
    for given in attempts:
        for target in (function(name), getattr(torch.Tensor, name, None)):
            if target is None:
                continue
            try:
                return target(*args, **given)
            except TypeError as error:
                errors.append(error)
            try:
                return target(*args, *given.values())
            except TypeError as error:
                errors.append(error)
    raise errors[0] if errors else TypeError("PyTorch has no such function")


def listed(x: Any) -> Any:
    """A tensor as data for JSON: float32 by its own shortest text."""
    if x.dtype == torch.float32:
        return _texts(
            np.array([float(str(v)) for v in x.detach().numpy().ravel()]).reshape(x.shape)
        )
    return _texts(x.detach().numpy())


def _texts(array: Any) -> Any:
    if array.ndim:
        return [_texts(part) for part in array]
    item = array.item()
    return str(item) if isinstance(item, float) and not np.isfinite(item) else item


def weights(shape: tuple[int, ...], dtype: Any, start: int) -> Any:
    """Numbers between 1/2 and 3/2 that are no multiples of each other."""
    count = int(np.prod(shape, dtype=int))
    return torch.tensor(1.0 + 0.5 * np.sin(np.arange(count) + start)).reshape(shape).to(dtype)


def row(op: Op, given: list[Any], params: dict[str, Any], dtype: Any) -> dict[str, Any] | None:
    """One row, or None where there is nothing to compare."""
    args = [tensor(v, dtype) for v in given]
    floats = [i for i, a in enumerate(args) if a is not None and a.is_floating_point()]
    leaves = [args[i].clone().requires_grad_() for i in floats]

    def f(*xs: Any) -> tuple[Any, ...]:
        placed = list(args)
        for i, x in zip(floats, xs, strict=True):
            placed[i] = x
        return call(op, placed, params)

    try:
        outs = f(*leaves)
    except (RuntimeError, NotImplementedError):  # it refuses to record: the value alone
        outs = f(*(x.detach() for x in leaves))
    found: dict[str, Any] = {
        "op": op.name,
        "dtype": str(dtype).removeprefix("torch."),
        "args": [None if a is None else listed(a) for a in args],
        "params": params,
        "values": [listed(o) for o in outs],
        "dtypes": [str(o.dtype).removeprefix("torch.") for o in outs],
    }
    recorded = [i for i, o in enumerate(outs) if o.requires_grad]
    if not recorded:
        return found
    gs = [weights(tuple(outs[i].shape), outs[i].dtype, i) for i in recorded]
    try:
        grads = torch.autograd.grad([outs[i] for i in recorded], leaves, gs, allow_unused=True)
    except (RuntimeError, NotImplementedError):  # PyTorch has the value and no derivative
        return found
    found["vjp"] = [None if g is None else listed(g) for g in grads]
    dots = [weights(tuple(x.shape), x.dtype, 7 + i) for i, x in enumerate(leaves)]
    found["jvp"] = _pushed(f, leaves, dots, recorded)
    return found


def _pushed(f: Any, leaves: list[Any], dots: list[Any], recorded: list[int]) -> Any:
    def smooth(*xs: Any) -> tuple[Any, ...]:
        outs = f(*xs)
        return tuple(outs[i] for i in recorded)

    plain = tuple(x.detach() for x in leaves)
    try:
        _, pushed = torch.func.jvp(smooth, plain, tuple(dots))
    except (RuntimeError, NotImplementedError):
        try:
            _, pushed = torch.autograd.functional.jvp(smooth, plain, tuple(dots))
        except (RuntimeError, NotImplementedError):
            return None
    return [listed(p) for p in (pushed if isinstance(pushed, tuple) else (pushed,))]


def rows(op: Op) -> tuple[list[dict[str, Any]], str]:
    """The rows of an op, and why there is none."""
    found, reason = [], "no sample that PyTorch takes"
    seeded = np.random.default_rng(sum(map(ord, op.name)))
    for s in op.samples()[:SAMPLES]:
        given = values(s.args)
        near = [_moved(v, seeded) for v in given]
        for args, dtype in ((given, torch.float64), (near, torch.float64), (near, torch.float32)):
            try:
                made = row(op, args, s.params, dtype)
                text = json.dumps(made, allow_nan=False)
            except (
                TypeError,
                ValueError,
                RuntimeError,
                IndexError,
                NotImplementedError,
                AttributeError,
            ) as error:
                reason = str(error).split("\n")[0][:100]
                continue
            if len(text) < 4000:
                found.append(made)
    return found, reason


def _moved(value: Any, rng: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value * (1 + NEAR * rng.uniform(-1, 1, value.shape))
    return value * (1 + NEAR * rng.uniform(-1, 1)) if type(value) is float else value


def main() -> None:
    torch.set_num_threads(1)
    families: dict[str, list[Any]] = {}
    absent: dict[str, str] = {}
    for op in table().values():
        family = ops.families[op.name]
        internal = family.startswith("internal") and op.name != "contraction"
        if internal or op.host is not None or not op.samples():
            continue
        if op.name != "contraction" and function(op.name) is None:
            absent[op.name] = "PyTorch has no function of this name"
            continue
        found, reason = rows(op)
        if found:
            families.setdefault(family, []).extend(found)
        else:
            absent[op.name] = reason
    for family, found in families.items():
        lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in found)
        head = json.dumps({"pytorch": torch.__version__.partition("+")[0]})[:-1]
        (HERE / f"{family}.json").write_text(f'{head}, "rows": [\n{lines}\n]}}\n', "utf-8")
    (HERE / "absent.json").write_text(json.dumps(absent, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
