"""Arrays print as NumPy's in programs that import NumPy and not PyTorch, and as JAX's with JAX."""

import numpy as np
import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

ARRAYS = [
    "np.array([1.0, 2.5, 3.0])",
    "np.array([[1.0, -2.25], [1e-9, 4.0]])",
    "np.array([1, 20, -3])",
    "np.array([True, False])",
    "np.arange(24.0).reshape(2, 3, 4) / 7",
    "np.arange(2000)",
    "np.linspace(0, 1e6, 1500)",
    "np.arange(30.0) * 12345.678",
    "np.zeros((0, 3))",
    "np.zeros(0)",
    "np.array([0.1, np.nan, np.inf, -np.inf])",
    "np.array([1e300, 1e-300])",
    "np.array([1, 2], dtype=np.float32) / 3",
    "np.array([1, 2], dtype=np.int32)",
    "np.mean(np.array([1.0, 2.5, 3.0]))",
    "np.array([1, 2, 3]).sum()",
    "np.array([1.0]).all()",
    "np.array([[2.0, 1.0], [1.0, 3.0]])[0, 1]",
]
OPTIONS = [
    "",
    "np.set_printoptions(precision=3)\n",
    "np.set_printoptions(3, suppress=True)\n",
    "np.set_printoptions(threshold=10, edgeitems=2)\n",
    "np.set_printoptions(threshold=np.inf)\n",
    "np.set_printoptions(linewidth=40)\nnp.set_printoptions(precision=2)\n",
]


def printed(text, **options):
    found = []
    load(text).run(options=Options(echo=found.append, **options))
    return "".join(found)


def by_numpy(text):
    """What NumPy prints, with its usual options before and after."""
    found = []
    with np.printoptions():
        exec(text, {"print": lambda *v: found.append(" ".join(map(str, v)) + "\n")})
    return "".join(found)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("array", ARRAYS)
def test_arrays_print_as_in_numpy(array, options):
    text = f"import numpy as np\n{options}x = {array}\nprint(x, [x], str(x), f'{{x}}', (x, 1))\n"
    text += "print('%s' % (x,), {'a': x}, x.shape, x.dtype)\n"
    assert printed(text) == by_numpy(text)


BESIDE = "import torch\nimport numpy as np\n"
"""Imports of a program that has tensors and arrays."""


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("array", ARRAYS)
def test_arrays_beside_tensors_print_as_in_numpy(array, options):
    text = f"{options}x = {array}\ny = x\nprint(x, str(y), f'{{x}} {{y!s}}', '{{}} {{}}'.format(x, 1))\n"
    text += f"print({array})\ndef f():\n    a = {array}\n    return a\nprint(f(), x == x)\n"
    text += f"u, v = {array}, 1\nprint(u, v)\n"
    assert printed(BESIDE + text) == by_numpy(f"import numpy as np\n{text}")


def test_tensors_beside_arrays_print_as_in_pytorch():
    text = """
def turned(t):
    return t.detach().numpy() * 2
def added(t, a):
    return t + a.sum()
def more(n, t):
    return turned(t) if n < 2 else more(n - 1, t)
x = torch.tensor([1.0, 2.5], requires_grad=True)
a = turned(x)
s, v = np.linalg.eigh(np.array([[2.0, 0.0], [0.0, 3.0]]))
for i in range(300):
    x = x * 1.0
    if i == 299:
        print(i, a, s)
print(x, a, added(x, x), [x.sum()], more(3, x), f"{a.sum()} {x.sum():.2f} {s}", str(x))
"""
    assert printed(BESIDE + text) == (
        "299 [2. 5.] [2. 3.]\n"
        "tensor([1.0000, 2.5000], grad_fn=<MulBackward0>) [2. 5.] "
        "tensor([4.5000, 6.0000], grad_fn=<AddBackward0>) [tensor(3.5000, grad_fn=<SumBackward0>)] "
        "tensor([2., 5.]) 7.0 3.50 [2. 3.] tensor([1.0000, 2.5000], grad_fn=<MulBackward0>)\n"
    )


@pytest.mark.parametrize(
    "value", ["type(x)", "type(x).__name__", "[x.dtype]", "x.shape", "isinstance(x, np.ndarray)"]
)
def test_what_an_array_is_prints_as_in_numpy(value):
    text = f"import numpy as np\nx = np.ones((2, 3))\nprint({value})"
    assert printed(text) == by_numpy(text)


