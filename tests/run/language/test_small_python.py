"""Small matters in which a program is as Python."""

import builtins

import pytest

from gradcli.errors import GradError
from gradcli.program import Options, load

SAME = {
    "[1 == ['k'], ['k'] == 1, 1 != ['k'], 'a' == ['k'], (1,) == ['k']]": (
        [False, False, True, False, False]
    ),
    "[[1, 2, 3][True], (4, 5)[True], 'ab'[False], range(3)[True]]": [2, 5, "a", 1],
    "l = [1, 2, 3]\nl[False] = 9\ndel l[True]\nl.append(l.pop(True))\n[l]": [[9, 3]],
    "[list(), tuple(), set(), list('ab'), list({'a': 1})]": [[], (), set(), ["a", "b"], ["a"]],
    "import itertools\n[list(itertools.accumulate('abc'))]": [["a", "ab", "abc"]],
    "import itertools\n[list(itertools.accumulate([[1], [2]]))]": [[[1], [1, 2]]],
    "import itertools\n[list(itertools.accumulate([1, 2], initial=3))]": [[3, 4, 6]],
    "import itertools\n[list(itertools.accumulate([2, 3], lambda a, b: a * b, initial=4))]": (
        [[4, 8, 24]]
    ),
}


@pytest.mark.parametrize("text", SAME)
def test_it_is_as_in_python(text):
    found = {}
    load(f"{text.rpartition(chr(10))[0]}\nfound = {text.rpartition(chr(10))[2]}\nprint(found)").run(
        options=Options(echo=lambda line: found.setdefault("printed", line))
    )
    assert found["printed"] == f"{SAME[text]}\n"


@pytest.mark.parametrize("name", ["sorted", "sum", "dict", "enumerate"])
def test_none_has_no_items(name):
    with pytest.raises(TypeError):
        getattr(builtins, name)(None)
    with pytest.raises(GradError) as caught:
        load(f"{name}(None)").run()
    assert caught.value.diagnostics[0].code in ("not-iterable", "wrong-type")


def test_an_extended_list_has_a_limit_as_a_whole(cli):
    text = ["-e", "l = [0] * 100000", "-e", "while True: l.extend(l)"]
    status, _, err = cli("run", *text, "--max-memory", "64MiB", "--compile", "never")
    assert status == 6
    assert "2:13" in err


@pytest.mark.parametrize(
    ("head", "most"), [("with no_grad():", 20), ("try:", 19)], ids=["with", "try"]
)
def test_nested_blocks_have_a_limit_with_a_place(head, most, monkeypatch):
    def nested(count):
        lines = [f"{'  ' * i}{head}" for i in range(count)] + ["  " * count + "x = 1"]
        if head == "try:":
            ends = ((f"{'  ' * i}finally:", f"{'  ' * i}  pass") for i in reversed(range(count)))
            lines += [line for end in ends for line in end]
        return "\n".join(lines)

    load(nested(most)).run()
    with pytest.raises(GradError) as caught:
        load(nested(most + 1)).run()
    found = caught.value.diagnostics[0]
    assert found.code == "nested-too-deep"
    assert found.place[1:] == (most + 1, 2 * most + 1)
    assert "too many statically nested blocks" in found.message
    inner = nested(10).replace("\n", "\n  ")
    load(f"{nested(10).replace('x = 1', 'def f(): pass')}\ndef g():\n  {inner}\n").run()
