"""Transforms of functions of several arguments and results, in the forms that PyTorch gives them."""

import math

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

BEFORE = """
a = tensor([1.0, 2.0])
b = tensor(3.0)
w = tensor([1.0, 2.0], requires_grad=True)
def one(x): return (x ** 2).sum()
def two(x, y): return (x ** 2).sum() * y
def vector(x): return x ** 2
def pair(x): return x ** 2, x.sum()
def pairs(x, y): return x ** 2 * y, x.sum() + y
def tree(p): return (p[0] ** 2).sum() * p[1]
def constant(x): return ones(2)
def half(x, y): return x * 2
"""
AF = "torch.autograd.functional."
TF = "torch.func."

PRINTS = {  # recorded from PyTorch 2.13, of which this is the text
    f"{AF}vjp(one, a)": "(tensor(5.), tensor([2., 4.]))",
    f"{AF}vjp(two, (a, b))": "(tensor(15.), (tensor([ 6., 12.]), tensor(5.)))",
    f"{AF}vjp(vector, a, a)": "(tensor([1., 4.]), tensor([2., 8.]))",
    f"{AF}vjp(pairs, (a, b), (a, b))": "((tensor([ 3., 12.]), tensor(6.)), "
    "(tensor([ 9., 27.]), tensor(12.)))",
    f"{AF}vjp(constant, a, a)": "(tensor([1., 1.]), tensor([0., 0.]))",
    f"{AF}vjp(one, w)": "(tensor(5.), tensor([2., 4.]))",
    f"{AF}jvp(vector, a, a)": "(tensor([1., 4.]), tensor([2., 8.]))",
    f"{AF}jvp(vector, b)": "(tensor(9.), tensor(6.))",
    f"{AF}jvp(two, (a, b), (a, b))": "(tensor(15.), tensor(45.))",
    f"{AF}jvp(pair, a, a)": "((tensor([1., 4.]), tensor(3.)), (tensor([2., 8.]), tensor(3.)))",
    f"{AF}jvp(constant, a, a)": "(tensor([1., 1.]), tensor([0., 0.]))",
    f"{AF}hvp(one, a, a)": "(tensor(5.), tensor([2., 4.]))",
    f"{AF}hvp(two, (a, b), (a, b))": "(tensor(15.), (tensor([12., 24.]), tensor(10.)))",
    f"{AF}hvp(vector, b)": "(tensor(9.), tensor(2.))",
    f"{AF}vhp(two, (a, b), (a, b))": "(tensor(15.), (tensor([12., 24.]), tensor(10.)))",
    f"{AF}hessian(two, (a, b))": "((tensor([[6., 0.],\n        [0., 6.]]), tensor([2., 4.])), "
    "(tensor([2., 4.]), tensor(0.)))",
    f"{AF}hessian(one, (a,))": "((tensor([[2., 0.],\n        [0., 2.]]),),)",
    f"{AF}hessian(lambda x: x.sum(), a)": "tensor([[0., 0.],\n        [0., 0.]])",
    f"{AF}jacobian(vector, b)": "tensor(6.)",
    f"{AF}jacobian(two, (a, b))": "(tensor([ 6., 12.]), tensor(5.))",
    f"{AF}jacobian(pairs, (a, b))": "((tensor([[ 6.,  0.],\n        [ 0., 12.]]), "
    "tensor([1., 4.])), (tensor([1., 1.]), tensor(1.)))",
    f"{AF}jacobian(pair, a)": "(tensor([[2., 0.],\n        [0., 4.]]), tensor([1., 1.]))",
    f"{AF}jacobian(vector, w)": "tensor([[2., 0.],\n        [0., 4.]])",
    f"{AF}jacobian(vector, a, vectorize=True, strategy='forward-mode')": "tensor([[2., 0.],\n"
    "        [0., 4.]])",
    f"{TF}grad(tree)((a, b))": "(tensor([ 6., 12.]), tensor(5.))",
    f"{TF}grad(tree)([a, b])": "[tensor([ 6., 12.]), tensor(5.)]",
    f"{TF}grad(lambda p: (p[0][0] ** 2).sum() * p[1])(([a], b))": "([tensor([ 6., 12.])], "
    "tensor(5.))",
    f"{TF}grad(two, (0, 1))(a, b)": "(tensor([ 6., 12.]), tensor(5.))",
    f"{TF}grad(two, -1)(a, b)": "tensor(5.)",
    f"{TF}grad(two)(a, y=b)": "tensor([ 6., 12.])",
    f"{TF}grad_and_value(one)(a)": "(tensor([2., 4.]), tensor(5.))",
    f"{TF}jvp(pair, (a,), (a,))": "((tensor([1., 4.]), tensor(3.)), (tensor([2., 8.]), tensor(3.)))",
    f"{TF}jvp(lambda p: p[0] * p[1], ((a, b),), ((a, b),))": "(tensor([3., 6.]), "
    "tensor([ 6., 12.]))",
    f"{TF}vjp(vector, a)[1](a)": "(tensor([2., 8.]),)",
    f"{TF}vjp(pair, a)[1]((a, b))": "(tensor([ 5., 11.]),)",
    f"{TF}vjp(lambda p: p[0] * p[1], (a, b))[1](a)": "((tensor([3., 6.]), tensor(5.)),)",
    f"{TF}jacrev(pair)(a)": "(tensor([[2., 0.],\n        [0., 4.]]), tensor([1., 1.]))",
    f"{TF}jacrev(pairs, 1)(a, b)": "(tensor([1., 4.]), tensor(1.))",
    f"{TF}jacrev(lambda p: p[0] * p[1])((a, b))": "(tensor([[3., 0.],\n        [0., 3.]]), "
    "tensor([1., 2.]))",
    f"{TF}jacfwd(pairs, (0, 1))(a, b)": "((tensor([[ 6.,  0.],\n        [ 0., 12.]]), "
    "tensor([1., 4.])), (tensor([1., 1.]), tensor(1.)))",
    f"{TF}hessian(two, (0, 1))(a, b)": "((tensor([[6., 0.],\n        [0., 6.]]), "
    "tensor([2., 4.])), (tensor([2., 4.]), tensor(0.)))",
    f"{TF}hessian(tree)((a, b))": "((tensor([[6., 0.],\n        [0., 6.]]), tensor([2., 4.])), "
    "(tensor([2., 4.]), tensor(0.)))",
    f"{TF}hessian(vector)(a)": "tensor([[[2., 0.],\n         [0., 0.]],\n\n        [[0., 0.],\n"
    "         [0., 2.]]])",
}


