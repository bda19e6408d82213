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


def test_a_file(tmp_path):
    path = tmp_path / "f.grad"
    path.write_text("input x = 3.0\nx * x\n")
    assert gradcli.load(path).grad().grad == {"x": 6.0}
    assert gradcli.load(str(path)).grad(wrt="x", of="x").grad == {"x": 1.0}


def test_errors_are_one_kind():
    with pytest.raises(gradcli.GradError, match="`z`"):
        gradcli.load("x * 2").grad(x=1, wrt="z")


def test_numpy_settings_are_left_alone():
    before = np.geterr()
    gradcli.load("1 / zeros(2)").run()
    assert np.geterr() == before


def test_every_name_is_there():
    assert all(hasattr(gradcli, name) for name in gradcli.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        gradcli.nothing  # noqa: B018
