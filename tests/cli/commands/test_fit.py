"""`gradcli fit`: forms, statuses, what bad input gets, and pipelines."""

import csv
import io
import json
import shutil
import sys

import pytest
import scipy.optimize  # before a test watches what it loads
import scipy.stats

DATA = "t,y,s,site\n0,2.1,0.1,a\n1,1.3,0.1,a\n2,0.75,0.05,a\n3,0.5,0.05,b\n4,0.31,0.05,b\n5,0.18,0.02,b\n"
MODEL = "a * exp(-k * t)"
STARTS = ("a=2", "k=0.5")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(DATA)


@pytest.fixture
def fit(cli):
    """Runs `gradcli fit` with the data."""

    def run(*arguments, program=MODEL, data="d.csv", observed="y", **options):
        files = ["--rows", data] if data else []
        files += ["--observed", observed] if observed else []
        return cli("fit", program, *files, *arguments, **options)

    return run


def test_the_report_for_people(fit):
    status, out, err = fit(*STARTS, "-f", "human")
    assert (status, err) == (0, "")
    assert out == (
        "data t; parameters a, k; observed y\n"
        "\n"
        "name  estimate  std. error  %    95 % interval     start\n"
        "a     2.100     0.022       1.0  2.040 to 2.160    2\n"
        "k     0.4903    0.0094      1.9  0.4643 to 0.5164  0.5\n"
        "\n"
        "6 records, 4 degrees of freedom\n"
        "residual standard error 0.0230988, RSS 0.00213422, R squared 0.999191\n"
        "log likelihood 15.3106, AIC -24.6212, BIC -25.2459\n"
        "converged: the residuals are orthogonal to the model's tangents (8 evaluations)\n"
    )


def test_the_report_in_markdown_has_the_same_table(fit):
    out = fit(*STARTS, "-f", "md")[1]
    assert "| name | estimate | std. error | % | 95 % interval | start |" in out
    assert "| k | 0.4903 | 0.0094 | 1.9 | 0.4643 to 0.5164 | 0.5 |" in out


def test_verbose_adds_p_values_and_all_correlations(fit):
    out = fit(*STARTS, "-f", "human", "-v")[1]
    assert "  p " in out
    assert "a~k=0.533" in out


def test_machine_forms_agree(fit):
    plain = dict(line.split("\t") for line in fit(*STARTS)[1].splitlines())
    raw = fit(*STARTS, "-r")[1].split()
    found = json.loads(fit(*STARTS, "--json")[1])
    (record,) = csv.DictReader(io.StringIO(fit(*STARTS, "-f", "csv")[1]))
    assert raw == [plain["estimate.a"], plain["estimate.k"]]
    assert plain.pop("reason") == '""'  # a text is written as one in plain lines
    assert record == plain | {"reason": ""}
    assert found["values"] == {"a": float(raw[0]), "k": float(raw[1])}
    assert found["error"]["a"] == float(plain["error.a"])
    assert found["covariance"]["a"]["a"] == pytest.approx(found["error"]["a"] ** 2)
    assert found["interval"]["k"] == [float(plain["lower.k"]), float(plain["upper.k"])]
    assert (found["schema"], found["dof"], found["converged"]) == ("gradcli.fit/1", 4, True)


def test_a_fitted_file_gives_values_to_other_commands(fit, cli):
    assert fit(*STARTS, "-o", "fitted.json")[::2] == (0, "")
    status, out, err = cli("run", MODEL, "-i", "fitted.json", "t=1", "-r")
    assert (status, err) == (0, "")
    assert float(out) == pytest.approx(1.2861, abs=1e-3)
    status, out, _ = fit("-i", "fitted.json", "--json")
    assert json.loads(out)["evaluations"] <= 3


def test_tensors_are_flattened(fit):
    program = "param c: float[2] = [2, 0.5]\ninput t\nc[0] * exp(-c[1] * t)"
    found = json.loads(fit("--json", program=program)[1])
    assert [*found["covariance"]] == ["c[0]", "c[1]"]
    assert fit("-f", "csv", program=program)[1].startswith("estimate.c.0,estimate.c.1,error.c.0")


