"""Functions on whole arrays that machine code computes itself, with the interpreter's bits."""

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

import numpy as np

from gradcli.engine.compile.llvm.arrays.functions import FUNCTIONS
from gradcli.engine.compile.llvm.arrays.steps import Node
from gradcli.engine.compile.llvm.arrays.symbolic import Steps
from gradcli.engine.compile.llvm.lower import Module
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.errors import GradError
from gradcli.program import Options, load

ALWAYS, NEVER = Options(compile="always"), Options(compile="never")


@pytest.fixture
def modules(monkeypatch):
    """The modules that are made."""
    made = []
    before = Module.__init__

    def seen(self, program):
        before(self, program)
        made.append(self)

    monkeypatch.setattr(Module, "__init__", seen)
    return made


BODIES = [
    "softmax(y, 0) + softmin(x, 0)",
    "log_softmax(y, 0) * 0.1 + x",
    "softmax(y.reshape(3, -1), 1).reshape(-1) + x",
    "softmax(y.reshape(3, -1), 0).reshape(-1) + x",
    "logsumexp(y, 0) * 0.01 + x",
    "y - y.max() * 0.2 + y.min() * 0.1 + x",
    "(y.reshape(-1, 1) * x).amax(0) - (y.reshape(-1, 1) * x).amin(1) * 0.1 + x",
    "norm(y) * 0.01 + norm(y, p=3) * 0.1 + norm(x, p=float('inf')) * y",
    "cumsum(y, 0) * 0.1 + x",
    "cumsum(y.reshape(3, -1), 0).reshape(-1) * 0.1 + cumsum(y.reshape(3, -1), 1).reshape(-1)",
    "prod(y * 0.5 + 1) * 0.01 + x",
    "prod(y[:8] * 0.5 + 1) * 0.01 + x",
    "roll(y, 1) * 0.5 + roll(y, -4, 0) * 0.1 + roll(x.reshape(3, -1), (1, 2), (0, 1)).reshape(-1)",
    "erf(y) + erfc(x) * y",
    "erfcx(y) * 0.1 + x",
    "log_ndtr(y) * 0.1 + ndtr(x) * y",
    "gelu(y) * 0.5 + x",
    "hardswish(y) * 0.1 + relu6(y) * 0.2 + x",
    "sort(y, descending=True).values * 0.5 + x[argsort(y)] * y",
    "cummax(y.reshape(3, 3), 1).values.reshape(-1) * 0.5 + x",
    "logcumsumexp(y, 0) * 0.1 + logcumsumexp(y.reshape(3, 3), 1).reshape(-1) * x",
    "kthvalue(y.reshape(3, 3), 2, 0).values.sum() * 0.1 + kthvalue(y, 3).values * 0.2 + x",
    "cumprod(y, 0) * 0.5 + cumprod(x.reshape(3, 3), 1).reshape(-1) * y",
    "y[argmax(y)] * 0.2 + y.reshape(3, 3)[argmin(y[:3])].sum() * x * 0.1 + 0.1 * y",
    "y[[0, 2, 2, -1]].sum() * 0.1 + y.reshape(3, 3)[[0, 2, 0]].prod(0).sum() * x",
    "cross_entropy(y.reshape(3, 3), torch.tensor([0, 2, 2])) * x + 0.1 * y",
    "conv2d(y.reshape(1, 1, 3, 3), x.reshape(1, 1, 3, 3), padding=1).reshape(-1) * 0.3 + x",
    "max_pool1d(y.reshape(1, 1, 9), 3).sum() * 0.1 + avg_pool1d(y.reshape(1, 3, 3), 2).sum() * x",
    "y.masked_fill(y > 0.4, 0.1) * 0.9 + x",
    "kron(y[:3], x[:3]) * 0.5 + x",
    "(y[:8].reshape(2, 2, 2) @ x[:8].reshape(2, 2, 2).transpose(1, 2)).sum() * 0.1 + x",
    "(tril(y.reshape(-1, 1) * x) + triu(y.reshape(-1, 1) * x, 1)).sum(0) * 0.1 + x",
]
RARE = [
    "sort(y).values * 0.5 + x",
    "sort(y.reshape(3, 3), 0).values.reshape(-1) * 0.5 + sort(y.reshape(3, 3), 1).values[1].sum()",
    "topk(y, 3).values.sum() * 0.1 + x - topk(y, 2, largest=False).values.sum() * 0.1 * y",
    "cummax(y, 0).values * 0.5 + cummin(x, 0).values * y",
    "y.reshape(3, 3).max(1).values.sum() * 0.1 + y.reshape(3, 3).min(0).values.sum() * x",
    "gather(y, 0, torch.tensor([0, 2, 2, -1])).sum() * 0.1 + x",
    "gather(y.reshape(3, 3), 1, torch.tensor([[0, 0], [2, 1]])).sum() * 0.1 + x",
    "zeros(9).scatter_add(0, torch.tensor([0, 2, 2, 0]), y[:4] * 0.3) + x",
    "y.reshape(3, 3)[[0, 2], [1, 1]].sum() * 0.1 + 0.5 * x",
    "nll_loss(log_softmax(y.reshape(3, 3), 1), torch.tensor([1, 2, 2])) * x + 0.1 * y",
    "embedding(torch.tensor([0, 1, 1]), y[:8].reshape(4, 2)).sum() * x * 0.1 + 0.1 * y",
    "conv1d(y.reshape(1, 1, 9), x[:3].reshape(1, 1, 3), padding=1).reshape(-1) * 0.3 + x",
    "conv1d(y.reshape(1, 3, 3), x[:6].reshape(1, 3, 2), stride=1).sum() * 0.3 + x",
    "conv2d(y.reshape(1, 1, 3, 3), x[:4].reshape(1, 1, 2, 2), padding=1).mean() * y + x",
    "max_pool2d(y.reshape(1, 1, 3, 3), 2, 1).sum() * 0.1 + x",
    "tensordot(y.reshape(3, 3), x.reshape(3, 3), dims=1).reshape(-1) * 0.3 + x",
    "bmm(y[:8].reshape(2, 2, 2).transpose(1, 2), x[:8].reshape(2, 2, 2)).sum() * 0.1 + x",
    "diag(y)[0] * 0.5 + diag(x.reshape(3, 3)).sum() * y + trace(y.reshape(3, 3)) * x",
    "y[:3].repeat(3) * 0.5 + x",
]


