"""A run is recorded only where somebody can see it, and nobody sees that it was not."""

import math

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.generated_programs import aliased, written
from support.programs.sample_programs import SAMPLES, shortened

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.session.state import Session
from gradcli.errors import GradError
from gradcli.program import Options, load

BLIND = {  # programs that cannot tell
    "arithmetic": "param k = 2.0\nk * 3 + 1",
    "a loop": "param k = 0.5\ny = 1.0\nfor i in range(5):\n    y = y + sin(k * y)\ny",
    "an update of what arithmetic made": "param k = 0.5\ns = 0.0\nfor i in range(5):\n    s += k\ns",
    "an update of an update": "param k = 0.5\ns = k * 1\nt = s\nt *= 2\ns",
    "a function": "param w = [1.0, 2.0]\ndef f(x):\n    return tanh(x * w)\nf(w)",
    "a built-in as a value": "param w = [1.0, 2.0]\nf = relu\nf(w)",
    "lists": "param w = [1.0, 2.0]\nl = []\nfor x in w:\n    l.append(x * x)\nstack(l)",
    "shapes": "param w = [[1.0, 2.0]]\nw.T @ w / w.shape[0] + len(w)",
    "plain text printed": 'param k = 2.0\nprint("a", 1)\nk * 2',
    "a condition": "param k = 2.0\nx = k if k > 1 and k < 3 else -k\nassert x == k\nx",
    "a leaf that it makes": "w = tensor([1.0, 2.0], requires_grad=True)\nsum(w * w)",
    "several results": "param w = [[1.0, 2.0]]\nw.max(dim=1).values",
    "an error": "param w = [1.0, 2.0]\nw @ zeros(3)",
    "an error in a function": "param w = [1.0, 2.0]\ndef f(x):\n    return x[5]\nf(w * 2)",
    "nan": "param k = -2.0\nlog(k) * 1",
    "a false condition": "param k = -2.0\nassert k > 0\nk",
}

SEEING = {  # programs that can, or that might
    "a tensor printed": "param k = 2.0\nprint(k * 2)",
    "a built-in that sees as a value": "param k = 2.0\nf = print\nf(k * 2)",
    "a formatted tensor": 'param k = 2.0\ns = f"{k * 2}"\ns',
    "the text of a tensor": "param k = 2.0\nstr(k * 2)",
    "a message of a tensor": "param k = 2.0\nassert k > 3, k * 2\nk",
    "grad_fn": "param k = 2.0\n(k * 2).grad_fn.name()",
    "requires_grad": "param k = 2.0\n(k * 2).requires_grad",
    "is_leaf": "param k = 2.0\n(k * 2).is_leaf",
    "backward": "param k = 2.0\n(k * 2).backward()\nk.grad",
    "grad": "param k = 2.0\ngrad(k * 2, k)[0]",
    "a transform": "param k = 2.0\ngrad(lambda x: x * k)(3.0)",
    "a change of a leaf in place": "param k = 2.0\nk += 1\nk",
    "a change of another name of a leaf": "param k = 2.0\nx = k\nx += 1\nx",
    "a change of a view": "param w = [1.0, 2.0]\nv = w[0]\nv += 1\nw",
    "a change of an argument": "param w = [1.0, 2.0]\ndef f(x):\n    x += 1\n    return x\nf(w)",
    "a change of a chosen value": "param k = 2.0\nx = k if k > 1 else 0.0\nx += 1\nx",
    "a change of what a function gives": "param k = 2.0\ndef f():\n    return k\nx = f()\nx += 1\nx",
    "an item": "param w = [1.0, 2.0]\nw[0] = 3\nw",
    "a method that ends in _": "param w = [1.0, 2.0]\nw.add_(1)\nw",
    "no_grad": "param k = 2.0\nwith no_grad():\n    k -= 0.1\nk",
    "detach": "param k = 2.0\n(k * 2).detach() * k",
    "data": "param k = 2.0\nk.data * 2",
    "a hook": "param k = 2.0\nk.register_hook(lambda g: g * 2)\nk * 2",
    "an own rule": (
        "class F(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
        "param k = 2.0\nF.apply(k)"
    ),
}


