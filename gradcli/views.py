"""Results of notebooks, `gradcli trace`, `plot`, `fit`, `minimize`, `root` and `propagate`: plain,
frozen data, apart from the results that short commands import.
"""

from __future__ import annotations

from typing import Any, ClassVar

from gradcli.errors import Diagnostic, GradError
from gradcli.record import Record
from gradcli.results import Answer, Result, RunResult, Shown, Value
from gradcli.source import Span


class TraceRow(Result):
    """An input or an elementary operation of a run.

    Fields:
        id: v1, v2, ... in the order of execution, or the name of an input.
        variable: the program's name for the result, or "".
        partials: the derivatives by its operands, by their ids: element by element, or a Jacobian
            of the result's shape followed by the operand's; None for a large one.
        adjoint, tangent: the derivative of the output by it, and its own along a direction of the
            inputs; None if not asked for.
        around: the enclosing turns of loops and calls of functions, the outermost first.
    """

    id: str
    variable: str
    expression: str
    line: int
    value: Value
    partials: dict[str, Value]
    adjoint: Value
    tangent: Value
    around: tuple[str, ...]


class TraceGap(Result):
    """Operations that a trace leaves out: `count` of them, in `turns` of the loop at `line`, or
    both 0.
    """

    count: int
    turns: int
    line: int


class TraceResult(Shown):
    """The result of `gradcli trace`: inputs first, then operations. `columns` has "adjoint",
    "tangent" or both.
    """

    view = "trace"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    output: str
    value: Value
    rows: tuple[TraceRow | TraceGap, ...]
    columns: tuple[str, ...]
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]


class Break(Result):
    """A kink of a curve: its derivatives on either side and, at a jump, its values there, else
    None.
    """

    at: float
    left: float
    right: float
    jump: tuple[float, float] | None


class Curve(Result):
    """A result over an input: its name, the label of its axis, its values and derivatives at the
    points, and the kinks between them.
    """

    name: str
    label: str
    value: tuple[float, ...]
    grad: tuple[float, ...]
    breaks: tuple[Break, ...]


class PlotResult(Shown):
    """The result of `gradcli plot`: the input's name, the label of its axis, its values, and a
    curve for each result or for each element of one.
    """

    view = "curves"
    _defaults: ClassVar[dict[str, Any]] = {"warnings": ()}
    over: str
    label: str
    points: tuple[float, ...]
    curves: tuple[Curve, ...]
    warnings: tuple[Diagnostic, ...]


class Estimate(Result):
    """A number that a fit has estimated or held.

    Fields:
        name: `a`, or `b[0]` for an element.
        value: Its value.
        error: Its standard error; None if it has none.
        lower, upper: The ends of its interval; None where there is none.
        start: Where the search began.
        state: "held", "at lower bound", "at upper bound", "not told" (by the data), or "".
        chance: The probability that an estimate of nothing is as many errors from zero; None
            without an error.
    """

    name: str
    value: float
    error: float | None
    lower: float | None
    upper: float | None
    start: float
    state: str
    chance: float | None


class MinimizeResult(Shown):
    """The result of `gradcli minimize`.

    Fields:
        output: The name of the result.
        value: Its value at the point.
        values: The point, by the names of the unknowns.
        start: Where the search began.
        gradient: The gradient there.
        hessian: The Hessian by two names; None for many unknowns.
        kind: "minimum", "maximum", "saddle" or "flat"; None if it is not known.
        at_bounds: The unknowns that are held at a bound.
        converged: True if the point is a minimum, or a maximum if that was asked for.
        reason: Why the search ended.
        evaluations: How often the result was evaluated.
        starts: How many starts reached the best point, and how many were tried; None for one.
        sensitivity: The derivatives of the point by other inputs, by two names; None for an unknown
            that does not tell, and without --sensitivity.
    """

    view = "minimum"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    output: str
    value: float
    values: dict[str, Value]
    start: dict[str, Value]
    gradient: dict[str, Value]
    hessian: dict[str, dict[str, Value]] | None
    kind: str | None
    at_bounds: tuple[str, ...]
    converged: bool
    reason: str
    evaluations: int
    starts: tuple[int, int] | None
    sensitivity: dict[str, dict[str, Value]] | None
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool:
        return self.converged


class RootResult(Shown):
    """The result of `gradcli root`. `value` has the residuals by the names of the results,
    `gradient` that of a single number, else None; the other fields are as of `MinimizeResult`.
    """

    view = "root"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    value: dict[str, Value]
    values: dict[str, Value]
    start: dict[str, Value]
    gradient: dict[str, Value] | None
    converged: bool
    reason: str
    evaluations: int
    starts: tuple[int, int] | None
    sensitivity: dict[str, dict[str, Value]] | None
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool:
        return self.converged


