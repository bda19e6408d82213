"""The parts of a run of cells, and the notebook with its outputs, in format 4 of nbformat."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import Any

from gradcli.errors import Diagnostic
from gradcli.formats.writers.run import RunParts
from gradcli.lesson import Lesson, Part
from gradcli.views import CellResult, NotebookResult

_EMPTY: dict[str, Any] = {
    "cells": [],
    "metadata": {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    },
    "nbformat": 4,
    "nbformat_minor": 5,
}


class NotebookParts(RunParts):
    """The result; each cell has shown its own already."""

    result: NotebookResult

    def _values(self) -> str:
        return ""

    def notebook(self) -> str:
        lesson = self.look.source
        assert isinstance(lesson, Lesson), "cells come from a lesson"
        made = notebook(lesson, self.result.cells)
        return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def notebook(lesson: Lesson, cells: Sequence[CellResult]) -> dict[str, Any]:
    """A lesson as a notebook with new outputs. Fields that are not known are kept; a cell that has
    not run has no output.
    """
    found = {cell.number: cell for cell in cells}
    before = _EMPTY if lesson.notebook is None else lesson.notebook
    raw = list(map(_new_cell, lesson.parts, range(1, len(lesson.parts) + 1)))
    if lesson.notebook is not None:
        raw = [dict(cell) for cell in before["cells"]]
    for cell, part in zip(raw, lesson.parts, strict=True):
        if part.kind in ("code", "program"):
            ran = found.get(part.number) if part.text.strip() else None
            cell["execution_count"] = None if ran is None else part.number
            cell["outputs"] = [] if ran is None else list(_outputs(ran))
    return {**before, "cells": raw}


def _new_cell(part: Part, number: int) -> dict[str, Any]:
    cell: dict[str, Any] = {
        "cell_type": "markdown" if part.kind == "text" else "code",
        "id": f"cell-{number}",
        "metadata": {},
        "source": _lines(part.text.strip("\n")),
    }
    return cell if part.kind == "text" else {**cell, "execution_count": None, "outputs": []}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _outputs(cell: CellResult) -> Iterator[dict[str, Any]]:
    if cell.printed:
        yield {"name": "stdout", "output_type": "stream", "text": _lines(cell.printed)}
    for figure in cell.figures:
        data = {"image/png": b64encode(figure).decode(), "text/plain": ["<Figure>"]}
        yield {"data": data, "metadata": {}, "output_type": "display_data"}
    if cell.shown:
        yield {
            "data": {"text/plain": _lines(cell.shown)},
            "execution_count": cell.number,
            "metadata": {},
            "output_type": "execute_result",
        }
    if cell.error is not None:
        yield {
            "ename": cell.error.code,
            "evalue": cell.error.message,
            "output_type": "error",
            "traceback": list(_said(cell.error)),
        }


def _said(error: Diagnostic) -> Iterator[str]:
    """The lines of an error."""
    yield str(error)
    yield from (f"note: {note}" for note in error.notes)
    if error.help:
        yield f"help: {error.help}"
