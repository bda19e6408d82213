"""The command `propagate`: its report, its forms, what it reads and what it refuses."""

import json
from math import sqrt

import pytest

OHM = ("propagate", "V / I", "V=5.0+/-0.1", "I=0.2+/-2%")


def answer(cli, *asked, **more):
    status, out, err = cli("propagate", *asked, "--json", "-q", **more)
    assert (status, err) == (0, ""), err
    return json.loads(out)


def test_the_report(cli):
    status, out, err = cli(*OHM, "-f", "human")
    assert (status, err) == (0, "")
    assert out == (
        "result = 25.00 ± 0.71   25.00(71)\n"
        "95 %: 23.61 to 26.39   k = 1.96, normal\n"
        "\n"
        "input  value            sensitivity  contribution   share\n"
        "V      5.00   ± 0.10           5.00          0.50  50.0 %\n"
        "I      0.2000 ± 0.0040      -125             0.50  50.0 %\n"
        "\n"
        "first order 0.707, second order 0.708\n"
    )


def test_the_report_as_markdown(cli):
    out = cli(*OHM, "-f", "md")[1]
    assert out == (
        "`result` = 25.00 ± 0.71, 95 %: 23.61 to 26.39 (k = 1.96, normal)\n"
        "\n"
        "| input | value | sensitivity | contribution | share |\n"
        "| --- | --- | --- | --- | --- |\n"
        "| V | 5.00 ± 0.10 | 5.00 | 0.50 | 50.0 % |\n"
        "| I | 0.2000 ± 0.0040 | -125 | 0.50 | 50.0 % |\n"
        "\n"
        "first order 0.707, second order 0.708\n"
    )


def test_the_report_of_several_correlated_results_with_a_simulation(cli):
    asked = ["propagate", "a = x + y; b = x * y; b", "x=2.0(1):dof=9", "y=3+/-0.1:uniform"]
    asked += ["--of", "a,b", "--monte-carlo", "2000", "--seed", "1", "-f", "human"]
    status, out, _ = cli(*asked)
    assert status == 0
    for line in (
        "a = 5.00 ± 0.12   5.00(12)",
        "x      2.00  ± 0.10          1.00         0.10   75.0 %                 9",
        "y      3.000 ± 0.058         1.00         0.058  25.0 %  ±0.10 uniform",
        "Monte Carlo, 2,000 draws, seed 1",
        "correlation  a      b",
    ):
        assert line in out, out
    assert "Student's t with 16 degrees of freedom" in out


def test_correlated_shares_are_said_to_be_so(cli):
    asked = (*OHM, "--correlation", "V,I=0.9", "-f", "human")
    assert "inputs are correlated: shares may be negative, or above 100 %" in cli(*asked)[1]


@pytest.mark.parametrize("form", ["plain", "csv"])
def test_forms_for_pipes(form, cli):
    out = cli(*OHM, "-f", form)[1]
    if form == "plain":
        found = dict(line.split("\t") for line in out.splitlines())
        assert found["interval"] == "[23.6125725189943,26.3874274810057]"
    else:
        head, row = (line.split(",") for line in out.splitlines())
        found = dict(zip(head, row, strict=True))
        assert found["interval.0"] == "23.6125725189943"
    assert found["result"] == "25.0"
    assert float(found["first_order"]) == pytest.approx(sqrt(0.5))
    assert found["budget.I.sensitivity"] == "-125.0"


def test_arrays_hold_all_numbers(cli, tmp_path):
    import numpy as np

    file = tmp_path / "p.npz"
    assert cli("propagate", "x ** 2", "x=0+/-0.1", "-q", "-o", str(file))[0] == 0
    found = np.load(file)
    assert float(found["dof"]) == float("inf")
    assert np.isnan(found["budget.x.share"])
    assert float(found["second_order"]) == pytest.approx(sqrt(2) * 0.01)
    assert cli("propagate", "x * 2", "x=1+/-0.1:uniform", "-o", str(file))[0] == 0
    assert float(np.load(file)["budget.x.width"]) == 0.1


def test_raw_is_value_and_uncertainty(cli):
    assert cli(*OHM, "-r")[1] == "25.0\n0.7078841713161836\n"


def test_several_results_have_objects_by_name(cli):
    found = answer(cli, "a = x + y; b = x * y; b", "x=2+/-0.1", "y=3+/-0.1", "--of", "a,b")
    assert found["output"] == {"a": "a", "b": "b"}
    assert found["value"] == {"a": 5.0, "b": 6.0}
    assert found["covariance"]["a"]["b"] == pytest.approx(0.01 * 3 + 0.01 * 2)
    assert found["monte_carlo"] == {"a": None, "b": None}


