"""What the ops on tensors do that the tests over the whole table do not show."""

from __future__ import annotations

import subprocess
import sys
from math import inf, nan

import numpy as np
import pytest

from gradcli.engine.autodiff.backward import cotangents, recorded_cotangents
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families.places import static_index
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.fast.call import of_host
from gradcli.engine.run.session.state import Output, RandomNumbers, Session
from gradcli.engine.run.session.text import text
from gradcli.engine.tape.tensor import Number, Tensor, apply, leaf
from gradcli.engine.values import dtypes, limits
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import Quiet, dtype_of, plain
from gradcli.engine.values.fields import Fields
from gradcli.engine.values.sizes import axes, axis, broadcast, whole
from gradcli.errors import LimitError, RunError
from gradcli.program import load


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


def array(*values) -> np.ndarray:
    return np.array(values, float)


def called(name: str, *args, session: Session | None = None, **keywords):
    """A host op as a program calls it."""
    from gradcli.engine.ops.binding import bind_host

    op = ops[name]
    bound, params = bind_host(op, args, keywords)
    return of_host(op)(session or Session(random=RandomNumbers(0)), *bound, **params)


def gradient(out: Tensor, x: Tensor, g=1.0):
    return cotangents([(out.node, out.index, g)], [x.node])[x.node]


def refused(call) -> str:
    with pytest.raises(RunError) as caught:
        call()
    return caught.value.diagnostics[0].code


# indexing -----------------------------------------------------------------------------------

CUBE = np.arange(24.0).reshape(2, 3, 4)

# index, shape of the result; recorded from PyTorch
INDEXED = [
    (1, (3, 4)),
    ((0, slice(None), [0, 1]), (3, 2)),  # an int goes first: NumPy gives (2, 3)
    ((slice(None), [0, 2], [1, 1]), (2, 2)),
    (([0, 1], slice(None), [0, 1]), (2, 3)),
    ((slice(None), None, 1), (2, 1, 4)),
    ((Ellipsis, 0), (2, 3)),
    (([[0], [1]], [0, 2]), (2, 2, 4)),
    ((0, [True, False, True]), (2, 4)),
    ((slice(0, 9), slice(-2, None)), (2, 2, 4)),
    ((slice(1, 1),), (0, 3, 4)),
    (([],), (0, 3, 4)),
    ((True,), (1, 2, 3, 4)),
    (((), 0), (0, 4)),  # a tuple in an index is a list
    ((0, (1, 0)), (2, 4)),
]


@pytest.mark.parametrize(("index", "shape"), INDEXED, ids=[str(i) for i, _ in INDEXED])
def test_indexing_follows_pytorch(index, shape):
    got = np.shape(ops.getitem(CUBE, index=index))
    assert got == shape, f"x[{index}] has shape {got}, expected {shape}"


VIEWS = [0, (slice(None), 1), slice(1, None), Ellipsis, (0, 0, 0), None]


@pytest.mark.parametrize("index", VIEWS, ids=map(str, VIEWS))
def test_basic_indexing_shares_memory(index):
    x = Tensor(CUBE.copy())
    part = apply(ops.getitem, [x], {"index": index}, None)
    apply_inplace(ops.fill, part, [-1.0], {}, None, recording=False)
    assert np.count_nonzero(x.data == -1) == np.size(part.data), f"x[{index}] is no view"


def test_advanced_indexing_copies():
    x = Tensor(CUBE.copy())
    part = apply(ops.getitem, [x], {"index": [0]}, None)
    apply_inplace(ops.fill, part, [-1.0], {}, None, recording=False)
    assert (x.data == CUBE).all()


NODES = [
    (0, "SelectBackward0"),
    (slice(None), "SliceBackward0"),
    ((slice(None), 0), "SelectBackward0"),
    ((0, slice(0, 1)), "SliceBackward0"),
    ((slice(None), slice(None)), "AliasBackward0"),
    (Ellipsis, "AliasBackward0"),
    (None, "UnsqueezeBackward0"),
    ([0, 1], "IndexBackward0"),
    ((0, [0, 1]), "IndexBackward0"),
    (Tensor(1), "SelectBackward0"),
]


