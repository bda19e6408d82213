"""Record which tests reach which lines of gradcli, and read the record.

All tests run once under `coverage`, with a context for each test function, in one process for each
processor. The record is a folder with coverage's data and the seconds of each test function. It
leaves out tests that fail, and lines that run in other processes. Lines that run while a module
is imported count for all tests that run any line of it: which of them imports it is chance.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import coverage
import pytest
from support.processes.project_copy import ROOT

LINES, SECONDS = "lines.coverage", "seconds.json"
UNTRACED = ("limit", "does_not_end")
"""Parts of the names of tests that run untraced: the error of a time limit, raised inside the tracer,
may leave it locked."""


def function(name: str) -> str:
    """The test function in a test's name, without parameters."""
    return name.partition("[")[0]


class Recorder:
    """A pytest plugin that records one part of the tests.

    Fields:
        seconds: The time of each test function, with all of its parameters.
        failed: The test functions that failed.
    """

    def __init__(self, measured: coverage.Coverage, part: int, parts: int) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()
        self._measured = measured
        self._part, self._parts = part, parts
        self._tracer = sys.gettrace()
        self._at = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep every n-th test function: functions of one file take about equally long."""
        number = {
            name: i for i, name in enumerate(dict.fromkeys(function(i.nodeid) for i in items))
        }
        items[:] = [i for i in items if number[function(i.nodeid)] % self._parts == self._part]

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Begin the context of a test."""
        if self._at != (name := function(nodeid)):
            self._at = name
            self._measured.switch_context(name)
        untraced = any(part in name for part in UNTRACED)
        sys.settrace(None if untraced else self._tracer)  # an error inside a tracer ends tracing

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the time of a test, and record whether it failed."""
        name = function(report.nodeid)
        self.seconds[name] += report.duration
        if report.failed:
            self.failed.add(name)


def record(folder: Path) -> None:
    """Run all tests of the project in the current folder, and write the record to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = os.cpu_count() or 1
    command = [sys.executable, "-m", "support.checks.reach", str(folder)]
    running = [subprocess.Popen([*command, str(k), str(parts)]) for k in range(parts)]
    for process in running:
        process.wait()
    seconds: dict[str, float] = {}
    lines = coverage.CoverageData(str(folder / LINES))
    for k in range(parts):
        part = coverage.CoverageData(str(folder / f"{LINES}.{k}"))
        part.read()
        lines.update(part)
        seconds |= json.loads((folder / f"{SECONDS}.{k}").read_text("utf-8"))
    lines.write()
    (folder / SECONDS).write_text(json.dumps(seconds), "utf-8")


def record_part(folder: Path, part: int, parts: int) -> None:
    """Run one part of the tests, and write its record next to the others."""
    measured = coverage.Coverage(
        data_file=str(folder / f"{LINES}.{part}"), source=["gradcli"], config_file=False
    )
    measured.start()
    measured._collector.data_lock = (
        None  # a time limit that ends a run in it would keep it for good
    )
    recorder = Recorder(measured, part, parts)
    pytest.main(["-q", "-p", "no:cacheprovider"], plugins=[recorder])
    measured.stop()
    measured.save()
    passed = {name: took for name, took in recorder.seconds.items() if name not in recorder.failed}
    (folder / f"{SECONDS}.{part}").write_text(json.dumps(passed), "utf-8")


def at_import(text: str, line: int) -> bool:
    """True if a line of a file runs when the file is imported: it stands in no function."""
    functions = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef))
    return not any(f.body[0].lineno <= line <= (f.end_lineno or 0) for f in functions)


class Reach:
    """The tests that reach each line, read from a recorded folder.

    Fields:
        seconds: The time of each test function.
    """

    def __init__(self, folder: Path) -> None:
        self.seconds: dict[str, float] = json.loads((folder / SECONDS).read_text("utf-8"))
        self._data = coverage.CoverageData(str(folder / LINES))
        self._data.read()
        self._files = {
            name[name.rindex("/gradcli/") + 1 :]: name for name in self._data.measured_files()
        }

    def tests(self, file: str, first: int, last: int) -> set[str]:
        """The tests that run one of these lines; of lines that run at import, those that run any
        line of the file.
        """
        if file not in self._files:
            return set()
        by_line = self._data.contexts_by_lineno(self._files[file])
        found = {test for line in range(first, last + 1) for test in by_line.get(line, ())}
        if at_import((ROOT / file).read_text("utf-8"), first):
            found = {test for tests in by_line.values() for test in tests}
        return found & self.seconds.keys()


if __name__ == "__main__":
    where, *numbers = sys.argv[1:]
    if numbers:
        record_part(Path(where), *map(int, numbers))
    else:
        record(Path(where))
