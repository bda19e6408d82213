"""Where the first nan or infinity of an answer came from: op, place, operands, turns and calls."""

from __future__ import annotations

from contextlib import suppress

import pytest
from support.programs.generated_programs import Writer

from gradcli import load
from gradcli.engine.report.values import is_data, plain_value
from gradcli.engine.run.execution.nonfinite_origins import Origins
from gradcli.engine.run.execution.observe import Ended, Recorded, UntilNode
from gradcli.engine.tape.tensor import OpNode, node_of
from gradcli.errors import RunError
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Options, given_values
from gradcli.questions.remarks.nonfinite import _UntilThen
from gradcli.source import Span

LESSON = "x = tensor(0.0, requires_grad=True)\ny = sqrt(x)\ny.backward()\n"

RUNS = {
    # numbers that nothing records
    "1 / 0": (1, "`div` made inf from", []),
    "y = exp(1000.0)\nz = y * 0\nz": (1, "`exp` made inf from", []),
    "f = lambda a: 0 * a\nf(inf)": (1, "as what `mul` gets is not", ["`a` is inf"]),
    "def f(a):\n    return a - log(a)\nt = 1.0\nfor i in range(3):\n    t = t + f(2.0 - i)\nt": (
        2,
        "`log` made -inf from",
        ["`a` is 0", "called from line 5", "in the 3rd turn of the loop at line 4"],
    ),
    "i = 3\nwhile i > -1:\n    y = log(i)\n    i = i - 1\ny": (
        3,
        "`log` made -inf from",
        ["`i` is 0", "in the 4th turn of the loop at line 2"],
    ),
    # lists, tensors and parts of them
    "[1.0, 2 / 0]": (1, "`div` made inf from", []),
    "x = tensor([0.0, 1.0])\nv = x[:1]\nw = 1 / x\nv += log(v)\nx * 2": (
        4,
        "`log` made -inf at [0] from",
        ["`v` is [0]"],
    ),
    "x = ones(2, 3)\nx[1] = tensor([1.0, 0.0, 1.0]) / 0\nx.sum()": (2, "`div` made inf at [0]", []),
    "x = ones(3)\nfor r in x / 0:\n    y = r * 2\ny": (2, "`div` made inf at [0]", ["`x` is [1"]),
    "l = []\nfor v in [2.0, 0.0]:\n    l.append(log(v))\nsum(l)": (
        3,
        "`log` made -inf from",
        ["in the 2nd turn of the loop at line 2"],
    ),
    "x = rand(9) * 0\n(x / x).mean()": (2, "`div` made nan at [0]", ["shape [9] from 0 to 0"]),
    # as the program says it, whatever it is made of
    "std(tensor([1.0]))": (1, "`std` made nan from", []),
    "x = tensor([1.0])\nx.std()": (2, "`std` made nan from", ["`x` is [1]"]),
    "x = tensor([2000.0, -1.0])\nx.exp_()\nx": (2, "`exp_` made inf at [0]", ["`x` is [2000, -1]"]),
    "f = log\nf(0.0) + 1": (2, "`f(0.0)` made -inf from", []),
    "class F(Function):\n    def forward(ctx, x):\n        return log(x)\n"
    "    def backward(ctx, g):\n        return g\nF.apply(tensor(0.0)) * 2": (
        3,
        "`log` made -inf",
        ["called from line 6"],
    ),
    # in a derivative that the program takes
    "grad(lambda x: sqrt(x))(0.0)": (1, "the derivative of `sqrt` is not finite", ["`x` is 0"]),
    "def f(x):\n    y = x * 1\n    return (sqrt(y) * 2).sum()\njacobian(f)(zeros(2))": (
        3,
        "the derivative of `sqrt` is not finite",
        ["`y` is [0, 0]", "called from line 4", "in the derivative by `jacobian(f)(zeros(2))`"],
    ),
    "def f(x): return x ** 0.5 + 1\njvp(f, 0.0, 1.0)[1]": (
        1,
        "the derivative of `pow` is not finite",
        ["in the derivative by `jvp` at line 2"],
    ),
    "def f(x):\n    y = sqrt(x)\n    n = k + 1\n    return y\nk = 2\ngrad(f)(0.0)": (
        2,
        "the derivative of `sqrt` is not finite",
        ["called from line 6"],
    ),
    "def f(x):\n    y = sqrt(x)\n    n = k + 1\n    return y\nk = tensor(2.0)\ngrad(f)(0.0)": (
        2,
        "the derivative of `sqrt` is not finite",
        ["called from line 6"],
    ),
    "f = lambda x: x * inf\ngrad(f)(0.0)": (2, "`grad(f)(0.0)` made inf from finite", []),
    "f = lambda x: log(x - 1)\ngrad(f)(1.0)": (1, "`log` made -inf from", ["called from line 2"]),
    # only what reaches the answer
    "a = log(0.0) if True else 0\nb = where(a > 0, a, 1.0)\nb / 0": (3, "`div` made inf", []),
    "a = log(0.0)\nb = 1 / 0\nwhere(tensor([True]), b, a)": (2, "`div` made inf", []),
    "a = log(0.0)\nb = 1 / 0\nmaximum(tensor(a), b)": (2, "`div` made inf", []),
    "a = log(0.0)\nb = 1 / 0\na * 0 + b": (1, "`log` made -inf", []),
    # the program's own gradients
    f"{LESSON}x.grad * 2": (
        2,
        "the derivative of `sqrt` is not finite",
        ["`x` is 0", "on the way back from the `backward` at line 3"],
    ),
    f"{LESSON}x.item()": (2, "the gradient of `x` is not finite: the derivative of `sqrt`", []),
    "x = tensor([0.0, 4.0], requires_grad=True)\nfor i in range(2):\n"
    "    y = x ** (i + 0.5)\n    y.backward(tensor([i, 1.0 - i]))\nprint(x.grad)\nx": None,
    "x = tensor([0.0, 4.0], requires_grad=True)\nfor i in range(2):\n"
    "    y = x ** (1.5 - i)\n    y.backward(tensor([i, 1.0 - i]))\nx.grad": (
        3,
        "the derivative of `pow` is not finite",
        ["in the 2nd turn of the loop at line 2", "`backward` at line 4"],
    ),
    "x = tensor(1.0, requires_grad=True)\nfor i in range(2):\n"
    "    y = x * 1e308\n    y.backward()\nx.grad": (  # finite passes with an infinite sum
        4,
        "the result is not finite: `backward` left it so",
        ["in the 2nd turn of the loop at line 2"],
    ),
}


