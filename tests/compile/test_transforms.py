"""Derivatives that a program takes of its functions, and rules that it has for some, compiled: bit
for bit the interpreter's, in all modes from outside, by each back end.
"""

import re
from importlib.util import find_spec

import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError
from gradcli.program import Options, load
from gradcli.questions.coded.compiled import Compiled

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
    "jvp through a loop": "def f(t):\n    for i in range(n + 9):\n        t = sin(t) * b\n"
    "    return t\nv, d = jvp(f, (x,), (1.0,))\nd * x + v",
    "jvp through loops that share a start": "def f(t):\n    u = exp(t)\n    w, k = u, 0\n"
    "    while k < n + 9:\n        u, k = u * 0.5 + tanh(w) * t, k + 1\n"
    "        if u > 2:\n            break\n"
    "    for i in range(n + 9):\n        w = w * 0.4 + u * t if w > 1 else w + u\n"
    "    return u * w\nv, d = jvp(f, (x,), (b,))\nd * x * v",
    "jvp through a loop in a branch": "def f(t, s):\n    u = t * s\n    if u < 0:\n"
    "        for i in range(n + 9):\n            u = u * 0.5 + t * s\n    return u * t\n"
    "v, d = jvp(f, (x, b), (b, 2.0))\nd * v + grad(lambda t: jvp(f, (t, b), (t, 1.0))[1])(x)",
    "jvp along a point that is gone": "def f(t, s): return 2 * t + (s * s - t * 0.1) * s\n"
    "def g(t):\n    j = jacfwd(f, (0, 1))(t, 0.5)\n    return j[0] * j[1]\ngrad(g)(x - 3)",
    "jacfwd through a loop": "def f(t, s):\n    u, w = t * s, s * 2\n    for i in range(n + 9):\n"
    "        u, w = sin(w) * t, u * s + w * 0.1\n    return (u * w, w)\n"
    "j = jacfwd(f, (0, 1))(x, b)\nj[0][0] * j[1][1] - j[0][1] * j[1][0]",
    "hessian that is a constant on some way": "h = hessian(lambda t: t ** 3 if t > b else t * 2)\n"
    "h(x) * x + h(x - 3)",
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
    "hvp through a branch": "def f(t, s):\n    if t * s > 0:\n        return t ** 3 * s ** 2\n"
    "    u = sin(t * s)\n    return u * u * t\nv, h = hvp(f, (x, b), (1.0, b))\nh[0] * h[1] + v",
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
    "hessian at": "j = torch.autograd.functional.hessian(lambda t, s: t ** 3 * s, (x, b))\n"
    "j[0][0] * x + j[1][0]",
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
    "newton, with another input": "y = x + 1\nwhile abs(y * y + b) > 1e-9:\n"
    "    v, s = jvp(lambda t: t * t + b, (y,), (1.0,))\n    y = y - v / s\ny + x * b",
    "newton in two dimensions": "f = lambda t, s: (t - 1) ** 2 * exp(t) + (s + 2) ** 2 + t * s\n"
    "def solved(p, q):\n    for i in range(n + 30):\n        g = grad(f, (0, 1))(p, q)\n"
    "        h = hessian(f, argnums=(0, 1))(p, q)\n"
    "        e = h[0][0] * h[1][1] - h[0][1] * h[1][0]\n"
    "        p, q = p - (h[1][1] * g[0] - h[0][1] * g[1]) / e, q - (h[0][0] * g[1] - h[1][0] * g[0]) / e\n"
    "    return p * q\nsolved(x, b) + x * b",
    "of what is a constant at first": "y = 0.0\nfor i in range(n + 30):\n"
    "    v, d = jvp(lambda t: t * t * b, (y,), (1.0,))\n    y = y * 0.9 - d * 0.1 + x\ny + x * b",
    "of what does nothing": "v, d = jvp(lambda t: t, (x,), (b,))\n"
    "d * v * jacfwd(lambda t: t)(x) + jacrev(lambda t: t)(b) * x",
    "of constants": "j = jacfwd(lambda t: (t * t, 3.0))(x)\nk = jacrev(lambda t: (t * t, 3.0, 2))(x)\n"
    "j[0] * b + j[1] + k[0] + k[1] + k[2]",
    "of an int": "jacobian(lambda t: t ** 3 * x)(n) * b",
    "with texts": "def f(t):\n    print('in', t)\n    return t * t * b\n"
    "v, d = jvp(f, (x,), (1.0,))\nw, p = vjp(f, x)\nd * p(1.0)[0] * hessian(f)(x)",
    "with cuts": "def f(t):\n    with no_grad():\n        u = t * t\n    return u * t\n"
    "v, d = jvp(f, (x,), (1.0,))\nd * v * b",
    "pulled in a function": "v, pull = vjp(lambda t: sin(t) * exp(t), x)\ndef g(w):\n"
    "    return pull(w)[0]\ng(b) * g(x)",
    "of a tuple in a tuple": "jacobian(lambda t, s: (t * s, (s, t ** 2)), argnums=(0, 1))(x, b)[1][1][0] * x",
    "of what is changed in place": "def f(t):\n    u = tensor(1.0) * t\n    u += t * t\n"
    "    return u * b\ndef g(t):\n    v, d = jvp(f, (t,), (1.0,))\n    return d.item() + v.item()\n"
    "g(x) + x * b",
    "newton": "y = x + 1\nwhile abs(y * y - 2) > 1e-9:\n"
    "    v, s = jvp(lambda t: t * t - 2, (y,), (1.0,))\n    y = y - v / s\ny * b",
}


