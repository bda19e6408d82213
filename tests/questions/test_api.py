"""The Python API: what `import gradcli` gives."""

import numpy as np
import pytest

import gradcli


def test_load_run_and_grad():
    program = gradcli.load("y = x ** 2 + 3 * x\ny")
    assert isinstance(program, gradcli.Program)
    assert program.run(x=2).values == {"x": 2.0, "y": 10.0}
    result = program.grad(x=2.0)
    assert isinstance(result, gradcli.GradResult)
    assert (result.output, result.value, result.grad) == ("y", 10.0, {"x": 7.0})


def test_arrays_go_in_and_come_out():
    x = np.array([1.0, 2.0])
    result = gradcli.load("sum(x * x)").grad(x=x)
    assert isinstance(result.grad["x"], np.ndarray)
    assert result.grad["x"].tolist() == [2.0, 4.0]
    assert x.tolist() == [1.0, 2.0]


def test_an_array_that_is_given_is_not_changed():
    x = np.array([1.0, 2.0])
    gradcli.load("x.mul_(10)\nsum(x)").run(x=x)
    assert x.tolist() == [1.0, 2.0]


def test_the_point_of_a_derivative_is_told_as_it_was_given():
    """The program changes the memory on which its input lies."""
    found = gradcli.load("input x: float[2]\nv = x[:1]\nv *= 5\nx.sum()").grad(x=[1.0, 2.0])
    assert found.inputs["x"].tolist() == [1.0, 2.0]
    assert found.grad["x"].tolist() == [5.0, 1.0]


def test_where_a_leaf_is_made_constants_are_not_differentiated():
    program = gradcli.load("k = 2.0\nx = tensor(3.0, requires_grad=True)\nk * x")
    assert program.grad().grad == {"x": 2.0}


def test_the_first_op_that_made_nan_is_blamed():
    found = gradcli.load("input x = -1.0\na = log(x)\nb = sqrt(x)\na + b").grad()
    assert [w.message for w in found.warnings] == [
        "the result is not finite: `log` made nan from finite values"
    ]


def test_a_file(tmp_path):
    path = tmp_path / "f.grad"
    path.write_text("input x = 3.0\nx * x\n")
    assert gradcli.load(path).grad().grad == {"x": 6.0}
    assert gradcli.load(str(path)).grad(wrt="x", of="x").grad == {"x": 1.0}


def test_errors_are_one_kind():
    with pytest.raises(gradcli.GradError, match="`z`"):
        gradcli.load("x * 2").grad(x=1, wrt="z")


def test_numpy_settings_are_left_alone():
    with np.errstate(divide="raise", over="warn", under="ignore", invalid="raise"):
        before = np.geterr()
        gradcli.load("1 / zeros(2)").run()
        assert np.geterr() == before


def test_every_name_is_there():
    assert all(hasattr(gradcli, name) for name in gradcli.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        gradcli.nothing  # noqa: B018


class Loud:
    """A value that tells when its text is made."""

    def __init__(self):
        self.written = 0

    def __repr__(self):
        self.written += 1
        return "loud"


def test_how_a_value_was_given_is_written_for_a_message_only():
    value = Loud()
    program = gradcli.load("input x = 1.0\nx")
    with pytest.raises(gradcli.GradError) as caught:
        program.run(x=value)
    assert caught.value.diagnostics[0].notes == ("given as x=loud",)
    assert value.written == 1

    unused = gradcli.load("input a = 1.0\ninput b = 1.0\na / len(b)")
    with pytest.raises(gradcli.GradError) as caught:
        unused.run(a=[[1.0], [2.0, 3.0]], b=value)
    assert "a=[[1.0], [2.0, 3.0]]" in str(caught.value)
    assert value.written == 1


class Array(np.ndarray):
    """An array that cannot be taken apart into Python's numbers."""

    def tolist(self):
        raise AssertionError("taken apart")


def test_cotangents_and_directions_are_taken_as_arrays():
    program = gradcli.load("input x = [1.0, 2.0]\nx * x")
    ones = np.array([1, 1], dtype=np.float32).view(Array)
    assert program.vjp(cotangent=ones).vjp["x"].tolist() == [2.0, 4.0]
    assert program.jvp(tangents={"x": ones}).jvp.tolist() == [2.0, 4.0]
    weights = np.array([True, False]).view(Array)
    assert program.hvp(cotangent=weights, tangents={"x": ones}).hvp["x"].tolist() == [2.0, 0.0]


def test_a_cotangent_of_no_elements_keeps_its_shape():
    program = gradcli.load("input x = zeros(0, 3)\nx * x")
    assert program.vjp(cotangent=np.ones((0, 3))).vjp["x"].shape == (0, 3)


def test_an_array_that_is_no_cotangent_is_refused():
    program = gradcli.load("input x = [1.0, 2.0]\nx * x")
    for wrong in (np.ones(3), np.array(["a", "b"]), np.ones(2, complex)):
        with pytest.raises(gradcli.GradError):
            program.vjp(cotangent=wrong)
    for least in (np.float64(2.0), np.array(2.0), 2):
        assert gradcli.load("x * x").vjp(cotangent=least, x=3.0).vjp == {"x": 12.0}
