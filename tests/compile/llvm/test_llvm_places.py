"""Places of elements that machine code finds, and reads and adds at places, as NumPy does."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.programs.array_programs import both, machine_code

from gradcli.program import load

HEAD = "import torch\ninput x: float[24]\ninput w: float[24]\n"
ORDERS = [
    f"{name}(x.reshape({shape}), {dim}{more})"
    for name, more in (("sort", ""), ("sort", ", descending=True"), ("cummax", ""), ("cummin", ""))
    for shape, dim in (("24", 0), ("4, 6", 0), ("4, 6", 1), ("2, 3, 4", 1))
    if name == "sort" or (shape != "2, 3, 4" and (shape == "24" or dim))
]
PLACES = [
    f"{name}({shown}{dim})"
    for name in ("argmax", "argmin")
    for shown, dim in (("x", ""), ("x.reshape(4, 6)", ""), ("x.reshape(2, 3, 4)", ", 1"))
]


@pytest.mark.parametrize("has_nan", [False, True])
def test_places_of_ties_zeros_and_nan(has_nan, monkeypatch):
    """Places, and values where all are finite."""
    machine_code(monkeypatch)
    some = [0.0, -0.0, 1.0, -1.0, *((np.nan, -np.inf, np.inf) if has_nan else ())]
    given = {"x": np.random.default_rng(0).choice(some, 24), "w": np.ones(24)}
    lines = [f"v{k}, p{k} = {text}" for k, text in enumerate(ORDERS)]
    parts = [f"p{k}.reshape(-1) * 1.0" for k in range(len(ORDERS))]
    parts += [f"({text} * ones(2, 4)).reshape(-1)" for text in PLACES]
    if not has_nan:
        parts += [f"v{k}.reshape(-1)" for k in range(len(ORDERS))]
    run, found = both(load("\n".join([HEAD, *lines, f"cat([{', '.join(parts)}])"])), "run", given)
    assert found == run


ADDED = {
    "at places that come again": "x[[0, 5, 0, 0, 5, 23]] * w[:6]",
    "rows": "x.reshape(6, 4)[[2, 2, 0, 2]] * w[:4]",
    "a matrix of places": "x[torch.tensor([[0, 1, 0], [1, 0, 0]])] * w[:3]",
    "in two dimensions": "x.reshape(4, 6)[[0, 3, 0, 0], [1, 1, 1, 2]] * w[:4]",
    "along the last": "gather(x.reshape(4, 6), 1, P.view(2, 3)) * w[:3]",
    "along the middle": "gather(x.reshape(2, 3, 4), 1, (P % 3).view(2, 3, 1)) * w[:3].view(3, 1)",
    "pictures": "conv2d(x.reshape(1, 1, 4, 6), w[:6].reshape(1, 1, 3, 2), stride=(1, 2), padding=1)",
    "wide windows": "conv1d(x.reshape(1, 3, 8), w[:12].reshape(2, 3, 2), dilation=2)",
}


@pytest.mark.parametrize("name", ADDED)
def test_cotangents_are_added_in_the_interpreters_order(name, monkeypatch):
    text = f"{HEAD}P = torch.tensor([0, 2, 0, -1, 2, 0])\n({ADDED[name]}).sin().sum() * x[0]"
    rng = np.random.default_rng(len(name))
    given = {"x": rng.normal(size=24) * 1e3, "w": rng.normal(size=24)}
    for question in ("hessian", "grad"):
        if question == "grad":
            machine_code(monkeypatch)
        run, found = both(load(text), question, given)
        assert found == run, question
