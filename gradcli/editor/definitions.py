"""Where the names of a program are made, also while its text does not parse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from gradcli.grammar.syntax.layout import CLOSERS, OPENERS, Token
from gradcli.grammar.syntax.recovery import readable_tokens
from gradcli.record import Record

_HEADS = frozenset({"if", "elif", "else", "while", "for", "with", "try", "except", "finally"})


_GOES_ON = frozenset({".", "[", "("})
"""What follows a name of which an attribute or item is meant."""


class Definition(Record):
    """A place where a name is made.

    Fields:
        name: The name.
        kind: "function", "class", "input", "param", "parameter", "import" or "variable".
        start, end: Where the name is.
        line_end: Where its line ends, of a function or class its body.
        scope: The text in which it is known: a function's, or all of it.
        parameters: Those of a function.
    """

    __slots__ = ("name", "kind", "start", "end", "line_end", "scope", "parameters")
    name: str
    kind: str
    start: int
    end: int
    line_end: int
    scope: tuple[int, int]
    parameters: tuple[str, ...]


class _Line(Record):
    """A simple statement or the head of a block, with the indentation of its line."""

    __slots__ = ("indent", "tokens")
    indent: int
    tokens: Sequence[Token]


def definitions(text: str) -> list[Definition]:
    """All places of a text where names are made, in order."""
    lines = [*_lines(text)]
    whole = 0, len(text)
    found: list[Definition] = []
    scopes: list[tuple[int, tuple[int, int]]] = []
    for index, line in enumerate(lines):
        first = line.tokens[0]
        while scopes and line.indent <= scopes[-1][0] and first[2] >= scopes[-1][1][1]:
            scopes.pop()
        scope = scopes[-1][1] if scopes else whole
        end = line.tokens[-1][3]
        word = first[1] if first[0] != "DECLARE" else "declare"
        if word in ("def", "class") and len(line.tokens) > 1 and line.tokens[1][0] == "NAME":
            body = _body_end(lines, index)
            named = line.tokens[1]
            inner = [*_parameters(line.tokens[2:])] if word == "def" else []
            kind = "function" if word == "def" else "class"
            names = tuple(token[1] for token in inner)
            found.append(Definition(named[1], kind, *named[2:], body, scope, names))
            scopes.append((line.indent, (named[3], body)))
            if word == "def":
                found += [
                    Definition(token[1], "parameter", *token[2:], end, scopes[-1][1], ())
                    for token in inner
                ]
            continue
        for kind, token in _made(line.tokens, word):
            found.append(Definition(token[1], kind, *token[2:], end, scope, ()))
    return found


def known_at(found: Sequence[Definition], offset: int) -> dict[str, Definition]:
    """The names that are known at an offset, each with its first place in the closest scope."""
    known: dict[str, Definition] = {}
    for definition in found:
        start, end = definition.scope
        before = known.get(definition.name)
        closer = before is None or start > before.scope[0]
        if start <= offset <= end and closer:
            known[definition.name] = definition
    return known


def _lines(text: str) -> Iterator[_Line]:
    """The statements of a text, as far as they can be told apart."""
    depth, indent = 0, 0
    tokens: list[Token] = []
    for token in readable_tokens(text):
        kind, word = token[:2]
        depth = max(depth + (kind in OPENERS) - (kind in CLOSERS), 0)
        ends = depth == 0 and (kind == "_NEWLINE" or word == ";")
        if ends:
            if tokens:
                yield _Line(indent, tokens)
            tokens = []
            if kind == "_NEWLINE":
                indent = len(word.lstrip("\r\n"))
        elif kind != "_NEWLINE":
            tokens.append(token)
            if word == ":" and depth == 0 and tokens[0][1] in _HEADS:
                yield _Line(indent, tokens)
                tokens = []
    if tokens:
        yield _Line(indent, tokens)


def _body_end(lines: Sequence[_Line], index: int) -> int:
    """Where the body of the function or class whose head is a line ends."""
    indent = lines[index].indent
    inside = takewhile(lambda line: line.indent > indent, lines[index + 1 :])
    return max([lines[index].tokens[-1][3], *(line.tokens[-1][3] for line in inside)])


def _parameters(tokens: Sequence[Token]) -> Iterator[Token]:
    """The names of the parameters in a function's head."""
    depth = 0
    before = ""
    for token in tokens:
        kind, word = token[:2]
        depth += (kind in OPENERS) - (kind in CLOSERS)
        if depth == 0:
            return
        if depth == 1 and kind == "NAME" and before in ("(", ",", "*", "**"):
            yield token
        before = word


def _made(tokens: Sequence[Token], word: str) -> Iterator[tuple[str, Token]]:
    """The names that a statement makes, each with its kind."""
    if word == "declare":
        yield from ((tokens[0][1], token) for token in tokens[1:2])
    elif word == "for":
        targets = takewhile(lambda token: token[1] != "in", tokens[1:])
        yield from (("variable", token) for token in targets if token[0] == "NAME")
    elif word in ("import", "from"):
        at = next((i for i, token in enumerate(tokens) if token[1] == "import"), len(tokens))
        yield from (("import", token) for token in _imported(tokens[at + 1 :]))
    elif word in ("with", "except"):
        pairs = pairwise(tokens)
        yield from (("variable", named) for a, named in pairs if a[1] == "as")
    else:
        yield from (("variable", token) for token in _assigned(tokens))


def _imported(tokens: Sequence[Token]) -> Iterator[Token]:
    """The names that an import binds: the last of each part, of `a.b` the first."""
    part: list[Token] = []
    for token in (*tokens, ("COMMA", ",", 0, 0)):
        if token[1] != ",":
            part += [token] if token[0] == "NAME" or token[1] in (".", "as") else []
        elif part:
            bound = part[-1] if any(t[1] == "as" for t in part) else part[0]
            yield from (bound,) if bound[0] == "NAME" else ()
            part = []


def _assigned(tokens: Sequence[Token]) -> Iterator[Token]:
    """The names on the left of the signs `=` and `:=` of a statement."""
    depth, last = 0, -1
    for index, (kind, word, *_) in enumerate(tokens):
        depth += (kind in OPENERS) - (kind in CLOSERS)
        if depth == 0 and word == "=":
            last = index
        if depth == 0 and word == "lambda":
            break
    annotated = next((i for i, t in enumerate(tokens[:2]) if t[1] == ":"), last)
    opened: list[bool] = []  # for each open bracket, True if it is that of an item or a call
    for index, token in enumerate(tokens[: min(annotated, last) if last >= 0 else 0]):
        kind, word = token[:2]
        before, after = tokens[index - 1] if index else ("", "", 0, 0), tokens[index + 1][1]
        if kind in OPENERS:
            opened.append(before[0] == "NAME" or before[0] in CLOSERS)
        elif kind in CLOSERS and opened:
            opened.pop()
        elif kind == "NAME" and not any(opened) and before[1] != "." and after not in _GOES_ON:
            yield token
