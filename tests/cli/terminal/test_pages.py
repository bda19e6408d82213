"""Pages, explanations and samples are those of the documentation, each from its heading to the next."""

import re
import sys
from pathlib import Path

import pytest

from gradcli.cli.terminal import shipped
from gradcli.codes import CODES

ROOT = Path(__file__).parents[3]


def sections(name):
    """The text of a page below each of its headings, with the heading; the whole page below None."""
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    parts = re.split(r"(?m)^(?=## )", text)[1:]
    return {None: text} | {part.partition("\n")[0][3:]: part for part in parts}


@pytest.mark.parametrize("topic", shipped.TOPICS)
def test_a_topic_is_a_page_or_what_stands_below_a_heading(cli, topic):
    name, heading = shipped.TOPICS[topic]
    assert cli("help", topic) == (0, sections(name)[heading], "")


def test_a_code_is_explained_by_what_stands_below_its_heading(cli):
    explained = sections("errors")
    for code in CODES:
        status, out, err = cli("explain", code)
        assert (status, out, err) == (0, explained[code], ""), code


def test_the_last_section_of_a_page_goes_to_its_end():
    text = "# a\n\n## b\n\none\n\n## c\n\ntwo\n\n### d\n\nthree\n"
    assert shipped.section(text, "b") == "## b\n\none\n\n"
    assert shipped.section(text, "c") == "## c\n\ntwo\n\n### d\n\nthree\n"


@pytest.mark.parametrize(
    ("columns", "most"), [(None, 80), (40, 40), (80, 80), (99, 99), (100, 100), (101, 100)]
)
def test_a_page_is_as_wide_as_the_terminal_but_not_too_wide_to_read(columns, most, monkeypatch):
    shown = []
    monkeypatch.setattr(shipped, "is_terminal", lambda stream: stream is sys.stdout)
    monkeypatch.setattr(shipped, "width", lambda stream: columns)
    monkeypatch.setattr(shipped, "paged", shown.append)
    shipped.show("word " * 200 + "\n\n" + "x " * 200, "never")
    (text,) = shown
    assert max(map(len, text.splitlines())) in (most - 1, most)


def test_samples_are_the_files_of_their_folder(cli, tmp_path):
    files = {path.name: path.read_bytes() for path in (ROOT / "samples").iterdir()}
    assert {path.name for path in shipped.samples().values()} == {*files}
    listed = cli("samples")[1].splitlines()
    room = max(map(len, shipped.samples()))
    for (name, path), line in zip(shipped.samples().items(), listed, strict=True):
        assert name == (path.stem if path.suffix == ".grad" else path.name)
        assert cli("samples", name) == (0, files[path.name].decode(), "")
        folder = tmp_path / name  # a program with its data, if it has any
        own = [n for n in (path.name, f"{name}.csv") if n in files]
        status, out, err = cli("samples", name, "-o", folder)
        assert (status, out, err) == (0, "".join(f"{folder}/{n}\n" for n in own), "")
        assert {p.name: p.read_bytes() for p in folder.iterdir()} == {n: files[n] for n in own}
        assert line[:room].rstrip() == name
        assert line[room : room + 2] == "  "
        assert line[room + 2] != " "
    assert cli("samples", "-o", tmp_path / "all")[0] == 0
    assert {p.name: p.read_bytes() for p in (tmp_path / "all").iterdir()} == files
    assert cli("samples", name, "-o", tmp_path / "all")[0] == 2


@pytest.mark.parametrize("package", shipped.PACKAGES)
def test_the_library_is_listed_and_shown_by_its_names(cli, package):
    library = ROOT / "gradcli" / "library"
    paths = sorted((library / package).rglob("*.grad"))
    names = [path.relative_to(library).with_suffix("").as_posix() for path in paths]
    for asked in (package, f"{package}/"):
        assert cli("samples", asked) == (0, "".join(f"{name}\n" for name in names), "")
    for path, name in zip(paths, names, strict=True):
        assert cli("samples", f"{name}.grad") == (0, path.read_text("utf-8"), "")
