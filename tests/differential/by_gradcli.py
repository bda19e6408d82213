"""What gradcli tells about a program."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.errors import GradError
from gradcli.program import Program as Loaded
from gradcli.program import load

from .answers import Facts, is_float, listed
from .program import Program

SCALARS = {bool: "bool", int: "int64", float: "float64"}


def ask(program: Program) -> Facts:
    """Run it and differentiate it as often as it says."""
    facts: Facts = {}
    loaded = _asked(facts, "run", lambda: _run(program, facts))
    if loaded is not None and is_float(facts.get("result")) and program.wrt:
        _asked(facts, "gradient", lambda: _derivatives(program, loaded, facts))
    return facts


def _asked(facts: Facts, question: str, answer: Callable[[], Any]) -> Any:
    """The answer, or None and in the facts why there is none."""
    try:
        return answer()
    except GradError as error:
        facts[question] = {"refused": f"{error.diagnostics[0].code}: {error}"}
    except Exception:
        facts["bug"] = traceback.format_exc()
    return None


def _run(program: Program, facts: Facts) -> Loaded:
    loaded = load(program.text)
    found = loaded.run()
    facts["printed"] = list(found.printed)
    for b in found.bindings:
        fact = value(b.value)
        if fact is None:
            continue
        facts[f"value {b.name}"] = fact
        if fact[0] != "list":
            facts[f"requires_grad {b.name}"] = b.requires_grad or b.grad_fn != ""
            facts[f"grad_fn {b.name}"] = b.grad_fn
        if b.grad is not None:
            facts[f"grad {b.name}"] = value(b.grad)
    facts["result"] = value(found.result)
    return loaded


def _derivatives(program: Program, loaded: Loaded, facts: Facts) -> None:
    asked = {"wrt": program.wrt, "cotangent": program.cotangent}
    found = loaded.grad(**asked)
    facts.update({f"gradient {name}": value(g) for name, g in found.grad.items()})
    if program.hooked or program.order == 0:
        return
    along = program.direction()
    if program.order >= 2:
        both = loaded.hvp(tangents=along, **asked)
        facts.update({f"hvp {name}": value(g) for name, g in both.hvp.items()})
    dot = np.asarray(loaded.jvp(tangents=along).jvp, np.float64)
    weight = 1.0 if program.cotangent is None else np.asarray(program.cotangent)
    facts["jvp"] = value(float(np.sum(dot * weight)))
    if program.order == 3:
        for name, row in loaded.hessian(**asked).hessian.items():
            facts.update({f"hessian {name} {other}": value(block) for other, block in row.items()})


def value(found: Any) -> Any:
    """A value of gradcli's results as a fact; None if it is none."""
    if isinstance(found, np.ndarray | np.generic):
        return [found.dtype.name, list(found.shape), found.ravel().tolist()]
    if isinstance(found, list | tuple):
        return listed(value(i) for i in found)
    if type(found) in SCALARS:
        return [SCALARS[type(found)], [], [found]]
    return None
