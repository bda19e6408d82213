"""`%%grad` in IPython and Jupyter: `%load_ext gradcli` brings it."""

from __future__ import annotations

import re
from typing import Any

from gradcli.errors import Diagnostic, GradError
from gradcli.program import Options, load_source
from gradcli.questions.grad_cell import grad_cell
from gradcli.source import Source


def load(shell: Any) -> None:
    """Give an IPython shell the magic of whole cells `%%grad`."""

    def grad(line: str, cell: str) -> Any:
        """A cell that is a gradcli program of its own: `%%grad -i x,y -o record --wrt x`.

        It prints what the program prints, and gives a record with the value and the gradient of its
        result, or of its run if it has no result. `-i` gives names of Python to the program.
        """
        source = Source(f"cell {shell.execution_count}", cell, 2)
        try:
            asked = grad_cell(line)
            options = Options(echo=lambda text: print(text, end=""))  # noqa: T201  # a cell prints
            found = asked.answer(source, _values(shell.user_ns), load_source, options)
        except GradError as error:
            raise _shown(error) from None
        _warn(getattr(found, "warnings", ()))
        if asked.output:
            shell.user_ns[asked.output] = found
        return found

    shell.register_magic_function(grad, "cell", "grad")


def _values(names: dict[str, Any]) -> dict[str, Any]:
    """Values of names; a tensor of another library as an array."""
    return {name: _plain(value) for name, value in names.items() if not name.startswith("_")}


def _plain(value: Any) -> Any:
    for to_cpu in ("detach", "numpy"):  # tensors of PyTorch
        if re.match(r"(torch)\b", type(value).__module__) and hasattr(value, to_cpu):
            value = getattr(value, to_cpu)()
    return value.__array__() if type(value).__module__.startswith("jax") else value


def _lines(diagnostic: Diagnostic) -> list[str]:
    from gradcli.render.diagnostic import full
    from gradcli.render.text import plain_text

    return plain_text(full(diagnostic)).rstrip("\n").split("\n")


def _shown(error: GradError) -> GradError:
    """The error, which IPython shows as its messages, without a traceback."""
    lines = [line for diagnostic in error.diagnostics for line in _lines(diagnostic)]
    error._render_traceback_ = lambda *_: lines  # type: ignore[attr-defined]  # IPython asks for it
    return error


def _warn(warnings: tuple[Diagnostic, ...]) -> None:
    import sys

    for warning in warnings:
        sys.stderr.write("\n".join(_lines(warning)) + "\n")
