"""`-o FOLDER/`: a file for each part, a manifest, what is passed over and what is refused."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time

import pytest
from support.processes.in_process import command

from gradcli.cli.parts.names import outputs_of
from gradcli.formats.readers import parts
from gradcli.formats.readers.parts import Part, open_part, parts_of
from gradcli.formats.texts.dialect import USUAL

PROGRAM = "input x\ninput y = 2.0\nx * y + sin(x)"
CELLS = ["0.1", "-0.0", "1e300", "nan", "9007199254740993", "", "abc", "1_0", "inf", '"2.5"']


@pytest.fixture
def lake(tmp_path, monkeypatch):
    """A folder with three CSVs, the last of which comes before the others as a text."""
    monkeypatch.chdir(tmp_path)
    os.mkdir("lake")
    for k, name in enumerate(["a1", "a2", "a10"]):
        rows = "".join(f"{k}{i},{i / 7}\n" for i in range(9))
        (tmp_path / "lake" / f"{name}.csv").write_text(f"id,x\n{rows}")
    (tmp_path / "m.grad").write_text(PROGRAM)
    return tmp_path


def texts(folder, pattern="*.csv"):
    """The texts of the files of a folder by name."""
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob(pattern))}


def manifest(folder):
    return json.loads((folder / "_gradcli.json").read_text())


def test_a_folder_has_a_file_for_each_part(cli, lake):
    status, out, err = cli("grad", "m.grad", "--rows", "lake/", "--keep", "id", "-o", "out/", "-q")
    assert (status, out, err) == (0, "", "")
    found = texts(lake / "out")
    assert [*found] == ["a1.csv", "a10.csv", "a2.csv"]
    whole = "".join(found[f"a{k}.csv"].split("\n", 1)[1] for k in (1, 2, 10))
    one = cli("grad", "m.grad", "--rows", "lake/*.csv", "--keep", "id", "-q")[1]
    assert whole == one.split("\n", 1)[1]
    about = manifest(lake / "out")
    assert (about["status"], about["rows"], about["left_out"]) == ("done", 27, 0)
    assert about["program"]["text"] == PROGRAM
    assert [part["input"] for part in about["parts"]] == [f"lake/a{k}.csv" for k in (1, 2, 10)]
    assert not (lake / "out" / "_gradcli.lock").exists()


def test_what_is_done_is_passed_over(cli, lake):
    line = ("run", "m.grad", "--rows", "lake", "-o", "out/")
    assert cli(*line)[0] == 0
    (lake / "out" / "a1.csv").write_text("mine\n")
    status, _, err = cli(*line)
    assert status == 0
    assert "note[parts-done]: 3 of 3 parts are done already" in err
    assert (lake / "out" / "a1.csv").read_text() == "mine\n"
    assert cli(*line, "--restart")[0] == 0
    assert (lake / "out" / "a1.csv").read_text() != "mine\n"


REFUSED = [  # other arguments, what the message says
    (["-e", "x ** 3"], "has results of another program"),
    (["m.grad", "--keep", "id"], 'has results of another `keep`: null, not ["id"]'),
    (["m.grad", "y=3"], "has results of other values of inputs"),
    (["m.grad", "-f", "ndjson"], 'another `format`: "csv", not "ndjson"'),
    (["m.grad", "--on-error", "skip"], "has results of another `on_error`"),
]


@pytest.mark.parametrize(("other", "says"), REFUSED)
def test_another_question_is_refused(other, says, cli, lake):
    assert cli("run", "m.grad", "--rows", "lake/", "-o", "out/")[0] == 0
    before = texts(lake / "out", "*")
    status, _, err = cli("run", *other, "--rows", "lake/", "-o", "out/")
    assert status == 2
    assert says in err
    assert "`--restart` begins anew" in err
    assert texts(lake / "out", "*") == before


def test_changed_input_is_refused(cli, lake):
    line = ("run", "m.grad", "--rows", "lake/", "-o", "out/")
    assert cli(*line)[0] == 0
    (lake / "lake" / "a2.csv").write_text("id,x\n1,2\n")
    status, _, err = cli(*line)
    assert status == 2
    assert "`lake/a2.csv` is not as it was when `out/` was begun" in err
    assert cli(*line, "--restart")[0] == 0
    assert (lake / "out" / "a2.csv").read_text() == f"result\n{4 + 0.9092974268256817}\n"


def test_a_folder_without_files_is_refused(cli, lake):
    os.mkdir("empty")
    status, out, err = cli("run", "m.grad", "--rows", "empty/", "-o", "o/")
    assert (status, out) == (4, "")
    assert "cannot read `empty/`: no files are in it" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--rows", "lake/", "-o", "lake/"], "would replace a file of `--rows`"),
        (["--rows", "-", "-o", "out/"], "standard input has no parts"),
        (["--rows", "lake/", "--restart"], "`--restart` needs a folder"),
        (["--rows", "lake/", "--dry-run", "-o", "x.csv"], "`--dry-run` needs a folder"),
        (["--rows", "lake/", "--part-size", "1M"], "`--part-size` needs a folder"),
        (["--rows", "lake/", "-o", "o/", "--part-size", "big"], "`big` in --part-size is no size"),
        (["--rows", "lake/", "--cluster", "here"], "`here` in --cluster is no address"),
        (["--rows", "lake/", "--cluster", "local:x"], "no number of workers from 1 to 1024"),
        (["--cluster", "local:1"], "`--cluster` needs `--rows`"),
        (["--rows", "lake/", "-f", "parquet"], "parquet is no text"),
    ],
)
def test_wrong_options_are_refused(arguments, says, cli, lake):
    status, out, err = cli("run", "m.grad", *arguments, stdin="x\n1\n")
    assert (status, out) == (2, "")
    assert says in err


def test_a_folder_of_rows_leaves_out_results_and_what_is_hidden(cli, lake):
    """Results in folders of it, hidden files and folders, and those that begin with `_`."""
    for name in (".a.csv", "_a.csv", ".d/a.csv", "_d/a.csv", "deep/er/a3.csv"):
        path = lake / "lake" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("id,x\n30,1.0\n" if name[0] == "d" else "broken\n")
    line = ("run", "m.grad", "--rows", "lake", "--keep", "id", "-q")
    one = cli(*line)[1]
    assert "30,2." in one
    for _ in range(2):
        assert cli(*line, "-o", "lake/deep/out/") == (0, "", "")
        assert cli(*line)[1] == one
    found = cli("run", "result + 1", "--rows", "lake/deep/out", "-q")  # these are what is asked for
    assert (found[0], found[1].count("\n")) == (0, 29)
    status, _, err = cli(*line[:-1], "-o", "lake/", "-f", "ndjson")
    assert (status, "`lake/` has the rows" in err) == (2, True)


def test_a_file_that_is_no_result_is_not_replaced(cli, lake):
    os.mkdir("out")
    (lake / "out" / "a2.csv").write_text("mine\n")
    status, _, err = cli("run", "m.grad", "--rows", "lake/", "-o", "out")
    assert status == 2
    assert "`out/a2.csv` is there already" in err
    assert texts(lake / "out") == {"a2.csv": "mine\n"}


def test_the_plan_is_shown_without_work(cli, lake):
    status, out, _ = cli("run", "m.grad", "--rows", "lake/", "-o", "out/", "--dry-run")
    lines = [line.split("\t") for line in out.splitlines()]
    assert status == 0
    assert lines[0] == ["part", "rows", "bytes", "output", "status"]
    assert [line[0] for line in lines[1:]] == [
        *(f"lake/a{k}.csv" for k in (1, 2, 10)),
        "3 parts",
    ]
    assert not (lake / "out").exists()


@pytest.mark.parametrize(
    ("on_error", "done", "status"),
    [("stop", 1, 4), ("skip", 3, 4), ("record", 3, 4), ("ignore", 3, 0)],
)
def test_a_bad_row_of_a_part(on_error, done, status, cli, lake):
    (lake / "lake" / "a2.csv").write_text("id,x\n0,1\n1,oops\n2,3\n")
    line = ("run", "m.grad", "--rows", "lake/", "-o", "out/", "--on-error", on_error)
    found = cli(*line)
    assert found[0] == status
    about = manifest(lake / "out")
    assert sum(part["status"] == "done" for part in about["parts"]) == done
    assert about["status"] == ("failed" if on_error == "stop" else "done")
    if on_error == "stop":
        assert "`oops` in column `x` is not a number" in found[2]
        assert "1 of 3 parts are done in `out/`, with 9 rows" in found[2]
        assert [*texts(lake / "out")] == ["a1.csv"]
    if on_error == "skip":  # rows are numbered over all parts
        assert texts(lake / "out")["a2.csv"].startswith("row,result\n9,")
        assert "1 of 21 rows left out, the first at line 3 of `lake/a2.csv`" in found[2]


def test_a_part_that_cannot_be_read_does_not_keep_others_from_being_answered(cli, lake):
    (lake / "lake" / "a2.csv").write_bytes(b"\x89PNG\r\n\x1a\n")
    line = ("run", "m.grad", "--rows", "lake/", "-o", "out/", "--on-error", "ignore")
    status, _, err = cli(*line)
    assert status == 4
    assert [*texts(lake / "out")] == ["a1.csv", "a10.csv"]
    assert "cannot read `lake/a2.csv`" in err or "`lake/a2.csv` is a PNG" in err


@pytest.mark.parametrize("size", [1, 30, 100, 1000])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_cut_file_has_the_records_of_the_whole(size, ending, tmp_path):
    """Numbers, lines and cells, with blank lines and a last line without an end."""
    rng = random.Random(f"{size}{ending}")
    rows = [rng.choice(["", " \t", f"{rng.random()},ü"]) for _ in range(60)]
    path = tmp_path / "t.csv"
    path.write_bytes(ending.join(["x,y", *rows, "1,2"]).encode())
    parts = [*parts_of([str(path)], USUAL, size, counted=True)]
    assert len(parts) > 1 or size == 1000
    found = [row for part in parts for row in open_part(part, USUAL)]
    whole = [*open_part(Part(str(path), 0, ""), USUAL)]
    assert [(r.number, r.line, r.record.text) for r in found] == [
        (r.number, r.line, r.record.text) for r in whole
    ]
    assert [part.rows for part in parts] == [len([*open_part(part, USUAL)]) for part in parts]


@pytest.mark.parametrize(
    "text", ['x,y\n1,"a\nb"\n2,c\n' * 9, "x\r1\r2\r3\r" * 20, "x,y\n" + "1,2\r3,4\n" * 20]
)
def test_a_file_with_quotes_or_other_ends_of_lines_is_one_part(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    assert [part.number for part in parts_of([str(path)], USUAL, 10, counted=False)] == [None]


CONDITIONS = [None, "unused != 1", "name < 'é5' and unused < 20", "unused < 0"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_parts_have_the_bytes_of_one_process(seed, form, cli, lake):
    """Over random tables: quotes, empty cells, nan, large ints, -0.0, columns that nobody uses."""
    pytest.importorskip("pyarrow")
    rng = random.Random(f"{seed}{form}")
    quoted = CELLS if rng.random() < 0.5 else CELLS[:-1]
    for k in range(3):
        xs = [rng.choice(quoted) if i % 3 else "0.5" for i in range(25)]  # a good one in each part
        rows = [f"{x},é{i},{rng.choice(CELLS[:3])},{i}" for i, x in enumerate(xs)]
        (lake / "lake" / f"a{k}.csv").write_text("\n".join(["x,name,y,unused", *rows, ""]))
    for name in ("a10", "a2"):
        os.unlink(f"lake/{name}.csv")
    (lake / "lake" / "a2.csv").write_text("x,name,y,unused\n1,e,2,3\n")
    line = ["grad", "m.grad", "--rows", "lake/", "--keep", "name,x", "--on-error", "record", "-q"]
    line += ["--where", CONDITIONS[seed]] if CONDITIONS[seed] else []
    one = f"one.{form}"
    status = cli(*line, "-f", form, "-o", one)[0]
    parts = cli(*line, "-f", form, "-o", "out/", "--part-size", "200")[0]
    assert status == parts
    if form == "parquet":
        return
    names = json.loads((lake / "out" / "_gradcli.json").read_text())["parts"]
    found = [(lake / "out" / part["output"]).read_text() for part in names]
    found = [text for text in found if text]  # no row is chosen in some parts
    head = found[0].split("\n", 1)[0] + "\n" if form == "csv" and found else ""
    assert head + "".join(text.removeprefix(head) for text in found) == (lake / one).read_text()


def test_row_groups_are_parts(cli, lake):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"id": [f"r{i}" for i in range(100)], "x": [i / 3 for i in range(100)]})
    parquet.write_table(table, "t.parquet", row_group_size=10)
    line = ("grad", "m.grad", "--rows", "t.parquet", "--keep", "id", "--wrt", "x", "-q")
    assert cli(*line, "-o", "out/", "--part-size", "600")[0] == 0
    assert cli(*line, "-o", "one.parquet")[0] == 0
    parts = manifest(lake / "out")["parts"]
    assert len(parts) > 2
    found = [parquet.read_table(f"out/{part['output']}") for part in parts]
    assert pyarrow.concat_tables(found).equals(parquet.read_table("one.parquet"))


def test_the_bytes_of_row_groups_are_those_of_the_file(cli, lake):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"x": [0.5] * 100}), "t.parquet", row_group_size=25)
    found = [*parts_of(["t.parquet"], USUAL, 100, counted=False)]
    assert len(found) > 2
    assert os.path.getsize("t.parquet") - sum(part.bytes for part in found) in range(len(found))


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
def test_files_are_cut_and_counted_once(cli, lake, monkeypatch, form):
    """A manifest keeps the cuts of files; one that was changed is cut again."""
    line = ["run", "x + 1", "--rows", "lake/", "--part-size", "60", "-f", "ndjson", "-o", "out/"]
    if form == "parquet":
        pytest.importorskip("pyarrow")
        from pyarrow import csv, parquet

        for k in (1, 2, 10):
            rows = csv.read_csv(f"lake/a{k}.csv")
            parquet.write_table(rows, f"lake/a{k}.parquet", row_group_size=3)
            os.unlink(f"lake/a{k}.csv")
    elif form == "ndjson":
        for k in (1, 2, 10):
            lines = "".join(f'{{"x": {i / 7}}}\n' for i in range(9))
            (lake / "lake" / f"a{k}.ndjson").write_text(lines)
            os.unlink(f"lake/a{k}.csv")
    else:
        (lake / "lake" / "a2.csv").write_text('id,x\n"1",1\n"2",2\n' + "3,3\n" * 20)  # one part
    asked = cli(*line)
    before = manifest(lake / "out")["parts"]
    read = []
    for name in ("_of_lines", "_of_groups", "_counted"):
        own = getattr(parts, name)
        monkeypatch.setattr(
            parts, name, lambda part, *a, own=own: read.append(part.name) or own(part, *a)
        )
    assert cli(*line)[0] == asked[0]
    assert manifest(lake / "out")["parts"] == before
    assert read == []
    plan = cli(*line, "--dry-run")[1]
    assert read == []
    assert (
        cli(*line, "--dry-run", "--restart")[1].replace("waiting", "done").split("\n")[:-2]
        == (plan.replace("waiting", "done").split("\n")[:-2])
    )
    assert read != []


def test_a_part_that_could_not_be_counted_is_counted_again(cli, lake):
    """Also if the file looks as before, as after a change of rights."""
    file = lake / "lake" / "a2.csv"
    good, times = file.read_bytes(), (1e9, 1e9)
    file.write_bytes(b"\x89PNG\r\n\x1a\n".ljust(len(good)))
    os.utime(file, times)
    line = ("run", "x + 1", "--rows", "lake/", "-f", "ndjson", "-o", "out/")
    assert cli(*line)[0] == 4
    file.write_bytes(good)
    os.utime(file, times)
    status, _, err = cli(*line)
    assert status == 0, err
    texts = [(lake / "out" / f"a{k}.ndjson").read_text() for k in (1, 2, 10)]
    rows = [json.loads(line)["row"] for text in texts for line in text.splitlines()]
    assert rows == [*range(27)]


def test_seeds_are_those_of_one_process(cli, lake):
    line = ("run", "-e", "input x", "-e", "x * rand()", "--rows", "lake/", "--seed", "3", "-q")
    assert cli(*line, "-o", "out/", "--part-size", "40")[0] == 0
    parts = manifest(lake / "out")["parts"]
    found = "".join((lake / "out" / p["output"]).read_text().split("\n", 1)[1] for p in parts)
    assert found == cli(*line)[1].split("\n", 1)[1]


@pytest.mark.parametrize(
    ("names", "form", "expected"),
    [
        (["d/a.csv", "d/b.csv"], "csv", ["a.csv", "b.csv"]),
        (["d/y=1/a.csv.gz", "d/y=2/a.csv.gz"], "csv", ["y=1/a.csv.gz", "y=2/a.csv.gz"]),
        (["a.csv.gz"], "parquet", ["a.parquet"]),
        (["a.csv", "a.parquet"], "csv", ["a.csv.csv", "a.parquet.csv"]),
        (["s3://b/x/a.jsonl", "s3://b/y/a.jsonl"], "ndjson", ["x/a.ndjson", "y/a.ndjson"]),
        (["a.csv"], "raw", ["a.txt"]),
    ],
)
def test_names_of_outputs(names, form, expected):
    assert outputs_of([Part(name, 0, "") for name in names], form) == expected


def test_a_part_is_small_as_a_message():
    assert len(pickle.dumps(Part("lake/2026/a.parquet", 10**9, "1" * 19, 3, 10**6, 10**9))) < 200


def test_two_writers_and_a_killed_one(lake):
    """The second is refused; after a kill the next one does what is missing, and cleans up."""
    (lake / "slow.grad").write_text("input x\nimport time\nprint(x)\nx")
    os.mkfifo("lake/b.csv")
    line = [sys.executable, "-m", "gradcli", "run", "m.grad", "--rows", "lake/*.csv", "-o", "out/"]
    first = subprocess.Popen(line)
    try:
        limit = time.monotonic() + 60
        while not (lake / "out" / "a10.csv").exists() and time.monotonic() < limit:
            time.sleep(0.02)
        second = subprocess.run(line, check=False, capture_output=True, text=True, timeout=60)
        assert second.returncode == 2
        assert f"another gradcli (process {first.pid} on " in second.stderr
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    (lake / "out" / ".a.csv.0123456789ab-1.tmp").write_text("half")
    os.unlink("lake/b.csv")
    third = subprocess.run(
        [*line, "--restart"], check=False, capture_output=True, text=True, timeout=60
    )
    assert third.returncode == 0, third.stderr
    assert [*texts(lake / "out")] == ["a1.csv", "a10.csv", "a2.csv"]
    assert not [*(lake / "out").glob(".*")]


def test_folders_of_a_store(lake):
    """fsspec's file systems in memory, and of this machine by URL. The audit knows no stores."""
    cli = command
    fsspec = pytest.importorskip("fsspec")
    files = fsspec.filesystem("memory")
    for k in range(3):
        files.pipe_file(f"/lake/p{k}.csv", (lake / "lake" / "a1.csv").read_bytes())
    line = ("run", "m.grad", "--rows", "memory://lake/*.csv", "-q")
    assert cli(*line, "-o", "memory://out/")[0] == 0
    one = cli(*line)[1]
    found = [files.cat_file(f"/out/p{k}.csv").decode() for k in range(3)]
    assert "".join(text.removeprefix("result\n") for text in found) == one.removeprefix("result\n")
    status, _, err = cli(*line[:-1], "-o", "memory://out/")
    assert (status, "3 of 3 parts are done already" in err) == (0, True)
    here = (lake / "lake").as_uri()
    assert cli("run", "m.grad", "--rows", f"{here}/", "-o", "far/", "-q")[0] == 0
    assert len(texts(lake / "far")) == 3
    status, _, err = cli("run", "m.grad", "--rows", "memory://lake/none.csv")
    assert (status, "cannot read `memory://lake/none.csv`: no such file" in err) == (4, True)
    status, _, err = cli("run", "m.grad", "--rows", "nothing://lake/none.csv")
    assert (status, "nothing" in err) == (4, True)


