"""`python -m tests.fuzz --minutes N --seed S`: random inputs in forked processes.

Every input must end within five seconds, in bounded memory, with a status of the table and a
message where it is refused, and never with a traceback or a status that tells of a bug. What does not
is shown, the shortest of each kind of fault, and becomes a test in `test_fuzz.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[1]))  # what several tests use
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if TYPE_CHECKING:
    from fuzz.children import Outcome


def main() -> int:
    """Fuzz, and tell what was found."""
    from fuzz.children import outcomes, warm_up
    from fuzz.verdict import fault
    from fuzz.writers import WRITERS, cases

    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--inputs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", action="append", choices=list(WRITERS))
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes
    kinds: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    shortest: dict[str, Outcome] = {}
    longest = 0.0
    warm_up()
    found_so_far = outcomes(cases(asked.seed, asked.inputs, asked.kind or list(WRITERS)))
    for outcome in _until_interrupted(takewhile(lambda _: time.monotonic() < until, found_so_far)):
        kinds[outcome.case.kind] += 1
        statuses[str(outcome.status)] += 1
        longest = max(longest, outcome.seconds)
        if (found := fault(outcome)) is not None:
            faults[found] += 1
            before = shortest.get(found)
            if before is None or len(str(outcome.case)) < len(str(before.case)):
                shortest[found] = outcome
            if before is None:
                _show(found, outcome)
    for found, outcome in shortest.items():
        _show(f"{found} ({faults[found]} times)", outcome)
    print(f"{kinds.total()} inputs: {_listed(kinds)}; longest {longest:.1f} s")
    print(f"statuses: {_listed(statuses)}; {faults.total()} faults of {len(faults)} kinds")
    return 1 if faults else 0


def _until_interrupted(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Outcomes, until Ctrl-C: what has been found by then is told, too."""
    with suppress(KeyboardInterrupt):
        yield from outcomes


def _show(title: str, outcome: object) -> None:
    print(f"--- {title}\n{outcome.case}\n{outcome.err[:600]}", flush=True)


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
