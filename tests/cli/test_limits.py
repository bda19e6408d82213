"""Limits on steps, time, memory and depth, under every command that runs a program."""

import json
import re

import pytest

STEPS = {  # programs that take so many steps
    "a loop": ("for i in range(5): x = x + 1\nx", 5),
    "a while": ("while x < 5: x = x + 1\nx", 4),
    "a loop left and passed over": (
        "for i in range(9):\n    if i == 1: continue\n    if i == 4: break\nx",
        5,
    ),
    "loops in each other": ("for i in range(3):\n    for j in range(2): x = x + 1\nx", 9),
    "many loops in each other": (
        "".join(f"{'  ' * i}for i{i} in range(1):\n" for i in range(14))
        + "  " * 14
        + "x = x + 1\nx",
        14,
    ),
    "rows of a tensor": ("for v in ones(3): x = x + v\nx", 3),
    "a function": ("def f(a): return a * 2\nf(f(f(x)))", 3),
    "recursion": ("def f(n):\n    if n > 0: return f(n - 1)\n    return x\nf(4)", 5),
    "a lambda": ("f = lambda a: a * 2\nf(x) + f(x)", 2),
    "a function of a loop": ("def f(a):\n    for i in range(2): a = a * 2\n    return a\nf(x)", 3),
    "a transform": ("f = lambda a: a * a\ngrad(f)(x) + grad(grad(f))(x)", 2),
    "a matrix of derivatives": (
        "f = lambda a: a * a\njacobian(f)(ones(3)).sum() + hessian(lambda a: f(a).sum())(ones(2)).sum()",
        3,
    ),
    "an own rule and its derivative": (
        "class F(Function):\n    def forward(ctx, a): return a * 2\n"
        "    def backward(ctx, g): return g * 2\ngrad(F.apply)(x)",
        2,
    ),
    "a hook": (
        "y = tensor(1.0, requires_grad=True)\ny.register_hook(lambda g: g * 2)\n(y * y).backward()\n"
        "(y * y).backward()\ny.grad",
        2,
    ),
}


@pytest.mark.parametrize(("text", "steps"), STEPS.values(), ids=STEPS)
def test_a_run_takes_as_many_steps_as_it_may(cli, text, steps):
    for most, wanted in ((steps + 1, 0), (steps, 0), (steps - 1, 6)):
        status, _, err = cli("run", "-e", f"input x = 1.0\n{text}", "--max-steps", most, "-q")
        assert status == wanted, f"{most}: {err}"
        assert ("error[step-limit]" in err) == (wanted == 6), err


DEPTHS = {  # programs whose calls are so deep within each other
    "recursion": ("def f(n):\n    if n > 0: return f(n - 1)\n    return x\nf(9)", 10),
    "two in turn": ("def f(n): return g(n)\ndef g(n): return f(n - 1) if n > 0 else x\nf(4)", 10),
    "calls behind each other": ("def f(n): return g(n) + g(n)\ndef g(n): return n\nf(x) + f(x)", 2),
    "many functions": (
        "".join(f"def f{i}(n): return f{i + 1}(n)\n" for i in range(9)) + "f9 = sin\nf0(x)",
        9,
    ),
    "a closure": (
        "f = lambda a: a\nfor i in range(4):\n    f = (lambda g: lambda a: g(a) + 1)(f)\nf(x)",
        5,
    ),
    "a return out of loops": (
        "def f(n):\n    for i in range(2):\n        while True: return n\n"
        "def g(n): return f(n)\nfor i in range(9): g(x)\nx",
        2,
    ),
    "no return": ("def f(n):\n    n + 1\ndef g(n): f(n)\nfor i in range(9): g(x)\nx", 2),
    "derivatives in each other": (
        "f = lambda a: a * a\nfor i in range(3): f = (lambda g: lambda a: grad(g)(a))(f)\nf(x)",
        4,
    ),
}


@pytest.mark.parametrize(("text", "depth"), DEPTHS.values(), ids=DEPTHS)
def test_calls_are_as_deep_as_they_may_be(cli, text, depth):
    for most, wanted in ((depth + 1, 0), (depth, 0), (depth - 1, 6)):
        status, _, err = cli("run", "-e", f"input x = 1.0\n{text}", "--max-depth", most, "-q")
        assert status == wanted, f"{most}: {err}"
        assert ("error[recursion-limit]" in err) == (wanted == 6), err


@pytest.mark.parametrize("depth", [999, 1000, 1001])
def test_calls_are_a_thousand_deep_without_a_limit(cli, depth):
    text = "def f(n):\n    if n > 1: return f(n - 1)\n    return 7\n"
    status, out, err = cli("run", "-e", f"{text}f({depth})")
    assert (status, out) == ((0, "7\n") if depth <= 1000 else (6, ""))
    assert depth <= 1000 or err.startswith(
        "<expr>:2:22: error[recursion-limit]: functions call each other more than 1000 deep"
    )


