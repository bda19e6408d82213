"""Decide whether compiled code or the interpreter answers a question, and keep the code.

Code gives the same answer as a run. If anything unusual happens, it bails out and the interpreter
repeats the run: all messages and warnings are the interpreter's own.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from gradcli.cpython import NESTED, Room
from gradcli.engine.values.limits import QUESTION
from gradcli.errors import Diagnostic, LimitError, ProgramError
from gradcli.ir import program as ir
from gradcli.ir.visit import everything, operands
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Options, Request, not_compiled

if TYPE_CHECKING:
    from gradcli.questions.coded.compiled import Compiled
    from gradcli.questions.coded.perturbed import Perturbed

Question: TypeAlias = Callable[[Loaded, Request], Any]
Key: TypeAlias = tuple[Any, ...]

_WORTH = 0.06  # assumed seconds of compiling any program
_EACH = 0.001  # and for each instruction that it becomes
_SOLVER = 0.8  # and for the methods that solve its equations
_FOLLOWED = 20_000  # instructions and values that specializing may follow for each second assumed
_SHARE = 0.25  # and for each second that code may save, this many times as many
_LATER = 4.0  # times the seconds of an attempt that took too much work, before the next one
_ROWS = 3  # questions that are always interpreted; the first also fills caches
_RUNS = 20  # runs of a check that are always interpreted
_SOON = 1.0  # seconds to a limit on time within which nothing is compiled
_CODES = 64  # that are kept, for questions with inputs of different shapes
_TIMES = 1024  # kinds of questions whose times are kept
_FEW = 2_000  # turns of loops and calls for which nothing is compiled if there may be no more

SOLVERS = frozenset({"fixed_point", "minimize", "odeint", "quad", "root"})
"""The built-ins that take steps until an equation is solved."""
_OF_LIBRARIES = (
    *("jax.experimental.ode", "jax.scipy.optimize", "scipy.integrate", "scipy.optimize"),
    "torchdiffeq",
)

Kind = TypeVar("Kind")
Entry = TypeVar("Entry")


class Recent(dict[Kind, Entry]):
    """A dictionary that drops its oldest entries when it has too many: questions whose sizes always
    change must not fill the memory. Several threads may use it.

    Args:
        most: The number of entries that it keeps.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    def __setitem__(self, key: Kind, entry: Entry) -> None:
        while len(self) >= self._most and key not in self:
            self.pop(next(iter(self)), None)
        super().__setitem__(key, entry)


