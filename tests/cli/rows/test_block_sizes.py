"""How many rows are answered together: by a clock that the tests set, and by what is there."""

from itertools import accumulate, chain, repeat

import pytest

from gradcli.cli.rows import many_rows, rows
from gradcli.cli.rows.workers import can_fork
from gradcli.formats.readers.rows import Rows
from gradcli.questions.coded.compiled import Many

SQUARE = ["grad", "-e", "input x", "-e", "x ** 2", "--compile", "always", "--rows", "-"]
LEAST, MOST = 2**10, 2**20  # bytes of a block
LONG, WORTH = 0.2, 0.05  # seconds


def numbers(count):
    return "\n".join(["x", *(f"{k}.5" for k in range(count)), ""])


@pytest.fixture
def asked(monkeypatch):
    """The bytes that each block is asked to hold at most; none gets more than a few rows."""
    found, block = [], Rows.block

    def noted(self, names, most, titles):
        found.append(most)
        return block(self, names, 20, titles)

    monkeypatch.setattr(Rows, "block", noted)
    return found


@pytest.fixture
def clock(monkeypatch):
    """Sets how many seconds each block takes; the last of them all that follow."""

    def set_to(*seconds):
        spent = chain(seconds, repeat(seconds[-1]))
        times = chain.from_iterable((0.0, took) for took in spent)
        monkeypatch.setattr(many_rows, "perf_counter", lambda: next(times))

    return set_to


def steps(first, *factors):
    """Sizes, each the one before times a factor, within the limits."""
    return [*accumulate(factors, lambda a, b: int(min(max(a * b, LEAST), MOST)), initial=first)]


@pytest.mark.parametrize(
    ("seconds", "factors"),
    [
        ([0.0] * 13, [2] * 13),
        ([0.0] * 4 + [LONG] * 6, [2] * 4 + [0.5] * 6),
        ([0.0] * 12 + [1.0] * 12, [2] * 12 + [0.5] * 12),
        ([0.0, LONG - 0.01, LONG + 0.01, 0.0], [2, 2, 0.5, 2]),
    ],
    ids=["quick", "at once too long", "slower and slower", "to and fro"],
)
def test_blocks_double_while_they_are_quick_and_halve_where_they_are_not(
    cli, asked, clock, seconds, factors
):
    clock(*seconds)
    status, out, _ = cli(*SQUARE, stdin=numbers(200))
    assert (status, out.count("\n")) == (0, 201)
    assert asked[: len(factors) + 1] == steps(LEAST, *factors)


@pytest.mark.parametrize(
    ("jobs", "seconds", "before"),
    [
        ("1", [1.0], None),
        ("2", [WORTH / 2] * 3, 3),
        ("2", [WORTH + 0.01], 1),
        ("3", [0.0, 0.0, 1.0], 3),
        ("2", [0.0], None),
    ],
)
def test_blocks_are_shared_as_soon_as_they_have_taken_long(
    cli, asked, clock, monkeypatch, jobs, seconds, before
):
    clock(*seconds)
    text = numbers(200)
    expected = cli(*SQUARE, stdin=text)
    asked.clear()
    until = []

    def alone(processes, writer, count, work, *, apart):
        until.append((len(asked), count))
        return lambda blocks: map(work, blocks)

    monkeypatch.setattr(rows, "_shared", alone)
    clock(*seconds)
    assert cli(*SQUARE, "--jobs", jobs, stdin=text) == expected
    assert until == ([] if before is None else [(before, int(jobs))])


def test_rows_that_are_read_one_by_one_are_taken_together_twice_as_many_each_time(cli, monkeypatch):
    found, together = [], Many.numbers

    def noted(self, values):
        found.append(len(values))
        return together(self, values)

    monkeypatch.setattr(Many, "numbers", noted)
    sizes = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 4096, 5]
    objects = "".join(f'{{"x": {k}.5}}\n\n' for k in range(sum(sizes)))  # with blank lines
    assert cli("run", *SQUARE[1:], "-r", stdin=objects)[0] == 0
    assert found == sizes


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_no_row_is_read_before_the_one_before_it_is_asked(cli, monkeypatch, jobs):
    read, when, each, takes = [], [], Rows.__iter__, rows.takes_code

    def noted(self):
        for row in each(self):
            read.append(row.number)
            yield row

    def asked(question, wanted, row):
        when.append((row.number, [*read]))
        return takes(question, wanted, row)

    monkeypatch.setattr(Rows, "__iter__", noted)
    monkeypatch.setattr(rows, "takes_code", asked)
    assert cli(*SQUARE, "--jobs", jobs, stdin=numbers(40))[1].count("\n") == 41
    assert when == ([(0, [0])] if jobs == "2" else [])


@pytest.mark.skipif(not can_fork(), reason="needs processes")
def test_blocks_grow_where_processes_share_them(cli, asked, clock, monkeypatch):
    clock(0.0)
    monkeypatch.setattr(Many, "is_free", False)
    monkeypatch.setattr(many_rows, "_WORTH", -1.0)
    text = numbers(200)
    assert cli(*SQUARE, "--jobs", "2", stdin=text) == cli(*SQUARE, stdin=text)
    assert max(asked) == MOST


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_blocks_go_on_from_file_to_file(cli, tmp_path, monkeypatch, jobs):
    one_by_one, together = [], Many.numbers

    def noted(self, values):
        one_by_one.append(len(values))
        return together(self, values)

    monkeypatch.setattr(Many, "numbers", noted)
    monkeypatch.setattr(many_rows, "_WORTH", -1.0)
    names = [tmp_path / f"{k}.csv" for k in range(4)]
    for name in names:
        name.write_text(numbers(50))
    names[2].write_text("x\n")
    found = cli(*SQUARE[:-2], "--jobs", jobs, "--keep", "x", "--rows", f"{tmp_path}/*.csv")
    expected = cli(*SQUARE[:-2], "--keep", "x", "--rows", names[0])[1]
    head, _, records = expected.partition("\n")
    assert found == (0, f"{head}\n{records * 3}", found[2])
    assert one_by_one == [16, 16]
    names[1].write_text("x\n1\n\n3\n")  # a blank line: these rows are read one by one
    found = cli(*SQUARE[:-2], "--jobs", jobs, "--keep", "x", "--rows", f"{tmp_path}/*.csv")
    assert found[:2] == (0, f"{head}\n{records}1,1.0,2.0\n3,9.0,6.0\n{records}")
