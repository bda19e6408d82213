import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradcli.errors import Diagnostic, Label
from gradcli.render.diagnostic import concise, full
from gradcli.render.text import plain_text
from gradcli.render.theme import text_of
from gradcli.source import Source, Span


def shown(diagnostic, **options):
    return plain_text(full(diagnostic, **options))


def source(text, name="f.grad"):
    return Source(name, text)


def at(src, piece, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = src.text.index(piece, start + 1)
    return Span(start, start + len(piece))


def test_the_message_of_a_matrix_product():
    src = source(
        "# layer\ninput W: float[4, 3]\ninput x: float[n]\nb = 1\n\n\ny = sigmoid(W @ x + b)\n",
        "fit.grad",
    )
    diagnostic = Diagnostic(
        "shape-mismatch",
        "`@` needs equal inner sizes, got 3 and 4",
        src,
        at(src, "W @ x"),
        labels=[
            Label(at(src, "W"), "`W` has shape [4, 3]"),
            Label(at(src, "W", 1), "last size of `W` is 3"),
            Label(at(src, "x", 1), "`x` has shape [4], bound by x=@x.npy"),
        ],
        notes=["in a @ b the last size of a meets the first of b"],
        help="`W.T @ x` fits: [3, 4] @ [4] gives [3]",
    )
    assert (
        shown(diagnostic)
        == """\
fit.grad:7:13: error[shape-mismatch]: `@` needs equal inner sizes, got 3 and 4
  |
2 | input W: float[4, 3]
  |       - `W` has shape [4, 3]
...
7 | y = sigmoid(W @ x + b)
  |             - ^ - `x` has shape [4], bound by x=@x.npy
  |             |
  |             last size of `W` is 3
  = note: in a @ b the last size of a meets the first of b
  = help: `W.T @ x` fits: [3, 4] @ [4] gives [3]
"""
    )
    assert plain_text(concise(diagnostic)) == shown(diagnostic).splitlines()[0] + "\n"


def case(name, text, diagnostic, expected):
    return pytest.param(text, diagnostic, expected, id=name)


CASES = [
    case(
        "caret at the end of the text",
        "x = (1 +",
        lambda s: Diagnostic("syntax", "more is expected", s, Span(8, 8), label="here"),
        "f.grad:1:9: error[syntax]: more is expected\n  |\n1 | x = (1 +\n  |         ^ here\n",
    ),
    case(
        "empty program",
        "",
        lambda s: Diagnostic("empty", "no statement", s, Span(0, 0)),
        "f.grad:1:1: error[empty]: no statement\n  |\n1 |\n  | ^\n",
    ),
    case(
        "line numbers of different widths",
        "\n".join(f"v{n} = {n}" for n in range(1, 13)),
        lambda s: Diagnostic("c", "m", s, at(s, "v12"), labels=[Label(at(s, "v9"), "nine")]),
        "f.grad:12:1: error[c]: m\n   |\n 9 | v9 = 9\n   | -- nine\n...\n12 | v12 = 12\n   | ^^^\n",
    ),
    case(
        "one line between two marked ones is shown",
        "a = 1\nb = 2\nc = a",
        lambda s: Diagnostic("c", "m", s, at(s, "a", 1), labels=[Label(at(s, "a"), "here")]),
        "f.grad:3:5: error[c]: m\n  |\n1 | a = 1\n  | - here\n2 | b = 2\n3 | c = a\n  |     ^\n",
    ),
    case(
        "tabs and wide characters",
        "\tx = '日本' + y",
        lambda s: Diagnostic("c", "m", s, at(s, "y"), label="why"),
        "f.grad:1:13: error[c]: m\n  |\n1 |     x = '日本' + y\n  |                  ^ why\n",
    ),
    case(
        "control characters are escaped and underlined whole",
        "x = \x1b[31m\u202e1",
        lambda s: Diagnostic("c", "m\x1b]0;\x07\n", s, Span(4, 5), notes=["\x1b\nb"], help="\x9b"),
        "f.grad:1:5: error[c]: m\\x1b]0;\\x07\\n\n  |\n1 | x = \\x1b[31m\\u202e1\n"
        "  |     ^^^^\n  = note: \\x1b\n          b\n  = help: \\x9b\n",
    ),
    case(
        "span over lines",
        "y = f(\n  a,\n  b)\nz = 1",
        lambda s: Diagnostic("c", "m", s, Span(4, 16), label="this call"),
        "f.grad:1:5: error[c]: m\n  |\n1 | y = f(\n  |     ^^\n2 |   a,\n  |   ^^\n3 |   b)\n"
        "  |   ^^ this call\n",
    ),
    case(
        "span over many lines shows its ends",
        "\n".join(["f(", *["  a,"] * 20, ")"]),
        lambda s: Diagnostic("c", "m", s, Span(0, len(s.text)), label="this call"),
        "f.grad:1:1: error[c]: m\n   |\n 1 | f(\n   | ^^\n...\n22 | )\n   | ^ this call\n",
    ),
    case(
        "labels inside the main span",
        "foo(aa, bb)",
        lambda s: Diagnostic(
            "c",
            "m",
            s,
            Span(0, 11),
            label="main",
            labels=[Label(Span(4, 6), "one"), Label(Span(8, 10), "two")],
        ),
        "f.grad:1:1: error[c]: m\n  |\n1 | foo(aa, bb)\n  | ^^^^--^ --^\n  | |   |   |\n"
        "  | |   |   two\n  | |   one\n  | main\n",
    ),
    case(
        "label on the main span itself",
        "foo",
        lambda s: Diagnostic("c", "m", s, Span(0, 3), labels=[Label(Span(0, 3), "it")]),
        "f.grad:1:1: error[c]: m\n  |\n1 | foo\n  | ^^^ it\n",
    ),
    case(
        "carriage returns end lines",
        "a = 1\rb = c\r",
        lambda s: Diagnostic("c", "m", s, at(s, "c")),
        "f.grad:2:5: error[c]: m\n  |\n2 | b = c\n  |     ^\n",
    ),
]


@pytest.mark.parametrize(("text", "diagnostic", "expected"), CASES)
def test_excerpt(text, diagnostic, expected):
    assert shown(diagnostic(source(text))) == expected


def test_without_a_place_the_program_speaks():
    diagnostic = Diagnostic("usage", "no command", help="try `gradcli --help`")
    assert shown(diagnostic) == (
        "gradcli: error[usage]: no command\n  = help: try `gradcli --help`\n"
    )


def test_a_file_name_cannot_reach_the_terminal():
    src = source("x", "a\x1b[31m\nb\udce9.grad")
    first = shown(Diagnostic("c", "m", src, Span(0, 1))).splitlines()[0]
    assert first == "a\\x1b[31m\\nb\\xe9.grad:1:1: error[c]: m"


@pytest.mark.parametrize("width", [20, 40, 100])
@pytest.mark.parametrize("start", [0, 3, 500, 3996])
def test_a_long_line_is_cut_around_the_caret(width, start):
    src = source("+".join(["a"] * 2000) + "b")
    lines = shown(Diagnostic("c", "m", src, Span(start, start + 1)), terminal=width).splitlines()
    text, caret = lines[-2:]
    column = caret.index("^")
    assert len(text) <= width, f"{text!r} is {len(text)} wide"
    assert text[column] == src.text[start], f"caret of {start} is under {text[column]!r}"
    assert text.startswith("1 | …") == (start > width)


def test_marks_outside_the_window_stay_inside_the_line():
    src = source("a + " * 600)
    diagnostic = Diagnostic("c", "m", src, Span(1200, 1205), labels=[Label(Span(0, 1), "far")])
    assert max(map(len, shown(diagnostic).splitlines())) <= 100


def test_colour_changes_nothing_but_colour():

    src = source("x = y")
    diagnostic = Diagnostic("c", "m", src, Span(4, 5), label="l", notes=["n"], help="h")
    coloured = text_of(full(diagnostic), colour=True)
    assert "\x1b[" in coloured
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert stripped == shown(diagnostic)


TEXTS = st.text(st.sampled_from("ab +(\t\n\r日\u0301\x1b\u202e…\ud800"), max_size=60)


@given(TEXTS, st.data(), st.integers(20, 60))
def test_no_span_breaks_the_drawing(text, data, width):
    src = source(text)
    offsets = st.integers(0, len(text))
    spans = [Span(*sorted(data.draw(st.tuples(offsets, offsets)))) for _ in range(4)]
    labels = [Label(span, f"label {n}") for n, span in enumerate(spans[1:])]
    out = shown(Diagnostic("c", "m", src, spans[0], label="main", labels=labels), terminal=width)
    assert "main" in out, f"{text!r} with {spans} lost its main label:\n{out}"
    assert "^" in out or labels
    assert all(f"label {n}" in out for n in range(3)), f"{text!r} with {spans} lost one:\n{out}"
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e\ud800]", out)