def test_calls_may_be_ten_thousand_deep(cli):
    text = "def f(n):\n    if n > 1: return f(n - 1) + x\n    return x\nf(10000)"
    assert cli("grad", "-e", f"input x = 1.0\n{text}", "--max-depth", "10000", "-r")[:2] == (
        0,
        "10000.0\n",
    )


COMMANDS = {
    "run": ["--seed", "1"],
    "grad": [],
    "jvp": ["--tangent", "x=1"],
    "vjp": [],
    "jacobian": [],
    "hessian": [],
    "hvp": ["--tangent", "x=1"],
    "gradcheck": [],
    "graph": [],
}
ENDLESS = "input x = 1.0\nwhile True: x = x * 1.0001\nx"
DEEP = "input x = 1.0\ndef f(a): return f(a) + 1\nf(x)"
LARGE = "input x = 1.0\ny = ones(1000, 1000)\nx * 2"
REACHED = {  # option and value, a program, the code
    "steps": ("--max-steps", "50", ENDLESS, "step-limit"),
    "time": ("--time-limit", "10ms", ENDLESS, "time-limit"),
    "memory": ("--max-memory", "1MB", LARGE, "memory-limit"),
    "depth": ("--max-depth", "20", DEEP, "recursion-limit"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("option", "value", "text", "code"), REACHED.values(), ids=REACHED)
def test_each_limit_holds_under_each_command(cli, command, option, value, text, code, monkeypatch):
    status, out, err = cli(command, "-e", text, option, value, *COMMANDS[command])
    assert (status, out) == (6, ""), err
    assert re.match(rf"<expr>:\d+:\d+: error\[{code}\]: ", err), err
    assert f"= help: `{option}` sets this limit" in err
    if option == "--max-steps":  # one of them says it all for the environment
        monkeypatch.setenv("GRADCLI_MAX_STEPS", value)
        assert cli(command, "-e", text, *COMMANDS[command]) == (status, out, err)


def test_a_value_of_the_environment_that_is_none_names_its_variable(cli, monkeypatch):
    monkeypatch.setenv("GRADCLI_TIME_LIMIT", "soon")
    status, _, err = cli("run", "-e", "1")
    assert status == 2
    assert "`soon` in `GRADCLI_TIME_LIMIT` is not a time" in err
    assert cli("run", "-e", "1", "--time-limit", "1s")[0] == 0


def test_at_a_limit_the_last_turn_and_values_are_told(cli):
    text = "input x = 1.0\nn = [1, 2]\nwhile True:\n    print(x)\n    x = x + 1"
    status, out, err = cli("run", "-e", text, "--max-steps", "3", "-v")
    assert (status, out) == (6, "1.0\n2.0\n3.0\n")
    assert "in the 4th turn of the loop at line 3" in err
    assert "`x` was 4.0" in err
    assert "`n` was a list" in err
    assert "`x` was" not in cli("run", "-e", text, "--max-steps", "3")[2]


ROWS = "n\n2\n9\n3\n"
COUNTS = "input n: int\ny = 0\nfor i in range(n): y = y + 1.0\ny"


@pytest.mark.parametrize("jobs", [[], ["--jobs", "2"]])
def test_each_row_has_the_limits_to_itself(cli, jobs):
    command = ["run", "-e", COUNTS, "--rows", "-", "--max-steps", "5", *jobs]
    status, out, err = cli(*command, stdin=ROWS)
    assert (status, out) == (6, "y\n2.0\n")
    assert "in row 1, line 3" in err
    assert cli(*command, "--on-error", "skip", stdin=ROWS)[:2] == (6, "row,y\n0,2.0\n2,3.0\n")
    status, out, _ = cli(*command, "--on-error", "record", "-f", "ndjson", stdin=ROWS)
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row.get("result") for row in rows] == [2.0, None, 3.0]
    assert rows[1]["error"]["code"] == "step-limit"


def test_a_row_whose_time_is_over_ends_alone(cli):
    text = "input n: int\nwhile n > 5: n = n + 0\nn"
    command = ["run", "-e", text, "--rows", "-", "--time-limit", "10ms", "--on-error", "skip"]
    status, out, err = cli(*command, stdin=ROWS)
    assert (status, out) == (6, "row,n\n0,2\n2,3\n"), err
    assert "error[time-limit]: the time limit of 0.01 s is reached" in err


def test_a_check_ends_at_a_limit_that_only_a_moved_value_reaches(cli):
    """What fails elsewhere is no point to compare at; a limit is one wherever it is reached."""
    text = "y = x\nfor i in range(20 if x > 1.0 else 1): y = y * x\ny"
    status, out, err = cli("gradcheck", "-e", text, "x=1", "--max-steps", "10")
    assert (status, out) == (6, ""), err
    assert "error[step-limit]" in err
