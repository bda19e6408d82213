"""The table of the classes that turn questions into typed programs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradcli.questions.coded.lowered import Lowered

_LOWERINGS = {
    "run": ("run", "Run"),
    "value": ("first_order", "Value"),
    "gradient": ("first_order", "Gradient"),
    "elasticity": ("first_order", "Elasticity"),
    "vjp": ("first_order", "Vjp"),
    "jvp": ("first_order", "Jvp"),
    "jacobian": ("first_order", "Jacobian"),
    "hessian": ("second_order", "Hessian"),
    "cheapest_hessian": ("second_order", "CheapestHessian"),
    "hessian_diagonal": ("second_order", "HessianDiagonal"),
    "hvp": ("second_order", "Hvp"),
    "sparse_jacobian": ("sparse", "SparseJacobian"),
    "sparse_hessian": ("sparse", "SparseHessian"),
    "propagation": ("propagation", "Propagation"),
}
"""The file and name of each, by the name of the question's function."""


def lowering(question: str) -> type[Lowered]:
    """The class that lowers a question, by the name of the question's function."""
    file, name = _LOWERINGS[question]
    found: Any = getattr(import_module(f"gradcli.questions.coded.{file}"), name)
    return found  # type: ignore[no-any-return]
