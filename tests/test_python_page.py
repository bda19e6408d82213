"""What docs/python.md shows of the Python API is what happens."""

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
BLOCKS = re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_is_what_python_prints(monkeypatch):
    monkeypatch.chdir(ROOT)
    examples = doctest.DocTestParser().get_doctest("\n".join(BLOCKS), {}, "python.md", None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert not said, "".join(said)
    assert len(examples.examples) > 15
