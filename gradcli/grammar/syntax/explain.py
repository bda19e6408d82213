"""Choose the message for a syntax error."""

from __future__ import annotations

import re

from gradcli.grammar.syntax.acceptable import acceptable
from gradcli.grammar.syntax.faults import Fault
from gradcli.grammar.syntax.layout import CLOSERS, OPENERS, Token, layout, unclosed
from gradcli.grammar.syntax.lexer import tokens
from gradcli.grammar.syntax.tables import load
from gradcli.source import Source, Span

_BLOCKS = frozenset({"IF", "ELIF", "ELSE", "WHILE", "FOR", "WITH", "DEF", "CLASS"})
_VALUE_WORDS = frozenset({"IF", "ELIF", "WHILE", "ASSERT", "RETURN"})
_VALUES = frozenset({"NAME", "NUMBER", "STRING", "FSTRING", "TRUE", "FALSE", "NONE", "LAMBDA"})
_LINE_ENDS = frozenset({"_NEWLINE", "_DEDENT", "$END"})

_PAIRS = {
    "++": "to add one write `x += 1`",
    "--": "to subtract one write `x -= 1`",
    "&&": "write `and`",
    "||": "write `or`",
    "<>": "write `!=`",
    "=>": "greater or equal is `>=`",
    "=<": "less or equal is `<=`",
    "===": "equality is `==`",
    "->": None,
}
"""Operators of Python and of other languages that this one has not, with the way out."""

_PLAIN = {"&&": "and", "||": "or", "<>": "!=", "=<": "<=", "===": "==", "->": "."}
"""What does the same as some of them."""


def explain(source: Source, start: str, begin: int, end: int, bad: Token) -> Fault:
    """The fault for a syntax error at the token `bad`.

    Args:
        source: The program.
        start: What the text should be: "module" or "expression".
        begin: Where the text starts in the source.
        end: Where it ends.
        bad: The token, as the layout passes it on.
    """
    before = _statement(source, start, begin, end, bad)
    place = _Place(source.text, start, begin, end, before, bad)
    return (
        _open_bracket(place)
        or _named(place)
        or _foreign_operator(place)
        or _layout_fault(place)
        or _unsupported(place)
        or _slip(place)
        or _expected(place)
    )


class _Place:
    """A syntax error: the tokens of its top-level statement before it, and the bad one."""

    def __init__(
        self, text: str, start: str, begin: int, end: int, before: list[Token], bad: Token
    ) -> None:
        self.text = text
        self.start = start
        self.begin = begin
        self.end = end
        self.before = before
        self.bad = bad
        self.kind, self.word, at, stop = bad
        if self.kind in ("_NEWLINE", "_DEDENT", "_INDENT"):
            blank = re.compile(r"[ \t]*").match(text, at, end)
            at = stop = at if blank is None else blank.end()
        self.at = at
        self.stop = stop
        self.last = before[-1] if before else ("", "", begin, begin)
        self.line = _last_line(before)
        self.brackets = _open_brackets(before)

    def fault(self, code: str, message: str, *, help: str | None = None) -> Fault:
        """A fault at the bad token."""
        return Fault(code, message, self.at, self.stop, help=help)

    def shown(self) -> str:
        """A description of the bad token."""
        if self.kind in _LINE_ENDS:
            rest = re.compile(r"(?:\s|#[^\r\n]*)*").match(self.text, self.at, self.end)
            at_end = rest is not None and rest.end() == self.end
            of = "text" if self.start == "module" else "expression"
            return f"the end of the {of}" if at_end else "the end of the line"
        return f"`{self.word}`" if len(self.word) <= 40 else f"`{self.word[:30]}...`"


def _statement(source: Source, start: str, begin: int, end: int, bad: Token) -> list[Token]:
    """The tokens before the bad one, from the beginning of its top-level statement."""
    words = tokens(load(), source.text, begin, end)
    statement: list[Token] = []
    level = 0
    for token in layout(words, end, bracketed=start == "expression"):
        kind = token[0]
        ended = statement and statement[-1][0] in ("_NEWLINE", "_DEDENT")
        if token == bad:
            break
        level += (kind == "_INDENT") - (kind == "_DEDENT")
        if level == 0 and ended and kind not in ("ELSE", "ELIF", "_DEDENT"):
            statement = []
        statement.append(token)
    return statement


def _last_line(before: list[Token]) -> list[Token]:
    """The tokens on the bad one's line, before it."""
    for i in range(len(before) - 1, -1, -1):
        if before[i][0] in ("_NEWLINE", "_INDENT", "_DEDENT"):
            return before[i + 1 :]
    return before


def _open_brackets(before: list[Token]) -> list[Token]:
    stack: list[Token] = []
    for token in before:
        if token[0] in OPENERS:
            stack.append(token)
        elif token[0] in CLOSERS:
            stack.pop()
    return stack


# --- kinds of faults, the most certain first -----------------------------------------------------