@pytest.mark.parametrize(("index", "name"), NODES, ids=[str(i) for i, _ in NODES])
def test_nodes_of_indexing_are_those_of_pytorch(index, name):
    got = ops.getitem(leaf(CUBE), index=index).grad_fn.name()
    assert got == name, f"x[{index}] is {got}, expected {name}"


def test_an_index_is_made_static():
    data = np.array([0, 1])
    index = static_index((Tensor(data), [Tensor(0), 1], slice(Tensor(1), None), Number(2)))
    data[0] = 1
    assert index[0].tolist() == [0, 1]
    assert index[1].tolist() == [0, 1]
    assert index[2:] == (slice(1, None), 2)


@pytest.mark.parametrize("index", [0.5, "a", Tensor(0.5), [[0], [1, 2]], slice(None, None, 0)])
def test_what_is_no_index_is_refused(index):
    assert refused(lambda: static_index(index)) in ("bad-index", "bad-argument"), index


@pytest.mark.parametrize("layout", ["C", "F"])
def test_the_last_write_wins_in_any_layout(layout):
    places = np.array([[0, 1], [0, 1]], order=layout)
    values = np.array([[1.0, 2.0], [3.0, 4.0]], order=layout)
    out = ops.set_at(np.zeros(2), values, index=places)
    assert out.tolist() == [3.0, 4.0], f"{layout}: {out}"


def test_duplicate_writes_give_the_gradient_to_the_last():
    base, value = leaf(np.zeros(3)), leaf(array(1, 2, 3))
    out = ops.set_at(base, value, index=[0, 0, 2])
    found = cotangents([(out.node, 0, array(10, 20, 30))], [base.node, value.node])
    assert found[base.node].tolist() == [0, 20, 0]
    assert found[value.node].tolist() == [0, 10, 30]


def test_a_written_value_keeps_the_dtype_of_the_tensor():
    out = ops.set_at(np.array([1, 2]), 2.7, index=0)
    assert out.tolist() == [2, 2]
    assert out.dtype == np.int64


# views --------------------------------------------------------------------------------------


def test_an_expanded_tensor_cannot_be_written():
    y = apply(ops.expand, [Tensor(array(1, 2))], {"size": (3, 2)}, None)
    fill = lambda: apply_inplace(ops.fill, y, [0.0], {}, None, recording=False)  # noqa: E731
    assert refused(fill) == "overlapping-memory"


def test_view_refuses_what_needs_a_copy():
    x = np.arange(6.0).reshape(2, 3).T
    assert refused(lambda: ops.view(x, shape=(6,))) == "bad-argument"
    assert ops.reshape(x, shape=(6,)).tolist() == [0, 3, 1, 4, 2, 5]


def test_contiguous_copies_only_what_is_not():
    x = Tensor(np.ones((2, 3)))
    assert ops.contiguous(x) is x
    y = Tensor(np.ones((2, 3)).T)
    assert ops.contiguous(y).data.flags.c_contiguous


@pytest.mark.parametrize(
    ("parts", "expected"),
    [([1, 2.5], "float64"), ([True, 2], "int64"), ([True, False], "bool"), ([1, 2], "int64")],
)
def test_stack_of_numbers_takes_the_widest_dtype(parts, expected):
    assert ops.stack(*parts, dim=0).dtype.name == expected


def test_cat_passes_over_empty_vectors():
    assert ops.cat(np.zeros(0), np.ones((2, 2)), dim=0).shape == (2, 2)


