"""A copy of the project, in which tests run with a fault planted."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[3]
NEEDED = ("gradcli", "tests", "samples", "docs", "benchmarks", "pyproject.toml", "README.md",
          "CONTRIBUTING.md", "CHANGELOG.md", "hatch_build.py")  # fmt: skip
ENDLESS = "a loop without end"
PATIENCE = 900  # seconds of processor time
MEMORY = 8 << 30  # bytes of address space: a fault may make an endless list


class Copy:
    """A copy of the project in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in NEEDED:
            if (ROOT / part).is_dir():  # compiled files included
                shutil.copytree(ROOT / part, folder / part)
            else:
                shutil.copy(ROOT / part, folder / part)

    def with_fault(self, file: str, text: str, tests: Sequence[str], seconds: int) -> str:
        """The first test that fails while a file has another text; empty if none does."""
        self._write(file, text)
        try:
            return self.seen_by(tests, seconds)
        finally:
            self._write(file, (ROOT / file).read_text("utf-8"))

    def seen_by(self, tests: Sequence[str], seconds: int = PATIENCE) -> str:
        """The first test that fails, or how pytest ended otherwise; empty if all pass.

        Args:
            tests: Names of files, folders or tests.
            seconds: Their limit of processor time.
        """
        failed = self.folder / ".pytest_cache" / "v" / "cache" / "lastfailed"
        failed.unlink(missing_ok=True)
        try:
            done = self.run([sys.executable, "-m", "pytest", "-q", "-x", *tests], seconds)
        except subprocess.TimeoutExpired:
            return ENDLESS
        if done.returncode == 0:
            return ""
        if done.returncode == 5:
            raise SystemExit(f"no tests: {' '.join(tests)}")
        if done.returncode in (1, 2) and failed.exists():
            return next(iter(json.loads(failed.read_text("utf-8"))))
        return f"pytest, which ends with {done.returncode}"

    def run(self, command: Sequence[str], seconds: int) -> subprocess.CompletedProcess[str]:
        """Run a command in the copy's folder, with its modules and with limits."""

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

        paths = os.pathsep.join([str(self.folder), str(self.folder / "tests")])
        return subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
            timeout=8 * seconds,  # a busy machine gives a process less time
            preexec_fn=limit,
        )

    def _write(self, file: str, text: str) -> None:
        """Change a file, and delete its compiled form, which may look as new."""
        path = self.folder / file
        path.write_text(text, "utf-8")
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
            compiled.unlink()
