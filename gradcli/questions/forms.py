"""How questions are put to code: the typed program that answers each, and what its numbers mean."""

from __future__ import annotations

from gradcli.questions.first_forms import Gradient, Jacobian, Jvp, Vjp
from gradcli.questions.form import Form
from gradcli.questions.form_of_run import Run
from gradcli.questions.second_forms import Diagonal, Hessian, Hvp

FORMS: dict[str, type[Form]] = {
    "run": Run,
    "gradient": Gradient,
    "vjp": Vjp,
    "jvp": Jvp,
    "jacobian": Jacobian,
    "hessian": Hessian,
    "hessian_diagonal": Diagonal,
    "hvp": Hvp,
}
"""The form of each question, by the name of its function."""
