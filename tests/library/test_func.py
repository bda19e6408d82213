"""Modules as functions of their parameters, and hooks of their calls: what PyTorch gives."""

import json

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

NET = """
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap, grad
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
params = {k: torch.ones_like(v) * 0.5 for k, v in net.named_parameters()}
x = torch.tensor([[1.0, 2.0], [0.5, -1.0]])
"""
OUT = [[1.9460413701137254], [0.8673779936055637]]
ROW = [0.035325412426582214, 0.07065082485316443]
CASES = {
    "functional_call(net, params, (x,)).tolist()": OUT,
    "functional_call(net, (params, {}), x).tolist()": OUT,
    "grad(lambda p: (functional_call(net, p, (x,)) ** 2).sum())(params)['2.bias'].tolist()": [
        5.626838727438578
    ],
    "vmap(grad(lambda p, x: functional_call(net, p, x).sum()), (None, 0))(params, x)"
    "['0.weight'][0].tolist()": [ROW] * 3,
    "[torch.equal(net(x), net(x)), functional_call(net, params, x).shape == net(x).shape]": [
        True,
        True,
    ],
    "[tuple(v.shape) for v in stack_module_state([nn.Linear(2, 1) for _ in range(3)])[0].values()]": [
        [3, 1, 2],
        [3, 1],
    ],
    "[v.requires_grad for v in stack_module_state([net, net])[0].values()]": [True] * 4,
}


def shown(text):
    printed = []
    load(NET + text).run(options=Options(echo=printed.append))
    return printed


def close(found, expected):
    if isinstance(expected, list):
        return all(map(close, found, expected)) and len(found) == len(expected)
    return found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("expression", CASES)
def test_calls_with_other_parameters(expression):
    text = shown(f"print({expression})")[0]
    for a, b in (("(", "["), (")", "]"), ("True", "true"), ("False", "false")):
        text = text.replace(a, b)
    assert close(json.loads(text), CASES[expression])


def test_parameters_come_back_also_after_an_error():
    text = "before = net[0].weight\ntry: functional_call(net, params, torch.ones(5))\n"
    assert shown(text + "except RuntimeError: print(net[0].weight is before)") == ["True\n"]


def test_hooks_are_called_until_they_are_removed():
    text = """
seen = []
after = net[0].register_forward_hook(lambda m, i, o: seen.append((type(m).__name__, len(i), tuple(o.shape))))
before = net.register_forward_pre_hook(lambda m, i: (i[0] * 0,))
a = net(x)
before.remove()
b = net(x)
after.remove()
net(x)
print(seen, torch.equal(a[0], a[1]), torch.equal(b[0], b[1]))
changed = net.register_forward_hook(lambda m, i, o: o * 0 + 2)
print(net(x).tolist())
"""
    calls = "('Linear', 1, (2, 3))"
    assert shown(text) == [f"[{calls}, {calls}] True False\n", "[[2.0], [2.0]]\n"]


def test_an_unknown_name_is_refused():
    with pytest.raises(GradError, match="nothing"):
        shown("functional_call(net, {'nothing': x}, x)")
