"""Run the benchmarks that are named, or all: `python -m benchmarks [startup] [loops] ...`."""

import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read once, when NumPy is imported: before all below

from benchmarks import (
    calls,
    chain,
    compiled,
    jacobian,
    loops,
    nested,
    network,
    parsing,
    paths,
    recurrent,
    rows,
    startup,
    vectors,
)

BENCHMARKS = {
    "startup": startup,
    "parsing": parsing,
    "loops": loops,
    "vectors": vectors,
    "paths": paths,
    "compiled": compiled,
    "calls": calls,
    "nested": nested,
    "chain": chain,
    "network": network,
    "recurrent": recurrent,
    "jacobian": jacobian,
    "rows": rows,
}

for name in sys.argv[1:] or BENCHMARKS:
    BENCHMARKS[name].main()
