"""Conversions between dtypes are PyTorch's: the dtype, whether it is the same tensor or memory."""

import pytest

from gradcli.program import load

X = """
import torch
x = torch.tensor([1.5, 2.5], dtype=torch.float64)
o = torch.zeros(1, dtype=torch.int64)
"""
CONVERSIONS = {  # recorded from PyTorch 2.13
    "x.to(o)": "(torch.int64, False, False, [1, 2])",
    "x.to(x)": "(torch.float64, True, True, [1.5, 2.5])",
    "x.to(torch.float32)": "(torch.float32, False, False, [1.5, 2.5])",
    "x.to(torch.float64)": "(torch.float64, True, True, [1.5, 2.5])",
    'x.to("cpu")': "(torch.float64, True, True, [1.5, 2.5])",
    'x.to("cpu", torch.int64)': "(torch.int64, False, False, [1, 2])",
    'x.to("cpu", dtype=torch.int64)': "(torch.int64, False, False, [1, 2])",
    'x.to(device="cpu", dtype=torch.int64)': "(torch.int64, False, False, [1, 2])",
    "x.to(dtype=torch.int64)": "(torch.int64, False, False, [1, 2])",
    'x.to(torch.device("cpu"))': "(torch.float64, True, True, [1.5, 2.5])",
    'x.to(torch.device("cpu"), torch.float32)': "(torch.float32, False, False, [1.5, 2.5])",
    'x.to(device=torch.device("cpu"))': "(torch.float64, True, True, [1.5, 2.5])",
    "x.to(torch.float32, True)": "(torch.float32, False, False, [1.5, 2.5])",
    "x.to(torch.float32, False, True)": "(torch.float32, False, False, [1.5, 2.5])",
    "x.to(torch.float64, copy=True)": "(torch.float64, False, False, [1.5, 2.5])",
    "x.to(torch.float64, False, True)": "(torch.float64, False, False, [1.5, 2.5])",
    'x.to("cpu", copy=True)': "(torch.float64, False, False, [1.5, 2.5])",
    'x.to("cpu", torch.float64, False, True)': "(torch.float64, False, False, [1.5, 2.5])",
    "x.to(o, copy=True)": "(torch.int64, False, False, [1, 2])",
    "x.to(x, copy=True)": "(torch.float64, False, False, [1.5, 2.5])",
    "x.to(x, True, True)": "(torch.float64, False, False, [1.5, 2.5])",
    "x.to(copy=True)": "(torch.float64, False, False, [1.5, 2.5])",
    "x.to()": "(torch.float64, True, True, [1.5, 2.5])",
    "x.to(other=o)": "TypeError",
    "x.to(None)": "(torch.float64, True, True, [1.5, 2.5])",
    "x.to(None, torch.int64)": "(torch.int64, False, False, [1, 2])",
    "x.to(device=None, dtype=torch.int64)": "(torch.int64, False, False, [1, 2])",
    "x.to(torch.float32, non_blocking=True)": "(torch.float32, False, False, [1.5, 2.5])",
    'x.to("cpu", non_blocking=True)': "(torch.float64, True, True, [1.5, 2.5])",
    'x.to("abc")': "RuntimeError",
    "x.to([1])": "TypeError",
    'x.to(torch.float32, "cpu")': "TypeError",
    'x.to("float32")': "RuntimeError",
    "x.to(int)": "(torch.int64, False, False, [1, 2])",
    "x.to(float)": "(torch.float64, True, True, [1.5, 2.5])",
    "x.type_as(o)": "(torch.int64, False, False, [1, 2])",
    "x.type_as(x)": "(torch.float64, True, True, [1.5, 2.5])",
    "x.type(torch.int64)": "(torch.int64, False, False, [1, 2])",
    "x.type(torch.float64)": "(torch.float64, True, True, [1.5, 2.5])",
    'x.type("torch.LongTensor")': "(torch.int64, False, False, [1, 2])",
    'x.type("torch.DoubleTensor")': "(torch.float64, True, True, [1.5, 2.5])",
    "x.type(torch.LongTensor)": "(torch.int64, False, False, [1, 2])",
    "x.type()": "torch.DoubleTensor",
    "x.type(dtype=torch.int64)": "(torch.int64, False, False, [1, 2])",
    "x.cpu()": "(torch.float64, True, True, [1.5, 2.5])",
    "x.int()": "(torch.int32, False, False, [1, 2])",
    "x.long()": "(torch.int64, False, False, [1, 2])",
    "x.double()": "(torch.float64, True, True, [1.5, 2.5])",
    "x.to(o).to(x)": "(torch.float64, False, False, [1.0, 2.0])",
    "o.to(x)": "(torch.float64, False, False, [0.0])",
    "o.type_as(x)": "(torch.float64, False, False, [0.0])",
    "x.to(torch.tensor(True))": "(torch.bool, False, False, [True, True])",
    "x.to(torch.tensor(1))": "(torch.int64, False, False, [1, 2])",
    "x.to(torch.tensor(1.0, dtype=torch.float32))": "(torch.float32, False, False, [1.5, 2.5])",
    "x.to(device=o)": "TypeError",
    "x.to(dtype=o)": "TypeError",
    "x.to(bool)": "(torch.bool, False, False, [True, True])",
    "x.to(torch.bool, copy=True)": "(torch.bool, False, False, [True, True])",
}


