"""What is written for pipes and files: columns as arrays, and checks as records, lines and JSON."""

import io
import json
import math

import numpy as np
import pytest

from gradcli.errors import InputError, UsageError
from gradcli.formats.files import arrays
from gradcli.formats.files.columns import Columns, Matrix
from gradcli.formats.texts.json_text import json_object
from gradcli.formats.texts.layouts import LAYOUTS
from gradcli.formats.writers.checks import ChecksParts, verdict
from gradcli.results import Checked, GradcheckResult

# columns as arrays --------------------------------------------------------------------------------

COLUMNS = [  # the texts of a column, its array
    (["1", "2", "-3"], np.array([1, 2, -3])),
    (["1", "2.5", "nan"], np.array([1.0, 2.5, math.nan])),
    (["-inf", "-0.0"], np.array([-math.inf, -0.0])),
    (["true", "false"], np.array([True, False])),
    (["1", "x", "2.0", ""], np.array(["1", "x", "2.0", ""])),
    (["007", "1"], np.array(["007", "1"])),
    (["0", "10"], np.array([0, 10])),
    (["0.10", "1e3"], np.array([0.1, 1000.0])),
]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(("texts", "array"), COLUMNS)
def test_columns_are_arrays_of_one_kind(texts, array, many):
    layout = Columns()
    assert layout.head(["a", "b"]) == ""
    if many:
        assert layout.records([texts, np.arange(len(texts)) / 2]) == b""
    else:
        for place, text in enumerate(texts):
            assert layout.record([text, repr(place / 2)]) == ""
    found = np.load(io.BytesIO(layout.end()))
    assert [*found] == ["a", "b"]
    assert (found["a"].dtype, repr(found["a"])) == (array.dtype, repr(array))
    assert found["b"].tolist() == [place / 2 for place in range(len(texts))]


@pytest.mark.parametrize(
    ("names", "records", "array"),
    [
        (None, [], np.empty(0)),
        ([], [], np.empty(0)),
        (["a"], [["1"], ["2"]], np.array([1, 2])),
        (["a"], [], np.empty(0)),
        (["a", "b"], [], np.empty((0, 2))),
        (["a", "b"], [["1", "2.5"], ["3", "4"], ["5", "6"]], np.array([[1, 2.5], [3, 4], [5, 6]])),
    ],
)
def test_a_matrix_has_a_row_for_each_record(names, records, array):
    layout = Matrix()
    if names is not None:
        layout.head(names)
    for record in records:
        layout.record(record)
    found = np.load(io.BytesIO(layout.end()))
    assert (found.dtype, found.shape, found.tolist()) == (array.dtype, array.shape, array.tolist())


def test_markdown_has_its_signs_escaped():
    layout = LAYOUTS["md"]()
    assert layout.head(["a", "b|c"]) == "| a | b\\|c |\n|---:|---:|\n"
    assert layout.record([" x\ny ", "1|2"]) == "| x y | 1\\|2 |\n"
    assert layout.records([["p", "q"], np.array([1.5, 2])]) == b"| p | 1.5 |\n| q | 2.0 |\n"


# NumPy's files ------------------------------------------------------------------------------------

ARRAYS = [
    np.array(1.5),
    np.array([]),
    np.zeros((0, 3)),
    np.array([-0.0, math.nan, math.inf]),
    np.array([[1, 2], [3, 4]], np.int64),
    np.asfortranarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    np.array([True, False]),
    np.arange(3, dtype=">u2"),
]


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
@pytest.mark.parametrize("cut", [0, 1, -1])
def test_an_array_comes_back_if_it_is_whole(array, cut):
    data = arrays.npy(array)
    broken = data[: len(data) - 1] if cut == 1 else data + b"\0" * -cut
    if not cut:
        found = arrays.read_npy("x.npy", data)
        assert (found.dtype, found.shape, repr(found)) == (array.dtype, array.shape, repr(array))
        assert found.flags.writeable
        return
    message = "header is broken" if cut == 1 and not array.size else "is cut short or broken"
    with pytest.raises(InputError, match=message):
        arrays.read_npy("x.npy", broken)


def archive(**members):
    buffer = io.BytesIO()
    np.savez(buffer, **members)
    return buffer.getvalue()