class Jit:
    """The code of one program, by question."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._compiled: dict[Key, Compiled | Diagnostic] = Recent(_CODES)
        self._perturbed: dict[Key, Perturbed | Diagnostic] = Recent(_CODES)
        self._spent: dict[Key, tuple[int, float]] = Recent(_TIMES)
        self._least: dict[Key, float] = Recent(_TIMES)  # seconds before the next attempt

    @cached_property
    def _has_loops(self) -> bool:
        """True if the length of a run is unknown beforehand."""
        program = self._loaded.program
        loops = any(isinstance(i, (ir.For, ir.While)) for i in everything(program))
        return loops or solves(program)

    @cached_property
    def _worth(self) -> float:
        """The assumed seconds of compiling; interpreting that long makes compiling pay."""
        from gradcli.ir.inlined import functions_of, size

        program = self._loaded.program
        with Room(NESTED):
            own = _WORTH + _EACH * size(program.main.body, functions_of(program))
        return own + _SOLVER if solves(program) else own

    def answer(self, question: Question, request: Request) -> Any:
        """The answer to a question, by code or by interpreting the program.

        Raises:
            ProgramError: If it is always to be code, and cannot.
        """
        when = request.options.compile
        if when == "never":
            return question(self._loaded, request)
        against = _against(request)
        if against is not None and when == "always":
            raise ProgramError(against)
        if against is not None or (when == "auto" and _ends_soon(request)):
            return question(self._loaded, request)
        key = _key(question.__name__, request)
        if when == "auto" and key not in self._compiled and not self._pays(key):
            if key in self._spent or not self._has_loops:
                return self._timed(key, question, request)
            done, answer = self._begun(key, question, request)
            if done:
                return answer
        made = self._made(key, question, request, self._to_save(key, when))
        if not isinstance(made, Diagnostic):
            if made.lowered.draws and request.options.seed is None:
                seed = int.from_bytes(os.urandom(8))  # the interpreter draws the same from it
                request = request.changed(options=request.options.changed(seed=seed))
            return self._by_code(made, question, request)
        if when == "always":
            raise ProgramError(made)
        return self._timed(key, question, request)

    def code(self, question: Question, request: Request) -> Compiled | None:
        """The code that answers a question for many rows, if there is any by now: one that draws no
        random numbers.
        """
        when = request.options.compile
        if when == "never" or _against(request) is not None:
            return None
        key = _key(question.__name__, request)
        if when == "auto" and key not in self._compiled and not self._pays(key):
            return None
        made = self._made(key, question, request, self._to_save(key, when))
        return None if isinstance(made, Diagnostic) or made.lowered.draws else made

    def perturbed(
        self, request: Request, order: int, count: int, seconds: float
    ) -> Perturbed | None:
        """The code for a check of derivatives, or None if interpreting is cheaper after `count`
        runs in `seconds`.

        Raises:
            ProgramError: If it is always to be code, and cannot.
        """
        when, against = request.options.compile, _against(request)
        if when == "never":
            return None
        key = (*_key("gradcheck", request), order)
        is_early = count < _RUNS or seconds < self._worth or _ends_soon(request)
        if against is None and when == "auto" and key not in self._perturbed and is_early:
            return None
        found = against or self._perturbed.get(key)
        if found is None:
            from gradcli.questions.coded.perturbed import perturbed

            found = self._perturbed[key] = perturbed(self._loaded, request, order)
            request.options.remark(found if isinstance(found, Diagnostic) else found.remark)
        if not isinstance(found, Diagnostic):
            return found
        if when == "always":
            raise ProgramError(found)
        return None

    def _pays(self, key: Key) -> bool:
        count, seconds = self._so_far(key)
        return count >= _ROWS and seconds > self._least.get(key, self._worth)

    def _to_save(self, key: Key, when: str) -> float | None:
        """The seconds that code may save: as many as the questions have taken; None if it is
        wanted in any case.
        """
        return None if when == "always" else self._so_far(key)[1]

    def _so_far(self, key: Key) -> tuple[int, float]:
        """The number of questions that were interpreted, and the seconds of all but the first."""
        return self._spent.get(key, (0, 0.0))

    def _timed(self, key: Key, question: Question, request: Request) -> Any:
        """The answer by interpreting, whose time is taken."""
        start = perf_counter()
        found = question(self._loaded, request)
        count, seconds = self._so_far(key)
        self._spent[key] = count + 1, seconds + (perf_counter() - start if count else 0.0)
        return found

    def _begun(self, key: Key, question: Question, request: Request) -> tuple[bool, Any]:
        """True if interpreting has come to an end before there was code, and the answer if it has.
        Until then nothing is printed.
        """
        from gradcli.engine.static.turns import known_steps
        from gradcli.questions.coded.warmup import Warmup

        options = request.options
        given = {name: given.value for name, given in request.inputs.items()}
        with Room(NESTED):
            known = known_steps(self._loaded.program, given)
        trial = Warmup(
            known,
            self._worth,
            lambda seconds: self._seconds_to_code(key, question, request, seconds),
            options.echo,
        )
        tried = request.changed(options=options.changed(patience=trial.patience, echo=trial.echo))
        try:
            return True, self._timed(key, question, tried)
        except LimitError:
            if trial.is_over:
                return False, None
            raise
        finally:
            if not trial.is_over:
                trial.settle()

    def _seconds_to_code(
        self, key: Key, question: Question, request: Request, seconds: float
    ) -> float:
        """The seconds that code must save before it is made, asked in the middle of a run with so
        many ahead: zero if there is code by now, infinity if there is never any.
        """
        outer = QUESTION.printing, QUESTION.array_printing, QUESTION.default_dtype
        QUESTION.printing, QUESTION.array_printing = None, None
        QUESTION.default_dtype = "float64"
        try:
            if not isinstance(self._made(key, question, request, seconds), Diagnostic):
                return 0.0
            return inf if key in self._compiled else self._least.get(key, inf)
        finally:
            QUESTION.printing, QUESTION.array_printing, QUESTION.default_dtype = outer

    def _made(
        self, key: Key, question: Question, request: Request, seconds: float | None
    ) -> Compiled | Diagnostic:
        """The code for a question, or why there is none.

        Args:
            key: That of the question.
            question: What is asked.
            request: With these inputs.
            seconds: What code may save; it takes work in proportion, or there is none for now.
                None if it is worth any work.
        """
        found = self._compiled.get(key)
        if found is None:
            from gradcli.engine.compile.budget import Budget
            from gradcli.questions.coded.compiled import compile_question

            assumed = inf if seconds is None else max(self._worth, _WORTH) + _SHARE * seconds
            budget = Budget(_FOLLOWED * assumed)
            found = compile_question(self._loaded, question.__name__, request, budget)
            if isinstance(found, Diagnostic) and budget.is_used_up:
                self._least[key] = _LATER * max(self._worth, seconds or 0.0)
            else:
                self._compiled[key] = found
            request.options.remark(found if isinstance(found, Diagnostic) else found.remark)
        return found

    def _by_code(self, made: Compiled, question: Question, request: Request) -> Any:
        """The answer by code, or by the interpreter if code bails out. The interpreter does not
        print again what code has printed.
        """
        echo = _Echo(request.options)
        found = made.answer(request, echo)
        if found is not None:
            return found
        again = request.options.changed(echo=echo.again)
        return question(self._loaded, request.changed(options=again))


def solves(program: ir.Program) -> bool:
    """True if a program has equations to solve, by a built-in or under the name of a library."""
    return any(
        (isinstance(i, ir.CallBuiltin) and i.name in SOLVERS) or any(map(_is_solver, operands(i)))
        for i in everything(program)
    )


def _is_solver(operand: Any) -> bool:
    if isinstance(operand, ir.Imported):
        return operand.path.startswith(_OF_LIBRARIES)
    return isinstance(operand, ir.Builtin) and operand.name in SOLVERS


class _Echo:
    """Prints texts, and counts them; `again` leaves out as many, which have been printed."""

    def __init__(self, options: Options) -> None:
        self._print = options.echo
        self._printed = 0

    def __call__(self, text: str) -> None:
        self._printed += 1
        self._print(text)

    def again(self, text: str) -> None:
        if self._printed:
            self._printed -= 1
        else:
            self._print(text)


def _key(question: str, request: Request) -> Key:
    """The cache key: requests with the same key share their code."""
    wrt = request.wrt if request.wrt is None or isinstance(request.wrt, str) else (*request.wrt,)
    return (
        *(question, frozenset(request.shapes.items()), wrt, request.of, request.mode),
        *(type(request.cotangent), (*request.tangents,), request.options.grad_fn),
        None if request.question is None else request.question.key,
    )


def _ends_soon(request: Request) -> bool:
    """True if there may be no time or steps to make code for, or the last values at the limit are
    wanted, which only a run that is interpreted tells.
    """
    seconds, steps = request.options.limits.seconds, request.options.limits.steps
    few = (seconds is not None and seconds < _SOON) or (steps is not None and steps <= _FEW)
    return few or (request.options.verbose and (seconds is not None or steps is not None))


def _against(request: Request) -> Diagnostic | None:
    """The reason why a request is always interpreted; None if code may answer it."""
    options = request.options
    if options.graph or options.kinks or options.plots is not None:
        if options.plots is not None:
            return not_compiled("plots are drawn", "leave out `--plots`")
        return not_compiled("the recorded graph is shown", "leave out `--graph` and `--kinks`")
    return None
