"""Sparse derivatives as functions of a point, for SciPy."""

import pickle

import numpy as np
import pytest
from support.checks.sparse_agreement import dense

from gradcli import GradError, load
from gradcli.questions import sparse_function
from gradcli.results import Coo

LOCAL = "input x: float[n]\ninput k: float\nsum((x[1:] - x[:-1] ** 2) ** 2 * k)"
CHAIN = "input x: float[n]\ninput y: float[n]\ncat([x - y, sqrt(x[1:]) * x[:-1]])"


@pytest.fixture(autouse=True, params=["SciPy", "no SciPy"])
def library(request, monkeypatch):
    if request.param == "SciPy":
        pytest.importorskip("scipy.sparse")
    else:
        monkeypatch.setattr(sparse_function, "find_spec", lambda name: None)


def whole(matrix):
    return dense(matrix)[0] if isinstance(matrix, Coo) else matrix.toarray()


def test_the_hessian_is_that_of_the_question():
    f = load(LOCAL).compile("x", order=2, sparse=True).bind(k=3.0)
    for start in (0.5, -1.0):
        x = np.linspace(start, 2.0, 9)
        value, gradient, matrix = f(x)
        full = load(LOCAL).hessian(x=x, k=3.0, wrt="x")
        assert value == full.value
        assert gradient.tobytes() == full.grad["x"].tobytes()
        assert (whole(matrix) == full.hessian["x"]["x"]).all()
        assert f.value(x) == value
        assert (f.derivative(x) == gradient).all()


def test_the_jacobian_is_that_of_the_question():
    f = load(CHAIN).compile("x", sparse=True).bind(y=np.ones(7))
    x = np.linspace(0.5, 2.0, 7)
    value, matrix = f(x)
    full = load(CHAIN).jacobian(x=x, y=np.ones(7), wrt="x", mode="forward")
    assert value.tobytes() == full.value.tobytes()
    assert (whole(matrix) == full.jacobian["x"]).all()
    assert (whole(f.pattern) == (full.jacobian["x"] != 0)).all()


def test_several_names_lie_one_behind_the_other():
    f = load(CHAIN).compile("y,x", sparse=True)
    found = f(np.linspace(0.5, 2.0, 14))[1]
    full = load(CHAIN).jacobian(x=np.linspace(0.5, 2.0, 14)[7:], y=np.ones(7), mode="forward")
    assert (whole(found) == np.hstack([full.jacobian["y"], full.jacobian["x"]])).all()


def test_a_point_that_code_leaves_is_interpreted():
    f = load(CHAIN).compile("x", sparse=True).bind(y=np.ones(4))
    x = [1.0, 0.0, 2.0, 3.0]
    full = load(CHAIN).jacobian(x=x, y=np.ones(4), wrt="x", mode="forward").jacobian["x"]
    found = whole(f(x)[1])
    assert np.isinf(found).any()
    assert np.array_equal(found, full, equal_nan=True)


def test_a_program_that_prints_is_asked_as_a_whole():
    f = load("print('here')\n" + CHAIN).compile("x", sparse=True).bind(y=np.ones(3))
    value, matrix = f([1.0, 4.0, 9.0])
    assert value.tolist() == [0.0, 3.0, 8.0, 2.0, 12.0]
    assert whole(matrix)[3:].tolist() == [[2.0, 0.25, 0.0], [0.0, 3.0, 4 / 6]]


def test_a_number_is_a_point():
    value, gradient, matrix = load("input a: float\na ** 3").compile(order=2, sparse=True)(2.0)
    assert (value, gradient.tolist(), whole(matrix).tolist()) == (8.0, [12.0], [[12.0]])


def test_pickled_it_has_its_data():
    f = load(LOCAL).compile("x", order=2, sparse=True).bind(k=3.0)
    x = np.linspace(0.0, 1.0, 5)
    again = pickle.loads(pickle.dumps(f))
    assert (whole(again(x)[2]) == whole(f(x)[2])).all()
    assert repr(again) == (
        "<SparseBound with k: <SparseFunction of x -> value and sparse gradient and Hessian>>"
    )


def test_other_data_of_the_same_shapes_have_the_same_code(monkeypatch):
    made = []
    compiled = sparse_function.compile_question
    monkeypatch.setattr(
        sparse_function, "compile_question", lambda *asked: made.append(1) or compiled(*asked)
    )
    f = load(LOCAL).compile("x", order=2, sparse=True)
    x = np.linspace(0.0, 1.0, 5)
    one, two = f.bind(k=1.0), f.bind(k=2.0)
    assert (whole(two(x)[2]) == 2 * whole(one(x)[2])).all()
    assert f(x, k=2.0)[0] == 2 * one(x)[0]
    assert len(made) == 1


def test_what_it_cannot_do_is_said():
    with pytest.raises(GradError, match="`order` of sparse derivatives is 1 or 2, got 0"):
        load(LOCAL).compile("x", order=0, sparse=True)
    f = load(LOCAL).compile("x", order=2, sparse=True).bind(k=3.0)
    with pytest.raises(GradError, match="sizes of the point are not known"):
        f.pattern  # noqa: B018 - asked for its error
    f(np.ones(3))
    with pytest.raises(GradError, match="4"):
        f(np.ones((4, 4)))
    with pytest.raises(GradError, match="known only at run time"):
        load("input x: float[3]\nx[x > 1]").compile("x", sparse=True)([1.0, 2.0, 3.0])
