"""Names that hold a leaf on one path, or before a loop, and what is made of it on another: the
interpreter's bits where nothing asks which one it is, and no code where something does.
"""

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

ALIKE = {
    "a choice": "param x = 0.5\ny = x if x > 0 else -x\ny * y",
    "the choice itself": "param x = 0.5\ny = x if x > 0 else -x\ny",
    "a branch": "param x = 0.5\nif x > 0:\n    y = x\nelse:\n    y = -x\ny * x",
    "a long loop": "param x = 0.5\ny = x\nfor i in range(300):\n    y = y * 0.99 + x\ny",
    "a while": "param x = 0.5\ny = x\nwhile y < 40:\n    y = y * 1.25 + x * x + 1\ny",
    "two leaves": (
        "param x = 0.5\nparam z = 0.25\na = x\nb = z\nfor i in range(300):\n"
        "    a, b = b, a * 0.5 + b\na * b"
    ),
    "a best one": (
        "param x = 0.5\nbest = x\nfor i in range(300):\n    t = sin(x * i)\n"
        "    if t > best:\n        best = t\nbest * x"
    ),
    "detached": "param x = 0.5\ny = x if x > 0 else -x\ny.detach() * x",
    "whether it requires grad": "param x = 0.5\ny = x if x > 0 else -x\nx * float(y.requires_grad)",
}
NEVER, ALWAYS = (Options(compile=when, grad_fn=False) for when in ("never", "always"))


@pytest.mark.parametrize("question", ["grad", "jvp", "hessian"])
@pytest.mark.parametrize("text", ALIKE.values(), ids=ALIKE)
def test_code_has_the_answer_of_a_run(text, question):
    asked = {"tangents": {"x": 1.0}} if question == "jvp" else {}
    for x in (0.5, -0.5, 0.0, 2.0):
        found = [
            repr(getattr(load(text), question)(x=x, options=options, **asked))
            for options in (NEVER, ALWAYS)
        ]
        assert found[0] == found[1]


CHOSEN = "param x = 0.5\ny = x if x > 0 else -x\n"
ASKING = [
    "y.is_leaf",
    "y += 1",
    "y.zero_()",
    "y.backward()",
    "y.grad",
    "y.retain_grad()",
    "y.requires_grad_()",
    "y.data = tensor(2.0)",
    "y is x",
    "y.grad_fn",
    "with no_grad():\n    y += 1",
]
SHOWING = ["print(y)", "str(y)", "1.0"]


@pytest.mark.parametrize("line", SHOWING)
def test_what_shows_the_leaf_is_answered_by_code(line):
    for x in (0.5, -0.5):
        answers = [
            repr(load(f"{CHOSEN}{line}\ny * x").run(x=x, options=Options(compile=when)))
            for when in ("never", "always")
        ]
        assert answers[0] == answers[1]


@pytest.mark.parametrize("line", ASKING)
def test_what_asks_for_the_leaf_is_interpreted(line):
    for x in (0.5, -0.5):
        answers = []
        for options in (NEVER, Options(compile="auto", grad_fn=False), ALWAYS):
            try:
                answers.append(repr(load(f"{CHOSEN}{line}\ny * x").run(x=x, options=options)))
            except GradError as error:
                answers.append(str(error))
        assert answers[0] == answers[1]
        assert "not compiled" in answers[2]
