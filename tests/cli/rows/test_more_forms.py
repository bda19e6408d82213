"""Rows of arrays of objects and of compressed files, values of inner objects, and `--jobs auto`."""

import gzip
import json
import os
import random
import subprocess
import sys
from io import BytesIO

import pytest

from gradcli.formats.readers import json_array
from gradcli.formats.readers.json_array import ArrayLines

SQUARE = ["grad", "-e", "x ** 2"]
OBJECTS = [
    {"x": 1, "id": "a"},
    {"x": 2.5, "id": 'b"]},{'},
    {"x": 3, "id": "c\\", "more": [1, {"y": []}]},
]
ARRAYS = {
    "compact": json.dumps(OBJECTS, separators=(",", ":")),
    "a line each": "[\n" + ",\n".join(map(json.dumps, OBJECTS)) + "\n]\n",
    "indented": "\ufeff\r\n" + json.dumps(OBJECTS, indent=2).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("size", [1, 2, 7, 2**20])
def test_an_array_of_objects_is_read_as_lines(cli, monkeypatch, name, size):
    monkeypatch.setattr(json_array, "_BLOCK", size)
    lines = "".join(f"{json.dumps(found)}\n" for found in OBJECTS)
    asked = [*SQUARE, "--rows", "-", "--keep", "id"]
    assert cli(*asked, stdin=ARRAYS[name]) == cli(*asked, stdin=lines)


WRONG = {
    "no comma": ('[{"x": 1} {"x": 2}]', 1),
    "another thing": ('[{"x": 1}, 3, {"x": 2}]', 1),
    "a comma too many": ('[{"x": 1},]', 1),
    "cut short": ('[{"x": 1}, {"x": 2', 1),
    "no end": ('[{"x": 1}', 1),
    "more behind": ('[{"x": 1}] x', 1),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_broken_array_is_a_bad_row(cli, name):
    text, first = WRONG[name]
    status, out, err = cli(*SQUARE, "--rows", "-", stdin=text)
    assert (status, out.count("\n")) == (4, first)
    assert "error[bad-input]" in err


PLACES = [  # an array, the place of its fault, the line that is shown, the message, its help
    ('[{"x": 1},\n {"x": oops}]', "2:8", ' {"x": oops}]', "not valid JSON: expecting value", ""),
    ('[{"x": 1}\n {"x": 2}]', "2:2", ' {"x": 2}]', "a comma is missing before this object", ""),
    ('[{"x": 1},\n\n,{"x": 2}]', "3:1", ',{"x": 2}]', "no object stands before this comma", ""),
    ('[{"x": 1},\r\n ]', "1:10", '[{"x": 1},', "no object follows this comma", ""),
    ('[{"x": 1},\n 5, {"x": 2}]', "2:2", " 5, ", "this element of the array is no object", "give"),
    ('[{"x": 1}, 5, {"x": 2}]', "1:12", '[{"x": 1}, 5', "this element of the array is no", "x"),
    (
        '[{"x": 1},\n{"x": 2}',
        "2:9",
        '{"x": 2}',
        "the array is not closed: its `]` is missing",
        "cut short",
    ),
    ('[{"x": 1},\n{"é": 2, "x": ', "2:13", '{"é": 2', "it ends too early", ""),
    ('[{"x": 1}]\n\nmore', "3:1", "more", "not valid JSON", ""),
    ('[{"x": 1}] more', "1:12", "more", "not valid JSON", ""),
    ('[{"x": 1},\n{\n"é": 1, "x": "b"}]', "3:14", '"é": 1, "x"', "`b` for `x` is not", ""),
    ('[{"x": 1}, {"x": 2, "s": "a\nb"}]', "1:28", '[{"x": 1}, {"x"', "invalid control char", ""),
]


@pytest.mark.parametrize(("text", "place", "shown", "message", "help"), PLACES)
def test_a_broken_array_is_shown_as_it_is_written(cli, text, place, shown, message, help):
    status, _, err = cli(*SQUARE, "--rows", "-", stdin=text)
    assert status == 4
    assert f"<stdin>:{place}: error[bad-input]: " in err
    assert f"\n{place.split(':')[0]} | {shown}".rstrip() in err
    assert message in err
    assert help in err.partition("= help: ")[2]


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_places_in_a_long_array(cli, indent, jobs, monkeypatch):
    """Over many pieces, also for rows that are left out."""
    monkeypatch.setattr(json_array, "_BLOCK", 2**10)
    monkeypatch.setattr(json_array, "_KEPT", 2**18)
    objects = [{"id": k, "s": "ü" * 30, "x": k / 2} for k in range(2_000)]
    bad = [3, 1_100, 1_998]
    for k in bad:
        objects[k]["x"] = f"bad{k}"
    text = json.dumps(objects, indent=indent, ensure_ascii=False)
    skip = ["--on-error", "skip", "--jobs", jobs, "-f", "csv"]
    status, out, err = cli(*SQUARE, "--rows", "-", *skip, stdin=text)
    assert (status, out.count("\n")) == (4, len(objects) - len(bad) + 1)
    for k in bad:
        before, _, _ = text.partition(f'"bad{k}"')
        line = before.count("\n") + 1
        column = len(before) - before.rfind("\n")
        assert f"<stdin>:{line}:{column}: error[bad-input]: `bad{k}` for `x`" in err
        begun = before[: before.rindex("{")].count("\n") + 1
        assert f"in row {k}, line {begun}\n" in err


def test_no_objects_are_no_rows(cli):
    assert cli(*SQUARE, "--rows", "-", stdin="[ ]\n") == (0, "", "")


def test_other_bytes_come_as_they_are():
    for data in (b"", b"x,y\n1,2\n", b"[1, 2]", b" \n"):
        stream, pieces = ArrayLines(BytesIO(data)), []
        while piece := stream.read1(3):
            pieces.append(piece)
        assert b"".join(pieces) == data


NESTED = [{"id": k, "d": {"T": k / 4, "n": {"s": f"s{k}"}}} for k in range(40)]


@pytest.mark.parametrize("compiled", ["always", "never"])
@pytest.mark.parametrize("form", ["csv", "json"])
def test_values_of_inner_objects(cli, compiled, form):
    flat = [{"id": o["id"], "T": o["d"]["T"], "d.n.s": o["d"]["n"]["s"]} for o in NESTED]
    asked = ["run", "-e", "input T: float", "-e", "T ** 2", "--rows", "-", "-f", form]
    asked += ["--keep", "id,d.n.s", "--compile", compiled]
    inner, outer = ("\n".join(map(json.dumps, some)) for some in (NESTED, flat))
    expected = cli(*asked, stdin=outer)
    assert expected[0] == 0
    assert cli(*asked, "--map", "T=d.T", stdin=inner) == expected
    missing = inner + '\n{"id": 1, "d": 3}\n'
    status, out, err = cli(*asked, "--map", "T=d.T", stdin=missing)
    assert (status, out) == (4, expected[1])
    assert "no key of this row is an input" in err


@pytest.mark.parametrize("compiled", ["always", "never"])
def test_kept_values_beside_the_others(cli, compiled):
    text = "id,x\n" + "".join(f"{k},{k}.5\n" for k in range(30)) + "z,oops\n"
    asked = ["run", "-e", "x * 2", "--rows", "-", "-f", "json", "--keep", "id"]
    asked += ["--compile", compiled, "--on-error", "record"]
    flat = cli(*asked, "--flat", stdin=text)
    nested = cli(*asked, stdin=text)
    assert flat[0] == nested[0] == 4
    for mine, theirs in zip(flat[1].splitlines(), nested[1].splitlines(), strict=True):
        found = json.loads(theirs)
        assert json.loads(mine) == {**found.pop("kept"), **found}
        assert [*json.loads(mine)][:2] == ["row", "id"]
    for name in ("row", "result", "schema"):
        told = cli(*asked[:-5], name, *asked[-4:], "--flat", stdin=f"{name},x\n" + "1,2\n" * 30)
        assert told[0] == 2
        assert f"`{name}` is a kept column and a field of each result" in told[2]


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz", "zst"])
def test_files_are_compressed_and_decompressed(cli, tmp_path, monkeypatch, suffix):
    if suffix == "zst":
        pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    text = "id,x\n" + "".join(f"{draw.random()},{k}.5\n" for k in range(4000))
    asked = [*SQUARE, "--keep", "id", "--rows"]
    expected = cli(*asked, "-", stdin=text)[1]
    name = f"rows.csv.{suffix}"
    assert cli("run", "-e", "x", "--rows", "-", "--keep", "id", "-o", name, stdin=text)[0] == 0
    assert cli(*asked, name)[1] == expected
    assert cli("run", "-e", "[1, 2]", "-o", f"one.json.{suffix}") == (0, "", "")
    if suffix == "gz":
        with gzip.open("one.json.gz") as file:
            assert json.loads(file.read())["result"] == [1, 2]
    (tmp_path / f"broken.csv.{suffix}").write_bytes(b"abc")
    status, out, err = cli(*asked, f"broken.csv.{suffix}")
    assert (status, out, "error[unreadable-file]" in err) == (4, "", True)


def test_a_suffix_of_a_compression_alone_says_nothing(cli, tmp_path):
    status, _, err = cli("run", "-e", "1", "-o", str(tmp_path / "x.gz"))
    assert (status, "its suffix is missing" in err) == (2, True)


@pytest.mark.parametrize("jobs", ["0", "257", "-1", "2.5", "all", "", "9" * 5000])
def test_jobs_are_a_number_or_auto(cli, jobs):
    status, out, err = cli(*SQUARE, "--rows", "-", f"--jobs={jobs}", stdin="x\n1\n")
    assert (status, out) == (2, "")
    assert "is no number from 1 to 256" in err
    assert cli(*SQUARE, "--rows", "-", "--jobs", "auto", stdin="x\n3\n")[1].endswith("9.0,6.0\n")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--flat"], "`--flat` needs `--keep`"),
        (["--flat", "--keep", "x", "-f", "csv"], "`--flat` is for JSON lines"),
    ],
)
def test_flat_has_a_meaning_for_kept_columns_of_json(cli, options, says):
    status, out, err = cli(*SQUARE, "--rows", "-", *options, stdin='{"x": 1}\n')
    assert (status, out, says in err) == (2, "", True)


