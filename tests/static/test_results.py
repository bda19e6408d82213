"""What an entry says of its op's results, shape and dtype, is what the op gives: every op, at every
sample, with every dtype that it takes.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import cast, samples, table, values

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.session.state import Session
from gradcli.engine.static.inference import result
from gradcli.engine.static.value import UNLINKED, Value, constant, inferred, of_data
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, Quiet, dtype_of, plain, shape_of
from gradcli.errors import GradError

KINDS = ("float64", "float32", "int64", "bool")
INTERNAL = {"view_update", "zeros_of"}  # they take functions or shapes, not values
HANGING = {
    "bincount",
    "unique",
    "nonzero",
    "argwhere",
    "one_hot",
    "masked_select",
    "lstsq",
}  # on values: how large the result is
RULES = {n for n, family in ops.families.items() if ".internal." in family}
"""Ops that derivative rules alone call, on floats of one dtype."""


OPS = [
    pytest.param(op, id=name)
    for name, op in table().items()
    if (op.value.array or op.value.body) and name not in INTERNAL and samples(op)
]


PAIRED = 3
"""Samples of an op that are done with every combination of dtypes."""


def of_one_dtype(args):
    """The arguments as they are, and all of one dtype, or all floats."""
    given = [i for i, a in enumerate(args) if a is not None]
    floats = [i for i in given if dtype_of(args[i]).startswith("float")]
    chosen = [dict.fromkeys(some, kind) for kind in KINDS for some in (given, floats)]
    return [args, *cast_as(args, chosen)]


def of_all_dtypes(args):
    """Two or three arguments of every combination of dtypes."""
    given = [i for i, a in enumerate(args) if a is not None]
    if len(given) not in (2, 3):
        return []
    combinations = itertools.product(KINDS, repeat=len(given))
    return cast_as(args, [dict(zip(given, k, strict=True)) for k in combinations])


def cast_as(args, chosen):
    """The arguments with these dtypes, where their values have a meaning in them."""
    finite = all(a is None or np.all(np.isfinite(a)) for a in args)
    return [
        [cast(a, kinds[i]) if i in kinds else a for i, a in enumerate(args)]
        for kinds in chosen
        if finite or not {"int64", "bool"} & {*kinds.values()}
    ]


def variants(op):
    """Arguments of every sample of an op in the dtypes that it may take, with its parameters."""
    for number, s in enumerate(samples(op)):
        given = values(s.args)
        if op.name in RULES:
            chosen = [given]
        else:
            chosen = [*of_one_dtype(given), *(of_all_dtypes(given) if number < PAIRED else [])]
        yield from ((args, s.params) for args in chosen)


def told_apart(a):
    """An argument as the program has it: arrays are tensors."""
    return Tensor(plain(a)) if isinstance(a, np.ndarray) else a


def parts(out):
    return out if isinstance(out, tuple) else (out,)


def said(op, known, params):
    return f"{op.name}{[(k.shape, k.dtype) for k in known if k]} {params}"


@by_family(OPS)
def test_what_is_inferred_is_what_is_given(op):
    taken = 0
    session = Session()
    for args, given in variants(op):
        params = {k.removeprefix("*"): v for k, v in {**op.params, **given}.items()}
        with Quiet():
            try:
                out = session.do(op, list(map(told_apart, args)), params)
            except GradError:
                continue  # it does not take these dtypes
        taken += 1
        known = [None if a is None else of_data(a, UNLINKED) for a in args]
        found = inferred(op, known, params)
        assert isinstance(found, tuple) == isinstance(out, tuple), said(op, known, given)
        for value, real in zip(parts(found), parts(out), strict=True):
            got, expected = (value.shape, value.dtype), (shape_of(real), dtype_of(real))
            if got[0] is None and op.name in HANGING:
                expected = (None, expected[1])
            if got[1] is None and op.name == "pow" and not any(map(shape_of, args)):
                expected = (expected[0], None)  # of ints the exponent's sign decides
            told = "" if got == expected else f"{said(op, known, given)}: {got}, is {expected}"
            assert not told
    assert taken


# what does not fit is refused ---------------------------------------------------------------------

ODD = (None, "x", 1.5, -1, 5, 0, (0, 1), [], True)
SHAPES = ((), (2,), (0,), (2, 3), (2, 2, 2))
CALLED = [c for c in OPS if c.id not in RULES]


def known(value):
    """A parameter as the program writes it, known to the walk."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(known, value))
    return constant(value) if type(value) in NUMBERS else Value(known=value)


def refused(op, args, params):
    """Do the op on what is known of its arguments; a refusal is an answer."""
    given = [Value(known=None) if a is None else a for a in args]
    params = {k: v if k == "index" else known(v) for k, v in params.items()}
    try:
        result(op.name, [given] if op.variadic else given, params)
    except GradError:
        return


@by_family(CALLED)
def test_what_does_not_fit_is_refused_in_words(op):
    if op.name != "getitem":  # whose index is no parameter; see `indexed`
        with Quiet():
            refuse_what_does_not_fit(op)


def refuse_what_does_not_fit(op):
    bad = [
        ([np.ones(a) if isinstance(a, tuple) else a for a in b.args], b.params)
        for b in op.page.bad()
    ]
    for args, params in [*((s.args, s.params) for s in samples(op)[:2]), *bad]:
        kinds = [None if a is None else of_data(a, UNLINKED) for a in values(args)]
        refused(op, kinds, params)
        for i in range(len(kinds)):
            for shape, dtype in itertools.product(SHAPES, (*KINDS, None)):
                refused(op, [*kinds[:i], Value(shape, dtype), *kinds[i + 1 :]], params)
        for name, odd in itertools.product(op.params, ODD):
            refused(op, kinds, {**params, name.removeprefix("*"): odd})
