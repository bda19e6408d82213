"""`gradcli check`: what is known before a run, and no alarm where a run succeeds."""

import functools
import json
from pathlib import Path

import pytest
from support.checks.amounts import chunks
from support.programs.generated_programs import listed, written

from gradcli.errors import GradError
from gradcli.program import Given, check_source, load
from gradcli.source import Source

SAMPLES = sorted((Path(__file__).parents[3] / "samples").glob("*.grad"))


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
    ("input x: float[n]\nx + ones(n + 1)", ("shape-mismatch", 2)),
    ("while y > 1: y = y / 2\ny", ("used-before-assigned", 1)),
    ("for i in range(3): total = total + i\ntotal", ("used-before-assigned", 1)),
    ("print(late)\nlate = 2.0\nlate = 3.0", ("used-before-assigned", 1)),
    ("x = [1.0, 2.0]\nx[2]", ("index-out-of-range", 2)),
    ("x = [1.0]\nx.append(2.0)\nx[2]", ("index-out-of-range", 3)),
    ("p = [ones(2)]\nq = p\nq[0] = ones(3)\np[0] + ones(2)", ("shape-mismatch", 4)),
    ("[1.0].shape", ("unknown-attribute", 1)),
    ("x = ones(2)\ny = x.sum + 1\ny", ("unknown-attribute", 2)),
    ("x = ones(2).sum()\nsin(x.exp)", ("unknown-attribute", 2)),
    ("x = ones(2)\nprint(x.sum().item)", ("unknown-attribute", 2)),
    ("x = ones(2)\nx.mT", ("shape-mismatch", 2)),
    ("x = ones(2, 3)\nn = x.shape()\nn", ("not-callable", 2)),
    ("x = ones(2, 3)\nx.T().sum()", ("not-callable", 2)),
    ("x = zeros(3)\nx += ones(2, 3)\nx", ("shape-mismatch", 2)),
    ("a, b = (1, 2, 3)\na", ("wrong-count", 1)),
    ("input x: float[3] = [1.0, 2.0, 3.0]\na, b = x\na", ("wrong-count", 2)),
    ("a, b, c = ones(4).split(2)\na", ("wrong-count", 1)),
    ("einsum('ij,jk->ik', ones(2, 3), ones(4, 2))", ("shape-mismatch", 1)),
    ("tensor([[1, 2], [3]])", ("ragged-list", 1)),
    ("v, i = ones(3, 4).max(dim=1)\nv + ones(4)", ("shape-mismatch", 2)),
    ("grad(lambda a: (a @ ones(3)).sum())(ones(2))", ("shape-mismatch", 1)),
    ("grad(lambda a: a * a)(ones(2))", ("needs-cotangent", 1)),
    ("hessian(lambda a: (a @ ones(3)).sum(), ones(2))", ("shape-mismatch", 1)),
    (
        "class F(Function):\n    def forward(ctx, x): return x @ ones(3)\nF.apply(ones(2))",
        ("shape-mismatch", 2),
    ),
    ("ones(2).item()", ("shape-mismatch", 1)),
    ("float(ones(2))", ("shape-mismatch", 1)),
    ("tensor([1, 2], requires_grad=True)", ("needs-float", 1)),
    ("x = tensor([1, 2]) * tensor([3, 4])\nx.requires_grad_()", ("needs-float", 2)),
    ("lstsq(tensor([[1, 2], [3, 4]]), ones(2))", ("dtype-mismatch", 1)),
    ("quantile(tensor([1, 2]), 0.5)", ("dtype-mismatch", 1)),
    ("input x = ones(2)\n(x * 2).backward()", ("needs-cotangent", 2)),
    ("input x = 1.0\n'a' + x", ("wrong-type", 2)),
    ("input x = 1.0\nx(2)", ("not-callable", 2)),
    ("ones(3).size(1)", ("index-out-of-range", 1)),
    ("x = zeros(3)\nx[[0, 2]] * ones(3)", ("shape-mismatch", 2)),
    ("x = zeros(3)\nx[tensor([True, False])]", ("shape-mismatch", 2)),
    ("x = zeros(3, 2)\nfor i in range(3): print(x[i] + ones(3))", ("shape-mismatch", 2)),
    ("x = ones(1)\nfor i in range(3): x = cat([x, x])\nx + ones(7)", ("shape-mismatch", 3)),
    ("k = 1\nwhile k < 3: k = k + 1\nones(k) + ones(2)", ("shape-mismatch", 3)),
    ("for i in range(4): print(ones(3)[i])", ("index-out-of-range", 1)),
    ("for i in range(99): print(ones(3)[i])", ("index-out-of-range", 1)),
    ("input x = 1.0\na, b = x\na", ("not-iterable", 2)),
    ("input x = ones(2)\nx.backward(ones(3))", ("shape-mismatch", 2)),
    ("while True:\n    x = ones(2)\n    break\nx + ones(3)", ("shape-mismatch", 4)),
    ("for r in ones(2, 3): print(r + ones(2))", ("shape-mismatch", 1)),
    ("for i, r in enumerate([ones(3)]): print(r + ones(2))", ("shape-mismatch", 1)),
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
    ("input N: int = 2\ninput M: int = 2\ninput x: float[N] = ones(2)\nx", [("unused-input", 2)]),
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
    (
        "input c = 0.0\nif c > 0: print(ones(2) + ones(3))\nc",
        [("branch-on-input", 2), ("shape-mismatch", 2)],
    ),
    ("input x = 1.0\nb = x > 0 and x < 2\nx * 2 if b else x", [("branch-on-input", 3)]),
    ("input x = 1.0\nx if 0 < x < 2 else 2 * x", [("branch-on-input", 2)]),
    ("input x: float[1]\ny = x\nif x.item() > 0: y = 2 * x\ny", [("branch-on-input", 3)]),
    ("input x = 1.0\ns = 0.0\ns += x\nx", [("unused-name", 2)]),
    ("input x = 1.0\nint(x) * x", [("flat-operation", 2)]),
    ("input x: float[1]\nx.long() * x", [("flat-operation", 2)]),
    ("input x: float[1]\nx.to(int64) * x", [("flat-operation", 2)]),
    (
        "input x = 1.0\ny = floor(x)\nif y > 1: y = 2.0\ny + x",
        [("branch-on-input", 3), ("flat-operation", 2)],
    ),
    ("input x = 1.0\nfloor(x) * 2.0 + x", [("flat-operation", 2)]),
    ("input x = 1.0\nround(x * 3) + x", [("flat-operation", 2)]),
    ("input x = 1.5\nsin(x) if x == 2.0 else x", [("float-equality", 2), ("branch-on-input", 2)]),
]