def test_a_part_that_is_mended(cli, lake):
    """The contents of a part count once they are used; numbers of rows must stay as they were."""
    good = (lake / "lake" / "a2.csv").read_bytes()
    (lake / "lake" / "a2.csv").write_bytes(b"\x89PNG\r\n\x1a\n")
    line = ("run", "m.grad", "--rows", "lake/")
    numbered = (*line, "-o", "skipped/", "--on-error", "skip")
    assert cli(*line, "-o", "out/")[0] == cli(*numbered)[0] == 4
    (lake / "lake" / "a2.csv").write_bytes(good)
    status, _, err = cli(*line, "-o", "out/")
    assert (status, "1 of 3 parts are done already" in err) == (0, True), err
    status, _, err = cli(*numbered)
    assert status == 2
    assert "the rows of `lake/a10.csv` do not have the numbers that they had when" in err


def test_rows_that_nobody_has_counted_are_told_by_their_lines(cli, lake):
    (lake / "lake" / "a2.csv").write_text("id,x\n0,1\n1,oops\n")
    err = cli("run", "m.grad", "--rows", "lake/", "-o", "out/")[2]
    assert "= note: in line 3 of `lake/a2.csv`" in err


def test_temporary_files_of_lost_workers_are_removed_at_the_end(cli, lake, monkeypatch):
    from gradcli.cli.parts.manifest import Manifest

    note = Manifest.note

    def lost(self, k, report):
        (lake / "out" / ".a1.csv.0123456789ab-1.tmp").write_text("half")
        note(self, k, report)

    monkeypatch.setattr(Manifest, "note", lost)
    assert cli("run", "m.grad", "--rows", "lake/", "-o", "out/")[0] == 0
    assert not [*(lake / "out").glob(".*")]
