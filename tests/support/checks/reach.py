"""Records which tests reach which lines of gradcli, and reads what was recorded.

One run of all tests under `coverage`, with a context for each test function. The record is a folder with
coverage's own data and the seconds that each test function took; one that fails is not in it. Lines that run while modules are
imported belong to no test, and what a test does in other processes is not seen.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import coverage
import pytest

LINES, SECONDS = "lines.coverage", "seconds.json"
ENDLESS = "tests/cli/test_safe.py::test_what_does_not_end_is_stopped"  # under a tracer


def function(name: str) -> str:
    """The test function of a test's name: without its parameters."""
    return name.partition("[")[0]


class Recorder:
    """A plugin of pytest that tells coverage which test runs.

    Fields:
        seconds: How long each test function took, all of its parameters together.
        failed: Those that failed.
    """

    def __init__(self, measured: coverage.Coverage) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self._measured = measured
        self._tracer = sys.gettrace()
        self._at = ""

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        sys.settrace(self._tracer)  # an error inside a tracer, as of a time limit, ends it
        if self._at != (name := function(nodeid)):
            self._at = name
            self._measured.switch_context(name)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = function(report.nodeid)
        self.seconds[name] += report.duration
        if report.failed:
            self.failed.add(name)


def record(folder: Path) -> None:
    """Run all tests of the project in the current folder and write what they reach to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    measured = coverage.Coverage(
        data_file=str(folder / LINES), source=["gradcli"], config_file=False
    )
    measured.start()
    measured._collector.data_lock = (
        None  # a time limit that ends a run in it would keep it for good
    )
    recorder = Recorder(measured)
    pytest.main(["-q", "-p", "no:cacheprovider", "--deselect", ENDLESS], plugins=[recorder])
    measured.stop()
    measured.save()
    passed = {name: took for name, took in recorder.seconds.items() if name not in recorder.failed}
    (folder / SECONDS).write_text(json.dumps(passed), "utf-8")


class Reach:
    """Which tests reach a line, as it was recorded in a folder.

    Fields:
        seconds: How long each test function took.
    """

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = json.loads((folder / SECONDS).read_text("utf-8"))
        self._data = coverage.CoverageData(str(folder / LINES))
        self._data.read()
        self._files = {
            name[name.rindex("/gradcli/") + 1 :]: name for name in self._data.measured_files()
        }

    def tests(self, file: str, first: int, last: int) -> set[str]:
        """The tests that run one of these lines; where only imports do, those that run anything of
        the file.
        """
        if file not in self._files:
            return set()
        by_line = self._data.contexts_by_lineno(self._files[file])
        found = {test for line in range(first, last + 1) for test in by_line.get(line, ())}
        if found == {""}:
            found = {test for tests in by_line.values() for test in tests}
        return found & self.seconds.keys()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
