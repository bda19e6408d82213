"""`python -m tests.cluster --times N`: what goes wrong in a cluster, with real processes.

A Dask scheduler and its workers are started on loopback, and asked for the gradient at each row of a
table in parts. They are killed, interrupted, and given parts and disks that fail. Each time the bytes
are those of one process, and what was done before is not done again. A cluster serves all faults; one
pass takes two minutes.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

from .faults import FAULTS
from .processes import Cluster
from .room import Room


def main() -> int:
    """Go through the faults, and tell those after which something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="how often each fault happens")
    parser.add_argument("--only", default="", help="only faults whose names have this text")
    asked = parser.parse_args()
    failures = 0
    chosen = {name: fault for name, fault in FAULTS.items() if asked.only in name}
    with tempfile.TemporaryDirectory() as folder, Cluster(Path(folder)) as cluster:
        for turn in range(asked.times):
            for name, fault in chosen.items():
                start = time.monotonic()
                cluster.heal()
                room = Path(folder, f"{turn}-{name.replace(' ', '-')}")
                room.mkdir()
                try:
                    fault(Room(room, cluster))
                    said = "passed"
                except Exception:
                    failures += 1
                    said = f"FAILED\n{traceback.format_exc()}"
                print(
                    f"{turn + 1:3} {name:50}{time.monotonic() - start:7.1f} s  {said}", flush=True
                )
    print(f"{failures} of {asked.times * len(chosen)} failed" if failures else "all passed")
    return 1 if failures else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the cluster, too
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's `&` has ignored
    with suppress(KeyboardInterrupt):
        sys.exit(main())
