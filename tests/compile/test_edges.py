"""Compiled programs at the edges of what a machine can do: places that there are none of, sizes 0
and 1, ints at the ends of 64 bits, floats that are no ints, limits. The answer is that of a run.
"""

import functools
import os
import re
import signal
from importlib.util import find_spec
from time import process_time

import pytest

from gradcli.engine.compile import backends
from gradcli.errors import GradError, LimitError
from gradcli.limits import Limits
from gradcli.program import Options, load
from gradcli.questions.coded.compiled import Compiled

BACK_ENDS = ["Python", *(["machine code"] if find_spec("llvmlite") else [])]
ENDS = (0, 1, -1, 3, 64, 2**53 + 1, 2**63 - 1, -(2**63))
FLOATS = (0.0, -0.0, 0.5, -1.5, 2.0**53, 2.0**62, 2.0**63, -(2.0**63), 1e300, float("inf"))
FLOATS += (float("nan"), 5e-324)
HEAD = "input k: int\ninput x\nt = [x, 2 * x, x * x]\nv = stack([x, 2 * x, x * x])\n"

OF_INTS = {
    "an item of a list": "t[k] * 1.5",
    "an item of a tensor": "v[k] * 1.5",
    "an item that is set": "t[k] = x * 3\nt[0] + t[1] + t[2]",
    "a sum": "y = k + k\nx * y",
    "a difference": "y = -k - 2\nx * y",
    "a product": "y = k * k\nx * y",
    "an absolute value": "x * abs(k)",
    "a quotient": "x * (k // -1) + x * (k % -1)",
    "by itself": "x * (1 // k) + x * (5 % k) + 1 / k",
    "a power": "x * (3 ** k)",
    "a power of two": "x * 2 ** k",
    "bits": "x * ((k & 255) | 1) * (k ^ 3)",
    "a comparison": "x if k < 9007199254740993.0 else -x",
    "one with floats": "x * (k == 9223372036854775807.0) + k * x",
    "turns": "y = x\nfor i in range(k, k + 3):\n    y = y * 0.5 + i\ny",
    "few turns": "y = x\nfor i in range(min(max(k, -2), 3)):\n    y = y * 1.5\ny",
    "turns backwards": "y = x\nfor i in range(min(max(k, -2), 3), 0, -1):\n    y = y * i + x\ny",
}
OF_FLOATS = {
    "an int": "y = int(x)\nx * y",
    "rounded": "x * round(x) + floor(x) * x",
    "an index": "[x, 2.0, 3.0][int(x)] * x",
    "turns": "y = 1.0\nfor i in range(int(x)):\n    y = y * 1.5\n    if i > 2:\n        break\ny * x",
    "while": "y = x\nn = 0\nwhile y > 1.0 and n < 5:\n    y = y / 2\n    n += 1\ny * x",
}
CASES = [(HEAD + text, {"k": k, "x": 0.7}) for text in OF_INTS.values() for k in ENDS]
CASES += [("input x\n" + text, {"x": x}) for text in OF_FLOATS.values() for x in FLOATS]


def answer(program, given, when):
    try:
        found = program.grad(given, wrt="x", options=Options(compile=when))
    except GradError as error:
        found = error
    return re.sub(r"Source object at \w+", "Source", repr(found))


@functools.cache
def interpreted(k):
    text, given = CASES[k]
    return answer(load(text), given, "never")


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_code_gives_the_answer_of_a_run(back_end, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: back_end == "machine code")
    answered = 0

    def counted(*args):
        nonlocal answered
        found = by_code(*args)
        answered += found is not None
        return found

    by_code = Compiled.answer
    monkeypatch.setattr(Compiled, "answer", counted)
    programs = {text: load(text) for text, _ in CASES}
    for k, (text, given) in enumerate(CASES):
        code = answer(programs[text], given, "always")
        assert code == interpreted(k), (text, given)
    assert answered > len(CASES) / 2


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize(
    ("of", "limits"),
    [
        ("x", Limits(seconds=0.1)),
        ("x * ones(20000)", Limits(seconds=0.1)),
        # Even checkpoints of so many numbers soon take this memory.
        ("x * ones(20000)", Limits(seconds=5.0, memory=20_000_000)),
    ],
)
def test_limits_stop_a_compiled_loop_soon(back_end, of, limits, monkeypatch):
    monkeypatch.setattr(backends, "has_machine_code", lambda: back_end == "machine code")
    program = load(f"input x = 0.5\ny = {of}\nwhile True:\n    y = sin(y) * y\ny.sum()")
    began = process_time()
    with pytest.raises(LimitError):
        program.grad(options=Options(compile="always", limits=limits))
    assert process_time() - began < 1.5


def test_a_process_that_is_killed_leaves_nothing_behind(tmp_path, forked):
    command = ["grad", "-e", "y = x", "-e", "while True: y = sin(y)", "-e", "y", "x=2"]
    reading, writing = os.pipe()
    with open(reading, "rb") as errors, open(os.devnull, "r+b") as nothing:
        streams = [nothing.fileno(), nothing.fileno(), writing]
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        process = forked.start(
            [*command, "-v", "--compile", "always"], streams, cwd=tmp_path, env=environment
        )
        os.close(writing)
        assert b"code" in errors.readline()  # it has been made
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert errors.read().count(b"Traceback") == 0  # nobody holds the pipe
    assert not [*tmp_path.iterdir()]
