"""Sparse matrices of derivatives for pipes and files: their entries, row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradcli.formats.texts.json_text import array, fields_json, json_object, warning_json
from gradcli.formats.texts.literal import literal, numbers, quote
from gradcli.formats.writers.forms import ValueParts, named
from gradcli.results import Coo, SparseHessianResult, SparseJacobianResult, Value

_ENTRY = ("row", "col", "data")


class SparseParts(ValueParts):
    """The result's value, its gradient if that was asked for, and the entries of the matrix."""

    result: SparseJacobianResult | SparseHessianResult

    def fields(self) -> dict[str, Value]:
        result = self.result
        grad = result.grad if isinstance(result, SparseHessianResult) else {}
        return {result.output: result.value, **named("grad", grad)}

    def found(self) -> dict[str, Value]:
        return {".".join(names): block.data for names, block in self._blocks()}

    def records(self) -> Iterator[Sequence[str]]:
        """A header, and a record for each entry: the inputs, their elements, and the number."""
        several = isinstance(self.result, SparseHessianResult)
        yield ["input", *(["other"] if several else []), *_ENTRY]
        for names, block in self._blocks():
            for entry in _entries(block):
                yield [*names, *entry]

    def arrays(self) -> dict[str, Value]:
        """The arrays of `scipy.sparse.save_npz` for one matrix, whose columns are the elements of
        all inputs, one behind the other.
        """
        whole = self.result.matrix()
        entries = {name: getattr(whole, name) for name in _ENTRY}
        return {**entries, "shape": whole.shape, "format": b"coo", "_is_array": True}

    def lines(self) -> str:
        """`name<TAB>value` lines, then `name<TAB>row<TAB>column<TAB>value` for each entry."""
        question = self.result.question
        rows = (
            "\t".join((".".join((question, *names)), *entry)) + "\n"
            for names, block in self._blocks()
            for entry in _entries(block)
        )
        return super().lines() + "".join(rows)

    def json(self) -> dict[str, str]:
        result = self.result
        return {
            "schema": quote(f"gradcli.{result.question}/1"),
            **fields_json(result, ("output", "value")),
            **{name: _json(value) for name, value in result.answer.items()},
            "warnings": array(map(warning_json, result.warnings)),
        }

    def _blocks(self) -> Iterator[tuple[tuple[str, ...], Coo]]:
        """The blocks with the names of their inputs."""
        result = self.result
        if isinstance(result, SparseHessianResult):
            for name, row in result.hessian.items():
                yield from (((name, other), block) for other, block in row.items())
        else:
            yield from (((name,), block) for name, block in result.jacobian.items())


def _entries(block: Coo) -> Iterator[tuple[str, ...]]:
    """Row, column and number of each entry, as texts."""
    return zip(*(numbers(getattr(block, name)) for name in _ENTRY), strict=True)


def _json(value: Any) -> str:
    """A field of the answer, in which blocks stand by name."""
    if isinstance(value, Coo):
        return json_object(fields_json(value, ("shape", *_ENTRY)))
    if isinstance(value, dict):
        return json_object({name: _json(part) for name, part in value.items()})
    return literal(value, json=True)
