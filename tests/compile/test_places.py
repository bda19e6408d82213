"""Items at places that are known only when code runs: read and set, of data and of what is
differentiated, in range, from the end and out of range; the interpreter's bits.
"""

import numpy as np
import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load

HEAD = """
param a = 0.7
param x: float[{n}]
input y: float[{n}]
input m: float[{n}, 3]
input k: int[{n}]
input up: bool[{n}]
"""
BODIES = {
    "data one after the other": "s = 0.0\nfor t in range({n}):\n    s = s + a * y[t]\ns",
    "data and those before": (
        "s = 0.0\nfor t in range(2, {n}):\n    s = s + sin(a * y[t - 1]) * y[t - 2] - y[t]\ns"
    ),
    "from the end": "s = 0.0\nfor t in range({n}):\n    s = s * a + y[-1 - t]\ns",
    "by data": "s = 0.0\nfor t in range({n}):\n    s = s * a + y[k[t]] * x[k[t]]\ns",
    "of what is differentiated": "s = 0.0\nfor t in range({n}):\n    s = s + a * x[t] * x[t]\ns",
    "with other uses": "s = (x * y).sum()\nfor t in range({n}):\n    s = s * 0.5 + x[t] * y[t]\ns",
    "rows of a matrix": "s = x[:3] * 0.0\nfor t in range({n}):\n    s = s * a + m[t] * y[t]\ns.sum()",
    "bools": "s = 0.0\nfor t in range({n}):\n    s = s + (a * y[t] if up[t] else x[t])\ns",
    "set of numbers": "z = x * 1.0\nfor t in range(1, {n}):\n    z[t] = a * y[t] + t\nz.sum()",
    "set and read": (
        "z = zeros({n})\nz[0] = a\nfor t in range(1, {n}):\n    z[t] = z[t - 1] * 0.5 + x[t] * y[t]\nz.sum()"
    ),
    "set a row": (
        "z = zeros({n}, 3)\nfor t in range({n}):\n    z[t] = m[t] * a * x[t]\n(z * m).sum()"
    ),
    "set a row by one element": (
        "z = zeros({n}, 3)\nfor t in range({n}):\n    z[t] = m[t][:1] * a\n(z * m).sum()"
    ),
    "by data that are moved": (
        "s = 0.0\nfor t in range({n}):\n    s = s * a + y[(k[t] + 1) % {n}] * x[t]\ns"
    ),
    "an element of a matrix": "s = 0.0\nfor t in range({n}):\n    s = s * a + m[t, t * 2 % 3] * x[t]\ns",
    "columns": "s = 0.0\nfor t in range({n}):\n    s = s * a + (m[:, t % 3] * x).sum()\ns",
    "parts of rows": "s = 0.0\nfor t in range({n}):\n    s = s * a + (m[t, 1:] * x[t]).sum()\ns",
    "rows and a new dimension": (
        "s = 0.0\nfor t in range({n}):\n    s = s * a + (m[None, t] * m[..., t % 3, None]).sum()\ns"
    ),
    "from both ends": "s = 0.0\nfor t in range({n}):\n    s = s * a + m[-1 - t, -1 - t % 3]\ns",
    "an element by data": (
        "s = 0.0\nfor t in range({n}):\n    s = s * a + m[k[t], (k[t] + {n}) % 3] * x[t]\ns"
    ),
    "set an element of a matrix": (
        "z = zeros({n}, 3)\nfor t in range({n}):\n    z[t, t % 3] = a * x[t]\n(z * m).sum()"
    ),
    "set an element that is read": (
        "z = m * 1.0\nfor t in range(1, {n}):\n    z[t, t % 3] = z[t - 1, 1] * 0.5 + x[t]\n(z * m).sum()"
    ),
    "set a column": (
        "z = zeros({n}, 3)\nfor t in range({n}):\n    z[:, t % 3] = x * a\n(z * m).sum()"
    ),
    "set a part of a row": (
        "z = zeros({n}, 3)\nfor t in range({n}):\n    z[t, :2] = m[t, 1:] * a\n(z * m).sum()"
    ),
    "set behind a known place": (
        "z = zeros(2, {n})\nfor t in range({n}):\n    z[1, t] = x[t] * a\n(z * x).sum()"
    ),
    "set by data": "z = zeros({n})\nfor t in range({n}):\n    z[k[t]] = x[t] * a\n(z * y).sum()",
    "add to elements": (
        "z = zeros({n})\nfor t in range({n}):\n    z[t % 2] += y[t] * a\n    z[t] -= x[t]\n(z * y).sum()"
    ),
    "add to elements by data": (
        "z = zeros({n})\nfor t in range({n}):\n    z[k[t]] += x[t] * a\n(z * z).sum()"
    ),
    "add to rows by data": (
        "z = zeros({n}, 3)\nfor t in range({n}):\n    z[k[t]] += m[t] * x[t]\n(z * z).sum()"
    ),
    "scale elements of a matrix": (
        "z = m * 1.0\nfor t in range({n}):\n    z[t, 1] *= -0.0\n    z[t, t % 3] /= 4\n(z * m).sum()"
    ),
    "zeros with signs": "s = -0.0\nfor t in range({n}):\n    s = s + y[t] * a * -0.0\ns",
}
BRANCHES = [BODIES["bools"]]  # an item on one path and a number on the other are not yet one value
QUESTIONS = ("grad", "jacobian", "hessian", "run")
NEVER = Options(compile="never", grad_fn=False)
ALWAYS = Options(compile="always", grad_fn=False)


