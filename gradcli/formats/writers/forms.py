"""Two tables: forms of output, and views of results with the forms that they have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.results import Look, Value


class Parts(ABC):
    """The texts of a view from which a form makes its output; each form calls one method."""

    def __init__(self, result: Any, look: Look) -> None:
        self.result, self.look = result, look

    @abstractmethod
    def json(self) -> dict[str, str]:
        """The fields of a JSON object, as JSON texts."""

    def objects(self) -> Iterator[dict[str, str]]:
        """The JSON objects, one a line."""
        yield self.json()


class ValueParts(Parts):
    """The parts of a view that is a set of values by name."""

    @abstractmethod
    def fields(self) -> Mapping[str, Value]:
        """The result's value first, then all others, by name."""

    def found(self) -> Mapping[str, Value]:
        """The values that the question asks for, by name."""
        return self.fields()

    def arrays(self) -> Mapping[str, Value]:
        """The arrays of an `.npz` file, by name."""
        return self.fields()

    def numbers(self) -> Iterable[Value]:
        """The values to write one number a line."""
        return self.found().values()

    def records(self) -> Iterator[Sequence[str]]:
        """The header of a table, then its records."""
        from gradcli.formats.texts.delimited import table

        return table(self.fields())

    def lines(self) -> str:
        """`name<TAB>value` lines for pipes."""
        from gradcli.formats.texts.literal import literal

        return "".join(f"{name}\t{literal(value)}\n" for name, value in self.fields().items())


def named(name: str, value: Any) -> dict[str, Value]:
    """The values in nested dictionaries by dotted names, such as `hessian.w.b`."""
    if not isinstance(value, dict):
        return {name: value}
    return {
        n: v for inner, part in value.items() for n, v in named(f"{name}.{inner}", part).items()
    }


def failure(search: Any) -> str:
    """Why a search found nothing, for a field of all records; "" if it did find an answer."""
    return "" if search.converged else str(search.reason)


Whole: TypeAlias = Callable[[Any, str], str | bytes]
"""Writes the parts of a view to a file, or to standard output if its name is ""."""


def _json(parts: Parts, path: str) -> str:
    from gradcli.formats.texts.json_text import json_object

    return "".join(f"{json_object(fields)}\n" for fields in parts.objects())


def _table(form: str) -> Whole:
    def whole(parts: Any, path: str) -> str:
        from gradcli.formats.texts.layouts import LAYOUTS

        layout = LAYOUTS[form]()
        head, *records = parts.records()
        return layout.head(head) + "".join(map(layout.record, records))

    return whole


def _raw(parts: ValueParts, path: str) -> str:
    from gradcli.formats.texts.literal import numbers

    return "".join(f"{number}\n" for value in parts.numbers() for number in numbers(value))


def _npy(parts: ValueParts, path: str) -> bytes:
    from gradcli.formats.files.arrays import npy, one_array

    return npy(one_array(parts.found(), path))


def _npz(parts: ValueParts, path: str) -> bytes:
    from gradcli.formats.files.arrays import npz

    return npz(parts.arrays())


def _arrow(form: str) -> Whole:
    def whole(parts: ValueParts, path: str) -> bytes:
        from gradcli.formats.files.arrow_tables import table_file

        return table_file(form, parts.fields())

    return whole


class Form(Record):
    """A form of output.

    Fields:
        name: Its name.
        named: True if --format has it, False if another option or a suffix selects it.
        suffix: The suffix of files that have this form by default; "" if there is none.
        also: A suffix of files that may have it.
        whole: Writes the parts of a view, given a file's name or ""; None if it is only drawn.
        rows: The form of rows where this one is selected; "" if rows cannot have it.
        room: The place for a program's prints, kinks and the graph: "around" the result as lines,
            "inside" it as fields, "" for none.
    """

    __slots__ = ("name", "named", "suffix", "also", "whole", "rows", "room")
    name: str
    named: bool
    suffix: str
    also: str
    whole: Whole | None
    rows: str
    room: str


_TEXT = ".txt"

FORMS = {
    form.name: form
    for form in (
        Form("csv", True, ".csv", "", _table("csv"), "csv", ""),
        Form("tsv", True, ".tsv", "", _table("tsv"), "tsv", ""),
        Form("md", True, ".md", "", _table("md"), "md", ""),
        Form("json", True, ".json", ".ndjson", _json, "ndjson", "inside"),
        Form("ndjson", True, ".ndjson", ".json", _json, "ndjson", "inside"),
        Form("raw", False, "", _TEXT, _raw, "raw", ""),
        Form("npy", False, ".npy", "", _npy, "npy", ""),
        Form("npz", False, ".npz", "", _npz, "npz", ""),
        Form("parquet", True, ".parquet", "", _arrow("parquet"), "parquet", ""),
        Form("arrow", True, ".arrow", "", _arrow("arrow"), "arrow", ""),
        Form("human", True, "", _TEXT, None, "human", "around"),
        Form("plain", True, _TEXT, "", lambda parts, path: parts.lines(), "", "around"),
        Form("tree", True, _TEXT, "", None, "", ""),
        Form("dot", True, ".dot", "", None, "", ""),
        Form("mermaid", True, ".mmd", "", None, "", ""),
        Form("svg", True, ".svg", "", None, "", ""),
        Form("html", True, ".html", "", None, "", ""),
        Form("ipynb", False, ".ipynb", "", lambda parts, path: parts.notebook(), "", ""),
        Form("png", False, ".png", "", None, "", ""),
        Form("pdf", False, ".pdf", "", None, "", ""),
        Form("github", True, "", "", lambda parts, path: parts.annotations(), "", ""),
        Form("diagnostics", False, "", "", lambda parts, path: parts.diagnostics(), "", ""),
    )
}


