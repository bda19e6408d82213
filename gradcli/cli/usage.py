"""typer's errors about the command line, as diagnostics in gradcli's style."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

from gradcli.cli.habits import COMMANDS, INSTEAD, OPTIONS, OPTIONS_INSTEAD, SHOWN, VALUES
from gradcli.cli.line.reading import is_expression
from gradcli.errors import Diagnostic, nearest


def usage_diagnostic(error: Any, arguments: Sequence[str]) -> Diagnostic:
    """The diagnostic for a usage error that typer raised."""
    context = error.ctx
    path = context.command_path if context is not None else _path(arguments)
    message, _, _ = str(error.format_message()).partition(" Did you mean")
    hint = None
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        option = _as_typed(error.option_name, arguments)
        message = f"no such option `{option}`"
        known = [name for p in context.command.get_params(context) for name in p.opts]
        takes_inputs = "arguments" in {p.name for p in context.command.params}
        if context.parent is None and context.command_path == "gradcli":
            hint = habit(option, known) or nearest(option, known) or _later(option, arguments)
        else:
            hint = _option(option, known, arguments if takes_inputs else ())
    elif message.startswith("No such command"):
        name = message.removeprefix("No such command").strip(" '.")
        message = f"no such command `{name}`"
        hint = _command(name, context.command.list_commands(context))
    else:
        hint = _value(error, message, arguments)
    return Diagnostic("usage", _in_house_style(message), help=hint or f"try `{path} --help`")


def _as_typed(option: str, arguments: Sequence[str]) -> str:
    """The word of which typer read only the first letter, as in `-json`."""
    alone = len(option) == 2 and option[1] != "-"
    words = (a for a in arguments if re.fullmatch("-[a-z]{3,}", a) and option[1] in a)
    return next(words, option) if alone else option


def habit(option: str, known: Sequence[str]) -> str | None:
    """A hint for an option that the command has under another name."""
    spelt = f"-{option}"  # with the second dash that was forgotten
    if option in OPTIONS_INSTEAD:
        return OPTIONS_INSTEAD[option]
    for meant in (OPTIONS.get(option), SHOWN.get(option), spelt):
        if meant is not None and meant.split()[0] in known and meant != option:
            return f"did you mean `{meant}`?"
    return None


def _option(option: str, known: Sequence[str], arguments: Sequence[str]) -> str | None:
    """A hint for a wrong option of a command; the arguments of one that takes inputs."""
    name = OPTIONS.get(option, option).split()[0]
    return (
        habit(option, known)
        or _elsewhere(name)
        or nearest(option, known)
        or _input(option, arguments)
    )


def _commands_with(option: str) -> list[str]:
    """The commands that have an option."""
    from gradcli.cli.app import build, commands

    return [c for c in commands() if any(option in p.opts for p in build(c).params)]


def _elsewhere(option: str) -> str | None:
    """A hint for an option of other commands."""
    found = [f"`{name}`" for name in _commands_with(option)]
    if not found:
        return None
    *others, last = found if len(found) <= 3 else [*found[:3], "others"]
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"`{option}` is an option of {listed}"


def _later(option: str, arguments: Sequence[str]) -> str | None:
    """A hint for an option that stands before its command, or without one."""
    from gradcli.cli.app import commands

    able = _commands_with(option)
    if not able:
        return None
    preferred = "grad" if "grad" in able and "run" not in able else able[0]
    named = next((a for a in arguments if a in commands()), preferred)
    rest = list(arguments)
    if named in rest:
        rest.remove(named)
    return f"the command comes first: `gradcli {shlex.join([named, *rest])}`"


def _value(error: Any, message: str, arguments: Sequence[str]) -> str | None:
    """A hint for a value that an option does not take, or for one that is missing."""
    param = getattr(error, "param", None)
    option = getattr(error, "option_name", None)
    if param is None and option is not None:
        from gradcli.cli.app import build

        param = next((p for p in build(arguments[0]).params if option in p.opts), None)
    if param is None or param.param_type_name != "option":
        return None
    choices = getattr(param.type, "choices", None)
    if not choices or option is not None:
        return f"write `{option or param.opts[-1]} {param.metavar or 'VALUE'}`"
    given = message.rpartition(": '")[2].partition("'")[0]
    meant = VALUES.get(given.lower())
    return f"did you mean `{meant}`?" if meant in choices else nearest(given, choices)


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
    if "=" in value or os.path.exists(value) or value.endswith(".grad"):
        return None
    return f"an input is given as `{name}={value}`"


def _command(name: str, known: Sequence[str]) -> str | None:
    """A hint for a wrong command: one of similar name or meaning, or `run` for a program."""
    if name in INSTEAD:
        return INSTEAD[name]
    if name in COMMANDS:
        return f"did you mean `{COMMANDS[name]}`?"
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
