"""Questions to programs that are as deep as they may be, from a stack that is deep already: every
walk over a program has room, and deep values are told of.
"""

import sys

import pytest
from support.programs.nestings import deepest, nested

from gradcli.errors import GradError
from gradcli.program import Options, check_source, load, ops_text
from gradcli.source import Source

INTERPRETED = Options(compile="never")
QUESTIONS = {
    "graph": lambda p, text: p.graph(options=INTERPRETED),
    "check": lambda p, text: check_source(Source("t", text), {}),
    "listing": lambda p, text: ops_text(Source("t", text), {}),
}
DEEP = ("elements", "choices by choices")


def below(calls, what):
    return what() if calls <= 0 else below(calls - 1, what)


def frames():
    frame, found = sys._getframe(), 0
    while frame is not None:
        frame, found = frame.f_back, found + 1
    return found


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("name", DEEP)
def test_an_answer_or_a_message_however_deep_the_caller(name, question):
    """Three hundred of Python's thousand calls are left."""
    text = nested(name, deepest(name))
    program = load(text)
    left = sys.getrecursionlimit() - frames() - 300
    try:
        below(left, lambda: QUESTIONS[question](program, text))
        code = None
    except GradError as error:
        code = error.diagnostics[0].code
    assert code != "nested-too-deep" or name == "elements"  # whose values are as deep
