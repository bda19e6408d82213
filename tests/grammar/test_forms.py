"""Lines of the same form: the tree, the places and the faults of a parse of each line by itself."""

from pathlib import Path

import pytest

from gradcli.errors import ProgramError
from gradcli.grammar.syntax import ast, forms, parser
from gradcli.grammar.syntax.parser import parse
from gradcli.source import Source

SAMPLES = sorted((Path(__file__).parents[2] / "samples").glob("*.grad"))
STATEMENTS = (
    "y = x * 1.5 + 2",
    "y = z = -x ** 2 / (x + 1)",
    "a, *b = f(x)[1:2, ::3], g(y, *c, key=1, **d)",
    "y += sin(x)",
    "y[0] = x.T.sum(dim=1)",
    "w: float = 3",
    "v: float",
    "f(x)",
    "x",
    "assert x > 1 and y <= 2, 'small'",
    "del a, b[1]",
    "import numpy as np",
    "from math import sin, cos as c",
    "pass",
    "z = [k * 2 for k in range(3) if k]",
    "z = lambda a, b=1: a if b else (a, b)",
    "z = {1: 2, **d}",
    "z = f'{x!r:>{w}} of {y=}'",
    "z = 'a' 'b'",
    "z = not x is None in (1, True, ...)",
    "raise ValueError(x) from y",
    "if x: y = 1",
    "for k in x: y = k; z = k",
    "def f(a, *, b=1): return a",
    "x = 1; y = 2;",
    "a\u00e9 = a\u00e9 + 1",
)
FAULTS = (
    "y = 1e999 * 1.5 + 2",
    "y = x * 12345678901234567890123 + $",
    "y = x * 1.5 + 2 2",
    "y = x * 1.5 +",
    "y = (x * 1.5 + 2",
    "  y = x * 1.5 + 2",
    "y = f(k=1, x)",
    "y = \u0445 * 1.5 + 2",
    "y = '\\N' * 1.5 + 2",
)


def _told(node):
    """A tree with its places, as text."""
    if isinstance(node, ast.Node):
        parts = [_told(getattr(node, name)) for name in node._fields]
        return f"{type(node).__name__}({', '.join(parts)})"
    if isinstance(node, tuple):
        return f"({', '.join(map(_told, node))})"
    return f"{type(node).__name__} {node!r}"


def _answer(text):
    try:
        return _told(parse(Source("p.grad", text)))
    except ProgramError as error:
        return repr([(d.code, d.message, d.span, d.help) for d in error.diagnostics])


@pytest.fixture
def alike(monkeypatch):
    """A function that checks that a text is parsed as it is line by line."""

    monkeypatch.setattr(parser, "_FEW", 0)

    def check(text):
        monkeypatch.setattr(forms, "_BEFORE", 10**9)
        alone = _answer(text)
        monkeypatch.setattr(forms, "_BEFORE", 1)
        assert _answer(text) == alone
        return alone

    return check


@pytest.mark.parametrize("statement", STATEMENTS)
def test_repeated_statements(statement, alike):
    inside = "".join(f"    {statement}\n" for _ in range(5))
    told = alike(f"{statement}\n" * 5 + f"if x:\n{inside}else:\n{inside}y\n" + f"{statement}\n" * 3)
    assert told.startswith("Module")


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples_over_and_over(path, alike):
    assert alike(path.read_text("utf-8") * 4).startswith("Module")


@pytest.mark.parametrize("bad", FAULTS)
def test_a_fault_in_a_line_of_a_known_form(bad, alike):
    told = alike("y = x * 1.5 + 2\n" * 6 + f"{bad}\n" + "y = x * 1.5 + 2\n" * 3)
    assert told.startswith("[(")


def test_a_fault_is_told_as_without_the_lines_before():
    good = "y = x * 1.5 + 2\n" * 60
    for bad in FAULTS:
        with pytest.raises(ProgramError) as error:
            parse(Source("p.grad", f"{good}{bad}\n"))
        with pytest.raises(ProgramError) as alone:
            parse(Source("p.grad", f"y = x * 1.5 + 2\n{bad}\n"))
        found, other = error.value.diagnostics[0], alone.value.diagnostics[0]
        assert (found.code, found.message) == (other.code, other.message)


def test_a_form_is_made_once_and_only_if_it_is_common(monkeypatch):
    made = []
    compiled = forms._compiled
    monkeypatch.setattr(forms, "_compiled", lambda *of: made.append(of) or compiled(*of))
    few = "".join(f"y = {'x + ' * k} 1\n" for k in range(30))
    parse(Source("p.grad", few))
    assert not made
    parse(Source("p.grad", "y = x + 1\ny = y * x\n" * 200 + few))
    assert len(made) == 2


def test_a_line_of_many_tokens_has_no_form(alike):
    alike(f"y = {' + '.join('x' * 300)}\n" * 4)
