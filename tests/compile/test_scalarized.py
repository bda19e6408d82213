"""Programs of small vectors as code: element by element, what the interpreter does on arrays."""

import random
from importlib.util import find_spec
from itertools import islice

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.vector_programs import (
    GIVEN,
    HEAD,
    QUESTIONS,
    Writer,
    answer,
    bits,
    transformed,
)

from gradcli.engine.compile import backends
from gradcli.engine.compile.sum_order import sum_order
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError
from gradcli.program import Options, load

EDGES = (0.0, -0.0, 1.0, -1.5, 2.0, 0.25, -3.0, 1e300, 5e-324, float("inf"), -float("inf"))
EXACT = sorted(name for name in ops if ops[name].value.exact and ops[name].name == name)


def arguments(op):
    """Columns of numbers for each argument of an op."""
    rng = random.Random(op.name)
    numbers = [*EDGES, *(rng.gauss(0, 2) for _ in range(40))]
    columns = [rng.sample(numbers, len(numbers)) for _ in op.args]
    if op is ops.where:
        columns[0] = [x > 0 for x in columns[0]]
    if op is ops.pow:
        columns[1] = [2.0] * len(numbers)
    if op in (ops.logical_and, ops.logical_or, ops.logical_not):
        columns = [[x > 0 for x in column] for column in columns]
    return columns


def slopes(op, g, out, args, wanted):
    return op.pull(g, out, args, {}, wanted) if op.differentiable else []


def test_what_is_exact():
    """An op that says so gives an array what it gives each number, its slopes too."""
    wrong = []
    for name in EXACT:
        op, columns = ops[name], arguments(ops[name])
        arrays = [np.array(column) for column in columns]
        if op is ops.pow:
            arrays[1] = 2.0
        with np.errstate(all="ignore"):
            found = op.value.array(*arrays)
            wanted = [True] * len(columns) if op is not ops.pow else [True, False]
            pulled = slopes(op, np.array(columns[0]) + 0.5, found, arrays, wanted)
        for k, numbers in enumerate(zip(*columns, strict=True)):
            one = op.value.number(*numbers)
            each = slopes(op, numbers[0] + 0.5, one, numbers, wanted)
            if bits(one) != bits(found[k]):
                wrong.append((name, numbers))
            for a, b in zip(pulled, each, strict=True):
                if b is not None and bits(b) != bits(np.broadcast_to(a, found.shape)[k]):
                    wrong.append((name, numbers, "slope"))
    assert not wrong, wrong[:5]


def test_what_is_exact_is_so_to_the_last_bit_of_many_numbers():
    """A value that is rounded otherwise differs in a few of ten thousand cases."""
    numbers, count = np.random.default_rng(0), 20_000
    truths = (ops.logical_and, ops.logical_or, ops.logical_not)
    wrong = []
    for name in EXACT:
        op = ops[name]
        columns = [
            *(numbers.normal(size=(len(op.args), count)) * 10.0 ** numbers.uniform(-4, 4, count))
        ]
        columns = [
            x > 0 if op in truths or (op is ops.where and not k) else x
            for k, x in enumerate(columns)
        ]
        if op is ops.pow:
            columns[1] = np.full(count, 2.0)
        with np.errstate(all="ignore"):
            found = op.value.array(*([columns[0], 2.0] if op is ops.pow else columns))
        one = [*map(op.value.number, *(column.tolist() for column in columns))]
        same = (found == one) | (np.isnan(found) & np.isnan(one))
        differ = np.flatnonzero(~same)
        wrong += [(name, [c[k] for c in columns], one[k], found[k]) for k in differ[:1]]
    assert not wrong


@pytest.mark.parametrize("count", [*range(1, 20), 31, 64, 100, 128])
def test_the_order_of_a_sum(count):
    rng = random.Random(count)
    for _ in range(5):
        numbers = [rng.gauss(0, 1) * 10 ** rng.randint(-9, 9) for _ in range(count)]

        def total(tree, numbers=numbers):
            return numbers[tree] if isinstance(tree, int) else total(tree[0]) + total(tree[1])

        assert total(sum_order(count)) + 0.0 == np.sum(np.array(numbers))


