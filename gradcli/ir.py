"""The ops program: what the grammar makes and the engine executes.

A program is a tree of functions; a function is a list of structured instructions over numbered
slots. Slots are numbered once for the whole program, so a function that uses a slot of an outer
one simply names it (a closure). Every instruction writes its result to one slot and takes slots or
constants, never another instruction: deep expressions become long lists, not deep trees.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

from gradcli.record import Record
from gradcli.source import Source, Span


class Signature(Record):
    """How a built-in may be called, for checks before anything runs.

    `positional` are the names that may be given by place, in order; the first `required` of them
    (by place or by name) must be. `keywords` may be given by name only. `variadic`: further
    positional arguments are taken. `aliases` maps other accepted keyword names to these.
    `constant` marks a name that is a value (`pi`), not a function. `pure` is false where calling
    has an effect or draws random numbers. `method` says whether `x.name(...)` works too.
    """

    __slots__ = (
        "name",
        "positional",
        "required",
        "keywords",
        "variadic",
        "aliases",
        "constant",
        "pure",
        "method",
    )
    name: str
    positional: tuple[str, ...]
    required: int
    keywords: tuple[str, ...]
    variadic: bool
    aliases: dict[str, str]
    constant: bool
    pure: bool
    method: bool


class Signatures(Protocol):
    """The built-in names, handed to the checker and the lowering by `program`."""

    def __contains__(self, name: object) -> bool: ...
    def __getitem__(self, name: str) -> Signature: ...
    def names(self) -> list[str]: ...

    def attributes(self) -> frozenset[str]:
        """Attribute and method names of tensors, lists, graph nodes that are not built-in
        functions (`grad`, `shape`, `backward`, `append`, ...).
        """
        ...


class Slot(Record):
    """The value in a slot, read at `span`."""

    __slots__ = ("index", "span")
    _ignored = frozenset({"span"})
    index: int
    span: Span


class Const(Record):
    """A number, string, bool, None or Ellipsis."""

    __slots__ = ("value", "span")
    _ignored = frozenset({"span"})
    value: object
    span: Span


class Builtin(Record):
    """A built-in function as a value (`map = relu`) or a built-in constant (`pi`)."""

    __slots__ = ("name", "span")
    _ignored = frozenset({"span"})
    name: str
    span: Span


Operand: TypeAlias = Slot | Const | Builtin


class Instruction(Record):
    """Base of the instructions; `span` is the program text that asks for it."""

    __slots__ = ("span",)
    _ignored = frozenset({"span"})
    span: Span


class Copy(Instruction):
    """target = value."""

    __slots__ = ("target", "value")
    target: int
    value: Operand


class Apply(Instruction):
    """target = the built-in `op` of the arguments. Operators are applied by their op's name
    (`add`, `pow`, `getitem`, `not`, ...), and so are methods that are built-ins (`x.sum()`).
    """

    __slots__ = ("target", "op", "args", "keywords")
    target: int
    op: str
    args: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...]


class Inplace(Instruction):
    """target = receiver updated in place by the op `op` with `value` (`x += e`): a tensor is
    changed, any other value replaced, as in Python.
    """

    __slots__ = ("target", "op", "receiver", "value")
    target: int
    op: str
    receiver: Operand
    value: Operand


class Call(Instruction):
    """target = function(args), where function is a value of the program."""

    __slots__ = ("target", "function", "args", "keywords")
    target: int
    function: Operand
    args: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...]


class Method(Instruction):
    """target = receiver.name(args), a method that is no built-in function (`x.backward()`)."""

    __slots__ = ("target", "receiver", "name", "args", "keywords")
    target: int
    receiver: Operand
    name: str
    args: tuple[Operand, ...]
    keywords: tuple[tuple[str, Operand], ...]


class GetAttribute(Instruction):
    """target = receiver.name."""

    __slots__ = ("target", "receiver", "name")
    target: int
    receiver: Operand
    name: str


class SetAttribute(Instruction):
    """receiver.name = value."""

    __slots__ = ("receiver", "name", "value")
    receiver: Operand
    name: str
    value: Operand


class SetItem(Instruction):
    """receiver[index] = value, in place."""

    __slots__ = ("receiver", "index", "value")
    receiver: Operand
    index: Operand
    value: Operand


class Build(Instruction):
    """target = a new `kind`: "list", "tuple", "slice" (start, stop, step) of the items."""

    __slots__ = ("target", "kind", "items")
    target: int
    kind: str
    items: tuple[Operand, ...]


class Format(Instruction):
    """target = the text of `value` in an f-string, by conversion ("", "r", "s", "a") and spec."""

    __slots__ = ("target", "value", "conversion", "spec")
    target: int
    value: Operand
    conversion: str
    spec: Operand


class Unpack(Instruction):
    """targets = the items of value: as many as there are targets."""

    __slots__ = ("targets", "value")
    targets: tuple[int, ...]
    value: Operand


class Branch(Instruction):
    """if test: then, else orelse. The test must be one bool, number or one-element tensor."""

    __slots__ = ("test", "then", "orelse")
    test: Operand
    then: list[Instruction]
    orelse: list[Instruction]


class While(Instruction):
    """Evaluate `condition`, leave when `test` is false, run body, again."""

    __slots__ = ("condition", "test", "body")
    condition: list[Instruction]
    test: Operand
    body: list[Instruction]


class For(Instruction):
    """For every item of `iterable`: put it in `target` and run body."""

    __slots__ = ("target", "iterable", "body")
    target: int
    iterable: Operand
    body: list[Instruction]


class Break(Instruction):
    __slots__ = ()


class Continue(Instruction):
    __slots__ = ()


class Return(Instruction):
    __slots__ = ("value",)
    value: Operand


class Assert(Instruction):
    """Fail with the message (evaluated by `body`, only then) when the test is false."""

    __slots__ = ("test", "body", "message")
    test: Operand
    body: list[Instruction]
    message: Operand | None


class Mode(Instruction):
    """Run body with recording off (`no_grad`) or on (`enable_grad`)."""

    __slots__ = ("mode", "body")
    mode: str
    body: list[Instruction]


class Parameter(Record):
    """A function's parameter; `default` is evaluated where the function is defined."""

    __slots__ = ("name", "slot", "default")
    name: str
    slot: int
    default: Operand | None


