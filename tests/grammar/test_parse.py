"""What the parser makes of each form, and of text of any size."""

import pytest
from grammar_programs import AT, source

from gradcli.errors import ProgramError
from gradcli.grammar import ast
from gradcli.grammar.parser import parse, parse_expression
from gradcli.grammar.text import decode
from gradcli.grammar.unparse import unparse


def name(text):
    return ast.Name(AT, text)


def lit(value):
    return ast.Literal(AT, value)


def formatted(value, debug="", conversion="", spec=()):
    return ast.Formatted(AT, value, debug, conversion, spec)


X, Y, Z = name("x"), name("y"), name("z")

EXPRESSIONS = [
    ("1_000", lit(1000)),
    ("0x1F", lit(31)),
    ("0b1_0", lit(2)),
    ("0o17", lit(15)),
    ("00", lit(0)),
    (".5", lit(0.5)),
    ("5.", lit(5.0)),
    ("2.5e-3", lit(0.0025)),
    ("1e5", lit(1e5)),
    ("1_0.0_1E+1_0", lit(1.001e11)),
    ("9223372036854775807", lit(2**63 - 1)),
    ("True", lit(True)),
    ("...", lit(...)),
    ("'a' \"b\"", lit("ab")),
    ("'''a\n\"'b'''", lit("a\n\"'b")),
    ('""', lit("")),
    ('"""a\r\nb\rc"""', lit("a\nb\nc")),
    (r"'\n\x41\u00e9\101\N{BULLET}\q\''", lit("\nA\u00e9A\u2022\\q'")),
    (r"r'\n'", lit(r"\n")),
    ("'a\\\nb'", lit("ab")),
    ("'a\\\r\nb'", lit("ab")),
    ("f'{x}'", ast.FString(AT, (formatted(X),))),
    ("f''", ast.FString(AT, ())),
    ("f'{{}}' 'b'", ast.FString(AT, (lit("{}b"),))),
    ("f'{x=}'", ast.FString(AT, (formatted(X, "x="),))),
    ("f'{x = !r}'", ast.FString(AT, (formatted(X, "x = ", "r"),))),
    ("f'{x:>{y}.3f}'", ast.FString(AT, (formatted(X, spec=(lit(">"), formatted(Y), lit(".3f"))),))),
    ("f'{x!s:3}'", ast.FString(AT, (formatted(X, conversion="s", spec=(lit("3"),)),))),
    ("f'{x != y}'", ast.FString(AT, (formatted(ast.Compare(AT, X, ("!=",), (Y,))),))),
    ("f'{x == y}'", ast.FString(AT, (formatted(ast.Compare(AT, X, ("==",), (Y,))),))),
    ("f'{x[\":\"]}'", ast.FString(AT, (formatted(ast.Index(AT, X, lit(":"))),))),
    ("f'{x,}'", ast.FString(AT, (formatted(ast.Tuple(AT, (X,))),))),
    (r"rf'\d{x}'", ast.FString(AT, (lit(r"\d"), formatted(X)))),
    (r"f'\{x}\N{BULLET}'", ast.FString(AT, (lit("\\"), formatted(X), lit("\u2022")))),
    ("-x ** -y", ast.Unary(AT, "-", ast.Binary(AT, "**", X, ast.Unary(AT, "-", Y)))),
    ("x - y - z", ast.Binary(AT, "-", ast.Binary(AT, "-", X, Y), Z)),
    ("x ** y ** z", ast.Binary(AT, "**", X, ast.Binary(AT, "**", Y, Z))),
    ("x or y or z", ast.Boolean(AT, "or", (X, Y, Z))),
    ("x or (y or z)", ast.Boolean(AT, "or", (X, ast.Boolean(AT, "or", (Y, Z))))),
    ("x is not y not in z", ast.Compare(AT, X, ("is not", "not in"), (Y, Z))),
    ("not x == y", ast.Unary(AT, "not", ast.Compare(AT, X, ("==",), (Y,)))),
    ("x if y else z", ast.IfElse(AT, Y, X, Z)),
    ("lambda: x", ast.Lambda(AT, (), X)),
    ("(x)", X),
    ("()", ast.Tuple(AT, ())),
    ("x,", ast.Tuple(AT, (X,))),
    ("(x,\n # c\n y,)", ast.Tuple(AT, (X, Y))),
    ("[x,]", ast.List(AT, (X,))),
    ("x(y, z=z,)", ast.Call(AT, X, (Y,), (ast.Keyword(AT, "z", Z),))),
    ("x[::]", ast.Index(AT, X, ast.Slice(AT, None, None, None))),
    ("x[y:, ...]", ast.Index(AT, X, ast.Tuple(AT, (ast.Slice(AT, Y, None, None), lit(...))))),
    ("input * param", ast.Binary(AT, "*", name("input"), name("param"))),
    ("\u03b1 + \ufb01", ast.Binary(AT, "+", name("\u03b1"), name("fi"))),
]


@pytest.mark.parametrize(("text", "expected"), EXPRESSIONS)
def test_expression(text, expected):
    assert parse_expression(source(text)) == expected


