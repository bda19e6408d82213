"""When a run that is interpreted goes over to code: by a clock that goes as steps are taken."""

import itertools
from math import inf
from types import SimpleNamespace

import pytest

from gradcli.engine.static.turns import known_steps
from gradcli.errors import LimitError
from gradcli.made.ops_index import INDEX
from gradcli.program import Limits, Options, load
from gradcli.questions.coded.warmup import Warmup
from gradcli.questions.jit import SOLVERS, solves

WORTH = 0.1


def run(taking, known, *, code=lambda seconds: 0.0, printing=(), start=0.0):
    """A run of steps that take so long: how many are taken until there is code, None if there is
    never any; when it is asked for; what is printed, with the step at which it appears.
    """
    now = SimpleNamespace(time=start)
    asked, shown = [], []

    def make(seconds):
        asked.append(step)
        return code(seconds)

    trial = Warmup(known, WORTH, make, lambda text: shown.append((text, step)), lambda: now.time)
    left, end = 0, None
    for step, seconds in enumerate(taking):  # `make` reads it
        if not left:
            try:
                left = trial.patience()
            except LimitError:
                end = step
                break
        left -= 1
        if step in printing:
            trial.echo(f"step {step}")
        now.time += seconds
    assert trial.is_over == (end is not None)
    if end is None:
        trial.settle()
    return end, asked, shown


def test_a_run_of_known_length_is_code_after_a_few_steps():
    end, _, _ = run([0.001] * 500, 500)
    assert end <= 8


def test_a_run_of_known_length_that_is_short_is_interpreted_to_its_end():
    assert run([0.001] * 150, 150) == (None, [], [])
    assert run([0.01] * 19, 19)[0] is None  # of which the rest does not pay


def test_first_steps_that_take_long_say_nothing_of_the_others():
    assert run([0.02, 0.02, *[0.0001] * 998], 1000)[0] is None
    assert run([0.0001, 0.0001, 0.05, *[0.0001] * 997], 1000)[0] is None


def test_a_run_of_unknown_length_is_code_when_it_has_taken_as_long_as_making_it():
    assert run([0.0001] * 900, 0)[0] is None
    end, _, _ = run([0.0001] * 10_000, 0)
    assert 1_000 <= end <= 2_050
    end, _, _ = run([0.0001] * 10_000, 20)  # as if it were not known, where it goes on
    assert 1_000 <= end <= 2_050


def test_a_run_of_which_there_is_no_code_asks_once():
    end, asked, _ = run([0.0001] * 100_000, 0, code=lambda seconds: inf)
    assert end is None
    assert len(asked) == 1


def test_code_that_takes_too_much_work_is_asked_for_again_in_longer_runs():
    saved = []

    def code(seconds):
        saved.append(seconds)
        return 4 * seconds if len(saved) < 3 else 0.0

    end, asked, _ = run([0.0001] * 100_000, 0, code=code)
    assert end == asked[-1]
    assert saved[0] > WORTH
    assert [b > 4 * a for a, b in itertools.pairwise(saved)] == [True, True]
    assert 16_000 < end < 22_000
    assert run([0.0001] * 9_000, 9_000, code=lambda seconds: 4 * seconds)[0] is None


def test_what_is_printed_appears_once_it_is_decided():
    assert run([0.0001] * 300, 300, printing=(3, 200))[2] == [("step 3", 299), ("step 200", 299)]
    _, (step,), shown = run([0.0001] * 9_000, 0, code=lambda seconds: inf, printing=(3, 8_000))
    assert shown == [("step 3", step), ("step 8000", 8_000)]
    assert run([0.001] * 500, 500, printing=(0,))[2] == []  # code prints it


def test_steps_that_become_slow_hold_no_text_back():
    taking = [1e-6] * 900 + [0.05] * 300
    _, _, shown = run(taking, 0, printing=range(900, 1200))
    assert shown[0] == ("step 900", 904)


EDGES = [  # seconds of a step, the steps that are known, those after which there is code
    (2**-6, 0, 8),  # 0.1 s are over at the look after 8 steps, not after 4
    (0.1, 0, 2),  # not after the first, when it has just taken as long
    (0.05, 8, None),  # four steps are left after four: they take no more than twice as long
    (0.05, 9, 4),
    (0.05, 5, None),  # a single one is left
    (2**-11, 10**6, 8),  # 2 ms are over then
    (1.0, 10**6, 4),
]


