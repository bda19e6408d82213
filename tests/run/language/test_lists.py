"""`+` and `*` of lists: Python's where one is written or holds anything but numbers, else arithmetic
with a warning.
"""

import pytest

from gradcli.program import load

PYTHONS = [  # programs that print what Python prints
    "l = [1]\nprint([1, 2] + [3], l + [2], [0] + l, [] + l + l)",
    "l = [1, 2]\nprint([0] * 3, 3 * [1.5], [1] * True, [1] * 0, [1] * -1, ([] + l) * 2)",
    "n = 2\nprint([0.0] * n + [1], [n] * n * n, [[0] * 2] * 2)",
    "l = ['a']\nprint(l + l, l * 2, 2 * l)",
    "l = [[1, 2], [3, 4]]\nprint(l + l, l * 2)",
    "l = []\nm = [1]\nprint(l + m, m + l, l * 2, l + l)",
    "l = [None]\nm = [1]\nprint(l + m, m + l)",
    "l = [(1, 2)]\nprint(l * 2)",
    "l = [1]\nm = l\nl += [2]\nl += (3,)\nl += range(2)\nl += l\nprint(l, m)",
    "l = ['a']\nm = l\nl *= 2\nprint(l, m)",
    "l = [[1]]\nl[0] += [2]\nprint(l)",
    "def f(l):\n    l += [1]\n    return l\nm = [0]\nf(m)\nprint(m, f(m))",
    "l = [1, 2]\nprint(l == [1, 2], 1 in l, [1] == [1, 2], l != [1])",
    "l = [1]\nm = l * 1 + l if False else l\nprint(m)",
]
ARITHMETIC = [  # program, what it prints, whether it warns
    ("l = [1, 2]\nprint(l + l)", "tensor([2, 4])", True),
    ("l = [1, 2]\nprint(l * 3)", "tensor([3, 6])", True),
    ("l = [1, 2]\nprint(True * l)", "tensor([1, 2])", True),
    ("l = [1, 2]\nl *= 2\nprint(l)", "tensor([2, 4])", True),
    ("l = [1, 2]\nprint(l * l)", "tensor([1, 4])", False),
    ("print([1, 2] * [3, 4])", "tensor([3, 8])", False),
    ("l = [1, 2]\nprint(l * 1.5, [1, 2] * 0.5)", "tensor([1.5000, 3.0000]) tensor([0.5000, 1.0000])", False),
    ("print([1, 2] * 2.0)", "tensor([2., 4.])", True),
    ("l = [1, 2]\nprint(l + 1, l - l, l / l)", "tensor([2, 3]) tensor([0, 0]) tensor([1., 1.])", False),
    ("l = [1, 2]\nl += 1\nprint(l)", "tensor([2, 3])", False),
    ("x = tensor([1, 2])\nprint([1, 2] + x, x + [1, 2], [1, 2] * x)", "tensor([2, 4]) tensor([2, 4]) tensor([1, 4])", False),
    ("x = tensor(2)\nprint([1, 2] * x)", "tensor([2, 4])", False),
    ("l = [1, 2]\nl += tensor([1, 2])\nprint(l)", "tensor([2, 4])", False),
    ("print([1, 2] + [1, 2] + tensor(1))", "tensor([2, 3, 2, 3])", False),
    ("l = [1, 2]\nprint(add(l, l))", "tensor([2, 4])", False),
]  # fmt: skip


def warned(found):
    return [w.code for w in found.warnings if w.code == "list-arithmetic"]


@pytest.mark.parametrize("text", PYTHONS)
def test_lists_join_and_repeat_as_in_python(text, capsys):
    exec(text, {})
    found = load(text).run()
    assert "\n".join((*found.printed, "")) == capsys.readouterr().out
    assert warned(found) == []
    assert [f.code for f in load(text).check().findings if f.code == "list-arithmetic"] == []


@pytest.mark.parametrize(("text", "printed", "warns"), ARITHMETIC)
def test_lists_of_numbers_are_tensors_elsewhere(text, printed, warns):
    program = load(text)
    found = program.run()
    assert found.printed == (printed,)
    assert warned(found) == ["list-arithmetic"] * warns
    told = [f.code for f in program.check().findings if f.code == "list-arithmetic"]
    assert told == ["list-arithmetic"] * warns


def test_one_warning_tells_how_to_write_either():
    program = load("l = [1.0, 2.0]\na = l + l\nb = l + l\nc = l * 2\n(a + b + c).sum()")
    for found in (program.run(), program.grad(), program.gradcheck(), program.hessian(wrt="l")):
        (warning,) = [w for w in found.warnings if w.code == "list-arithmetic"]
        assert warning.place == ("<text>", 2, 5)
        assert warning.help == "`tensor(a) + b` adds, `[] + a + b` joins"


@pytest.mark.parametrize("wrt", [None, "l"])
def test_being_differentiated_changes_nothing(wrt):
    program = load(
        "l = [1.0, 2.0]\nm = [0.5] + l\nm += l\ns = tensor(0.0)\nfor x in m: s += x * x\ns"
    )
    assert program.grad(wrt=wrt).grad["l"] is not None
    assert program.grad(wrt="l").grad["l"].tolist() == [4.0, 8.0]


def test_a_list_too_large_is_refused():
    with pytest.raises(Exception, match="needs") as caught:
        load("[0.0] * 10 ** 15").run()
    assert caught.value.status == 6


@pytest.mark.parametrize(("n", "warns"), [(3, True), (2.5, False)])
def test_a_float_that_may_be_meant_for_a_count_is_told(n, warns):
    for found in (load("[0.0] * n").run(n=n), load("(([1.0] * n) ** 2).sum()").grad(n=n)):
        assert warned(found) == ["list-arithmetic"] * warns