def _open_bracket(place: _Place) -> Fault | None:
    """An open bracket around the place that is never closed."""
    stack = list(place.brackets)
    if not stack:
        return None
    try:
        for token in tokens(load(), place.text, place.bad[2], place.end):
            if token[0] in OPENERS:
                stack.append(token)
            elif token[0] in CLOSERS:
                stack.pop()
                if not stack:
                    return None
    except Fault:
        pass
    open_before = [token for token in stack if token in place.brackets]
    return unclosed(open_before[-1]) if open_before else None


def _foreign_operator(place: _Place) -> Fault | None:
    """Two adjacent tokens that are one operator in other languages: `++`, `&&`, `->`."""
    at = place.bad[2]
    candidates = [(place.at, place.text[place.at : place.at + 2])]
    if place.last[3] == at and place.line:
        candidates.append((place.last[2], place.last[1] + place.word[:1]))
    if place.kind in _LINE_ENDS and len(place.line) > 1 and place.line[-2][3] == place.last[2]:
        candidates.append((place.line[-2][2], place.line[-2][1] + place.last[1]))
    for start, text in candidates:
        if text in _PAIRS:
            message = f"`{text}` is not part of the language"
            at_operator = Span(start, start + len(text))
            instead = (at_operator, _PLAIN[text]) if text in _PLAIN else None
            in_head = place.line and place.line[0][0] == "DEF"
            help = None if text == "->" and not in_head else _PAIRS[text]
            return Fault("unsupported", message, *at_operator, help=help, instead=instead)
    return None


def _named(place: _Place) -> Fault | None:
    """`:=` where it does not stand, or behind what is no name."""
    if place.word != ":=":
        return None
    before = place.line[-2][1] if len(place.line) > 1 else ""
    if place.last[0] != "NAME" or before == ".":
        help = "assign on a line of its own"
        return place.fault("syntax-error", "`:=` gives a value to a name only", help=help)
    message = "`:=` stands in brackets, or after `if` or `while`"
    instead = None if before else (Span(place.at, place.stop), "=")
    return Fault("syntax-error", message, place.at, place.stop, instead=instead)


def _layout_fault(place: _Place) -> Fault | None:
    """An indentation without a block, a block without lines, a missing colon."""
    if place.kind == "_INDENT":
        following = re.compile(r"(?:\s|#[^\r\n]*)*").match(place.text, place.bad[2], place.end)
        at = place.stop if following is None else following.end()
        line = max(place.text.rfind("\n", 0, at), place.text.rfind("\r", 0, at)) + 1
        return Fault("bad-indent", "the line is indented, and no block begins here", line, at)
    line_end = place.before[-2:]
    if [token[0] for token in line_end] == ["COLON", "_NEWLINE"]:
        opener = _last_line(place.before[:-1])[0]
        if opener[0] in _BLOCKS:
            message = f"the block of this `{opener[1]}` has no lines"
            help = "indent its lines, or write `pass` there"
            return Fault("bad-indent", message, opener[2], line_end[0][3], help=help)
    if place.line and place.line[0][0] in _BLOCKS and place.kind in _LINE_ENDS | _VALUES:
        opener = place.line[0]
        rest = re.compile(r"[^\r\n#]*").match(place.text, place.at, place.end)
        colon = any(token[0] == "COLON" for token in place.line)
        colon = colon or (rest is not None and ":" in rest[0])
        if not colon and not place.brackets and "COLON" in _accepted(place):
            message = f"the `{opener[1]}` has no `:` at its end"
            instead = (Span(place.at, place.at), ":") if place.kind in _LINE_ENDS else None
            return Fault("syntax-error", message, place.at, place.stop, instead=instead)
    return None


def _unsupported(place: _Place) -> Fault | None:
    """Parts of Python that the language does not have."""
    kind, last = place.kind, place.last[0]
    first = place.line[0] if place.line else place.last
    what: str | None = None
    help: str | None = None
    start, stop = place.at, place.stop
    if kind == "STRING" and re.fullmatch(r"[bB][rR]?|[rR][bB]", place.last[1]):
        what, start = "a bytes string", place.last[2]
    elif first[1] == "match" and last == "NAME" and len(place.line) == 1 and kind in _VALUES:
        what, start, stop = "`match`", first[2], first[3]
    if what is None:
        return None
    return Fault("unsupported", f"{what} is not part of the language", start, stop, help=help)