PROGRAMS = {
    "items": "x[0] * sin(x[1]) + x[-1] ** 2 * b",
    "element by element": "y = x * b + 1.0\ny[0] * y[-1] / y[1] + (x / (1 + x * x) - b).sum()",
    "a sum of squares": "(x ** 2).sum() * b",
    "a loop over items": "s = 0.0\nfor i, v in enumerate(x):\n    s = s + exp(v) * b * i + x.sum()\ns",
    "a loop over places": "s = 0.0\nfor i in range(len(x)):\n    s = s + x[i] * sin(x[0])\ns * b",
    "unpacking": "p, q, r = x\np * q - r * x[0] + b",
    "parts": "y = x[1:] * x[:-1]\ny.sum() * b + relu(x).sum() * abs(x).sum()",
    "a constant vector": "w = tensor([1.0, 2.0, 3.0])\n(w * x).mean() ** 2 + b",
    "a loop that changes a vector": "y = x\nfor i in range(30):\n"
    "    y = y * 0.9 + x * b / (1 + y * y)\ny.sum() + y[1]",
    "a branch that changes a vector": "y = x\nif b > 0:\n    y = y * 2\nelse:\n    y = -y\n"
    "y.sum() * y[1]",
    "choices": "maximum(x, 0.0).sum() + where(x > b, x, b).sum() + sqrt(x * x + b).sum()",
    "numbers put together": "y = stack([x[0] * b, b, x[1] * x[2]])\n(y * y).sum() / y[1]",
    "a slope of zero": "0.0 * x[0] + x[1] * b",
    "an infinite slope": "z = sqrt(x - 2.0)\nz[2] * 0 + x[1] * b",
    "a param": "param w = [0.5, -1.0]\n(w * w).sum() * x[0] * b",
    "a vector in a function": "def f(v, k):\n    return (v * v).sum() * k\nf(x, b) + f(x[:2], 2.0)",
}
BACK_ENDS = ["python", *(["machine code"] if find_spec("llvmlite") else [])]


MAY_BE_REFUSED = {
    "jacobian": {"a loop that changes a vector"},
    "hessian": {
        "element by element",
        "a loop that changes a vector",
    },
}


def check(question, names):
    wrong = {}
    for name in names:
        program = load(HEAD + PROGRAMS[name])
        run, code = (answer(program, question, when, GIVEN) for when in ("never", "always"))
        if run != code:
            wrong[name] = run, code
    refused = {name for name, (_, code) in wrong.items() if "not-compilable" in code}
    assert refused <= MAY_BE_REFUSED.get(question, set())
    assert not {name: texts for name, texts in wrong.items() if name not in refused}


