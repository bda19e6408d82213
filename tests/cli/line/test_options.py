"""One table of options, one of forms: commands name what they take of them."""

import ast
import re
from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from typer.core import TyperOption

from gradcli.cli import app as app_module
from gradcli.cli.app import app
from gradcli.cli.line import options
from gradcli.cli.line.command import command
from gradcli.cli.line.options import Line
from gradcli.cli.line.output import Target, choose
from gradcli.cli.line.records import Batch, row_form
from gradcli.errors import UsageError, nearest
from gradcli.formats.writers import forms
from gradcli.formats.writers.forms import FORMS, Form

CLI = Path(__file__).parents[3] / "gradcli" / "cli"
NAMES = typer.main.get_command(app).list_commands(None)


def taken(name):
    """The options that a command takes."""
    return getattr(import_module(app_module._MODULES[name]), name).options


def test_every_option_of_the_table_is_taken_by_a_command():
    assert {option for name in NAMES for option in taken(name)} == set(Line.__annotations__)


def test_options_are_declared_in_the_table_alone():
    declaring = {
        path.name
        for path in CLI.rglob("*.py")
        if re.search(r"(Option|Argument)\(|\b(option|flag|argument)\(", path.read_text("utf-8"))
    }
    assert declaring == {"options.py", "app.py"}  # --version


def test_the_function_of_a_command_takes_the_line_alone():
    seen = []
    for path in CLI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.decorator_list and node.name in NAMES:
                seen.append(node.name)
                assert [a.arg for a in node.args.args] == ["line"], f"{path.name}: {node.name}"
                assert len(node.body) < 20, f"{path.name}: {node.name}"
    assert sorted(seen) == sorted(NAMES)


def seen_by(lines):
    def see(line):
        lines.append(line)

    return see


def test_an_option_not_taken_is_not_asked_for():
    seen = []
    made = command("wrt", "form", view="operations")(seen_by(seen)).build()
    made.main(["--wrt", "a", "-f", "json"], standalone_mode=False)
    (line,) = seen
    assert (line.wrt, line.form, line.of, line.jobs) == (["a"], "json", None, "1")
    form = next(p for p in made.params if p.name == "form")
    assert tuple(form.type.choices) == ("auto", "human", "plain", "json")
    assert form.help == "auto, human, plain or json."


NUMBERS = {  # what an option is without a value, the least that it takes and the most
    "monte_carlo": (None, 100, None),
    "nodes": (500, 1, None),
    "depth": (None, 0, None),
    "starts": (1, 1, 1_000_000),
    "most_evaluations": (None, 1, None),
    "unfold": (0, 0, None),
    "order": (1, 1, 2),
    "highest": (1, 0, 2),
    "line_length": (88, 20, 320),
    "precision": (6, 1, 17),
    "seed": (None, 0, 2**128 - 1),
}


def test_numbers_have_a_default_and_bounds():
    found = {
        name: (field.default, field.settings.get("min"), field.settings.get("max"))
        for name, field in options.FIELDS.items()
        if Line.__annotations__[name] in (int, int | None)
    }
    assert found == NUMBERS
    for name, (default, *_) in NUMBERS.items():
        if default is not None:  # the help tells it
            assert f"({default})" in options.FIELDS[name].settings["help"]


def test_every_option_is_what_typer_makes_of_its_annotation():
    """A command built from the table is the one that typer builds from annotations."""
    for name in NAMES:
        mine = getattr(import_module(app_module._MODULES[name]), name)
        theirs = typer.Typer(add_completion=False, rich_markup_mode=None)
        theirs.command(name)(annotated(mine))
        for made, wanted in zip(
            mine.build().params, typer.main.get_command(theirs).params, strict=True
        ):
            for what in ("name", "opts", "secondary_opts", "nargs", "multiple", "required"):
                assert getattr(made, what) == getattr(wanted, what), (name, made.name, what)
            for what in ("is_flag", "help", "metavar", "show_default", "hidden", "default"):
                found = getattr(made, what, None), getattr(wanted, what, None)
                assert found[0] == found[1], (name, made.name, what, found)
            assert repr(made.type) == repr(wanted.type), (name, made.name)


def annotated(mine):
    """The function from whose annotations typer would build the command."""

    def body(**given):
        pass

    row = []
    for name in mine.options:
        field, kind = options.FIELDS[name], Line.__annotations__[name]
        settings = {k: v for k, v in field.settings.items() if k != "is_flag"}
        if name == "form":
            known = forms.format_names(mine.forms)
            kind, settings["help"] = Literal[known], f"{forms.alternatives(known)}."
        if name == "output" and mine.forms:
            known = forms.alternatives([*forms.suffixes(mine.forms)])
            parts = " With --rows, FOLDER/ has a file for each part of them."
            by_parts = parts if "restart" in mine.options else ""
            settings["help"] = f"Write a file, its form by its suffix: {known}.{by_parts}"
        make = typer.Option if field.make is TyperOption else typer.Argument
        info = make(*(field.names or ()), show_default=False, **settings)
        row.append(
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=Annotated[kind, info],
            )
        )
    body.__signature__ = Signature(row)
    return body


def test_a_new_form_is_a_row_of_the_table(monkeypatch):
    words = Form("words", True, ".words", "", lambda parts, path: f"words {path}", "", "")
    monkeypatch.setitem(FORMS, "words", words)
    mine = ("plain", "words")
    assert forms.format_names(mine) == ("auto", "plain", "words")
    assert forms.suffixes(mine) == {".words": "words", ".txt": "plain"}
    target = choose(Line(whole=None, forms=mine, output="a.words"))
    assert (target.form, target.path) == ("words", "a.words")
    with pytest.raises(UsageError, match="does not go with a file"):
        choose(Line(whole=None, forms=mine, output="a.txt", form="words"))
    with pytest.raises(UsageError, match="does not go with `--rows`"):
        row_form(Target("words", None, "never"), Batch(None, None, "stop", 1, 6, False, [], None))


def test_every_form_has_a_suffix_or_is_named():
    for form in FORMS.values():
        assert form.named or form.suffix or form.name in ("raw", "diagnostics")
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