# reductions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("sum", [], 0.0),
        ("prod", [], 1.0),
        ("mean", [], nan),
        ("logsumexp", [], -inf),
        ("norm", [], 0.0),
        ("all", [], True),
        ("any", [], False),
        ("sum", [True, True], 2),
        ("mean", [1, 2], 1.5),
        ("sum", [2**62, 2**62, -(2**62)], 2**62),
        ("prod", [2**40, 2**22], 2**62),
        ("norm", [3e300, 4e300], 5e300),
        ("norm", [3e-300, 4e-300], 5e-300),
        ("logsumexp", [1000.0, 1000.0], 1000.6931471805599),
        ("amax", [1.0, nan, 3.0], nan),
        ("argmax", [3.0, 1.0, 3.0], 0),
    ],
)
def test_values_of_reductions(name, values, expected):
    got = ops[name](np.array(values, float if not values else None))
    assert type(got) is type(expected), f"{name}({values}) is {got!r}"
    assert got == pytest.approx(expected, nan_ok=True), f"{name}({values}) is {got!r}"


@pytest.mark.parametrize(("name", "values"), [("sum", [2**62] * 2), ("prod", [2**40] * 2)])
def test_int_results_outside_64_bits_are_refused(name, values):
    assert refused(lambda: ops[name](np.array(values))) == "integer-overflow"


def test_matrix_products_outside_64_bits_are_refused():
    assert refused(lambda: ops.matmul(np.array([2**40]), np.array([2**40]))) == "integer-overflow"
    assert ops.matmul(np.array([2**31]), np.array([2**31])) == 2**62


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 17])
def test_product_of_the_others_at_any_length(n):
    x = np.random.default_rng(n).standard_normal(n)
    x[n // 2] = 0.0
    expected = [np.prod(np.delete(x, i)) for i in range(n)]
    got = gradient(ops.prod(y := leaf(x)), y)
    np.testing.assert_allclose(got, expected, rtol=1e-14, err_msg=f"n = {n}")


def test_second_derivative_of_a_product_with_zeros():
    x = leaf(array(0, 0, 3))
    first = recorded_cotangents([(ops.prod(x).node, 0, 1.0)], [x.node])[x.node]
    second = gradient(first, x, array(1, 0, 0))
    assert second.tolist() == [0, 3, 0], second


def test_second_derivative_of_the_norm_at_zero():
    x = leaf(array(0, 0))
    first = recorded_cotangents([(ops.norm(x).node, 0, 1.0)], [x.node])[x.node]
    second = gradient(first, x, array(1, 1))
    assert second.tolist() == [0, 0], second


REDUCED = [
    ("sum", {}, "SumBackward0"),
    ("sum", {"dim": 0}, "SumBackward1"),
    ("sum", {"keepdim": True}, "SumBackward1"),
    ("mean", {}, "MeanBackward0"),
    ("prod", {"dim": 0}, "ProdBackward1"),
    ("amax", {}, "AmaxBackward0"),
    ("norm", {}, "LinalgVectorNormBackward0"),
    ("std", {}, "StdBackward0"),
    ("squeeze", {"dim": None}, "SqueezeBackward0"),
    ("squeeze", {"dim": 0}, "SqueezeBackward1"),
    ("t", {}, "TBackward0"),
]


@pytest.mark.parametrize(("name", "params", "expected"), REDUCED)
def test_node_names_are_those_of_pytorch(name, params, expected):
    assert ops[name](leaf(np.ones((2, 2))), **params).grad_fn.name() == expected


@pytest.mark.parametrize(
    ("a", "b", "name"),
    [
        ((2,), (2,), "DotBackward0"),
        ((3, 2), (2,), "MvBackward0"),
        ((3, 2), (2, 3), "MmBackward0"),
        ((2,), (2, 3), "SqueezeBackward4"),
        ((4, 3, 2), (2, 3), "UnsafeViewBackward0"),
    ],
)
def test_node_names_of_products(a, b, name):
    assert ops.matmul(leaf(np.ones(a)), leaf(np.ones(b))).grad_fn.name() == name


# max and min --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "largest", "smallest"),
    [
        ((3, 1, 2), 3, 1),
        ((2, 1.5), 2, 1.5),
        ((1.5,), 1.5, 1.5),
        ((True, 0), True, 0),
        (([3, 1, 2],), "tensor(3)", "tensor(1)"),
        (([[1, 2], [4, 3]],), "tensor(4)", "tensor(1)"),
        (([1.0, 5.0], [2.0, 3.0]), "tensor([2., 5.])", "tensor([1., 3.])"),
        (([1.0, 5.0], 2.0), "tensor([2., 5.])", "tensor([1., 2.])"),
    ],
    ids=str,
)
def test_max_and_min_of_values(args, largest, smallest):
    for name, expected in (("max", largest), ("min", smallest)):
        got = called(name, *args)
        shown = text(got) if isinstance(expected, str) else got
        assert shown == expected, f"{name}{args} is {shown}, expected {expected}"
        if not isinstance(expected, str):
            assert type(got) in (int, float, bool), f"{name}{args} is {got!r}"


