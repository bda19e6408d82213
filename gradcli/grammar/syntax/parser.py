"""The parser: an LALR driver over the tables of grad.lark that builds the tree as it goes.

Nothing here recurses, so a program of any length and nesting parses in bounded stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.cpython import Uncollected
from gradcli.errors import ProgramError
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault
from gradcli.grammar.syntax.layout import Token, layout, lines
from gradcli.grammar.syntax.lexer import tokens
from gradcli.grammar.syntax.tables import Keep, Rule, Tables, load
from gradcli.grammar.syntax.transform import Transform
from gradcli.source import Cell, Source, Span

if TYPE_CHECKING:
    from gradcli.grammar.syntax.forms import Entry, Forms

MAX_DEPTH = 200
_FEW = 20  # lines of a text that has no forms
_NO_LINE_END = re.compile(r"[^\r\n]")


def parse(source: Source) -> ast.Module:
    """The syntax tree of a program.

    Raises:
        ProgramError: The text does not parse; it has an error for each bad line.
    """
    _check_characters(source)
    try:
        tree = _parse(source, "module", 0)
    except Fault as first:
        from gradcli.grammar.syntax.mending import offer
        from gradcli.grammar.syntax.recovery import faults

        found = list(faults(source.text, first, _first_fault))
        offer(found, source.text, reads)
        raise ProgramError(*(fault.diagnostic(source) for fault in found)) from None
    assert isinstance(tree, ast.Module)
    return tree


def parse_cell(source: Source, cell: Cell) -> ast.Module:
    """The syntax tree of one cell of a source.

    Raises:
        ProgramError: The cell does not parse by itself; it has an error for each bad line.
    """
    upto = Source(source.name, source.text[: cell.end])
    try:
        _check_characters(source)
        tree = _parse(upto, "module", max(cell.start - 1, 0))  # from the end of the line before
        assert isinstance(tree, ast.Module)
        return tree
    except (Fault, ProgramError):
        before = _NO_LINE_END.sub(" ", source.text[: cell.start])
        upto = Source(source.name, before + source.text[cell.start : cell.end])
    try:
        return parse(upto)
    except ProgramError as error:
        for found in error.diagnostics:
            found.source = source
        raise


def reads(text: str) -> bool:
    """True if a text parses as a program."""
    return _first_fault(text, 0) is None


def _first_fault(text: str, begin: int) -> Fault | None:
    try:
        _parse(Source("", text), "module", begin)
    except Fault as fault:
        return fault
    return None


def parse_expression(source: Source, begin: int = 0) -> ast.Expr:
    """The syntax tree of the expression from an offset to the end of the text.

    Raises:
        ProgramError: The text is not an expression.
    """
    _check_characters(source)
    try:
        tree: ast.Expr = _parse(source, "expression", begin)
    except Fault as fault:
        raise fault.error(source) from None
    return tree


def _check_characters(source: Source) -> None:
    """Refuse characters that are illegal even in a comment."""
    if "\0" in source.text or not source.text.isascii():
        from gradcli.grammar.syntax.unreadable import check_characters

        try:
            check_characters(source.text)
        except Fault as fault:
            raise fault.error(source) from None


def _parse(source: Source, start: str, begin: int) -> Any:
    with Uncollected():  # garbage collection would take a third of the time
        return _Parser(source).tree(start, begin, len(source.text), MAX_DEPTH)


class _Parser:
    """The parser of one source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tables: Tables = load()
        transform = Transform(self._part)
        self._rules = Prepared(self._tables.rules, transform)
        self._forms = self._of_lines(transform)

    def _of_lines(self, transform: Transform) -> Forms | None:
        """The forms of the lines of a long text."""
        if self._source.text.count("\n") <= _FEW:
            return None
        from gradcli.grammar.syntax.forms import Forms

        return Forms(transform, self._of_numbers)

    def _of_numbers(self, recorder: Any, line: list[Token], state: int) -> Sequence[Entry]:
        """The stack behind a line, with what a recorder takes down in place of nodes."""
        rules = Prepared(self._tables.rules, recorder)
        return _drive(self._tables, rules, (line,), state, MAX_DEPTH, None)

    def _part(self, start: int, end: int) -> ast.Expr:
        """An expression in the braces of an f-string."""
        tree: ast.Expr = self.tree("expression", start, end, MAX_DEPTH // 4)
        return tree

    def tree(self, start: str, begin: int, end: int, depth: int) -> Any:
        """The tree of the text from `begin` to `end`, as `start`, nested at most `depth` levels."""
        tables = self._tables
        words = tokens(tables, self._source.text, begin, end)
        placed = layout(words, end, bracketed=start == "expression")
        try:
            state = tables.starts[start]
            return _drive(tables, self._rules, lines(placed), state, depth, self._forms)[-2][1]
        except _Unexpected as error:
            from gradcli.grammar.syntax.explain import explain

            raise explain(self._source, start, begin, end, error.token) from None


class _Unexpected(Exception):
    """No rule accepts this token."""

    def __init__(self, token: Token) -> None:
        super().__init__(token)
        self.token = token


# How much a rule nests: not at all; one level for its parts; one level for its right side
# only, so that chains `a + b + c ...` may have any length; one level for each part behind the
# first, as `for` and `if` of a comprehension stand inside each other; or from zero again.
SAME, DEEPER, CHAIN, STEPS, FRESH = range(5)

LEVELS = {
    **dict.fromkeys(
        (
            "and_test",
            "attribute",
            "call",
            "comparison",
            "dict_display",
            "if_else",
            "index",
            "lambda_expression",
            "list_display",
            "named",
            "or_test",
            "set_display",
            "tuple_display",
            "unary",
            "yield_from",
            "yield_value",
        ),
        DEEPER,
    ),
    **dict.fromkeys(
        ("clause", "dict_comprehension", "generator", "list_comprehension", "set_comprehension"),
        STEPS,
    ),
    "binary": CHAIN,
    "block": FRESH,
}

Maker: TypeAlias = Callable[..., Any]
Reduction: TypeAlias = tuple[str, int, Maker | None, bool, Keep | None, int]
"""Origin, size, what makes the node, whether the one part is the whole, what is kept, level."""


class Prepared(dict[int, Reduction]):
    """Reductions by the numbers of their rules, each made at its first use."""

    def __init__(self, rules: Sequence[Rule], transform: Transform) -> None:
        self._rules, self._transform = rules, transform

    def __missing__(self, number: int) -> Reduction:
        origin, size, method, single, keep = self._rules[number]
        make = getattr(self._transform, method) if method else None
        made = self[number] = origin, size, make, single, keep, LEVELS.get(method, SAME)
        return made


def _drive(
    tables: Tables,
    rules: Prepared,
    stream: Iterable[list[Token]],
    start: int,
    limit: int,
    forms: Forms | None,
) -> Sequence[Entry]:
    """Shift and reduce until the end of the lines; return the stack. A line whose form is known is
    shifted as a whole.
    """
    rows = tables.states
    stack: list[Entry] = [(start, None, 0, 0, 0)]
    push, pop = stack.append, stack.pop
    climbs: dict[tuple[int, str, str], tuple[int, int | None]] = {}
    new_span: Any = partial(tuple.__new__, Span)  # a call of `Span` takes a third longer
    state = start
    for line in stream:
        at, most = 0, len(line)
        while at < most:
            token = line[at]
            kind, text, begin, end = token
            default, actions = rows[state]
            action = actions.get(kind, default)
            while action is None or action < 0:
                if action is None:
                    raise _Unexpected(token)
                origin, size, make, single, keep, level = rules[-1 - action]
                value: Any
                if size == 3 and level == CHAIN and make is not None:  # most are operators
                    _, right, _, last, deeper = pop()
                    _, sign, _, _, _ = pop()
                    _, left, first, _, depth = pop()
                    depth = depth if depth > deeper else deeper + 1
                    value = make(new_span((first, last)), left, sign, right)
                else:
                    parts: Sequence[Any]
                    if size == 1:
                        _, value, first, last, depth = pop()
                        parts = [value]
                    elif size:
                        entries = stack[-size:]
                        del stack[-size:]
                        first, last = entries[0][2], entries[-1][3]
                        parts = [entry[1] for entry in entries]
                        depth = max([entry[4] for entry in entries])
                    else:
                        parts, first, last, depth = [], begin, begin, 0
                    if keep is not None:
                        parts = _kept(keep, parts)
                    if level == STEPS:
                        depth += len(parts) - 1
                    elif level != SAME:
                        depth = 0 if level == FRESH else depth + 1
                    if make is not None:
                        value = make(new_span((first, last)), *parts)
                    elif single:
                        value = parts[0]
                    else:
                        value = parts if keep is not None else list(parts)
                if depth > limit:
                    raise _too_deep(first, last, limit)
                below = stack[-1][0]
                key = (below, origin, kind)
                found = climbs.get(key)
                if found is None:
                    found = climbs[key] = _climb(tables, below, origin, kind)
                state, action = found
                push((state, value, first, last, depth))
            if at == 0 and forms is not None and most > 2:
                known = forms.entry(state, line)
                if known is not None:
                    push(known)
                    state, at = known[0], most - 1
                    continue
            state = action
            push((state, text, begin, end, 0))
            at += 1
    return stack


def _climb(tables: Tables, below: int, origin: str, kind: str) -> tuple[int, int | None]:
    """The state after a reduction to `origin` above `below`, and its action for the next token. A
    chain of single-symbol reductions, such as `?sum: term`, is followed to its end in one go.
    """
    while True:
        state = tables.following(below, origin)
        default, actions = tables.states[state]
        action = actions.get(kind, default)
        if action is None or action >= 0:
            return state, action
        origin, size, _, single, _ = tables.rules[-1 - action]
        if not (size == 1 and single):
            return state, action


def _kept(keep: Keep, parts: Sequence[Any]) -> list[Any]:
    """The parts that count: no punctuation, lists spliced in, None for absent parts."""
    index, splice, absent = keep[0] if keep else (-1, False, 0)
    if splice and not absent:  # reuses a list that grows at its end
        kept: list[Any] = parts[index]
        keep = keep[1:]
    else:
        kept = []
    for index, splice, absent in keep:
        kept.extend([None] * absent)
        if splice:
            kept.extend(parts[index])
        elif index >= 0:
            kept.append(parts[index])
    return kept


def _too_deep(start: int, end: int, limit: int) -> Fault:
    message = f"the expression is nested more than {limit} levels deep"
    return Fault("nested-too-deep", message, start, min(end, start + 1))
