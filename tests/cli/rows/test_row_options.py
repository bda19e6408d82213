"""How rows are written and what of them is kept."""

import bz2
import gzip
import json
import lzma

import numpy as np
import pytest

CSV = "id,x\na,1\nb,oops\nc,3\n"
SQUARE = ["run", "x ** 2", "--rows", "-"]


@pytest.mark.parametrize(
    ("options", "stdin", "status", "out"),
    [
        (["--keep", "id"], "id,x\na,1\nb,2\n", 0, "id,result\na,1.0\nb,4.0\n"),
        (["--keep", "all"], 'id,x\n"a, b",1\n', 0, 'id,x,result\n"a, b",1,1.0\n'),
        (["--keep", "x,id"], "id,x\na,1\n", 0, "x,id,result\n1,a,1.0\n"),
        (["--keep", "id", "--jobs", "2"], "id,x\na,1\nb,2\n", 0, "id,result\na,1.0\nb,4.0\n"),
        (["--keep", "id", "--on-error", "skip"], CSV, 4, "row,id,result\n0,a,1.0\n2,c,9.0\n"),
        (["--keep", "id", "--on-error", "ignore"], CSV, 0, "row,id,result\n0,a,1.0\n2,c,9.0\n"),
        (
            ["--keep", "id", "--on-error", "record"],
            CSV,
            4,
            "row,id,result,error\n0,a,1.0,\n1,b,,<stdin>:3:3: `oops` in column `x` is not a number\n2,c,9.0,\n",
        ),
        (
            ["--keep", "id", "-f", "ndjson"],
            "id,x\na1,2\n07,3\n1e5,4\n",
            0,
            '{"row":0,"kept":{"id":"a1"},"schema":"gradcli.run/1"',
        ),
        (["--keep", "k", "-f", "csv"], '{"x": 1, "k": [1, "é"]}\n', 0, 'k,result\n"[1,""é""]",1.0\n'),
        (["--map", "x=Temp (C)"], "Temp (C),note\n2,a\n", 0, "result\n4.0\n"),
        (["--map", "x=T", "--keep", "T"], "T\n2\n", 0, "T,result\n2,4.0\n"),
        (["--map", "x=T.0"], "T.0\n2\n", 0, "result\n4.0\n"),
        (["--map", "x=T"], '{"T": 2}\n', 0, '{"row":0,"schema":"gradcli.run/1"'),
        (["--na", "NA,null"], "x\nNA\n null \n2\n", 0, "result\nnan\nnan\n4.0\n"),
        (["--na", "NA,"], "x,y\nNA,1\n,2\n", 0, "result\nnan\nnan\n"),
        (["--separator", ";", "--decimal", ","], "x;y\n1,5;2\n", 0, "result\n2.25\n"),
        (["--separator", "tab"], "x\ty,z\n2\t1\n", 0, "result\n4.0\n"),
        (["--separator", "|", "--columns", "x,y"], "2|3\n", 0, "result\n4.0\n"),
    ],
)  # fmt: skip
def test_rows(cli, options, stdin, status, out):
    got, found, _ = cli(*SQUARE, "-q", *options, stdin=stdin)
    assert got == status
    assert found.startswith(out) if out.startswith("{") else found == out


@pytest.mark.parametrize("word", ["NA", "n/a", "null"])
def test_a_text_that_stands_for_no_number_names_the_option(cli, word):
    status, _, err = cli(*SQUARE, stdin=f"x\n1\n{word}\n")
    assert status == 4
    assert f"with `--rows`, `--na {word}` takes it for nan" in err
    assert "--na" not in cli(*SQUARE, stdin="x\n1\noops\n")[2]


def test_kept_cells_are_numbers_where_json_has_them(cli):
    out = cli(*SQUARE, "--keep", "id", "-f", "ndjson", stdin="id,x\n7,2\n07,3\n,4\n")[1]
    assert [json.loads(line)["kept"] for line in out.splitlines()] == [
        {"id": 7},
        {"id": "07"},
        {"id": ""},
    ]


@pytest.mark.parametrize(
    ("options", "stdin", "status", "message", "help"),
    [
        (["--keep", "ide"], "idx,x\na,1\n", 4, "`<stdin>` has no column `ide` to keep", "did you mean `idx`?"),
        (["--keep", "q"], "id,x\na,1\n", 4, "has no column `q` to keep", "it has id, x"),
        (["--keep", "result"], "result,x\na,1\n", 2, "the result is called `result`, as the column that --keep takes", None),
        (["--map", "x"], "x\n1\n", 2, "`x` in --map is not INPUT=COLUMN", None),
        (["--map", "x=Tmp"], "Temp\n1\n", 4, "there is no column `Tmp`, which --map names", "did you mean `Temp`?"),
        (["--separator", "ab"], "x\n1\n", 2, "`ab` cannot separate cells", "take one sign, or `tab`"),
        ([], "x;y\n1;2\n", 4, "the header is one column with `;` in it", "separate cells by commas: `tr ';' ,` makes a CSV of it, and `--rows` takes `--separator ';'`"),
        (["--decimal", ","], "x\n1;5\n", 4, "`1;5` in column `x` is not a number", None),
    ],
)  # fmt: skip
def test_refusals(cli, options, stdin, status, message, help):
    got, _, err = cli(*SQUARE, *options, stdin=stdin)
    assert (got, message in err) == (status, True), err
    assert help is None or f"help: {help}" in err, err


