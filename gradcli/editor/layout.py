"""Lay out a program as ruff lays out Python, and make sure that it stays the same program."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from shutil import which
from sysconfig import get_path

from gradcli.editor.python_form import free_mark, from_python, to_python
from gradcli.errors import Diagnostic, ProgramError, UsageError
from gradcli.grammar.syntax.layout import layout
from gradcli.grammar.syntax.lexer import comments, tokens
from gradcli.grammar.syntax.parser import parse
from gradcli.grammar.syntax.tables import load
from gradcli.program import is_same
from gradcli.source import Source, Span

LINE_LENGTH = 88
"""Columns of a line, as ruff and Black have it."""

# 3.8 has what the grammar has; for later versions ruff writes parentheses around contexts
_OPTIONS = ("format", "--isolated", "--target-version", "py38", "--stdin-filename", "program.py")
_MOST_ROUNDS = (
    5  # ruff may change its own layout once more, of a lambda in parentheses, for example
)


def laid_out(source: Source, line_length: int = LINE_LENGTH) -> str:
    """The text of a program in the layout of ruff.

    Args:
        source: The program.
        line_length: Columns that a line may have.

    Raises:
        ProgramError: If the text does not parse, or would be another program afterwards.
        UsageError: If ruff is not installed.
    """
    parse(source)
    text = source.text
    mark = free_mark(text)
    written = to_python(text, [*layout(tokens(load(), text, 0, len(text)), len(text))], mark)
    for _ in range(_MOST_ROUNDS):
        before, written = written, _formatted(written, line_length, source)
        if written == before:
            break
    result = Source(source.name, from_python(written, mark))
    if result.text != text:
        _check(source, result)
    return result.text


def _formatted(text: str, line_length: int, source: Source) -> str:
    """A text of Python as ruff formats it."""
    done = subprocess.run(
        [_ruff(), *_OPTIONS, "--line-length", str(line_length), "-"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise _refused(source, done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode()


def _ruff() -> str:
    """The command that runs ruff: of this environment, else of the system.

    Raises:
        UsageError: If there is none.
    """
    own = which("ruff", path=get_path("scripts"))
    found = own or which("ruff")
    if found is None:
        message = "`fmt` needs ruff, which is not installed"
        help = "pip install 'gradcli[fmt]'"
        raise UsageError(Diagnostic("missing-extra", message, help=help))
    return found


def _refused(source: Source, said: str) -> ProgramError:
    """The error for a program that ruff does not format, with what ruff says."""
    first = said.strip().partition("\n")[0]
    found = re.search(r":(\d+):(\d+): (.*)", first)
    span, reason = None, first.removeprefix("error: ")
    if found is not None:  # positions are those of the program: lines have the same lengths
        start = source.offset(int(found[1]), int(found[2]))
        span, reason = Span(start, start + 1), found[3]
    message = f"ruff cannot lay out this program, which stays as it is: {reason}"
    return ProgramError(Diagnostic("not-formatted", message, source, span))


def _check(source: Source, result: Source) -> None:
    """Check that a program is the same after formatting, and has the same comments.

    Raises:
        ProgramError: If it does not.
    """
    if not is_same(source, result):
        what = "it would be another program"
    elif _comments(source.text) != _comments(result.text):
        what = "a comment would be lost"
    else:
        return
    message = f"ruff's layout does not fit this program, which stays as it is: {what}"
    raise ProgramError(Diagnostic("not-formatted", message, source, Span(0, 1)))


def _comments(text: str) -> Counter[str]:
    """The parts of all comments between blanks and `#`, each with its number: ruff may write two
    comments on one line.
    """
    found = (word.replace("#", " ").split() for _, word, *_ in comments(text))
    return Counter(part for parts in found for part in parts)