@pytest.mark.parametrize("library", ["import autograd.numpy as np", "import numpy as np, scipy"])
def test_other_libraries_have_numpy_s_arrays(library):
    assert printed(f"{library}\nprint(np.ones(2), [np.ones(2)])") == "[1. 1.] [array([1., 1.])]\n"


def test_jax_tells_the_dtype_inside_lists():
    text = "import jax.numpy as jnp\nx = jnp.array([1.0, 2.5])\n"
    assert printed(f"{text}print(x, x.sum(), [x, x.sum()])") == (
        "[1.  2.5] 3.5 [Array([1. , 2.5], dtype=float64), Array(3.5, dtype=float64)]\n"
    )


@pytest.mark.parametrize(
    "imports", ["", "import torch", "import numpy as np\nimport torch", "from torch import nn"]
)
def test_a_program_of_pytorch_s_prints_tensors(imports):
    assert printed(f"{imports}\nprint(tensor([1.0]))") == "tensor([1.])\n"
    assert printed("print(tensor([1.0]).shape)") == "torch.Size([1])\n"


def test_an_error_inside_a_run_leaves_the_next_as_usual():
    with pytest.raises(Exception, match="no"):
        printed("import numpy as np\nassert False, 'no'")
    assert printed("print(tensor([1.0]))") == "tensor([1.])\n"


@pytest.mark.parametrize("compiling", ["never", "always"])
def test_code_prints_arrays_as_a_run(compiling):
    text = (
        "import numpy as np\ninput x = 2.0\ny = x * np.array([1.0, 0.5])\n"
        "for i in range(300):\n    y = y * 1.001\nprint(y[0] > 1, y.shape)\ny.sum()"
    )
    assert printed(text, compile=compiling) == "True (2,)\n"


def test_what_loops_take_from_arrays_prints_as_in_numpy():
    text = """
a = np.arange(6.0).reshape(3, 2)
for r in a:
    print(r)
    for v in r * 2:
        print(v, np.max(r))
for i, r in enumerate(a):
    print(i, r)
for r, (u, v) in zip(a, a):
    print(r, u < v)
"""
    assert printed(BESIDE + text) == by_numpy(f"import numpy as np\n{text}")
    text = "for r, t in zip(np.eye(2), torch.eye(2)):\n    print(r, t)\nfor t in torch.eye(1):\n    print(t)"
    assert printed(BESIDE + text) == (
        "[1. 0.] tensor([1., 0.])\n[0. 1.] tensor([0., 1.])\ntensor([1.])\n"
    )


@pytest.mark.parametrize("compiling", ["never", "always"])
def test_code_prints_arrays_beside_tensors_as_a_run(compiling):
    text = (
        "input x = 2.0\na = np.linspace(0.0, 1.0, 3)\ny = x\nfor i in range(300):\n    y = y * 1.001\n"
        "    if i == 150:\n        print(i, a, a * 2, a[1])\n    a = a * 1.0\nprint(f'{a}', y > 1)\ny"
    )
    assert printed(BESIDE + text, compile=compiling) == (
        "150 [0.  0.5 1. ] [0. 1. 2.] 0.5\n[0.  0.5 1. ] True\n"
    )


METHODS = [
    *("x.std()", "x.std(ddof=1)", "x.var(axis=0)", "x.std(axis=1, keepdims=True)"),
    *("x.max()", "x.max(axis=0)", "x.min(1)", "x.max(axis=1, keepdims=True)"),
    *("x.repeat(2)", "x.repeat(2, axis=0)", "x.cumsum()", "x.cumsum(axis=1)", "x.cumprod()"),
    *("x.transpose()", "x.transpose(1, 0)", "x.transpose((1, 0))", "x.T", "x.trace()"),
    *("x.nonzero()", "x.diagonal()", "x[:, 0].std()", "np.array([1, 2, 4]).std()"),
    "np.ones((2, 3, 4)).transpose(2, 0, 1).shape",
]


@pytest.mark.parametrize("call", METHODS)
def test_methods_of_arrays_are_numpy_s(call):
    text = f"import numpy as np\nx = np.array([[1.0, 2.5], [3.0, 0.0]])\nprint({call})"
    assert printed(text) == by_numpy(text)


