"""Warnings of the operations at which PyTorch gives nan."""

from __future__ import annotations

from collections.abc import Iterable

from gradcli.engine.compile.control import nowhere
from gradcli.errors import Diagnostic
from gradcli.limits import Limits
from gradcli.questions.asked.request import Options
from gradcli.results import Kinked
from gradcli.source import Source, Span

_STEPS = 10_000  # of a run that is done again for them: about a tenth of a second


def silent(options: Options) -> Options:
    """Options of a run that finds kinks, prints nothing and is short."""
    limits = options.limits
    steps = _STEPS if limits.steps is None else min(limits.steps, _STEPS)
    short = Limits(steps, limits.seconds, limits.memory, limits.depth)
    return options.changed(
        echo=nowhere, kinks=True, check_nan=False, compile="never", limits=short, plots=None
    )


def told(source: Source, kinks: Iterable[Kinked]) -> tuple[Diagnostic, ...]:
    """A warning for each operation with a kink at which PyTorch gives nan, at its first one."""
    found: dict[tuple[str, int, int], Diagnostic] = {}
    for kink in kinks:
        place = kink.op, kink.line, kink.column
        if kink.pytorch_nan and place not in found:
            found[place] = _warning(source, kink)
    return tuple(found.values())


def _warning(source: Source, kink: Kinked) -> Diagnostic:
    lines = source.text.splitlines(keepends=True)[: max(kink.line - 1, 0)]
    start = sum(map(len, lines)) + kink.column - 1
    return Diagnostic(
        "pytorch-nan",
        f"PyTorch gives nan here, in the derivative of `{kink.op}`; gradcli gives a number",
        source if kink.line else None,
        Span(start, start + 1) if kink.line else None,
        notes=kink.turns[:1],
        severity="warning",
    )
