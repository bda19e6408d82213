"""The Python text of functions, found by their code."""

import ast

import pytest

from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.scalar.sources import tree

TEXT = """
first, second = (lambda x: x + one), (lambda x: x * (lambda y: y + two)(x))


def plain(x: float) -> float:
    far: float = x + one
    return far
"""


@pytest.fixture
def functions(tmp_path):
    """The functions of a file, and the file."""
    file = tmp_path / "functions.py"
    file.write_text(TEXT)
    tree.cache_clear()  # equal code has equal text, wherever it stands
    found = {}
    exec(compile(TEXT, str(file), "exec"), found)
    return found, file


@pytest.mark.parametrize("name", ["first", "second", "plain"])
def test_the_text_of_a_function(functions, name):
    found = tree(functions[0][name].__code__)
    wanted = {
        "first": "lambda x: x + one",
        "second": "lambda x: x * (lambda y: y + two)(x)",
        "plain": "def plain(x: float) -> float:\n    far: float = x + one\n    return far",
    }
    assert ast.unparse(found) == wanted[name]


@pytest.mark.parametrize(
    "text",
    ["", TEXT.replace("one", "ten"), TEXT.replace("second", "the_second"), "x = (\n" * 3],
    ids=["none", "another name", "moved", "broken"],
)
def test_a_file_that_has_become_another(functions, text):
    """Nothing is made of a text that is not the function's."""
    found, file = functions
    file.write_text(text)
    with pytest.raises(Untranslatable):
        tree(found["first"].__code__)
