"""Errors of the command line: what they say, and which failures are a lack of memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.cli.line import reading
from gradcli.cli.terminal.failures import bug, lacks_memory, unreadable, unwritable
from gradcli.errors import UsageError

MAPPING = ImportError("libx.so: failed to map segment from shared object")


def chained(error, *, cause=None, context=None):
    error.__cause__, error.__context__ = cause, context
    return error


LACKS = {
    "none": (MemoryError(), True),
    "a failed import": (MAPPING, True),
    "another import": (ImportError("no module"), False),
    "as a cause": (chained(ValueError(), cause=MemoryError()), True),
    "as a context": (chained(ValueError(), context=MemoryError()), True),
    "a cause before the context": (
        chained(ValueError(), cause=MemoryError(), context=KeyError()),
        True,
    ),
    "behind two others": (chained(ValueError(), context=chained(KeyError(), cause=MAPPING)), True),
    "other causes": (chained(ValueError(), cause=KeyError(), context=OSError()), False),
}


@pytest.mark.parametrize("name", LACKS)
def test_memory_is_lacking_if_an_error_or_what_caused_it_says_so(name):
    error, expected = LACKS[name]
    assert lacks_memory(error) is expected


def test_a_bug_is_placed_where_its_error_was_raised():
    def inner():
        raise KeyError("k")

    try:
        inner()
    except KeyError as error:
        found = bug(error)
    line = inner.__code__.co_firstlineno + 1
    assert found.message == f"a bug in gradcli: KeyError: 'k' at {__file__}:{line}"
    assert bug(KeyError("k")).message == "a bug in gradcli: KeyError: 'k'"


@pytest.mark.parametrize(("make", "verb"), [(unreadable, "read"), (unwritable, "write")])
def test_a_reason_begins_in_lower_case_and_stays_as_it_is(make, verb):
    for reason, said in [("Is a FOLDER", "is a FOLDER"), ("x", "x"), ("", "")]:
        assert str(make("`a`", reason).diagnostics[0]) == f"cannot {verb} `a`: {said}"


def test_a_program_has_64_mib_at_most(tmp_path):
    file = tmp_path / "long.grad"
    for size in (64 * 2**20, 64 * 2**20 + 1):
        with file.open("wb") as made:
            made.truncate(size)  # takes no room on the disk
        if size == 64 * 2**20:
            assert len(reading.read_program(str(file), None)[1]) == size
            continue
        with pytest.raises(UsageError) as caught:
            reading.read_program(str(file), None)
        assert str(caught.value.diagnostics[0]) == f"cannot read `{file}`: longer than 64 MiB"


WITHOUT_FRAMES = """
import resource, sys
from gradcli.cli.terminal.failures import lacks_memory

def deeper(a):
    b = c = d = e = f = a
    return deeper(a)

sys.setrecursionlimit(10**7)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, used + 2**25))
try:
    deeper(0)
except (MemoryError, SystemError) as error:
    print(lacks_memory(error))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="measures memory as Linux does")
def test_python_without_memory_for_a_call_is_told():
    command = [sys.executable, "-c", WITHOUT_FRAMES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")
