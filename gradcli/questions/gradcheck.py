"""Derivatives compared with differences."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from gradcli.engine.gradcheck.program import OwnCalls, check_program
from gradcli.engine.run.session import Session
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Options, Request
from gradcli.questions.wanted import Watch, differentiated
from gradcli.results import GradcheckResult


def gradcheck(loaded: Loaded, request: Request, order: int) -> GradcheckResult:
    """The derivatives up to an order, 1 or 2, held against central differences, and each own rule
    by itself.
    """
    watch = loaded.watch(request.wrt)
    calls = OwnCalls()
    done = loaded.execute(request.given, request.options, watch, own_calls=calls)
    loaded.float_output(done, request.of)
    names = differentiated(loaded.program, done.session, watch, done.values)
    limits = request.options.limits
    quiet = Options(done.session.seed_used, stream=done.session.stream, limits=limits)
    moving = Watch(names, asked=names)
    runs = count(1)

    def run(values: Mapping[str, Any], transparent: bool) -> tuple[Session, Any]:
        request.options.progress(next(runs), None)
        again = loaded.execute(request.given, quiet, moving, moved=values, transparent=transparent)
        return again.session, loaded.output(again, request.of)[1]

    with loaded.passing():
        checks = check_program(run, names, order, _lines(loaded))
        rules = calls.checked(loaded.source, order)
    passed = all(check.passed for check in (*checks, *rules))
    warnings = done.warnings(loaded.source)
    return GradcheckResult(passed, checks, rules, done.lines, warnings)


def _lines(loaded: Loaded) -> dict[str, int]:
    """The line of each input."""
    return {i.name: loaded.source.position(i.span.start)[0] for i in loaded.program.inputs}
