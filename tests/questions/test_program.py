"""Questions to a program: inputs, what is differentiated, results, warnings."""

import math

import numpy as np
import pytest

from gradcli.errors import AssertionFailed, GradError, InputError, LimitError, RunError, UsageError
from gradcli.program import Options, constant, load

COOLING = """
param k = 0.1
param T0: float = 90
input t: float[n] = [0, 5, 10]
input T: float[n] = [90, 62, 46]
def model(t):
    return 20 + (T0 - 20) * exp(-k * t)
mean((model(t) - T) ** 2)
"""

GRADIENTS = {
    "free names": ("x ** 2 * y", {"x": 3, "y": 2}, None, {"x": 12.0, "y": 9.0}),
    "a constant": ("x = 3.0\nx * x", {}, None, {"x": 6.0}),
    "a constant given from outside": ("x = 3.0\nx * x", {"x": 4}, None, {"x": 8.0}),
    "an int constant asked for": ("x = 3\nx * x", {}, "x", {"x": 6.0}),
    "a list": ("w = [1, 2]\nsum(w * w)", {}, "w", {"w": [2.0, 4.0]}),
    "a nested list keeps its kind": (
        "w = [[1.0, 2.0], [3.0, 4.0]]\ns = 0\nfor row in w:\n    s += row[0] * row[1]\ns",
        {},
        "w",
        {"w": [[2.0, 1.0], [4.0, 3.0]]},
    ),
    "a computed name": ("x = 2.0\ny = x * x\ny ** 3 + x", {}, "y", {"y": 48.0}),
    "a leaf": (
        "x = tensor([1.0, 2.0], requires_grad=True)\n(x * x).sum()",
        {},
        None,
        {"x": [2, 4]},
    ),
    "a leaf given from outside is a leaf": (
        "x = tensor(1.0, requires_grad=True)\ny = x * x\ny.backward()\nassert x.grad == 6\ny",
        {"x": 3},
        None,
        {"x": 6.0},
    ),
    "params before inputs": ("param a = 2.0\ninput b = 3.0\na * b", {}, None, {"a": 3.0}),
    "inputs without params": ("input n = 2\ninput b = 3.0\nb ** n", {}, None, {"b": 6.0}),
    "an input assigned again": ("input x = 2.0\nx = x * x\nx", {}, "x", {"x": 4.0}),
    "a loop": ("y = 1\nfor i in range(3):\n    y = y * x\ny", {"x": 2}, None, {"x": 12.0}),
    "recursion": (
        "def power(a, n):\n    return 1.0 if n == 0 else a * power(a, n - 1)\npower(x, 4)",
        {"x": 2},
        None,
        {"x": 32.0},
    ),
    "a branch on the value": ("x ** 2 if x > 0 else -x", {"x": -3}, None, {"x": -1.0}),
    "a closure": (
        "def outer(a):\n    def inner(b):\n        return a * b\n    return inner\nouter(x)(x)",
        {"x": 3},
        None,
        {"x": 6.0},
    ),
    "through backward inside": (
        "x = tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\ny * x.grad",
        {},
        "x",
        {"x": 36.0},
    ),
    "max of numbers": ("max(x, y)", {"x": 3, "y": 2}, None, {"x": 1.0, "y": 0.0}),
    "float keeps a number": ("float(x) * x", {"x": 3}, None, {"x": 6.0}),
}


@pytest.mark.parametrize(("text", "given", "wrt", "grad"), GRADIENTS.values(), ids=GRADIENTS)
def test_gradients(text, given, wrt, grad):
    found = load(text).grad(given, wrt=wrt).grad
    assert {k: np.asarray(v).tolist() for k, v in found.items()} == grad


