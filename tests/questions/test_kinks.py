"""The operations that a run evaluates at a corner, jump or tie, and what their slopes are there."""

import json
import math

import numpy as np
import pytest
from support.programs.generated_programs import Writer

from gradcli import load
from gradcli.questions.asked.request import Options
from gradcli.questions.remarks import pytorch

ASKED = Options(kinks=True)

# program, inputs, kinks: operation, line, index, left, right, chosen
CORNERS = [
    ("relu(x)", 0.0, [("relu", 1, (), 0, 1, 0)]),
    ("relu(x)", 1e-300, []),
    ("leaky_relu(x)", 0.0, [("leaky_relu", 1, (), 0.01, 1, 0.01)]),
    ("abs(x)", 0.0, [("abs", 1, (), -1, 1, 0)]),
    ("x.abs() + x ** 2", [0.0, 1.0], [("abs", 1, (0,), -1, 1, 0)]),
    ("clamp(x, 0, 1)", [0.0, 0.5, 1.0], [
        ("clamp", 1, (0,), 0, 1, 1), ("clamp", 1, (2,), 1, 0, 1),
    ]),
    ("relu6(x)", [0.0, 6.0], [("relu6", 1, (0,), 0, 1, 0), ("relu6", 1, (1,), 1, 0, 0)]),
    ("hardtanh(x)", 1.0, [("hardtanh", 1, (), 1, 0, 0)]),
    ("hardswish(x)", 3.0, [("hardswish", 1, (), 1.5, 1, 1)]),
    ("hypot(x, 0.0)", 0.0, [("hypot", 1, (), -1, 1, 0)]),
    ("maximum(x, 3.0)", 3.0, [("maximum", 1, (), 0, 1, 0.5)]),
    ("fmin(x, 3.0)", 3.0, [("fmin", 1, (), 1, 0, 1)]),
    ("maximum(x, tensor([1.0, 2.0]))", 2.0, [("maximum", 1, (), 0, 1, 0.5)]),
    ("l1_loss(x, ones(2))", [1.0, 3.0], [("l1_loss", 1, (0,), -1, 1, 0)]),
    ("norm(x)", [0.0, 0.0], [("norm", 1, (0,), -1, 1, 0), ("norm", 1, (1,), -1, 1, 0)]),
    ("norm(x, 1)", [0.0, -2.0], [("norm", 1, (0,), -1, 1, 0)]),
    ("norm(x, inf)", [2.0, -2.0], [("norm", 1, (0,), 0, 1, 0.5), ("norm", 1, (1,), -1, 0, -0.5)]),
    ("max(x)", [1.0, 3.0, 3.0], [("max", 1, (1,), 0, 1, 0.5), ("max", 1, (2,), 0, 1, 0.5)]),
    ("amin(x)", [1.0, 3.0, 3.0], []),
    ("max(x, 0).values", [3.0, 3.0], [("max", 1, (0,), 0, 1, 1), ("max", 1, (1,), 0, 1, 0)]),
    ("median(x)", [1.0, 2.0, 2.0], [("median", 1, (1,), 1, 0, 0.5), ("median", 1, (2,), 1, 0, 0.5)]),
    ("median(x)", [2.0, 2.0, 2.0], [("median", 1, (i,), 0, 0, 1 / 3) for i in range(3)]),
    ("std(x)", [3.0, 1.0], []),
    ("sort(x).values", [1.0, 1.0], [
        ("sort", 1, (0,), [1, 0], [0, 1], [1, 0]), ("sort", 1, (1,), [1, 0], [0, 1], [0, 1]),
    ]),
    ("topk(x, 1).values", [2.0, 2.0], [("topk", 1, (0,), 0, 1, 1), ("topk", 1, (1,), 0, 1, 0)]),
    ("abs(x[[0, 0]])", [0.0], [("abs", 1, (0,), -1, 1, 0), ("abs", 1, (1,), -1, 1, 0)]),
    ("f = lambda v: relu(v)\ny = f(x) * 2\ny", 0.0, [("relu", 1, (), 0, 1, 0)]),
    # not on the way to the result, or not from what is differentiated
    ("a = relu(x)\nx ** 2", 0.0, []),
    ("relu(0.0) + x", 0.0, []),
    ("with no_grad():\n    a = relu(x)\na + x", 0.0, []),
    # smooth, however steep, and edges of domains
    ("binary_cross_entropy(x, ones(2))", [0.0, 1.0], []),
    ("sin(x) + x ** 3 + exp(x) + tanh(x)", 0.0, []),
    ("elu(x) + silu(x) + gelu(x) + softplus(x)", 0.0, []),
    ("tan(x)", 1.5707963267948966, []),
    ("1 / x", 1e-300, []),
    ("sqrt(x) + log(x) + x ** 1.5", 0.0, []),
    ("sum(x) + prod(x) + logsumexp(x, 0)", [2.0, 2.0], []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "x", "expected"), CORNERS)
