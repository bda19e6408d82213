"""`gradcli minimize` and `root`."""

from __future__ import annotations

from typing import Any

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.arguments import jobs, split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant_of
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, ROWS, Line
from gradcli.cli.line.query import Query, Warm
from gradcli.cli.terminal.failures import usage

_SEARCH = ("starts", "most_evaluations", "sensitivity", "warm")
_RESULT = ("form", "json", "raw", "output", "precision", "seed", "compile", "quiet")


@command(
    *(*PROGRAM, *ROWS, "wrt", "of", "maximize", "bounds", *_SEARCH),
    *(*_RESULT, *LIMITS, *MESSAGES),
    view="minimum",
)
def minimize(line: Line) -> None:
    r"""The point at which a result is least.

    The unknowns are those of `grad`, their values the start. Needs the extra `fit`: pip install
    'gradcli[fit]'.

    Examples:
      gradcli minimize '(1 - x) ** 2 + 100 * (y - x ** 2) ** 2' x=-1.2 y=1
      gradcli minimize 'x * log(x)' x=1 --bounds x=0.5:2
      gradcli minimize '(x - a) ** 2 + x ** 4' x=1 a=2 --wrt x --sensitivity a
      printf 'a\n1\n2\n' | gradcli minimize 'exp(x) - a * x' x=1 --wrt x --rows - --warm
    """
    from gradcli.cli.commands.fit import bounds_of

    inquiry = Inquiry(line)
    bounds = bounds_of(line.bounds)
    _solve(line, inquiry, "minimize", maximize=line.maximize, bounds=bounds)


@command(
    *(*PROGRAM, *ROWS, "wrt", "several", "between", *_SEARCH),
    *(*_RESULT, *LIMITS, *MESSAGES),
    view="root",
)
def root(line: Line) -> None:
    r"""The point at which results are zero.

    There are as many results as unknowns: several by --of, or a vector. The unknowns are those of
    `grad`, their values the start. Needs the extra `fit`: pip install 'gradcli[fit]'.

    Examples:
      gradcli root 'cos(x) - x' x=1
      gradcli root 'x ** 3 - a' a=2 --between 0:2 --sensitivity a
      gradcli root -e 'f = x ** 2 + y ** 2 - 4; g = x * y - 1; g' x=2 y=1 --of f,g
      printf 'a\n2\n3\n' | gradcli root 'x ** 2 - a' x=1 --wrt x --rows -
    """
    inquiry = Inquiry(line)
    of = split_names(line.several, "--of")
    _solve(line, inquiry, "root", of=of, between=_between(line.between))


def _solve(line: Line, inquiry: Inquiry, name: str, **asked: Any) -> None:
    """Ask for an answer, or one for each row."""
    if line.warm and inquiry.records is None:
        raise usage("`--warm` needs `--rows`")
    if line.warm and jobs(line.jobs) > 1:
        raise usage("`--warm` does not go with `--jobs`", "each row begins at the last answer")
    inquiry.load()
    inquiry.answer(
        name,
        kind=Warm if line.warm else Query,
        starts=line.starts,
        sensitivity=split_names(line.sensitivity, "--sensitivity") or (),
        most=line.most_evaluations,
        **asked,
    )


def _between(text: str | None) -> tuple[float, float] | None:
    """The two numbers of --between.

    Raises:
        UsageError: If it is not written LOW:HIGH, or they do not ascend.
    """
    if text is None:
        return None
    low, colon, high = text.partition(":")
    if not (colon and low.strip() and high.strip()):
        raise usage(f"`{text}` in --between is not LOW:HIGH", "as in --between 0:2")
    both = (constant_of(low, "", "--between "), constant_of(high, "", "--between "))
    if not both[0] < both[1]:
        raise usage(f"`{text}` in --between goes from {both[0]:g} to {both[1]:g}")
    return both
