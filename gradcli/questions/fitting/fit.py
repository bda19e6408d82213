"""The question of `gradcli fit`: the parameters with which a model agrees with data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from gradcli.engine.run.execution.inputs import Given, check_names
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.limits import meter
from gradcli.errors import (
    Diagnostic,
    GradError,
    InputError,
    LimitError,
    UsageError,
    counted,
)
from gradcli.formats.readers.whole_table import Whole
from gradcli.ir.program import Program
from gradcli.questions.asked.request import Options
from gradcli.questions.fitting.asked import Asked, Table
from gradcli.questions.fitting.bounded import limits
from gradcli.questions.fitting.data import Expressions, Parse
from gradcli.questions.fitting.ended import Ended
from gradcli.questions.fitting.likely import Likely
from gradcli.questions.fitting.model import Layout
from gradcli.questions.fitting.roles import Roles, roles, starts_wanted, whole_columns
from gradcli.questions.fitting.shares import Frame, Here, Setup, Shares, fresh_name
from gradcli.questions.fitting.squares import Squares
from gradcli.questions.fitting.starts import begun, several
from gradcli.questions.fitting.sums import Facts, facts
from gradcli.questions.fitting.told import told
from gradcli.views import FitGroup, FitGroups, FitResult

_PART = 8  # of the memory that may be taken: what all columns may have of it
_LEAST = 1 << 16  # bytes of a column that is worth a file
_BESIDE = 4  # columns that are made beside those of the table: observed values, lines


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
        either: Groups of columns of which each record has at least one.
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
        self._ops, self._asked = ops, asked
        self.roles: Roles = roles(ops, given, columns, asked)
        self._check(bool(columns))
        parameters = [*self.roles.estimated, *self.roles.held]
        expressions = Expressions(asked, columns, given, parameters, parse)
        self.names = list(dict.fromkeys([*self.roles.data, *expressions.names]))
        self.either = expressions.either
        values = {name: value.value for name, value in given.items()}
        used = {name for one in expressions.every for name in one.inputs}
        check_names({n: value for n, value in given.items() if n not in used}, ops)
        self._setup = Setup(program, ops, self.roles, values, asked, expressions, options)

    def expect(self, fits: int) -> None:
        """Prepare for so many fits."""
        self._setup.expect(fits)

    def of(self, shares: Shares) -> FitResult:
        """The fit to some records.

        Raises:
            InputError: If the data do not fit the model.
            GradError: As of a run, at the start.
        """
        return told(self.found(shares))

    def found(self, shares: Shares) -> Ended:
        """The end of the search, with all that belongs to it. Errors as of `of`."""
        asked, roles, setup = self._asked, self.roles, self._setup
        whole = False
        known = self._facts(shares)
        if whole_columns(self._ops, known.shapes):
            whole, shares = True, shares.joined()
            known = self._facts(shares)
        first = _first(known, shares if whole else None, roles)
        values = begun(setup.program, roles, setup.given, asked, first, setup.options)
        layout = Layout({name: np.shape(values[name]) for name in roles.estimated})
        start = layout.joined(values).astype(np.float64)
        moved = {n: ends for n, ends in asked.bounds.items() if n not in roles.held}
        bounds = limits(self._ops, layout, moved)
        if roles.missing:
            start = np.clip(start, *bounds)
        self._inside(layout, start, *bounds)
        held = {name: values[name] for name in roles.held}
        frame = Frame(fresh_name(), layout, held, whole)

        def sums(function: Callable[..., Any], *more: Any) -> Iterator[Any]:
            return shares.each(setup, function, frame, *more)

        kind = Likely if asked.likelihood else Squares
        problem = kind(sums, known, asked, *bounds, setup.options.progress)
        best = several(problem, asked, start)
        return Ended(best, layout, start, held, roles, asked, known, shares, setup, frame)

    def _facts(self, shares: Shares) -> Facts:
        """What is known of all records.

        Raises:
            InputError: If parts do not go together, or a result was never observed.
        """
        found: Facts = reduce(Facts.plus, shares.each(self._setup, facts))
        for one, text in zip(found.compared, self._asked.observed, strict=True):
            if not one.records and found.count:
                raise InputError(Diagnostic("too-few-records", f"no record has `{text}`"))
        return found

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
                "--sigma": asked.sigma,
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
        if observed and not has_data:
            text = "`--observed` needs `--rows`, the records that it is read from"
            raise UsageError(Diagnostic("usage", text))
        if observed and observed != results:
            text = f"{observed} observed and {results} results"
            help = "`--of m1,m2 --observed y1,y2` names one for each"
            raise UsageError(Diagnostic("usage", text, help=help))
        if has_data and not observed:
            text = "`fit` needs `--observed`, the column that the result is compared with"
            help = "or `--nll`, if the result is a negative log likelihood"
            raise UsageError(Diagnostic("usage", text, help=help))
        if asked.sigma and asked.weights is not None:
            raise UsageError(Diagnostic("usage", "`--sigma` and `--weights` exclude each other"))
        if asked.scale_errors and asked.sigma is None:
            raise UsageError(Diagnostic("usage", "`--scale-errors` needs `--sigma`"))
        for flag, given in (("--hessian", asked.hessian), ("--profile", asked.profile)):
            if given and asked.loss != "linear":
                raise UsageError(Diagnostic("usage", f"`{flag}` does not go with `--loss`"))
        for flag, written in (("--sigma", asked.sigma), ("--weights", asked.weights)):
            if written is not None and not observed:
                help = "residuals of your own are divided by their deviations in the program"
                raise UsageError(Diagnostic("usage", f"`{flag}` needs `--observed`", help=help))
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


def _first(known: Facts, whole: Shares | None, roles: Roles) -> dict[str, Any]:
    """The values of the data at which the start is computed: the first record's, or whole columns;
    ones if there is none.
    """
    if isinstance(whole, Here):
        return {name: whole.data.columns[name] for name in roles.data}
    if known.first is None:
        return {name: np.ones(shape).tolist() for name, shape in known.shapes.items()}
    return {name: column[0].tolist() for name, column in known.first.items()}


def fit(
    program: Any,
    ops: Program,
    table: Table | None,
    given: Mapping[str, Given],
    asked: Asked,
    parse: Parse,
    options: Options,
) -> FitResult | FitGroups:
    """The fit of a program to a table, or of each group of its records.

    Raises:
        GradError: If it cannot be made.
    """
    names = () if table is None else tuple(table.names)
    made = Fit(program, ops, given, names, asked, parse, options)
    if made.roles.missing and asked.starts == 1:
        raise starts_wanted(made.roles.missing)
    data = records(table, [made], asked)
    if asked.by is None:
        return made.of(data)
    assert isinstance(data, Here), "a column of texts is wanted"
    return groups(made, data.data, asked)


def records(table: Table | None, several: Sequence[Fit], asked: Asked) -> Shares:
    """The records of a table with the columns of some fits.

    Columns that are longer than a part of the memory which may be taken are kept in files, unless
    all records are wanted at once: for groups, predictions or a picture.
    """
    if table is None:
        lines = np.zeros(1, np.int64)
        return Here(Whole("the data", {}, {}, lines, 0, None, None, [("the data", 1)]))
    names = [*dict.fromkeys(name for one in several for name in one.names)]
    by = () if asked.by is None else (asked.by,)
    titles = [*dict.fromkeys((*by, *(asked.predict or ())))]
    is_whole = bool(titles) or asked.predict is not None or asked.draw
    most = None if is_whole else max(meter().most // _PART // (len(names) + _BESIDE), _LEAST)
    found = table.read(names, titles, several[0].either, most)
    return Here(found) if isinstance(found, Whole) else found


def groups(made: Fit, data: Whole, asked: Asked) -> FitGroups:
    """The fits of the groups of some records.

    Raises:
        GradError: Of the first group that has none, unless such groups are left out.
    """
    assert asked.by is not None, "there are groups"
    places: dict[str, list[int]] = {}
    for place, key in enumerate(data.texts[asked.by]):
        places.setdefault(key, []).append(place)
    made.expect(len(places))
    found: list[FitGroup] = []
    for key, group in places.items():
        try:
            found.append(FitGroup(key, made.of(Here(data.chosen(np.array(group)))), None))
        except LimitError:
            raise
        except GradError as error:
            said = error.diagnostics[0]
            said.notes = (*said.notes, f"in the group {asked.by} = {key}")
            if asked.on_error == "stop":
                raise
            found.append(FitGroup(key, None, said))
    warnings = tuple(_of_groups(asked.by, found, asked))
    kept = [g for g in found if g.found is not None or asked.on_error == "record"]
    return FitGroups(asked.by, tuple(kept), len(found) - len(kept), warnings)


def _of_groups(by: str, found: list[FitGroup], asked: Asked) -> Iterator[Diagnostic]:
    """The warnings of all groups: each kind once, with the groups that have it."""
    keys: dict[str, list[str]] = {}
    first: dict[str, Diagnostic] = {}
    for group in found:
        for said in () if group.found is None else group.found.warnings:
            keys.setdefault(said.code, []).append(group.key)
            first.setdefault(said.code, said)
    for code, said in first.items():
        if code != "rows-left-out":
            several = keys[code]
            more = f" and {len(several) - _NAMED:,} more" if len(several) > _NAMED else ""
            note = f"in the groups {by} = {', '.join(several[:_NAMED])}{more}"
            said.notes = (*said.notes, note)
        yield said
    failed = [group for group in found if group.error is not None]
    if failed and asked.on_error != "record":
        text = f"{len(failed):,} of {counted(len(found), 'group')} left out: "
        text += ", ".join(group.key for group in failed[:_NAMED])
        assert failed[0].error is not None
        notes = (failed[0].error.message,)
        yield Diagnostic("groups-left-out", text, notes=notes, severity="warning")


_NAMED = 8  # groups in a message
