"""The question of `gradcli fit`: the parameters with which a model agrees with data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from gradcli.engine.run.execution.inputs import Given, check_names
from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, UsageError
from gradcli.ir.program import Program
from gradcli.questions.asked.request import Options
from gradcli.questions.fitting.asked import Asked, Table
from gradcli.questions.fitting.bounded import limits
from gradcli.questions.fitting.data import Expressions, Parse
from gradcli.questions.fitting.model import Asker, Layout, Model
from gradcli.questions.fitting.problem import Likely, Squares
from gradcli.questions.fitting.roles import Roles, roles, starts_wanted, whole_columns
from gradcli.questions.fitting.starts import begun, several
from gradcli.questions.fitting.told import Ended, told
from gradcli.views import FitResult

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole


class Fit:
    """A fit that is ready to be made, for any part of the data.

    Args:
        program: The program, as it is asked.
        ops: Its ops.
        given: The values of its inputs.
        columns: The columns of the data.
        asked: What is asked.
        parse: Makes the program of an expression over the columns.
        options: How to run.

    Fields:
        roles: What the names are.
        names: The columns that it reads.
    """

    def __init__(
        self,
        program: Any,
        ops: Program,
        given: Mapping[str, Given],
        columns: tuple[str, ...],
        asked: Asked,
        parse: Parse,
        options: Options,
    ) -> None:
        self._program, self._ops, self._asked, self._options = program, ops, asked, options
        self.roles: Roles = roles(ops, given, columns, asked)
        parameters = [*self.roles.estimated, *self.roles.held]
        self._expressions = Expressions(asked, columns, given, parameters, parse)
        self.names = list(dict.fromkeys([*self.roles.data, *self._expressions.names]))
        self._given = {name: value.value for name, value in given.items()}
        used = {name for one in self._expressions.every for name in one.inputs}
        check_names({n: value for n, value in given.items() if n not in used}, ops)
        self._check(bool(columns))
        order = 2 if asked.likelihood or asked.hessian else 1
        names = self.roles.estimated
        results = (*asked.of,) or (None,)
        self._askers = [Asker(program, of, names, order, options) for of in results]

    def of(self, data: Whole) -> FitResult:
        """The fit to some records.

        Raises:
            InputError: If the data do not fit the model.
            GradError: As of a run, at the start.
        """
        return told(self.found(data))

    def found(self, data: Whole) -> Ended:
        """The end of the search, with all that belongs to it. Errors as of `of`."""
        asked, roles = self._asked, self.roles
        observed = self._expressions.of(data)
        values = begun(self._program, self._ops, roles, self._given, asked, data, self._options)
        layout = Layout({name: np.shape(values[name]) for name in roles.estimated})
        start = layout.joined(values).astype(np.float64)
        bounds = limits(self._ops, layout, asked.bounds)
        self._inside(layout, start, *bounds)
        held = {name: values[name] for name in roles.held}
        columns = {name: data.columns[name] for name in roles.data}
        models = self._models(layout, columns, data.count, held)
        kind = Likely if asked.likelihood else Squares
        best = several(kind(models, observed, asked, data, *bounds), asked, start)
        return Ended(best, layout, start, held, roles, asked, data, observed, models)

    def _models(
        self, layout: Layout, columns: Mapping[str, Data], count: int, held: Mapping[str, Any]
    ) -> list[Model]:
        """The results of the program as functions of the parameters."""
        whole = not columns or whole_columns(self._ops, columns)
        known = {**self._given, **{name: value.tolist() for name, value in held.items()}}
        constants = {n: v for n, v in known.items() if n not in layout.shapes and n not in columns}
        constants = {n: v for n, v in constants.items() if n in self._program.inputs}
        if whole and self._asked.hessian and not self._asked.likelihood:
            text = "`--hessian` takes a model of one record"
            raise UsageError(Diagnostic("usage", text))
        return [
            Model(asker, layout, constants, columns, count, whole=whole) for asker in self._askers
        ]

    def _check(self, has_data: bool) -> None:
        """Refuse options that do not go with each other.

        Raises:
            UsageError: Naming them.
        """
        asked = self._asked
        results, observed = len(asked.of) or 1, len(asked.observed)
        if asked.likelihood:
            of_squares = {
                "--observed": bool(observed),
                "--sigma": asked.sigma is not None,
                "--weights": asked.weights is not None,
                "--loss": asked.loss != "linear",
                "--scale-errors": asked.scale_errors,
            }
            wrong = next((flag for flag, given in of_squares.items() if given), None)
            if wrong is not None:
                text = f"`{wrong}` does not go with `--nll`"
                help = "a likelihood has the data and their errors in it"
                raise UsageError(Diagnostic("usage", text, help=help))
            if results > 1:
                raise UsageError(Diagnostic("usage", "`--nll` takes one result"))
            return
        if observed and observed != results:
            text = f"{observed} observed and {results} results"
            help = "`--of m1,m2 --observed y1,y2` names one for each"
            raise UsageError(Diagnostic("usage", text, help=help))
        if has_data and not observed:
            text = "`fit` needs `--observed`, the column that the result is compared with"
            help = "or `--nll`, if the result is a negative log likelihood"
            raise UsageError(Diagnostic("usage", text, help=help))
        if asked.sigma is not None and asked.weights is not None:
            raise UsageError(Diagnostic("usage", "`--sigma` and `--weights` exclude each other"))
        if asked.scale_errors and asked.sigma is None:
            raise UsageError(Diagnostic("usage", "`--scale-errors` needs `--sigma`"))
        if asked.hessian and asked.loss != "linear":
            raise UsageError(Diagnostic("usage", "`--hessian` does not go with `--loss`"))
        if asked.loss == "linear" and asked.loss_scale is not None:
            raise UsageError(Diagnostic("usage", "`--loss-scale` needs `--loss`"))

    def _inside(self, layout: Layout, start: Data, lower: Data, upper: Data) -> None:
        """Refuse a start outside of the bounds.

        Raises:
            InputError: Naming the first.
        """
        if self.roles.missing:
            return
        for label, x, low, high in zip(layout.labels, start, lower, upper, strict=True):
            if not low <= x <= high:
                text = (
                    f"the start of `{label}`, {x:g}, is outside of its bounds [{low:g}, {high:g}]"
                )
                raise InputError(Diagnostic("bad-input", text))


def fit(
    program: Any,
    ops: Program,
    table: Table | None,
    given: Mapping[str, Given],
    asked: Asked,
    parse: Parse,
    options: Options,
) -> FitResult:
    """The fit of a program to a table.

    Raises:
        GradError: If it cannot be made.
    """
    names = () if table is None else tuple(table.names)
    made = Fit(program, ops, given, names, asked, parse, options)
    if made.roles.missing and asked.starts == 1:
        raise starts_wanted(made.roles.missing)
    return made.of(records(table, made.names))


def records(table: Table | None, names: list[str]) -> Whole:
    """The records of a table; one that is empty without a table."""
    if table is not None:
        found: Whole = table.read(names)
        return found
    from gradcli.formats.readers.whole_table import Whole

    return Whole("the data", {}, {}, np.zeros(1, np.int64), [])
