"""Names of arrays in programs that import PyTorch and NumPy."""

import pytest

from gradcli.grammar.meaning import arrays
from gradcli.program import load

IMPORTS = "import torch\nimport numpy as np\n"


def chain(first, length):
    """A function in which each name depends on the one before, with a call of a method for each."""
    lines = [f"    a0 = {first}"]
    lines += [f"    a{i} = a{i - 1} + 1\n    s{i} = a{i}.std()" for i in range(1, length)]
    return IMPORTS + "def f(b):\n" + "\n".join(lines) + "\n    return s1\nf(torch.ones(3))"


@pytest.mark.parametrize("first", ["b", "np.ones(3)"])
def test_the_cost_is_proportional_to_the_program(first, monkeypatch):
    asked = []
    one = arrays._is_array
    monkeypatch.setattr(arrays, "_is_array", lambda *a: asked.append(a) or one(*a))
    counts = []
    for length in (50, 100):
        asked.clear()
        load(chain(first, length))
        counts.append(len(asked))
    assert 0 < counts[1] <= 2.1 * counts[0], counts
