"""What the prompt answers: values, errors, commands; and which texts are whole."""

import pytest

from gradcli.editor.typing import is_whole, styles


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("x = 1", True),
        ("x = (1,", False),
        ("x = (1,\n2)", True),
        ("def f(x):", False),
        ("def f(x):\n    return x", False),
        ("def f(x):\n    return x\n", True),
        ("if x: y = 2", True),
        ("if x: # why", False),
        ("@g", False),
        ("x = '''a", False),
        ("x = '''a\nb'''", True),
        ("x = 1 + \\", False),
        ("x = 'a", True),  # an error, which no further line mends
        (")", True),
        (":graph y", True),
    ],
)
def test_a_text_is_whole(text, whole):
    assert is_whole(text) == whole


def test_the_last_expression_of_each_text_is_shown(cli):
    typed = "x = 3.0\nx ** 2\nx;\nNone\ndef f(a):\n    return a + 1\n\nf(x)\nprint('p')\n"
    assert cli("repl", stdin=typed) == (0, "9.0\n4.0\np\n", "")


def test_a_text_that_fails_leaves_names_and_random_numbers(cli):
    draw = "randn(2)\n"
    first = cli("repl", "--seed", "1", stdin=draw * 2)[1]
    typed = f"{draw}a = 1; b = randn(3); sinn\na = 2; b = randn(3); c = zeros(2)[5]\nb\n{draw}"
    status, out, err = cli("repl", "--seed", "1", "--diagnostics", "concise", stdin=typed)
    assert (status, out) == (0, first)
    assert [line.split("]")[0] for line in err.splitlines()] == [
        "<prompt>:cell 2:1:22: error[unknown-name",
        "<prompt>:cell 2:1:26: error[index-out-of-range",
        "<prompt>:cell 2:1:1: error[unknown-name",
    ]


def test_tensors_that_a_failed_text_changed_are_named(cli):
    typed = "w = zeros(2)\nv = zeros(2)\nfor i in range(3): w[i] = 1.0\nw\n"
    _, out, err = cli("repl", stdin=typed)
    assert out == "tensor([1., 1.])\n"
    assert "changed in place by this line, and not put back: `w`\n" in err


def test_commands(cli):
    lines = "x = tensor(2.0, requires_grad=True)\nsinn\ny = relu(x - 2)\n"
    asked = ":graph y\n:trace y\n:kinks\n:save\n:grap\n:help\n:quit\nx\n"
    status, out, err = cli("repl", stdin=lines + asked)
    assert status == 0
    assert "ReluBackward0" in out
    assert "relu(" in out
    assert ":save FILE" in out
    assert "tensor(2." not in out  # it has ended
    assert "`:save` needs the name of a file" in err
    assert "did you mean `:graph`?" in err


def test_a_command_without_a_program_says_so(cli):
    assert "there is no program yet" in cli("repl", stdin=":graph\n")[2]


def test_limits_hold_for_each_text(cli):
    typed = "while True: pass\n1 + 1\n"
    status, out, err = cli("repl", "--max-steps", "100", stdin=typed)
    assert (status, out) == (0, "2\n")
    assert "error[step-limit]" in err


def test_a_text_has_colours():
    text = "for x in 3: # c\n  s = 'a'"
    found = [(text[start:end], style) for start, end, style in styles(text)]
    assert found == [
        *(("for", "keyword"), ("in", "keyword"), ("3", "number")),
        *(("# c", "comment"), ("'a'", "string")),
    ]
