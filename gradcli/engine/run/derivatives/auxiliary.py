"""Functions that return a value to differentiate and a second value (`has_aux=True`)."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run.code.functions import called, wrong_function
from gradcli.engine.run.code.naming import kind_of


class Auxiliary:
    """A function reduced to its value; `beside` is the second value of the last call."""

    def __init__(self, function: Any, by: str) -> None:
        self.function = function
        self.by = by
        self.beside: Any = None

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        found = called(self.function, args, self.by, keywords)
        if not isinstance(found, tuple) or len(found) != 2:
            message = (
                "with `has_aux` the function must return its value and something beside it, it "
                f"returned {kind_of(found)}"
            )
            raise wrong_function(self.function, "not-differentiable", message)
        value, self.beside = found
        return value
