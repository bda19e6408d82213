"""What several tests use."""

import io
import os
import signal
import sys

import pytest
from forked import Server
from hypothesis import HealthCheck, settings

from gradcli.__main__ import _run

# before NumPy is imported: the matrices here are small, and its threads wait for each other badly
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# a shell starts what runs in the background with it ignored, and processes inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)


# how long an example takes says how busy the machine is
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")


@pytest.fixture
def cli(monkeypatch):
    """Runs a command line in this process, given standard input; gives status, standard output and
    standard error.
    """

    def run(*arguments, stdin=""):
        data = stdin if isinstance(stdin, bytes) else stdin.encode("utf-8", "surrogateescape")
        streams = [io.TextIOWrapper(io.BytesIO(b), "utf-8") for b in (data, b"", b"")]
        with monkeypatch.context() as patched:
            for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
                patched.setattr(sys, name, stream)
            status = _run([str(a) for a in arguments])
        _, out, err = streams
        out.flush()
        err.flush()
        return status, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()

    return run


@pytest.fixture(scope="session")
def forked(tmp_path_factory):
    """Real processes of gradcli, forked: see forked.py."""
    server = Server(tmp_path_factory.mktemp("forked"))
    yield server
    server.stop()
