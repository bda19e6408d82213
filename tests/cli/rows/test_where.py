"""`--where` keeps the rows for which an expression over their columns is true."""

import json

import pytest

from gradcli.cli.rows import many_rows

CSV = """id,site,x,y
1,A,1,2
2,B,2,3
3,A,-3,1
4,,4,
5,A,oops,4
6,C,6,2
"""
SQUARE = ["run", "-e", "x * x", "--rows", "-"]


@pytest.fixture
def ids(cli):
    """The ids of the rows that a condition chooses, and what is said."""

    def chosen(condition, *options, rows=CSV):
        command = [*SQUARE, "--where", condition, "--keep", "id", "--on-error", "skip", *options]
        _, out, err = cli(*command, stdin=rows)
        return [line.split(",")[1] for line in out.splitlines()[1:]], err

    return chosen


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("y > 1 and x > 1", "26"),
        ("id in [1, 3]", "13"),
        ("site == 'A'", "13"),
        ('site in ["B", "C"] or y < 2', "236"),
        ("'A' != site and id > 1", "246"),
        ("site == ''", "4"),
        ("site.lower() == 'b'", "2"),
        ("site + '1' == 'C1'", "6"),
        ("site[:1] == 'A' and id < 3", "1"),
        ("not (site == 'A' and y > 1) and site != ''", "236"),
        ("x", "12346"),
        ("x - 1", "2346"),
        ("y % 2", "23"),
        ("(x > 1\n and site != '')", "26"),
        ("True", "12346"),
        ("1 > 2", ""),
        ("where(x > 1, y > 2, y < 2)", "23"),
        ("(lambda z: z > 5)(x)", "6"),
        ("stack([x, y]).max() > 2", "26"),
    ],
)
def test_a_condition_chooses_rows(ids, condition, expected):
    assert "".join(ids(condition)[0]) == expected
    assert "".join(ids(condition, "--compile", "never")[0]) == expected


def test_chosen_rows_keep_their_numbers(cli):
    status, out, _ = cli(*SQUARE, "--where", "x > 1", "-f", "ndjson", stdin="x\n1\n2\n0\n3\n")
    assert (status, [json.loads(line)["row"] for line in out.splitlines()]) == (0, [1, 3])


def test_random_numbers_of_a_row_do_not_depend_on_the_rows_left_out(cli):
    draw = ["run", "-e", "x + rand()", "--rows", "-", "--seed", "1"]
    every = cli(*draw, stdin="x\n1\n2\n3\n")[1].split()
    assert cli(*draw, "--where", "x > 1", stdin="x\n1\n2\n3\n")[1].split() == [
        every[0],
        *every[2:],
    ]


def test_a_part_that_is_not_needed_is_not_asked(ids):
    assert "column `y` is empty" in ids("y > 1 and site == 'A'")[1]
    assert "column `y` is empty" not in ids("site == 'A' and y > 1")[1]
    assert "column `y` is empty" not in ids("site == '' or y > 1")[1]


