"""Every path of rows gives the same bytes: one by one, by columns with and without pyarrow, and
shared among jobs, over random tables.
"""

import random
from importlib.util import find_spec

import pytest

from gradcli.cli.rows import many_rows
from gradcli.formats.readers import float_columns, json_values
from gradcli.formats.texts import float_texts, text_columns

COUNT = 24
NUMBERS = ["1", "-2.5", "1e-7", "123456789.25", "0", "7e20", "0.1", "3.0e2", " 4", "5 "]
ODD = ["-0.0", "-0", "nan", "inf", "", "x", "9007199254740993", "1e999", "true", "NA"]
TEXTS = ["a", "", "b c", "007", "1.50", "1e5", "-0", "nan", "é", "\N{PILE OF POO}", "tab\t", "\\"]
QUOTES = ['"', ",", ";", 'say "so"', "a,b", " ", "'"]


def cell(draw, text, separator, quoted):
    """A cell as a file has it, in quotes if it has to be, or by chance if `quoted`."""
    needs = any(sign in text for sign in (separator, '"', "\n", "\r"))
    if needs or (quoted and draw.random() < 0.2):
        doubled = text.replace('"', '""')
        return f'"{doubled}"'
    return text


def table(draw, separator, odd, quoted):
    """A random table of two numbers and two texts, one column of which nobody uses."""
    lines = [separator.join(["id", "a", "unused", "b", "site"])]
    for _ in range(COUNT):
        pool = ODD if draw.random() < odd else NUMBERS
        numbers = [draw.choice(pool), draw.choice(NUMBERS)]
        texts = [draw.choice(TEXTS + QUOTES * quoted) for _ in range(3)]
        cells = [texts[0], numbers[0], texts[1], numbers[1], texts[2]]
        if draw.random() < odd / 4:
            cells = draw.choice([cells[:3], [*cells, "more"]])
        lines.append(separator.join(cell(draw, text, separator, quoted) for text in cells))
    return lines


WHERE = [None, None, "b > 1", "a * b < 0 or b == 5", "id == 'a' or b > 1", "site != '' and not a"]
FORMS = ["csv", "tsv", "ndjson", "md"]


@pytest.fixture
def small(monkeypatch):
    """Blocks of a few rows."""
    monkeypatch.setattr(many_rows, "_FIRST", 4)
    monkeypatch.setattr(many_rows, "_LEAST_BYTES", 150)
    monkeypatch.setattr(text_columns, "_FEW", 1)
    monkeypatch.setattr(float_texts, "_FEW", 1)


def without_pyarrow(name):
    return None if name in ("pyarrow", "orjson") else find_spec(name)


@pytest.mark.parametrize("seed", range(10))
def test_all_paths_give_the_same_bytes(cli, tmp_path, monkeypatch, small, seed):
    draw = random.Random(seed)
    separator = draw.choice([",", ",", "\t", ";"])
    lines = table(draw, separator, odd=draw.choice([0.0, 0.1]), quoted=draw.random() < 0.6)
    end = draw.choice(["\n", "\r\n"])
    file = tmp_path / ("rows.tsv" if separator == "\t" else "rows.csv")
    text = end.join(lines) + draw.choice([end, ""])
    file.write_text(text, "utf-8", newline="")
    asked = ["grad", "-e", "a * b + b", "--wrt", "a,b", "--rows", str(file)]
    asked += ["--on-error", draw.choice(["record", "skip", "stop"])]
    asked += ["--separator", separator] if separator == ";" else []
    asked += draw.choice([[], ["--na", "NA"], ["--na", "NA,"]])
    asked += draw.choice([[], ["--keep", "id"], ["--keep", "site,FILE,a"], ["--keep", "all"]])
    condition = draw.choice(WHERE)
    asked += ["--where", condition] if condition else []
    for form in draw.sample(FORMS, 2):
        expected = cli(*asked, "-f", form, "--compile", "never")
        assert expected[1].count("\n") > COUNT // 2 or "stop" in asked or condition
        assert cli(*asked, "-f", form, "--compile", "always") == expected, form
        with monkeypatch.context() as bare:
            for module in (float_columns, text_columns, float_texts):
                bare.setattr(module, "find_spec", without_pyarrow)
            assert cli(*asked, "-f", form, "--compile", "always") == expected, form
        with monkeypatch.context() as shared:
            shared.setattr(many_rows, "_WORTH", -1.0)
            command = [*asked, "-f", form, "--compile", "always", "--jobs", "2"]
            assert cli(*command) == expected, form


VALUES = [1, -2.5, 1e-7, 123456789.25, 0, 7e20, 0.1, 2**40]
ODD_VALUES = [-0.0, "nan", "NaN", "1.5", None, "x", 2**53 + 1, 10**30, True, [1], {"c": 1}]
KEPT = [
    "a",
    "",
    'say "so"',
    "é\n",
    1,
    1.5,
    1e-7,
    None,
    True,
    [1, {"x": 2}],
    "t:1",
    10**30,
]


def objects(draw, odd):
    """Random objects, some with other keys, or values that are no numbers."""
    from json import dumps

    lines = []
    for _ in range(COUNT):
        pool = ODD_VALUES if draw.random() < odd else VALUES
        found = {"id": draw.choice(KEPT), "a": draw.choice(pool), "b": draw.choice(VALUES)}
        if draw.random() < odd:
            found.pop(draw.choice([*found]))
        if draw.random() < odd:
            found["w"] = 2.0
        line = dumps(found, ensure_ascii=draw.random() < 0.5)
        if lines and draw.random() < odd / 2:
            line = draw.choice([line[:-1], line[:-1] + ', "a": 3}', line + " ", "[1]"])
        lines.append(line)
    return lines


@pytest.mark.parametrize("seed", range(6))
def test_objects_are_answered_as_one_by_one(cli, monkeypatch, small, seed):
    draw = random.Random(seed)
    text = "\n".join([*objects(draw, draw.choice([0.0, 0.15])), ""])
    program = ["-e", "input a: float", "-e", "input b: float"]
    program += ["-e", "input w = 1.0", "-e", "a * b * w + b"] if seed % 2 else ["-e", "a * b + b"]
    asked = ["grad", *program, "--wrt", "a,b", "--rows", "-", "--on-error", "record"]
    asked += draw.choice([[], ["--keep", "id"], ["--keep", "id,FILE,none"]])
    asked += draw.choice([[], ["--where", "b > 0"], ["--where", "a < 0.5 or id == 'a'"]])
    for form in draw.sample(["csv", "ndjson"], 2):
        expected = cli(*asked, "-f", form, "--compile", "never", stdin=text)
        assert expected[1].count("\n") >= COUNT or "--where" in asked, expected[2]
        assert cli(*asked, "-f", form, "--compile", "auto", stdin=text) == expected, form
        with monkeypatch.context() as bare:
            bare.setattr("importlib.util.find_spec", without_pyarrow)
            json_values.json_reader.cache_clear()
            assert cli(*asked, "-f", form, "--compile", "auto", stdin=text) == expected, form
        json_values.json_reader.cache_clear()
