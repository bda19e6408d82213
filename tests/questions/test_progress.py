"""Long work: how much of it is done, how long it has taken, and that its end is its end."""

from contextlib import nullcontext
from itertools import count, pairwise

import pytest

from gradcli.engine.run.session.watchdog import Watchdog
from gradcli.errors import AssertionFailed, LimitError
from gradcli.limits import Limits
from gradcli.program import Options, load
from gradcli.questions.answers import gradcheck
from gradcli.questions.jit import Jit

VECTOR = load("input x: float[5]\ny = x * x.sum()\nz = y.sum()\ny")
INPUT = {"x": [1.0, 2.0, 3.0, 4.0, 5.0]}
SEVERAL = load("input x = 1.0\na = sin(x)\nb = x ** 2\nb")


def told(ask, compiled="never"):
    found = []
    ask(Options(compile=compiled, progress=lambda done, total: found.append((done, total))))
    return found


@pytest.mark.parametrize("compiled", ["never", "always"])
@pytest.mark.parametrize("of", [["a"], ["a", "b"], ["b", "a", "b"]])
def test_a_plot_tells_of_each_point_of_each_result(of, compiled):
    at = [0.1 * k for k in range(7)]
    found = told(lambda options: SEVERAL.plot(over="x", at=at, of=of, options=options), compiled)
    total = len(at) * len(of)
    assert found == [(done, total) for done in range(1, total + 1)]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("question", ["jacobian", "hessian"])
def test_a_matrix_tells_of_its_directions(question, mode):
    of = {"jacobian": "y", "hessian": "z"}[question]
    ask = getattr(VECTOR, question)
    found = told(lambda options: ask(INPUT, of=of, mode=mode, options=options))
    assert found
    assert {total for _, total in found} == {5}
    assert all(0 <= done <= total for done, total in found)
    assert all(a < b for (a, _), (b, _) in pairwise(found))


def test_a_check_counts_its_runs():
    found = told(lambda options: VECTOR.gradcheck(INPUT, of="z", options=options))
    assert found == [(runs, None) for runs in range(1, len(found) + 1)]
    assert len(found) > 5


def test_a_check_knows_how_long_its_runs_have_taken(monkeypatch):
    asked, perturbed = [], Jit.perturbed

    def noted(self, request, order, count, seconds):
        asked.append((count, seconds))
        return perturbed(self, request, order, count, seconds)

    monkeypatch.setattr(Jit, "perturbed", noted)
    monkeypatch.setattr(gradcheck, "perf_counter", count(1000.0).__next__)
    VECTOR.gradcheck(INPUT, of="z", options=Options(compile="auto"))
    runs = [runs for runs, _ in asked]
    assert runs == sorted(runs)
    assert [seconds for _, seconds in asked] == [float(k) for k in range(len(asked))]
    assert len(asked) > 5


QUESTIONS = {
    "is answered": ("x ** 2", Limits(seconds=60), None),
    "fails": ("assert x > 5", Limits(seconds=60), AssertionFailed),
    "reaches a limit": ("y = x\nwhile True: y = y + 1", Limits(steps=100), LimitError),
    "takes too long": ("y = x\nwhile True: y = y + 1", Limits(seconds=0.05), LimitError),
}


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("question", ["run", "grad"])
def test_nothing_is_watched_when_a_question_has_ended(name, question, monkeypatch):
    text, limits, error = QUESTIONS[name]
    watched, left = [], []
    watch, leave = Watchdog.watch, Watchdog.leave
    monkeypatch.setattr(Watchdog, "watch", lambda d, g: (watched.append(g), watch(d, g))[1])
    monkeypatch.setattr(Watchdog, "leave", lambda d, g: (left.append(g), leave(d, g))[1])
    with nullcontext() if error is None else pytest.raises(error):
        getattr(load(text), question)(x=1.0, options=Options(limits=limits, compile="never"))
    assert watched
    assert {*watched} == {*left}
