"""Curves over an input: the numbers of `jvp`, and where they have kinks."""

import math

import pytest
from support.pages.plot_views import PROGRAMS, plotted

from gradcli.errors import GradError, InputError, RunError, UsageError
from gradcli.program import Options, Program, load
from gradcli.results import JvpResult


def curve(text, at, **asked):
    (found,) = load(text).plot(over="x", at=at, **asked).curves
    return found


def spaced(first, last, count=41):
    return [first + (last - first) * i / (count - 1) for i in range(count)]


@pytest.mark.parametrize("mode", ["never", "always"])
def test_values_and_derivatives_are_those_of_each_point(mode):
    program, at = load("k = 3\ny = sin(x) * k\ny * x"), spaced(-2.0, 2.0, 20)
    (found,) = program.plot(over="x", at=at, options=Options(compile=mode)).curves
    each = [program.jvp(x=x, tangents={"x": 1.0}) for x in at]
    assert found.value == tuple(r.value for r in each)
    assert found.grad == tuple(r.jvp for r in each)


BREAKS = [
    ("abs(x)", [(0.0, -1.0, 1.0, False)]),
    ("relu(x - 0.3) + abs(x + 0.7)", [(-0.7, -1.0, 1.0, False), (0.3, 1.0, 2.0, False)]),
    ("where(x > 0.25, x ** 2, x)", [(0.25, 1.0, 0.5, True)]),
    ("floor(x * 2)", [(-0.5, 0.0, 0.0, True), (0.0, 0.0, 0.0, True), (0.5, 0.0, 0.0, True)]),
    ("1 / (x - 0.123)", [(0.123, -math.inf, -math.inf, True)]),
    ("1 / x ** 2", [(0.0, math.inf, -math.inf, True)]),
    ("max([x, 0.4 * x])", [(0.0, 0.4, 1.0, False)]),
    ("abs(x - 0.001) + abs(x - 0.012)", [(0.012, 0.0, 2.0, False)]),  # between the same points
    ("abs(x - 0.01) + 1 / (x + 0.5)", [(-0.5, -math.inf, -math.inf, True), (0.01, -5, -3, False)]),
    ("relu(x - 0.002) + 5 * relu(x - 0.05)", [(0.002, 0, 1, False), (0.05, 1, 6, False)]),
    ("relu(x + 0.9) + 5 * relu(x + 0.86)", [(-0.9, 0, 1, False), (-0.86, 1, 6, False)]),
    ("10 * x + where(x > 0.25, 0.35, 0.0)", [(0.25, 10.0, 10.0, True)]),  # less than the slope does
    ("0.01 * abs(x)", [(0.0, -0.01, 0.01, False)]),
    ("1e4 * where(x > 0.25, 2.0, 1.0) + 0 * x", [(0.25, 0.0, 0.0, True)]),
    ("1e-3 * where(x > 0.25, 2.0, 1.0) + 0 * x", [(0.25, 0.0, 0.0, True)]),
    ("relu(x - 0.9) + relu(-0.95 - x)", [(-0.95, -1, 0, False), (0.9, 0, 1, False)]),  # at the ends
    *(
        (text, [])
        for text in ("x", "x ** 9", "sin(40 * x)", "tanh(50 * x)", "exp(20 * x)", "0 * x")
    ),
    *((text, []) for text in ("log(x)", "x * nan", "sqrt(x)", "floor(x * 0.1 + 0.5)")),
]


@pytest.mark.parametrize(("text", "expected"), BREAKS, ids=[text for text, _ in BREAKS])
def test_kinks_jumps_and_poles_are_found_between_the_points(text, expected):
    found = curve(text, spaced(-0.98, 0.93)).breaks
    assert [(b.at, b.jump is not None) for b in found] == [
        (pytest.approx(at, abs=1e-9), jumps) for at, _, _, jumps in expected
    ]
    if "0.01" not in text:
        sides = [(b.left, b.right) for b in found]
        assert sides == [
            (pytest.approx(a, abs=1e-4), pytest.approx(b, abs=1e-4)) for _, a, b, _ in expected
        ]


STEPS = """k = 0
y = 100.0 * x
while k < 30:
    y = y + where(x > k + 0.3, 30.0, 0.0)
    k = k + 1
y"""


def test_of_many_jumps_the_clearest_are_shown():
    """All are as high, on values that grow: they stand out less and less."""
    found = curve(STEPS, spaced(0.0, 30.0, 61)).breaks
    assert [b.at for b in found] == [pytest.approx(k + 0.3, abs=1e-9) for k in range(24)]


def test_what_is_smooth_is_asked_for_at_the_points_alone(monkeypatch):
    asked = []
    ask = Program.jvp
    monkeypatch.setattr(Program, "jvp", lambda *a, **k: asked.append(a) or ask(*a, **k))
    for text in ("exp(x)", "x ** 2", "3 * x + 1", "sin(x)"):
        curve(text, spaced(0.1, 1.0), options=Options(compile="never"))
    assert len(asked) == 4 * 41


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3, 1e6])
def test_a_kink_is_found_to_ten_digits_of_the_distance_between_points(size):
    at = 0.12345678901234567 * size
    (found,) = curve(f"abs(x - {at!r})", spaced(-size, size)).breaks
    assert found.at == pytest.approx(at, rel=0, abs=1e-10 * size / 20)


