"""`gradcli ops`, and the recipe for a new operation: one entry, found everywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.engine.run.call import Builtins
from gradcli.program import operation, operations

ROOT = Path(__file__).parents[2]


def gradcli(*arguments, cwd=None, status=0):
    environment = {**os.environ, "PYTHONPATH": str(cwd or ROOT), "COLUMNS": "80"}
    done = subprocess.run(
        [sys.executable, "-m", "gradcli", *arguments],
        cwd=cwd or ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout, done.stderr


# the command ------------------------------------------------------------------------------


def test_the_list_has_every_operation_once():
    names = [name for o in operations() for name in (o.name, *o.aliases)]
    assert sorted(names) == sorted(Builtins().names())


def test_plain_is_four_columns_a_line():
    out, _ = gradcli("ops")
    rows = [line.split("\t") for line in out.splitlines()]
    assert len(rows) == len(operations())
    assert all(len(row) == 4 and all(row) for row in rows)
    assert ["sin", "Trigonometric", "sin(input)", "Sine of input in radians."] in rows


def test_json_holds_the_fields():
    out, _ = gradcli("ops", "relu", "--json")
    found = json.loads(out)
    assert found["schema"] == "gradcli.ops/1"
    (relu,) = found["ops"]
    assert relu["signature"] == "relu(input)"
    assert relu["derivative"] == {"input": "g * where(input > 0, 1, 0)"}
    assert relu["kinks"][0] == {"call": "relu(0)", "cotangent": None, "gradient": {"input": 0.0}}
    assert relu["inplace"] is True


@pytest.mark.parametrize("name", ["absolute", "torch.abs", "abs_", "F.abs"])
def test_a_name_may_be_an_alias_or_have_a_module(name):
    assert operation(name).name == "abs"


def test_an_unknown_name_is_a_usage_error():
    out, err = gradcli("ops", "reluu", status=2)
    assert out == ""
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
    for part in ("gradcli", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "reference")
        shutil.copytree(ROOT / part, copy / part, ignore=ignored)
    (copy / "docs").mkdir()
    with (copy / "gradcli/engine/ops/families/arithmetic.py").open("a", encoding="utf-8") as family:
        family.write(ENTRY)
    (copy / "gradcli/engine/ops/families/powers.py").write_text(FAMILY, "utf-8")
    for module in ("build", "pages.docs"):
        assert f"python -m gradcli.engine.ops.{module}" in (ROOT / "CONTRIBUTING.md").read_text()
        done = subprocess.run(
            [sys.executable, "-m", f"gradcli.engine.ops.{module}"],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    return copy


USES = [
    ("cube(x)", "12.0"),
    ("x.cube()", "12.0"),
    ("x = tensor([1.0, 2.0], requires_grad=True)\n(x * 1.0).cube_().sum()", "[3.0,12.0]"),
    ("cube(input=x)", "12.0"),
    ("jvp(cube, x, 1.0)[1]", "12.0"),
]


@pytest.mark.parametrize(("text", "gradient"), USES)
def test_one_entry_makes_function_method_and_twin(with_cube, text, gradient):
    given = () if "requires_grad" in text else ("x=2",)
    out, _ = gradcli("grad", "-e", text, *given, cwd=with_cube)
    assert out.splitlines()[1] == f"grad.x\t{gradient}"


def test_the_entry_is_described(with_cube):
    page = (with_cube / "docs/ops.md").read_text("utf-8")
    row = "| `cube(input)` | Third power of input. | input: `g * (input * input * 3)` | yes, `_` |"
    assert row in page
    out, _ = gradcli("ops", "cube", cwd=with_cube)
    assert "kink.cube(0)\tinput 0.0\n" in out


def test_a_family_is_one_file(with_cube):
    assert gradcli("run", "-e", "fourth(3.0)", cwd=with_cube)[0] == "81.0\n"
    page = (with_cube / "docs/ops.md").read_text("utf-8")
    headings = [line for line in page.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["## Arithmetic", "## Powers of numbers", "## Rounding"]


def test_the_checks_know_the_entry(with_cube):
    _, err = gradcli("run", "-e", "cube(1, 2)", cwd=with_cube, status=3)
    assert "`cube` takes 1 argument, got 2" in err
    _, err = gradcli("run", "-e", "y = 1", "-e", "cubee(y)", cwd=with_cube, status=3)
    assert "did you mean `cube`?" in err


def test_the_tables_of_tests_hold_the_entry(with_cube):
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider"),
            *("tests/ops/test_entries.py", "-k", "cube or index_is_fresh"),
        ],
        cwd=with_cube,
        env={**os.environ, "PYTHONPATH": f"{with_cube}{os.pathsep}{with_cube / 'tests'}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name in (
        "both_modes_agree_with_central_differences[cube]",
        "second_derivatives_agree_with_central_differences[cube]",
        "entries_are_complete[cube]",
        "samples_catch_a_wrong_factor[cube]",
        "index_is_fresh",
    ):
        assert f"PASSED tests/ops/test_entries.py::test_{name}\n" in done.stdout, done.stdout
