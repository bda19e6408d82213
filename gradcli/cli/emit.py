"""One renderer out: a derivative in the form that the command line asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.cli.failures import usage
from gradcli.cli.output import Target

if TYPE_CHECKING:
    from gradcli.formats.fields import Derivatives

SUFFIXES = {
    ".json": "json",
    ".ndjson": "ndjson",
    ".csv": "csv",
    ".tsv": "tsv",
    ".npy": "npy",
    ".npz": "npz",
    ".txt": "plain",
}
"""The form that a file's suffix stands for."""


def emit(result: Derivatives, target: Target, precision: int) -> None:
    """Write a result to its target."""
    target.write(_content(result, target, precision))


def _content(result: Derivatives, target: Target, precision: int) -> str | bytes:
    match target.form:
        case "json" | "ndjson":
            from gradcli.formats.json_text import json_text

            return f"{json_text(result)}\n"
        case "human":
            from gradcli.render.derivatives import derivative_view

            view = derivative_view(result, precision=precision, width=target.width)
            return target.draw(view)
        case "plain":
            from gradcli.formats.fields import fields
            from gradcli.formats.plain import fields_plain

            return fields_plain(fields(result))
        case "csv" | "tsv":
            from gradcli.formats.delimited import DELIMITERS, delimited
            from gradcli.formats.fields import fields

            return delimited(fields(result), DELIMITERS[target.form])
        case "npy":
            from gradcli.formats.arrays import npy
            from gradcli.formats.fields import derivative

            return npy(one_array(derivative(result), target.path or ""))
        case "npz":
            from gradcli.formats.arrays import npz
            from gradcli.formats.fields import fields

            return npz(fields(result))
    from gradcli.formats.fields import derivative
    from gradcli.formats.raw import raw

    return raw(derivative(result).values())


def one_array(values: Mapping[str, object], path: str) -> object:
    """The only value of several by name.

    Raises:
        UsageError: If there is more than one, or none.
    """
    if len(values) != 1:
        names = ", ".join(values) or "nothing"
        stem = path.removesuffix(".npy")
        raise usage(
            f"`{path}` holds one array, and the result has {names}", f"`{stem}.npz` holds several"
        )
    return next(iter(values.values()))
