"""Record what PyTorch computes: `python tests/ops/recorded/reference/record.py`, with PyTorch 2.13 installed.

For every operation that a program can name and PyTorch has: its arguments, result, the gradient of
a weighed result and the derivative along a direction, at the operation's own samples, near them,
in float32, and at its known kinks. One file a family; `tests/ops/recorded/test_reference.py` compares with it.
Rows are made from the samples by a fixed seed, so that recording twice gives the same bytes. What
PyTorch refuses is listed in `absent.json`.
"""

from __future__ import annotations

import json
import operator
import sys
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2]))

from support.checks.oracles import table, values  # noqa: E402  # beside this folder

from gradcli.engine.ops.catalog import ops  # noqa: E402
from gradcli.engine.ops.op import REQUIRED, Op, Sample, sample  # noqa: E402

LONGEST = 6000  # characters of a row
NEAR = 0.01
MODULES = (torch, torch.nn.functional, torch.linalg, torch.special)
FUNCTIONAL_FIRST = {  # torch's own takes other arguments
    "embedding",
    "log_softmax",
    "max_pool1d",
    "max_pool2d",
    "softmax",
}
LINALG_FIRST = {"cond", "matrix_rank", "solve"}

SYMMETRIC = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.7], [0.5, -0.7, 2.0]]
BATCH = [[[5.0, 1.0], [1.0, 2.0]], [[1.0, 0.3], [0.3, 2.0]]]
TALL = [[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]]
FLAGS = (
    sample([[True, False], [True, True]]),
    sample([[1.0, 0.0], [2.0, 3.0]], dim=0),
    sample([[1, 0], [0, 0]], dim=1, keepdim=True),
    sample([float("nan"), 0.0]),
    sample([]),
)
PLACES = (
    sample([3.0, 1.0, 3.0, -2.0, -2.0]),
    sample([[1.0, 5.0, 5.0], [2.0, 0.0, -1.0]], dim=1),
    sample([[1, 5], [2, 0]], dim=0, keepdim=True),
    sample([1.0, float("nan"), 7.0, float("nan")]),
)
EXTRA = {  # where an entry has no samples of its own
    "all": FLAGS,
    "any": FLAGS,
    "argmax": PLACES,
    "argmin": PLACES,
    "argwhere": (sample([[1.0, 0.0], [0.0, 2.0]]), sample([0, 3, 0, 1]), sample([0.0])),
    "slogdet": (sample(SYMMETRIC), sample([[0.5, 2.0], [3.0, 1.0]]), sample(BATCH)),
    "matrix_rank": (sample([[1.0, 2.0], [2.0, 4.0]]), sample(TALL), sample(BATCH)),
    "lstsq": (
        sample(TALL, [[1.0], [2.0], [0.5]]),
        sample([[2.0, 1.0], [0.5, 3.0]], [[1.0], [2.0]]),
    ),
    "cholesky": (sample(SYMMETRIC), sample(BATCH, upper=True), sample([[2.5]])),
    "eigh": (sample(SYMMETRIC), sample(BATCH, UPLO="U"), sample([[2.5]])),
    "eigvalsh": (sample(SYMMETRIC), sample(BATCH, UPLO="U"), sample([[2.5]])),
}

PARTS = {  # what an operation of several meanings is made of: `max(x)`, `max(x, dim)`
    "max_all": torch.max,
    "max_along": torch.max,
    "median_all": torch.median,
    "median_along": torch.median,
    "min_all": torch.min,
    "min_along": torch.min,
    "nanmedian_all": torch.nanmedian,
    "nanmedian_along": torch.nanmedian,
}


def function(name: str) -> Any:
    """PyTorch's function of a name, or its method."""
    if name == "getitem":
        return operator.getitem
    if name.startswith("math_"):
        return None  # Python's, not PyTorch's
    if name == "fill_diagonal":  # PyTorch has it in place alone
        return lambda x, **given: x.clone().fill_diagonal_(**given)
    if name == "unfold":  # that of `torch.nn.functional` is another
        return torch.Tensor.unfold
    if name.startswith("functional_"):
        return getattr(torch.nn.functional, name.removeprefix("functional_"))
    if name.startswith("torch_"):
        return getattr(torch, name.removeprefix("torch_"), None)
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
    if name in ("index", "indices", "repeats"):  # a list in a sample stands for a tensor
        if isinstance(value, list):
            return _whole(value)
        if isinstance(value, tuple):
            return tuple(_whole(v) if isinstance(v, list) else v for v in value)
    if op.name == "take" and name == "index":
        return torch.tensor(value)
    if name == "normalized_shape" and isinstance(value, int):
        return (value,)
    return value


def _whole(value: Any) -> Any:
    found = torch.tensor(value)
    return found if found.numel() else found.long()


