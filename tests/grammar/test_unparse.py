import pytest
from grammar_programs import expressions, programs, source
from hypothesis import HealthCheck, given, settings

from gradcli.grammar.parser import parse, parse_expression
from gradcli.grammar.unparse import unparse, unparse_expression

RELAXED = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])

# Text that is already in the form that unparse writes.
FORMS = [
    "x + y * z ** -2",
    "(x + y) * z",
    "x - (y - z)",
    "x - y - z",
    "(x ** y) ** z",
    "x ** y ** z",
    "(-x) ** 2",
    "-x ** 2",
    "not (a and b) or c",
    "a and (b and c)",
    "(a < b) < c",
    "a < b < c",
    "a is not None",
    "a not in b",
    "not a in b",
    "x if y else z if w else v",
    "(x if y else z) if w else v",
    "lambda x, y=2: x, y",
    "(lambda: 1)(2)",
    "f(x, (y, z), k=1)",
    "x[1:, ..., None, ::2]",
    "x[(), 0]",
    "x[()]",
    "x[1,]",
    "(1).x",
    "[(1,), 2, []]",
    "()",
    "a,",
    "1e+16",
    "0.1",
    '"it\'s"',
    '"\\"\\\\\\n\\x00"',
    'f"a{x}{y!r:>{w}.3f}{{}}"',
    "f\"{x['k']}\"",
    "f\"{f'{x}'}\"",
    'f"{x=}{x + 1 = !r}"',
    'f"{(lambda: 1)}"',
]


@pytest.mark.parametrize("text", FORMS)
def test_writes_with_the_fewest_parentheses(text):
    tree = parse_expression(source(text))

    assert unparse_expression(tree) == text


PROGRAM = """\
"A docstring."
import torch.nn.functional as F
from math import sqrt, pi as p
from torch import *
input x: float[n, 3] = [1, 2]
param k
param j: int[...]
a = b, = c
x[i], y.grad = 1, 2
w //= 2
class Cube(Function):
    @staticmethod
    def forward(ctx, x, k=2):
        return x ** k, None
for i, j in enumerate(x):
    if i:
        continue
    elif j:
        pass
    else:
        break
for (a in b), c in a in b:
    while True:
        assert x, "no"
with torch.no_grad():
    if a:
        pass
    else:
        if b:
            pass
        c
def f():
    return
"""


def test_writes_every_statement():
    tree = parse(source(PROGRAM))

    assert parse(source(unparse(tree))) == tree
    assert unparse(tree) == PROGRAM


@given(expressions)
@RELAXED
def test_parse_inverts_unparse_for_expressions(tree):
    text = unparse_expression(tree)

    assert parse_expression(source(text)) == tree, text


@given(programs)
@RELAXED
def test_parse_inverts_unparse_for_programs(tree):
    text = unparse(tree)

    assert parse(source(text)) == tree, text


def test_long_chains_need_no_deep_stack():
    text = " + ".join(["x"] * 100_000)
    lines = ["if x:", "    y", *["elif x:", "    y"] * 5_000]

    assert unparse_expression(parse_expression(source(text))) == text
    assert unparse(parse(source("\n".join(lines)))).splitlines() == lines
