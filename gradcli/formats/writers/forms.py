"""The forms of output and the views of results, two tables: a form says how something is written, a
view what of a result, and in which forms.
"""

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
    """The texts of a result that a form puts together; each view that is written has a class of
    them. The view's forms say which: each form asks for one.
    """

    def __init__(self, result: Any, look: Look) -> None:
        self.result, self.look = result, look

    @abstractmethod
    def json(self) -> dict[str, str]:
        """The fields of a JSON object, written."""


class ValueParts(Parts):
    """The parts of a result that is values by name."""

    @abstractmethod
    def fields(self) -> Mapping[str, Value]:
        """The value by its name, then all else by its own."""

    def found(self) -> Mapping[str, Value]:
        """The values that the question is about, by name."""
        return self.fields()

    def numbers(self) -> Iterable[Value]:
        """The values whose numbers are written one by one."""
        return self.found().values()

    def records(self) -> Iterator[Sequence[str]]:
        """The names of the columns of a table, then its records."""
        from gradcli.formats.texts.delimited import table

        return table(self.fields())

    def lines(self) -> str:
        """`name<TAB>value` lines for pipes."""
        from gradcli.formats.texts.literal import literal

        return "".join(f"{name}\t{literal(value)}\n" for name, value in self.fields().items())


def named(name: str, value: Any) -> dict[str, Value]:
    """The values in nested dictionaries, by names such as `hessian.w.b`; another value by its
    own.
    """
    if not isinstance(value, dict):
        return {name: value}
    return {
        n: v for inner, part in value.items() for n, v in named(f"{name}.{inner}", part).items()
    }


Whole: TypeAlias = Callable[[Any, str], str | bytes]
"""Writes parts, of a class that has what the form asks for, for a file or "", standard output."""


def _json(parts: Parts, path: str) -> str:
    from gradcli.formats.texts.json_text import json_object

    return f"{json_object(parts.json())}\n"


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

    return npz(parts.fields())


def _arrow(form: str) -> Whole:
    def whole(parts: ValueParts, path: str) -> bytes:
        from gradcli.formats.files.arrow import table_file

        return table_file(form, parts.fields())

    return whole


class Form(Record):
    """A form of output.

    Fields:
        name: What it is called.
        named: Whether --format names it; another option or a suffix asks for it otherwise.
        suffix: Of the files that are written so where nothing else is asked; "" if of none.
        also: Of other files that can be.
        whole: Writes the parts of a view, for a file or for "", standard output; None if it is
            drawn alone.
        rows: The form that rows have where this one is asked for; "" if rows have no such form.
        room: Where there is room for what stands beside a result: "around" it, as lines, for what
            the program prints, kinks and the graph; "inside" it, as fields; "" for nowhere.
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
        Form("parquet", False, ".parquet", "", _arrow("parquet"), "parquet", ""),
        Form("arrow", False, ".arrow", "", _arrow("arrow"), "arrow", ""),
        Form("human", True, "", _TEXT, None, "human", "around"),
        Form("plain", True, _TEXT, "", lambda parts, path: parts.lines(), "", "around"),
        Form("tree", True, _TEXT, "", None, "", ""),
        Form("dot", True, ".dot", "", None, "", ""),
        Form("mermaid", True, ".mmd", "", None, "", ""),
        Form("svg", True, ".svg", "", None, "", ""),
        Form("html", True, ".html", "", None, "", ""),
        Form("png", False, ".png", "", None, "", ""),
        Form("pdf", False, ".pdf", "", None, "", ""),
        Form("github", True, "", "", lambda parts, path: parts.annotations(), "", ""),
        Form("diagnostics", False, "", "", lambda parts, path: parts.diagnostics(), "", ""),
    )
}


class View(Record):
    """A part of a result that is shown.

    Fields:
        name: Its name, as results have it.
        forms: Those in which it is shown, the first to a person.
        drawn: Those of them that `render.looks` has; others are written.
        parts: The module of this room and its class that has the parts that are written; None if
            it is drawn alone.
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
_GRAPHS = ("tree", "dot", "mermaid", "svg", "html")
_PICTURES = ("svg", "png", "pdf")

VIEWS = {
    view.name: view
    for view in (
        View("run", _RESULTS, _HUMAN, ("run", "RunParts")),
        View("names", _RESULTS, _HUMAN, ("run", "NamesParts")),
        View("recorded", ("human", "plain"), ("human", "plain"), None),
        View("kinks", _HUMAN, _HUMAN, None),
        View("derivative", _RESULTS, _HUMAN, ("derivative", "DerivativeParts")),
        View("checks", _TABLES, _HUMAN, ("checks", "ChecksParts")),
        View(
            "findings",
            (*_LISTS, "github", "diagnostics"),
            ("human", "plain"),
            ("findings", "FindingsParts"),
        ),
        View("graph", (*_GRAPHS, "json"), _GRAPHS, ("graph", "GraphParts")),
        View("trace", _TRACES, _HUMAN, ("trace", "TraceParts")),
        View("curves", (*_RESULTS, *_PICTURES), (*_HUMAN, *_PICTURES), ("plot", "CurvesParts")),
        View("operations", _LISTS, _HUMAN, ("operations", "OperationsParts")),
    )
}


def parts_of(view: str, result: Any, look: Look) -> Any:
    """The parts of a result that a view writes."""
    return _kind(view)(result, look)


@cache
def _kind(view: str) -> Any:
    """The class of the parts of a view."""
    where = VIEWS[view].parts
    assert where is not None, f"`{view}` is drawn"
    module, name = where
    return getattr(import_module(f"gradcli.formats.writers.{module}"), name)


def suffixes(forms: Sequence[str]) -> dict[str, str]:
    """The form that each suffix stands for, that of text last."""
    found = {FORMS[name].suffix: name for name in forms if FORMS[name].suffix}
    return dict(sorted(found.items(), key=lambda item: item[0] == _TEXT))


def fits(name: str, suffix: str) -> bool:
    """Whether a file of the suffix can have the form."""
    return name in FORMS and suffix in (FORMS[name].suffix, FORMS[name].also)


def format_names(forms: Sequence[str]) -> tuple[str, ...]:
    """The values of --format."""
    return ("auto", *(name for name in forms if FORMS[name].named))


def row_names() -> list[str]:
    """The forms that rows can have, each by its first name."""
    found: dict[str, str] = {}
    for form in FORMS.values():
        if form.rows:
            found.setdefault(form.rows, form.name)
    return list(found.values())


def alternatives(names: Sequence[str]) -> str:
    """Names as a text: `csv, tsv or json`."""
    return f"{', '.join(names[:-1])} or {names[-1]}"
