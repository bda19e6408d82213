"""New tensors: shapes, dtypes and values are NumPy's, and random ones those of a seed's generator."""

import numpy as np
import pytest

from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS
from gradcli.program import Options, load
from gradcli.questions.asked.names import Watch

X, Y, F = "tensor([[1.5, -2.0], [0.0, 7.0]])", "tensor([3, 1, 2])", "ones(2, dtype=float32)"
A, B, C = np.array([[1.5, -2.0], [0.0, 7.0]]), np.array([3, 1, 2]), np.ones(2, np.float32)

MADE = {
    "zeros(2, 3)": np.zeros((2, 3)),
    "zeros((2, 3))": np.zeros((2, 3)),
    "zeros([2])": np.zeros(2),
    "zeros(())": np.zeros(()),
    "zeros(2, dtype=int8)": np.zeros(2, np.int8),
    "ones(2, 0)": np.ones((2, 0)),
    "ones(2, dtype=bool)": np.ones(2, bool),
    "empty(2)": np.zeros(2),
    "full((2, 2), 7)": np.full((2, 2), 7),
    "full((2,), 7, dtype=float32)": np.full(2, 7, np.float32),
    "full((1,), True)": np.array([True]),
    "full((), 2.5)": np.array(2.5),
    "eye(2)": np.eye(2),
    "eye(2, 3)": np.eye(2, 3),
    "eye(3, 1, dtype=int64)": np.eye(3, 1, dtype=int),
    "eye(0)": np.eye(0),
    "arange(4)": np.arange(4),
    "arange(0)": np.arange(0),
    "arange(4.0)": np.arange(4.0),
    "arange(1, 4)": np.arange(1, 4),
    "arange(1, 8, 3)": np.arange(1, 8, 3),
    "arange(1, 7, 3)": np.arange(1, 7, 3),
    "arange(5, 0, -2)": np.arange(5, 0, -2),
    "arange(5, 1, -2)": np.arange(5, 1, -2),
    "arange(0, 1, 0.25)": np.arange(0, 1, 0.25),
    "arange(0.5, 3)": np.arange(0.5, 3),
    "arange(3, 3)": np.arange(3, 3),
    "arange(3, dtype=float32)": np.arange(3, dtype=np.float32),
    "arange(start=1, end=3)": np.arange(1, 3),
    "arange(2.5)": np.arange(2.5),
    "linspace(0, 1, 5)": np.linspace(0, 1, 5),
    "linspace(2, -1, 4)": np.linspace(2, -1, 4),
    "linspace(3, 9, 1)": np.linspace(3, 9, 1),
    "linspace(3, 9, 0)": np.linspace(3, 9, 0),
    "linspace(0, 1, steps=3, dtype=float32)": np.linspace(0, 1, 3, dtype=np.float32),
    "logspace(0, 2, 3)": np.logspace(0, 2, 3),
    "logspace(0, 2, 3, base=2.0)": np.logspace(0, 2, 3, base=2.0),
    "logspace(-1, 1, 1, 3.0)": np.logspace(-1, 1, 1, base=3.0),
    "tensor(2)": np.array(2),
    "tensor(2.5)": np.array(2.5),
    "tensor(True)": np.array(True),
    "tensor([])": np.array([]),
    "tensor([1, 2])": np.array([1, 2]),
    "tensor([1, 2.5])": np.array([1, 2.5]),
    "tensor([True, False])": np.array([True, False]),
    "tensor([[1], [2]])": np.array([[1], [2]]),
    "tensor((1, 2))": np.array([1, 2]),
    "tensor(range(3))": np.arange(3),
    "tensor([tensor(1.0), 2])": np.array([1.0, 2]),
    "tensor([tensor([4]), tensor([5])])": np.array([4, 5]),
    "tensor([Y, Y])": np.array([B, B]),
    "tensor([1.7, -1.7], dtype=int64)": np.array([1, -1]),
    "tensor([0, 2], dtype=bool)": np.array([False, True]),
    "tensor([1, 2], dtype=float16)": np.array([1, 2], np.float16),
    "tensor(X)": A,
    "as_tensor(X)": A,
    "as_tensor([1, 2], dtype=float32)": np.array([1, 2], np.float32),
    "as_tensor(Y, dtype=float64)": B.astype(float),
    "as_tensor(X, dtype=float64)": A,
    "from_numpy(X)": A,
    "scalar_tensor(2)": np.array(2.0),
    "FloatTensor([1, 2])": np.array([1.0, 2.0]),
    "FloatTensor(2, 1)": np.zeros((2, 1)),
    "FloatTensor(Y)": B.astype(float),
    "FloatTensor()": np.zeros(()),
    "LongTensor([1.9, -2.0])": np.array([1, -2]),
    "LongTensor(2)": np.zeros(2, int),
    "IntTensor([1])": np.array([1], np.int32),
    "ShortTensor([1])": np.array([1], np.int16),
    "CharTensor([1])": np.array([1], np.int8),
    "ByteTensor([1])": np.array([1], np.uint8),
    "DoubleTensor([1])": np.array([1.0]),
    "HalfTensor([1])": np.array([1], np.float16),
    "BoolTensor([0, 3])": np.array([False, True]),
    "Variable(X)": A,
    "Variable([1, 2])": np.array([1, 2]),
    "zeros_like(X)": np.zeros((2, 2)),
    "zeros_like(Y)": np.zeros(3, int),
    "ones_like(F)": C,
    "empty_like(Y)": np.zeros(3, int),
    "ones_like(Y, dtype=float64)": np.ones(3),
    "full_like(Y, 7)": np.full(3, 7),
    "full_like(X, 2)": np.full((2, 2), 2.0),
    "full_like(X, 2.5, dtype=float32)": np.full((2, 2), 2.5, np.float32),
    "zeros_like(2.5)": np.array(0.0),
    "zeros_like([1, 2])": np.zeros(2, int),
    "X.new_zeros(2)": np.zeros(2),
    "Y.new_ones(2, 1)": np.ones((2, 1), int),
    "Y.new_empty((2,))": np.zeros(2, int),
    "F.new_full((2,), 3)": np.full(2, 3, np.float32),
    "Y.new_full((2,), 3, dtype=float64)": np.full(2, 3.0),
    "Y.new_tensor([1.9, 2.0])": np.array([1, 2]),
    "X.new_tensor([1], dtype=int64)": np.array([1]),
    "X.new([1, 2])": np.array([1.0, 2.0]),
    "Y.new(2)": np.zeros(2, int),
    "Y.new()": np.zeros(0, int),
    "Y.type_as(X)": B.astype(float),
    "X.type_as(F)": A.astype(np.float32),
    "X.sum_to_size(2)": A.sum(0),
    "X.sum_to_size(2, 1)": A.sum(1, keepdims=True),
    "X.sum_to_size(1, 2)": A.sum(0, keepdims=True),
    "X.sum_to_size(2, 2)": A,
    "X.sum_to_size(1)": A.sum(keepdims=True)[0],
    "Y.double()": B.astype(float),
    "X.float()": A,
    "X.half()": A.astype(np.float16),
    "X.long()": A.astype(int),
    "X.int()": A.astype(np.int32),
    "X.short()": A.astype(np.int16),
    "X.char()": A.astype(np.int8),
    "abs(X).byte()": abs(A).astype(np.uint8),
    "X.bool()": A.astype(bool),
    "X.to(float32)": A.astype(np.float32),
    "X.to('cpu', int64)": A.astype(int),
    "X.to(dtype=int8, device='cpu')": A.astype(np.int8),
    "X.to(F)": A.astype(np.float32),
    "X.astype(int64)": A.astype(int),
    "X.type(float32)": A.astype(np.float32),
    "X.T": A.T,
    "X.mT": A.T,
    "X.copy()": A,
    "X.clone().zero_()": np.zeros((2, 2)),
    "X.clone().fill_(3)": np.full((2, 2), 3.0),
    "X.clone().copy_(tensor([1.0, 2.0]))": np.array([[1.0, 2.0], [1.0, 2.0]]),
    "add(X, 1.0, out=zeros(2, 2))": A + 1.0,
    "add(Y, 1, out=zeros(3))": B + 1.0,
}  # fmt: skip

