"""What hosts say that they give, of which only shapes are known, is what they give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.checks.by_family import by_family
from support.checks.oracles import table

from gradcli.engine.ops.binding import bind_host
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.fast.call import of_host
from gradcli.engine.run.language.names import Builtins
from gradcli.engine.static.hosts import Ahead, hosted
from gradcli.engine.static.kinds import Each
from gradcli.engine.static.lists import Lists
from gradcli.engine.static.value import LINKED, UNLINKED, UNSURE, Value, constant, of_data, unknown
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, Quiet, dtype_of, shape_of
from gradcli.engine.values.dtypes import FLOAT32, FLOAT64, INT64
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.program import load

HOSTS = [pytest.param(op, id=op.name) for op in table().values() if op.host.call is not None]
X, Y = Tensor(np.arange(6.0).reshape(2, 3)), Tensor(np.arange(3))
ONE = Tensor(np.array([[3.0]]))
NARROW, TRUE = Tensor(np.ones((2, 2), np.float32)), Tensor(np.array([True, False]))

CALLS = [
    *(("tensor", (data,), {}) for data in (2, 1.5, True, [1, 2], [[1.0], [2]], [True, 2], [], X)),
    ("tensor", ([1, 2],), {"dtype": FLOAT32}),
    *(
        (name, (data,), {})
        for name in ("tensor", "as_tensor", "Variable", "FloatTensor")
        for data in ([ONE, ONE], [[ONE], [2]], [ONE, 2.0], [X, X])
    ),
    *((name, (data,), {}) for name in ("as_tensor", "Variable") for data in (X, [1, 2], NARROW)),
    ("as_tensor", (Y,), {"dtype": FLOAT64}),
    *(("FloatTensor", given, {}) for given in (([1, 2],), (2, 3), (4,), (Y,))),
    *((name, (2, 3), {}) for name in ("zeros", "ones", "empty", "rand", "randn")),
    *((name, ((2, 0),), {"dtype": FLOAT32}) for name in ("zeros", "ones", "rand")),
    *(("full", ((2,), value), {}) for value in (1, 2.5, True)),
    ("full", ((), 1), {"dtype": FLOAT64}),
    *((name, (x,), {}) for name in ("zeros_like", "ones_like", "empty_like") for x in (X, Y, TRUE)),
    ("zeros_like", (Y,), {"dtype": FLOAT32}),
    ("full_like", (Y, 3), {}),
    *(("eye", given, {}) for given in ((3,), (2, 4))),
    *(("arange", given, {}) for given in ((5,), (1, 6), (1, 9, 3), (2.0,), (0, 1, 0.25), (3, 3))),
    *((name, (0, 1, 5), {}) for name in ("linspace", "logspace")),
    *((name, (x,), {}) for name in ("rand_like", "randn_like") for x in (X, NARROW)),
    *(("randint", given, {}) for given in ((5, (2, 3)), (2, 5, (4,)))),
    ("randint", (), {"low": 1, "high": 3, "size": (2,)}),
    ("randperm", (4,), {}),
    *(("normal", given, {}) for given in ((X,), (X, Y), (0.0, 1.0, (2, 2)))),
    *(("bernoulli", (Tensor(np.full(size, 0.5)),), {}) for size in ((), (3,))),
    *(("multinomial", (Tensor(np.ones(size)), 2), {}) for size in ((3,), (4, 3))),
    ("manual_seed", (3,), {}),
    *(("round", (x,), {}) for x in (X, Y, NARROW)),
    *((name, (X, X), {}) for name in ("allclose", "equal")),
    *((name, (x,), {}) for name in ("max", "min") for x in (X, Y, 3, 2.5)),
    *((name, (X, 1), {}) for name in ("max", "min")),
    *((name, (X,), {"dim": 0, "keepdim": True}) for name in ("max", "median", "nanmedian")),
    *((name, (X, Y), {}) for name in ("max", "min")),
    ("max", (1, 2.5, 2), {}),
    *((name, (x,), {}) for name in ("median", "nanmedian") for x in (X, NARROW)),
    ("einsum", ("ij,j->i", X, Y), {}),
    ("einsum", ("ij,ij", [X, X]), {}),
    *(("dropout", (x,), {}) for x in (X, NARROW)),
    *(("len", (value,), {}) for value in (X, [1, 2, 3], "word", range(4), (1, 2))),
    *((name, (v,), {}) for name in ("int", "float", "bool") for v in (2.5, True, "3", Tensor(1.0))),
    *((name, (), {}) for name in ("int", "float", "bool")),
    ("range", (1, 7, 2), {}),
    ("isinstance", (X, "tensor"), {}),
    ("id", (X,), {}),
    ("print", ("a", X), {}),
    ("device", ("cpu",), {}),
    *((name, (x, 2, 3), {}) for name in ("new_zeros", "new_ones", "new_empty") for x in (X, Y)),
    *(("new_full", (x, (2,), 3.5), {}) for x in (X, Y, NARROW)),
    *(("new_tensor", (x, [1.5, 2.5]), {}) for x in (X, Y)),
    ("new_ones", (Y, 2), {"dtype": FLOAT32}),
    *(("type_as", pair, {}) for pair in ((X, Y), (Y, X), (NARROW, X), (X, X))),
    *((name, given, {}) for name in ("LongTensor", "BoolTensor") for given in ((2, 3), ([1, 0],))),
    *((name, (x,), {}) for name in ("is_floating_point", "is_complex") for x in (X, Y)),
    ("is_tensor", (X,), {}),
    ("scalar_tensor", (2,), {}),
    ("from_numpy", (X,), {}),
    *((name, (), {}) for name in ("cuda_is_available", "cuda_device_count", "get_default_dtype")),
    ("set_grad_enabled", (False,), {}),
    ("is_grad_enabled", (), {}),
]


def abstract(value, lists):
    """What a walk knows of a value: of a tensor or a float not its numbers."""
    if isinstance(value, list):
        return lists.new([abstract(v, lists) for v in value])
    if isinstance(value, tuple):
        return tuple(abstract(v, lists) for v in value)
    if isinstance(value, Tensor):
        return of_data(value, LINKED)
    return constant(value) if type(value) in NUMBERS else Value(known=value)


@pytest.mark.parametrize(
    ("name", "args", "keywords"), [pytest.param(*c, id=f"{c[0]}-{i}") for i, c in enumerate(CALLS)]
)
def test_what_is_inferred_is_what_is_given(name, args, keywords):
    op, session, lists = ops[name], Ahead(), Lists()
    with Quiet():
        bound, params = bind_host(op, args, keywords)
        given = of_host(op)(session, *bound, **params)
        known = {k: abstract(v, lists) for k, v in keywords.items()}
        found = hosted(op, [abstract(a, lists) for a in args], known, session)
    assert isinstance(found, tuple) == isinstance(given, tuple)
    sides = [v if isinstance(v, tuple) else (v,) for v in (found, given)]
    for value, real in zip(*sides, strict=True):
        if value.known is not UNSURE:
            assert value.known == data_of(real)
            assert type(value.known) is type(data_of(real))
        else:
            assert (value.shape, value.dtype) == (shape_of(real), dtype_of(real))


def test_what_goes_through_several_values_is_known_as_such():
    lists, session = Lists(), Ahead()
    both = hosted(ops.zip, [abstract(X, lists), abstract([1, 2], lists)], {}, session)
    assert isinstance(both, Each)
    assert both.start is None
    counted = hosted(ops.enumerate, [abstract(X, lists)], {"start": constant(3)}, session)
    assert isinstance(counted, Each)
    assert counted.start == 3


def test_gradients_are_shaped_as_the_inputs():
    x, y = of_data(X, LINKED), of_data(NARROW, LINKED)
    found = hosted(ops.grad, [Value((), "float64"), (x, y)], {}, Ahead())
    assert [(g.shape, g.dtype) for g in found] == [((2, 3), "float64"), ((2, 2), "float32")]


def test_a_dtype_may_be_a_built_in():
    from gradcli.source import Span

    asked = ir.Builtin("float", Span(0, 0))
    found = hosted(ops.tensor, [constant(3)], {"dtype": asked}, Ahead())
    assert (found.shape, found.dtype) == ((), "float64")


@by_family(HOSTS)
def test_what_is_not_known_is_no_fault(op):
    """Whatever the arguments are, a host refuses them in words or says what it can."""
    kinds = [unknown(), constant(1.5), Value(known="a"), Value((2, 3), "float64"), constant(None)]
    kinds += [Value((), "int64"), Value((3,), None), (constant(1), unknown()), constant(INT64)]
    pairs = [*itertools.product(range(len(kinds)), repeat=2)]
    places = [(), *((i,) for i in range(len(kinds))), *pairs]
    places += [(i, j, (i + j) % len(kinds)) for i, j in pairs]  # any two of three are all pairs
    for args in places:
        with Quiet():
            try:
                hosted(op, [kinds[i] for i in args], {}, Ahead())
            except GradError:
                continue


def test_a_new_tensor_hangs_on_nothing_but_is_a_leaf_if_it_is_one():
    for given, link in ((False, UNLINKED), (True, LINKED)):
        found = hosted(ops.zeros, [constant(2)], {"requires_grad": constant(given)}, Ahead())
        assert found.link == link


def test_of_a_value_that_is_no_tensor_nothing_is_asked():
    """A walk goes on behind whatever an operation is given, though a run would refuse it."""
    builtins = Builtins()
    lines = ["f = lambda v: v", "z = zip([1.0], [2.0])"]
    for name in filter(builtins.__contains__, table()):
        if builtins[name].required == 1 and not builtins[name].constant:
            lines += [f"a = {name}({value})" for value in ("f", "z", "sin", "'a'", "None")]
    program = load("\n".join(lines))
    assert len(lines) > 1000
    assert program.check({}).findings
