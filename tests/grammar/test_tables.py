"""The tables are those of the grammar, and our driver over them does what Lark does."""

import ast
import random
import re
import subprocess
import sys
from functools import cache
from itertools import product
from pathlib import Path

import lark
import pytest
from support.checks.amounts import chunks
from support.programs.grammar_programs import source, text

from gradcli.grammar.syntax import build
from gradcli.grammar.syntax.acceptable import acceptable
from gradcli.grammar.syntax.faults import Fault
from gradcli.grammar.syntax.layout import layout
from gradcli.grammar.syntax.lexer import tokens
from gradcli.grammar.syntax.parser import Prepared, parse, parse_expression
from gradcli.grammar.syntax.tables import load
from gradcli.grammar.syntax.transform import Transform
from gradcli.source import Span

SAMPLES = sorted(Path(__file__).parents[2].joinpath("samples").rglob("*.grad"))


@cache
def grammar():
    made = build.grammar()
    made.lexer = made._build_lexer()  # else `lex` makes one for each text
    return made


PROGRAMS = [
    "",
    "# only a comment",
    "x = 3; y = 4;\nx ** y\n",
    "if a: b\nelif c:\n  d\n\n  # e\nelse:\n\tf; g\nh",
    "for i, (j, k) in zip(a, b):\n while i < j: continue\n break",
    "def f(a, b=1,): return a, b\n@staticmethod\ndef g(): pass",
    "class F(torch.autograd.Function):\n    'doc'\n    def forward(ctx, x):\n        return x",
    "with no_grad():\n    w -= x[1:, ..., None, ::2, [0, 1]] @ v",
    "input x: float[n, 3] = [1, 2,]\nparam k\ninput = 3\nparam * 2\ninput, = ctx.saved_tensors",
    "input a: float[...]\nparam b: int = 3",
    "import torch, math as m\nfrom torch import (a as b, c,)\nfrom math import *",
    "from torch.autograd.function import Function, Variable as V",
    "x = 1_000 + 0x1f - 0b1 * 0o7",
    "a = not b and c or d if e else lambda x, y=2: x",
    "a < b <= c != d is not e not in f",
    "-x ** -y // ~z % 2 & 3 | 4 ^ 5",
    "print('a' \"b\" '''c\n''', f'{x!r:>{w}}' r'\\d', (), (1,), [], ..., None, True)",
    "x = (1,\n  2)\\\n + 3\r\ny = 4\rz",
    "f(a, k=1, )(b)[c].d",
    "x[i, j:k], y.z = w = v",
    "assert x, 'm'\nreturn\nreturn 1, 2",
    "iffy = inputs = params = is_ = None",
]


def lark_parse(text):
    """The tree by Lark's own lexer and parser, the layout and the makers of nodes shared."""
    words = ((t.type, str(t), t.start_pos, t.end_pos) for t in grammar().lex(text))
    parser = grammar().parse_interactive("", start="module")
    *placed, _ = layout(words, len(text))
    for kind, word, start, end in placed:
        token = lark.Token(kind, word, start, 1, 1, 1, 1, end)
        parser.feed_token(token)
    tree = parser.feed_eof()

    def part(start, end):
        return parse_expression(source(text[start:end]))

    transform = Transform(part)
    made = {}
    for node in tree.iter_subtrees():  # children first
        parts = [
            made[id(c)] if isinstance(c, lark.Tree) else None if c is None else str(c)
            for c in node.children
        ]
        span = Span(getattr(node.meta, "start_pos", 0), getattr(node.meta, "end_pos", 0))
        made[id(node)] = getattr(transform, node.data)(span, *parts)
    return made[id(tree)]


@pytest.mark.parametrize("text", PROGRAMS)
def test_driver_agrees_with_lark(text):
    assert parse(source(text)) == lark_parse(text)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_driver_agrees_with_lark_on_samples(path):
    text = path.read_text("utf-8")

    assert parse(source(text)) == lark_parse(text)


@pytest.mark.parametrize("first", chunks(100, 5_000, 50))
def test_driver_agrees_with_lark_on_random_texts(first):
    for seed in range(first, first + 50):
        program = text(seed)

        assert parse(source(program)) == lark_parse(program), f"seed {seed}\n{program}"


@pytest.mark.parametrize("text", PROGRAMS)
def test_what_is_acceptable_is_what_lark_accepts(text):
    stream = list(layout(tokens(load(), text, 0, len(text)), len(text), bracketed=False))
    parser = grammar().parse_interactive("", start="module")
    for at, (kind, word, *_) in enumerate(stream):
        before = [k for k, *_ in stream[:at]]
        if at % 5 == 0:
            found = acceptable(load(), load().starts["module"], before)
            assert found == set(parser.accepts()), f"{text!r} behind {before}"
        parser.feed_token(lark.Token(kind, word))


def test_grammar_has_no_conflict_and_no_colliding_terminals():
    pytest.importorskip("interegular")

    build.grammar(strict=True)


def test_each_rule_has_its_maker_and_each_maker_its_rule():
    rules = {method for _, _, method, _, _ in load().rules} - {""}
    makers = {name for name in vars(Transform) if not name.startswith("_")}

    assert rules == makers


def test_parsing_imports_neither_lark_nor_what_starts_slowly():
    code = (
        "import sys; from gradcli.grammar.syntax.parser import parse; from gradcli.source import Source\n"
        "parse(Source('t', 'x = 3; f\"{x}\"'))\n"
        "print(*sorted(set(sys.modules) & {'lark', 'dataclasses', 'inspect', 'difflib', 'numpy',"
        " 'unicodedata', 'pathlib'}))"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert made.stdout.split() == []


def is_number(text):
    """True if Python reads a text as one number without sign, `j` or leading zeros."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError, MemoryError):
        return False
    return type(value) in (int, float) and text.isascii() and text[0] in ".0123456789"


def read_whole(text):
    """True if the lexer reads a text as one number."""
    try:
        return [(kind, part) for kind, part, _, _ in tokens(load(), text, 0, len(text))] == [
            ("NUMBER", text)
        ]
    except Fault:
        return False


PARTS = [
    "0x",
    "0X",
    "0b",
    "0B",
    "0o",
    "0O",
    "0",
    "1",
    "7",
    "9",
    "00",
    "_",
    ".",
    "e",
    "E",
    "+",
    "-",
    "a",
    "F",
]


def test_the_lexer_reads_the_numbers_that_python_reads():
    chance = random.Random(0)
    texts = ["".join(parts) for n in range(1, 4) for parts in product(PARTS, repeat=n)]
    texts += ["".join(chance.choices(PARTS, k=chance.randint(4, 8))) for _ in range(10_000)]
    zeros = re.compile(r"0[0-9_]*[1-9]")  # `012`, which literals.py refuses with a reason
    wrong = [t for t in texts if read_whole(t) != is_number(t) and not zeros.match(t)]
    assert wrong == []


def test_every_rule_of_the_tables_has_its_method():
    rules = load().rules
    reductions = Prepared(rules, Transform(lambda start, end: None))
    missing = [rule[2] for rule in rules if rule[2] and not hasattr(Transform, rule[2])]
    assert missing == []
    made = [reductions[number] for number in range(len(rules))]
    assert [(origin, size, single, keep) for origin, size, _, single, keep, _ in made] == [
        (origin, size, single, keep) for origin, size, _, single, keep in rules
    ]
