"""Functions of tensors with few elements as machine code: bit for bit what NumPy gives arrays."""

import random

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.programs.vector_programs import GIVEN, HEAD, QUESTIONS, answer, bits

from gradcli.engine.compile.control import Control
from gradcli.engine.compile.llvm.code import Code
from gradcli.engine.compile.llvm.emit.loops import Loops
from gradcli.engine.compile.llvm.emit.writer import Number, Writer
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import Block, Do, Program, Value
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.alone import stands_alone
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.values.data import Quiet, np
from gradcli.program import load
from gradcli.source import Span

AT = Span(0, 0)
SOME = {"exp", "tanh", "sigmoid", "log", "sin", "pow", "softplus", "silu", "elu", "atan2", "hypot"}


def cases():
    """Ops with what says how they are done: with arrays alone, and with a number at the end."""
    for op in {id(ops[name]): ops[name] for name in ops}.values():
        if not op.elementwise or op.value.array is None or op.value.exact is True or op.optional:
            continue
        if REQUIRED in op.params.values():
            continue
        count = len(op.args)
        yield op, (True,) * count
        if count > 1:
            yield op, (*[True] * (count - 1), False)


def written(op, wide):
    args = [Number(f"%a{k}", "float") for k in range(len(op.args))]
    try:
        return bool(Loops().call(Writer("leave"), op.value.array, args, wide, {}))
    except Untranslatable:
        return False


def test_elements_by_inner_loops():
    """All ops whose values are functions of NumPy's, at many points."""
    with Quiet():
        chosen = [c for c in cases() if written(*c) and stands_alone(c[0].name, c[1], ())]
    assert {op.name for op, _ in chosen} > SOME
    given = tuple(Value(k, "float") for k in range(3))
    body, found = [], []
    for op, wide in chosen:
        args = given[: len(wide)]
        type_ = {"bool": "bool", "float64": "float"}[op.statics.dtype(*[np.ones(1)] * len(args))]
        found.append(Value(10 + len(found), type_))
        known = (("of", op.name), ("wide", wide))
        body.append(Do(AT, found[-1], "alone", args, known))
    rng = random.Random(3)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 700.0, -745.0, 1e300, 5e-324, 25.0]
    columns = [np.array(edges + [rng.gauss(0, 2) for _ in range(60)]) for _ in given]
    columns[1] = np.abs(np.roll(columns[1], 3))
    results, left = Code(Program(given, Block(tuple(body), tuple(found)), ())).rows(
        columns, Control()
    )
    rows = np.flatnonzero(~left).tolist()
    assert len(rows) > 50
    wrong = set()
    for (op, wide), result in zip(chosen, results, strict=True):
        for k in rows:
            args = [c[k : k + 1] if w else c[k].item() for c, w in zip(columns, wide, strict=False)]
            with Quiet():
                expected = op.value.array(*args)
            if bits(float(result[k])) != bits(float(expected[0])):
                wrong.add((op.name, wide))
    assert not wrong


PROGRAMS = {
    "sums": "(exp(x) * b).sum() + tanh(x * b).mean() + log(abs(x) + 1).sum()",
    "powers": "((abs(x) + 0.1) ** b).sum() + (x ** 3).sum() + (exp(b) ** x).sum()",
    "within each other": "y = sigmoid(x)\nz = exp(y * b)\nlog(z).sum() * y[0]",
    "a loop": "s = 0.0\nfor i in range(3):\n    s = s + sin(x * s).sum() * b\ns",
    "activations": "softplus(x).mean() + elu(x).sum() + silu(x).sum() * b + logsigmoid(x)[1]",
    "a constant": "w = tensor([1.0, 2.0, 3.0])\n(w ** (x * b)).sum() + atan2(x, b).sum()",
}


@pytest.mark.parametrize(("question", "every"), [("grad", 1), ("hvp", 3)])
def test_code_gives_the_answer_of_a_run(question, every):
    check(question, [*PROGRAMS][::every])


@pytest.mark.long
@pytest.mark.parametrize("question", QUESTIONS)
def test_all_answers(question):
    check(question, PROGRAMS)


def check(question, names):
    for name in names:
        program = load(HEAD + PROGRAMS[name])
        run, code = (answer(program, question, when, GIVEN) for when in ("never", "always"))
        twice = question == "hessian" and "a number beside a tensor" in code
        assert twice or run == code, name


PRODUCTS = (
    "sigmoid(w @ x + b)",
    "(x @ x) * b + dot(x, w * 2)",
    "s = b * 1.0\nfor i in range(12):\n    s = s * 0.5 + (x * s) @ w\ns",
    "y = x\nif b > 0:\n    y = w * 2\ny @ x + x[1:] @ w[:-1]",
)


@pytest.mark.parametrize("size", [2, 15, 33])
def test_inner_products(size):
    """Added up as NumPy does; no zero of their slopes is negative."""
    rng = random.Random(size)
    for k, text in enumerate(PRODUCTS[: 4 if size == 2 else 2]):
        program = load(f"input x: float[{size}]\ninput w: float[{size}]\ninput b\n{text}")
        given = {
            "x": [rng.gauss(0, 1) * 10 ** rng.randint(-2, 2) for _ in range(size)],
            "w": [rng.choice([rng.gauss(0, 1), 0.0, -0.0]) for _ in range(size)],
            "b": rng.gauss(0, 1),
        }
        run, code = (answer(program, "grad", when, given) for when in ("never", "always"))
        assert run == code, k


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("x[::2] @ x[1:] * b", "grad"),
        ("grad(sum)(x) @ x * b", "grad"),
        ("(x @ x) * b", "jvp"),
        ("(stack([x, x]) @ x).sum() * b", "grad"),
        ("erf(x).sum() * b", "grad"),
        ("(x @ x) ** 2 * b", "hessian"),
    ],
)
def test_what_is_done_as_arrays(text, question):
    """NumPy adds up otherwise what lies otherwise, and some functions have no loops of NumPy's."""
    program = load(HEAD + text)
    run, code = (answer(program, question, when, GIVEN) for when in ("never", "always"))
    assert run == code
