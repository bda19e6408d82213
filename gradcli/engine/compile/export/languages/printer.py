"""Print expressions and statements of the written form; a table for each language says how."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from gradcli.engine.compile.export.written import (
    Apply,
    Assign,
    Called,
    Expression,
    Item,
    Leave,
    Let,
    Math,
    Refuse,
    Remark,
    Statement,
    Store,
    Total,
    Until,
    Variable,
    When,
    While,
    type_of,
)
from gradcli.record import Record

ATOM = 99
"""How tightly a name or a call binds; other texts bind less tightly."""


class Form(Record):
    """How a primitive is written.

    Fields:
        text: The text, with `{}` for each operand.
        level: How tightly it binds.
        needs: How tightly each operand must bind to need no brackets.
        chains: True if its first operand may be the same primitive without brackets, too.
    """

    __slots__ = ("text", "level", "needs", "chains")
    text: str
    level: int
    needs: tuple[int, ...]
    chains: bool

    @property
    def calls(self) -> str:
        """The name of the function that it calls, or another text."""
        return self.text.partition("(")[0]


def pattern(text: str, level: int, *needs: int) -> Form:
    """A form whose operands all get brackets unless they bind so tightly."""
    return Form(text, level, needs, False)


def call(text: str) -> Form:
    """The form of a call."""
    return pattern(text, ATOM, *(0,) * text.count("{}"))


def infix(sign: str, level: int, left: int, right: int) -> Form:
    """The form of a sign between two operands, which must bind so tightly."""
    return pattern(f"{{}} {sign} {{}}", level, left, right)


COMPARISONS: Mapping[str, str] = {
    f"{t}_{name}": sign
    for t in ("float", "int")
    for name, sign in (
        *(("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")),
        *(("eq", "=="), ("ne", "!=")),
    )
}
"""The signs of the primitives that compare, which both languages have."""

SUMS: Mapping[str, str] = {
    f"{t}_{name}": sign for t in ("float", "int") for name, sign in (("add", "+"), ("sub", "-"))
}
"""The signs of sums and differences, which both languages have."""


class Blocks(Record):
    """The lines around blocks, with `{}` for a test; `end` is empty if a block needs none."""

    __slots__ = ("when", "or_when", "otherwise", "as_long", "forever", "end", "leave")
    when: str
    or_when: str
    otherwise: str
    as_long: str
    forever: str
    end: str
    leave: str


class Printer:
    """Base of the printers.

    Args:
        support: The texts of the functions that the language does not have, by name.

    Fields:
        used: the names of those of them that are called.
    """

    forms: ClassVar[Mapping[str, Form]]
    blocks: ClassVar[Blocks]
    updates: ClassVar[Mapping[str, str]]
    step = "    "

    def __init__(self, support: Mapping[str, str]) -> None:
        self._support = support
        self.used: dict[str, None] = {}

    def use(self, name: str) -> str:
        """The name of a function, which is printed if the language does not have it."""
        if name in self._support:
            self.used.setdefault(name)
        return name

    # --- what a language says --------------------------------------------------------------------

    def constant(self, x: float | int | bool) -> str:
        """The text of a constant."""
        raise NotImplementedError

    def negative(self) -> int:
        """How tightly a constant with a minus sign binds."""
        raise NotImplementedError

    def total(self, x: Total) -> str:
        """The text of a sum of elements."""
        raise NotImplementedError

    def library(self, function: str) -> str:
        """The name of a function of C's math library."""
        raise NotImplementedError

    def form(self, primitive: str, args: Sequence[Expression]) -> Form:
        """The form of a primitive of some operands."""
        return self.forms[primitive]

    def comment(self, lines: Sequence[str], indent: str) -> list[str]:
        """A comment."""
        raise NotImplementedError

    def code(self, line: str, indent: str) -> list[str]:
        """A line of code, in several lines if it is long."""
        raise NotImplementedError

    def other(self, s: Statement, indent: str) -> list[str]:
        """The lines of a statement that is the language's own."""
        raise NotImplementedError

    def let(self, s: Let) -> str:
        """A declaration."""
        raise NotImplementedError

    def assigned(self, v: Variable, x: Expression) -> str:
        """An assignment."""
        if isinstance(x, Apply) and x.primitive in self.updates and x.args[0] == v:
            return f"{v.name} {self.updates[x.primitive]}= {self.text(x.args[1])}"
        return f"{v.name} = {self.text(x)}"

    def refusal(self, test: Expression, indent: str) -> list[str]:
        """A refusal of the arguments if a test holds."""
        raise NotImplementedError

    def ended(self, line: str) -> str:
        """A line with what stands at the end of a simple statement."""
        return line

    # --- statements ------------------------------------------------------------------------------

    def body(self, body: Sequence[Statement], indent: str) -> list[str]:
        """The lines of a block."""
        return [line for s in body for line in self.statement(s, indent)]

    def statement(self, s: Statement, indent: str) -> list[str]:
        """The lines of a statement."""
        match s:
            case Remark(lines=lines):
                return self.comment(lines, indent)
            case Let():
                return self.code(self.ended(self.let(s)), indent)
            case Assign(variable=v, value=x):
                return self.code(self.ended(self.assigned(v, x)), indent)
            case Store(array=array, at=at, value=x):
                to = Variable(self.text(Item(array, at, "float")), type_of(x))
                x = _with_variable(x, Item(array, at, type_of(x)), to)
                return self.code(self.ended(self.assigned(to, x)), indent)
            case When():
                return [*self._branch(s, indent), *self._end(indent)]
            case While(test=test, body=body):
                blocks = self.blocks
                head = blocks.forever if test is True else blocks.as_long
                return self.block(head.format(self.text(test)), body, indent)
            case Until(test=test, body=body):
                leave = (Leave(),)
                last = () if test is True else (When(Apply("bool_not", (test,)), leave, ()),)
                return self.block(self.blocks.forever.format(), (*body, *last), indent)
            case Leave():
                return [indent + self.blocks.leave]
            case Refuse(test=test):
                return self.refusal(test, indent)
        return self.other(s, indent)

    def block(self, head: str, body: Sequence[Statement], indent: str) -> list[str]:
        """A block below its first line."""
        lines = self.body(body, indent + self.step)
        return [*self.code(head, indent), *lines, *self._end(indent)]

    def _end(self, indent: str) -> list[str]:
        return [indent + self.blocks.end] if self.blocks.end else []

    def _branch(self, s: When, indent: str) -> Iterator[str]:
        blocks, more = self.blocks, indent + self.step
        yield from self.code(blocks.when.format(self.text(s.test)), indent)
        yield from self.body(s.then, more)
        orelse = s.orelse
        while len(orelse) == 1 and isinstance(orelse[0], When):
            (inner,) = orelse
            assert isinstance(inner, When)
            yield from self.code(blocks.or_when.format(self.text(inner.test)), indent)
            yield from self.body(inner.then, more)
            orelse = inner.orelse
        if orelse:
            yield indent + blocks.otherwise.format()
            yield from self.body(orelse, more)

    # --- expressions -----------------------------------------------------------------------------

    def text(self, x: Expression) -> str:
        """The text of an expression."""
        return self._bound(x)[0]

    def texts(self, several: Sequence[Expression]) -> str:
        """Expressions as the arguments of a call."""
        return ", ".join(map(self.text, several))

    def within(self, x: Expression, least: int) -> str:
        """The text of an expression, in brackets unless it binds so tightly."""
        text, level = self._bound(x)
        return text if level >= least else f"({text})"

    def _bound(self, x: Expression) -> tuple[str, int]:
        """The text of an expression, and how tightly it binds."""
        match x:
            case Variable(name=name):
                return name, ATOM
            case Item(array=array, at=at):
                return f"{array}[{self.text(at)}]", ATOM
            case Math(function=function, args=args):
                return f"{self.library(function)}({self.texts(args)})", ATOM
            case Called(function=function, args=args):
                return f"{function}({self.texts(args)})", ATOM
            case Apply(primitive=primitive, args=args):
                return self._applied(primitive, args)
            case Total():
                return self.total(x), ATOM
        text = self.constant(x)
        return text, self.negative() if text.startswith("-") else ATOM

    def _applied(self, primitive: str, args: Sequence[Expression]) -> tuple[str, int]:
        form = self.form(primitive, args)
        self.use(form.calls)
        needs = [*form.needs]
        first = args[0]
        if form.chains and isinstance(first, Apply) and first.primitive == primitive:
            needs[0] = form.level
        said = [self.within(x, least) for x, least in zip(args, needs, strict=True)]
        return form.text.format(*said), form.level


def _with_variable(x: Expression, item: Item, by: Variable) -> Expression:
    """A sum or product whose first operand is an element of an array, with a variable for that."""
    if isinstance(x, Apply) and x.args[0] == item:
        return Apply(x.primitive, (by, *x.args[1:]))
    return x


def first_sentence(about: str) -> str:
    """The first line of a function's documentation."""
    return about.partition("\n")[0].strip()
