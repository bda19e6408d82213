"""Long chains, deep nesting, long lines: no recursion error, no memory kept."""

import gc
import subprocess
import sys
import threading

import pytest

from gradcli.engine.tape.graph import Node
from gradcli.program import load

LONG = """
input x = 1.0
y = x
for i in range({steps}):
    y = y * 0.999999 + x
y
"""
CHAIN = LONG.format(steps=10_000)
STEPS = [10_000, pytest.param(500_000, marks=pytest.mark.long)]  # of two ops


def last(steps):
    """The value of the long chain and its derivative."""
    return 0.999999**steps + (1 - 0.999999**steps) / 1e-6


OWN = """
input x = 1.0
class Scale(Function):
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    def backward(ctx, g):
        return g * ctx.k, None
y = x
for i in range(5000):
    y = Scale.apply(y, 1.0)
y
"""


def nested_loops(depth):
    lines = ["input x = 1.5", "y = x"]
    lines += ["    " * i + f"for i{i} in range({2 if i < 3 else 1}):" for i in range(depth)]
    return "\n".join([*lines, "    " * depth + "y = y * x", "y"])


DEEP = {  # program, its value and derivative
    "a recursion of 900 calls": (
        "input x = 0.5\ndef f(x, n):\n    return x if n == 0 else f(x + 0.001, n - 1)\nf(x, 900)",
        1.4,
        1.0,
    ),
    "30 nested loops": (nested_loops(30), 1.5**9, 9 * 1.5**8),
    "10,000 terms": ("input x = 1.5\n" + " + ".join(["x"] * 10_000), 15_000.0, 10_000.0),
    "20,000 parentheses": ("input x = 1.5\n" + "(" * 20_000 + "x" + ")" * 20_000, 1.5, 1.0),
    "a chain of 20,000 ops": (CHAIN.replace("y * 0.999999", "y"), 10_001.0, 10_001.0),
    "an own function in each of 5,000 steps": (OWN, 1.0, 1.0),
}


def live_nodes():
    gc.collect()
    return sum(isinstance(thing, Node) for thing in gc.get_objects())


def on_a_small_stack(arguments, program):
    """A process of 256 KiB of stack: there nothing may recurse in C, not 5,000 times of 50 bytes."""
    small = ["sh", "-c", 'ulimit -S -s 256 && exec "$@"', "sh"]
    return subprocess.run(
        [*small, sys.executable, "-m", "gradcli", *arguments],
        check=False,
        input=program,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("steps", STEPS)
def test_a_long_chain_is_differentiated_and_freed(steps):
    before = live_nodes()
    found = load(LONG.format(steps=steps)).grad()
    both = (found.value, found.grad["x"])
    assert both == pytest.approx((last(steps),) * 2, rel=1e-9), f"{both} for {last(steps)}"
    assert live_nodes() == before, f"{live_nodes() - before} nodes are still there"


def test_a_graph_goes_when_its_result_goes():
    """Without the collector: a graph of this size must not wait for it."""
    program = load(CHAIN)
    program.grad()
    before = live_nodes()
    gc.disable()
    try:
        program.grad()
        left = sum(isinstance(thing, Node) for thing in gc.get_objects()) - before
    finally:
        gc.enable()
    assert left < 10, f"{left} nodes of 20,000 wait for the collector"


@pytest.mark.parametrize("steps", STEPS)
def test_a_long_chain_on_a_small_stack(steps):
    done = on_a_small_stack(["grad", "-r"], LONG.format(steps=steps))
    assert (done.returncode, done.stderr) == (0, ""), f"{done.returncode}: {done.stderr[:500]}"
    found, expected = float(done.stdout), last(steps)
    assert found == pytest.approx(expected, rel=1e-9), f"{found} for {expected}"


@pytest.mark.parametrize("name", DEEP)
def test_depth_on_a_small_stack(name):
    program, value, slope = DEEP[name]
    done = on_a_small_stack(["grad", "--wrt", "x"], program)
    assert done.returncode == 0, f"{name}: {done.returncode} {done.stderr[:500]}"
    found = [float(line.partition("\t")[2]) for line in done.stdout.splitlines()]
    assert found == pytest.approx([value, slope], rel=1e-9), f"{name}: {found}"


@pytest.mark.parametrize(
    "program",
    ["-" * 20_000 + "1", "not " * 20_000 + "1", "[" * 20_000 + "1" + "]" * 20_000],
    ids=["minuses", "nots", "lists"],
)
def test_what_is_too_deep_is_refused_on_a_small_stack(program):
    done = on_a_small_stack(["run", "--diagnostics", "concise"], program)
    assert done.returncode == 3, f"{done.returncode}: {done.stderr[:500]}"
    assert "error[nested-too-deep]" in done.stderr, done.stderr[:500]
    assert len(done.stderr) < 1000, f"a message of {len(done.stderr)} characters"


def test_a_chain_in_a_thread_with_a_small_stack():
    found = []
    old = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(load(CHAIN).grad()))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    assert found, "the thread failed"


def test_the_same_program_again_and_again_keeps_nothing():
    program = load(LONG.format(steps=2000))
    before = live_nodes()
    for _ in range(3):
        program.grad()
        program.graph()
    assert live_nodes() == before, f"{live_nodes() - before} nodes are still there"
