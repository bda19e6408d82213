"""What does not move adds nothing to a derivative, though the slope beside it be infinite."""

from __future__ import annotations

import numpy as np
import pytest

from gradcli.engine.autodiff import motion
from gradcli.engine.ops import rules
from gradcli.program import load_source
from gradcli.source import Source

SINGULAR = {  # functions whose derivative is infinite or nan at a point
    "sqrt(x)": 0.0,
    "log(x)": 0.0,
    "1 / x": 0.0,
    "x / x": 0.0,
    "x ** 0.5": 0.0,
    "x ** x": 0.0,
    "rsqrt(x)": 0.0,
    "asin(x)": 1.0,
    "acosh(x)": 1.0,
    "atanh(x)": 1.0,
    "entr(x)": 0.0,
    "logit(x)": 0.0,
    "lgamma(x)": 0.0,
    "digamma(x)": 0.0,
    "sqrt(x * x)": 0.0,
    "sqrt(x) ** 2": 0.0,
    "stack([sqrt(x), log(x)]).sum()": 0.0,
}


FORMS = ["{}", "tensor([{}])"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", SINGULAR)
def test_beside_what_moves(function, form):
    program = asked(
        f"param x = {form.format(SINGULAR[function])}",
        f"param y = {form.format(2.0)}",
        f"({function} + y ** 3).sum()",
    )
    along = {"y": 1.0 if "[" not in form else np.ones(1)}
    assert program.jvp(tangents=along).jvp == 12.0
    assert np.ravel(program.jacobian(mode="forward").jacobian["y"]) == 12.0
    found = program.hvp(tangents=along, wrt=["x", "y"]).hvp
    assert [*np.ravel(found["x"]), *np.ravel(found["y"])] == [0.0, 12.0]


@pytest.mark.parametrize("function", SINGULAR)
def test_beside_another_element_that_moves(function):
    point = f"tensor([{SINGULAR[function]}, 2.0])"
    f = f"lambda v: {function.replace('x', 'v[0]').replace('mav[0]', 'max')} + v[1] ** 3"
    results = {
        f"jvp({f}, {point}, tensor([0.0, 1.0]))[1]": 12.0,
        f"jacfwd({f})({point})[1]": 12.0,
        f"hvp({f}, {point}, tensor([0.0, 1.0]))[1]": [0.0, 12.0],
        f"hessian({f})({point})[:, 1]": [0.0, 12.0],
        f"jacfwd(jacfwd({f}))({point})[:, 1]": [0.0, 12.0],
    }
    for text, expected in results.items():
        assert np.all(asked(text).run().result == np.asarray(expected)), text


CHOICES = {  # what gives zero at a point and does not depend on x there
    "relu(x)": -1.0,
    "clamp(x, 0, 1)": -1.0,
    "clamp_min(x, 0.0)": -1.0,
    "clamp_max(x, 0.0)": 1.0,
    "maximum(x, 0.0)": -1.0,
    "minimum(x, 0.0)": 1.0,
    "fmax(x, 0.0)": -1.0,
    "fmin(x, 0.0)": 1.0,
    "max(x, 0.0)": -1.0,
    "hardtanh(x, 0.0, 1.0)": -1.0,
    "relu6(x)": -1.0,
    "threshold(x, 0, 0)": -1.0,
    "hardsigmoid(x)": -4.0,
    "hardswish(x)": -4.0,
    "hardshrink(x)": 0.25,
    "softshrink(x)": 0.25,
    "where(x > 0, x, 0.0)": -1.0,
    "masked_fill(x, x < 0, 0.0)": -1.0,
    "heaviside(x, x)": -1.0,
    "sign(x)": 0.0,
    "floor(x)": 0.5,
    "stack([x, zeros_like(x)]).amax()": -1.0,
    "stack([x, zeros_like(x)]).max()": -1.0,
    "stack([x, zeros_like(x)]).max(0).values": -1.0,
    "stack([x, zeros_like(x)]).sort(0).values[1]": -1.0,
    "stack([x, zeros_like(x)]).median(0).values + zeros_like(x)": 1.0,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", CHOICES)
def test_what_is_not_chosen_gets_zero_from_an_infinite_slope(function, form):
    program = asked(f"param x = {form.format(CHOICES[function])}", f"sqrt({function}).sum()")
    along = 1.0 if "[" not in form else np.ones(1)
    assert program.grad().grad["x"] == 0.0
    assert program.jvp(tangents={"x": along}).jvp == 0.0
    assert program.hvp(tangents={"x": along}).hvp["x"] == 0.0


# a tangent that has come out as zero is none of these: reverse mode has inf times 0 there, too
@pytest.mark.parametrize("function", ["x * x", "x ** 3", "square(x)", "1 - cos(x)", "abs(x)"])
@pytest.mark.parametrize("form", FORMS)
def test_what_moves_with_slope_zero_has_no_derivative_beside_an_infinite_slope(function, form):
    program = asked(f"param x = {form.format(0.0)}", f"sqrt({function}).sum()")
    assert np.isnan(program.grad().grad["x"])
    assert np.isnan(program.jacobian(mode="forward").jacobian["x"])
    assert np.isnan(program.jvp(tangents={"x": 1.0 if "[" not in form else np.ones(1)}).jvp)


# likewise a cotangent: PyTorch has nan, too
@pytest.mark.parametrize(
    "function",
    [
        "sqrt(x) ** 2",
        "exp(log(x))",
        "sqrt(x) * sqrt(x)",
        "x * 0 * sqrt(x)",
        "dot(sqrt(x), sqrt(x))",
    ],
)
def test_a_cotangent_that_has_come_out_as_zero_has_no_product_with_an_infinite_slope(function):
    program = asked("param x = tensor([0.0])", f"({function}).sum()")
    assert np.isnan(program.grad().grad["x"])
    assert np.isnan(program.jacobian(mode="forward").jacobian["x"])
    assert np.isnan(program.hessian(mode="forward").hessian["x"]["x"])
    assert np.isnan(program.hessian(mode="reverse").hessian["x"]["x"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "function", ["0.0 * sqrt(x)", "(x > 0) * sqrt(x)", "sqrt(x) / inf", "sqrt(x) * zeros(1)"]
)
def test_a_constant_factor_of_zero_chooses(function, form):
    program = asked(f"param x = {form.format(0.0)}", f"({function}).sum()")
    assert np.all(program.grad().grad["x"] == 0.0)
    assert np.all(program.jacobian(mode="forward").jacobian["x"] == 0.0)
    assert np.all(program.hessian(mode="forward").hessian["x"]["x"] == 0.0)
    assert np.all(program.hessian(mode="reverse").hessian["x"]["x"] == 0.0)


CONSTANTS = {  # what hangs on x by a factor of zero alone, and the value of x
    "0.0 * x": 1.0,
    "(x > 5) * x": 1.0,
    "x * zeros(1)": 1.0,
    "x / inf": 1.0,
    "1.0 - x ** 0": 1.0,
    "1.0 - x ** tensor([0])": 1.0,
    "xlogy(0.0, x)": 2.0,
    "lerp(zeros(1), x, 0.0)": 1.0,
    "addcmul(zeros(1), x, zeros(1))": 1.0,
    "zeros(1, 1) @ x.reshape(1)": 1.0,
    "x.reshape(1, 1) @ zeros(1, 1)": 1.0,
    "dot(x.reshape(1), zeros(1))": 1.0,
    "einsum('i,i->', x.reshape(1), zeros(1))": 1.0,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", CONSTANTS)
def test_a_constant_factor_of_zero_chooses_below_an_infinite_slope(function, form):
    program = asked(f"param x = {form.format(CONSTANTS[function])}", f"sqrt({function}).sum()")
    along = 1.0 if "[" not in form else np.ones(1)
    assert np.all(program.grad().grad["x"] == 0.0)
    assert program.jvp(tangents={"x": along}).jvp == 0.0
    assert program.hvp(tangents={"x": along}).hvp["x"] == 0.0
    assert np.all(program.hessian(mode="reverse").hessian["x"]["x"] == 0.0)


@pytest.mark.parametrize(
    "function",
    [
        "sqrt(tensor([0.0, 1.0]) * x)",
        "tensor([0.0, 1.0]) * sqrt(x)",
        "sqrt(tensor([[0.0, 0.0], [0.0, 1.0]]) @ x)",
        "tensor([[0.0, 1.0]]) @ sqrt(x)",
        "sqrt(x @ tensor([[0.0, 0.0], [0.0, 1.0]]))",
        "sqrt(x[:, None].expand(2, 2) * tensor([[0.0, 0.0], [1.0, 0.0]]))",
    ],
)
def test_a_constant_factor_of_zero_chooses_beside_others(function):
    at = [4.0, 4.0] if "[:, None]" in function else [0.0, 4.0]
    expected = [0.0, 0.25]
    program = asked(f"param x = {at}", f"({function}).sum()")
    assert program.grad().grad["x"].tolist() == expected
    for mode in ("forward", "reverse"):
        assert program.jacobian(mode=mode).jacobian["x"].tolist() == expected
    assert program.jvp(tangents={"x": np.ones(2)}).jvp == 0.25
    assert program.hvp(tangents={"x": np.ones(2)}).hvp["x"].tolist() == [0.0, -0.03125]


@pytest.mark.parametrize(
    "difference", ["x[0] - x[1]", "x.diff()", "x.sum() - 2 * x[1]", "tensor([1.0, -1.0]) @ x"]
)
def test_what_moves_in_two_elements_moves_in_their_difference(difference):
    """Though it comes out as zero: the slope beside it is infinite."""
    program = asked("param x = [3.0, 3.0]", f"sqrt(({difference}) ** 2).sum()")
    assert np.isnan(program.grad().grad["x"]).all()
    for mode in ("forward", "reverse"):
        assert np.isnan(program.jacobian(mode=mode).jacobian["x"]).all()
    assert np.isnan(program.jvp(tangents={"x": np.ones(2)}).jvp)


def test_what_is_still_is_told_apart_element_by_element():
    program = asked(
        "param x = [0.0, 0.0, 4.0]",
        "y = sqrt(x)",
        "(where([True, False, True], y ** 2, 0.0) + tensor([0.0, 0.0, 1.0]) * y).sum()",
    )
    assert np.isnan(program.grad().grad["x"][0])
    assert program.grad().grad["x"][1:].tolist() == [0.0, 1.25]
    assert np.array_equal(
        program.jacobian(mode="forward").jacobian["x"], program.grad().grad["x"], equal_nan=True
    )


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_a_direction_of_zeros_stays_zero_where_a_rule_overflows(mode):
    program = asked(
        "param x = 800.5",
        "param y = 2.0",
        "w = torch.matrix_exp((x * x).reshape(1, 1)).sum()",
        "torch.stack([w, y * y, w * y])",
    )
    found = program.jacobian(mode=mode).jacobian
    assert np.array_equal(found["x"], [np.nan, 0.0, np.nan], equal_nan=True)
    assert np.array_equal(found["y"], [0.0, 4.0, np.inf])


@pytest.mark.parametrize("weights", ["[0.0, 1.0, nan, -2.0]", "[1.0, inf, nan, -2.0]"])
@pytest.mark.parametrize("function", [f for f in (*SINGULAR, *CHOICES) if "stack" not in f])
def test_what_is_sure_to_take_part_needs_no_marks(function, weights, monkeypatch):
    """A cotangent without zeros, or a slope, gives what marks of every element give."""
    lines = ["x = tensor([0.5, 0.0, nan, -1.0])", "z = tensor([0.0, 1.0, 2.0, nan])"]
    lines += [f"y = {function} * z", f"(y * y * tensor({weights}) + y).sum()"]
    found = [asked(*lines).grad(wrt=["x", "z"]).grad]
    for room in (motion, rules):
        monkeypatch.setattr(room, "has_no_zero", lambda x: False)
    found.append(asked(*lines).grad(wrt=["x", "z"]).grad)
    for name in ("x", "z"):
        np.testing.assert_array_equal(found[0][name], found[1][name])


def asked(*lines):
    return load_source(Source("p", "\n".join(lines)))
