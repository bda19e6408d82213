"""Manual pages in the language of man, from the same texts as `--help`.

The build of the wheel writes them (hatch_build.py), so that `man gradcli-grad` works after
`pip install`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from typer.core import TyperArgument, TyperOption

from gradcli import __version__
from gradcli.cli.app import app_help, build, commands
from gradcli.cli.line.command import SETTINGS, STATUSES

SECTION = 1


def pages() -> dict[str, str]:
    """The manual pages by the names of their files: of gradcli, and of each command."""
    found = {f"gradcli.{SECTION}": _whole()}
    for name in commands():
        found[f"gradcli-{name}.{SECTION}"] = _of_command(name)
    return found


def _whole() -> str:
    """The page of gradcli, with a list of the commands."""
    summary, text, examples = _parts(app_help())
    lines = [*_head("gradcli", summary), ".SH SYNOPSIS", _bold("gradcli"), "COMMAND [FILE]"]
    lines += ["[NAME=VALUE]... [options]", *_description(text), *_examples(examples)]
    lines.append(".SH COMMANDS")
    for name in commands():
        what = _parts(str(build(name).help))[0]
        lines += [".TP", f"{_bold(name)}", f"{_plain(what)} See {_bold(f'gradcli-{name}')}(1)."]
    lines += [
        *(".SH OPTIONS", ".TP", r"\fB\-V\fR, \fB\-\-version\fR", "Print the version and exit."),
        *(".TP", _flags(SETTINGS["help_option_names"]), "Show a help and exit."),
        *_statuses(),
        ".SH SEE ALSO",
        f"{_bold('gradcli help')} shows the pages of the documentation without a network.",
    ]
    return "\n".join([*lines, ""])


def _of_command(name: str) -> str:
    """The page of a command."""
    command = build(name)
    summary, text, examples = _parts(str(command.help))
    arguments = [p for p in command.params if isinstance(p, TyperArgument)]
    lines = [*_head(f"gradcli-{name}", summary), ".SH SYNOPSIS", _bold(f"gradcli {name}")]
    lines += [_plain(" ".join([*(str(a.metavar) for a in arguments), "[options]"]))]
    lines += [*_description(text), *_examples(examples)]
    lines += [".SH ARGUMENTS"] if arguments else []
    for argument in arguments:
        lines += [".TP", _plain(str(argument.metavar)), _plain(str(argument.help))]
    lines.append(".SH OPTIONS")
    for option in command.params:
        if isinstance(option, TyperOption):
            lines += _option(option)
    lines += [".TP", _flags(SETTINGS["help_option_names"]), "Show a help and exit.", *_statuses()]
    lines += [".SH SEE ALSO", f"{_bold('gradcli')}(1)"]
    return "\n".join([*lines, ""])


def _option(option: TyperOption) -> Iterator[str]:
    yield ".TP"
    takes = "" if option.is_flag else f" {_italic(str(option.metavar or 'VALUE'))}"
    yield f"{_flags(option.opts)}{takes}"
    yield _plain(str(option.help))


def _head(name: str, summary: str) -> list[str]:
    what = summary.removesuffix(".")
    title = f'.TH {name.upper()} {SECTION} "" "gradcli {__version__}" "gradcli manual"'
    return [title, ".SH NAME", rf"{_plain(name)} \- {_plain(what[:1].lower() + what[1:])}"]


def _parts(text: str) -> tuple[str, list[str], list[str]]:
    """The summary of a help, its further paragraphs, and the lines of its examples."""
    said, _, shown = text.replace("\b", "").partition("Examples:")
    summary, *paragraphs = (" ".join(p.split()) for p in re.split(r"\n\s*\n", said) if p.strip())
    return summary, paragraphs, [line.strip() for line in shown.splitlines() if line.strip()]


def _description(paragraphs: list[str]) -> Iterator[str]:
    for k, paragraph in enumerate(paragraphs):
        yield ".PP" if k else ".SH DESCRIPTION"
        yield _plain(paragraph)


def _examples(lines: list[str]) -> Iterator[str]:
    if lines:
        yield from (".SH EXAMPLES", ".nf", *map(_plain, lines), ".fi")


def _statuses() -> Iterator[str]:
    yield ".SH EXIT STATUS"
    yield _plain(STATUSES.removeprefix("Exit status: ").capitalize())


def _flags(names: Any) -> str:
    return ", ".join(map(_bold, names))


def _bold(text: str) -> str:
    return rf"\fB{_plain(text)}\fR"


def _italic(text: str) -> str:
    return rf"\fI{_plain(text)}\fR"


def _plain(text: str) -> str:
    """A text that roff shows as it is."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("^", r"\(ha")
    text = text.replace("`", r"\(ga").replace("~", r"\(ti")
    return rf"\&{text}" if text.startswith((".", r"\(aq")) else text
