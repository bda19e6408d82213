"""The files that `export` writes: tests beside the source, LaTeX, programs that link the C, names."""

import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
from support.checks.exported_c import CC, FLAGS
from support.checks.exported_campaign import compared
from support.processes.house import ROOT
from support.programs.exported import PROGRAMS

from gradcli.engine.compile.export.languages import python_support
from gradcli.errors import GradError
from gradcli.program import load

TURNS = PROGRAMS["turns"]
with_cc = pytest.mark.skipif(CC is None, reason="there is no C compiler")


def written(folder, text, file, **asked):
    """The files of a program, written into a folder."""
    files = load(text).export(str(folder / file), **asked)
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    return [*files]


@with_cc
@pytest.mark.parametrize(
    ("name", "order"), [("turns", 2), ("several", 1), ("cooling", 0), ("two_bodies", 1)]
)
def test_a_test_in_c_finds_all_numbers_right_and_a_wrong_one(tmp_path, name, order):
    text = PROGRAMS.get(name) or str(ROOT / f"samples/{name}.grad")
    asked = {}
    if name == "several":
        text, asked = "input x = 1.0\ninput y = 2.0\na = x * y\nb = sin(x)", {"of": ["b", "a"]}
    written(tmp_path, text, "f.c", order=order, check=True, **asked)
    sources = [str(tmp_path / "f.c"), str(tmp_path / "f_test.c")]
    subprocess.run([CC, *FLAGS, "-o", str(tmp_path / "f"), *sources, "-lm"], check=True)
    assert subprocess.run([str(tmp_path / "f")], check=False, capture_output=True).returncode == 0
    test = tmp_path / "f_test.c"
    test.write_text(
        test.read_text("utf-8").replace("expected_value[] = {", "expected_value[] = {9,")
    )
    subprocess.run([CC, *FLAGS, "-o", str(tmp_path / "f"), *sources, "-lm"], check=True)
    assert subprocess.run([str(tmp_path / "f")], check=False, capture_output=True).returncode == 1


@pytest.mark.parametrize("name", ["turns", "cooling"])
def test_a_test_in_python_finds_all_numbers_right(tmp_path, name):
    text = PROGRAMS.get(name) or str(ROOT / f"samples/{name}.grad")
    written(tmp_path, text, "f.py", order=2, check=True)
    done = subprocess.run(
        [sys.executable, "f_test.py"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.stdout == "all numbers are right\n", done.stderr


MAIN = """
#include <stdio.h>
#include "newton.h"

int main(void)
{
    double root, slope, work[100];
    int status = newton(9.0, &root, &slope, work, 100);
    printf("%d %.17g %.17g\\n", status, root, slope);
    return 0;
}
"""


@with_cc
def test_a_program_links_the_function(tmp_path):
    written(tmp_path, str(ROOT / "samples/newton.grad"), "newton.c")
    (tmp_path / "main.c").write_text(MAIN)
    files = [str(tmp_path / name) for name in ("main.c", "newton.c")]
    subprocess.run([CC, *FLAGS, "-o", str(tmp_path / "main"), *files, "-lm"], check=True)
    out = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True)
    found = load(str(ROOT / "samples/newton.grad")).grad(a=9.0)
    assert [*map(float, out.stdout.split())] == [0, found.value, found.grad["a"]]


def test_latex_has_a_line_for_each_name_and_each_derivative():
    (text,) = (
        load("input x = 1.0\ninput k = 2.0\ny = k * x ** 2 * exp(-x) + 0 * x\ny")
        .export("f.tex", wrt="x")
        .values()
    )
    assert r"\frac{\partial y}{\partial x} &=" in text
    assert "e^{-x}" in text
    assert "x^2" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 1
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize(
    ("text", "file", "asked", "says"),
    [
        (TURNS, "f.tex", {}, "a loop, a branch"),
        ("input x = 1.0\nwhere(isnan(x), 2.0, x * x)", "f.tex", {}, "has no formula"),
        ("input x = 1.0\nx", "f.rs", {}, "known suffixes"),
        ("input x = 1.0\nx", "f.tex", {"check": True}, "no test"),
        ("input x = 1.0\nlog(x - 5)", "f.c", {"check": True}, "no finite answer"),
        ("input x = 1.0\nx", "f.c", {"of": "y"}, "does not have"),
        ("input x = 1.0\nx", "f.c", {"wrt": "y"}, "does not have"),
        ("input x = [1.0]\nx", "f.c", {"order": 2}, "single number"),
    ],
)
def test_what_cannot_be_written_says_why(text, file, asked, says):
    with pytest.raises(GradError, match=says):
        load(text).export(file, **asked)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("input x = 1.0\ny = x * x\nfor i in range(100):\n    y = y * 0.5\ny", 3),
        ("input x = 1.0\nif x > 0:\n    y = x\nelse:\n    y = 2 * x\ny", 2),
    ],
)
def test_latex_tells_the_place_of_a_loop_or_branch(text, line):
    with pytest.raises(GradError) as refused:
        load(text).export("f.tex")
    (said,) = refused.value.diagnostics
    assert said.source.position(said.span.start)[0] == line


