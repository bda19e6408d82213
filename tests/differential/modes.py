"""Whether gradcli agrees with itself on a program: both modes, rows one by one and together, in one
process and in two, and what `backward` leaves.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gradcli.program import Program as Loaded
from gradcli.program import load

from . import by_gradcli
from .answers import Facts
from .compare import same_value
from .program import Program

sys.path.append(str(Path(__file__).parents[1]))

from support.processes.in_process import command


def differentiable(facts: Facts) -> bool:
    """Whether a program has a gradient."""
    return any(name.startswith("gradient ") for name in facts)


def of_modes(program: Program, loaded: Loaded) -> str:
    """Where Jacobians and Hessians by either mode differ, or a Hessian's product with a direction;
    empty if they do not.
    """
    if program.hooked:
        return ""
    forward, reverse = (
        loaded.jacobian(wrt=program.wrt, mode=mode).jacobian for mode in ("forward", "reverse")
    )
    for name in program.wrt:
        if not _close(forward[name], reverse[name], program):
            return f"the Jacobian by {name}: {forward[name]} and {reverse[name]}"
    if program.order < 2:
        return ""
    asked = {"wrt": program.wrt, "cotangent": program.cotangent}
    forward, reverse = (
        loaded.hessian(mode=mode, **asked).hessian for mode in ("forward", "reverse")
    )
    along = program.direction()
    product = loaded.hvp(tangents=along, **asked).hvp
    for x in program.wrt:
        total: Any = 0.0
        for y in program.wrt:
            if not _close(forward[x][y], reverse[x][y], program):
                return f"the Hessian by {x}, {y}: {forward[x][y]} and {reverse[x][y]}"
            total = total + np.tensordot(reverse[x][y], along[y], np.ndim(along[y]))
        if not np.allclose(total, product[x], rtol=program.rtol, atol=1e-6, equal_nan=True):
            return f"the product with the Hessian by {x}: {product[x]} and {total}"
    return ""


def _close(a: Any, b: Any, program: Program) -> bool:
    """Whether two derivatives of a program are the same but for rounding; one by a float32 has in
    forward mode the result's dtype.
    """
    facts = (by_gradcli.value(np.asarray(x, np.float64)) for x in (a, b))
    return same_value(*facts, program.rtol)


def of_backward(program: Program, facts: Facts) -> str:
    """Where what `backward` leaves is not the gradient among the facts."""
    connected = any(any(f[2]) for name, f in facts.items() if name.startswith("gradient "))
    if "grad" in program.body or "backward" in program.body or not connected:
        return ""  # `backward` refuses a result that has no graph
    *body, last = program.body.split("\n")
    weight = "torch.ones_like(out)" if program.cotangent is None else program.cotangent
    lines = [*body, f"out = {last}", f"out.backward(torch.as_tensor({weight}))"]
    left = load("\n".join([*(i.line() for i in program.inputs), *lines])).run().grad
    for name in program.wrt:
        expected = facts[f"gradient {name}"]
        if name not in left:
            if any(expected[2]):
                return f"no .grad of {name}"
        elif not same_value(by_gradcli.value(left[name]), expected, program.rtol):
            return f".grad of {name}: {left[name]}"
    return ""


def of_rows(program: Program, jobs: int) -> str:
    """Where rows together, by so many processes, are not the rows one by one."""
    given = [json.dumps(row) + "\n" for row in rows(program)]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "program.grad"
        path.write_text(program.text, "utf-8")
        asked = ["grad", path, "--wrt", ",".join(program.wrt), "--json", "-q"]
        if program.cotangent is not None:
            asked += ["--cotangent", str(program.cotangent)]
        asked += ["--on-error", "record", "--rows", "-"]
        _, together, _ = command(*asked, "--jobs", jobs, stdin="".join(given))
        alone = [json.loads(command(*asked, stdin=row)[1]) for row in given]
    if [json.loads(row) for row in together.splitlines()] == [
        {**row, "row": n} for n, row in enumerate(alone)
    ]:
        return ""
    return f"rows together: {together}\nrows alone: {alone}"


def rows(program: Program) -> Iterator[dict[str, Any]]:
    """The program's inputs, and others near them."""
    for scale in (1.0, 1.01, 0.99):
        yield {i.name: _scaled(i.data, scale) for i in program.inputs if i.name in program.wrt}


def _scaled(data: Any, scale: float) -> Any:
    return [_scaled(d, scale) for d in data] if isinstance(data, list) else data * scale