def test_a_kink_has_both_slopes(text, x, expected):
    result = load(f"input x = {x}\n{text}").run().result
    weight = np.ones(np.shape(result)) if np.shape(result) else None
    found = load(f"{text}\n").grad(x=x, cotangent=weight, options=ASKED).kinks
    told = [(k.op, k.line, k.index, k.left, k.right, k.chosen) for k in found]
    assert [t[:3] for t in told] == [e[:3] for e in expected]
    for got, wanted in zip(told, expected, strict=True):
        for a, b in zip(got[3:], wanted[3:], strict=True):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-12), (got, wanted)


# Program, input, operations at which the pass back of PyTorch 2.13 makes nan and gradcli's does not.
# PyTorch's gradient has a nan in each of these rows, and in none without an operation but the last.
NAN_IN_PYTORCH = [
    # the starred rows of docs/kinks.md
    ("hypot(x, x * 2)", 0.0, ["hypot", "hypot"]),
    ("where(x > 0, log(x), 0)", 0.0, ["log"]),
    ("where(x > 0, sqrt(x), 0)", 0.0, ["sqrt"]),
    ("tensor([0.0, 2.0]) * sqrt(x)", [0.0, 4.0], ["sqrt"]),
    ("sqrt(tensor([0.0, 2.0]) * x)", [1.0, 2.0], ["mul"]),
    # and others
    ("where(x > 0, sqrt(x), 0)", -1.0, ["sqrt"]),
    ("where(x > 0, 1 / x, 0)", 0.0, ["div"]),
    ("where(x > 0, x ** 0.5, 0)", 0.0, ["pow"]),
    ("where(x > 0, x * log(x), 0)", 0.0, ["log", "mul"]),
    ("where(x > 0, xlogy(x, x), 0)", 0.0, ["xlogy"]),
    ("where(x > 0, tensor(-1.0) ** (x + 1), 0)", -1.0, ["pow"]),
    ("where(x > 0, log1p(x), 0)", -1.0, ["log1p"]),
    ("where(x > 0, digamma(x), 0)", 0.0, ["digamma"]),
    ("where(x < 700, exp(x), 0)", 800.0, ["exp"]),
    ("masked_fill(log(x), x <= 0, 0)", 0.0, ["log"]),
    ("where(x > 0, sqrt(x.pow(2).sum()), 0)", [0.0, 0.0], ["sqrt"]),
    ("hypot(x, x) * 0", 0.0, ["hypot", "hypot"]),
    ("sqrt(x / inf)", 1.0, ["div"]),
    # PyTorch's formula gives a number
    ("atan2(x, x)", 0.0, []),
    ("where(x > 0, log(x), 0)", -1.0, []),
    ("where(x > 0, log2(x), 0)", -1.0, []),
    ("where(x > 0, log1p(x), 0)", -2.0, []),
    ("where(x > 0, atanh(x), 0)", -2.0, []),
    ("where(x > 0, digamma(x), 0)", -1.0, []),
    ("where(x > 0, x ** x, 0)", 0.0, []),
    ("where(x > 0, xlogy(x, tensor(0.0)), 0)", -1.0, []),
    ("asin(x ** tensor([0, 2]))", [3.0, 0.0], []),
    ("sqrt(relu(x))", -1.0, []),
    ("norm(x)", [0.0, 0.0], []),
    ("0 * abs(x)", 0.0, []),
    # where the value is chosen, or takes part
    ("where(x > 0, log(x), 0)", 1.0, []),
    ("where(x > 0, sqrt(x), 0) + x", [1.0, 2.0], []),
    ("sqrt(x)", 0.0, []),
    ("sqrt(x) ** 2", 0.0, []),  # nan in both
]