@pytest.mark.parametrize(
    "body", [*BODIES, *(pytest.param(body, marks=pytest.mark.long) for body in RARE)]
)
def test_code_does_without_python(body, modules):
    text = f"import torch\nparam x: float[9]\ny = x\nfor i in range(20):\n    y = {body}\ny.sum()"
    x = np.array([0.5, -0.0, 0.0, 0.25, 0.25, -0.7, -1.5, 0.25, 2.5])
    program = load(text)
    found = program.grad(x=x, options=ALWAYS)
    assert modules, "machine code is made"
    assert modules[-1].callbacks == [], body
    assert found.to_json() == program.grad(x=x, options=NEVER).to_json(), body


@pytest.mark.parametrize("windows", ["0, 3, 2", "0, 3, 1", "0, 2, 3", "-1, 9, 1"])
def test_windows_are_views(windows, modules):
    size = int(windows.split(", ")[1])
    program = load(f"param x: float[9]\n(exp(x).unfold({windows}) * x[:{size}]).tanh().sum()")
    x = np.linspace(-1, 1, 9)
    found = program.grad(x=x, options=ALWAYS)
    assert modules[-1].callbacks == []
    assert found.to_json() == program.grad(x=x, options=NEVER).to_json()


def test_the_largest_of_zeros_of_both_signs():
    """Which zero is the largest depends on the order in which NumPy compares."""
    rng = np.random.default_rng(5)
    shapes = ["(4, 12)", "(12, 4)", "(2, 3, 8)"]
    parts = [
        f"x[:{n}].{name}(0, keepdim=True)" for n in (*range(2, 20), 33) for name in ("amax", "amin")
    ]
    parts += [
        f"x.view{shape}.{name}({k}).reshape(-1)"
        for shape in shapes
        for k in range(1 + shape.count(", "))
        for name in ("amax", "amin")
    ]
    parts += ["softmax(x, 0)", "x.view(4, 12).amax((0, 1), keepdim=True).reshape(-1)"]
    parts += ["logsumexp(x, 0, keepdim=True)"]
    program = load(f"input x: float[48]\ncat(({', '.join(parts)}))")
    for _ in range(20):
        x = rng.choice([0.0, -0.0, -1e-300, 1e-300], p=[0.45, 0.45, 0.05, 0.05], size=48)
        found, wanted = (program.run(x=x, options=o).result for o in (ALWAYS, NEVER))
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))
        np.testing.assert_array_equal(found, wanted)


