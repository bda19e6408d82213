"""`gradcli plot`."""

from gradcli.cli.asking.inquiry import Inquiry
from gradcli.cli.line.arguments import split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import constant_of
from gradcli.cli.line.options import LIMITS, MESSAGES, PROGRAM, Line
from gradcli.cli.terminal.failures import usage

_POINTS = 200  # by default
_MOST = 1_000_000


@command(
    *(*PROGRAM, "over", "several", "form", "json", "raw", "output", "check_nan", "seed"),
    *("compile", "quiet", *LIMITS, *MESSAGES),
    view="curves",
)
def plot(line: Line) -> None:
    """Draw a result and its derivative over one input.

    Pictures need the extra `plot`: pip install 'gradcli[plot]'. Numbers do not.

    Examples:
      gradcli plot 'abs(x) + sin(x)' --over x=-3:3 -f csv
      gradcli samples cooling -o .
      gradcli plot cooling.grad --over k=0.05:0.2:50 --json
    """
    inquiry = Inquiry(line)
    over, at = _points(line.over)
    names = split_names(line.several, "--of")
    inquiry.load()
    inquiry.answer("plot", bar="points", over=over, at=at, of=names)


def _points(text: str | None) -> tuple[str, list[float]]:
    """The input that --over names, and its values.

    Raises:
        UsageError: If it is not written NAME=FROM:TO or NAME=FROM:TO:POINTS.
    """
    name, equals, rest = (text or "").partition("=")
    parts = rest.split(":")
    if not (equals and name.isidentifier() and len(parts) in (2, 3)):
        said = "no input to go over" if text is None else f"`{text}` in --over is not a range"
        raise usage(said, "a range is NAME=FROM:TO or NAME=FROM:TO:POINTS, as in --over x=0:6:100")
    start, stop = (constant_of(part, name, f"--over {name}=") for part in parts[:2])
    count = _count(parts[2]) if len(parts) == 3 else _POINTS
    if not start < stop:
        raise usage(
            f"`{text}` in --over goes from {start:g} to {stop:g}", "write the smaller first"
        )
    step = (stop - start) / (count - 1)
    return name, [*(start + i * step for i in range(count - 1)), stop]


def _count(text: str) -> int:
    count = int(text) if text.isdecimal() else 0
    if not 2 <= count <= _MOST:
        raise usage(f"`{text}` in --over is not a number of points from 2 to {_MOST:,}")
    return count