@pytest.mark.parametrize(
    "call", [((0,), {}), ((), {"dim": 0}), ((), {"axis": 0}), ((0, True), {})], ids=str
)
def test_max_along_a_dimension_has_fields(call):
    got = called("max", Tensor(np.array([[1.0, 5.0], [2.0, 3.0]])), *call[0], **call[1])
    assert isinstance(got, Fields)
    assert got.names == ("values", "indices")
    assert np.ravel(got[0].data).tolist() == [2, 5]
    assert np.ravel(got[1].data).tolist() == [1, 0]
    assert got[0].shape == ((1, 2) if call[0][1:] else (2,))
    assert text(got).startswith("torch.return_types.max(\nvalues=tensor(")


def test_max_of_numbers_stays_differentiable():
    a, b = leaf(2.0), leaf(3.0)
    a, b = Number(2.0, a.node), Number(3.0, b.node)
    out = called("max", a, b, 1.0)
    assert type(out) is Number
    found = cotangents([(out.node, 0, 1.0)], [a.node, b.node])
    assert (found.get(a.node, 0.0), found[b.node]) == (0.0, 1.0)


@pytest.mark.parametrize("args", [(), ("a",), (None, 1), ([],)], ids=str)
def test_max_refuses_what_has_no_largest(args):
    assert refused(lambda: called("max", *args))


# creation -----------------------------------------------------------------------------------

CREATED = [
    ("tensor", (3,), {}, "tensor(3)"),
    ("tensor", (3.0,), {"requires_grad": True}, "tensor(3., requires_grad=True)"),
    ("tensor", ([1, 2],), {"dtype": dtypes.FLOAT64}, "tensor([1., 2.])"),
    ("tensor", ([[1, 2.5]],), {}, "tensor([[1.0000, 2.5000]])"),
    ("tensor", ([True, False],), {}, "tensor([ True, False])"),
    ("tensor", ([],), {}, "tensor([])"),
    ("tensor", ([1.5],), {"dtype": dtypes.FLOAT32}, "tensor([1.5000], dtype=torch.float32)"),
    ("tensor", ([1.5],), {"dtype": dtypes.INT64}, "tensor([1])"),
    ("tensor", (1.0,), {"device": "cpu"}, "tensor(1.)"),
    ("tensor", ([Tensor(1.0), 2],), {}, "tensor([1., 2.])"),
    ("zeros", (2, 3), {}, "tensor([[0., 0., 0.],\n        [0., 0., 0.]])"),
    ("zeros", ([2],), {}, "tensor([0., 0.])"),
    ("zeros", ((),), {}, "tensor(0.)"),
    ("zeros", (), {"size": (2,)}, "tensor([0., 0.])"),
    ("zeros", (0, 3), {}, "tensor([], size=(0, 3))"),
    ("ones", (2,), {"dtype": dtypes.INT64}, "tensor([1, 1])"),
    ("ones", (Tensor(2),), {}, "tensor([1., 1.])"),
    ("empty", (1,), {}, "tensor([0.])"),
    ("full", ((2,), 7), {}, "tensor([7, 7])"),
    ("full", ((), 1.5), {"requires_grad": True}, "tensor(1.5000, requires_grad=True)"),
    ("eye", (2,), {}, "tensor([[1., 0.],\n        [0., 1.]])"),
    ("eye", (1, 2), {}, "tensor([[1., 0.]])"),
    ("arange", (3,), {}, "tensor([0, 1, 2])"),
    ("arange", (1, 4), {}, "tensor([1, 2, 3])"),
    ("arange", (0, 1, 0.25), {}, "tensor([0.0000, 0.2500, 0.5000, 0.7500])"),
    ("arange", (3, 0, -2), {}, "tensor([3, 1])"),
    ("arange", (0,), {}, "tensor([], dtype=torch.int64)"),
    ("linspace", (0, 1, 3), {}, "tensor([0.0000, 0.5000, 1.0000])"),
    ("linspace", (0, 1, 0), {}, "tensor([])"),
    ("zeros_like", (Tensor(np.array([1, 2])),), {}, "tensor([0, 0])"),
    ("ones_like", (2.5,), {}, "tensor(1.)"),
    ("ones_like", ([1.5, 2.0],), {}, "tensor([1., 1.])"),
    ("full_like", (Tensor(array(1, 2)), 3), {}, "tensor([3., 3.])"),
    ("Variable", (Tensor(array(1)),), {"requires_grad": True}, "tensor([1.], requires_grad=True)"),
    ("Variable", (Tensor(1.0),), {"volatile": False}, "tensor(1.)"),
    ("FloatTensor", ([1, 2],), {}, "tensor([1., 2.])"),
    ("FloatTensor", (2,), {}, "tensor([0., 0.])"),
    ("device", ("cpu",), {}, "cpu"),
]


