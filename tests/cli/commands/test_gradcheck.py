"""`gradcli gradcheck`: what is right passes, what is wrong is named, kinks and cuts are said."""

import json

import pytest

from gradcli.program import load

RULE = """\
class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 3
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return {}

input x = [1.0, 2.0]
input k = 3.0
Cube.apply(x).sum() * k
"""


RIGHT = [
    "sin(x) * k",
    "x ** 3 / (1 + k ** 2)",
    "y = x\nwhile y < 20: y = y * k\ny",
    "sum(exp(stack([x, k])))",
    "def f(n): return x if n == 0 else f(n - 1) * k\nf(4)",
    "m = [[x, k], [k, x]] @ [x, 1.0]\nsum(m ** 2)",
    "sum(randn(3) * x) * k",
]


@pytest.mark.parametrize("text", RIGHT)
@pytest.mark.parametrize("order", [1, 2])
def test_what_is_right_passes(text, order):
    result = load(f"input x = 1.5\ninput k = 2.0\n{text}").gradcheck(order=order)
    assert result.passed, [c for c in result.checks if not c.passed]
    assert {c.input for c in result.checks} == {"x", "k"}
    assert {c.mode for c in result.checks} == {"reverse", "forward", "dot"}
    assert not any(c.note for c in result.checks)


WRONG = ["g * 2 * x ** 2", "-g * 3 * x ** 2", "g * 3 * x", "g * 3 * x ** 2 + 1"]


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_rule_fails_by_itself_and_in_the_program(body):
    result = load(RULE.format(body)).gradcheck()
    assert not result.passed
    assert {c.input for c in result.checks if not c.passed} == {"x"}
    failed = [c for c in result.rules if not c.passed]
    assert {c.input for c in failed} == {"Cube[0]"}
    assert all(c.line == 13 for c in failed)


def test_a_right_rule_passes():
    result = load(RULE.format("g * 3 * x ** 2")).gradcheck()
    assert result.passed
    assert [c.input for c in result.rules] == ["Cube[0]"] * 3


KINKS = ["relu(x)", "x if x > 0 else 2 * x", "floor(x)", "sqrt(abs(x))"]


@pytest.mark.parametrize("text", KINKS)
def test_a_kink_is_no_mistake(text):
    result = load(f"input x = 0.0\n{text} + x").gradcheck()
    assert result.passed, result.checks
    assert {c.note for c in result.checks if c.mode == "reverse"} == {"kink"}


@pytest.mark.parametrize(
    "text",
    [
        "(x * x.detach()).sum()",
        "(x * x.data).sum()",
        "(x * x[0].item()).sum()",
        "(x * tensor(x.tolist())).sum()",
        "(x * float(x[0])).sum()",
        "(x * float(x[1:])).sum()",
        "tensor([x[:1], x[1:] * 2]).sum() + x.sum()",
        "tensor([x[0], x[1] * 2]).sum() + x.sum()",
        "with no_grad():\n    c = x * 2\n(x * c).sum()",
        "y = (x ** 2).sum()\ny.backward()\n(x.grad * x).sum()",
        "y = (x ** 3).sum()\ng, = grad(y, x)\n(g * x).sum()",
        "(x ** 2).sum().backward()\nwith no_grad(): x.sub_(0.1 * x.grad)\nx * 1",
    ],
)
def test_a_cut_is_said(text):
    result = load(f"x = tensor([1.0, 2.0], requires_grad=True)\n{text}").gradcheck()
    assert result.passed
    assert {c.note for c in result.checks if c.mode != "dot"} == {"cut"}


UNSEEN = {
    "param": "param x = 2.0\ny = x ** 2\ny.backward()\ny",
    "leaf": "x = tensor([1.0, 2.0], requires_grad=True)\nassert x.is_leaf and x.requires_grad\nx * 2",
    "hook": "param x = 2.0\ny = x ** 2\ny.register_hook(lambda g: g * 1)\ny",
    "number": "input x = 2.0\nassert not x > 3\nx * 2",
    "list": "input x = [2.0, 3.0]\nassert len(x) == 2\nx[0] * x[1]",
    "no leaf": "input x: float[2] = [2.0, 3.0]\nassert not (x * 2).requires_grad\nx * 2",
    "computed": "a = tensor([1.0, 2.0], requires_grad=True)\nx = a * 2\nassert x.grad_fn is not None\nx * a",
    "graph": "param x = 2.0\ny = x * 2\nassert y.grad_fn.next_functions[0][0].variable is x\ny",
}


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("text", UNSEEN.values(), ids=UNSEEN)
def test_the_program_does_not_see_that_it_is_checked(text, order):
    result = load(text).gradcheck(wrt="x", order=order)
    assert result.passed, result.checks
    assert not any(c.note for c in result.checks)


