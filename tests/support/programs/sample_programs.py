"""The programs in samples/ and the output that their comments expect."""

import math
import re
import shlex
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((ROOT / "samples").glob("*.grad"))

_EXPECT = re.compile(r"# expect: (?P<command>.+)\n(?P<lines>(?:#   .*\n)*)")
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])")


def shortened(sample: Path) -> str:
    """A sample with small loops and sizes, without comments."""
    lines = sample.read_text("utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if not line.startswith("#"))
    return re.sub(r"(?<=range\()\d+|\b\d{3,}\b", "3", text)


class Expectation(NamedTuple):
    """A command on a sample, and the lines of its standard output."""

    sample: Path
    arguments: list[str]
    lines: list[str]

    @property
    def id(self) -> str:
        return f"{self.sample.stem}-{shlex.join(self.arguments)}"

    @property
    def command(self) -> list[str]:
        """The arguments of gradcli, with the sample in place."""
        name, *rest = self.arguments
        return [name, f"samples/{self.sample.name}", *rest]


def expectations() -> list[Expectation]:
    """All `# expect:` comments: a line with the command's words, then its output, indented."""
    return [
        Expectation(
            sample,
            shlex.split(found["command"]),
            [line.removeprefix("#   ") for line in found["lines"].splitlines()],
        )
        for sample in SAMPLES
        for found in _EXPECT.finditer(sample.read_text("utf-8"))
    ]


def same_line(expected: str, got: str) -> bool:
    """True if two lines agree: equal words, numbers to 9 digits; `...` stands for anything."""
    if expected.endswith("..."):
        return _words(got).startswith(_words(expected.removesuffix("...")))
    numbers = zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=False)
    return _words(_NUMBER.sub("#", expected)) == _words(_NUMBER.sub("#", got)) and all(
        math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-12) for a, b in numbers
    )


def _words(line: str) -> str:
    """A line with single spaces between words."""
    return " ".join(line.split())
