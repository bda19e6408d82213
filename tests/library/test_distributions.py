"""Distributions refuse parameters and values outside of their ranges, as PyTorch's."""

import pytest

from gradcli.made.library_index import FILES
from gradcli.program import load

GOOD = {
    "Bernoulli": ("0.5", ["1.5", "-0.1", "nan"], ["0.5", "2.0", "-1.0", "nan"], "1.0"),
    "Beta": ("2.0, 3.0", ["0.0, 1.0", "1.0, -1.0", "nan, 1.0"], ["1.5", "-0.5", "nan"], "0.5"),
    "Categorical": ("[0.2, 0.8]", ["[0.5, -0.5]", "[nan, 1.0]"], ["2", "-1", "0.5"], "1"),
    "Cauchy": ("0.0, 1.0", ["0.0, 0.0", "0.0, -1.0", "nan, 1.0", "0.0, nan"], ["nan"], "1.0"),
    "Chi2": ("torch.tensor(3.0)", ["0.0", "-1.0", "nan"], ["-1.0", "nan"], "1.0"),
    "Dirichlet": (
        "torch.tensor([1.0, 2.0])",
        ["torch.tensor([1.0, 0.0])", "torch.tensor([nan, 1.0])"],
        ["[0.5, 0.6]", "[1.5, -0.5]", "[nan, 1.0]"],
        "[0.25, 0.75]",
    ),
    "Exponential": ("2.0", ["0.0", "-1.0", "nan"], ["-1.0", "nan"], "1.0"),
    "Gamma": ("2.0, 3.0", ["0.0, 1.0", "1.0, -1.0", "nan, 1.0"], ["-1.0", "nan"], "1.0"),
    "Geometric": ("0.5", ["1.5", "-0.1", "nan"], ["-1.0", "0.5", "nan"], "2.0"),
    "Gumbel": ("0.0, 1.0", ["0.0, 0.0", "0.0, -1.0", "nan, 1.0", "0.0, nan"], ["nan"], "1.0"),
    "HalfCauchy": ("2.0", ["0.0", "-1.0", "nan"], ["-1.0", "nan"], "1.0"),
    "HalfNormal": ("2.0", ["0.0", "-1.0", "nan"], ["-1.0", "nan"], "1.0"),
    "Kumaraswamy": (
        "2.0, 3.0",
        ["0.0, 1.0", "1.0, -1.0", "nan, 1.0", "1.0, nan"],
        ["1.5", "-0.5", "nan"],
        "0.5",
    ),
    "Laplace": ("0.0, 1.0", ["0.0, 0.0", "0.0, -1.0", "nan, 1.0", "0.0, nan"], ["nan"], "1.0"),
    "LogNormal": ("0.0, 1.0", ["0.0, 0.0", "nan, 1.0", "0.0, nan"], ["-1.0", "nan"], "1.0"),
    "MultivariateNormal": (
        "torch.zeros(2), torch.eye(2)",
        ["torch.zeros(2), scale_tril=-torch.eye(2)", "torch.zeros(2), scale_tril=torch.ones(2, 2)"],
        ["[nan, 1.0]"],
        "[0.5, 1.0]",
    ),
    "Normal": ("0.0, 1.0", ["0.0, 0.0", "0.0, -1.0", "nan, 1.0", "0.0, nan"], ["nan"], "1.0"),
    "OneHotCategorical": (
        "torch.tensor([0.2, 0.8])",
        ["torch.tensor([0.5, -0.5])", "torch.tensor([nan, 1.0])"],
        ["[0.5, 0.5]", "[1.0, 1.0]", "[nan, 1.0]"],
        "[0.0, 1.0]",
    ),
    "Pareto": ("1.0, 2.0", ["0.0, 1.0", "1.0, -1.0", "nan, 1.0"], ["0.5", "nan"], "1.5"),
    "Poisson": ("2.0", ["-1.0", "nan"], ["-1.0", "0.5", "nan"], "1.0"),
    "StudentT": ("3.0", ["0.0", "-1.0", "2.0, nan", "2.0, 0.0, 0.0"], ["nan"], "1.0"),
    "VonMises": ("0.0, 1.0", ["0.0, 0.0", "0.0, -1.0", "nan, 1.0", "0.0, nan"], ["nan"], "1.0"),
    "Weibull": ("1.0, 2.0", ["0.0, 1.0", "1.0, -1.0", "nan, 1.0"], ["-1.0", "nan"], "1.0"),
    "Uniform": ("0.0, 1.0", ["1.0, 0.0", "1.0, 1.0", "nan, 1.0"], ["1.5", "-0.5", "nan"], "0.5"),
}
"""Parameters, some that are refused, values that are refused, and one inside of the range."""
OTHERS = {"Distribution", "Independent", "MixtureSameFamily", "kl_divergence"}


def _answer(program):
    return (
        load(f"import torch\nfrom torch.distributions import {', '.join(GOOD)}\n{program}")
        .run()
        .printed
    )


def _asked(expression):
    lines = f"try:\n    print({expression})\nexcept ValueError:\n    print('ValueError')"
    [answer] = _answer(lines)
    return answer


def test_every_distribution_is_asked():
    paths = (p.removeprefix("torch.distributions.") for p in FILES if "distributions." in p)
    assert set(paths) == {*GOOD, *OTHERS}


@pytest.mark.parametrize("name", GOOD)
def test_parameters_outside_of_their_range_are_refused(name):
    good, bad, _, _ = GOOD[name]
    assert _asked(f"{name}({good}) is None") == "False"
    for parameters in bad:
        assert _asked(f"{name}({parameters})") == "ValueError"
        assert _asked(f"{name}({parameters}, validate_args=True)") == "ValueError"
        assert _asked(f"{name}({parameters}, validate_args=False) is None") == "False"


@pytest.mark.parametrize("name", GOOD)
def test_values_outside_of_the_support_are_refused(name):
    good, _, outside, inside = GOOD[name]
    assert float(_asked(f"{name}({good}).log_prob(torch.tensor({inside})).item()")) < 1
    for value in outside:
        log_prob = f"log_prob(torch.tensor({value}))"
        assert _asked(f"{name}({good}).{log_prob}") == "ValueError"
        if name != "Categorical":  # which has no row for such a number
            found = _asked(f"{name}({good}, validate_args=False).{log_prob}.item()")
            assert found == "nan" or isinstance(float(found), float)
    assert _asked(f"{name}({good}).log_prob('a')") == "ValueError"


OF_WHOLE_NUMBERS_OR_VECTORS = {
    *("Categorical", "Dirichlet", "Geometric", "MultivariateNormal", "OneHotCategorical")
}


@pytest.mark.parametrize("name", sorted(GOOD.keys() - OF_WHOLE_NUMBERS_OR_VECTORS))
def test_the_check_does_not_change_the_gradient(name):
    good, _, _, inside = GOOD[name]
    checked = load(f"import torch\ntorch.distributions.{name}({good}).log_prob(x)")
    plain = load(
        f"import torch\ntorch.distributions.{name}({good}, validate_args=False).log_prob(x)"
    )
    assert checked.grad(x=float(inside)).grad == plain.grad(x=float(inside)).grad
