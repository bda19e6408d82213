"""The syntax tree of a .grad program: what was written, and where.

The set of nodes is closed: every `match` over it ends in `assert_never`.
"""

from __future__ import annotations

from typing import TypeAlias

from gradcli.record import Record
from gradcli.source import Span


class Node(Record):
    """Base of every syntax node: fields are the slots, `span` is where it was written.

    Two nodes are equal when their kind and fields are; positions do not count, so tests of the
    parser leave them out.
    """

    __slots__ = ("span",)
    _ignored = frozenset({"span"})
    span: Span


# --- expressions ---------------------------------------------------------------------------


class Literal(Node):
    """A number, string, True, False, None or `...` as written."""

    __slots__ = ("value",)
    value: object


class FString(Node):
    """`f"..."`: text parts are `Literal` strings, the others are `Formatted`."""

    __slots__ = ("parts",)
    parts: tuple[Literal | Formatted, ...]


class Formatted(Node):
    """`{value!r:spec}` in an f-string. `conversion` is "", "r", "s" or "a"; `debug` is the text
    before the value in `{value=}`, else ""; the spec may hold `Formatted` parts of its own.
    """

    __slots__ = ("value", "debug", "conversion", "spec")
    value: Expr
    debug: str
    conversion: str
    spec: tuple[Literal | Formatted, ...]


class Name(Node):
    __slots__ = ("id",)
    id: str


class List(Node):
    __slots__ = ("items",)
    items: tuple[Expr, ...]


class Tuple(Node):
    __slots__ = ("items",)
    items: tuple[Expr, ...]


class Set(Node):
    """`{a, b}`: one item or more."""

    __slots__ = ("items",)
    items: tuple[Expr, ...]


class Pair(Node):
    """`key: value` in braces; for `**value` the key is None."""

    __slots__ = ("key", "value")
    key: Expr | None
    value: Expr


class Dict(Node):
    """`{key: value, **others}`."""

    __slots__ = ("pairs",)
    pairs: tuple[Pair, ...]


class Starred(Node):
    """`*value` among the items of a display, the arguments of a call or the targets of an
    assignment.
    """

    __slots__ = ("value",)
    value: Expr


class Clause(Node):
    """`for target in iterable if condition if ...` of a comprehension."""

    __slots__ = ("target", "iterable", "conditions")
    target: Expr
    iterable: Expr
    conditions: tuple[Expr, ...]


class Comprehension(Node):
    """`[element for ...]` and its like: `kind` is "list", "set", "dict", whose element is a `Pair`,
    or "generator".
    """

    __slots__ = ("kind", "element", "clauses")
    kind: str
    element: Expr | Pair
    clauses: tuple[Clause, ...]


class Unary(Node):
    """`op operand`, where op is one of `+ - ~ not`."""

    __slots__ = ("op", "operand")
    op: str
    operand: Expr


class Binary(Node):
    """`left op right`, where op is one of `+ - * / // % ** @ & | ^`."""

    __slots__ = ("op", "left", "right")
    op: str
    left: Expr
    right: Expr


class Compare(Node):
    """`first op rest[0] op rest[1] ...`; ops are `< <= > >= == != is, is not, in, not in`."""

    __slots__ = ("first", "ops", "rest")
    first: Expr
    ops: tuple[str, ...]
    rest: tuple[Expr, ...]


class Boolean(Node):
    """`a and b and c` or `a or b or c`: at least two values, flattened except for parentheses."""

    __slots__ = ("op", "values")
    op: str
    values: tuple[Expr, ...]


class IfElse(Node):
    """`then if test else orelse`."""

    __slots__ = ("test", "then", "orelse")
    test: Expr
    then: Expr
    orelse: Expr


class Keyword(Node):
    """`name=value` in a call; `**value` has the name ""."""

    __slots__ = ("name", "value")
    name: str
    value: Expr


class Call(Node):
    """`function(args, keywords)`; an argument may be `Starred`."""

    __slots__ = ("function", "args", "keywords")
    function: Expr
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]


class Slice(Node):
    """`start:stop:step`, only inside an index."""

    __slots__ = ("start", "stop", "step")
    start: Expr | None
    stop: Expr | None
    step: Expr | None


class Index(Node):
    """`value[index]`; `x[i, j:k]` has a `Tuple` as its index, which may hold slices."""

    __slots__ = ("value", "index")
    value: Expr
    index: Expr


class Attribute(Node):
    """`value.name`."""

    __slots__ = ("value", "name")
    value: Expr
    name: str


class Lambda(Node):
    """`lambda params: body`. `names` are those that `:=` in the body gives values."""

    __slots__ = ("params", "body", "names")
    params: tuple[Param, ...]
    body: Expr
    names: tuple[str, ...]


class Named(Node):
    """`(target := value)`: the value, which the name has from then on."""

    __slots__ = ("target", "value")
    target: Name
    value: Expr


class Yield(Node):
    """`yield value` in a generator. The value of the expression is what the caller sends."""

    __slots__ = ("value",)
    value: Expr | None


class YieldFrom(Node):
    """`yield from value`: emits each item. Its value is what a generator returns."""

    __slots__ = ("value",)
    value: Expr


Expr: TypeAlias = (
    Literal
    | FString
    | Name
    | List
    | Tuple
    | Set
    | Dict
    | Starred
    | Comprehension
    | Unary
    | Binary
    | Compare
    | Boolean
    | IfElse
    | Call
    | Slice
    | Index
    | Attribute
    | Lambda
    | Named
    | Yield
    | YieldFrom
)

