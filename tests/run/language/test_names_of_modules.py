"""Messages about names of modules and of what is in them tell the truth, once."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

FAULTS = {
    "np.arange(3)": (
        "1:1 `np` is a module of Python and not part of the language",
        "write the built-in functions without it: `exp(x)`",
    ),
    "tensor(1.0).arange(3)": (
        "1:13 `arange` is a function, not a method",
        "write `arange(...)`",
    ),
    "tensor(1.0).arange": (
        "1:13 `arange` is a function, not an attribute",
        "write `arange(...)`",
    ),
    "import torch\ntorch.pi(3)": ("2:1 `torch.pi` is a number and cannot be called", None),
    "import torch\ntorch.float32(3)": (
        "2:1 `torch.float32` is a dtype and cannot be called",
        "a value is converted by `tensor(x, dtype=float32)`",
    ),
    "from matplotlib import pyplot\npyplot(3)": (
        "2:1 `pyplot` is a plot and cannot be called",
        None,
    ),
    "import numpy as np\nnp.newaxis(3)": ("2:1 `np.newaxis` is None and cannot be called", None),
    "import torch\ntorch.__version__(3)": (
        "2:1 `torch.__version__` is a string and cannot be called",
        None,
    ),
    "import torch\ndef f(x):\n    return x\ng = torch.set_grad_enabled(False)(f)": (
        "4:5 what sets a mode gives no function; it can stand behind `with` and `@`",
        "`no_grad()(f)` and `enable_grad()(f)` give the function in a mode",
    ),
    "import torch\ntorch.float32 + 1": ("2:1 `+` needs numbers or tensors, got a dtype", None),
    "import torch\nx = torch.float33": (
        "2:11 `float33` of `torch` is not part of the language",
        "did you mean `float32`?",
    ),
    **{
        f"import {root}\nm = {path}\nm.arange(3)\nm.SGD": (
            f"2:5 `{path}` is a module here, not a value",
            f"`import {path} as NAME` gives it another name",
        )
        for root, path in (
            ("torch", "torch"),
            ("torch.optim", "torch.optim"),
            ("torch", "torch.nn"),
            ("torch", "torch.nn.functional"),
            ("jax", "jax.numpy"),
            ("numpy", "numpy"),
        )
    },
    "from torch import optim\nx = optim + 1": (
        "2:5 `optim` is a module here, not a value",
        "`import torch.optim as NAME` gives it another name",
    ),
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_name_is_called_what_it_is(text):
    with pytest.raises(GradError) as caught:
        load(text).run()
    found = [(f"{d.place[1]}:{d.place[2]} {d.message}", d.help) for d in caught.value.diagnostics]
    assert found == [FAULTS[text]]


DECORATED = {
    "import jax\n@jax.jit\ndef f(n, x):\n    return x ** n\nf(2, 3.0)": 9.0,
    "import jax\n@jax.jit()\ndef f(n, x):\n    return x ** n\nf(2, 3.0)": 9.0,
    "import jax\n@jax.jit(static_argnums=0)\ndef f(n, x):\n    return x ** n\nf(2, 3.0)": 9.0,
    "import jax\n@jax.jit(static_argnames=['n'])\ndef f(n, x):\n    return x ** n\nf(n=2, x=3.0)": 9.0,
    "import jax\nfrom functools import partial\n@partial(jax.jit, static_argnums=(0,))\n"
    "def f(n, x):\n    return x ** n\nf(2, 3.0)": 9.0,
    "import jax\nf = jax.jit(lambda n, x: x ** n, static_argnums=(0,))\nf(2, 3.0)": 9.0,
    "import jax\nf = jax.jit(jax.grad(lambda x: x ** 2))\nf(3.0)": 6.0,
    "import torch\n@torch.compile\ndef f(x):\n    return x * 2\nf(3.0)": 6.0,
    "import torch\n@torch.compile(mode='max-autotune', fullgraph=True)\n"
    "def f(x):\n    return x * 2\nf(3.0)": 6.0,
    "import torch\n@torch.jit.script\ndef f(x):\n    return x * 2\nf(3.0)": 6.0,
    "import torch\ndef f(x):\n    return x * 2\nf = torch.compile(f)\nf(3.0)": 6.0,
}


@pytest.mark.parametrize("text", DECORATED)
def test_compilers_give_the_function_itself(text):
    assert load(text).run().result == DECORATED[text]


def test_random_ints_in_place():
    text = """
import torch
x = torch.zeros(1000).random_(3, 5)
assert set(x.tolist()) == {3.0, 4.0} and x.dtype == torch.float64
assert torch.zeros(1000).random_(2).max() == 1
n = torch.zeros(1000, dtype=torch.int64).random_()
assert n.min() >= 0 and n.max() > 2 ** 60
assert 2 ** 20 < torch.zeros(100).random_().max() <= 2 ** 24  # as of float32
assert torch.zeros(100, dtype=torch.float32).random_().max() <= 2 ** 24
assert set(torch.zeros(100, dtype=torch.bool).random_().tolist()) == {False, True}
y = torch.zeros(3)
y[:2].random_(7, 8)
y
"""
    assert load(text).run().result.tolist() == [7.0, 7.0, 0.0]


@pytest.mark.parametrize("bounds", ["3, 3", "4, 3", "0", "1, 2, 3"])
def test_random_ints_need_bounds_in_order(bounds):
    with pytest.raises(GradError, match="draws from low to below high"):
        load(f"zeros(3).random_({bounds})").run()


@pytest.mark.parametrize(
    ("program", "help"),
    [
        ("import torch\ntorch.save(x, 'w.pt')", "`-o w.npz`"),
        ("import torch\nx = torch.load('w.pt')", "`-i FILE`"),
        ("import pandas as pd\nd = pd.read_csv('x.csv')", "`--rows FILE`"),
        ("import numpy as np\nd = np.genfromtxt('x.csv')", "`--rows FILE`"),
        ("from numpy import loadtxt", "`-i FILE`"),
        ("f = open('x')", "`-o FILE`"),
        ("import torch\ntorch.zeros(2, dtype=torch.complex64)", "there are no complex numbers"),
        ("complex(1, 2)", "there are no complex numbers"),
        ("import numpy as np\nnp.fft.fft(x)", "there are no complex numbers"),
    ],
)
def test_what_opens_files_or_is_complex_is_refused_with_a_way_out(program, help):
    with pytest.raises(GradError) as error:
        load(program)
    assert help in "".join(d.help or "" for d in error.value.diagnostics)
