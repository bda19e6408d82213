"""Which forms have a name for `--format`, and the suffixes of files; lines of delimited text."""

import math

import numpy as np
import pytest

from gradcli.formats.readers.table import told
from gradcli.formats.texts.delimited import record, table
from gradcli.formats.writers.forms import FORMS
from gradcli.formats.writers.graph import _told

NAMED = {  # forms that `--format` takes, and the suffix of their files
    "csv": ".csv",
    "tsv": ".tsv",
    "md": ".md",
    "json": ".json",
    "ndjson": ".ndjson",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "human": "",
    "plain": ".txt",
    "tree": ".txt",
    "dot": ".dot",
    "mermaid": ".mmd",
    "svg": ".svg",
    "html": ".html",
    "github": "",
}
OTHERS = {  # those that only the suffix of a file or an option of their own asks for
    "raw": "",
    "npy": ".npy",
    "npz": ".npz",
    "ipynb": ".ipynb",
    "png": ".png",
    "pdf": ".pdf",
    "diagnostics": "",
}


@pytest.mark.parametrize(("named", "expected"), [(True, NAMED), (False, OTHERS)])
def test_forms_have_names_and_suffixes(named, expected):
    forms = FORMS.values() if isinstance(FORMS, dict) else FORMS
    assert {form.name: form.suffix for form in forms if form.named == named} == expected


LINES = [  # texts, a delimiter, the line
    (["a", "b"], ",", "a,b\n"),
    (["a,b", "c"], ",", '"a,b",c\n'),
    (["a,b", "c"], "\t", "a,b\tc\n"),
    (['a"b', "c"], ",", '"a""b",c\n'),
    (["a\nb", "c"], ",", '"a\nb",c\n'),
    (["a\rb", "c"], ",", '"a\rb",c\n'),
    (["", ""], ",", ",\n"),
]


@pytest.mark.parametrize(("texts", "delimiter", "line"), LINES)
def test_only_texts_with_signs_of_the_format_are_quoted(texts, delimiter, line):
    assert record(texts, delimiter) == line


HEADERS = [("a,b", "csv"), ("a\tb", "tsv"), ("a\tb,c", "csv"), ("a", "csv"), ("", "csv")]


@pytest.mark.parametrize(("line", "form"), HEADERS)
def test_a_header_tells_the_form(line, form):
    assert told(line) == form


VALUES = [  # values by name, the header and the records of their table
    ({"y": 1.5}, ["y"], [["1.5"]]),
    ({"y": -0.0, "z": math.nan, "n": 3, "b": True}, ["y", "z", "n", "b"], [["-0.0", "nan", "3", "true"]]),
    ({"y": 1.0, "z": None, "t": "x,y"}, ["y", "z", "t"], [["1.0", "", "x,y"]]),
    ({"y": 1.0, "w": [2.0, [3.0]]}, ["y", "w.0", "w.1.0"], [["1.0", "2.0", "3.0"]]),
    ({"y": [1.0, 2.0], "z": (3, 4)}, ["y", "z"], [["1.0", "3"], ["2.0", "4"]]),
    ({"y": [1.0]}, ["y"], [["1.0"]]),
    ({"y": [1.0], "z": [1.0, 2.0]}, ["y.0", "z.0", "z.1"], [["1.0", "1.0", "2.0"]]),
    ({"y": [[1.0, 2.0], [3.0, 4.0]]}, ["y.0", "y.1"], [["1.0", "2.0"], ["3.0", "4.0"]]),
    ({"y": []}, [], [[]]),
    ({"y": {"a": 1.0, "b": [2.0]}}, ["y.a", "y.b.0"], [["1.0", "2.0"]]),
    ({"y": np.array(1e16)}, ["y"], [["1e+16"]]),
    ({"y": np.array([0.1, math.inf])}, ["y"], [["0.1"], ["inf"]]),
    ({"y": np.array([0.1], np.float32)}, ["y"], [["0.1"]]),
    ({"y": np.array([[1, 2]]), "z": 0.5}, ["y.0.0", "y.0.1", "z"], [["1", "2", "0.5"]]),
]  # fmt: skip


@pytest.mark.parametrize(("values", "header", "records"), VALUES)
def test_values_are_columns_if_they_are_of_one_length(values, header, records):
    assert [*table(values)] == [header, *records]


@pytest.mark.parametrize(
    ("value", "values", "text"),
    [
        (np.arange(13.0), "none", "null"),
        (np.arange(2.0), "summary", "[0.0,1.0]"),
        (np.arange(12), "summary", "[0,1,2,3,4,5,6,7,8,9,10,11]"),
        (np.arange(13.0), "summary", '{"min":0.0,"max":12.0,"mean":6.0}'),
        (np.full(13, math.inf), "summary", '{"min":"Infinity","max":"Infinity","mean":"Infinity"}'),
        (np.arange(13), "full", "[0,1,2,3,4,5,6,7,8,9,10,11,12]"),
        (None, "summary", "null"),
        (math.nan, "full", '"NaN"'),
    ],
)
def test_large_values_of_a_graph_are_summarized(value, values, text):
    assert _told(value, values) == text