def outcome(program, given, *, recorded):
    """All that a run gives and says, the graph of its values left out."""
    if recorded:
        program.loaded.__dict__["sees_recording"] = True
    options = Options(seed=7, grad_fn=False)
    try:
        found = program.run(given, options=options)
    except GradError as error:
        return [(d.code, d.message, d.span, d.notes, d.help) for d in error.diagnostics]
    values = [(b.name, plain(b.value), plain(b.grad), b.requires_grad) for b in found.bindings]
    said = [(w.code, w.message, w.span, w.labels) for w in found.warnings]
    return plain(found.result), values, found.printed, said


def plain(value):
    """A value in a text that tells all its bits and its kind."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.shape, value.tobytes()
    return repr(value)


def unrecorded(text, given=None):
    """Whether a run of the program was not recorded; it must give what a recorded one does."""
    program = load(text)
    without = outcome(program, given, recorded=False)
    assert outcome(load(text), given, recorded=True) == without, text
    return not program.loaded.sees_recording


@pytest.mark.parametrize("name", BLIND)
def test_a_program_that_cannot_tell_is_not_recorded(name):
    assert unrecorded(BLIND[name])


@pytest.mark.parametrize("name", SEEING)
def test_a_program_that_can_tell_is_recorded(name):
    assert load(SEEING[name]).loaded.sees_recording


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_samples_give_the_same(sample):
    text = shortened(sample)
    without = outcome(load(text), {}, recorded=False)
    assert outcome(load(text), {}, recorded=True) == without


@pytest.mark.parametrize("first", chunks(25, 500, 25))
def test_generated_programs_give_the_same(first):
    count = 0
    for seed in range(first, first + 25):
        text, given = written(seed)
        count += unrecorded(text, given)
        left, right, given = aliased(seed)
        unrecorded(left, given)
        unrecorded(right, given)
    assert count > 2


def recorded_runs(monkeypatch, program, **asked):
    """Whether each session of a run records."""
    seen = []
    start = Session.__init__

    def init(session, **fields):
        start(session, **fields)
        seen.append(session.recording)

    monkeypatch.setattr(Session, "__init__", init)
    program.run(options=Options(**asked))
    return seen


def test_who_looks_at_what_is_recorded(monkeypatch):
    named = load("param k = 2.0\ny = k * 2\ny")
    assert recorded_runs(monkeypatch, named) == [True]
    assert recorded_runs(monkeypatch, named, grad_fn=False) == [False]
    assert recorded_runs(monkeypatch, named, grad_fn=False, graph=True) == [True]
    assert named.run().bindings[1].grad_fn == "MulBackward0"

    unnamed = load("param k = 2.0\nn = 3\ndef f(x):\n    return x * k\nf(n)")
    assert recorded_runs(monkeypatch, unnamed) == [False]
    assert unnamed.run().bindings[0].requires_grad

    not_finite = load("param k = -2.0\nlog(k)")
    assert recorded_runs(monkeypatch, not_finite) == [False] * 2  # again, to explain


def test_what_sees():
    seeing = {name for name in ops if ops[name].host.sees}
    texts = {"print", "str", "repr", "dir", "id", "type", "isinstance", "getattr", "hasattr"}
    assert seeing > texts | {name for name in ops if ops[name].host.transform is not None}
    assert seeing.isdisjoint(
        {"len", "range", "zip", "list", "map", "sorted", "next", "builtins_max"}
    )


def test_values_made_without_recording_are_the_same_to_the_bit():
    text = "param k = 0.1\ns = 0.0\nfor i in range(100):\n    s += exp(-k * i) / (i + 1)\ns"
    with_it, without = load(text).run(), load(text).run(options=Options(grad_fn=False))
    assert math.frexp(with_it.result) == math.frexp(without.result)


def test_changes_in_place_with_wrong_arguments_are_refused():
    """Where the grammar cannot tell, the question whether anybody sees the recording comes first."""
    refused = 0
    for name in sorted(n for n in ops if ops[n].memory.inplace and ops.is_method(n)):
        for arguments in ("", "1, 2, 3, 4, 5, 6, 7, 8"):
            program = load(f"x = ones(2)\nx.{name}_({arguments})\nx")
            try:
                program.run()
            except GradError:
                refused += 1
    assert refused > 100