@pytest.mark.parametrize(("text", "x", "expected"), NAN_IN_PYTORCH)
def test_where_pytorch_gives_nan_is_told(text, x, expected):
    weight = np.ones(np.shape(load(f"input x = {x}\n{text}").run().result))
    found = load(f"{text}\n").grad(x=x, cotangent=weight if weight.shape else None, options=ASKED)
    told = [k for k in found.kinks if k.pytorch_nan]
    assert [k.op for k in told] == expected
    assert all(k.chosen == 0 for k in told)


def test_pytorch_gives_that_nan():
    torch = pytest.importorskip("torch")
    names = {name: getattr(torch, name) for name in dir(torch) if name[0] != "_"}
    for text, at, expected in NAN_IN_PYTORCH[:-1]:
        x = torch.tensor(at, dtype=torch.float64, requires_grad=True)
        eval(text, names | {"x": x, "tensor": torch.tensor}).sum().backward()
        assert bool(x.grad.isnan().any()) == bool(expected), text


def test_a_broadcast_operand_is_told_where_pytorch_gives_nan():
    text = "where(tensor([True, False]), tensor([1.0, 0.0]) / x, 0).sum() + y"
    found = load(text).grad(x=[[1.0], [0.0]], y=1.0, options=ASKED)
    told = [(k.op, k.argument, k.index) for k in found.kinks if k.pytorch_nan]
    assert found.grad["x"].tolist() == [[-1.0], [-np.inf]]
    assert told == [("div", "other", (1, 0))]


@pytest.mark.parametrize(
    ("text", "x", "jump"),
    [
        ("floor(x)", 2.0, (1, 2)),
        ("ceil(x)", 2.0, (2, 3)),
        ("round(tensor(1.0) * x)", 2.5, (2, 3)),
        ("sign(x)", 0.0, (-1, 1)),
        ("remainder(x, 3)", 6.0, (3, 0)),
        ("heaviside(x, 0.5)", 0.0, (0, 1)),
        ("frac(x)", 2.0, (1, 0)),
    ],
)
def test_a_jump_has_both_values(text, x, jump):
    (kink,) = load(f"{text} + x").grad(x=x, options=ASKED).kinks
    assert kink.left == kink.right == kink.chosen
    assert kink.jump == pytest.approx(jump, abs=1e-12)
    assert not load(f"{text} + x").grad(x=x + 0.25, options=ASKED).kinks


def test_turns_and_calls_are_told():
    text = "def f(v):\n    return abs(v)\ny = 0.0\nfor i in range(3):\n    y = y + f(x - i)\ny"
    (kink,) = load(text).grad(x=1.0, options=ASKED).kinks
    assert (kink.op, kink.line, kink.column) == ("abs", 2, 12)
    assert kink.turns == ("called from line 5", "in the 2nd turn of the loop at line 4")


def test_a_run_tells_of_all_its_values():
    found = load("param x = 0.0\ny = relu(x)\nz = abs(x)\nprint(y)").run(options=ASKED).kinks
    assert [(k.op, k.line) for k in found] == [("relu", 2), ("abs", 3)]
    assert load("param x = 0.0\nrelu(x)").run().kinks is None
    trained = "param w = [0.0, 1.0]\nl = 0\nfor i in range(3):\n    l = l + abs(w).sum()\n"
    trained += "    with no_grad():\n        w -= 0.5\nl"
    found = load(trained).run(options=ASKED).kinks
    turns = [(k.index, k.turns[0][:10]) for k in found]
    assert turns == [((0,), "in the 1st"), ((1,), "in the 3rd")]


@pytest.mark.parametrize("seed", range(4))
def test_smooth_programs_have_none(seed):
    writer = Writer(seed)
    text, given = writer.program(), writer.given()
    assert load(text).grad(given, options=ASKED).kinks == ()


