"""Depth of a program or of data never becomes depth of a stack without a bound: there is an answer,
or an error that says what is too deep. `test_scale.py` has what runs on a small stack.
"""

import threading

import pytest

from gradcli.errors import GradError
from gradcli.program import check_source, load
from gradcli.source import Source


def in_blocks(inner, depth=99):
    lines = ["input x = 0.5", "y = x"]
    lines += ["    " * i + "if x > 0:" for i in range(depth)]
    return "\n".join([*lines, "    " * depth + inner, "y"])


def grown(step, first, rest):
    """A program whose `v` holds itself as it was, thousands of times."""
    return f"""
input x = 0.5
def wrap(f): return lambda a: f(a)
v = {first}
for i in range(1500):
    v = {step}
{rest}
"""


def branches(count):
    return "y = 1\nif y > 1:\n  y = 2\n" + "elif y > 1: y = 3\n" * count + "y"


RESULTS = {
    "calls": ("input x = 0.5\n" + "abs(" * 198 + "x" + ")" * 198, 0.5),
    "calls in blocks": (in_blocks("y = " + "abs(" * 190 + "x" + ")" * 190), 0.5),
    "lambdas": ("input x = 0.5\nf = " + "lambda: " * 90 + "x\nf" + "()" * 90, 0.5),
    "lambdas in blocks": (in_blocks("y = " + "(lambda a: a)(" * 90 + "x" + ")" * 90), 0.5),
    "branches": (branches(299), 1),
    "ands": ("input x = 0.5\n" + " and ".join(["x"] * 450), 0.5),
    "comparisons": ("input x = 0.5\n" + " <= ".join(["x"] * 450), True),
    "functions around functions": (grown("wrap(v)", "abs", "x"), 0.5),
    "zips of zips": (grown("zip(v)", "[x]", "x"), 0.5),
    "views of views": (grown("v[0:]", "tensor([0.5])", "sum(v)"), 0.5),
}
REFUSED = {
    "branches": (branches(300), "nested-too-deep"),
    "a list": (grown("[v]", "[x]", "v"), "nested-too-deep"),
    "a tuple as a value": (grown("(v,)", "(x,)", "x"), "nested-too-deep"),
    "a list printed": (grown("[v]", "[x]", "print(v)"), "recursion-limit"),
    "lists compared": (grown("[v]", "[x]", "w = [v]\nw == [v] and w[0] == [v]"), "recursion-limit"),
    "a list as a tensor": (grown("[v]", "[x]", "sin(v)"), "bad-argument"),
    "a list in itself": ("l = [1]\nl.append(l)\nl", "nested-too-deep"),
    "a list in itself printed": ("l = [1]\nl.append(l)\nprint(l)", "recursion-limit"),
    "a list in itself as a tensor": ("l = [1]\nl.append(l)\nsin(l)", "ragged-list"),
    "a list twice in itself": ("l = [1]\nl.append(l)\nl.append(l)\nsin(l)", "ragged-list"),
    "functions around functions": (grown("wrap(v)", "abs", "v(x)"), "recursion-limit"),
    "a gradient in itself": ("def f(a): return grad(f)(a)\nf(1.0)", "recursion-limit"),
    "a Jacobian in itself": ("def f(a): return jacobian(f)(a)\nf(ones(1))", "recursion-limit"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_what_is_deep_has_its_result(name):
    program, result = RESULTS[name]
    assert load(program).run().result == result


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_too_deep_is_told(name):
    program, code = REFUSED[name]
    with pytest.raises(GradError) as refused:
        load(program).run()
    assert [d.code for d in refused.value.diagnostics] == [code]


@pytest.mark.parametrize("name", [*RESULTS, *REFUSED])
def test_what_is_deep_is_checked(name):
    program, *_ = RESULTS.get(name) or REFUSED[name]
    found = check_source(Source("deep.grad", program), {})
    assert not {d.code for d in found.findings} & {"bug", "recursion-limit"}


@pytest.mark.parametrize("operator", ["and", "or"])
@pytest.mark.parametrize(
    ("count", "place"), [(20, 0), (20, 19), (21, 19), (21, 20), (41, 39), (401, 20), (401, 400)]
)
def test_a_chain_stops_where_it_is_decided(operator, count, place):
    """As many operands are evaluated as Python evaluates."""
    values = [1.0 if operator == "and" else 0.0] * count
    values[place] = 7.0 - values[place] * 7.0
    calls = f" {operator} ".join(f"f({value})" for value in values)
    found = load(f"c = [0]\ndef f(v):\n    c[0] += 1\n    return v\nr = {calls}\nr, c[0]").run()
    decided = [bool(v) is (operator == "or") for v in values]
    assert found.result == [values[decided.index(True)], decided.index(True) + 1]


@pytest.mark.parametrize(
    ("count", "place"), [(3, 0), (3, 2), (21, 20), (22, 0), (22, 20), (22, 21), (401, 21), (401, 0)]
)
def test_a_comparison_stops_where_it_is_false(count, place):
    """Place 0 stands for none."""
    values = [*range(count)]
    values[place] = 0
    calls = " < ".join(f"f({value})" for value in values)
    found = load(f"c = [0]\ndef f(v):\n    c[0] += 1\n    return v\nr = {calls}\nr, c[0]").run()
    assert found.result == ([False, place + 1] if place else [True, count])


def test_a_thread_of_a_small_stack_is_enough():
    """Without lists of lists, of which Python's own functions are as deep."""
    names = ["calls in blocks", "lambdas in blocks", "branches", "functions around functions"]
    found = {}

    def work():
        for name in names:
            found[name] = load(RESULTS[name][0]).run().result

    old = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(old)
    assert found == {name: RESULTS[name][1] for name in names}