def test_value_and_gradient_of_a_model():
    result = load(COOLING).grad()
    assert result.output == "result"
    assert list(result.grad) == ["k", "T0"]
    t = np.array([0.0, 5.0, 10.0])
    decay = np.exp(-0.1 * t)
    residual = 20 + 70 * decay - np.array([90.0, 62.0, 46.0])
    assert result.value == pytest.approx(np.mean(residual**2), rel=1e-14)
    assert result.grad["T0"] == pytest.approx(np.mean(2 * residual * decay), rel=1e-13)
    assert result.grad["k"] == pytest.approx(np.mean(2 * residual * -t * 70 * decay), rel=1e-13)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("input x = 2.0\ninput n = 3\nx ** n", ["x"]),
        ("input x = 2.0\ninput n: int = 3\nx ** n", ["x"]),
        ("input x = 2.0\ninput b: bool = True\nx if b else -x", ["x"]),
        ("input x\ninput n: int\ny = n * 1.0\nx ** n + y", ["x"]),
        ("input v: float[2]\ninput k: int[2]\n(v * k).sum()", ["v"]),
        ("input v\nt = tensor(2.0)\n(v * t).sum()", ["v"]),
        ("input x = 2.0\nparam a = 3.0\nx * a", ["a"]),
        ("input n: int = 3\nx = 2.0\nx ** n", ["x"]),
        ("x * y", ["x", "y"]),
    ],
)
def test_without_wrt_the_floats_are_differentiated_by(text, expected):
    given = {"x": 2.0, "y": 3.0, "n": 2, "b": True, "v": [1.0, 2.0], "k": [1, 2]}
    program = load(text)
    named = {name: value for name, value in given.items() if name in program.inputs}
    for name in ("grad", "jacobian"):
        found = getattr(program, name)(named)
        assert list(getattr(found, name)) == expected


INVISIBLE = """
y = x * 2
print(x, type(x), [x], f"{x} {x:.3f}")
v = tensor([1.0, 2.0])
v.add_(1)
print(v.requires_grad, v.is_leaf, v.grad_fn, v)
sum(v) * y
"""


def test_being_differentiated_is_invisible():
    program = load(INVISIBLE)
    run, grad = program.run(x=2), program.grad(x=2, wrt=["x", "v"])
    assert grad.printed == run.printed
    assert grad.value == run.result
    assert np.asarray(grad.grad["v"]).tolist() == [4.0, 4.0]


def test_a_shape_is_unpacked_and_gone_through():
    text = "x = ones(2, 3)\nr, c = x.shape\nn, m = x.size()\ns = 0\nfor d in x.shape: s += d\n"
    assert load(text + "[r, c, n, m, s]").run().result.tolist() == [2, 3, 2, 3, 5]


def test_none_is_a_value():
    text = "input k = None\nn = None\ninput x = 2.0\nx if k is None and n is None else x * k"
    assert load(text).run().result == 2.0
    assert load(text).run(k=3).result == 6.0


