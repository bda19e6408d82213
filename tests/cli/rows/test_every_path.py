"""The same table as a file of each form, by each way of answering: the same bytes."""

import codecs
import gzip
import json
import math
import random

import pytest

pyarrow = pytest.importorskip("pyarrow")

from gradcli.cli.rows import many_rows  # noqa: E402  # without pyarrow there is nothing to test

FLOATS = [0.1, -0.0, 0.0, 1e-7, 1e300, 5e-324, 123456789.25, -2.5, 1 / 3, 7e20, 2.0**53, math.nan]
INTS = [0, -1, 7, 2**53 - 1, 2**53 + 1, -(2**62) - 1, 10**15]
TEXTS = ["a", "", "b c", 'say "so"', "x,y", "é", "ü;", "t\tt", "日本", "two\nlines", "'", "\\n"]
PROGRAM = ["-e", "input x: float", "-e", "input y = 2.0", "-e", "x * y + sin(x)"]
WHERE = [None, None, "x > 0", "n != 7 and x < 1e10", "name == 'a' or n > 0", "name != 'é'"]
KEPT = [None, ["name"], ["n", "name"], ["X", "left"], ["name", "X", "n"]]


def table(draw):
    """Columns of a table: X and y are inputs, `left` is used nowhere."""
    count = draw.choice([1, 40, 150])
    texts = TEXTS if draw.random() < 0.5 else ["a", "b c", "é", "日本"]
    holes = draw.choice([0.0, 0.1])
    xs = [None if draw.random() < holes else draw.choice(FLOATS) for _ in range(count)]
    return {
        "name": [draw.choice(texts) for _ in range(count)],
        "X": xs,
        "n": [draw.choice(INTS) for _ in range(count)],
        "y": [draw.choice(FLOATS) for _ in range(count)],
        "left": [draw.choice(FLOATS) for _ in range(count)],
    }


def quoted(text, separator):
    quotes = any(sign in text for sign in f'{separator}"\n')
    return '"' + text.replace('"', '""') + '"' if quotes else text


def separated(columns, separator):
    """A table with separators; floats as Python writes them."""
    records = [[*columns], *zip(*columns.values(), strict=True)]
    cells = [["" if c is None else quoted(str(c), separator) for c in r] for r in records]
    return "".join(separator.join(record) + "\n" for record in cells).encode()


def written(columns, folder):
    """The files, by what they are."""
    count = len(columns["X"])
    objects = [{n: c[k] for n, c in columns.items()} for k in range(count)]
    plain = separated(columns, ",")
    found = {
        "csv": plain,
        "marked.csv": 2 * codecs.BOM_UTF8 + plain,
        "tsv": separated(columns, "\t"),
        "csv.gz": gzip.compress(plain),
        "csv.zst": pyarrow.compress(plain, "zstd", asbytes=True),
        "ndjson": "".join(json.dumps(o, ensure_ascii=False) + "\n" for o in objects).encode(),
        "json": json.dumps(objects).encode(),
        "indented.json": json.dumps(objects, indent=2, ensure_ascii=False).encode(),
    }
    for kind, data in found.items():
        (folder / f"t.{kind}").write_bytes(data)
    from pyarrow import feather, parquet

    arrow = pyarrow.table(columns, schema=SCHEMA)
    parquet.write_table(arrow, folder / "t.parquet", row_group_size=max(count // 3, 1))
    feather.write_feather(arrow, str(folder / "t.arrow"), chunksize=max(count // 2, 1))
    halves = folder / "halves"
    halves.mkdir()
    for k, part in enumerate((slice(None, count // 2), slice(count // 2, None))):
        half = {name: column[part] for name, column in columns.items()}
        (halves / f"h{k}.csv").write_bytes(separated(half, ","))
    return [*(f"t.{kind}" for kind in found), "t.parquet", "t.arrow", "halves/"]


SCHEMA = pyarrow.schema(
    [
        ("name", pyarrow.string()),
        ("X", pyarrow.float64()),
        ("n", pyarrow.int64()),
        ("y", pyarrow.float64()),
        ("left", pyarrow.float64()),
    ]
)


def asked_of(draw):
    """Options of a question, and the form of its answers."""
    form = draw.choice(["csv", "tsv", "ndjson"])
    asked = [draw.choice(["run", "grad"]), *PROGRAM, "--map", "x=X", "-f", form, "-q"]
    asked += ["--on-error", draw.choice(["skip", "ignore"])]
    asked += draw.choice([[], ["--na", ",null"]])
    kept, condition = draw.choice(KEPT), draw.choice(WHERE)
    asked += ["--keep", ",".join(kept)] if kept else []
    asked += ["--flat"] if kept and form == "ndjson" and draw.random() < 0.5 else []
    asked += ["--where", condition] if condition else []
    return asked, form


def differing(cli, folder, monkeypatch, seed):
    """The paths whose status or bytes differ from those of a CSV, row by row without code."""
    draw = random.Random(seed)
    names = written(table(draw), folder)
    asked, form = asked_of(draw)
    expected = cli(*asked, "--rows", "t.csv", "--compile", "never")[:2]
    found = {}
    for name in names:
        more = ["--compile", draw.choice(["always", "auto", "never"])]
        more += ["--jobs", draw.choice(["1", "2", "auto"])]
        with monkeypatch.context() as shared:
            shared.setattr(many_rows, "_WORTH", draw.choice([-1.0, 0.05]))
            found[name, *more] = cli(*asked, *more, "--rows", name)[:2]
    for name in ("t.csv", "t.parquet", "halves/"):
        out = f"out-{name.strip('/')}/"
        size = draw.choice(["300", "1M"])
        status = cli(*asked, "--rows", name, "-o", out, "--part-size", size)[0]
        about = json.loads((folder / out / "_gradcli.json").read_text())
        parts = [(folder / out / part["output"]).read_text() for part in about["parts"]]
        head = expected[1].partition("\n")[0] + "\n" if form != "ndjson" and expected[1] else ""
        parts = [head, *(part.removeprefix(head) for part in parts)]
        found[name, "parts", size] = status, "".join(parts)
    wrong = {way: got for way, got in found.items() if _without_null(got) != expected}
    return wrong, expected, asked


def _without_null(found):
    """An answer whose missing kept values are empty texts, as in a CSV, with its word for nan."""
    text = found[1].replace('"X":null', '"X":""')
    return found[0], text.replace('"X":"NaN"', '"X":"nan"').replace('"left":"NaN"', '"left":"nan"')


SEEDS = [*range(3), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 60))]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_path_gives_the_same_bytes(cli, tmp_path, monkeypatch, seed):
    monkeypatch.chdir(tmp_path)
    wrong, expected, asked = differing(cli, tmp_path, monkeypatch, seed)
    assert not wrong, (asked, expected)
