"""typer's errors about the command line, as diagnostics in gradcli's style."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

from gradcli.cli.line.reading import is_expression
from gradcli.errors import Diagnostic, nearest

_MEANT = {
    **dict.fromkeys(("eval", "evaluate", "exec", "execute", "calc", "compute"), "run"),
    **dict.fromkeys(("d", "derivative", "derive", "diff", "differentiate", "gradient"), "grad"),
    **dict.fromkeys(("backward", "backprop", "autograd", "slope", "partial"), "grad"),
    **dict.fromkeys(("jac", "jacobi"), "jacobian"),
    **dict.fromkeys(("hess", "curvature"), "hessian"),
    **dict.fromkeys(("lint", "validate"), "check"),
    **dict.fromkeys(("verify", "test"), "gradcheck"),
    **dict.fromkeys(("show", "draw", "tree", "dot"), "graph"),
    **dict.fromkeys(("functions", "operations", "builtins", "list"), "ops"),
    **dict.fromkeys(("example", "examples", "sample"), "samples"),
    **dict.fromkeys(("man", "doc", "docs", "manual"), "help"),
}
"""Commands under the names that other tools have for them."""


def usage_diagnostic(error: Any, arguments: Sequence[str]) -> Diagnostic:
    """The diagnostic for a usage error that typer raised."""
    context = error.ctx
    path = context.command_path if context is not None else _path(arguments)
    message, _, _ = str(error.format_message()).partition(" Did you mean")
    hint = None
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        message = f"no such option `{error.option_name}`"
        known = [name for p in context.command.get_params(context) for name in p.opts]
        hint = nearest(error.option_name, known)
        if hint is None and "arguments" in {p.name for p in context.command.params}:
            hint = _input(error.option_name, arguments)
    elif message.startswith("No such command"):
        name = message.removeprefix("No such command").strip(" '.")
        message = f"no such command `{name}`"
        hint = _command(name, context.command.list_commands(context))
    return Diagnostic("usage", _in_house_style(message), help=hint or f"try `{path} --help`")


def _path(arguments: Sequence[str]) -> str:
    """The command that a line names, for an error that does not say."""
    from gradcli.cli.app import commands

    first = arguments[0] if arguments else ""
    return f"gradcli {first}" if first in commands() else "gradcli"


def _input(option: str, arguments: Sequence[str]) -> str | None:
    """A hint for an input that was written like an option, as in `--x 3`."""
    name = option.lstrip("-")
    at = next((i for i, a in enumerate(arguments) if a.partition("=")[0] == option), None)
    if at is None or not name.isidentifier():
        return None
    _, equals, value = arguments[at].partition("=")
    if not equals:
        value = arguments[at + 1] if at + 1 < len(arguments) else "VALUE"
    return f"an input is given as `{name}={value}`"


def _command(name: str, known: Sequence[str]) -> str | None:
    """A hint for a wrong command: one of similar name or meaning, or `run` for a program."""
    if name in _MEANT:
        return f"did you mean `{_MEANT[name]}`?"
    if name.endswith(".grad") or os.path.isfile(name) or is_expression(name):
        text = shlex.quote(name)
        return f"`gradcli run {text}` runs it, `gradcli grad {text}` differentiates it"
    return nearest(name, known)


def _in_house_style(message: str) -> str:
    """The message in lower case at the start, without a full stop, with names in backticks."""
    text = message.strip().rstrip(".").replace("'", "`")
    text = text.replace(" int range", " integer").replace(" integer range", " integer")
    text = re.sub(r"is not in the range (\d+)<=x<=(\d+)", r"is not between \1 and \2", text)
    return text[:1].lower() + text[1:]