def test_many_parameters_stay_aligned(fit):
    program = "param c: float[40] = zeros(40)\ninput t\n(c * t ** tensor(list(range(40)))).sum()"
    data = "t,y\n" + "".join(f"{i / 50 - 1},{i % 7}\n" for i in range(100))
    out = fit("-f", "human", program=program, data="-", stdin=data)[1]
    rows = [line for line in out.splitlines() if line.startswith("c[") and "~" not in line]
    assert len(rows) == 40
    assert {len(row) for row in rows} == {len(max(rows, key=len))}


# --- statuses ------------------------------------------------------------------------------------


def test_no_convergence_is_status_1_with_the_best_so_far(fit):
    status, out, err = fit("a=50", "k=9", "--max-evaluations", "3")
    assert status == 1
    assert out.startswith("estimate.a\t")
    assert "warning[not-converged]: not converged: no end within 3 evaluations" in err


def test_a_profile_names_its_interval(fit):
    assert "95 % by profile" in fit(*STARTS, "-f", "human", "--profile")[1]
    assert "95 % interval" in fit(*STARTS, "-f", "human")[1]
    assert json.loads(fit(*STARTS, "--json", "--profile")[1])["interval_from"] == "profile"
    assert json.loads(fit(*STARTS, "--json")[1])["interval_from"] == "errors"


def test_known_errors_have_their_sum_of_squares_once(fit):
    out = fit(*STARTS, "-f", "human", "--sigma", "0.1")[1]
    assert "chi squared" in out
    assert "RSS" not in out


def test_a_bound_is_named_in_the_width_of_an_error(fit):
    out = fit("-f", "human", "--bounds", "k=0.9:2", "a=2", "k=1")[1]
    assert "at bound" in out
    assert "at lower bound" not in out


def test_what_the_data_do_not_tell_is_status_1(fit):
    status, out, err = fit("a=2", "b=1", "k=0.5", "--json", program="a * b * exp(-k * t)")
    assert status == 1
    assert json.loads(out)["error"]["a"] is None
    assert "the data do not tell `a` and `b`" in err


def test_an_interrupt_tells_the_best_so_far(fit, monkeypatch):
    from gradcli.models import least_squares

    taken, factor = [], least_squares._Solver._triangle

    def stopped(self, point):
        taken.append(point)
        if len(taken) == 4:
            raise KeyboardInterrupt
        return factor(self, point)

    monkeypatch.setattr(least_squares._Solver, "_triangle", stopped)
    status, out, _ = fit(*STARTS, "--json")
    assert status == 130
    found = json.loads(out)
    assert (found["converged"], found["reason"]) == (False, "interrupted")


