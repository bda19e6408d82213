"""The question that each method of a program asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request

ROWS = ("run", "grad", "elasticity", "vjp", "jvp", "jacobian", "hessian", "hvp")
"""The questions whose answers are values by name."""


def question_of(name: str, diagonal: bool) -> Callable[[Loaded, Request], Any] | None:
    """The question that a method asks, if code can answer it."""
    from gradcli.questions.answers import elasticity, gradient, matrix, product, run, value

    return {
        "run": run.run,
        "value": value.value,
        "grad": gradient.gradient,
        "elasticity": elasticity.elasticity,
        "vjp": product.vjp,
        "jvp": product.jvp,
        "jacobian": matrix.jacobian,
        "hessian": matrix.hessian_diagonal if diagonal else matrix.hessian,
        "hvp": product.hvp,
    }.get(name)


def listed(names: str | Sequence[str] | None) -> list[str] | None:
    """Names as a list."""
    return [names] if isinstance(names, str) else None if names is None else [*names]
