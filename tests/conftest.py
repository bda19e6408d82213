"""What several tests use."""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings
from support.processes.audit import Audit
from support.processes.forked import Server
from support.processes.in_process import command

from gradcli.engine.run.execution.execute import Executable

# before NumPy is imported: the matrices here are small, and its threads wait for each other badly
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# thousands of programs make cycles now and then: seldom is often enough
gc.set_threshold(20_000, 20, 20)

# a shell starts what runs in the background with it ignored, and processes inherit that
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):  # as `nohup` has it
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


# how long an example takes says how busy the machine is
settings.register_profile("any load", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any load")


def pytest_itemcollected(item):
    """Let `-k NAME` select the tests of an op's family."""
    if (callspec := getattr(item, "callspec", None)) and "of_family" in callspec.params:
        item.extra_keyword_matches.update(name for name, _ in callspec.params["of_family"])


@pytest.fixture(scope="module", autouse=True)
def only_what_is_made_here():
    """Let the collector pass what stays: all tests, and what those of other modules keep."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left_in_the_project():
    """Fail if a module's tests add a file or folder to the folder that they are run from."""
    folder = os.getcwd()
    before = {*os.listdir(folder)}
    yield
    added = {*os.listdir(folder)} - before - {".hypothesis", ".pytest_cache", "__pycache__"}
    assert not added, f"left in {folder}: {sorted(added)}"


AUDIT = Audit()
_run_program = Executable.run


def _watched(*args, **keywords):
    with AUDIT.watching():
        return _run_program(*args, **keywords)


Executable.run = _watched


@pytest.fixture(scope="session", autouse=True)
def audit():
    """Watches all programs that run, and every command line of the fixture `cli`."""
    yield AUDIT
    assert not AUDIT.seen, "\n".join(AUDIT.seen)


@pytest.fixture
def cli():
    """Runs a command line in this process, given standard input; gives status, standard output and
    standard error.
    """

    def run(*arguments, **options):
        with AUDIT.watching([str(a) for a in arguments]):
            return command(*arguments, **options)

    return run


@pytest.fixture(scope="session")
def forked(tmp_path_factory):
    """Real processes of gradcli, forked: see forked.py."""
    server = Server(tmp_path_factory.mktemp("forked"))
    yield server
    server.stop()