@pytest.mark.parametrize(("name", "args", "keywords", "expected"), CREATED)
def test_creation(name, args, keywords, expected):
    got = text(called(name, *args, **keywords))
    assert got == expected, f"{name}{args} {keywords} is {got}, expected {expected}"


REFUSED = [
    ("tensor", (3,), {"requires_grad": True}, "needs-float"),
    ("tensor", ([1, 2],), {"requires_grad": True}, "needs-float"),
    ("tensor", ([[1], [2, 3]],), {}, "ragged-list"),
    ("tensor", ([1, [2]],), {}, "ragged-list"),
    ("tensor", ("a",), {}, "wrong-type"),
    ("tensor", (["a"],), {}, "wrong-type"),
    ("tensor", (None,), {}, "wrong-type"),
    ("tensor", (1.0,), {"device": "cuda"}, "bad-argument"),
    ("tensor", (1.0,), {"dtype": "complex"}, "bad-argument"),
    ("zeros", (-1,), {}, "bad-argument"),
    ("zeros", (2.0,), {}, "bad-argument"),
    ("full", ((2,), [1, 2]), {}, "bad-argument"),
    ("eye", (-1,), {}, "bad-argument"),
    ("arange", (0, 1, 0), {}, "bad-argument"),
    ("arange", (0, 1, -1), {}, "bad-argument"),
    ("arange", (inf,), {}, "bad-argument"),
    ("linspace", (0, 1, -1), {}, "bad-argument"),
    ("rand", (-2,), {}, "bad-argument"),
    ("randint", (3, 3, (2,)), {}, "bad-argument"),
    ("randint", ((2,),), {}, "wrong-arity"),
    ("randn_like", (Tensor(np.array([1, 2])),), {}, "dtype-mismatch"),
    ("normal", (0.0, -1.0), {}, "bad-argument"),
    ("bernoulli", (1.5,), {}, "bad-argument"),
    ("multinomial", ([0.0, 0.0], 1), {}, "bad-argument"),
    ("multinomial", ([0.5, 0.5], 3), {}, "bad-argument"),
    ("manual_seed", (-1,), {}, "bad-argument"),
    ("manual_seed", (0.5,), {}, "bad-argument"),
]


@pytest.mark.parametrize(("name", "args", "keywords", "code"), REFUSED)
def test_creation_refuses(name, args, keywords, code):
    got = refused(lambda: called(name, *args, **keywords))
    assert got == code, f"{name}{args} {keywords}: {got}, expected {code}"


