"""What is said about text that is no program: code, line, column, message, help."""

import pytest
from support.programs.grammar_programs import source

from gradcli.codes import CODES
from gradcli.errors import ProgramError
from gradcli.grammar.syntax.parser import parse, parse_expression

BAD = [
    ("x = 1..2", "bad-number", 1, 5, "`1..2` is not a number", None),
    ("1e", "bad-number", 1, 1, "`1e` is not a number", None),
    ("1e+", "bad-number", 1, 1, "`1e+` is not a number", None),
    ("1e999", "bad-number", 1, 1, "`1e999` is too large for a float", None),
    ("0x", "bad-number", 1, 1, "`0x` is not a number", None),
    ("0b2", "bad-number", 1, 1, "`0b2` is not a number", None),
    ("1_", "bad-number", 1, 1, "`1_` is not a number", None),
    ("1__0", "bad-number", 1, 1, "`1__0` is not a number", None),
    ("1.e", "bad-number", 1, 1, "`1.e` is not a number", None),
    ("007", "bad-number", 1, 1, "`007` begins with a zero", "write `7`, or `0o7` for base 8"),
    ("1j", "bad-number", 1, 1, "`1j` is not a number", None),
    ("2x", "bad-number", 1, 1, "`2x` is not a number", "for a product write `2 * x`"),
    (
        "9223372036854775809",
        "bad-number",
        1,
        1,
        "`9223372036854775809` does not fit an int of 64 bits",
        None,
    ),
    (
        "x = 99999999999999999999999999999999999999999999999999",
        "bad-number",
        1,
        5,
        "`99999999999999999999...9999999999` does not fit an int of 64 bits",
        None,
    ),
    (
        'x = "abc',
        "bad-string",
        1,
        5,
        'the string is not closed with `"` on its line',
        'put a string of several lines between `"""`',
    ),
    ('"""abc', "bad-string", 1, 1, 'the string that starts with `"""` is never closed', None),
    (
        '"a\nb"',
        "bad-string",
        1,
        1,
        'the string is not closed with `"` on its line',
        'put a string of several lines between `"""`',
    ),
    ('"\\x4"', "bad-string", 1, 2, "`\\x` does not name a character", None),
    ('"\\N{NO SUCH}"', "bad-string", 1, 2, "`\\N{NO SUCH}` does not name a character", None),
    ('"\\ud800"', "bad-string", 1, 2, "`\\ud800` does not name a character", None),
    ('b"x"', "unsupported", 1, 1, "a bytes string is not part of the language", None),
    (
        'ub"x"',
        "syntax-error",
        1,
        3,
        '`"x"` follows `ub` without an operator between them',
        None,
    ),
    ('f"{x"', "bad-string", 1, 3, "`{` is not closed in the f-string", None),
    ('f"{}"', "bad-string", 1, 3, "the braces are empty", None),
    ('f"}"', "bad-string", 1, 3, "a single `}` in an f-string; write `}}` for the character", None),
    ('f"{x!z}"', "bad-string", 1, 5, "`!` must be followed by `r`, `s` or `a`", None),
    ('f"{x:{y:{z}}}"', "bad-string", 1, 9, "a format is nested too deep", None),
    ('f"{(x}"', "bad-string", 1, 3, "`{` is not closed in the f-string", None),
    ('f"{\'a}"', "bad-string", 1, 4, "a string in an f-string is not closed", None),
    (
        'f"{a b}"',
        "syntax-error",
        1,
        6,
        "`b` follows `a` without an operator between them",
        None,
    ),
    ('f"{x:"', "bad-string", 1, 3, "`{` is not closed in the f-string", None),
    ('f"{a + }"', "syntax-error", 1, 8, "expected a value, got the end of the expression", None),
    ('f"{x!r 3}"', "bad-string", 1, 7, "the braces should be closed here", None),
    (
        "x = \u201ca\u201d",
        "bad-character",
        1,
        5,
        "`\u201c` (U+201C, left double quotation mark) is not part of the language",
        'write the plain quote `"`',
    ),
    (
        "x\xa0= 1",
        "bad-character",
        1,
        2,
        "the character U+00A0 (no-break space) is not part of the language",
        "put a plain space there",
    ),
    (
        "# \u202e",
        "bad-character",
        1,
        3,
        "the character U+202E (right-to-left override) makes text look other than it is",
        "delete it",
    ),
    (
        "\u0445 = 1",
        "bad-character",
        1,
        1,
        "`\u0445` (U+0445, cyrillic small letter ha) only looks like `x`",
        "write `x = 1`",
    ),
    ("a\x00", "bad-character", 1, 2, "a NUL character (U+0000): this is no text", None),
    (
        "x\u00b2",
        "bad-character",
        1,
        2,
        "`\u00b2` (U+00B2, superscript two) cannot be part of a name",
        "write `x ** 2`",
    ),
    (
        "x \u2212 1",
        "bad-character",
        1,
        3,
        "`\u2212` (U+2212, minus sign) is not part of the language",
        "write `x - 1`",
    ),
    (
        "x\u200b = 1",
        "bad-character",
        1,
        2,
        "the character U+200B (zero width space) is not part of the language",
        "it cannot be seen: delete it",
    ),
    ("x \x1b", "bad-character", 1, 3, "the character U+001B is not part of the language", None),
    ("a \udce9", "bad-encoding", 1, 3, "byte 0xE9 is not UTF-8", None),
    ("caf\udce9 = 1", "bad-encoding", 1, 4, "byte 0xE9 is not UTF-8", None),
    ("{", "unclosed-bracket", 1, 1, "`{` is never closed", None),
    ("x = {1]", "unclosed-bracket", 1, 7, "`]` does not close `{`", None),
    ("!x", "bad-character", 1, 1, "`!` is not an operator", "write `not x`"),
    (
        "x ? y",
        "bad-character",
        1,
        3,
        "`?` is not an operator",
        "a choice is written `a if c else b`",
    ),
    ("$x", "bad-character", 1, 1, "`$` is not an operator", None),
    (
        "x \\ y",
        "bad-character",
        1,
        3,
        "a `\\` joins lines and must be the last character of its line",
        None,
    ),
    ("`x`", "bad-character", 1, 1, "``` (U+0060, grave accent) is not part of the language", None),
    ("async def f(): pass", "unsupported", 1, 1, "`async` is not part of the language", None),
    ("  x", "bad-indent", 1, 1, "the first line is indented", None),
    (
        "if x:\n\ty\n        z",
        "bad-indent",
        3,
        1,
        "the indentation mixes tabs and spaces otherwise than the lines above",
        None,
    ),
    ("if x:\n  y\n z", "bad-indent", 3, 1, "this indentation fits none of the blocks above", None),
    ("x\n  y", "bad-indent", 2, 1, "the line is indented, and no block begins here", None),
    (
        "if x:\ny",
        "bad-indent",
        1,
        1,
        "the block of this `if` has no lines",
        "indent its lines, or write `pass` there",
    ),
    (
        "if x:",
        "bad-indent",
        1,
        1,
        "the block of this `if` has no lines",
        "indent its lines, or write `pass` there",
    ),
    (
        "if x:\n  # c\n",
        "bad-indent",
        1,
        1,
        "the block of this `if` has no lines",
        "indent its lines, or write `pass` there",
    ),
    (
        "def f():\n\n",
        "bad-indent",
        1,
        1,
        "the block of this `def` has no lines",
        "indent its lines, or write `pass` there",
    ),
    ("\n    x", "bad-indent", 2, 1, "the line is indented, and no block begins here", None),
    ("f(a]", "unclosed-bracket", 1, 4, "`]` does not close `(`", None),
    ("a)", "unclosed-bracket", 1, 2, "`)` closes nothing: there is no `(` before it", None),
    ("x = (1,\ny = 2", "unclosed-bracket", 1, 5, "`(` is never closed", None),
    ("f(x", "unclosed-bracket", 1, 2, "`(` is never closed", None),
    ("x = [1, 2\nz = (3)", "unclosed-bracket", 1, 5, "`[` is never closed", None),
    ('print("a"\nx = 2\ny = 3', "unclosed-bracket", 1, 6, "`(` is never closed", None),
    ("x = ", "syntax-error", 1, 5, "expected a value, got the end of the text", None),
    ("x = # c", "syntax-error", 1, 5, "expected a value, got the end of the text", None),
    ("x = \n", "syntax-error", 1, 5, "expected a value, got the end of the text", None),
    ("x = 3 +", "syntax-error", 1, 8, "expected a value, got the end of the text", None),
    ("x = ,", "syntax-error", 1, 5, "expected a value, got `,`", None),
    ("= 3", "syntax-error", 1, 1, "expected a statement, got `=`", None),
    (
        "1 if x",
        "syntax-error",
        1,
        7,
        "expected an operator or `else`, got the end of the text",
        None,
    ),
    ("lambda x", "syntax-error", 1, 9, "expected `,`, `:` or `=`, got the end of the text", None),
    ("x = if", "syntax-error", 1, 5, "expected a value, got `if`", None),
    ("f(a, , b)", "syntax-error", 1, 6, "expected a value or `)`, got `,`", None),
    ("for x y", "syntax-error", 1, 7, "expected an operator, `,` or `in`, got `y`", None),
    (
        "from x import",
        "syntax-error",
        1,
        14,
        "expected `(`, `*` or a name, got the end of the text",
        None,
    ),
    ("import 3", "syntax-error", 1, 8, "expected a name, got `3`", None),
    (
        "input x y",
        "syntax-error",
        1,
        9,
        "expected `:`, `;`, `=`, `in` or the end of the line, got `y`",
        None,
    ),
    ("input x: 3", "syntax-error", 1, 10, "expected a name, got `3`", None),
    ("input x: float[", "unclosed-bracket", 1, 15, "`[` is never closed", None),
    ("input x: float[2.5]", "bad-declaration", 1, 16, "a size is a whole number, not `2.5`", None),
    (
        "input x: float[..., 2]",
        "bad-declaration",
        1,
        16,
        "`...` means any shape and excludes other sizes",
        None,
    ),
    ("x = 3;;", "syntax-error", 1, 7, "`;` cannot stand here", None),
    (
        "return return",
        "syntax-error",
        1,
        8,
        "expected a value, `;` or the end of the line, got `return`",
        None,
    ),
    ("def f:", "syntax-error", 1, 6, "expected `(`, got `:`", None),
    ("a not b", "syntax-error", 1, 7, "expected `in`, got `b`", None),
    ("class", "syntax-error", 1, 6, "expected a name, got the end of the text", None),
    ("x.if", "syntax-error", 1, 3, "`if` is a word of the language and cannot be a name", None),
    ("x.3", "syntax-error", 1, 2, "`.3` follows `x` without an operator between them", None),
    ("assert", "syntax-error", 1, 7, "expected a value, got the end of the text", None),
    (
        "@staticmethod",
        "syntax-error",
        1,
        14,
        "expected `@`, `class` or `def`, got the end of the text",
        None,
    ),
    ("@staticmethod\nx = 3", "syntax-error", 2, 1, "expected `@`, `class` or `def`, got `x`", None),
    ("x is", "syntax-error", 1, 5, "expected a value, got the end of the text", None),
    ("(x for", "unclosed-bracket", 1, 1, "`(` is never closed", None),
    ("with", "syntax-error", 1, 5, "expected a value, got the end of the text", None),
    ("x++", "unsupported", 1, 2, "`++` is not part of the language", "to add one write `x += 1`"),
    (
        "x--",
        "unsupported",
        1,
        2,
        "`--` is not part of the language",
        "to subtract one write `x -= 1`",
    ),
    ("a && b", "unsupported", 1, 3, "`&&` is not part of the language", "write `a and b`"),
    ("a || b", "unsupported", 1, 3, "`||` is not part of the language", "write `a or b`"),
    ("a <> b", "unsupported", 1, 3, "`<>` is not part of the language", "write `a != b`"),
    ("x === y", "unsupported", 1, 3, "`===` is not part of the language", "write `x == y`"),
    ("x =< 3", "unsupported", 1, 3, "`=<` is not part of the language", "write `x <= 3`"),
    (
        "x := 3",
        "syntax-error",
        1,
        3,
        "`:=` stands in brackets, or after `if` or `while`",
        "write `x = 3`",
    ),
    (
        "return y := 3",
        "syntax-error",
        1,
        10,
        "`:=` stands in brackets, or after `if` or `while`",
        None,
    ),
    (
        "(x.y := 3)",
        "syntax-error",
        1,
        6,
        "`:=` gives a value to a name only",
        "assign on a line of its own",
    ),
    (
        "if f(x) := 3: y",
        "syntax-error",
        1,
        9,
        "`:=` gives a value to a name only",
        "assign on a line of its own",
    ),
    (
        "if x = 3: y",
        "syntax-error",
        1,
        6,
        "`=` assigns and cannot stand in an expression",
        "to compare write `==`",
    ),
    (
        "while x = 3: y",
        "syntax-error",
        1,
        9,
        "`=` assigns and cannot stand in an expression",
        "to compare write `==`",
    ),
    (
        "assert x = 3",
        "syntax-error",
        1,
        10,
        "`=` assigns and cannot stand in an expression",
        "to compare write `==`",
    ),
    ("f(a.b=1)", "syntax-error", 1, 6, "`=` assigns and cannot stand in an expression", None),
    ("(x = 3)", "syntax-error", 1, 4, "`=` assigns and cannot stand in an expression", None),
    (
        "return x = 3",
        "syntax-error",
        1,
        10,
        "`=` assigns and cannot stand in an expression",
        "to compare write `==`",
    ),
    (
        "print x",
        "syntax-error",
        1,
        1,
        "`print` is a function: put its arguments in parentheses",
        "write `print(x)`",
    ),
    (
        'print "a"',
        "syntax-error",
        1,
        1,
        "`print` is a function: put its arguments in parentheses",
        'write `print("a")`',
    ),
    ("if x\n  y", "syntax-error", 1, 5, "the `if` has no `:` at its end", "write `if x:`"),
    ("for i in range(3) print(i)", "syntax-error", 1, 19, "the `for` has no `:` at its end", None),
    ("else if", "syntax-error", 1, 1, "this `else` belongs to no `if`", None),
    (
        "if x: y\nelse if z: w",
        "syntax-error",
        2,
        1,
        "`else if` is not a statement",
        "write `elif z: w`",
    ),
    ("else: x", "syntax-error", 1, 1, "this `else` belongs to no `if`", None),
    ("elif x: y", "syntax-error", 1, 1, "this `elif` belongs to no `if`", None),
    ("x = 3\nelse: y", "syntax-error", 2, 1, "this `else` belongs to no `if`", None),
    ("[x for x in y, z]", "syntax-error", 1, 14, "expected an operator or `]`, got `,`", None),
    ("[*a for a in b]", "syntax-error", 1, 5, "expected an operator, `,` or `]`, got `for`", None),
    ("f(**a, *b)", "syntax-error", 1, 8, "an argument without a name follows `**`", None),
    ("f(k=1, 2)", "syntax-error", 1, 8, "an argument without a name follows `k=`", None),
    (
        "{**a for a in b}",
        "syntax-error",
        1,
        2,
        "a comprehension has one `key: value` before its `for`",
        None,
    ),
    ("def f(*a, *b): pass", "syntax-error", 1, 11, "one parameter at most has a `*`", None),
    ("def f(*): pass", "syntax-error", 1, 7, "a bare `*` must be followed by names", None),
    (
        "def f(**k, a): pass",
        "syntax-error",
        1,
        12,
        "the `**` parameter must be the last",
        None,
    ),
    ("(a, b): int = 3", "syntax-error", 1, 2, "a type may follow a single name only", None),
    (
        "if x {",
        "syntax-error",
        1,
        6,
        "a `{` does not begin a block",
        "a block is the indented lines after a `:`",
    ),
    ("match x:\n  y", "unsupported", 1, 1, "`match` is not part of the language", None),
    (
        "def f(a, *, /): a",
        "syntax-error",
        1,
        13,
        "a `/` is allowed once, after parameters given by position",
        None,
    ),
    ("f(a=1, 2)", "syntax-error", 1, 8, "an argument without a name follows `a=`", None),
    ("a b", "syntax-error", 1, 3, "`b` follows `a` without an operator between them", None),
    (
        "f(a b)",
        "syntax-error",
        1,
        5,
        "`b` follows `a` without an operator or a comma between them",
        None,
    ),
    (
        "def class(): pass",
        "syntax-error",
        1,
        5,
        "`class` is a word of the language and cannot be a name",
        None,
    ),
    (
        "None = 3 4",
        "syntax-error",
        1,
        10,
        "`4` follows `3` without an operator between them",
        None,
    ),
    (
        "if x: if y: z",
        "syntax-error",
        1,
        7,
        "`if` begins a block and needs a line of its own",
        None,
    ),
    (
        "x\ty z",
        "syntax-error",
        1,
        3,
        "`y` follows `x` without an operator between them",
        None,
    ),
    (
        "-" * 300 + "x",
        "nested-too-deep",
        1,
        100,
        "the expression is nested more than 200 levels deep",
        None,
    ),
]


