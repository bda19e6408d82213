"""Ops on matrices that the table's samples cannot hold: symmetric matrices, fields, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from support.checks.derivative_checks import check_first, check_second
from support.checks.oracles import Case

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import composite, sample
from gradcli.engine.values.data import Quiet
from gradcli.errors import GradError
from gradcli.program import load


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


SYMMETRIC = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.7], [0.5, -0.7, 2.0]]
OTHER = [[[5.0, 1.0], [1.0, 2.0]], [[1.0, 0.3], [0.3, 2.0]]]
RNG = np.random.default_rng(3)
LARGE = (RNG.standard_normal((6, 6)) + 2 * np.eye(6)).tolist()


def of_symmetric(call):
    """The function of the symmetric part, whose derivative differences see."""
    return lambda a: call(ops.mul(ops.add(a, ops.transpose(a, dim0=-2, dim1=-1)), 0.5))


CASES = {
    "cholesky": (of_symmetric(ops.cholesky), SYMMETRIC),
    "cholesky upper": (of_symmetric(lambda a: ops.cholesky(a, upper=True)), OTHER),
    "eigvalsh": (of_symmetric(ops.eigvalsh), SYMMETRIC),
    "eigvalsh upper": (of_symmetric(lambda a: ops.eigvalsh(a, UPLO="U")), OTHER),
    "eigenvectors": (of_symmetric(lambda a: ops.eigh(a)[1]), SYMMETRIC),
    "slogdet": (lambda a: ops.slogdet(a)[1], [[0.5, 2.0], [3.0, 1.0]]),
    "lstsq": (
        lambda a: ops.lstsq(a, np.array([1.0, 2.0, 0.5]))[0],
        [[1.0, 2.0], [3.0, 4.0], [0.5, -1.0]],
    ),
    "det of six rows": (ops.det, LARGE),
    "cofactors": (ops.cofactors, LARGE),
}


@pytest.mark.parametrize("name", CASES)
def test_derivatives_agree_with_central_differences(name):
    call, point = CASES[name]
    entry = composite("case", call, args=("a",), doc="A case.")
    check_first(Case(entry, sample(point)))
    check_second(Case(entry, sample(point)))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 6, 9])
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_cofactors_are_right_at_every_rank(size, lost):
    left = RNG.integers(-3, 4, (size, max(size - lost, 0))).astype(float)
    a = left @ RNG.integers(-3, 4, (max(size - lost, 0), size)).astype(float)
    expected = [
        [(-1) ** (i + j) * np.linalg.det(np.delete(np.delete(a, i, 0), j, 1)) for j in range(size)]
        for i in range(size)
    ]
    got = ops.det.derivatives.vjp[0](1.0, None, a)
    assert np.allclose(got, expected, rtol=1e-9, atol=1e-12 * np.linalg.norm(a) ** (size - 1))


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
@pytest.mark.parametrize("name", ["det", "inv", "pinv", "cholesky", "svd", "qr", "eigh", "slogdet",
                                  "matrix_exp", "lu_factor"])  # fmt: skip
def test_empty_matrices(name, shape):
    out = ops[name](np.zeros(shape))
    first = out[0] if isinstance(out, tuple) else out
    assert np.shape(first)[: len(shape) - 2] == shape[:-2]


@pytest.mark.parametrize("name", ["inv", "cholesky"])
def test_refusals_name_the_place_in_the_batch(name):
    a = np.stack([np.eye(2), np.array([[1.0, 1.0], [1.0, 1.0]]) - 0.5 * (name != "inv")])
    if name == "cholesky":
        a[1] = [[1.0, 2.0], [2.0, 1.0]]
    with pytest.raises(GradError, match=r"\[1\] of the batch"):
        ops[name](a)


def test_integers_are_refused():
    with pytest.raises(GradError, match="floating-point"):
        ops.inv(np.ones((2, 2), np.int64))


EIGH, SVD = "torch.linalg.eigh(A)", "torch.linalg.svd(A, full_matrices=False)"
TWINS = "[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 3.0]]"  # of two equal eigenvalues
FLAT = "[[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]"
NAN = float("nan")
MODES = ("forward", "reverse")
AT_EQUAL_VALUES = [  # the matrix, the function of it, and its gradient
    (TWINS, f"{EIGH}[0].sum()", np.eye(3)),
    (TWINS, f"{EIGH}[0][0]", np.diag([1.0, 0.0, 0.0])),
    (TWINS, f"{EIGH}[1][0, 0]", np.full((3, 3), NAN)),
    (TWINS, f"{EIGH}[1].sum()", np.full((3, 3), NAN)),
    (TWINS, f"{EIGH}[1][:, 2].sum()", [[0.0, 0.0, 0.25], [0.0, 0.0, 0.25], [0.25, 0.25, 0.0]]),
    (TWINS, f"{SVD}[1].sum()", np.eye(3)),
    (TWINS, f"{SVD}[0][0, 0]", [[0.0, 0.0, 0.375], [0.0, 0.0, 0.0], [0.125, 0.0, 0.0]]),
    (TWINS, f"{SVD}[0][:, 2].sum()", np.full((3, 3), NAN)),
    (TWINS, f"{SVD}[2][1].sum()", np.full((3, 3), NAN)),
    (FLAT, f"{SVD}[1].sum()", [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]),
    (FLAT, f"{SVD}[0][0, 0]", np.zeros((3, 2))),
    (FLAT, f"{SVD}[0][:, 1].sum()", np.full((3, 2), NAN)),
    ("[[1.0, 2.0], [2.0, 4.0]]", "slogdet(A)[1]", np.full((2, 2), NAN)),
    ("[[1.0, 2.0], [2.0, 4.0]]", "where(tensor(False), logdet(A), A.sum())", np.ones((2, 2))),
    (
        "[[[2.0, 0.0], [0.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]]",
        "slogdet(A)[1].sum()",
        [np.diag([0.5, 0.25]), np.full((2, 2), NAN)],
    ),
]


@pytest.mark.parametrize(("matrix", "function", "expected"), AT_EQUAL_VALUES)
def test_there_is_no_derivative_where_vectors_turn_at_will_or_an_inverse_misses(
    matrix, function, expected
):
    program = load(f"param A: float[...] = {matrix}\n{function}")
    for mode in ("reverse", "forward"):
        found = program.jacobian(mode=mode).jacobian["A"]
        assert np.allclose(found, expected, rtol=1e-14, atol=1e-15, equal_nan=True), mode


def symmetric(d):
    return (d + d.T) / 2


@pytest.mark.parametrize(
    ("matrix", "function", "curvature"),
    [
        (TWINS, f"{EIGH}[0][2]", lambda d: np.sum(symmetric(d)[2, :2] ** 2)),
        (TWINS, "eigvalsh(A)[2] ** 2", lambda d: 6 * np.sum(d[2, :2] ** 2) + 2 * d[2, 2] ** 2),
        (FLAT, f"{SVD}[1][0]", lambda d: np.sum(d[1:, 0] ** 2) + np.sum(d[0, 1:] ** 2)),
        (FLAT, "matrix_norm(A, 2)", lambda d: np.sum(d[1:, 0] ** 2) + np.sum(d[0, 1:] ** 2)),
    ],
)
def test_second_derivatives_of_single_values_beside_equal_ones(matrix, function, curvature):
    program = load(f"param A: float[...] = {matrix}\n{function}")
    shape = np.shape(program.grad().grad["A"])
    along = np.linspace(-1, 1, 9)[: np.prod(shape)].reshape(shape)
    along = symmetric(along) if shape == (3, 3) else along
    for mode in MODES:
        found = program.hessian(mode=mode).hessian["A"]["A"]
        assert np.isclose(np.sum(along * np.tensordot(found, along)), curvature(along)), mode
    product = program.hvp(tangents={"A": along}).hvp["A"]
    assert np.isclose(np.sum(along * product), curvature(along))


def test_where_equal_values_have_part_the_second_derivative_is_nan():
    program = load(f"param A: float[...] = {TWINS}\n({EIGH}[0] ** 3).sum()")
    for mode in MODES:
        assert np.isnan(program.hessian(mode=mode).hessian["A"]["A"][0]).all(), mode


GENERAL = "[[1.0, 2.0, 0.0], [0.3, 4.0, 0.1], [0.2, 0.0, -2.0]]"


@pytest.mark.parametrize(
    ("function", "same"),
    [
        ("np.sum(np.linalg.eigvals(A) ** 3)", "np.trace(A @ A @ A)"),
        ("np.prod(np.linalg.eigvals(A))", "np.linalg.det(A)"),
        ("np.sum(w * np.sum(v * np.linalg.inv(v).T, axis=0))", "np.trace(A)"),
        ("np.sum((v * np.exp(w)) @ np.linalg.inv(v))", "np.sum(expm(A))"),
    ],
)
def test_real_eigenvalues_have_the_derivatives_of_what_they_make(function, same):
    """Sums, products and functions of matrices that are told without the eigenvalues."""
    imports = "import numpy as np\nfrom scipy.linalg import expm"
    texts = (f"w, v = np.linalg.eig(A)\n{function}", same)
    found, wanted = (load(f"{imports}\nparam A: float[3, 3] = {GENERAL}\n{t}") for t in texts)
    for mode in MODES:
        first, second = (p.jacobian(mode="forward").jacobian["A"] for p in (found, wanted))
        assert np.allclose(first, second, rtol=1e-10, atol=1e-10), mode
        first, second = (p.hessian(mode=mode).hessian["A"]["A"] for p in (found, wanted))
        assert np.allclose(first, second, rtol=1e-9, atol=1e-9), mode
    assert np.allclose(found.grad().grad["A"], wanted.grad().grad["A"], rtol=1e-10, atol=1e-10)


def test_complex_eigenvalues_are_refused():
    program = load("import numpy as np\nnp.linalg.eigvals(np.array([[0.0, 1.0], [-1.0, 0.0]]))")
    with pytest.raises(GradError, match="there are no complex numbers"):
        program.run()
