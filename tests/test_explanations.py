"""What `gradcli explain` says of each code: its programs have the code, and have it no more."""

import sys

import pytest
from support.pages.explanations import PAGE, TABLE, example, page, said

from gradcli.codes import CODES

SHOWN = [code for code, fields in TABLE.items() if "why" not in fields]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_every_code_has_an_explanation():
    assert TABLE.keys() == CODES.keys()


@pytest.mark.parametrize("code", SHOWN)
def test_a_mended_program_is_right(code):
    status, text = example(TABLE[code], "mended").run()
    assert (status, said(code, text)) == (0, ""), text
    assert "error[" not in text, text
    assert "warning[" not in text, text


def test_the_page_has_what_the_wrong_programs_say():
    """A wrong program that has its code no more leaves a line without it."""
    assert PAGE.read_text("utf-8") == page(), "run python tests explanations"


@pytest.mark.parametrize("code", SHOWN)
def test_the_page_tells_the_code_of_each_wrong_program(code):
    if TABLE[code].get("varies"):
        assert said(code, example(TABLE[code], "wrong").run()[1])
    else:
        section = PAGE.read_text("utf-8").partition(f"## {code}\n")[2].partition("\n## ")[0]
        assert f"[{code}]: " in section
