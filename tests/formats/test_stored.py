"""Columns that are longer than memory should hold stand in files, and look like arrays."""

import errno

import numpy as np
import pytest

from gradcli.errors import InputError, LimitError
from gradcli.formats.files.stored import Growing, Stored, pieces


@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_a_long_column_is_a_file_that_reads_as_the_array(shape):
    rng = np.random.default_rng(1)
    parts = [rng.standard_normal((n, *shape)) for n in (1, 0, 700, 40_000, 3)]
    short, long = Growing(None, "x"), Growing(1000, "x")
    for part in parts:
        short.append(part)
        long.append(part)
    array, stored = short.done(), long.done()
    assert (type(array), type(stored)) == (np.ndarray, Stored)
    assert (stored.shape, stored.ndim, len(stored)) == (array.shape, array.ndim, len(array))
    np.testing.assert_array_equal(np.asarray(stored), array)
    for cut in (slice(0, 0), slice(5, 900), slice(40_000, 60_000), slice(None)):
        np.testing.assert_array_equal(stored[cut], array[cut])
    np.testing.assert_array_equal(stored[17], array[17])


def test_parts_of_columns_do_not_depend_on_where_they_stand():
    grown = Growing(0, "x")
    grown.append(np.arange(100_000.0))
    several = [[part for (part,) in pieces(x)] for x in (grown.done(), np.arange(100_000.0))]
    for one, other in zip(*several, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(several[0]) == 2


def test_records_of_different_sizes_are_refused():
    grown = Growing(None, "x")
    grown.append(np.zeros((1, 2)))
    with pytest.raises(InputError, match="the records have 2 and 3 elements of `x`"):
        grown.append(np.zeros((1, 3)))


def test_a_full_disk_is_a_limit(monkeypatch):
    class Full:
        def seek(self, *_):
            pass

        def write(self, _):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", lambda **_: Full())
    monkeypatch.setattr("tempfile.gettempdir", lambda: "/small")
    with pytest.raises(LimitError) as raised:
        Growing(0, "x").append(np.zeros(5))
    (said,) = raised.value.diagnostics
    assert said.message == "the data fit neither in memory nor in `/small`: No space left on device"
    assert "TMPDIR" in said.help
