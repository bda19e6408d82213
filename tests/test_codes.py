"""The table of codes: every one that is raised is in it, and every one in it is raised."""

import ast
import re

from support.processes.house import HOUSE, ROOT, module_text, nodes

from gradcli import codes as table
from gradcli.codes import CODES, GROUPS

RAISERS = {
    *("run_error", "Diagnostic", "Fault", "fault", "_refused", "_warn", "tell", "warn"),
    *("wrong_function", "limit_error"),
}


def codes(text):
    """The codes of the diagnostics that a module's text makes."""
    for node in nodes(text):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else None
        called = node.func.id if isinstance(node.func, ast.Name) else called
        if called not in RAISERS:
            continue
        place = 1 if called in ("_refused", "wrong_function") else 0
        if len(node.args) > place and isinstance(node.args[place], ast.Constant):
            word = node.args[place].value
            if isinstance(word, str) and re.fullmatch(
                r"bug|memory|unsupported|usage|\w+(-\w+)+", word
            ):
                yield word


def raised():
    """Every code that the house raises."""
    return {code for module in HOUSE.rglob("*.py") for code in codes(module_text(module))}


def test_codes_are_found():
    text = 'run_error("a-b", "x")\nDiagnostic(\n    "c-d", "x")\nself._refused(i, "e-f", "x")\nf("g-h")'
    assert list(codes(text)) == ["a-b", "c-d", "e-f"]


def test_every_code_that_is_raised_is_in_the_table():
    assert not raised() - CODES.keys()


def test_every_code_in_the_table_is_raised():
    assert not CODES.keys() - raised()


def test_a_code_stands_once():
    assert sum(map(len, GROUPS.values())) == len(CODES)


def test_every_code_has_a_meaning_and_a_text():
    for row in CODES.values():
        assert row.meaning[0] != row.meaning[0].upper() or row.meaning[0] == "`", row.code
        assert not row.meaning.endswith("."), row.code
        assert row.text.endswith("."), row.code
        assert row.text[0] == row.text[0].upper(), row.code


def test_the_page_has_the_table():
    page = (ROOT / table.PAGE).read_text("utf-8")
    assert page.endswith(table.section()), "docs/commands.md is stale: run python -m gradcli.codes"
