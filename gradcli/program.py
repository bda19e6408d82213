"""The stages in order, one function a question: the only room that knows them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gradcli.engine.arrays import NUMBERS, Quiet
from gradcli.engine.call import Builtins
from gradcli.engine.derivatives import (
    gradients,
    is_finite,
    names_of_leaves,
    origin_of_non_finite,
)
from gradcli.engine.execute import execute
from gradcli.engine.export import is_data, plain_value
from gradcli.engine.inputs import Given
from gradcli.engine.members import seed as cotangent_of
from gradcli.engine.recorded import recorded_graph
from gradcli.engine.session import Session, kind_of
from gradcli.engine.tensor import Tensor, data_of, node_of
from gradcli.engine.translate import Code, translate
from gradcli.errors import (
    Diagnostic,
    GradError,
    InputError,
    ProgramError,
    RunError,
    UsageError,
    run_error,
)
from gradcli.grammar import ast
from gradcli.grammar.check import check
from gradcli.grammar.lower import lower
from gradcli.grammar.names import analyse, is_constant
from gradcli.grammar.parser import parse, parse_expression
from gradcli.grammar.text import decode
from gradcli.ir import Input
from gradcli.record import Record
from gradcli.results import Binding, GradResult, GraphResult, RunResult
from gradcli.source import Source, Span

__all__ = ["Given", "Options", "Program", "constant", "decode", "load", "load_source"]


class Options(Record):
    """How to run: `seed` makes random numbers repeatable, `echo` gets each text as it is
    printed, line ends included, `check_nan` turns the warning about nan and infinity into an error, `graph` asks for
    the recorded graph.
    """

    __slots__ = ("seed", "echo", "check_nan", "graph")
    seed: int | None
    echo: Callable[[str], None]
    check_nan: bool
    graph: bool


def load(program: str | Path) -> Program:
    """A program from a file, or from its text.

    Args:
        program: A path; a string that holds a newline or names no file that ends in `.grad` is the
            program's text.

    Raises:
        GradError: If the file cannot be read or the program is refused.
    """
    if isinstance(program, Path) or (program.endswith(".grad") and "\n" not in program):
        path = Path(program)
        try:
            data = path.read_bytes()
        except OSError as error:
            text = f"cannot read `{path}`: {error.strerror or error}"
            raise UsageError(Diagnostic("unreadable-file", text)) from None
        return load_source(decode(str(path), data))
    return load_source(Source("<text>", program))


def load_source(source: Source, given: frozenset[str] = frozenset()) -> Program:
    """A program that has been parsed, checked and lowered.

    Args:
        source: Its text.
        given: Names that will be given from outside; where nothing is declared, such a name is an
            input even if a built-in has it.

    Raises:
        ProgramError: If it is refused; the error has all findings.
    """
    return Program(source, _lowered(parse(source), source, given))


def _lowered(module: ast.Module, source: Source, given: frozenset[str]) -> Any:
    builtins = Builtins()
    findings = check(module, source, builtins, given)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise ProgramError(*errors)
    return lower(module, analyse(module, builtins, given), source)


def constant(text: str, name: str) -> Given:
    """The value of NAME=VALUE from the command line, VALUE being a constant expression.

    Raises:
        InputError: If it is none.
    """
    origin = f"{name}={text}" if name.isidentifier() else f"{name} {text}"
    source = Source(origin, text)
    try:
        expression = parse_expression(source)
        module = ast.Module(expression.span, (ast.ExprStatement(expression.span, expression),))
        builtins = Builtins()
        names = analyse(module, builtins, frozenset())
        if not is_constant(expression, names):
            raise InputError(
                Diagnostic(
                    "bad-input",
                    f"the value of {name} must be a constant expression",
                    source,
                    expression.span,
                    help="numbers, lists, arithmetic and built-in functions of these",
                )
            )
        program = _lowered(module, source, frozenset())
        _, value = execute(program, translate(program), Session(), {})
    except (ProgramError, RunError) as error:
        raise InputError(*error.diagnostics) from None
    return Given(value, origin)


class Program:
    """A program, ready to be run and differentiated any number of times."""

    def __init__(self, source: Source, program: Any) -> None:
        self.source = source
        self._program = program
        self._code: Code = translate(program)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names that may be given from outside."""
        return tuple(i.name for i in self._program.inputs)

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **named: Any,
    ) -> RunResult:
        """Run the program.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays. `named` are more of them.
            options: How to run.

        Raises:
            GradError: Of the kind of what went wrong.
        """
        options = options or _options()
        given = _given(inputs, named)
        watched = frozenset(self._default_names()) if options.graph else frozenset[str]()
        done = self._execute(given, watched, options, keep=options.graph, explicit=False)
        result = done.result
        warnings = []
        if result is not None and not is_finite(_numbers(result)):
            warnings.append(self._non_finite(given, options, None, done))
        graph = None
        if options.graph:
            graph = self._graph(done, result)
        return RunResult(
            output=self._program.output,
            result=plain_value(_tensor(done.session, result)) if is_data(result) else None,
            bindings=tuple(
                Binding(
                    name,
                    plain_value(value),
                    None
                    if not isinstance(value, Tensor) or value.grad is None
                    else plain_value(value.grad),
                    _grad_fn(value),
                    isinstance(value, Tensor) and value.is_leaf and value.requires_grad,
                )
                for name, value in done.values.items()
                if is_data(value)
            ),
            printed=done.lines,
            warnings=tuple(warnings),
            graph=graph,
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
            inputs: Values by name: numbers, lists or NumPy arrays. `named` are more of them.
            wrt: Names to differentiate with respect to; None: the params, or else what
                docs/language.md says.
            of: Top-level name to differentiate; None: the program's result.
            cotangent: Weight of each element of a result that is not scalar.
            options: How to run.

        Raises:
            GradError: Of the kind of what went wrong.
        """
        options = options or _options()
        given = _given(inputs, named)
        names = self._asked(wrt)
        watched = frozenset(self._default_names() if names is None else names)
        done = self._execute(given, watched, options, keep=False, explicit=names is not None)
        output_name, output = self._output(done, of)
        names = self._differentiated(names, done)
        weight = self._cotangent(done, output, cotangent)
        with Quiet():
            found, unused = gradients(done.session, output, weight, names)
        warnings = [self._unused(name, output_name) for name in unused]
        if not (is_finite(_numbers(output)) and all(map(is_finite, found.values()))):
            warnings.append(self._non_finite(given, options, of, done, watched, cotangent))
        return GradResult(
            output=output_name,
            value=plain_value(output),
            grad={name: plain_value(Tensor(g)) for name, g in found.items()},
            inputs={name: plain_value(done.session.points[name]) for name in names},
            printed=done.lines,
            warnings=tuple(warnings),
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
        options = options or _options()
        given = _given(inputs, named)
        names = self._asked(wrt)
        watched = frozenset(self._default_names() if names is None else names)
        done = self._execute(given, watched, options, keep=True, explicit=names is not None)
        output_name, output = self._output(done, of)
        self._differentiated(names, done)
        return GraphResult(
            output=output_name,
            value=plain_value(output),
            graph=self._graph(done, output),
            printed=done.lines,
        )

    # --- one run -----------------------------------------------------------------------

    def _execute(
        self,
        given: Mapping[str, Given],
        watched: frozenset[str],
        options: Options,
        *,
        keep: bool,
        explicit: bool,
    ) -> _Done:
        self._check_given(given)
        printed: list[str] = []

        def echo(text: str) -> None:
            printed.append(text)
            options.echo(text)

        session = Session(
            watched=watched, explicit=explicit, keep=keep, seed=options.seed, echo=echo
        )
        values, result = execute(self._program, self._code, session, given)
        return _Done(session, values, result, printed)

    def _check_given(self, given: Mapping[str, Given]) -> None:
        known = self.inputs
        for name, value in given.items():
            if name in known:
                continue
            notes = (f"given as {value.origin}",)
            if name in self._program.names:
                message = f"`{name}` is computed by the program and cannot be given"
            else:
                message = f"the program has no input `{name}`"
            help = f"its inputs are {', '.join(known)}" if known else "it has no inputs"
            raise InputError(
                Diagnostic("unknown-input", message, notes=notes, help=_near(name, known) or help)
            )

    # --- what is differentiated --------------------------------------------------------

    def _asked(self, wrt: str | Sequence[str] | None) -> list[str] | None:
        if wrt is None:
            return None
        names = [wrt] if isinstance(wrt, str) else list(dict.fromkeys(wrt))
        names = [part.strip() for name in names for part in name.split(",")]
        for name in names:
            if name in self._program.watchable:
                continue
            known = [n for n in self._program.names if n in self._program.watchable]
            if name in self._program.names:
                message = f"`{name}` is not assigned exactly once, so it has no one value to differentiate by"
            else:
                message = f"--wrt names `{name}`, which the program does not have"
            help = _near(name, known) or (f"there are {', '.join(known)}" if known else None)
            raise UsageError(Diagnostic("unknown-name", message, help=help))
        return names

    def _default_names(self) -> list[str]:
        """Names that may be differentiated when none is asked for; the run tells which are."""
        inputs: tuple[Input, ...] = self._program.inputs
        params = [i.name for i in inputs if i.kind == "param"]
        if params:
            return params
        declared = [
            i.name
            for i in inputs
            if i.kind in ("input", "free") and (i.type is None or i.type[0] == "float")
        ]
        return declared or [n for n in self._program.names if n in self._program.watchable]

    def _differentiated(self, asked: list[str] | None, done: _Done) -> list[str]:
        points = done.session.points
        if asked is not None:
            for name in asked:
                if name not in points:
                    value = done.values.get(name)
                    what = (
                        "it was not reached"
                        if name not in done.values
                        else f"it is {kind_of(value)}"
                    )
                    raise RunError(
                        Diagnostic(
                            "not-differentiable", f"cannot differentiate by `{name}`: {what}"
                        )
                    )
            return asked
        kinds = {i.name: i.kind for i in self._program.inputs}
        names = [n for n in self._program.names if n in points]
        if not any(kinds.get(n) in ("param", "input", "free") for n in names):
            leaves = set(names_of_leaves(done.values, frozenset(names)))
            constants = [n for n in names if kinds.get(n) == "constant"]
            names = [n for n in names if n in leaves] or constants
        if not names:
            raise UsageError(
                Diagnostic(
                    "nothing-to-differentiate",
                    "the program has no input, param or float constant to differentiate by",
                    help="name one with --wrt, or declare `param x = 1.0`",
                )
            )
        return names

    def _output(self, done: _Done, of: str | None) -> tuple[str, Any]:
        if of is None:
            if done.result is None:
                raise UsageError(
                    Diagnostic(
                        "no-result",
                        "the program does not end in an expression, so it has no result",
                        help="name one of its values with --of",
                    )
                )
            name, value = self._program.output, done.result
        else:
            if of not in done.values:
                message = f"--of names `{of}`, which the program does not have"
                help = _near(of, list(done.values))
                raise UsageError(Diagnostic("unknown-name", message, help=help))
            name, value = of, done.values[of]
        value = _tensor(done.session, value)
        if not isinstance(value, Tensor) and type(value) not in NUMBERS:
            raise RunError(
                Diagnostic(
                    "not-differentiable", f"`{name}` is {kind_of(value)}, not a number or tensor"
                )
            )
        return name, value

    def _cotangent(self, done: _Done, output: Any, cotangent: Any) -> Any:
        if cotangent is not None:
            given = cotangent if isinstance(cotangent, Given) else Given(cotangent, "cotangent")
            cotangent = _tensor(done.session, given.value)
        x = output if isinstance(output, Tensor) else Tensor(output)
        try:
            return data_of(cotangent_of(x, cotangent, "grad"))
        except RunError as error:
            first = error.diagnostics[0]
            if first.code != "needs-cotangent":
                raise
            shape = list(x.shape)
            raise RunError(
                Diagnostic(
                    first.code,
                    f"the result has shape {shape}, and a gradient is of one number",
                    help="reduce it, as in `sum(...)`, or give --cotangent a weight for each element",
                )
            ) from None

    def _graph(self, done: _Done, output: Any) -> Any:
        if not isinstance(output, Tensor) or node_of(output) is None:
            raise run_error(
                "nothing-recorded",
                "the result does not depend on anything that is differentiated, so there is no graph",
                help="name what it depends on with --wrt, or use `tensor(..., requires_grad=True)`",
            )
        weight = 1.0 if output.shape == () else None
        with Quiet():
            return recorded_graph(output, weight, done.values, self.source)

    # --- warnings ----------------------------------------------------------------------

    def _unused(self, name: str, output: str) -> Diagnostic:
        span = next((i.span for i in self._program.inputs if i.name == name), Span(0, 0))
        return Diagnostic(
            "unused-input",
            f"`{output}` does not depend on `{name}`: the gradient is zero",
            self.source,
            span,
            severity="warning",
        )

    def _non_finite(
        self,
        given: Mapping[str, Given],
        options: Options,
        of: str | None,
        done: _Done,
        watched: frozenset[str] | None = None,
        cotangent: Any = None,
    ) -> Diagnostic:
        """The warning about nan or infinity: the run again, keeping every value, to see its origin."""
        names = self._program.watchable if watched is None else watched
        again = Options(done.session.seed_used, lambda text: None, False, False)
        traced = self._execute(given, names, again, keep=True, explicit=watched is not None)
        _, output = self._output(traced, of)
        found = None
        with Quiet():
            if isinstance(output, Tensor) and node_of(output) is not None:
                ones = None if output.shape == () else Tensor(data_of(output) * 0 + 1)
                weight = cotangent if cotangent is not None else ones
                found = origin_of_non_finite(output, self._cotangent(traced, output, weight))
        what = (
            "the result is not finite"
            if found is None or found[2] == "value"
            else "the gradient is not finite"
        )
        span = Span(0, 0)
        if found is not None:
            op, place, kind = found
            span = place or span
            made = "from finite ones" if kind == "value" else "although its value is finite"
            what += f": `{op}` made the first non-finite {kind} {made}"
        warning = Diagnostic("non-finite", what, self.source, span, severity="warning")
        if options.check_nan:
            raise RunError(Diagnostic("non-finite", what, self.source, span))
        return warning


class _Done(Record):
    """A finished run."""

    __slots__ = ("session", "values", "result", "printed")
    session: Session
    values: dict[str, Any]
    result: Any
    printed: list[str]

    @property
    def lines(self) -> tuple[str, ...]:
        """What the program printed, line by line."""
        return tuple("".join(self.printed).removesuffix("\n").split("\n")) if self.printed else ()


def _options() -> Options:
    return Options(None, lambda text: None, False, False)


def _given(inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Given]:
    values = {**(inputs or {}), **named}
    return {
        name: value if isinstance(value, Given) else Given(value, f"{name}={value!r}")
        for name, value in values.items()
    }


def _tensor(session: Session, value: Any) -> Any:
    """A list as its tensor, where it is one."""
    if type(value) is not list:
        return value
    try:
        return session.tensor(value)
    except GradError:
        return value


def _numbers(value: Any) -> Any:
    return value if isinstance(value, (Tensor, list, tuple)) or type(value) in NUMBERS else 0


def _grad_fn(value: Any) -> str:
    node = value.grad_fn if isinstance(value, Tensor) else None
    return "" if node is None else node.name()


def _near(name: str, known: Sequence[str]) -> str | None:
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return f"did you mean `{near[0]}`?" if near else None
