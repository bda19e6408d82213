"""Programs with PyTorch's recorded answers. `python -m tests.differential.recorded`, with PyTorch
2.13, records them anew: those that the first seeds write and on which both agree. In each fifty,
one program is of each kind.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .answers import Facts
from .program import Input, Program

FILE = Path(__file__).with_name("recorded.json.gz")
PROGRAMS = 3000
TOGETHER = 50  # programs, of which one is of each kind
DIGITS = 12


def read() -> list[tuple[Program, Facts]]:
    """The programs and what PyTorch tells about each."""
    rows = json.loads(gzip.decompress(FILE.read_bytes()))
    return [
        (Program(tuple(Input(*i) for i in inputs), *rest), facts) for inputs, *rest, facts in rows
    ]


def main() -> int:
    """Write the file."""
    from .kinds import KINDS
    from .processes import answers

    asked = [("mixed", seed) for seed in range(PROGRAMS * 4 // 3)]
    asked += [(kind, seed) for kind in KINDS for seed in range(PROGRAMS // TOGETHER * 3)]
    told = dict(answers(_row, asked, None))
    agreed = {kind: _agreed(told, kind) for kind in ("mixed", *KINDS)}
    each = TOGETHER // len(KINDS)
    dwelt = {each * n + each - 1: kind for n, kind in enumerate(KINDS)}
    rows = [next(agreed[dwelt.get(n % TOGETHER, "mixed")]) for n in range(PROGRAMS)]
    FILE.write_bytes(gzip.compress(f"[{','.join(rows)}]".encode(), 9, mtime=0))
    return 0


def _agreed(told: dict[tuple[str, int], str], kind: str) -> Iterator[str]:
    """The rows of a kind, in the order of their seeds."""
    return (told[key] for key in sorted(told) if key[0] == kind and told[key].startswith("["))


def _row(asked: tuple[str, int]) -> str:
    """A program of a kind and a seed, with its facts, as JSON; empty if gradcli tells others."""
    from . import by_gradcli, by_pytorch
    from .compare import difference
    from .kinds import writing
    from .statements import written

    kind, seed = asked
    program = written(seed) if kind == "mixed" else writing(kind)(seed)
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
