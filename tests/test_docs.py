"""README and docs/ show what is printed, and name all that there is."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module

import pytest
from sample_programs import ROOT, same_line

from gradcli.cli.app import _MODULES
from gradcli.engine.ops import docs
from gradcli.engine.ops.registry import ops
from gradcli.grammar.faults import CODES
from gradcli.program import load

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CONSOLE = re.compile(r"```console\n(.*?)```", re.DOTALL)
PROGRAM = re.compile(r"```grad\n(.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)


def blocks(pattern):
    texts = ((page, page.read_text("utf-8")) for page in PAGES)
    return [
        pytest.param(found[1], id=f"{page.name}:{text.count(chr(10), 0, found.start()) + 1}")
        for page, text in texts
        for found in pattern.finditer(text)
    ]


def sessions(block):
    """The commands of a block, each with the lines that it shows."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An environment in which `gradcli` is the one under test, and nothing is coloured."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "gradcli"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gradcli "$@"\n')
    command.chmod(0o755)
    kept = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "GRADCLI_COLOR")}
    return {**kept, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}


@pytest.mark.parametrize("block", blocks(CONSOLE))
def test_commands_print_what_is_shown(block, environment):
    for command, shown in sessions(block):
        if re.search(r"\bjq\b", command) and not shutil.which("jq"):
            pytest.skip("jq is not installed")
        done = subprocess.run(
            ["bash", "-c", f"{{ {command}\n}} 2>&1"],
            check=False,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
        )
        got = done.stdout.splitlines()
        alike = len(got) == len(shown) and all(map(same_line, shown, got))
        assert alike, f"{command}\n--- shown\n{chr(10).join(shown)}\n--- got\n{done.stdout}"


@pytest.mark.parametrize("text", blocks(PROGRAM))
def test_programs_run(text):
    load(f"{text}\n").run()


@pytest.mark.parametrize("text", blocks(PYTHON))
def test_python_runs(text, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    exec(text, {})
    assert capsys.readouterr().out.strip(), text


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8")):
        if not target.startswith("https://"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


# --- everything that there is has its place ------------------------------------------------


def named(page):
    """What a page sets in code, whole and word by word."""
    spans = re.findall(
        r"`([^`\n]+)`", re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.S)
    )
    return {*spans, *(word for span in spans for word in re.split(r"[\s,|]+", span))}


COMMANDS = named(ROOT / "docs" / "commands.md")


@pytest.mark.parametrize("command", _MODULES)
def test_every_option_is_documented(command):
    assert command in COMMANDS, f"docs/commands.md does not name `{command}`"
    function = getattr(import_module(_MODULES[command]), command)
    for parameter in inspect.signature(function).parameters.values():
        option = parameter.annotation.__metadata__[0]
        flags = getattr(option, "param_decls", None)
        if flags is None:
            continue  # the one positional argument
        for flag in flags or (f"--{parameter.name.replace('_', '-')}",):
            assert flag in COMMANDS, f"docs/commands.md does not name {flag} of {command}"


def codes():
    """The codes of diagnostics that the source makes: the first text in what makes one."""
    makers = {"run_error", "Diagnostic", "_refused"}
    found = set(CODES)
    for module in (ROOT / "gradcli").rglob("*.py"):
        for call in ast.walk(ast.parse(module.read_text("utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            name = getattr(call.func, "id", getattr(call.func, "attr", ""))
            texts = [a.value for a in call.args if isinstance(a, ast.Constant)]
            if name in makers and texts and re.fullmatch(r"[a-z]+(-[a-z]+)*", str(texts[0])):
                found.add(texts[0])
    return found


def test_every_code_is_documented():
    assert {"shape-mismatch", "missing-input", "usage", "syntax-error"} <= codes()
    missing = codes() - COMMANDS
    assert not missing, f"docs/commands.md does not name {sorted(missing)}"


def test_every_built_in_operation_is_documented():
    page = named(ROOT / "docs" / "ops.md")
    page |= {span.partition("(")[0] for span in page}
    missing = {n for n in ops if not ops.families[n].startswith("internal")} - page
    assert not missing, f"docs/ops.md does not name {sorted(missing)}"


def test_the_page_of_operations_is_fresh():
    fresh = docs.page() == (ROOT / "docs" / "ops.md").read_text("utf-8")
    assert fresh, "docs/ops.md is stale: python -m gradcli.engine.ops.docs"


def test_every_environment_variable_is_documented():
    used = set()
    for module in (ROOT / "gradcli").rglob("*.py"):
        used |= set(re.findall(r"environ\.get\(\"(\w+)\"", module.read_text("utf-8")))
    assert {"NO_COLOR", "GRADCLI_COLOR"} <= used
    missing = {v for v in used if not any(v in name for name in COMMANDS)}
    assert not missing, f"docs/commands.md does not name {sorted(missing)}"
