"""Shows what the tests see: plants faults in a copy of the project, one at a time, and runs the
tests that should fail.

    python tests/faults.py [NAME ...]
    python tests/faults.py --mutants N [--seed S] [--rooms ROOM,...]

The faults are in faults.toml: name, file, the text that is replaced and by what, and the tests that
should see it. Mutants are faults that `support/checks/mutants.py` makes, drawn at random. Exits with 1 if
a fault of faults.toml survives.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from support.processes.project_copy import PATIENCE, ROOT, Copy


class Fault(NamedTuple):
    """One wrong line, as a person who knows the code might have written it."""

    name: str
    file: str
    old: str
    new: str
    tests: list[str]

    def planted(self, text: str) -> str:
        """The file's text with the fault in it."""
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: its text stands {text.count(self.old)} times in {self.file}"
            )
        return text.replace(self.old, self.new)


def faults() -> list[Fault]:
    """All that are known."""
    text = Path(__file__).with_name("faults.toml").read_text("utf-8")
    return [Fault(**entry) for entry in tomllib.loads(text)["fault"]]


def plant(names: Sequence[str]) -> int:
    """Plant the faults of these names, or all."""
    known = {fault.name: fault for fault in faults()}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}")
    wanted = [known[name] for name in names or known]
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for fault in wanted:
            text = fault.planted((ROOT / fault.file).read_text("utf-8"))
            seen[fault.name] = copy.with_fault(fault.file, text, fault.tests, PATIENCE)
            told = f"caught by {seen[fault.name]}" if seen[fault.name] else "SURVIVED"
            print(f"{fault.name}: {told}", flush=True)  # noqa: T201
        caught = {test for test in seen.values() if "::" in test}
        if failing := copy.seen_by(sorted(caught)):
            raise SystemExit(f"{failing} fails without a fault, too")
    print(f"{sum(map(bool, seen.values()))} of {len(seen)} caught")  # noqa: T201
    return 0 if all(seen.values()) else 1


def main() -> int:
    """Plant what the command line asks for."""
    parser = argparse.ArgumentParser(description="Show what the tests see.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults of faults.toml")
    parser.add_argument("--mutants", type=int, metavar="N", help="how many mutants to draw")
    parser.add_argument("--seed", type=int, default=random.randrange(1000))
    parser.add_argument("--rooms", default="", help="of which rooms, such as run,cli; else of all")
    given = parser.parse_args()
    if not given.mutants:
        return plant(given.names)
    from support.checks.campaign import campaign  # which needs coverage

    for line in campaign(given.mutants, given.seed, [r for r in given.rooms.split(",") if r]):
        print(line, flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