class FitResult(Shown):
    """The result of `gradcli fit`.

    Fields:
        data: The columns that the program takes.
        observed: The expressions that its results are compared with.
        values, error: The parameters and their standard errors, in their shapes.
        interval: Their intervals, with an axis of two behind.
        covariance: By two names of numbers, such as `a` and `b[0]`; without those that have none.
        estimates: The same numbers one by one.
        level: The level of the intervals.
        interval_from: "errors" or "profile": what the ends of the intervals are found from.
        records: How many records count.
        compared: How many records each of several results is compared with, by name; None if all
            are compared with all.
        left_out: How many were left out.
        dof: Degrees of freedom; None for a likelihood.
        figures: `residual_standard_error` or `chi_squared`, `rss`, `r_squared`, `log_likelihood`,
            `aic` and `bic`, as far as they have a meaning.
        errors_from: "jacobian", "hessian", "sandwich".
        condition: The condition of the scaled Jacobian.
        loss, loss_scale: The loss, and its scale if it is not linear.
        starts: How many starts have reached the best, and how many were tried; None for one.
        converged: True if this is a minimum.
        reason: Why the search ended.
        evaluations: How often the model was evaluated.
        warnings: The warnings.
        predicted: If asked for, columns: the data's as texts, then numbers for each record,
            `fitted`, `residual`, `error` of the curve and `prediction_error`; of several results
            with their names behind a dot.
        picture: If asked for, the curve and its data for a picture.
    """

    view = "fit"
    data: tuple[str, ...]
    observed: tuple[str, ...]
    values: dict[str, Value]
    error: dict[str, Value]
    interval: dict[str, Value]
    covariance: dict[str, dict[str, float]]
    estimates: tuple[Estimate, ...]
    level: float
    interval_from: str
    records: int
    compared: dict[str, int] | None
    left_out: int
    dof: int | None
    figures: dict[str, float]
    errors_from: str
    condition: float
    loss: str
    loss_scale: float | None
    starts: tuple[int, int] | None
    converged: bool
    reason: str
    evaluations: int
    warnings: tuple[Diagnostic, ...]
    predicted: dict[str, Value] | None
    picture: FitPlot | None

    @property
    def right(self) -> bool:
        """True if the search has converged and the data tell all parameters."""
        untold = any(e.state == "not told" for e in self.estimates)
        return self.converged and not untold


class FitGroup(Result):
    """A group of records: its key, and its fit or the error for which there is none."""

    key: str
    found: FitResult | None
    error: Diagnostic | None


class FitGroups(Shown):
    """The fits of `--by`: the name of its column, the groups in the order of the data, and how many
    were left out.
    """

    view = "fits"
    _defaults: ClassVar[dict[str, Any]] = {"warnings": ()}
    by: str
    groups: tuple[FitGroup, ...]
    left_out: int
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool:
        """True if all fits are there and right."""
        return not self.left_out and all(g.found is not None and g.found.right for g in self.groups)


class Share(Result):
    """What the uncertainty of one input adds to that of a result.

    Fields:
        name: The input, `x[0]` for an element of a tensor.
        value: Its value.
        uncertainty: Its standard uncertainty.
        sensitivity: The derivative of the result by it.
        contribution: The size of their product.
        share: Its part of the variance at first order; with correlations below zero or above one,
            too. None where that variance is zero.
        width: The number that was given for its uncertainty.
        distribution: "normal", "uniform", "triangular" or "t".
        dof: Degrees of freedom; None if they are not limited.
    """

    name: str
    value: float
    uncertainty: float
    sensitivity: float
    contribution: float
    share: float | None
    width: float
    distribution: str
    dof: float | None


class MonteCarlo(Result):
    """A result by simulation.

    Fields:
        draws, seed: How many values were drawn, and from which seed.
        outside: How many of them gave no finite result.
        mean, deviation: Of the results.
        symmetric, shortest: The interval with as many results below as above it, and the shortest
            one.
        mean_error, deviation_error, symmetric_error, shortest_error: The standard errors of these.
        tolerance: How far the ends of the law's interval may be away from the symmetric one.
        agrees: True if they are not farther away than that.
    """

    draws: int
    seed: int
    outside: int
    mean: float
    mean_error: float
    deviation: float
    deviation_error: float
    symmetric: tuple[float, float]
    symmetric_error: tuple[float, float]
    shortest: tuple[float, float]
    shortest_error: tuple[float, float]
    tolerance: float
    agrees: bool


