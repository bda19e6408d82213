"""Shows what the tests see: plants faults in a copy of the project, one at a time, and runs the
tests that should fail.

    python tests/faults.py [NAME ...]

The faults are in faults.toml: name, file, the text that is replaced and by what, and the tests that
should see it. Exits with 1 if one survives.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
NEEDED = ("gradcli", "tests", "samples", "docs", "pyproject.toml", "README.md", "CONTRIBUTING.md",
          "CHANGELOG.md")  # fmt: skip
ENDLESS = "a loop without end"
PATIENCE = 900  # seconds; a fault may also show as a loop without end


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


class Copy:
    """A copy of the project, in which the tests can be run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in NEEDED:
            if (ROOT / part).is_dir():  # with what is compiled of it
                shutil.copytree(ROOT / part, folder / part)
            else:
                shutil.copy(ROOT / part, folder / part)

    def seen_by(self, tests: Sequence[str]) -> str:
        """The first test that fails; empty if none does."""
        failed = self.folder / ".pytest_cache" / "v" / "cache" / "lastfailed"
        failed.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-x", *tests]
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(self.folder)},
                capture_output=True,
                text=True,
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return ENDLESS
        if done.returncode == 0:
            return ""
        if done.returncode not in (1, 2):
            raise SystemExit(f"pytest failed:\n{done.stdout}{done.stderr}")
        return next(iter(json.loads(failed.read_text("utf-8"))))

    def write(self, file: str, text: str) -> None:
        """Change a file; what was compiled of it may look as new as it, and goes."""
        path = self.folder / file
        path.write_text(text, "utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()


def main(names: Sequence[str]) -> int:
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
            text = (ROOT / fault.file).read_text("utf-8")
            copy.write(fault.file, fault.planted(text))
            seen[fault.name] = copy.seen_by(fault.tests)
            copy.write(fault.file, text)
            told = f"caught by {seen[fault.name]}" if seen[fault.name] else "SURVIVED"
            print(f"{fault.name}: {told}", flush=True)  # noqa: T201
        caught = {test for test in seen.values() if test}
        if failing := copy.seen_by(sorted(caught - {ENDLESS})):
            raise SystemExit(f"{failing} fails without a fault, too")
    print(f"{sum(map(bool, seen.values()))} of {len(seen)} caught")  # noqa: T201
    return 0 if all(seen.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