def test_without_scipy_the_extra_is_named(fit, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    status, out, err = fit(*STARTS)
    assert (status, out) == (2, "")
    assert "error[missing-extra]" in err
    assert "pip install 'gradcli[fit]'" in err


def test_without_matplotlib_the_curve_in_a_file_is_the_way_out(fit, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    status, _, err = fit(*STARTS, "--plot", "p.svg")
    assert status == 2
    assert "pip install 'gradcli[plot]'" in err
    assert "`--predict FILE` writes the curve without it" in err


# --- bad input -----------------------------------------------------------------------------------

BAD = {  # arguments behind the model and data: the status, and what the message says
    (): (4, "add a=.. k=.., or `--starts 20`"),
    ("a=2",): (4, "no start for `k`"),
    (*STARTS, "t=3"): (4, "`--map t_data=t` gives the column another name"),
    (*STARTS, "--wrt", "t"): (4, "--wrt names `t`, which is a column"),
    (*STARTS, "--wrt", "z"): (2, "the parameters are a, k"),
    (*STARTS, "--fix", "t=1"): (4, "--fix names `t`, which is a column"),
    (*STARTS, "--fix", "a=x"): (4, "no value here"),
    (*STARTS, "--fix", "1"): (2, "a parameter is held by --fix NAME=VALUE"),
    (*STARTS, "--fix", "a,k"): (2, "all parameters are held"),
    (*STARTS, "--bounds", "k"): (2, "as in --bounds k=0:10"),
    (*STARTS, "--bounds", "k=1:0"): (2, "lower bound of `k` is not below"),
    (*STARTS, "--bounds", "k=1:1"): (2, "lower bound of `k` is not below"),
    (*STARTS, "--bounds", "k=nan:1"): (2, "lower bound of `k` is not below"),
    (*STARTS, "--bounds", "k=0:0.2"): (4, "the start of `k`, 0.5, is outside of its bounds"),
    (*STARTS, "--bounds", "z=0:1"): (2, "--bounds names `z`"),
    (*STARTS, "--bounds", "k=[0,1]:3"): (4, "do not have its shape"),
    (*STARTS, "--sigma", "0"): (4, "a standard deviation of 0.0"),
    (*STARTS, "--sigma", "q"): (2, "--sigma reads `q`, which is no column"),
    (*STARTS, "--sigma", "s", "--weights", "s"): (2, "exclude each other"),
    (*STARTS, "--weights", "-s"): (4, "a weight of -0.1"),
    (*STARTS, "--weights", "site"): (4, "is not a number"),
    (*STARTS, "--scale-errors"): (2, "`--scale-errors` needs `--sigma`"),
    (*STARTS, "--loss-scale", "2"): (2, "`--loss-scale` needs `--loss`"),
    (*STARTS, "--loss", "huber", "--loss-scale", "0"): (2, "not above zero"),
    (*STARTS, "--loss", "square"): (2, "square"),
    (*STARTS, "--loss", "huber", "--hessian"): (2, "does not go with `--loss`"),
    (*STARTS, "--loss", "huber", "--profile"): (2, "`--profile` does not go with `--loss`"),
    (*STARTS, "--level", "95"): (2, "not between 0 and 1"),
    (*STARTS, "--nll"): (2, "`--observed` does not go with `--nll`"),
    (*STARTS, "--of", "u,v"): (2, "1 observed and 2 results"),
    (*STARTS, "--of", "u"): (2, "`u`"),
    (*STARTS, "--observed", "t"): (2, "2 observed and 1 results"),
    (*STARTS, "--starts", "0"): (2, "0"),
    (*STARTS, "--max-evaluations", "0"): (2, "0"),
    (*STARTS, "-o", "x.pdf"): (2, "x.pdf"),
    (*STARTS, "b=1"): (4, "the program has no input `b`"),
    ("a=nan", "k=1"): (4, "the start of `a` is not a finite number"),
    ("a=[1, 2]", "k=1"): (4, "several results for one record"),
    ("a=1", "k=-1e9"): (5, "the model is not finite at the start, at `d.csv`, line 3"),
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_arguments(fit, arguments):
    wanted, says = BAD[arguments]
    status, out, err = fit(*arguments)
    assert (status, out) == (wanted, ""), err
    assert says in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("data", "options", "wanted", "says"),
    [
        ("", (), 4, "is empty: it has no records"),
        ("t,y\n", (), 4, "0 records of `<stdin>` cannot tell 2 parameters"),
        ("t,y\n1,2\n", (), 4, "1 record of `<stdin>` cannot tell 2 parameters"),
        ("t,z\n1,2\n2,3\n3,4\n", (), 2, "`y`, which is no column"),
        ("x,y\n1,2\n2,3\n3,4\n", (), 3, "`t` is a built-in function here"),
        ("t,y\n1,2\n2,NaN\n3,4\n", (), 4, "`y` is not finite here"),
        ("t,y\n1,2\n2,\n3,4\n", (), 4, "the cell in column `y` is empty"),
        ("t,y\n1,2\n2,inf\n3,4\n", (), 4, "`y` is not finite here"),
        ("t,y\n1,2\n2\n3,4\n", (), 4, "1 cell, and the header has 2"),
        ("t,y,a\n1,2,3\n2,3,4\n", (), 4, "`a` is a parameter of the program and a column"),
        ('{"t":1,"y":2}\n{"t":2}\n{"t":3,"y":4}\n', (), 4, "this row has no `y`"),
        (
            "t,y\n1,2\n2,x\n",
            ("--on-error", "skip"),
            4,
            "1 record of `<stdin>` cannot tell 2 parameters",
        ),
    ],
)
def test_bad_data(fit, data, options, wanted, says):
    status, out, err = fit(*STARTS, *options, data="-", stdin=data)
    assert (status, out) == (wanted, ""), err
    assert says in err
    assert "Traceback" not in err


def test_a_model_that_fails_at_the_start_keeps_its_message(fit):
    status, out, err = fit("a=1", program="assert a > 3\na * t")
    assert (status, out) == (1, "")
    assert "error[assertion-failed]" in err
    assert "at the start, at `d.csv`, line 2" in err


def test_as_many_records_as_parameters_leave_no_errors(fit):
    status, out, err = fit(*STARTS, "-f", "human", data="-", stdin="t,y\n0,2\n1,1\n")
    assert (status, err) == (0, "")
    assert "2 records, 0 degrees of freedom, so there are no errors" in out


@pytest.mark.parametrize(
    ("observed", "wanted", "says"),
    [
        ("log(y", 3, "`(` is never closed"),
        ("a", 2, "--observed names `a`, which is a parameter"),
        ("y - a", 2, "--observed names `a`, which is a parameter"),
        ("y,", 2, "an empty expression in --observed"),
        ("log(-y)", 4, "`log(-y)` is not finite at `d.csv`, line 2"),
        ("[y, y]", 4, "is not one number a record"),
    ],
)
def test_wrong_observed_expressions(fit, observed, wanted, says):
    status, out, err = fit(*STARTS, observed=observed)
    assert (status, out) == (wanted, ""), err
    assert says in err


def test_what_is_observed_needs_rows(cli):
    status, out, err = cli(
        "fit", MODEL, "-i", "d.csv", *STARTS, "--observed", "y", "--ignore-extra"
    )
    assert (status, out) == (2, "")
    assert "`--observed` needs `--rows`" in err


def test_a_log_likelihood_of_zero_has_no_sign(cli):
    found = cli("fit", "-e", "param m = 1.0", "-e", "(m - 2) ** 2 / 2", "--nll", "-f", "human")
    assert "log likelihood 0," in found[1]


def test_data_may_come_with_the_inputs(cli):
    status, out, err = cli(
        "fit", "y - a * exp(-k * t)", "-i", "d.csv", *STARTS, "-r", "--ignore-extra"
    )
    assert (status, err) == (0, "")
    assert float(out.split()[1]) == pytest.approx(0.49033, abs=1e-4)


def test_bad_records_are_counted_when_they_are_left_out(fit):
    data = DATA.replace("1.3", "NA").replace("0.31", "oops")
    status, out, err = fit(
        *(*STARTS, "--na", "NA", "--on-error", "skip", "--json"), data="-", stdin=data
    )
    assert status == 0
    found = json.loads(out)
    assert (found["records"], found["left_out"]) == (4, 2)
    assert "2 of 6 rows left out, the first at line 3" in err


def test_columns_that_nothing_uses_are_ignored(fit):
    lines = [f"{line},{extra}" for line, extra in zip(DATA.split(), "xNOTANUMBER", strict=False)]
    assert fit(*STARTS, data="-", stdin="\n".join(lines))[0] == 0


def test_a_column_with_a_built_ins_name_is_noted(fit):
    data = DATA.replace("site", "e").replace(",a\n", ",1\n").replace(",b\n", ",2\n")
    status, _, err = fit(*STARTS, data="-", stdin=data, program="a * e ** (-k * t)")
    assert "note[ambiguous-name]: `e` in the program is the column of the data" in err
    data = DATA.replace("site", "exp").replace(",a\n", ",1\n").replace(",b\n", ",2\n")
    status, _, err = fit(*STARTS, data="-", stdin=data)
    assert status == 0
    assert "`exp` in the program is the built-in, not the column of the data" in err


# --- groups and predictions -------------------------------------------------------------------


def test_groups_are_a_record_each(fit):
    found = [*csv.DictReader(io.StringIO(fit(*STARTS, "--by", "site")[1]))]
    assert [record["site"] for record in found] == ["a", "b"]
    lines = fit(*STARTS, "--by", "site", "--json")[1].splitlines()
    objects = [json.loads(line) for line in lines]
    assert [one["by"] for one in objects] == [{"site": "a"}, {"site": "b"}]
    assert [str(one["values"]["k"]) for one in objects] == [r["estimate.k"] for r in found]
    table = fit(*STARTS, "--by", "site", "-f", "human")[1].splitlines()
    assert table[0].split() == ["site", "a", "k", "records", "std.", "error"]
    assert table[1].startswith("a     2.108 +/- 0.033  0.503 +/- 0.020")


@pytest.mark.parametrize(
    ("how", "status", "count"), [("stop", 4, 0), ("skip", 4, 1), ("ignore", 0, 1), ("record", 4, 2)]
)
def test_a_group_without_a_fit(fit, how, status, count):
    data = DATA.replace("3,0.5,0.05,b\n4,0.31,0.05,b\n", "")
    done = fit(*STARTS, "--by", "site", "--on-error", how, "-f", "json", data="-", stdin=data)
    assert done[0] == status
    assert len(done[1].splitlines()) == count
    if how == "record":
        last = json.loads(done[1].splitlines()[-1])
        assert (last["by"], last["error"]["code"]) == ({"site": "b"}, "too-few-records")
    else:
        assert "1 record of `<stdin>` cannot tell 2 parameters" in done[2]


def test_predictions_stand_beside_the_data(fit):
    assert fit(*STARTS, "--predict", "p.csv")[::2] == (0, "")
    with open("p.csv") as file:
        rows = [*csv.DictReader(file)]
    added = ["fitted", "residual", "error", "prediction_error"]
    assert [*rows[0]] == ["t", "y", "s", "site", *added]
    assert all(
        float(r["fitted"]) + float(r["residual"]) == pytest.approx(float(r["y"])) for r in rows
    )
    assert fit(*STARTS, "--by", "site", "--predict", "g.csv")[::2] == (0, "")
    with open("g.csv") as file:
        assert len([*csv.DictReader(file)]) == 6


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--by", "z"), "--by names `z`, which is no column"),
        (("--predict", "p.json"), "known suffixes are .csv, .tsv and .md"),
        (("--predict", "no/where/p.csv"), "cannot write"),
    ],
)
def test_wrong_groups_and_files(fit, arguments, says):
    status, _, err = fit(*STARTS, *arguments)
    assert status == 2
    assert says in err


