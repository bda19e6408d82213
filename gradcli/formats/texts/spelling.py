"""Names in a file that are near those of inputs which nobody gives: misspelt, most likely."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import zip_longest

from gradcli.errors import Diagnostic, InputError, slips
from gradcli.source import Source, Span

_SHORTEST = 4  # letters of names of which one may be another, misspelt


def check_spelling(
    what: str,
    given: Iterable[str],
    inputs: Collection[str],
    left: Collection[str],
    source: Source | None = None,
    span: Span | None = None,
) -> None:
    """Refuse values by name if one that is no input seems to be meant for one.

    Args:
        what: What gives the values, as messages call it.
        given: The names that it has values for.
        inputs: The inputs of the program.
        left: Those that would stay at their defaults.
        source: The text of the values, if it is a line of many.
        span: Where they stand in it.

    Raises:
        InputError: If a name is near one that is left.
    """
    unknown = [name for name in given if name not in inputs]
    for wanted in left:
        for name in unknown:
            if is_near(name, wanted):
                message = f"{what} has no `{wanted}`, and its `{name}` is no input of the program"
                help = f"name it `{wanted}`, or give {wanted}=VALUE if it is something else"
                raise InputError(Diagnostic("unknown-input", message, source, span, help=help))


def is_near(a: str, b: str) -> bool:
    """Whether two names are one but for case and blanks, or one edit apart if they are not short: a
    letter more, less, another, or two that have changed places. Digits tell names apart on purpose.
    """
    a, b = ("".join(name.casefold().split()) for name in (a, b))
    if a == b:
        return True
    if min(len(a), len(b)) < _SHORTEST:
        return False
    first = next((x, y) for x, y in zip_longest(a, b, fillvalue="") if x != y)
    return not any(map(str.isdigit, first)) and slips(a, b) == 1
