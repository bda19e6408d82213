"""A table in parts, the question that is asked of it, and what must have come of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from .processes import Cluster, environment, until

PARTS, ROWS = 6, 700
PROGRAM = "input x\nx ** 2 + sin(x)"
FITS = (
    ("a * x / (b + x)", "a=1", "b=10", "--observed", "x / (20 + x) + sin(x) / 50"),
    ("--nll", "log(b) + (x - a) ** 2 / b ** 2 / 2", "a=100", "b=100"),
)
BAD = 5 * ROWS - 10  # a late row, in the last part but one
_SECONDS = 300


class Room:
    """A folder with parts, in which a cluster and its clients work.

    Args:
        folder: The folder.
        cluster: The cluster.
    """

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder, self.cluster = folder, cluster
        self.lake("lake")
        (folder / "m.grad").write_text(PROGRAM)

    def lake(self, name: str, bad: int | None = None) -> Path:
        """A new folder with the parts, in which a row may have no number."""
        made = self.folder / name
        made.mkdir()
        for k in range(PARTS):
            lines = [
                f"r{i},{'oops' if i == bad else i / 7}\n" for i in range(k * ROWS, (k + 1) * ROWS)
            ]
            (made / f"p{k + 1}.csv").write_text("id,x\n" + "".join(lines))
        return made

    def line(self, *more: str, lake: str = "lake") -> list[str]:
        """A command. The rows are interpreted, which takes some time for each part."""
        asked = ("grad", "m.grad", "--rows", lake, "--keep", "id", "--compile", "never")
        return [sys.executable, "-m", "gradcli", *asked, *more]

    def begin(self, *more: str, lake: str = "lake") -> subprocess.Popen[str]:
        """Ask the cluster."""
        address = ("--cluster", self.cluster.address)
        return self._begin(self.line(*more, *address, lake=lake))

    def ask(self, *more: str, lake: str = "lake") -> Ended:
        """Ask the cluster, and wait."""
        return Ended(self.begin(*more, lake=lake))

    def begin_fit(self, *asked: str) -> subprocess.Popen[str]:
        """Ask for a fit to all rows."""
        line = [sys.executable, "-m", "gradcli", "fit", *asked, "--rows", "lake", "--json"]
        return self._begin(line)

    def alone(self, *more: str, lake: str = "lake") -> Ended:
        """Ask one process."""
        return Ended(self._begin(self.line(*more, lake=lake)))

    def _begin(self, line: Sequence[str]) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            line, cwd=self.folder, env=environment(), stdout=pipe, stderr=pipe, text=True
        )

    @cached_property
    def expected(self) -> str:
        """What one process writes."""
        ended = self.alone("-q")
        assert (ended.status, ended.err) == (0, ""), ended.err
        return ended.out

    def check(self, out: str, expected: str | None = None) -> None:
        """Check that a folder of results is whole: the bytes of one process, each part noted as done,
        and nothing left behind.
        """
        folder = self.folder / out
        about = json.loads((folder / "_gradcli.json").read_text())
        assert about["status"] == "done", about["status"]
        assert {part["status"] for part in about["parts"]} == {"done"}
        texts = [(folder / part["output"]).read_text() for part in about["parts"]]
        head = texts[0].partition("\n")[0] + "\n"
        whole = head + "".join(text.removeprefix(head) for text in texts)
        assert whole == (self.expected if expected is None else expected)
        named = {"_gradcli.json", *(part["output"] for part in about["parts"])}
        assert {path.name for path in folder.iterdir()} == named

    def first_done(self, out: str) -> None:
        """Wait until the first part of a folder is there."""
        until(lambda: any((self.folder / out).glob("p*.csv")), "a part is done")

    def done(self, out: str) -> dict[str, tuple[int, int]]:
        """The files of results that are there, with what changes when one is written again."""
        stats = {path.name: path.stat() for path in (self.folder / out).glob("p*.csv")}
        return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats.items()}

    def go_on(self, out: str, *, lake: str = "lake", all_noted: bool = True) -> None:
        """Ask again, and check that only the missing parts are answered.

        Args:
            out: The folder.
            lake: The folder of the parts.
            all_noted: False if a part may be there that the earlier client did not wait for.
        """
        before = self.done(out)
        assert 0 < len(before) < PARTS, f"{len(before)} parts were done"
        ended = self.ask("-o", f"{out}/", lake=lake)
        assert ended.status == 0, ended.err
        if all_noted:
            assert f"{len(before)} of {PARTS} parts are done already" in ended.err, ended.err
            after = self.done(out)
            assert {name: after[name] for name in before} == before
        self.check(out)


class Ended:
    """How a command ended."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.out, self.err = process.communicate(timeout=_SECONDS)
        self.status = process.returncode
        assert "Traceback" not in self.err, self.err