class Propagated(Result):
    """The uncertainty of one result.

    Fields:
        name: Its name, `y[0]` for an element of a tensor.
        value: Its value.
        uncertainty: Its standard uncertainty: that of second order, or of first order where the
            second one does not hold.
        first_order, second_order: The standard uncertainty at either order; None where the second
            gives a negative variance.
        shift: How far the mean is away from the value, at second order.
        linear: True if both orders and value and mean agree.
        variance: The variance at first order.
        factor: The coverage factor.
        interval: The ends of the interval.
        dof: The degrees of freedom of the uncertainty; None if they are not limited.
        budget: The inputs, with the largest share first.
        monte_carlo: The result by simulation, if that was asked for.
    """

    name: str
    value: float
    uncertainty: float
    first_order: float
    second_order: float | None
    shift: float
    linear: bool
    variance: float
    factor: float
    interval: tuple[float, float]
    dof: float | None
    budget: tuple[Share, ...]
    monte_carlo: MonteCarlo | None


class PropagateResult(Shown):
    """The result of `gradcli propagate`.

    Fields:
        results: The results; of a tensor its elements.
        single: True if the result is one number.
        coverage: The probability that the intervals are made for.
        covariance: The covariances of the results at first order.
        correlated: True if inputs are correlated.
        passed: False if Monte Carlo disagrees, and that was to be a failure.
    """

    view = "propagation"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    results: tuple[Propagated, ...]
    single: bool
    coverage: float
    covariance: dict[str, dict[str, float]]
    correlated: bool
    passed: bool
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool | None:
        return None if self.passed else False


class PropagateRow(Answer):
    """The result of `gradcli propagate` for one row of many: fields as of `PropagateResult`, and
    budgets in the order of the inputs. A single result has no covariance.
    """

    view = "propagated_row"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    results: tuple[Propagated, ...]
    single: bool
    coverage: float
    covariance: dict[str, dict[str, float]]
    correlated: bool
    passed: bool
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool | None:
        return None if self.passed else False


class NestedTest(Result):
    """A test of whether a larger model explains more than chance: Fisher's F of sums of squares, or
    chi squared of likelihoods.

    Fields:
        kind: "f" or "chi_squared".
        ratio: Its value.
        more: How many parameters the larger model has more.
        dof: The larger one's degrees of freedom; None of likelihoods.
        chance: The probability of a larger value if the smaller model is true.
        smaller, larger: The names of the programs.
    """

    kind: str
    ratio: float
    more: int
    dof: int | None
    chance: float
    smaller: str
    larger: str


class FitComparison(Shown):
    """The fits of two programs to the same data, by the programs' names, and a test if the smaller
    is nested in the larger.
    """

    view = "comparison"
    _defaults: ClassVar[dict[str, Any]] = {"warnings": ()}
    fits: dict[str, FitResult]
    nested: NestedTest | None
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool:
        """True if both fits are right."""
        return all(found.right for found in self.fits.values())


class FitCurve(Result):
    """A fitted result over one column, for a picture.

    Fields:
        name: What was observed.
        x, y: The data.
        residual: Observed less fitted, at the data.
        points: Where the curve is known, in order.
        value: The curve.
        error, prediction: The half-widths of the confidence band and of the prediction band; empty
            where there are none.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    residual: tuple[float, ...]
    points: tuple[float, ...]
    value: tuple[float, ...]
    error: tuple[float, ...]
    prediction: tuple[float, ...]


class FitPlot(Result):
    """The picture of a fit: the label of its axis, the level of the bands, and a curve a result."""

    over: str
    level: float
    curves: tuple[FitCurve, ...]


class CellResult(Result):
    """A cell of a notebook that has run.

    Fields:
        number: Its number among the cells of code, from 1.
        printed: The text that it printed.
        shown: The text of its last expression; "" if nothing is shown.
        figures: What it plotted, as PNG.
        graph: The recorded graph of its last expression, as SVG; "" if none is drawn.
        error: The error that ended it; None if it was run to its end.
    """

    number: int
    printed: str
    shown: str
    figures: tuple[bytes, ...]
    graph: str
    error: Diagnostic | None


class NotebookResult(RunResult):
    """The result of a run of a notebook or page.

    Fields:
        cells: The cells that have run, in order.
        failure: The error or Ctrl-C that ended the run, after which `result` and `bindings` are
            empty; None if it went to its end.
    """

    view = "notebook"
    cells: tuple[CellResult, ...]
    failure: GradError | KeyboardInterrupt | None


class KnownValue(Record):
    """What is known before a run of a value in the program.

    Fields:
        span: Where the value is read or made.
        name: Its name; "" of an expression.
        kind: "number", "tensor", "list" and so on; None if it is unknown.
        text: All of it in short, such as `tensor float64[2, 3]`.
    """

    __slots__ = ("span", "name", "kind", "text")
    span: Span
    name: str
    kind: str | None
    text: str
