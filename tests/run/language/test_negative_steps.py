"""Slices with negative steps: NumPy's answers, derivatives of both orders, code; PyTorch's refusal."""

import io
import random
from contextlib import redirect_stdout

import numpy as np
import pytest
from support.programs.vector_programs import answer

from gradcli.engine.compile import backends
from gradcli.errors import RunError
from gradcli.program import load


class Writer:
    """Writes programs on an array x that slice with steps of both signs."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.shape = tuple(
            self.rng.choice([0, 1, 2, 3, 5]) for _ in range(self.rng.choice([1, 1, 2, 3]))
        )

    def slice(self):
        start, stop = (self.rng.choice(["", "", *range(-6, 7)]) for _ in "ab")
        return f"{start}:{stop}:{self.rng.choice([-1, -1, -2, -3, 1, 2, ''])}"

    def index(self):
        entries = [self.slice() for _ in range(self.rng.randint(1, len(self.shape)))]
        entries[0] = f"::{self.rng.choice([-1, -2])}" if self.rng.random() < 0.5 else entries[0]
        if self.rng.random() < 0.3:
            entries.insert(self.rng.randint(0, len(entries)), self.rng.choice(["None", "..."]))
        return ", ".join(entries)

    def lines(self):
        """A view that is changed, values that are put at slices, updates, parts of parts."""
        i, j, k = self.index(), self.index(), self.index()
        return (
            f"y = np.array(x)\nv = y[{i}]\nv *= 2\nprint(y.tolist())\n"
            f"y[{j}] = y[{j}] * 3 - x[{j}]\nprint(y.tolist())\ny[{k}] += 1.5\nprint(y.tolist(), v.tolist())\n"
            f"w = np.reshape(y[{i}], (-1,))[::-1]\nprint(w.tolist(), np.sum(y[{j}], axis=0).tolist())\n"
            f"print((x[{k}] * 2 + y[{k}]).tolist(), y[{k}].T.copy().tolist(), list(x[{i}].shape), np.ravel(x[{j}]).tolist())\n"
        )


def printed(run):
    out = io.StringIO()
    with redirect_stdout(out):
        run()
    return out.getvalue()


@pytest.mark.parametrize("start", range(0, 300, 50))
def test_values_are_those_of_numpy(start):
    for seed in range(start, start + 50):
        writer = Writer(seed)
        size = int(np.prod(writer.shape))
        kind = ["float", "np.float32", "int"][seed % 3]
        changed = writer.lines() if kind != "int" else writer.lines().replace("1.5", "1")
        text = f"import numpy as np\nx = np.arange({size}).astype({kind}).reshape({writer.shape})\n{changed}"
        found = "\n".join(load(text).run().printed) + "\n"
        assert found == printed(lambda text=text: exec(text, {})), text


@pytest.mark.parametrize("when", ["never", "always"])
@pytest.mark.parametrize("start", range(0, 60, 20))
def test_derivatives_are_those_of_places(start, when):
    """A slice picks what the list of its places picks, whose derivatives are tested elsewhere."""
    if when == "always" and not backends.has_machine_code():
        pytest.skip("needs machine code")
    for seed in range(start, start + 20):
        rng = random.Random(seed)
        n = rng.choice([1, 2, 3, 5, 8])
        slices = [
            slice(*(rng.choice([None, *range(-6, 7)]) for _ in "ab"), rng.choice([-1, -2, -3]))
            for _ in "abc"
        ]
        texts = [
            ":".join("" if p is None else str(p) for p in (s.start, s.stop, s.step)) for s in slices
        ]
        places = [[*range(n)][s] for s in slices]
        body = "y = x ** 3\ns = np.sum(sin(x[{}]) * y[{}])\nz = np.zeros({n})\nz[{}] = y[{}] * x[{}]\ns + np.sum(z * x)"
        head = f"import numpy as np\ninput x: float[{n}]\n"
        given = {"x": np.random.default_rng(seed).normal(size=n)}
        first = [load(head + body.format(t[0], t[0], t[1], t[2] if len(p[2]) == len(p[1]) else t[1], t[1], n=n))
                 for t, p in ((texts, places), (places, places))]  # fmt: skip
        for question, more in (
            ("grad", {}),
            ("hessian", {}),
            ("jvp", {"tangents": {"x": given["x"] + 1}}),
        ):
            by_slice, by_places = (
                answer(p, question, w, given, **more).partition("value=")[2]
                for p, w in zip(first, (when, "never"), strict=True)
            )
            assert by_slice
            assert by_slice == by_places, seed


@pytest.mark.parametrize(
    "line", ["x[::-1]", "x[None, ::k]", "x[::-1] = 0.0", "x[::k] += 1.0", "x[[0, 1], ::k]"]
)
@pytest.mark.parametrize("head", ["", "import torch\n", "import math\n"])
def test_tensors_of_pytorch_refuse_them(head, line):
    text = f"{head}k = -2\nx = tensor([[1.0, 2.0], [3.0, 4.0]])\n{line}\n"
    with pytest.raises(RunError) as caught:
        load(text).run()
    assert caught.value.diagnostics[0].code == "bad-index"
    assert (
        caught.value.diagnostics[0].message
        == f"the step of a slice must be positive, got {-1 if '-1' in line else -2}"
    )


def test_what_is_no_tensor_takes_them_everywhere():
    text = "k = -1\nx = tensor([1.0, 2.0])\nl = [x, 2, 3]\nprint(l[::k], 'abc'[::-1], (1, 2)[::-1], range(5)[::-2], x[::2])"
    assert load(text).run().printed == (
        "[3, 2, tensor([1., 2.])] cba (2, 1) range(4, -1, -2) tensor([1.])",
    )


@pytest.mark.parametrize("library", ["numpy", "jax.numpy", "autograd.numpy"])
def test_arrays_of_each_library_take_them(library):
    text = f"import {library} as np\nk = -2\nx = np.array([1.0, 2.0, 3.0])\nx[::k]"
    assert load(text).run().result.tolist() == [3.0, 1.0]
    assert load(f"import torch\n{text}").run().result.tolist() == [3.0, 1.0]


@pytest.mark.parametrize(
    "line",
    ["import autograd.numpy.random as npr", "from jax import random", "from scipy import stats"],
)
def test_any_import_of_such_a_library_is_enough(line):
    assert load(f"{line}\ntensor([1.0, 2.0, 3.0])[::-2]").run().result.tolist() == [3.0, 1.0]


def test_a_step_of_zero_is_refused():
    for index in ("::0", "::0, 0", "slice(None, None, 0)"):
        with pytest.raises(RunError, match="the step of a slice cannot be 0"):
            load(f"import numpy as np\nx = np.zeros((2, 2))\nx[{index}]").run()