def test_what_to_write_instead_of_ints_is_said():
    with pytest.raises(RunError) as caught:
        called("tensor", 3, requires_grad=True)
    assert "tensor(3.0, requires_grad=True)" in caught.value.diagnostics[0].help


@pytest.mark.parametrize("name", ["zeros", "ones", "rand", "randn", "empty"])
def test_what_cannot_fit_into_memory_is_refused_before_it_is_made(name):
    with pytest.raises(LimitError) as caught:
        called(name, 10**6, 10**7)
    assert caught.value.diagnostics[0].code == "memory-limit", name
    assert "TiB" in caught.value.diagnostics[0].message


def test_the_memory_limit_counts_elements_not_sizes():
    limits.check_memory((0, 10**12))
    limits.check_memory((1000, 1000))


def test_a_new_tensor_shares_no_memory():
    x = Tensor(array(1, 2))
    for name in ("tensor", "FloatTensor"):
        assert not np.shares_memory(called(name, x).data, x.data), name


def test_a_tensor_made_of_recorded_values_is_a_constant():
    x = leaf(2.0)
    made = called("tensor", [x, ops.mul(x, 2.0)])
    assert text(made) == "tensor([2., 4.])"
    assert called("tensor", x).node is None


# random numbers -----------------------------------------------------------------------------

DRAWS = [
    ("rand", (2, 3), {}),
    ("randn", (3,), {}),
    ("randint", (5, (4,)), {}),
    ("randint", (2, 5, (4,)), {}),
    ("randint", (), {"low": 2, "high": 5, "size": (4,)}),
    ("randperm", (5,), {}),
    ("normal", (0.0, 2.0), {"size": (3,)}),
    ("normal", ([0.0, 1.0], 2.0), {}),
    ("normal", (0.0, [1.0, 2.0]), {}),
    ("bernoulli", ([0.5] * 9,), {}),
    ("multinomial", ([1.0, 2.0, 3.0], 2), {}),
    ("rand_like", (Tensor(array(1, 2)),), {}),
    ("randn_like", ([1.0, 2.0],), {}),
]


@pytest.mark.parametrize(("name", "args", "keywords"), DRAWS)
def test_a_seed_repeats_the_numbers(name, args, keywords):
    session = Session(random=RandomNumbers(1))
    called("manual_seed", 5, session=session)
    first = text(called(name, *args, session=session, **keywords))
    second = text(called(name, *args, session=session, **keywords))
    called("manual_seed", 5, session=session)
    again = text(called(name, *args, session=session, **keywords))
    assert first == again, f"{name}: {first}, {again}"
    if name not in ("randperm", "bernoulli", "multinomial", "randint"):  # these may coincide
        assert first != second, f"{name} gives {first} twice"


@pytest.mark.parametrize(
    ("call", "dtype"),
    [
        ("normal(f, 1.0)", "float32"),
        ("normal(f, d)", "float32"),
        ("normal(0.0, f)", "float32"),
        ("normal(d, f)", "float64"),
        ("normal(0.0, 1.0)", "float64"),
        ("bernoulli(f)", "float32"),
        ("bernoulli(d)", "float64"),
    ],
)
def test_random_floats_are_of_the_dtype_of_the_first_tensor(call, dtype):
    program = load(f"f = tensor([0.5, 1.0], dtype=float32)\nd = tensor([0.5, 1.0])\ny = {call}")
    assert dtype_of(program.run().values["y"]) == dtype
    assert f"tensor {dtype}[" in program.listing().split("y = apply")[1]


def test_ranges_of_random_numbers():
    session = Session(random=RandomNumbers(0))
    ints = called("randint", 2, 5, (1000,), session=session).data
    assert set(ints.tolist()) == {2, 3, 4}
    assert sorted(called("randperm", 6, session=session).data.tolist()) == list(range(6))
    floats = called("rand", 1000, session=session).data
    assert 0 <= floats.min() < 0.05
    assert 0.95 < floats.max() < 1
    zeros = called("bernoulli", [0.0] * 50, session=session).data
    assert not zeros.any()
    places = called("multinomial", [[0.0, 1.0], [1.0, 0.0]], 1, session=session).data
    assert places.tolist() == [[1], [0]]


