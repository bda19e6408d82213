"""What the tape refuses is found before a run, in code that no value decides; nothing else is."""

import functools
import json

import pytest
from differential.recorded import PROGRAMS, read
from support.checks.amounts import chunks

from gradcli.errors import GradError
from gradcli.program import load

recorded = functools.cache(read)
TAPE = {"backward-twice", "changed-in-place", "leaf-in-place", "unrecorded-view", "view-in-place"}
LEAF = "x = tensor([1.0, 2.0], requires_grad=True)\n"

REFUSED = {
    # backward twice
    f"{LEAF}y = (x ** 2).sum()\ny.backward()\ny.backward()": "backward-twice 4",
    f"{LEAF}y = (x ** 2).sum()\nprint(grad(y, x))\ny.backward(retain_graph=True)": "backward-twice 4",
    f"{LEAF}y = x.exp()\nfor i in range(2):\n    y.sum().backward()": "backward-twice 4",
    f"{LEAF}def f(v):\n    v.backward()\ny = x.prod()\nf(y)\nf(y)": "backward-twice 3",
    "param w: float[n]\ny = (w * w).sum()\ny.backward()\ny.backward()": "backward-twice 4",
    "param w: float\ny = w * w\ny.backward()\ny.backward()\nif w > 0: print(w)": "backward-twice 4",
    "class F(Function):\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
    "        return x * x\n    def backward(ctx, g):\n        x, = ctx.saved_tensors\n"
    f"        return 2 * x * g\n{LEAF}y = F.apply(x).sum()\ny.backward()\ny.backward()": (
        "backward-twice 11"
    ),
    # a leaf
    f"{LEAF}x += 1": "leaf-in-place 2",
    f"{LEAF}x[0] = 1.0": "leaf-in-place 2",
    f"{LEAF}x.mul_(2)": "leaf-in-place 2",
    f"{LEAF}v = x[1:]\nv -= 1": "leaf-in-place 3",
    "x = tensor([1.0, 2.0])\nx.requires_grad_()\nx.zero_()": "leaf-in-place 3",
    "x = ones(2)\nx.requires_grad = True\nx.add_(x)": "leaf-in-place 3",
    # a saved value
    f"{LEAF}y = x.exp()\ny += 1\ny.sum().backward()": "changed-in-place 4",
    f"{LEAF}y = x * 2\nz = y * y\ny[0] = 3.0\nz.sum().backward()": "changed-in-place 5",
    f"{LEAF}y = x * 2\nz = y.sin()\nv = y[:1]\nv *= 2\nz.sum().backward()": "changed-in-place 6",
    f"{LEAF}y = x ** 2\nwith no_grad():\n    x -= 0.1\ny.sum().backward()": "changed-in-place 5",
    f"{LEAF}y = x * 1\nwith no_grad():\n    v = y[:1]\nv *= 2": "unrecorded-view 5",
    f"{LEAF}y = x * 1\na, b = y.split(1)\na *= 2": "view-in-place 4",
}


def found(text, **given):
    findings = load(text).check(given).findings
    return [f"{f.code} {f.place[1]}" for f in findings if f.code in TAPE]


@pytest.mark.parametrize("text", REFUSED)
def test_what_every_run_refuses_is_an_error(text):
    assert found(text) == [REFUSED[text]]
    (error,) = [f for f in load(text).check().findings if f.code in TAPE]
    assert error.severity == "error"
    if "param" in text:
        return
    with pytest.raises(GradError) as refused:
        load(text).run()
    told = refused.value.diagnostics[0]
    assert (error.message, error.span, error.notes) == (told.message, told.span, told.notes)


GRADIENTS = {
    "param x = [1.0, 2.0]\ny = exp(x)\ny *= 2\ny.sum()": "changed-in-place 4",
    "param x = [1.0, 2.0]\ny = x * 2\nz = y * y\ny[0] = 1.0\nz.sum()": "changed-in-place 5",
}


@pytest.mark.parametrize("text", GRADIENTS)
def test_what_the_gradient_alone_refuses_is_a_warning(text):
    assert found(text) == [GRADIENTS[text]]
    (warning,) = [f for f in load(text).check().findings if f.code in TAPE]
    assert warning.severity == "warning"
    load(text).run()
    with pytest.raises(GradError, match="changed in place"):
        load(text).grad()


QUIET = [
    f"{LEAF}def f(v):\n    if x[0] < 5: v.backward()\ny = x.prod()\nf(y)\nf(y)",
    f"{LEAF}y = (x ** 2).sum()\ny.backward(retain_graph=True)\ny.backward()",
    f"{LEAF}y = (x + 2).sum()\ny.backward()\ny.backward()",  # nothing is saved
    f"{LEAF}with no_grad():\n    x -= 0.1",
    f"{LEAF}y = x.exp()\ny = y + 1\ny.sum().backward()",
    f"{LEAF}y = x.tanh()\nz = y.sin()\nz += 1\ny.sum().backward()",
    f"{LEAF}for i in range(3):\n    (x ** 2).sum().backward()\n    x.grad.zero_()",
    "x = 2.0\nx += 1\nx *= 3\nx",  # numbers are replaced
    "x = [1.0]\nx += [2.0]\nx",
    # a value decides
    f"{LEAF}y = (x ** 2).sum()\ny.backward()\nif x[0] < 5: y.backward()",
    f"{LEAF}y = (x ** 2).sum()\nn = int(x[1])\nfor i in range(n):\n    y.backward()",
    # too much to be tried
    "x = zeros(300, 300, requires_grad=True)\ny = (x @ x).sum()\ny.backward()\ny.backward()",
    f"{LEAF}for i in range(10 ** 9):\n    y = (x ** 2).sum()\ny.backward()\ny.backward()",
]


@pytest.mark.parametrize("text", QUIET)
def test_nothing_is_found_where_it_is_not_sure(text):
    assert found(text) == []


def test_what_is_tried_is_not_seen(cli):
    text = f"{LEAF}print(x)\nassert x[0] > 5\ny = randn(2)"
    assert cli("check", "-e", text)[:2] == cli("check", "-e", text.replace("print(x)", "x"))[:2]
    status, out, err = cli("check", "-e", f"{LEAF}print(7)\nx += 1", "--json")
    assert (status, err) == (3, "")
    (finding,) = json.loads(out)["findings"]
    assert (finding["code"], finding["line"]) == ("leaf-in-place", 3)


def refused(program):
    """The codes for which a run refuses a program."""
    try:
        program.run()
    except GradError as error:
        return {d.code for d in error.diagnostics}
    return set()


@pytest.mark.parametrize("first", chunks(10, PROGRAMS, 10))
def test_no_program_has_an_error_that_its_run_has_not(first):
    for program, _ in recorded()[first : first + 10]:
        asked = load(program.text)
        errors = {f.code for f in asked.check().findings if f.severity == "error"}
        assert errors <= refused(asked), program.text
