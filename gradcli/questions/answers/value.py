"""The value of a result alone."""

from __future__ import annotations

from gradcli.engine.report.values import is_finite, plain_value
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.questions.remarks.warnings import non_finite
from gradcli.results import ValueResult


def value(loaded: Loaded, request: Request) -> ValueResult:
    """The value of the result; no derivative is recorded or computed."""
    watch = Watch(())
    done = loaded.execute(request.inputs, request.options, watch, recording=loaded.sees_recording)
    name, output = loaded.output(done, request.of)
    warnings = done.warnings(loaded.source)
    if not is_finite(output):
        warnings += (non_finite(loaded, request, done, output, watch),)
    return ValueResult(
        output=name, value=plain_value(output), printed=done.lines, warnings=warnings
    )