def test_a_name_and_what_it_was_made_of():
    result = load("input x = 3.0\na = x * 2\na ** 2 * x").gradcheck(wrt="a,x")
    found = {c.input: c.analytic for c in result.checks if c.mode == "reverse"}
    assert result.passed, result.checks
    assert found == {"a": 36.0, "x": 108.0}


# own rules that are right -------------------------------------------------------------------

MARKED = """\
class F(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        i = x * 3
        ctx.mark_non_differentiable(i)
        return x ** 2, i
    def backward(ctx, g, h):
        x, = ctx.saved_tensors
        return 2 * x * g
input x: float[2] = [1.0, 2.0]
a, b = F.apply(x)
a.sum()"""
SEVERAL = """\
class F(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2, x ** 3
    def backward(ctx, g, h):
        x, = ctx.saved_tensors
        return 2 * x * g + 3 * x ** 2 * h{}
input x = {}
a, b = F.apply(x)
sum(a + b)"""
SCALED = """\
class F(Function):
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return k * x ** 3
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 3 * ctx.k * x ** 2 * g, None
param x = 1.5
{}"""


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    "text",
    [
        MARKED,
        SEVERAL.format("", "2.0"),
        SEVERAL.format("", "[1.0, 2.0]"),
        SCALED.format("F.apply(x, 2.5)"),
    ],
)
def test_right_rules_of_several_values_pass(text, order):
    result = load(text).gradcheck(order=order)
    assert result.passed, [c for c in result.rules if not c.passed]
    assert {c.input for c in result.rules} == {"F[0]"}


def test_each_element_of_each_result_is_compared():
    result = load(SEVERAL.format(".flip(0)", "[1.0, 2.0]")).gradcheck()
    assert [c.index for c in result.rules if not c.passed] == [(1, 0, 1)] * 2


def test_an_argument_that_is_differentiated_needs_a_gradient():
    result = load(SCALED.format("input k = 2.5\nF.apply(x, k)")).gradcheck(wrt="x,k")
    assert {c.input for c in result.rules if not c.passed} == {"F[1]"}


def test_a_rule_that_is_cut_fails_by_itself_at_order_2():
    result = load(RULE.format("3 * x.detach() ** 2 * g")).gradcheck(order=2)
    assert {c.note for c in result.checks if c.mode != "dot" and c.order == 2} >= {"cut"}
    assert {c.order for c in result.rules if not c.passed} == {2}


def test_values_from_outside_are_moved_whatever_they_are():
    text = "input n: int = 3\ninput w = [[1.0, 2.0], [3.0, 4.0]]\nparam b = 0.5\nsum(w ** n) * b"
    assert load(text).gradcheck(wrt="w,b").passed
    assert load("x = 2.0\ny = [1.0, x]\ny[0] * y[1] ** 2").gradcheck(wrt="x,y").passed


# the command -------------------------------------------------------------------------------


@pytest.fixture
def wrong(tmp_path):
    path = tmp_path / "wrong.grad"
    path.write_text(RULE.format("g * 2 * x ** 2"))
    return str(path)


def test_plain_is_a_line_a_check(cli, wrong):
    status, out, err = cli("gradcheck", wrong)
    rows = [line.split("\t") for line in out.splitlines()]
    assert (status, err) == (1, "")
    assert [row[0] for row in rows] == ["x"] * 3 + ["k"] * 3 + ["Cube[0]"] * 3
    assert [row[2] for row in rows[:3]] == ["reverse", "forward", "dot"]
    assert rows[0][5] == "FAIL"
    assert float(rows[0][3]) == pytest.approx(12.0)
    assert rows[3][5] == "ok"


def test_json_has_the_worst_entry(cli, wrong):
    status, out, _ = cli("gradcheck", wrong, "--json")
    found = json.loads(out)
    assert (status, found["schema"], found["passed"]) == (1, "gradcli.gradcheck/1", False)
    worst = found["checks"][0]
    assert (worst["input"], worst["index"], worst["line"]) == ("x", [1], 11)
    assert (worst["analytic"], round(worst["numeric"], 6)) == (24.0, 36.0)
    assert list(worst)[:9] == [
        *("input", "order", "mode", "index", "analytic", "numeric", "error", "allowed", "passed")
    ]
    assert list(worst)[9:] == ["note", "line", "truncation", "rounding"]
    assert worst["allowed"] == worst["truncation"] + worst["rounding"] > 0
    assert len(found["rules"]) == 3


