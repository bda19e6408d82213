"""Compare the ops with PyTorch on PyTorch's samples: `python tests opinfo [NAME ...]`, with PyTorch
2.13 and `expecttest` installed.

PyTorch's tests list its operations in a table, `OpInfo`, with samples of every argument. For each
operation that a program can name, values and gradients of both sides are compared. Refusals and
differences are reported by operation, unless `DIFFERS` gives a reason.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

from gradcli.engine.autodiff.backward import cotangents
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run.fast.call import by_name
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor, leaf, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet
from gradcli.engine.values.dtypes import DTYPES
from gradcli.errors import GradError

RTOL, ATOL = 1e-7, 1e-9
ORDERED = {  # functions whose arguments have another order in the table
    "embedding": (1, 0),
    "polygamma": (1, 0),
    "where": (1, 0, 2),
}
LEFT_OUT = {  # random, without values, or methods with another meaning here
    *("bernoulli", "bool", "dropout", "empty_like", "float", "int", "multinomial", "normal"),
    *("rand", "rand_like", "randint", "randint_like", "randn", "randn_like"),
}
COMPOSED = {"linalg.pinv.singular", "linalg.lstsq.grad_oriented"}  # the table's own
TRIANGLE = "the other triangle is not read, so its gradient is 0; PyTorch's formula fills it"
GAUGE = "the signs and the bases of the vectors are LAPACK's at hand"
BASES = "the bases beyond the rank are not unique; PyTorch leaves their cotangents out"
SMALL_INTS = "ints have 64 bits"
RECTANGLES = "the gradient of a rectangle's LU is not here; `gradcli ops lu_factor` says so"
DIFFERS = {  # by operation: a difference, and its reason
    "cholesky_inverse": {"gradient": TRIANGLE},
    "cholesky_solve": {"gradient": TRIANGLE},
    "svd": {"gradient refused": BASES, "value": GAUGE},
    "linalg_svd": {"gradient refused": BASES, "value": GAUGE},
    "eigh": {"value": GAUGE},
    "bucketize": {"refused: `out_int32": SMALL_INTS},
    "searchsorted": {"refused: `out_int32": SMALL_INTS},
    "norm": {"refused: `p` must be a number, got 'nuc'": "`matrix_norm` has it"},
    "lstsq": {"shape": "residuals and singular values are given with every driver"},
    "lu_factor": {"refused: `lu_factor` needs square": RECTANGLES},
    "linalg_lu": {"refused: `lu` needs square": RECTANGLES},
    "pinv": {
        "gradient refused": "PyTorch's formula is wrong where the limits cut off more than zeros",
        "gradient": "of `hermitian=True` it is symmetric, as that of `eigh`",
    },
}


def entry_name(name: str) -> str | None:
    """The name here of an operation in PyTorch's table, or None."""
    *rooms, last = name.split(".")
    for found in ("_".join([*rooms, last]), last):
        public = found in ops and ".internal" not in ops.families[found]
        if found in LEFT_OUT or "masked" in rooms or "sparse" in rooms:
            return None
        if public and ops[found].constant is REQUIRED:
            return found
    return None


class Absent(Exception):
    """A sample uses something that the language lacks."""


def ours(value: Any, leaves: list[tuple[Any, Tensor]]) -> Any:
    """An argument in the language's types; tensors to differentiate by are appended to `leaves`."""
    if isinstance(value, torch.Tensor):
        if str(value.dtype).removeprefix("torch.") not in DTYPES:
            raise Absent(str(value.dtype))
        array = value.detach().numpy().copy()
        if not value.requires_grad:
            return Tensor(array if array.ndim else array.item())
        made = leaf(array if array.ndim else array.item())
        leaves.append((value, made))
        return made
    if isinstance(value, torch.dtype):
        name = str(value).removeprefix("torch.")
        if name not in DTYPES:
            raise Absent(name)
        return DTYPES[name]
    if isinstance(value, (list, tuple)):
        made = [ours(v, leaves) for v in value]
        return made if type(value) is list else tuple(made)
    if isinstance(value, slice):
        return slice(*(ours(v, leaves) for v in (value.start, value.stop, value.step)))
    if isinstance(value, (complex, torch.memory_format, torch.layout, torch.device)):
        raise Absent(type(value).__name__)
    return value


def tensors(found: Any) -> Iterator[Any]:
    """The tensors and numbers of a result, in order."""
    if isinstance(found, (list, tuple)):
        for part in found:
            yield from tensors(part)
    else:
        yield found


def plain(value: Any) -> Any:
    """A tensor or number of either side as an array."""
    if isinstance(value, torch.Tensor):
        return value.detach().numpy()
    return np.asarray(data_of(value))


