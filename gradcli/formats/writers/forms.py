"""The forms of output: one table, which tells names, suffixes and what goes with rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.results import Value


class Parts(Record):
    """What a result is written from; each part is made when a form asks for it.

    Fields:
        fields: The value by its name, then all else by its own.
        found: What was asked for alone, by name.
        json: The fields of a JSON object, written.
    """

    __slots__ = ("fields", "found", "json")
    fields: Callable[[], dict[str, Value]]
    found: Callable[[], dict[str, Value]]
    json: Callable[[], dict[str, str]]


Whole: TypeAlias = Callable[[Parts, str], str | bytes]


def _plain(parts: Parts, path: str) -> str:
    from gradcli.formats.writers.plain import fields_plain

    return fields_plain(parts.fields())


def _json(parts: Parts, path: str) -> str:
    from gradcli.formats.texts.json_text import json_object

    return f"{json_object(parts.json())}\n"


def _table(form: str) -> Whole:
    def whole(parts: Parts, path: str) -> str:
        from gradcli.formats.texts.delimited import table
        from gradcli.formats.texts.layouts import LAYOUTS

        layout = LAYOUTS[form]()
        head, *records = table(parts.fields())
        return layout.head(head) + "".join(map(layout.record, records))

    return whole


def _raw(parts: Parts, path: str) -> str:
    from gradcli.formats.writers.raw import raw

    return raw(parts.found().values())


def _npy(parts: Parts, path: str) -> bytes:
    from gradcli.formats.files.arrays import npy, one_array

    return npy(one_array(parts.found(), path))


def _npz(parts: Parts, path: str) -> bytes:
    from gradcli.formats.files.arrays import npz

    return npz(parts.fields())


def _arrow(form: str) -> Whole:
    def whole(parts: Parts, path: str) -> bytes:
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
        whole: Writes a result as a whole, for a file or for "", standard output; None if each
            command draws its own.
        rows: The form that rows have where this one is asked for; "" if rows have no such form.
    """

    __slots__ = ("name", "named", "suffix", "also", "whole", "rows")
    name: str
    named: bool
    suffix: str
    also: str
    whole: Whole | None
    rows: str


_TEXT = ".txt"

FORMS = {
    form.name: form
    for form in (
        Form("csv", True, ".csv", "", _table("csv"), "csv"),
        Form("tsv", True, ".tsv", "", _table("tsv"), "tsv"),
        Form("md", True, ".md", "", _table("md"), "md"),
        Form("json", True, ".json", ".ndjson", _json, "ndjson"),
        Form("ndjson", True, ".ndjson", ".json", _json, "ndjson"),
        Form("raw", False, "", _TEXT, _raw, "raw"),
        Form("npy", False, ".npy", "", _npy, "npy"),
        Form("npz", False, ".npz", "", _npz, "npz"),
        Form("parquet", False, ".parquet", "", _arrow("parquet"), "parquet"),
        Form("arrow", False, ".arrow", "", _arrow("arrow"), "arrow"),
        Form("human", True, "", _TEXT, None, "human"),
        Form("plain", True, _TEXT, "", _plain, ""),
        Form("tree", True, _TEXT, "", None, ""),
        Form("dot", True, ".dot", "", None, ""),
        Form("mermaid", True, ".mmd", "", None, ""),
        Form("svg", True, ".svg", "", None, ""),
        Form("html", True, ".html", "", None, ""),
        Form("png", False, ".png", "", None, ""),
        Form("pdf", False, ".pdf", "", None, ""),
        Form("github", True, "", "", None, ""),
    )
}

RESULTS = (
    "human",
    "plain",
    "json",
    "ndjson",
    "csv",
    "tsv",
    "md",
    "npy",
    "npz",
    "raw",
    "parquet",
    "arrow",
)
"""The forms of a run and of derivatives."""

CHECKS = ("human", "plain", "json", "ndjson", "csv", "tsv")
LISTS = ("human", "plain", "json")
FINDINGS = (*LISTS, "github")
TRACES = ("human", "plain", "json", "ndjson", "csv", "tsv", "md")
GRAPHS = ("tree", "dot", "mermaid", "svg", "html", "json")
PLOTS = (*RESULTS, "svg", "png", "pdf")


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
