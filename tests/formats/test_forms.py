"""Which forms have a name for `--format`, and the suffixes of files; lines of delimited text."""

import pytest

from gradcli.formats.readers.table import told
from gradcli.formats.texts.delimited import record
from gradcli.formats.writers.forms import FORMS

NAMED = {  # forms that `--format` takes, and the suffix of their files
    "csv": ".csv",
    "tsv": ".tsv",
    "md": ".md",
    "json": ".json",
    "ndjson": ".ndjson",
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
    "parquet": ".parquet",
    "arrow": ".arrow",
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
