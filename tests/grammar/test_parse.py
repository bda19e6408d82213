"""What the parser makes of each form, and of text of any size."""

import pytest
from support.programs.grammar_programs import AT, source

from gradcli.errors import ProgramError
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.parser import parse, parse_expression
from gradcli.grammar.syntax.text import decode


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
    ("lambda: x", ast.Lambda(AT, (), X, ())),
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


# An expression, and the same with all its parentheses.
GROUPED = [
    ("x + y * z ** -2", "x + (y * (z ** (-2)))"),
    ("x - y + z", "(x - y) + z"),
    ("x * y @ z // w % v / u", "((((x * y) @ z) // w) % v) / u"),
    ("x ** -y ** z", "x ** (-(y ** z))"),
    ("-x ** 2", "-(x ** 2)"),
    ("~x.y[z](w)", "~(((x.y)[z])(w))"),
    ("x | y ^ z & w + v", "x | (y ^ (z & (w + v)))"),
    ("x < y | z", "x < (y | z)"),
    ("not x < y and z or w", "((not (x < y)) and z) or w"),
    ("not not x", "not (not x)"),
    ("x if y or z else w if v else u", "x if (y or z) else (w if v else u)"),
    ("lambda x: x if y else z", "lambda x: (x if y else z)"),
    ("x, lambda: y, z", "x, (lambda: y), z"),
]


@pytest.mark.parametrize(("text", "grouped"), GROUPED)
def test_what_binds_tighter(text, grouped):
    assert parse_expression(source(text)) == parse_expression(source(grouped))


def told(value):
    """A statement that is one expression."""
    return ast.ExprStatement(AT, value)


def declared(kind, name, type=None, default=None):
    return ast.Declaration(AT, kind, name, type, None, default)


