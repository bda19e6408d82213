"""Long chains of what the engine links are freed on a small stack, as threads of macOS and musl have
it. Chains of a program's own lists, objects and functions are freed by Python alone.
"""

import json
import subprocess
import sys

import pytest

LEAF = "x = tensor([1.0, 2.0], requires_grad=True)\n"
PLAIN = "x = tensor([1.0, 2.0])\n"
TURN = "y = x * 1\nfor i in range({n}):\n    y = "
CHAINS = {
    "ops by a number": f"{LEAF}{TURN}y * 1.0",
    "ops that save an argument": f"{LEAF}{TURN}y * y",
    "ops that save the result": f"{LEAF}{TURN}tanh(y)",
    "numbers": "x = tensor(1.0, requires_grad=True)\n" + TURN + "y * y",
    "several operands": f"{LEAF}{TURN}y * x + y",
    "several results": f"{LEAF}{TURN}stack(y.unbind(0))",
    "changes in place": f"{LEAF}{TURN}y.mul_(1.0)",
    "views": f"{LEAF}{TURN}y.view(2)",
    "views that are not recorded": f"{PLAIN}{TURN}y[0:2]",
    "hooks": f"{LEAF}{TURN}y * 1.0\n    y.register_hook(lambda g: g)",
    "own rules": "class Double(torch.autograd.Function):\n    @staticmethod\n"
    "    def forward(ctx, a):\n        ctx.save_for_backward(a)\n        return a * 2\n"
    "    @staticmethod\n    def backward(ctx, g):\n        return g * 2\n"
    f"{LEAF}{TURN}Double.apply(y)",
    "a gradient that is recorded": f"{LEAF}{TURN}y * x\n"
    "y = torch.autograd.grad(y.sum(), x, create_graph=True)[0]",
    "composites": f"{LEAF}{TURN}torch.nn.functional.linear(y, torch.eye(2))",
}
IN_THREADS = """
import json, sys, threading
from gradcli import load

threading.stack_size(int(sys.argv[1]) * 1024)
for name, text in json.load(sys.stdin).items():
    print(name, flush=True)
    done = []
    program = load(text)
    thread = threading.Thread(target=lambda: done.append(program.run()))
    thread.start()
    thread.join()
    assert done
"""


def freed(programs, stack):
    """Run programs that drop `y` and `x`, in threads with so many KB of stack, in a process that may
    die; fails with the name of the last one that ran.
    """
    done = subprocess.run(
        [sys.executable, "-c", IN_THREADS, str(stack)],
        input=json.dumps({name: f"{text}\ny = 0\nx = 0" for name, text in programs.items()}),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stdout.splitlines()[-1]


def test_chains_are_freed_in_threads_of_128_kb():
    """Recursion of the interpreter takes some 200 bytes a link."""
    freed({name: text.replace("{n}", "2500") for name, text in CHAINS.items()}, 128)


@pytest.mark.parametrize("stack", [256, 512])
def test_a_long_chain_is_freed(stack):
    name = "ops that save an argument"
    freed({name: CHAINS[name].replace("{n}", "200000" if stack == 256 else "6000")}, stack)
