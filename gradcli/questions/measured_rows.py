"""The uncertainty of a result at each of many rows, whose columns may give uncertainties."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, isnan, nan
from typing import Any, TypeVar

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import np
from gradcli.errors import InputError
from gradcli.questions.answers.monte_carlo import changed, simulated
from gradcli.questions.answers.propagate import in_order, propagation
from gradcli.questions.asked.request import Options, Request, request
from gradcli.questions.coded.compiled import Many
from gradcli.questions.coded.propagation import beside
from gradcli.questions.uncertainty.asked import asked_question, check_inputs, taken
from gradcli.questions.uncertainty.joint import Covariance
from gradcli.questions.uncertainty.law import DOF, FACTOR, HIGH, LINEAR, LOW
from gradcli.questions.uncertainty.report import Question, covered
from gradcli.questions.uncertainty.widths import Width, width
from gradcli.source import Source
from gradcli.views import PropagateRow

Work = TypeVar("Work")
_VALUE, _UNCERTAINTY, _SECOND = 0, 1, 3  # places among the numbers of a result


def measured_rows(
    program: Any, fixed: Mapping[str, Given], widths: Mapping[str, str], *about: Any
) -> MeasuredRows:
    """A program that is asked at rows, with texts such as `V_err` or `2%` for the uncertainties.
    Arguments as of `MeasuredRows`.
    """
    of = {name: width(text) for name, text in widths.items()}
    return MeasuredRows(program, fixed, of, *about)


class MeasuredRows:
    """A program that is asked for the uncertainty of its result at many rows.

    It stands where rows ask a `Program`; the columns of uncertainties are further inputs.

    Args:
        program: The `Program`.
        fixed: Values that are the same for all rows, some with uncertainties.
        widths: The uncertainties of inputs, by name.
        correlations: Correlations of inputs, by two names each.
        covariance: Covariances.
        coverage: The probability of the intervals.
    """

    def __init__(
        self,
        program: Any,
        fixed: Mapping[str, Given],
        widths: Mapping[str, Width],
        correlations: Mapping[tuple[str, str], float],
        covariance: Sequence[Covariance],
        coverage: float,
    ) -> None:
        check_inputs(widths, program.inputs)
        self._program, self._fixed, self._widths = program, fixed, widths
        self._about = (correlations, covariance, coverage)
        self._columns = [w.column for w in widths.values() if w.column]
        self.told = False

    @property
    def source(self) -> Source:
        """The program's text."""
        found: Source = self._program.source
        return found

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names that rows may give."""
        return tuple(dict.fromkeys([*self._program.inputs, *self._columns]))

    @property
    def required(self) -> tuple[str, ...]:
        """Names that have to be given."""
        return tuple(dict.fromkeys([*self._program.required, *self._columns]))

    @property
    def optional(self) -> tuple[str, ...]:
        """The inputs that are declared as such, with a default."""
        found: tuple[str, ...] = self._program.optional
        return found

    def check_given(self, given: Mapping[str, Given]) -> None:
        """Refuse values for names that are no inputs."""
        self._program.check_given(given)

    def within(self, options: Options, work: Callable[[], Work]) -> Work:
        """The result of some work, within the limits."""
        found: Work = self._program.within(options, work)
        return found

    def propagation(
        self,
        given: Mapping[str, Given],
        *,
        of: Sequence[str | None] = (None,),
        draws: int = 0,
        strict: bool = False,
        options: Options,
    ) -> PropagateRow:
        """The uncertainty of results at one row. Arguments as of `Program.propagate`.

        Raises:
            InputError: If an uncertainty of the row is none.
        """
        asked = self._asked(given, of[0], options)
        question: Question = asked.question
        program = self._program

        def answer() -> PropagateRow:
            if len(of) > 1:
                found = in_order(program.loaded, asked.changed(of=None), of, question)
            else:
                made: PropagateRow = program.jit.answer(propagation, asked)
                results = tuple([covered(one, question) for one in made.results])
                found = changed(made, results=results)
            if draws:
                found = simulated(program, found, asked, of, question, draws, strict=strict)
            return found

        row: PropagateRow = program.within(options, answer)
        return row

    def many(
        self,
        name: str,
        given: Mapping[str, Any],
        *,
        of: Sequence[str | None] = (None,),
        draws: int = 0,
        strict: bool = False,
        options: Options,
    ) -> Many | None:
        """Code that answers many rows, if there is any by now: for one result, by the law."""
        if draws or len(of) > 1:
            return None
        values = {n: self._fixed_or(n, x) for n, x in given.items()}
        try:
            asked = self._asked(values, of[0], options)
        except InputError:
            return None  # the row tells it
        code = self._program.jit.code(propagation, asked)
        if code is None:
            return None
        joint = asked.question.joint
        constant = {beside(e.label): Given(e.uncertainty, "") for e in joint.elements}
        whole = asked.changed(inputs={**asked.inputs, **constant})
        return _ManyRows(code, whole, self._program.limited, self)

    def _fixed_or(self, name: str, value: Any) -> Given:
        """A value with its uncertainty if it is the same for all rows."""
        fixed = self._fixed.get(name)
        return fixed if fixed is not None and fixed.value is value else Given(value, name)

    def beside(self, values: Mapping[str, Any], inputs: Mapping[str, Given]) -> dict[str, Any]:
        """The standard uncertainties that differ from row to row, by `beside` of their names: for
        values that are numbers or arrays. One that is none is nan.
        """
        found = {}
        for name, each in self._widths.items():
            number = values[each.column] if each.column else each.number
            if each.percent:
                value = values[name] if name in values else inputs[name].value
                number = abs(value) * number / 100.0
            found[beside(name)] = np.where(number >= 0.0, number * each.like.factor, np.nan)
        return found

    def _asked(self, given: Mapping[str, Given], of: str | None, options: Options) -> Request:
        own = taken({n: x for n, x in given.items() if n in self._program.inputs})
        spreads = {name: width.of(name, given) for name, width in self._widths.items()}
        question: Question = asked_question(self._program.inputs, own, spreads, *self._about)
        return request(own, {}, options, wrt=question.joint.names, of=of, question=question)


class _ManyRows(Many):
    """Code for rows with uncertainties. The first row at which both orders do not agree is left to
    the interpreter, which warns.
    """

    def __init__(self, code: Any, request: Request, limited: Any, rows: MeasuredRows) -> None:
        super().__init__(code, request, limited)
        self._rows = rows
        joint = request.question.joint
        self._has_factors = joint.has_finite and joint.groups is not None

    def numbers(self, values: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...] | None]:
        """The numbers of the answers for values by name; arguments as of `Many.numbers`."""
        found = super().numbers([self._row(value) for value in values])
        for k, made in enumerate(found):
            if made is not None and not made[LINEAR] and not self._rows.told:
                self._rows.told, found[k] = True, None
            elif made is not None and self._has_factors:
                found[k] = self._with_factor(made)
        return found

    def arrays(self, columns: Mapping[str, Any]) -> tuple[list[Any], list[int]] | None:
        """The numbers of many answers as arrays; arguments as of `Many.arrays`."""
        answer = super().arrays(self._columns(columns))
        if answer is None:
            return None
        results, left = answer
        if self._has_factors:
            results = [column.copy() for column in results]
            odd = ~np.isfinite(results[DOF]) | np.isnan(results[_SECOND])
            left = sorted({*left, *np.flatnonzero(odd).tolist()})
            results[FACTOR] = np.array([self._factor(dof) for dof in results[DOF].tolist()])
            wide = results[FACTOR] * results[_UNCERTAINTY]
            results[LOW], results[HIGH] = results[_VALUE] - wide, results[_VALUE] + wide
        bent = np.flatnonzero(~results[LINEAR])
        if len(bent) and not self._rows.told:
            self._rows.told = True
            left = sorted({*left, int(bent[0])})
        return results, left

    def _factor(self, dof: float) -> float:
        """The coverage factor; nan where the interpreter has to tell it."""
        factor: float = self._request.question.factor(dof) if isfinite(dof) else nan
        return factor

    def _with_factor(self, made: Sequence[Any]) -> tuple[Any, ...] | None:
        """The numbers of a row with the interval for its degrees of freedom; None if there are
        none.
        """
        if not isfinite(made[DOF]) or isnan(made[_SECOND]):
            return None
        found = [*made]
        found[FACTOR] = self._factor(made[DOF])
        wide = found[FACTOR] * made[_UNCERTAINTY]
        found[LOW], found[HIGH] = made[_VALUE] - wide, made[_VALUE] + wide
        return tuple(found)

    def _row(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a row with its uncertainties."""
        inputs = self._request.inputs
        fixed = {n: x.value for n, x in inputs.items() if n.endswith("+/-")}
        found = self._rows.beside(values, inputs)
        return {**values, **fixed, **{n: float(x) for n, x in found.items()}}

    def _columns(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of rows with those of their uncertainties."""
        count = len(next(iter(columns.values())))
        found = self._rows.beside(columns, self._request.inputs)
        return {**columns, **{n: np.broadcast_to(x, (count,)) for n, x in found.items()}}
