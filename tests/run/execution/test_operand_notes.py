"""What is said beside a refusal: where operands come from, what would fit, what to change."""

import pytest

from gradcli.errors import GradError
from gradcli.program import check_source, load
from gradcli.source import Source


def refused_by_a_run(text):
    with pytest.raises(GradError) as error:
        load(text).run()
    return error.value.diagnostics[0]


def refused_by_check(text):
    return next(
        f for f in check_source(Source("<text>", text), {}).findings if f.severity == "error"
    )


@pytest.fixture(params=[refused_by_a_run, refused_by_check])
def refused(request):
    return request.param


def labelled(found):
    """What each label is put at, with its text."""
    return [
        (found.source.text[label.span.start : label.span.end], label.text) for label in found.labels
    ]


def placed(found):
    return found.source.text[found.span.start : found.span.end]


@pytest.mark.parametrize(
    ("text", "origins"),
    [
        ("a = ones(2)\nb = ones(3)\na + b\n", ["a = ones(2)", "b = ones(3)"]),
        ("a = ones(2)\na = ones(4)\na + ones(3)\n", ["ones(4)"]),
        ("a = ones(2)\nb = a\na = ones(3)\nb + a\n", ["b = a", "ones(3)"]),
        ("a, b = ones(2), ones(3)\na + b\n", ["a, b = ones(2), ones(3)"] * 2),
        ("a = ones(2)\na * ones(3)\na = 1\n", ["ones(2)"]),
        ("a = ones(2)\nfor i in range(2):\n  a + ones(3)\n", ["a = ones(2)"]),
        ("a = ones(2)\nfor i in range(2):\n  a + ones(3)\n  a = a * 1\n", []),
        ("for a in ones(2, 4):\n  a + ones(3)\n", []),
        ("def f(a): return a + ones(3)\nf(ones(2))\n", []),
        ("a = ones(2)\ndef f(): return a + ones(3)\nf()\n", ["a = ones(2)"]),
        ("ones(2) + ones(3)\n", []),
    ],
)
def test_where_variables_come_from(refused, text, origins):
    found = labelled(refused(text))
    assert [at for at, said in found if said.endswith("comes from here")] == origins


@pytest.mark.parametrize(
    ("a", "b", "help"),
    [
        ([2, 3], [2], "`W.T @ x` fits: [3, 2] @ [2] gives [3]"),
        ([3], [2, 3], "`W @ x.T` fits: [3] @ [3, 2] gives [2]"),
        ([2, 3], [2, 3], "`W.T @ x` fits: [3, 2] @ [2, 3] gives [3, 3]"),
        ([4, 3], [2, 3], "`W @ x.T` fits: [4, 3] @ [3, 2] gives [4, 2]"),
        ([3, 2], [4, 3], "`x @ W` fits: [4, 3] @ [3, 2] gives [4, 2]"),
        ([2, 3], [4], None),
        ([2], [3], None),
        ([5, 2, 3], [2], None),
    ],
)
def test_a_product_that_fits(refused, a, b, help):
    program = f"W = ones({a})\nx = ones({b})\n"
    assert refused(f"{program}W @ x\n").help == help
    if help is not None:
        offered, _, shape = help.partition(" fits: ")
        result = load(program + offered.strip("`")).run().result
        assert list(result.shape) == eval(shape.partition("gives ")[2])


def test_only_factors_that_are_no_names_are_put_in_parentheses(refused):
    assert refused("ones(2, 3) @ (ones(2) + 1)\n").help.startswith("`ones(2, 3).T @ (ones(2) + 1)`")
    assert refused("x = ones(2)\n(1 + ones(2, 3)) @ x\n").help.startswith(
        "`(1 + ones(2, 3)).T @ x`"
    )


@pytest.mark.parametrize(
    ("text", "at", "ints", "help"),
    [
        ("tensor([1, 2], requires_grad=True)", "1", ["2"], "[1.0, 2.0]"),
        (
            "tensor([[1, 2], [3, -4]], requires_grad=True)",
            "1",
            ["2", "3", "-4"],
            "[[1.0, 2.0], [3.0, -4.0]]",
        ),
        ("tensor(3, requires_grad=True)", "3", [], "3.0"),
        ("tensor([0x10, 1_000], requires_grad=True)", "0x10", ["1_000"], "[16.0, 1000.0]"),
        ("x = tensor([1, 2])\nx.requires_grad_()", "x.requires_grad_()", ["1", "2"], "[1.0, 2.0]"),
        ("a = [1]\nx = tensor(a)\nx.requires_grad_()", "x.requires_grad_()", ["1"], "[1.0]"),
    ],
)
def test_ints_that_must_be_floats(refused, text, at, ints, help):
    found = refused(f"{text}\n")
    assert (placed(found), [w for w, _ in labelled(found)]) == (at, ints)
    assert found.help == f"write `{help}`"


@pytest.mark.parametrize(
    "text",
    [
        "tensor([True], requires_grad=True)\n",
        "zeros(2, dtype=int64, requires_grad=True)\n",
        "x = arange(3)\nx.requires_grad_()\n",
    ],
)
def test_what_is_not_written_as_ints_is_not_underlined(text):
    found = refused_by_a_run(text)
    assert (labelled(found), found.help[:5]) == ([], "write")


@pytest.mark.parametrize(
    ("call", "at", "message"),
    [
        ("g(1, 2, 3, 4)", "3, 4", "`g` takes 1 to 2 arguments, got 4"),
        ("g()", "g()", "`g` lacks its argument `a`"),
        ("g(c=1)", "g(c=1)", "`g` takes no argument `c`"),
        ("g(1, a=1)", "g(1, a=1)", "`g` gets its argument `a` by position and by name"),
    ],
)
@pytest.mark.parametrize("made", ["g = lambda a, b=2: a\n", "def f(a, b=2):\n  return a\ng = f\n"])
def test_a_wrong_call_points_at_the_parameters(refused, made, call, at, message):
    found = refused(f"{made}{call}\n")
    assert (found.message, placed(found)) == (message, at)
    assert labelled(found) == [("a, b=2", "its parameters")]


def test_a_wrong_call_of_what_has_no_name(refused):
    assert refused("(lambda a: a)()\n").message == "this function lacks its argument `a`"
    assert refused("g = lambda: 1\ng(1)\nh = [g]\n").labels == ()


RULE = """class F(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g, g
x = tensor([2.0], requires_grad=True)
F.apply(x).sum().backward()
"""


def test_a_wrong_rule_is_told_at_its_line_with_what_it_returns():
    found = refused_by_a_run(RULE)
    assert (placed(found), labelled(found)) == (
        "def backward(ctx, g):",
        [("g, g", "what it returns")],
    )


def test_a_wrong_rule_is_told_once_for_all_rows(cli, tmp_path):
    (tmp_path / "p.csv").write_text("x\n1\n2\n3\n")
    text = RULE.partition("x = tensor")[0] + "F.apply(x)"
    _, _, err = cli("grad", "-e", text, "--rows", tmp_path / "p.csv", "--on-error", "skip")
    assert err.count("error[wrong-rule]") == 1
