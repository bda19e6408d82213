"""`gradcli fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from gradcli.cli.line.arguments import split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant, constant_of
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.rows.inquiry import Inquiry
from gradcli.cli.terminal.failures import usage
from gradcli.errors import InputError
from gradcli.views import FitGroups

_DATA = ("rows", "columns", "renamed", "missing", "separator", "decimal", "on_error")
_RESULT = ("form", "json", "raw", "output", "precision", "compile", "quiet")
_OPENING, _CLOSING = "([{", ")]}"


@command(
    *(*PROGRAM, *_DATA, "observed", "several", "wrt", "fix", "bounds"),
    *("sigma", "weights", "scale_errors", "loss", "loss_scale", "likelihood", "exact_hessian"),
    *("starts", "seed", "level", "profile", "most_evaluations", "by", "predict"),
    *(*_RESULT, *LIMITS, *MESSAGES),
    view="fit",
)
def fit(line: Line) -> None:
    r"""The parameters with which a model agrees with data.

    The parameters are the params of the program; without declarations, the free names that are
    given a start and are no column. Needs the extra `fit`: pip install 'gradcli[fit]'.

    Examples:
      printf 't,y\n0,2\n1,1.2\n2,0.8\n' | gradcli fit 'a*exp(-k*t)' --rows - --observed y a=2 k=1
      gradcli samples decay -o .
      gradcli fit decay.grad --rows decay.csv --observed y
      gradcli fit decay.grad --rows decay.csv --observed y --json
    """
    from gradcli.cli.rows.data import Data, Predictions
    from gradcli.program import fit as fitted

    inquiry = Inquiry(line)
    predictions = None if line.predict is None else Predictions(line.predict, line.color)
    inquiry.settle_alone()
    table = None if inquiry.records is None else Data(inquiry.records)
    asked = _asked(line, inquiry, () if table is None else table.titles)
    if table is None and (line.by or line.predict):
        raise usage(f"`{'--by' if line.by else '--predict'}` needs `--rows`")
    if table is not None and line.by is not None and line.by not in table.titles:
        help = f"the columns are {', '.join(table.titles)}"
        raise usage(f"--by names `{line.by}`, which is no column of the data", help)
    inquiry.load()

    def ask(given: Any, options: Any) -> Any:
        return fitted(inquiry.program, table, given, options=options, **asked)

    result, content = inquiry.found(ask, inquiry.settings())
    inquiry.target.write(content)
    if predictions is not None:
        fits = [g.found for g in result.groups] if isinstance(result, FitGroups) else [result]
        predictions.write([found.predicted or {} for found in fits if found is not None])
    inquiry.telling.warn(result.warnings)
    status = _status(result, line)
    if status:
        raise typer.Exit(status)


def _status(result: Any, line: Line) -> int:
    """The exit status: 130 after an interrupt, that of the first group without a fit, 1 if a fit is
    not right.
    """
    if isinstance(result, FitGroups):
        failed = result.left_out or any(group.error is not None for group in result.groups)
        if failed and line.on_error != "ignore":
            return InputError.status
        fits = [group.found for group in result.groups if group.found is not None]
        return max((_status(found, line) for found in fits), default=0)
    if result.reason == "interrupted":
        return 130
    return 0 if result.right else 1


def _asked(line: Line, inquiry: Inquiry, titles: Sequence[str]) -> dict[str, Any]:
    """What the options ask of data with columns of these titles."""
    return {
        "observed": expressions(line.observed, "--observed"),
        "of": split_names(line.several, "--of") or (),
        "wrt": inquiry.names,
        "fix": _held(line.fix),
        "bounds": _bounds(line.bounds),
        "sigma": line.sigma,
        "weights": line.weights,
        "scale_errors": line.scale_errors,
        "loss": line.loss,
        "loss_scale": _above_zero(line.loss_scale, "--loss-scale"),
        "likelihood": line.likelihood,
        "hessian": line.exact_hessian,
        "starts": line.starts,
        "seed": line.seed,
        "level": _level(line.level),
        "profile": line.profile,
        "most": line.most_evaluations,
        "by": line.by,
        "predict": None if line.predict is None else [*titles],
        "on_error": line.on_error,
    }


def expressions(options: list[str] | None, flag: str) -> list[str]:
    """The expressions of an option, which stand between commas outside of brackets."""
    found = [part.strip() for option in options or () for part in _parted(option)]
    if not all(found):
        raise usage(f"an empty expression in {flag}")
    return found


def _parted(text: str) -> list[str]:
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in _OPENING) - (sign in _CLOSING)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def _held(options: list[str] | None) -> dict[str, Any]:
    """The values of --fix by name, None for one that stays at its start."""
    found: dict[str, Any] = {}
    for text in expressions(options, "--fix"):
        name, equals, value = text.partition("=")
        if not name.isidentifier():
            raise usage(f"`{text}` in --fix is no name", "a parameter is held by --fix NAME=VALUE")
        given = constant(value, f"--fix {name}") if equals else None
        found[name] = None if given is None else given.value
    return found


def _bounds(options: list[str] | None) -> dict[str, tuple[Any, Any]]:
    """The values of --bounds by name."""
    found = {}
    for text in expressions(options, "--bounds"):
        name, equals, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        if not (equals and colon and name.isidentifier()):
            raise usage(f"`{text}` in --bounds is not NAME=LOW:HIGH", "as in --bounds k=0:10")
        both = []
        for end, none in ((low, "-inf"), (high, "inf")):
            given = constant(end.strip() or none, f"--bounds {name}")
            both.append(None if given is None else given.value)
        found[name] = both[0], both[1]
    return found


def _above_zero(text: str | None, flag: str) -> float | None:
    if text is None:
        return None
    value = constant_of(text, flag, f"{flag} ")
    if value <= 0:
        raise usage(f"`{text}` in {flag} is not above zero")
    return value


def _level(text: str | None) -> float:
    value = 0.95 if text is None else constant_of(text, "--level", "--level ")
    if not 0.0 < value < 1.0:
        raise usage(f"`{text}` in --level is not between 0 and 1", "as in --level 0.99")
    return value
