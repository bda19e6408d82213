"""Record what the cases print: `python tests/run/reference/record.py [FILE...]`, with PyTorch 2.13 and
NumPy, and JAX for those that import it.
"""

from __future__ import annotations

import io
import linecache
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
from support.programs.lesson_cases import read


def answer(program: str) -> tuple[list[str], bool]:
    """What a program prints, and whether it is refused."""
    out, refused = io.StringIO(), False
    lines = program.splitlines(keepends=True)
    linecache.cache["<case>"] = len(program), None, lines, "<case>"  # `torch.jit.script` reads it
    with redirect_stdout(out):
        try:
            exec(compile(program, "<case>", "exec"), {"__name__": "__main__"})
        except Exception:
            refused = True
            traceback.print_exc(limit=0, file=sys.stderr)
    return out.getvalue().splitlines(), refused


def main(paths: list[Path]) -> None:
    import torch

    for path in paths:
        cases = read(path)
        for case in cases:
            torch.set_default_dtype(torch.float64)
            was = case.refused
            case.printed, case.refused = answer(case.program)
            if case.refused and not was:
                sys.stderr.write(f"{path.name}: {case.name} is refused\n")
        path.write_text("\n".join(case.text() for case in cases), "utf-8")


if __name__ == "__main__":
    main([*map(Path, sys.argv[1:])] or sorted(Path(__file__).parent.glob("*.txt")))
