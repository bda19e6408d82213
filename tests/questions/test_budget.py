"""The work that making code may take: a count of what is followed, never seconds."""

import pytest
from support.programs.natural_loops import natural

from gradcli.engine.compile.budget import Budget
from gradcli.errors import Diagnostic
from gradcli.program import Options, load
from gradcli.questions import jit
from gradcli.questions.asked.request import request
from gradcli.questions.coded.compiled import compile_question
from gradcli.questions.jit import Jit

MATRICES = """\
n = 14
a = [[float(i * j % 7) for j in range(n)] for i in range(n)]
b = [[float(i + j % 5) for j in range(n)] for i in range(n)]
c = [[0.0 for j in range(n)] for i in range(n)]
for i in range(n):
    for j in range(n):
        s = 0.0
        for k in range(n):
            s += a[i][k] * b[k][j]
        c[i][j] = s
c[3][4]
"""
LAYERS = """\
def layer(w, x):
    return [tanh(sum([w[i][j] * x[j] for j in range(8)])) for i in range(8)]
param p = 0.5
w = [[p * (i - j) for j in range(8)] for i in range(8)]
s = 0.0
for k in range(3000):
    x = [s + i for i in range(8)]
    for m in range(4):
        x = layer(w, x)
    s = s * 0.5 + sum(x)
s
"""
SIEVE = """\
n = 20000
p = [True] * n
for i in range(2, n):
    if p[i]:
        for j in range(i * i, n, i):
            p[j] = False
sum(p)
"""
SCALARS = "param x = 0.5\ny = x\nfor i in range(1000):\n    y = sin(y) * x + i\ny"


def run(loaded, asked):
    """The question that is asked."""


def used(text, most):
    """The work that code of a run takes, and whether there is code."""
    budget = Budget(most)
    asked = request({}, {}, Options())
    found = compile_question(load(text).loaded, "run", asked, budget)
    return budget.used, not isinstance(found, Diagnostic)


def test_large_nested_lists_are_given_up_early():
    count, is_code = used(MATRICES, 2_000)
    assert not is_code
    assert 2_000 < count < 2_100  # all attempts together; each that follows ends at once
    assert used(MATRICES, 10**9)[0] > 10_000


def test_every_item_of_a_list_that_a_loop_changes_counts():
    count, is_code = used(SIEVE, 2_000)
    assert not is_code
    assert count > 20_000


def test_work_in_proportion_to_the_size_of_a_program_is_enough():
    """Loops as people write them take less than half of it, so that they become code at once."""
    wrong = []
    for seed in range(60):
        text = natural(seed).text
        loaded = load(text).loaded
        budget = Budget()
        given = {i.name: 1.0 for i in loaded.program.inputs if i.default is None}
        if given:
            continue
        compile_question(loaded, "run", request({}, {}, Options()), budget)
        if budget.used > 0.5 * jit._FOLLOWED * Jit(loaded)._worth:
            wrong.append((budget.used, text))
    assert not wrong


@pytest.mark.parametrize(("text", "is_code"), [(MATRICES, False), (SCALARS, True)])
def test_a_question_that_takes_too_much_work_is_asked_again_later(text, is_code):
    remarks = []
    found = Jit(load(text).loaded)
    about = request({}, {}, Options(remark=remarks.append))
    worth = found._worth

    assert (found._seconds_to_code("key", run, about, worth) == 0.0) is is_code
    if is_code:
        return
    assert found._seconds_to_code("key", run, about, 9 * worth) == 36 * worth
    assert [said.code for said in remarks] == ["not-compilable"] * 2
    assert "takes longer than it may save" in remarks[0].message
    found._spent["key"] = 9, 36 * worth
    assert not found._pays("key")
    found._spent["key"] = 9, 37 * worth
    assert found._pays("key")


def test_work_that_pays_in_a_long_run_alone_is_done_there():
    found, about = Jit(load(LAYERS).loaded), request({}, {}, Options())
    count, is_code = used(LAYERS, 10**9)
    assert is_code
    assert count > jit._FOLLOWED * found._worth
    assert found._seconds_to_code("key", run, about, found._worth) > 0
    assert found._seconds_to_code("key", run, about, 3600.0) == 0.0


def test_code_that_is_always_wanted_may_take_any_work():
    remarks = []
    load(MATRICES).run(options=Options(compile="always", remark=remarks.append))
    assert [said.code for said in remarks] == ["code-made"]
