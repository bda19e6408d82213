"""Arrays that loops change in their memory: the interpreter's bits, and where they are found."""

import random

import numpy as np
import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load

pytestmark = pytest.mark.skipif(
    not backends.has_machine_code(), reason="machine code needs the extra `fast`"
)

HEAD = "manual_seed(3)\ninput A = randn(90)\ninput M = randn(90, 3)\ninput n = 90\n"
LOOP = "for i in range(n):\n    "
PROGRAMS = {  # with how many changes are found in the code of the value and gradient
    "set": (f"B = zeros(90)\n{LOOP}B[i] = A[i] * i\nsum(B * B)", 3),
    "set and read": (f"B = A * 1\n{LOOP}B[i] = B[i] * 0.5\nsum(B * A)", 3),
    "read": (f"s = 1.0\n{LOOP}s = sin(s) + A[i]\ns", 1),
    "read in a branch": (
        f"s = 1.0\n{LOOP}if s > 0:\n        s = sin(s) * A[i]\n    else:\n        s = s + 1.5\ns",
        1,
    ),
    "rows": (f"v = ones(3)\n{LOOP}v = sin(v) * M[i]\nsum(v)", 1),
    "rows that are set": (
        f"B = zeros(90, 3)\nv = ones(3)\n{LOOP}v = sin(v) + M[i]\n    B[i] = v\nsum(B * B)",
        3,
    ),
    "rows that are set to rows": (
        f"B = M * 1\n{LOOP}B[i] = B[i * 3 % 7]\nsum(B * B)",
        3,
    ),
    "rows that are set to one element": (f"B = M * 1\n{LOOP}B[i] = M[i][:1]\nsum(B * B)", 2),
    "rows that are set to a number": (
        f"B = M * 1\ns = 1.0\n{LOOP}s = sin(s) + 0.5\n    B[i] = s\nsum(B * B) + s",
        2,
    ),
    "rows that are set to parts of rows": (
        f"B = M * 1\n{LOOP}B[n - 1 - i] = B[i][:1]\nsum(B * B)",
        None,
    ),
    "items of rows": (f"s = 1.0\n{LOOP}s = sin(s) + sum(M[i] * M[i * 3 % 7])\ns", 2),
    "a loop in a loop": (
        f"s = 1.0\n{LOOP}for j in range(n):\n        s = sin(s) + A[j] * A[i]\ns",
        2,
    ),
    "zeros of one item": (
        f"B = A * 1\nC = zeros(91)\n{LOOP}if i % 2 == 0:\n"
        "        C[i + 1] = B[i * 3 % 7] * -0.0\nsum(C)",
        3,
    ),
    "the array as it was": (
        f"B = A * 1\nC = A * 1\n{LOOP}C = B * 1\n    B[i] = C[0] * 0.5\nsum(B * C)",
        None,
    ),
    "few elements": ("s = 1.0\nfor i in range(n):\n    s = sin(s) + M[i, 0]\ns", None),
}