KEYS = [  # the names of arrays, the key, the name of the array or the message
    (["a"], None, "a"),
    (["a", "b"], "b", "b"),
    (["a", "b"], None, "`x.npz` needs a key"),
    (["a"], "b", "`x.npz` has no array `b`"),
    ([], None, "`x.npz` holds no array"),
]


@pytest.mark.parametrize(("names", "key", "found"), KEYS)
def test_an_array_of_several_is_named(names, key, found):
    data = archive(**{name: np.array([ord(name)]) for name in names})
    if found in names:
        assert arrays.read_npz("x.npz", data, key).tolist() == [ord(found)]
        return
    with pytest.raises(InputError) as caught:
        arrays.read_npz("x.npz", data, key)
    assert caught.value.diagnostics[0].message == found


NO_NUMBERS = [
    (np.array(["a"]), "holds texts"),
    (np.array([b"a"]), "holds texts"),
    (np.array([1j]), "holds complex numbers"),
    (np.zeros(1, [("a", "f8")]), "holds records"),
    (np.array(["2020"], "M8[Y]"), "holds dates"),
]


@pytest.mark.parametrize(("array", "message"), NO_NUMBERS)
def test_arrays_of_anything_but_numbers_are_refused(array, message):
    buffer = io.BytesIO()
    np.save(buffer, array)
    with pytest.raises(InputError, match=message):
        arrays.read_npy("x.npy", buffer.getvalue())


def test_a_value_that_is_no_array_is_refused():
    for value in ([[1.0], [1.0, 2.0]], {"a": 1}, None):
        with pytest.raises(UsageError, match="the result is not an array"):
            arrays.npy(value)
    with pytest.raises(UsageError, match="`b` is not an array"):
        arrays.npz({"a": 1.0, "b": [[1.0], []]})
    assert arrays.one_array({"a": 1.0}, "x.npy") == 1.0
    for values, have in (({}, "nothing"), ({"a": 1.0, "b": 2.0}, "a, b")):
        with pytest.raises(UsageError) as caught:
            arrays.one_array(values, "x.npy")
        found = caught.value.diagnostics[0]
        assert found.message == f"`x.npy` holds one array, and the result has {have}"
        assert found.help == "`x.npz` holds several"


# checks -------------------------------------------------------------------------------------------


def checked(passed, note, error=0.5):
    return Checked(
        "w", 1, "reverse", (0, 2), 1.0, math.nan, error, 1.0, 0.25, 0.75, passed, note, 3
    )


CHECKS = {
    "ok": checked(True, ""),
    "FAIL": checked(False, "", 2.0),
    "kink": checked(True, "kink"),
    "unsure": checked(False, "unsure", math.inf),
}  # fmt: skip


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_has_a_verdict_and_a_note(name):
    check = CHECKS[name]
    note = check.note or None
    assert verdict(check) == name
    for checks, rules in (((check,), ()), ((), (check,))):
        parts = ChecksParts(GradcheckResult(check.passed, checks, rules), None)
        found = json.loads(json_object(parts.json()))
        assert [*map(len, (found["checks"], found["rules"]))] == [len(checks), len(rules)]
        (row,) = found["checks"] + found["rules"]
        assert (row["note"], row["passed"], row["numeric"]) == (note, check.passed, "NaN")
        assert (row["index"], row["line"], row["rounding"]) == ([0, 2], 3, 0.75)
        head, record = parts.records()
        cells = dict(zip(head, record, strict=True))
        assert (cells["note"], cells["kind"]) == (check.note, "input" if checks else "rule")
        assert (cells["index"], cells["numeric"], cells["line"]) == ("[0,2]", "nan", "3")
        assert parts.lines() == f"w\t1\treverse\t{check.error!r}\t1.0\t{name}\n"
        fields = parts.fields()
        assert (fields["passed"], fields["verdict"]) == (check.passed, name)
        assert (fields["index"], fields["error"]) == ("[0,2]", check.error)


def test_no_checks_are_a_result():
    parts = ChecksParts(GradcheckResult(True, (), ()), None)
    fields = parts.fields()
    assert (fields.pop("passed"), fields.pop("index"), fields.pop("verdict")) == (True, "", "ok")
    assert {*fields.values()} == {None}
    assert (parts.lines(), len([*parts.records()])) == ("", 1)
