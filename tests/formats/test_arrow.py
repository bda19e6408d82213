"""Parquet and Arrow files, in and out."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from gradcli.errors import GradError

SUFFIXES = ["parquet", "arrow"]


@pytest.fixture(params=SUFFIXES)
def suffix(request, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    return request.param


def written(name, columns):
    import pyarrow
    from pyarrow import ipc, parquet

    table = pyarrow.table(columns)
    if name.endswith("parquet"):
        parquet.write_table(table, name, row_group_size=25)
        return
    with ipc.new_file(name, table.schema) as file:
        for start in range(0, len(table), 25):
            file.write_table(table.slice(start, 25))


def read(name):
    from pyarrow import ipc, parquet

    if name.endswith("parquet"):
        return parquet.ParquetFile(name).read().to_pydict()
    with ipc.open_file(name) as file:
        return file.read_all().to_pydict()


def test_rows_are_those_of_the_same_csv(cli, suffix):
    count = 60
    columns = {
        "id": [f"site {i}" for i in range(count)],
        "x": [i / 7 - 3 for i in range(count)],
        "k": list(range(count)),
        "v": [[float(i), 2.0] for i in range(count)],
    }
    columns["x"][40], columns["x"][41], columns["k"][45] = None, float("inf"), 2**60 + 1
    written(f"t.{suffix}", columns)
    lines = (
        f"{i},{'' if x is None else repr(x)},{k},{v[0]!r},{v[1]!r}"
        for i, x, k, v in zip(*columns.values(), strict=True)
    )
    with open("t.csv", "w", encoding="utf-8") as file:
        file.write("\n".join(["id,x,k,v.0,v.1", *lines, ""]))
    program = ["-e", "input v: float[2]", "-e", "input x: float", "-e", "input k: int"]
    asked = ["run", *program, "-e", "sum(v * v) * x + k", "--keep", "id", "--on-error", "skip"]
    expected = cli(*asked, "--rows", "t.csv", "--compile", "never")
    assert expected[1].count("\n") == count
    for compiled in ("always", "never"):
        found = cli(*asked, "--rows", f"t.{suffix}", "--compile", compiled)
        assert found[:2] == expected[:2]
        assert "1 of 60 rows left out, the first at line 41" in found[2]


def test_results_of_rows_have_columns_of_vectors(cli, suffix):
    program = ["-e", "input v: float[2]", "-e", "input x: float", "-e", "sum(v * v) * x"]
    rows = "id,v.0,v.1,x\na,1,2,3\nb,4,5,6\nc,1,2,oops\n"
    asked = ["grad", *program, "--rows", "-", "--keep", "id", "-q"]
    assert cli(*asked, "--on-error", "record", "-o", f"o.{suffix}", stdin=rows)[0] == 4
    assert read(f"o.{suffix}") == {
        "row": [0, 1, 2],
        "id": ["a", "b", "c"],
        "result": [15.0, 246.0, None],
        "grad.v": [[6.0, 12.0], [48.0, 60.0], None],
        "grad.x": [5.0, 41.0, None],
        "error": ["", "", "<stdin>:4:7: `oops` in column `x` is not a number"],
    }


def test_values_go_out_and_come_in(cli, suffix):
    name = f"o.{suffix}"
    text = "t = linspace(0, 1, 3); w = ones(3, 2); i = [1, 2, 3]"
    assert cli("run", "-e", text, "--show", "t,w,i", "-o", name)[0] == 0
    assert read(name) == {"t": [0.0, 0.5, 1.0], "w": [[1.0, 1.0]] * 3, "i": [1, 2, 3]}
    assert cli("run", "-e", "sum(w) + sum(t * i)", "-i", name, "-q")[1] == "10.0\n"
    assert cli("run", "-e", "w[0] * 2", f"w=@{name}:w")[1] == "[2.0,2.0]\n"
    assert cli("grad", "-e", "x * y", "x=2", "y=3", "-o", name)[0] == 0
    assert read(name) == {"result": [6.0], "grad.x": [3.0], "grad.y": [2.0]}
    assert cli("run", "-e", "x * 2", f"x=@{name}")[1] == "[[12.0,6.0,4.0]]\n"


REFUSED = {
    "texts": ({"x": ["a", "b"]}, "column `x` of `t.{}` holds no numbers but string"),
    "gaps": ({"x": [1.0, None]}, "column `x` of `t.{}` holds empty cells"),
    "ragged": ({"x": [[1.0], [1.0, 2.0]]}, "the lists in column `x` of `t.{}` differ in length"),
    "another": ({"y": [1.0]}, "`t.{}` has no column `x`"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_column_of_numbers_is_refused(cli, suffix, name):
    columns, told = REFUSED[name]
    written(f"t.{suffix}", columns)
    found = cli("run", "-e", "x * 2", f"x=@t.{suffix}:x")
    assert (found[:2], told.format(suffix) in found[2]) == ((4, ""), True)


@pytest.mark.parametrize("data", [b"", b"PAR1", b"ARROW1\0\0", b"\0" * 100])
def test_broken_files_are_refused(cli, suffix, data):
    with open(f"t.{suffix}", "wb") as file:
        file.write(data)
    for asked in (["-e", "x", "--rows", f"t.{suffix}"], ["-e", "x", "-i", f"t.{suffix}"]):
        found = cli("run", *asked)
        assert (found[:2], "is not a valid file of its suffix" in found[2]) == ((4, ""), True)
    assert "no such file" in cli("run", "-e", "x", "--rows", f"none.{suffix}")[2]


def test_a_file_with_any_byte_changed_is_read_or_refused(suffix):
    import pyarrow

    from gradcli.formats.files.arrow import cells, opened, value_of

    columns = {
        "x": [1.0, 2.0],
        "s": ["a", "b"],
        "v": [[1.0], [3.0]],
        "t": pyarrow.array([1, 2], pyarrow.timestamp("s", tz="UTC")),
        "d": pyarrow.array([1, 2], pyarrow.decimal128(5, 1)),
    }
    written(f"t.{suffix}", columns)
    data = Path(f"t.{suffix}").read_bytes()
    seen = Counter()
    for at in range(0, len(data), 2):
        for byte in (b"\xff", bytes([data[at] ^ 4])):
            changed = data[:at] + byte + data[at + 1 :]
            try:
                value_of("t." + suffix, changed, "x")
                file = opened("t." + suffix, changed)
                for batch in file.batches(file.names):
                    cells("t." + suffix, batch)
            except GradError as error:
                seen[error.diagnostics[0].code] += 1
    assert set(seen) <= {"bad-input", "unreadable-file"}
    assert seen["bad-input"] > 100


def test_a_date_that_no_calendar_has_is_refused_by_its_column(cli, suffix):
    import pyarrow

    written(f"t.{suffix}", {"x": [1.0], "t": pyarrow.array([2**60], pyarrow.timestamp("us"))})
    status, out, err = cli("run", "-e", "x * 2", "--rows", f"t.{suffix}", "--keep", "t")
    assert (status, out) == (4, "")
    assert f"column `t` of `t.{suffix}` has a value that cannot be read" in err


def test_without_the_library_its_extra_is_told(cli, suffix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    np.zeros(3).tofile(f"t.{suffix}")
    for asked, status in (
        (["--rows", f"t.{suffix}"], 4),
        (["-i", f"t.{suffix}"], 4),
        (["x=1", "-o", f"o.{suffix}"], 2),
        (["--rows", "-", "-o", f"o.{suffix}"], 2),
    ):
        found = cli("run", "-e", "x * 2", *asked, stdin="x\n1\n")
        assert (found[0], "`pip install 'gradcli[fast]'` installs pyarrow" in found[2]) == (
            status,
            True,
        )


@pytest.mark.parametrize("is_file", [True, False])
def test_memory_does_not_grow_with_a_parquet_file(tmp_path, is_file):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from gradcli.formats.files.arrow import opened

    path = tmp_path / "t.parquet"
    group = pyarrow.table({"x": np.random.default_rng(0).random(2**16)})
    with parquet.ParquetWriter(path, group.schema, compression="none") as writer:
        for _ in range(40):
            writer.write_table(group)
    batches = opened(str(path), None if is_file else path.read_bytes()).batches(["x"])
    before = pyarrow.total_allocated_bytes()
    held = [pyarrow.total_allocated_bytes() - before for _ in batches]
    assert len(held) == 40
    assert max(held) < 8 * group.nbytes


_LOADED = """
import sys
from gradcli.__main__ import _run
from gradcli.cpython import leave_out
leave_out("pandas")  # as `main` does
status = _run(sys.argv[1:])
print(status, "pyarrow" in sys.modules, "pyarrow.compute" in sys.modules)
"""


def test_ids_are_written_without_a_dictionary_and_repeated_texts_with_one(cli, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    count = 20_000  # more rows than those that tell ids
    columns = {
        "x": [k / 7 for k in range(count)],
        "id": [f"r{k}" for k in range(count)],
        "site": [f"s{k % 9}" for k in range(count)],
        "late": [f"t{k % 10_000}" for k in range(count)],
    }
    source, target = tmp_path / "t.parquet", tmp_path / "o.parquet"
    parquet.write_table(pyarrow.table(columns), source)
    line = ["run", "-e", "x", "--rows", str(source), "--keep", "id", "-o", str(target)]
    found = subprocess.run(
        [sys.executable, "-c", _LOADED, *line], capture_output=True, text=True, check=True
    )
    assert (found.stdout, found.stderr) == ("0 True False\n", "")  # it takes 0.1 s to load
    assert _dictionaries(target) == set()
    line[line.index("id")] = "id,site,late"
    assert cli(*line) == (0, "", "")
    assert _dictionaries(target) == {"site", "late"}
    assert parquet.read_table(target).column("site").to_pylist() == columns["site"]


def _dictionaries(file):
    """The columns of a Parquet file that are written with a dictionary."""
    from pyarrow import parquet

    group = parquet.ParquetFile(file).metadata.row_group(0)
    columns = [group.column(k) for k in range(group.num_columns)]
    return {c.path_in_schema for c in columns if c.has_dictionary_page}
