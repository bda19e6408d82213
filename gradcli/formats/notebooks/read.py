"""Read the text of a program, which may be a notebook or a page with blocks of code."""

from __future__ import annotations

import os

from gradcli.lesson import Lesson
from gradcli.source import Source


def lesson_of(source: Source, *, marked: bool) -> Lesson | None:
    """The lesson in a text, None if it is a plain program.

    Args:
        source: The text, with the name of its file.
        marked: True if lines `# %%` part it into cells.

    Raises:
        ProgramError: If it is a notebook that cannot be read.
    """
    suffix = os.path.splitext(source.name)[1].lower()
    if suffix == ".ipynb" or '"nbformat"' in source.text:
        from gradcli.formats.notebooks.ipynb import is_notebook, read_notebook

        if suffix == ".ipynb" or is_notebook(source.text):
            return read_notebook(source.name, source.text)
    if suffix in (".md", ".markdown"):
        from gradcli.formats.notebooks.pages import read_markdown

        return read_markdown(source.name, source.text)
    if marked:
        from gradcli.formats.notebooks.pages import read_marked

        return read_marked(source.name, source.text)
    return None
