"""`try` in compiled code: what it does without an error; at an error code bails out."""

import pytest

from gradcli import load
from gradcli.errors import GradError
from gradcli.questions.asked.request import Options

PROGRAMS = {
    "a number by numbers": "s = 0\nfor d in [1.0, 2.0]:\n    try:\n        s += x / d\n"
    "    except ZeroDivisionError:\n        pass\ns",
    "ints in a loop": "s = 0\nfor i in range(400):\n    try:\n"
    "        s = s + x * (4 // (n + 200 - i))\n    except ZeroDivisionError:\n        s = s + 5\ns",
    "an index in a loop": "y = tensor([1.0, 2.0])\ns = 0\nfor i in range(300):\n    try:\n"
    "        s = s + y[i * (1 + n) % 3] * x\n    except IndexError:\n        s = s + 1\ns",
    "what follows": "try:\n    s = x * 2\nexcept ValueError:\n    s = 1.0\nelse:\n    s = s + 1\n"
    "finally:\n    s = s * 3\ns",
    "in any case": "s = 0\nfor i in range(3):\n    try:\n        s = s + x\n    finally:\n"
    "        s = s * 2\ns",
    "a return": "def f(t):\n    try:\n        if t > 0.5:\n            return t * 2\n"
    "    except ValueError:\n        return 1.0\n    return t\nf(x)",
    "a break": "s = 0\nfor i in range(300):\n    try:\n        s = s + x\n        if s > 3:\n"
    "            break\n    except ValueError:\n        s = 1.0\ns",
    "a continue": "s = 0\nfor i in range(300):\n    try:\n        if i % 2:\n"
    "            continue\n        s = s + x\n    except ValueError:\n        s = 1.0\n    s = s + 1\ns",
    "one in another": "s = 0\nfor i in range(300):\n    try:\n        try:\n"
    "            s = s + x * (6 // (i - 200 + n))\n        except ValueError:\n            s = 0.0\n"
    "    except ZeroDivisionError:\n        s = s + 7\ns",
    "a logarithm": "import math\ntry:\n    s = x * math.log(n)\nexcept ValueError:\n    s = x * 4\ns",
    "an assertion": "try:\n    assert x * n > 0.5\n    s = x * 2\nexcept AssertionError:\n    s = x * 3\ns",
    "an int that grows": "k = n + 2\ntry:\n    for i in range(70 * n):\n        k = k * 2\n"
    "except RuntimeError:\n    k = 5\nk * x",
}
LEFT = {
    "an exception of the program": "try:\n    if x < 1:\n        raise ValueError('a')\n    s = x\n"
    "except ValueError:\n    s = x * 3\ns",
    "an error for certain": "try:\n    s = x * [1][3]\nexcept IndexError:\n    s = x * 3\ns",
}


def answer(text, question, n, when):
    program = load(f"param x = 0.7\ninput n: int\n{text}")
    try:
        asked = getattr(program, question)
        return repr(
            asked(n=n, wrt="x", options=Options(compile=when))
            if question == "grad"
            else asked(n=n, options=Options(compile=when))
        )
    except GradError as error:
        return repr(error)


@pytest.mark.parametrize("n", [0, 1])
@pytest.mark.parametrize("question", ["run", "grad"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_code_has_the_answers_of_a_run(name, question, n):
    """Where the error occurs, too, and a handler takes it."""
    run, code = (answer(PROGRAMS[name], question, n, when) for when in ("never", "always"))
    assert run == code or ("not-compilable" in code and (n == 0 or "grows" in name)), code


@pytest.mark.parametrize("name", PROGRAMS)
def test_without_an_error_all_compile(name):
    n = 0 if name == "an int that grows" else 1
    assert "not-compilable" not in answer(PROGRAMS[name], "grad", n, "always")


@pytest.mark.parametrize("name", LEFT)
def test_an_error_that_the_text_raises_is_not_compiled(name):
    assert "not-compilable" in answer(LEFT[name], "grad", 1, "always")