@pytest.mark.parametrize(("question", "every"), [("grad", 1), ("jacobian", 3), ("hessian", 6)])
def test_code_gives_the_answer_of_a_run(question, every, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    check(question, [*PROGRAMS][::every])


def test_the_sign_of_zero_in_a_row():
    """The other elements of a tensor have the cotangent zero, whose products have a sign."""
    program = load(f"{HEAD}sin(x[1:].sum()) + x[0] * b")
    run, code = (answer(program, "hessian", when, GIVEN) for when in ("never", "always"))
    assert "-0." in run
    assert run == code


def test_the_sign_of_zero_beside_numbers_put_together():
    """The cotangents of those that are not read are zeros, which the code does not add."""
    text = f"{HEAD}v = stack([x[2:].sum(), x[1] * b, b * b])\nx[1] * 0.5 + v[1] * b"
    program, given = load(text), {"x": [-0.5, -0.75, -0.125], "b": -1.5}
    run, code = (answer(program, "hessian", when, given) for when in ("never", "always"))
    assert run == code


def test_the_sign_of_zero_beside_a_part_of_a_gradient():
    """What is not taken from a tensor has zeros for slopes, of all orders."""
    for part in ("t[2:].sum()", "t[2]"):
        text = f"{HEAD}def f(t):\n    return sin({part})\n(grad(f)(x * -0.5) * x).sum()"
        program, given = load(text), {"x": [0.0, -0.5, 0.7], "b": -0.45}
        run, code = (answer(program, "hessian", when, given) for when in ("never", "always"))
        assert run == code


def test_the_sign_of_zero_in_a_sum():
    """Where one cotangent goes to all elements, theirs come together in a sum from zero."""
    program = load(f"{HEAD}sqrt(x ** 2 + 1)[2:].sum() * b")
    given = {"x": [0.5, -0.37, -0.15], "b": 0.4}
    for question in ("hessian", "hvp"):
        run, code = (answer(program, question, when, given) for when in ("never", "always"))
        assert run == code


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_answers(question):
    check(question, PROGRAMS)


@pytest.mark.skipif(len(BACK_ENDS) < 2, reason="machine code needs the extra `fast`")
def test_machine_code():
    check("grad", islice(PROGRAMS, 4))


@pytest.mark.parametrize("first", chunks(few=4, many=400, size=4))
def test_functions_of_vectors_differentiated_in_programs(first, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    compiled = 0
    for seed in range(first, first + 4):
        text, given = transformed(seed)
        for question in ("grad", "hessian")[: 1 + (seed % 4 == 2)]:
            run, code = (answer(load(text), question, when, given) for when in ("never", "always"))
            compiled += "not-compilable" not in code
            assert run == code or "not-compilable" in code, text
    assert compiled or first  # of some four none can be


PUSHED = {  # what of a tangent inside a function is a node of its own
    "a product with a cotangent of 1.0": ("(t * t * t).sum()", "ones(9)"),
    "an element": ("t[0] * t[8:].sum() + (t * t * t).sum()", "x"),
    "the sum of one": ("t[8:].sum() * t[0]", "x"),
    "a mean": ("t.mean() * 0.5 * t.sum()", "x * 2"),
    "a mean and an element": ("t[-7] * t.mean()", "x + 1"),
}


@pytest.mark.parametrize("how", ["hvp", "jvp"])
@pytest.mark.parametrize(("body", "point"), PUSHED.values(), ids=PUSHED)
def test_tangents_in_programs_are_differentiated_as_those_of_tensors(body, point, how):
    result = {"hvp": "(d[0] * x).sum()", "jvp": "d * v"}[how]
    lines = ["input x: float[9]", f"v, d = {how}(lambda t: {body}, ({point},), (x,))", result]
    random = np.random.default_rng(3)
    for _ in range(4):
        given = {"x": random.standard_normal(9).tolist()}
        run, code = (answer(load("\n".join(lines)), "grad", w, given) for w in ("never", "always"))
        assert run == code, lines


PRINTED = {
    "a gradient": "print(grad(lambda t: (t * t * w).sum())(x))",
    "a value and a slope": "v, d = jvp(lambda t: t * t, (x,), (x * w,))\nprint(v, d, f'{v}')",
    "by a list": "print(grad(lambda t: (t * t).sum())([1.0, 2.0]))",
    "a pullback": "v, p = vjp(lambda t: (t * w, t), x)\nprint(v, p((x, x)))",
    "matrices": "print(jacobian(lambda t: t * w)(x), hessian(lambda t: (t ** 2).sum())(x))",
    "at inputs": "print(torch.autograd.functional.hvp(lambda t: (t * t).sum() * t[0], x, x))",
}


@pytest.mark.parametrize("program", PRINTED)
def test_derivatives_are_shown(program, cli):
    text = f"input w = 2.0\nx = tensor([2.0, 1.0])\n{PRINTED[program]}\nw"
    run, code = (cli("run", "-e", text, "--compile", when) for when in ("never", "always"))
    assert run == code
    assert run[0] == 0


def test_a_tensor_that_requires_grad_is_shown_by_a_run(cli):
    """Its derivatives name the operations that made them."""
    text = (
        "a = tensor(2.0, requires_grad=True)\nprint(grad(lambda t: (t * a).sum())(tensor([1.0])))"
    )
    assert "names its node" in cli("run", "-e", text, "--compile", "always")[2]


@pytest.mark.parametrize("first", chunks(few=4, many=400, size=4))
def test_random_programs(first, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    compiled = 0
    for seed in range(first, first + 4):
        writer = Writer(seed)
        text = writer.program()
        program, given = load(text), writer.given()
        for question in ("grad", "hessian")[: 1 + seed % 2]:
            run, code = (answer(program, question, when, given) for when in ("never", "always"))
            compiled += "not-compilable" not in code
            assert run == code or "not-compilable" in code, text
    assert compiled > 3


def test_a_vector_in_other_forms():
    """Lists, tuples, arrays, the default; what is of another shape is the interpreter's to tell."""
    program = load("input x = [1.0, 2.0, 3.0]\n(x * x).sum() * x[1]")
    for x in ([1, 2.5, -1], (0.5, 1.0, 2.0), np.array([2.0, 1.0, 0.0]), [1.0, 2.0], 3.0, "a", None):
        given = {} if x is None else {"x": x}
        run, code = (answer(program, "grad", when, given) for when in ("never", "always"))
        assert run == code or "not-compilable" in code, x
    sized = load("input x: float[n]\n(x * n).sum()")
    for x in ([1.0, 2.0], [1.0, 2.0, 3.0]):
        run, code = (answer(sized, "grad", when, {"x": x}) for when in ("never", "always"))
        assert run == code


TAKEN = (
    *("v[[0, 1]]", "v[[2, 0]]", "v[[-1]]", "v[[True, False, True]]", "v[1:]", "v[::2]", "v[-1:]"),
    *(
        "v.index_select(0, tensor([1, 0]))",
        "v.reshape(1, 3)[0, [1, 2]]",
        "v.reshape(3, 1)[[2, 0], 0]",
    ),
    *(
        "v.narrow(0, 1, 2)",
        "v.as_strided((2,), (2,))",
        "v.as_strided((2,), (1,), 1)",
        "v.split(2)[0]",
    ),
    *(
        "gather(v, 0, tensor([2, 1]))",
        "v.unfold(0, 2, 1)[1]",
        "v.reshape(1, 3).T[1]",
        "unbind(v)[1]",
    ),
    *("flip(v, 0)", "roll(v, 1)", "v.sort()[0]", "v[None][0]", "v.expand(2, 3)[1]"),
)


@pytest.mark.parametrize(
    "taken",
    [pytest.param(x, marks=() if k % 4 == 1 else pytest.mark.long) for k, x in enumerate(TAKEN)],
)
def test_cotangents_of_elements_that_are_taken(taken, monkeypatch):
    """Where an element may be taken twice they are added to zeros, else put among them: a zero of
    them keeps its sign or does not, as in the interpreter.
    """
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    given = {"x": [-0.0, 0.0, -1.5], "b": -0.5}
    wrong = []
    for v, value in (
        ("x", "(y * y).sum()"),
        ("tanh(x * b)", "(y * v[0] * -b).sum() + (v * v).sum()"),
    ):
        program = load(f"{HEAD}v = {v}\ny = {taken}\n{value}")
        for question in ("grad", "hessian", "hvp"):
            run, code = (answer(program, question, when, given) for when in ("never", "always"))
            if run != code and "not-compilable" not in code:
                wrong.append((question, value, run, code))
    assert not wrong


REFUSED = {
    "stack([x, x]) @ x": "tensors are put together that are no single floats",
    "x[b > 0]": "an item is taken by a value known only at run time",
    "[b, [2]][int(b)]": "a value holds something else on each of two paths",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_compiled_says_why(text):
    assert REFUSED[text] in answer(load(HEAD + text), "grad", "always", GIVEN)


PLACES = {
    "an item": "x[k] * b + x[-k] * x[1]",
    "in a loop": "s = 0.0\nfor i in range(k * 4):\n    s = s * 0.5 + x[i % 3] * b * x[0]\ns",
    "of constants": "t = tensor([1.0, 2.0, 3.0, 5.0])\ns = 0.0\nfor i in range(k * 9):\n"
    "    s = s + t[i % 4] * x[i % 3]\ns * b",
    "of a list": "w = [1.0, 2.0, b * 2]\ns = 0.0\nfor i in range(k * 5):\n    s = s + w[i % 3]\ns",
    "into a list": "w = [0.0, 0.0, 0.0]\nfor i in range(k * 5):\n"
    "    w[i % 3] = w[i % 3] * 0.5 + b * i\nw[0] * w[1] + w[2]",
    "where there is none": "x[k + 2] * b",
}


@pytest.mark.parametrize("name", PLACES)
def test_a_place_that_is_known_only_when_it_runs(name, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    program = load(f"{HEAD}input k: int = 2\n{PLACES[name]}")
    for k in (0, 1, -2):
        for question in ("grad", "hessian")[: 1 + (k == 1)]:
            given = {**GIVEN, "k": k}
            run, code = (answer(program, question, when, given) for when in ("never", "always"))
            assert run == code


def test_a_number_beside_a_tensor_that_is_differentiated_twice():
    """Its cotangents are added up for each use by itself, as arrays do; forward mode adds none."""
    program = load(f"{HEAD}y = x * b\n(y * y).sum()")
    for question in ("hessian", "hvp"):
        run, code = (answer(program, question, when, GIVEN) for when in ("never", "always"))
        assert run == code
    inside = load(f"{HEAD}f = lambda t: (t * b * t).sum()\n(grad(f)(x) * x).sum()")
    run, code = (answer(inside, "grad", when, GIVEN) for when in ("never", "always"))
    assert run == code


def test_a_function_of_arrays():
    """Its points hold the elements of tensors one after the other; other inputs may be tensors."""
    program = load(
        "input x: float[2]\nparam w = [0.5, -1.0]\ninput b\n(w * x).sum() * b + x[0] ** 2"
    )
    function = program.compile("w,b")
    points, given = [[0.5, -1.0, 2.0], [1.0, 2.0, 0.5]], [[1.0, 2.0], [3.0, 4.0]]
    values, slopes = function(points, x=given)
    for (p, q, b), x, value, slope in zip(points, given, values, slopes, strict=True):
        found = program.grad(x=x, w=[p, q], b=b, wrt=("w", "b"), options=Options(compile="never"))
        assert (value, [*slope]) == (found.value, [*found.grad["w"], found.grad["b"]])
        alone, by = function([p, q, b], x=x)
        assert (value, [*slope]) == (alone, [*by])
    with pytest.raises(GradError, match="there are 3 numbers"):
        function([1.0, 2.0], x=given)
    with pytest.raises(GradError, match="declared with shape"):
        function(points, x=[1.0, 2.0, 3.0])


def test_a_matrix_of_slopes_by_a_vector():
    program = load("input x: float[2]\n[x[0] * x[1], x.sum(), x[1] ** 2]")
    value, slopes = program.compile("x")([[1.0, 2.0], [3.0, 4.0]])
    assert slopes.shape == (2, 3, 2)
    expected = program.jacobian(x=[3.0, 4.0], options=Options(compile="never"))
    assert np.array_equal(value[1], expected.value)
    assert np.array_equal(slopes[1], expected.jacobian["x"])


def test_rows_with_vectors(cli, tmp_path):
    (tmp_path / "f.grad").write_text(
        "input x: float[2]\ninput b\nx[0] * x[1] * b + (x ** 2).sum()\n"
    )
    (tmp_path / "r.csv").write_text("x.0,x.1,b\n1.5,-0.25,0.7\n1,2,3\nnan,1,2\n")
    args = ("grad", str(tmp_path / "f.grad"), "--rows", str(tmp_path / "r.csv"), "--compile")
    run, code = (cli(*args, when) for when in ("never", "always"))
    assert run == code


def test_a_power_with_a_zero_exponent_differentiated_twice():
    """How the slope by the base changes with the exponent is no zero there."""
    program = load("input x: float[2]\ninput y: float[2]\npow(x, y).sum()")
    given = {"x": [1.0, 2.0], "y": [0.0, 1.0]}
    dots = {"x": [0.5, 1.0], "y": [1.0, 2.0]}
    run, code = (answer(program, "hvp", when, given, tangents=dots) for when in ("never", "always"))
    assert run == code
