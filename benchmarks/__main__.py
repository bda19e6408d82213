"""The command: runs the workloads that are named, or all, and prints a table of each."""

from __future__ import annotations

import argparse
import os
import platform

from benchmarks import chain, loops, network, startup

WORKLOADS = {
    "startup": startup.report,
    "scalars": loops.scalars,
    "vectors": loops.vectors,
    "network": network.report,
    "chain": chain.report,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--repeats", type=int, default=7, help="rounds to take (7)")
    asked = parser.parse_args()
    unknown = set(asked.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores\n")
    for name in asked.workloads or WORKLOADS:
        print(WORKLOADS[name](asked.repeats), flush=True)


if __name__ == "__main__":
    main()
