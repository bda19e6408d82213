"""The method `vjp` of an own function is its `backward` by another name."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load

RULE = """
import torch
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x ** 2 * factor
    @staticmethod
    def {0}(ctx, g):
        x, = ctx.saved_tensors
        return 3 * x * ctx.factor * g, None
    @staticmethod
    def jvp(ctx, dx, _):
        x, = ctx.saved_tensors
        return 3 * x * ctx.factor * dx
input x = tensor([1.0, 2.0])
"""
USES = {
    "once": "Scaled.apply(x, 2.0).sum()",
    "in a loop": "s = 0.0\nfor i in range(40):\n    s = s + Scaled.apply(x, 2.0).sum()\ns",
    "inherited": "class Other(Scaled):\n    pass\nOther.apply(x, 2.0).sum()",
    "overridden": "class Other(Scaled):\n    @staticmethod\n    def vjp(ctx, g):\n"
    "        return 7 * g, None\nOther.apply(x, 2.0).sum()",
}


@pytest.mark.parametrize("use", USES)
def test_both_names_give_one_gradient(use):
    found = []
    for name in ("backward", "vjp"):
        text = RULE.format(name) + USES[use].replace("vjp", name)
        found.append(load(text).grad(wrt=("x",)).grad["x"].tolist())
    assert found[0] == found[1]
    first = {"in a loop": 240.0, "overridden": 7.0}.get(use, 6.0)
    assert found[0][0] == first


def test_both_names_in_one_class_are_refused():
    text = RULE.format("vjp").replace("jvp", "backward") + "Scaled.apply(x, 2.0).sum()"
    with pytest.raises(GradError) as caught:
        load(text)
    assert "two names of one method" in caught.value.diagnostics[0].message


def test_gradcheck_without_a_mode_is_refused():
    check = "torch.autograd.gradcheck(lambda x: x * 2, w, check_backward_ad=False)"
    text = "import torch\nw = torch.ones(2, requires_grad=True)\ntry:\n"
    text += f"    {check}\nexcept AssertionError as e:\n    print('refused')"
    assert load(text).run().printed == ("refused",)
