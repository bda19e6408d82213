"""Random numbers drawn in place are those that the functions of the same names draw."""

import pytest

from gradcli.errors import RunError
from gradcli.program import load


@pytest.mark.parametrize(
    ("drawn", "same"),
    [
        ("x.normal_()", "normal(0.0, 1.0, (4,))"),
        ("x.normal_(2.0)", "normal(2.0, 1.0, (4,))"),
        ("x.normal_(2.0, 3.0)", "normal(2.0, 3.0, (4,))"),
        ("x.uniform_()", "rand(4)"),
        ("x.uniform_(2.0, 5.0)", "rand(4) * 3 + 2"),
        ("x.uniform_(-1.0)", "rand(4) * 2 - 1"),
    ],
)
def test_draws_in_place_have_the_defaults_of_the_functions(drawn, same):
    text = f"manual_seed(3)\nx = zeros(4)\na = {drawn}\nmanual_seed(3)\nb = {same}\n"
    found = load(f"{text}allclose(a, b) and a is x and not (a == a[0]).all()").run()
    assert bool(found.result), [(b.name, b.value) for b in found.bindings]


def test_bernoulli_draws_ones_with_their_chance():
    text = """\
x = zeros(2000)
y = x.bernoulli_(0.3)
z = torch.BoolTensor(2000).bernoulli_()
chances = torch.cat([zeros(1000), ones(1000)])
w = ones(2000).bernoulli_(chances)
print(y is x, ((x == 0) | (x == 1)).all().item(), 0.25 < x.mean().item() < 0.35)
print(z.dtype, 0.4 < z.double().mean().item() < 0.6, (w == chances).all().item())
"""
    assert load(f"import torch\n{text}").run().printed == (
        "True True True",
        "torch.bool True True",
    )


def test_a_chance_is_a_number_or_a_tensor():
    with pytest.raises(RunError, match="`p` must be a number or tensor"):
        load("tensor([1.0]).bernoulli_('a')\n").run()
