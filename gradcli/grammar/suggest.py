"""The name that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """A help line with the known name that is most like this one, or None."""
    from difflib import get_close_matches

    found = get_close_matches(name, sorted(set(known) - {name}), n=1, cutoff=0.6)
    return f"did you mean `{found[0]}`?" if found else None
