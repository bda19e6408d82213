"""The records that `--rows` and its companions name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gradcli.cli.failures import usage
from gradcli.cli.inputs import split_names

if TYPE_CHECKING:
    from gradcli.formats.rows import Rows


class Batch(NamedTuple):
    """The records to go through, and what to do with a bad one: stop, skip or record."""

    rows: Rows
    on_error: str
    jobs: int


def batch(
    rows: str | None, columns: Sequence[str] | None, on_error: str, jobs: int
) -> Batch | None:
    """The records that the options name; None without --rows.

    Raises:
        UsageError: If an option stands without --rows.
        InputError: If the file cannot be read or has no header.
    """
    names = split_names(columns, "--columns")
    if rows is None:
        if names or on_error != "stop" or jobs != 1:
            raise usage("`--columns`, `--on-error` and `--jobs` go with `--rows`")
        return None
    from gradcli.formats.rows import open_rows

    stdin = None if sys.stdin is None else sys.stdin.buffer
    return Batch(open_rows(rows, stdin, names), on_error, jobs)