def test_a_value_is_stored_where_it_is_computed():
    text = load("input x: float[20]\ny = x\nfor i in range(9):\n    y = sin(y) * x\nsum(y)").export(
        "f.c", x=[1.0] * 20, order=1
    )["f.c"]
    body = [line.strip() for line in text.splitlines()]
    for one, two in itertools.pairwise(body):
        name = re.match(r"const double (t\d+) =", one)
        if name and two.endswith(f" = {name[1]};"):
            assert len(re.findall(rf"\b{name[1]}\b", text)) > 2


def test_an_int_that_the_form_depends_on_is_fixed_and_said():
    program = load("input n: int = 2\ninput x = 3.0\ny = zeros(n) + x\nsum(y)")
    (text,) = program.export("f.py", wrt="x").values()
    made = {}
    exec(text, made)
    assert made["f"](4.0)[0] == 8.0
    assert "`n` is 2" in text


@pytest.mark.parametrize("name", python_support.SUPPORT)
def test_a_function_of_python_follows_the_one_of_the_op(name):
    made = {"math": __import__("math")}
    exec(python_support.SUPPORT[name], made)
    from gradcli.engine.numerics import ieee

    op = getattr(ieee, {"divide": "div"}.get(name, name), None)
    if op is None:
        return
    edges = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e300, -1e300, np.inf, -np.inf, np.nan)
    several = [(x,) for x in edges]
    if name in ("power", "divide", "fmod", "remainder"):
        several = [(x, y) for x in edges for y in edges if (name, y) != ("power", 2.0)]
    if name == "remainder":
        return  # Python's `%` is not C's function
    for args in several:
        found, expected = made[name](*args), op(*args)
        assert repr(float(found)) == repr(float(expected)), args


@with_cc
@pytest.mark.parametrize(
    ("kind", "first"), [("numbers", 18), ("numbers", 355), ("vectors", 199), ("vectors", 245)]
)
def test_generated_programs_have_gradcli_s_digits(kind, first):
    found = compared(kind, range(first, first + 6))
    assert found["same"] > sum(found.values()) / 2


@pytest.mark.parametrize("change", ["y = y * 0.999", "y = y", "x = x * 1.0"])
def test_a_tensor_with_two_names_in_a_loop_is_changed_under_both(cli, change):
    text = f"x = tensor(1.0)\ny = x\nfor i in range(300):\n    x += 0.5\n    {change}\n[x, y]"
    answers = [cli("run", "-e", text, "--compile", when)[1] for when in ("never", "auto")]
    assert answers[0] == answers[1]
    status, out, err = cli("run", "-e", text, "--compile", "always")
    assert out == answers[0] or "two names" in err
    assert status == 0 or "two names" in err


PAGE = (ROOT / "docs/export.md").read_text("utf-8")
SHOWN = re.findall(r"<!-- (\w+) (\S+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("name", "file", "text"), SHOWN, ids=[name for name, _, _ in SHOWN])
def test_the_page_shows_what_is_written(name, file, text):
    own = re.findall(rf"<!-- {name}.grad -->\n```grad\n(.*?)```", PAGE, re.DOTALL)
    sample = ROOT / f"samples/{name}.grad"
    program, asked = (load(own[0]), {"wrt": "a,k"}) if own else (load(str(sample)), {})
    assert program.export(file, **asked)[file].endswith(text)


@with_cc
def test_the_programs_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main, call = (
        re.findall(rf"```{kind}\n((?:#include|import ctypes).*?)```", PAGE, re.DOTALL)[0]
        for kind in ("c", "python")
    )
    assert main.strip() == MAIN.replace("\\\\n", "\\n").strip()
    written(tmp_path, str(ROOT / "samples/decay.grad"), "decay.c")
    (command,) = re.findall(r"^cc .* -o decay\.so -lm$", PAGE, re.MULTILINE)
    subprocess.run(command.split(), check=True)
    made = {}
    exec(call, made)
    found = load(str(ROOT / "samples/decay.grad")).grad(a=10.0, k=0.5, t=1.0)
    assert (made["status"], made["value"].value) == (0, found.value)
    assert [*made["grad"]] == [found.grad["a"], found.grad["k"]]
