"""Python code that the documentation shows prints what is shown."""

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def missing(block):
    """The libraries that a block imports, and that the tests do without if need be."""
    named = [name for name in ("duckdb", "polars", "pyarrow") if f"import {name}" in block]
    return [name for name in named if find_spec(name) is None]


@pytest.mark.parametrize(
    ("name", "least", "flags"),
    [("python.md", 15, 0), ("internals.md", 2, doctest.NORMALIZE_WHITESPACE)],
)
def test_a_page_is_what_python_prints(name, least, flags, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / name).read_text("utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    blocks = [block for block in blocks if not missing(block)]
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, None, 0)
    said = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    runner.run(examples, out=said.append)
    assert not said, "".join(said)
    assert len(examples.examples) > least