def call(op: Op, args: list[Any], params: dict[str, Any]) -> tuple[Any, ...]:
    """The result of PyTorch's function as a tuple."""
    given = {k.removeprefix("*"): parameter(op, k, v) for k, v in params.items()}
    if not given.get("return_indices", True):
        del given["return_indices"]
    if isinstance(given.get("q"), list):
        given["q"] = torch.tensor(given["q"], dtype=args[0].dtype)
    if given.get("dim", 0) is None:
        if op.name == "prod":
            given = {}
        elif op.name == "logsumexp":
            given["dim"] = tuple(range(args[0].ndim))
    if "lu_solve" in op.name:
        args = [a if a is None or a.is_floating_point() else a.to(torch.int32) for a in args]
    if op.name in PARTS:
        given = op.params | given
        whole = op.name.endswith("_all")
        if whole and given.get("dim") is None:
            found = PARTS[op.name](args[0])
        else:
            several = {"max_all": torch.amax, "min_all": torch.amin}
            found = several.get(op.name, PARTS[op.name])(args[0], **given)
    elif op.name == "lstsq":  # the default driver's last bits change from run to run
        found = torch.linalg.lstsq(*args, driver="gels")[:1]
    elif op.name == "contraction":
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
        kept = {
            k: v for k, v in given.items() if v is not None or k in ("dim", "index", "output_size")
        }
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
    if x.numel() == 0 and x.ndim > 1:
        return {"shape": list(x.shape)}
    found = x.detach().numpy(force=True)
    if x.dtype == torch.float32:
        found = np.array([float(str(v)) for v in found.ravel()]).reshape(found.shape)
    return _texts(found)


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
        "params": repr(params),
        "values": [listed(o) for o in outs],
        "dtypes": [str(o.dtype).removeprefix("torch.") for o in outs],
    }
    recorded = [i for i, o in enumerate(outs) if o.requires_grad]
    found["recorded"] = recorded
    if not recorded:
        return found
    gs = [weights(tuple(outs[i].shape), outs[i].dtype, i) for i in recorded]
    try:
        grads = torch.autograd.grad([outs[i] for i in recorded], leaves, gs, allow_unused=True)
    except (RuntimeError, NotImplementedError):  # PyTorch has the value and no derivative
        return found
    found["vjp"] = [None if g is None else listed(g) for g in grads]
    dots = [weights(tuple(x.shape), x.dtype, 7 + i) for i, x in enumerate(leaves)]
    if op.name == "eigh":  # its forward mode reads both triangles of the direction
        dots = [(dot + dot.mT) / 2 for dot in dots]
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


def rows(op: Op) -> tuple[list[dict[str, Any]], list[str]]:
    """The rows of an op, and what PyTorch refuses of it."""
    found, refused = [], []
    seeded = np.random.default_rng(zlib.crc32(op.name.encode()))
    for s in op.page.samples() or EXTRA.get(op.name, ()):
        given = values(s.args)
        near = [_moved(v, seeded) for v in given]
        tries = [(given, torch.float64)]
        if any(_floating(v) for v in given):
            tries += [(near, torch.float64), (near, torch.float32)]
        for args, dtype in tries:
            _add(found, refused, op, args, s.params, dtype)
    for k in op.page.known():
        _add(found, refused, op, values(k.args), k.params, torch.float64)
    return found, refused


def _add(
    found: list[Any], refused: list[str], op: Op, args: list[Any], params: Any, dtype: Any
) -> None:
    try:
        made = row(op, args, params, dtype)
        text = json.dumps(made, allow_nan=False)
        if len(text) > LONGEST:
            raise ValueError(f"a row of {len(text)} characters")
    except Exception as error:  # whatever it is, it is told and the next one done
        said = str(error).split("\n", maxsplit=1)[0][:100]
        call = f"{Sample(tuple(args), params).id} in {str(dtype).removeprefix('torch.')}"
        refused.append(f"{call}: {type(error).__name__}: {said}")
    else:
        found.append(made)


def _floating(value: Any) -> bool:
    return type(value) is float or (isinstance(value, np.ndarray) and value.dtype.kind == "f")


def _moved(value: Any, rng: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        noise = rng.uniform(-1, 1, value.shape)
        if value.ndim > 1 and np.array_equal(value, np.swapaxes(value, -1, -2), equal_nan=True):
            noise = (noise + np.swapaxes(noise, -1, -2)) / 2  # what is symmetric stays so
        return value * (1 + NEAR * noise)
    return value * (1 + NEAR * rng.uniform(-1, 1)) if type(value) is float else value


def prepare() -> None:
    """Let PyTorch work as gradcli does: in float64, and always to the same bits."""
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    warnings.simplefilter("ignore")


def of_pytorch() -> Iterator[tuple[str, Op]]:
    """The ops that PyTorch has, by their names, parts of those of several meanings among them."""
    for name, op in sorted(table().items()):
        internal = ".internal." in ops.families[name] and name not in PARTS
        if (
            internal
            or op.constant is not REQUIRED
            or (op.host.call is not None and not op.page.samples())
        ):
            continue
        if name in PARTS or function(name) is not None:
            yield name, op


def main() -> None:
    prepare()
    families: dict[str, list[Any]] = {}
    absent: dict[str, list[str]] = {}
    for op in table().values():
        room, _, family = ops.families[op.name].rpartition(".")
        if room.endswith("internal"):
            family = f"internal_{family}"
        part = op.name in PARTS or op.name == "contraction"
        if family.startswith("internal") and not part:
            continue
        if op.constant is not REQUIRED or (op.host.call is not None and not op.page.samples()):
            continue
        if not part and function(op.name) is None:
            absent[op.name] = ["PyTorch has no function of this name"]
            continue
        found, refused = rows(op)
        families.setdefault(family, []).extend(found)
        if refused or not found:
            absent[op.name] = refused or ["no samples"]
    for family, found in families.items():
        lines = ",\n".join(json.dumps(r, separators=(",", ":")) for r in found)
        head = json.dumps({"pytorch": torch.__version__.partition("+")[0]})[:-1]
        (HERE / f"{family}.json").write_text(f'{head}, "rows": [\n{lines}\n]}}\n', "utf-8")
    (HERE / "absent.json").write_text(json.dumps(absent, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
