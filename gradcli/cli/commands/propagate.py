"""`gradcli propagate`."""

from collections.abc import Sequence
from typing import Any

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.arguments import split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant_of
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, ROWS, Line
from gradcli.cli.terminal.failures import usage


@command(
    *(*PROGRAM, *ROWS, "uncertainty", "correlation", "covariance", "coverage", "several"),
    *("monte_carlo", "strict", "form", "json", "raw", "output", "check_nan", "seed", "compile"),
    *("quiet", *LIMITS, *MESSAGES),
    view="propagation",
)
def propagate(line: Line) -> None:
    r"""Uncertainty of a result from those of its inputs.

    An input is written V=5.0+/-0.1, V=5.0+/-2% or V='5.00(12)', with the standard uncertainty. The
    law of propagation is applied at first and at second order.

    Examples:
      gradcli propagate 'V / I' V=5.0+/-0.1 I=0.2+/-2%
      gradcli propagate 'x * y' x=2+/-0.1:dof=9 y=3+/-0.05:uniform --coverage 0.99
      gradcli propagate 'V / I' V=5+/-0.1 I=0.2+/-0.01 --correlation V,I=0.3
      gradcli propagate 'sqrt(x)' x=4+/-0.1 --monte-carlo 10000 --seed 1
      printf 'V,e\n5,0.1\n6,0.2\n' | gradcli propagate 'V ** 2' --rows - --uncertainty V=e
    """
    inquiry = Inquiry(line)
    of = split_names(line.several, "--of")
    coverage = 0.95 if line.coverage is None else constant_of(line.coverage, "", "--coverage ")
    inquiry.load()
    from gradcli import program

    widths = _pairs(line.uncertainty, "--uncertainty", "NAME=NUMBER, NAME=2% or NAME=COLUMN")
    correlations = _correlations(line.correlation)
    covariance = _covariance(line.covariance)
    if line.strict and line.monte_carlo is None:
        raise usage("`--strict` needs `--monte-carlo`")
    if inquiry.records is not None:
        about = (widths, correlations, covariance, coverage)
        inquiry.program = program.measured_rows(inquiry.program, inquiry.inputs, *about)
        inquiry.answer(
            "propagation", of=of or [None], draws=line.monte_carlo or 0, strict=line.strict
        )
        return
    for name, text in widths.items():
        if program.widths({name: text})[name].column:
            raise usage(f"`{text}` in --uncertainty is no number", "a column needs `--rows`")
    inquiry.answer(
        "propagate",
        bar=None if line.monte_carlo is None else "draws",
        uncertainties=program.widths(widths),
        correlations=correlations,
        covariance=covariance,
        of=of,
        coverage=coverage,
        draws=line.monte_carlo or 0,
        strict=line.strict,
    )


def _pairs(options: Sequence[str] | None, flag: str, form: str) -> dict[str, str]:
    """The texts of NAME=TEXT,.. by name.

    Raises:
        UsageError: If one is not written so.
    """
    found = {}
    for part in (part for option in options or () for part in option.split(",")):
        name, equals, text = part.partition("=")
        if not (equals and name.strip().isidentifier() and text.strip()):
            raise usage(f"`{part}` in {flag} is not {form}")
        found[name.strip()] = text.strip()
    return found


def _correlations(options: Sequence[str] | None) -> dict[tuple[str, str], float]:
    """The correlations of NAME,NAME=NUMBER, by two names.

    Raises:
        UsageError: If one is not written so.
    """
    found = {}
    for option in options or ():
        names, equals, text = option.rpartition("=")
        x, _, y = names.partition(",") if "]" not in names else _elements(names)
        if not (equals and x.strip() and y.strip()):
            raise usage(f"`{option}` in --correlation is not NAME,NAME=NUMBER", "as in V,I=0.3")
        found[x.strip(), y.strip()] = constant_of(text, "", f"--correlation {names}=")
    return found


def _elements(names: str) -> tuple[str, str, str]:
    """Two names of which one at least is an element, such as `b[0],b[1]`."""
    depth = 0
    for k, sign in enumerate(names):
        depth += (sign == "[") - (sign == "]")
        if sign == "," and not depth:
            return names[:k], ",", names[k + 1 :]
    return names, "", ""


def _covariance(file: str | None) -> list[Any]:
    """The covariances of a file, if there is one."""
    if file is None:
        return []
    from gradcli import program
    from gradcli.formats.readers.covariances import covariances

    numbers, dof = covariances(file)
    return [program.covariance(numbers, f"`{file}`", dof)]