# Text, and the form in which unparse writes what was read.
PROGRAMS = [
    ("", ""),
    ("\n\n  # c\n\t\n", ""),
    ("x = 3; y = 4;", "x = 3\ny = 4\n"),
    ("while x < 3: x = x * 2; y", "while x < 3:\n    x = x * 2\n    y\n"),
    ("if a:\n  b\n  # c\n# d\n\n  e\nf", "if a:\n    b\n    e\nf\n"),
    ("if a:\n\tb\n\tif c:\n\t  d\ne", "if a:\n    b\n    if c:\n        d\ne\n"),
    ("x = (1 +\n2)\r\ny = 3 \\\n + 4\rz", "x = 1 + 2\ny = 3 + 4\nz\n"),
    ("def f():\n  x\n    # odd\n  y", "def f():\n    x\n    y\n"),
    ("input = 3", "input = 3\n"),
    ("input, = a", "input, = a\n"),
    ("param * 2", "param * 2\n"),
    ("input in x", "input in x\n"),
    ("input if x else y", "input if x else y\n"),
    ("input x", "input x\n"),
    ("input \\\n x", "input x\n"),
    ("input input: int", "input input: int\n"),
    ("param k: float[3, n,] = 1, 2", "param k: float[3, n] = 1, 2\n"),
    ("import a.b, c as d", "import a.b\nimport c as d\n"),
    ("from a import (b as c,\n d,)", "from a import b as c, d\n"),
    ("iffy = is_ = inputs", "iffy = is_ = inputs\n"),
    ("x=1\f\ny=2", "x = 1\ny = 2\n"),
]


@pytest.mark.parametrize(("text", "expected"), PROGRAMS)
def test_program(text, expected):
    assert unparse(parse(source(text))) == expected


def test_spans_are_where_a_node_was_written():
    text = "y = (a + b) * f(c, k=2)  # c\nif y: z\n"
    assign, branch = parse(source(text)).body
    product = assign.value

    def written(node):
        return text[node.span.start : node.span.end]

    assert written(assign) == "y = (a + b) * f(c, k=2)"
    assert written(product) == "(a + b) * f(c, k=2)"
    assert written(product.left) == "a + b"
    assert written(product.right.keywords[0]) == "k=2"
    assert written(branch) == "if y: z"


def test_spans_in_f_strings_are_places_in_the_program():
    text = "x = 1\nprint(f'a{x + y:{w}}')"
    formatted = parse(source(text)).body[1].value.args[0].parts[1]

    assert [
        text[n.span.start : n.span.end] for n in (formatted.value, formatted.spec[0].value)
    ] == [
        "x + y",
        "w",
    ]


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("-", ""), ("[", "]"), ("f(", ")"), ("not ", "")]
)
def test_nesting_of_any_depth_is_parsed_or_refused(opening, closing):
    text = opening * 100_000 + "x" + closing * 100_000
    if opening == "(":
        assert parse_expression(source(text)) == X
        return
    with pytest.raises(ProgramError) as error:
        parse(source(text))
    assert [d.code for d in error.value.diagnostics] == ["nested-too-deep"]


@pytest.mark.parametrize(
    "opening", ["-", "f(", "x[", "[", "(x,", "2 ** ", "x if y else ", "a or -"]
)
def test_two_hundred_levels_are_fine(opening):
    closing = {"f(": ")", "x[": "]", "[": "]", "(x,": ")"}.get(opening, "")
    levels = 90 if opening == "a or -" else 190

    parse(source(opening * levels + "x" + closing * levels))


def test_a_long_chain_is_not_deep():
    tree = parse_expression(source("+".join(["1"] * 100_000)))

    assert tree.right == lit(1)


def test_many_short_statements():
    tree = parse(source("x = 1\n" * 50_000))

    assert len(tree.body) == 50_000
    assert tree.body[-1] == ast.Assign(AT, (X,), lit(1))


def test_a_long_elif_chain_is_not_deep():
    parse(source("if x: y\n" + "elif x: y\n" * 2_000))


def test_a_hundred_blocks_are_fine_and_more_are_refused():
    def nested(levels):
        return "".join(" " * i + "if x:\n" for i in range(levels)) + " " * levels + "y"

    parse(source(nested(100)))
    with pytest.raises(ProgramError) as error:
        parse(source(nested(101)))
    assert [d.code for d in error.value.diagnostics] == ["nested-too-deep"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        (b"x\r\ny\rz", "x\r\ny\rz"),
        (b"\xef\xbb\xbfx", "x"),
        ("\u03b1".encode(), "\u03b1"),
    ],
)
def test_decode(data, text):
    assert decode("t.grad", data).text == text


@pytest.mark.parametrize(
    ("data", "place", "message"),
    [
        (b"x\n  \xe9", (2, 3), "byte 0xE9 is not UTF-8"),
        (b"\xef\xbb\xbfx\xff", (1, 2), "byte 0xFF is not UTF-8"),
        ("x".encode("utf-16"), (1, 1), "the text is UTF-16, not UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0", (1, 1), "these are no bytes of a text"),
        (b"x\xf0\x9f\x98", (1, 2), "byte 0xF0 is not UTF-8"),
    ],
)
def test_decode_refuses(data, place, message):
    with pytest.raises(ProgramError) as error:
        decode("t.grad", data)
    (diagnostic,) = error.value.diagnostics

    assert (diagnostic.code, diagnostic.place, diagnostic.message) == (
        "bad-encoding",
        ("t.grad", *place),
        message,
    )
