"""Programs of tensors as code that calls NumPy: to the last bit what the interpreter gives."""

import json
from itertools import islice

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.checks.validate_typed import faults
from support.programs.array_programs import (
    ASKED,
    GIVEN,
    HEAD,
    INSIDE,
    MATRICES,
    PROGRAMS,
    Writer,
    both,
    samples,
)

from gradcli.engine.compile import backends
from gradcli.engine.compile.contiguity import dense
from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.python.buffers import Scratch
from gradcli.engine.compile.specialize.program import specialize
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.engine.compile.typed import Push, Value
from gradcli.engine.compile.walk import has_arrays, instructions
from gradcli.errors import GradError
from gradcli.program import Options, load


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_gives_the_answer_of_a_run(name):
    program, at = load(HEAD + PROGRAMS[name]), [*PROGRAMS].index(name)
    for question in ["grad", [*ASKED][1 + at % 3]]:
        run, code = both(program, question, **ASKED[question])
        assert run == code or (question == "jvp" and "depends on the path" in code)


@pytest.mark.long
@pytest.mark.parametrize("question", ASKED)
def test_all_answers(question):
    for text in PROGRAMS.values():
        run, code = both(load(HEAD + text), question, **ASKED[question])
        assert run == code or (question == "jvp" and "depends on the path" in code), text


QUICK = ["parts", "a softmax", "a sum of a view", "a branch", "items", "a param", "mixed",
         "a change in place", "print", "two names"]  # fmt: skip


@pytest.mark.parametrize("name", QUICK)
def test_matrices_of_derivatives(name):
    """All directions go together, as in a run."""
    at = QUICK.index(name)
    for asked in ([*MATRICES][at % 2], [*MATRICES][2 + at % 4] if at > 4 else "hvp reverse"):
        run, code = both(load(HEAD + PROGRAMS[name]), asked.split()[0], **MATRICES[asked])
        assert run == code, asked


@pytest.mark.long
@pytest.mark.parametrize("asked", MATRICES)
def test_all_matrices_of_derivatives(asked):
    for text in PROGRAMS.values():
        run, code = both(load(HEAD + text), asked.split()[0], **MATRICES[asked])
        assert run == code, text


@pytest.mark.parametrize("name", INSIDE)
def test_matrices_of_derivatives_inside_programs(name):
    question = ["grad", "jvp", "run"][[*INSIDE].index(name) % 3]
    run, code = both(load(HEAD + INSIDE[name]), question, **ASKED[question])
    assert run == code


@pytest.mark.long
@pytest.mark.parametrize("question", ASKED)
def test_all_matrices_of_derivatives_inside_programs(question):
    for text in INSIDE.values():
        run, code = both(load(HEAD + text), question, **ASKED[question])
        assert run == code, text


