"""What is read is as long as it may be, and no longer: files, streams, lines, records, arrays."""

import io

import numpy as np
import pytest

from gradcli.cli.line import reading
from gradcli.errors import InputError
from gradcli.formats.files import arrays
from gradcli.formats.readers import read, rows, table

MOST = 2**12  # of whatever, in the place of what takes long to make


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("piece", [None, 1000])
def test_a_stream_holds_so_many_bytes_and_no_more(beyond, piece):
    class Pieces(io.BytesIO):
        def read(self, size=-1):
            return super().read(size if piece is None else min(size, piece))

    data = b"1 " * (MOST // 2) + b"1" * beyond
    if beyond:
        with pytest.raises(InputError, match="is longer than 0 MiB"):
            read.read_stream("x.txt", Pieces(data), MOST)
    else:
        assert read.read_stream("x.txt", Pieces(data), MOST) == data


@pytest.mark.parametrize("beyond", [False, True])
def test_a_file_of_values_holds_so_many_bytes_and_no_more(beyond, cli, tmp_path, monkeypatch):
    monkeypatch.setattr(read, "_LARGEST", MOST)
    (tmp_path / "x.txt").write_text("1 " * (MOST // 2) + "2" * beyond)
    status, _, err = cli("run", "-e", "sum(x)", f"x=@{tmp_path}/x.txt")
    assert (status, "is longer than" in err) == ((4, True) if beyond else (0, False))


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("way", ["file", "stream"])
def test_a_program_holds_so_many_bytes_and_no_more(beyond, way, cli, tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "_LONGEST_PROGRAM", MOST)
    text = f"1 + {'1' * beyond}1 #".ljust(MOST + beyond, "x")
    (tmp_path / "x.grad").write_text(text)
    status, _, err = cli(
        "run",
        *([tmp_path / "x.grad"] if way == "file" else []),
        stdin=text if way != "file" else "",
    )
    assert (status, "longer than" in err) == ((2, True) if beyond else (0, False))


@pytest.mark.parametrize("beyond", [False, True])
def test_an_array_of_several_holds_so_many_bytes_and_no_more(beyond, cli, tmp_path, monkeypatch):
    np.savez(tmp_path / "x.npz", x=np.ones(10), y=np.ones(11))
    monkeypatch.setattr(arrays, "_LARGEST", 128 + 80)
    key = "y" if beyond else "x"
    status, _, err = cli("run", "-e", "sum(x)", f"x=@{tmp_path}/x.npz:{key}")
    assert (status, "bytes long" in err) == ((4, True) if beyond else (0, False))


LINES = {  # of a length: a line of plain cells, a record of two lines in quotes, an object
    "a line": lambda size: f"{'1'.rjust(size - 3)},1\n",
    "a record": lambda size: '"{}\n",1\n'.format("1".rjust(size - 6)),
    "an object": lambda size: '{{"a":{}}}\n'.format("1".rjust(size - 7)),
}


@pytest.mark.parametrize("beyond", [False, True])
@pytest.mark.parametrize("policy", ["stop", "skip"])
@pytest.mark.parametrize("kind", LINES)
def test_a_line_and_a_record_are_so_long_and_no_longer(beyond, policy, kind, cli, monkeypatch):
    monkeypatch.setattr(table, "LONGEST", MOST)
    monkeypatch.setattr(rows, "LONGEST", MOST)
    long = LINES[kind](MOST + beyond)
    assert len(long) == MOST + beyond
    plain = '{"a":2}\n' if kind == "an object" else "2,3\n"
    text = ("" if kind == "an object" else "a,b\n") + plain * 20 + long + plain
    command = ["run", "-e", "input a = 1.0", "-e", "a * 2", "--rows", "-", "-f", "csv"]
    status, out, err = cli(*command, "--on-error", policy, "--compile", "never", stdin=text)
    if beyond:
        assert status == 4
        assert out.count("4.0\n") == 20
        assert ": longer than 0 MiB" in err or "not closed within 0 MiB" in err, err
    else:
        assert (status, out.count("4.0\n"), out.count("2.0\n")) == (0, 21, 1), err
