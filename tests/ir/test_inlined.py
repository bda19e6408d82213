"""The estimate of what code is made of: calls are counted with what they bring in."""

import pytest

from gradcli.ir.inlined import functions_of, size
from gradcli.program import load

F = "def f(x):\n    a = x * x\n    return a + 1.0\n"
G = f"{F}def g(x):\n    return f(x) + f(x * 2.0)\n"


def counted(text):
    program = load(f"input x = 1.0\n{text}\n").loaded.program
    return size(program.main.body, functions_of(program))


def added(text, before):
    """By how many instructions a text is more than what stands before it."""
    return counted(before + text) - counted(before)


def test_a_call_counts_what_it_brings_in():
    of_f = added("f(x)", F)
    assert of_f >= 4  # itself, two operations, the return
    assert added("f(x)\nf(x)", F) == 2 * of_f
    assert added("g(x)", G) > 2 * of_f
    assert added("h(x)", f"{G}def h(x):\n    return g(x) + g(x)\n") > 2 * added("g(x)", G)


@pytest.mark.parametrize("turns", [2, 5, 20])
def test_a_loop_counts_its_turns_with_their_calls(turns):
    turn = added("g(x)", G)
    found = added(f"for i in range({turns}):\n    g(x)\n", G)
    unrolled = turns * turn <= 200
    assert (turns * turn < found < turns * (turn + 2) + 4) == unrolled
    assert (found < turn + 6) == (not unrolled)


def test_loops_in_loops_multiply():
    inner = "for j in range(3):\n        f(x)\n"
    assert added(f"for i in range(4):\n    {inner}", F) > 12 * added("f(x)", F)


def test_a_function_that_is_given_counts():
    head = f"{G}def twice(h, x):\n    return h(h(x))\n"
    assert added("twice(g, x)", head) - added("twice(f, x)", head) == 2 * (
        added("g(x)", head) - added("f(x)", head)
    )
    assert added("grad(g)(x)", G) > added("grad(f)(x)", G)


def test_recursion_counts_once():
    text = "def f(n):\n    return 1 if n == 0 else n * f(n - 1)\nf(5)"
    assert counted(text) < 20


def test_deep_calls_are_counted_in_no_time():
    """Sixty functions, each of which calls the one before twice."""
    text = "def f0(x):\n    return x * 1.0\n" + "".join(
        f"def f{k + 1}(x):\n    return f{k}(x) + f{k}(x)\n" for k in range(60)
    )
    assert counted(f"{text}f60(x)") == 100_000  # where counting stops


def test_a_function_that_changes_is_not_known():
    assert added("def f(x):\n    return x\nf(x)", F) == 2