def test_csv_is_a_table(cli, wrong):
    _, out, _ = cli("gradcheck", wrong, "-f", "csv")
    lines = out.splitlines()
    assert lines[0] == (
        "input,order,mode,index,analytic,numeric,error,allowed,passed,note,line,truncation,"
        "rounding,kind"
    )
    assert len(lines) == 10
    assert [line.split(",")[-1] for line in lines[1:]] == ["input"] * 6 + ["rule"] * 3


def test_a_person_reads_what_is_wrong_and_why_that_much_is_allowed(cli, wrong):
    _, out, _ = cli("gradcheck", wrong, "-f", "human")
    assert "x (line 11): the derivative at [1] is 24 by reverse mode, 36 by differences" in out
    assert out.count(" by differences\n") == 2  # of each input the worst
    rows = [line.split() for line in out.splitlines()[:4]]
    assert rows[0] == ["name", "line", "index", "derivative", "differences", "error", "allowed"]
    assert rows[1][:6] == ["x", "11", "[1]", "24", "36", "12"]
    assert [(row[0], row[-1]) for row in rows[1:]] == [
        *(("x", "FAIL"), ("k", "ok"), ("Cube[0]", "FAIL"))
    ]
    assert out.endswith("4 of 9 checks failed\n")
    _, out, _ = cli("gradcheck", wrong, "-f", "human", "-v")
    heading, *rows = (line.split() for line in out.splitlines()[:10])
    assert heading == [
        *("name", "order", "mode", "index", "error", "allowed", "truncation", "rounding")
    ]
    assert [(row[0], row[2]) for row in rows[:3]] == [
        ("x", m) for m in ("reverse", "forward", "dot")
    ]


JUMPS = """\
class F(Function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (2 * x if x < 2 else x)
input x: float
F.apply(x) + relu(x)"""


def test_every_row_is_checked(cli):
    rows = "x\n1\n0\n5\n-1\n3\n"
    command = ("gradcheck", "-e", JUMPS, "--rows", "-")
    status, out, err = cli(*command, stdin=rows)
    heading, *lines = (line.split(",") for line in out.splitlines())
    assert heading == [
        *("passed", "input", "order", "mode", "index", "analytic", "numeric", "error", "allowed"),
        "verdict",
    ]
    assert [line[-1] for line in lines] == ["ok", "kink", "FAIL", "ok", "FAIL"]
    assert [line[0] for line in lines] == ["true", "true", "false", "true", "false"]
    assert (status, err) == (1, "gradcli: error[wrong-derivative]: checks fail in 2 rows: 2, 4\n")
    assert cli(*command, "--jobs", "2", stdin=rows) == (status, out, err)
    assert cli(*command, "-q", stdin=rows) == (status, out, "")
    assert cli(*command, stdin="x\n1\n0\n")[0::2] == (0, "")
    status, out, _ = cli(*command, "-f", "ndjson", stdin=rows)
    found = [json.loads(line) for line in out.splitlines()]
    assert [(f["row"], f["passed"], len(f["checks"])) for f in found[:3]] == [
        *((0, True, 3), (1, True, 3), (2, False, 3))
    ]
    status, out, err = cli(*command, "--on-error", "skip", stdin="x\noops\n5\n")
    assert status == 4  # that of the first bad row
    assert "checks fail in 1 row: 1" in err


def test_quiet_leaves_the_status_alone(cli, wrong):
    assert cli("gradcheck", wrong, "-q") == (1, "", "")
    assert cli("gradcheck", "-e", "x ** 2", "x=3", "-q") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["-e", "x ** 2", "x=3", "--order", "3"], 2),
        (["-e", "x ** 2", "x=3", "--wrt", "z"], 2),
        (["-e", "x ** 2"], 4),
        (["-e", "x **"], 3),
        (["-e", "argmax(x)", "x=[1, 2.5]"], 5),
        (["-e", "x > 1", "x=2.5"], 5),
        (["-e", "y = 3", "-e", "y / tensor([1, 2])[5]"], 5),
    ],
)
def test_statuses(cli, arguments, status):
    assert cli("gradcheck", *arguments)[0] == status


def test_what_failed_is_red_what_is_right_green_and_a_note_neither(cli):
    rule = (
        "class F(Function):\n    def forward(ctx, x): return x * 2\n"
        "    def backward(ctx, g): return g * 3\nparam x = 1.0\nF.apply(x) + relu(x - 1)"
    )
    _, out, _ = cli("gradcheck", "-e", rule, "-f", "human", "-v", "--color", "always")
    for text, style in {"FAIL": "1;38;5;196", "ok": "1;38;5;29", "kink": "1;38;5;136"}.items():
        ends = [line.rpartition("\x1b[")[0] for line in out.splitlines() if f"m{text}\x1b" in line]
        assert ends
        assert all(f"\x1b[{style}m{text}" in end for end in ends), text
