"""Parse lines of the same form once: lines whose tokens are of the same kinds give the same tree.

The order in which the parser makes the nodes of a statement follows from the kinds of its tokens
and its state alone. A long program has few forms of lines. So the calls that make the nodes of a
common form are taken down, from a parse of names in place of tokens, and become a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from gradcli.grammar.syntax.layout import Token
from gradcli.grammar.syntax.transform import Transform
from gradcli.source import Span

Entry: TypeAlias = tuple[int, Any, int, int, int]
"""A symbol on the parser's stack: the state behind it, its value, start, end and depth."""

Drive: TypeAlias = Callable[[Any, list[Token], int], Sequence[Entry]]
"""Parses tokens from a state on with the methods of a `Transform`, and returns the stack."""

_BEFORE = 20  # lines of a form that are parsed one by one: making its code takes as long
_LONGEST = 60  # tokens of a line that has a form
_MOST = 2000  # forms whose lines are counted


class _Form(NamedTuple):
    """A form of lines that are one simple statement.

    Fields:
        make: makes the statement from the methods of the nodes, the type of spans and the tokens.
        state: the state of the statement's entry.
        depth: the depth of the entry.
    """

    make: Callable[[Transform, Any, Sequence[Token]], Any]
    state: int
    depth: int


class Forms:
    """The forms of the lines of one text."""

    def __init__(self, transform: Transform, drive: Drive) -> None:
        self._transform = transform
        self._drive = drive
        self._met: dict[tuple[Any, ...], int] = {}
        self._forms: dict[tuple[Any, ...], _Form | None] = {}
        self._span: Any = partial(tuple.__new__, Span)  # a call of `Span` takes a third longer

    def entry(self, state: int, line: Sequence[Token]) -> Entry | None:
        """The stack's entry for the statement of a line, up to the break behind it. None if it is
        not one simple statement, or if its form is new.

        Args:
            state: The parser's state before its first token.
            line: Its tokens.
        """
        if len(line) > _LONGEST:
            return None
        key = (state, *[token[0] for token in line])
        form = self._forms.get(key)
        if form is None:
            if key not in self._forms and self._is_common(key):
                self._forms[key] = self._taken_down(state, line)
            return None
        made = form.make(self._transform, self._span, line)
        return form.state, [made], line[0][2], line[-2][3], form.depth

    def _is_common(self, key: tuple[Any, ...]) -> bool:
        """True from some number of lines of a form on."""
        if len(self._met) > _MOST:  # of a text without common forms
            self._met.clear()
        count = self._met[key] = self._met.get(key, 0) + 1
        return key[-1] == "_NEWLINE" and count > _BEFORE

    def _taken_down(self, state: int, line: Sequence[Token]) -> _Form | None:
        """The form of a line, by a parse of texts that stand for its tokens. None if it is not a
        simple statement.
        """
        tokens: list[Any] = [(kind, f"t{n}", n, n + 1) for n, (kind, *_) in enumerate(line)]
        stack = self._drive(_Recorder(), tokens, state)
        if len(stack) != 3:  # more than the state, a statement and the break
            return None
        state, value, _, _, depth = stack[1]
        match value:
            case [str(made)] if _UNKNOWN not in made:
                return _Form(_compiled(made, len(line)), state, depth)
        return None


_UNKNOWN = "?"


class _Recorder:
    """Stands for a `Transform`: a node is the text of the call that makes it."""

    def __getattr__(self, method: str) -> Callable[..., str]:
        return partial(_call, method)


def _call(method: str, span: Span, *parts: Any) -> str:
    """The text of a call of a method of a `Transform`. A node without tokens is unknown."""
    if span.start == span.end or not all(part is None or type(part) is str for part in parts):
        return _UNKNOWN
    return f"m.{method}(S((b{span.start}, e{span.end - 1})), {', '.join(map(str, parts))})"


def _compiled(made: str, count: int) -> Callable[[Transform, Any, Sequence[Token]], Any]:
    """The function of a call's text and the number of its tokens."""
    tokens = ", ".join(f"(_, t{n}, b{n}, e{n})" for n in range(count))
    names: dict[str, Any] = {}
    # of names that are numbered and methods of a `Transform`
    exec(f"def make(m, S, line):\n    {tokens} = line\n    return {made}", names)
    found: Callable[[Transform, Any, Sequence[Token]], Any] = names["make"]
    return found