@pytest.mark.parametrize(("seconds", "known", "end"), EDGES)
def test_code_is_made_when_it_begins_to_pay(seconds, known, end):
    taking = [seconds] * (known if 0 < known < 99 else 64)
    assert run(taking, known)[0] == end
    assert run(taking, known, start=64.0)[0] == end


def test_the_clock_is_looked_at_ever_more_seldom():
    trial = Warmup(0, WORTH, lambda seconds: 0.0, print, lambda: 5.0)
    assert [trial.patience() for _ in range(14)] == [
        *(1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512),
        *[1000] * 3,
    ]


def test_the_time_before_the_first_step_does_not_count():
    now = SimpleNamespace(time=7.0)
    shown = []
    trial = Warmup(0, WORTH, lambda seconds: 0.0, shown.append, lambda: now.time)
    now.time = 9.0
    trial.patience()
    for time, expected in ((9.0, []), (9.19, []), (9.21, ["text"] * 3), (9.21, ["text"] * 4)):
        now.time = time
        trial.echo("text")
        assert shown == expected, time
    trial.settle()
    assert shown == ["text"] * 4


def test_what_is_printed_once_it_is_decided_appears_at_once():
    shown = []
    trial = Warmup(0, WORTH, lambda seconds: 0.0, shown.append, lambda: 5.0)
    trial.patience()
    trial.settle()
    trial.echo("text")
    assert shown == ["text"]
    assert trial.patience() > 10**15


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("x = 1", 0),
        ("for i in range(500): x = i", 500),
        ("m = 5 * 100\nfor i in range(1, m + 1): x = i", 500),
        ("input n = 7\nfor i in range(n): x = i", 70),
        ("input m = 7\nfor i in range(m): x = i", 7),
        ("for i in range(0, 100, 3):\n    for j in range(4): x = j", 34 * 5),
        ("for i in range(10):\n    for j in range(i): x = j", 10),
        ("m = 3\nfor i in range(9): m = m + 1\nfor i in range(m): x = i", 9),
        ("for i in range(10):\n    if i > 3: break", 0),
        ("for i in range(10):\n    for j in range(3):\n        if j: break", 10),
        ("for i in range(10):\n    if i > 3:\n        for j in range(100): x = j", 10),
        ("while True: break", 0),
        ("with no_grad():\n    for i in range(5): x = i", 5),
        ("def f(x, n=20):\n    for i in range(n): x = x * 2\n    return x\nf(1.0) + f(2.0, 3)", 25),
        ("def f(x, n=20):\n    for i in range(n): x = x * 2\n    return x\nf(1.0, n=4)", 5),
        ("def f(n):\n    for i in range(n):\n        if i > 3: return i\nf(50)", 1),
        ("def f(n): return f(n - 1) if n else 0\nf(50)", 1),
        ("for i in range(10**30): x = i", 0),
    ],
)
def test_steps_that_are_known(text, steps):
    assert known_steps(load(text).loaded.program, {"n": 70}) == steps


@pytest.mark.parametrize("further", [1, 3, 100])
def test_a_run_takes_no_more_steps_than_it_may(further):
    asked = Options(limits=Limits(steps=10), patience=lambda: further, compile="never")
    load("for i in range(10): x = i").run(options=asked)
    with pytest.raises(LimitError, match="more than 10 steps"):
        load("for i in range(11): x = i").run(options=asked)


@pytest.mark.parametrize(
    ("text", "are"),
    [
        ("odeint(lambda t, y: -y, 1.0, [0, 1])", True),
        ("import scipy.optimize as o\no.root(lambda x: x - 1, 0.5).x", True),
        ("from torchdiffeq import odeint as solve\nsolve(lambda t, y: -y, ones(1), ones(2))", True),
        ("import scipy.special as s\ns.factorial(3)", False),
        ("sin(1.0)", False),
    ],
)
def test_equations_to_solve_count_as_loops(text, are):
    assert solves(load(text).loaded.program) is are


def test_all_functions_that_solve_equations_are_known():
    assert sorted(SOLVERS) == INDEX["families"]["builtins.equations"].split()
