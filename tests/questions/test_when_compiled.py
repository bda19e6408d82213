"""When code is made: by what was asked, how often, how long it took, and the limits; and whose answer
is given. Runs are stood in for by functions that take so long by a clock of the test's own.
"""

from types import SimpleNamespace

import pytest

from gradcli.errors import Diagnostic, ProgramError
from gradcli.program import Limits, Options, load
from gradcli.questions import jit
from gradcli.questions.asked.request import request
from gradcli.questions.coded import perturbed
from gradcli.questions.jit import Jit

STRAIGHT, LOOP = "input x = 1.0\nx * 2", "input x = 1.0\nfor i in range(9): x = x * 2\nx"
REFUSED = Diagnostic("not-compilable", "not compiled: for this test")


class Code:
    """Code that answers with a text, or leaves the answer to the interpreter."""

    def __init__(self, answers=True, draws=()):
        self.lowered = SimpleNamespace(draws=draws)
        self.remark = Diagnostic("code-made", "made")
        self.seeds = []
        self._answers = answers

    def answer(self, request, echo):
        self.seeds.append(request.options.seed)
        echo("by code")
        return "code" if self._answers else None


@pytest.fixture
def asked(monkeypatch):
    """Asks a program again and again: gives who answers, each time."""

    def ask(taking, text=STRAIGHT, code=None, worth=1.0, **options):
        now = SimpleNamespace(time=100.0)
        taking = iter(taking)

        def run(loaded, asked):
            now.time += next(taking, 0.0)
            asked.options.echo("by code")
            asked.options.echo("by a run")
            return f"run {asked.options.seed}"

        monkeypatch.setattr(jit, "perf_counter", lambda: now.time)
        monkeypatch.setattr(Jit, "_worth", worth)
        monkeypatch.setattr(Jit, "_made", lambda *of: code or Code())
        found = Jit(load(text).loaded)
        about = request({}, {}, Options(**options))
        return lambda count=1: [found.answer(run, about) for _ in range(count)]

    return ask


PAYS = [  # seconds of the runs, how many are interpreted before there is code
    ([9.0] * 9, 3),
    (
        [9.0, 0.5, 0.5, 0.5] + [0.0] * 5,
        4,
    ),  # not when it is just worth it; of the first nothing counts
    ([0.0, 0.75, 0.5], 3),
    ([0.25] * 9, 6),
    ([0.0] * 9, 9),
]


@pytest.mark.parametrize(("taking", "interpreted"), PAYS)
def test_code_is_made_once_runs_after_the_first_have_taken_as_long(asked, taking, interpreted):
    expected = ["run None"] * interpreted + ["code"] * (9 - interpreted)
    assert asked(taking)(9) == expected


def test_code_is_assumed_to_take_longer_for_more_instructions():
    worth = [Jit(load(f"input x = 1.0\nx{' + x' * n}").loaded)._worth for n in (1, 2, 11)]
    assert worth[0] > 0.06
    assert worth[1] - worth[0] == pytest.approx(0.001)
    assert worth[2] - worth[0] == pytest.approx(0.01)
    assert worth[0] < 0.07


def test_code_is_assumed_to_take_longer_for_each_call():
    head = f"input x = 1.0\ndef f(x):\n    return x{' + x' * 20}\n"
    worth = [Jit(load(head + "f(x)\n" * n).loaded)._worth for n in (1, 2, 5)]
    assert worth[1] - worth[0] > 0.02
    assert worth[2] - worth[0] == pytest.approx(4 * (worth[1] - worth[0]))


WHEN = [  # options, who answers the first time
    ({"compile": "never"}, "run None"),
    ({"compile": "auto"}, "run None"),
    ({"compile": "always"}, "code"),
    ({"compile": "never", "kinks": True}, "run None"),
    ({"compile": "auto", "kinks": True}, "run None"),
]


@pytest.mark.parametrize(("options", "answer"), WHEN)
def test_options_say_who_answers(asked, options, answer):
    assert asked([], **options)() == [answer]


def test_runs_that_are_looked_at_are_interpreted_however_long_they_take(asked):
    assert asked([9.0] * 9, kinks=True)(9) == ["run None"] * 9
    assert asked([9.0] * 9, limits=Limits(seconds=0.5))(9) == ["run None"] * 9
    assert asked([9.0] * 9, limits=Limits(seconds=0.5), compile="always")() == ["code"]


def test_a_program_that_cannot_be_code_is_interpreted_unless_it_must_be(asked):
    assert asked([9.0] * 9, code=REFUSED)(9) == ["run None"] * 9
    with pytest.raises(ProgramError, match="for this test"):
        asked([], code=REFUSED, compile="always")()


AGAINST = {  # options with which a run is looked at
    "graph": ({"graph": True}, "the recorded graph is shown", "--graph"),
    "kinks": ({"kinks": True}, "the recorded graph is shown", "--kinks"),
    "plots": ({"plots": print}, "plots are drawn", "--plots"),
    "plots first": ({"plots": print, "kinks": True}, "plots are drawn", "--plots"),
}


@pytest.mark.parametrize(("options", "says", "help"), AGAINST.values(), ids=AGAINST)
def test_what_is_looked_at_is_never_code(asked, options, says, help):
    with pytest.raises(ProgramError, match=says) as found:
        asked([], compile="always", **options)()
    assert help in found.value.diagnostics[0].help
    about = request({}, {}, Options(compile="always", **options))
    program = Jit(load(STRAIGHT).loaded)
    assert program.code(lambda loaded, request: None, about) is None
    with pytest.raises(ProgramError, match=says):
        program.perturbed(about, 1, 50, 9.0)
    assert program.perturbed(request({}, {}, Options(**options)), 1, 50, 9.0) is None


