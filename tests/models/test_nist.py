"""NIST's certified regressions, asked as the command asks them."""

import json

import numpy as np
import pytest
from support.models.nist import problems

from gradcli.program import Options, fit, load

DEFAULT = ("Misra1a", "Chwirut2", "Lanczos1", "Lanczos3", "Gauss1", "MGH17", "Nelson", "Rat43")
CASES = [
    pytest.param(
        name, k, id=f"{name}-{k + 1}", marks=[] if k == 1 and name in DEFAULT else pytest.mark.long
    )
    for name in problems()
    for k in (0, 1)
]


def digits(found, wanted):
    """The least count of significant digits that two lists share."""
    off = np.abs(np.asarray(found) - wanted) / np.abs(wanted)
    return -np.log10(off.max()) if off.max() else 16.0


def fitted(problem, start, **asked):
    names = [f"b{k}" for k in range(1, len(problem.values) + 1)]
    columns = np.array(problem.records, float).T
    table = dict(zip(problem.columns, columns, strict=True))
    observed = "log(y)" if "z" in table else "y"
    given = dict(zip(names, problem.starts[start], strict=True))
    program = load_free(problem.formula, table, given)
    return fit(program, table, given, observed=[observed], **asked)


def load_free(formula, *names):
    from gradcli.program import load_source
    from gradcli.source import Source

    return load_source(Source("<expr>", formula), frozenset(n for some in names for n in some))


@pytest.mark.parametrize(("name", "start"), CASES)
def test_the_certified_values_are_found(name, start):
    problem = problems()[name]
    found = fitted(problem, start)
    assert found.converged, found.reason
    assert digits([e.value for e in found.estimates], problem.values) > 6
    wanted = 2.5 if name == "Lanczos1" else 6  # its residuals are the rounding of the data
    assert digits([e.error for e in found.estimates], problem.errors) > wanted
    assert digits([found.figures["rss"]], [problem.squares]) > wanted


def test_code_and_the_interpreter_give_one_answer():
    problem = problems()["Misra1b"]
    ways = [fitted(problem, 1, options=Options(compile=how)) for how in ("always", "never")]
    assert ways[0].estimates == ways[1].estimates


SHOWN = {("Rat43", 1), ("Misra1a", 1), ("Nelson", 1)}


@pytest.mark.parametrize(
    ("name", "start"),
    [
        pytest.param(name, k, marks=[] if (name, k) in SHOWN else pytest.mark.long)
        for name in problems()
        for k in (0, 1)
    ],
)
def test_the_command_line_finds_the_certified_values(name, start, forked, tmp_path):
    problem = problems()[name]
    (tmp_path / "d.csv").write_text(problem.csv)
    given = [f"b{k}={x}" for k, x in enumerate(problem.starts[start], 1)]
    line = ["fit", problem.formula, "--rows", "d.csv", *given, "--json", "--observed"]
    line += ["log(y)" if name == "Nelson" else "y"]
    done = forked.run(*line, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    names = [f"b{k}" for k in range(1, len(problem.values) + 1)]
    assert digits([found["values"][b] for b in names], problem.values) > 6
    wanted = 2.5 if name == "Lanczos1" else 6
    assert digits([found["error"][b] for b in names], problem.errors) > wanted
    assert digits([found["rss"]], [problem.squares]) > wanted


def test_a_program_file_fits_alike(cli, tmp_path):
    problem = problems()["Rat43"]
    (tmp_path / "rat43.csv").write_text(problem.csv)
    given = [f"b{k}={x}" for k, x in enumerate(problem.starts[0], 1)]
    files = ["--rows", tmp_path / "rat43.csv", "--observed", "y"]
    status, out, err = cli("fit", "samples/rat43.grad", *files, *given, "-r")
    assert (status, err) == (0, "")
    assert digits([float(line) for line in out.split()], problem.values) > 6
    assert load("samples/rat43.grad").fit  # the method that the command asks
