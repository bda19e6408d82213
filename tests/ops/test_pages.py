"""`gradcli ops`, and the recipe for a new operation: one entry, found everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.engine.ops import catalog as op_module
from gradcli.engine.run.language.names import Builtins
from gradcli.program import operation, operations

ROOT = Path(__file__).parents[2]


# the command ------------------------------------------------------------------------------


def test_the_list_has_every_operation_once():
    names = [name for o in operations() for name in (o.name, *o.aliases)]
    assert sorted(names) == sorted(Builtins().names())


def test_plain_is_four_columns_a_line(cli):
    _, out, _ = cli("ops")
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == len(operations())
    assert all(len(row) == 4 and all(row) for row in rows)
    assert ["sin", "Trigonometric", "sin(input)", "Sine of input in radians."] in rows


def test_json_holds_the_fields(cli):
    _, out, _ = cli("ops", "relu", "--json")
    found = json.loads(out)
    assert found["schema"] == "gradcli.ops/1"
    (relu,) = found["ops"]
    assert relu["signature"] == "relu(input)"
    assert relu["derivative"] == {"input": "g * where(input <= 0, 0, 1)"}
    assert relu["kinks"][0] == {"call": "relu(0)", "cotangent": None, "gradient": {"input": 0.0}}
    assert relu["inplace"] is True
    assert relu["in_python"] is False


def test_what_machine_code_calls_in_python(cli):
    """It is said in the list, of one operation and in JSON."""
    _, out, _ = cli("ops", "--json")
    named = {op["name"] for op in json.loads(out)["ops"] if op["in_python"]}
    assert named >= {"i0", "i1", "erfinv", "ndtri"}
    assert not named & {"sin", "threshold", "pow", "sum"}
    assert cli("ops", "-f", "human")[1].count("In Python: ") == len(named)
    assert "in Python" in cli("ops", "i0", "-f", "human")[1]


@pytest.mark.parametrize("name", ["absolute", "torch.abs", "abs_", "F.abs"])
def test_a_name_may_be_an_alias_or_have_a_module(name):
    assert operation(name).name == "abs"


def test_an_unknown_name_is_a_usage_error(cli):
    status, out, err = cli("ops", "reluu")
    assert (status, out) == (2, "")
    assert err == (
        "gradcli: error[unknown-name]: no operation `reluu`\n  = help: did you mean `relu`?\n"
    )


@pytest.mark.parametrize("width", ["20", "40", "80"])
def test_every_operation_is_shown_within_the_terminal(width):
    from gradcli.render.operations import operation_view, operations_view
    from gradcli.render.text import plain_text

    found = operations()
    assert all(
        len(line) <= int(width)
        for line in plain_text(operations_view(found, width=int(width))).splitlines()
    )
    for o in found:
        text = plain_text(operation_view(o, precision=6, width=int(width)))
        assert o.name in "".join(line.strip() for line in text.splitlines())


# the recipe of CONTRIBUTING.md ------------------------------------------------------------

ENTRY = """

cube: Op = elementwise(
    "cube",
    args=("input",),
    doc="Third power of input.",
    source="power rule",
    number=lambda x: float(x * x * x),
    array=lambda x: np.multiply(np.multiply(x, x), x),
    partials=(lambda out, x: mul(mul(x, x), 3.0),),
    saves=("input",),
    samples=lambda: tuple(
        map(sample, (0.5, -2.0, 3.0, [], [1.5], [[1.0, -2.0]], [[0.5], [3.0]], [0.25, 1.0]))
    ),
    known=lambda: (known(0.0, grad=(0.0,)),),
)
"""

FAMILY = '''"""Powers."""

from typing import Any

from gradcli.engine.ops.op import Op, composite, sample
from gradcli.engine.ops.catalog import ops

FAMILY = 15, "Powers of numbers"

fourth: Op = composite(
    "fourth",
    lambda x: ops.square(ops.square(x)),
    args=("input",),
    doc="Fourth power of input.",
    samples=lambda: (sample(2.0),),
)
'''


@pytest.fixture(scope="module")
def with_cube(tmp_path_factory):
    """A copy of the project with one entry and one family more, and the two commands of the recipe
    run.
    """
    copy = tmp_path_factory.mktemp("recipe")
    for part in ("gradcli", "tests"):  # with what is compiled of them
        shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("reference"))
    (copy / "docs").mkdir()
    with (copy / "gradcli/engine/ops/families/arithmetic.py").open("a", encoding="utf-8") as family:
        family.write(ENTRY)
    (copy / "gradcli/engine/ops/families/powers.py").write_text(FAMILY, "utf-8")
    for module in ("make", "engine.ops.pages.docs"):
        assert f"python -m gradcli.{module}" in (ROOT / "CONTRIBUTING.md").read_text()
        python("-m", f"gradcli.{module}", cwd=copy)
    return copy


def python(*arguments, cwd):
    """What an interpreter prints that imports from a folder."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(cwd), str(cwd / "tests")))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


