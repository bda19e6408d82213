"""Functions of one point whose data are bound: the interpreter's bits, sizes from the data, and what
is said of data that do not fit.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError, InputError, ProgramError, UsageError
from gradcli.program import Options, load
from gradcli.questions import function as functions

NEVER = Options(compile="never")
Y, T = [2.0, 1.5, 0.7], [0.0, 1.0, 2.0]

MODELS = {  # the program, the names, the data, points
    "numbers": ("param a = 1.0\nparam b = 2.0\n(1 - a) ** 2 + 100 * (b - a * a) ** 2", {}, 2),
    "data of a declared size": (
        "param a = 1.0\nparam k = 0.5\ninput t: float[3]\ninput y: float[3]\n"
        "((a * exp(-k * t) - y) ** 2).sum()",
        {"t": T, "y": Y},
        2,
    ),
    "data that bring their size": (
        "param a = 1.0\nparam k = 0.5\ninput t: float[n]\ninput y: float[n]\n"
        "mean((a * exp(-k * t) - y) ** 2)",
        {"t": T, "y": Y},
        2,
    ),
    "data of no declared size": (
        "param a = 1.0\nparam k = 0.5\ninput t\ninput y\n((a * exp(-k * t) - y) ** 2).sum()",
        {"t": T, "y": Y},
        2,
    ),
    "a default that is data": (
        "param k = 0.1\ninput t: float[n] = [0, 5, 10]\nmean(exp(-k * t))",
        {},
        1,
    ),
    "a tensor as large as the point": ("param w: float[n]\n(w * w * w).sum()", {}, 4),
    "a tensor of a size that data bring": (
        "param w: float[n]\nparam b = 0.5\ninput x: float[m, n]\ninput y: float[m]\n"
        "((x @ w + b - y) ** 2).mean()",
        {"x": [[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]], "y": Y},
        3,
    ),
    "items of a vector and of data": (
        "param b: float[3]\nparam c = 0.1\ninput y: float[n]\ntotal = 0.0\nfor t in range(2, n):\n"
        "    m = c + b[0] * y[t - 1] + b[1] * y[t - 2]\n"
        "    total = total - 0.5 * ((y[t] - m) * exp(-b[2])) ** 2 - b[2]\ntotal",
        {"y": [0.5, -1.0, 2.0, 0.25, 1.5, -0.75]},
        4,
    ),
    "a matrix": ("param w: float[2, 3]\ninput x: float[3]\ntanh(w @ x).sum()", {"x": Y}, 6),
    "large tensors": ("param x: float[100]\nparam a = 2.0\n(x * sin(x)).sum() * a", {}, 101),
    "a loop": (
        "param x = 0.5\ninput n: int = 5\ny = x * 1.0\nfor i in range(n):\n    y = sin(y) + x * y\ny",
        {"n": 9},
        1,
    ),
    "a loop that keeps a tape of its own": (
        "param x = 0.5\ny = x * 1.0\nwhile y < 40:\n    y = y * 1.25 + x * x + 1\ny",
        {},
        1,
    ),
    "a bool": ("param x = 0.5\ninput up: bool = False\nx * x if up else -x", {"up": True}, 1),
    "a derivative that is constant": ("param x = 0.5\nparam y = 2.0\nx * 3 + y", {}, 2),
    "zeros with signs": ("param x = 0.5\nparam y = 2.0\nx * y * -0.0", {}, 2),
}
EVERY = pytest.mark.parametrize(("text", "data", "width"), MODELS.values(), ids=MODELS)
SURE = {name: model for name, model in MODELS.items() if name != "data of no declared size"}
OF_ONE_SHAPE = pytest.mark.parametrize(("text", "data", "width"), SURE.values(), ids=SURE)
"""Where a call has no declared size, an axis of its data is that of the points."""


@pytest.fixture(params=["machine code", "python"])
def back_end(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    elif not backends.has_machine_code():
        pytest.skip("machine code needs the extra `fast`")


def points(width):
    """A few points; the last one is not usual."""
    made = np.random.default_rng(width).normal(size=(4, width)) + 0.75
    made[3] = np.where(np.arange(width) % 2, -0.0, 0.0)
    return made


def asked(text, names, point, data, modes):
    """Value, gradient and Hessian by the interpreter."""
    program = load(text)
    shapes = {i.name: i for i in program.loaded.program.inputs}
    given, at = dict(data), 0
    function = program.compile(order=0).bind(**data)
    function(point)
    for name, shape in function._shapes.items():
        if name in names:
            size = int(np.prod(shape))
            given[name] = np.reshape(point[at : at + size], shape).tolist()
            at += size
    assert shapes.keys() >= given.keys()
    found = program.hessian(given, wrt=names, options=NEVER, **modes)
    grad = np.concatenate([np.ravel(found.grad[n]) for n in names])
    rows = [
        [np.reshape(found.hessian[a][b], (np.size(found.grad[a]), -1)) for b in names]
        for a in names
    ]
    first = program.grad(given, wrt=names, options=NEVER)
    slopes = np.concatenate([np.ravel(first.grad[n]) for n in names])
    return first.value, slopes, grad, np.block(rows)


@EVERY
def test_a_point_has_the_interpreter_s_bits(text, data, width, back_end):
    by_order = [load(text).compile(order=order).bind(**data) for order in (0, 1, 2)]
    for point in points(width):
        found = [f(point) for f in by_order]
        modes = by_order[2]._code.modes
        value, slopes, grad, hessian = asked(text, by_order[0].names, point, data, modes)
        for each in (found[0], found[1][0], found[2][0], by_order[1].value(point)):
            assert (type(each), repr(each)) == (float, repr(value)), point
        assert found[1][1].tobytes() == slopes.tobytes(), (found[1][1], slopes)
        assert found[2][1].tobytes() == grad.tobytes(), (found[2][1], grad)
        assert found[2][2].tobytes() == np.ascontiguousarray(hessian).tobytes(), (found[2], hessian)


@OF_ONE_SHAPE
def test_a_function_with_its_data_is_the_bound_one(text, data, width, back_end):
    function = load(text).compile()
    for point in points(width):
        once, bound = function(point, **data), function.bind(**data)(point)
        assert once[0] == bound[0]
        assert once[1].tobytes() == bound[1].tobytes()


@OF_ONE_SHAPE
def test_points_together_are_points_one_by_one(text, data, width, back_end):
    for order in (0, 1, 2):
        function = load(text).compile(order=order)
        together = function(points(width), **data)
        one_by_one = [function(point, **data) for point in points(width)]
        parts = [together] if order == 0 else together
        for k, part in enumerate(parts):
            alone = [one if order == 0 else one[k] for one in one_by_one]
            assert part.tobytes() == np.array(alone).tobytes(), (order, k)


def test_each_set_of_sizes_has_its_code():
    function = load("param k = 0.5\ninput t: float[n]\n(k * t * t).sum()").compile()
    for n in [*range(1, 40), 3, 3]:
        t = np.arange(1.0, n + 1)
        value, (slope,) = function(0.5, t=t)
        assert (value, slope) == (0.5 * (t * t).sum(), (t * t).sum())
    assert len(function._codes) == 32
    assert ("t", (3,)) in set().union(*function._codes)
    assert ("t", (4,)) not in set().union(*function._codes)


def test_data_are_copied():
    function = load("param k = 0.5\ninput t: float[3]\n(k * t).sum()").compile()
    t = np.array(T)
    bound = function.bind(t=t)
    t += 100
    assert bound([1.0])[0] == 3.0
    assert function([1.0], t=t)[0] == 303.0


def test_arrays_that_are_there_are_filled(back_end):
    f = load("param a = 1.0\nparam b = 2.0\na * b * b").compile(order=2).bind()
    gradient, hessian = np.zeros(2), np.zeros((2, 2))
    found = f([3.0, 4.0], out=(gradient, hessian))
    assert found[1] is gradient
    assert found[2] is hessian
    assert (gradient.tolist(), hessian.tolist()) == ([16.0, 24.0], [[0.0, 8.0], [8.0, 6.0]])
    first = load("param a = 1.0\nparam b = 2.0\na * b * b").compile().bind()
    assert first([3.0, 4.0], out=gradient)[1] is gradient
    kept = first([1.0, 1.0])[1]
    assert first([2.0, 2.0])[1].tolist() != kept.tolist() == [1.0, 2.0]


def test_results_that_are_lists_and_tensors(back_end):
    text = "param a = 1.0\nparam k = 0.5\ninput t: float[n]\na * exp(-k * t)"
    bound = load(text).compile().bind(t=T)
    value, slopes = bound([2.0, 0.7])
    expected = load(text).jacobian(a=2.0, k=0.7, t=T, options=NEVER)
    assert value.tobytes() == expected.value.tobytes()
    assert slopes[:, 0].tolist() == expected.jacobian["a"].tolist()
    assert slopes[:, 1].tolist() == expected.jacobian["k"].tolist()
    assert bound.value([2.0, 0.7]).tobytes() == value.tobytes()


def test_what_is_not_finite_or_fails_is_the_interpreter_s(back_end):
    bound = load("param x = 1.0\nassert x < 5, 'too large'\nlog(x) / (x - 2)").compile().bind()
    assert np.isnan(bound([-1.0])[0])
    assert bound([2.0])[0] == np.inf
    with pytest.raises(GradError, match="too large"):
        bound([6.0])
    assert bound([1.0])[0] == 0.0


def test_code_that_takes_long_runs_beside(back_end):
    text = (
        "param x = 0.5\ninput n: int = 3\ny = x * 1.0\nfor i in range(n):\n    y = y * x + 0.1\ny"
    )
    bound, short = (load(text).compile().bind(n=n) for n in (300_000, 3))
    expected = load(text).grad(n=300_000, options=Options(compile="always"))
    for _ in range(3):
        assert bound([0.5]) == (expected.value, [expected.grad["x"]])
        assert short([0.5])[0] == load(text).run(options=NEVER).result


def test_threads_share_a_bound_function(back_end):
    text = MODELS["a loop that keeps a tape of its own"][0]
    bound = load(text).compile().bind()
    at = np.linspace(0.1, 0.9, 200).reshape(200, 1)
    expected = [bound(x) for x in at]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            found = [*pool.map(bound, at)]
            assert [(v, s.tobytes()) for v, s in found] == [(v, s.tobytes()) for v, s in expected]


def test_a_bound_function_travels(back_end):
    text, data, _ = MODELS["data that bring their size"]
    bound = load(text).compile(order=2).bind(**data)
    again = pickle.loads(pickle.dumps(bound))
    for one, other in zip(bound([1.0, 0.5]), again([1.0, 0.5]), strict=True):
        assert np.array(one).tobytes() == np.array(other).tobytes()


def test_what_a_function_says_of_itself(back_end):
    function = load(MODELS["data that bring their size"][0]).compile(order=2)
    assert repr(function) == "<Function of a, k -> value, gradient and Hessian; no code yet>"
    assert function.source == ""
    bound = function.bind(t=T, y=Y)
    made = "machine code" if backends.has_machine_code() else "Python code"
    assert made in repr(function)
    assert repr(bound) == f"<Bound with t, y: {function!r}>"
    assert bound.names == function.names == ("a", "k")
    assert ("define i32 @call" if made == "machine code" else "def ") in function.source


REFUSED = [  # the program, the data, the point, the error, what is said
    ("input t: float[n]\ninput y: float[n]", {"t": T, "y": [1.0]}, [1.0], "n is 3 by `t`"),
    (
        "input t: float[3]",
        {"t": [1.0]},
        [1.0],
        r"`t` is declared with shape \[3\], got shape \[1\]",
    ),
    ("input t: float[3]", {"t": 1.0}, [1.0], r"`t` is declared with shape \[3\], got shape \[\]"),
    ("input t: float[n]", {}, [1.0], "input `t` has no value"),
    ("input t: float[n]", {"t": T, "u": 1.0}, [1.0], "no input `u`"),
    ("input t: float[n]", {"t": T}, [1.0, 2.0], r"there are 1 numbers .* got shape \[2\]"),
    ("input t: float[n]", {"t": T}, [[1.0]], r"there are 1 numbers .* got shape \[1, 1\]"),
    ("input n: int", {"n": 1.5}, [1.0], "`n` is declared int"),
    ("input t: float[n]", {"t": [1.0, [2.0]]}, [1.0], "the lists of `t` differ in length"),
    ("input t: float[n]", {"t": "a"}, [1.0], "`t` takes numbers, got str"),
    ("input t: float[n]", {"t": T}, [1.0, [2.0]], r"a point is .* got \[1.0, \[2.0\]\]"),
    ("input t: float[n]", {"t": T}, "a", "a point is a list of numbers"),
    ("param v: float[p]\nparam w: float[q]", {}, [1.0], "sizes `p` and `q` are not known"),
]


@pytest.mark.parametrize(("inputs", "data", "point", "says"), REFUSED)
def test_data_that_do_not_fit_are_refused(inputs, data, point, says):
    with pytest.raises(InputError, match=says):
        load(f"param k = 0.5\n{inputs}\nk * 2").compile().bind(**data)(point)


@pytest.mark.parametrize("order", [-1, 3, "2", None])
def test_an_order_that_is_none_is_refused(order):
    with pytest.raises(UsageError, match="`order` is 0, 1 or 2, got"):
        load("param x = 1.0\nx * x").compile(order=order)


def test_a_function_of_order_0_has_no_derivative():
    with pytest.raises(UsageError, match="a function of `order=0` has no derivative"):
        load("param x = 1.0\nx * x").compile(order=0).derivative(1.0)


def test_a_vector_has_no_hessian():
    with pytest.raises(ProgramError, match="not a single number"):
        load("param x = 1.0\n[x * 2, x * x]").compile(order=2)


KNOWN = {
    "sizes": "input x = 0.5\ninput n: int\nz = zeros(n)\nz[0] = x\n(z * z).sum() * x",
    "lengths of lists": "input x = 0.5\ninput n = 3\nsum([sin(x)] * n) * x",
    "shapes": "input x = 0.5\ninput n: int\n(ones(n, n) * x).sum() * x",
}


@pytest.mark.parametrize("text", KNOWN.values(), ids=KNOWN)
def test_ints_that_fix_shapes_have_a_code_for_each_value(text, monkeypatch):
    monkeypatch.setattr(functions, "_MOST", 3)
    program = load(text)
    made = program.compile("x")
    for n in (2, 3, 4, 5, 2, 4):
        found = program.grad(x=0.7, n=n, wrt="x")
        for value, slope in (made(0.7, n=n), made.bind(n=n)(0.7)):
            assert (value, slope.tolist()) == (found.value, [found.grad["x"]])
    assert len(made._codes) == 3


def test_an_int_that_code_reads_when_it_runs_needs_one_code():
    made = load("input x\ninput n: int\ny = x\nfor i in range(n):\n    y = sin(y)\ny").compile("x")
    assert made(0.5, n=3) != made(0.5, n=4)
    assert len(made._codes) == 1


def test_what_no_value_of_an_int_makes_compilable_is_refused_when_data_come():
    made = load("input x: float[3]\ninput n: int\nx[x > n].sum()").compile("x")
    with pytest.raises(ProgramError, match="known only at run time"):
        made.bind(n=1)
