"""What can be asked of a program: a run, its derivatives, its graph; one method a question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Any

from gradcli import ir
from gradcli.engine.autodiff import derivatives
from gradcli.engine.report.nonfinite import is_finite, non_finite_warning, second_warning
from gradcli.engine.report.values import binding, is_data, is_numeric, plain_value
from gradcli.engine.run.execute import Executable
from gradcli.engine.run.inputs import Given, check_names
from gradcli.engine.run.session import Session, kind_of
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.data import NUMBERS, Quiet, dtype_of
from gradcli.errors import (
    Diagnostic,
    RunError,
    UsageError,
    nearest,
)
from gradcli.results import (
    CheckResult,
    Declared,
    GradcheckResult,
    GradResult,
    Graph,
    GraphResult,
    HessianResult,
    HvpResult,
    JacobianResult,
    JvpResult,
    RunResult,
    Value,
    VjpResult,
)
from gradcli.runs import Asked, Done, Options, Watch, given_values, weights
from gradcli.source import Source, Span


class Program:
    """A program, ready to be run and differentiated any number of times."""

    def __init__(self, source: Source, program: ir.Program) -> None:
        self.source = source
        self._program = program
        self._executable = Executable(program)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names that may be given from outside."""
        return tuple(i.name for i in self._program.inputs)

    @property
    def names(self) -> tuple[str, ...]:
        """Top-level names, in order of first assignment."""
        return tuple(self._program.names)

    @property
    def watchable(self) -> tuple[str, ...]:
        """The names that a derivative can be taken by."""
        return tuple(name for name in self._program.names if name in self._program.watchable)

    @property
    def required(self) -> tuple[str, ...]:
        """The inputs without a default."""
        return tuple(i.name for i in self._program.inputs if i.default is None)

    def check_given(self, given: Mapping[str, Given]) -> None:
        """Refuse values for names that are no inputs.

        Raises:
            InputError: Naming the inputs that there are.
        """
        check_names(given, self._program)

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **named: Any,
    ) -> RunResult:
        """Run the program.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of what went wrong.
        """
        options = options or Options()
        given = given_values(inputs, named)
        watched = derivatives.candidates(self._program) if options.graph else ()
        done = self._execute(given, options, Watch(watched, keep=options.graph))
        try:
            return self._run_result(done, given, options)
        except RecursionError:
            message = "a list is nested too deeply to be a value of the program"
            raise RunError(Diagnostic("nested-too-deep", message)) from None

    def _run_result(self, done: Done, given: Mapping[str, Given], options: Options) -> RunResult:
        """What a finished run found, as plain data."""
        result = done.session.tensor(done.result) if is_numeric(done.result) else done.result
        warnings = []
        if not is_finite(result):
            everything = Watch(self._program.watchable, keep=True)
            warnings.append(self._non_finite(given, options, done, everything, None, None))
        return RunResult(
            output=self._program.output,
            result=plain_value(result) if is_data(result) else None,
            bindings=tuple(binding(n, value) for n, value in done.values.items() if is_data(value)),
            printed=done.lines,
            warnings=tuple(warnings),
            graph=self._graph(done, result) if options.graph else None,
        )

    def grad(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        options: Options | None = None,
        **named: Any,
    ) -> GradResult:
        """Value of the result and its gradient.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            wrt: Names to differentiate with respect to; None: the params, or else what
                docs/language.md says.
            of: Top-level name to differentiate; None: the program's result.
            cotangent: Weight of each element of a result that is not scalar.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of what went wrong.
        """
        asked = self._ask(given_values(inputs, named), wrt, of, options)
        weight = asked.cotangent(cotangent)
        with self._pass():
            found, unused = derivatives.gradients(asked.session, asked.output, weight, asked.names)
        grad = _plain(found)
        return GradResult(
            output=asked.name,
            value=plain_value(asked.output),
            grad=grad,
            inputs={n: plain_value(asked.session.points[n]) for n in asked.names},
            printed=asked.done.lines,
            warnings=self._warnings(asked, grad, unused, cotangent),
        )

    def vjp(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        cotangent: Any = None,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> VjpResult:
        """Product of a cotangent with the Jacobian: the gradient of the result weighed by it.
        Arguments as of `grad`.
        """
        found = self.grad(inputs, wrt=wrt, of=of, cotangent=cotangent, options=options, **named)
        return VjpResult(
            found.output, found.value, found.grad, found.inputs, found.printed, found.warnings
        )

    def jvp(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tangents: Mapping[str, Any],
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> JvpResult:
        """Product of the Jacobian with a direction, by forward mode.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            tangents: The direction by name, shaped as the names' values; zero by the others.
            of: Top-level name to differentiate; None: the program's result.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of what went wrong.
        """
        from gradcli.engine.autodiff import directions

        names = derivatives.asked(self._program, list(tangents), "--tangent")
        asked = self._ask(given_values(inputs, named), names, of, options)
        dots = asked.direction(tangents)
        with self._pass():
            found = directions.directional(asked.session, asked.output, dots)
        return JvpResult(
            output=asked.name,
            value=plain_value(asked.output),
            jvp=plain_value(Tensor(found)),
            printed=asked.done.lines,
            warnings=self._warnings(asked, found, asked.unused, None),
        )

    def jacobian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> JacobianResult:
        """Value of the result and its Jacobian. Arguments as of `grad`; `mode` is "forward",
        "reverse", or "auto" for the one of fewer directions.
        """
        from gradcli.engine.autodiff import directions

        asked = self._ask(given_values(inputs, named), wrt, of, options)
        with self._pass():
            found, mode = directions.jacobian(
                asked.session, asked.output, asked.names, mode, asked.options.progress
            )
        jacobian = _plain(found)
        return JacobianResult(
            output=asked.name,
            value=plain_value(asked.output),
            jacobian=jacobian,
            mode=mode,
            printed=asked.done.lines,
            warnings=self._warnings(asked, jacobian, asked.unused, None),
        )

    def hessian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        diagonal: bool = False,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> HessianResult:
        """Value, gradient and second derivatives of the result. Arguments as of `grad`; with
        `diagonal` only the second derivatives by one element twice. `mode` tells how the gradient
        is differentiated: "forward", "reverse", or "auto" for the one that costs less.
        """
        from gradcli.engine.autodiff import directions

        asked = self._ask(given_values(inputs, named), wrt, of, options)
        weight = asked.cotangent(cotangent)
        mode = "reverse" if mode == "auto" else mode  # it keeps to what a gradient depends on
        question = directions.hessian_diagonal if diagonal else directions.hessian
        with self._pass():
            slopes, second = question(
                asked.session, asked.output, weight, asked.names, mode, asked.options.progress
            )
        grad = _plain(slopes)
        found: dict[str, Value] = (
            _plain(second) if diagonal else {n: _plain(row) for n, row in second.items()}
        )
        return HessianResult(
            output=asked.name,
            value=plain_value(asked.output),
            grad=grad,
            hessian=None if diagonal else found,
            diagonal=found if diagonal else None,
            mode=mode,
            printed=asked.done.lines,
            warnings=self._second_warnings(asked, grad, found, cotangent),
        )

    def hvp(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        tangents: Mapping[str, Any],
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> HvpResult:
        """Value, gradient, and the product of the Hessian with a direction. Arguments as of
        `hessian` and, for the direction, of `jvp`; `wrt` names the rows of the product that are
        wanted, without it those of the direction.
        """
        from gradcli.engine.autodiff import directions

        along = derivatives.asked(self._program, list(tangents), "--tangent")
        rows = along if wrt is None else derivatives.asked(self._program, wrt)
        both = list(dict.fromkeys([*rows, *along]))
        asked = self._ask(given_values(inputs, named), both, of, options)
        weight = asked.cotangent(cotangent)
        dots = asked.direction(tangents)
        if mode == "auto":  # forward mode makes all rows in one pass, but runs no hook
            mode = "reverse" if directions.hooked(asked.output) else "forward"
        with self._pass():
            slopes, second = directions.hessian_product(
                asked.session, asked.output, weight, rows, dots, mode
            )
        grad, found = _plain(slopes), _plain(second)
        return HvpResult(
            output=asked.name,
            value=plain_value(asked.output),
            grad=grad,
            hvp=found,
            mode=mode,
            printed=asked.done.lines,
            warnings=self._second_warnings(asked, grad, found, cotangent),
        )

    def graph(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> GraphResult:
        """The graph that the run recorded, with values and derivatives. Arguments as of `grad`."""
        options = options or Options()
        given = given_values(inputs, named)
        watch = self._watch(wrt).keeping()
        done = self._execute(given, options, watch)
        name, output = self._output(done, of)
        warnings = []
        if not is_finite(output):
            warnings.append(self._non_finite(given, options, done, watch, of, None))
        derivatives.differentiated(self._program, done.session, watch.asked, done.values)
        return GraphResult(
            output=name,
            value=plain_value(output),
            graph=self._graph(done, output),
            printed=done.lines,
            warnings=tuple(warnings),
        )

    def gradcheck(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        order: int = 1,
        options: Options | None = None,
        **named: Any,
    ) -> GradcheckResult:
        """Compare derivatives with central differences and both modes with each other, and each
        own rule by itself. Arguments as of `grad`; `order` 2 checks second derivatives, too.
        """
        from gradcli.engine.gradcheck.program import OwnCalls, check_program

        options = options or Options()
        given = given_values(inputs, named)
        watch = self._watch(wrt)
        calls = OwnCalls()
        done = self._execute(given, options, watch, own_calls=calls)
        self._float_output(done, of)
        names = derivatives.differentiated(self._program, done.session, watch.asked, done.values)
        quiet = Options(done.session.seed_used)
        moving = Watch(names, asked=names)

        runs = count(1)

        def run(values: Mapping[str, Any], transparent: bool) -> tuple[Session, Any]:
            options.progress(next(runs), None)
            again = self._execute(given, quiet, moving, moved=values, transparent=transparent)
            return again.session, self._output(again, of)[1]

        with self._pass():
            checks = check_program(run, names, order, self._lines())
            rules = calls.checked(self.source, order)
        passed = all(check.passed for check in (*checks, *rules))
        return GradcheckResult(passed, checks, rules, done.lines, ())

    def check(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        **named: Any,
    ) -> CheckResult:
        """Findings of a walk on shapes and dtypes alone. Arguments as of `grad`."""
        from gradcli.engine.static.walk import examine

        given = given_values(inputs, named)
        check_names(given, self._program)
        if of is not None and of not in self._program.names:
            raise _no_such_result(of, list(self._program.names))
        if wrt is None:
            varying = derivatives.candidates(self._program)
        else:
            varying = derivatives.asked(self._program, wrt)
        findings = examine(self._program, self.source, given, varying, of)
        return CheckResult(tuple(findings), tuple(self._declared()))

    def _declared(self) -> Iterator[Declared]:
        for i in self._program.inputs:
            yield declared(
                self.source, i.span, i.name, i.kind, i.type, has_default=i.default is not None
            )

    def _lines(self) -> dict[str, int]:
        """The line of each input."""
        return {i.name: self.source.position(i.span.start)[0] for i in self._program.inputs}

    # --- one run -----------------------------------------------------------------------

    def _ask(
        self,
        given: Mapping[str, Given],
        wrt: str | Sequence[str] | None,
        of: str | None,
        options: Options | None,
    ) -> Asked:
        """Run the program to differentiate its result."""
        options = options or Options()
        watch = self._watch(wrt)
        done = self._execute(given, options, watch)
        name, output = self._float_output(done, of)
        names = derivatives.differentiated(self._program, done.session, watch.asked, done.values)
        place = self._at_result(of)
        return Asked(done, given, options, watch, of, name, output, names, place)

    def _float_output(self, done: Done, of: str | None) -> tuple[str, Any]:
        """Name and value of what is differentiated, which must be floating."""
        name, output = self._output(done, of)
        if not dtype_of(output).startswith("float"):
            message = f"`{name}` has dtype {dtype_of(output)}: only floats have derivatives"
            help = "differentiate a float: `x[argmax(x)]` for `argmax(x)`, `7.0` for `7`"
            raise RunError(Diagnostic("needs-float", message, *self._at_result(of), help=help))
        return name, output

    def _watch(self, wrt: str | Sequence[str] | None) -> Watch:
        if wrt is None:
            return Watch(derivatives.candidates(self._program))
        names = derivatives.asked(self._program, wrt)
        return Watch(names, asked=names)

    def _execute(
        self, given: Mapping[str, Given], options: Options, watch: Watch, **more: Any
    ) -> Done:
        check_names(given, self._program)
        printed: list[str] = []

        def echo(text: str) -> None:
            printed.append(text)
            options.echo(text)

        session = Session(
            watched=watch.watched,
            explicit=watch.asked is not None,
            keep=watch.keep,
            seed=options.seed,
            echo=echo,
            **more,
        )
        values, result = self._executable.run(session, given)
        return Done(session, values, result, printed)

    def _output(self, done: Done, of: str | None) -> tuple[str, Any]:
        """Name and value of what is differentiated."""
        if of is None:
            if done.result is None:
                message = "the program does not end in an expression, so it has no result"
                help = "end it in one, or name one of its values with --of"
                if not self.source.text.strip():
                    message, help = "the program is empty", "end it in an expression"
                raise UsageError(Diagnostic("no-result", message, help=help))
            name, value = self._program.output, done.result
        else:
            if of not in done.values:
                raise _no_such_result(of, [n for n, v in done.values.items() if is_data(v)])
            name, value = of, done.values[of]
        value = done.session.tensor(value)
        if not isinstance(value, Tensor) and type(value) not in NUMBERS:
            message = f"`{name}` is {kind_of(value)}, not a number or tensor"
            help = "a list of numbers becomes a tensor: `[x, y]` for `(x, y)`"
            raise RunError(
                Diagnostic(
                    "not-differentiable",
                    message,
                    *self._at_result(of),
                    help=help if isinstance(value, tuple) else None,
                )
            )
        return name, value

    def _at_result(self, of: str | None) -> tuple[Source | None, Span | None]:
        """Where the program says what is differentiated, if that is its result."""
        result = self._program.result
        return (self.source, result.span) if of is None and result is not None else (None, None)

    def _graph(self, done: Done, output: Any) -> Graph:
        if not isinstance(output, Tensor) or node_of(output) is None:
            message = "the result depends on nothing that is differentiated: there is no graph"
            help = "name an input with --wrt, or make a leaf by `tensor(..., requires_grad=True)`"
            raise RunError(Diagnostic("nothing-recorded", message, help=help))
        weight = 1.0 if output.shape == () else None
        from gradcli.engine.report.graph import recorded_graph

        with self._pass():
            return recorded_graph(output, weight, done.values, self.source)

    @contextmanager
    def _pass(self) -> Iterator[None]:
        """A pass of the command: what it refuses gets a place in the program."""
        try:
            with Quiet():
                yield
        except Exception as error:
            placed = self._executable.placed(error)
            first = placed.diagnostics[0] if isinstance(placed, RunError) else None
            if first is not None and first.source is None and first.labels:
                first.source, first.span = self.source, first.labels[-1].span
            raise placed from None

    # --- warnings ----------------------------------------------------------------------

    def _warnings(
        self, asked: Asked, found: Value, unused: Sequence[str], cotangent: Any
    ) -> tuple[Diagnostic, ...]:
        """What is to be said of a result and the first derivatives that were found."""
        warnings = [self._unused(name, asked.name) for name in unused]
        if not (is_finite(asked.output) and is_finite(found)):
            again = asked.watch.keeping()
            warnings.append(
                self._non_finite(asked.given, asked.options, asked.done, again, asked.of, cotangent)
            )
        return tuple(warnings)

    def _second_warnings(
        self, asked: Asked, grad: Value, second: Value, cotangent: Any
    ) -> tuple[Diagnostic, ...]:
        """What is to be said of a result, its gradient and its second derivatives."""
        from gradcli.engine.autodiff.directions import recorded_gradients

        warnings = self._warnings(asked, grad, asked.unused, cotangent)
        if is_finite(second) or not (is_finite(asked.output) and is_finite(grad)):
            return warnings
        with Quiet():
            weight = asked.cotangent(cotangent)
            slopes = recorded_gradients(asked.session, asked.output, weight, asked.names)
            warning = second_warning(slopes.values(), self.source)
        return (*warnings, _judged(warning, asked.options))

    def _unused(self, name: str, output: str) -> Diagnostic:
        span = next((i.span for i in self._program.inputs if i.name == name), Span(0, 0))
        message = f"`{output}` does not depend on `{name}`: the gradient is zero"
        return Diagnostic("unused-input", message, self.source, span, severity="warning")

    def _non_finite(
        self,
        given: Mapping[str, Given],
        options: Options,
        done: Done,
        watch: Watch,
        of: str | None,
        cotangent: Any,
    ) -> Diagnostic:
        """The warning about nan or infinity: the run once more, keeping its values, to explain."""
        silent = Options(done.session.seed_used)
        again = self._execute(given, silent, watch)
        _, output = self._output(again, of)
        points = again.session.points
        for i in self._program.inputs:
            if i.name in points and not is_finite(points[i.name]):
                what = "derivative" if is_finite(output) else "result"
                message = f"the {what} is not finite, as the input `{i.name}` is not"
                warning = Diagnostic("non-finite", message, self.source, i.span, severity="warning")
                return _judged(warning, options)
        with Quiet():
            if cotangent is None:
                weight = derivatives.even_cotangent(output)
            else:
                weight = weights(again.session, output, cotangent)
            warning = non_finite_warning(output, weight, self.source)
        return _judged(warning, options)


def _judged(warning: Diagnostic, options: Options) -> Diagnostic:
    """The warning, if nan and infinity are no error."""
    if options.check_nan:
        raise RunError(Diagnostic(warning.code, warning.message, warning.source, warning.span))
    return warning


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


def _plain(found: Mapping[str, Any]) -> dict[str, Value]:
    return {name: plain_value(Tensor(data)) for name, data in found.items()}


def _no_such_result(of: str, known: list[str]) -> UsageError:
    message = f"--of names `{of}`, which the program does not have"
    help = nearest(of, known) or (f"it has {', '.join(known)}" if known else None)
    return UsageError(Diagnostic("unknown-name", message, help=help))
