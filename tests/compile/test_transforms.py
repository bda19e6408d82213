"""Derivatives that a program takes of its functions, compiled: bit for bit the interpreter's, in all
modes from outside, by each back end.
"""

import re
from importlib.util import find_spec

import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load
from gradcli.questions.prepared import Prepared

GIVEN = {"x": 0.7, "b": -1.25, "n": 3}
HEAD = "input x = 0.7\ninput b = -1.25\ninput n: int = 3\n"
BOTH = {"wrt": "x,b"}
ALONG = {"tangents": {"x": 1.5, "b": -0.75}}
QUESTIONS = {
    "run": {},
    "grad": BOTH,
    "vjp": {"cotangent": 0.5, **BOTH},
    "jvp": ALONG,
    "jacobian forward": {"mode": "forward", **BOTH},
    "hessian": BOTH,
    "hessian forward": {"mode": "forward", **BOTH},
    "hvp": {**ALONG, **BOTH},
}
FEW = ("run", "grad", "hvp")
BACK_ENDS = ["python", *(["machine code"] if find_spec("llvmlite") else [])]

TRANSFORMS = {
    "jvp": "f = lambda t: sin(t * b) * exp(t)\nv, d = jvp(f, (x,), (1.0,))\nv + d * b",
    "jvp by several": "f = lambda t, s: t * sin(s) + t ** 2\nv, d = jvp(f, (x, b), (b, 2.0))\nd * x",
    "jvp by one": "v, d = jvp(lambda t: t ** 3, x, 2.0)\nd",
    "jvp of what is linear": "v, d = jvp(lambda t: t * b, (x,), (1.0,))\nd * x",
    "jvp that is a constant": "v, d = jvp(lambda t: t * 3, (x,), (1.0,))\nd",
    "jvp of a tuple": "v, d = jvp(lambda t: (t * b, sin(t), 2.0), (x,), (1.0,))\nd[0] * x + d[1] + d[2]",
    "jvp along a zero": "v, d = jvp(lambda t, s: t * s, (x, b), (0.0, 1.0))\nd * x",
    "jvp of what is used often": "f = lambda t: t * t * sin(t) + t * exp(t) * t\n"
    "v, d = jvp(f, (x,), (b,))\nd * x + x * v + d",
    "jvp through a branch": "def f(t):\n    if t > 0:\n        u = t * t\n"
    "        return u * sin(u) + u * exp(t) * t\n    return t\n"
    "v, d = jvp(f, (x,), (b,))\nd * x + x * v + d",
    "vjp": "f = lambda t: sin(t * b) * exp(t)\nv, pull = vjp(f, x)\nv + pull(1.0)[0] * b",
    "vjp of what comes later": "f = lambda t: sin(t * b) * exp(t)\nv, pull = vjp(f, x)\nw = v * x\n"
    "v + pull(w)[0] * b",
    "vjp twice": "def f(t, s): return (t * sin(s), t ** 2 * s)\nv, pull = vjp(f, x, b)\n"
    "g = pull((1.0, x))\nh = pull((b, 2.0))\ng[0] * h[1] + g[1] * h[0] + v[0]",
    "vjp through a branch": "f = lambda t: t * b if t > 0 else t ** 3\nv, pull = vjp(f, x)\n"
    "w = sin(v)\nv + pull(w)[0] * b",
    "vjp through a loop": "def f(t):\n    y = t * 2\n    for i in range(n + 30):\n        y = sin(y) * t\n"
    "    return y\nv, pull = vjp(f, x)\nw = sin(v)\nv + pull(w)[0] * b",
    "jacobian": "def f(t, s): return (t * sin(s), t ** 2 * s)\n"
    "j = jacobian(f, argnums=(0, 1))(x, b)\nj[0][0] * j[1][1] - j[0][1] * j[1][0]",
    "jacobian of one": "jacrev(lambda t: t ** 3 * b)(x) * x",
    "jacobian through a loop": "def f(t, s):\n    y, z = t + 1, s * 2\n    for i in range(n + 3):\n"
    "        y, z = sin(z) * t, y * s\n    return (y, z)\n"
    "j = jacrev(f, (0, 1))(x, b)\nj[0][0] * j[1][1] - j[0][1] * j[1][0] + x * b",
    "jacfwd": "def f(t, s): return (t * sin(s), t ** 2 * s)\nj = jacfwd(f, (0, 1))(x, b)\n"
    "j[0][0] * j[1][1] - j[0][1] * j[1][0]",
    "jacfwd of what is linear": "def f(t, s): return (t * 2 + s * 3, t * s)\n"
    "j = jacfwd(f, (0, 1))(x, b)\nj[0][0] + j[0][1] * x + j[1][0]",
    "jacfwd by the last": "def f(t, s): return (t * sin(s), t ** 2 * s)\n"
    "j = jacfwd(f, -1)(x, b)\nj[0] * j[1]",
    "hessian": "f = lambda t, s: t ** 2 * sin(s) + t * s\nh = hessian(f, argnums=(0, 1))(x, b)\n"
    "h[0][0] * h[1][1] - h[0][1] * h[1][0]",
    "hessian by one": "hessian(lambda t: t ** 4 * b)(x) * x",
    "hessian with zeros": "f = lambda t, s: t ** 2 * b + s * s * x\n"
    "h = hessian(f, argnums=(0, 1))(x, b)\nh[0][1] + h[0][0] + h[1][1] * 2",
    "hessian through a branch": "def f(t, s):\n    if t > s: return t ** 2 * sin(s) + t * s\n"
    "    return t ** 3 * s ** 4\nh = hessian(f, argnums=(0, 1))(x, b)\nh[0][0] * h[1][1] - h[0][1] * h[1][0]",
    "hvp": "f = lambda t, s: t ** 2 * sin(s) + t * s\nv, h = hvp(f, (x, b), (b, 1.0))\n"
    "h[0] * h[1] + v",
    "hvp along one": "v, h = hvp(lambda t: exp(t * b), x)\nh + v",
    "jvp of a jvp": "g = lambda s: jvp(lambda t: sin(t * s) * t, (s,), (1.0,))[1]\n"
    "v, d = jvp(g, (x,), (b,))\nd * v",
    "jvp of a gradient": "v, d = jvp(grad(lambda t: sin(t) * exp(t * b)), (x,), (1.0,))\nd * v",
    "gradient of a jvp": "grad(lambda t: jvp(lambda s: sin(s) * exp(s * t), (t,), (t,))[1])(x) * b",
    "gradient of a hessian": "grad(lambda t: hessian(lambda s: sin(s) * exp(s * t))(t))(x) * b",
    "jacobian of a vjp": "def g(t):\n    v, p = vjp(lambda s: sin(s) * t, t)\n    return p(v)[0]\n"
    "jacobian(g)(x) * b",
    "jacobian at": "j = torch.autograd.functional.jacobian(lambda t: t ** 3 * b, x)\nj * x",
    "jacobian at, recorded": "j = torch.autograd.functional.jacobian(lambda t, s: t ** 3 * s, (x, b), "
    "create_graph=True)\nj[0] * x + j[1]",
    "hessian at": "j = torch.autograd.functional.hessian(lambda t, s: t ** 3 * s, (x, b), "
    "create_graph=True)\nj[0][0] * x + j[1][0]",
    "vjp at": "v, j = torch.autograd.functional.vjp(lambda t, s: t ** 3 * s, (x, b), 2.0, "
    "create_graph=True)\nv + j[1] * j[0]",
    "jvp at": "v, j = torch.autograd.functional.jvp(lambda t, s: t ** 3 * s, (x, b), (2.0, x), "
    "create_graph=True)\nv + j",
    "hvp at": "v, j = torch.autograd.functional.hvp(lambda t, s: t ** 3 * s, (x, b), (2.0, x), "
    "create_graph=True)\nv + j[0] * j[1]",
    "vhp at": "v, j = torch.autograd.functional.vhp(lambda t, s: t ** 3 * s, (x, b), (2.0, x))\n"
    "v + j[0] * j[1] * x",
    "func.hessian": "torch.func.hessian(lambda t: t ** 4 * b)(x) * x",
    "by a tuple": "h = hessian(lambda p: p[0] ** 2 * p[1])((x, b))\nh[0][0] * x + h[0][1] * h[1][1]",
    "of tensors": "def f(x):\n    t = tensor(x) * 1\n    g = lambda s: s ** 3 * b\n"
    "    v, d = jvp(g, (t,), (tensor(2.0),))\n    return float(v + d + hessian(g)(t))\nf(x) * x",
    "under no_grad": "f = lambda t: t ** 3 * b\nwith no_grad():\n    h = hessian(f)(x)\nh * x",
    "newton": "y = x + 1\nwhile abs(y * y - 2) > 1e-9:\n"
    "    v, s = jvp(lambda t: t * t - 2, (y,), (1.0,))\n    y = y - v / s\ny * b",
}


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    """Each back end that there is."""
    monkeypatch.setattr(backends, "has_machine_code", lambda: request.param == "machine code")
    return request.param


