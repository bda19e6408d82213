"""One table of options, one of forms: commands name what they take of them."""

import ast
import re
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest
import typer

from gradcli.cli import options
from gradcli.cli.app import app
from gradcli.cli.command import command
from gradcli.cli.options import Line
from gradcli.cli.output import Target, choose
from gradcli.cli.records import Batch, row_form
from gradcli.errors import UsageError, nearest
from gradcli.formats import forms
from gradcli.formats.forms import FORMS, Form

CLI = Path(options.__file__).parent
NAMES = typer.main.get_command(app).list_commands(None)


def taken(name):
    """The options that a command takes."""
    module = next(
        m
        for m in map(import_module, sorted(f"gradcli.cli.{p.stem}" for p in CLI.glob("*.py")))
        if hasattr(m, name) and hasattr(getattr(m, name), "__signature__")
    )
    return list(signature(getattr(module, name)).parameters)


def test_every_option_of_the_table_is_taken_by_a_command():
    assert {option for name in NAMES for option in taken(name)} == set(Line.__annotations__)


def test_options_are_declared_in_the_table_alone():
    declaring = {
        path.name
        for path in CLI.glob("*.py")
        if re.search(r"typer\.(Option|Argument)\(", path.read_text("utf-8"))
    }
    assert declaring == {"options.py", "command.py", "app.py"}  # --format, --version


def test_the_function_of_a_command_takes_the_line_alone():
    seen = []
    for path in CLI.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.decorator_list and node.name in NAMES:
                seen.append(node.name)
                assert [a.arg for a in node.args.args] == ["line"], f"{path.name}: {node.name}"
                assert len(node.body) < 20, f"{path.name}: {node.name}"
    assert sorted(seen) == sorted(NAMES)


def test_an_option_not_taken_is_not_asked_for():
    seen = []
    made = command("wrt", "form", forms=("plain", "json"))(seen.append)
    made(wrt=["a"], form="json")
    (line,) = seen
    assert (line.wrt, line.form, line.of, line.jobs) == (["a"], "json", None, 1)
    form = signature(made).parameters["form"].annotation
    assert get_args(get_args(form)[0]) == ("auto", "plain", "json")
    assert form.__metadata__[0].help == "auto, plain or json."


def test_a_new_form_is_a_row_of_the_table(monkeypatch):
    words = Form("words", True, ".words", "", lambda parts, path: f"words {path}", "")
    monkeypatch.setitem(FORMS, "words", words)
    mine = ("plain", "words")
    assert forms.format_names(mine) == ("auto", "plain", "words")
    assert forms.suffixes(mine) == {".words": "words", ".txt": "plain"}
    target = choose(Line(output="a.words"), mine)
    assert (target.form, target.whole(None)) == ("words", "words a.words")
    with pytest.raises(UsageError, match="does not go with a file"):
        choose(Line(output="a.txt", form="words"), mine)
    with pytest.raises(UsageError, match="does not go with `--rows`"):
        row_form(Target("words", None, "never"), Batch(None, None, "stop", 1, 6))


def test_every_form_has_a_suffix_or_is_named():
    for form in FORMS.values():
        assert form.named or form.suffix or form.name == "raw"
        assert not form.rows or form.rows in FORMS


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("sinn", ["cos", "sin"], "sin"),
        ("SIN", ["asin", "sin"], "sin"),
        ("--jsn", ["--json", "-r"], "--json"),
        ("--JSON", ["--json", "-r"], "--json"),
        ("sin", ["sin"], None),
        ("q", ["sin"], None),
        ("tahn", ["tan", "tanh"], "tanh"),
        ("is_available", ["Variable", "isclose"], None),
        ("sqr", ["sqrt", "square"], "sqrt"),
        ("backwards", ["backward"], "backward"),
        ("x", ["y", "xs"], "xs"),
        ("ln", ["len", "in"], "len"),
        ("logsum", ["cumsum", "logsumexp"], None),
        ("cross_entorpy", ["cross_entropy", "binary_cross_entropy"], "cross_entropy"),
    ],
)
def test_the_nearest_name(name, known, found):
    assert nearest(name, known) == (None if found is None else f"did you mean `{found}`?")
