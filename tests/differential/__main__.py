"""Compare gradcli with PyTorch on random programs: `python -m tests.differential`, with the extra
`bench`.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from gradcli.program import load

from . import by_gradcli, by_pytorch
from .compare import Difference, difference, refused
from .compiled import of_code, of_rows_of_code
from .kinds import KINDS, writing
from .known import explained
from .modes import differentiable, of_backward, of_modes, of_rows
from .processes import DEAD, answers
from .program import Program
from .shrink import shrunk
from .statements import written, written_of_numbers

SHARE = 25  # of so many programs one is done in all modes
EXPLAINED = ("agree", "both refuse", "known", DEAD)
ITSELF = "unexplained: gradcli disagrees with itself"
Write = Callable[[int], Program]


class TooLong(BaseException):
    """A program takes too long; no error that a program could have."""


def main() -> int:
    """Compare and report; 1 if something is unexplained."""
    options = _parser().parse_args()
    start = time.time()
    counts: Counter[str] = Counter()
    differing: dict[str, list[int]] = defaultdict(list)
    write = {"mixed": written, "numbers": written_of_numbers}.get(options.kind) or writing(
        options.kind
    )
    seeds = list(range(options.seed, options.seed + options.programs))
    for seed, name in answers(partial(seen, write, options.code), seeds, options.jobs):
        counts[name] += 1
        if options.log and name != "agree":
            print(seed, name, file=options.log, flush=True)
        if not name.startswith(EXPLAINED):
            differing[name].append(seed)
    took = time.time() - start
    examples = [(name, seed) for name in differing for seed in differing[name][: options.show]]
    for _, text in answers(partial(example, write), sorted(examples), options.jobs):
        print(text, flush=True)
    print(f"{sum(counts.values())} programs in {took:.0f} s")
    for name, count in counts.most_common():
        print(f"{count:8} {name}")
    return 1 if differing else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m tests.differential")
    kinds = ["mixed", "numbers", *KINDS]
    parser.add_argument(
        "--kind", choices=kinds, default="mixed", help="of programs; numbers: none with dimensions"
    )
    parser.add_argument("--programs", type=int, default=1000, metavar="N")
    parser.add_argument(
        "--code", type=int, default=1, metavar="N", help="one of N programs is run by code, too"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the first program")
    parser.add_argument("--jobs", type=int, default=None, metavar="N", help="processes")
    parser.add_argument("--show", type=int, default=1, metavar="N", help="examples of a difference")
    parser.add_argument(
        "--log", type=argparse.FileType("w"), metavar="FILE", help="the seeds that do not agree"
    )
    return parser


def example(write: Write, differing: tuple[str, int]) -> str:
    """A program that differs, made small."""
    name, seed = differing
    program = write(seed)
    if name.startswith(ITSELF):
        return f"--- seed {seed}: {name}\n{program.text}\n"
    program = shrunk(program, lambda p: classed(p, 3.0)[0] == name)
    return f"--- seed {seed}: {name}\n{program.text}\n{classed(program)[1]}\n"


def seen(write: Write, share: int, seed: int) -> str:
    """The class of the program of a seed, of which one of a share is run by code, too."""
    program = write(seed)
    name, _ = classed(program)
    if name not in ("agree", "both refuse") and not name.startswith("known"):
        return name
    jobs = 2 if seed % (5 * SHARE) == 0 else 1
    told = of_code(program, seed % 2 == 0, turn=seed // 2) if seed // 2 % share == 0 else ""
    if name == "agree" and not told and seed % SHARE == 0:
        told = with_itself(program, jobs)
    return f"{ITSELF}: {told.partition(':')[0]}" if told else name


def with_itself(program: Program, jobs: int) -> str:
    """Where gradcli does not agree with itself; empty if it does."""
    facts = by_gradcli.ask(program)
    if not differentiable(facts):
        return ""
    return (
        of_modes(program, load(program.text))
        or of_backward(program, facts)
        or of_rows(program, jobs)
        or of_rows_of_code(program, jobs)
    )


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
