"""Rows answered by the workers of a cluster, part by part."""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
from collections.abc import Iterator, Sequence
from contextlib import chdir, nullcontext, redirect_stderr
from functools import lru_cache
from io import StringIO
from threading import Lock

from gradcli.cli.parts.task import Heard, Job, Piece, Report, answer_part, failed, version
from gradcli.cli.parts.tasks import Call, Tasks
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.progress import Bar
from gradcli.errors import GradError, InputError, UsageError
from gradcli.formats.files.places import is_url
from gradcli.formats.readers.parts import Part

_TRIM, _MAP = -1, -3  # names of limits in glibc's <malloc.h>
_OWN, _KEPT = 2**25, 2**26  # bytes: the largest of its defaults, of 64-bit systems
ALONE = Lock()  # programs are run by one thread at a time


def reports(tasks: Tasks, job: Job, todo: Sequence[Piece]) -> Iterator[tuple[int, Report]]:
    """The reports on parts that workers answer, each as soon as it is there.

    Raises:
        LimitError: If the scheduler is lost.
    """
    data = pickle.dumps(job.elsewhere(), protocol=5)
    calls = (Call(k, work, (data, part, output, version())) for k, part, output in todo)
    for k, found in tasks.of(job.run, calls):
        yield k, failed(found) if isinstance(found, GradError) else found


def work(data: bytes, part: Part, output: str, client: str) -> Report:
    """Answer a part.

    Args:
        data: The job, which is loaded once: its program keeps its code.
        part: The part.
        output: Its file in the job's folder.
        client: The version of gradcli that asks.

    Raises:
        InputError: If a store does not answer; another try may succeed.
    """
    other = other_version(client)
    if other is not None:
        return failed(other)
    heard = Heard()
    with ALONE, redirect_stderr(StringIO()) as said:
        job = _loaded(data)
        with chdir(job.at) if os.path.isdir(job.at) else nullcontext():  # else URLs are all it sees
            report = answer_part(job, part, output, heard, set(), Bar(), forks=False)
    report.printed = said.getvalue()
    if is_url(part.name) and any(found.code == "unreadable-file" for found in heard.told):
        raise InputError(*heard.told)
    return report


def other_version(client: str) -> UsageError | None:
    """The error for a client of another version; None for one of the same."""
    if version() == client:
        return None
    message = f"a worker has gradcli {version()}, and the client {client}"
    return usage(message, "install the same version there")


@lru_cache(maxsize=2)
def _loaded(data: bytes) -> Job:
    keep_memory()
    job: Job = pickle.loads(data)
    return job


def keep_memory() -> None:
    """Have this process use the memory of a batch of rows for the next one.

    The nannies of Dask have workers give memory back to the system at once, which takes away
    glibc's own limits: each array of a batch would then be made of new pages.
    """
    limit = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if limit is not None:  # musl has none
        limit(_MAP, _OWN)
        limit(_TRIM, _KEPT)