def _printed(program):
    return list(load(X + program).run().printed)


@pytest.mark.parametrize("expression", CONVERSIONS)
def test_a_conversion_is_pytorch_s(expression):
    program = f"""
try:
    r = {expression}
    if type(r) == str: print(r)
    else: print((r.dtype, r is x, r.data_ptr() == x.data_ptr(), r.tolist()))
except Exception as e:
    print(type(e).__name__)
"""
    assert _printed(program) == [CONVERSIONS[expression]]


DTYPES = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_way_to_a_dtype_gives_it(dtype):
    ways = (
        *(f"x.to(torch.{dtype})", f"x.to('cpu', torch.{dtype})", f"x.to(dtype=torch.{dtype})"),
        *("x.to(other)", "x.to(other, copy=True)", "x.type_as(other)", f"x.type(torch.{dtype})"),
        *("x.type(other.type())", f"x.astype(torch.{dtype})", f"x.to(torch.{dtype}).clone()"),
    )
    program = (
        f"other = torch.ones(3).to(torch.{dtype})\nprint({', '.join(f'{w}.dtype' for w in ways)})"
    )
    assert _printed(program) == [" ".join([f"torch.{dtype}"] * len(ways))]


def test_a_derivative_goes_through_a_conversion():
    program = (
        "w = torch.tensor(3., dtype=torch.float32, requires_grad=True)\n(2 * w.to(x)).backward()"
    )
    assert _printed(f"{program}\nprint(w.grad, w.to(x).dtype)") == [
        "tensor(2., dtype=torch.float32) torch.float64"
    ]


def test_a_copy_by_numpy_s_name_is_a_copy():
    program = "y = x.astype(float)\ny[0] = 9\nz = x.astype(float, copy=False)\nprint(x, z is x)"
    assert _printed(program) == ["tensor([1.5000, 2.5000]) True"]


def test_a_module_takes_a_dtype():
    program = "m = torch.nn.Linear(2, 1)\nm.to('cpu')\nm.to(torch.float32)\n"
    shown = "print(m.weight.dtype, m.bias.dtype, m.weight.is_leaf, m.double().weight.dtype)"
    assert _printed(program + shown) == ["torch.float32 torch.float32 True torch.float64"]


def test_the_name_of_a_dtype_is_no_device():
    with pytest.raises(Exception, match="the only device"):
        load(X + 'x.to("float32")').run()