@pytest.mark.parametrize("text", PRINTS)
def test_the_form_is_that_of_pytorch(text):
    assert "\n".join(load(f"{BEFORE}print({text})").run().printed) == PRINTS[text]


@pytest.mark.parametrize(
    "call",
    [
        "vjp(one, w, create_graph=True)[1]",
        "jacobian(vector, w, create_graph=True)",
        "hessian(lambda x: (x ** 3).sum(), w, create_graph=True)",
        "hvp(lambda x: (x ** 3).sum(), w, a, create_graph=True)[1]",
        "jvp(vector, w, a, create_graph=True)[1]",
    ],
)
def test_create_graph_records_and_its_absence_does_not(call):
    recorded = load(f"{BEFORE}d = {AF}{call}\nd.sum().backward()\nprint(w.grad)").run()
    assert recorded.printed != ("None",)
    plain = call.replace(", create_graph=True", "")
    assert load(f"{BEFORE}print({AF}{plain}.requires_grad)").run().printed == ("False",)


QUESTIONS = {
    "vjp": "vjp(vector, {0}, a{1})[1]",
    "jvp": "jvp(vector, {0}, a{1})[1]",
    "hvp": "hvp(lambda x: (x ** 3).sum(), {0}, a{1})[1]",
    "vhp": "vhp(lambda x: (x ** 3).sum(), {0}, a{1})[1]",
    "jacobian": "jacobian(vector, {0}{1})",
    "hessian": "hessian(lambda x: (x ** 3).sum(), {0}{1})",
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("mode", ["no_grad", "enable_grad"])
@pytest.mark.parametrize("at", ["a", "w"])
def test_create_graph_alone_decides_whether_the_result_has_a_history(name, mode, at):
    for option, has in (("", False), (", create_graph=True", True)):
        call = AF + QUESTIONS[name].format(at, option)
        text = f"{BEFORE}with {mode}():\n    d = {call}\nprint(d.requires_grad, d.sum().item())"
        plain = AF + QUESTIONS[name].format("a", "")
        value = load(f"{BEFORE}print({plain}.sum().item())").run().printed[0]
        assert load(text).run().printed == (f"{has} {value}",)


def test_a_graph_of_inputs_that_are_no_leaves_is_differentiated_without_a_trace():
    text = f"{BEFORE}d = {AF}jacobian(vector, a, create_graph=True)\nd.sum().backward()"
    assert load(f"{text}\nprint(a.grad, a.requires_grad)").run().printed == ("None False",)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("vjp(lambda x: (x, 'text'), a)", "TypeError"),
        ("jacobian(lambda x: (x, 'text'), a)", "TypeError"),
        ("hessian(lambda x: 'text', a)", "TypeError"),
        ("vjp(vector, a, (a, a))", "RuntimeError"),
        ("vjp(pair, a, (a,))", "RuntimeError"),
        ("jvp(vector, a, (a, a))", "RuntimeError"),
        ("hvp(one, a, (a, a))", "RuntimeError"),
        ("vjp(vector, a, b)", "RuntimeError"),
        ("jacobian(vector, a, strict=True, vectorize=True)", "RuntimeError"),
        ("hessian(one, a, strict=True, vectorize=True)", "RuntimeError"),
        ("vjp(lambda x: x.clone(), a, a, create_graph=True, strict=True)", "RuntimeError"),
        ("jvp(lambda x: x * 2, a, a, create_graph=True, strict=True)", "RuntimeError"),
        ("jacobian(lambda x: x.clone(), a, create_graph=True, strict=True)", "RuntimeError"),
    ],
)
def test_a_handler_sees_the_exception_that_pytorch_raises(call, kind):
    text = f"{BEFORE}try:\n    {AF}{call}\nexcept {kind}:\n    print('caught')"
    assert load(text).run().printed == ("caught",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("jvp(vector, a, a, create_graph=True, strict=True)[1]", "tensor([2., 8.], grad"),
        ("vjp(vector, a, a, create_graph=True, strict=True)[1]", "tensor([2., 8.], grad"),
    ],
)
def test_strict_gives_what_depends(call, message):
    assert load(f"{BEFORE}print({AF}{call})").run().printed[0].startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("vjp(half, (a, b), a, strict=True)", "no result of the function depends on input 1"),
        ("jvp(constant, a, a, strict=True)", "result 0 of the function depends on no input"),
        ("jacobian(half, (a, b), strict=True)", "result 0 of the function does not depend on inp"),
        ("hessian(lambda x: x.sum(), a, strict=True)", "result 0 of the function does not depend"),
        ("hvp(lambda x, y: (x ** 2).sum(), (a, b), (a, b), strict=True)", "result 2 of the"),
    ],
)
def test_strict_refuses_what_does_not_depend(call, message):
    with pytest.raises(GradError) as caught:
        load(BEFORE + AF + call).run()
    assert caught.value.diagnostics[0].message.startswith(message)


