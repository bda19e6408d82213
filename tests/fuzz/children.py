"""Cases in forked processes with limits on time and memory."""

from __future__ import annotations

import importlib
import io
import json
import os
import pkgutil
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import typer

import gradcli
from gradcli.__main__ import _run
from gradcli.cli import app
from gradcli.cli.terminal.signals import Signals
from gradcli.cpython import is_importing, is_of_program
from gradcli.record import Record

from .case import Case

SECONDS = 5.0  # of processor time: the longest that a case may take
PATIENCE = 10  # times as long may pass on a busy machine
MEMORY = 2**30  # bytes that it may take beyond what the process has
LIMITS = {
    "GRADCLI_MAX_STEPS": "20000",
    "GRADCLI_TIME_LIMIT": "1",
    "GRADCLI_MAX_MEMORY": "256MiB",
}
_TOGETHER = 250  # cases for one child
_SHOWN = 2000  # characters of a stream


class Outcome(Record):
    """What came of a case: its status, or None if it was killed for going on; a signal that ended
    its process is a negative one.
    """

    __slots__ = ("case", "status", "out", "err", "seconds")
    case: Case
    status: int | None
    out: str
    err: str
    seconds: float


_FIRST = (
    ("run", "-e", "sinn(1)"),
    ("gradcheck", "-e", "x ** 2", "x=1"),
    ("check", "-e", "1"),
    ("graph", "-e", "inv(x)", "x=[[1.0]]"),
    ("hessian", "-e", "sum(x * x)", "x=[1, 2]", "-f", "human", "--color", "always"),
    ("run", "-e", "ones(9, 9) @ ones(9, 9)", "--json"),
)


def warm_up() -> None:
    """Import what commands import and build the commands, so that no child has to."""
    machine_code = find_spec("llvmlite") is not None
    for module in pkgutil.walk_packages(gradcli.__path__, "gradcli."):
        if machine_code or ".compile.llvm" not in module.name:
            importlib.import_module(module.name)
    typer.main.get_command = cache(typer.main.get_command)
    app.build = cache(app.build)
    kept = sys.stdin, sys.stdout, sys.stderr
    for argv in _FIRST:
        _answer(Case("first", argv))
    sys.stdin, sys.stdout, sys.stderr = kept


def outcomes(cases: Iterable[Case]) -> Iterator[Outcome]:
    """What comes of each case. Several run in one child, until one of them ends it."""
    waiting = iter(cases)
    batch: list[Case] = []
    while True:
        while len(batch) < _TOGETHER and (case := next(waiting, None)) is not None:
            batch.append(case)
        if not batch:
            return
        done = 0
        for outcome in _by_child(batch):
            done += 1
            yield outcome
        del batch[:done]


def _by_child(batch: list[Case]) -> Iterator[Outcome]:
    """Outcomes of the first cases, up to one that ends the child or takes too long."""
    reading, writing = os.pipe()
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    child = os.fork()
    if child == 0:
        os.close(reading)
        _live(batch, folder, writing)
    os.close(writing)
    began = time.monotonic()
    try:
        with open(reading, "rb", buffering=0) as results:
            lines = _Lines(results)
            for case in batch:
                line = lines.next(began + PATIENCE * SECONDS)
                if line is None:
                    os.kill(child, signal.SIGKILL)
                if not line:  # it goes on and on, or has ended
                    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                    child = 0
                    said = _ends((folder / ".said").read_text("utf-8", "replace"))
                    status = None if line is None else code
                    yield Outcome(case, status, "", said, time.monotonic() - began)
                    return
                yield Outcome(case, *json.loads(line))
                began = time.monotonic()
    finally:
        if child:
            os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)


class _Lines:
    """The lines of a pipe."""

    def __init__(self, pipe: io.FileIO) -> None:
        self._pipe = pipe
        self._read = b""

    def next(self, until: float) -> bytes | None:
        """A line; empty behind the last, None if there is none when the time is over."""
        while b"\n" not in self._read:
            if not select.select([self._pipe], [], [], max(until - time.monotonic(), 0))[0]:
                return None
            piece = self._pipe.read(2**16)
            if not piece:
                return b""
            self._read += piece
        line, _, self._read = self._read.partition(b"\n")
        return line


def _live(batch: list[Case], folder: Path, results: int) -> None:
    """Run the cases, in this process, and tell what came of each."""
    os.environ.update(LIMITS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    said = os.open(folder / ".said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 2)  # what is no message of gradcli's: a death in C
    os._exit = partial(_exit, os._exit)  # type: ignore[assignment]
    Signals(is_importing, is_of_program)  # as a command has them
    os.chdir(folder)
    for number, case in enumerate(batch):
        home = folder / str(number)
        home.mkdir()
        os.chdir(home)
        for name, data in case.files.items():
            Path(name).write_bytes(data)
        began = time.process_time()
        status, out, err = _answer(case)
        seconds = time.process_time() - began
        line = json.dumps([status, _ends(out), _ends(err), seconds])
        os.write(results, line.encode("utf-8", "surrogatepass") + b"\n")
    os._exit(0)


def _exit(leave: Callable[[int], NoReturn], status: int) -> NoReturn:
    """End the process at once, as a command does that is stuck at a limit, with what it has said."""
    with suppress(Exception):
        sys.stderr.flush()
        os.write(2, _ends(sys.stderr.buffer.getvalue().decode("utf-8", "replace")).encode())
    leave(status)


def _ends(text: str) -> str:
    """The beginning and the end of a long text: messages may stand behind what is printed."""
    half = _SHOWN // 2
    return text if len(text) <= _SHOWN else f"{text[:half]}\n...\n{text[-half:]}"


def _answer(case: Case) -> tuple[int, str, str]:
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8") for data in (case.stdin, b"", b"")]
    sys.stdin, sys.stdout, sys.stderr = streams
    try:
        status = _run(case.argv)
    except BaseException as error:  # which a process would show a traceback of
        status = 70
        streams[2].write(f"Traceback: {type(error).__name__}: {error}")
    texts = []
    for stream in streams[1:]:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8", "replace"))
    return status, texts[0], texts[1]
