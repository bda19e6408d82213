"""The pattern of every op covers the entries of its Jacobian that are not zero."""

import math

import numpy as np
import pytest

from gradcli.engine.compile.sparsity.local import Use
from gradcli.engine.compile.sparsity.sets import Array
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet, dtype_of, shape_of

NAMES = sorted({ops[name].name for name in ops})


def of_op(op):
    """The plain arguments of an op's samples, those with float arguments and a rule."""
    if not op.differentiable or op.value.array is None:
        return
    for sample in op.page.samples():
        args = [a if a is None else plain(a) for a in sample.args]
        yield args, {**op.defaults, **sample.params}


def plain(a):
    return np.asarray(a) if isinstance(a, list) else a


def is_float(a):
    return a is not None and dtype_of(a) == "float64"


def zeros(a):
    return 0.0 if type(a) is float else np.zeros(shape_of(a), dtype_of(a))


def zeros_like(outs):
    return tuple(map(zeros, outs)) if type(outs) is tuple else zeros(outs)


def entries(op, args, params, k, outs):
    """The Jacobian of an op by argument number `k`, column by column, one for each result."""
    size = math.prod(shape_of(args[k]))
    several = type(outs) is tuple
    found = [np.zeros((math.prod(shape_of(out)), size)) for out in (outs if several else (outs,))]
    for column in range(size):
        unit = np.zeros(size)
        unit[column] = 1.0
        dots = [None] * len(args)
        dots[k] = unit.reshape(shape_of(args[k])) if hasattr(args[k], "shape") else unit.item()
        pushed = op.push(dots, outs, args, params)
        for matrix, part in zip(found, pushed if several else (pushed,), strict=True):
            if part is not None:
                matrix[:, column] = np.ravel(part)
    return found


def pattern(passage, size, out):
    """A passage as a matrix of bools."""
    found = np.zeros((out, size), np.bool_)
    if passage is not None:
        sets = passage.passed(Array(size, max(size, 1), (np.arange(size) * (size + 1),)))
        found[np.divmod(sets.keys, max(size, 1))] = True
    return found


def check(op, args, params):
    """Fail if an entry of the Jacobian at some arguments is not covered."""
    with Quiet():
        outs = op.evaluate(args, params)
    results = outs if type(outs) is tuple else (outs,)
    like = [zeros(a) if is_float(a) else a for a in args]
    known = [not is_float(a) for a in args]
    use = Use(op, like, known, params, zeros_like(outs))
    for k, a in enumerate(args):
        if not is_float(a):
            continue
        with Quiet():
            matrices = entries(op, args, params, k, outs)
        for t, (out, matrix) in enumerate(zip(results, matrices, strict=True)):
            if not is_float(out):
                continue
            covered = pattern(use.passage(k, t), matrix.shape[1], matrix.shape[0])
            missed = np.argwhere((matrix != 0) & ~covered)
            assert not missed.size, f"{op.name}{shape_of(a)} by {k}: {missed[0]} is not covered"


@pytest.mark.parametrize("name", NAMES)
def test_the_pattern_of_an_op_covers_its_jacobian(name):
    for args, params in of_op(ops[name]):
        check(ops[name], args, params)


OF_MATRICES = [n for n in NAMES if len(ops[n].args) == 1 and ops[n].derivatives.meets]


@pytest.mark.parametrize("name", OF_MATRICES)
@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 3), (3, 1, 3, 3)])
def test_as_many_matrices_as_they_have_rows(name, shape):
    """Their eigenvalues have as many rows as columns."""
    x = np.random.default_rng(0).standard_normal(shape)
    matrix = x @ np.swapaxes(x, -1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))
    check(ops[name], [matrix], ops[name].defaults)
