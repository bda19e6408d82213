"""Type hints as values of a program (`Union[float, Array]`). Nothing reads them."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run.session.evaluator import Evaluator


class Hint:
    """A name of Python's `typing`, alone or with something in brackets."""

    said = "a type"

    def at(self, session: Evaluator, index: Any) -> Hint:
        """`Optional[float]`."""
        return self

    def __repr__(self) -> str:
        return "<type>"
