"""Text in other encodings: `--encoding` gives the bytes of the same file in UTF-8 on every path, and
without it every path tells the same place.
"""

import gzip
import io

import pytest

from gradcli.formats.readers.encoded import Encoded, is_encoding

PLACES = {  # by encoding, names that it has
    "latin-1": ("Zürich", 'é"n'),
    "cp1252": ("5 €, “a”", "Œuvre"),
    "UTF-16": ("Zürich", "東京"),
    "utf-16-be": ("表, 示", "😀"),
    "utf-32": ("Žd", "\N{LINE SEPARATOR}x"),
    "utf-8-sig": ("Zürich", "東京"),
    "shift_jis": ("表, 示", "ソー\\"),  # with bytes of a backslash
    "gb18030": ("Žd", "😀"),
    "koi8-r": ("Москва", "Тверь"),
}
RUN = ("run", "x ** 2 + 0.5", "--rows")


def quoted(text):
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in '",') else text


def table(places, count=900):
    rows = (f"{quoted(places[k % 2])},r{k},{k / 7}\n" for k in range(count))
    return "ort,id,x\n" + "".join(rows)


def answered(cli, folder, data, options, suffix=".csv", turn=None):
    """What each path answers to a file; with a turn, every third path, another one first each turn."""
    file = folder / f"t{suffix}"
    file.write_bytes(data)
    packed = folder / f"t{suffix}.gz"
    packed.write_bytes(gzip.compress(data))
    half = folder / f"h{suffix}"
    half.write_bytes(data)
    out = folder / "out"
    found = {}
    paths = (
        ("plain", [file], ""),
        ("keep", [file, "--keep", "ort,id"], ""),
        ("json", [file, "--keep", "all", "-f", "ndjson"], ""),
        ("jobs", [file, "--keep", "ort,id", "--jobs", "2"], ""),
        ("interpreted", [file, "--keep", "ort", "--compile", "never"], ""),
        ("packed", [packed, "--keep", "ort"], ""),
        ("stdin", ["-", "--keep", "ort"], data),
        ("two", [file, "--rows", half, "--keep", "ort"], ""),
        ("where", [file, "--where", "ort != 'a' and x > 3", "--keep", "ort"], ""),
        ("folder", [file, "--keep", "ort", "-o", f"{out}/", "--restart"], ""),
        ("cut", [file, "--keep", "ort", "--part-size", "8000", "-o", f"{out}/", "--restart"], ""),
    )
    for name, line, stdin in paths if turn is None else paths[turn % 3 :: 3]:
        status, text, err = cli(*RUN, *map(str, line), *options, stdin=stdin)
        if not status and name in ("folder", "cut"):
            parts = sorted(out.glob(f"*{suffix}"), key=lambda p: (len(p.name), p.name))
            texts = [part.read_text("utf-8") for part in parts]
            head = texts[0].partition("\n")[0] + "\n"
            text = head + "".join(t.removeprefix(head) for t in texts)
        found[name] = status, text, err
    return found


@pytest.mark.parametrize(
    ("encoding", "turn"),
    [
        *((encoding, turn) for turn, encoding in enumerate(PLACES)),
        *(pytest.param(encoding, None, marks=pytest.mark.long) for encoding in PLACES),
    ],
)
def test_every_path_reads_an_encoding(cli, tmp_path, encoding, turn):
    """Each path reads three encodings, each encoding is read by a third of the paths; all by all in
    the long tests.
    """
    text = table(PLACES[encoding])
    plain = answered(cli, tmp_path, text.encode(), [], turn=turn)
    assert {status for status, _, _ in plain.values()} == {0}, plain
    found = answered(cli, tmp_path, text.encode(encoding), ["--encoding", encoding], turn=turn)
    for name in plain:
        assert found[name] == plain[name], name


def test_json_lines_in_an_encoding(cli, tmp_path):
    text = "".join(f'{{"ort": "Zürich {k}", "x": {k}}}\n' for k in range(99))
    for name, whole in (("lines", text), ("array", f"[{','.join(text.splitlines())}]")):
        line = (*RUN, str(tmp_path / f"{name}.json"), "--keep", "ort")
        (tmp_path / f"{name}.json").write_text(whole, "utf-8")
        plain = cli(*line)
        assert plain[0] == 0
        (tmp_path / f"{name}.json").write_text(whole, "utf-16")
        assert cli(*line, "--encoding", "utf-16") == plain