def told(warning):
    return [*(label.text for label in warning.labels), *warning.notes]


def check(warnings, line, says, more):
    (warning,) = warnings
    assert (warning.place[1], says in warning.message) == (line, True), warning.message
    for part in more:
        assert any(part in t for t in told(warning)), told(warning)


@pytest.mark.parametrize("text", RUNS)
def test_a_run_tells_where_it_began(text):
    warnings = [w for w in load(text).run().warnings if w.code == "non-finite"]
    if RUNS[text] is None:
        assert warnings == []
        return
    check(warnings, *RUNS[text])


GRADIENTS = {
    "y = 0.0\nfor i in range(3):\n    y = y + sqrt(x) * i\ny": (
        3,
        "the gradient is not finite: the derivative of `sqrt` is not finite",
        ["`x` is 0", "in the 3rd turn of the loop at line 2"],
    ),
    "y = sqrt(x) + sin(x)\ny": (1, "the derivative of `sqrt`", []),  # both lead to x
    "f = lambda v: sqrt(v)\nf(x) * 2": (1, "the derivative of `sqrt`", ["called from line 2"]),
    "float_power(x, 0.5)": (1, "the derivative of `float_power`", ["`x` is 0"]),
    "mse_loss(sqrt(x), x)": (1, "the derivative of `sqrt`", ["`x` is 0"]),  # 0 times inf
    "where(x > 0, sqrt(x), x) + sqrt(x) * x": (1, "the derivative of `sqrt`", ["`x` is 0"]),
    "y = x / x\ny": (1, "the result is not finite: `div` made nan", ["`x` is 0"]),
    "1 / 0 + x": (1, "the result is not finite: `div` made inf", []),
    "where(x > 0, log(x), x)": None,
}


