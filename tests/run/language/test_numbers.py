"""Arithmetic on plain numbers and on int, bool and float32 tensors: values, types, errors."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from gradcli.engine.numerics import ieee
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.fast.call import by_place
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import Quiet
from gradcli.errors import RunError

NAN, INF = math.nan, math.inf
TOP, BOTTOM = 2**63 - 1, -(2**63)


@pytest.fixture(autouse=True)
def ieee_arithmetic():
    with Quiet():
        yield


NUMBERS = [
    ("add", (1, 2), 3),
    ("add", (True, True), 2),
    ("add", (1, 2.5), 3.5),
    ("add", (TOP, 0.0), 2.0**63),
    ("sub", (BOTTOM, -1), -TOP),
    ("mul", (3, -4), -12),
    ("mul", (INF, 0), NAN),
    ("div", (6, 3), 2.0),
    ("div", (1, 0), INF),
    ("div", (-1, 0), -INF),
    ("div", (1, -0.0), -INF),
    ("div", (0, 0), NAN),
    ("div", (1e308, 1e-308), INF),
    ("neg", (True,), -1),
    ("pow", (2, 10), 1024),
    ("pow", (2, -1), 0.5),
    ("pow", (0, -1), INF),
    ("pow", (-2, 63), BOTTOM),
    ("pow", (2, 62), 2**62),
    ("pow", (0, 10**18), 0),
    ("pow", (1, 10**18), 1),
    ("pow", (-1, 10**18 + 1), -1),
    ("pow", (0, 0), 1),
    ("pow", (-8.0, 1 / 3), NAN),
    ("pow", (-2.0, 3), -8.0),
    ("pow", (10.0, 400), INF),
    ("pow", (-10.0, 401), -INF),
    ("pow", (0.0, -1), INF),
    ("pow", (-0.0, -1), -INF),
    ("pow", (-0.0, -2), INF),
    ("pow", (NAN, 0), 1.0),
    ("pow", (True, 2), 1),
    ("abs", (-3,), 3),
    ("abs", (-0.0,), 0.0),
    ("sign", (-3,), -1),
    ("sign", (NAN,), NAN),
    ("floor_divide", (7, 2), 3),
    ("floor_divide", (-7, 2), -4),
    ("floor_divide", (5.0, 0), INF),
    ("floor_divide", (-5.0, 0.0), -INF),
    ("floor_divide", (0.0, 0), NAN),
    ("floor_divide", (INF, 2), NAN),
    ("remainder", (-5, 3), 1),
    ("remainder", (5, -3), -1),
    ("remainder", (5.0, 0), NAN),
    ("remainder", (-5.0, INF), INF),
    ("remainder", (INF, 3), NAN),
    ("fmod", (-5, 3), -2),
    ("fmod", (5.0, 0), NAN),
    ("fmod", (INF, 3.0), NAN),
    ("exp", (1000,), INF),
    ("exp", (-1000,), 0.0),
    ("log", (0,), -INF),
    ("log", (-1,), NAN),
    ("sqrt", (-1,), NAN),
    ("sqrt", (-0.0,), -0.0),
    ("rsqrt", (0.0,), INF),
    ("sin", (INF,), NAN),
    ("cosh", (1e3,), INF),
    ("sinh", (-1e3,), -INF),
    ("atanh", (-1,), -INF),
    ("acosh", (0.5,), NAN),
    ("floor", (2.5,), 2.0),
    ("floor", (-0.5,), -1.0),
    ("ceil", (-0.5,), -0.0),
    ("floor", (INF,), INF),
    ("round", (2.5,), 2.0),
    ("round", (-0.4,), -0.0),
    ("frac", (-2.5,), -0.5),
    ("frac", (3,), 0),
    ("maximum", (1, 2.5), 2.5),
    ("maximum", (3, 2.5), 3.0),
    ("maximum", (NAN, 2.0), NAN),
    ("maximum", (2, 3), 3),
    ("fmax", (NAN, 2), 2.0),
    ("fmin", (2, NAN), 2.0),
    ("clamp", (5, 0, 3), 3),
    ("clamp", (5, None, 3), 3),
    ("clamp", (-5, 0, None), 0),
    ("clamp", (NAN, 0.0, 1.0), NAN),
    ("where", (True, 1, 2.0), 1.0),
    ("lt", (1, 2.0), True),
    ("eq", (NAN, NAN), False),
    ("ne", (NAN, NAN), True),
    ("eq", (1, True), True),
    ("eq", (TOP, float(TOP)), False),
    ("isfinite", (3,), True),
    ("logical_and", (1, 2.0), True),
    ("bitwise_not", (True,), False),
    ("bitwise_not", (5,), -6),
    ("bitwise_xor", (True, False), True),
    ("bitwise_and", (6, 3), 2),
    ("nan_to_num", (INF,), 1.7976931348623157e308),
    ("xlogy", (0, 0), 0.0),
    ("xlogy", (0.0, NAN), NAN),
    ("logaddexp", (-INF, -INF), -INF),
    ("logaddexp", (1000, 1000), 1000 + math.log(2)),
    ("sigmoid", (-1000,), 0.0),
    ("hypot", (3e200, 4e200), 4.9999999999999995e200),
    ("heaviside", (0, 0.5), 0.5),
    ("copysign", (2, -0.0), -2.0),
]


@pytest.mark.parametrize(("name", "args", "expected"), NUMBERS)
def test_numbers(name, args, expected):
    got = ops[name](*args)
    assert type(got) is type(expected), f"{name}{args}: got {got!r}, expected {expected!r}"
    assert repr(got) == repr(expected), f"{name}{args}: got {got!r}, expected {expected!r}"


REFUSED = [
    ("add", (TOP, 1), "integer-overflow"),
    ("sub", (BOTTOM, 1), "integer-overflow"),
    ("mul", (2**32, 2**31), "integer-overflow"),
    ("neg", (BOTTOM,), "integer-overflow"),
    ("abs", (BOTTOM,), "integer-overflow"),
    ("square", (2**32,), "integer-overflow"),
    ("pow", (10, 10**10), "integer-overflow"),
    ("pow", (2, 63), "integer-overflow"),
    ("pow", (-3, TOP), "integer-overflow"),
    ("floor_divide", (BOTTOM, -1), "integer-overflow"),
    ("floor_divide", (5, 0), "division-by-zero"),
    ("remainder", (5, 0), "division-by-zero"),
    ("remainder", (5, False), "division-by-zero"),
    ("fmod", (5, 0), "division-by-zero"),
    ("bitwise_xor", (2.0, 3), "dtype-mismatch"),
    ("bitwise_not", (2.0,), "dtype-mismatch"),
    ("clamp", (2.0,), "bad-argument"),
]


@pytest.mark.parametrize(("name", "args", "code"), REFUSED)
@pytest.mark.parametrize("kind", ["numbers", "arrays"])
def test_refused(name, args, code, kind):
    given = args if kind == "numbers" else [np.array([a, a]) for a in args]
    with pytest.raises(RunError) as caught:
        ops[name](*given)
    assert caught.value.diagnostics[0].code == code, f"{name}{args}: {caught.value}"


def test_caret_on_floats_suggests_the_power():
    with pytest.raises(RunError) as caught:
        ops.bitwise_xor(2.0, 3.0)
    assert "**" in (caught.value.diagnostics[0].help or "")


def test_integer_products_next_to_the_limit():
    rng = np.random.default_rng(1)
    for _ in range(300):
        a, b = (int(rng.integers(1, 2**40)) for _ in range(2))
        a = a * (1 << int(rng.integers(0, 23))) // (1 << int(rng.integers(0, 30))) or 1
        fits = a * -b >= -(2**63)
        try:
            got = int(ops.mul(np.array([a]), np.array([-b]))[0])
        except RunError:
            got = None
        assert got == (a * -b if fits else None), f"{a} * {-b}: got {got}"


DTYPES = [
    ("add", ("int64", "int64"), "int64"),
    ("add", ("int64", "float32"), "float32"),
    ("add", ("bool", "float32"), "float32"),
    ("add", ("float32", "float64"), "float64"),
    ("add", ("bool", "bool"), "bool"),
    ("mul", ("bool", "int64"), "int64"),
    ("div", ("int64", "int64"), "float64"),
    ("div", ("bool", "bool"), "float64"),
    ("div", ("float32", "int64"), "float32"),
    ("pow", ("int64", "int64"), "int64"),
    ("pow", ("float32", "int64"), "float32"),
    ("floor_divide", ("int64", "int64"), "int64"),
    ("remainder", ("int64", "float32"), "float32"),
    ("atan2", ("int64", "float32"), "float32"),
    ("atan2", ("bool", "bool"), "float64"),
    ("hypot", ("bool", "int64"), "float64"),
    ("lt", ("float32", "int64"), "bool"),
    ("maximum", ("float32", "int64"), "float32"),
    ("maximum", ("bool", "bool"), "bool"),
    ("sin", ("bool",), "float64"),
    ("exp", ("int64",), "float64"),
    ("sqrt", ("float32",), "float32"),
    ("sigmoid", ("float32",), "float32"),
    ("sigmoid", ("int64",), "float64"),
    ("sigmoid", ("bool",), "float64"),
    ("sinc", ("float32",), "float32"),
    ("sinc", ("int64",), "float64"),
    ("floor", ("int64",), "int64"),
    ("round", ("bool",), "bool"),
    ("frac", ("int64",), "int64"),
    ("abs", ("int64",), "int64"),
    ("sign", ("bool",), "bool"),
    ("logical_not", ("float32",), "bool"),
    ("isnan", ("int64",), "bool"),
    ("reciprocal", ("int64",), "float64"),
    ("rsqrt", ("bool",), "float64"),
    ("logaddexp", ("float32", "int64"), "float32"),
    ("xlogy", ("float32", "float32"), "float32"),
    ("xlogy", ("int64", "int64"), "float64"),
    ("entr", ("float32",), "float32"),
    ("logit", ("float32",), "float32"),
    ("float_power", ("float32", "int64"), "float64"),
    ("lerp", ("float32", "float32", "float32"), "float32"),
    ("addcdiv", ("int64", "int64", "int64"), "float64"),
    ("where", ("bool", "float32", "int64"), "float32"),
    ("clamp", ("float32", "int64", "int64"), "float32"),
    ("heaviside", ("float32", "float32"), "float32"),
    ("nan_to_num", ("float32",), "float32"),
    ("bitwise_and", ("bool", "bool"), "bool"),
]


@pytest.mark.parametrize(("name", "kinds", "expected"), DTYPES)
def test_dtype_of_the_result(name, kinds, expected):
    got = ops[name](*(np.ones((2,), kind) for kind in kinds))
    assert str(got.dtype) == expected, f"{name}{kinds}: got {got.dtype}, expected {expected}"


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "pow", "maximum", "atan2", "remainder"]
)
@pytest.mark.parametrize("number", [2, 2.0])
def test_numbers_do_not_widen_float32(name, number):
    for args in ((np.ones(2, np.float32), number), (number, np.ones(2, np.float32))):
        got = ops[name](*args)
        assert str(got.dtype) == "float32", f"{name} of float32 and {number!r}: {got.dtype}"


def test_python_round():
    cases = [(2.5, None, 2), (3.5, None, 4), (-2.5, None, -2), (2.675, 2, 2.67), (7, None, 7)]
    cases += [(1234, -2, 1200), (2.5, 0, 2.0), (INF, 1, INF)]
    for x, decimals, expected in cases:
        got = ieee.python_round(x, decimals)
        assert repr(got) == repr(expected), f"round({x}, {decimals}): {got!r}"
    for x, code in ((INF, "bad-argument"), (NAN, "bad-argument"), (1e300, "integer-overflow")):
        with pytest.raises(RunError) as caught:
            ieee.python_round(x)
        assert caught.value.diagnostics[0].code == code, x


def test_round_in_a_program_is_python_s_on_numbers_and_the_op_on_tensors():
    session = Session()
    call = by_place(ops.round, None)
    for x in (2.5, Number(2.5)):
        got = call(session, x)
        assert repr(got) == "2", f"round({x}): {got!r}"
    for x in (Tensor(2.5), Tensor(np.array([2.5]))):
        got = call(session, x)
        assert got.dtype == "float64", f"round({x}): {got!r}"
        assert float(np.ravel(got.data)[0]) == 2.0, f"round({x}): {got!r}"


def test_numbers_need_no_numpy():
    code = (
        "import sys\n"
        "from gradcli.engine.ops.catalog import ops\n"
        "for n in 'add sub mul div pow maximum hypot atan2 xlogy logaddexp fmod'.split():\n"
        "    ops[n](1.5, 2.5)\n"
        "for n in 'exp log sin tanh sqrt sigmoid sinc abs floor isnan'.split():\n"
        "    ops[n](0.5)\n"
        "ops.clamp(1.0, None, 2.0)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
