"""A Dask scheduler and its workers on loopback, as processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

Found = TypeVar("Found")

_ROOT = Path(__file__).parents[2]
_PATIENCE = 300.0  # seconds that a busy machine may need for any of this
_TEMPORARY = re.compile(r"\..*-(\d+)\.tmp")
_CHANGED = """
import sys
{change}
from dask.__main__ import main
sys.argv = ["dask", *sys.argv[1:]]
main()
"""
OTHER_VERSION = "import gradcli; gradcli.__version__ = '0.0.1'"
WITHOUT_GRADCLI = "sys.modules['gradcli'] = None"
FULL_DISK = "import resource as r; r.setrlimit(r.RLIMIT_FSIZE, (8_000, 8_000))"


def environment() -> dict[str, str]:
    """What processes find in their environment: this gradcli, and arithmetic by one thread."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}


def until(look: Callable[[], Found | None], what: str) -> Found:
    """What a look at the world finds as soon as it is neither None nor False.

    Raises:
        AssertionError: If that does not happen.
    """
    limit = time.monotonic() + _PATIENCE
    while time.monotonic() < limit:
        found = look()
        if found is not None and found is not False:
            return found
        time.sleep(0.002)
    raise AssertionError(f"{what}: not within {_PATIENCE:.0f} seconds")


class Cluster:
    """A scheduler and workers.

    Args:
        folder: Where they work and write their logs.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0
        self._scheduler: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []
        self._unusual: list[subprocess.Popen[bytes]] = []
        self._logs: dict[int, Path] = {}
        self.address = "tcp://127.0.0.1:0"

    def __enter__(self) -> Cluster:
        self.heal()
        return self

    def __exit__(self, *error: object) -> None:
        for process in [*self._workers, *filter(None, [self._scheduler])]:
            _end(process)

    def heal(self, workers: int = 2) -> None:
        """Have a scheduler and some usual workers, whatever has been done to them before."""
        if self._scheduler is None or self._scheduler.poll() is not None:
            for worker in self._workers:
                _end(worker)
            self._workers = []
            self._start_scheduler()
        usual = [w for w in self._workers if w.poll() is None and w not in self._unusual]
        for worker in self._workers:
            if worker not in usual[:workers]:
                _leave(worker)
        self._workers, self._unusual = usual[:workers], []
        while len(self._workers) < workers:
            self.add_worker()

    def _start_scheduler(self) -> None:
        name = self._folder / f"scheduler{self._count}.json"
        port = self.address.rpartition(":")[2]
        told = ("--scheduler-file", str(name), "--host", "127.0.0.1", "--port", port)
        self._scheduler = self._start(["-m", "dask", "scheduler", *told, "--no-dashboard"])
        until(name.exists, "a scheduler starts")
        found = until(lambda: re.search(r"tcp://[\d.:]+", name.read_text()), "it has an address")
        self.address = found[0]

    def add_worker(self, change: str = "") -> None:
        """Start a worker, which executes a change first."""
        code = ["-c", _CHANGED.format(change=change)] if change else ["-m", "dask"]
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
        worker = self._start([*code, "worker", self.address, *options])
        self._workers.append(worker)
        if change:
            self._unusual.append(worker)
        log = self._logs[worker.pid]
        until(lambda: "Registered to:" in log.read_text() or worker.poll(), "a worker joins")
        assert worker.poll() is None, log.read_text()

    def kill_scheduler(self) -> None:
        """Kill the scheduler."""
        assert self._scheduler is not None
        self._scheduler.kill()
        self._scheduler.wait()

    def kill_worker(self) -> None:
        """Kill a worker, whatever it does."""
        self._workers[0].kill()
        self._workers[0].wait()

    @contextmanager
    def held(self, results: Path) -> Iterator[None]:
        """A block during which a worker stands still in the middle of a part."""
        process = self._stop_in_a_part(results)
        try:
            yield
        finally:
            os.kill(process, signal.SIGCONT)

    def _stop_in_a_part(self, results: Path) -> int:
        """Stop a worker, without its knowledge, while it writes a part: its process id."""

        def stopped() -> int | None:
            for file in results.glob(".*.tmp"):
                found = _TEMPORARY.fullmatch(file.name)
                process = int(found[1]) if found else 0
                if process in {worker.pid for worker in self._workers if worker.poll() is None}:
                    os.kill(process, signal.SIGSTOP)
                    if file.exists():
                        return process
                    os.kill(process, signal.SIGCONT)
            return None

        return until(stopped, "a worker is in a part")

    def kill_in_a_part(self, results: Path) -> None:
        """Kill a worker in the middle of a part."""
        process = self._stop_in_a_part(results)
        os.kill(process, signal.SIGKILL)
        next(worker for worker in self._workers if worker.pid == process).wait()
        assert [*results.glob(f".*-{process}.tmp")], "it had not ended the part"

    def _start(self, arguments: list[str]) -> subprocess.Popen[bytes]:
        self._count += 1
        log = self._folder / f"{self._count}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=self._folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
            )
        self._logs[process.pid] = log
        return process


def _leave(worker: subprocess.Popen[bytes]) -> None:
    """Have a worker leave in good order."""
    worker.terminate()
    with suppress(subprocess.TimeoutExpired):
        worker.wait(30)
    _end(worker)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process whatever it does."""
    if process.poll() is None:
        process.kill()
    process.wait()
