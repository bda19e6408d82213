"""Find names in a file that are probably misspelt names of inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import zip_longest

from gradcli.errors import Diagnostic, InputError, slips
from gradcli.source import Source, Span

_SHORTEST = 4  # letters: a shorter name is not compared


def check_spelling(
    what: str,
    given: Iterable[str],
    inputs: Collection[str],
    left: Collection[str],
    source: Source | None = None,
    span: Span | None = None,
) -> None:
    """Refuse values by name if one seems to be meant for another input.

    Args:
        what: The source of the values, for messages.
        given: The names that have values.
        inputs: The inputs of the program.
        left: Inputs that would keep their defaults.
        source: The text of the values, if it is one line of many.
        span: Their place in it.

    Raises:
        InputError: If a name that is not an input is near one in `left`.
    """
    unknown = [name for name in given if name not in inputs]
    for wanted in left:
        for name in unknown:
            if is_near(name, wanted):
                message = f"{what} has no `{wanted}`, and its `{name}` is not an input"
                help = f"name it `{wanted}`, or give {wanted}=VALUE if it is something else"
                raise InputError(Diagnostic("unknown-input", message, source, span, help=help))


def is_near(a: str, b: str) -> bool:
    """True if two names are equal except for case and blanks, or one edit apart if they are not
    short. A digit is never an edit: digits tell names apart on purpose.
    """
    a, b = ("".join(name.casefold().split()) for name in (a, b))
    if a == b:
        return True
    if min(len(a), len(b)) < _SHORTEST:
        return False
    first = next((x, y) for x, y in zip_longest(a, b, fillvalue="") if x != y)
    return not any(map(str.isdigit, first)) and slips(a, b) == 1
