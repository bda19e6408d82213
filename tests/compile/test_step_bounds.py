"""The turns of compiled loops that are sure to stay within the limits of a run."""

import pytest
from support.checks.compiled_agreement import compiled

from gradcli.engine.compile.step_bounds import nested
from gradcli.program import load

LOOP = "for i in range(n):\n    x = x * 0.5 + i"
DEEP = {
    "nothing": ("x = x * 2", 0),
    "a branch": ("if x > 0: x = x * 2", 0),
    "a loop": (LOOP, 1),
    "two loops": (f"{LOOP}\n{LOOP}", 1),
    "a loop in a loop": ("for j in range(n):\n    for i in range(n):\n        x = x * 0.5 + i", 2),
    "a loop in a branch": ("if x > 0:\n    for i in range(n):\n        x = x * 0.5 + i", 1),
    "a branch in a loop": ("for i in range(n):\n    if x > 0: x = x * 0.5 + i", 1),
    "a loop before a deeper one": (
        f"{LOOP}\nfor j in range(n):\n    if x > 0:\n        for i in range(n): x = x * 0.5 + i",
        2,
    ),
}


@pytest.mark.parametrize(("text", "depth"), DEEP.values(), ids=DEEP)
def test_the_depth_of_loops(text, depth):
    program = load(f"input x = 0.7\ninput n: int = 3\n{text}\nx")
    assert nested(compiled(program, {"x": 0.7, "n": 3}).program.block.body) == depth
