"""Whether compiled code gives what a run gives, to the last bit."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import numpy as np

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options
from gradcli.record import Record
from gradcli.source import Source

from .modes import command, rows
from .program import Program

NOT_COMPILED = "not-compilable"


def of_code(program: Program, machine_code: bool, turn: int | None = None) -> str:
    """Where code, in machine's language or in Python, gives something else than a run; empty if it
    does not, and where none is made. With a `turn`, one of the other derivatives is asked beside
    value and gradient, alternately.
    """
    asked_of = list(_questions(program))
    if turn is not None and len(asked_of) > 2:
        asked_of = [*asked_of[:2], asked_of[2 + turn % (len(asked_of) - 2)]]
    with patch.object(backends, "has_machine_code", lambda: machine_code):
        for name, asked in asked_of:
            code = _answer(program, name, asked, "always")
            if NOT_COMPILED in str(code):
                continue
            run = _answer(program, name, asked, "never")
            if code != run:
                return f"{name} by code: {asked} {code}\nby a run: {run}"
    return ""


def _questions(program: Program) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "run", {}
    if not program.wrt:
        return
    weighed = {"wrt": program.wrt, "cotangent": program.cotangent}
    along = {"tangents": program.direction()}
    yield "grad", weighed
    yield "jvp", along
    yield "hvp", {**weighed, **along}
    for mode in ("forward", "reverse"):
        yield "hvp", {**weighed, **along, "mode": mode}
        yield "jacobian", {"wrt": program.wrt, "mode": mode}
        yield "hessian", {**weighed, "mode": mode}


def _answer(program: Program, name: str, asked: dict[str, Any], when: str) -> Any:
    """What a question gives, or why there is no answer, and what is printed meanwhile."""
    printed: list[str] = []
    options = Options(echo=printed.append, compile=when)
    try:
        found = getattr(load(program.text), name)(options=options, **asked)
    except GradError as error:
        found = error.diagnostics
    return bits(found), "".join(printed)


def bits(x: Any) -> Any:
    """What tells two answers apart: nan is nan."""
    if isinstance(x, float):
        return "nan" if math.isnan(x) else x.hex()
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.name, x.shape, bits(x.ravel().tolist())
    if isinstance(x, list | tuple):
        return [bits(item) for item in x]
    if isinstance(x, dict):
        return {name: bits(item) for name, item in x.items()}
    if isinstance(x, Record) and not isinstance(x, Source):
        return type(x).__name__, [bits(getattr(x, field)) for field in x._fields]
    return "" if isinstance(x, Source) else x


def of_rows_of_code(program: Program, jobs: int) -> str:
    """Where the gradients of rows by code are not those by runs; empty if they are."""
    given = "".join(json.dumps(row) + "\n" for row in rows(program))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "program.grad"
        path.write_text(program.text, "utf-8")
        asked = ["grad", path, "--wrt", ",".join(program.wrt), "--json", "-q", "--jobs", jobs]
        if program.cotangent is not None:
            asked += ["--cotangent", str(program.cotangent)]
        asked += ["--on-error", "record", "--rows", "-"]
        code, run = (
            command(*asked, "--compile", when, stdin=given) for when in ("always", "never")
        )
    if code == run or NOT_COMPILED in "".join(map(str, code)):
        return ""
    return f"rows by code: {code}\nby runs: {run}"
