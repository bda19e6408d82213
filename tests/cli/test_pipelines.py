"""The pipelines that must work, as a shell runs them."""

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = Path(sys.executable).parent


@pytest.fixture
def bash(tmp_path, forked):
    """Run a script in a folder with a program and data, gradcli on the path."""
    (tmp_path / "f.grad").write_text("input x = 1.0\nx ** 2 + 3 * x\n")
    (tmp_path / "vals.txt").write_text("1\n2\n3\n")
    (tmp_path / "pts.json").write_text('[{"x": 1}, {"x": 2}]')
    (tmp_path / "big.csv").write_text("x\n" + "".join(f"{i}\n" for i in range(20_000)))

    def run(script):
        done = forked.shell(script, tmp_path)
        return done.returncode, done.stdout, done.stderr

    return run


def needs(*programs):
    missing = [p for p in programs if shutil.which(p) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} is not installed")


@needs("jq")
def test_a_gradient_into_jq(bash):
    assert bash("gradcli grad f.grad x=2 --json | jq .grad.x") in (
        (0, "7\n", ""),
        (0, "7.0\n", ""),
    )


def test_a_formula_from_echo(bash):
    script = "echo 'x ** 2 + 3 * x' | gradcli grad --wrt x x=2 -r"
    assert bash(script) == (0, "7.0\n", "")


def test_a_loop_keeps_its_input(bash):
    script = "while read v; do gradcli run f.grad x=$v -r; done < vals.txt"
    assert bash(script) == (0, "4.0\n10.0\n18.0\n", "")


@needs("jq")
def test_rows_from_jq(bash):
    status, out, err = bash("jq -c '.[]' pts.json | gradcli grad f.grad --rows -")
    assert (status, err) == (0, "")
    assert [json.loads(line)["grad"]["x"] for line in out.splitlines()] == [5.0, 7.0]


@needs("jq", "mlr")
def test_rows_from_jq_into_miller(bash):
    script = "jq -c '.[]' pts.json | gradcli grad f.grad --rows - | mlr --ijsonl --ocsv cat"
    status, out, err = bash(script)
    assert (status, err) == (0, "")
    table = list(csv.DictReader(out.splitlines()))
    assert [(row["row"], row["value"], row["grad.x"]) for row in table] == [
        ("0", "4.0", "5.0"),
        ("1", "10.0", "7.0"),
    ]


def test_a_reader_that_leaves_ends_it_silently(bash):
    script = "gradcli run f.grad --rows big.csv | head -1; echo ${PIPESTATUS[0]}"
    assert bash(script) == (0, "result\n141\n", "")


def test_many_at_once(bash):
    status, out, err = bash("seq 6 | xargs -P2 -I{} gradcli run f.grad x={} -r")
    assert (status, err) == (0, "")
    assert sorted(map(float, out.split())) == [x * x + 3.0 * x for x in range(1, 7)]


def test_a_check_in_an_if(bash):
    assert bash("if gradcli gradcheck f.grad -q; then echo right; fi") == (0, "right\n", "")


def test_a_graph_for_dot(bash):
    status, out, err = bash("gradcli graph f.grad -f dot > g.dot && head -1 g.dot")
    assert (status, out, err) == (0, "digraph gradcli {\n", "")


@needs("dot")
def test_a_graph_through_dot(bash):
    status, out, err = bash(
        "gradcli graph f.grad -f dot | dot -Tsvg > g.svg; grep -c '<g id=' g.svg"
    )
    assert (status, err) == (0, "")
    assert int(out) > 5  # its nodes and edges


def test_one_gradcli_feeds_another(bash):
    script = "gradcli run -e 'x = 2.5' -e x --json | gradcli grad f.grad -i - -r"
    assert bash(script) == (0, "8.0\n", "")


def test_descent_in_the_shell(bash):
    script = (
        "x=1; for i in 1 2 3; do x=$(gradcli grad f.grad x=$x -r | "
        "awk -v x=$x '{printf \"%.12g\", x - 0.4 * $1}'); done; echo $x"
    )
    status, out, _ = bash(script)
    assert (status, round(float(out), 6)) == (0, -1.48)
