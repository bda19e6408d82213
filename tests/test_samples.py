"""Every program in samples/: what its comments promise, its JSON, its derivatives."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from gradcli.program import Options, load

from sample_programs import ROOT, SAMPLES, expectations, same_line

SEED = 3
OPTIONS = Options(SEED, lambda text: None, False, False)
WITH_RESULT = [s for s in SAMPLES if load(s).run(options=OPTIONS).result is not None]

each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.stem)


def gradcli(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, f"gradcli {arguments}: {done.returncode}\n{done.stderr}"
    return done.stdout


@each_sample
def test_a_sample_says_what_it_shows_and_promises_something(sample):
    text = sample.read_text("utf-8")
    assert re.match(r"# \w", text), f"{sample.name} does not begin with what it shows"
    assert any(e.sample == sample for e in expectations()), f"{sample.name} has no `# expect:`"


@pytest.mark.parametrize("expected", expectations(), ids=lambda e: e.id)
def test_what_the_comments_promise(expected):
    lines = gradcli(*expected.command).splitlines()
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


def same_bits(a, b):
    """Whether a value and its JSON hold the same numbers, bit by bit."""
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_bits(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same_bits, a, b))
    if isinstance(a, np.ndarray):
        return np.array(b, a.dtype).tobytes() == a.tobytes()
    return type(a) is type(b) and a == b


@each_sample
def test_json_of_run(sample):
    found = json.loads(gradcli("run", sample, "--json", "--seed", SEED))
    result = load(sample).run(options=OPTIONS)
    fields = ["schema", "output", "result", "values", "grad", "printed", "warnings"]
    assert list(found) == fields, f"{sample.name}: {list(found)}"
    assert found["schema"] == "gradcli.run/1"
    assert found["output"] == result.output
    for field in ("result", "values", "grad", "printed", "warnings"):
        expected = getattr(result, field)
        assert same_bits(expected, found[field]), f"{sample.name} {field}: {found[field]}"


@pytest.mark.parametrize("sample", WITH_RESULT, ids=lambda s: s.stem)
def test_json_of_grad(sample):
    result = load(sample).run(options=OPTIONS)
    weights = (
        [] if np.shape(result.result) == () else ["--cotangent", f"ones{np.shape(result.result)}"]
    )
    found = json.loads(gradcli("grad", sample, "--json", "--seed", SEED, *weights))
    fields = ["schema", "output", "value", "grad", "warnings"]
    assert list(found) == fields, f"{sample.name}: {list(found)}"
    assert found["schema"] == "gradcli.grad/1"
    cotangent = np.ones(np.shape(result.result)) if weights else None
    expected = load(sample).grad(cotangent=cotangent, options=OPTIONS)
    assert found["output"] == expected.output
    for field in ("value", "grad", "warnings"):
        assert same_bits(getattr(expected, field), found[field]), f"{sample.name} {field}"


def changed(value, index, by):
    copy = np.array(value, float)
    copy[index] += by
    return copy.tolist() if copy.shape else float(copy)


def float_inputs(sample):
    """Inputs of a sample that hold floats, with their values; none where it has no result."""
    if sample not in WITH_RESULT:
        return {}
    program = load(sample)
    values = program.run(options=OPTIONS).values
    return {
        name: values[name]
        for name in program.inputs
        if name in values and np.asarray(values[name]).dtype == float
    }


@pytest.mark.parametrize(
    ("sample", "name"),
    [pytest.param(s, n, id=f"{s.stem}-{n}") for s in SAMPLES for n in float_inputs(s)],
)
def test_gradients_agree_with_central_differences(sample, name):
    program = load(sample)
    point = float_inputs(sample)[name]
    shape = np.shape(program.run(options=OPTIONS).result)
    weights = np.random.default_rng(0).standard_normal(shape) if shape else None
    found = program.grad(wrt=name, cotangent=weights, options=OPTIONS).grad[name]
    assert np.shape(found) == np.shape(point), f"{sample.name} {name}: {found}"

    def result(index, by):
        value = program.run({name: changed(point, index, by)}, options=OPTIONS).result
        return np.vdot(1.0 if weights is None else weights, value)

    for index in np.ndindex(np.shape(point)):
        step = 1e-6 * max(1.0, abs(np.asarray(point)[index]))
        numeric = (result(index, step) - result(index, -step)) / (2 * step)
        got = np.asarray(found)[index]
        np.testing.assert_allclose(
            got, numeric, rtol=1e-5, atol=1e-5, err_msg=f"{sample.name} {name}{list(index)}"
        )


@pytest.mark.parametrize("seed", range(20))
def test_gradient_through_chance_and_branches_is_value_over_input(seed):
    options = Options(seed, lambda text: None, False, False)
    for x in (2.0, -0.3, 5000.0):
        found = load(ROOT / "samples/control_flow.grad").grad(x=x, wrt="x", options=options)
        assert found.grad["x"] == pytest.approx(found.value / x, rel=1e-15), f"seed {seed}, x={x}"


def test_the_network_learns():
    lines = load(ROOT / "samples/two_layer.grad").run(options=OPTIONS).printed
    losses = [float(line.split()[1]) for line in lines]
    assert losses == sorted(losses, reverse=True), f"losses rise: {losses}"
    assert losses[-1] < 1e-3 * losses[0], f"{losses}"


def test_newton_gives_the_derivative_of_the_root():
    for a in (1e-3, 0.5, 2.0, 9e6):
        found = load(ROOT / "samples/newton.grad").grad(a=a)
        assert found.value == pytest.approx(a**0.5, rel=1e-12), f"a={a}"
        assert found.grad["a"] == pytest.approx(0.5 / a**0.5, rel=1e-9), f"a={a}"
