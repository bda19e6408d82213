"""What can be known of a program without running it."""

from __future__ import annotations

from gradcli.engine.run.inputs import check_names
from gradcli.engine.static.check import examine
from gradcli.questions.declared import declared
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.wanted import candidates, named, no_such_result
from gradcli.results import CheckResult


def check(loaded: Loaded, request: Request) -> CheckResult:
    """Findings of a walk on shapes and dtypes alone."""
    program, wrt, of = loaded.program, request.wrt, request.of
    check_names(request.given, program)
    if of is not None and of not in program.names:
        raise no_such_result(of, list(program.names))
    varying = candidates(program) if wrt is None else named(program, wrt)
    findings = examine(program, loaded.source, request.given, varying, of)
    inputs = (
        declared(loaded.source, i.span, i.name, i.kind, i.type, has_default=i.default is not None)
        for i in program.inputs
    )
    return CheckResult(tuple(findings), tuple(inputs))
