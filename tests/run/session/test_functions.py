"""Functions of the program that the engine calls, with wrong numbers and kinds of arguments and
results: an error at the place of the function.
"""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

RULE = """class F(Function):
    def forward(ctx, PARAMETERS): return x * 2
    def backward(ctx, g): return g * 2
F.apply(tensor(1.0, requires_grad=True))
"""
HOOK = "x = tensor([1.0], requires_grad=True)\nx.register_hook(FUNCTION)\n"

CALLS = {  # a call that gives its function one argument
    "grad": "grad(FUNCTION)(1.0)",
    "value_and_grad": "value_and_grad(FUNCTION)(1.0)",
    "grad_and_value": "grad_and_value(FUNCTION)(1.0)",
    "jacobian": "jacobian(FUNCTION)(1.0)",
    "jacobian at": "jacobian(FUNCTION, 1.0)",
    "jacrev": "jacrev(FUNCTION)(1.0)",
    "jacfwd": "jacfwd(FUNCTION)(1.0)",
    "hessian": "hessian(FUNCTION)(1.0)",
    "hessian at": "hessian(FUNCTION, 1.0)",
    "func.hessian": "torch.func.hessian(FUNCTION)(1.0)",
    "hvp": "hvp(FUNCTION, 1.0, 1.0)",
    "jvp": "jvp(FUNCTION, (1.0,), (1.0,))",
    "vjp": "vjp(FUNCTION, 1.0)",
    "functional.jacobian": "torch.autograd.functional.jacobian(FUNCTION, 1.0)",
    "functional.hessian": "torch.autograd.functional.hessian(FUNCTION, 1.0)",
    "functional.vjp": "torch.autograd.functional.vjp(FUNCTION, 1.0)",
    "functional.jvp": "torch.autograd.functional.jvp(FUNCTION, 1.0)",
    "functional.hvp": "torch.autograd.functional.hvp(FUNCTION, 1.0)",
    "functional.vhp": "torch.autograd.functional.vhp(FUNCTION, 1.0)",
    "nested": "grad(grad(FUNCTION))(1.0)",
    "a hook": HOOK + "x.sum().backward()",
    "a hook in a recorded pass": HOOK + "x.sum().backward(create_graph=True)",
    "a hook in `grad`": HOOK + "torch.autograd.grad(x.sum(), x)",
}
FUNCTIONS = {
    "lambda: 1.0": "takes 0 arguments, and `",
    "lambda x, y: x": "takes 2 arguments, and `",
    "lambda x, y, z=1.0: x": "takes 2 to 3 arguments, and `",
    "lambda x: 'a'": "returned a string",
    "lambda x: sin": "returned a function",
}


def refused(text):
    with pytest.raises(GradError) as caught:
        load(text).run()
    (found,) = caught.value.diagnostics
    return found


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_a_wrong_function_is_refused_at_its_place(call):
    for function, message in FUNCTIONS.items():
        text = call.replace("FUNCTION", function)
        found = refused(text)
        assert message in found.message
        assert found.source.text[found.span.start : found.span.end] == function
        line = text.count("\n") + 1
        assert found.notes == (f"called from line {line}",)
    assert refused(call.replace("FUNCTION", "None")).code in ("not-callable", "wrong-arity")
    assert refused(call.replace("FUNCTION", "atan2")).code == "wrong-arity"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("PARAMETERS", "x, y", "`forward` of `F` takes 2 arguments behind `ctx`, and gets 1"),
        ("return x * 2", "return 'a'", "`forward` of `F` returns a string, not a tensor or number"),
        ("ctx, g", "ctx, g, h", "`backward` of `F` takes 2 arguments behind `ctx`, and gets 1"),
        ("return g * 2", "return g, g", "`backward` of `F` returns 2 gradients, and"),
        ("return g * 2", "return 'a'", "`backward` of `F` returns a string as gradient 0"),
    ],
)
def test_a_wrong_rule_is_refused_at_its_place(old, new, message):
    text = RULE.replace(old, new).replace("PARAMETERS", "x").rstrip() + ".backward()\n"
    found = refused(text)
    assert found.message.startswith(message)
    assert found.code == "wrong-rule"
    assert found.place[1] == (2 if "`forward` of" in message else 3)


WRONG = {
    "F.apply(x=1.0)": "`apply` takes no arguments by name",
    "jvp(sin, 1.0, sin)": "a tangent must be a number or tensor, got a function",
    "jvp(sin, 1.0, 'a')": "a tangent must be a number or tensor, got a string",
    "jvp(sin, 1.0, ones(2))": "a tangent of shape [2] for a value of shape []",
    "jvp(sin, (1.0, 2.0), (1.0,))": "1 tangents are given for 2 primals",
    "jvp(lambda p: p[0], ((1.0, 2.0),), (1.0,))": "a number given for 2 values",
    "vjp(sin, 1.0)[1](sin)": "a cotangent must be a number or tensor, got a function",
    "vjp(sin, 1.0)[1]()": "what `vjp` returns takes 1 argument, the cotangent, got 0",
    "vjp(sin, 1.0)[1](1.0, 2.0)": "what `vjp` returns takes 1 argument, the cotangent, got 2",
    "vjp(lambda x: (x, x), 1.0)[1](1.0)": "a number given for 2 values",
    "vjp(lambda x: (x, x), 1.0)[1]((1.0,))": "1 given for 2 values",
    "grad(sin, 'a')(1.0)": "an argument has an int as its number, got a string",
    "grad(sin, (0, 0.5))(1.0)": "an argument has an int as its number, got a number",
    "grad(sin, 1)(1.0)": "there is no argument 1: 1 are given",
    "grad(sin, -2)(1.0)": "there is no argument -2: 1 are given",
    "grad(sin)()": "there is no argument 0: 0 are given",
    "grad(sin)(None)": "None cannot be differentiated by",
    "grad(lambda x, y: x)(1.0, z=2.0)": "`<lambda>` has no parameter `z` for an argument by name",
    "grad(lambda x: (x, x))(1.0)": "the function must return one number, it returned a tuple",
    "hvp(sin, 1.0, 'a')": "a tangent must be a number or tensor, got a string",
    "hvp(sin, (1.0,), 1.0)": "1 given as direction of 1 inputs",
    "torch.autograd.functional.jvp(sum, ones(2))": "the direction may be left out only for one",
    "torch.autograd.functional.vjp(sin, ones(2))": "`vjp` of a value of shape [2] needs a gradient",
    "torch.autograd.functional.jacobian(sin, 1.0, strategy='a')": "a strategy is 'reverse-mode'",
}


@pytest.mark.parametrize("call", WRONG)
def test_a_wrong_call_is_refused(call):
    text = RULE.replace("PARAMETERS", "x") + call
    assert refused(text).message.startswith(WRONG[call])


def test_a_function_of_the_context_is_called_as_any_other():
    text = RULE.replace("PARAMETERS", "x").replace("return x * 2", "ctx.f = lambda a, b=1: a * b")
    text = text.replace("ctx.f", "\n        ctx.f").replace(
        "a * b\n", "a * b\n        return ctx.f(x, b=2)\n"
    )
    assert load(text).run().result == 2.0
    found = refused(text.replace("ctx.f(x, b=2)", "ctx.f(x, c=2)"))
    assert found.message.startswith("`<lambda>` has no parameter `c` for an argument by name")