@pytest.fixture
def left(monkeypatch):
    """The calls of code that have left."""
    found, call = [], Prepared.answer

    def answer(*args):
        given = call(*args)
        found.extend([args] if given is None else [])
        return given

    monkeypatch.setattr(Prepared, "answer", answer)
    return found


def answer(text, question, when):
    """What a question gives, as text: the answer or its error."""
    try:
        method = getattr(load(text), question.partition(" ")[0])
        found = method(GIVEN, options=Options(compile=when), **QUESTIONS[question])
    except GradError as error:
        found = error
    return re.sub(r"Source object at \w+", "Source", repr(found))


LEFT = {"vjp through a loop", "jacobian through a loop"}
"""Where a pass back through a pass back does not tell which of its variables are one."""


def hold_same(body, questions):
    """Hold code to answer questions as a run does."""
    for question in questions:
        run, code = (answer(HEAD + body, question, when) for when in ("never", "always"))
        assert (question, code) == (question, run)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_code_gives_the_answer_of_a_run(name, left, monkeypatch):
    place = [*TRANSFORMS].index(name)
    monkeypatch.setattr(backends, "has_machine_code", lambda: BACK_ENDS[1:] and place % 8 == 0)
    hold_same(TRANSFORMS[name], {"grad", [*QUESTIONS][place % len(QUESTIONS)]})
    assert not left or name in LEFT


@pytest.mark.long
@pytest.mark.parametrize("name", TRANSFORMS)
def test_code_gives_all_answers_of_a_run(name, back_end, left):
    hold_same(TRANSFORMS[name], QUESTIONS)
    assert not left or name in LEFT


REFUSED = {
    "h = hessian(lambda t: t ** 3 if t > b else t * 2)(x)\nh * x": "whether a tangent is a constant "
    "hangs on the way",
    "def f(t):\n    for i in range(n + 9):\n        t = sin(t) * b\n    return t\n"
    "v, d = jvp(f, (x,), (1.0,))\nd * x": "forward mode through a loop is differentiated again",
    "v, pull = vjp(lambda t: exp(t) * sin(t) if t > b else t, x)\ny = 0.0\nfor i in range(n + 99):\n"
    "    y = y + pull(1.0)[0]\ny": "a cotangent is pulled in another branch or loop",
    "f = lambda t: t ** 3\nhessian(f, argnums=(0, 0))(x)": "a derivative by one argument twice",
    "torch.autograd.functional.jacobian(sin, x, strict=True)": "a derivative with options that hang "
    "on the way",
}


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_compiled_says_why(body):
    assert REFUSED[body] in answer(HEAD + body, "grad", "always")