def _bits(text, when):
    try:
        found = load(text).grad(options=Options(compile=when))
    except GradError as error:
        return error.diagnostics[0].message
    return [np.asarray(x).tobytes() for x in (found.value, *found.grad.values())]


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_has_the_interpreter_s_bits(name, monkeypatch):
    from gradcli.engine.compile.passes import updated

    text, count = PROGRAMS[name]
    found = []

    class Noted(updated.Updated):
        def __init__(self, program):
            super().__init__(program)
            found.append(len(self.changes))

    monkeypatch.setattr("gradcli.engine.compile.llvm.arrays.body.Updated", Noted)
    code, run = (_bits(HEAD + text, when) for when in ("always", "never"))
    if count is None:
        assert not any(found)
    else:
        assert code == run
        assert max(found) == count
    assert isinstance(code, str) or code == run


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_matrices_of_derivatives_are_the_interpreter_s(name, mode):
    head = HEAD.replace("A = randn(90)", "A = 0.3 * randn(90)").replace("n = 90", "n = 12")
    text = head + PROGRAMS[name][0]
    found = []
    for when in ("always", "never"):
        try:
            made = load(text).hessian(wrt="A", mode=mode, options=Options(compile=when))
            found.append(np.asarray(made.hessian["A"]["A"]))
        except GradError as error:
            found.append(error.diagnostics[0].message)
    code, run = found
    if isinstance(code, str):
        assert code.startswith("not compiled") or code == run
    else:
        assert np.allclose(code, run, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("turns", [1, 2, 3])
@pytest.mark.parametrize("factor", ["-0.0", "0.0", "0.5"])
def test_zeros_keep_their_signs(turns, factor):
    """The first sum makes elements 0.0 that are -0.0, unless -0.0 is added to them."""
    text = (
        f"{HEAD}m = {turns}\ns = 1.0\nB = A * -0.0\nfor i in range(m):\n"
        f"    s = s * A[i] * {factor}\n    B[i + 1] = B[i] * 0.5 + s\ns + sum(B * {factor})"
    )
    code, run = (_bits(text.replace("m = ", "input m = "), when) for when in ("always", "never"))
    assert code == run


def _statement(draw, indent):
    """A random statement of a loop over `i`."""
    arrays, places = ["A", "B", "C"], ["i", "i + 1", "n - i", "i * 3 % 7", "0"]
    margin = "    " * indent

    def item():
        name = draw.choice([*arrays, "R"])
        found = f"{name}[{draw.choice(places)}]"
        if name != "R":
            return found
        return draw.choice(
            [f"sum({found})", f"R[{draw.choice(places)}, i % 2]", "sum(R[:, i % 2])"]
        )

    match draw.randrange(8):
        case 0 | 1:
            return [f"{margin}s = sin(s * {draw.choice(['0.5', '-0.0', '1.5'])} + {item()})"]
        case 2 | 3:
            value = draw.choice(
                [f"{item()} * -0.5", f"{item()} + {item()}", "s", "0.0", "-0.0 * s"]
            )
            return [f"{margin}{draw.choice(arrays[1:])}[{draw.choice(places)}] = {value}"]
        case 4 if indent < 3:
            other = [f"{margin}else:", *_statement(draw, indent + 1)] * draw.randrange(2)
            return [f"{margin}if s > 0.1:", *_statement(draw, indent + 1), *other]
        case 5 if indent < 2:
            return [
                f"{margin}for j in range({draw.choice([3, 'n'])}):",
                *_statement(draw, indent + 1),
            ]
        case 6:
            place = draw.choice(places)
            target = draw.choice(["{}", "{}, i % 2", "{}, 1:", "{}, -1", ":, i % 2"]).format(place)
            sign = draw.choice(["=", "=", "+=", "-="])
            values = ["s", "-0.0", "R[i][:1]", f"R[{draw.choice(places)}, 0]"]
            whole = ["R[0]", f"R[{draw.choice(places)}] * -0.5"] if target == place else []
            return [f"{margin}R[{target}] {sign} {draw.choice([*values, *whole])}"]
        case 7:
            return [f"{margin}{draw.choice(arrays[1:])}[{draw.choice(places)}] += {item()} * 0.5"]
    return [f"{margin}s = s * {item()} * 0.3"]


def _program(seed):
    draw = random.Random(seed)
    body = [line for _ in range(draw.randrange(1, 5)) for line in _statement(draw, 1)]
    return "\n".join(
        [
            f"manual_seed({seed})\ninput A = randn(90)\ninput n = {draw.choice([1, 2, 88])}",
            f"B = A * {draw.choice(['1', '-0.0'])}\nC = zeros(90)",
            f"R = A.reshape(90, 1) * {draw.choice(['1.0', '-0.0'])} * ones(2)\ns = {draw.choice(['0.1', '-0.0'])}",
            "for i in range(n):",
            *body,
            draw.choice(["sum(B * C) + s", "sum(B * B) + sum(C * A) * s + sum(R * R)"]),
        ]
    )


@pytest.mark.parametrize(
    "seeds", [range(12), pytest.param(range(12, 400), marks=pytest.mark.long)], ids=["few", "many"]
)
def test_random_loops_have_the_interpreter_s_bits(seeds):
    compiled = 0
    for seed in seeds:
        text = _program(seed)
        code, run = (_bits(text, when) for when in ("always", "never"))
        if isinstance(code, str) and code.startswith("not compiled"):
            continue
        compiled += 1
        assert code == run, text
    assert compiled > len(seeds) // 2
