"""Hooks of modules on the pass back run once for each pass through the module's results."""

import pytest

from gradcli.program import load

MODULES = {
    "Tanh": "torch.nn.Tanh()(x)",
    "MSELoss": "torch.nn.MSELoss()(x, torch.zeros(2))",
    "Linear": "torch.nn.Linear(2, 1)(x)",
    "Sequential": "torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())(x)",
}
BEFORE = """
import torch
torch.manual_seed(3)
x = torch.tensor([0.5, 0.25], requires_grad=True)
log = []
module = {0}
module.register_full_backward_hook(lambda m, inputs, outputs: log.append(len(inputs)))
y = module({1}).sum()
"""


def printed(name, rest):
    made, _, given = MODULES[name].rpartition(")(")
    return load(BEFORE.format(f"{made})", given[:-1]) + rest).run().printed


@pytest.mark.parametrize("name", MODULES)
def test_a_derivative_of_the_gradient_does_not_run_the_hook(name):
    rest = "g, = torch.autograd.grad(y, x, create_graph=True)\nbefore = len(log)\n"
    rest += "if g.requires_grad:\n    (g ** 2).sum().backward()\nprint(before, len(log))"
    assert printed(name, rest) == ("1 1",)


@pytest.mark.parametrize("name", MODULES)
def test_each_pass_runs_the_hook_again(name):
    rest = "for i in range(3):\n    y.backward(retain_graph=True)\nprint(len(log))"
    assert printed(name, rest) == ("3",)


@pytest.mark.parametrize("name", MODULES)
def test_a_second_derivative_is_that_without_the_hook(name):
    rest = "g, = torch.autograd.grad(y, x, create_graph=True)\n"
    rest += "print(torch.autograd.grad((g ** 2).sum() + y ** 2, x)[0].tolist())"
    with_hook = printed(name, rest)
    made, _, given = MODULES[name].rpartition(")(")
    text = BEFORE.format(f"{made})", given[:-1])
    without = "\n".join(line for line in text.splitlines() if "register" not in line)
    assert load(f"{without}\n{rest}").run().printed == with_hook