TOLD = {
    "X.size()": [2, 2], "X.size(0)": 2, "X.size(-1)": 2, "X.shape": [2, 2], "X.ndim": 2, "X.dim()": 2, "X.numel()": 4, "X.nelement()": 4,
    "X.stride()": [2, 1], "X.T.stride()": [1, 2], "X.stride(0)": 2, "X.is_contiguous()": True, "X.T.is_contiguous()": False, "X[:, 0].stride()": [2],
    "zeros(2, 0, 3).stride()": [3, 3, 1], "zeros(2, 4)[:, ::2].stride()": [4, 2], "X[:0].data_ptr()": 0, "X[:, 2:].reshape(-1).data_ptr()": 0, "X.element_size()": 8, "F.element_size()": 4, "F.itemsize": 4, "F.nbytes": 8, "Y.nbytes": 24,
    "X.is_cuda": False, "X.is_sparse": False, "X.device": "cpu", "X.get_device()": -1, "X.type()": "torch.DoubleTensor", "Y.type()": "torch.LongTensor", "F.type()": "torch.FloatTensor",
    "F.half().type()": "torch.HalfTensor", "Y.int().type()": "torch.IntTensor", "Y.short().type()": "torch.ShortTensor", "Y.char().type()": "torch.CharTensor", "Y.byte().type()": "torch.ByteTensor", "Y.bool().type()": "torch.BoolTensor",
    "X.item() if X.numel() == 1 else X[0, 0].item()": 1.5, "tensor([[4]]).item()": 4, "X.tolist()": [[1.5, -2.0], [0.0, 7.0]], "tensor(2).tolist()": 2, "Y.tolist()": [3, 1, 2],
    "X._version": 0, "X.clone().add_(1)._version": 1, "X[0]._is_view()": True, "X._is_view()": False, "X[0]._base is X": True, "X[0][0]._base is X": True, "X._base is None": True,
    "X.data_ptr() == X[0].data_ptr()": True, "X.data_ptr() == X[1].data_ptr()": False, "X.detach().data_ptr() == X.data_ptr()": True, "X.clone().data_ptr() == X.data_ptr()": False,
    "is_tensor(X)": True, "is_tensor(1.0)": False, "is_tensor([1])": False, "is_floating_point(X)": True, "is_floating_point(Y)": False, "is_floating_point(2.5)": True, "is_complex(X)": False,
    "as_tensor(X) is X": True, "from_numpy(X) is X": True, "Y.type_as(Y) is Y": True, "X.to(float64) is X": True, "X.double() is X": True, "X.sum_to_size(2, 2) is X": True, "Variable(X) is X": True,
    "zeros(2, requires_grad=True).requires_grad": True, "ones(2).requires_grad": False, "tensor(1.0, requires_grad=True).is_leaf": True, "Variable(X, requires_grad=True).requires_grad": True, "detach(zeros(1, requires_grad=True)).requires_grad": False,
    "detach(2.5)": 2.5, "len(X)": 2, "len(Y)": 3, "bool(tensor(0.0))": False, "bool(tensor([2]))": True, "int(tensor([2.9]))": 2, "float(tensor([[2]]))": 2.0, "int()": 0, "float()": 0.0, "bool()": False, "str()": "", "int('12')": 12,
    "range(tensor(3)) == range(3)": True, "list(range(tensor([3])))": [0, 1, 2], "list(enumerate('a', tensor(2)))": [[2, "a"]], "[10, 20][tensor(1)]": 20, "[10, 20][tensor([1])]": 20, "'ab'[tensor([1])]": "b",
    "torch.get_default_dtype() is float64": True, "torch.cuda.is_available()": False, "torch.cuda.device_count()": 0, "torch.device('cpu')": "cpu", "torch.device('cpu:0')": "cpu", "torch.is_grad_enabled()": True, "torch.is_anomaly_enabled()": False,
    "type(X).__name__": "Tensor", "isinstance(X, Tensor)": True, "isinstance(X, torch.Tensor)": True, "isinstance(1, Tensor)": False, "isinstance(X, (int, torch.Tensor))": True, "isinstance(X.shape, tuple)": True, "isinstance(None, type(None))": True, "isinstance(torch.nn.Parameter(X), torch.nn.Parameter)": True, "isinstance(X, torch.nn.Parameter)": False,
    "isinstance(print, type(len))": True, "callable(X)": False, "hasattr(X, 'grad')": True, "hasattr(X, 'sum')": True, "hasattr(X, 'add_')": True, "hasattr(X, 'nope')": False, "getattr(X, 'ndim')": 2, "getattr(X, 'nope', 5)": 5, "'shape' in dir(X)": True, "'add_' in dir(X)": True, "'sin_' in dir(X)": True, "'matmul_' in dir(X)": False, "'append' in dir([])": True,
}  # fmt: skip

