"""`torch.utils.checkpoint`: a function's own result, whatever the settings."""

import pytest

from gradcli.program import load

BEFORE = """
import torch
from torch.utils.checkpoint import checkpoint, set_checkpoint_debug_enabled
def f(a, scale=1.0, debugs=0.0):
    return (a.sin() * scale + debugs).exp()
a = torch.tensor([0.5, 0.25], requires_grad=True)
"""


@pytest.mark.parametrize("options", ["", "use_reentrant=False, debug=True, early_stop=False"])
@pytest.mark.parametrize("given", ["", "scale=a * 3", "2.0", "2.0, debugs=a"])
def test_a_function_gets_its_own_arguments_by_name(given, options):
    arguments = ", ".join(word for word in ("f", "a", given, options) if word)
    text = f"{BEFORE}print(torch.autograd.grad(checkpoint({arguments}).sum(), a))"
    plain = f"{BEFORE}print(torch.autograd.grad(f(a, {given}).sum(), a))"
    assert load(text).run().printed == load(plain).run().printed


@pytest.mark.parametrize("name", ["set_checkpoint_early_stop", "set_checkpoint_debug_enabled"])
@pytest.mark.parametrize("on", [True, False])
def test_settings_change_nothing(name, on):
    block = f"with torch.utils.checkpoint.{name}({on}):\n    y = checkpoint(f, a)"
    text = f"{BEFORE}{block}\ny.sum().backward()\nprint(a.grad)"
    plain = f"{BEFORE}f(a).sum().backward()\nprint(a.grad)"
    assert load(text).run().printed == load(plain).run().printed