STATEMENTS = [
    ("'a docstring'", told(lit("a docstring"))),
    ("x, y", told(ast.Tuple(AT, (X, Y)))),
    ("x = y = z", ast.Assign(AT, (X, Y), Z)),
    ("x, y = z,", ast.Assign(AT, (ast.Tuple(AT, (X, Y)),), ast.Tuple(AT, (Z,)))),
    ("x[y] = z", ast.Assign(AT, (ast.Index(AT, X, Y),), Z)),
    ("x //= y", ast.Update(AT, X, "//", Y)),
    ("input x", declared("input", "x")),
    ("input \\\n input: int", declared("input", "input", ast.Type(AT, "int", None))),
    ("param x: float[...]", declared("param", "x", ast.Type(AT, "float", (...,)))),
    (
        "param x: float[3, n,] = y, z",
        declared("param", "x", ast.Type(AT, "float", (3, "n")), ast.Tuple(AT, (Y, Z))),
    ),
    (
        f"param x: int[{2**63 - 1}]",
        declared("param", "x", ast.Type(AT, "int", (2**63 - 1,))),
    ),
    ("input = x", ast.Assign(AT, (name("input"),), X)),
    ("input, = x", ast.Assign(AT, (ast.Tuple(AT, (name("input"),)),), X)),
    ("input in x", told(ast.Compare(AT, name("input"), ("in",), (X,)))),
    ("input if x else y", told(ast.IfElse(AT, X, name("input"), Y))),
    ("param * x", told(ast.Binary(AT, "*", name("param"), X))),
    ("iffy = is_ = inputs", ast.Assign(AT, (name("iffy"), name("is_")), name("inputs"))),
    ("import a.b", ast.Import(AT, "a.b", (("", ""),))),
    ("import a as b", ast.Import(AT, "a", (("", "b"),))),
    ("from a import (b as c,\n d,)", ast.Import(AT, "a", (("b", "c"), ("d", "")))),
    ("from a.b import *", ast.Import(AT, "a.b", (("*", ""),))),
    ("pass", ast.Pass(AT)),
    ("assert x", ast.Assert(AT, X, None)),
    ("assert x, y", ast.Assert(AT, X, Y)),
    ("if x: y", ast.If(AT, X, (told(Y),), ())),
    ("if x: y\nelse: z", ast.If(AT, X, (told(Y),), (told(Z),))),
    ("if x: y\nelif y: z\nelse: x",
     ast.If(AT, X, (told(Y),), (ast.If(AT, Y, (told(Z),), (told(X),)),))),
    ("while x: break", ast.While(AT, X, (ast.Break(AT),), ())),
    ("for x in y, z: continue", ast.For(AT, X, ast.Tuple(AT, (Y, Z)), (ast.Continue(AT),), ())),
    ("for x, y in z: y", ast.For(AT, ast.Tuple(AT, (X, Y)), Z, (told(Y),), ())),
    ("for x in y: z\nelse: x", ast.For(AT, X, Y, (told(Z),), (told(X),))),
    ("while x: y\nelse: z", ast.While(AT, X, (told(Y),), (told(Z),))),
    ("def f(): yield from x", ast.Def(AT, "f", (), (told(ast.YieldFrom(AT, X)),), ())),
    ("x = yield y, z", ast.Assign(AT, (X,), ast.Yield(AT, ast.Tuple(AT, (Y, Z))))),
    ("x = (yield)", ast.Assign(AT, (X,), ast.Yield(AT, None))),
    ("with x: y", ast.With(AT, X, None, (told(Y),))),
    ("with x as y, z: x", ast.With(AT, X, Y, (ast.With(AT, Z, None, (told(X),)),))),
    (
        "def f(x, /, *, y): z",
        ast.Def(
            AT, "f", (ast.Param(AT, "x", None, ""), ast.Param(AT, "y", None, "named")),
            (told(Z),), (),
        ),
    ),
    ("def f(): return", ast.Def(AT, "f", (), (ast.Return(AT, None),), ())),
    (
        "@a.b\ndef f(x, y=z,): return x, y",
        ast.Def(
            AT,
            "f",
            (ast.Param(AT, "x", None, ""), ast.Param(AT, "y", Z, "")),
            (ast.Return(AT, ast.Tuple(AT, (X, Y))),),
            (ast.Attribute(AT, name("a"), "b"),),
        ),
    ),
    ("class F(x): y", ast.Class(AT, "F", (X,), (told(Y),), ())),
    ("class F: y", ast.Class(AT, "F", (), (told(Y),), ())),
    ("@x\nclass F(x, y,): z", ast.Class(AT, "F", (X, Y), (told(Z),), (X,))),
    ("raise", ast.Raise(AT, None, None)),
    ("raise x from y", ast.Raise(AT, X, Y)),
    ("try: x\nfinally: y", ast.Try(AT, (told(X),), (), (), (told(Y),))),
    (
        "try: x\nexcept x as e: y\nexcept: z\nelse: y\nfinally: z",
        ast.Try(
            AT,
            (told(X),),
            (ast.Handler(AT, X, "e", (told(Y),)), ast.Handler(AT, None, "", (told(Z),))),
            (told(Y),),
            (told(Z),),
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), STATEMENTS)
def test_statement(text, expected):
    assert parse(source(text)).body == (expected,)


# A program, and the same laid out as people would.
LAID_OUT = [
    ("\n\n  # c\n\t\n", ""),
    ("x = 3; y = 4;", "x = 3\ny = 4\n"),
    ("while x < 3: x = x * 2; y", "while x < 3:\n    x = x * 2\n    y\n"),
    ("if a:\n  b\n  # c\n# d\n\n  e\nf", "if a:\n    b\n    e\nf\n"),
    ("if a:\n\tb\n\tif c:\n\t  d\ne", "if a:\n    b\n    if c:\n        d\ne\n"),
    ("x = (1 +\n2)\r\ny = 3 \\\n + 4\rz", "x = 1 + 2\ny = 3 + 4\nz\n"),
    ("def f():\n  x\n    # odd\n  y", "def f():\n    x\n    y\n"),
    ("if a: b\nelif c: d", "if a:\n    b\nelse:\n    if c:\n        d\n"),
    ("import a.b, c as d", "import a.b\nimport c as d\n"),
    ("x=1\f\ny=2", "x = 1\ny = 2\n"),
]


@pytest.mark.parametrize(("text", "plain"), LAID_OUT)
def test_layout(text, plain):
    assert parse(source(text)) == parse(source(plain))


def test_a_block_ends_where_its_indentation_does():
    (outer, last) = parse(source("if x:\n\ty\n\tif y:\n\t  z\nx")).body
    (first, inner) = outer.body

    assert (first, inner.body, last) == (told(Y), (told(Z),), told(X))
    assert parse(source("")).body == ()


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
    text = opening * 20_000 + "x" + closing * 20_000
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
    tree = parse_expression(source("+".join(["1"] * 20_000)))

    assert tree.right == lit(1)


def test_many_short_statements():
    tree = parse(source("x = 1\n" * 10_000))

    assert len(tree.body) == 10_000
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
        ("x".encode("utf-16"), (1, 1), "this is UTF-16, not UTF-8 text"),
        (b"\x89PNG\r\n\x1a\n\0\0", (1, 1), "this is a PNG image, not UTF-8 text"),
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
