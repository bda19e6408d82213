"""Compare gradcli with PyTorch on random programs: `python -m tests.differential`, with the extra
`bench`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from gradcli.program import load

from . import by_gradcli, by_pytorch
from .compare import Difference, difference, refused
from .known import explained
from .modes import differentiable, of_backward, of_modes, of_rows
from .processes import DEAD, answers
from .program import Program
from .shrink import shrunk
from .statements import written

SHARE = 25  # of so many programs one is done in all modes
EXPLAINED = ("agree", "both refuse", "known", DEAD)


class TooLong(BaseException):
    """A program takes too long; no error that a program could have."""


def main() -> int:
    """Compare and report; 1 if something is unexplained."""
    options = _parser().parse_args()
    start = time.time()
    counts: Counter[str] = Counter()
    differing: dict[str, list[int]] = defaultdict(list)
    seeds = list(range(options.seed, options.seed + options.programs))
    for seed, name in answers(seen, seeds, options.jobs):
        counts[name] += 1
        if options.log and name != "agree":
            print(seed, name, file=options.log, flush=True)
        if not name.startswith(EXPLAINED):
            differing[name].append(seed)
    took = time.time() - start
    examples = [(name, seed) for name in differing for seed in differing[name][: options.show]]
    for _, text in answers(example, sorted(examples), options.jobs):
        print(text, flush=True)
    print(f"{sum(counts.values())} programs in {took:.0f} s")
    for name, count in counts.most_common():
        print(f"{count:8} {name}")
    return 1 if differing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.differential")
    parser.add_argument("--programs", type=int, default=1000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first program")
    parser.add_argument("--jobs", type=int, default=None, metavar="N", help="processes")
    parser.add_argument("--show", type=int, default=1, metavar="N", help="examples of a difference")
    parser.add_argument(
        "--log", type=argparse.FileType("w"), metavar="FILE", help="the seeds that do not agree"
    )
    return parser


def example(differing: tuple[str, int]) -> str:
    """A program that differs, made small."""
    name, seed = differing
    if "disagrees with itself" in name:
        return f"--- seed {seed}: {name}\n{written(seed).text}\n"
    program = shrunk(written(seed), lambda p: classed(p, 3.0)[0] == name)
    return f"--- seed {seed}: {name}\n{program.text}\n{classed(program)[1]}\n"


def seen(seed: int) -> str:
    """The class of the program of a seed."""
    program = written(seed)
    name, _ = classed(program)
    if name == "agree" and seed % SHARE == 0:
        return with_itself(program, seed % (5 * SHARE) == 0)
    return name


def with_itself(program: Program, by_two: bool) -> str:
    """The class of a program on which gradcli and PyTorch agree and gradcli may not with itself."""
    facts = by_gradcli.ask(program)
    if not differentiable(facts):
        return "agree"
    told = of_modes(program, load(program.text)) or of_backward(program, facts)
    told = told or of_rows(program, 2 if by_two else 1)
    gist = told.partition(":")[0]
    return f"unexplained: gradcli disagrees with itself: {gist}" if told else "agree"


def classed(program: Program, longest: float = 60.0) -> tuple[str, Difference | None]:
    """The class of a program, and the difference if it has one that is not explained."""
    try:
        with _limited(longest):
            theirs = by_pytorch.ask(program)
            ours = by_gradcli.ask(program)
    except TooLong:
        return "too long", None
    found = difference(ours, theirs, program.rtol)
    if found is None:
        return ("both refuse" if refused(ours) else "agree"), None
    known = explained(program, ours, theirs, found)
    return (f"known: {known}", None) if known else (f"unexplained: {found.kind}", found)


@contextmanager
def _limited(longest: float) -> Iterator[None]:
    """What takes long is given up: a smaller program may have lost the end of its loop."""
    signal.signal(signal.SIGALRM, _stop)
    signal.setitimer(signal.ITIMER_REAL, longest)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _stop(*_: object) -> None:
    raise TooLong


if __name__ == "__main__":
    sys.exit(main())
