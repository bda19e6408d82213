"""Every built-in is a function and a method of the language, differentiated in both modes."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import Run, flat, floating, reverse, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, Quiet, plain
from gradcli.program import load_source
from gradcli.source import Source

RANDOM = {"dropout"}
SYNTAX = {"getitem"}  # x[i]


def written(value) -> str:
    """A static parameter as a program writes it."""
    return repr(plain(value)) if type(value) in NUMBERS else repr(value)


def first_with_floats(op):
    return next((s for s in op.page.samples() if _recorded(op, s)), None)


def _recorded(op, s):
    with Quiet():
        return bool(Run(op, values(s.args), s.params).outs)


CASES = [
    pytest.param(op, s, id=op.name)
    for op in table().values()
    if ".internal." not in ops.families[op.name]
    and op.host.call is None
    and op.name not in RANDOM | SYNTAX
    and (s := first_with_floats(op)) is not None
]


class Called:
    """The text of a program that sums what an op gives, called in one way or another."""

    def __init__(self, op, s, run):
        self.op, self.run = op, run
        self.given = {f"a{i}": v for i, v in enumerate(values(s.args)) if floating(v)}
        self.words = [
            f"a{i}" if floating(v) else f"tensor({v.tolist()})" if hasattr(v, "tolist") else repr(v)
            for i, v in enumerate(values(s.args))
        ]
        self.params = [f"{k.removeprefix('*')}={written(v)}" for k, v in s.params.items()]

    def ordered(self, names, given):
        """Arguments by place as far as they follow each other, the others by name."""
        by_place = []
        for name in names:
            if name not in given:
                break
            by_place.append(given.pop(name))
        return ", ".join([*by_place, *(f"{k}={v}" for k, v in given.items())])

    def function(self):
        if self.op.order:
            return self.summed(f"{self.op.name}({self.ordered(self.op.order, self.by_name())})")
        words = [f"[{', '.join(self.words)}]"] if self.op.variadic else self.words
        return self.summed(f"{self.op.name}({', '.join([*words, *self.params])})")

    def by_name(self):
        params = dict(p.split("=", 1) for p in self.params)
        return dict(zip(self.op.args, self.words, strict=False)) | params

    def method(self):
        if self.op.order:
            given = self.by_name()
            receiver = given.pop(self.op.args[0])
            names = [name for name in self.op.order if name != self.op.args[0]]
            return self.summed(f"{receiver}.{self.op.name}({self.ordered(names, given)})")
        first, *rest = self.words
        return self.summed(f"{first}.{self.op.name}({', '.join([*rest, *self.params])})")

    def named(self):
        """Every argument by its name, numbers that have a default too."""
        if self.op.variadic:
            return self.function()
        defaults = {k: written(v) for k, v in self.op.params.items() if type(v) in NUMBERS}
        given = defaults | self.by_name()
        return self.summed(f"{self.op.name}({', '.join(f'{k}={v}' for k, v in given.items())})")

    def summed(self, call):
        if len(self.run.results) == 1:
            return f"sum({call})"
        parts = [i for i, r in enumerate(self.run.results) if r.node is not None]
        return " + ".join(f"sum({call}[{i}])" for i in parts)


@by_family(CASES)
def test_an_op_is_differentiated_from_a_program(op, s):
    assert op.method, f"{op.name} is no method"
    with Quiet():
        run = Run(op, values(s.args), s.params)
        ones = [np.ones(o.shape) if o.shape else 1.0 for o in run.outs]
        expected = reverse(run.outs, ones, run.leaves)
    called = Called(op, s, run)
    check_call(called, run, expected, called.function())
    for text in {called.method(), called.named()} - {called.function()}:
        check_gradient(called, run, expected, text)


def check_gradient(called, run, expected, text):
    """Value and gradient of a program that holds the call in this form; the names of its leaves."""
    wrt = [f"a{i}" for i, x in enumerate(run.inputs) if any(x is leaf for leaf in run.leaves)]
    program = load_source(Source("program", text), frozenset(called.given))
    result = program.grad(called.given, wrt=wrt)
    total = sum(float(np.sum(np.asarray(data_of(o)))) for o in run.outs)
    assert np.allclose(result.value, total, rtol=1e-12), f"{text}: {result.value}, not {total}"
    for name, e in zip(wrt, expected, strict=True):
        got = result.grad[name]
        assert np.allclose(got, data_of(e), rtol=1e-12, equal_nan=True), (
            f"{text} by {name}: got\n{got}\nexpected\n{data_of(e)}"
        )
    return wrt


def check_call(called, run, expected, text):
    """Value, gradient and tangent of a program that holds the call in this form."""
    wrt = check_gradient(called, run, expected, text)
    tangents = {
        f"t{name}": np.cos(np.arange(np.size(called.given[name]), dtype=float)).reshape(
            np.shape(called.given[name])
        )
        for name in wrt
    }
    tangents = {name: plain(t) for name, t in tangents.items()}
    lines = [
        f"def f({', '.join(wrt)}): return {text}",
        f"jvp(f, ({', '.join(wrt)},), ({', '.join(tangents)},))[1]",
    ]
    given = called.given | tangents
    program = load_source(Source("program", "\n".join(lines)), frozenset(given))
    got = program.run({n: v for n, v in given.items() if n in program.inputs}).result
    pushed = float(np.dot(flat(expected), flat([tangents[f"t{name}"] for name in wrt])))
    assert np.allclose(got, pushed, rtol=1e-10, atol=1e-12), f"jvp of {text}: {got}, not {pushed}"
