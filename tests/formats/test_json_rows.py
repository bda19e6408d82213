"""Values of rows of JSON: null and the texts of `--na` are missing, errors are at their place."""

import pytest

ROWS = '{"x": 1}\n{"x": null}\n{"x": "NA"}\n{"x": 2}\n'
REFUSED = {
    '{"x": null}': (7, "null for `x` is not a number"),
    '{"y": "b", "x": "b"}': (17, "`b` for `x` is not a number"),
    '{"x": {"a": 1}}': (7, "an object for `x` is not a number"),
    '{"x": [1, null]}': (11, "null for `x` is not a number"),
    '{"x": [1, [2, "a"]]}': (15, "`a` for `x` is not a number"),
    '{ "x" :   "a"}': (11, "`a` for `x` is not a number"),
    '{"é": 1, "x": "é"}': (15, "`é` for `x` is not a number"),
}


@pytest.mark.parametrize("na", ["null", "NA,null", "null,-"])
def test_null_is_missing_where_na_names_it(cli, na):
    rows = ROWS if "NA" in na else ROWS.replace('{"x": "NA"}\n', "")
    status, out, _ = cli("run", "-e", "x * 2", "--rows", "-", "-f", "csv", "--na", na, stdin=rows)
    assert status == 0
    assert out.splitlines() == ["result", "2.0", *["nan"] * (rows.count("\n") - 2), "4.0"]


def test_a_missing_item_of_a_list_is_nan(cli):
    rows = '{"x": [1, null]}\n'
    _, out, _ = cli("run", "-e", "x", "--rows", "-", "--na", "null", "-r", stdin=rows)
    assert out.split() == ["1.0", "nan"]


@pytest.mark.parametrize("row", REFUSED)
def test_an_error_is_at_its_place_in_the_data(cli, tmp_path, row):
    file = tmp_path / "rows.jsonl"
    file.write_text(f'{{"x": 1}}\n{row}\n', "utf-8")
    status, _, err = cli("run", "-e", "x", "--rows", file, "-f", "csv")
    column, message = REFUSED[row]
    assert (status, err.splitlines()[0]) == (4, f"{file}:2:{column}: error[bad-input]: {message}")


def test_null_is_not_missing_where_na_names_other_texts(cli):
    status, _, err = cli("run", "-e", "x", "--rows", "-", "--na", "NA", stdin=ROWS)
    assert status == 4
    assert "<stdin>:2:7: error[bad-input]: null for `x`" in err
    assert "`--na null` takes null as nan" in err