@pytest.mark.parametrize(
    ("condition", "status", "said"),
    [
        ("sit == 'A'", 2, "--where reads `sit`, which is no column of the data\n"),
        ("x >", 3, "<--where>:1:4: error[syntax-error]"),
        ("x > 1; y", 3, "<--where>:1:6: error[syntax-error]"),
        ("x > 1 and log(x, 2)", 3, "<--where>:1:18: error[wrong-arity]"),
        ("site + ''", 4, "<stdin>:2:1: error[bad-input]: `--where` gives a text, neither true"),
        ("None", 4, "<stdin>:2:1: error[bad-input]: `--where` gives nothing, neither true"),
        ("stack([x, y])", 4, "`--where` gives 2 values, neither true nor false"),
        ("x > 0 and site > 0", 4, "<stdin>:2:3: error[bad-input]: `A` in column `site`"),
        ("x > 0 and y @ 3 > 1", 5, "<--where>:1:11: error[shape-mismatch]"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(cli, condition, status, said):
    got, out, err = cli(*SQUARE, "--where", condition, stdin=CSV)
    assert (got, out) == (status, "")
    assert said in err


def test_a_row_of_json_needs_the_names_that_are_read(cli):
    rows = '{"x": 1, "s": "a"}\n{"x": 2}\n{"x": 3, "y": 1, "s": "a"}\n'
    status, out, err = cli(*SQUARE, "--where", "s == 'a' and y > 0", "-f", "csv", stdin=rows)
    assert (status, out) == (4, "")
    assert "<stdin>:1:1: error[bad-input]: this row has no `y`, which `--where` reads" in err
    skip = [*SQUARE, "--where", "s == 'a' and y > 0", "-f", "csv", "--on-error", "ignore"]
    assert cli(*skip, stdin=rows)[1] == "row,result\n2,9.0\n"


def test_a_line_of_json_with_a_reading_of_its_own_is_judged_by_it(cli, monkeypatch):
    monkeypatch.setattr(many_rows, "_FIRST", 4)
    objects = ['{"name": "a", "x": 1}'] * 20
    objects += ['{"name": "b", "x": NaN}', '{"x": 2, "name": "b", "y": 0}', '{"name": "a", "x": 3}']
    lines = "\n".join(objects) + "\n"
    asked = (*SQUARE, "--where", 'name != "b"', "-f", "csv")
    status, found, said = cli(*asked, "--compile", "always", stdin=lines)
    assert status == 0, said
    assert found == cli(*asked, "--compile", "never", stdin=lines)[1]
    assert found.count("\n") == 1 + 21


def test_names_are_those_of_inputs(cli):
    rows = "Temp (C),d.k\n5,1\n7,2\n"
    command = ["run", "-e", "T", "--rows", "-", "--map", "T=Temp (C)", "--where", "T > limit"]
    assert cli(*command, "limit=6", stdin=rows)[0] == 4  # the program has no such input
    command[2] = "T - limit"
    assert cli(*command, "limit=6", stdin=rows)[1] == "result\n1.0\n"


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("limit", [[], ["--time-limit", "60"]])
def test_each_way_of_working_chooses_the_same(cli, monkeypatch, jobs, limit):
    monkeypatch.setattr(many_rows, "_FIRST", 4)
    monkeypatch.setattr(many_rows, "_LEAST_BYTES", 100)
    rows = "id,x\n" + "".join(f"s{k % 3},{k}\n" for k in range(60)) + "s0,oops\n"
    command = [*SQUARE, "--where", "x % 2 == 1 and id != 's1'", "--on-error", "record"]
    command += ["--compile", "always", "--jobs", jobs, *limit]
    chosen = [k for k in range(60) if k % 2 and k % 3 != 1]
    _, out, _ = cli(*command, stdin=rows)
    first, *lines, bad = out.splitlines()
    assert first == "row,result,error"
    assert lines == [f"{k},{float(k * k)},,"[:-1] for k in chosen]
    assert bad.startswith("60,,")


def test_worker_processes_get_the_chosen_rows(cli, monkeypatch):
    """Code in Python is run by processes; machine code by threads."""
    monkeypatch.setattr("gradcli.engine.compile.backends.has_machine_code", lambda: False)
    monkeypatch.setattr("gradcli.cli.rows.many_rows._FIRST", 4)
    monkeypatch.setattr("gradcli.cli.rows.many_rows._WORTH", -1.0)
    text = "id,x\n" + "".join(f"{i % 7},{i}\n" for i in range(400))
    command = ["grad", "x * x", "--rows", "-", "--keep", "id", "--where", "id == '3' and x > 50"]
    alone = cli(*command, "--compile", "never", stdin=text)
    assert (alone[0], alone[1].count("\n")) == (0, 51)
    assert cli(*command, "--compile", "always", "--jobs", "2", stdin=text) == alone


def test_several_files_and_kept_columns(cli, tmp_path):
    for name, numbers in (("a", "1\n2"), ("b", "3\n0")):
        (tmp_path / f"{name}.csv").write_text(f"x\n{numbers}\n")
    files = [part for name in "ab" for part in ("--rows", str(tmp_path / f"{name}.csv"))]
    command = ["run", "-e", "x", *files, "--where", "x > 1", "--keep", "FILE", "-f", "tsv"]
    lines = cli(*command)[1].splitlines()[1:]
    assert [line.split("\t")[0][-5:] for line in lines] == ["a.csv", "b.csv"]


def test_parquet_keeps_types(cli, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"id": [7, 8, 9], "s": ["a", "b", "a"], "x": [1.0, 2.0, None]})
    source, target = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    parquet.write_table(table, source)
    command = ["run", "-e", "x * 2", "--rows", str(source), "--keep", "id", "-o", str(target)]
    assert cli(*command, "--where", "s == 'a' and id < 9")[0] == 0
    assert parquet.read_table(target).to_pydict() == {"id": [7], "result": [2.0]}


def test_a_fit_takes_the_chosen_records(cli, tmp_path):
    pytest.importorskip("scipy")
    file = tmp_path / "data.csv"
    file.write_text("t,y,site\n1,2,A\n2,4,A\n3,900,B\n4,8,A\n")
    fit = ["fit", "a * t", "--rows", str(file), "--observed", "y", "a=1", "--json"]
    found = json.loads(cli(*fit, "--where", "site == 'A'")[1])
    assert (round(found["values"]["a"], 9), found["records"]) == (2.0, 3)
