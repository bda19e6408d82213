"""Record what PyTorch prints for the programs of tensors in `operator_programs.py`:
`python tests/run/reference/operators.py`, with PyTorch 2.13; `tests/run/language/test_every_operator.py`
compares with it.
"""

from __future__ import annotations

import io
import json
import sys
import warnings
from contextlib import redirect_stdout
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from support.programs.operator_programs import of_tensors


def main() -> None:
    import torch

    warnings.simplefilter("ignore")
    torch.set_default_dtype(torch.float64)
    names = {"tensor": torch.tensor, "float32": torch.float32}
    rows = {}
    for name, program in of_tensors().items():
        out = io.StringIO()
        with redirect_stdout(out):
            exec(program, dict(names))
        rows[name] = out.getvalue().splitlines()
    text = json.dumps(rows, indent=0)
    (Path(__file__).parent / "operators.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
