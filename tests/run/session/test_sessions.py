"""One executable, several runs: nothing of one is seen by another."""

import threading

from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.session.state import Output, Session
from gradcli.program import load

PROGRAM = """
input x = 1.0
f = relu
def tell(y):
    print(f"{x}: {f(y)}")
    return y * x
tell(2.0)
"""


def executable(text):
    return Executable(load(text).loaded.program)


def run(made, x, printed):
    return made.run(Session(output=Output(printed.append)), {"x": Given(x, f"x={x}")})


def test_what_outlives_a_run_keeps_to_the_run_that_it_is_of():
    made = executable(PROGRAM)
    first, second = [], []
    values, result = run(made, 3.0, first)
    others, other = run(made, 5.0, second)
    assert (result, other) == (6.0, 10.0)
    assert values["tell"](7.0) == 21.0
    assert others["tell"](7.0) == 35.0
    assert "".join(first) == "3.0: 2.0\n3.0: 7.0\n"
    assert "".join(second) == "5.0: 2.0\n5.0: 7.0\n"


def test_a_built_in_is_one_value_throughout_a_run():
    text = "f = relu\ng = [relu, sin]\nprint(f is g[0], f is g[1])"
    assert list(load(text).run().printed) == ["True False"]


def test_recording_that_is_off_in_one_run_is_on_in_another():
    text = """
input x = 1.0
def slope(g):
    with no_grad():
        print(g)
        z = x * 2
    return z
y = tensor(x, requires_grad=True)
(y * slope("a")).backward()
y.grad
"""
    made = executable(text)
    inner = []

    def echo(said):
        if len(inner) < 3:  # a run inside another one's `no_grad`
            inner.append(said)
            inner.append(made.run(Session(output=Output(echo)), {"x": Given(5.0, "x=5")})[1].data)

    _, outer = made.run(Session(output=Output(echo)), {"x": Given(4.0, "x=4")})
    assert (outer.data, inner[-1]) == (8.0, 10.0)


def test_runs_in_threads_do_not_meet():
    made = executable("input x = 1.0\ny = 0.0\nfor i in range(3000): y = y + sin(x) * x\ny")
    found = {}

    def work(x):
        found[x] = run(made, x, [])[1]

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(1, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {x: run(made, x, [])[1] for x in found}
    assert len(found) == 5
