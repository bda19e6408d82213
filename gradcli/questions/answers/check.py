"""Static checks: findings and shapes of a program that is not run."""

from __future__ import annotations

from gradcli.cpython import Uncollected
from gradcli.engine.run.execution.inputs import check_names
from gradcli.engine.static.check import examine
from gradcli.engine.static.elaborate import elaborate
from gradcli.engine.static.facts import told
from gradcli.ir import visit
from gradcli.ir.program import Instruction, Slot
from gradcli.ir.text import text
from gradcli.questions.asked.declared import declared
from gradcli.questions.asked.ignores import spoken
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import candidates, requested, unknown_output
from gradcli.questions.asked.request import Request
from gradcli.results import CheckResult
from gradcli.views import KnownValue


def check(loaded: Loaded, request: Request) -> CheckResult:
    """Findings of a walk on shapes and dtypes alone."""
    program = loaded.program
    varying = _varying(loaded, request)
    asked = () if request.wrt is None else varying
    with Uncollected():  # the facts stay; looking through them would take a quarter of the time
        found = examine(program, loaded.source, request.inputs, varying, asked, request.of)
    inputs = (
        declared(loaded.source, i.span, i.name, i.kind, i.type, has_default=i.default is not None)
        for i in program.inputs
    )
    found = [*spoken(found, loaded.source), *loaded.slips]
    found.sort(key=lambda finding: finding.span.start if finding.span else 0)
    return CheckResult(tuple(found), tuple(inputs))


def listing(loaded: Loaded, request: Request) -> str:
    """The program of ops as text, with the known facts of each instruction's result."""
    program = loaded.program
    varying = _varying(loaded, request)
    asked = () if request.wrt is None else varying
    given, result = request.inputs, program.result
    facts = elaborate(program, loaded.source, given, varying, asked, result).facts

    def remark(i: Instruction) -> str:
        known = facts.of(i)
        return "" if known is None else ", ".join(map(told, known.targets))

    return text(program, remark)


def known_values(loaded: Loaded, request: Request) -> list[KnownValue]:
    """What is known before a run of the values in a program: of each name where it is read, of each
    instruction's results where it stands.
    """
    program = loaded.program
    found: list[KnownValue] = []
    varying = _varying(loaded, request)
    facts = elaborate(program, loaded.source, request.inputs, varying, (), program.result).facts
    for i, known in facts:
        for operand, fact in zip(visit.operands(i), known.operands, strict=False):
            if isinstance(operand, Slot):
                name = program.variables.get(operand.index, "")
                found.append(KnownValue(operand.span, name, fact.kind, told(fact)))
        for slot, fact in zip(visit.writes(i), known.targets, strict=False):
            found.append(KnownValue(i.span, program.variables.get(slot, ""), fact.kind, told(fact)))
    return found


def _varying(loaded: Loaded, request: Request) -> list[str]:
    """The names that would be differentiated; requested names must exist."""
    program, wrt, of = loaded.program, request.wrt, request.of
    check_names(request.inputs, program)
    if of is not None and of not in program.names:
        raise unknown_output(of, list(program.names))
    return candidates(program) if wrt is None else requested(program, wrt)