@pytest.mark.parametrize(
    ("text", "value", "uncertainty"),
    [
        ("5.0+/-0.1", 5.0, 0.1),
        ("5.0±0.1", 5.0, 0.1),
        ("5.0+-0.1", 5.0, 0.1),
        ("5.0+-2%", 5.0, 0.1),
        ("5.00(12)", 5.0, 0.12),
        ("12.3(1.2)", 12.3, 1.2),
        ("(5.0+/-0.1)e3", 5000.0, 100.0),
        ("5+/-0.3:uniform", 5.0, 0.3 / sqrt(3)),
        ("5+/-0.3:triangular", 5.0, 0.3 / sqrt(6)),
        ("5+/-0.3:t(9)", 5.0, 0.3 * sqrt(9 / 7)),
        ("5+/-0.3:dof=9", 5.0, 0.3),
        ("sqrt(25)+/-1/4", 5.0, 0.25),
    ],
)
def test_values_are_read(text, value, uncertainty, cli):
    share = answer(cli, "x * 1", f"x={text}")["budget"]["x"]
    assert (share["value"], share["uncertainty"]) == (value, pytest.approx(uncertainty))


def test_other_commands_take_the_value_and_say_so_once(cli):
    for text in ("5.0+/-0.1", "5.00(12)", "(5.0+/-0.1)e0", "5+/-0.1:dof=3"):
        status, out, err = cli("run", "x * 2", f"x={text}")
        assert (status, out) == (0, "10.0\n")
        assert err.count("unused-uncertainty") == 1
    status, out, err = cli("run", "x * 1", "x=5.0+-0.1")
    assert (out, "warning[plus-minus]" in err) == ("4.9\n", True)


def test_values_in_json(cli, tmp_path):
    file = tmp_path / "v.json"
    file.write_text('{"V": {"value": 5.0, "uncertainty": 0.1, "dof": 9}, "I": 0.2}')
    found = answer(cli, "V / I", "-i", str(file))
    assert found["uncertainty"] == pytest.approx(0.5)
    assert found["dof"] == pytest.approx(9.0)
    status, out, err = cli("run", "V / I", "-i", str(file))
    assert (status, out) == (0, "25.0\n")
    assert err.count("unused-uncertainty") == 1
    file.write_text('{"V": {"value": 5.0, "uncertainty": 0.3, "distribution": "uniform"}, "I": 1}')
    assert answer(cli, "V / I", "-i", str(file))["uncertainty"] == pytest.approx(0.3 / sqrt(3))


FITTED = {
    "schema": "gradcli.fit/1",
    "values": {"k": 0.1, "a": 2.0, "fixed": 3.0},
    "covariance": {
        "k": {"k": 0.0004, "a": 0.001, "fixed": None},
        "a": {"k": 0.001, "a": 0.01, "fixed": None},
        "fixed": {"k": None, "a": None, "fixed": None},
    },
    "dof": 7,
}


def test_a_fit_brings_its_covariance(cli, tmp_path):
    file = tmp_path / "fitted.json"
    file.write_text(json.dumps(FITTED))
    found = answer(cli, "a * k + fixed", "-i", str(file))
    variance = 2.0**2 * 0.0004 + 0.1**2 * 0.01 + 2 * 2.0 * 0.1 * 0.001
    assert found["first_order"] ** 2 == pytest.approx(variance)
    assert found["dof"] == pytest.approx(7.0)
    assert list(found["budget"]) == ["k", "a"]
    said = cli("propagate", "a * k + fixed", "-i", str(file))[2]
    assert "note[no-uncertainty]: `fixed` of" in said
    half = answer(cli, "log(2) / k", "-i", str(file))
    assert half["first_order"] == pytest.approx(0.6931471805599453 / 0.01 * 0.02)
    again = answer(
        cli, "a * k + fixed", "-i", str(file), "k=0.1+/-0.02", "--correlation", "k,a=0.5"
    )
    assert again["first_order"] ** 2 == pytest.approx(variance)
    alone = answer(cli, "a * k + fixed", "-i", str(file), "k=0.1")
    assert list(alone["budget"]) == ["a"]
    assert cli("run", "a * k + fixed", "-i", str(file))[0] == 0


def test_an_answer_is_the_input_of_the_next(cli, tmp_path):
    file = tmp_path / "r.json"
    asked = ["a = x + y; b = x - y; b", "x=2+/-0.1", "y=3+/-0.2", "--of", "a,b"]
    file.write_text(json.dumps(answer(cli, *asked)))
    found = answer(cli, "a + b", "-i", str(file))
    assert found["uncertainty"] == pytest.approx(0.2)


