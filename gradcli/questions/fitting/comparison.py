"""Two models of the same data: criteria side by side, and a test if one is nested in the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradcli.engine.run.execution.inputs import Given, check_names
from gradcli.errors import Diagnostic, UsageError
from gradcli.ir.program import Program
from gradcli.questions.asked.request import Options
from gradcli.questions.fitting.asked import Asked, Table
from gradcli.questions.fitting.data import Parse
from gradcli.questions.fitting.fit import Fit, records
from gradcli.questions.fitting.roles import starts_wanted
from gradcli.views import FitComparison, FitResult, NestedTest


def comparison(
    several: Mapping[str, tuple[Any, Program]],
    table: Table | None,
    given: Mapping[str, Given],
    asked: Asked,
    parse: Parse,
    options: Options,
    *,
    nested: bool,
) -> FitComparison:
    """The fits of two programs to one table.

    Args:
        several: The programs with their ops, by name.
        table: The data; None if the inputs have them.
        given: Values by name; each program gets those that it has.
        asked: What is asked of both.
        parse: Makes the program of an expression over the columns.
        options: How to run.
        nested: True to test whether the larger explains more than chance.

    Raises:
        GradError: If one cannot be made.
    """
    columns = () if table is None else tuple(table.names)
    known = {i.name for _, ops in several.values() for i in ops.inputs}
    first = next(iter(several.values()))[1]
    check_names({name: value for name, value in given.items() if name not in known}, first)
    made = {}
    for name, (program, ops) in several.items():
        own = {i.name for i in ops.inputs}
        part = {n: value for n, value in given.items() if n in own}
        fields = {
            "fix": {n: x for n, x in asked.fix.items() if n in own or n not in known},
            "bounds": {n: x for n, x in asked.bounds.items() if n in own or n not in known},
            "wrt": None
            if asked.wrt is None
            else [n for n in asked.wrt if n in own or n not in known],
        }
        made[name] = Fit(program, ops, part, columns, asked.changed(**fields), parse, options)
        if made[name].roles.missing and asked.starts == 1:
            raise starts_wanted(made[name].roles.missing)
    data = records(table, [*made.values()], asked)
    fits = {name: one.of(data) for name, one in made.items()}
    said = {(w.code, w.message): w for found in fits.values() for w in found.warnings}
    return FitComparison(fits, _test(fits, asked) if nested else None, tuple(said.values()))


def _test(fits: Mapping[str, FitResult], asked: Asked) -> NestedTest:
    """The test of the larger model against the smaller one.

    Raises:
        UsageError: If neither is larger.
    """
    from gradcli.models.statistics import beyond_chi, beyond_f

    sizes = {name: len(found.covariance) for name, found in fits.items()}
    smaller, larger = sorted(sizes, key=sizes.__getitem__)
    more = sizes[larger] - sizes[smaller]
    if not more:
        text = "both models have the same number of parameters, so neither is nested in the other"
        raise UsageError(Diagnostic("usage", text, help="leave out `--nested`; AIC compares them"))
    few, many = fits[smaller], fits[larger]
    by_likelihood = asked.likelihood or (asked.sigma and not asked.scale_errors)
    if by_likelihood or many.dof is None:
        ratio = 2.0 * (many.figures["log_likelihood"] - few.figures["log_likelihood"])
        chance = beyond_chi(max(ratio, 0.0), more)
        return NestedTest("chi_squared", ratio, more, None, chance, smaller, larger)
    if asked.loss != "linear":
        raise UsageError(Diagnostic("usage", "`--nested` does not go with `--loss`"))
    squares = many.figures["rss"]
    ratio = (few.figures["rss"] - squares) / more / (squares / many.dof)
    chance = beyond_f(max(ratio, 0.0), more, many.dof)
    return NestedTest("f", ratio, more, many.dof, chance, smaller, larger)
