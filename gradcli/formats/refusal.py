"""How a value from outside that is none is refused."""

from __future__ import annotations

from collections.abc import Collection

from gradcli.errors import Diagnostic, InputError, nearest
from gradcli.formats.file import name_fault
from gradcli.source import Source, Span

_SHOWN = 8  # names in a message


def refused(
    message: str,
    source: Source | None = None,
    span: Span | None = None,
    *,
    notes: tuple[str, ...] = (),
    help: str | None = None,
) -> InputError:
    """A file, or a place in it, that is no input."""
    return InputError(Diagnostic("bad-input", message, source, span, notes=notes, help=help))


def unreadable(name: str, error: OSError | ValueError) -> InputError:
    """A file that cannot be opened or read."""
    reason = getattr(error, "strerror", None) or name_fault(name) or str(error)
    text = f"cannot read `{name}`: {reason[:1].lower()}{reason[1:]}"
    return InputError(Diagnostic("unreadable-file", text))


def no_input(
    message: str,
    names: Collection[str],
    inputs: Collection[str],
    source: Source | None = None,
    span: Span | None = None,
) -> InputError:
    """Values by name of which none is an input."""
    wanted = sorted(inputs)
    notes = (f"it has {_listed(names)}", f"the program has {_listed(wanted) or 'no inputs'}")
    help = next(filter(None, (nearest(name, wanted) for name in names)), None)
    return InputError(Diagnostic("unknown-input", message, source, span, notes=notes, help=help))


def _listed(names: Collection[str]) -> str:
    return ", ".join(list(names)[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
