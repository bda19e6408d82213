"""Every program in samples/: what its comments promise, its JSON, its derivatives."""

import json
import re

import numpy as np
import pytest
from sample_programs import ROOT, SAMPLES, expectations, same_line

from gradcli.__main__ import _run
from gradcli.program import Options, load

SEED = 3
OPTIONS = Options(SEED, lambda text: None, False, False)
RESULTS = {sample: load(sample).run(options=OPTIONS) for sample in SAMPLES}
WITH_RESULT = [sample for sample in SAMPLES if RESULTS[sample].result is not None]

CUT = {"no_grad", "descent"}
"""Samples whose result depends on what is computed under `no_grad`: constants to a gradient, not to
a difference."""

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.stem)


@each_sample
def test_a_sample_says_what_it_shows_and_promises_something(sample):
    text = sample.read_text("utf-8")
    assert re.match(r"# \w", text), f"{sample.name} does not begin with what it shows"
    assert any(e.sample == sample for e in expectations()), f"{sample.name} has no `# expect:`"


@pytest.mark.parametrize("expected", expectations(), ids=lambda e: e.id)
def test_what_the_comments_promise(expected, cli, monkeypatch):
    monkeypatch.chdir(ROOT)
    status, out, err = cli(*expected.command)
    assert status == 0, f"{expected.id}: {status}\n{err}"
    lines = out.splitlines()
    assert len(lines) == len(expected.lines), f"{expected.id}: {lines} for {expected.lines}"
    for want, got in zip(expected.lines, lines, strict=True):
        assert same_line(want, got), f"{expected.id}: {got!r} for {want!r}"


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


def printed_json(capsys, *arguments):
    assert _run([str(a) for a in (*arguments, "--json", "--seed", SEED)]) == 0, f"{arguments}"
    text = capsys.readouterr().out
    assert text.count("\n") == 1, f"{arguments} printed more than one line"
    return json.loads(text)


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
def test_json_of_run(sample, capsys):
    found = printed_json(capsys, "run", sample)
    result = RESULTS[sample]
    fields = ["schema", "output", "result", "values", "grad", "printed", "warnings"]
    assert list(found) == fields, f"{sample.name}: {list(found)}"
    assert found["schema"] == "gradcli.run/1"
    assert found["warnings"] == []
    for field in ("output", "result", "values", "grad", "printed"):
        assert same_bits(getattr(result, field), found[field]), f"{sample.name}: {field} differs"


@pytest.mark.parametrize("sample", WITH_RESULT, ids=lambda s: s.stem)
def test_json_of_grad(sample, capsys):
    shape = np.shape(RESULTS[sample].result)
    weights = ["--cotangent", f"ones({', '.join(map(str, shape))})"] if shape else []
    found = printed_json(capsys, "grad", sample, *weights)
    result = load(sample).grad(cotangent=np.ones(shape) if shape else None, options=OPTIONS)
    fields = ["schema", "output", "value", "grad", "warnings"]
    assert list(found) == fields, f"{sample.name}: {list(found)}"
    assert found["schema"] == "gradcli.grad/1"
    for field in ("output", "value", "grad"):
        assert same_bits(getattr(result, field), found[field]), f"{sample.name}: {field} differs"
    assert [w["code"] for w in found["warnings"]] == [w.code for w in result.warnings]


def float_inputs(sample):
    """Names of the inputs of a sample that hold floats."""
    if sample not in WITH_RESULT or sample.stem in CUT:
        return []
    values = RESULTS[sample].values
    return [n for n in load(sample).inputs if n in values and np.asarray(values[n]).dtype == float]


@pytest.mark.parametrize(
    ("sample", "name"),
    [pytest.param(s, n, id=f"{s.stem}-{n}") for s in SAMPLES for n in float_inputs(s)],
)
def test_gradients_agree_with_central_differences(sample, name):
    """Along two directions that no entry of a gradient can hide from."""
    program = load(sample)
    point = np.asarray(RESULTS[sample].values[name])
    shape = np.shape(RESULTS[sample].result)
    chance = np.random.default_rng(0)
    weights = chance.standard_normal(shape) if shape else 1.0
    found = program.grad(wrt=name, cotangent=weights, options=OPTIONS).grad[name]
    assert np.shape(found) == np.shape(point), f"{sample.name} {name}: {found}"

    def result(moved):
        value = moved if moved.shape else float(moved)
        return np.vdot(weights, program.run({name: value}, options=OPTIONS).result)

    for _ in range(min(2, point.size)):
        way = (
            np.asarray(chance.standard_normal(point.shape))
            if point.size > 1
            else np.ones(point.shape)
        )
        step = 1e-6 * np.maximum(1.0, abs(point)) * way
        numeric = (result(point + step) - result(point - step)) / 2
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


def test_the_network_learns():
    printed = RESULTS[ROOT / "samples/two_layer.grad"].printed
    losses = [float(line.split()[1]) for line in printed]
    assert losses == sorted(losses, reverse=True), f"losses rise: {losses}"
    assert losses[-1] < 1e-3 * losses[0], f"{losses}"


def test_newton_gives_the_derivative_of_the_root():
    for a in (1e-3, 0.5, 2.0, 9e6):
        found = load(ROOT / "samples/newton.grad").grad(a=a)
        assert found.value == pytest.approx(a**0.5, rel=1e-12), f"a={a}"
        assert found.grad["a"] == pytest.approx(0.5 / a**0.5, rel=1e-9), f"a={a}"
