"""Plant mutants, one in each of several copies, and count by room those that tests catch."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from support.checks.mutants import Mutant, draw, room
from support.checks.reach import SECONDS, Reach
from support.processes.project_copy import ENDLESS, ROOT, Copy

RECORDS = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "gradcli-reach"
FIRST, MOST = 6.0, 60.0  # recorded seconds of the first batch of tests for a mutant, and of all
START = 20  # seconds for pytest's own start
LONGEST = 3600  # seconds for recording all tests


def campaign(count: int, seed: int, rooms: Sequence[str]) -> Iterator[str]:
    """Plant `count` mutants in the rooms, or in all if none is named; yield lines of results.

    A mutant is caught if a test fails, the process ends otherwise, or it takes too long.
    """
    yield f"{count} mutants, seed {seed}, {' '.join(rooms) or 'all rooms'}"
    found: Counter[tuple[str, str]] = Counter()
    killers = set()
    workers = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(workers) as pool:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for k in range(workers):
            (place := Path(folder, str(k))).mkdir()
            copies.put(Copy(place))
        copy = copies.get()
        reach = _recorded(copy)
        copies.put(copy)

        def met(mutant: Mutant) -> tuple[str, str]:
            copy = copies.get()
            try:
                return _met(mutant, copy, reach)
            finally:
                copies.put(copy)

        drawn = draw(ROOT, rooms, count, seed)
        for mutant, (outcome, seen) in zip(drawn, pool.map(met, drawn), strict=True):
            found[room(mutant.file), outcome] += 1
            killers |= {seen} - {ENDLESS, ""}
            told = mutant.told((ROOT / mutant.file).read_text("utf-8"))
            yield f"{outcome}: {mutant.kind} {told}{seen and f' ({seen})'}"
        if failing := copy.seen_by(sorted(test for test in killers if "::" in test)):
            yield f"{failing} fails without a mutant, too"
    yield from _table(found)


def _met(mutant: Mutant, copy: Copy, reach: Reach) -> tuple[str, str]:
    """The outcome of a mutant planted in a copy, and the test that caught it."""
    planted = mutant.planted((ROOT / mutant.file).read_text("utf-8"))
    tests = _in_order(mutant, reach)
    for several in _batches(tests, reach):
        seconds = START + int(3 * sum(reach.seconds[test] for test in several))
        if seen := copy.with_fault(mutant.file, planted, several, seconds):
            return "caught", seen
    return ("survived" if tests else "not reached"), ""


def _table(found: Counter[tuple[str, str]]) -> Iterator[str]:
    """The table of outcomes by room."""
    outcomes = ("caught", "survived", "not reached")
    yield f"{'room':12}{'drawn':>8}" + "".join(f"{name:>13}" for name in outcomes)
    for name in [*sorted({name for name, _ in found}), "all"]:
        counts = [
            sum(n for (place, o), n in found.items() if o == outcome and name in (place, "all"))
            for outcome in outcomes
        ]
        yield f"{name:12}{sum(counts):8}" + "".join(f"{n:13}" for n in counts)


def _in_order(mutant: Mutant, reach: Reach) -> list[str]:
    """The tests that reach a mutant: first those of its room, the fastest first. If none does, the
    tests of the room that start processes.
    """
    here = f"tests/{room(mutant.file)}/"
    tests = reach.tests(mutant.file, mutant.first, mutant.last)
    if not tests:
        tests = {test for test in reach.seconds if test.startswith(here) and _starts(test)}
    return sorted(tests, key=lambda test: (not test.startswith(here), reach.seconds[test], test))


def _starts(test: str) -> bool:
    """True if the file of a test starts processes."""
    text = (ROOT / test.partition("::")[0]).read_text("utf-8")
    return "subprocess" in text or "forked" in text


def _batches(tests: Sequence[str], reach: Reach) -> Iterator[list[str]]:
    """The tests in two batches: quick ones first, then the others as time allows."""
    taken = 0.0
    batches: tuple[list[str], list[str]] = [], []
    for test in tests:
        if taken + reach.seconds[test] <= MOST or not taken:
            taken += reach.seconds[test]
            batches[taken > FIRST].append(test)
    yield from filter(None, batches)


def _recorded(copy: Copy) -> Reach:
    """The record of which test reaches which lines of the present code, made if there is none."""
    texts = sorted([*ROOT.glob("gradcli/**/*.py"), *ROOT.glob("tests/**/test_*.py")])
    state = hashlib.sha256()
    for path in texts:
        state.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    folder = RECORDS / state.hexdigest()[:16]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            made = Path(unfinished, "record")
            done = copy.run([sys.executable, "-m", "support.checks.reach", str(made)], LONGEST)
            if not (made / SECONDS).exists():
                raise SystemExit(f"the record was not made: {done.stderr[-2000:]}")
            made.rename(folder)
    return Reach(folder)