def apart(found: Any, expected: Any) -> str:
    """The difference between two results, "" if there is none."""
    found, expected = plain(found), plain(expected)
    if found.shape != expected.shape:
        return f"shape {list(found.shape)}, not {list(expected.shape)}"
    if found.dtype != expected.dtype and "int32" not in str(expected.dtype):
        return f"dtype {found.dtype}, not {expected.dtype}"
    if not np.allclose(found, expected, RTOL, ATOL, equal_nan=True):
        return "value"
    return ""


def weight(shape: tuple[int, ...], start: int) -> Any:
    count = int(np.prod(shape, dtype=int))
    return (1.0 + 0.5 * np.sin(np.arange(count) + start)).reshape(shape)


def compared(name: str, info: Any, sample: Any) -> str:
    """The outcome of a sample: "agrees", or the difference."""
    leaves: list[tuple[Any, Tensor]] = []
    try:
        expected = info.op(sample.input, *sample.args, **sample.kwargs)
    except Exception:  # PyTorch refuses its own sample
        return "PyTorch refuses"
    op = ops[name]
    args = [ours(a, leaves) for a in (sample.input, *sample.args)]
    if name in ORDERED:
        args = [args[i] for i in ORDERED[name]] + args[len(ORDERED[name]) :]
    keywords = {k: ours(v, leaves) for k, v in sample.kwargs.items()}
    if op.variadic and op.host.call is None and not isinstance(sample.input, (list, tuple)):
        args = [args]
    if name == "einsum":
        args = [args[1], *args[0]]
    try:
        with Quiet():
            found = by_name(op, None)(Session(), *args, **keywords)
    except GradError as error:
        return f"refused: {error.diagnostics[0].message}"
    got, wanted = list(tensors(found)), list(tensors(expected))
    if len(got) != len(wanted):
        return f"{len(got)} results, not {len(wanted)}"
    for a, b in zip(got, wanted, strict=True):
        if difference := apart(a, b):
            return difference
    return gradients(got, wanted, leaves)


def gradients(got: list[Any], wanted: list[Any], leaves: list[tuple[Any, Tensor]]) -> str:
    """The difference between the gradients of a weighted result."""
    places = [i for i, w in enumerate(wanted) if isinstance(w, torch.Tensor) and w.requires_grad]
    if not places or not leaves:
        return "agrees"
    gs = [weight(tuple(wanted[i].shape), i) for i in places]
    try:
        expected = torch.autograd.grad(
            [wanted[i] for i in places],
            [x for x, _ in leaves],
            [torch.tensor(g).to(wanted[i].dtype) for i, g in zip(places, gs, strict=True)],
            allow_unused=True,
        )
    except Exception:  # a value without a derivative
        return "agrees"
    roots = []
    for i, g in zip(places, gs, strict=True):
        node = node_of(got[i]) if isinstance(got[i], Tensor) else None
        if node is not None:
            roots.append((node, got[i].index, g if g.ndim else g.item()))
    with Quiet():
        try:
            found = cotangents(roots, [x.node for _, x in leaves]) if roots else {}
        except GradError as error:
            return f"gradient refused: {error.diagnostics[0].message}"
    for e, (x, mine) in zip(expected, leaves, strict=True):
        zero = np.zeros(tuple(x.shape))
        c = found.get(mine.node, zero)
        if not np.allclose(plain(c), zero if e is None else plain(e), RTOL, ATOL, equal_nan=True):
            return "gradient"
    return "agrees"


def samples(info: Any) -> Iterator[Any]:
    torch.manual_seed(0)
    dtype = torch.float64 if torch.float64 in info.dtypes else torch.int64
    grad = dtype.is_floating_point and info.supports_autograd
    yield from info.sample_inputs("cpu", dtype, requires_grad=grad)


def main(wanted: list[str]) -> None:
    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    total: Counter[str] = Counter()
    for info in op_db:
        name = entry_name(info.name)
        if name is None or (wanted and name not in wanted and info.name not in wanted):
            continue
        variant = f".{info.variant_test_name}" if info.variant_test_name else ""
        if info.name + variant in COMPOSED:
            continue
        told: Counter[str] = Counter()
        try:
            for sample in samples(info):
                try:
                    told[compared(name, info, sample)] += 1
                except Absent:
                    continue
                except Exception as error:
                    told[f"BUG {type(error).__name__}: {error}"[:150]] += 1
        except Exception as error:
            told[f"no samples: {error}"[:100]] += 1
        total["agrees"] += told.pop("agrees", 0)
        told.pop("PyTorch refuses", 0)
        for what, count in told.most_common():
            known = any(what.startswith(way) for way in DIFFERS.get(ops[name].name, {}))
            total["known" if known else "open"] += count
            if not known:
                sys.stdout.write(f"{info.name}{variant}: {count} x {what[:170]}\n")
    sys.stdout.write(", ".join(f"{count} {what}" for what, count in total.items()) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
