"""What a command imports: start-up is most of the time that a small program takes."""

import subprocess
import sys

import pytest

HEAVY = frozenset(
    [
        "asyncio",
        "concurrent",
        "csv",
        "ctypes",
        "decimal",
        "doctest",
        "email",
        "fractions",
        "hashlib",
        "html",
        "http",
        "logging",
        "multiprocessing",
        "numpy",
        "pdb",
        "pickle",
        "pydantic",
        "random",
        "rich",
        "lark",
        "interegular",
        "scipy",
        "socket",
        "sqlite3",
        "ssl",
        "statistics",
        "tempfile",
        "unittest",
        "xml",
    ]
)
"""Packages and modules that are slow to import, of the standard library and of others."""

TYPER = frozenset({"typer", "annotated_doc", "shellingham", "typing_extensions", "click"})
NUMPY = TYPER | {"numpy", "ctypes", "pickle", "numbers"}
LLVM = TYPER | {"llvmlite", "ctypes", "random", "tempfile"}  # which imports those

COMMANDS = {  # arguments: what it may import that is heavy or not of the standard library
    "run on numbers": (["run", "-e", "x = 3.0", "-e", "x ** 2 + sin(x)"], TYPER),
    "grad on numbers": (["grad", "-e", "x ** 2 + sin(x)", "x=2"], TYPER),
    "grad on numbers as JSON": (["grad", "-e", "x ** 2", "x=2", "--json"], TYPER),
    "grad on numbers in a loop": (
        ["grad", "-e", "y = x", "-e", "while y < 9: y = y * 2", "-e", "y", "x=2"],
        TYPER,
    ),
    "code on numbers": (["grad", "-e", "x ** 2 + sin(x)", "x=2", "--compile", "always"], LLVM),
    "graph on numbers": (["graph", "-e", "x ** 2", "x=2"], TYPER),
    "graph on numbers as dot": (["graph", "-e", "x ** 2", "x=2", "-f", "dot"], TYPER),
    "the version": (["--version"], TYPER),
    "the help": (["grad", "--help"], TYPER),
    "run on tensors": (["run", "-e", "sum(x * x)", "x=[1, 2]"], NUMPY),
    "grad on tensors": (["grad", "-e", "sum(x * x)", "x=[1, 2]"], NUMPY),
    "grad on tensors as JSON": (["grad", "-e", "sum(x * x)", "x=[1, 2]", "--json"], NUMPY),
    "trace on numbers": (["trace", "-e", "x ** 2 + sin(x)", "x=2"], TYPER),
    "plot as numbers": (["plot", "x ** 2", "--over", "x=0:1:3", "-f", "csv"], NUMPY),
    "graph on tensors": (["graph", "-e", "sum(x * x)", "x=[1, 2]"], NUMPY),
    "a wrong name": (["run", "-e", "x = 1", "-e", "sinn(x)"], TYPER),
    "a wrong input": (["run", "-e", "x = 1", "-e", "x", "y=2"], TYPER),
    "grad on numbers alone": (["grad", "-e", "x ** 2", "x=2", "-r"], TYPER),
}
FURTHER = {"a wrong text": ["run", "-e", "1 +* 2"]}

TELLS_MODULES = """
import os, sys
before = set(sys.modules)
import typer  # which every command imports
for line in sys.stdin:
    arguments, told = eval(line)
    if os.fork() == 0:
        from gradcli.__main__ import _run
        status = _run(arguments)
        with open(told, "w") as file:
            print(status, *sorted(set(sys.modules) - before), file=file)
        sys.exit()
    os.wait()
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """The modules that a process imports for a command line, full names."""
    told = tmp_path_factory.mktemp("modules")
    lines = {name: arguments for name, (arguments, _) in COMMANDS.items()} | FURTHER
    done = subprocess.run(
        [sys.executable, "-c", TELLS_MODULES],
        check=True,
        input="".join(f"{(line, str(told / name))}\n" for name, line in lines.items()),
        stdout=subprocess.DEVNULL,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0

    def modules(name):
        status, *found = (told / name).read_text().split()
        assert status in ("0", "3", "4"), f"{name}: {status}"
        return set(found)

    return modules


@pytest.mark.parametrize("case", COMMANDS)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(case, imported):
    _, allowed = COMMANDS[case]
    packages = {name.partition(".")[0] for name in imported(case)}
    foreign = {p for p in packages if p not in sys.stdlib_module_names} - {"gradcli"}
    found = ((packages & HEAVY) | foreign) - allowed
    assert not {p for p in found if not p.startswith("_")}, f"{case} imports {sorted(found)}"


def test_the_modules_are_seen(imported):
    modules = imported("grad on tensors")
    assert "numpy" in modules
    assert "gradcli.engine.ops.families.reduce" in modules


def test_a_family_of_ops_is_loaded_when_it_is_named(imported):
    modules = imported("grad on numbers")
    families = {"trigonometric", "linalg", "nn", "shape", "index", "join"}
    loaded = families & {m.rpartition(".")[2] for m in modules if ".families." in m}
    assert loaded == {"trigonometric"}, f"loaded {sorted(loaded)}"


def test_no_command_imports_lark(imported):
    """Not to explain a syntax error either: the tables say what could have stood there."""
    assert not {"lark", "numpy"} & imported("a wrong text")
    assert "gradcli.grammar.syntax.acceptable" in imported("a wrong text")


def test_help_does_not_load_the_engine(imported):
    loaded = imported("the help")
    assert not {name for name in loaded if name.startswith(("gradcli.engine", "gradcli.grammar"))}


def test_what_draws_is_loaded_by_what_draws(imported):
    views = {"gradcli.views", "gradcli.render.trace", "gradcli.render.looks"}
    assert not views & imported("grad on numbers")
    assert "gradcli.views" in imported("trace on numbers")


MOST = {  # modules of gradcli that a command imports: each takes a tenth of a millisecond
    "run on numbers": 135,
    "grad on numbers": 144,
    "grad on tensors": 154,
    "the help": 28,
}


@pytest.mark.parametrize("case", MOST)
def test_a_command_imports_few_modules(case, imported):
    found = sorted(name for name in imported(case) if name.partition(".")[0] == "gradcli")
    assert len(found) <= MOST[case], f"{case} imports {len(found)}: {found}"


@pytest.mark.parametrize(
    "later",
    ["cli.line.completion", "cli.terminal.progress", "questions.coded", "signatures", "views"],
)
def test_what_other_commands_need_is_not_imported(later, imported):
    assert f"gradcli.{later}" not in imported("run on numbers") | imported("grad on numbers")
