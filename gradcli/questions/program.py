"""A program and what can be asked of it: one method a question."""

from __future__ import annotations

from gradcli.questions.by_code import ByCode
from gradcli.questions.derivatives import Derivatives
from gradcli.questions.explanations import Explanations
from gradcli.questions.models import Models


class Program(Derivatives, Explanations, Models, ByCode):
    """A program, ready to be run and differentiated any number of times."""