DRAWN = (
    "rand(2, 3)", "randn(4)", "rand(())", "rand(2, dtype=float32)", "rand_like(X)", "randn_like(F)", "rand_like(Y, dtype=float64)", "randint(5, (3,))", "randint(2, 9, (2, 2))", "randint(low=1, high=4, size=(3,))", "randint(high=4, size=(3,))", "randint(1, high=4, size=(3,))", "randint(3, (2,), dtype=float64)", "randperm(5)", "randperm(0)", "normal(1.0, 2.0, (3,))", "normal(X, 0.5)", "normal(0.0, abs(X))", "normal(X)", "normal(F, 1.0)", "normal(Y, Y)", "bernoulli(tensor([0.3, 0.9, 0.0, 1.0]))", "bernoulli(F * 0.5)", "multinomial(tensor([1.0, 3.0, 0.0]), 2)", "multinomial(tensor([1.0, 3.0]), 4, True)", "multinomial(abs(X) + 1.5, 1)", "zeros(3).uniform_()", "zeros(3).uniform_(2, 5)", "zeros(3).uniform_(-2)", "zeros(3).normal_()", "zeros(3, dtype=float32).normal_(1, 2)",
)  # fmt: skip
OF_NUMPY = {
    "rand(2, 2)": "rand(2, 2)", "randn(3)": "randn(3)", "random(2)": "random(2)", "random_sample((2,))": "random_sample((2,))", "standard_normal(size=2)": "standard_normal(size=2)",
    **{call: call for call in ("normal(1.0, 2.0, 3)", "normal(loc=1.0, size=2)", "normal(scale=3.0, size=2)", "uniform(1, 4, (2,))", "uniform(high=4.0, size=2)", "randint(5, size=3)", "randint(2, 9, 4)", "laplace(1.0, 2.0, 3)")},
    **{call: call for call in ("logistic(size=2)", "lognormal(0.5, 0.2, 2)", "exponential(2.0, 3)", "gamma(2.0, 1.5, 2)", "beta(2.0, 3.0, size=2)", "binomial(9, 0.4, 5)", "poisson(3.0, 4)", "permutation(5)", "choice(4, 3)")},
    **{call: call for call in ("choice([5, 6, 7], size=2, replace=False)", "choice(3, 5, p=[0.2, 0.8, 0.0])", "multivariate_normal([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]], 2)", "normal([1.0, 2.0], 0.5)", "permutation([3, 4, 5])")},
}  # fmt: skip
BEGIN = f"import torch\nimport numpy as np\nX, Y, F = {X}, {Y}, {F}\n"


