"""Names that hold values of several kinds, dictionaries, and loops over data: code gives the bits of a
run, and the names of the nodes that made its tensors.
"""

import pytest
from support.checks.validate_typed import faults

from gradcli.engine.compile import backends
from gradcli.errors import GradError, ProgramError
from gradcli.program import Options, load
from gradcli.questions.asked.request import request
from gradcli.questions.coded.compiled import compile_question

HEAD = "param x = 0.7\ninput n: int = 30\ny = [1.0, 0.2, 3.0]\n"
COMPILED = {
    "None until a first value": "best = None\nfor v in y:\n    if v > x and (best is None or v * x > best):\n"
    "        best = v * x\nbest * x",
    "None that is read on no path": "last = None\nd = 0.0\nfor i in range(n):\n    if i > 0:\n"
    "        d = d + abs(x * i - last)\n    last = x * i\nd * x",
    "a text on each side": 'mode = "up"\ns = x\nfor i in range(n):\n    if mode == "up":\n'
    "        s = s + 0.3\n        if s > 2:\n            mode = 'down'\n    else:\n        s = s - 0.2\n"
    '        if s < 0:\n            mode = "up"\nprint(mode)\ns',
    "a number that becomes a tensor on a path": "lo, hi = 0, x + 2\nfor i in range(n):\n"
    "    mid = (lo + hi) / 2\n    if mid * mid < x:\n        lo = mid\n    else:\n        hi = mid\nlo * x",
    "a vector or a number": "s = 0\nfor i in range(n):\n    if i % 3 == 2:\n"
    "        s = s + tensor([1.0, 2.0]) * x\n(s * s).sum()",
    "a tuple that becomes a list": "s = (x, 1.0)\nfor i in range(n):\n"
    "    s = [s[1], s[0] * 0.5 + s[1]]\ns[0]",
    "a leaf or what is computed of it": "z = x\nwhile z * z > 0.1:\n    z = z * 0.8\nz",
    "a leaf on one side": "z = x if x > 0 else -x\nq = z\nz",
    "a bool or a tensor of one": "done, i, z = False, 0, x\nwhile not done:\n    z = z * 0.9\n"
    "    i += 1\n    done = z < 0.1 or i > 20\nz * i",
    "a change in place on a path": "s = 0\nfor v in y:\n    if v < x:\n        continue\n    s += v * x\ns",
    "rows of known data": "s = 0\nfor row in tensor([[1.0, 2.0], [3.0, 4.0]]):\n"
    "    s += (row * x).sum()\ns",
    "data that are too many to unroll": "s = 0\nfor i, (a, c) in enumerate(zip([0.5, 1.5] * 700, "
    "reversed([1.0, 2.0] * 700))):\n    s = s + sin(a * x) * c + i\n    if s > 1e5:\n        break\ns",
    "a list that grows": "p = [x]\nfor i in range(60):\n    p.append(sin(p[-1]) + 0.1)\nsum(p) + max(p)",
    "the largest of a list": "p = [x * i - i ** 2 for i in range(5)]\n"
    "max(p) + min(p, key=lambda t: (t + 3) ** 2) * x + max((x, 2 * x, 0.5))",
    "the largest so far": "m = -1\nfor i in range(n):\n    m = max(m, x * i - 0.1 * i ** 2)\nm",
    "a dictionary": "d = {'a': x, 'b': 2}\nfor i in range(n):\n    d['a'] = d['a'] * 0.9 + d['b']\n"
    "    d['b'] += 0.1\nd['a'] * len(d)",
    "items of a dictionary": "w = {k: x * k for k in range(3)}\ng = {k: 0.0 for k in w}\n"
    "for i in range(n):\n    for k, v in w.items():\n        g[k] = 0.5 * g[k] + v\n"
    "        w[k] = v - 0.1 * g[k]\nprint(w[1] > 0, g.get(7))\nsum(w.values()) + (2 in w)",
    "lists in a dictionary": "h = {'loss': []}\nw = x\nfor i in range(8):\n    w = w * 0.9\n"
    "    h['loss'].append(w * w)\nh.update(last=w)\nsum(h['loss']) + h.setdefault('k', 2.0) + h.pop('last')",
    "an item of a large tensor or a number": "v, s = linspace(0.0, 1.0, 70) * x, 0.0\n"
    "for i in range(70):\n    s = s + (x * v[i] if i % 3 else v[i])\ns",
    "any number of arguments": "def total(a, *more, k=2):\n    s = a * k\n    for v in more:\n"
    "        s = s + v\n    return s\ntotal(x, 1.0, x * 2) + total(x) + total(1, 2, k=3)",
    "a list that is sorted": "a = sorted([3.0, x, 2.0, 0.5 * x])\n"
    "c = sorted([(x, 1), (0.5, 2)], key=lambda t: t[0], reverse=True)\na[0] * a[1] + c[0][1] * x",
    "any and all of a list": "z = x if all([v > 0.1 for v in y]) else 0.0\n"
    "q = 1 if any([v * x > 2 for v in y]) else x\nz * x + q",
    "a list or another": "w = [0.0, 1.0]\nfor p in y:\n    if w[0] * p + w[1] < 1.1:\n"
    "        w = [a + x * p for a in w]\nw[0] * x + w[1]",
    "items of several kinds": "c = [x * 1, 3.0, 2]\nfor i in range(n):\n"
    "    c[i % 3] = c[i % 3] * x + i\nnames = ['a', 'b']\nprint(names[n % 2])\nc[0] + c[1] * 2 + c[2]",
    "the largest of several kinds": "p = [x, 0.3]\nfor o in y:\n"
    "    p = [max(p[r] * (0.5 + s * r) for r in range(2)) * o for s in range(2)]\nmax(p)",
    "a text that is a value": "t = ''\nfor i in range(3):\n    t += f'{i}:{x * i:.2f} '\n"
    "u = f'{x}' if x > 0 else 'none'\nprint(t, u)\nx * 1",
    "a name around a function": "calls, c = 0, 0.0\ndef f(t):\n    global calls, c\n    calls += 1\n"
    "    c = c + t\n    return t * 0.9\nz = x\nfor i in range(n):\n    z = f(z)\n"
    "    if z < 0.1:\n        z = f(z) + 1\nz * calls + c",
    "a name of an outer function": "def make():\n    total = 0\n    def add(v):\n"
    "        nonlocal total\n        total += v\n        return total\n    return add\nadd = make()\n"
    "for i in range(5):\n    r = add(x * i)\nr",
    "a result out of a loop": "def find(t):\n    for i in range(1000):\n        t = t * 1.01\n"
    "        if t > 3:\n            return i * x\n        if t < -5:\n            return None\n"
    "    return None\nr = find(x)\nx if r is None else r * x",
    "what is printed": "z = x\nfor i in range(3):\n    z = sin(z) * 2 if i else z\n    print(z, x, [z * 1])\n"
    "w = tensor([1.0, 2.0]) * x\nprint(w, -w)\nz",
    "parts that are set": "z = zeros(4)\nfor i in range(4):\n    z[i] = x * i\nprint(z)\nz.sum()",
}

