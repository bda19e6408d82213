"""Programs with PyTorch's recorded answers. `python -m tests.differential.recorded`, with PyTorch
2.13, records them anew: those that the first seeds write and on which both agree.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

from .answers import Facts
from .program import Input, Program

FILE = Path(__file__).with_name("recorded.json.gz")
PROGRAMS = 3000
DIGITS = 12


def read() -> list[tuple[Program, Facts]]:
    """The programs and what PyTorch tells about each."""
    rows = json.loads(gzip.decompress(FILE.read_bytes()))
    return [
        (Program(tuple(Input(*i) for i in inputs), *rest), facts) for inputs, *rest, facts in rows
    ]


def main() -> int:
    """Write the file."""
    from .processes import answers

    told = dict(answers(_row, list(range(PROGRAMS * 4 // 3)), None))
    rows = [told[seed] for seed in sorted(told) if told[seed].startswith("[")][:PROGRAMS]
    FILE.write_bytes(gzip.compress(f"[{','.join(rows)}]".encode(), 9, mtime=0))
    return 0 if len(rows) == PROGRAMS else 1


def _row(seed: int) -> str:
    """A program and its facts as JSON; empty if gradcli tells others."""
    from . import by_gradcli, by_pytorch
    from .compare import difference
    from .statements import written

    program = written(seed)
    facts = by_pytorch.ask(program)
    if difference(by_gradcli.ask(program), facts, program.rtol) is not None:
        return ""
    inputs = [[getattr(i, field) for field in Input.__slots__] for i in program.inputs]
    asked = [program.body, program.cotangent, program.order]
    kept = {name: _short(fact) for name, fact in facts.items() if not name.startswith("grad_fn")}
    return json.dumps([inputs, *asked, kept], separators=(",", ":"))


def _short(fact: Any) -> Any:
    """A fact with shorter numbers."""
    if isinstance(fact, float):
        return float(f"{fact:.{DIGITS}g}")
    return [_short(part) for part in fact] if isinstance(fact, list) else fact


if __name__ == "__main__":
    sys.exit(main())