def test_covariances_of_files(cli, tmp_path):
    (tmp_path / "c.json").write_text('{"x": {"x": 0.01, "y": 0.004}, "y": {"x": 0.004, "y": 0.04}}')
    (tmp_path / "c.csv").write_text("x,y\n0.01,0.004\n0.004,0.04\n")
    (tmp_path / "named.csv").write_text(",x,y\nx,0.01,0.004\ny,0.004,0.04\n")
    found = [
        answer(cli, "x + y", "x=1", "y=2", "--covariance", str(tmp_path / name))["uncertainty"]
        for name in ("c.json", "c.csv", "named.csv")
    ]
    assert found == [pytest.approx(sqrt(0.058))] * 3


def test_elements_of_tensors_are_named(cli):
    found = answer(cli, "sum(b * b)", "b=[1+/-0.1, 2.0(2), 3]", "--correlation", "b[0],b[1]=0.5")
    assert list(found["budget"]) == ["b[1]", "b[0]", "b[2]"]
    assert found["first_order"] ** 2 == pytest.approx(0.2**2 + 0.8**2 + 2 * 0.5 * 0.2 * 0.8)


def test_an_option_gives_uncertainties(cli):
    found = answer(cli, "x * y", "x=2", "y=3", "--uncertainty", "x=0.1,y=2%:uniform")
    shares = found["budget"]
    assert shares["x"]["uncertainty"] == 0.1
    assert shares["y"]["uncertainty"] == pytest.approx(0.06 / sqrt(3))


def test_rows_with_columns_of_uncertainties(cli):
    table = "id,V,e,I\na,5,0.1,0.2\nb,6,0.2,0.3\n"
    asked = ("propagate", "V / I", "--rows", "-", "--uncertainty", "V=e,I=2%", "--keep", "id")
    status, out, err = cli(*asked, stdin=table)
    assert (status, err) == (0, "")
    head, first, second = (line.split(",") for line in out.splitlines())
    assert head[:5] == ["id", "result", "uncertainty", "first_order", "second_order"]
    assert [first[0], second[0]] == ["a", "b"]
    row = dict(zip(head, second, strict=True))
    expected = sqrt((0.2 / 0.3) ** 2 + (20 * 0.02) ** 2)
    assert float(row["first_order"]) == pytest.approx(expected)
    assert float(row["share.V"]) + float(row["share.I"]) == pytest.approx(1.0)


def test_rows_with_fixed_uncertainties(cli):
    asked = ("propagate", "V / I", "I=0.2+/-0.004", "--rows", "-", "--uncertainty", "V=0.1")
    out = cli(*asked, stdin="V\n5\n6\n")[1]
    assert out.splitlines()[1].startswith("25.0,0.7078841713161836,")


def test_degrees_of_freedom_in_rows(cli):
    asked = ("propagate", "V * 2", "--rows", "-", "--uncertainty", "V=0.1:dof=3", "-f", "ndjson")
    (found,) = (json.loads(line) for line in cli(*asked, stdin="V\n5\n")[1].splitlines())
    assert found["dof"] == pytest.approx(3.0)
    assert found["factor"] == pytest.approx(3.182446305)


def test_bad_rows_are_told_one_by_one(cli):
    asked = ("propagate", "V * 2", "--rows", "-", "--uncertainty", "V=e", "--on-error", "record")
    status, out, _ = cli(*asked, "--na", "NA", stdin="V,e\n5,0.1\n6,-1\n7,NA\n8,0.2\n")
    lines = out.splitlines()
    assert (status, len(lines)) == (4, 5)
    assert lines[2].endswith("the uncertainty of `V` is a finite number of at least 0")
    assert lines[3].endswith("the uncertainty of `V` is a finite number of at least 0")


def test_processes_share_rows(cli, forked):
    text = "V,e\n" + "".join(f"{k % 7 + 1},{0.01 * (k % 5 + 1)}\n" for k in range(2000))
    asked = ("propagate", "V ** 2", "--rows", "-", "--uncertainty", "V=e")
    alone, shared = (cli(*asked, *more, stdin=text) for more in ((), ("--jobs", "2")))
    assert alone[:2] == shared[:2]


@pytest.mark.parametrize("width", [60, 80])
def test_the_report_fits_into_narrow_terminals(width):
    from gradcli import load
    from gradcli.program import Options
    from gradcli.questions.uncertainty.spreads import Spread
    from gradcli.render.models.propagation import propagation_view

    x = Spread(0.1, 9.0, "uniform", float("inf"))
    found = load("x * rho / 3 + area").propagate(
        x=2.0,
        rho=7.874,
        area=0.5,
        uncertainties={"x": x, "rho": 0.002, "area": 0.01},
        draws=200,
        options=Options(seed=1),
    )
    lines = [
        "".join(text for text, _ in line).rstrip() for line in propagation_view(found, width=width)
    ]
    assert max(map(len, lines)) <= width
    assert any(line.startswith("input") for line in lines)
    assert ("x: given as ±0.10 uniform, 9 degrees of freedom" in lines) == (width == 60)


