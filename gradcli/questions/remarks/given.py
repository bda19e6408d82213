"""Warnings about values from the command line that mean something else than they look like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gradcli.engine.run.execution.inputs import Given
from gradcli.errors import Diagnostic
from gradcli.source import Source, Span

_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")


def remarks(given: Mapping[str, Given]) -> Iterator[Diagnostic]:
    """The warnings about NAME=VALUE."""
    for name, value in given.items():
        origin = value.origin
        if hasattr(value, "spread"):
            yield _unused(name, str(origin))
            continue
        if type(origin) is not str or not origin.startswith(f"{name}="):
            continue
        told = _about(origin[len(name) + 1 :])
        if told is not None:
            told.source, told.span = Source("<expr>", origin), Span(len(name) + 1, len(origin))
            told.severity = "warning"
            yield told


def _about(text: str) -> Diagnostic | None:
    """The remark on the text of a value, without its place."""
    written = text.strip()
    if "+" in text and (found := _sum(text)) is not None:
        number, error = found
        message = f"`{written}` is a sum, {number} + (-{error})"
        help = f"an uncertainty is written `{number}+/-{error}`"
        return Diagnostic("plus-minus", message, help=help)
    if _COMMA.fullmatch(text):
        help = f"a decimal is `{written.replace(',', '.')}`, a list `'[{written}]'`"
        return Diagnostic("decimal-comma", f"`{written}` is two numbers", help=help)
    return None


def _sum(text: str) -> tuple[str, str] | None:
    """The numbers of `5.0+-0.1`."""
    from gradcli.questions.uncertainty.texts import sum_of

    return sum_of(text)


def _unused(name: str, origin: str) -> Diagnostic:
    """The remark on a value with an uncertainty, with its place if it was written there."""
    text = origin.removeprefix(f"{name}=")
    message = f"the uncertainty of `{text.strip()}` is not used here"
    told = Diagnostic("unused-uncertainty", message, severity="warning")
    told.help = "`gradcli propagate` uses it; else give the number alone"
    if text != origin:
        told.source, told.span = Source("<expr>", origin), Span(len(name) + 1, len(origin))
    return told