def results(calls, before=""):
    """What a program gives for each call, a list where it is a sequence."""
    lines = [f"{before}\nr{at} = {call}" for at, call in enumerate(calls)]
    found = load(BEGIN + "\n".join(lines)).run(options=Options(compile="never")).bindings
    by_name = {binding.name: binding.value for binding in found}
    return [by_name[f"r{at}"] for at in range(len(lines))]


def is_same(found, expected):
    """Whether two results have one dtype, shape and values."""
    found, expected = np.asarray(found), np.asarray(expected)
    same = found.dtype == expected.dtype and found.shape == expected.shape
    return same and np.array_equal(found, expected)


def assert_same(found, expected):
    wrong = {
        call: (value, expected[call])
        for call, value in zip(expected, found, strict=True)
        if not is_same(value, expected[call])
    }
    assert not wrong


def test_made_by_numbers_and_sizes():
    assert_same(results(MADE), MADE)


def test_what_is_told_of_them():
    assert_same(results(TOLD), TOLD)


@pytest.mark.parametrize("call", DRAWN)
def test_numbers_kept_as_float64_are_those_that_float32_draws(call):
    """Without a default dtype, a program draws what PyTorch draws with its own, float32."""
    begin = "torch.manual_seed(12)"
    (found,) = results([call], begin)
    (drawn,) = results([call], f"torch.set_default_dtype(float32)\n{BEGIN}{begin}")
    np.testing.assert_allclose(np.asarray(found), np.asarray(drawn), 2e-7)


def test_numpy_s_random_numbers_are_numpy_s():
    expected = {}
    for call, same in OF_NUMPY.items():
        expected[call] = eval(f"rng.{same}", {"rng": np.random.RandomState(5)})
    calls = [f"np.random.{call}" for call in OF_NUMPY]
    assert_same(results(calls, "np.random.seed(5)"), expected)
    assert_same(results([f"np.random.RandomState(5).{c}" for c in OF_NUMPY]), expected)


@pytest.mark.parametrize(
    "call",
    [
        *("torch.rand(())", "torch.randn(())", "torch.rand_like(x)", "torch.randn_like(x)"),
        *("torch.randint(5, ())", "torch.normal(x, 1.0)", "torch.bernoulli(x)"),
        *("jax.random.normal(key)", "jax.random.uniform(key)", "jax.random.exponential(key)"),
        *("jax.random.randint(key, (), 0, 5)", "jax.random.bernoulli(key)"),
        *("np.random.rand()", "np.random.randn()", "np.random.randint(5)"),
    ],
)
def test_a_number_is_drawn_as_other_numbers_are(call):
    """As a number, not as an array of no dimensions."""
    begin = "import torch, jax\nimport numpy as np\nkey, x = jax.random.key(0), tensor(0.5)\n"
    loaded = load(f"{begin}r = {call}\nr").loaded
    done = loaded.execute({}, Options(compile="never"), Watch(()), recording=False)
    _, found = loaded.output(done, None)
    assert type(data_of(found)) in NUMBERS


def test_jax_draws_one_int_as_the_first_of_several():
    begin = "import jax\nkey = jax.random.key(7)"
    calls = [f"jax.random.randint(key, {shape}, 0, 2 ** 40)" for shape in ("()", "(1,)")]
    assert results(calls, begin) == [940093749445, [940093749445]]
