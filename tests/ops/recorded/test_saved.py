"""Which changes in place are refused when the gradient is taken, beside PyTorch, as recorded by
`memory/record_saved.py`; where one is not refused the derivatives are those of the values before.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import floating, samples, table, values

from gradcli.engine.autodiff.backward import cotangents, recorded_cotangents
from gradcli.engine.autodiff.forward import tangents
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor, leaf, node_of, shared
from gradcli.engine.values.data import Quiet
from gradcli.errors import RunError

OPS = table()
ROWS = json.loads((Path(__file__).parent / "memory/saved.json").read_text("utf-8"))
NEEDLESS = "PyTorch saves it beside what its formula needs, and the gradient here is right"
# Operation: what may be changed here and not in PyTorch, and why.
MORE = {
    "cond": ("r0", "made of a product here"),
    "cross_entropy": ("1", "the classes are a part of the op here"),
    "float_power": ("r0", NEEDLESS),
    "lstsq": ("0 1 r0", "made of a factorization here"),
    "poisson_nll_loss": ("1", NEEDLESS),
    "pow": ("r0", NEEDLESS),
    "qr": ("r1", "the factors of a wide matrix are products here"),
    "slogdet": ("r0", NEEDLESS),
}
# Likewise what must stay here and not in PyTorch.
LESS = {
    "lstsq": ("r3", "its singular values are saved by what they are made by"),
    "qr": ("0", "the factors of a wide matrix are products here"),
}


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


class NoSlope(Exception):
    """The gradients are constants."""


class Done:
    """An op on a sample's arguments, of which the chosen ones are computed from leaves."""

    def __init__(self, op, given, params, chosen):
        leaves = [leaf(a) if i in chosen else None for i, a in enumerate(given)]
        self.args = [
            None if a is None else Tensor(copied(a)) if x is None else ops.clone(x)
            for a, x in zip(given, leaves, strict=True)
        ]
        self.leaves = [x.node for x in leaves if x is not None]
        out = SESSION.do(op, self.args, params)
        outs = out if isinstance(out, tuple) else (out,)
        self.outs = [o if isinstance(o, Tensor) else Tensor(o) for o in outs]
        self.roots = [(o.node, o.index, ones(o)) for o in self.outs if o.node is not None]

    def change(self, place):
        """Change argument "0" or result "r0" in place."""
        if place.startswith("r"):
            apply_inplace(ops.mul, self.outs[int(place[1:])], [1], {}, None, recording=True)
        else:
            apply_inplace(ops.fill, self.args[int(place)], [0], {}, None, recording=True)

    def refuses(self):
        """Whether the gradient is refused because something has been changed."""
        now = [(node_of(o), o.index, ones(o)) for o in self.outs]
        try:
            cotangents([root for root in now if root[0] is not None], self.leaves)
        except RunError as error:
            return error.diagnostics[0].code == "changed-in-place"
        return False

    def reverse(self):
        found = cotangents(self.roots, self.leaves)
        return [np.asarray(found.get(x, 0.0)) for x in self.leaves]

    def recorded(self):
        """The gradients as tensors."""
        found = recorded_cotangents(self.roots, self.leaves)
        return [g for x in self.leaves if isinstance(g := found.get(x), Tensor)]

    def forward(self):
        seeds = {x: ones(a) for x, a in zip(self.leaves, self._chosen(), strict=True)}
        found = tangents([node for node, _, _ in self.roots], seeds)
        dots = [(found.get(node), index) for node, index, _ in self.roots]
        return [np.asarray(d[i] if type(d) is tuple else d, float) for d, i in dots]

    def _chosen(self):
        return [a for a in self.args if a is not None and a.node is not None]


SESSION = Session()


def copied(a):
    return a.copy() if isinstance(a, np.ndarray) else a


def ones(x):
    return np.ones(x.shape, x.dtype) if x.shape else 1.0


def same(found, expected):
    return all(
        np.allclose(a, b, rtol=1e-12, equal_nan=True) for a, b in zip(found, expected, strict=True)
    )


@by_family(ROWS)
def test_what_must_not_be_changed_is_what_pytorch_saves(name):
    op = OPS[name]
    defaults = {k: v for k, v in op.params.items() if not k.startswith("*")}
    more, less = ({*table.get(name, ("",))[0].split()} for table in (MORE, LESS))
    wrong = []
    for s, row in zip(samples(op), ROWS[name].split(","), strict=False):
        given = values(s.args)
        floats = [i for i, a in enumerate(given) if floating(a)]
        choices = [set(floats), *({i} for i in floats)] if len(floats) > 1 else [set(floats)]
        for chosen, cell in zip(choices, row.split(";"), strict=True):
            if cell == "?":
                continue
            told = f"{name}({s.id}) by {sorted(chosen)}"
            before = Done(op, given, defaults | s.params, chosen)
            gradient, tangent = before.reverse(), before.forward()
            places = [str(i) for i, a in enumerate(given) if a is not None]
            for place in (*places, *(f"r{i}" for i in range(len(before.outs)))):
                done = Done(op, given, defaults | s.params, chosen)
                done.change(place)
                refused = done.refuses()
                if refused != (place in cell.split()) and place not in (less if refused else more):
                    wrong.append(f"{told}: {place} must {'stay' * refused or 'not stay'}")
                if not refused and not same(done.reverse(), gradient):
                    wrong.append(f"{told}: the gradient follows {place}")
                if not same(done.forward(), tangent):
                    wrong.append(f"{told}: the tangent follows {place}")
    assert not wrong, "\n".join(wrong[:10])


@by_family(ROWS)
def test_the_derivative_of_a_gradient_does_not_follow_a_change(name):
    op = OPS[name]
    defaults = {k: v for k, v in op.params.items() if not k.startswith("*")}
    for s in samples(op)[:1]:
        given = values(s.args)
        chosen = {i for i, a in enumerate(given) if floating(a)}

        def second(place, given=given, s=s, chosen=chosen):
            done = Done(op, given, defaults | s.params, chosen)
            for x in (*done.args, *done.outs):
                if isinstance(x, Tensor):
                    shared(x)  # with a view, so that a change writes into its memory
            slopes = done.recorded()
            if place:
                done.change(place)
            roots = [(g.node, g.index, ones(g)) for g in slopes if g.node is not None]
            if not roots:
                raise NoSlope
            found = cotangents(roots, done.leaves)
            return [np.asarray(found.get(x, 0.0)) for x in done.leaves], len(done.outs)

        try:
            expected, results = second("")
        except (RunError, NoSlope):
            continue  # it has no second derivative
        is_saved = op.tape.guards_out and op.value.body is None
        saved = {f"r{i}" for i in op.tape.guarded_fields or range(results) if is_saved}
        places = [str(i) for i, a in enumerate(given) if a is not None]
        for place in (*places, *(f"r{i}" for i in range(results))):
            try:
                found, _ = second(place)
            except RunError as error:
                if error.diagnostics[0].code != "changed-in-place":
                    raise
            else:
                assert same(found, expected), f"{name}({s.id}) follows {place}"
                assert place not in saved, f"{name}({s.id}) does not refuse {place}"
