"""Which rows are answered together, and which are asked one by one: those alone that must be."""

import pytest

from gradcli.cli.rows import rows
from gradcli.questions.coded.compiled import Many

COUNT = 60  # rows of each file
AT = range(20, COUNT, 2)  # where a cell is put in the place of a plain one
PLAIN = ["3", "0.5", "-2e3", "1e-300", "9007199254740991", "-9007199254740991", "0", "007"]
PLAIN += ["0.1", "1E5", "+4", "1.7976931348623157e308"]
PLAIN += ["-0", "-0.0"]  # which are read one by one, and answered together
ODD = ["nan", "inf", "-inf", "1e999", "x", ""]
LARGE = [2**53, -(2**53), 2**60, 2**63 - 1]


@pytest.fixture
def asked(monkeypatch):
    """The numbers of the rows that are asked one by one."""
    found, ask = [], rows._asked

    def noted(question, options, wanted, row, *rest):
        found.append(row.number)
        return ask(question, options, wanted, row, *rest)

    monkeypatch.setattr(rows, "_asked", noted)
    return found


def answers(cli, source, stdin=""):
    """What is said of the rows by code, which is what is said of them one by one."""
    command = [
        "run",
        "-e",
        "input a: float",
        "-e",
        "input b = 1.0",
        "-e",
        "b * 2 + a",
        "--rows",
        source,
    ]
    command += ["--on-error", "record"]
    expected = cli(*command, "--compile", "never", stdin=stdin)
    return expected, lambda: cli(*command, "--compile", "always", stdin=stdin)


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize(("cells", "are_odd"), [(PLAIN, False), (ODD, True)])
def test_cells_that_are_plain_numbers_need_no_look_of_their_own(
    cli, asked, delimiter, cells, are_odd
):
    for cell in cells:
        lines = {i: f"{i}.5{delimiter}1" for i in range(COUNT)}
        lines |= dict.fromkeys(AT, f"{cell}{delimiter}1")
        text = "\n".join([f"a{delimiter}b", *lines.values(), ""])
        expected, by_code = answers(cli, "-", text)
        asked.clear()
        assert by_code() == expected, cell
        assert asked == ([*AT] if are_odd else []), cell


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_numbers_of_typed_columns_need_no_look_of_their_own(cli, asked, tmp_path, suffix):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    file = tmp_path / f"x.{suffix}"
    exact = [2**53 - 1, 1 - 2**53, 200, -107, 0, 10**15]
    columns = {
        "ints": ([*range(20), *exact], pyarrow.int64(), set()),
        "large ints": ([*range(20), *exact, *LARGE], pyarrow.int64(), set()),
        "small ints": ([*range(20), 127, -128], pyarrow.int8(), set()),
        "floats": ([k / 4 for k in range(1, 30)], pyarrow.float64(), set()),
        "single floats": ([k / 4 for k in range(1, 30)], pyarrow.float32(), set()),
        "odd floats": ([0.5] * 20 + [-0.0, 1.0, float("inf"), 2.0], pyarrow.float64(), {22}),
        "gaps": ([1.5] * 20 + [None, 2.5], pyarrow.float64(), {20}),
    }
    for name, (values, kind, left) in columns.items():
        table = pyarrow.table({"a": pyarrow.array(values, kind), "b": [1.0] * len(values)})
        if suffix == "parquet":
            parquet.write_table(table, file)
        else:
            with pyarrow.ipc.new_file(file, table.schema) as writer:
                writer.write_table(table)
        expected, by_code = answers(cli, file)
        asked.clear()
        assert by_code() == expected, name
        assert {row for row in asked if row >= 16} == left, name


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "end"])
def test_every_kind_of_line_is_read_with_its_block(cli, asked, end, last):
    lines = [f"{i}.5,{i}" for i in range(COUNT)]
    text = end.join(["a,b", *lines]) + (end if last else "")
    expected, by_code = answers(cli, "-", text)
    asked.clear()
    assert by_code() == expected
    assert asked == []


VECTORS = {  # what makes a type of such vectors
    "list": lambda pa, inner: pa.list_(inner),
    "large list": lambda pa, inner: pa.large_list(inner),
    "fixed list": lambda pa, inner: pa.list_(inner, 2),
}


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("kind", VECTORS)
@pytest.mark.parametrize("axes", [1, 2])
def test_columns_of_vectors_of_one_length_are_read_together(
    cli, asked, tmp_path, monkeypatch, suffix, kind, axes
):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    made = pa.float64()
    for _ in range(axes):
        made = VECTORS[kind](pa, made)
    plain = [[k / 4, 1.5] if axes == 1 else [[k / 4, 1.5], [2.0, k / 8]] for k in range(40)]
    rough = [*plain[:30], plain[30] + plain[30], *plain[31:]]
    gaps = [*plain[:30], None, *plain[31:]]
    monkeypatch.chdir(tmp_path)
    together, arrays = [], Many.arrays

    def noted(self, columns):
        together.extend(columns["a"])
        return arrays(self, columns)

    monkeypatch.setattr(Many, "arrays", noted)
    for rows_of, left in ((plain, set()), (rough, {30}), (gaps, {30})):
        if rows_of is rough and kind == "fixed list":
            continue
        table = pa.table({"a": pa.array(rows_of, made)})
        if suffix == "parquet":
            parquet.write_table(table, "x.parquet")
        else:
            with pa.ipc.new_file("x.arrow", table.schema) as writer:
                writer.write_table(table)
        sizes = ", ".join(["2"] * axes)
        command = ["run", "-e", f"input a: float[{sizes}]", "-e", "a.sum()", "--on-error", "record"]
        command += ["--rows", f"x.{suffix}", "--compile"]
        _, expected, _ = cli(*command, "never")
        asked.clear()
        together.clear()
        _, found, _ = cli(*command, "always")
        assert ({*asked}, len(together)) == (left, 0 if left else len(plain) - 16)
        for number, (mine, theirs) in enumerate(
            zip(found.splitlines()[1:], expected.splitlines()[1:], strict=True)
        ):
            assert mine.startswith(f"{number},,") if number in left else mine == theirs


@pytest.mark.parametrize("command", ["run", "grad"])
def test_a_run_draws_the_random_numbers_of_the_first_row(cli, command):
    line = [command, "-e", "input x = 1.0", "-e", "x * rand(())", "--seed", "7"]
    first = cli(*line, "--rows", "-", "-f", "csv", stdin="x\n3\n3\n")[1].splitlines()
    alone = cli(*line, "x=3", "-f", "csv")[1].splitlines()
    assert alone == first[:2]
    assert first[1] != first[2]