REFUSED = {
    "an unknown input": ("x * 2", {"y": 1}, InputError, "unknown-input"),
    "a missing input": ("x * 2", {}, InputError, "missing-input"),
    "None from outside": ("x * 2", {"x": None}, InputError, "bad-input"),
    "floats as an index": ("ones(2, 3)[ones(3)]", {}, RunError, "wrong-type"),
    "no slope": ("leaky_relu(ones(2), None)", {}, RunError, "wrong-type"),
    "several slopes": ("elu(ones(2), ones(3))", {}, RunError, "wrong-type"),
    "text for a slope": ("softplus(ones(2), 'a')", {}, RunError, "wrong-type"),
    "numbers for a mode": ("linalg_qr(ones(2, 2), ones(3))", {}, RunError, "wrong-type"),
    "a list nested deep": (
        "x = [1.0]\nfor i in range(3000): x = [x]\nx",
        {},
        RunError,
        "nested-too-deep",
    ),
    "None for a float": ("input x: float = None\nx", {}, InputError, "wrong-type"),
    "text for an int": ("input x: int = 'a'\nx", {}, InputError, "wrong-type"),
    "a computed name given": ("x = 1.0\ny = x * 2\ny", {"y": 1}, InputError, "unknown-input"),
    "a size that does not fit": (COOLING, {"t": [1, 2]}, InputError, "shape-mismatch"),
    "a size that is an input": (
        "input n: int = 2\ninput x: float[n] = [1, 2]\nsum(x)",
        {"n": 3},
        InputError,
        "shape-mismatch",
    ),
    "a size that is a later input": (
        "input x: float[n] = [1, 2]\ninput n: int = 2\nsum(x)",
        {"n": 3},
        InputError,
        "shape-mismatch",
    ),
    "a tensor for a number": ("input x: float\nx", {"x": [1, 2]}, InputError, "shape-mismatch"),
    "a float for an int": ("input n: int\nn", {"n": 1.5}, InputError, "wrong-type"),
    "a false assert": ("assert 1 > 2, 'no'", {}, AssertionFailed, "assertion-failed"),
    "shapes": ("ones(2) + ones(3)", {}, RunError, "shape-mismatch"),
    "used before assigned": (
        "if x > 0:\n    y = 1\ny",
        {"x": -1},
        RunError,
        "used-before-assigned",
    ),
    "a number called": ("x = 3.0\nf = x\nf(2)", {}, GradError, None),
    "endless recursion": ("def f(x):\n    return f(x)\nf(1)", {}, LimitError, "recursion-limit"),
    "an index out of range": ("[1, 2][5]", {}, RunError, "index-out-of-range"),
    "too many to unpack": ("a, b = [1, 2, 3]", {}, RunError, "wrong-count"),
    "an ambiguous condition": ("if ones(2):\n    1", {}, RunError, "ambiguous-condition"),
    "a ragged list": ("sum([[1, 2], [3]])", {}, RunError, "ragged-list"),
    "None as an operand": ("None + 1", {}, RunError, "wrong-type"),
    "int overflow": ("2 ** 63", {}, RunError, "integer-overflow"),
    "int division by zero": ("5 // 0", {}, RunError, "division-by-zero"),
}


@pytest.mark.parametrize(("text", "given", "kind", "code"), REFUSED.values(), ids=REFUSED)
def test_refused(text, given, kind, code):
    with pytest.raises(kind) as caught:
        load(text).run(given)
    first = caught.value.diagnostics[0]
    assert code is None or first.code == code, first.message


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        ("x * 2", {"wrt": "z"}, "unknown-name"),
        ("x * 2", {"of": "z"}, "unknown-name"),
        ("y = x * 2", {}, "no-result"),
        ("y = 1\nfor i in range(2):\n    y = y * x\ny", {"wrt": "y"}, "unknown-name"),
    ],
)
def test_usage(text, arguments, code):
    with pytest.raises(UsageError) as caught:
        load(text).grad(x=1, **arguments)
    assert caught.value.diagnostics[0].code == code


def test_an_error_tells_the_turn_and_the_caller():
    text = "def f(a, b):\n    return a + b\nfor i in range(1, 5):\n    f(ones(i), ones(3 if i == 2 else i))\n"
    with pytest.raises(RunError) as caught:
        load(text).run()
    first = caught.value.diagnostics[0]
    assert first.place == ("<text>", 2, 12)
    assert [label.text for label in first.labels] == [
        "`a` is a tensor of shape [2]",
        "`b` is a tensor of shape [3]",
    ]
    assert "in the 2nd turn of the loop at line 3" in first.notes
    assert "called from line 4" in first.notes


def test_warnings():
    unused = load("x * 2").grad(x=1, wrt="x").warnings
    assert unused == ()
    unused = load("input x = 1.0\ninput y = 2.0\nx * 2").grad().warnings
    assert [(w.code, w.place) for w in unused] == [("unused-input", ("<text>", 2, 1))]
    bad = load("y = log(x)\ny * 2").grad(x=0).warnings
    assert [(w.code, w.place) for w in bad] == [("non-finite", ("<text>", 1, 5))]
    assert "`log`" in bad[0].message
    guarded = load("log(x) if x > 0 else 0.0 * x").grad(x=0).warnings
    assert guarded == ()
    slope = load("sqrt(x)").grad(x=0).warnings
    assert "gradient" in slope[0].message