def told(err):
    """The place and the cause of an error."""
    return next(line for line in err.splitlines() if "error[" in line).rpartition("/")[2]


@pytest.mark.parametrize(
    ("encoding", "options", "cause"),
    [
        ("latin-1", [], "the byte 0xfc is not UTF-8 text"),
        ("cp1252", ["--encoding", "shift_jis"], "this is no text in the encoding `shift_jis`"),
    ],
)
def test_every_path_tells_the_place_of_a_byte_that_is_no_text(
    cli, tmp_path, encoding, options, cause
):
    data = (table("ab", 700) + "zü\n,r700,5\n" + table("ab", 99)[9:]).encode(encoding)
    for name, (status, _, err) in answered(cli, tmp_path, data, options).items():
        assert status == 4, name
        file = {"stdin": "<stdin>", "packed": "t.csv.gz"}.get(name, "t.csv")
        assert told(err) == f"{file}:702:2: error[bad-input]: {cause}", name
        assert options or "help: `--encoding latin-1` reads a file in Latin-1" in err, name


def test_every_path_tells_the_encoding_that_the_first_bytes_have(cli, tmp_path):
    for encoding in ("utf-16", "utf-16-le"):
        shown = encoding.upper().replace("-LE", "LE")
        for name, (status, out, err) in answered(
            cli, tmp_path, table("ab", 9).encode(encoding), []
        ).items():
            assert (status, out) == (4, ""), name
            assert f"is {shown}, not UTF-8 text" in err, name
            assert f"help: `--encoding {shown}` reads it" in err, name


def test_a_bad_row_is_that_with_the_byte(cli, tmp_path):
    file = tmp_path / "t.csv"
    file.write_bytes(b"id,x\na,1\n\x81,2\nb,3\n")
    line = (*RUN, str(file), "--keep", "id", "--encoding", "cp1252", "--on-error", "skip", "-q")
    assert cli(*line)[:2] == (4, "row,id,result\n0,a,1.5\n2,b,9.5\n")


def test_a_fit_and_uncertainties_in_an_encoding(cli, tmp_path):
    rows = "".join(f"{k},{2 * k + (k % 3) / 9},ü{k}\n" for k in range(9))
    for name, encoding in (("plain", "utf-8"), ("other", "utf-16")):
        (tmp_path / f"{name}.csv").write_text(f"größe,y,ort\n{rows}", encoding)
    lines = (
        ("fit", "a * x", "a=1", "--map", "x=größe", "--observed", "y", "--json"),
        ("fit", "a * x", "a=1", "--map", "x=größe", "--observed", "y", "--where", "ort != 'ü3'"),
        ("propagate", "y ** 2", "--uncertainty", "y=0.1", "--keep", "ort"),
    )
    for line in lines:
        one = cli(*line, "--rows", str(tmp_path / "plain.csv"))
        assert one[0] == 0, one
        other = cli(*line, "--rows", str(tmp_path / "other.csv"), "--encoding", "utf-16")
        assert other == one
        status, _, err = cli(*line, "--rows", str(tmp_path / "other.csv"))
        assert (status, "help: `--encoding UTF-16` reads it" in err) == (4, True)


@pytest.mark.parametrize("name", ["hex", "idna", "rot13", "punycode", "undefined", "nope", ""])
def test_what_is_no_encoding_is_refused(cli, name):
    status, _, err = cli(*RUN, "-", "--encoding", name, stdin="x\n1\n")
    assert (status, f"`{name}` in --encoding is no encoding" in err) == (2, True), err
    assert not is_encoding(name)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        ("a\n".encode("utf-16")[:-1], "utf-16"),  # cut short
        (b"\x00\xd8a\x00", "utf-16-le"),  # half a sign
        (b"+2AA-\n", "utf-7"),
    ],
)
def test_signs_that_are_cut_are_told(data, encoding):
    stream = Encoded(io.BytesIO(data), encoding)
    found = b"".join(iter(lambda: stream.read1(3), b""))
    with pytest.raises(UnicodeDecodeError):
        found.decode()
    assert found.count(b"\xff") == 1
