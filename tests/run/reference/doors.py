"""Record what JAX, autograd and NumPy print: `python tests/run/reference/doors.py`, with JAX and
autograd installed. `tests/run/test_doors.py` compares with it.
"""

from __future__ import annotations

import importlib
import io
import json
import sys
from contextlib import redirect_stdout
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))
programs = importlib.import_module("door_cases").PROGRAMS


def main() -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    printed = {}
    for name, text in programs.items():
        out = io.StringIO()
        with redirect_stdout(out):
            exec(text, {"__name__": "__main__"})
        printed[name] = out.getvalue().splitlines()
    (HERE / "doors.json").write_text(json.dumps(printed, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
