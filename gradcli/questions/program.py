"""A program and what can be asked of it: one method a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from gradcli.engine.run.execution.inputs import Given, check_names
from gradcli.errors import Diagnostic, GradError, ProgramError, UsageError
from gradcli.ir import program as ir
from gradcli.questions.asked.limited import Limited
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import watchable
from gradcli.questions.asked.request import Options, Request, given_values, not_compiled, request
from gradcli.questions.jit import Jit
from gradcli.results import (
    CheckResult,
    Derivative,
    GradcheckResult,
    GradResult,
    Graph,
    GraphResult,
    HessianResult,
    HvpResult,
    JacobianResult,
    JvpResult,
    RunResult,
    Several,
    Shown,
    SparseHessianResult,
    SparseJacobianResult,
    ValueResult,
    VjpResult,
)
from gradcli.source import Source

if TYPE_CHECKING:
    from gradcli.questions.coded.compiled import Many
    from gradcli.questions.coded.repeated import Repeated
    from gradcli.questions.fitting.asked import Asked as FitAsked
    from gradcli.questions.fitting.asked import Table
    from gradcli.questions.function import Function
    from gradcli.questions.sparse_function import SparseFunction
    from gradcli.questions.uncertainty.joint import Covariance
    from gradcli.views import (
        FitComparison,
        FitGroups,
        FitResult,
        MinimizeResult,
        PlotResult,
        PropagateResult,
        RootResult,
        TraceResult,
    )

Answer = TypeVar("Answer")
Result = TypeVar("Result", bound=Shown)


class Program:
    """A program, ready to be run and differentiated any number of times."""

    def __init__(self, source: Source, program: ir.Program) -> None:
        self.source = source
        self.loaded = self._loaded = Loaded(source, program)
        self.limited = self._limited = Limited(self._loaded)
        self.jit = self._jit = Jit(self._loaded)

    def __reduce__(self) -> Any:
        return Program, (self.source, self._loaded.program)

    def __repr__(self) -> str:
        inputs = ", ".join(self.inputs) or "no inputs"
        return f"<Program {self.source.name}: {inputs} -> {self.output or 'no result'}>"

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names that may be given from outside."""
        return tuple(i.name for i in self._loaded.program.inputs)

    @property
    def names(self) -> tuple[str, ...]:
        """Top-level names, in order of first assignment."""
        return tuple(self._loaded.program.names)

    @property
    def output(self) -> str | None:
        """The name of the result, `result` for one without a name; None if there is none."""
        program = self._loaded.program
        return None if program.result is None else program.output

    @property
    def watchable(self) -> tuple[str, ...]:
        """The names that a derivative can be taken by."""
        return tuple(watchable(self._loaded.program))

    @property
    def required(self) -> tuple[str, ...]:
        """The inputs without a default."""
        return tuple(i.name for i in self._loaded.program.inputs if i.is_missing(()))

    @property
    def optional(self) -> tuple[str, ...]:
        """The inputs that are declared as such, with a default."""
        inputs = self._loaded.program.inputs
        return tuple(i.name for i in inputs if i.kind == "input" and i.default is not None)

    def prepare(self) -> None:
        """Import what questions need, for processes that are forked from this one."""
        from gradcli.engine.values.data import np

        _question("grad", False)
        np.zeros(1)  # its first use imports it

    def check_given(self, given: Mapping[str, Given]) -> None:
        """Refuse values for names that are no inputs.

        Raises:
            InputError: Naming the inputs that there are.
        """
        check_names(given, self._loaded.program)

    def within(self, options: Options, work: Callable[[], Answer]) -> Answer:
        """The result of some work that asks the program. One set of limits holds for all of it.

        Raises:
            LimitError: If it reaches one.
        """
        return self._limited.within(options, work)

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
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.run import run

        return self._ask(run, request(inputs, named, options))

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
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.gradient import gradient

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask(gradient, asked)

    def value(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        of: str | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> ValueResult:
        """Value of the result alone; no derivative is computed. Arguments as of `grad`."""
        from gradcli.questions.answers.value import value

        return self._ask(value, request(inputs, named, options, of=of))

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
        from gradcli.questions.answers.product import vjp

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask(vjp, asked)

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
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.product import jvp

        return self._ask(jvp, request(inputs, named, options, of=of, tangents=tangents))

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
        from gradcli.questions.answers.matrix import jacobian

        asked = request(inputs, named, options, wrt=wrt, of=of, mode=mode)
        return self._ask(jacobian, asked)

    def sparse_jacobian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        mode: str = "auto",
        options: Options | None = None,
        **named: Any,
    ) -> SparseJacobianResult:
        """Value of the result and the entries of its Jacobian that may differ from zero. Arguments
        as of `grad`; `mode` is "forward", "reverse", or "auto" for the one of fewer products.
        """
        from gradcli.questions.answers.sparse import sparse_jacobian

        asked = request(inputs, named, options, wrt=wrt, of=of, mode=mode)
        return self._ask_sparse(sparse_jacobian, asked, 1)

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
        from gradcli.questions.answers import matrix

        question = matrix.hessian_diagonal if diagonal else matrix.hessian
        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent, mode=mode)
        return self._ask(question, asked)

    def sparse_hessian(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        mode: str = "reverse",
        options: Options | None = None,
        **named: Any,
    ) -> SparseHessianResult:
        """Value and gradient of the result, and the entries of its second derivatives that may
        differ from zero. Arguments as of `grad`; the only `mode` is "reverse".

        Raises:
            UsageError: If another mode is asked for.
        """
        from gradcli.questions.answers.sparse import sparse_hessian

        if mode != "reverse":
            message = f"sparse second derivatives are found in reverse mode, not {mode}"
            raise UsageError(Diagnostic("usage", message, help="leave out the mode"))
        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._ask_sparse(sparse_hessian, asked, 2)

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
        `hessian` and, for the direction, of `jvp`. `wrt` names the wanted rows of the product;
        without it these are the names of `grad` and those of the direction.
        """
        from gradcli.questions.answers.product import hvp

        weighed = {"wrt": wrt, "of": of, "cotangent": cotangent}
        asked = request(inputs, named, options, tangents=tangents, mode=mode, **weighed)
        return self._ask(hvp, asked)

    def several(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        question: str,
        of: Sequence[str],
        options: Options | None = None,
        **asked: Any,
    ) -> Several:
        """The answers to one question about several results of one run.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            question: The method that asks it of one: "grad", "vjp", "jvp", "jacobian", "hessian" or
                "hvp".
            of: Top-level names.
            options: How to run.
            **asked: What else the method is asked.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.several import several

        found = _question(question, asked.pop("diagonal", False))
        assert found is not None, f"`{question}` is about no result"
        asked = {field: value for field, value in asked.items() if value is not None}
        about = request(inputs, {}, options, **asked)
        answers = self._limited.ask(several(found, of), about)
        for answer in answers.answers:
            self._shown(answer, about.inputs)
        return answers

    def graph(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        detailed: Callable[[Graph], Collection[int]] = lambda graph: (),
        options: Options | None = None,
        **named: Any,
    ) -> GraphResult:
        """The graph that the run recorded, with values and derivatives. Arguments as of `grad`.
        Without a result, it is the graph of the tensor that `backward` was called on last.
        `detailed` returns the nodes of a graph that need details.
        """
        from gradcli.questions.answers.graph import graph

        asked = request(inputs, named, options, wrt=wrt, of=of, cotangent=cotangent)
        return self._shown(self._limited.ask(graph, asked, detailed), asked.inputs)

    def trace(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        tangents: Mapping[str, Any] | None = None,
        mode: str = "auto",
        every: bool = True,
        options: Options | None = None,
        **named: Any,
    ) -> TraceResult:
        """The elementary operations of the run with values, local partials and adjoints. Arguments
        as of `grad` and, for the direction, of `jvp`, with which tangents are told, too; `mode`
        "forward" tells these alone, along the only input where no direction is given. Without
        `every` one, the middle turns of long loops are left out.
        """
        from gradcli.questions.answers.trace import trace

        direction = tangents or {}
        asked = {"wrt": wrt, "of": of, "cotangent": cotangent, "tangents": direction, "mode": mode}
        about = request(inputs, named, options, **asked)
        return self._shown(self._limited.ask(trace, about, every), about.inputs)

    def plot(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        over: str,
        at: Sequence[float],
        of: str | Sequence[str] | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> PlotResult:
        """Value and derivative of results at many values of one input, and where they have kinks.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            over: The input, a number.
            at: Its values, in order.
            of: Top-level names; None: the program's result.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.plot import plot

        names = [of] if of is None or isinstance(of, str) else of
        given = given_values(inputs, named)
        asked = options or Options()
        loaded = self._loaded
        found = plot(self, given, over, at, names, asked, loaded.source, loaded.program)
        return self._shown(found, given)

    def fit(
        self,
        table: Table | None,
        given: Mapping[str, Given],
        asked: FitAsked,
        parse: Callable[[str, str, Collection[str]], Program],
        options: Options,
    ) -> FitResult | FitGroups:
        """The parameters with which the program agrees with data.

        Args:
            table: The data; None if the inputs have them.
            given: Values by name: starts of parameters, and constants.
            asked: What is asked.
            parse: Makes the program of an expression over the columns, given its option.
            options: How to run.

        Raises:
            GradError: If it cannot be made.
        """
        from gradcli.questions.fitting.fit import fit

        ops = self._loaded.program

        def answer() -> FitResult | FitGroups:
            return fit(self, ops, table, given, asked, parse, options)

        return self._shown(self.within(options, answer), given)

    def minimize(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        maximize: bool = False,
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        starts: int = 1,
        sensitivity: Sequence[str] = (),
        most: int | None = None,
        start: Mapping[str, Any] | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> MinimizeResult:
        """The point at which a result is least. Needs SciPy.

        Args:
            inputs: Values by name; those of the unknowns are the start.
            wrt: The unknowns; None: the names of `grad`.
            of: Top-level name; None: the program's result.
            maximize: True for the point at which it is largest.
            bounds: Lower and upper bounds by name, beside those that are declared.
            starts: How many starts are tried.
            sensitivity: Inputs by which the point is differentiated; ["all"] for all.
            most: The most evaluations of one search; None: 200 (n + 1).
            start: Values of unknowns to begin at, in place of those given.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure. A search that fails is told by the result.
        """
        from gradcli.questions.solving.minimize import Asked, minimize

        given, settings = given_values(inputs, named), options or Options()
        names, others = _listed(wrt), tuple(sensitivity)
        asked = Asked(names, of, maximize, bounds or {}, starts, others, most, start or {})
        ops = self._loaded.program
        return self._shown(
            self.within(settings, lambda: minimize(self, ops, given, asked, settings)), given
        )

    def root(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | Sequence[str] | None = None,
        between: tuple[float, float] | None = None,
        starts: int = 1,
        sensitivity: Sequence[str] = (),
        most: int | None = None,
        start: Mapping[str, Any] | None = None,
        options: Options | None = None,
        **named: Any,
    ) -> RootResult:
        """The point at which results are zero, as many as there are unknowns. Needs SciPy.

        Args:
            inputs: Values by name; those of the unknowns are the start.
            wrt: The unknowns; None: the names of `grad`.
            of: Top-level names; None: the program's result.
            between: Two values of the only unknown, at which the result has different signs. The
                unknown may be the only input without a value.
            starts: How many starts are tried.
            sensitivity: Inputs by which the point is differentiated; ["all"] for all.
            most: The most evaluations of one search; None: 200 (n + 1).
            start: Values of unknowns to begin at, in place of those given.
            options: How to run.
            **named: More values by name.

        Raises:
            GradError: Of the kind of the failure. A search that fails is told by the result.
        """
        from gradcli.questions.solving.root import Asked, bracketed, root

        given, settings = given_values(inputs, named), options or Options()
        outputs = [of] if of is None or isinstance(of, str) else [*of]
        others, names = tuple(sensitivity), _listed(wrt)
        if between is not None:
            given, names = bracketed(self._loaded.program, given, names, between)
        asked = Asked(names, outputs, between, starts, others, most, start or {})
        return self._shown(self.within(settings, lambda: root(self, given, asked, settings)), given)

    def propagate(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        uncertainties: Mapping[str, Any] | None = None,
        correlations: Mapping[tuple[str, str], float] | None = None,
        covariance: Mapping[str, Mapping[str, float | None]] | Sequence[Covariance] = (),
        of: str | Sequence[str] | None = None,
        coverage: float = 0.95,
        draws: int = 0,
        strict: bool = False,
        options: Options | None = None,
        **named: Any,
    ) -> PropagateResult:
        """The uncertainty of results from those of the inputs, at first and second order.

        Args:
            inputs: Values by name: numbers, lists or NumPy arrays.
            uncertainties: Their standard uncertainties by name: numbers, lists in the shape of the
                value, or a `Spread`.
            correlations: Correlations by two names each; `x[0]` is an element of a tensor.
            covariance: Covariances by two names, in place of uncertainties.
            of: Top-level names; None: the program's result.
            coverage: The probability of the intervals.
            draws: How many values Monte Carlo draws; 0: none.
            strict: True if the answer is no where Monte Carlo disagrees.
            options: How to run.
            **named: More values by name.

        Raises:
            InputError: If no input has an uncertainty, or no numbers have such covariances.
            GradError: Of the kind of the failure.
        """
        from gradcli.questions.answers.monte_carlo import simulated
        from gradcli.questions.answers.propagate import by_budget, propagate, propagation
        from gradcli.questions.uncertainty.asked import asked_question, taken, without_uncertainty

        given = taken(given_values(inputs, named))
        loaded, asked = self._loaded, options or Options()
        check_names(given, loaded.program)
        question = asked_question(
            self.inputs, given, uncertainties or {}, correlations or {}, covariance, coverage
        )
        names = [of] if of is None or isinstance(of, str) else [*of]
        about = request(given, {}, asked, wrt=question.joint.names)

        def answer() -> PropagateResult:
            if len(names) == 1:
                single = about.changed(of=names[0], question=question)
                found = by_budget(self._jit.answer(propagation, single), question)
            elif asked.compile == "always":
                help = "ask for one with --of"
                raise ProgramError(not_compiled("several results are asked for", help))
            else:
                found = propagate(loaded, about, names, question)
            if draws:
                found = simulated(self, found, about, names, question, draws, strict=strict)
            return found

        plain = {name: value for name, value in given.items() if type(value) is Given}
        found = self._limited.within(asked, answer)
        return self._shown(found.warned(tuple(without_uncertainty(given))), plain)

    def compared(
        self,
        others: Mapping[str, Program],
        table: Table | None,
        given: Mapping[str, Given],
        asked: FitAsked,
        parse: Callable[[str, str, Collection[str]], Program],
        options: Options,
        *,
        nested: bool,
    ) -> FitComparison:
        """The fits of this and another program to the same data. Arguments as of `fit`.

        Args:
            others: Both programs by name.
            table: The data; None if the inputs have them.
            given: Values by name.
            asked: What is asked of both.
            parse: Makes the program of an expression over the columns.
            options: How to run.
            nested: True to test the larger model against the smaller one.

        Raises:
            GradError: If one cannot be made.
        """
        from gradcli.questions.fitting.comparison import comparison

        both = {name: (program, program._loaded.program) for name, program in others.items()}

        def answer() -> FitComparison:
            return comparison(both, table, given, asked, parse, options, nested=nested)

        return self._shown(self.within(options, answer), given)

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
        from gradcli.questions.answers.gradcheck import gradcheck

        asked = request(inputs, named, options, wrt=wrt, of=of)
        found = self._limited.ask(gradcheck, asked, order, self._jit.perturbed)
        return self._shown(found, asked.inputs)

    def check(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        **named: Any,
    ) -> CheckResult:
        """Findings of a walk on shapes and dtypes alone. Arguments as of `grad`."""
        from gradcli.questions.answers.check import check

        return check(self._loaded, request(inputs, named, wrt=wrt, of=of))

    def listing(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        **named: Any,
    ) -> str:
        """The program of ops as text, one line for each instruction, with the known facts of its
        result. Arguments as of `check`.
        """
        from gradcli.questions.answers.check import listing

        return listing(self._loaded, request(inputs, named, wrt=wrt))

    def stage(
        self,
        name: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        mode: str = "auto",
        **named: Any,
    ) -> str:
        """The text of a stage of compiling the program.

        Args:
            name: "typed", "python" or "llvm".
            inputs: Values by name; only their shapes count.
            wrt: Names to differentiate with respect to. Without this, `of` and `mode`: none.
            of: Top-level name to differentiate; None: the program's result.
            mode: "forward" or "reverse" for the Jacobian, "auto" for the gradient.
            **named: More values by name.

        Raises:
            ProgramError: If there is no such stage; the message says why.
        """
        from gradcli.questions.coded.stages import stage

        options = Options(grad_fn=False)  # code does not know it
        asked = request(inputs, named, options, wrt=wrt, of=of, mode=mode)
        return stage(self._loaded, asked, name)

    def export(
        self,
        file: str,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | Sequence[str] | None = None,
        order: int = 1,
        mode: str = "auto",
        check: bool = False,
        by: str = "gradcli",
        options: Options | None = None,
        **named: Any,
    ) -> dict[str, str]:
        """The program and its derivatives as source code: the texts of files, by name.

        Args:
            file: The name of the file; its suffix tells the language: `.c`.
            inputs: Values by name, of which the types and sizes count; others have their defaults.
            wrt: Names to differentiate by, in the order of the function's parameters.
            of: Top-level names, None for the program's result.
            order: The highest order of derivatives: 0, 1 or 2.
            mode: "forward" or "reverse" for first derivatives, "auto" for the cheaper.
            check: True to write a test of the function, too, with answers at three points.
            by: Who has written the files, as they say.
            options: How to run the program for the defaults of its inputs.
            **named: More values by name.

        Raises:
            ProgramError: If the program has no source code; the message says why and where.
            UsageError: If the suffix of the file is unknown, or a name.
        """
        from gradcli.questions.exported.export import checked, export

        asked = request(inputs, named, options, wrt=wrt, mode=mode)
        if check:
            return checked(self, asked, _listed(of) or [], order, file, by)
        return export(self._loaded, asked, _listed(of) or [], order, file, by)

    @overload
    def compile(
        self,
        wrt: str | Sequence[str] | None = None,
        *,
        of: str | None = None,
        order: int = 1,
        sparse: Literal[False] = False,
    ) -> Function: ...

    @overload
    def compile(
        self,
        wrt: str | Sequence[str] | None = None,
        *,
        of: str | None = None,
        order: int = 1,
        sparse: Literal[True],
    ) -> SparseFunction: ...

    def compile(
        self,
        wrt: str | Sequence[str] | None = None,
        *,
        of: str | None = None,
        order: int = 1,
        sparse: bool = False,
    ) -> Function | SparseFunction:
        """The program as a function of arrays that gives value and derivatives, by code that is
        made once for each set of sizes.

        Args:
            wrt: The inputs to differentiate by; None: as of `grad`.
            of: Top-level name to differentiate; None: the program's result, a float or a list of
                them.
            order: 1 for the first derivative, 2 for the second as well, 0 for the value alone.
            sparse: True for the Jacobian, or with `order=2` the Hessian, as a sparse matrix.

        Raises:
            ProgramError: If it cannot be made into code; the message says why.
        """
        if sparse:
            from gradcli.questions.sparse_function import SparseFunction

            return SparseFunction(self, self._loaded, wrt, of, order)
        from gradcli.questions.function import Function

        return Function(self, self._loaded, wrt, of, order)

    def many(
        self,
        name: str,
        given: Mapping[str, Any],
        *,
        options: Options | None = None,
        **asked: Any,
    ) -> Many | None:
        """Code that answers a question for many sets of values of its inputs at once, if there is
        any by now. It gives None for those that have to be asked one by one.

        Args:
            name: The method that asks it.
            given: Values of the other inputs: numbers, or tensors of their shapes.
            options: How to run.
            **asked: What else the method is asked.
        """
        question = _question(name, asked.pop("diagonal", False))
        if question is None:
            return None
        asked = {field: value for field, value in asked.items() if value is not None}
        about = request(given, {}, options, **asked)
        code = self._jit.code(question, about)
        if code is None:
            return None
        from gradcli.questions.coded.compiled import Many

        return Many(code, about, self._limited)

    def batch(
        self,
        name: str,
        columns: Mapping[str, Any],
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **asked: Any,
    ) -> Derivative:
        """The answers to a question at many values of some inputs, as one: its arrays have an axis
        of the values in front.

        Args:
            name: The method that asks it: "value", "grad", "vjp", "jvp", "jacobian", "hessian" or
                "hvp".
            columns: Lists or arrays by name, with an item for each value.
            inputs: Values by name that are the same for all.
            options: How to run.
            **asked: What else the method is asked.

        Raises:
            GradError: Of the kind of the failure, with the number of the value.
        """
        from gradcli.questions.batch import Batch

        about = options or Options()
        return Batch(self, name, inputs or {}, columns, about, asked).answer()

    def repeated(
        self,
        name: str,
        given: Mapping[str, Any],
        *,
        held: Collection[str] = (),
        options: Options | None = None,
        **asked: Any,
    ) -> Repeated | None:
        """A question as a function of the numbers of its inputs and directions, if there is code
        for it by now that can be one.

        Args:
            name: The method that asks it.
            given: Values of the inputs: numbers, or tensors of their shapes.
            held: The names of inputs that keep these values.
            options: How to run.
            **asked: What else the method is asked.
        """
        question = _question(name, asked.pop("diagonal", False))
        if question is None:
            return None
        asked = {field: value for field, value in asked.items() if value is not None}
        about = request(given, {}, options, **asked)
        code = self._jit.code(question, about)
        if code is None:
            return None
        from gradcli.questions.coded.repeated import repeated

        return self._limited.within(
            about.options, lambda: repeated(code, about, self._loaded, held)
        )

    def nan_in_pytorch(
        self,
        inputs: Mapping[str, Any] | None = None,
        *,
        wrt: str | Sequence[str] | None = None,
        of: str | None = None,
        cotangent: Any = None,
        options: Options | None = None,
    ) -> tuple[Diagnostic, ...]:
        """Warnings of the operations at which PyTorch's `backward` gives nan and `grad` a number. A
        run of more than 10,000 turns and calls has none. Arguments as of `grad`.
        """
        from gradcli.questions.answers.gradient import gradient
        from gradcli.questions.remarks.pytorch import silent, told

        quiet = silent(options or Options())
        asked = request(inputs, {}, quiet, wrt=wrt, of=of, cotangent=cotangent)
        try:
            found = self._limited.ask(gradient, asked)
        except GradError:  # of its limit
            return ()
        return told(self.source, found.kinks or ())

    def rows(
        self,
        table: Any,
        question: str = "run",
        inputs: Mapping[str, Any] | None = None,
        *,
        options: Options | None = None,
        **asked: Any,
    ) -> Any:
        """The answers to a question at every row of a table, as a table of the same kind. Compiled
        code gives them as far as it can.

        Args:
            table: A data frame of pandas or Polars, an Arrow table, arrays by name, or the path of
                a file with columns. Columns that are no inputs are ignored.
            question: A method that answers with values by name: "run", "grad", "jvp", "vjp",
                "jacobian", "hessian" or "hvp".
            inputs: Values that are the same for all rows.
            options: How to run.
            **asked: What else the method is asked, such as `wrt="k"`.

        Returns:
            The columns of the command's CSV, such as `result` and `grad.k`, one row for each of the
            table, in a table of its kind. Of a file arrays by name.

        Raises:
            GradError: As of the question at the first row that fails, whose number is in a note; or
                if no column is an input.
        """
        from gradcli.questions.table import Asked, answered

        if _question(question, False) is None:
            message = f"`{question}` is no question for rows"
            raise UsageError(Diagnostic("usage", message, help=f"take {', '.join(_ROWS)}"))
        return answered(Asked(self, question, inputs or {}, options or Options(), asked), table)

    def _ask(self, question: Callable[[Loaded, Request], Result], asked: Request) -> Result:
        """The answer within the limits, by code where that pays."""

        def answer(_: Loaded, asked: Request) -> Result:
            found: Result = self._jit.answer(question, asked)
            return found

        return self._shown(self._limited.ask(answer, asked), asked.inputs)

    def _ask_sparse(
        self, question: Callable[[Loaded, Request], Result], asked: Request, order: int
    ) -> Result:
        """The answer about the entries of first or second derivatives, as `_ask` gives it."""
        from gradcli.questions.coded.sparse_pattern import planned

        def answer(loaded: Loaded, asked: Request) -> Result:
            about = asked.changed(question=planned(loaded, asked, order))
            found: Result = self._jit.answer(question, about)
            return found

        return self._shown(self._limited.ask(answer, asked), asked.inputs)

    def _shown(self, result: Result, given: Mapping[str, Given]) -> Result:
        """The result with the warnings about the program's text and the values from outside, which
        `print` and notebooks show from now on.
        """
        found = self._loaded.slips
        if any(type(value) is not Given or _may_slip(value.origin) for value in given.values()):
            from gradcli.questions.remarks.given import remarks

            found += tuple(remarks(given))
        if self._loaded.bounded:
            from gradcli.questions.remarks.outside import outside

            found += tuple(outside(self._loaded, given))
        result.drawn_by(_drawn)
        return result.warned(found) if found else result


def _listed(names: str | Sequence[str] | None) -> list[str] | None:
    """Names as a list."""
    return [names] if isinstance(names, str) else None if names is None else [*names]


def _may_slip(origin: object) -> bool:
    """True if a value from outside may mean something else than it looks like."""
    return type(origin) is str and ("," in origin or "+" in origin)


def _drawn(result: Shown, form: str) -> str:
    from gradcli.render.looks import USUAL, text

    if form != "json":
        return text(result, form)
    from gradcli.formats.texts.json_text import json_object
    from gradcli.formats.writers.forms import parts_of

    return json_object(parts_of(result.view, result, USUAL).json())


_ROWS = ("run", "grad", "vjp", "jvp", "jacobian", "hessian", "hvp")
"""The questions whose answers are values by name."""


def _question(name: str, diagonal: bool) -> Callable[[Loaded, Request], Any] | None:
    """The question that a method asks, if code can answer it."""
    from gradcli.questions.answers import gradient, matrix, product, run, value

    return {
        "run": run.run,
        "value": value.value,
        "grad": gradient.gradient,
        "vjp": product.vjp,
        "jvp": product.jvp,
        "jacobian": matrix.jacobian,
        "hessian": matrix.hessian_diagonal if diagonal else matrix.hessian,
        "hvp": product.hvp,
    }.get(name)
