"""Errors for values from files that cannot be read."""

from __future__ import annotations

from collections.abc import Collection

from gradcli.errors import Diagnostic, InputError, nearest
from gradcli.formats.texts.file import name_fault
from gradcli.signatures import signature
from gradcli.source import Source, Span

_SHOWN = 8  # names shown in a message


def refused(
    message: str,
    source: Source | None = None,
    span: Span | None = None,
    *,
    notes: tuple[str, ...] = (),
    help: str | None = None,
) -> InputError:
    """An error for a file, or for a place in it."""
    return InputError(Diagnostic("bad-input", message, source, span, notes=notes, help=help))


def unreadable(name: str, error: Exception) -> InputError:
    """The error for a file that cannot be opened or read."""
    reason = getattr(error, "strerror", None) or name_fault(name) or str(error)
    text = f"cannot read `{name}`: {reason[:1].lower()}{reason[1:]}"
    return InputError(Diagnostic("unreadable-file", text))


def check_text(name: str, data: bytes) -> None:
    """Refuse an image, an archive or text in another encoding, by the file's first bytes.

    Raises:
        InputError: If it is one.
    """
    if (found := signature(data)) is not None:
        raise refused(f"`{name}` is {found.kind}, not UTF-8 text", help=found.way)


def no_input(
    message: str,
    names: Collection[str],
    inputs: Collection[str],
    source: Source | None = None,
    span: Span | None = None,
) -> InputError:
    """The error for values by name if no name is an input."""
    wanted = sorted(inputs)
    notes = (
        f"it has {first_names(names)}",
        f"the program has {first_names(wanted) or 'no inputs'}",
    )
    help = next(filter(None, (nearest(name, wanted) for name in names)), None)
    return InputError(Diagnostic("unknown-input", message, source, span, notes=notes, help=help))


def first_names(names: Collection[str]) -> str:
    """The first of several names, on one line."""
    shown = ", ".join(list(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return shown.replace("\n", "\\n")
