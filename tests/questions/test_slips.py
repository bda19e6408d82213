"""Slips that the language takes silently bring a warning that says what to write."""

import pytest

from gradcli.errors import UsageError
from gradcli.program import check_source, load
from gradcli.questions.asked.request import Options
from gradcli.source import Source

POWERS = ["x = 3\nx ^ 2", "x = 3\nx ^= 2\nx", "def f(n): return n ^ 3\nf(2)", "k = 5\nk ^ 10"]
BITS = [
    "x = 3\nx ^ 0x2",
    "x = 3\nx ^ 0b10",
    "x = 3\nx ^ 1",
    "True ^ False",
    "{1} ^ {2}",
    "a = 3\na ^ a",
]
DROPPED = ["def f(x):\n    x ** 2\nf(3)", "def f(x):\n    y = x\n    exp(y)\nf(3)"]
KEPT = [
    "def f(x):\n    print(x)\nf(3)",
    "def f(x):\n    y = x\nf(3)",
    "def f(x):\n    if x > 1: return 2\n    x ** 2\nf(3)",
    "def f(x):\n    x ** 2\nf(3)\n5",
    "def f(l):\n    l.append(1)\nf([])",
    "def f(x):\n    yield x\n    x ** 2\nf(3)",
    "def f(x): x ** 2\ndef f(x): return x\nf(3)",
]
QUESTIONS = {"run": {}, "grad": {}, "jacobian": {}, "hessian": {}, "gradcheck": {}, "graph": {}}


def _codes(result):
    return [warning.code for warning in result.warnings]


@pytest.mark.parametrize("program", POWERS)
def test_exclusive_or_that_looks_like_a_power_is_told(program):
    found = load(f"{program}\n").run()
    assert _codes(found) == ["bitwise-power"]
    assert "a power is `** " in found.warnings[0].help
    assert "bitwise-power" in [f.code for f in check_source(Source("t", program), {}).findings]


@pytest.mark.parametrize("program", BITS)
def test_exclusive_or_of_bits_is_not(program):
    assert _codes(load(f"{program}\n").run()) == []


@pytest.mark.parametrize("program", DROPPED)
def test_a_function_that_drops_its_value_is_told(program):
    loaded = load(f"{program}\n")
    assert _codes(loaded.run()) == ["no-return"]
    assert loaded.run().warnings[0].help.startswith("write `return ")
    with pytest.raises(UsageError, match="`f` returns None"):
        loaded.grad()


@pytest.mark.parametrize("program", KEPT)
def test_other_functions_are_not(program):
    assert _codes(load(f"{program}\n").run()) == []


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("way", ["never", "auto"])
def test_every_question_warns(question, way):
    loaded = load("n = 3\nk = n ^ 2\nx ** 2 * k\n")
    found = getattr(loaded, question)(x=2.0, options=Options(compile=way))
    assert _codes(found).count("bitwise-power") == 1


def test_a_comment_leaves_the_warning_out():
    assert _codes(load("x = 3\nx ^ 2  # gradcli: ignore[bitwise-power]\n").run()) == []


GIVEN = {
    "20+-0.2": ("39.6", "plus-minus", "`20+/-0.2`"),
    "1e3+-1": ("1998.0", "plus-minus", "`1e3+/-1`"),
    "20+/-0.2": ("40.0", "unused-uncertainty", "the number alone"),
    "20±0.2": ("40.0", "unused-uncertainty", "the number alone"),
    "-2+/-5%": ("-4.0", "unused-uncertainty", "the number alone"),
    "1,5": ("[2.0,10.0]", "decimal-comma", "`1.5`"),
    "-1,5": ("[-2.0,10.0]", "decimal-comma", "`-1.5`"),
}
PLAIN = ["[1,5]", "1,5,6", "20 - 0.2", "20+0.2", "(1, 5)", "1e+5", "-3", "2+3", "1, 5"]


@pytest.mark.parametrize("text", GIVEN)
def test_a_value_that_looks_like_another_is_told(cli, text):
    result, code, way = GIVEN[text]
    status, out, err = cli("run", "-e", "x * 2", f"x={text}")
    assert (status, out) == (0, f"{result}\n")
    assert f"<expr>:1:3: warning[{code}]" in err
    assert way in err


@pytest.mark.parametrize("text", PLAIN)
def test_other_values_are_not(cli, text):
    assert cli("run", "-e", "x", f"x={text}")[2] == ""


def test_rows_tell_it_once(cli):
    rows = "y\n1\n2\n3\n"
    _, _, err = cli("run", "-e", "x * y", "x=20+/-1", "--rows", "-", stdin=rows)
    assert err.count("unused-uncertainty") == 1
