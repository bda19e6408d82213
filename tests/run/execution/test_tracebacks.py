"""Where a run failed: the place, the operands, the turns and calls around it."""

import pytest

from gradcli.errors import GradError
from gradcli.program import load


def failure(text, **given):
    with pytest.raises(GradError) as caught:
        load(text).run(**given)
    return caught.value.diagnostics[0]


NESTED = """
x = tensor([1.0, 2.0])
for i in range(3):
    for j in range(4):
        k = 0
        while k < 5:
            k += 1
            if i == 1 and j == 2 and k == 4:
                y = x @ ones(3)
"""


def test_the_turns_of_nested_loops_are_told_from_the_inside_out():
    assert [note for note in failure(NESTED).notes if "turn" in note] == [
        "in the 4th turn of the loop at line 6",
        "in the 3rd turn of the loop at line 4",
        "in the 2nd turn of the loop at line 3",
    ]


CALLS = """
def inner(x):
    for i in range(2):
        y = x @ ones(3)
    return y
def outer(x):
    for i in range(3):
        z = x
        if i == 2:
            z = inner(x)
    return z
outer(tensor([1.0, 2.0]))
"""


def test_calls_and_their_turns_are_told_from_the_inside_out():
    assert failure(CALLS).notes[-4:] == (
        "in the 1st turn of the loop at line 3",
        "called from line 10",
        "in the 3rd turn of the loop at line 7",
        "called from line 12",
    )


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("u @ v", ["`u` is a tensor of shape [2]", "`v` is a tensor of shape [3]"]),
        ("u.matmul(v)", ["`u` is a tensor of shape [2]", "`v` is a tensor of shape [3]"]),
        ("w = u\nw += v", ["`w` is a tensor of shape [2]", "`v` is a tensor of shape [3]"]),
        ("u.add_(v)", ["`u` is a tensor of shape [2]", "`v` is a tensor of shape [3]"]),
        ("(u + 1).add_(u + v)", ["`u` is a tensor of shape [2]", "`v` is a tensor of shape [3]"]),
    ],
)
def test_operands_are_told_as_they_are_written(text, labels):
    found = failure(f"u = tensor([1.0, 2.0])\nv = tensor([1.0, 2.0, 3.0])\n{text}")
    told = [label.text for label in found.labels]
    assert told[: len(labels)] == labels, text
    assert all(label.endswith("comes from here") for label in told[len(labels) :]), text
