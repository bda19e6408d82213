"""The questions about models: parameters, minima, zeros and uncertainties."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.run.execution.inputs import Given, check_names
from gradcli.errors import ProgramError
from gradcli.questions.asked.request import Options, given_values, not_compiled, request
from gradcli.questions.asking import Asking, listed

if TYPE_CHECKING:
    from gradcli.questions.fitting.asked import Asked as FitAsked
    from gradcli.questions.fitting.asked import Table
    from gradcli.questions.uncertainty.joint import Covariance
    from gradcli.views import (
        FitComparison,
        FitGroups,
        FitResult,
        MinimizeResult,
        PropagateResult,
        RootResult,
    )


class Models(Asking):
    """A program that is a model, or an equation to solve."""

    def fit(
        self,
        table: Table | None,
        given: Mapping[str, Given],
        asked: FitAsked,
        parse: Callable[[str, str, Collection[str]], Asking],
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

        ops = self.loaded.program

        def answer() -> FitResult | FitGroups:
            return fit(self, ops, table, given, asked, parse, options)

        return self._shown(self.within(options, answer), given)

    def compared(
        self,
        others: Mapping[str, Asking],
        table: Table | None,
        given: Mapping[str, Given],
        asked: FitAsked,
        parse: Callable[[str, str, Collection[str]], Asking],
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

        both = {name: (program, program.loaded.program) for name, program in others.items()}

        def answer() -> FitComparison:
            return comparison(both, table, given, asked, parse, options, nested=nested)

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
        names, others = listed(wrt), tuple(sensitivity)
        asked = Asked(names, of, maximize, bounds or {}, starts, others, most, start or {})
        ops = self.loaded.program
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
        others, names = tuple(sensitivity), listed(wrt)
        if between is not None:
            given, names = bracketed(self.loaded.program, given, names, between)
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
        loaded, asked = self.loaded, options or Options()
        check_names(given, loaded.program)
        question = asked_question(
            self.inputs, given, uncertainties or {}, correlations or {}, covariance, coverage
        )
        names = [of] if of is None or isinstance(of, str) else [*of]
        about = request(given, {}, asked, wrt=question.joint.names)

        def answer() -> PropagateResult:
            if len(names) == 1:
                single = about.changed(of=names[0], question=question)
                found = by_budget(self.jit.answer(propagation, single), question)
            elif asked.compile == "always":
                help = "ask for one with --of"
                raise ProgramError(not_compiled("several results are asked for", help))
            else:
                found = propagate(loaded, about, names, question)
            if draws:
                found = simulated(self, found, about, names, question, draws, strict=strict)
            return found

        plain = {name: value for name, value in given.items() if type(value) is Given}
        found = self.limited.within(asked, answer)
        return self._shown(found.warned(tuple(without_uncertainty(given))), plain)
