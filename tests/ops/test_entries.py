"""The table of ops against numbers: every op of every family, at every sample of its entry."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.derivative_checks import check_first, check_second, told
from support.checks.oracles import (
    Case,
    Poison,
    Run,
    cases,
    flat,
    floating,
    forward,
    per_op,
    reverse,
    split,
    table,
    ulps,
    values,
)

from gradcli.engine.ops import build
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, elementwise, op, sample
from gradcli.engine.ops.rules import pull, push
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, Quiet, dtype_of, shape_of
from gradcli.errors import GradError, RunError

OPS = table()
PLAIN = {name: entry for name, entry in OPS.items() if entry.value.array or entry.value.body}
ALWAYS_ZERO = {
    "nought",
    "unmoved",
    "among",
    "beside",
    "zeros_through",
}  # one of their rules gives zero, or nothing
INTERNAL = {"view_update", "zeros_of"}  # they take functions or shapes, not values


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def samples_of(entry: Op):
    return [] if entry.name in INTERNAL else entry.page.samples()


SMOOTH = [
    pytest.param(entry, id=entry.name)
    for entry in PLAIN.values()
    if entry.differentiable or entry.value.body
    if any(floating(a) for s in samples_of(entry) for a in values(s.args))
]
KNOWN = per_op((entry, entry.page.known()) for entry in OPS.values())
BAD = per_op((entry, entry.page.bad()) for entry in OPS.values())


# --- both orders -------------------------------------------------------------------------


@by_family(SMOOTH)
def test_both_modes_agree_with_central_differences(entry):
    for case in cases(entry):
        check_first(case)


@by_family(SMOOTH)
def test_second_derivatives_agree_with_central_differences(entry):
    for case in cases(entry):
        check_second(case)


# --- exact values ------------------------------------------------------------------------


@by_family(KNOWN)
def test_gradients_at_kinks_are_exact_in_both_modes(entry, known):
    for k in known:
        check_known(entry, k)


def check_known(entry, k):
    run = Run(entry, values(k.args), k.params)
    if k.cotangent is None:
        gs = split(np.ones(flat(run.outs).size), run.outs)
    else:
        gs = [np.asarray(k.cotangent, np.float64)] if shape_of(run.outs[0]) else [k.cotangent]
    leaves = [x for x in run.inputs if isinstance(x, Tensor)]
    wanted = [g for x, g in zip(run.inputs, k.grad, strict=True) if isinstance(x, Tensor)]
    pulled = reverse(run.outs, gs, leaves)
    for got, expected in zip(pulled, wanted, strict=True):
        if expected is not None:
            assert same(got, expected), f"reverse: {told(entry, k, pulled, wanted)}"
    weights = flat(gs)
    pushed = []
    for i, x in enumerate(leaves):
        columns = []
        for j in range(flat([x]).size):
            dots = [np.zeros(flat([y]).size) for y in leaves]
            dots[i][j] = 1.0
            tangent = flat(forward(run.outs, split(np.concatenate(dots), leaves), leaves))
            columns.append(sum(w * t for w, t in zip(weights, tangent, strict=True) if w))
        pushed.append(np.reshape(columns, x.shape))
    for got, expected in zip(pushed, wanted, strict=True):
        if expected is not None:
            assert same(got, expected), f"forward: {told(entry, k, pushed, wanted)}"


def same(got, expected) -> bool:
    return np.array_equal(
        np.asarray(data_of(got), float), np.asarray(expected, float), equal_nan=True
    )


@by_family(BAD)
def test_bad_arguments_are_refused(entry, bad):
    for b in bad:
        args = [np.ones(a) if isinstance(a, tuple) else a for a in b.args]
        args = [np.asarray(a) if isinstance(a, list) else a for a in args]
        said = refusal(entry, args, b.params)
        assert b.says in said, f"{entry.name}{b.args} {b.params} says {said!r}"


PAIRED = [
    entry
    for entry in PLAIN.values()
    if entry.elementwise and len(entry.args) - entry.optional > 1
    if entry.value.array and not (entry.variadic or ops.is_internal(entry.name))
]


@by_family(PAIRED)
def test_shapes_that_do_not_broadcast_are_refused(entry):
    first = entry.page.samples()[0]
    x, y, *others = (np.ravel(a)[0] for a in first.args)
    args = [np.full(2, x), np.full(3, y), *(number.item() for number in others)]
    said = refusal(entry, args, first.params)
    assert "broadcast" in said, f"{entry.name} of vectors of 2 and 3 says {said!r}"


def refusal(entry, args, params) -> str:
    try:
        entry(*args, **params)
    except GradError as e:
        return "; ".join(f"{d.message}; {d.help}" for d in e.diagnostics)
    return "nothing: it is taken"


# --- what the entries say of themselves --------------------------------------------------


@by_family(OPS.values())
def test_entries_are_complete(entry):
    assert entry.page.doc, entry.name
    assert entry.page.source, entry.name
    assert entry.page.doc.rstrip().endswith("."), f"{entry.name}: {entry.page.doc}"
    if not entry.differentiable:
        return
    count = 1 if entry.variadic else len(entry.args)
    if entry.derivatives.partials is not None:
        assert len(entry.derivatives.partials) == count, entry.name
    else:
        assert len(entry.derivatives.vjp) == count, entry.name
        assert entry.derivatives.jvp is not None, entry.name
        assert len(entry.derivatives.jvp) == count, entry.name
        for back, ahead in zip(entry.derivatives.vjp, entry.derivatives.jvp, strict=True):
            assert (back is None) == (ahead is None), f"{entry.name} has one mode only"
    if entry.name not in INTERNAL and ops.is_method(entry.name):
        found = len(entry.page.samples())
        assert found >= 8, f"{entry.name} has {found} samples, 8 are needed"


NODES = [
    ("add", (1.0, 2.0), "AddBackward0"),
    ("sub", (1.0, 2), "SubBackward0"),
    ("sub", (1, 2.0), "RsubBackward1"),
    ("pow", (2.0, 2), "PowBackward0"),
    ("pow", (2.0, 2.0), "PowBackward1"),
    ("pow", (2, 2.0), "PowBackward2"),
    ("square", (2.0,), "PowBackward0"),
    ("fmod", (5.0, 3), "FmodBackward0"),
    ("fmod", (5.0, 3.0), "FmodBackward1"),
    ("clamp", (5.0, 3, None), "ClampBackward1"),
    ("log1p", (5.0,), "Log1PBackward0"),
    ("atan2", (5.0, 1), "Atan2Backward0"),
    ("where", (True, 2.0, 1), "WhereBackward0"),
    ("maximum", (5.0, 1), "MaximumBackward0"),
]


@pytest.mark.parametrize(("name", "args", "expected"), NODES)
def test_name_of_the_node(name, args, expected):
    """Floats are leaves here, ints plain numbers."""
    got = Run(OPS[name], list(args), {}).outs[0].node.name()
    assert got == expected, f"{name}{args}: got {got}, expected {expected}"


def test_no_name_stands_twice():
    seen: dict[str, str] = {}
    for family, names in build.contents()["families"].items():
        for name in names.split():
            assert name not in seen, f"{name} is in {seen.get(name)} and {family}"
            seen[name] = family


SEVERAL = [e for e in OPS.values() if e.statics.fields or type(e.statics.dtype) is list]


@by_family(e for e in SEVERAL if e.differentiable)
def test_an_op_of_several_results_has_one_argument(entry):
    """Compiled forward mode has no tangents of several arguments to add up."""
    assert len(entry.args) == 1, f"{entry.name} takes {entry.args}"
    assert not entry.variadic, entry.name


@by_family(e for e in OPS.values() if e.differentiable and any(e.tape.saves))
def test_what_is_saved_is_read(entry):
    """The other way round, that all that is read is saved, every recorded test shows."""
    if not samples_of(entry):
        return
    unread = {name for name, kept in zip(entry.args, entry.tape.saves, strict=True) if kept}
    for s in entry.page.samples():
        args = values(s.args)
        out = entry(*args, **s.params)
        for place, name in enumerate(entry.args):
            if name in unread and _fails_without(entry, args, out, s.params, place):
                unread.discard(name)
    assert not unread, f"{entry.name} saves {sorted(unread)}, which no rule reads"


def _fails_without(entry: Op, args, out, params, place: int) -> bool:
    if place >= len(args) or args[place] is None:
        return False
    poisoned = list(args)
    poisoned[place] = Poison(shape_of(args[place]), dtype_of(args[place]))
    g = tuple(_ones(o) for o in out) if isinstance(out, tuple) else _ones(out)
    wanted = [floating(a) for a in args]
    try:
        pull(entry, g, out, poisoned, params, wanted)
        push(
            entry,
            [_ones(a) if w else None for a, w in zip(args, wanted, strict=True)],
            out,
            poisoned,
            params,
        )
    except (TypeError, AttributeError, ValueError, RunError):
        return True
    return False


def _ones(a):
    return 1.0 if type(a) in NUMBERS else np.ones(a.shape, a.dtype)


# --- numbers and dtypes ------------------------------------------------------------------

EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-8, 316.0, -40.0, 1e300, np.inf, -np.inf, np.nan)


@by_family(e for e in PLAIN.values() if e.value.number and e.args)
def test_numbers_and_arrays_give_the_same(entry):
    grids = {1: [(a,) for a in EDGES], 2: [(a, b) for a in EDGES for b in EDGES]}
    is_of_floats = entry.name not in NOT_ON_FLOATS and REQUIRED not in entry.params.values()
    points = [(p, {}) for p in grids.get(len(entry.args), []) if is_of_floats]
    points += [(s.args, s.params) for s in entry.page.samples()]
    for args, params in points:
        if not all(type(a) in NUMBERS for a in args):
            continue
        number = entry.value.number(*args, **params)
        size = (2,) if entry.statics.shape is None else ()
        array = np.asarray(entry.value.array(*(np.full(size, a) for a in args), **params))
        if entry.name not in ("add", "mul", "sum"):  # Python's True + True is 2
            kinds = {float: "f", int: "i", bool: "b"}
            got = kinds[type(number)]
            assert got == array.dtype.kind, f"{entry.name}{args}: {number!r}, {array!r}"
        off = ulps(float(number), float(array.flat[0]))
        assert off <= 4, (
            f"{entry.name}{args} {params}: {number!r} but {array.flat[0]!r} in an array"
        )


NOT_ON_FLOATS = {"inner_product", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"}
NOT_ON_FLOATS |= {"bitwise_left_shift", "bitwise_right_shift", "gcd", "lcm"}
NOT_ON_FLOATS |= {"threshold"}  # it must be given two parameters
NOT_ON_FLOATS |= {"math_floor", "math_ceil", "math_trunc"}  # ints have 64 bits


# --- the checker is checked --------------------------------------------------------------


def test_each_op_that_fails_is_told():
    def check(name):
        assert name == "tan"

    table = by_family(["sin", "cos", "tan"])(check)
    ((cases,),) = (mark.args[1] for mark in table.pytestmark)
    with pytest.raises(ExceptionGroup, match="2 of 3") as caught:
        table(cases)
    assert [error.__notes__ for error in caught.value.exceptions] == [["of sin"], ["of cos"]]


def planted(**fields) -> Op:
    return op("planted", doc="A wrong rule.", **fields)


WRONG = {
    "sign": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        number=None,
        array=np.sin,
        partials=(lambda out, x: ops.neg(ops.cos(x)),),
        saves=("x",),
    ),
    "factor": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=lambda x: np.multiply(x, x),
        partials=(lambda out, x: x,),
        saves=("x",),
    ),
    "dropped term": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=lambda x: np.multiply(x, np.exp(x)),
        partials=(lambda out, x: ops.exp(x),),
        saves=("x",),
    ),
    "operands swapped": elementwise(
        "wrong",
        args=("x", "y"),
        doc="d",
        array=np.multiply,
        partials=(lambda out, x, y: x, lambda out, x, y: y),
        saves=("x", "y"),
    ),
    "zero": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=np.exp,
        partials=(0.0,),
    ),
    "constant": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=np.exp,
        partials=(1.0,),
    ),
    "argument not saved": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=np.sin,
        partials=(lambda out, x: ops.cos(x),),
    ),
    "result not saved": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=np.exp,
        partials=(lambda out, x: out,),
    ),
    "wrong in reverse only": planted(
        args=("x",),
        array=lambda x: np.multiply(x, 3.0),
        vjp=(lambda g, out, x: ops.mul(g, 2.0),),
        jvp=(lambda dot, out, x: ops.mul(dot, 3.0),),
    ),
    "wrong in forward only": planted(
        args=("x",),
        array=lambda x: np.multiply(x, 3.0),
        vjp=(lambda g, out, x: ops.mul(g, 3.0),),
        jvp=(lambda dot, out, x: ops.mul(dot, 2.0),),
    ),
    "not un-broadcast": planted(
        args=("x",),
        array=lambda x: np.add(x, np.zeros((3, *np.shape(x)))),
        vjp=(lambda g, out, x: ops.expand(ops.mul(x, 0.0), size=x.shape),),
        jvp=(lambda dot, out, x: dot,),
        saves=("x",),
    ),
    "second order": elementwise(
        "wrong",
        args=("x",),
        doc="d",
        array=np.sin,
        partials=(lambda out, x: data_of(ops.cos(x)),),
        saves=("x",),
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_rules_are_caught(fault):
    entry = WRONG[fault]
    s = sample(*[[0.7, -1.3]] * len(entry.args))
    if len(entry.args) == 2:
        s = sample([0.7, -1.3], [[2.0], [0.4]])
    with pytest.raises((AssertionError, TypeError, AttributeError)):
        check_both_orders(entry, s)


def check_both_orders(entry, s):
    check_first(Case(entry, s))
    check_second(Case(entry, s))


def _mutable(entry: Op) -> list[tuple[str, int]]:
    """The rules of an entry that matter at its samples, by the field and the place in it."""
    return [
        (field, i)
        for field in ("partials", "vjp", "jvp")
        for i, rule in enumerate(getattr(entry.derivatives, field) or ())
        if rule is not None and rule != 0.0
    ]


def _scaled(rule, factor: float):
    if isinstance(rule, float):
        return rule * factor

    def wrong(*args, **params):
        r = rule(*args, **params)
        if r is None:
            return None
        if isinstance(r, tuple):
            return tuple(None if x is None else ops.mul(x, factor) for x in r)
        return ops.mul(r, factor)

    return wrong


MUTANTS = [
    pytest.param(entry, id=entry.name)
    for entry in OPS.values()
    if entry.differentiable and samples_of(entry) and entry.name not in ALWAYS_ZERO
]


@by_family(MUTANTS)
def test_samples_catch_a_wrong_factor(entry):
    """Every rule of every op, made wrong, is found out by one of the op's own samples."""
    for field, i in _mutable(entry):
        for factor in (-1.0, 1.25):
            assert _is_caught(entry, field, i, factor), (
                f"{entry.name}: {field}[{i}] times {factor} passes at every sample"
            )


def _is_caught(entry: Op, field: str, i: int, factor: float) -> bool:
    mutant = copy.copy(entry)
    mutant.derivatives = copy.copy(entry.derivatives)
    rules = list(getattr(entry.derivatives, field))
    rules[i] = _scaled(rules[i], factor)
    setattr(mutant.derivatives, field, tuple(rules))
    for s in entry.page.samples():
        if not any(floating(a) for a in values(s.args)):
            continue
        try:
            check_first(Case(mutant, s))
        except AssertionError:
            return True
    return False


FEW = [name for name, entry in OPS.items() if 0 < len(entry.args) < 4]


@pytest.mark.parametrize("name", [n for n in FEW if REQUIRED not in OPS[n].params.values()])
def test_the_inputs_of_a_node_are_arguments(name):
    """Whichever of the arguments are Python's numbers."""
    entry = OPS[name]
    for given in itertools.product((2.0, Tensor(2.0)), repeat=len(entry.args)):
        assert {*entry.node_inputs(given, entry.params)} <= {*range(len(given))}, given
