"""Checks of derivatives that a program makes: which element is told, and what is compared."""

import operator
from ast import literal_eval

import pytest

from gradcli.errors import GradError
from gradcli.program import load

OWN = """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * tensor([2.0, 100.0, 2.0]), a * 3
    @staticmethod
    def backward(ctx, g, h): return g * tensor([2.0, 100.0, {rule}]) + h * 3
x = tensor([1.0, 2.0, 3.0], requires_grad=True)
n = tensor([1, 2])
"""
SQUARE = "x = tensor([1.0, 2.0], requires_grad=True)\nf = lambda a: a * a\n"


def result(text):
    return (
        load(f"import torch\nfrom torch.autograd import gradcheck, gradgradcheck\n{text}")
        .run()
        .result
    )


def refused(text):
    with pytest.raises(GradError) as error:
        result(text)
    return error.value.diagnostics[0]


def test_the_element_that_differs_most_is_told():
    found = refused(OWN.format(rule=5.0) + "gradcheck(lambda n, a: F.apply(a), (n, x))")
    assert (found.code, found.message) == (
        "wrong-derivative",
        "reverse mode gives 5 as the derivative of output 0 by input 1 at element 2, differences "
        "give 2",
    )
    assert result(OWN.format(rule=2.0) + "gradcheck(lambda n, a: F.apply(a), (n, x))") is True


@pytest.mark.parametrize("flag", ["raise_exception=False", "raise_exception=True", ""])
def test_an_answer_is_given_instead_of_an_error_if_it_is_asked_for(flag):
    text = OWN.format(rule=5.0) + f"gradcheck(lambda a: F.apply(a), x, {flag})"
    if "False" in flag:
        assert result(text) is False
    else:
        assert refused(text).code == "wrong-derivative"
    other = "gradcheck(lambda a: a @ ones(5), x, raise_exception=False)"
    assert refused(OWN.format(rule=2.0) + other).code == "shape-mismatch"


@pytest.mark.parametrize(
    ("difference", "options", "same"),
    [
        (0.0005, "", True),
        (0.01, "", False),
        (0.01, "rtol=0.01", True),
        (0.01, "atol=0.02", True),
        (0.01, "atol=0.001", False),
        (0.0005, "rtol=0.0", False),
        (0.0005, "rtol=0.0, atol=0.001", True),
    ],
)
def test_derivatives_are_the_same_within_the_tolerances(difference, options, same):
    text = OWN.format(rule=2.0 + difference)
    call = f"gradcheck(lambda a: F.apply(a), x, raise_exception=False, {options})"
    assert result(text + call) is same


def test_two_passes_must_agree():
    text = (
        "l = []\nclass F(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, a): return a * 2\n    @staticmethod\n"
        "    def backward(ctx, g):\n        l.append(1)\n        return g * (2 + len(l) * 1e-7)\n"
        "x = tensor(1.0, requires_grad=True)\n"
    )
    found = refused(f"{text}gradcheck(lambda a: F.apply(a), x)")
    assert found.message == (
        "two passes give two derivatives: they differ by more than `nondet_tol`"
    )
    assert result(f"{text}gradcheck(lambda a: F.apply(a), x, nondet_tol=1e-5)") is True


@pytest.mark.parametrize(
    "weights",
    ["", ", ones(2)", ", (ones(2),)", ", [ones(2)]", ", tensor([0.5, -1.0])"],
)
def test_second_derivatives_are_checked_with_any_cotangents(weights):
    assert result(f"{SQUARE}gradgradcheck(f, x{weights})") is True
    assert result(f"{SQUARE}gradgradcheck(f, (x,){weights})") is True


def test_second_derivatives_of_a_rule_that_is_wrong():
    text = """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a
    @staticmethod
    def backward(ctx, g):
        a, = ctx.saved_tensors
        return g * 2 * a.detach()
x = tensor([1.0, 2.0], requires_grad=True)
"""
    assert result(f"{text}gradcheck(lambda a: F.apply(a), x)") is True
    found = refused(f"{text}gradgradcheck(lambda a: F.apply(a), x)")
    assert found.message.startswith("reverse mode gives 0 as the derivative of output 0 by input 0")
    assert result(f"{text}gradgradcheck(lambda a: F.apply(a), x, raise_exception=False)") is False


BOTH = """
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * 2
    @staticmethod
    def backward(ctx, g): return g * {rev}
    @staticmethod
    def jvp(ctx, t): return t * {fwd}
x = tensor([1.0, 2.0], requires_grad=True)
"""