def test_forms(cli):
    program = ("-e", "y = relu(x) * 2", "-e", "y", "x=0", "--kinks")
    status, out, err = cli("grad", *program, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["kinks"] == [
        {
            "op": "relu", "line": 1, "column": 5, "argument": "input", "index": [], "at": 0.0,
            "left": 0.0, "right": 1.0, "chosen": 0.0, "jump": None, "turns": [],
            "pytorch_nan": False,
        }
    ]  # fmt: skip
    line = "kink\trelu\t1\tinput\t[]\t0.0\t0.0\t1.0\t0.0\n"
    assert cli("grad", *program)[1] == f"y\t0.0\ngrad.x\t0.0\n{line}"
    assert cli("run", *program)[1] == f"0.0\n{line}"
    assert "relu  1     0   0     1      0" in cli("grad", *program, "-f", "human")[1]
    assert "relu  1     0   0     1      0" in cli("run", *program, "-f", "human")[1]
    guarded = ("-e", "where(x > 0, log(x), 0)", "x=0", "--kinks", "-f", "human")
    assert "0       PyTorch gives nan here" in cli("grad", *guarded)[1]
    smooth = ("-e", "x ** 2", "x=0", "--kinks")
    assert "no operation is evaluated at" in cli("run", *smooth, "-f", "human")[1]
    assert json.loads(cli("run", *smooth, "--json")[1])["kinks"] == []
    for refused in (["-f", "csv"], ["-r"], ["--rows", "-"]):
        for command in ("run", "grad"):
            status, _, err = cli(command, "-e", "relu(x)", "--kinks", *refused, stdin="x\n0\n")
            assert (status, "`--kinks` does not go with" in err) == (2, True)


GUARDED = "where(x > 0, log(x), 0)"
WARNED = {  # a program, its arguments, where the warnings are
    "a guard": (GUARDED, ["x=0"], ["1:14"]),
    "nothing guarded": (GUARDED, ["x=1"], []),
    "an operation in a loop": (
        f"y = 0.0\nfor i in range(5):\n    y = y + {GUARDED}\ny",
        ["x=0"],
        ["3:26"],
    ),
    "two operations": (
        f"y = {GUARDED}\nz = where(x > 0, sqrt(x), 0)\ny + z",
        ["x=0"],
        ["1:18", "2:18"],
    ),
    "the origin of hypot": ("hypot(x, y)", ["x=0", "y=0"], ["1:1"]),
    "too many turns": (f"y = 0.0\nfor i in range(90):\n    y = y + {GUARDED}\ny", ["x=0"], []),
}


@pytest.mark.parametrize("compile", ["auto", "never", "always"])
@pytest.mark.parametrize("name", WARNED)
def test_check_nan_warns_where_pytorch_gives_nan(name, compile, cli, monkeypatch):
    assert pytorch._STEPS == 10_000  # as the docs say
    monkeypatch.setattr(pytorch, "_STEPS", 80)
    text, inputs, places = WARNED[name]
    asked = ("-e", text, *inputs, "--check-nan", "--compile", compile)
    status, out, err = cli("grad", *asked)
    assert (status, out) == cli("grad", *asked[:-3], "--compile", compile)[:2]
    lines = [line for line in err.splitlines() if "[pytorch-nan]" in line]
    assert [line.split(": ")[0].removeprefix("<expr>:").rstrip(":") for line in lines] == places
    assert "pytorch-nan" not in cli("grad", *asked, "--kinks")[2]


def test_check_nan_of_rows_and_several_results_warns_of_nothing(cli):
    rows = cli("grad", "-e", GUARDED, "--check-nan", "--rows", "-", stdin="x\n0\n1\n")
    assert rows == (0, "result,grad.x\n0.0,0.0\n0.0,1.0\n", "")
    several = ("-e", f"y = {GUARDED}", "-e", "z = x * x", "x=0", "--of", "y,z", "--check-nan")
    assert cli("grad", *several)[::2] == (0, "")


INF = math.inf
SUMS = [  # the values, the dimension, the elements at which PyTorch 2.13 gives nan
    ([-INF, -INF], 0, [(0,), (1,)]),
    ([INF, 1.0], 0, [(0,)]),
    ([INF, INF], 0, [(0,), (1,)]),
    ([-INF, 1.0], 0, []),
    ([0.5, 1.0], 0, []),
    ([[INF, 1.0], [0.0, 1.0], [-INF, -INF]], 1, [(0, 0), (2, 0), (2, 1)]),
]


@pytest.mark.parametrize(("x", "dim", "places"), SUMS)
def test_logsumexp_of_infinities_is_nan_in_pytorch(x, dim, places):
    found = load(f"logsumexp(x, {dim}).sum()").grad(x=x, options=ASKED)
    assert [k.index for k in found.kinks if k.pytorch_nan] == places
    assert all(k.chosen == found.grad["x"][k.index] for k in found.kinks)
