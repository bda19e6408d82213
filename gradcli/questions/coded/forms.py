"""How questions are put to code: the typed program that answers each, and what its numbers mean."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from gradcli.questions.coded.form import Form

_FORMS = {
    "run": ("form_of_run", "Run"),
    "gradient": ("first_forms", "Gradient"),
    "vjp": ("first_forms", "Vjp"),
    "jvp": ("first_forms", "Jvp"),
    "jacobian": ("first_forms", "Jacobian"),
    "hessian": ("second_forms", "Hessian"),
    "hessian_diagonal": ("second_forms", "Diagonal"),
    "hvp": ("second_forms", "Hvp"),
}
"""The file and name of each, by the name of the question's function."""


def form(question: str) -> type[Form]:
    """The form of a question, by the name of its function."""
    file, name = _FORMS[question]
    found: Any = getattr(import_module(f"gradcli.questions.coded.{file}"), name)
    return found  # type: ignore[no-any-return]