class Function(Record):
    """A function's code. `name` is "<lambda>" for a lambda and "<program>" for the main one."""

    __slots__ = ("name", "parameters", "body", "span")
    name: str
    parameters: tuple[Parameter, ...]
    body: list[Instruction]
    span: Span


class Define(Instruction):
    """target = the function, closed over the slots around it."""

    __slots__ = ("target", "function")
    target: int
    function: Function


class DefineRule(Instruction):
    """target = an own differentiable function made of methods: forward, backward, jvp."""

    __slots__ = ("target", "name", "methods")
    target: int
    name: str
    methods: tuple[Function, ...]


class Input(Instruction):
    """target = the value given from outside under `name`, else the default computed by `body`.

    `kind` is "input" or "param" for a declaration, "free" for a name that is read and never
    assigned, "constant" for a top-level name assigned once to a constant expression. `type` is
    ("float"|"int"|"bool", sizes or None) or None; a size is an int, a name or Ellipsis. Names of
    sizes are slots too: `sizes` gives each its slot, which the binding fills.
    """

    __slots__ = ("target", "name", "kind", "type", "sizes", "body", "default")
    target: int
    name: str
    kind: str
    type: tuple[str, tuple[object, ...] | None] | None
    sizes: tuple[tuple[str, int], ...]
    body: list[Instruction]
    default: Operand | None


class Watch(Instruction):
    """The slot holds the one value of the top-level `name`: a derivative with respect to `name`
    is taken here.
    """

    __slots__ = ("slot", "name")
    slot: int
    name: str


class Program(Record):
    """A whole program. `names` gives top-level names their slots, in order of first assignment;
    `variables` gives every named slot its name; `inputs` are the `Input` instructions anywhere in
    main; `result` is the value of a last expression, with `output` its name when it is a bare
    name, else "result"; `watchable` are the names of the `Watch` instructions.
    """

    __slots__ = ("source", "main", "names", "variables", "inputs", "result", "output", "watchable")
    source: Source
    main: Function
    names: dict[str, int]
    variables: dict[int, str]
    inputs: tuple[Input, ...]
    result: Operand | None
    output: str
    watchable: frozenset[str]
