"""The form of an op's table entry.

Lookup, methods, arity checks, docs and tests derive from an op's entry. Each family of entries is
one file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from gradcli.engine.ops import rules
from gradcli.engine.ops.catalog import Entry
from gradcli.engine.ops.extent import FEW, check_result
from gradcli.engine.ops.promotion import by_rule, in_one_precision, promoted, usual, wrapped
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, SCALARS, USUAL, Data, dtype_of, np, plain
from gradcli.engine.values.entry import (
    Derivatives,
    Function,
    Group,
    Host,
    Layout,
    Memory,
    Names,
    Static,
    Tape,
    Value,
)
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.engine.ops.direct import Direct
    from gradcli.engine.ops.statics import Statics

_IN_ONE = USUAL | {"f"}
_OPERANDS = ("input", "other")

REQUIRED = object()
"""Default of a parameter that must be given."""


class Sample(Record):
    """Arguments for the tests: tensors as nested lists or numbers, static parameters by name."""

    __slots__ = ("args", "params")
    args: tuple[Any, ...]
    params: dict[str, Any]

    @property
    def id(self) -> str:
        shapes = "-".join(
            "x".join(map(str, np.shape(a))) or "0d" for a in self.args if a is not None
        )
        return "-".join([shapes, *(f"{k}={v}" for k, v in self.params.items())])


class Known(Record):
    """Exact gradients at a kink, tie or edge, both modes; `cotangent` is None for ones."""

    __slots__ = ("args", "params", "grad", "cotangent")
    args: tuple[Any, ...]
    params: dict[str, Any]
    grad: tuple[Any, ...]
    cotangent: Any


class Bad(Record):
    """Arguments that must be refused with a message that holds `says`; a tuple of ints as an
    argument stands for ones of that shape.
    """

    __slots__ = ("args", "params", "says")
    args: tuple[Any, ...]
    params: dict[str, Any]
    says: str


def sample(*args: Any, **params: Any) -> Sample:
    """Sample arguments of an op."""
    return Sample(args, params)


def known(*args: Any, grad: tuple[Any, ...], cotangent: Any = None, **params: Any) -> Known:
    """A point at which the gradient is known exactly."""
    return Known(args, params, grad, cotangent)


def bad(*args: Any, says: str, **params: Any) -> Bad:
    """Arguments that an op must refuse."""
    return Bad(args, params, says)


def none() -> Sequence[Any]:
    """No samples."""
    return ()


class Page(Group):
    """The text of the op's page and the samples of its tests: asked by docs, pictures and tests.

    Fields:
        doc: meaning with formula.
        source: where the formula is from.
        infix: the operator that stands for the op, and how tightly it binds; before its operand
            if there is only one.
        said: how a formula says the op, of the symbols of its arguments: a text or one of them;
            None: as a call.
        samples, known, bad: functions that give arguments for the tests.
    """

    doc: str
    source: str = "definition"
    infix: tuple[str, int] | None = None
    said: Function | None = None
    samples: Callable[[], Sequence[Sample]] = none
    known: Callable[[], Sequence[Known]] = none
    bad: Callable[[], Sequence[Bad]] = none


_GROUP_OF: dict[str, type[Group]] = {
    field: group
    for group in (Value, Derivatives, Tape, Static, Memory, Host, Page)
    for field in group.__annotations__
}


_FILLED = (
    *("args", "optional", "variadic", "params", "order", "method", "constant"),
    *("differentiable", "elementwise", "defaults"),
    *("value", "derivatives", "tape", "statics", "memory", "host", "page"),
)
"""The fields of an op that are filled when one of them is first read."""


class Op(Entry):
    """One operation: its table entry, callable on numbers, arrays and tensors.

    An entry gives all fields as keywords of a factory below; those that are not listed here go to
    the group that has them.

    Fields:
        name, aliases: the built-in's names.
        args: names of the arguments that are tensors or numbers, PyTorch's; "weight=None" may be
            left out, "*tensors" is any number of them (given as one list, too). An entry that names
            none has one, "input"; hosts and constants then have none.
        params: static parameters by name with their defaults; a first "*size" takes several.
        order: the names of arguments and parameters as they stand in a call by place, if the
            arguments do not come first: `scatter(input, dim, index, src)`.
        method: true if it can be called as a method; ops of `internal` cannot.
        constant: the value of a built-in name that is no function.
        defaults: the parameters that may be left out, without the star of a first "*size".
        differentiable: true if it has derivative rules.
        elementwise: true if a result has the broadcast shape of the arguments. An op without a
            shape rule that has no value on numbers either has a shape that depends on the values.
        value, derivatives, tape, statics, memory, host, page: the groups.
    """

    __slots__ = ("name", "aliases", "_direct", "_fields", *_FILLED)

    def __init__(self, name: str, *, aliases: Sequence[str] = (), **fields: Any) -> None:
        self.name = name
        self.aliases = tuple(aliases)
        self._fields = fields
        self._direct: Direct | None = None
        self.__class__ = _Unfilled

    def _fill(
        self,
        *,
        args: Sequence[str] = (),
        params: Mapping[str, Any] | None = None,
        order: Sequence[str] = (),
        method: bool = True,
        constant: Any = REQUIRED,
        saves: Names = (),
        guards: Names | None = None,
        layout: Layout | list[Layout] | None = None,
        **fields: Any,
    ) -> None:
        given: dict[type[Group], dict[str, Any]] = defaultdict(dict, {Static: {"dtype": promoted}})
        for field, value in fields.items():
            given[_GROUP_OF[field]][field] = value
        self.args = tuple(a.removesuffix("=None").removeprefix("*") for a in args)
        self.optional = sum(a.endswith("=None") for a in args)
        self.variadic = any(a.startswith("*") for a in args)
        self.params = dict(params or {})
        self.order = tuple(order)
        self.method = method
        self.constant = constant
        self.value = Value(given[Value])
        self.statics = Static(given[Static])
        self.host = Host(given[Host])
        self.page = Page(given[Page])
        is_composite = self.value.body is not None
        results = self.statics.fields
        self.tape = Tape(given[Tape], self.args, results, saves, guards, is_composite)
        self.derivatives = Derivatives(
            given[Derivatives], any(self.tape.saves) or self.tape.saves_out
        )
        partials = self.derivatives.partials
        self.differentiable = partials is not None or self.derivatives.vjp is not None
        self.elementwise = self.statics.shape is None and (
            self.value.number is not None or partials is not None
        )
        self.memory = Memory(given[Memory], layout, is_composite, self.elementwise)
        self.defaults = {
            name.removeprefix("*"): value
            for name, value in self.params.items()
            if value is not REQUIRED
        }

    @property
    def usage(self) -> str:
        """The call as text: `sum(input, dim=None, keepdim=False)`."""
        if self.constant is not REQUIRED:
            return self.name
        required = len(self.args) - self.optional
        words = [f"*{a}" if self.variadic else a for a in self.args[:required]]
        words += [f"{a}=None" for a in self.args[required:]]
        if self.variadic and len(self.args) > 1:
            words = [*self.args[:-1], f"*{self.args[-1]}"]
        for name, default in self.params.items():
            bare = default is REQUIRED or name.startswith("*")
            words.append(name if bare else f"{name}={default!r}")
        if self.host.any_name:
            words.append("**named")
        if self.order:
            words.sort(key=lambda word: self.order.index(word.partition("=")[0]))
        return f"{self.name}({', '.join(words)})"

    def node_name(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> str:
        """PyTorch's name of the node that this op records."""
        return self._node_text(args, params).partition("(")[0]

    def node_inputs(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> Sequence[int]:
        """The numbers of the arguments that are inputs of PyTorch's node."""
        _, named, inputs = self._node_text(args, params).partition("(")
        if named:
            return [self.args.index(name) for name in inputs.rstrip(")").split(", ")]
        rules = self.derivatives.partials or self.derivatives.vjp
        if rules is None or self.variadic:
            return range(len(args))
        return [i for i, rule in enumerate(rules) if rule is not None]

    def saves_for(
        self, connected: Sequence[bool], args: tuple[Any, ...], params: Mapping[str, Any]
    ) -> bool:
        """True if PyTorch or gradcli saves something of the call for the rules of the connected
        arguments. A Python number counts only if it is an input of PyTorch's node.
        """
        if self.tape.holds is not None and self.tape.holds(**params):
            return True
        if self.variadic:
            return any(self.tape.names)
        named: set[str] = set()
        for names, wanted in zip(self.tape.names, connected, strict=False):
            if wanted:
                named |= names
        inputs = self.node_inputs(args, params)
        return any(
            name not in self.args
            or type(args[i := self.args.index(name)]) not in SCALARS
            or i in inputs
            for name in named
        )

    def _node_text(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> str:
        if callable(self.tape.node):
            return self.tape.node(args, params)
        if self.tape.node is not None:
            return self.tape.node
        return "".join(word.title() for word in self.name.split("_")) + "Backward0"

    def evaluate(self, args: Sequence[Data], params: Mapping[str, Any]) -> Any:
        """Plain value on plain data; a tuple for several outputs."""
        number = self.value.number
        if number is not None and SCALARS.issuperset(map(type, args)):
            return number(*args, **params)
        return self.on_arrays(args, params)

    def evaluate_on_tensors(
        self, args: Sequence[Any], data: Sequence[Data], params: Mapping[str, Any]
    ) -> Any:
        """Plain value where a tensor is among the arguments, whose plain data is `data`. Python's
        numbers give way to a tensor's dtype, and what they would give is another where a tensor of
        ints or bools keeps its dtype.
        """
        if self.value.number is not None and SCALARS.issuperset(map(type, data)):
            out = self.value.number(*data, **params)
            kinds = set(map(type, data))
            if type(out) is float and float in kinds and "dtype" not in params:
                return out
            same = dtype_of(out) == cast(Function, self.statics.dtype)(*args, **params)
            if same and (type(out) is bool or float in kinds or int in kinds):
                return out
            data = [a if a is None else np.asarray(a) for a in data]
        else:
            for d in data:
                if type(d) not in SCALARS and d.dtype.char not in USUAL:
                    return self._in_precisions(args, data, params)
        return self.on_arrays(data, params)

    def _in_precisions(
        self, args: Sequence[Any], data: Sequence[Data], params: Mapping[str, Any]
    ) -> Any:
        """The plain value if NumPy would compute in another precision than PyTorch."""
        if self.memory.view:
            return self.on_arrays(data, params)
        if all(type(d) in SCALARS or d.dtype.char in _IN_ONE for d in data):
            return self.on_arrays(in_one_precision(self.statics.dtype, args, params, data), params)
        rule = self.statics.dtype
        if self.args == _OPERANDS:
            data = wrapped(rule, args, params, data)
        elif "value" in self.args and type(x := args[self.args.index("value")]) in NUMBERS:
            from gradcli.engine.values.conversion import check_written

            check_written(x, dtype_of(args[0]))
        return by_rule(rule, args, params, self.on_arrays(usual(rule, args, params, data), params))

    def on_arrays(self, args: Sequence[Data], params: Mapping[str, Any]) -> Any:
        """Plain value on arrays and numbers."""
        assert self.value.array is not None
        elements, last, shape = 1, None, self.statics.shape
        for a in args:
            if type(a) not in SCALARS and (shape is not None or a.shape != last):
                elements *= a.size
                last = a.shape
        if elements > FEW:  # those of arguments of different shapes multiplied
            check_result(self, args, params)
        out = self.value.array(*args, **params)
        return tuple(map(plain, out)) if type(out) is tuple else plain(out)

    pull = rules.pull
    push = rules.push
    moving = rules.moving
    reaching = rules.reaching
    idle = rules.idle

    def __call__(self, *args: Any, **params: Any) -> Any:
        """The op on plain data and lists, or done by the first argument that is a carrier: a tensor
        records it.

        This is how rules and tests call it: tensor arguments by place, parameters by name.
        """
        if self.value.body is not None:
            return self._composed(args, params)
        for first in args:
            if type(first) not in SCALARS:
                break
        else:
            return self.evaluate(args, params)
        if isinstance(first, Carrier):
            return first.apply(self, args, params)
        if not params and (out := (self._direct or self.direct)(*args)) is not None:
            return out
        for a in args:
            if isinstance(a, Carrier):
                return a.apply(self, args, params)
        return self.on_arrays([np.asarray(a) if type(a) is list else a for a in args], params)

    @property
    def direct(self) -> Direct:
        """A function that computes the value on arrays of float64 of one shape by one call; it
        returns None for others.
        """
        if self._direct is None:
            from gradcli.engine.ops.direct import direct

            self._direct = direct(self)
        return self._direct

    def _composed(self, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        assert self.value.body is not None
        params = {**self.defaults, **params}
        for a in args:
            if isinstance(a, Carrier):
                return a.apply(self, args, params)
        return self.value.body(*args, **params)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


class _Unfilled(Op):
    """An op whose fields are filled when one is first read: a run uses few of a family's ops. From
    then on it is a plain `Op`, as a class with `__getattr__` takes three times as long to read.
    """

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in _FILLED:
                raise AttributeError(name)
            self._fill(**self._fields)
            self.__class__ = Op
            return getattr(self, name)


_ONE_ARGUMENT = ("input",)


def op(name: str, *, args: Sequence[str] = _ONE_ARGUMENT, **fields: Any) -> Op:
    """An op that writes its rules for both modes."""
    return Op(name, args=args, **fields)


TRANSPOSED = "a linear map; the cotangent goes back by its transpose"
"""The source of a rule by which a linear op is differentiated."""


def linear(name: str, *, args: Sequence[str] = _ONE_ARGUMENT, **fields: Any) -> Op:
    """An op that is linear in its first argument and constant in the others: the tangent of its
    result is its value at the tangent.
    """

    def push(dot: Any, out: Any, x: Any, *others: Any, **params: Any) -> Any:
        return made(dot, *others, **params)

    fields.setdefault("source", TRANSPOSED)
    made = Op(name, args=args, jvp=(push, *(None,) * (len(args) - 1)), **fields)
    return made


def elementwise(name: str, *, args: Sequence[str] = _ONE_ARGUMENT, **fields: Any) -> Op:
    """An op that works on each element by itself: its partials give both modes."""
    fields.setdefault("inplace", True)
    return Op(name, args=args, **fields)


def composite(
    name: str, body: Callable[..., Any], *, args: Sequence[str] = _ONE_ARGUMENT, **fields: Any
) -> Op:
    """An op made of other ops: `body(*args, **params)` calls them, so its derivatives are theirs.

    The arguments are numbers, plain arrays or tensors (a program's lists have become tensors).
    """
    return Op(name, body=body, args=args, **fields)


def host(name: str, call: Callable[..., Any], **fields: Any) -> Op:
    """A built-in that works on the program's own values: `call(session, *args, **params)` gets
    them as they are (numbers, strings, lists, tensors, functions) and returns one of them.
    """
    fields.setdefault("method", False)
    fields.setdefault("sees", not fields.get("by"))
    fields.setdefault("keeps", "transform" in fields)
    fields.setdefault("infer", _made_of_given)
    return Op(name, call=call, **fields)


def torch_host(name: str, call: Callable[..., Any], **fields: Any) -> Op:
    """A host by PyTorch's name for it, whose result does not depend on recorded values."""
    return host(name, call, sees=False, source=f"PyTorch: {name}", **fields)


def python_host(name: str, call: Callable[..., Any], **fields: Any) -> Op:
    """A host by Python's name for it, whose result does not depend on recorded values unless it
    says so.
    """
    fields.setdefault("sees", False)
    return host(name, call, source="Python", **fields)


def _made_of_given(known: Statics, *args: Any, **params: Any) -> Any:
    """A value that depends on the arguments and is otherwise unknown."""
    return known.unknown(*args, *params.values())


def constant(name: str, value: Any, doc: str, **fields: Any) -> Op:
    """A built-in name that is a value."""
    return Op(name, constant=value, doc=doc, method=False, **fields)