def test_flat_needs_rows(cli):
    status, _, err = cli("run", "-e", "1", "--flat")
    assert (status, "`--flat` needs `--rows`" in err) == (2, True)


def test_rows_do_not_import_what_they_do_not_use(tmp_path):
    """pyarrow imports pandas for every conversion if it is installed."""
    pytest.importorskip("pyarrow")
    (tmp_path / "pandas.py").write_text("raise SystemExit('imported')")
    (tmp_path / "rows.csv").write_text("x,id\n" + "1.5,a\n" * 300)
    asked = [sys.executable, "-m", "gradcli", "run", "x * 2", "--rows", "rows.csv", "--keep", "id"]
    found = subprocess.run(
        [*asked, "--compile", "always", "-o", "out.parquet"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")


def test_from_parquet_to_parquet_needs_no_functions_of_pyarrow(tmp_path):
    """pyarrow makes each of its functions, with its text, when pyarrow.compute is imported."""
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {"id": [f"s{k}" for k in range(300)], "x": [k / 4 for k in range(300)]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "rows.parquet")
    asked = ["gradcli", "run", "x * 2", "--rows", "rows.parquet", "--keep", "id", "-o", "o.parquet"]
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", *asked, "--compile", "always"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    names = {line.rpartition("|")[2].strip() for line in found.stderr.splitlines()}
    assert {"pyarrow.parquet", "pyarrow.compute"} & names == {"pyarrow.parquet"}
    written = parquet.ParquetFile(tmp_path / "o.parquet").read().to_pydict()
    assert written == {"id": columns["id"], "result": [2 * x for x in columns["x"]]}


@pytest.mark.parametrize("compiled", ["always", "never"])
def test_kept_values_of_typed_files_keep_their_types_in_json(cli, tmp_path, compiled):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {
        "s": ["12", None, 'a"b', ""],
        "f": [1.5, None, -0.0, 1e300],
        "n": [2**62 + 1, None, 0, -1],
        "t": [True, None, False, True],
    }
    kinds = {"d": pyarrow.array(["7", None, "x", "y"]).dictionary_encode()}
    columns |= {
        "v": [[1.0, -0.5], [2.0, None], None, []],
        "m": [[["7", "b"]], None, [[]], [["c", None]]],
        "o": [{"k": 1, "of": ["1"]}, None, {"k": None, "of": None}, {"k": 2**62 + 1, "of": []}],
    }
    many = {name: column * 20 for name, column in columns.items()}
    file = str(tmp_path / "t.parquet")
    more = {name: pyarrow.concat_arrays([column] * 20) for name, column in kinds.items()}
    parquet.write_table(pyarrow.table({"x": [1.0] * 80, **many, **more}), file)
    asked = ["run", "-e", "x", "--rows", file, "--keep", "s,f,n,t,d,v,m,o", "-f", "ndjson"]
    status, out, _ = cli(*asked, "--compile", compiled)
    kept = [json.loads(line)["kept"] for line in out.splitlines()]
    assert (status, len(kept)) == (0, 80)
    wanted = many | {"d": ["7", None, "x", "y"] * 20}
    assert {name: [found[name] for found in kept] for name in wanted} == wanted
