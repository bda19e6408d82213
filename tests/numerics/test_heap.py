"""What the C library keeps of the memory that arrays have let go."""

import platform
import subprocess
import sys

import pytest

TURNS = """
from resource import RUSAGE_SELF, getrusage
from gradcli.engine.values.data import np

def turn():
    for _ in range(5):
        arrays = [np.ones(100_000) for _ in range(10)]

turn()
before = getrusage(RUSAGE_SELF).ru_minflt
turn()
print(getrusage(RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries have other ways")
def test_large_arrays_are_made_where_others_were():
    run = subprocess.run([sys.executable, "-c", TURNS], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 200  # pages, of which one array has 196


LITTLE = """
import sys, types

class Little:
    @staticmethod
    def find_spec(name, *rest):
        return spec_from_loader(name, Little) if name == "numpy" else None

    @staticmethod
    def create_module(spec):
        return types.SimpleNamespace(seterr=lambda **kinds: None, empty=refuse, pi=3)

    @staticmethod
    def exec_module(module):
        pass

def refuse(size):
    raise MemoryError

from importlib.util import spec_from_loader
sys.meta_path.insert(0, Little)
from gradcli.engine.values.data import np
print(np.pi)
"""


def test_where_there_is_no_room_for_it_numpy_is_loaded_all_the_same():
    run = subprocess.run([sys.executable, "-c", LITTLE], capture_output=True, text=True, check=True)
    assert run.stdout == "3\n"