def test_one_contiguous_argument_makes_the_result_contiguous():
    """NumPy lays a result out by rows if one argument says so, whatever the others say."""
    rng = np.random.default_rng(11)
    kinds = 0
    for _ in range(2000):
        shape = tuple(rng.choice([1, 2, 3], size=rng.integers(2, 5)).tolist())
        order = rng.permutation(len(shape))
        other = np.ones([shape[k] for k in order]).transpose(np.argsort(order))
        other = other[tuple(slice(None, None, rng.choice([1, -1])) for _ in shape)]
        if rng.random() < 0.3:
            other = np.broadcast_to(other[..., :1], shape)
        found = np.add(np.ones(shape), other)
        kinds += not other.flags.c_contiguous
        assert found.flags.c_contiguous, (shape, other.strides)
    assert kinds > 500


def test_what_depends_on_another_layout_is_refused():
    steps = Steps([], {})
    plain = steps.whole(_node((2, 3)))
    unsure = steps.whole(_node((2, 3)))
    unsure.source.certain = False
    assert (plain + unsure).is_in_order
    unsure.source.ordered = False
    assert (plain + unsure).is_in_order
    assert not (unsure + 1.0).is_certain
    assert not (plain.T + 1.0).is_certain
    for refused in (lambda: (plain.T + 1.0).sum(0), (unsure + 1.0).sum):
        with pytest.raises(Untranslatable, match="another layout"):
            refused()
    vector = steps.whole(_node((6,)))
    vector.source.certain = False
    assert (vector.reshape(2, 3) + 1.0).is_in_order
    assert (vector.reshape(2, 3) + 1.0).sum(0).shape == (3,)
    assert not (vector.reshape(2, 3).T + 1.0).is_certain


def _node(shape):
    return Node("float", shape, "%x")


GROUPS = """
param theta: float[k]
param w: float[k, 3]
input group: int[n]
input y: float[n]
total = 0.0
for i in range(100):
    each = theta[group] + (w[group] ** 2).sum(1)
    total = total * 0.5 - 0.5 * ((y - each) ** 2).sum() + theta[group[2]]
total
"""


@pytest.mark.parametrize("question", ["grad", "hessian", "jvp"])
def test_parts_at_places_in_the_data(question, modules):
    """A model of groups: each record takes the parameters of its own."""
    rng = np.random.default_rng(3)
    theta, w = rng.normal(size=4), rng.normal(size=(4, 3))
    theta[0] = -0.0
    program = load(GROUPS)
    for group in ([0, 3, 3, -1, 2, -4, 1], [1, 1, 1], [3, 2, 0]):
        values = {"theta": theta, "w": w, "group": group, "y": rng.normal(size=len(group))}
        more = {"tangents": {"theta": theta + 1.0}} if question == "jvp" else {}
        ask = getattr(program, question)
        found = ask(values, **more, options=ALWAYS)
        assert found.to_json() == ask(values, **more, options=NEVER).to_json(), group
    if question != "hessian":  # a loop of it carries arrays of several layouts
        assert [module.callbacks for module in modules] == [[]] * 2


def test_a_bound_model_of_groups():
    rng = np.random.default_rng(4)
    program = load(GROUPS)
    data = {"group": rng.integers(-4, 4, 50), "y": rng.normal(size=50)}
    bound = program.compile("theta,w").bind(**data)
    for _ in range(3):
        x = rng.normal(size=16)
        value, gradient = bound(x)
        wanted = program.grad(
            {"theta": x[:4], "w": x[4:].reshape(4, 3), **data}, wrt="theta,w", options=NEVER
        )
        assert value == wanted.value
        assert gradient.tolist() == [*wanted.grad["theta"], *np.ravel(wanted.grad["w"])]