@pytest.mark.parametrize("text", GRADIENTS)
def test_a_gradient_tells_where_it_began(text):
    warnings = load(text).grad(x=0.0).warnings
    if GRADIENTS[text] is None:
        assert warnings == ()
        return
    check(warnings, *GRADIENTS[text])


@pytest.mark.parametrize(
    ("question", "text", "what"),
    [("run", "\nlog(x)", "the result"), ("grad", "\nsqrt(x)", "the derivative")],
)
def test_a_warning_without_an_explanation_is_of_the_whole_program(question, text, what):
    (found,) = getattr(load(text), question)(x=0.0, options=Options(explain=False)).warnings
    assert (found.message, found.span) == (f"{what} is not finite", Span(0, 0))


def test_looking_again_is_not_seen():
    printed = []
    text = "x = randn(3)\nprint(x.sum())\ny = x.sum() / 0\ny"
    found = load(text).run(options=Options(echo=printed.append))
    assert len(found.printed) == 1 == len("".join(printed).splitlines())
    (warning,) = found.warnings
    (label,) = warning.labels
    assert label.text.partition(" is ")[2] == f"{found.values['x'].sum():.6g}"  # the same numbers


def test_check_nan_tells_as_much():
    with pytest.raises(RunError) as refused:
        load("for i in range(2):\n    y = log(x)\ny").grad(x=0, options=Options(check_nan=True))
    (error,) = refused.value.diagnostics
    assert error.severity == "error"
    assert told(error) == ["`x` is 0", "in the 2nd turn of the loop at line 1"]


def test_of_many_rows_the_first_is_explained(cli, monkeypatch):
    from gradcli.engine.run.execution.execute import Executable

    runs = []
    plain = Executable.run
    monkeypatch.setattr(Executable, "run", lambda *args: (runs.append(args), plain(*args))[1])
    rows = "x\n1\n0\n0\n0\n"
    _, out, err = cli("run", "-e", "input x: float", "-e", "log(x)", "--rows", "-", stdin=rows)
    assert out.splitlines()[1:] == ["0.0", "-inf", "-inf", "-inf"]
    assert "`x` is 0" in err
    assert "first in row 1, line 3" in err
    assert len(runs) == 4 + 1  # which tells the place, too
    arguments = ("run", "-e", "input x: float", "-e", "log(x)", "--rows", "-", "-f", "ndjson")
    _, out, _ = cli(*arguments, stdin=rows)
    assert out.count("`log` made -inf from finite values") == 3


MIXED = """\
class Cube(Function):
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        return scale * x ** 3
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 3 * g * x ** 2, None
x = randn(3, requires_grad=True)
x.register_hook(print)
y = Cube.apply(x, 2.0).sum()
y.backward()
f = sin
l = []
for i in range(3):
    l.append(grad(f)(float(i)))
    f = cos
x.grad[:2].zero_()
print(sum(l), y.item(), jacobian(lambda v: v * v, x.detach()))
"""


def observed_texts():
    yield MIXED, {}
    for seed in range(6):
        writer = Writer(seed)
        yield writer.program(), writer.given()


def values(done):
    return repr([(n, plain_value(v)) for n, v in done.values.items() if is_data(v)])


def test_an_observed_run_is_the_same():
    for text, given in observed_texts():
        loaded = load(text).loaded
        plain = loaded.execute(given_values(given, {}), Options(seed=7), Watch(()))
        origins = Origins(loaded.source)
        seen = loaded.execute(given_values(given, {}), Options(seed=7), Watch(()), origins)
        assert (seen.lines, values(seen)) == (plain.lines, values(plain))
        assert origins.events > 3
        recorded = Recorded()
        loaded.execute(given_values(given, {}), Options(seed=7), Watch(()), recorded)
        assert recorded.events == origins.events  # their numbers are the same


SECOND = [  # a program at 0, and what is not finite: the first of the three is told
    ("x ** 2.5", []),
    ("x ** 1.5", ["the second derivative"]),
    ("sqrt(x)", ["the gradient"]),
    ("log(x)", ["the result"]),
]