def test_a_random_scalar_has_no_dimensions():
    assert called("randn", size=()).shape == ()
    assert called("rand", ()).shape == ()


# Python's own -------------------------------------------------------------------------------


def printed(*values, **keywords) -> list[str]:
    said: list[str] = []
    called("print", *values, session=Session(output=Output(said.append)), **keywords)
    return said


def test_print_echoes_once_with_separator_and_end():
    assert printed(1, "a", [2.0]) == ["1 a [2.0]\n"]
    assert printed() == ["\n"]
    assert printed(1, 2, sep=", ", end="!") == ["1, 2!"]
    assert printed(1, 2, sep=None, end=None) == ["1 2\n"]


PYTHON = [
    ("len", ([1, 2],), 2),
    ("len", ("abc",), 3),
    ("len", (Tensor(np.zeros((4, 2))),), 4),
    ("range", (3,), range(3)),
    ("range", (1, 7, 2), range(1, 7, 2)),
    ("range", (Tensor(2),), range(2)),
    ("range", (True,), range(1)),
    ("int", (2.9,), 2),
    ("int", (-2.9,), -2),
    ("int", (Tensor(array(3.7)),), 3),
    ("int", ("12",), 12),
    ("int", (), 0),
    ("float", (3,), 3.0),
    ("float", ("inf",), inf),
    ("float", (Tensor(2),), 2.0),
    ("bool", (0.0,), False),
    ("bool", ([],), False),
    ("bool", (Tensor(array(2.0)),), True),
    ("str", (Tensor(1.0),), "tensor(1.)"),
    ("str", (1.5,), "1.5"),
    ("str", (), ""),
    ("isinstance", (Tensor(1.0), ops["number"].constant), False),
    ("isinstance", (1.0, ops["number"].constant), True),
    ("isinstance", (Number(1.0), ops["number"].constant), True),
]


@pytest.mark.parametrize(("name", "args", "expected"), PYTHON)
def test_python_functions(name, args, expected):
    got = called(name, *args)
    assert got == expected, f"{name}{args} is {got!r}, expected {expected!r}"
    assert type(got) is type(expected), f"{name}{args} is {got!r}, expected {expected!r}"


PYTHON_REFUSES = [
    ("range", (2.0,), "wrong-type"),
    ("range", (Number(2.0),), "wrong-type"),
    ("range", (), "wrong-arity"),
    ("range", (1, 2, 0), "bad-argument"),
    ("len", (Tensor(1.0),), "wrong-type"),
    ("len", (3,), "wrong-type"),
    ("int", (nan,), "bad-argument"),
    ("int", (1e30,), "integer-overflow"),
    ("int", ("x",), "bad-argument"),
    ("int", ([1],), "wrong-type"),
    ("float", (Tensor(array(1, 2)),), "shape-mismatch"),
    ("float", (None,), "wrong-type"),
    ("isinstance", (1, 2), "bad-argument"),
]


@pytest.mark.parametrize(("name", "args", "code"), PYTHON_REFUSES)
def test_python_functions_refuse(name, args, code):
    got = refused(lambda: called(name, *args))
    assert got == code, f"{name}{args}: {got}, expected {code}"


def test_float_of_a_number_keeps_its_trace():
    x = Number(2.0, leaf(2.0).node)
    assert called("float", x) is x
    assert type(called("float", Tensor(2.0, x.node))) is float
    assert type(called("int", x)) is int