def test_a_place_out_of_range_is_an_error():
    values = {"theta": np.ones(4), "w": np.ones((4, 3)), "y": np.ones(3)}
    for group in ([0, 1, 4], [0, -5, 1]):
        with pytest.raises(
            GradError, match=f"index {group[1] if -5 in group else 4} is out of range"
        ):
            load(GROUPS).grad({**values, "group": group}, options=ALWAYS)


def _steps():
    return Steps([], FUNCTIONS)


def _unordered(type="float"):
    made = _steps().whole(Node(type, (2, 3), "%x"))
    made.source.certain = made.source.ordered = False
    return made


REFUSED = {
    # what is asked of a symbol of a matrix, and what the refusal says
    "a largest with a least": (lambda x: np.max(x, initial=3.0), "an array and a number"),
    "of two of three": (lambda x: np.max(x.reshape(2, 1, 3), axis=(0, 1)), "several dimensions"),
    "a sum of ints as floats": (lambda x: np.sum(x.astype(np.int64), dtype=np.float64), "int"),
    "running sums of ints": (lambda x: np.cumsum(x > 0, 0), "running sums"),
    "rolled": (lambda x: np.roll(x.T, 1, 0), "is rolled"),
    "places of true elements": (lambda x: np.where(x > 0), "the places of true elements"),
    "rows by columns": (lambda x: x.steps.pick_rows(x.T, _place_of(x)), "parts of an array"),
    "a sum at places": (lambda x: x.steps.add_rows(x > 0, _place_of(x), x), "another type"),
    "by columns": (lambda x: np.max(x.T, axis=0), "the largest of an array"),
    "an element of a function": (
        lambda x: x.by_element(lambda y: y.reshape(-1).sum(), "sum"),
        "not element by element",
    ),
    "a function without end": (lambda x: x.by_element(_endless, "endless"), "very many steps"),
}


def _place_of(x):
    return x.steps.whole(Node("int", (2,), "%y"))


def _endless(x):
    while True:
        x = x + 1.0


@pytest.mark.parametrize(("asked", "message"), REFUSED.values(), ids=REFUSED)
def test_what_machine_code_refuses(asked, message):
    x = _steps().whole(_node((2, 3)))
    for _ in range(2):  # a refusal is remembered
        with pytest.raises(Untranslatable, match=message):
            asked(x)


def test_kernels_of_two_sizes_and_of_two_functions_differ():
    steps = _steps()
    one, other = steps.whole(_node((3,))), steps.whole(_node((5,)))
    keys = [(one, "a"), (other, "a"), (one, "b"), (one, "a")]
    for x, key in keys:
        x.by_element(lambda y, key=key: y + (1.0 if key == "a" else 2.0), key)
    traced = [step.traced for step in steps.steps]
    assert traced[0] is traced[3]
    assert len({id(t) for t in traced}) == 3


ROOTS = {
    # a choice with a square root, and whether the root is taken where the test is true alone
    "the slope of a logarithm": ("where(x < 0, sqrt(x), 1 / x)", True),
    "the other way": ("where(x < 0, 1 / x, sqrt(x))", False),
    "a root that others read": ("where(x < 0, sqrt(x) * y, sqrt(x) + y)", False),
    "two choices": ("where(x < 0, sqrt(x), y) + where(y < 0, sqrt(y), x)", True),
    "a root of a number": ("where(x < y, sqrt(b), y)", False),
    "a test of another array": ("where(y > 1, sqrt(x * x), x)", True),
}


@pytest.mark.parametrize("size", [1, 5, 24, 1003])
@pytest.mark.parametrize(("text", "is_rare"), ROOTS.values(), ids=ROOTS)
def test_square_roots_that_few_elements_want(text, is_rare, size, modules):
    asked = load(f"input x: float[{size}]\ninput y: float[{size}]\ninput b\n{text}")
    x = np.random.default_rng(2).normal(size=(2, size))
    for given in (x, np.abs(x), -np.abs(x)):
        named = {"x": given[0], "y": given[1], "b": 0.3}
        found, wanted = (asked.run(named, options=o).to_json() for o in (ALWAYS, NEVER))
        assert found == wanted
    if size == 24:
        assert ("call i1 @llvm.vector.reduce.or" in modules[-1].text) == is_rare
