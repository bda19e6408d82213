"""`gradcli check`: what is known before a run, and no alarm where a run succeeds."""

import io
import json
import sys
from pathlib import Path

import pytest
from generated_programs import written

from gradcli.__main__ import _run
from gradcli.errors import GradError
from gradcli.program import Given, check_source, load
from gradcli.source import Source

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.grad"))


def found(text, wrt=None, **given):
    values = {name: Given(value, name) for name, value in given.items()}
    result = check_source(Source("p", text), values, wrt=wrt)
    return [(d.code, d.place[1] if d.place else 0) for d in result.findings]


ERRORS = [
    ("input W = ones(4, 3)\ninput x = ones(4)\nW @ x", ("shape-mismatch", 3)),
    ("x = ones(2) + ones(3)\nx", ("shape-mismatch", 1)),
    ("x = zeros(2, 3)\nx[2]", ("index-out-of-range", 2)),
    ("x = zeros(2, 3)\nx.sum(dim=2)", ("index-out-of-range", 2)),
    ("x = zeros(6)\nx.reshape(4, 2)", ("shape-mismatch", 2)),
    ("def f(a, b):\n    return a * b\nf(ones(2), ones(3))", ("shape-mismatch", 2)),
    ("input c = 1.0\nx = ones(2)\nif c > 0: x = ones(2) + 1\nx + ones(3)", ("shape-mismatch", 4)),
    ("x = ones(2)\nfor i in range(3): x = x * 2\nx @ ones(3)", ("shape-mismatch", 3)),
    ("x = [[1.0, 2.0], [3.0, 4.0]]\ny = matmul(x, [1.0, 2.0, 3.0])\ny", ("shape-mismatch", 2)),
    ("x = ones(3)\nx += ones(2)\nx", ("shape-mismatch", 2)),
    ("a, b = ones(2, 3)\na + ones(4)\n", ("shape-mismatch", 2)),
    ("n = 3\nx = zeros(n)\nx.view(n + 1)", ("shape-mismatch", 3)),
    ("x = ones(3)\nif x: pass\nx", ("ambiguous-condition", 2)),
    ("einsum_free = cat([ones(2, 2), ones(3, 3)], 0)\neinsum_free", ("shape-mismatch", 1)),
    ("input y = 3\nzz + y", ("unknown-name", 2)),
]


@pytest.mark.parametrize(("text", "finding"), ERRORS)
def test_what_cannot_work_is_an_error(text, finding):
    assert finding in found(text), found(text)


WARNINGS = [
    ("input x = 1.0\ninput k = 2.0\nx * 2", [("unused-input", 2)]),
    ("def f(a):\n    b = a * 2\n    return a\nf(1.0)", [("unused-name", 2)]),
    ("x = 1.0\ny = x * 2\nx", [("unused-name", 2)]),
    ("input x = 1.0\ny = x if x > 0 else -x\ny", [("branch-on-input", 2)]),
    ("input x = 1.0\ny = x\nwhile y < 5: y = y * 2\ny", [("branch-on-input", 3)]),
    ("input x = 1.0\nfloor(x) * 2.0 + x", [("flat-operation", 2)]),
    ("input x = 1.0\nround(x * 3) + x", [("flat-operation", 2)]),
    ("input x = 1.5\nsin(x) if x == 2.0 else x", [("float-equality", 2), ("branch-on-input", 2)]),
]


@pytest.mark.parametrize(("text", "findings"), WARNINGS)
def test_what_a_gradient_would_not_see_is_a_warning(text, findings):
    assert sorted(found(text)) == sorted(findings)


QUIET = [
    "input x = 1.0\nx ** 2",
    "input n: int = 3\ninput x = 1.0\ny = x\nfor i in range(n): y = y * x\ny",
    "x = 1.0\ny = x * 2",  # no result: all names are what it gives
    "input x = [1.0, 2.0]\nif x.shape[0] == 2: y = x.sum()\nelse: y = x[5]\ny",
    "input x = 2.0\nwith no_grad(): k = floor(x)\nx * k",
    "input x = 2.0\nwhere(x > 0, x, 0.0)",
    "xs = []\nfor i in range(3): xs.append(i * 1.0)\nsum(stack(xs))",
    "_ = 3\ninput x = 1.0\nx",
    "def fact(n): return 1.0 if n == 0 else n * fact(n - 1)\nfact(5)",
    "def f(n):\n    if n > 3: return ones(2)\n    return ones(3)\ninput n: int = 5\nf(n) + ones(2)",
    "def f(x):\n    for i in range(3):\n        if i == 2: return ones(2)\n    return ones(3)\nf(1) + 1",
]


@pytest.mark.parametrize("text", QUIET)
def test_nothing_is_found_where_nothing_is(text):
    assert found(text) == []


def errors(source, given):
    return [d for d in check_source(source, given).findings if d.severity == "error"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_have_no_errors(path):
    assert errors(Source(path.name, path.read_text("utf-8")), {}) == []


@pytest.mark.parametrize("seed", range(200))
def test_a_program_that_runs_has_no_errors(seed):
    text, given = written(seed)
    values = {name: Given(value, name) for name, value in given.items()}
    try:
        load(text + "\n").run(given)
    except GradError:
        return
    assert errors(Source("generated", text), values) == [], text


# the command -------------------------------------------------------------------------------


@pytest.fixture
def cli(monkeypatch):
    def run(*arguments):
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        return _run(arguments), out.getvalue(), err.getvalue()

    return run


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("x ** 2", 0),
        ("x * 2 if x > 0 else x", 1),
        ("ones(2) @ ones(3)", 3),
        ("x **", 3),
        ("q()", 3),
    ],
)
def test_the_status_tells_what_was_found(cli, text, status):
    program = ["-e", text] if "x" not in text else ["-e", "input x = 1.0", "-e", text]
    got, out, err = cli("check", *program)
    assert (got, err) == (status, "")
    assert bool(out) == bool(status)


def test_nothing_is_run(cli):
    assert cli("check", "-e", "print('ran')", "-e", "while True: pass")[:2] == (0, "")


def test_values_given_have_shapes(cli):
    program = ["check", "-e", "w @ x", "w=[[1, 2], [3, 4]]"]
    assert cli(*program, "x=[1, 2]")[0] == 0
    assert cli(*program, "x=[1, 2, 3]")[0] == 3


def test_json_has_findings_and_inputs(cli):
    program = ["-e", "input w: float[n, 2] = ones(3, 2)", "-e", "param k = 1.5", "-e", "w.sum()"]
    status, out, _ = cli("check", *program, "--json")
    got = json.loads(out)
    assert (status, got["schema"]) == (1, "gradcli.check/1")
    assert [(f["code"], f["severity"], f["line"]) for f in got["findings"]] == [
        ("unused-input", "warning", 2)
    ]
    assert got["inputs"] == [
        {"name": "w", "kind": "input", "type": "float[n, 2]", "default": "ones(3, 2)"},
        {"name": "k", "kind": "param", "type": None, "default": "1.5"},
    ]


def test_concise_and_json_diagnostics_are_a_line_each(cli):
    program = ["check", "-e", "input x = 1.0", "-e", "input y = 1.0", "-e", "floor(x)"]
    _, out, _ = cli(*program, "--diagnostics", "concise")
    assert [line.split("[")[1].split("]")[0] for line in out.splitlines()] == [
        *("unused-input", "flat-operation")
    ]
    _, out, _ = cli(*program, "--diagnostics", "json")
    assert [json.loads(line)["code"] for line in out.splitlines()] == [
        "unused-input",
        "flat-operation",
    ]