@pytest.mark.parametrize("call", ["jvp(sin, 1.0, v)[1]", "vjp(sin, 1.0)[1](v)[0]"])
def test_a_product_is_differentiated_by_its_direction(call):
    program = load(f"input v = 2.0\n{call}")
    assert program.grad().grad["v"] == math.cos(1.0)
    assert program.gradcheck().passed


@pytest.mark.parametrize("transform", ["jacobian", "jacfwd", "jacrev"])
@pytest.mark.parametrize("argument", ["[x, y]", "(x, y)"])
def test_a_recorded_jacobian_by_several_tensors(transform, argument):
    text = "input x = tensor([1.0, 2.0])\ninput y = tensor(3.0)\nf = lambda v: v[0] ** 2 * v[1]\n"
    text += f"J = {transform}(f)({argument})\n(J[0] ** 2).sum() + J[1].sum()"
    program = load(text)
    found = program.grad().grad
    assert found["x"].tolist() == [72.0 + 2.0, 144.0 + 4.0]
    assert found["y"] == 2 * 3.0 * (4.0 + 16.0)


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("at", ["a", "w", "w * 2"])
@pytest.mark.parametrize("option", ["", ", create_graph=True"])
def test_the_compiler_shows_the_same_history(name, at, option):
    call = AF + QUESTIONS[name].format(at, option)
    text = (
        f"{BEFORE}s = 0.0\nfor i in range(30):\n    s = s + {call}.sum()\nprint(s.requires_grad)\ns"
    )
    found = [load(text).run(options=Options(compile=how)) for how in ("auto", "never")]
    assert found[0].printed == found[1].printed
    assert found[0].result == found[1].result