HELD = {
    "another name": "s = x * 1\nq = s\nif x > 0.5:\n    s = x * 3\ns += x\nq * 10 + s",
    "a list": "s = x * 1\np = [s]\nif x > 0.5:\n    s = x * 3\ns += x\np[0] * 10 + s",
    "a dictionary": "s = x * 1\nd = {1: s}\nif x > 5:\n    s = x * 3\ns += x\nd[1] * 10 + s",
    "a tuple": "s = x * 1\nt = (s, 2)\nif x > 5:\n    s = x * 3\ns += x\nt[0] * 10 + s",
    "a caller": "def f(s):\n    if x > 5:\n        s = x * 3\n    s += x\n    return s\na = x * 2\n"
    "c = f(a)\na * 10 + c",
    "a view": "s = x * 1\nd = s.detach()\nif x > 5:\n    s = x * 3\ns += x\nd * 10 + s",
    "a function": "def make():\n    s = x * 1\n    def get():\n        return s\n    return s, get\n"
    "s, get = make()\nif x > 5:\n    s = x * 3\ns += x\nget() * 10 + s",
    "a default": "s = x * 1\nf = lambda q=s: q * 10\nif x > 5:\n    s = x * 3\ns += x\nf() + s",
    "a list that a caller has": "def g(p):\n    s = x * 1\n    p.append(s)\n    if x > 5:\n        s = x * 3\n"
    "    s += x\n    return s\np = []\nv = g(p)\np[0] * 10 + v",
}
"""What holds a tensor beside a name that is another tensor on one of two paths."""


@pytest.fixture(params=["machine code", "Python code"])
def back_end(request, monkeypatch):
    if request.param == "machine code":
        pytest.importorskip("llvmlite")
    else:
        monkeypatch.setattr(backends, "has_machine_code", lambda: False)


def answers(text, when):
    """The answers with the values 0.8 and -0.3 of `x`, by code or by the interpreter."""
    program, found = load(HEAD + text), []
    for question, more in (("run", {}), ("grad", {"wrt": "x"})):
        for x in (0.8, -0.3):
            try:
                found.append(
                    repr(getattr(program, question)(x=x, options=Options(compile=when), **more))
                )
            except ProgramError:
                raise
            except GradError as error:
                found.append(repr(error))
    return found


@pytest.mark.usefixtures("back_end")
@pytest.mark.parametrize("text", COMPILED.values(), ids=COMPILED)
def test_code_gives_the_answers_of_a_run(text):
    assert answers(text, "always") == answers(text, "never")


@pytest.mark.parametrize("text", COMPILED.values(), ids=COMPILED)
def test_the_types_of_a_gradient_are_right(text, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: False)
    asked = request({"x": 0.8}, {}, Options(), wrt="x")
    found = compile_question(load(HEAD + text).loaded, "gradient", asked)
    assert faults(found.lowered.program) == []


@pytest.mark.parametrize("text", HELD.values(), ids=HELD)
def test_a_tensor_that_something_else_holds_is_not_changed_apart(text):
    with pytest.raises(ProgramError, match="in place that others may hold"):
        answers(text, "always")


@pytest.mark.parametrize("mode", ["never", "auto", "always"])
@pytest.mark.parametrize("use", ["d.get([1.0])", "d.pop([1.0])", "d.setdefault([1.0], 2.0)"])
def test_a_list_as_a_key_is_refused_however_a_program_runs(use, mode):
    program = load(f"input x = 1.0\nd = {{}}\n{use}\nx")
    with pytest.raises(GradError, match="key"):
        program.grad(options=Options(compile=mode))