@pytest.mark.parametrize(("text", "expected"), SECOND)
@pytest.mark.parametrize("question", ["hessian", "hvp"])
def test_of_value_gradient_and_second_derivative_the_first_is_told(text, expected, question):
    more = {"tangents": {"x": 1.0}} if question == "hvp" else {}
    found = getattr(load(f"input x = 0.0\n{text}"), question)(**more)
    assert [w.message.partition(" is not finite")[0] for w in found.warnings] == expected


LATE = """input k = 2.0
y, s = 1.0, 0.0
for i in range({turns}):
    y = sin(y * k) + 0.1 * y
    s = s + y * y
    if i == {at}:
        s = s + log(y * 0.0 - 1.0)
s
"""


@pytest.mark.parametrize("question", ["run", "grad"])
def test_turns_of_finite_floats_take_the_fast_path(question, monkeypatch):
    """No step is searched whose values are finite, or are nan because an earlier one was."""
    counts, plain = [], Origins._noted
    monkeypatch.setattr(Origins, "_noted", lambda *args: (counts.append(1), plain(*args))[1])
    seen = []
    for turns in (50, 400):
        counts.clear()
        found = getattr(load(LATE.format(turns=turns, at=turns // 2)), question)()
        assert found.warnings[0].message.endswith("`log` made nan from finite values")
        assert str(turns // 2 + 1) in found.warnings[0].notes[0]  # the turn
        seen.append(len(counts))
    assert seen[0] == seen[1] < 10


def test_the_run_that_tells_the_place_ends_there(monkeypatch):
    """The state before a change in place is told by a run of its own, up to there."""
    text = "x = tensor([1.0, 0.0])\nfor i in range(9):\n    x.log_()\n    y = i * 2.0\nx.sum()"
    events = []
    plain = _UntilThen.event

    def event(self, number, *args):
        events.append(number)
        return plain(self, number, *args)

    monkeypatch.setattr(_UntilThen, "event", event)
    found = load(text).run()
    assert "`log_` made" in found.warnings[0].message
    assert len(events) == 1


SLOPES = """param x = 0.0
y = 1.0
for i in range({turns}):
    y = y * 1.5 + x
    if i == {at}:
        y = y + {term}
y
"""


@pytest.mark.parametrize("term", ["sqrt(x) * x", "sqrt(x)", "log(x + 1) * inf"])
def test_a_pass_with_nan_looks_at_few_nodes(term, monkeypatch):
    """The fast path takes those that no zero beside infinity meets, and marks only numbers above
    such a one.
    """
    seen, counts = [], []
    for name in ("pull", "reaching"):
        plain = getattr(OpNode, name)
        noted = lambda *args, plain=plain: (counts.append(1), plain(*args))[1]  # noqa: E731
        monkeypatch.setattr(OpNode, name, noted)
    for turns in (50, 400):
        counts.clear()
        text = SLOPES.format(turns=turns, at=turns // 2, term=term)
        (warning,) = load(text).grad(options=Options(compile="never")).warnings
        assert "not finite" in warning.message
        seen.append(len(counts))
    assert seen[0] == seen[1] < 30


ARRAYS = """x = tensor([0.5, 2.0], requires_grad=True)
y = x
for i in range(4):
    y = (y * x).sin() + logsumexp(y, 0) * jvp(lambda v: v * v, (x,), (y,))[1]
y
"""


@pytest.mark.parametrize(
    "text", [MIXED, ARRAYS, SLOPES.format(turns=9, at=3, term="sqrt(x) * x")], ids=len
)
def test_the_event_of_a_node_is_that_of_another_run(text):
    """In a later run, too, whose shapes are known at each place."""
    loaded = load(text).loaded
    ask = {}, Options(seed=7), Watch(loaded.program.names)
    for _ in range(2):
        done, recorded = loaded.execute(*ask), Recorded()
        y, same = (node_of(run.values["y"]) for run in (done, loaded.execute(*ask, recorded)))
        for node, its in [(y, same), (y.edges[0], same.edges[0])]:
            until = UntilNode(node.seq - done.started)
            with suppress(Ended):
                loaded.execute(*ask, until)
            assert until.found == recorded.of(its) > 0