@pytest.mark.parametrize(
    ("f", "at", "derivatives"),
    [
        ("sin(x) * exp(x)", 0.0, (0, 1, 2, 2, 0)),  # cotangents that are zero where they vary
        ("x ** 4", 0.0, (0, 0, 0, 0, 24)),
        ("x * x * x", 0.0, (0, 0, 0, 6, 0)),
        ("exp(x * x)", 0.0, (1, 0, 2, 0, 12)),
        ("1 / (1 + x)", 0.0, (1, -1, 2, -6, 24)),
        ("tanh(x)", 0.0, (0, 1, 0, -2, 0)),
        ("log(1 + x * x)", 0.0, (0, 0, 2, 0, -12)),
    ],
)
def test_higher_derivatives_at_zero(f, at, derivatives):
    text = f"f = lambda x: {f}\n"
    calls = []
    for order in range(5):
        calls.append("grad(" * order + "f" + ")" * order + f"({at})")
        calls.append("grad(" * order + "f" + ")" * order + f"(tensor({at})) * 1.0")
    found = load(text + f"[{', '.join(calls)}]").run().result
    assert found.tolist() == [float(d) for d in derivatives for _ in range(2)]


def test_the_graph_warns_of_nan_too():
    warnings = load("y = log(x)\ny * 2").graph(x=-1).warnings
    assert [(w.code, w.place) for w in warnings] == [("non-finite", ("<text>", 1, 5))]


def test_of_and_cotangent():
    program = load("y = [x, x * x]\nz = x ** 3\nz")
    assert program.grad(x=2, of="z").grad == {"x": 12.0}
    assert program.grad(x=2, of="y", cotangent=[1, 10]).grad == {"x": 41.0}
    with pytest.raises(RunError) as caught:
        program.grad(x=2, of="y")
    assert caught.value.diagnostics[0].code == "needs-cotangent"


def test_an_op_made_of_several_is_one_node_of_its_name():
    text = (
        "x = tensor([[1.0, 2.0]], requires_grad=True)\nloss = cross_entropy(x, tensor([1]))\nloss"
    )
    graph = load(text).graph().graph
    rows = [(n.name, n.op, n.variable, n.line) for n in graph.nodes]
    assert rows == [
        ("NllLossBackward0", "nll_loss", "loss", 2),
        ("LogSoftmaxBackward0", "log_softmax", "", 2),
        ("AccumulateGrad", "", "x", 1),
    ]
    assert [n.shape for n in graph.nodes] == [(), (1, 2), (1, 2)]
    assert all(n.value is not None and n.grad is not None for n in graph.nodes)


def test_graph():
    text = "a = tensor(2.0, requires_grad=True)\nb = tensor(1.0, requires_grad=True)\n(a + b) * (b + 1)"
    graph = load(text).graph().graph
    rows = [(n.name, n.variable, n.value, n.grad, n.line) for n in graph.nodes]
    assert rows == [
        ("MulBackward0", "", 6.0, 1.0, 3),
        ("AddBackward0", "", 2.0, 3.0, 3),
        ("AddBackward0", "", 3.0, 2.0, 3),
        ("AccumulateGrad", "b", 1.0, 5.0, 2),
        ("AccumulateGrad", "a", 2.0, 2.0, 1),
    ]
    assert {(e.source, e.target, e.input) for e in graph.edges} == {
        (0, 2, 0), (0, 1, 1), (1, 3, 0), (2, 4, 0), (2, 3, 1),
    }  # fmt: skip


def test_every_node_of_the_graph_has_its_value():
    text = """
def f(x):
    a = tensor([1.0, 2.0], requires_grad=True)
    return mse_loss(a * x, zeros(2)) + std(a * x) + max(a + x, 0).values
f(x)
"""
    for node in load(text).graph(x=2.0).graph.nodes:
        assert node.value is not None, node


def test_a_seed_repeats_the_random_numbers():
    from gradcli.program import Options

    program = load("randn(3)")
    options = Options(7, lambda text: None, False, False)
    first, second = program.run(options=options).result, program.run(options=options).result
    assert first.tolist() == second.tolist() != program.run().result.tolist()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2", 2),
        ("pi / 4", math.pi / 4),
        ("[1, -2.5]", [1, -2.5]),
        ("-inf", -math.inf),
        ("True", True),
    ],
)
def test_constants(text, value):
    assert constant(text, "x", "x=").value == value