CUBE = (
    "class Cube(Function):\n    def forward(ctx, t, k):\n"
    "        ctx.save_for_backward(t)\n        ctx.k = k\n        return k * t ** 3\n"
    "    def backward(ctx, g):\n        t, = ctx.saved_tensors\n"
    "        return 3 * ctx.k * t ** 2 * g, None\n"
)
EXP = (
    "class Exp(Function):\n    def forward(ctx, t):\n        y = exp(t)\n"
    "        ctx.save_for_backward(y)\n        return y\n    def backward(ctx, g):\n"
    "        y, = ctx.saved_tensors\n        return y * g\n"
)
TWO = (
    "class Two(Function):\n    def forward(ctx, t, s):\n"
    "        ctx.save_for_backward(t, s)\n        return t * s, t + s ** 2\n"
    "    def backward(ctx, g, h):\n        t, s = ctx.saved_tensors\n"
    "        return g * s + h, g * t + 2 * s * h\n"
)
SQUARE = (
    "class Sq(Function):\n    def forward(ctx, t):\n        ctx.save_for_backward(t)\n"
    "        return t * t\n    def backward(ctx, g):\n        t, = ctx.saved_tensors\n"
    "        return 2 * t * g\n    def jvp(ctx, dot):\n        t, = ctx.saved_tensors\n"
    "        return dot * t * 2\n"
)
RELU = (
    "class Relu(Function):\n    @staticmethod\n    def forward(ctx, t):\n"
    "        ctx.save_for_backward(t)\n        return t if t > 0 else 0.0 * t\n"
    "    @staticmethod\n    def backward(ctx, g):\n        t, = ctx.saved_tensors\n"
    "        if t > 0:\n            return g\n        return 0.0 * g\n"
)
OWN = {
    "a rule": CUBE + "Cube.apply(x, 2) * b",
    "in a loop": CUBE
    + "y = x\nfor i in range(n + 30):\n    y = y * 0.5 + Cube.apply(y, 0.1) * b\ny + x * b",
    "of a result": EXP + "Exp.apply(x * b) * x",
    "twice": EXP + "Exp.apply(Exp.apply(x) * b)",
    "in a branch": EXP + "y = Exp.apply(x * b) if x > b else Exp.apply(b) * x\ny * b",
    "of several results": TWO + "p, q = Two.apply(x, b)\np * q",
    "of one of several results": TWO + "p, q = Two.apply(x, b)\nq * x",
    "with tangents": SQUARE + "Sq.apply(x * b) * x",
    "with a branch": RELU + "f = Relu.apply\nf(x) * b + f(b) * x",
    "under a gradient": EXP + "grad(lambda t: Exp.apply(t * b))(x) * b",
    "under a hessian": EXP + "hessian(lambda t: Exp.apply(t * b))(x) * b",
    "under a jvp": EXP + "v, d = jvp(lambda t: Exp.apply(t * b), (x,), (1.0,))\nd * v",
    "with tangents under a jvp": SQUARE
    + "v, d = jvp(lambda t: Sq.apply(t * b) * t, (x,), (1.0,))\nd * v",
    "that asks what is needed": (
        "class F(Function):\n    def forward(ctx, t, s):\n"
        "        ctx.save_for_backward(t, s)\n        return t * s\n"
        "    def backward(ctx, g):\n        t, s = ctx.saved_tensors\n"
        "        return g * s if ctx.needs_input_grad[0] else None, g * t if ctx.needs_input_grad[1] else None\n"
        "F.apply(x, b) + F.apply(x, 2.0)"
    ),
    "with a result that is a constant": (
        "class F(Function):\n    def forward(ctx, t):\n        y = t * 2\n"
        "        z = t * 3\n        ctx.mark_non_differentiable(z)\n        return y, z\n"
        "    def backward(ctx, g, h):\n        return g * 2 + h\np, q = F.apply(x)\n"
        "p * q * b"
    ),
    "that is wrong": (
        "class F(Function):\n    def forward(ctx, t):\n        return t * 2\n"
        "    def backward(ctx, g):\n        return g * 5\nF.apply(x) * b"
    ),
    "of tensors": EXP + "def f(x):\n    return float(Exp.apply(tensor(1.0) * x))\nf(x) * b",
    "that goes straight through": (
        "class Round(Function):\n    def forward(ctx, t):\n        return round(t)\n"
        "    def backward(ctx, g):\n        return g\nRound.apply(x * 3) * b"
    ),
    "that no derivative goes through": (
        EXP + "v, pull = vjp(lambda t, s: cos(Exp.apply(s * t)) * t - s * 1.5, 0, 0)\n"
        "g = pull(x)\ng[0] * g[1] + v"
    ),
    "with a loop": (
        "class F(Function):\n    def forward(ctx, t):\n        y = t\n"
        "        for i in range(n + 20):\n            y = (y + t / y) * 0.5\n"
        "        ctx.save_for_backward(y)\n        return y\n    def backward(ctx, g):\n"
        "        y, = ctx.saved_tensors\n        return g / (2 * y)\nF.apply(x) * b"
    ),
    "that reads a name around it": (
        "k = b * 2\nclass F(Function):\n    def forward(ctx, t):\n        return t * k\n"
        "    def backward(ctx, g):\n        return g * k\nF.apply(x) * b"
    ),
}

