"""What the documentation shows is what happens, and nothing is missing from it."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from gradcli.cli.app import app
from gradcli.engine.ops.pages import docs
from gradcli.engine.run.call import Builtins
from gradcli.grammar.faults import CODES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
COMMANDS = (ROOT / "docs" / "commands.md").read_text("utf-8")
RAISERS = {"run_error", "Diagnostic", "Fault", "fault", "_refused", "_warn", "tell", "warn"}
COLOUR = ("GRADCLI_COLOR", "NO_COLOR", "FORCE_COLOR")


def transcripts(text):
    """The commands of a page's `console` blocks, each with the output shown under it."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def shown():
    for page in PAGES:
        for number, (command, output) in enumerate(transcripts(page.read_text("utf-8"))):
            yield pytest.param(command, output, id=f"{page.name}-{number}")


def codes(text):
    """The codes of the diagnostics that a module's text makes."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else None
        called = node.func.id if isinstance(node.func, ast.Name) else called
        if called not in RAISERS:
            continue
        place = 1 if called == "_refused" else 0
        if len(node.args) > place and isinstance(node.args[place], ast.Constant):
            word = node.args[place].value
            if isinstance(word, str) and re.fullmatch(r"bug|memory|usage|\w+(-\w+)+", word):
                yield word


def every_code():
    found = set(CODES)
    for module in (ROOT / "gradcli").rglob("*.py"):
        found.update(codes(module.read_text("utf-8")))
    return sorted(found)


@pytest.mark.parametrize(("command", "output"), list(shown()))
def test_a_command_prints_what_is_shown(command, output):
    if "jq" in command and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    environment = {k: v for k, v in os.environ.items() if k not in COLOUR}
    environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.stdout == output, f"{command}\nprints\n{done.stdout}{done.stderr}not\n{output}"
    assert done.stderr == "", f"{command}\nprints on standard error\n{done.stderr}"


def test_a_transcript_is_read():
    text = "a\n```console\n$ one\n1\n\n2\n$ two\n```\nb\n```\n$ none\n```\n"
    assert list(transcripts(text)) == [("one", "1\n\n2\n"), ("two", "")]


def test_pages_show_commands():
    for name in ("README.md", "docs/language.md", "docs/commands.md"):
        found = list(transcripts((ROOT / name).read_text("utf-8")))
        assert len(found) > 4, f"{name} shows {found}"


def test_every_command_and_option_is_described():
    group = typer.main.get_command(app)
    context = typer.Context(group)
    missing = [name for p in group.params for name in p.opts if f"`{name}" not in COMMANDS]
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        options = [opt for p in command.get_params(context) for opt in p.opts]
        wanted = [name, *(opt for opt in options if opt.startswith("-"))]
        missing += [f"{name}: {w}" for w in wanted if not re.search(rf"`{w}[` ]", COMMANDS)]
    assert not missing, f"not in docs/commands.md: {missing}"


def options_of_commands():
    """The commands that take each option."""
    group = typer.main.get_command(app)
    context = typer.Context(group)
    found = {}
    for name in group.list_commands(context):
        for parameter in group.get_command(context, name).get_params(context):
            for option in parameter.opts:
                found.setdefault(option, set()).add(name)
    return found


def test_the_table_of_options_names_their_commands():
    found = options_of_commands()
    every = found["--help"]
    table = COMMANDS.partition("\n## Options\n")[2].partition("\n\n`--wrt`")[0]
    wrong = []
    for cell, takers in re.findall(r"^\| (`[^|]*) \| ([^|]*?) \|", table, re.MULTILINE):
        if not takers.strip():
            continue  # before the command
        names = set(re.findall(r"[a-z]+", takers.removeprefix("all but").removeprefix("all")))
        expected = every - names if takers.startswith("all") else names
        for option in re.findall(r"`(--[\w-]+)", cell):
            if found.get(option) != expected:
                wrong.append(f"{option}: {sorted(found.get(option, ()))}")
    assert not wrong, f"the table of options is wrong about {wrong}"


def test_every_code_has_a_line():
    missing = [code for code in every_code() if f"\n| `{code}` | " not in COMMANDS]
    assert not missing, f"codes without a line in docs/commands.md: {missing}"


def test_every_line_has_a_code():
    described = re.findall(r"^\| `([\w-]+)` \|", COMMANDS.partition("## Codes")[2], re.MULTILINE)
    assert sorted(described) == every_code()


def test_codes_are_found():
    text = 'run_error("a-b", "x")\nDiagnostic(\n    "c-d", "x")\nself._refused(i, "e-f", "x")\nf("g-h")'
    assert list(codes(text)) == ["a-b", "c-d", "e-f"]


def test_every_operation_is_described():
    page = docs.PAGE.read_text("utf-8")
    missing = [name for name in Builtins().names() if not re.search(rf"`{name}[`(]", page)]
    assert not missing, f"not in docs/ops.md: {missing}"


def test_the_page_of_operations_is_fresh():
    assert docs.PAGE.read_text("utf-8") == docs.page(), (
        "docs/ops.md is stale: run python -m gradcli.engine.ops.pages.docs"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    broken = [target for target in targets if not (page.parent / target).exists()]
    assert not broken, f"{page.name} links to {broken}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_stay_inside_the_project(page):
    assert "../shared" not in page.read_text("utf-8"), f"{page.name} names a folder outside"
