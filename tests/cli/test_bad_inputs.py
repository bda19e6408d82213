"""What wrong inputs get: the exit status, the place and the words."""

import re

import pytest
from support.programs.bad_files import BAD_FILES
from support.programs.bad_inputs import bad_inputs

FIRST_LINE = re.compile(
    r"(gradcli|[^:]+:[0-9]+:[0-9]+): (error|warning)\[[a-z-]+\]: (?![A-Z]).+(?<!\.)"
)

ROWS = [*bad_inputs(), *BAD_FILES]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inputs")


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_bad_input(row, cli, folder, monkeypatch):
    for path in folder.iterdir():  # of the row before
        path.unlink()
    row.write(folder)
    monkeypatch.chdir(folder)
    status, _, err = cli(*row.argv, stdin=row.stdin)
    check(row, status, err)


def check(row, status, err):
    assert (err.partition("\n")[0], status) == (row.says, row.status), err
    for text in row.shows:
        assert text in err, f"no {text!r} in {err}"
    assert "Traceback" not in err
    assert FIRST_LINE.fullmatch(row.says) or not row.argv, "no place, code and message"


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 24))]
)
def test_bad_inputs_of_processes(first, forked, tmp_path):
    """As real processes, one of 24 in every run."""
    for number, row in enumerate(ROWS[first::24]):
        folder = tmp_path / str(number)
        folder.mkdir()
        row.write(folder)
        done = forked.run(*row.argv, stdin=row.stdin, cwd=folder)
        check(row, done.returncode, done.stderr.decode())


def test_names_of_rows_differ():
    assert len({row.name for row in ROWS}) == len(ROWS)
