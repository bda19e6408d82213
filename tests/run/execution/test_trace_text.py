"""Steps of a trace as text: parentheses around operands, lists, lines and nodes."""

import pytest

from gradcli.engine.run.execution import trace_text
from gradcli.source import Span


@pytest.mark.parametrize(
    ("text", "operand", "wanted"),
    [
        ("(a) * b", "a", "(a)"),
        ("((a)) * b", "a", "((a))"),
        ("c * (a)", "a", "(a)"),
        ("(c) * ((a))", "a", "((a))"),
        ("f(a) + b", "a", "a"),
        ("f((a)) + b", "a", "(a)"),
        ("x[0](a) + b", "a", "a"),
        ("g()(a) + b", "a", "a"),
        ("a * b", "a", "a"),
        ("b * a", "a", "a"),
        ("(a * b)", "a", "a"),
        ("(b * a)", "a", "a"),
        ("2 ** (a)", "a", "(a)"),
        ("- (a) + b", "a", "(a)"),
    ],
)
def test_an_operand_is_taken_with_its_own_parentheses(text, operand, wanted):
    start = text.index(operand)
    found = trace_text._with_parentheses(Span(start, start + 1), Span(0, len(text)), text)
    assert text[found.start : found.end] == wanted


def test_parentheses_outside_the_step_are_not_taken():
    text = "((a) + b)"
    assert trace_text._with_parentheses(Span(2, 3), Span(2, 3), text) == Span(2, 3)
    assert trace_text._with_parentheses(Span(2, 3), Span(1, 8), text) == Span(1, 4)
    assert trace_text._with_parentheses(Span(2, 3), Span(0, 9), text) == Span(1, 4)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a + b", "a + b"),
        ("a  +\n   b", "a + b"),
        ("a +  # one\n  b  # two\n  + c", "a + b + c"),
        ("'#' + a", "'#' + a"),
        ("f('#',\n  b)", "f('#', b)"),
    ],
)
def test_several_lines_are_one_without_their_comments(text, line):
    assert trace_text._line(text) == line


def test_a_list_is_named_if_all_of_its_items_are():
    def name(node, index):
        return {"x": f"x{index}", "y": "y"}.get(node, "")

    made = [("x", 0), ("x", 1), [("y", 0)]]
    assert trace_text._name(made, name) == "[x0, x1, [y]]"
    assert trace_text._name([("x", 0), None], name) == ""
    assert trace_text._name([("x", 0), ("z", 0)], name) == ""
    assert trace_text._name(("y", 3), name) == "y"