def test_a_result_of_few_elements_has_a_curve_for_each():
    found = load("y = stack([x, x ** 2])\ny").plot(over="x", at=[0.0, 1.0, 2.0]).curves
    assert [(c.name, c.grad) for c in found] == [("y[0]", (1.0,) * 3), ("y[1]", (0.0, 2.0, 4.0))]
    with pytest.raises(RunError, match="has 9 elements"):
        curve("ones(9) * x", [0.0, 1.0])


def test_several_results_are_several_curves():
    found = plotted("two")
    assert [c.name for c in found.curves] == ["a", "b"]
    assert found.curves[0].grad == tuple(math.cos(x) for x in found.points)


def test_names_and_units_are_those_of_the_program():
    found = plotted("jumps")
    assert (found.label, found.curves[0].label) == ("x (s)", "v (m/s)")
    assert plotted("pole").curves[0].label == "1 / x"


LABELS = {  # the program, the label of the result
    "y = x * 2  # kg\ny": "y (kg)",
    "y = x * 2  # 123456789012345678901234\ny": "y (123456789012345678901234)",
    "y = x * 2  # 1234567890123456789012345\ny": "y",  # too long for a unit
    "y = x * 2  # kg\ny = y + 1\ny": "y",  # whose unit it is cannot be told
    "y = x * 2\ny": "y",
    f"x * 1.{'0' * 44}": f"x * 1.{'0' * 44}",
    f"x * 1.{'0' * 45}": "result",
    "x * (1 +\n2)": "result",
}


@pytest.mark.parametrize(("text", "label"), LABELS.items(), ids=LABELS)
def test_a_result_is_labelled_by_its_name_or_text_and_its_unit(text, label):
    assert curve(text, [0.0, 1.0]).label == label


@pytest.mark.parametrize("compile", ["never", "always"])
@pytest.mark.parametrize("text", ["log(x)", "1 / x", "sqrt(x) + x"])
def test_points_that_are_not_finite_are_asked_by_themselves(text, compile):
    at = spaced(-1.0, 1.0, 5)
    found = curve(text, at, options=Options(compile=compile))
    each = [load(text).jvp(x=x, tangents={"x": 1.0}, options=Options(compile="never")) for x in at]
    assert repr(found.value) == repr(tuple(r.value for r in each))
    assert repr(found.grad) == repr(tuple(r.jvp for r in each))


def test_ever_more_points_are_asked_together(monkeypatch):
    first = []

    def one_by_one(program, name, given, **asked):
        first.append(given["x"].value)

    monkeypatch.setattr(Program, "many", one_by_one)
    monkeypatch.setattr(Program, "jvp", lambda *a, **k: JvpResult("y", 1.0, jvp=0.0))
    curve("x * 2", [float(k) for k in range(9000)])
    assert first == [0, 16, 48, 112, 240, 496, 1008, 2032, 4080, 8176]


def test_progress_is_told_after_each_point_of_each_result():
    told = []
    options = Options(progress=lambda done, total: told.append((done, total)))
    load("a = x * 2\nb = a + x\na").plot(
        over="x", at=spaced(0, 1, 3), of=["a", "b"], options=options
    )
    assert told == [(k, 6) for k in range(1, 7)]


def test_random_numbers_are_the_same_at_each_point():
    assert curve("x * 0 + randn(size=())", [0.0, 1.0, 2.0]).grad == (0.0, 0.0, 0.0)
    assert len(set(curve("x * 0 + randn(size=())", [0.0, 1.0, 2.0]).value)) == 1


def test_what_cannot_be_gone_over_is_refused():
    with pytest.raises(InputError, match="no input `z` to go over"):
        load("x * 2").plot(over="z", at=[0.0, 1.0])
    with pytest.raises(UsageError, match="`x` is given by x=2"):
        load("x * 2").plot(over="x", at=[0.0, 1.0], x=2)
    with pytest.raises(GradError) as refused:
        curve("assert x < 0.5\nx", [0.0, 1.0])
    assert "at x = 1.0" in refused.value.diagnostics[0].notes


def test_a_shape_that_changes_is_refused():
    with pytest.raises(RunError, match=r"shape \[2\] at x = 1.0, and \[1\] at 0.0"):
        curve("y = [x]\nif x > 0.5: y = [x, x]\ny", [0.0, 1.0])


def test_a_constant_is_told_once():
    found = load("x.detach() * 2").plot(over="x", at=[0.0, 1.0])
    assert [w.code for w in found.warnings] == ["unused-input"]


def test_every_program_with_a_golden_file_is_one():
    assert all(plotted(name, 5).curves for name in PROGRAMS)