LINES = """
import json, sys
from support.processes.in_process import command
print(json.dumps([command(*line) for line in json.loads(sys.argv[1])]))
"""


USES = {  # a program, what is given, the gradient
    "cube(x)": (["x=2"], "12.0"),
    "x.cube()": (["x=2"], "12.0"),
    "x = tensor([1.0, 2.0], requires_grad=True)\n(x * 1.0).cube_().sum()": ([], "[3.0,12.0]"),
    "cube(input=x)": (["x=2"], "12.0"),
    "jvp(cube, x, 1.0)[1]": (["x=2"], "12.0"),
}


OTHERS = {
    "described": ["ops", "cube"],
    "family": ["run", "-e", "fourth(3.0)"],
    "count": ["run", "-e", "cube(1, 2)"],
    "name": ["run", "-e", "y = 1", "-e", "cubee(y)"],
}


@pytest.fixture(scope="module")
def answers(with_cube):
    """Status, output and messages of each program and command line, run by one process of the
    copy.
    """
    lines = {text: ["grad", "-e", text, *given] for text, (given, _) in USES.items()} | OTHERS
    found = json.loads(python("-c", LINES, json.dumps([*lines.values()]), cwd=with_cube))
    return dict(zip(lines, found, strict=True))


def test_one_entry_makes_function_method_and_twin(answers):
    for text, (_, gradient) in USES.items():
        status, out, err = answers[text]
        assert (status, err) == (0, ""), f"{text}: {err}"
        assert out.splitlines()[1] == f"grad.x\t{gradient}", text


def test_the_entry_is_described(with_cube, answers):
    page = (with_cube / "docs/ops.md").read_text("utf-8")
    row = "| `cube(input)` | Third power of input. | input: `g * (input * input * 3)` | yes, `_` |"
    assert row in page
    assert "kink.cube(0)\tinput 0.0\n" in answers["described"][1]


def test_a_family_is_one_file(with_cube, answers):
    assert answers["family"] == [0, "81.0\n", ""]
    page = (with_cube / "docs/ops.md").read_text("utf-8")
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["## Arithmetic", "## Powers of numbers", "## Rounding"]


def test_the_checks_know_the_entry(answers):
    (status, _, err), (other, _, said) = answers["count"], answers["name"]
    assert (status, other) == (3, 3)
    assert "`cube` takes 1 argument, got 2" in err
    assert "did you mean `cube`?" in said


def test_the_tables_of_tests_hold_the_entry(with_cube):
    printed = python(
        *("-m", "pytest", "-rA", "-p", "no:cacheprovider"),
        *("tests/ops/test_entries.py", "-k", "cube"),
        cwd=with_cube,
    )
    for name in (
        "both_modes_agree_with_central_differences[arithmetic]",
        "second_derivatives_agree_with_central_differences[arithmetic]",
        "entries_are_complete[arithmetic]",
        "samples_catch_a_wrong_factor[arithmetic]",
    ):
        assert f"PASSED tests/ops/test_entries.py::test_{name}\n" in printed, printed


def test_no_description_begins_with_a_riddle():
    """The subject itself, or a condition after `True if`, says more than these words."""
    catalog = op_module.ops
    riddles = [n for n in catalog if catalog[n].page.doc.startswith(("Whether", "What "))]
    assert not riddles
