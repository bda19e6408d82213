"""The parser's own complaints about the command line, as diagnostics in gradcli's form."""

from __future__ import annotations

from typing import Any

from gradcli.errors import Diagnostic, nearest


def usage_diagnostic(error: Any) -> Diagnostic:
    """The diagnostic for a usage error that typer raised."""
    context = error.ctx
    path = context.command_path if context is not None else "gradcli"
    message, _, _ = str(error.format_message()).partition(" Did you mean")
    hint = None
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        message = f"no such option `{error.option_name}`"
        known = [name for p in context.command.get_params(context) for name in p.opts]
        hint = nearest(error.option_name, known)
    elif message.startswith("No such command"):
        name = message.removeprefix("No such command").strip(" '.")
        message = f"no such command `{name}`"
        hint = nearest(name, context.command.list_commands(context))
    elif message.startswith("Missing command"):
        message = "no command"
        hint = f"commands are {', '.join(context.command.list_commands(context))}"
    return Diagnostic("usage", _in_house_style(message), help=hint or f"try `{path} --help`")


def _in_house_style(message: str) -> str:
    """Lower case at the start, no full stop, names in backticks."""
    text = message.strip().rstrip(".").replace("'", "`")
    text = text.replace(" int range", " integer").replace(" integer range", " integer")
    return text[:1].lower() + text[1:]