# --- statements ----------------------------------------------------------------------------


class Assign(Node):
    """`a = b = value`: targets from left to right. A target is a Name, Index, Attribute, or a
    Tuple or List of targets, of which one may be Starred. Annotations are left out.
    """

    __slots__ = ("targets", "value")
    targets: tuple[Expr, ...]
    value: Expr


class Delete(Node):
    """`del a, b[i]`: targets are Names and Indexes."""

    __slots__ = ("targets",)
    targets: tuple[Expr, ...]


class Annotated(Assign):
    """`target: type = value`: types are not checked, but a class counts its annotated names."""

    __slots__ = ()


class Update(Node):
    """`target op= value`, op without its `=`; the target is a Name, Index or Attribute."""

    __slots__ = ("target", "op", "value")
    target: Expr
    op: str
    value: Expr


class ExprStatement(Node):
    __slots__ = ("value",)
    value: Expr


class If(Node):
    """`if`; an `elif` is an If alone in `orelse`, and prints as one."""

    __slots__ = ("test", "body", "orelse")
    test: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


class While(Node):
    """`while test: body`. The test is evaluated before every turn; `orelse` runs once it is false,
    not after a `break`.
    """

    __slots__ = ("test", "body", "orelse")
    test: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


class For(Node):
    """`for target in iterable: body`; `orelse` runs after the last item, not after a `break`."""

    __slots__ = ("target", "iterable", "body", "orelse")
    target: Expr
    iterable: Expr
    body: tuple[Statement, ...]
    orelse: tuple[Statement, ...]


class Break(Node):
    __slots__ = ()


class Continue(Node):
    __slots__ = ()


class Pass(Node):
    __slots__ = ()


class Declared(Pass):
    """`name: type` without a value."""

    __slots__ = ("name",)
    name: str


class Assert(Node):
    __slots__ = ("test", "message")
    test: Expr
    message: Expr | None


class Return(Node):
    __slots__ = ("value",)
    value: Expr | None


class Outer(Node):
    """`global names` or `nonlocal names`: the function assigns these names of enclosing scopes."""

    __slots__ = ("kind", "names")
    kind: str
    names: tuple[str, ...]


class Binds(Node):
    """No statement of the text: names that `:=` in the block gives values."""

    __slots__ = ("names",)
    names: tuple[str, ...]


class Param(Node):
    """A parameter of a `def` or `lambda`. `kind` is "" for one given by place or name, "named" for
    one given by name only, "*" and "**" for those that take all other arguments.
    """

    __slots__ = ("name", "default", "kind")
    name: str
    default: Expr | None
    kind: str


class Def(Node):
    """`def name(params): body`; `decorators` are the expressions after `@`, in order."""

    __slots__ = ("name", "params", "body", "decorators")
    name: str
    params: tuple[Param, ...]
    body: tuple[Statement, ...]
    decorators: tuple[Expr, ...]


class With(Node):
    """`with context as target: body`. The context switches recording on or off (`contexts.py`), or
    is an object with `__enter__` and `__exit__`.
    """

    __slots__ = ("context", "target", "body")
    context: Expr
    target: Expr | None
    body: tuple[Statement, ...]


class Class(Node):
    """`class name(bases): body`. One whose base is `Function` is an own differentiable function."""

    __slots__ = ("name", "bases", "body", "decorators")
    name: str
    bases: tuple[Expr, ...]
    body: tuple[Statement, ...]
    decorators: tuple[Expr, ...]


class Handler(Node):
    """`except type as name: body`; `type` is None for all exceptions, `name` "" for none."""

    __slots__ = ("type", "name", "body")
    type: Expr | None
    name: str
    body: tuple[Statement, ...]


class Try(Node):
    """`try: body`, with its handlers, `else` and `finally`."""

    __slots__ = ("body", "handlers", "orelse", "last")
    body: tuple[Statement, ...]
    handlers: tuple[Handler, ...]
    orelse: tuple[Statement, ...]
    last: tuple[Statement, ...]


class Raise(Node):
    """`raise value from cause`; without a value the exception that is being handled."""

    __slots__ = ("value", "cause")
    value: Expr | None
    cause: Expr | None


class Type(Node):
    """`float`, `int`, `bool`, with `[sizes]` for a tensor. `sizes` is None for a number; a size is
    an int, a name, or `...` alone for any shape.
    """

    __slots__ = ("kind", "sizes")
    kind: str
    sizes: tuple[object, ...] | None


class Declaration(Node):
    """`input NAME: TYPE in [LOWER, UPPER] = DEFAULT` or `param ...`."""

    __slots__ = ("kind", "name", "type", "bounds", "default")
    kind: str
    name: str
    type: Type | None
    bounds: tuple[Expr, Expr] | None
    default: Expr | None


class Import(Node):
    """`import module [as name]` (one per module) or `from module import names`.

    `names` holds pairs `(name, alias)`, with alias "" for none. A plain `import` has the one pair
    `("", alias)`; for `*` the name is "*".
    """

    __slots__ = ("module", "names")
    module: str
    names: tuple[tuple[str, str], ...]


Statement: TypeAlias = (
    Assign
    | Delete
    | Update
    | ExprStatement
    | If
    | While
    | For
    | Break
    | Continue
    | Pass
    | Assert
    | Return
    | Outer
    | Binds
    | Def
    | With
    | Class
    | Try
    | Raise
    | Declaration
    | Import
)


class Module(Node):
    __slots__ = ("body",)
    body: tuple[Statement, ...]