@pytest.mark.parametrize("wrong", ["rev", "fwd"])
@pytest.mark.parametrize(
    ("call", "compared"),
    [
        ("check_grads(F.apply, (x,), 1)", "rev fwd"),
        ("check_grads(F.apply, (x,), 1, ['rev'])", "rev"),
        ("check_grads(F.apply, (x,), 1, modes=['fwd'])", "fwd"),
        ("check_grads(F.apply, (x,), 1, modes=['fwd', 'rev'])", "rev fwd"),
        ("gradcheck(F.apply, x)", "rev"),
        ("gradcheck(F.apply, x, check_forward_ad=True)", "rev fwd"),
        ("gradcheck(F.apply, x, check_forward_ad=True, check_backward_ad=False)", "fwd"),
    ],
)
def test_the_modes_that_are_asked_for_are_compared(call, compared, wrong):
    head = "import jax\nfrom jax.test_util import check_grads\n"
    factors = {"rev": 2.0, "fwd": 2.0}
    assert result(f"{head}{BOTH.format(**factors)}{call}") in (True, None)
    factors[wrong] = 3.0
    text = f"{head}{BOTH.format(**factors)}{call}"
    if wrong in compared:
        name = {"rev": "reverse", "fwd": "forward"}[wrong]
        message = f"{name} mode gives 3 as the derivative of output 0 by input 0 at element 0"
        assert message in refused(text).message
    else:
        assert result(text) in (True, None)


AUTOGRAD = """
import operator, os
import autograd.numpy as np
from autograd import grad, make_ggnvp, tensor_jacobian_product, value_and_grad
from autograd.extend import defvjp, primitive
from autograd.test_util import check_grads
from autograd.util import quick_grad_check
from pytest import raises
half = primitive(lambda x: 0.5 * x)
wrong = primitive(lambda x: 0.5 * x)
defvjp(wrong, lambda ans, x: lambda g: g * 0.5001)
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grad(lambda x: np.sum(np.array((x, x * x))))(5.0)", 11.0),
        ("grad(grad(lambda x: np.sum(np.array([(x, x ** 3), (x, x)]))))(2.0)", 12.0),
        ("value_and_grad(lambda a, b: a * b ** 2, argnum=[1, 0])(2.0, 3.0)", [18.0, [12.0, 9.0]]),
        (
            "str(make_ggnvp(lambda x: 3.0 * x)(np.array([1.0, 2.0]))(np.array([1.0, 0.0])).tolist())",
            "[9.0, 0.0]",
        ),
        (
            "str(tensor_jacobian_product(lambda a: a * a)(np.array([1.0, 2.0]), np.ones(2)).tolist())",
            "[2.0, 4.0]",
        ),
        (
            "str([bool(np.angle(2.0) == 0), np.real(3.0), np.isrealobj(2.0), np.iscomplex(2.0)])",
            "[True, 3.0, True, False]",
        ),
        (
            "str(np.imag(np.array([-1.0, np.inf, np.nan])).tolist() + [np.imag(-2.0)])",
            "[0.0, 0.0, 0.0, 0.0]",
        ),
        ("grad(lambda x: x ** 2 + np.imag(x))(3.0)", 6.0),
        ("operator.itemgetter(0, 2)([5, 6, 7])", [5, 7]),
        ("os.environ.get('HOME', 'none')", "none"),
        ("check_grads(lambda d, x: d.get('a', x) ** 2, argnum=(0, 1))({}, 2.0)", None),
        ("quick_grad_check(lambda x, y: x ** 2 + y, 1.0, (2.0,), verbose=False)", None),
    ],
)
def test_autograds_names(text, expected):
    assert result(AUTOGRAD + text) == expected


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("NotImplementedError", "grad(half)(1.0)"),
        ("AssertionError", "check_grads(wrong, modes=['rev'])(1.0)"),
        ("TypeError", "grad(lambda x: np.allclose(x, 2.0))(np.array([1.0, 2.0]))"),
    ],
)
def test_what_autograd_refuses_is_raised_as_there(kind, text):
    assert result(f"{AUTOGRAD}with raises({kind}):\n    {text}\n1") == 1
    assert refused(f"{AUTOGRAD}with raises({kind}):\n    pass\n1").code == "assertion-failed"


OPERATORS = {
    "abs neg pos invert not_ truth": ["(-3,)", "(0,)"],
    "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor lt le eq ne ge gt is_ is_not": [
        "(7, 2)",
        "(2, 2)",
    ],
    "contains": ["([1, 2], 2)"],
    "getitem": ["([1, 2], 0)"],
}


@pytest.mark.parametrize(
    ("name", "args"),
    [(name, args) for names, rows in OPERATORS.items() for name in names.split() for args in rows],
)
def test_operators_as_functions_are_pythons(name, args):
    expected = getattr(operator, name)(*literal_eval(args))
    text = f"import operator\nprint(repr(operator.{name}{args}))"
    assert [*load(text).run().printed] == [repr(expected)]


def test_functions_of_names_and_items():
    text = """import operator
class A:
    pass
a, b = [3, 1, 2], A()
b.c = A()
b.c.d = 5
operator.setitem(a, 0, 9)
print(a, operator.attrgetter('c.d')(b), operator.itemgetter(1)(a))
"""
    assert [*load(text).run().printed] == ["[9, 1, 2] 5 1"]