# --- pictures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["png", pytest.param("pdf", marks=pytest.mark.long)])
def test_a_picture_is_written_beside_the_report(fit, form):
    pytest.importorskip("matplotlib.font_manager")
    status, out, err = fit(*STARTS, "--plot", f"p.{form}", "-r")
    assert (status, len(out.split()), err) == (0, 2, "")
    with open(f"p.{form}", "rb") as file:
        assert len(file.read()) > 1000


def test_a_picture_has_data_curve_bands_and_residuals(fit):
    pytest.importorskip("matplotlib.font_manager")
    fit(*STARTS, "--plot", "p.svg")
    with open("p.svg", encoding="utf-8") as file:
        text = file.read()
    for label in ("95 % confidence", "95 % prediction", "residual", ">t<", ">fit<"):
        assert label in text


def test_several_columns_are_drawn_over_the_fitted_values(fit):
    pytest.importorskip("matplotlib.font_manager")
    fit(*STARTS, "--plot", "p.svg", program=f"{MODEL} + 0 * s")
    with open("p.svg", encoding="utf-8") as file:
        text = file.read()
    assert ">fitted<" in text
    assert "confidence" not in text


def test_a_terminal_has_the_picture_below_the_report(fit):
    pytest.importorskip("plotille")
    out = fit(*STARTS, "--plot", "-", "-f", "human")[1]
    report, picture = out.split("y, the fit and its 95 % prediction band\n")
    assert "converged" in report
    assert picture.count("o") >= 8
    assert "residual" in picture


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--plot", "p.gif"), "known suffixes are .svg, .png and .pdf"),
        (("--plot", "-", "--json"), "goes elsewhere"),
        (("--plot", "p.svg", "--by", "site"), "does not go with `--by`"),
    ],
)
def test_wrong_pictures(fit, arguments, says):
    status, out, err = fit(*STARTS, *arguments)
    assert (status, out) == (2, "")
    assert says in err


