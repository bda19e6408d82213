"""Derivatives compared with differences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gradcli.engine.gradcheck.elsewhere import Coded
from gradcli.engine.gradcheck.program import OwnCalls, check_program
from gradcli.engine.run.session.taken_steps import TakenSteps
from gradcli.engine.run.session.watched_names import WatchedNames
from gradcli.errors import Diagnostic, RunError
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Request
from gradcli.results import GradcheckResult

if TYPE_CHECKING:
    from gradcli.questions.coded.perturbed import Perturbed

    Compile = Callable[[Request, int, int, float], Perturbed | None]


def gradcheck(loaded: Loaded, request: Request, order: int, compile: Compile) -> GradcheckResult:
    """Derivatives compared with central differences, and each rule of the program by itself.

    Args:
        loaded: The program.
        request: Names and inputs.
        order: The highest order of derivatives, 1 or 2.
        compile: Gives the code for the check, as `Jit.perturbed` does.
    """
    compile(request, order, 0, 0.0)
    watch = loaded.watch(request)
    calls, steps = OwnCalls(), TakenSteps()
    done = loaded.execute(request.inputs, request.options, watch, own_calls=calls, steps=steps)
    loaded.float_output(done, request.of)
    names = loaded.differentiated(request, done, watch)
    _check_movable(loaded, names)
    quiet = done.silent(request.options.limits)
    moving = Watch(names, requested=names)
    runs, start = 0, perf_counter()

    def begin() -> None:
        nonlocal runs
        runs += 1
        request.options.progress(runs, None)

    def run(values: Mapping[str, Any], transparent: bool) -> tuple[WatchedNames, Any]:
        begin()
        same = TakenSteps(steps.calls) if values and not transparent else None
        again = loaded.execute(
            request.inputs, quiet, moving, moved=values, transparent=transparent, steps=same
        )
        return again.session.watched, loaded.output(again, request.of)[1]

    def code(values: Mapping[str, Any]) -> Coded | None:
        if steps.calls:  # code chooses them anew
            return None
        made = compile(request, order, runs, perf_counter() - start)
        if made is None or made.names != names:
            return None
        found = made.values(request, values)
        if found is None:
            return None
        begin()
        return Coded(found, made.shapes, lambda weights: made.gradients(request, values, weights))

    with loaded.passing():
        checks = check_program(run, names, order, _lines(loaded), code)
        rules = calls.checked(loaded.source, order)
    passed = all(check.passed for check in (*checks, *rules))
    warnings = done.warnings(loaded.source)
    return GradcheckResult(passed, checks, rules, done.lines, warnings)


def _check_movable(loaded: Loaded, names: Sequence[str]) -> None:
    """Refuse names whose values cannot be replaced in another run."""
    fixed = next((name for name in names if name not in loaded.program.watchable), None)
    if fixed is not None:
        message = f"`{fixed}` is not assigned exactly once: it cannot be moved"
        help = f"give each value a name of its own, or declare `param {fixed}`"
        raise RunError(Diagnostic("not-differentiable", message, help=help))


def _lines(loaded: Loaded) -> dict[str, int]:
    """The line of each input."""
    return {i.name: loaded.source.told(i.span.start)[0] for i in loaded.program.inputs}