@pytest.mark.parametrize(("text", "code", "line", "column", "message", "help"), BAD)
def test_refusal(text, code, line, column, message, help):
    with pytest.raises(ProgramError) as error:
        parse(source(text))
    (found,) = error.value.diagnostics

    assert (found.code, *found.place[1:], found.message, found.help) == (
        code,
        line,
        column,
        message,
        help,
    )
    assert code in CODES


def test_a_wrong_bracket_points_at_the_open_one():
    with pytest.raises(ProgramError) as error:
        parse(source("x = f(a,\n  b]"))
    (found,) = error.value.diagnostics

    assert [(label.span, label.text) for label in found.labels] == [((5, 6), "this `(` is open")]


def test_an_error_far_down_is_found_and_placed():
    text = "x = 1\nif x:\n  y = 2\nelse:\n  z\n" * 2_000 + "x = = 2\n" + "y\n" * 10
    with pytest.raises(ProgramError) as error:
        parse(source(text))
    (found,) = error.value.diagnostics

    assert (found.place[1:], found.message) == ((10_001, 5), "expected a value, got `=`")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected a value, got the end of the expression"),
        ("1 +", 4, "expected a value, got the end of the expression"),
        ("x = 3", 3, "expected an operator, `,` or the end, got `=`"),
        ("1; 2", 2, "expected an operator, `,` or the end, got `;`"),
        ("[1, 2", 1, "`[` is never closed"),
    ],
)
def test_refused_expression(text, column, message):
    with pytest.raises(ProgramError) as error:
        parse_expression(source(text))
    (found,) = error.value.diagnostics

    assert (found.place[2], found.message) == (column, message)


GOOD = "input x: float[n] = [1, 2]\ndef f(a, b=2):\n  if a: return f'{a:.3f}' \"s\"\n  x[1:, ...] = (a,\n b)\n"


def test_every_prefix_and_deletion_is_parsed_or_refused():
    """Nothing but ProgramError comes out, and its place is in the text."""
    variants = [GOOD[:i] for i in range(len(GOOD))]
    variants += [GOOD[:i] + GOOD[i + 1 :] for i in range(len(GOOD))]
    variants += [GOOD[:i] + char + GOOD[i + 1 :] for i in range(len(GOOD)) for char in "(]\"':="]
    for text in variants:
        try:
            parse(source(text))
        except ProgramError as error:
            span = error.diagnostics[0].span
            assert 0 <= span.start <= span.end <= len(text), text