class View(Record):
    """A part of a result that is shown.

    Fields:
        name: Its name in results.
        forms: The forms that it has, the default for people first.
        drawn: Those that `render.looks` draws; the others are written.
        parts: Module and class in this folder for the written forms; None if it is only drawn.
    """

    __slots__ = ("name", "forms", "drawn", "parts")
    name: str
    forms: tuple[str, ...]
    drawn: tuple[str, ...]
    parts: tuple[str, str] | None


_HUMAN = ("human",)
_LISTS = ("human", "plain", "json")
_TABLES = (*_LISTS, "ndjson", "csv", "tsv")
_TRACES = (*_TABLES, "md")
_RESULTS = (*_TRACES, "npy", "npz", "raw", "parquet", "arrow")
SPARSE = (*_TRACES, "npz", "raw")
_LESSONS = (*_RESULTS, "html", "ipynb")
_GRAPHS = ("tree", "dot", "mermaid", "svg", "html", "png", "pdf")
_PICTURES = ("svg", "png", "pdf")

VIEWS = {
    view.name: view
    for view in (
        View("run", _LESSONS, _HUMAN, ("run", "RunParts")),
        View("notebook", _LESSONS, ("human", "html"), ("notebook", "NotebookParts")),
        View("names", _RESULTS, _HUMAN, ("run", "NamesParts")),
        View("recorded", ("human", "plain"), ("human", "plain"), None),
        View("kinks", _HUMAN, _HUMAN, None),
        View("derivative", _RESULTS, _HUMAN, ("derivative", "DerivativeParts")),
        View("sparse", SPARSE, _HUMAN, ("sparse", "SparseParts")),
        View("checks", _TABLES, _HUMAN, ("checks", "ChecksParts")),
        View(
            "findings",
            (*_LISTS, "github", "diagnostics"),
            ("human", "plain"),
            ("findings", "FindingsParts"),
        ),
        View("graph", (*_GRAPHS, "json"), _GRAPHS, ("graph", "GraphParts")),
        View("trace", (*_TRACES, "html"), ("human", "md", "html"), ("trace", "TraceParts")),
        View("curves", (*_RESULTS, *_PICTURES), (*_HUMAN, *_PICTURES), ("plot", "CurvesParts")),
        View("fit", _RESULTS, ("human", "md"), ("fit", "FitParts")),
        View("fits", _TRACES, _HUMAN, ("fit", "FitGroupsParts")),
        View("minimum", _RESULTS, _HUMAN, ("solution", "SolutionParts")),
        View("root", _RESULTS, _HUMAN, ("solution", "SolutionParts")),
        View(
            "propagation",
            _RESULTS,
            (*_HUMAN, "md"),
            ("propagation", "PropagationParts"),
        ),
        View("propagated_row", _RESULTS, (), ("propagation", "RowParts")),
        View("comparison", _TRACES, _HUMAN, ("fit", "FitComparisonParts")),
        View("operations", _LISTS, _HUMAN, ("operations", "OperationsParts")),
    )
}


def parts_of(view: str, result: Any, look: Look) -> Any:
    """The parts of a result that a view writes."""
    return _kind(view)(result, look)


@cache
def _kind(view: str) -> Any:
    """The class with the parts of a view."""
    where = VIEWS[view].parts
    assert where is not None, f"`{view}` is drawn"
    module, name = where
    return getattr(import_module(f"gradcli.formats.writers.{module}"), name)


def suffixes(forms: Sequence[str]) -> dict[str, str]:
    """The form of each suffix, with `.txt` last."""
    found = {FORMS[name].suffix: name for name in forms if FORMS[name].suffix}
    return dict(sorted(found.items(), key=lambda item: item[0] == _TEXT))


def fits(name: str, suffix: str) -> bool:
    """True if a file with the suffix may have the form."""
    return name in FORMS and suffix in (FORMS[name].suffix, FORMS[name].also)


def format_names(forms: Sequence[str]) -> tuple[str, ...]:
    """The values of --format."""
    return ("auto", *(name for name in forms if FORMS[name].named))


def row_names() -> list[str]:
    """The forms that rows can have, each under its first name."""
    found: dict[str, str] = {}
    for form in FORMS.values():
        if form.rows:
            found.setdefault(form.rows, form.name)
    return list(found.values())


def alternatives(names: Sequence[str]) -> str:
    """Names joined as `csv, tsv or json`."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