LONG = Diagnostic(
    "shape-mismatch",
    "the shapes [2, 3] and [4, 5] do not go together in any way that is known",
    source("W @ x", "a_model.grad"),
    Span(0, 5),
    notes=["the last size of `a` meets the first of `b`", "one\ntwo and three and four and five"],
    help="write `y = W.T @ x + b * 3` or name the input `a`",
)


def test_a_terminal_gets_lines_broken_at_words():
    assert (
        shown(LONG, terminal=46)
        == """\
a_model.grad:1:1: error[shape-mismatch]: the
    shapes [2, 3] and [4, 5] do not go
    together in any way that is known
  |
1 | W @ x
  | ^^^^^
  = note: the last size of `a` meets the first
          of `b`
  = note: one
          two and three and four and five
  = help: write `y = W.T @ x + b * 3` or name
          the input `a`
"""
    )


def test_what_stands_in_backticks_stays_on_one_line_if_it_can():
    lines = shown(LONG, terminal=36).splitlines()
    assert lines[-3:] == [
        "  = help: write",
        "          `y = W.T @ x + b * 3` or",
        "          name the input `a`",
    ]


@pytest.mark.parametrize("width", [20, 30, 50, 80])
def test_only_words_that_fit_no_line_stand_out(width):
    place, *lines = shown(LONG, terminal=width).splitlines()
    assert place.startswith("a_model.grad:1:1: error[shape-mismatch]:")
    for line in lines:
        assert len(line) <= width or " " not in line.strip(), line


def test_a_pipe_gets_each_text_on_one_line():
    lines = shown(LONG).splitlines()
    assert lines[0].endswith("known")
    assert lines[-1] == f"  = help: {LONG.help}"


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_a_caret_has_the_style_of_its_severity(severity):
    src = source("foo(a)")
    diagnostic = Diagnostic(
        "c", "m", src, Span(0, 6), labels=[Label(Span(4, 5), "it")], label="x", severity=severity
    )
    styles = {(text, style) for line in full(diagnostic) for text, style in line}
    assert {("^", severity), ("x", severity), ("-", "label"), ("it", "label")} <= styles