def test_zip_and_enumerate_go_through_rows():
    rows = Tensor(np.array([[1.0], [2.0]]))
    pairs = list(called("enumerate", rows, 5))
    assert [(i, text(r)) for i, r in pairs] == [(5, "tensor([1.])"), (6, "tensor([2.])")]
    zipped = list(called("zip", rows, ["a", "b", "c"]))
    assert [b for _, b in zipped] == ["a", "b"]
    assert refused(lambda: called("zip", rows, ["a"], strict=True)) == "shape-mismatch"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, "<class 'int'>"),
        (Number(1.0), "<class 'float'>"),
        (Tensor(1.0), "<class 'torch.Tensor'>"),
        ([], "<class 'list'>"),
        ("a", "<class 'str'>"),
        (None, "<class 'NoneType'>"),
        (dtypes.INT64, "<class 'torch.dtype'>"),
    ],
)
def test_types_print_as_in_pytorch(value, expected):
    assert text(called("type", value)) == expected


def test_dir_of_a_tensor_names_methods_and_attributes():
    names = called("dir", Tensor(1.0))
    assert {"sum", "backward", "grad", "shape", "add_", "max", "requires_grad"} <= set(names)
    assert names == sorted(names)
    assert "append" in called("dir", [])


def test_dtypes_print_and_compare():
    assert text(ops["float32"].constant) == "torch.float32"
    assert ops["double"].constant == ops["float64"].constant
    assert dtypes.dtype_name(ops["long"].constant) == "int64"
    assert dtypes.dtype_name(None) is None


def test_a_built_in_function_stands_for_its_dtype():
    from gradcli.engine.run.fast.call import value

    for name, dtype in (("float", "float64"), ("int", "int64"), ("bool", "bool")):
        made = value(ops[name], Session())
        assert dtypes.dtype_name(made) == dtype, name


# sizes --------------------------------------------------------------------------------------


def test_dimensions_count_from_both_ends():
    assert [axis(d, 3) for d in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    assert axis(-1, 0) == 0
    assert axes(None, 2) == (0, 1)
    assert axes((-1, 0), 2) == (1, 0)
    assert axes(0, 0) == ()
    assert refused(lambda: axis(3, 3)) == "index-out-of-range"
    assert refused(lambda: axes((0, -2), 2)) == "bad-argument"


def test_broadcasting_of_shapes():
    assert broadcast((2, 1), (3,)) == (2, 3)
    assert broadcast((), ()) == ()
    assert broadcast((0, 1), (1, 4)) == (0, 4)
    assert refused(lambda: broadcast((2,), (3,))) == "shape-mismatch"


def test_a_whole_number_is_no_float():
    assert whole(Tensor(np.array(3)), "n") == 3
    for value in (2.0, Number(2.0), Tensor(array(1, 2)), "a", None):
        assert refused(lambda v=value: whole(v, "n")) == "bad-argument", value


def test_families_can_be_imported_without_numpy():
    program = (
        "import sys\n"
        "from gradcli.engine.ops.build import families\n"
        "assert len(families()) > 40\n"
        "assert 'numpy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_plain_numbers_come_out_of_reductions():
    for name in ("sum", "mean", "prod", "amax", "norm", "logsumexp"):
        assert type(plain(ops[name](array(1, 2)))) is float, name


PLACES = [  # op, tensor, index, what PyTorch gives: a 0-d tensor is as one of one element
    ("gather", 5.0, [0, 0], [5.0, 5.0], 2.0),
    ("gather", 5.0, 0, 5.0, 1.0),
    ("gather", [1.0, 2.0, 3.0], 2, 3.0, [0.0, 0.0, 1.0]),
    ("gather", [[1.0, 2.0]], [], [], None),
    ("index_select", 5.0, [0], 5.0, 1.0),
    ("index_select", 5.0, 0, 5.0, 1.0),
    ("index_select", [1.0, 2.0, 3.0], 2, [3.0], [0.0, 0.0, 1.0]),
]


@pytest.mark.parametrize(("name", "x", "index", "value", "slope"), PLACES)
def test_places_in_what_has_no_dimension(name, x, index, value, slope):
    x = leaf(np.asarray(x))
    out = ops[name](x, dim=0, index=index)
    assert np.asarray(data_of(out)).tolist() == value
    if slope is not None:
        (found,) = cotangents([(out.node, 0, np.ones(np.shape(value)))], [x.node]).values()
        assert np.asarray(found).tolist() == slope