# --- two programs -----------------------------------------------------------------------------------


def test_two_programs_are_compared(cli):
    both = ("fit", MODEL, f"{MODEL} + c", *STARTS, "c=0", "--rows", "d.csv", "--observed", "y")
    status, out, err = cli(*both, "--nested", "--json")
    assert (status, err) == (0, "")
    found = json.loads(out)
    small, large = found["fits"].values()
    test = found["nested"]
    wanted = (small["rss"] - large["rss"]) / (large["rss"] / 3)
    assert test["ratio"] == pytest.approx(wanted)
    assert test["chance"] == pytest.approx(scipy.stats.f.sf(wanted, 1, 3))
    assert (test["kind"], test["more"], test["larger"]) == ("f", 1, f"{MODEL} + c")
    first, second = csv.DictReader(io.StringIO(cli(*both)[1]))
    assert (first["parameters"], second["parameters"]) == ("2", "3")
    table = cli(*both, "--nested", "-f", "human")[1]
    assert "F(1, 3) = 0.208697, p = 0.679" in table
    known = json.loads(cli(*both, "--nested", "--sigma", "s", "--json")[1])["nested"]
    assert (known["kind"], known["dof"]) == ("chi_squared", None)


@pytest.mark.parametrize(
    ("arguments", "wanted", "says"),
    [
        ((MODEL, MODEL), 2, "both programs are the same"),
        ((MODEL, "a / (1 + k * t)", "--nested"), 2, "the same number of parameters"),
        ((MODEL, "--nested"), 2, "`--nested` compares two programs"),
        ((MODEL, f"{MODEL} + c", "--by", "site"), 2, "`--by` does not go with two programs"),
        ((MODEL, f"{MODEL} + c"), 4, "no start for `c`"),
        ((MODEL, f"{MODEL} + c", "z=1", "c=1"), 4, "no input `z`"),
        ((MODEL, f"{MODEL} + c", "c * t"), 2, "two programs"),
    ],
)
def test_wrong_comparisons(cli, arguments, wanted, says):
    status, out, err = cli("fit", *arguments, *STARTS, "--rows", "d.csv", "--observed", "y")
    assert (status, out) == (wanted, ""), err
    assert says in err


# --- pipelines -----------------------------------------------------------------------------------


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
def test_pipelines(forked, tmp_path):
    fit = f"gradcli fit '{MODEL}' --rows d.csv --observed y a=2 k=0.5"
    done = forked.shell(f"{fit} -o f.json && jq -r .values.k f.json | cut -c 1-5", tmp_path)
    assert done.stdout == "0.490\n"
    done = forked.shell("gradcli run 'log(2) / k' -i f.json --ignore-extra -r", tmp_path)
    assert float(done.stdout) == pytest.approx(1.4136, abs=1e-3)


@pytest.mark.long
def test_a_loop_of_the_shell(forked, tmp_path):
    fit = f"gradcli fit '{MODEL}' --rows - --observed y a=2 k=0.5"
    loop = f"for s in a b; do grep -e ^t -e $s d.csv | {fit} -r | tail -1; done"
    assert len(forked.shell(loop, tmp_path).stdout.split()) == 2