@pytest.mark.parametrize("command", ["grad", "gradcheck", "jacobian", "hessian"])
def test_a_missing_column_is_told_before_a_form_that_rows_have_not(cli, command):
    for program, expected in (("w ** 2", 4), ("x ** 2", 2)):
        status, _, err = cli(command, program, "--rows", "-", "-f", "plain", stdin="x\n1\n")
        assert status == expected, f"{command} {program}: {err}"


def test_a_last_line_counts_what_was_left_out(cli):
    _, _, err = cli(*SQUARE, "--on-error", "ignore", stdin=CSV)
    last = "gradcli: warning[rows-left-out]: 1 of 3 rows left out, the first at line 3"
    assert err.splitlines()[-1] == last
    assert "left out" not in cli(*SQUARE, "--on-error", "record", stdin=CSV)[2]


@pytest.mark.parametrize(
    ("suffix", "packed"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed_files(cli, tmp_path, suffix, packed):
    data = packed(b"x\n" + b"2\n" * 300)
    for name, end, status, out in [
        ("whole", len(data), 0, "result\n" + "4.0\n" * 300),
        ("cut", len(data) - 12, 4, ""),
        ("none", 0, 4, ""),
    ]:
        path = tmp_path / f"{name}.csv{suffix}"
        path.write_bytes(data[:end])
        got, _, err = cli("run", "x ** 2", "--rows", path, "-o", tmp_path / "out.csv")
        assert got == status, f"{name}: {err}"
        assert "Traceback" not in err
        if not status:
            assert (tmp_path / "out.csv").read_text() == out
    other = tmp_path / f"text.csv{suffix}"
    other.write_text("x\n1\n")
    status, _, err = cli("run", "x ** 2", "--rows", other)
    assert (status, f"cannot read `{other}`" in err) == (4, True), err


@pytest.mark.parametrize("option", [["--keep", "x"], ["--map", "x=T"], ["--na", "NA"], ["--separator", ";"], ["--decimal", ","], ["--encoding", "latin-1"]])  # fmt: skip
def test_they_go_with_rows(cli, option):
    status, _, err = cli("run", "2 * 3", *option)
    assert (status, "needs `--rows`" in err) == (2, True)


CELLS = "x,id\n1,007\n2,b\noops,e\n3,f\n"


def test_rows_go_to_an_npz_by_their_columns(cli, tmp_path):
    file = tmp_path / "o.npz"
    command = ["grad", "x ** 2", "--rows", "-", "--keep", "id", "-q", "-o", str(file)]
    assert cli(*command, "--on-error", "skip", stdin=CELLS)[0] == 4
    with np.load(file) as found:
        assert list(found) == ["row", "id", "result", "grad.x"]
        assert found["row"].dtype == np.int64
        assert found["row"].tolist() == [0, 1, 3]
        assert found["id"].tolist() == ["007", "b", "f"]
        assert found["grad.x"].tolist() == [2.0, 4.0, 6.0]
    status, _, err = cli(*command, "--on-error", "record", stdin=CELLS)
    assert (status, "has no place for an error" in err) == (2, True)
    before = file.read_bytes()
    assert cli(*command, stdin=CELLS)[0] == 4
    assert file.read_bytes() == before, "a run that fails has written"


@pytest.mark.parametrize(
    ("program", "kind", "expected"),
    [
        ("x * 2", "run", [2.0, 4.0]),
        ("stack([x, x * 2])", "run", [[1.0, 2.0], [2.0, 4.0]]),
        ("x ** 2", "grad", [2.0, 4.0]),
    ],
)
def test_rows_go_to_an_npy_as_one_array(cli, tmp_path, program, kind, expected):
    file = tmp_path / "o.npy"
    assert cli(kind, program, "--rows", "-", "-o", str(file), stdin="x\n1\n2\n") == (0, "", "")
    assert np.load(file).tolist() == expected


def test_no_rows_are_empty_arrays(cli, tmp_path):
    for suffix in ("npy", "npz"):
        file = tmp_path / f"o.{suffix}"
        assert cli("run", "x * 2", "--rows", "-", "-o", str(file), stdin="x\n") == (0, "", "")
        assert len(np.load(file)) == 0


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Files of rows in the folder of the command."""
    monkeypatch.chdir(tmp_path)
    texts = {"a": "x,id\n1,a\n2,b\n", "b": "id,x\nc,3\nd,oops\n", "other": "x\n1\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text, "utf-8")
    (tmp_path / "a.ndjson").write_text('{"x": 5}\n{"x": 6, "FILE": "own"}\n', "utf-8")


@pytest.mark.parametrize(
    "rows", [["--rows", "a.csv", "--rows", "b.csv"], ["--rows", "[ab].csv"], ["--rows", "?.c*"]]
)
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_several_files_are_gone_through_in_order(cli, files, rows, jobs):
    command = ["run", "x * 2", *rows, "--keep", "FILE,id", "--on-error", "skip", "--jobs", jobs]
    status, out, err = cli(*command)
    assert status == 4
    assert out == "row,FILE,id,result\n0,a.csv,a,2.0\n1,a.csv,b,4.0\n2,b.csv,c,6.0\n"
    assert "b.csv:3:3" in err
    assert "in row 3, line 3" in err


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["a.csv", "other.csv"], "`other.csv` has the columns x, and `a.csv` x, id"),
        (["a.csv", "a.ndjson"], "`a.ndjson` is ndjson, and `a.csv` csv"),
        (["a.csv", "none.csv"], "cannot read `none.csv`"),
        (["no*.csv"], "cannot read `no*.csv`"),
        (["-", "-"], "two `--rows -` read standard input"),
    ],
)
def test_files_that_do_not_fit_are_refused(cli, files, rows, says):
    _, _, err = cli("run", "x * 2", *[part for name in rows for part in ("--rows", name)])
    assert says in err


def test_objects_have_a_name_of_their_file(cli, files):
    command = ["run", "x * 2", "--rows", "a.ndjson", "--keep", "FILE", "-f", "csv"]
    assert cli(*command)[1] == "FILE,result\na.ndjson,10.0\nown,12.0\n"


QUOTED = [
    ('x,y\n1,2\n"3",4\n5,"6"\n', "x", 1, 3),
    ('x,y\n"1","2"\n"3","4"\n5,6\n', "x` and `y", 0, 2),
    ('{"x": 1, "y": 2}\n{"x": 3, "y": "4"}\n{"x": "5", "y": 6}\n', "y", 1, 2),
    ('{"x": "1e0", "y": 2}\n{"x": 3, "y": "4"}\n{"x": "5", "y": 6}\n', "x", 0, 1),
]


@pytest.mark.parametrize(("text", "names", "row", "line"), QUOTED)
@pytest.mark.parametrize("compiled", ["always", "never"])
def test_numbers_in_quotes_are_taken_with_a_note(cli, text, names, row, line, compiled):
    asked = ["run", "-e", "x * y", "--rows", "-", "--compile", compiled, "-f", "csv"]
    status, out, err = cli(*asked, stdin=text)
    assert (status, out) == (0, "result\n2.0\n12.0\n30.0\n")
    assert err == (
        f"gradcli: note[numbers-in-quotes]: numbers of `{names}` are in quotes and count as numbers\n"
        f"  = note: first in row {row}, line {line}; later ones are not shown\n"
    )
    assert cli(*asked, "-q", stdin=text)[2] == ""


@pytest.mark.parametrize(
    "text", ['x,y\n1,"[2, 3]"\n', 'x,y,z\n1,2,"a"\n', '{"x": "NaN", "y": 1}\n']
)
def test_what_has_to_stand_in_quotes_is_not_noted(cli, text):
    assert "in-quotes" not in cli("run", "-e", "x * sum(y)", "--rows", "-", stdin=text)[2]


@pytest.mark.parametrize("options", [[], ["--jobs", "2"], ["--where", "x != 1"]])
@pytest.mark.parametrize("compiled", ["never", "always"])
def test_messages_name_the_file_of_a_row(cli, tmp_path, options, compiled):
    for name, rows in (("a", "1\n2"), ("b", "3\noops")):
        (tmp_path / f"{name}.csv").write_text(f"x\n{rows}\n")
    files = [part for name in "ab" for part in ("--rows", str(tmp_path / f"{name}.csv"))]
    command = ["run", "-e", "log(x - 3)", *files, "--compile", compiled, "--on-error", "skip"]
    first, row = ("a", 0) if "--where" not in options else ("a", 1)
    err = cli(*command, *options)[2]
    assert f"first in row {row}, line {row + 2} of `{tmp_path}/{first}.csv`" in err
    assert f"in row 3, line 3 of `{tmp_path}/b.csv`" in err
    assert f"rows left out, the first at line 3 of `{tmp_path}/b.csv`" in err
