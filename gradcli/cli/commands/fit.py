"""`gradcli fit`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.arguments import part_size, split_files, split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant, constant_of
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.progress import progress
from gradcli.errors import Diagnostic, InputError
from gradcli.views import FitComparison, FitGroups

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.cli.parts.away import Away
    from gradcli.cli.rows.data import Data, Picture, Predictions
    from gradcli.cli.terminal.messages import Telling
    from gradcli.formats.readers.chosen import Choice
    from gradcli.formats.readers.parts import Part

Ask: TypeAlias = Callable[[Any, Any], Any]
"""A question at values of the inputs, with options of the run."""

_DATA = (
    *("rows", "columns", "where", "renamed", "missing", "separator", "decimal", "encoding"),
    "on_error",
)
_RESULT = ("form", "json", "raw", "output", "precision", "compile", "quiet")
_OPENING, _CLOSING = "([{", ")]}"


@command(
    *(*PROGRAM, *_DATA, "observed", "several", "wrt", "fix", "bounds"),
    *("sigma", "weights", "scale_errors", "loss", "loss_scale", "likelihood", "exact_hessian"),
    *("starts", "seed", "level", "profile", "most_evaluations", "by", "predict", "picture"),
    *("nested", "cluster", "part_size"),
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
    files, other = _programs(line)
    inquiry = Inquiry(line)
    inquiry.settle_alone()
    beside = _beside(line, inquiry)
    with ExitStack() as cluster:
        table = _table(line, inquiry, cluster)
        asked = _asked(line, inquiry, () if table is None else table.titles)
        inquiry.load()
        ask = _alone(inquiry, table, asked)
        if other is not None:
            ask = _both(inquiry, files, table, {**asked, "nested": line.nested})
        with progress("evaluations", inquiry.telling) as shown:
            result, content = inquiry.found(ask, inquiry.settings(progress=shown.advance))
    inquiry.target.write(content)
    for file in beside:
        file.write(result)
    inquiry.telling.warn(result.warnings)
    if status := _status(result, line):
        raise typer.Exit(status)


def _beside(line: Line, inquiry: Inquiry) -> list[Predictions | Picture]:
    """The files that are written beside the report.

    Raises:
        UsageError: If a name says not what to write.
    """
    from gradcli.cli.rows.data import Picture, Predictions

    found: list[Predictions | Picture] = []
    if line.predict is not None:
        found.append(Predictions(line.predict, line.color))
    if line.picture is not None:
        if line.by:
            raise usage("`--plot` does not go with `--by`")
        found.append(Picture(line.picture, inquiry.target))
    return found


def _table(line: Line, inquiry: Inquiry, cluster: ExitStack) -> Data | None:
    """The data of --rows; None without. A cluster that is joined for it is left with the stack.

    Raises:
        UsageError: If an option needs data or a column that are not there.
    """
    from gradcli.cli.rows.data import Data

    if inquiry.records is None:
        needs = {"--observed": line.observed, "--by": line.by}
        needs |= {"--predict": line.predict, "--plot": line.picture}
        if any(needs.values()):
            raise usage(f"`{next(filter(needs.get, needs))}` needs `--rows`")
        return None
    whole = {"--by": line.by, "--predict": line.predict, "--plot": line.picture}
    if line.cluster is not None and any(whole.values()):
        flag = next(filter(whole.get, whole))
        help = "it needs all records in one process"
        raise usage(f"`{flag}` does not go with `--cluster`", help)
    away = None
    if line.cluster is not None:
        away = partial(_away, line.cluster, inquiry.records, inquiry.telling, cluster)
    found = Data(inquiry.records, part_size(line.part_size), away)
    if not found.names:
        raise InputError(Diagnostic("bad-input", f"`{found.name}` is empty: it has no records"))
    if line.by is not None and line.by not in found.titles:
        help = f"the columns are {', '.join(found.titles)}"
        raise usage(f"--by names `{line.by}`, which is no column of the data", help)
    return found


def _away(
    address: str,
    batch: Batch,
    telling: Telling,
    cluster: ExitStack,
    parts: Sequence[Part],
    choice: Choice | None,
    names: Sequence[str],
    either: Sequence[Collection[str]],
) -> Away:
    """The records of parts with the workers of a cluster, which keep them until the stack is left.
    Other arguments as of `Data`.
    """
    from gradcli.cli.parts.away import Away, Reading, forget
    from gradcli.cli.parts.cluster import joined

    run, skips = os.urandom(8).hex(), batch.on_error != "stop"
    reading = Reading(run, names, either, skips, batch.dialect, choice, os.getcwd())
    tasks = cluster.enter_context(joined(address, telling))
    cluster.callback(tasks.everywhere, forget, run)
    return Away(tasks, reading, parts)


def _alone(inquiry: Inquiry, table: Data | None, asked: dict[str, Any]) -> Ask:
    """The question about one program."""
    from gradcli.program import fit as fitted

    return lambda given, options: fitted(inquiry.program, table, given, options=options, **asked)


def _both(inquiry: Inquiry, files: list[str], table: Data | None, asked: dict[str, Any]) -> Ask:
    """The question about two programs, of which the second is loaded here."""
    from gradcli.program import fits

    short = [os.path.basename(file) if os.path.isfile(file) else file for file in files]
    names = short if short[0] != short[1] else files
    programs = dict(zip(names, (inquiry.program, inquiry.another(files[1])), strict=True))
    return lambda given, options: fits(programs, table, given, options=options, **asked)


def _programs(line: Line) -> tuple[list[str], str | None]:
    """The programs that the line names, and the second of two, which the line loses.

    Raises:
        UsageError: If options do not go with their number.
    """
    files, _ = split_files(line.arguments or ())
    if len(files) != _BOTH or line.expression:
        if line.nested:
            raise usage("`--nested` compares two programs", "as in `fit small.grad large.grad`")
        return files, None
    single = {"--by": line.by, "--predict": line.predict, "--plot": line.picture}
    for flag, given in single.items():
        if given:
            raise usage(f"`{flag}` does not go with two programs")
    if files[0] == files[1]:
        raise usage("both programs are the same")
    arguments = [*(line.arguments or ())]
    arguments.remove(files[1])
    line.arguments = arguments
    return files, files[1]


_BOTH = 2


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
    if isinstance(result, FitComparison):
        return max(_status(found, line) for found in result.fits.values())
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
        "bounds": bounds_of(line.bounds),
        "sigma": None if line.sigma is None else expressions([line.sigma], "--sigma"),
        "weights": None if line.weights is None else expressions([line.weights], "--weights"),
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
        "draw": line.picture is not None,
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


def bounds_of(options: list[str] | None) -> dict[str, tuple[Any, Any]]:
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