def given(n):
    numbers = np.random.default_rng(n)
    return {
        "x": numbers.normal(size=n),
        "y": np.where(np.arange(n) % 5 == 3, 0.0, numbers.normal(size=n)),
        "m": numbers.normal(size=(n, 3)),
        "k": numbers.integers(-n, n, size=n),
        "up": numbers.normal(size=n) > 0,
    }


def bits(found, question):
    if question == "run":
        return found.result
    names = {"grad": found.grad} if question == "grad" else {question: getattr(found, question)}
    return repr(found.value), {k: _bytes(v) for k, v in names.items()}


def _bytes(x):
    if isinstance(x, dict):
        return {k: _bytes(v) for k, v in x.items()}
    return np.asarray(x).shape, np.ascontiguousarray(x).tobytes()


@pytest.fixture(params=["machine code", "python"])
def back_end(request, monkeypatch):
    if request.param == "python":
        monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    elif not backends.has_machine_code():
        pytest.skip("machine code needs the extra `fast`")


def answer(program, question, n):
    """The answer of code, or the text of the error."""
    try:
        return getattr(program, question)(given(n), options=ALWAYS)
    except GradError as error:
        return str(error)


CASES = [
    pytest.param(body, n, marks=pytest.mark.long if n == 9 and k % 3 else (), id=f"{name}-{n}")
    for n in (3, 9, 70)
    for k, (name, body) in enumerate(BODIES.items())
]


@pytest.mark.parametrize(("body", "n"), CASES)
def test_code_has_the_interpreter_s_bits(body, n, back_end):
    program = load((HEAD + body).format(n=n))
    for question in QUESTIONS:
        expected = getattr(program, question)(given(n), options=NEVER)
        found = answer(program, question, n)
        if isinstance(found, str):
            assert "not compiled" in found, question
            assert (question, n) != ("grad", 70) or body in BRANCHES, found
            continue
        assert bits(found, question) == bits(expected, question), question


UPDATES = {  # parts of `z` that something else holds, or that are updated through something else
    "a list": "p = [z[0], z[1]]\np[0] += 5",
    "a list in a loop": "p = [z[0], z[1]]\nfor t in range({n}):\n    p[t % 2] *= 1.5",
    "a dictionary": "d = {{'a': z[2]}}\nfor t in range(3):\n    d['a'] *= 3",
    "a row of a list": "p = [z.reshape(-1, 2)[1], z]\np[0][1] += x[0]",
    "the tensor in a list": "p = [z]\nfor t in range({n}):\n    p[0][t] += x[t]",
    "a name for a part": "c = z[1]\nfor t in range({n}):\n    z[t] += x[t]\nz[0] += c",
    "a view": "v = z.reshape(2, -1)\nfor t in range({n} // 2):\n    v[1, t] += x[t]",
    "a view with another name": "v = z.reshape(2, -1)\nz[1] -= 2.0\nv[0, 0] += v[0, 1]",
    "an update of a name": "c = z[1]\nc += 5",
    "items of each other": "for t in range({n}):\n    z[t] += z[{n} - 1 - t]",
}


@pytest.mark.parametrize("n", [6, 100])
@pytest.mark.parametrize("name", UPDATES)
def test_an_update_of_a_part_changes_what_the_interpreter_changes(name, n, back_end):
    text = "z = x * y\n" + UPDATES[name] + "\n(z * z).sum()"
    program = load((HEAD + text).format(n=n))
    for question in ("run", "grad"):
        found = answer(program, question, n)
        if isinstance(found, str) and "not compiled" in found:
            continue
        try:
            expected = bits(getattr(program, question)(given(n), options=NEVER), question)
        except GradError as error:
            expected = str(error)
        assert (found if isinstance(found, str) else bits(found, question)) == expected, question


PLACES = [("t + 1", 5), ("t - 12", 5), ("-1 - t", 10), ("t * 2", 5), ("t", 10)]


@pytest.mark.parametrize(("place", "turns"), PLACES)
@pytest.mark.parametrize("body", ["s = s + y[{place}]", "y[{place}] = t * a"])
def test_a_place_out_of_range_is_the_interpreter_s_error(place, turns, body, back_end):
    text = "param a = 0.5\ninput y: float[10]\ninput n: int\ns = 0.0\nfor t in range(n):\n"
    program = load(f"{text}    {body.format(place=place)}\ns + y.sum()")
    y = np.arange(10.0)
    for n in (turns, 11):
        told = []
        for options in (NEVER, ALWAYS):
            try:
                told.append(program.grad(y=y, n=n, options=options).value)
            except GradError as error:
                told.append(str(error))
        assert told[0] == told[1] or "not compiled" in told[1]  # of the first turn it is known


def test_a_read_of_data_is_a_load():
    """Code neither calls Python nor keeps arrays of zeros for data that are read."""
    if not backends.has_machine_code():
        pytest.skip("machine code needs the extra `fast`")
    text = (
        "param a = 0.5\ninput y: float[n]\ninput turns: int\ns = 0.0\n"
        "for t in range(turns):\n    s = s + a * y[t]\ns"
    )
    lengths = set()
    for n in (20, 64, 65, 1000):
        function = load(text).compile()
        function.bind(y=np.ones(n), turns=n)
        (code,) = function._codes.values()
        assert not code._code.code._shape.callbacks, n
        lengths.add(code.source.count("\n"))
    assert len(lengths) == 1
