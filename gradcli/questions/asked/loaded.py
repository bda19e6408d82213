"""A program that is ready to run, and a finished run of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gradcli.engine.report.values import is_data
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.inputs import Given, check_complete, check_names
from gradcli.engine.run.session.state import Output, RandomNumbers, Session
from gradcli.engine.run.session.watched_names import NOTHING, WatchedNames
from gradcli.engine.tape.graph import clock
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, Quiet, dtype_of
from gradcli.engine.values.limits import Counters, Reached
from gradcli.errors import Diagnostic, ErrorText, RunError, UsageError
from gradcli.ir import program as ir
from gradcli.limits import Limits
from gradcli.questions.asked.names import (
    Watch,
    candidates,
    differentiated,
    inferred,
    requested,
    unknown_output,
)
from gradcli.questions.asked.request import Options, Request
from gradcli.record import Record
from gradcli.source import Source, Span

if TYPE_CHECKING:
    from gradcli.engine.run.execution.observe import Observer
    from gradcli.engine.static.origins import Origins


class Done(Record):
    """A finished run. `started` is the clock of nodes when it began."""

    __slots__ = ("started", "session", "values", "result", "printed")
    started: int
    session: Session
    values: dict[str, Any]
    result: Any
    printed: list[str]

    def warnings(self, source: Source) -> tuple[Diagnostic, ...]:
        """The run's warnings, with the text of the program."""
        found = tuple(self.session.output.warnings.values())
        for warning in found:
            warning.source = source
        return found

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines that the program printed."""
        text = "".join(self.printed).removesuffix("\n")
        return tuple(text.split("\n")) if self.printed else ()

    def silent(self, limits: Limits) -> Options:
        """Options to repeat the run silently with the same random numbers."""
        random = self.session.random
        return Options(random.seed, stream=random.stream, limits=limits)


class Loaded:
    """A program with its text, ready to be run any number of times."""

    def __init__(self, source: Source, program: ir.Program) -> None:
        self.source = source
        self.program = program
        self.executable = Executable(program)
        self._origins: dict[str | None, Origins] = {}

    @cached_property
    def slips(self) -> tuple[Diagnostic, ...]:
        """Warnings about the program's text, which hold for each answer."""
        text, calls = self.source.text, self.program.result is not None
        if "^" not in text and not (calls and "def " in text):
            return ()  # the most, without an import
        from gradcli.questions.asked.ignores import spoken
        from gradcli.questions.asked.slips import slips

        return tuple(spoken(slips(self.program, self.source), self.source))

    @cached_property
    def bounded(self) -> dict[str, tuple[Any, Any]]:
        """The bounds of the inputs that are declared with some."""
        return {i.name: i.bounds for i in self.program.inputs if i.bounds is not None}

    @cached_property
    def sees_recording(self) -> bool:
        """True if a recorded run may differ from one that is not recorded."""
        from gradcli.engine.static.recording import sees_recording

        return sees_recording(self.program)

    @cached_property
    def names_recorded(self) -> bool:
        """True if a value of a run may have a `grad_fn`."""
        from gradcli.engine.static.recording import names_recorded

        return names_recorded(self.program)

    def origins(self, of: str | None) -> Origins:
        """The top-level names that a result may depend on, by some path of the program."""
        from gradcli.engine.static.origins import origins

        if of not in self._origins:
            self._origins[of] = origins(self.program, of)
        return self._origins[of]

    def differentiated(self, request: Request, done: Done, watch: Watch) -> list[str]:
        """The names to differentiate by, after a run. Errors as of `names.differentiated`."""
        program, watched = self.program, done.session.watched
        origins = partial(self.origins, request.of)
        return differentiated(program, watched, watch, done.values, origins)

    def inferred(self, request: Request, done: Done) -> list[str]:
        """The names that count if the user names none, after a run."""
        return inferred(self.program, done.session.watched, partial(self.origins, request.of))

    def watch(self, request: Request) -> Watch:
        """The names that a run watches for a request: those of its tangents and of `wrt`, or the
        candidates if it has no `wrt`.
        """
        along = self.along(request)
        if request.wrt is None:
            return Watch([*candidates(self.program), *along], requested=along, infers=True)
        names = list(dict.fromkeys([*requested(self.program, request.wrt), *along]))
        return Watch(names, requested=names)

    def along(self, request: Request) -> list[str]:
        """The names that a request has tangents for."""
        return requested(self.program, list(request.tangents), "--tangent")

    def execute(
        self,
        inputs: Mapping[str, Given],
        options: Options,
        watch: Watch,
        observer: Observer | None = None,
        *,
        moved: Mapping[str, Any] = NOTHING,
        plots: Any = None,
        **more: Any,
    ) -> Done:
        """Run the program once. The observer sees every step; `moved` data replaces the values of
        names, `plots` draws, `more` is for the `Session`.
        """
        check_names(inputs, self.program)
        check_complete(inputs, self.program)
        printed: list[str] = []

        def echo(text: str) -> None:
            if not isinstance(text, ErrorText):
                printed.append(text)
            options.echo(text)

        session = Session(
            watched=WatchedNames(watch.names, frozenset(watch.requested), moved),
            random=RandomNumbers(options.seed, options.stream),
            output=Output(echo, plots),
            counters=Counters(options.limits, options.patience),
            keep=watch.keep,
            **more,
        )
        started = clock()
        values, result = self.executable.run(session, inputs, observer)
        session.watched.hold_leaves(values)
        return Done(started, session, values, result, printed)

    def output(self, done: Done, of: str | None) -> tuple[str, Any]:
        """Name and value of the requested output: a top-level name, or the program's result.

        Raises:
            UsageError: If the program has none.
            RunError: If it is no number or tensor.
        """
        if of is None:
            if done.result is None:
                raise self._no_result()
            name, value = self.program.output, done.result
        else:
            if of not in done.values:
                raise unknown_output(of, [n for n, v in done.values.items() if is_data(v)])
            name, value = of, done.values[of]
        value = self.tensor(done, value, of)
        if not isinstance(value, Tensor) and type(value) not in NUMBERS:
            message = f"`{name}` is {kind_of(value)}, not a number or tensor"
            help = "a list of numbers becomes a tensor: `[x, y]` for `(x, y)`"
            raise RunError(
                Diagnostic(
                    "not-differentiable",
                    message,
                    *self.place(of),
                    help=help if isinstance(value, tuple) else None,
                )
            )
        return name, value

    def tensor(self, done: Done, value: Any, of: str | None) -> Any:
        """A list that is a result as a tensor; any other value unchanged.

        Raises:
            RunError: If the list is none, with the place of the result.
        """
        try:
            return done.session.tensor(value)
        except RunError as error:
            first = error.diagnostics[0]
            if first.source is None:
                first.source, first.span = self.place(of)
            raise

    def _no_result(self) -> UsageError:
        dropped = next((slip for slip in self.slips if slip.code == "no-return"), None)
        if dropped is not None:
            place = dropped.source, dropped.span
            return UsageError(Diagnostic("no-result", dropped.message, *place, help=dropped.help))
        message = "the program does not end in an expression, so it has no result"
        help = "end it in one, or name one of its values with --of"
        if not self.source.text.strip():
            message, help = "the program is empty", "end it in an expression"
        return UsageError(Diagnostic("no-result", message, help=help))

    def float_output(self, done: Done, of: str | None) -> tuple[str, Any]:
        """Name and value of the output to differentiate, which must be floating."""
        name, output = self.output(done, of)
        if not dtype_of(output).startswith("float"):
            message = f"`{name}` has dtype {dtype_of(output)}: only floats have derivatives"
            help = "differentiate a float: `x[argmax(x)]` for `argmax(x)`, `7.0` for `7`"
            raise RunError(Diagnostic("needs-float", message, *self.place(of), help=help))
        return name, output

    def place(self, of: str | None) -> tuple[Source | None, Span | None]:
        """The place of the requested output, if that is the program's result."""
        result = self.program.result
        return (self.source, result.span) if of is None and result is not None else (None, None)

    def passing(self) -> Quiet:
        """A pass of the command: its errors get a place in the program."""
        return _Passing(self)

    def placed(self, error: Exception) -> Exception:
        """The error of a pass, with its place in the program."""
        placed = self.executable.placed(error)
        first = placed.diagnostics[0] if isinstance(placed, RunError) else None
        if first is not None and first.source is None and first.labels:
            first.source, first.span = self.source, first.labels[-1].span
        return placed


class _Passing(Quiet):
    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        if isinstance(error, Reached):
            raise self._loaded.executable.stopped(error) from None
        if isinstance(error, Exception):
            raise self._loaded.placed(error) from None