def test_methods_of_tensors_stay_pytorch_s_beside_numpy():
    text = "import torch\nimport numpy as np\nx = torch.tensor([1.0, 3.0])\nprint(x.std(), x.max(0)[1])"
    assert printed(text) == "tensor(1.4142) tensor(1)\n"


SOLVERS = [
    *("solve(A, b)", "inv(A)", "pinv(A)", "eigvalsh(A)", "cholesky(A)", "qr(A)", "svd(A)[1]"),
    *("matrix_rank(A)", "lstsq(A, b, rcond=None)[0]", "eigh(A)[0]", "slogdet(A)"),
    *("det(A)", "cond(A)"),
]


@pytest.mark.parametrize("call", SOLVERS)
def test_matrices_of_whole_numbers_become_floats(call):
    text = "import numpy as np\nA, b = np.array([[4, 1], [1, 3]]), np.array([1, 2])\n"
    names = {}
    exec(f"{text}x = np.linalg.{call}", names)
    said, expected = printed(f"{text}print(np.linalg.{call})"), names["x"]
    if isinstance(expected, tuple):
        assert said.startswith(type(expected).__name__)
    else:
        numbers = said.replace("[", " ").replace("]", " ").split()
        assert np.allclose(np.array(numbers, dtype=float), np.ravel(expected))


@pytest.mark.parametrize("compiling", ["never", "always"])
def test_an_array_of_jax_keeps_its_value_under_other_names(compiling):
    """`y += v` makes a new array; lists are changed in place, as everywhere."""
    text = (
        "import jax, jax.numpy as jnp\ninput x = 3.0\n"
        "def f(v):\n    y = v\n    for i in range(3):\n        y += 2.0\n    y *= v\n    return y + v\n"
        "f(x * jnp.ones(())) + x\n"
    )
    program = load(text)
    options = Options(compile=compiling)
    assert program.value(options=options).value == 3 * 9.0 + 3 + 3
    assert program.grad(options=options).grad["x"] == 2 * 3.0 + 6 + 2


def test_other_names_of_jax_s_arrays_in_containers_keep_them():
    text = """import jax.numpy as jnp
class Held:
    pass
x, held = jnp.ones(2), Held()
held.x, parts, names = x, {"a": x, "b": [x]}, [1]
held.x += 1
parts["a"] -= 0.5
parts["b"][0] *= 4
same = names
same += [2]
print(x, held.x, parts["a"], parts["b"][0], names)
"""
    assert printed(text) == "[1. 1.] [2. 2.] [0.5 0.5] [4. 4.] [1, 2]\n"


@pytest.mark.parametrize("call", ["np.size(3.0, axis=-1)", "np.linspace(None, [np.ones(2)])"])
def test_sizes_and_ends_that_make_no_sense_are_refused(call):
    with pytest.raises(GradError):
        printed(f"import numpy as np\nx = {call}")


NUMBERS = ["shape", "ndim", "dtype", "T", "item()", "tolist()", "copy()", "astype(int)", "size"]


@pytest.mark.parametrize("attribute", NUMBERS)
def test_a_number_of_numpy_s_has_its_attributes(attribute):
    text = f"import numpy as np\nx = np.float64(2.5)\nprint(x.{attribute})"
    assert printed(text) == by_numpy(text)


@pytest.mark.parametrize(
    ("imports", "kind"),
    [("import numpy as np", "ValueError"), ("import jax.numpy as np", "TypeError")],
)
def test_shapes_that_do_not_fit_raise_the_library_s_exception(imports, kind):
    text = f"{imports}\ntry:\n    np.ones(2) + np.ones(3)\nexcept {kind}:\n    print('caught')\n"
    assert printed(text) == "caught\n"


def test_an_array_priority_and_slots_change_nothing():
    """The object's own operators come first, as NumPy asks for by the priority."""
    text = """import numpy as np
class V:
    __array_priority__ = 200
    __slots__ = ("d",)
    def __init__(self, d):
        self.d = d
    def __mul__(self, other):
        return V(self.d * other)
    __rmul__ = __mul__
print((np.array([1.0, 2.0]) * V(np.array([3.0, 4.0]))).d, (2.0 * V(3.0)).d)
"""
    assert printed(text) == by_numpy(text)
