"""What can be known of a program without running it."""

from __future__ import annotations

from gradcli.engine.run.inputs import check_names
from gradcli.engine.static.walk import examine
from gradcli.questions.loaded import Loaded
from gradcli.questions.request import Request
from gradcli.questions.wanted import candidates, named, no_such_result
from gradcli.results import CheckResult, Declared
from gradcli.source import Source, Span


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


def declared(
    source: Source,
    span: Span,
    name: str,
    kind: str,
    type: tuple[str, tuple[object, ...] | None] | None,
    *,
    has_default: bool,
) -> Declared:
    """An input as it is declared at a place."""
    element, sizes = type or ("", None)
    written = "" if sizes is None else f"[{', '.join(map(_size, sizes))}]"
    text = source.text[span.start : span.end]
    default = text.partition("=")[2].strip() if has_default else ""
    return Declared(name, kind, f"{element}{written}", default)


def _size(size: object) -> str:
    return "..." if size is Ellipsis else str(size)
