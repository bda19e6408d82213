"""The trace for slides: as Markdown, and as a page."""

import re
from html.parser import HTMLParser

import pytest

LOOP = "param x = 0.5\ny = x\nfor i in range(20):\n    y = sin(y) * x\ny"


class Cells(HTMLParser):
    """The texts of a page's cells, row by row."""

    def __init__(self, text):
        super().__init__()
        self.rows, self._open = [], False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag):
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data):
        if self._open:
            self.rows[-1][-1] += data


def markdown_rows(text):
    for line in text.splitlines():
        cells = re.split(r"(?<!\\)\|", line)[1:-1]
        yield [re.sub(r"\\(.)", r"\1", cell.strip().strip("`*")) for cell in cells]


@pytest.mark.parametrize("text", [LOOP, "x ** 2 + sin(x * 3)", "max(x | 1 if False else x, 0)"])
def test_both_have_the_table_that_people_see(cli, text):
    line = ["trace", "-e", text, *([] if "param" in text else ["x=2"])]
    seen = cli(*line, "-f", "human")[1]
    head, _, *marked = markdown_rows(cli(*line, "-f", "md")[1])
    titles, *rows = Cells(cli(*line, "-f", "html")[1]).rows
    assert head == titles == ["", "expression", "line", "value", "partials", "adjoint"]
    assert len(marked) == len(rows)
    for one, other in zip(marked, rows, strict=True):
        texts = [cell.strip() for cell in other if cell.strip()]
        assert [cell for cell in one if cell] == texts
        assert any(
            " ".join(" ".join(texts).split()) == " ".join(x.split()) for x in seen.splitlines()
        )


def test_long_loops_are_shortened_but_for_all(cli):
    short = cli("trace", "-e", LOOP, "-f", "md")[1]
    assert "… 15 more turns of the loop at line 3" in short
    every = cli("trace", "-e", LOOP, "-f", "md", "--all")[1]
    assert "more turns" not in every
    assert every.count("| `sin(") == 20


def test_people_choose_the_digits(cli):
    for form in ("md", "html"):
        text = cli("trace", "1 / x", "x=3", "-f", form, "--precision", "3")[1]
        assert "0.333" in text
        assert "0.3333" not in text
    assert cli("trace", "1 / x", "x=3", "-f", "csv", "--precision", "3")[0] == 2


def test_no_text_of_a_program_is_markup_and_the_page_loads_nothing(cli):
    text = "y = x * 2 # </code><script>alert(1)</script>\ny < 3 or y * 1"
    page = cli("trace", "-e", text, "x=5", "-f", "html")[1]
    assert "<script" not in page
    assert not re.search(r"(src|href)=|https?://", page)
    assert "default-src 'none'" in page
