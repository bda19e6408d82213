"""The page of a lesson, in a browser."""

import pytest
from support.processes.browser import browser, chromium

from gradcli.formats.notebooks.pages import read_markdown
from gradcli.program import load_notebook
from gradcli.render.notebooks.page import lesson_page

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason="no Chromium is installed"),
]

LESSON = """# A <i>lesson</i> & more

Text with `code`, a table and <script>alert(1)</script>.

| a | b |
|---|---|
| 1 | 2 |

```python
x = tensor([1., 2.], requires_grad=True)
print('<b>' + 'long ' * 60)
(x ** 2).sum()
```

```python
[][1]
```

```python
'never'
```
"""


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, False), (800, True)])
def test_a_lesson_is_a_page(tmp_path, width, dark):
    lesson = read_markdown("lesson.md", LESSON)
    path = tmp_path / "lesson.html"
    path.write_text(lesson_page(load_notebook(lesson).run(), lesson), "utf-8")
    with browser() as tab:
        tab.open(path, width=width, dark=dark, ready="location.protocol === 'file:'")

        assert tab.run("document.title") == "A <i>lesson</i> & more"
        assert tab.run("document.querySelectorAll('.cell').length") == 3
        assert tab.run("document.querySelectorAll('.passed').length") == 1
        assert tab.run("document.querySelectorAll('script, b, i').length") == 0
        assert tab.run("document.querySelectorAll('td').length") == 2
        assert "index" in tab.run("document.querySelector('.error').textContent")
        page, room = tab.run("[document.documentElement.scrollWidth, innerWidth]")
        assert page <= room  # long lines scroll by themselves
        paper = tab.run("getComputedStyle(document.body).backgroundColor")
        assert paper == ("rgb(13, 17, 23)" if dark else "rgb(255, 255, 255)")
        assert tab.said == []
        assert len([url for url in tab.requests if url.startswith("file:")]) == 1
