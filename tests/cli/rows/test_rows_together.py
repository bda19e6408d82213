"""Rows that are answered together are answered as those that are asked one by one."""

from importlib.util import find_spec
from unittest.mock import Mock

import numpy as np
import pytest

from gradcli.cli.rows import many_rows, rows
from gradcli.cli.rows.row_layout import RowLayout
from gradcli.cli.rows.row_writer import Together
from gradcli.cli.rows.workers import workers
from gradcli.engine.compile import backends
from gradcli.questions.coded import compiled
from gradcli.questions.coded.compiled import Compiled


def table(count, odd, end="\n"):
    """Sites and two numbers; other lines in the place of some."""
    lines = {i: f"s{i},{i / 8 - 3},{1 + i % 7}" for i in range(count)} | odd
    return end.join(["site,a,b", *(lines[i] for i in range(count)), ""])


def wide(count, width):
    """Rows of the elements of a tensor, one of which is no number."""
    lines = [
        f"{i}" + "".join(f",{(i * 7 + k) % 11 / 4}" for k in range(width)) for i in range(count)
    ]
    lines[count // 2] = lines[count // 2].replace("2.5", "x")
    return "\n".join(["site," + ",".join(f"v.{k}" for k in range(width)), *lines, ""])


PLAIN = table(60, {})
ODD_LINES = {
    30: "s30,x,2",
    31: "s31,-0,2",
    33: "s33,inf,1",
    34: "s34,1e999,1",
    40: '"s,40",1,2',
    45: "s45,1",
    50: "",
    59: "\u00e9,2,3",
}
PRODUCT = ["-e", "y = a * b + b ** 3", "-e", "y"]
VECTOR = ["-e", "input v: float[2]", "-e", "v[0] * v[1]"]
INT = ["-e", "input a = 1.0", "-e", "input b: int = 1", "-e", "a * b + b"]
DIGITS = [*INT[:4], "-e", "a * (b % 1000)"]
LARGE = {k: f"s{k},1,{sign * (2**53 + k)}" for k in range(20, 60) for sign in [(-1) ** (k // 8)]}
KINDS = ["-e", "input a: int = 1", "-e", "input b: int = 1"]
UNUSED = ["-e", "input b = 1.0", "-e", "input a = 1.0", "-e", "a * a"]
SIGNS = str.maketrans(",.", ";,")
TABLES = {
    "plain": (PLAIN, PRODUCT),
    "crlf": (table(60, {}, "\r\n"), PRODUCT),
    "odd": (table(60, ODD_LINES), PRODUCT),
    "no end": (PLAIN.rstrip(), PRODUCT),
    "signs": (PLAIN.translate(SIGNS), [*PRODUCT, "--separator", ";", "--decimal", ","]),
    "missing": (table(60, {40: "s40,NA,2"}), [*PRODUCT, "--na", "NA"]),
    "elements": (PLAIN.replace("site,a,b", "site,v.1,v.0"), VECTOR),
    "arrays": (wide(20, 70), [*("-e", "input v: float[70]"), "-e", "(v * v.roll(1)).sum()"]),
    "ints": (table(60, {40: "s40,1,1.5", 50: "s50,2,9007199254740993"}), INT),
    "large ints": (table(60, LARGE), DIGITS),
    "unused": (PLAIN, UNUSED),
}
FORMS = [
    *([], ["--keep", "site,FILE"], ["-r"], ["-f", "json"], ["-f", "md"], ["-o", "out.npz"]),
    *(["-f", "tsv", "--keep", "all"], ["--on-error", "skip"]),
    *(["--on-error", "record", "--keep", "site"], ["--on-error", "ignore"]),
]


@pytest.mark.parametrize("name", TABLES)
def test_rows_together_are_as_one_by_one(cli, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    text, options = TABLES[name]
    (tmp_path / "rows.csv").write_text(text, "utf-8", newline="")

    def answers(source, compiled, *form):
        command = ["grad", *options, "--rows", source, "--compile", compiled, *form]
        status, *said = cli(*command, stdin=text if source == "-" else "")
        held = {}
        if (tmp_path / "out.npz").exists():
            held = {name: str(found.tolist()) for name, found in np.load("out.npz").items()}
            (tmp_path / "out.npz").unlink()
        return status, *(s.replace("<stdin>", "rows.csv") for s in said), held

    for form in FORMS if name == "odd" else [["--on-error", "skip"]]:
        expected = answers("rows.csv", "never", *form)
        assert expected[0] in (0, 4)
        for source in ("rows.csv", "-") if name == "plain" else ("rows.csv",):
            assert answers(source, "always", *form) == expected, form
            with monkeypatch.context() as at_once:
                share = Mock(wraps=rows._shared)
                at_once.setattr(rows, "_shared", share)
                at_once.setattr(many_rows, "_WORTH", -1.0)
                at_once.setattr(many_rows, "_FIRST", 4)
                at_once.setattr(many_rows, "_LEAST_BYTES", 100)
                assert answers(source, "always", *form, "--jobs", "2") == expected, form
            assert share.called


@pytest.mark.parametrize(
    "result", ["a", "a > b", "[a, a > b]", "[a, a / 2]", "[a > b, a * 0.5, b]", "a * ones(2)"]
)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_number_is_written_as_what_the_result_makes_of_it(cli, result, form):
    rows = "a,b\n1,2\n3,0\n-5,4\n"
    command = ["run", *KINDS, "-e", result, "--rows", "-", "-f", form]
    expected = cli(*command, "--compile", "never", stdin=rows)
    assert cli(*command, "--compile", "always", stdin=rows) == expected
    objects = '{"a": 1, "b": 2}\n{"b": 0, "a": 3}\n{"a": -5, "b": 4}\n'
    assert cli(*command, "--compile", "always", stdin=objects) == expected


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_negative_zero_is_written_as_in_a_run(cli, form):
    """Tangents of several results are added up: 0.0 + -0.0 is 0.0."""
    rows = "a,b,k\n2,3,-0.0\n2,3,1\n"
    along = ["--tangent", "a=1", "--tangent", "b=1", "--rows", "-", "-f", form]
    run, code = (
        cli("jvp", "-e", "[a * k, b * k]", *along, "--compile", when, stdin=rows)
        for when in ("never", "always")
    )
    assert run == code
    assert "-0.0" in run[1]  # the values


ARRAYS = {
    "an inner product": ("grad", "(v * 0.3) @ v.roll(1)"),
    "a product with a matrix": ("grad", "(v.reshape(1, 69) @ ones(69, 3)).tanh().sum()"),
    "functions of vectors": ("grad", "exp(v - 2).sum() + v.logsumexp(0) + softmax(v, 0)[3]"),
    "a branch on an element": ("grad", "y = v.sum() if v[0] > 1 else (v * v).mean()\ny"),
    "a loop": ("grad", "y = v\nfor i in range(5): y = y * 0.5 + v\ny.sum()"),
    "a vector": ("run", "v * 2"),
    "truths": ("run", "v > 1.5"),
    "truths and a number": ("run", "[v[0] > 1, v.sum(), 3]"),
    "two names": ("run", "m = v.max()\nk = v.argmax()\nm"),
    "a Jacobian": ("jacobian", "stack([v.sum(), (v * v).sum()])"),
    "along a direction": ("jvp", "(v * v).sum()", "--tangent", f"v={[*range(69)]}"),
    "no finite number": ("grad", "log(v).sum()"),
}


@pytest.mark.parametrize("back_end", ["python", "machine code"])
@pytest.mark.parametrize("name", ARRAYS)
def test_rows_of_long_vectors_are_as_one_by_one(cli, monkeypatch, name, back_end):
    monkeypatch.setattr(many_rows, "_FIRST", 4)
    monkeypatch.setattr(many_rows, "_LEAST_BYTES", 4000)
    is_there = find_spec("llvmlite") is not None and back_end == "machine code"
    monkeypatch.setattr(backends, "has_machine_code", lambda: is_there)
    question, text, *more = ARRAYS[name]
    command = [question, "-e", "input v: float[69]", "-e", text, *more, "--rows", "-"]
    numbers = np.random.default_rng(0).normal(1.5, 0.4, (30, 69))
    lines = [",".join(map(repr, map(float, row))) for row in numbers]
    rows = "\n".join([",".join(f"v.{k}" for k in range(69)), *lines, ""])
    for form in ("csv", "ndjson"):
        asked = [*command, "-f", form, "--on-error", "skip"]
        expected = cli(*asked, "--compile", "never", stdin=rows)
        assert cli(*asked, "--compile", "always", stdin=rows) == expected
    found, together = [], Compiled.together

    def noted(self, *given):
        found.append(together(self, *given))
        return found[-1]

    monkeypatch.setattr(Compiled, "together", noted)
    cli(*command, "--compile", "always", "--on-error", "skip", stdin=rows)
    assert any(found)


def test_rows_whose_answers_need_much_memory_are_asked_by_themselves(cli, monkeypatch):
    arrays = Mock(return_value=None)
    rows = "\n".join([",".join(f"v.{k}" for k in range(100)), *[",".join(["1.5"] * 100)] * 40, ""])
    asked = ["jacobian", "-e", "input v: float[100]", "-e", "v * v.sum()", "--rows", "-"]
    expected = cli(*asked, "--compile", "never", stdin=rows)
    with monkeypatch.context() as little:
        little.setattr(compiled, "_ELEMENT", 10**12)  # bytes
        little.setattr(Compiled, "arrays", arrays)
        assert cli(*asked, "--compile", "always", stdin=rows) == expected
    assert not arrays.called


@pytest.mark.parametrize("bad", [[0], [16], [0, 16, 17]])
def test_a_broken_row_is_no_example_of_the_others(cli, bad):
    rows = "\n".join(["x", *("?" if i in bad else f"{i}" for i in range(40)), ""])
    command = ["grad", "-e", "input x", "-e", "x ** 2", "--rows", "-", "--on-error", "record"]
    expected = cli(*command, "--compile", "never", stdin=rows)
    assert expected[0] == 4
    assert cli(*command, "--compile", "always", stdin=rows) == expected
    assert cli(*command, stdin=rows) == expected
    assert cli(*command, "--jobs", "2", stdin=rows) == expected


def test_warnings_of_rows_together_are_told_once(cli, tmp_path):
    found = cli("grad", *UNUSED, "--rows", "-", "--compile", "always", stdin=PLAIN)
    assert found[2].count("does not depend on `b`") == 1
    assert "first in row 0, line 2; later ones are not shown" in found[2]


def test_rows_of_several_files_are_numbered_on(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text(table(40, {35: "s35,x,1"}), "utf-8")
    command = ["run", *PRODUCT, "--rows", "*.csv", "--on-error", "record", "--keep", "FILE"]
    expected = cli(*command, "--compile", "never")
    assert cli(*command, "--compile", "always") == expected
    assert "75,two.csv,,two.csv:37:5: `x` in column `a` is not a number\n" in expected[1].replace(
        '"', ""
    )


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_rows_together_know_their_lines(cli, monkeypatch, form):
    monkeypatch.setattr(many_rows, "_FIRST", 4)
    monkeypatch.setattr(many_rows, "_LEAST_BYTES", 100)
    found, together = [], RowLayout.together

    def noted(self, *given):
        found.append(together(self, *given))
        return found[-1]

    monkeypatch.setattr(RowLayout, "together", noted)
    asked = ["grad", *PRODUCT, "--rows", "-", "-f", form]
    by_themselves = {20: "s20,-0,1", 23: "s23,-0,1"}
    cli(*asked, "--compile", "always", stdin=table(60, by_themselves))
    assert {made.number for made in found} >= {21, 24}
    assert {made.line - made.number for made in found} == {2}
    if form == "csv":
        assert {type(made) for made in found} == {Together}
        apart = [answer for made in found for answer in made.apart()]
        assert {answer.line - answer.number for answer in apart} == {2}
        assert len(apart) == sum(made.size for made in found) > len(found)


def test_short_work_starts_no_process(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(many_rows, "_WORTH", float("inf"))
    (tmp_path / "rows.csv").write_text(table(400, {300: "s300,x,1"}), "utf-8")
    asked = ["grad", *PRODUCT, "--rows", "rows.csv", "--on-error", "skip", "--keep", "site"]
    expected = cli(*asked, "--compile", "never")
    assert expected[1].count("\n") == 400
    monkeypatch.setattr("gradcli.cli.rows.workers._started", None)
    assert cli(*asked, "--jobs", "3") == expected


@pytest.mark.parametrize("together", [1, 4])
@pytest.mark.parametrize("left_by", [0, 3, 7])
def test_a_worker_that_is_left_by_its_work_is_replaced(together, left_by):
    def work(item, leave):
        return leave(("left", item)) if item == left_by else ("done", item)

    with workers(work, 2, together) as shared:
        for _ in range(2):
            found = [*shared(range(8))]
            assert found == [("left" if i == left_by else "done", i) for i in range(8)]


@pytest.mark.parametrize("compile", ["auto", "always", "never"])
def test_rows_outside_of_the_bounds_warn_once(cli, compile):
    rows = "k\n" + "".join(f"{k}\n" for k in range(100))
    program = "param k: float in [0, 10.5]\nk * 2.0"
    status, out, err = cli("grad", "-e", program, "--rows", "-", "--compile", compile, stdin=rows)
    assert (status, len(out.splitlines())) == (0, 101)
    assert err.count("outside-bounds") == 1
    assert "k in row 11" in err
