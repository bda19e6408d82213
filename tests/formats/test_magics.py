"""Lines of a notebook that are no Python."""

import pytest

from gradcli.formats.notebooks.magics import pass_over

PASSED = [
    "%matplotlib inline",
    "!pip install torch",
    "?torch.ones",
    "torch.ones?",
    "torch.ones??",
    "%time x = 2",
    "files = !ls",
    "t = %timeit -o f(x)",
    "a, b = %sc ls",
    "!pip install \\\n  torch",
    "x = 1\n%env A=1\ny = 2",
    "if x:\n    %time f()",
]

KEPT = [
    "x = (a\n     % b)",
    "x = a \\\n    % b",
    's = """\n%no magic\n!neither\n"""',
    "s = '''a\n?'''",
    "x = 'really?'",
    "x = 1  # why?",
    "# %not\nx = 5 % 3",
    "x = [\n  1,  # (\n  2,\n]\ny = 3",
    "f = 'a % b'\ng = \"it's\" % 2",
    "x != y",
    's = r"\\"\nx',
]


@pytest.mark.parametrize("code", PASSED)
def test_lines_of_a_notebook_are_comments(code):
    made, passed = pass_over(code)

    assert len(made) == len(code)
    assert passed
    compile(made, "cell", "exec")
    for span in passed:
        assert "%" in code[span.start : span.end] or "!" in code or "?" in code
        assert not made[span.start : span.end].strip().startswith(("%", "!", "?"))


@pytest.mark.parametrize("code", KEPT)
def test_python_is_kept(code):
    assert pass_over(code) == (code, [])