RESULTS = {
    "a vector": "tanh(x) * b",
    "a matrix": "outer(x[:9], x[:8] * b)",
    "of a loop": "y = x[:70]\nfor i in range(3):\n    if y.sum() > b:\n        y = y * 0.5 * b\n"
    "    else:\n        y = sin(y)\ny",
    "one element": "(x * b).sum(0, keepdim=True)",
    "numbers": "[x.sum(), b * b, x[3] * x[4] * b]",
    "what is constant": "[x[0] * b, 1.0 * b, x.mean()]",
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_several_elements(name):
    program, given = load(HEAD + RESULTS[name]), {"x": GIVEN["x"], "b": 0.7}
    for question, more in (
        ("jacobian", {}),
        ("jacobian", {"mode": "forward"}),
        ("jacobian", {"wrt": "b"}),
        ("vjp", {"cotangent": 1.5}),
        ("hvp", {"cotangent": -0.5, **ASKED["hvp"]}),
    ):
        run, code = both(program, question, given, **more)
        assert run == code, (question, more)
    assert "not-compilable" not in code


def test_weights_of_several_elements():
    program = load(f"{HEAD}y = (x * b).reshape(10, 10)\ny @ y")
    for weights in (np.arange(100.0).reshape(10, 10), [[1.0] * 10] * 10, 2.0, [1.0] * 10, None):
        run, code = both(program, "grad", cotangent=weights)
        assert run == code or weights is None


def test_the_diagonal_of_tensors():
    """The second derivatives by each element twice, in the shape of the tensor."""
    for head in ("param x = [0.5, -1.0, 2.0]", "param x = [[0.5, -1.0], [2.0, 1.5]]"):
        for mode in ("forward", "reverse"):
            program = load(f"{head}\nparam c = -3.0\n(x ** 3 / c).sum() * x.sum()")
            run, code = both(program, "hessian", {}, diagonal=True, mode=mode)
            assert run == code


def test_more_directions_than_go_together_are_interpreted():
    program = load("input x: float[2000]\nx * x")
    given = {"x": np.ones(2000)}
    options = Options(compile="always")
    with pytest.raises(GradError, match="do not go together"):
        program.jacobian(given, options=options)


@pytest.mark.parametrize("first", chunks(few=1, many=120, size=1))
def test_samples_of_the_operations(first):
    """What has code has the interpreter's answer, in every mode."""
    compiled = 0
    for at, (name, text, given, dots) in enumerate(islice(samples(), first, None, 120)):
        try:
            program = load(text)
        except GradError:  # of an op that no program names so
            continue
        for question in ("grad", "jvp", "hvp") if first else ("grad", "jvp", "hvp")[at % 3 :][:1]:
            more = {} if question == "grad" else {"tangents": dots}
            run, code = both(program, question, given, **more)
            compiled += "not-compilable" not in code
            assert run == code or "not-compilable" in code, name
    assert compiled or first


def test_the_typed_program_holds():
    for text in islice(PROGRAMS.values(), 0, None, 5):
        program = load(HEAD + text).loaded.program
        made = specialize(program, {"x": (100,), "b": ()}, ("x", "b"), [None], (), Arrays)
        assert not faults(made.program)
        assert has_arrays(made.program)


@pytest.mark.parametrize(
    "text",
    [
        "t = tensor(y).argmax()\ny * y + t",
        "torch.func.hessian(lambda p: softmax(p, 0).sum())(y) + y",
        "torch.logsumexp(y * ones(()), (0,)) * y",
    ],
)
def test_what_has_a_value_on_arrays_alone_is_done_so(text):
    """A number may be given to it, too, and no value of the program is an array."""
    run, code = both(load(f"param y = -0.39\n{text}"), "grad", {})
    assert run == code or "not-compilable" in code


INDICES = ["[[1], [-1]]", "[[1, 2]]", "[[0, 2], slice(1, 3)]", "[None, 1]", "[1, 3]", "([1], [2])",
           "[True, False, True, False]", "tensor([1, 0])", "[[[1], [2]]]", "..., [0]", "1:3, 2",
           "-1", "True", "[tensor([1, 2]), 0]"]  # fmt: skip


@pytest.mark.parametrize("index", INDICES)
def test_an_index_takes_what_it_takes_in_a_run(index):
    head = f"{HEAD}y = (x * b)[:12].reshape(4, 3)\n"
    for text in (f"y[{index}].sum()", f"z = y * 1\nz[{index}] = 0.5\n(z * y).sum()"):
        run, code = both(load(head + text), "grad")
        assert run == code or "not-compilable" in code, (run, code)
    small = f"param v: float[4, 3]\n(v * 2.0)[{index}].sum()"
    run, code = both(load(small), "grad", {"v": [[0.5, -1.0, 2.0]] * 4})
    assert run == code or "not-compilable" in code, (run, code)


@pytest.mark.parametrize(
    "text",
    [
        "k = linspace(0, 1, 100)\n(x == k).sum() + b * (k == x).sum() + b * (x != k).sum()",
        "t = relu((x * b).logsumexp(dim=0))\nt -= t\nt * b",
        "t = relu(x * b)\nt -= t\nt.sum() * b",
        "k = tensor(0.5, dtype=float32)\n((x - k) < k).sum() * b",
        "k = tensor(0.5, dtype=float32)\nwhere((b - k) < k, (b - k) * k, 1) + x.sum()",
    ],
)
def test_constants_and_what_is_saved(text):
    run, code = both(load(HEAD + text), "grad")
    assert run == code or "not-compilable" in code, (run, code)


def test_no_derivative_lies_backwards_in_memory():
    """A sum depends on the order of what it adds up."""
    pull = "torch.autograd.functional.vjp(lambda p: p.cumsum(0) * t, t, ones(4, 5, 5))[1]"
    text = f"k = x.reshape(4, 5, 5)\nt = k * 2\nd = {pull}\n"
    run = load(f"{HEAD}{text}d.stride()").run(**GIVEN)
    assert run.result == [25.0, 5.0, 1.0]
    found, code = both(load(f"{HEAD}{text}(d * d).sum() * b"), "grad", wrt="b")
    assert found == code


def test_what_lies_in_order():
    """Views may not, and what is made of them lies as they do."""
    text = f"{HEAD}w = x.reshape(10, 10)\nu = w.T * b\nv = w * b\nu.sum() + v.sum()"
    made = specialize(load(text).loaded.program, {"x": (100,), "b": ()}, (), [None], (), Arrays)
    in_order = dense(made.program)
    lies = {i.op: i.target.number in in_order for i in made.program.block.body}
    assert lies["reshape"] is True
    assert made.program.inputs[0].number in in_order
    assert lies["permute"] is False


SQUARE = """
class F(Function):
    @staticmethod
    def forward(ctx, u):
        ctx.save_for_backward(u)
        return u * u
    @staticmethod
    def backward(ctx, g):
        u, = ctx.saved_tensors
        return 2 * u * g
"""
REFUSED = {
    "x[x > 0].sum() * b": "elements are chosen by a mask known only at run time",
    "y = x * b\na, c = y.split(50)\na += 1\ny.sum()": "that others may hold",
    "torch.unique(x).sum() * b": "`unique` gives a tensor of a type known only at run time",
    "y = x.reshape(5, 20).T\ny.contiguous().sum() * b": "the layout of a tensor",
    "y = x * b\nz = y[:3]\nw = z * 2\ny *= 2.0\n(z * w).sum()": "a view is read whose base",
    "y = x * b\nz = y * y\ny += 1\nz.sum()": "that a derivative reads",
    f"{SQUARE}F.apply(x * b).sum()": "`F` of a value that is not a number",
    "y = zeros(3)\nz = [y]\ny[0] = b\nz[0].sum() * x[0]": "that others may hold",
    "y = x * b\nz = y[:3]\nz += 1\ny.sum()": "that others may hold",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_compiled_says_why(text):
    run, code = both(load(HEAD + text), "grad")
    assert REFUSED[text] in code
    assert "not-compilable" not in run


def test_memory_that_stacks_take_is_limited():
    """What a pass back reads of each turn is kept: code leaves where that becomes too much."""
    text = f"{HEAD}y = x\nfor i in range(300):\n    y = sin(y) * b\ny.sum()"
    program = load(text).loaded.program
    made = specialize(program, {"x": (100,), "b": ()}, ("x", "b"), [None], (), Arrays)
    code = python.Code(adjoint(made.program, made.arrays["x"].values).program)
    needed = 300 * 100 * 8
    for memory, left, goes in ((needed, 0, True), (needed // 2, 0, False), (1000, needed, True)):
        control = Control(memory=memory, more=lambda left=left: left)
        if goes:
            code.call([GIVEN["x"], 0.7, 1.0], control)
        else:
            with pytest.raises(Left, match="memory"):
                code.call([GIVEN["x"], 0.7, 1.0], control)


def test_values_that_an_input_takes():
    """Lists, ints, arrays that lie otherwise; what is of another shape is the interpreter's."""
    program = load("input x: float[2,40]\n(x * x).sum() * x[0, 1]")
    x = np.arange(80.0).reshape(2, 40)
    for given in (x, x.tolist(), x.astype(int), x.T.copy().T, x > 3, x[0], None):
        run, code = both(program, "grad", {"x": given})
        assert run == code or "not-compilable" in code


def test_what_is_made_is_said(cli, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    found = cli("grad", "-e", f"{HEAD}x.sum() * b", "x=" + str([0.5] * 100), "b=1", "-v",
                "--compile", "always")  # fmt: skip
    assert "made Python code with calls of NumPy in" in found[2]


def test_a_value_that_is_not_finite_is_left_to_the_interpreter():
    program = load(f"{HEAD}log(x * b).sum()")
    run, code = both(program, "grad")
    assert run == code
    assert "nan" in program.grad(GIVEN, options=Options(compile="always")).__repr__()


def test_memory_is_shared_by_what_is_read_no_more():
    """What a turn makes takes the places of what was before; what it gives has memory of its own."""
    text = f"{HEAD}y = x\nfor i in range(5):\n    y = sin(y) * b + cos(y) * x\n(y * y).sum()"
    made = specialize(
        load(text).loaded.program, {"x": (100,), "b": ()}, ("x", "b"), [None], (), Arrays
    )
    slopes = adjoint(made.program, made.arrays["x"].values).program
    scratch = Scratch(slopes, dense(slopes))
    assert len(scratch.places) > 2 * len(scratch.types) > 0
    given = {x.number for x in slopes.block.results if isinstance(x, Value)}
    pushed = {
        v.number for i in instructions(slopes.block.body) if isinstance(i, Push) for v in i.values
    }
    assert scratch.places.keys().isdisjoint(given | pushed)
    code = python.Code(slopes)
    first = code.call([GIVEN["x"], 0.7, 1.0], Control())
    before = [np.copy(r) for r in first]
    code.call([GIVEN["x"] * 2, 0.3, 1.0], Control())
    assert all(map(np.array_equal, before, first))


MODEL = "input x: float[100]\ninput b\ny = x\nfor i in range(3):\n    y = y * 0.9 + tanh(y * b)\ny.mean()"


def test_rows_with_tensors(cli, tmp_path):
    """Each row is asked by itself, and answered by code."""
    rng = np.random.default_rng(1)
    rows = [{"x": rng.normal(size=100).tolist(), "b": k} for k in (0.5, float("inf"), 2.0)]
    (tmp_path / "f.grad").write_text(MODEL)
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, rows)).replace("Infinity", '"inf"'))
    args = ("grad", str(tmp_path / "f.grad"), "--rows", str(tmp_path / "r.jsonl"), "--compile")
    run, code = (cli(*args, when) for when in ("never", "always"))
    assert run == code


def test_a_function_of_arrays():
    """Its points hold the elements of large tensors, too."""
    program = load(MODEL)
    function, x = program.compile("x,b"), np.random.default_rng(2).normal(size=(3, 101))
    values, slopes = function(x)
    x[2, 0] = np.inf  # whose point the interpreter has
    for point, value, slope in zip(x[:2], values, slopes, strict=False):
        given = {"x": point[:100], "b": point[100]}
        found = program.grad(given, options=Options(compile="never"))
        assert (value, [*slope]) == (found.value, [*found.grad["x"], found.grad["b"]])
        alone, by = function(point)
        assert (value, [*slope]) == (alone, [*by])
    assert np.isinf(function(x)[0][2])


@pytest.mark.parametrize(
    "text", ["tanh(x) * b", "outer(x[:7], x[7:10] * b)", "[x.sum(), b * x[3]]"]
)
def test_a_function_of_several_values(text):
    """Its derivative has the names behind the axes of the value."""
    program = load(f"input x: float[70]\ninput b\n{text}")
    function, points = program.compile("x,b"), np.random.default_rng(3).normal(size=(2, 71))
    points[1, 0] = np.inf  # a point that the interpreter has
    values, slopes = function(points)
    for point, value, slope in zip(points, values, slopes, strict=True):
        given = {"x": point[:70], "b": point[70]}
        found = program.jacobian(given, options=Options(compile="never"))
        by_x, by_b = found.jacobian["x"], np.asarray(found.jacobian["b"])[..., None]
        assert np.array_equal(value, found.value)
        assert np.array_equal(slope, np.concatenate([by_x, by_b], -1), equal_nan=True)
    alone, by = function(points[0])
    assert np.array_equal(alone, values[0])
    assert np.array_equal(by, slopes[0])


def test_questions_that_many_values_are_asked_of(cli):
    """A check of derivatives and a plot are interpreted, or answered one by one."""
    text = MODEL.replace("100", "70").replace("input b", "input b = 0.5")
    given = "x=" + str([0.01 * k for k in range(70)])
    for args in (
        ("gradcheck", "-e", text, given),
        ("plot", "-e", text, given, "--over", "b=0:1:9"),
    ):
        run, code = (cli(*args, "--compile", when) for when in ("never", "auto"))
        assert run == code


def test_what_shared_memory_would_put_in_another_order():
    """What is made of tensors that lie in columns does, too, and its sum depends on that."""
    text = (
        f"{HEAD}v = x[:72].view(8, 9)\nif b > 2:\n    w = x[:72].view(9, 8) * 2\nelse:\n"
        "    w = b * v.T\n(exp(-w * w) + w).sum()"
    )
    for question in ("jvp", "hvp"):
        run, code = both(load(text), question, **ASKED[question])
        assert run == code


@pytest.mark.parametrize("first", chunks(few=2, many=400, size=2))
def test_random_programs(first):
    compiled = 0
    for seed in range(first, first + 2):
        writer = Writer(seed)
        program, given = load(writer.program()), writer.given()
        dots = {"tangents": {"x": given["x"][::-1], "b": 1.0}}
        question = [*ASKED][seed % 4]
        run, code = both(program, question, given, **(dots if "vp" in question else {}))
        compiled += "not-compilable" not in code
        assert run == code or "not-compilable" in code, writer.lines
    assert compiled or first


@pytest.mark.parametrize("question", MATRICES)
def test_several_results_along_several_directions(question):
    """As a matrix of derivatives asks for them."""
    for name in ("halves", "rows one by one", "the largest along a dimension"):
        run, code = both(load(HEAD + PROGRAMS[name]), question.split()[0], **MATRICES[question])
        assert run == code