@pytest.mark.parametrize("text", ["y", "2 +", "randn(2)", "print(1)", ""])
def test_constants_refused(text):
    with pytest.raises(InputError):
        constant(text, "x", "x=")


# derivatives beyond the gradient ------------------------------------------------------------

BOTH = "input x = [1.0, 2.0]\ninput k = 2.0\n"


def test_jacobian_has_the_shape_of_the_result_then_of_the_name():
    program = load(f"{BOTH}y = sin(x) * k + x[0]\ny")
    for mode in ("forward", "reverse"):
        found = program.jacobian(mode=mode)
        assert found.mode == mode
        assert np.allclose(
            found.jacobian["x"],
            [[2 * math.cos(1) + 1, 0.0], [1.0, 2 * math.cos(2)]],
            rtol=1e-15,
        )
        assert np.allclose(found.jacobian["k"], np.sin([1.0, 2.0]), rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "mode"),
    [("x * k", "reverse"), ("sum(x) * k", "reverse"), ("stack([x, x, x])", "forward")],
)
def test_auto_takes_the_mode_of_fewer_directions(text, mode):
    assert load(f"{BOTH}{text}").jacobian(wrt="x,k" if "k" in text else "x").mode == mode


def test_hessian_is_by_two_names():
    program = load(f"{BOTH}sum(x ** 3) * k ** 2 + x[0] * x[1]")
    found = program.hessian()
    assert found.value == 38.0
    assert np.array_equal(found.grad["x"], [14.0, 49.0])
    assert np.array_equal(found.hessian["x"]["x"], [[24.0, 1.0], [1.0, 48.0]])
    assert np.array_equal(found.hessian["x"]["k"], [12.0, 48.0])
    assert np.array_equal(found.hessian["k"]["x"], [12.0, 48.0])
    assert found.hessian["k"]["k"] == 18.0
    diagonal = program.hessian(diagonal=True)
    assert diagonal.hessian is None
    assert np.array_equal(diagonal.diagonal["x"], [24.0, 48.0])
    assert diagonal.diagonal["k"] == 18.0


def test_products_are_those_with_the_matrices():
    program = load(f"{BOTH}y = sin(x) * k + x[0]\nsum(y ** 2)")
    u = {"x": [0.5, -1.0], "k": 2.0}
    second = program.hessian().hessian
    product = program.hvp(tangents=u)
    for name in u:
        expected = sum(np.dot(second[name][by], u[by]) for by in u)
        assert np.allclose(product.hvp[name], expected, rtol=1e-13)
    slopes = program.jacobian().jacobian
    assert np.allclose(program.jvp(tangents=u).jvp, sum(np.dot(slopes[n], u[n]) for n in u))
    pulled = program.vjp(cotangent=3.0).vjp
    assert np.allclose(pulled["x"], 3 * slopes["x"])


def test_a_constant_derivative_has_zero_second_derivatives():
    found = load(f"{BOTH}sum(x) + 2 * k").hessian().hessian
    assert np.array_equal(found["x"]["x"], np.zeros((2, 2)))
    assert found["k"]["k"] == 0.0


@pytest.mark.parametrize(
    ("tangents", "code"), [({"x": 1.0}, "shape-mismatch"), ({"x": "a"}, "bad-input")]
)
def test_a_tangent_has_the_shape_of_its_name(tangents, code):
    with pytest.raises(InputError) as caught:
        load(f"{BOTH}sum(x)").jvp(tangents=tangents)
    assert caught.value.diagnostics[0].code == code


@pytest.mark.parametrize("text", ["argmax(x)", "x[0] > 1", "7", "tensor([1, 2])"])
def test_a_gradient_of_what_is_no_float_is_refused(text):
    with pytest.raises(RunError) as caught:
        load(f"input x = [1.0, 2.0]\n{text}").grad()
    found = caught.value.diagnostics[0]
    assert found.code == "needs-float"
    assert "7.0" in found.help


