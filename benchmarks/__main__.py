"""Run the benchmarks that are named, or all: `python -m benchmarks [startup] [loops] ...`.

`compiled` is all that machine code is measured by: loops, rows and Hessians, calls of bound
functions, an LSTM, vectors, and long loops over long vectors.
"""

import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read once, when NumPy is imported: before all below

from benchmarks import (
    blocks,
    calls,
    chain,
    compiled,
    export,
    fit,
    gradbench,
    jacobian,
    loops,
    nested,
    network,
    parsing,
    paths,
    plain,
    recurrent,
    rows,
    scale,
    serve,
    sparse,
    startup,
    uncertainty,
    vectors,
)

BENCHMARKS = {
    "startup": startup,
    "parsing": parsing,
    "loops": loops,
    "vectors": vectors,
    "blocks": blocks,
    "paths": paths,
    "plain": plain,
    "compiled": compiled,
    "calls": calls,
    "export": export,
    "nested": nested,
    "chain": chain,
    "network": network,
    "recurrent": recurrent,
    "gradbench": gradbench,
    "jacobian": jacobian,
    "sparse": sparse,
    "rows": rows,
    "scale": scale,
    "serve": serve,
    "uncertainty": uncertainty,
    "fit": fit,
}

GROUPS = {"compiled": ("compiled", "calls", "recurrent", "vectors", "blocks")}

asked = [part for name in sys.argv[1:] for part in GROUPS.get(name, (name,))]
for part in asked or BENCHMARKS:
    BENCHMARKS[part].main()
