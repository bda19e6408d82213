"""Long chains, deep nesting, long lines: no recursion error, no memory kept."""

import gc
import resource
import subprocess
import sys
import threading

import pytest

from gradcli.engine.graph import Node
from gradcli.program import load

MILLION = """
input x = 1.0
y = x
for i in range(500000):
    y = y * 0.999999 + x
y
"""
CHAIN = MILLION.replace("500000", "50000")


def nested_loops(depth):
    lines = ["input x = 1.5", "y = x"]
    lines += ["    " * i + f"for i{i} in range({2 if i < 3 else 1}):" for i in range(depth)]
    return "\n".join([*lines, "    " * depth + "y = y * x", "y"])


DEEP = {
    "a recursion of 900 calls": (
        "input x = 0.5\ndef f(x, n):\n    return x if n == 0 else f(x + 0.001, n - 1)\nf(x, 900)",
        1.4,
        1.0,
    ),
    "30 nested loops": (nested_loops(30), 1.5**9, 9 * 1.5**8),
    "20,000 terms": ("input x = 1.5\n" + " + ".join(["x"] * 20_000), 30_000.0, 20_000.0),
    "100,000 parentheses": ("input x = 1.5\n" + "(" * 100_000 + "x" + ")" * 100_000, 1.5, 1.0),
    "a chain of 100,000": (CHAIN, None, None),
}


FEW = 50
"""Nodes that may wait for the collector of cycles; a graph itself goes by its reference counts."""


def nodes():
    return sum(isinstance(thing, Node) for thing in gc.get_objects())


def test_a_chain_of_a_million_is_differentiated_and_freed():
    before = nodes()
    found = load(MILLION).grad()
    decay = 0.999999**500_000
    exact = decay + (1 - decay) / 1e-6
    assert found.grad["x"] == pytest.approx(exact, rel=1e-9), found
    assert found.value == pytest.approx(exact, rel=1e-9), found
    assert nodes() < before + FEW, f"{nodes() - before} nodes are still there"


@pytest.mark.parametrize("name", DEEP)
def test_depth(name):
    text, value, slope = DEEP[name]
    found = load(text).grad()
    if value is not None:
        assert (found.value, found.grad["x"]) == pytest.approx((value, slope), rel=1e-9), name


@pytest.mark.parametrize("name", DEEP)
def test_depth_on_a_small_stack(name):
    """256 KiB of stack: nothing may recurse in C over the text, the graph or its freeing."""
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", "grad", "--wrt", "x", "-r"],
        check=False,
        input=DEEP[name][0],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_STACK, (256 * 1024, resource.getrlimit(resource.RLIMIT_STACK)[1])
        ),
    )
    assert done.returncode == 0, f"{name}: {done.returncode} {done.stderr[:500]}"


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
    program = load(CHAIN)
    program.grad()
    before = nodes()
    for _ in range(3):
        program.grad()
        program.graph()
    assert nodes() < before + FEW, f"{nodes() - before} nodes are still there"
