"""What memory there is, as the system tells it."""

import os
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PROT_READ, mmap

import pytest

from gradcli.machine import free, resident

MIB = 2**20
AVAILABLE = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:    4096 kB\n"}
SECOND = {  # the second version of control groups
    "proc/self/cgroup": "0::/a/b\n",
    "sys/fs/cgroup/a/memory.max": f"{3 * MIB}\n",
    "sys/fs/cgroup/a/memory.current": f"{MIB}\n",
    "sys/fs/cgroup/a/b/memory.max": "max\n",
    "sys/fs/cgroup/a/b/memory.current": "5\n",
}
FIRST = {
    "proc/self/cgroup": "5:cpu,memory:/x\n4:pids:/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * MIB}\n",  # a container sees its own as /
    "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{2 * MIB}\n",
    "sys/fs/cgroup/memory/memory.stat": f"cache 5\ntotal_inactive_file {MIB}\n",
}
SYSTEMS = {
    "of the machine": (AVAILABLE, 4 * MIB),
    "left of a group around that of the process": (AVAILABLE | SECOND, 2 * MIB),
    "left of a group, with files that can go": (AVAILABLE | FIRST, MIB),
    "none is left": (AVAILABLE | FIRST | {"sys/fs/cgroup/memory/memory.stat": ""}, 0),
    "of the machine, where a group says no number": (
        AVAILABLE | SECOND | {"sys/fs/cgroup/a/memory.max": "?"},
        4 * MIB,
    ),
}


@pytest.mark.parametrize(("files", "found"), SYSTEMS.values(), ids=SYSTEMS)
def test_the_free_memory_is_the_least_of_all_that_bound_it(tmp_path, files, found):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert free(tmp_path) == found


def test_a_system_that_tells_nothing_is_taken_to_have_some(tmp_path):
    assert free(tmp_path) > 2**20


def test_what_the_process_holds_grows_with_it():
    before = resident()
    with mmap(-1, 16 * MIB, MAP_PRIVATE | MAP_ANONYMOUS) as held:  # which nobody has had before
        held.write(b"x" * len(held))
        assert resident() - before > 8 * MIB
        assert resident(os.getpid()) - before > 8 * MIB


def test_what_is_in_a_file_as_well_is_not_held(tmp_path):
    """As the code of libraries: the system can let it go."""
    (tmp_path / "file").write_bytes(b"x" * 64 * MIB)
    with open(tmp_path / "file", "rb") as file:
        before = resident()
        with mmap(file.fileno(), 0, prot=PROT_READ) as held:
            assert held[:: 2**12].count(b"x") == len(held) >> 12
            assert resident() - before < 32 * MIB
