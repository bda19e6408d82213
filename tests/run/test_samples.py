"""Every program in samples/: what its comments promise, its JSON, its derivatives."""

import json
import re
from functools import cache

import numpy as np
import pytest
from support.programs.sample_programs import ROOT, SAMPLES, expectations, same_line, shortened

from gradcli.program import Options, load

SEED = 3
OPTIONS = Options(SEED, lambda text: None, False, False)


@cache
def program(sample):
    """A sample in small: how its values are written and differentiated asks for no long loops."""
    return load(shortened(sample))


@cache
def result(sample):
    return program(sample).run(options=OPTIONS)


CUT = {"no_grad", "descent", "first_network"}
"""Samples whose result depends on what is computed under `no_grad`: constants to a gradient, not to
a difference."""

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.stem)


@each_sample
def test_a_sample_says_what_it_shows_and_promises_something(sample):
    text = sample.read_text("utf-8")
    assert re.match(r"# \w", text), f"{sample.name} does not begin with what it shows"
    assert any(e.sample == sample for e in expectations()), f"{sample.name} has no `# expect:`"


NETWORK = [e for e in expectations() if e.sample.stem == "two_layer"]
QUICK = [e for e in expectations() if e not in NETWORK]


@pytest.mark.parametrize("expected", QUICK, ids=lambda e: e.id)
def test_what_the_comments_promise(expected, cli, monkeypatch):
    monkeypatch.chdir(ROOT)
    check_promise(expected, cli)


def test_the_network_learns(cli, monkeypatch):
    monkeypatch.chdir(ROOT)
    (expected,) = NETWORK
    losses = [float(line.split()[1]) for line in check_promise(expected, cli)]
    assert losses == sorted(losses, reverse=True), f"losses rise: {losses}"
    assert losses[-1] < 1e-3 * losses[0], f"{losses}"


def check_promise(expected, cli):
    """The lines that a command of a comment prints, which are those that it shows."""
    status, out, err = cli(*expected.command)
    assert status == 0, f"{expected.id}: {status}\n{err}"
    lines = out.splitlines()
    assert len(lines) == len(expected.lines), f"{expected.id}: {lines} for {expected.lines}"
    for want, got in zip(expected.lines, lines, strict=True):
        assert same_line(want, got), f"{expected.id}: {got!r} for {want!r}"
    return lines


@pytest.mark.parametrize(
    ("expected", "got", "same"),
    [
        ("grad.x  4.5", "grad.x\t4.5", True),
        ("grad.x  4.5", "grad.x\t4.500000000001", True),
        ("grad.x  4.5", "grad.x\t4.50001", False),
        ("grad.x  4.5", "grad.y\t4.5", False),
        ("[1.0,2.0]", "[1.0]", False),
        ("[1.0,2.0]", "[1.0,2.5]", False),
        ("99 ...", "99 333.6", True),
        ("99 ...", "98 333.6", False),
        ("e2 1e-7", "e2 1e-07", True),
    ],
)
def test_lines_are_compared_by_words_and_numbers(expected, got, same):
    assert same_line(expected, got) is same, f"{expected!r} and {got!r}"


def printed_json(cli, question, sample, *arguments):
    line = [question, "-", *arguments, "--json", "--seed", SEED]
    status, out, _ = cli(*line, stdin=shortened(sample))
    assert status == 0, f"{question} {sample}"
    assert out.count("\n") == 1, f"{question} {sample} printed more than one line"
    return json.loads(out)


def same_bits(value, read):
    """Whether a value and what its JSON was read to hold the same numbers, bit by bit."""
    if isinstance(value, dict):
        return list(value) == list(read) and all(same_bits(value[k], read[k]) for k in value)
    if isinstance(value, (list, tuple)):
        return len(value) == len(read) and all(map(same_bits, value, read))
    if isinstance(value, np.ndarray):
        return np.array(read, value.dtype).tobytes() == value.tobytes()
    return type(value) is type(read) and value == read