def test_strict_is_a_status(cli):
    asked = ("propagate", "exp(x)", "--monte-carlo", "1000", "--seed", "1", "--strict", "-q")
    assert cli(*asked, "x=0+/-0.5", "--json")[0] == 1
    assert cli(*asked, "x=0+/-0.001", "--json")[0] == 0


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        (["x", "x=5+/-"], 4, "`5+/-` is no value with an uncertainty"),
        (["x", "x=5+/-0.1+/-2"], 4, "is no value with an uncertainty"),
        (["x", "x=5+/--0.1"], 4, "is a finite number of at least 0"),
        (["x", "x=0.5:uniform"], 4, "write `x=0.5+/-0.1:uniform`; 0.1 is the half-width"),
        (["x", "x=-2e3:dof=9"], 4, "write `x=-2e3+/-0.1:dof=9`"),
        (["x", "x=5:t(9)"], 4, "`:t(9)` says more of an uncertainty, and `5` has none"),
        (["x", "x=5:unifrom"], 4, "syntax-error"),
        (["x", "x=5+/-nan"], 4, "is a finite number of at least 0"),
        (["x", "x=5+/-1e999"], 4, "too large"),
        (["x", "x=5+/-1:t(2)"], 4, "has no standard deviation"),
        (["x", "x=5+/-1:dof=0"], 4, "0 degrees of freedom"),
        (["x", "x=5+/-1:normally"], 4, "`5+/-1:normally`"),
        (["x", "x=nan+/-1"], 0, "not finite"),
        (["x", "x=5"], 4, "no input has an uncertainty"),
        (["x", "x=5+/-1", "y=2"], 4, "no input `y`"),
        (["x", "x=5+/-1", "--uncertainty", "y=2"], 4, "`y` has an uncertainty and is no input"),
        (["x", "x=5+/-1", "--uncertainty", "x"], 2, "is not NAME=NUMBER"),
        (["x", "x=5+/-1", "--uncertainty", "x=col"], 2, "a column needs `--rows`"),
        (["x", "x=5+/-1", "--correlation", "x=0.3"], 2, "is not NAME,NAME=NUMBER"),
        (["x", "x=5+/-1", "--correlation", "x,y=0.3"], 4, "`y` in a correlation"),
        (["x", "x=5+/-1", "--coverage", "95"], 2, "between 0 and 1"),
        (["x", "x=5+/-1", "--coverage", "high"], 4, "`high` has no value"),
        (["x", "x=5+/-1", "--covariance", "no.json"], 4, "cannot read `no.json`"),
        (["x", "x=5+/-1", "--covariance", "bad.json"], 4, "is no table of covariances"),
        (["x", "x=5+/-1", "--covariance", "bad.csv"], 4, "has 2 columns and 1 rows"),
        (["x", "x=5+/-1", "--covariance", "word.csv"], 4, "`a` in `word.csv` is no number"),
        (["x", "x=5+/-1", "--strict"], 2, "`--strict` needs `--monte-carlo`"),
        (["x", "x=5+/-1", "--monte-carlo", "10"], 2, "10"),
        (["log(x)", "x=-5+/-1", "--monte-carlo", "1000"], 5, "finite at 0 draws of 1,000"),
        (["x", "--rows", "r.csv", "--monte-carlo", "5", "--uncertainty", "x=1"], 2, "5 is"),
        (["x * 1.0", "--rows", "r.csv", "--uncertainty", "x=e"], 4, "has no column `e`"),
        (["x * 1.0", "--rows", "r.csv", "--of", "a,b", "--uncertainty", "x=1"], 2, "`a`"),
        (["stack([x, x])", "x=5+/-1", "--rows", "r.csv"], 4, "no input has an uncertainty"),
        (["input x: float[2]\nsum(x)", "x=[1, 2, 3]+/-0.1"], 4, "shape"),
        (["x", "x=[1, 2]+/-[0.1, 0.2, 0.3]"], 4, "2 numbers and 3 uncertainties"),
        (["x > 2", "x=5+/-1"], 5, "only floats have derivatives"),
    ],
)  # fmt: skip
def test_what_is_refused(asked, status, said, cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("x\n1\n")
    (tmp_path / "bad.json").write_text("[1, 2]")
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n")
    (tmp_path / "word.csv").write_text("x\na\n")
    found, out, err = cli("propagate", "-e", *asked)
    assert (found, said in err) == (status, True), (found, out, err)
