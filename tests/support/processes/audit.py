"""Watch what gradcli does outside the process, by Python's audit events ("Audit events table" in
its documentation): files, sockets, processes, libraries, code.
"""

from __future__ import annotations

import os
import site
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import Any

import gradcli

ROOT = Path(__file__).parents[3]
MODULES = tuple(
    {
        *(str(ROOT / name) for name in ("gradcli", "tests", "docs", "samples")),
        *(os.path.realpath(p) for p in sysconfig.get_paths().values()),
        *(os.path.realpath(p) for p in (sys.prefix, sys.base_prefix, *site.getsitepackages())),
        *(os.path.realpath(p) for p in sys.path if p and os.path.isdir(p) and Path(p) != ROOT),
    }
)
MACHINE_CODE = (
    str(Path(gradcli.__file__).parent / "engine/compile/llvm"),
    *(os.path.join(path, "llvmlite") for path in sys.path),  # collected objects free these
)
MACHINE = (
    *("/proc/", "/sys/fs/cgroup", "/dev/null", "/dev/tty"),  # free memory, for the limits
    "/usr/share/zoneinfo/",  # pyarrow's first table
)
OUTSIDE = (
    *(
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.startfile",
        "os.fork",
        "os.forkpty",
    ),
    *(
        "os.kill",
        "os.killpg",
        "os.remove",
        "os.rename",
        "os.rmdir",
        "os.mkdir",
        "os.link",
    ),
    *("os.symlink", "os.truncate", "os.chmod", "os.chown", "os.chdir", "os.utime", "os.chflags"),
    *("subprocess.Popen", "pty.spawn", "pickle.find_class", "webbrowser.open"),
    *("shutil.rmtree", "shutil.move", "shutil.copyfile", "urllib.Request"),
)
OFTEN = frozenset({"builtins.id", "object.__getattr__", "object.__setattr__", "sys._getframe"})
"""What reaches nothing, and is done so often that every look at it costs."""
ROOMS = ("socket.", "ctypes.", "mmap.", "sqlite3.", "ftplib.", "http.", "smtplib.", "telnetlib.")


class Audit:
    """Watches events while a program or a command runs.

    Fields:
        seen: Events that are not allowed, with the test.
    """

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._watching = threading.local()
        self._listen()

    @contextmanager
    def watching(self, named: Sequence[str] = ()) -> Iterator[None]:
        """Watch this thread. Allowed are files named in one of these texts, and temporary files
        next to them.
        """
        before = getattr(self._watching, "named", None)
        self._watching.named = tuple(named) if before is None else before
        try:
            yield
        finally:
            self._watching.named = before

    def _listen(self) -> None:
        """Listen to all events until the process ends."""
        often, heard = OFTEN, self._heard

        def hook(event: str, args: tuple[Any, ...]) -> None:  # a method would take twice as long
            if event not in often:
                heard(event, args)

        sys.addaudithook(hook)

    def _heard(self, event: str, args: tuple[Any, ...]) -> None:
        named = getattr(self._watching, "named", None)
        if named is None:
            return
        self._watching.named = None  # judging an event may cause others
        try:
            if not _harmless(event, args, named):
                test = os.environ.get("PYTEST_CURRENT_TEST", "")
                self.seen.append(f"{event} {tuple(map(_short, args))} in {test}")
        finally:
            self._watching.named = named


def _harmless(event: str, args: tuple[Any, ...], named: tuple[str, ...]) -> bool:
    if event == "open":
        return isinstance(args[0], int) or _may_open(os.fsdecode(args[0]), args, named)
    if "dask-scratch-space" in str(args[:1]):  # threads of a worker in this process tidy up
        return True
    if event in ("os.listdir", "os.scandir"):
        folder = os.fsdecode(args[0] or ".")
        beside = bool(named) and (folder == "." or any(folder in text for text in named))
        beside = beside or _is_inside(folder, named)
        return beside or os.path.realpath(folder).startswith(MODULES)
    if event == "subprocess.Popen":  # `fmt`: texts go in and out through pipes
        return [Path(args[0]).name, args[1][1:3]] == ["ruff", ["format", "--isolated"]]
    if event in ("os.remove", "os.rename", "os.chmod", "os.mkdir"):
        return _is_named(os.fsdecode(args[0]), named)
    if event == "exec":
        return _is_own_code(args[0].co_filename)
    if event == "compile":  # gradcli's is of trees; others are NumPy's and modules'
        text = isinstance(args[0], (str, bytes))
        return not text or args[1] == "<unknown>" or _is_own_code(os.fsdecode(args[1]))
    if event == "ctypes.dlopen" and args[0] is None:
        return True  # the process itself, which NumPy's import opens
    if event.startswith("ctypes."):
        return _is_machine_code()
    if "--rows" in named and event in ("os.fork", "os.kill", "socket.__new__", "pickle.find_class"):
        return True  # workers and their pipes, which pass gradcli's records
    if "--rows" in named and event in ("os.truncate", "socket.gethostname"):
        return True  # the lock of a folder, which says whose it is
    return event not in OUTSIDE and not event.startswith(ROOMS)


def _may_open(path: str, args: tuple[Any, ...], named: tuple[str, ...]) -> bool:
    if path.startswith(MACHINE) or _is_named(path, named):
        return True
    reading = (args[2] or 0) & (os.O_WRONLY | os.O_RDWR) == 0
    if reading and _is_inside(path, named):
        return True
    return reading and os.path.realpath(path).startswith(MODULES)


def _is_inside(path: str, named: tuple[str, ...]) -> bool:
    """True if a path is inside a folder that is named."""
    return any(os.path.isdir(text) and path.startswith(os.path.join(text, "")) for text in named)


def _is_below(path: str, folder: str) -> bool:
    """True if a path is that of a folder, or of something in it."""
    return os.path.join(os.path.realpath(path), "").startswith(os.path.realpath(folder) + os.sep)


def _is_named(path: str, named: tuple[str, ...]) -> bool:
    if "__pycache__" in path and os.path.realpath(path).startswith(MODULES):
        return True  # written by imports
    if any(text == path or text.endswith(f"@{path}") for text in named):
        return True
    if any(fnmatch(path, text) for text in named):  # `--rows '*.csv'`
        return True
    if (os.path.dirname(path) or ".") in named:  # `samples -o FOLDER`
        return True
    if any(text.endswith("/") and _is_below(path, text) for text in named):  # `-o FOLDER/`
        return True
    name = os.path.basename(path).removeprefix(".")
    if name.endswith(".tmp"):  # `name.random.tmp`
        name = name.rsplit(".", 2)[0]
    return bool(name) and any(name in text for text in named)


def _is_own_code(file: str) -> bool:
    made = ("<grad program>", "<compiled>", "<string>")
    return file in made or file.startswith("<frozen ") or os.path.realpath(file).startswith(MODULES)


def _is_machine_code() -> bool:
    """True while machine code is compiled or called. It comes from a typed program, which can only
    compute with numbers and the C library's mathematics.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith(MACHINE_CODE):
            return True
        frame = frame.f_back
    return False


def _short(value: Any) -> str:
    return f"{value!r:.120}"