PROGRAMS = TRANSFORMS | OWN


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    """Each back end that there is."""
    monkeypatch.setattr(backends, "has_machine_code", lambda: request.param == "machine code")
    return request.param


@pytest.fixture
def left(monkeypatch):
    """The calls of code that have left."""
    found, call = [], Compiled.answer

    def answer(*args):
        given = call(*args)
        found.extend([args] if given is None else [])
        return given

    monkeypatch.setattr(Compiled, "answer", answer)
    return found


def answer(text, question, when):
    """What a question gives, as text: the answer or its error."""
    try:
        method = getattr(load(text), question.partition(" ")[0])
        found = method(GIVEN, options=Options(compile=when), **QUESTIONS[question])
    except GradError as error:
        found = error
    return re.sub(r"Source object at \w+", "Source", repr(found))


LEFT = {
    "jvp through a loop",
    "jvp through loops that share a start",
    "vjp through a loop",
    "jacobian through a loop",
    "in a loop",
    "hvp through a branch",
    "jacfwd through a loop",
}
"""Where a pass back through a pass back does not tell which of its variables are one, or a tangent
is there in some turns of a loop only.
"""


def hold_same(body, questions):
    """Hold code to answer questions as a run does."""
    for question in questions:
        run, code = (answer(HEAD + body, question, when) for when in ("never", "always"))
        assert (question, code) == (question, run)


@pytest.mark.parametrize("name", PROGRAMS)
def test_code_gives_the_answer_of_a_run(name, left, monkeypatch):
    place = [*PROGRAMS].index(name)
    monkeypatch.setattr(backends, "has_machine_code", lambda: BACK_ENDS[1:] and place % 9 == 0)
    hold_same(PROGRAMS[name], [[*QUESTIONS][place % len(QUESTIONS)]])
    assert not left or name in LEFT


def test_code_tells_itself_whether_a_loop_of_own_rules_is_moved(back_end, left):
    step = "y = y - 0.1 * Exp.apply(y)"
    hold_same(f"{EXP}y = x\nfor i in range(n + 9):\n    {step}\ny", ["jvp"])
    assert not left


@pytest.mark.long
@pytest.mark.parametrize("name", PROGRAMS)
def test_code_gives_all_answers_of_a_run(name, back_end, left):
    hold_same(PROGRAMS[name], QUESTIONS)
    assert not left or name in LEFT


REFUSED = {
    CUBE + "Cube.apply(x * b, b) + x": "a rule gives no derivative",
    "class F(Function):\n    def forward(ctx, t):\n        return t * 2\nF.apply(x)": "`F` has no "
    "`backward`",
    "class F(Function):\n    def forward(ctx, t):\n        if t > 0:\n            ctx.k = 2\n"
    "        return t\n    def backward(ctx, g): return g\nF.apply(x)": "something is put on `ctx` in "
    "a branch",
    "k = b\nclass F(Function):\n    def forward(ctx, t): return t * k\n"
    "    def backward(ctx, g): return g * k\ny = F.apply(x)\nk = 2\ny": "reads a name that changes",
    "class F(Function):\n    def forward(ctx, t): return t * 2\n    def backward(ctx, g):\n"
    "        print(g)\n        return g\nF.apply(x)": "`backward` of `F` prints",
    "def f(t):\n    for i in range(n + 9):\n        for j in range(n + 9):\n            t = sin(t) * b\n"
    "    return t\nv, d = jvp(f, (x,), (1.0,))\nd * x": "forward mode through a loop in a loop is "
    "differentiated again",
    "def f(t):\n    for i in range(n + 9):\n        t = sin(t) * b\n    return t\n"
    "hessian(f)(x)": "forward mode through a pass back through a loop is differentiated again",
    "v, pull = vjp(lambda t: exp(t) * sin(t) if t > b else t, x)\ny = 0.0\nfor i in range(n + 99):\n"
    "    y = y + pull(1.0)[0]\ny": "a cotangent is pulled in another branch or loop",
    "f = lambda t: t ** 3\nhessian(f, argnums=(0, 0))(x)": "a derivative by one argument twice",
    "torch.autograd.functional.jacobian(sin, x, strict=True)": "a derivative with options that depend "
    "on the path",
}


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_compiled_says_why(body):
    assert REFUSED[body] in answer(HEAD + body, "grad", "always")