@each_sample
def test_json_of_run(sample, cli):
    found = printed_json(cli, "run", sample)
    ran = result(sample)
    fields = ["schema", "output", "result", "values", "grad", "printed", "warnings"]
    assert list(found) == fields, f"{sample.name}: {list(found)}"
    assert found["schema"] == "gradcli.run/1"
    assert found["warnings"] == []
    for field in ("output", "result", "values", "grad", "printed"):
        assert same_bits(getattr(ran, field), found[field]), f"{sample.name}: {field} differs"


@each_sample
def test_json_of_grad(sample, cli):
    if result(sample).result is None:
        return
    shape = np.shape(result(sample).result)
    weights = ["--cotangent", f"ones({', '.join(map(str, shape))})"] if shape else []
    found = printed_json(cli, "grad", sample, *weights)
    graded = program(sample).grad(cotangent=np.ones(shape) if shape else None, options=OPTIONS)
    fields = ["schema", "output", "value", "grad", "warnings"]
    assert list(found) == fields, f"{sample.name}: {list(found)}"
    assert found["schema"] == "gradcli.grad/1"
    for field in ("output", "value", "grad"):
        assert same_bits(getattr(graded, field), found[field]), f"{sample.name}: {field} differs"
    assert [w["code"] for w in found["warnings"]] == [w.code for w in graded.warnings]


def float_inputs(sample):
    """Names of the inputs of a sample that hold floats."""
    if result(sample).result is None or sample.stem in CUT:
        return []
    values = result(sample).values
    held = [name for name in program(sample).inputs if name in values]
    return [name for name in held if np.asarray(values[name]).dtype == float]


@each_sample
def test_gradients_agree_with_central_differences(sample):
    """Along two directions that no entry of a gradient can hide from."""
    for name in float_inputs(sample):
        check_gradient(sample, name)


def check_gradient(sample, name):
    point = np.asarray(result(sample).values[name])
    shape = np.shape(result(sample).result)
    chance = np.random.default_rng(0)
    weights = chance.standard_normal(shape) if shape else 1.0
    found = program(sample).grad(wrt=name, cotangent=weights, options=OPTIONS).grad[name]
    assert np.shape(found) == np.shape(point), f"{sample.name} {name}: {found}"

    def moved_to(place):
        value = place if place.shape else float(place)
        return np.vdot(weights, program(sample).run({name: value}, options=OPTIONS).result)

    for _ in range(min(2, point.size)):
        way = (
            np.asarray(chance.standard_normal(point.shape))
            if point.size > 1
            else np.ones(point.shape)
        )
        step = 1e-6 * np.maximum(1.0, abs(point)) * way
        numeric = (moved_to(point + step) - moved_to(point - step)) / 2
        expected = np.vdot(found, step)
        scale = np.vdot(abs(np.asarray(found)), abs(step))
        assert abs(numeric - expected) <= 1e-6 * scale + 1e-14, (
            f"{sample.name} {name}: {expected} by the gradient, {numeric} by differences"
        )


@pytest.mark.parametrize("seed", range(20))
def test_gradient_through_chance_and_branches_is_value_over_input(seed):
    options = Options(seed, lambda text: None, False, False)
    for x in (2.0, -0.3, 5000.0):
        found = load(ROOT / "samples/control_flow.grad").grad(x=x, wrt="x", options=options)
        assert found.grad["x"] == pytest.approx(found.value / x, rel=1e-15), f"seed {seed}, x={x}"


def test_newton_gives_the_derivative_of_the_root():
    for a in (1e-3, 0.5, 2.0, 9e6):
        found = load(ROOT / "samples/newton.grad").grad(a=a)
        assert found.value == pytest.approx(a**0.5, rel=1e-12), f"a={a}"
        assert found.grad["a"] == pytest.approx(0.5 / a**0.5, rel=1e-9), f"a={a}"
