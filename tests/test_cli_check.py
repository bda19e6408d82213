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
    ("x = zeros(3)\nx[0:2] = ones(3)\nx", ("shape-mismatch", 2)),
    ("input x: float[3] = ones(2)\nx", ("shape-mismatch", 1)),
    ("input x: float[n]\ninput y: float[n]\nx * y", ("shape-mismatch", 2)),
    ("input x: float[n]\nx + ones(n + 1)", ("shape-mismatch", 2)),
    ("while y > 1: y = y / 2\ny", ("used-before-assigned", 1)),
    ("for i in range(3): total = total + i\ntotal", ("used-before-assigned", 1)),
    ("print(late)\nlate = 2.0\nlate = 3.0", ("used-before-assigned", 1)),
]


@pytest.mark.parametrize(("text", "finding"), ERRORS)
def test_what_cannot_work_is_an_error(text, finding):
    sizes = {"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0]}
    given = {name: value for name, value in sizes.items() if f"input {name}: float[n]" in text}
    assert finding in found(text, **given), found(text, **given)


def test_a_name_without_a_value_is_told_once():
    assert found("while y > 1: y = y / 2\ny") == [("used-before-assigned", 1)]


WARNINGS = [
    ("input x = 1.0\ninput k = 2.0\nx * 2", [("unused-input", 2)]),
    ("def f(a):\n    b = a * 2\n    return a\nf(1.0)", [("unused-name", 2)]),
    ("x = 1.0\ny = x * 2\nx", [("unused-name", 2)]),
    ("input x = 1.0\ny = x * 2\ny = x * 3\ny", [("unused-name", 2)]),
    ("input x = 1.0\ny = x * 2\ny = y * 3\ny = x\ny", [("unused-name", 3)]),
    ("input x = 1.0\ny = 0.0\nif pi > 3: y = x\nelse: y = -x\ny", [("unused-name", 2)]),
    ("input x = 1.0\nfor i in range(3):\n    y = x + i\n    y = x\nx", [("unused-name", 3)]),
    ("def f(a):\n    b = a\n    b = a + 1\n    return b\nf(1.0)", [("unused-name", 2)]),
    ("def f(a):\n    b = a\n    return a\n    return b\nf(1.0)", [("unused-name", 2)]),
    ("x = 1.0\ny = x\ny = x + 1.0", [("unused-name", 2)]),
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
    "input x = 1.0\ny = x\nfor i in range(3): y = y * x\ny",
    "input x = 1.0\ny = x\nfor i in range(3): y = x + i\ny",
    "y = 1.0\nwhile True:\n    if y > 5: break\n    y = y * 2\ny",
    "x = 1.0\nfor i in range(3):\n    x = x + 1\n    if i > 1: continue\n    x = x * 2\nx",
    "k = 2.0\ndef f(a): return a * k\nk = 3.0\nf(1.0)",
    "x = 1.0\nz = x\nwith no_grad(): z = x * 2 + z\nz",
    "x = zeros(3)\nx[0:2] = ones(2)\nx[1] = 3\nx",
    "input c = 1\ny = 0.0\nif c == 1: y = 1.0\nif c == 1: y = y + 1\ny",
    "for i in range(3):\n    if i == 0: y = 1.0\n    else: y = y + i\n    print(y)",
    "input x: float[n, m]\nx.reshape(m, n) @ ones(n, 2)",
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


@pytest.mark.parametrize("seed", range(200))
def test_a_value_that_nothing_reads_can_be_left_out(seed):
    text, given = written(seed)
    text += "\n"
    values = {name: Given(value, name) for name, value in given.items()}
    try:
        before = load(text).run(given).result
    except GradError:
        return
    for finding in check_source(Source("generated", text), values).findings:
        if finding.code == "unused-name":
            span = finding.span
            without = f"{text[: span.start]}None{text[span.end :]}"
            assert repr(load(without).run(given).result) == repr(before), without


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