SOON = [  # seconds, steps, verbose; whether so little is left that nothing is compiled
    (None, None, False, False),
    (0.5, None, False, True),
    (1.0, None, False, False),
    (None, 2000, False, True),
    (None, 2001, False, False),
    (0.5, 9000, False, True),
    (None, None, True, False),
    (9.0, None, True, True),
    (None, 9000, True, True),
]


@pytest.mark.parametrize(("seconds", "steps", "verbose", "is_soon"), SOON)
def test_nothing_is_compiled_shortly_before_a_limit(asked, seconds, steps, verbose, is_soon):
    limits = Limits(seconds=seconds, steps=steps)
    (*_, answer) = asked([9.0] * 3, limits=limits, verbose=verbose)(4)
    assert answer == ("run None" if is_soon else "code")
    about = request({}, {}, Options(limits=limits, verbose=verbose))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(perturbed, "perturbed", lambda *of: Code())
        found = Jit(load(STRAIGHT).loaded).perturbed(about, 1, 50, 9.0)
    assert (found is None) == is_soon


def test_only_a_loop_is_looked_at_in_its_first_run_alone(asked, monkeypatch):
    begun = []

    def begin(self, key, question, request):
        begun.append(key)
        return True, self._timed(key, question, request)

    monkeypatch.setattr(Jit, "_begun", begin)
    for text, count in ((STRAIGHT, 0), (LOOP, 1), ("input x = 1.0\nwhile x < 9: x = x * 2\nx", 1)):
        begun.clear()
        assert asked([9.0] * 9, text)(4) == ["run None"] * 3 + ["code"]
        assert len(begun) == count, text


def test_a_run_that_is_ended_for_code_begins_anew_as_code(asked, monkeypatch):
    monkeypatch.setattr(Jit, "_begun", lambda *of: (False, None))
    assert asked([], LOOP)(1) == ["code"]


def test_random_numbers_of_code_and_of_the_run_after_it_are_the_same(asked):
    for seed, draws in ((None, ("x",)), (7, ("x",)), (None, ())):
        code = Code(answers=False, draws=draws)
        (answer,) = asked([], code=code, compile="always", seed=seed)()
        assert answer == f"run {code.seeds[0]}"
        assert (code.seeds[0] is None) == (seed is None and not draws)
        assert seed is None or code.seeds == [seed]


def test_a_run_after_code_prints_what_code_has_not_printed(asked):
    printed = []
    asked([], code=Code(answers=False), compile="always", echo=printed.append)()
    assert printed == ["by code", "by a run"]


ROWS = [  # when code is made, what is there, whether rows are answered by it
    ("never", Code(), False),
    ("auto", Code(), False),
    ("always", Code(), True),
    ("always", Code(draws=("x",)), False),
    ("always", REFUSED, False),
]


@pytest.mark.parametrize(("when", "code", "is_used"), ROWS)
def test_rows_are_answered_by_code_that_draws_nothing(when, code, is_used, monkeypatch):
    monkeypatch.setattr(Jit, "_made", lambda *of: code)
    about = request({}, {}, Options(compile=when))
    found = Jit(load(STRAIGHT).loaded).code(lambda loaded, request: None, about)
    assert found is (code if is_used else None)


def test_rows_are_answered_by_code_once_it_pays(monkeypatch):
    code = Code()
    monkeypatch.setattr(Jit, "_made", lambda *of: code)
    monkeypatch.setattr(Jit, "_pays", lambda self, key: True)
    about = request({}, {}, Options())
    assert Jit(load(STRAIGHT).loaded).code(lambda loaded, request: None, about) is code


EARLY = [  # runs of a check, their seconds, whether code is made now
    (20, 1.0, True),
    (19, 9.0, False),
    (20, 0.99, False),
    (50, 9.0, True),
]


@pytest.mark.parametrize(("count", "seconds", "is_made"), EARLY)
def test_a_check_is_code_after_some_runs_that_took_long(count, seconds, is_made, monkeypatch):
    made, remarks = [], []
    monkeypatch.setattr(Jit, "_worth", 1.0)
    monkeypatch.setattr(perturbed, "perturbed", lambda *of: made.append(of) or Code())
    options = Options(remark=remarks.append)
    found, about = Jit(load(STRAIGHT).loaded), request({}, {}, options)
    first = found.perturbed(about, 1, count, seconds)
    assert (first is not None) == is_made
    if is_made:
        assert found.perturbed(about, 1, 0, 0.0) is first  # once there is code it is used
        assert found.perturbed(about, 2, 50, 9.0) is not first
    assert len(made) == len(remarks) == 2 * is_made
    assert {said.code for said in remarks} <= {"code-made"}
    always = about.changed(options=options.changed(compile="always"))
    assert found.perturbed(always, 1, 0, 0.0) is not None
    never = about.changed(options=options.changed(compile="never"))
    assert found.perturbed(never, 1, 50, 9.0) is None


def test_a_check_that_cannot_be_code_is_told_once_and_interpreted(monkeypatch):
    remarks = []
    monkeypatch.setattr(perturbed, "perturbed", lambda *of: REFUSED)
    found = Jit(load(STRAIGHT).loaded)
    about = request({}, {}, Options(remark=remarks.append))
    assert [found.perturbed(about, 1, 50, 9.0) for _ in range(2)] == [None, None]
    assert remarks == [REFUSED]
    with pytest.raises(ProgramError, match="for this test"):
        found.perturbed(about.changed(options=Options(compile="always")), 1, 0, 0.0)
