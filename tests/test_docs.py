"""What the documentation shows is what happens, and nothing is missing from it."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer

from gradcli import __version__
from gradcli.cli.app import app
from gradcli.engine.ops.pages import docs
from gradcli.engine.run.language.names import Builtins

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted((ROOT / "docs").glob("*.md"))
COMMANDS = (ROOT / "docs" / "commands.md").read_text("utf-8")
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


def words(command):
    """The arguments of a line that is one call of gradcli; None for more, which a shell must run."""
    found = list(shlex.shlex(command, posix=True, punctuation_chars=True))
    alone = found[0] == "gradcli" and "$" not in command
    return (
        shlex.split(command)[1:]
        if alone and not any(set(w) <= set("();<>|&") for w in found)
        else None
    )


@pytest.mark.parametrize(("command", "output"), list(shown()))
def test_a_command_prints_what_is_shown(command, output, cli, forked, monkeypatch):
    for tool in ("jq", "mlr"):
        if tool in command and shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    for name in COLOUR:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    arguments = words(command)
    if arguments is None:
        done = forked.shell(command, ROOT)
        out, err = done.stdout, done.stderr
    else:
        out, err = cli(*arguments)[1:]
    assert out == output, f"{command}\nprints\n{out}{err}not\n{output}"
    assert err == "", f"{command}\nprints on standard error\n{err}"


INTERPRETED = (
    *("with dimensions", "is no float, nor a list of them", "several results are asked for"),
    *("known only at run time", "of a value that is not a number"),
    *("with the operations that made them", "the recorded graph is shown"),
    *("of a dictionary", "a class is defined", "has no meaning in a compiled program"),
    *("names its node"),
)
"""Why transcripts cannot be had by code: tensors, what is recorded, classes and modules."""


def test_code_prints_what_is_shown(cli, monkeypatch):
    """Each transcript with `--compile always`, where that can be."""
    for name in COLOUR:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(ROOT)
    takers, by_code, wrong = options_of_commands()["--compile"], 0, []
    for page in PAGES:
        for command, output in transcripts(page.read_text("utf-8")):
            arguments = words(command)
            if not arguments or arguments[0] not in takers or "--compile" in arguments:
                continue
            if "--profile" in arguments:
                continue  # a hundred fits, each as those of the other transcripts
            _, out, err = cli(*arguments, "--compile", "always")
            if "not-compilable" not in err:
                by_code += 1
                wrong += [(command, out, output)] if out != output else []
            elif not any(reason in err for reason in INTERPRETED):
                wrong.append((command, err))
    assert not wrong
    assert by_code > 15


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("gradcli run -e 'a | b' x=1", ["run", "-e", "a | b", "x=1"]),
        ("gradcli run f.grad | head", None),
        ("gradcli run f.grad > g", None),
        ("echo x | gradcli run", None),
        ("gradcli run x=$y", None),
    ],
)
def test_one_call_needs_no_shell(command, expected):
    assert words(command) == expected


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


def test_every_operation_is_described():
    page = docs.PAGE.read_text("utf-8")
    missing = [name for name in Builtins().names() if not re.search(rf"`{name}[`(]", page)]
    assert not missing, f"not in docs/ops.md: {missing}"


def test_the_page_of_operations_is_fresh():
    assert docs.PAGE.read_text("utf-8") == docs.page(), (
        "docs/ops.md is stale: run python -m gradcli.engine.ops.pages.docs"
    )


def test_the_changelog_begins_with_this_version():
    releases = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    expected = "Unreleased" if __version__.endswith(".dev0") else __version__
    assert releases[0] == expected, f"CHANGELOG.md begins with {releases[0]}, not {expected}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    broken = [target for target in targets if not (page.parent / target).exists()]
    assert not broken, f"{page.name} links to {broken}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_stay_inside_the_project(page):
    assert "../shared" not in page.read_text("utf-8"), f"{page.name} names a folder outside"