@pytest.mark.parametrize(
    "text",
    [
        "data = [1.0, 2.0]\nk = 3.0\nw = tensor(2.0, requires_grad=True)\n"
        "((tensor(data) * k - w) ** 2).sum()",
        "x = 3.0\nw = tensor(2.0, requires_grad=True)\nprint(x)\n(x * w) ** 2",
        "x = 3.0\nw = 2.0\n(x * w) ** 2",
        "input x = 3.0\nw = 2.0\n(x * w) ** 2",
        "input x = 3.0\nparam w = 2.0\n(x * w) ** 2",
        "k = 2.0\n(x * k) ** 2",
        "n = 2\nx = 3.0\nw = rand(size=(), requires_grad=True)\n(x * w) ** n",
    ],
)
def test_the_graph_is_of_the_names_that_are_differentiated(text):
    program = load(text)
    given = {"x": 2.0} if "x" in program.required else {}
    names = set(program.grad(given).grad)
    seeded = Options(seed=3)
    for found in (program.graph(given), program.run(given, options=Options(seed=3, graph=True))):
        below = {edge.source for edge in found.graph.edges}
        ends = {node.variable for node in found.graph.nodes if node.id not in below}
        assert ends == names
    found = program.graph(given, options=seeded)
    assert found.value == program.run(given, options=seeded).result
    assert found.graph.nodes[0].value == found.value
    assert len(found.printed) == text.count("print")


@pytest.mark.parametrize(
    ("text", "tangents", "rows"),
    [
        ("param a = 1.0\nparam b = 2.0\na ** 2 * b ** 2", {"b": 1}, {"a": 8.0, "b": 2.0}),
        ("input a = 1.0\nm = 3\na ** 2 * m ** 2", {"m": 1}, {"a": 12.0, "m": 2.0}),
        ("input a = 1.0\nc = a * 2\nc ** 2 * a", {"c": 1}, {"a": 8.0, "c": 2.0}),
        ("a ** 2 * b ** 2", {"a": 1, "b": 1}, {"a": 16.0, "b": 10.0}),
        ("x = 3.0\nw = tensor(2.0, requires_grad=True)\nx * w ** 2", {"w": 1}, {"w": 6.0}),
        ("input n = 2\nparam a = 1.0\na ** n", {"a": 1}, {"a": 2.0}),
    ],
)
def test_a_product_has_a_row_for_each_name_that_is_differentiated(text, tangents, rows):
    program = load(text)
    given = {
        name: value for name, value in {"a": 1.0, "b": 2.0}.items() if name in program.required
    }
    for mode in ("forward", "reverse"):
        found = program.hvp(given, tangents=tangents, mode=mode)
        assert found.hvp == rows
        assert list(found.hvp) == [name for name in program.names if name in rows]
    assert set(program.grad(given).grad) <= set(rows)
    one = next(iter(tangents))
    assert list(program.hvp(given, tangents=tangents, wrt=one).hvp) == [one]


@pytest.mark.parametrize("given", [np.zeros((0, 3)), np.zeros((0, 3)).tolist()])
def test_an_empty_weight_or_direction_may_be_an_array_or_a_list(given):
    program = load("input x: float[n, 3] = zeros(0, 3)\nx * 2")
    assert program.vjp(cotangent=given).vjp["x"].shape == (0, 3)
    assert program.jvp(tangents={"x": given}).jvp.shape == (0, 3)


@pytest.mark.parametrize("text", ["x = 3\nx + 1", "x = 3", "assert True"])
def test_a_run_without_a_graph_tells_its_result_all_the_same(text):
    found = load(text).run(options=Options(graph=True))
    assert found.graph is None
    assert found.result == (4 if "+" in text else None)
    assert [(w.code, w.severity) for w in found.warnings] == [("nothing-recorded", "warning")]


@pytest.mark.parametrize("tangent", [[], [1.0], [[1.0, 2.0]], 1.0])
def test_a_direction_of_another_shape_is_refused(tangent):
    with pytest.raises(InputError, match="has the shape"):
        load("input x: float[2] = [1, 2]\nx.sum()").jvp(tangents={"x": tangent})
    if np.shape(tangent) != (0,):
        with pytest.raises(InputError, match="has the shape"):
            load("input x: float[0,2]\nx.sum()").jvp(x=np.ones((0, 2)), tangents={"x": tangent})