@pytest.mark.parametrize(("text", "findings"), WARNINGS)
def test_what_a_gradient_would_not_see_is_a_warning(text, findings):
    assert sorted(found(text)) == sorted(findings)


QUIET = [
    "x = add(tensor([1, 2]), tensor([3, 4]), alpha=0.5)\ny = x.requires_grad_()\ny.sum()",
    "x = nonzero(tensor([1.0, 0.0, 2.0]))\nx[0, 0] + 1.0",
    "x = one_hot(tensor([0, 2]))\nx * ones(3)",
    "x = unique(tensor([1.0, 2.0, 1.0]))\nx + ones(2)",
    's = ""\nfor c in [1, 2]: s = s + f"{c}"\nprint(s)\n1.0',
    "flag = True\nx = 2.0\nx * 3 if flag else x",
    "x = ones(2, 3)\nr, c = x.shape\nx * r * c",
    "input x = 1.0\nx ** 2",
    "input n: int = 3\ninput x = 1.0\ny = x\nfor i in range(n): y = y * x\ny",
    "x = 1.0\ny = x * 2",  # no result: all names are what it gives
    "input x: float[n] = [1.0, 2.0]\nif x.shape[0] == 2: y = x.sum()\nelse: y = x[5]\ny",
    "input x = 2.0\nwith no_grad(): k = floor(x)\nx * k",
    "input x = 2.0\nwhere(x > 0, x, 0.0)",
    "input x = 2.0\nassert x > 0, 'x must be positive'\nx * 2",
    "input x = 2.0\nprint(floor(x))\nx * 2",
    "input x: float[2]\ny = x + (round(x) - x).detach()\ny.sum()",
    "input x = 2.0\ninput v: float[9]\nv[int(floor(x))] + x",
    "input x = 2.0\nwhere(floor(x) > 1, x, 2 * x)",
    "input x = 2.0\ny = None\nif y is not None: print(y)\nx",
    "class F(Function):\n    def forward(ctx, x): return round(x)\n"
    "    def backward(ctx, g): return g\ninput x: float[2]\nF.apply(x).sum()",
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


MISFIT = "print(ones(2) + ones(3))"  # cannot work where it is reached
RUNS = [
    "xs = [1.0]\nxs.append(2.0)\nxs[1]",
    "xs = [ones(2)]\nfor i in range(3): xs.append(xs[-1] * 2)\nxs[3]",
    "p = [ones(2), ones(3)]\np[0] = ones(3)\np[0] + p[1]",
    "p = [ones(2), ones(3)]\nfor i in range(2): p[i] = ones(4)\np[0] + p[1]",
    "p = [ones(2)]\nq = p\nq[0] = ones(3)\np[0] + ones(3)",
    "def f(q): q[0] = ones(3)\np = [ones(2)]\nf(p)\np[0] + ones(3)",
    "p = [1.0]\nq = [2.0]\nif p[0] > q[0]: r = p\nelse: r = q\nr.append(3.0)\nq[1]",
    "p = [1.0]\nq = (p, 2)\nq[0].append(1.0)\np[1]",
    "A = [[1.0], [2.0]]\nfor row in A: row.append(3.0)\nA[1][1]",
    "rows = []\nfor i in range(2):\n    r = []\n    rows.append(r)\n    r.append(i)\nrows[1][0]",
    "xs = []\ndef f(n): xs.append(n)\nfor i in range(2): f(i)\nxs[1]",
    "a = []\nfor i in range(9): a = [a]\n1.0",
    "s = []\nx = tensor([1.0], requires_grad=True)\nx.register_hook(lambda g: s.append(g))\n"
    "(x * 2).sum().backward()\ns[0]",
    "s = []\nclass F(Function):\n    def forward(ctx, x): return x * 2\n"
    "    def backward(ctx, g):\n        s.append(g)\n        return g * 2\n"
    "x = tensor([1.0], requires_grad=True)\nF.apply(x).sum().backward()\ns[0]",
    "input x: float[n] = [1.0, 2.0]\nx[2] if x.numel() > 2 else x[0]",
    "input x: float[n] = [1.0, 2.0]\nx[2] if x.size(0) > 2 else x[0]",
    "x = zeros(3)\nx[[0, 2]] = ones(2)\nx[[0, 1]] + ones(2)",
    "x = zeros(3)\nx[tensor([0, 2])] = ones(2)\nx[x > 0] + ones(2)",
    "masked_select(zeros(3), tensor([True, False, True]))",
    "nll_loss(zeros(2, 3), tensor([0, 2]))",
    f"for i in range(0): {MISFIT}",
    f"input n: int = 0\nfor i in range(n): {MISFIT}",
    f"while False: {MISFIT}",
    f"input c = 0.0\nif c > 0: {MISFIT}",
    f"input c = 0.0\nwhile c > 0: {MISFIT}",
    f"z = zip([1.0], [2.0])\nfor a, b in z: print(a)\nfor a, b in z: {MISFIT}",
    "def f(a):\n    for i in range(3): return a\n    return a + ones(9)\nf(ones(2))",
    "x = ones(2)\nx.data = ones(3)\nx + ones(3)",
    "k = 2\ndef f():\n    def g(): return ones(k)\n    return g\nh = f()\nk = 3\nh() + ones(3)",
    "x = ones(2)\nfor i in range(3):\n    x = ones(3)\n    if x.sum() > i: break\n"
    "    x = ones(2)\nx + ones(3)",
    "x = ones(2)\nfor i in range(3):\n    x = ones(3)\n    if x.sum() > i: continue\n"
    "    x = ones(2)\nx + ones(3)",
    "a = ones(2)\nb = ones(2)\nc = ones(2)\nd = ones(2)\nf = ones(2)\nfor i in range(9):\n"
    "    if i == 8: print(a + ones(3))\n    a = b\n    b = c\n    c = d\n    d = f\n"
    "    f = ones(3)\na",
]


LEFT = {  # the side that leads away leaves nothing to what follows, and the other is still known
    "return": (
        "def f(c):\n    x = ones(2)\n    if c > 0:\n        x = ones(3)\n        return x.sum()\n"
        "    return (x @ ones(3)).sum()\ninput c = 1.0\nf(c)",
        6,
    ),
    "break": (
        "input c = 1.0\nx = ones(2)\nfor i in range(3):\n    if c > 0:\n        x = ones(3)\n"
        "        break\n    x @ ones(3)\nx",
        7,
    ),
    "return of the other side": (
        "def f(c):\n    x = ones(2)\n    if c > 0:\n        pass\n    else:\n        x = ones(3)\n"
        "        return x.sum()\n    return (x @ ones(3)).sum()\ninput c = 1.0\nf(c)",
        8,
    ),
}


@pytest.mark.parametrize("how", LEFT)
def test_a_side_that_leads_away_says_nothing_of_what_follows(how):
    text, line = LEFT[how]
    assert ("shape-mismatch", line) in found(text)
    assert errors(Source("p", text), {}) == [], "it is not sure that the program gets there"


@pytest.mark.parametrize("text", RUNS)
def test_a_program_that_runs_is_no_error(text):
    load(text + "\n").run({})
    assert errors(Source("p", text), {}) == []


@pytest.mark.parametrize("text", QUIET)
def test_nothing_is_found_where_nothing_is(text):
    assert found(text) == []


def errors(source, given):
    return [d for d in check_source(source, given).findings if d.severity == "error"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_have_no_errors(path):
    assert errors(Source(path.name, path.read_text("utf-8")), {}) == []


@functools.cache
def ran(seed):
    """A generated program, its inputs and result, or None where it fails; for all that ask."""
    text, given = written(seed)
    values = {name: Given(value, name) for name, value in given.items()}
    try:
        return text + "\n", values, load(text + "\n").run(given).result
    except GradError:
        return None


def test_most_generated_programs_run():
    assert sum(ran(seed) is not None for seed in range(30)) > 22


@pytest.mark.parametrize("seed", chunks(30, 400, 1))
def test_a_program_that_runs_has_no_errors(seed):
    if ran(seed) is not None:
        text, values, _ = ran(seed)
        assert errors(Source("generated", text), values) == [], text


@pytest.mark.parametrize("seed", chunks(30, 400, 1))
def test_a_program_of_lists_that_runs_has_no_errors(seed):
    text = listed(seed)
    try:
        load(text + "\n").run({})
    except GradError:
        return
    assert errors(Source("generated", text), {}) == [], text


@pytest.mark.parametrize("seed", chunks(30, 400, 1))
def test_a_value_that_nothing_reads_can_be_left_out(seed):
    if ran(seed) is None:
        return
    text, values, before = ran(seed)
    given = {name: value.value for name, value in values.items()}
    for finding in check_source(Source("generated", text), values).findings:
        if finding.code == "unused-name":
            span = finding.span
            without = f"{text[: span.start]}None{text[span.end :]}"
            assert repr(load(without).run(given).result) == repr(before), without


OTHER_KINDS = [
    "sum(None)",
    "stack(None)",
    "1.0 ** None",
    "logit(0.5, eps=[1.0])",
    "elu(1.0, int64)",
]


@pytest.mark.parametrize("text", OTHER_KINDS)
def test_what_is_of_another_kind_is_told_in_words(text):
    """By a run, and by the check as far as it is sure."""
    with pytest.raises(GradError) as caught:
        load(text + "\n").run({})
    code = caught.value.diagnostics[0].code
    assert code in ("wrong-type", "bad-argument")
    assert found(text) in ([], [(code, 1)])


# the command -------------------------------------------------------------------------------


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


def test_a_value_that_does_not_fit_is_an_input_error(cli):
    for declared in ("input x: float[3]", "input x: float[3] = ones(3)"):
        arguments = ["-e", declared, "-e", "x.sum()", "x=[1, 2]"]
        checked, ran = cli("check", *arguments), cli("run", *arguments)
        assert checked == ran
        assert checked[0] == 4
        assert "given as x=[1, 2]" in checked[2]


def test_quiet_leaves_out_warnings_and_not_their_status(cli):
    program = ["-e", "input x = 1.0", "-e", "input y = 1.0"]
    assert cli("check", *program, "-e", "x", "-q") == (1, "", "")
    status, out, _ = cli("check", *program, "-e", "x + ones(2) @ ones(3)", "-q")
    assert (status, out.count("error["), out.count("warning[")) == (3, 1, 0)


def test_the_result_can_be_named(cli):
    program = ["check", "-e", "input x = 1.0", "-e", "a = floor(x)", "-e", "b = x * 2"]
    assert "flat-operation" in cli(*program, "-e", "a * b")[1]
    assert cli(*program, "--of", "b", "--diagnostics", "concise")[1].count("[") == 1
    status, _, err = cli(*program, "--of", "c")
    assert status == 2
    assert "--of names `c`, which the program does not have" in err


@pytest.mark.parametrize(
    "text",
    [
        "def f(a, b):\n    return a @ b\nf(ones(2, 3), ones(2, 3))",
        "x = ones(2)\nfor i in range(3):\n    x + ones(2 + i)",
        "def f(a):\n    return a + ones(2)\nfor i in range(3):\n    f(ones(i + 2))",
    ],
)
def test_a_finding_says_as_much_as_a_run(cli, text):
    assert cli("check", "-e", text)[1] == cli("run", "-e", text)[2]


def test_a_program_that_is_refused_still_has_inputs(cli):
    _, out, _ = cli("check", "-e", "input x: float[n] = ones(2)", "-e", "x + nobody(x)", "--json")
    assert json.loads(out)["inputs"] == [
        {"name": "x", "kind": "input", "type": "float[n]", "default": "ones(2)", "file": "<expr>"}
    ]


def test_json_has_findings_and_inputs(cli):
    program = ["-e", "input w: float[n, 2] = ones(3, 2)", "-e", "param k = 1.5", "-e", "w.sum()"]
    status, out, _ = cli("check", *program, "--json")
    got = json.loads(out)
    assert (status, got["schema"]) == (1, "gradcli.check/1")
    assert [(f["code"], f["severity"], f["line"]) for f in got["findings"]] == [
        ("unused-input", "warning", 2)
    ]
    assert got["inputs"] == [
        {
            "name": "w",
            "kind": "input",
            "type": "float[n, 2]",
            "default": "ones(3, 2)",
            "file": "<expr>",
        },
        {"name": "k", "kind": "param", "type": None, "default": "1.5", "file": "<expr>"},
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


# the program of ops -------------------------------------------------------------------------------


def test_the_program_of_ops_is_printed_and_the_status_is_that_of_the_findings(cli):
    assert cli("check", "-e", "y = x + 1", "-e", "y * 2", "--ir") == (
        0,
        "locals y, x, %3\n"
        "x = free x                                        # 1:5-1:6 ?\n"
        "y = x + 1                                         # 1:5-1:10 ?\n"
        "watch y                                           # 1:1-1:10 ?\n"
        "%3 = y * 2                                        # 2:1-2:6 ?\n"
        "result %3\n",
        "",
    )
    status, out, err = cli("check", "-e", "y = floor(x)", "-e", "y", "--ir", "--wrt", "x")
    assert status == 1
    assert "y = apply floor(input=x)" in out
    assert "warning[flat-operation]" in err
    status, out, err = cli("check", "-e", "y = ones(2) + ones(3)", "-e", "y", "--ir", "-q")
    assert status == 3
    assert out.endswith("result y\n")
    assert "error[shape-mismatch]" in err


def test_a_program_that_is_refused_has_no_ops(cli):
    status, out, err = cli("check", "-e", "y = ", "--ir")
    assert (status, out) == (3, "")
    assert "error[" in err


def test_the_program_of_ops_is_no_json(cli):
    status, out, err = cli("check", "-e", "x", "--ir", "--json")
    assert (status, out) == (2, "")
    assert "`--ir` prints text, not json" in err


# the stages of code ------------------------------------------------------------------------------


def test_a_stage_of_code_is_printed_and_the_status_is_that_of_the_findings(cli):
    assert cli("check", "x ** 2 + 3 * x", "--code", "typed", "--wrt", "x") == (
        0,
        "inputs %0: float\n"
        "%1: float = pow(%0, 2)\n"
        "%2: float = mul(3, %0)\n"
        "%3: float = add(%1, %2)\n"
        "%6: float = mul(%0, 2.0)\n"
        "%8: float = add(3.0, %6)\n"
        "give %3, %0, %8\n",
        "",
    )
    forward = cli("check", "x ** 2 + 3 * x", "--code", "python", "--mode", "forward")
    assert (forward[0], forward[1].splitlines()[-1]) == (0, "    return (v3, v0, v8, 1.0)")
    status, out, err = cli("check", "-e", "y = floor(x)", "-e", "y", "--code", "python")
    assert (status, out.splitlines()[0]) == (1, "def compiled(echo, turns, room, more, v0):")
    assert "warning[flat-operation]" in err


STAGELESS = [
    (["-e", "y = "], 3, "<expr>:1:5: error[syntax-error]"),
    (["-e", "ones(2) + ones(3)"], 3, "<expr>:1:1: error[shape-mismatch]"),
    (["-e", "x = rand(3)", "-e", "sum(x[x > 0])"], 3, "<expr>:2:5: error[not-compilable]"),
    (["-e", "x", "--json"], 2, "gradcli: error[usage]: `--code` prints text, not json"),
    (["-e", "x", "--ir"], 2, "gradcli: error[usage]: `--ir` and `--code` exclude each other"),
    (["-e", "x", "--wrt", "y"], 2, "gradcli: error[unknown-name]"),
    (["-e", "x", "y=1"], 4, "gradcli: error[unknown-input]"),
]


@pytest.mark.parametrize(("arguments", "status", "said"), STAGELESS)
def test_where_a_program_has_no_code_the_reason_is_told(cli, arguments, status, said):
    got, out, err = cli("check", "--code", "python", *arguments)
    assert (got, out) == (status, "")
    assert err.startswith(said)


def test_a_mode_goes_with_code(cli):
    status, _, err = cli("check", "-e", "x", "--mode", "forward")
    assert (status, "`--mode` needs `--code`" in err) == (2, True)


# --- several files, and warnings left out ---------------------------------------------------------

EQUAL, DEAD, WRONG = "input y = 1.0\ny == 0.5", "x = 1.0\nx = 2.0\nx", "ones(2) + ones(3)"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three programs in the working folder: a warning, another one, an error."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("equal", EQUAL), ("dead", DEAD), ("wrong", WRONG)):
        Path(f"{name}.grad").write_text(text)
    Path("values.json").write_text('{"y": 2.0}')


CHECKED = [
    (("equal.grad", "dead.grad"), 1, ["equal.grad:2:1: float-equality", "dead.grad:1:1: DEAD"]),
    (("dead.grad", "wrong.grad"), 3, ["dead.grad:1:1: DEAD", "wrong.grad:1:1: shape-mismatch"]),
    (("equal.grad", "dead.grad", "--ignore", "float-equality"), 1, ["dead.grad:1:1: DEAD"]),
    (("equal.grad", "dead.grad", "--ignore", "float-equality,DEAD"), 0, []),
    (("equal.grad", "dead.grad", "--ignore", "float-equality", "--ignore", "DEAD"), 0, []),
    (("wrong.grad", "--ignore", "shape-mismatch"), 3, ["wrong.grad:1:1: shape-mismatch"]),
    (("equal.grad", "-q"), 1, []),
    (("equal.grad", "y=2"), 1, ["equal.grad:2:1: float-equality"]),
    (("equal.grad", "-i", "values.json"), 1, ["equal.grad:2:1: float-equality"]),
]


@pytest.mark.parametrize(("arguments", "status", "expected"), CHECKED)
def test_files_are_checked_in_turn(cli, files, arguments, status, expected):
    dead = "unused-name"
    arguments = [a.replace("DEAD", dead) for a in arguments]
    got, out, _ = cli("check", *arguments, "--diagnostics", "json")
    findings = [json.loads(line) for line in out.splitlines()]
    told = [f"{f['file']}:{f['line']}:{f['column']}: {f['code']}" for f in findings]
    assert (got, told) == (status, [e.replace("DEAD", dead) for e in expected])


@pytest.mark.parametrize("values", [("y=2",), ("-i", "values.json")])
def test_several_files_take_no_values(cli, files, values):
    status, _, err = cli("check", "equal.grad", "dead.grad", *values)
    assert (status, "values need a single program" in err) == (2, True)


def test_json_tells_the_file_of_each_input(cli, files):
    _, out, _ = cli("check", "equal.grad", "dead.grad", "--json")
    assert [(i["name"], i["file"]) for i in json.loads(out)["inputs"]] == [("y", "equal.grad")]


def test_annotations(cli, files):
    _, out, _ = cli("check", "wrong.grad", "equal.grad", "-f", "github")
    first, second = out.splitlines()
    place = "file=wrong.grad,line=1,endLine=1,col=1,endColumn=18,title=shape-mismatch"
    assert first == f"::error {place}::the shapes [2] and [3] do not broadcast"
    assert second.startswith("::warning file=equal.grad,line=2,")
    assert "%0Acompare a distance" in second


def test_signs_of_annotations_are_escaped(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a,b%.grad").write_text(EQUAL)
    _, out, _ = cli("check", "a,b%.grad", "-f", "github")
    assert out.startswith("::warning file=a%2Cb%25.grad,")


COMMENTS = [
    ("y == 0.5  # gradcli: ignore[float-equality]", 0),
    ("y == 0.5  #gradcli:ignore[unused-name, float-equality]  # decided", 0),
    ("abs(y ==\n 0.5)  # gradcli: ignore[float-equality]", 0),
    ("y ==\\\ny  # gradcli: ignore[float-equality]", 0),
    ("y ==\\\n0.5\n# gradcli: ignore[float-equality]", 1),
    ("y == 0.5  # gradcli: ignore[unused-name]", 1),
    ("y == 0.5\n# gradcli: ignore[float-equality]", 1),
    ("ones(2) + ones(3)  # gradcli: ignore[shape-mismatch]", 3),
]


@pytest.mark.parametrize(("text", "status"), COMMENTS)
def test_a_comment_leaves_out_the_warnings_of_its_line(cli, text, status):
    assert cli("check", "-e", "input y = 1.0", "-e", text)[0] == status


REFUSED = [
    (("equal.grad", "dead.grad", "y=1"), "values need a single program"),
    (("equal.grad", "dead.grad", "--ir"), "`--ir` needs a single program"),
    (("equal.grad", "--ir", "-f", "github"), "`--ir` prints text, not github"),
    (("equal.grad", "dead.grad", "--code", "typed"), "`--code` needs a single program"),
    (("equal.grad", "--ignore", "float-equal"), "did you mean `float-equality`?"),
    (("equal.grad", "none.grad"), "cannot read `none.grad`"),
    (("equal.grad", "-e", "1"), "a program in -e and another in `equal.grad`"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_what_files_do_not_go_with(cli, files, arguments, said):
    status, _, err = cli("check", *arguments)
    assert status == 2
    assert said in err