def _slip(place: _Place) -> Fault | None:
    """Well-known slips."""
    kind, word, last = place.kind, place.word, place.last
    first = place.line[0] if place.line else last
    if kind in ("ELSE", "ELIF") and not place.line:
        return place.fault("syntax-error", f"this `{word}` belongs to no `if`")
    if place.text.startswith(("/*", "//"), place.at):
        message = f"{place.shown()} cannot stand here"
        return place.fault("syntax-error", message, help="a comment begins with `#`")
    if kind == "IF" and last[0] == "ELSE":
        message, words = "`else if` is not a statement", Span(last[2], place.stop)
        help = "write `elif`"
        return Fault("syntax-error", message, *words, help=help, instead=(words, "elif"))
    if _is_name(place):
        message = f"`{last[1]}` is a word of the language and cannot be a name"
        return Fault("syntax-error", message, last[2], last[3])
    if kind == "LBRACE" and first[0] in _BLOCKS and not place.brackets:
        help = "a block is the indented lines after a `:`"
        return place.fault("syntax-error", "a `{` does not begin a block", help=help)
    if kind == "EQUAL" and place.line and (place.brackets or first[0] in _VALUE_WORDS):
        message = "`=` assigns and cannot stand in an expression"
        way_out = "to compare write `==`" if first[0] in _VALUE_WORDS else None
        if first[0] == "FOR":
            way_out = "a loop that counts is `for i in range(n):`"
        return place.fault("syntax-error", message, help=way_out)
    if kind in _BLOCKS and last[0] == "COLON" and first[0] in _BLOCKS:
        message = f"`{word}` begins a block and needs a line of its own"
        return place.fault("syntax-error", message)
    if last[1] == "print" and len(place.line) == 1 and kind not in _LINE_ENDS:
        line_end = re.compile(r"[^\r\n;#]*").match(place.text, place.at, place.end)
        rest = "" if line_end is None else line_end[0].rstrip()
        call = f"write `print({rest})`" if rest and "\\" not in rest else None
        message = "`print` is a function: put its arguments in parentheses"
        return Fault("syntax-error", message, last[2], last[3], help=call)
    accepted = _accepted(place)
    word_like = kind in load().fixed.values() and word.isalpha()
    if word_like and "NAME" in accepted and "NUMBER" not in accepted:
        message = f"`{word}` is a word of the language and cannot be a name"
        return place.fault("syntax-error", message)
    ends = bool(place.brackets) or not accepted.isdisjoint(_LINE_ENDS)
    if kind in _VALUES and "AND" in accepted and ends and place.line:
        between = "an operator or a comma" if place.brackets else "an operator"
        message = f"{place.shown()} follows `{last[1]}` without {between} between them"
        return Fault("syntax-error", message, place.at, place.stop, instead=_joined(place))
    return None


def _joined(place: _Place) -> tuple[Span, str] | None:
    """The correction of two adjacent values: a product, or an assignment after a type."""
    _, word, start, end = place.last
    if word == ")" and end == place.at:
        return Span(end, end), "*"
    assigns = re.compile(r"\w+\s*=(?!=)").match(place.text, place.at, place.end)
    if len(place.line) == 1 and word.isidentifier() and assigns is not None:
        return Span(start, place.at), ""
    return None


def _is_name(place: _Place) -> bool:
    """True if a keyword seems to be used as a name: an operator follows it where no value can
    begin.
    """
    before, word, *_ = place.last
    if before not in load().fixed.values() or not word.isalpha() or not place.line:
        return False
    operators = ("=", "==", "+", "-", "*", "/", "**", "+=", "-=")
    return place.word in operators and "NUMBER" not in _accepted(place)


def _expected(place: _Place) -> Fault:
    """The fault that lists what the grammar accepts at the place."""
    accepted = _accepted(place)
    words = _in_words(accepted)
    got = place.shown()
    if not words or len(words) > 5:
        return place.fault("syntax-error", f"{got} cannot stand here")
    listed = " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    return place.fault("syntax-error", f"expected {listed}, got {got}")


# --- what the grammar accepts ------------------------------------------------------------------

_TERMINALS = {
    "_NEWLINE": "the end of the line",
    "_INDENT": "an indented block",
    "$END": "the end",
    "NAME": "a name",
    "STRING": "a string",
}

_PUNCTUATION = frozenset({":", ",", ")", "]", ";", "=", "else"})
"""What can follow a value and is no operator."""


def _accepted(place: _Place) -> set[str]:
    """The terminals that the grammar accepts in place of the bad token."""
    tables = load()
    return acceptable(tables, tables.starts[place.start], (kind for kind, *_ in place.before))


def _in_words(accepted: set[str]) -> list[str]:
    """A description of each kind of terminal in a set."""
    if "WHILE" in accepted:
        return ["a statement"]
    texts = {terminal: text for text, terminal in load().fixed.items()}
    words = []
    rest = accepted - {"_DEDENT"}
    if "NUMBER" in rest:
        words.append("a value")
        starts = {"MINUS", "PLUS", "TILDE", "NOT", *OPENERS, "STAR", "DECLARE", "YIELD"}
        rest -= _VALUES | starts | {t for t, text in texts.items() if text in ("...", "**")}
    elif "SLASH" in rest:
        words.append("an operator")
        kept = _PUNCTUATION if "AND" in rest else _PUNCTUATION | {"in"}
        rest = {t for t in rest if texts.get(t, ":") in kept and t not in _VALUES}
    for terminal in sorted(rest, key=lambda t: (t.startswith(("_", "$")), texts.get(t, t))):
        text = texts.get(terminal)
        words.append(
            f"`{text}`" if text is not None else _TERMINALS.get(terminal, terminal.lower())
        )
    return words
