"""Programs of every form in ruff's layout: the same programs, with their comments, once for all."""

import shutil

import pytest
from support.checks.amounts import chunks
from support.programs import ir_programs
from support.programs.disordered import disordered
from support.programs.generated_programs import listed, written
from support.programs.grammar_programs import text as every_form
from support.programs.natural_loops import natural

from gradcli.editor import layout
from gradcli.editor.layout import laid_out
from gradcli.editor.python_form import free_mark, from_python
from gradcli.errors import ProgramError, UsageError
from gradcli.grammar.syntax.parser import parse
from gradcli.program import is_same
from gradcli.source import Source

pytestmark = pytest.mark.skipif(shutil.which("ruff") is None, reason="the extra `fmt` is not there")

FORMS = [source.text for _, source in ir_programs.sources()]
DECLARED = """param a = 1
param b: float = 2.5
input n: int in [1, 10] = 3
param w: float[2, 3] in [-inf, [1, 2, 3]] = ones(2, 3)
input x: float[...] = [1.0]
param k: float in [0, 1]
def f(param, input): return param in [0, 1], input
a * k
"""
WRITERS = (
    lambda n: FORMS[n % len(FORMS)],
    every_form,
    lambda n: written(n)[0],
    listed,
    lambda n: natural(n).text,
    lambda n: DECLARED,
)


def program(number):
    """A program of one of the generators, in disorder."""
    return disordered(WRITERS[number % len(WRITERS)](number), number)


def lay_out(text):
    return laid_out(Source("p.grad", text))


@pytest.mark.parametrize("first", chunks(30, 360, 6))
def test_a_program_stays_the_same_in_another_layout(first):
    for number in range(first, first + 6):
        text = program(number)
        told = laid_out(Source("p.grad", text))
        assert parse(Source("", told)) == parse(Source("", text)), number
        assert told.count("#") == text.count("#"), number
        assert lay_out(told) == told, number


def test_all_forms_of_the_language_stay_the_same():
    text = disordered("\n".join(FORMS), 1)
    told = lay_out(text)
    assert parse(Source("", told)) == parse(Source("", text))
    assert lay_out(told) == told


def test_declarations_keep_their_words_and_lines_their_lengths():
    text = "param   a=1;param b : float [n,3]in[0,10]=ones( 2,3)  #bounds\ninput\\\n c\n"
    text += "print('param a', param)\ninput x: float in [0, 1]  # " + "x" * 59 + "\n"
    assert lay_out(text) == (
        "param a = 1\nparam b: float[n, 3] in [0, 10] = ones(2, 3)  # bounds\ninput c\n"
        'print("param a", param)\ninput x: float in [0, 1]  # ' + "x" * 59 + "\n"
    )


def test_a_long_declaration_is_broken_in_its_brackets():
    long = f"param {'a' * 40}: float in [0.0, 1000000000000000000000000000000.0] = 1.0\n"
    told = lay_out(long)
    assert max(map(len, told.splitlines())) <= 88
    assert is_same(Source("", told), Source("", long))
    assert lay_out(told) == told


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "x\n"])
def test_a_text_of_hardly_anything_stays(text):
    assert lay_out(text) == text


def test_line_ends_stay():
    assert lay_out("a=1\r\nb=2\r\n") == "a = 1\r\nb = 2\r\n"


def test_a_program_that_does_not_parse_has_its_usual_error():
    with pytest.raises(ProgramError) as found:
        lay_out("a = (1\nb = = 2")
    assert [d.code for d in found.value.diagnostics] == ["unclosed-bracket", "syntax-error"]


def test_a_program_with_a_wrong_name_is_laid_out_with_its_docstrings():
    text = 'def f(x):\n   """  two\n  lines"""\n   return sinn(x)'
    assert lay_out(text) == 'def f(x):\n    """two\n    lines"""\n    return sinn(x)\n'


def test_a_result_that_ruff_would_change_stays():
    with pytest.raises(ProgramError, match="it would be another program") as found:
        lay_out('"""  the result  """')
    assert found.value.diagnostics[0].code == "not-formatted"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda text: text.replace("1", "2"), "it would be another program"),
        (lambda text: text.replace("# why", ""), "a comment would be lost"),
        (lambda text: text.replace("# why", "# who"), "a comment would be lost"),
    ],
)
def test_a_wrong_layout_is_seen(wrong, says, monkeypatch):
    monkeypatch.setattr(layout, "_formatted", lambda text, *_: wrong(text))
    with pytest.raises(ProgramError, match=says):
        lay_out("a = 1  # why\na")


def test_what_ruff_cannot_read_is_told_at_its_place(monkeypatch):
    monkeypatch.setattr(layout, "to_python", lambda *_: "a = 1\nb = = 2")
    with pytest.raises(ProgramError, match="ruff cannot lay out this program") as found:
        lay_out("a = 1\nb = 2")
    assert found.value.diagnostics[0].code == "not-formatted"
    assert found.value.diagnostics[0].place == ("p.grad", 2, 5)


def test_what_ruff_says_without_a_place_is_told(monkeypatch):
    monkeypatch.setattr(layout, "_OPTIONS", ("format", "--no-such-option"))
    with pytest.raises(ProgramError, match="unexpected argument"):
        lay_out("a = 1")


def test_without_ruff_the_extra_is_named(monkeypatch):
    monkeypatch.setattr(layout, "which", lambda *_, **__: None)
    with pytest.raises(UsageError, match="needs ruff") as found:
        lay_out("a = 1")
    assert found.value.diagnostics[0].help == "pip install 'gradcli[fmt]'"


def test_a_mark_is_not_in_the_text():
    letters = "".join(map(chr, range(0x100, 0x120)))
    assert free_mark(letters) not in letters
    assert free_mark(letters).isidentifier()
    assert from_python("param\u0120a: float.\u0120\u0120\u0120[0, 1]", "\u0120") == (
        "param a: float in [0, 1]"
    )
