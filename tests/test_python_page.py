"""Python code that the documentation shows prints what is shown."""

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    ("name", "least", "flags"),
    [("python.md", 15, 0), ("internals.md", 2, doctest.NORMALIZE_WHITESPACE)],
)
def test_a_page_is_what_python_prints(name, least, flags, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = (ROOT / "docs" / name).read_text("utf-8")
    blocks = re.findall(r"^```pycon\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, None, 0)
    said = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    runner.run(examples, out=said.append)
    assert not said, "".join(said)
    assert len(examples.examples) > least
