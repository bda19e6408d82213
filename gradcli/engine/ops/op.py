"""The form of an op's table entry.

All about an op stands in its entry; lookup, methods, arity checks, docs and tests derive from it.
Entries live in one file a family.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gradcli.engine.ops import rules
from gradcli.engine.ops.catalog import Entry, ops
from gradcli.engine.ops.extent import FEW, check_result
from gradcli.engine.ops.promotion import by_rule, in_one_precision, promoted, usual
from gradcli.engine.values import memory
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import SCALARS, USUAL, Data, dtype_of, np, plain
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.engine.ops.cotangents import Cotangents
    from gradcli.engine.ops.direct import Direct

Rule: TypeAlias = Callable[..., Any]
Layout: TypeAlias = Callable[[Data, Sequence[Data]], Data]
Partial: TypeAlias = Callable[..., Any] | float

_IN_ONE = USUAL | {"f"}

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


class Op(Entry):
    """One operation: its table entry, callable on numbers, arrays and tensors.

    Fields:
        name, aliases: the built-in's names.
        args: names of the arguments that are tensors or numbers, PyTorch's; "weight=None" may be
            left out, "*tensors" is any number of them (given as one list, too).
        params: static parameters by name with their defaults; a first "*size" takes several.
        order: the names of arguments and parameters as they stand in a call by place, where the
            arguments do not come first: `scatter(input, dim, index, src)`.
        doc, source: meaning with formula, and where the formula is from.
        number: value on Python numbers, None where there is none without NumPy.
        array: value on plain data, with the static parameters by name; a tuple for several results.
        fields: names of the results where there are several ("values", "indices").
        shape: shapes of the arguments (and parameters) to the shape of the result, or to a list of
            them where there are several; None: broadcast of the arguments.
        dtype: rule for the dtype of the result, see `promotion`; a list where there are several
            results, of a rule for each or of one for all.
        batch: the value of a linear op for several directions in one piece: arguments and result
            have one more axis in front, of size 1 where an argument is one for all. None of it
            where it has no way for these arguments.
        partials: one per argument, `partial(out, *args, **params)` or a constant: element-wise ops.
        vjp: one per argument, `rule(g, out, *args, **params)`; None: not differentiable there.
            With "*tensors" the one rule is `rule(g, out, i, *args, **params)` for argument i.
        jvp: one per argument, `rule(dot, out, *args, **params)`; likewise with i.
        saves: which of the arguments' values the rules read, and "out", or names of `fields` where
            they read no others of several results; shapes are always there.
            A mapping tells it for the rule of each argument, where these differ.
        guards: what PyTorch saves, in the same form, where it is not that: reverse mode refuses to
            go on when it has been changed in place.
        holds: `holds(**params)`, whether PyTorch saves something of the parameters, too, as an
            index with tensors.
        node: PyTorch's name of the recorded node, or a function (args, params) to it. The arguments
            that the node is made of may stand behind it, "MseLossBackward0(input, target)"; else
            they are those that have rules. A composite that has a name is one node.
        chooses: where its partial is zero the argument has no part in the result, as in the larger
            of two: nothing passes there, be the cotangent inf.
        flat: constant between jumps, so that its derivative is zero, or the place of something;
            told by the partials where they are all zero.
        ties: not element-wise, and its derivative is a choice where elements of its argument are
            equal or zero.
        triangle: it reads one triangle of its first argument and takes it to stay symmetric, so
            that its gradient is; or the name of the parameter that asks for that.
        view: the result lies on its first argument's memory wherever it can; without it, on memory
            of its own.
        turned: the op, a view, has a twin `name_` that lets a tensor itself show its memory so:
            PyTorch's name of the node that the twin records, or a function of the parameters to it.
        layout: how the elements of a result on its own memory lie there, see `memory`; a list where
            several results differ. Element-wise ops follow their arguments, others are in order;
            one made of others leaves it to them.
        body: the op made of other ops, see `composite`.
        host: works on the program's own values, see `host`.
        infer: what a host gives for what is known of its arguments, `infer(known, *args, **params)`
            with a `Statics` in the session's place.
        traced: what a host writes down where numbers among its arguments are known only when code
            runs, `traced(code, *args, **params)` with a `Tracing` in the session's place.
        on_items: what it does to the items of a list, tuple or range, `on_items(session, items,
            params, site)`; it gives None where the tensor is meant that they become.
        by_elements: what code does to the elements of tensors of known shape,
            `by_elements(code, *args, **params)` with the `Vectors` of a compiled program.
        of_shapes: `of_shapes(*shapes, **params)`, what gives the value on arrays of float64 of
            these shapes without looking at them, NumPy's own function where that is all; None where
            there is none. A float has the shape ().
        exact: element by element its value and slopes on arrays are those on numbers to the last
            bit, as NumPy's basic arithmetic is; or `exact(*args, **params)` where that hangs on
            them.
        gathers: goes through all of what it gets before it does anything else, so that a list may
            stand for a generator.
        any_name: a host takes arguments by any name, as the dictionary `named`.
        keeps: a host's arguments, or what it gives for them, may be used later on.
        transform: a host makes the derivative of a function: "scalar" of one with a single number
            as its value, "any" of others, too.
        sees: tells by its result or its effect what has been recorded; hosts do, unless they work
            by ops or say that they do not.
        by: names of the ops that a host op does its work by: their derivatives are its own.
        infix: the operator that stands for the op, and how tightly it binds; before its operand
            where there is only one.
        said: how a formula says the op, of the symbols of its arguments: a text or one of them;
            None: as a call.
    """

    __slots__ = (
        "_cotangents",
        "_defaults",
        "_direct",
        "_node",
        "_saved",
        "aliases",
        "any_name",
        "args",
        "array",
        "batch",
        "bad",
        "body",
        "by",
        "by_elements",
        "chooses",
        "constant",
        "doc",
        "dtype",
        "exact",
        "fields",
        "flat",
        "guarded_fields",
        "guarded",
        "guards",
        "guards_out",
        "folds",
        "holds",
        "host",
        "infer",
        "infix",
        "inplace",
        "jvp",
        "gathers",
        "keeps",
        "of_shapes",
        "on_items",
        "known",
        "layouts",
        "method",
        "name",
        "number",
        "optional",
        "order",
        "params",
        "partials",
        "reads",
        "pure",
        "said",
        "samples",
        "saves",
        "saves_out",
        "scales",
        "sees",
        "shape",
        "source",
        "ties",
        "traced",
        "transform",
        "triangle",
        "turned",
        "variadic",
        "view",
        "vjp",
    )

    def __init__(
        self,
        name: str,
        *,
        args: Sequence[str] = (),
        params: Mapping[str, Any] | None = None,
        order: Sequence[str] = (),
        doc: str,
        source: str = "definition",
        aliases: Sequence[str] = (),
        number: Callable[..., Any] | None = None,
        array: Callable[..., Any] | None = None,
        shape: Callable[..., Any] | None = None,
        dtype: Rule | list[Rule] = promoted,
        batch: Callable[..., Any] | None = None,
        partials: Sequence[Partial | None] | None = None,
        vjp: Sequence[Rule | None] | None = None,
        jvp: Sequence[Rule | None] | None = None,
        saves: Sequence[str] | Mapping[str, Sequence[str]] = (),
        guards: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
        holds: Callable[..., bool] | None = None,
        node: str | Callable[..., str] | None = None,
        fields: Sequence[str] = (),
        chooses: bool = False,
        flat: bool = False,
        ties: bool = False,
        triangle: bool | str = False,
        view: bool = False,
        turned: str | Callable[[Mapping[str, Any]], str] | None = None,
        layout: Layout | list[Layout] | None = None,
        method: bool = True,
        inplace: bool = False,
        pure: bool = True,
        sees: bool = False,
        body: Callable[..., Any] | None = None,
        host: Callable[..., Any] | None = None,
        infer: Callable[..., Any] | None = None,
        traced: Callable[..., Any] | None = None,
        by_elements: Callable[..., Any] | None = None,
        of_shapes: Callable[..., Any] | None = None,
        exact: bool | Callable[..., bool] = False,
        keeps: bool = False,
        gathers: bool = False,
        any_name: bool = False,
        on_items: Callable[..., Any] | None = None,
        transform: str | None = None,
        by: Sequence[str] = (),
        infix: tuple[str, int] | None = None,
        said: Callable[..., Any] | None = None,
        constant: Any = REQUIRED,
        samples: Callable[[], Sequence[Sample]] = none,
        known: Callable[[], Sequence[Known]] = none,
        bad: Callable[[], Sequence[Bad]] = none,
    ) -> None:
        self.name = name
        self.aliases = tuple(aliases)
        self.args = tuple(a.removesuffix("=None").removeprefix("*") for a in args)
        self.optional = sum(a.endswith("=None") for a in args)
        self.variadic = any(a.startswith("*") for a in args)
        self.params = dict(params or {})
        self.order = tuple(order)
        self._defaults = {
            name.removeprefix("*"): value
            for name, value in self.params.items()
            if value is not REQUIRED
        }
        self._direct: Direct | None = None
        self._cotangents: dict[tuple[bool, ...], Cotangents] = {}
        self.doc = doc
        self.source = source
        self.number = number
        self.array = array
        self.shape = shape
        self.dtype = dtype
        self.batch = batch
        self.partials = None if partials is None else tuple(partials)
        self.vjp = None if vjp is None else tuple(vjp)
        self.jvp = None if jvp is None else tuple(jvp)
        read_by = self._by_rule(saves)
        self.reads, read = self._rows(read_by), {name for names in read_by for name in names}
        self.saves = tuple(map(any, zip(*self.reads, strict=True)))
        self.saves_out = "out" in read or any(name in read for name in fields)
        guarded_by = read_by if guards is None else self._by_rule(guards)
        kept = {name for names in guarded_by for name in names}
        rows = self._rows(guarded_by)
        self.scales = not chooses and self.differentiable and bool(read)
        self.guards = None if guards is None else rows
        self.guarded = tuple(map(any, zip(*rows, strict=True)))
        self._saved = [{*a, *b} for a, b in zip(read_by, guarded_by, strict=True)]
        self.holds = holds
        self.guarded_fields = tuple(i for i, name in enumerate(fields) if name in kept)
        self.guards_out = "out" in kept or bool(self.guarded_fields)
        self._node = node
        self.folds = body is not None and node is not None
        self.fields = tuple(fields)
        self.chooses = chooses
        self.flat = flat or (bool(self.partials) and all(p == 0.0 for p in self.partials or ()))
        self.ties = ties
        self.triangle = triangle
        self.view = view
        self.turned = turned
        self.method = method
        self.inplace = inplace or turned is not None
        self.pure = pure
        self.sees = sees
        self.body = body
        self.layouts = self._layouts(layout)
        self.host = host
        self.infer = infer
        self.traced = traced
        self.by_elements = by_elements
        self.of_shapes = of_shapes
        self.exact = exact
        self.keeps = keeps
        self.gathers = gathers
        self.any_name = any_name
        self.on_items = on_items
        self.transform = transform
        self.by = tuple(by)
        self.infix = infix
        self.said = said
        self.constant = constant
        self.samples = samples
        self.known = known
        self.bad = bad

    def _by_rule(self, names: Sequence[str] | Mapping[str, Sequence[str]]) -> list[Sequence[str]]:
        """The names for the rule of each argument."""
        by_rule = names if isinstance(names, Mapping) else dict.fromkeys(self.args, names)
        return [by_rule.get(a, ()) for a in self.args]

    def _rows(self, by_rule: Sequence[Sequence[str]]) -> tuple[tuple[bool, ...], ...]:
        """For the rule of each argument which arguments are named."""
        return tuple(tuple(a in names for a in self.args) for names in by_rule)

    def _layouts(self, layout: Layout | list[Layout] | None) -> list[Layout]:
        if layout is None and self.body is not None:
            return []
        if layout is None:
            layout = memory.as_arguments if self.elementwise else memory.in_order
        return layout if isinstance(layout, list) else [layout]

    @property
    def elementwise(self) -> bool:
        """Whether a result has the shape that the arguments broadcast to. An op without a shape
        rule that has no value on numbers either has a shape that hangs on the values.
        """
        return self.shape is None and (self.number is not None or self.partials is not None)

    def is_exact(self, *args: Any, **params: Any) -> bool:
        """Whether its value on arrays is that on their elements, one by one, to the last bit."""
        return self.exact(*args, **params) if callable(self.exact) else self.exact

    @property
    def differentiable(self) -> bool:
        """Whether the op has derivative rules."""
        return self.partials is not None or self.vjp is not None

    @property
    def usage(self) -> str:
        """How the op is called: `sum(input, dim=None, keepdim=False)`."""
        if self.constant is not REQUIRED:
            return self.name
        required = len(self.args) - self.optional
        words = [f"*{a}" if self.variadic else a for a in self.args[:required]]
        words += [f"{a}=None" for a in self.args[required:]]
        for name, default in self.params.items():
            bare = default is REQUIRED or name.startswith("*")
            words.append(name if bare else f"{name}={default!r}")
        if self.any_name:
            words.append("**named")
        if self.order:
            words.sort(key=lambda word: self.order.index(word.partition("=")[0]))
        return f"{self.name}({', '.join(words)})"

    def node_name(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> str:
        """PyTorch's name of the node that this op records."""
        return self._node_text(args, params).partition("(")[0]

    def node_inputs(self, args: tuple[Any, ...], params: Mapping[str, Any]) -> Sequence[int]:
        """The arguments of which PyTorch's node is made, by their numbers."""
        _, named, inputs = self._node_text(args, params).partition("(")
        if named:
            return [self.args.index(name) for name in inputs.rstrip(")").split(", ")]
        rules = self.partials or self.vjp
        if rules is None or self.variadic:
            return range(len(args))
        return [i for i, rule in enumerate(rules) if rule is not None]

    def saves_for(
        self, connected: Sequence[bool], args: tuple[Any, ...], params: Mapping[str, Any]
    ) -> bool:
        """Whether something of a call is saved, here or in PyTorch, for the rules of the connected
        arguments; a number of which PyTorch's node is not made is not.
        """
        if self.holds is not None and self.holds(**params):
            return True
        if self.variadic:
            return any(self._saved)
        named: set[str] = set()
        for names, wanted in zip(self._saved, connected, strict=False):
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
        if callable(self._node):
            return self._node(args, params)
        if self._node is not None:
            return self._node
        return "".join(word.title() for word in self.name.split("_")) + "Backward0"

    def value(self, args: Sequence[Data], params: Mapping[str, Any]) -> Any:
        """Plain value on plain data; a tuple for several outputs."""
        number = self.number
        if number is not None and SCALARS.issuperset(map(type, args)):
            return number(*args, **params)
        return self.on_arrays(args, params)

    def value_on_tensors(
        self, args: Sequence[Any], data: Sequence[Data], params: Mapping[str, Any]
    ) -> Any:
        """Plain value where a tensor is among the arguments, whose plain data is `data`. Python's
        numbers give way to a tensor's dtype, and what they would give is another where a tensor of
        ints or bools keeps its dtype.
        """
        if self.number is not None and SCALARS.issuperset(map(type, data)):
            out = self.number(*data, **params)
            kinds = set(map(type, data))
            if type(out) is float and float in kinds and "dtype" not in params:
                return out
            same = dtype_of(out) == cast(Rule, self.dtype)(*args, **params)
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
        """The same where NumPy would work in another precision than PyTorch."""
        if self.view:
            return self.on_arrays(data, params)
        if all(type(d) in SCALARS or d.dtype.char in _IN_ONE for d in data):
            return self.on_arrays(in_one_precision(self.dtype, args, params, data), params)
        out = self.on_arrays(usual(self.dtype, args, params, data), params)
        return by_rule(self.dtype, args, params, out)

    def on_arrays(self, args: Sequence[Data], params: Mapping[str, Any]) -> Any:
        """Plain value on arrays and numbers."""
        assert self.array is not None
        elements, last, shape = 1, None, self.shape
        for a in args:
            if type(a) not in SCALARS and (shape is not None or a.shape != last):
                elements *= a.size
                last = a.shape
        if elements > FEW:  # those of arguments of different shapes multiplied
            check_result(self, args, params)
        out = self.array(*args, **params)
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
        if self.body is not None:
            return self._composed(args, params)
        for first in args:
            if type(first) not in SCALARS:
                break
        else:
            return self.value(args, params)
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
        """Its value on arrays of float64 of one shape, by one call; None on others."""
        if self._direct is None:
            from gradcli.engine.ops.direct import direct

            self._direct = direct(self)
        return self._direct

    def cotangents(self, wanted: tuple[bool, ...]) -> Cotangents:
        """How an element-wise op pulls where all are arrays of float64 of one shape, those of its
        arguments that are wanted.
        """
        found = self._cotangents.get(wanted)
        if found is None:
            from gradcli.engine.ops.cotangents import cotangents

            found = self._cotangents[wanted] = cotangents(self, wanted)
        return found

    def summed(
        self, pulled: Sequence[Any], sizes: Sequence[tuple[int, ...] | None]
    ) -> Sequence[Any]:
        """Cotangents as such pulls make them, those with a size summed to it."""
        sum_to = ops.sum_to
        return [
            c if c is None or size is None else sum_to(c, size=size)
            for c, size in zip(pulled, sizes, strict=True)
        ]

    def _composed(self, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        assert self.body is not None
        params = {**self._defaults, **params}
        for a in args:
            if isinstance(a, Carrier):
                return a.apply(self, args, params)
        return self.body(*args, **params)

    def __repr__(self) -> str:
        return f"<op {self.name}>"


def op(name: str, **fields: Any) -> Op:
    """An op that writes its rules for both modes."""
    return Op(name, **fields)


def elementwise(name: str, **fields: Any) -> Op:
    """An op that works on each element by itself: its partials give both modes."""
    fields.setdefault("inplace", True)
    return Op(name, **fields)


def composite(name: str, body: Callable[..., Any], **fields: Any) -> Op:
    """An op made of other ops: `body(*args, **params)` calls them, so its derivatives are theirs.

    The arguments are numbers, plain arrays or tensors (a program's lists have become tensors).
    """
    return Op(name, body=body, **fields)


def host(name: str, call: Callable[..., Any], **fields: Any) -> Op:
    """A built-in that works on the program's own values: `call(session, *args, **params)` gets
    them as they are (numbers, strings, lists, tensors, functions) and returns one of them.
    """
    fields.setdefault("method", False)
    fields.setdefault("sees", not fields.get("by"))
    return Op(name, host=call, **fields)


def constant(name: str, value: Any, doc: str, **fields: Any) -> Op:
    """A built-in name that is a value."""
    return Op(name, constant=value, doc=doc, method=False, **fields)
