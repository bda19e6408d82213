"""The ops program, which the grammar makes and the engine executes.

A program is a tree of functions; a function is a list of structured instructions over numbered
slots. Slots are numbered once for the whole program, so a function that uses a slot of an outer one
simply names it (a closure). Every instruction writes its result to one slot and takes slots or
constants, never another instruction: deep expressions become long lists, not deep trees.

The type of a field is its role: operands are read, targets are written, bodies are executed.
`visit` derives all that it knows about a record from these types.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any, TypeAlias

from gradcli.record import Record
from gradcli.source import Source, Span


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


class Imported(Record):
    """The member of the library with a full path, such as `torch.nn.Linear`."""

    __slots__ = ("path", "span")
    _ignored = frozenset({"span"})
    path: str
    span: Span


ANYTHING = "silent.anything"
"""The path of the value that stands for everything in libraries that only show things."""


Operand: TypeAlias = Slot | Const | Builtin | Imported

Target: TypeAlias = int
"""The number of a slot that is written."""

Named: TypeAlias = tuple[tuple[str, Operand], ...]
"""Operands by name."""


class Instruction(Record):
    """Base of the instructions; `span` is the program text that it comes from."""

    __slots__ = ("span",)
    _ignored = frozenset({"span"})
    span: Span


Body: TypeAlias = list[Instruction]
"""Instructions that are done one after the other."""


class Copy(Instruction):
    """target = value."""

    __slots__ = ("target", "value")
    target: Target
    value: Operand


class Operator(Instruction):
    """target = the result of an operator, by its sign: "+", "-" (with one operand or two), "[]",
    "not", "in", "==" and so on. It differs from the built-in of its name: `+` joins text. "+[]" and
    "*[]" are `+` and `*` with an operand written as a list: they join and repeat lists.
    """

    __slots__ = ("target", "operator", "args")
    target: Target
    operator: str
    args: tuple[Operand, ...]


class Augment(Instruction):
    """target = receiver updated by an operator with `value` (`x += e`): a tensor is changed in
    place, any other value replaced, as in Python.
    """

    __slots__ = ("target", "operator", "receiver", "value")
    target: Target
    operator: str
    receiver: Operand
    value: Operand


class Apply(Instruction):
    """target = the built-in `op` (`sum(x)`, `x.sum()`). Its arguments are bound to parameters, in
    the order of evaluation; aliases are resolved and defaults left out.
    """

    __slots__ = ("target", "op", "arguments")
    target: Target
    op: str
    arguments: Named


class Inplace(Instruction):
    """target = the first argument of the built-in `op`, changed in place by it (`x.add_(y)`). The
    arguments are bound as those of `Apply`.
    """

    __slots__ = ("target", "op", "arguments")
    target: Target
    op: str
    arguments: Named


class CallBuiltin(Instruction):
    """target = the built-in called with arguments as written: it takes any number of them, or they
    fit no signature, which a run reports.
    """

    __slots__ = ("target", "name", "args", "keywords")
    target: Target
    name: str
    args: tuple[Operand, ...]
    keywords: Named


class Call(Instruction):
    """target = function(args), where function is a value of the program."""

    __slots__ = ("target", "function", "args", "keywords")
    target: Target
    function: Operand
    args: tuple[Operand, ...]
    keywords: Named


class Method(Instruction):
    """target = receiver.name(args), with a method that is not a built-in (`x.backward()`)."""

    __slots__ = ("target", "receiver", "name", "args", "keywords")
    target: Target
    receiver: Operand
    name: str
    args: tuple[Operand, ...]
    keywords: Named


class GetAttribute(Instruction):
    """target = receiver.name."""

    __slots__ = ("target", "receiver", "name")
    target: Target
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


class Append(Instruction):
    """Put a further item at the end of a list that a display or comprehension makes."""

    __slots__ = ("receiver", "value")
    receiver: Operand
    value: Operand


class Extend(Instruction):
    """Put all items of a value at the end of a list that a display makes."""

    __slots__ = ("receiver", "value")
    receiver: Operand
    value: Operand


class Delete(Instruction):
    """`del name`: the slot has no value any more."""

    __slots__ = ("slot",)
    slot: Slot


class DeleteItem(Instruction):
    """`del receiver[index]`."""

    __slots__ = ("receiver", "index")
    receiver: Operand
    index: Operand


class DeleteAttribute(Instruction):
    """`del receiver.name`."""

    __slots__ = ("receiver", "name")
    receiver: Operand
    name: str


class SpreadCall(Instruction):
    """target = function(*args, **keywords), with a list and an optional dictionary."""

    __slots__ = ("target", "function", "args", "keywords")
    target: Target
    function: Operand
    args: Operand
    keywords: Operand | None


class SpreadMethod(Instruction):
    """target = receiver.name(*args, **keywords), where the method is not a built-in function."""

    __slots__ = ("target", "receiver", "name", "args", "keywords")
    target: Target
    receiver: Operand
    name: str
    args: Operand
    keywords: Operand | None


class Build(Instruction):
    """target = a new `kind`: "list", "tuple", "slice" (start, stop, step) of the items; "dict",
    which has none.
    """

    __slots__ = ("target", "kind", "items")
    target: Target
    kind: str
    items: tuple[Operand, ...]


class Format(Instruction):
    """target = the text of `value` in an f-string, by conversion ("", "r", "s", "a") and spec."""

    __slots__ = ("target", "value", "conversion", "spec")
    target: Target
    value: Operand
    conversion: str
    spec: Operand


class Unpack(Instruction):
    """targets = the items of value, as many as there are targets. The target number `starred`, if
    any, gets the list of the remaining items.
    """

    __slots__ = ("targets", "value", "starred")
    targets: tuple[Target, ...]
    value: Operand
    starred: int | None


class Branch(Instruction):
    """if test: then, else orelse. The test must be one bool, number or one-element tensor."""

    __slots__ = ("test", "then", "orelse")
    test: Operand
    then: Body
    orelse: Body


class Choice(Instruction):
    """target = the value of `then` if the test is true, else that of `orelse`. `kind` is its form:
    "and", "or", "chain" (`a < b < c`), "if" (`a if c else b`). Each block ends in its only `Yield`.
    """

    __slots__ = ("target", "kind", "test", "then", "orelse")
    target: Target
    kind: str
    test: Operand
    then: Body
    orelse: Body


class Yield(Instruction):
    """The value of a block of a choice."""

    __slots__ = ("value",)
    value: Operand


class Emit(Instruction):
    """Yield an item to the caller of a generator; target = the value that the caller sends, or
    None. A call of a function with an `Emit` makes a generator.
    """

    __slots__ = ("target", "value")
    target: Target
    value: Operand


class EmitAll(Instruction):
    """Yield all items of a value; target = the return value of a generator."""

    __slots__ = ("target", "value")
    target: Target
    value: Operand


class While(Instruction):
    """Evaluate `condition`; if `test` is true, run body and repeat."""

    __slots__ = ("condition", "test", "body")
    condition: Body
    test: Operand
    body: Body


class For(Instruction):
    """For every item of `iterable`: put it in `target` and run body."""

    __slots__ = ("target", "iterable", "body")
    target: Target
    iterable: Operand
    body: Body


class Break(Instruction):
    __slots__ = ()


class Continue(Instruction):
    __slots__ = ()


class Return(Instruction):
    __slots__ = ("value",)
    value: Operand


class Assert(Instruction):
    """If the test is false, fail with the message, which `body` evaluates only then."""

    __slots__ = ("test", "body", "message")
    test: Operand
    body: Body
    message: Operand | None


class Mode(Instruction):
    """Run body with recording off ("no_grad"), on ("enable_grad"), in inference mode
    ("inference_mode") or outside of it ("normal_mode"), or unchanged until the body changes it
    ("kept"); the mode is restored afterwards.
    """

    __slots__ = ("mode", "body")
    mode: str
    body: Body


class FrameMode(Mode):
    """The mode that a decorator gives a generator, around its body: it holds while the generator
    runs, and not while its caller does.
    """

    __slots__ = ()


class Handler(Record):
    """The handler of exceptions of a `type`, which `test` evaluates; None means any."""

    __slots__ = ("test", "type", "target", "body", "span")
    _ignored = frozenset({"span"})
    test: Body
    type: Operand | None
    target: Target
    body: Body
    span: Span


class Try(Instruction):
    """Run body, then the first handler that fits an exception in it, or `orelse` if there is none;
    `last` runs in any case.
    """

    __slots__ = ("body", "handlers", "orelse", "last")
    body: Body
    handlers: tuple[Handler, ...]
    orelse: Body
    last: Body


class Raise(Instruction):
    """Raise an exception, or one of a class; None re-raises the one that is being handled."""

    __slots__ = ("value",)
    value: Operand | None


class Parameter(Record):
    """A function's parameter; `default` is evaluated where the function is defined. `kind` is ""
    for one given by position or name, "named" for one given by name only, "*" for the tuple of all
    further positional arguments, "**" for the dictionary of all other keyword arguments.
    """

    __slots__ = ("name", "slot", "default", "span", "kind")
    _ignored = frozenset({"span"})
    name: str
    slot: Target
    default: Operand | None
    span: Span
    kind: str


class Function(Record):
    """A function's code. `name` is "<lambda>" for a lambda and "<program>" for the main one.
    `locals` are its own slots, `captures` those of enclosing functions that it, or a function in
    it, reads or (by `global` and `nonlocal`) writes.
    """

    __slots__ = ("name", "parameters", "body", "locals", "captures", "span")
    _ignored = frozenset({"span"})
    name: str
    parameters: tuple[Parameter, ...]
    body: Body
    locals: tuple[int, ...]
    captures: tuple[int, ...]
    span: Span


class DocumentedFunction(Function):
    """A function whose body begins with a text, its `__doc__`."""

    __slots__ = ("doc",)
    doc: str


class Define(Instruction):
    """target = the function, closed over the enclosing slots."""

    __slots__ = ("target", "function")
    target: Target
    function: Function


class DefineRule(Instruction):
    """target = an own differentiable function with its methods (forward, backward, jvp), its
    attributes, and those of its bases. With `once`, the result of backward must not be
    differentiated.
    """

    __slots__ = ("target", "name", "bases", "methods", "attributes", "once")
    target: Target
    name: str
    bases: tuple[Operand, ...]
    methods: tuple[Function, ...]
    attributes: Named
    once: bool


class DefineClass(Instruction):
    """target = a class with these bases, and methods and attributes by name."""

    __slots__ = ("target", "name", "bases", "members")
    target: Target
    name: str
    bases: tuple[Operand, ...]
    members: Named


class Super(Instruction):
    """target = `super()`: the receiver with the attributes of the classes after `owner`."""

    __slots__ = ("target", "owner", "receiver")
    target: Target
    owner: Operand
    receiver: Operand


class Input(Instruction):
    """target = the value given from outside under `name`, else the default computed by `body`.

    `kind` is "input" or "param" for a declaration, "free" for a name that is read and never
    assigned, "constant" for a top-level name assigned once to a constant expression. `type` is
    ("float"|"int"|"bool", sizes or None) or None; a size is an int, a name or Ellipsis. Names of
    sizes are slots too: `sizes` gives each its slot, which the binding fills. One that is not
    `needed` is read only in functions that nobody names: without a value its slot has none.
    `bounds` are the lower and the upper bound, each a number or lists of them, or None.
    """

    __slots__ = ("target", "name", "kind", "type", "sizes", "body", "default", "needed", "bounds")
    target: Target
    name: str
    kind: str
    type: tuple[str, tuple[object, ...] | None] | None
    sizes: tuple[tuple[str, Target], ...]
    body: Body
    default: Operand | None
    needed: bool
    bounds: tuple[Any, Any] | None

    def is_missing(self, given: Container[str]) -> bool:
        """True if a run needs a value that is not given."""
        return self.needed and self.default is None and self.name not in given


class Watch(Instruction):
    """The slot has the only value of the top-level `name`; derivatives by `name` are taken here."""

    __slots__ = ("slot", "name")
    slot: Target
    name: str


class Program(Record):
    """A whole program.

    Fields:
        names: the slots of top-level names, in order of first assignment.
        variables: the name of every named slot.
        inputs: the `Input` instructions anywhere in main.
        result: the value of a last expression.
        output: its name if it is a bare name, else "result".
        watchable: the names of the `Watch` instructions.
        library: whose arrays print as they do there: "torch", "numpy" or "jax".
    """

    __slots__ = (
        "source",
        "main",
        "names",
        "variables",
        "inputs",
        "result",
        "output",
        "watchable",
        "library",
    )
    source: Source
    main: Function
    names: dict[str, int]
    variables: dict[int, str]
    inputs: tuple[Input, ...]
    result: Operand | None
    output: str
    watchable: frozenset[str]
    library: str
