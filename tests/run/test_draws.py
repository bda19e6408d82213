"""Each random function has its row in `reference/draws.txt`, with the numbers of the original."""

import re
from pathlib import Path

import pytest

from gradcli.grammar.meaning import modules

DRAWS = (Path(__file__).parent / "reference/draws.txt").read_text("utf-8")
OTHERS = frozenset({"seed", "default_rng", "RandomState", "key", "PRNGKey"})
CLASSES = (
    *("Bernoulli", "Beta", "Categorical", "Chi2", "Dirichlet", "Exponential", "Gamma", "Laplace"),
    *("MultivariateNormal", "Normal", "Poisson", "StudentT", "Uniform", "LogNormal", "HalfNormal"),
    *("Cauchy", "Gumbel", "Geometric", "OneHotCategorical", "Independent", "MixtureSameFamily"),
    *("Weibull", "HalfCauchy", "Pareto", "Kumaraswamy", "VonMises"),
)


@pytest.mark.parametrize(("module", "path"), [("numpy.random", "np.random"), ("jax.random",) * 2])
def test_every_function_has_its_row(module, path):
    names = {*modules.names_of_others(module)} - OTHERS
    assert len(names) > 10
    assert [name for name in sorted(names) if f"show({path}.{name}(" not in DRAWS] == []


def test_every_distribution_has_its_row():
    rooms = Path(modules.__file__).parents[2] / "library/distributions"
    written = "".join(path.read_text("utf-8") for path in rooms.glob("*.grad"))
    found = [name for name in CLASSES if f"class {name}(" in written or f"{name} =" in written]
    assert found == [*CLASSES]
    parts = written.split("\nclass ")[1:]
    drawing = {re.split(r"\W", part)[0] for part in parts if "sample(" in part}
    named = {name for name in drawing if not name.startswith("_")} - {"Distribution"}
    assert named - {*CLASSES} == set()
    assert [name for name in CLASSES if f"show(D.{name}(" not in DRAWS] == []
