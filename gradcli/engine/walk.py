"""A program run on shapes and dtypes alone: what can be known of it before it runs.

Every value stands for all that it may be. Both sides of a branch are followed and what they leave
is merged; loops are followed until nothing changes. What is not known is silent, so that a finding
is one. What cannot work is an error where the program gets there for sure, else a warning.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from enum import Flag
from typing import Any, NamedTuple, TypeAlias

from gradcli import ir
from gradcli.engine import members, operators
from gradcli.engine.dtypes import DType, dtype_name
from gradcli.engine.inference import READERS, indexed, result, stacked, stand_in, static
from gradcli.engine.inputs import Given, Inputs, misfit
from gradcli.engine.lists import List, Lists, linked, plain, same
from gradcli.engine.messages import call_note, operand_label, shortened, turn_note
from gradcli.engine.ops.registry import REQUIRED, ops
from gradcli.engine.session import Session, kind_of
from gradcli.engine.shapes import (
    FLAT,
    LINKED,
    UNSURE,
    Link,
    Value,
    constant,
    joined,
    of_data,
    unknown,
)
from gradcli.engine.tensor import Tensor
from gradcli.engine.unread import unread
from gradcli.errors import Diagnostic, GradError, Label, run_error
from gradcli.source import Source, Span

_DEEPEST = 12  # calls within calls that are followed
_MOST_CALLS = 5000  # that are followed in all
_TURNS = 40  # of a loop that are followed one by one
_MOST_TURNS = 2000  # of all loops
_ROUNDS = 20  # passes over a loop's body until nothing of it counts as known
_CERTAIN = frozenset(
    [
        *("shape-mismatch", "index-out-of-range", "bad-argument", "dtype-mismatch", "ragged-list"),
        *("needs-cotangent", "needs-float", "wrong-count", "not-callable", "ambiguous-condition"),
    ]
)
_SHAPE_METHODS = frozenset({"size", "dim", "numel", "item"})
_SCALAR = frozenset({"grad", "value_and_grad", "hessian", "hvp"})
_KEEPING = frozenset({"double", "float", "contiguous", "cpu", "requires_grad_", "retain_grad"})
_CASTS = {"long": "int64", "float": "float64", "double": "float64"}
_TRANSFORMS = frozenset(
    ["grad", "value_and_grad", "jacobian", "jacfwd", "jacrev", "hessian", "hvp", "jvp", "vjp"]
)
State: TypeAlias = dict[int, Any]
Slots: TypeAlias = ChainMap[int, Any]
"""The values in a function's slots, then those around it."""


class _Ways(Flag):
    """The ways that may lead out of a block."""

    NONE = 0
    ON = 1
    BREAK = 2
    NEXT = 4
    RETURN = 8


def examine(
    program: ir.Program,
    source: Source,
    given: Mapping[str, Given],
    varying: Sequence[str],
    of: str | None,
) -> list[Diagnostic]:
    """What a walk over shapes finds, and what is never read.

    Args:
        program: The program.
        source: Its text.
        given: Values from outside by name.
        varying: Names that would be differentiated.
        of: The top-level name that is taken as the result; None: the program's own.

    Raises:
        InputError: If a value from outside does not fit its declaration.
    """
    walk = _Walk(program, source, given, varying)
    results = program.result if of is None else ir.Slot(program.names[of], Span(0, 0))
    walk.program(results)
    found = walk.findings + unread(program, source, results)
    return sorted(found, key=lambda d: d.span.start if d.span else 0)


class _Closure:
    """A function of the program with the slots that it sees and the defaults of its parameters."""

    def __init__(self, function: ir.Function, slots: Slots, defaults: dict[str, Any]) -> None:
        self.function = function
        self.slots = slots
        self.defaults = defaults


class _Derivative:
    """What a transform makes of a function; `others` if not by its first argument."""

    def __init__(self, name: str, function: Any, others: Any) -> None:
        self.name = name
        self.function = function
        self.others = others


class _Rule:
    """An own differentiable function: its methods by name."""

    def __init__(self, methods: dict[str, _Closure]) -> None:
        self.methods = methods


class _Each:
    """What `zip` and `enumerate` give, once: the items of the parts, behind a number from `start`
    on if there is one.
    """

    def __init__(self, parts: list[Any], start: int | None) -> None:
        self.parts = parts
        self.start = start

    def numbers(self, number: int) -> list[Any]:
        """What stands before the items."""
        return [] if self.start is None else [constant(self.start + number)]


_FUNCTIONS = (_Closure, _Derivative, _Rule)


class _Turn(NamedTuple):
    """A turn of a loop: its ways out, the states at its ends, at `break` and behind the test, and
    the test's truth.
    """

    ways: _Ways
    ends: list[State]
    breaks: list[State]
    tested: State
    truth: Any


class _Walk:
    """One walk over a program. `findings` are in the order in which they were met."""

    def __init__(
        self,
        program: ir.Program,
        source: Source,
        given: Mapping[str, Given],
        varying: Sequence[str],
    ) -> None:
        self._program = program
        self.source = source
        self.varying = frozenset(varying)
        self.findings: list[Diagnostic] = []
        self._told: set[tuple[str, int]] = set()
        self._session = Session()
        self._inputs = Inputs(given, source, self._session)
        self._lists = Lists()
        self._silent = 0
        self._way: list[str] = []  # the calls and turns that lead to this point, outermost first
        self._depth = 0
        self._called = 0
        self._turns = 0
        self._unsure = 0  # blocks around this point that may not be reached
        self._recording = True
        self._replaced = False  # whether a tensor may have got other data, of another shape
        self._returned: list[list[Any]] = []
        self._leaving: list[tuple[list[State], list[State]]] = []  # at `break` and `continue`

    def program(self, result: ir.Operand | None) -> None:
        """Go through the program; then tell what is flat on the way to its result."""
        slots: Slots = ChainMap()
        try:
            self.block(self._program.main.body, slots)
        except RecursionError:  # too deep to follow: what has been found is true
            return
        if result is None:
            ends = [slots[s] for s in self._program.names.values() if s in slots]
        else:
            ends = [self._read(result, slots)]
        self._tell_flat(linked(ends))

    # --- findings ----------------------------------------------------------------------

    def _tell(
        self,
        code: str,
        message: str,
        span: Span,
        help: str | None = None,
        *,
        severity: str = "error",
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
    ) -> None:
        if self._silent or self._replaced or (code, span.start) in self._told:
            return
        self._told.add((code, span.start))
        found = Diagnostic(
            code,
            message,
            self.source,
            span,
            labels=labels,
            notes=(*notes, *shortened(self._way[::-1])),
            help=help,
            severity=severity,
        )
        self.findings.append(found)

    def _line(self, span: Span) -> int:
        return self.source.position(span.start)[0]

    def _warn(self, code: str, message: str, span: Span, help: str) -> None:
        self._tell(code, message, span, help, severity="warning")

    def _refuse(self, error: GradError, span: Span, labels: Sequence[Label] = ()) -> None:
        """Tell of what cannot work."""
        first = error.diagnostics[0]
        self._tell(
            first.code,
            first.message,
            span,
            first.help,
            severity="warning" if self._unsure else "error",
            labels=labels,
            notes=first.notes,
        )

    def _tell_flat(self, link: Link) -> None:
        """Tell of the flat operations on the way to what is differentiated."""
        for name, span in link.flats:
            self._warn(
                "flat-operation",
                f"`{name}` of what is differentiated: the gradient ends here, it is zero",
                span,
                "leave it out of what is differentiated, or use a smooth function",
            )

    @contextmanager
    def _stretch(self, *, reached: bool) -> Iterator[None]:
        """A part of the program that may not be reached, or be gone through several times."""
        since, self._lists.since = self._lists.since, self._lists.count
        self._unsure += not reached
        yield
        self._unsure -= not reached
        self._lists.since = since

    # --- instructions ------------------------------------------------------------------

    def block(self, body: Sequence[ir.Instruction], slots: Slots) -> _Ways:
        """Go through a block; what ways lead out of it."""
        ways = _Ways.NONE
        for at, instruction in enumerate(body):
            found = self._do(instruction, slots)
            if _Ways.ON not in found:
                return ways | found
            if found is not _Ways.ON:  # the rest may not be reached
                with self._stretch(reached=False):
                    return ways | found & ~_Ways.ON | self.block(body[at + 1 :], slots)
        return ways | _Ways.ON

    def _do(self, i: ir.Instruction, slots: Slots) -> _Ways:
        match i:
            case ir.Branch():
                return self._branch(i, slots)
            case ir.While() | ir.For():
                return self._loop(i, slots)
            case ir.Return():
                if self._returned:
                    self._returned[-1].append(self._read(i.value, slots))
                return _Ways.RETURN
            case ir.Break():
                self._leaving[-1][0].append(dict(slots.maps[0]))
                return _Ways.BREAK
            case ir.Continue():
                self._leaving[-1][1].append(dict(slots.maps[0]))
                return _Ways.NEXT
            case ir.Mode():
                before, self._recording = self._recording, i.mode == "enable_grad"
                ways = self.block(i.body, slots)
                self._recording = before
                return ways
            case ir.Assert():
                self._truth(self._read(i.test, slots), i.test.span)
            case ir.Unpack():
                self._unpack(i, slots)
            case ir.SetItem():
                self._set_item(i, slots)
            case ir.SetAttribute():
                self._set_attribute(i, slots)
            case ir.Input():
                self._input(i, slots)
            case _ if hasattr(i, "target"):
                slots[i.target] = self._value(i, slots)
        return _Ways.ON

    def _value(self, i: ir.Instruction, slots: Slots) -> Any:
        """What an instruction puts into its target."""
        match i:
            case ir.Copy():
                return self._read(i.value, slots)
            case ir.Apply():
                return self._apply(i, slots)
            case ir.Inplace():
                operands = (i.receiver, i.value)
                args = [self._read(a, slots) for a in operands]
                return self._changed(i.op, args, {}, i.span, operands)
            case ir.Call():
                return self._call(i, slots)
            case ir.Method():
                return self._method(i, slots)
            case ir.GetAttribute():
                return self._attribute(i, slots)
            case ir.Build():
                return self._built(i.kind, [self._read(item, slots) for item in i.items])
            case ir.Define():
                return self._closure(i.function, slots)
            case ir.DefineRule():
                return _Rule({m.name: self._closure(m, slots) for m in i.methods})
        return unknown()

    def _closure(self, function: ir.Function, slots: Slots) -> _Closure:
        given = [p for p in function.parameters if p.default is not None]
        return _Closure(function, slots, {p.name: self._read(p.default, slots) for p in given})

    def _read(self, operand: ir.Operand | None, slots: Slots) -> Any:
        match operand:
            case ir.Slot():
                if operand.index not in slots:
                    self._unassigned(operand)
                    slots[operand.index] = unknown()
                return slots[operand.index]
            case ir.Const():
                return constant(operand.value)
            case ir.Builtin():
                value = ops[operand.name].constant
                return operand if value is REQUIRED else constant(value)
        return constant(None)

    def _unassigned(self, operand: ir.Slot) -> None:
        """Tell of a name of the top level that has no value on any way to here. In a loop that is
        seen in its first turn only, when nothing else is told.
        """
        if self._unsure or self._depth:
            return
        name = self.source.text[operand.span.start : operand.span.end]
        message = f"`{name}` is used before it has a value"
        silent, self._silent = self._silent, 0
        self._tell("used-before-assigned", message, operand.span)
        self._silent = silent

    # --- inputs ------------------------------------------------------------------------

    def _input(self, i: ir.Input, slots: Slots) -> None:
        found = slots[i.target] = self._outside(i, slots)
        sizes = None if i.type is None else i.type[1]
        if sizes and i.name not in self._inputs.given and getattr(found, "shape", None) is not None:
            wrong = misfit(i.name, found.shape, sizes, self._inputs.sizes)
            if wrong is not None:
                self._tell("shape-mismatch", wrong, i.span)
        for name, slot in i.sizes:
            known = self._inputs.sizes.get(name)
            slots[slot] = Value((), "int64") if known is None else constant(known[0])

    def _outside(self, i: ir.Input, slots: Slots) -> Any:
        """An input's value, the one given or its default."""
        floats = i.type is not None and i.type[0] == "float"
        link = LINKED if i.name in self.varying and (i.type is None or floats) else Link()
        if i.name in self._inputs.given:
            if i.type is None:
                self.block(i.body, slots)
            default = None if i.default is None or i.type else self._read(i.default, slots)
            return of_data(self._inputs.bind(i, _example(default)), link)
        self.block(i.body, slots)
        if i.default is None:
            scalar = i.type is not None and i.type[1] is None
            dtype = None if i.type is None else {"float": "float64", "int": "int64"}.get(i.type[0])
            return Value(() if scalar else None, dtype, link)
        found = self._read(i.default, slots)
        if isinstance(found, List) and (i.type is not None or i.kind == "param"):
            found = stacked(plain(found)) or unknown(link)
        return _watched(found, link, floats)

    # --- operations --------------------------------------------------------------------

    def _apply(self, i: ir.Apply, slots: Slots) -> Any:
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        if i.op not in ops and i.op.endswith("_") and args:
            return self._changed(i.op, args, keywords, i.span, i.args)
        return self._applied(i.op, args, keywords, i.span, i.args)

    def _applied(
        self,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        span: Span,
        operands: Sequence[ir.Operand] = (),
    ) -> Any:
        """What a built-in gives; `operands` are the arguments as they are written."""
        link = linked([*args, *keywords.values()])
        try:
            found = self._given(name, args, keywords, span)
        except GradError as error:
            if error.diagnostics[0].code in _CERTAIN:
                self._refuse(error, span, _labels(self.source, operands, args))
            return unknown(link if self._recording else Link())
        except (
            TypeError,
            ValueError,
            AttributeError,
            LookupError,
            ArithmeticError,
            AssertionError,
        ):
            return unknown(link if self._recording else Link())  # it reads more than shapes
        if name in FLAT or name == "int":
            found = _flat(found, name, span, args)
        return found if self._recording else _steady(found)

    def _given(self, name: str, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        match name, args:
            case "getitem", [List() | tuple(), _]:
                return self._item_of(args[0], args[1])
            case "getitem" | "set_at", [*tensors, index]:
                return indexed(name, [plain(t) for t in tensors], plain(index))
            case "add", [left, right] if _is_text(left) or _is_text(right):
                examples = _example(left), _example(right)
                asked = (
                    None
                    if None in examples
                    else self._ask(lambda: operators.joined(*examples), span)
                )
                return constant(asked[0]) if asked else unknown()
            case "add", [tuple() as left, tuple() as right]:
                return left + right
            case "not", [value]:
                truth = self._truth(value, span)
                return (
                    Value((), "bool", linked(args).cut())
                    if truth is UNSURE
                    else constant(not truth)
                )
            case "is" | "is not", [left, right]:
                return _identical(left, right, name)
            case "in" | "not in", _:
                return Value((), "bool", linked(args).cut())
            case (("eq" | "ne"), [Value() as left, Value() as right]):
                self._compared(name, left, right, span)
                if not {left.known, right.known} & {UNSURE} and None in (left.shape, right.shape):
                    return constant((left.known == right.known) is (name == "eq"))
            case "zip" | "enumerate", _:
                return self._each(name, args)
        if name in _TRANSFORMS and args and isinstance(args[0], _FUNCTIONS):
            return self._derivative(name, args, keywords, span)
        if name not in READERS and name in ops and ops[name].host is not None:
            self._out_of_sight([*args, *keywords.values()])
        return result(name, [plain(a) for a in args], {k: plain(v) for k, v in keywords.items()})

    def _compared(self, name: str, left: Value, right: Value, span: Span) -> None:
        floats = {left.dtype, right.dtype} & {"float64", "float32"}
        if floats and UNSURE in (left.known, right.known) and None not in (left.dtype, right.dtype):
            self._warn(
                "float-equality",
                f"`{'==' if name == 'eq' else '!='}` of floats: rounding decides it",
                span,
                "compare a distance, as in `abs(a - b) < 1e-9`, or use `isclose`",
            )

    def _item_of(self, value: Any, index: Any) -> Any:
        """An item of a list or tuple, a part of one, or an item of the tensor that it becomes."""
        at = static(plain(index))
        items = value.items if isinstance(value, List) else value
        if type(at) in (int, slice) and items is not None:
            found = operators.item(self._session, items, at, None)
            return self._lists.new(found) if type(found) is list else found
        if type(at) is slice:
            return self._lists.new(None, value.item)
        if isinstance(index, Value) and (at is UNSURE or type(at) is int):
            return self._lists.all_merged(value.any if isinstance(value, List) else value)
        return indexed("getitem", [plain(value)], plain(index))

    def _each(self, name: str, args: list[Any]) -> Any:
        start = static(args[1]) if len(args) > 1 else 0
        if name == "enumerate" and type(start) is int:
            return _Each(args[:1], start)
        return _Each(args, None) if name == "zip" else unknown(linked(args))

    def _check_items(self, value: Any, span: Span) -> None:
        """Tell of a number or 0-d tensor that is gone through."""
        if isinstance(value, Value) and value.shape == ():
            self._ask(lambda: self._session.iterate(_example(value)), span)

    def _items(self, value: Any) -> tuple[Any, int | None]:
        """What going through a value gives, any of it, and how many times."""
        if isinstance(value, List):
            return self._lists.all_merged(value.any), None if value.items is None else len(
                value.items
            )
        if type(value) is tuple:
            return self._lists.all_merged(value), len(value)
        if isinstance(value, _Each):
            parts = [self._items(part) for part in value.parts]
            known = [count for _, count in parts if count is not None]
            numbers = () if value.start is None else (Value((), "int64"),)
            count = min(known, default=0) if len(known) == len(parts) else None
            return (*numbers, *(item for item, _ in parts)), count
        if isinstance(value, Value) and value.shape:
            return Value(value.shape[1:], value.dtype, value.link), value.shape[0]
        if isinstance(value, Value) and isinstance(value.known, range):
            return Value((), "int64"), len(value.known)
        return unknown(linked([value])), None

    def _nth(self, value: Any, number: int) -> Any:
        """The item of that number, None behind the last one, UNSURE if that is not known."""
        if isinstance(value, _Each):
            parts = [self._nth(part, number) for part in value.parts]
            if any(part is None for part in parts):
                return None
            return UNSURE if UNSURE in parts else (*value.numbers(number), *parts)
        items = _parts(value)
        if items is not None:
            return items[number] if number < len(items) else None
        if isinstance(value, Value) and isinstance(value.known, range):
            return constant(value.known[number]) if number < len(value.known) else None
        if isinstance(value, Value) and value.shape:
            row = Value(value.shape[1:], value.dtype, value.link)
            return row if number < value.shape[0] else None
        return UNSURE

    def _changed(
        self,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        span: Span,
        operands: Sequence[ir.Operand],
    ) -> Any:
        """What `x += e` and `x.add_(e)` give: the tensor itself, or another number."""
        x = args[0]
        found = self._applied(name.removesuffix("_"), args, keywords, span, operands)
        if not isinstance(x, Value) or not x.shape:
            return found
        if isinstance(found, Value):
            if found.shape is not None and found.shape != x.shape:
                message = (
                    f"the result of shape {list(found.shape)} does not fit into the tensor of "
                    f"shape {list(x.shape)} that is changed in place"
                )
                error = run_error("shape-mismatch", message)
                self._refuse(error, span, _labels(self.source, operands, args))
            x.link = joined((x.link, found.link))
        return x

    def _set_item(self, i: ir.SetItem, slots: Slots) -> None:
        receiver, value = self._read(i.receiver, slots), self._read(i.value, slots)
        index = self._read(i.index, slots)
        if isinstance(receiver, List):
            at = static(plain(index))
            if receiver.items is not None and type(at) is int:
                try:
                    operators.set_item(self._session, list(receiver.items), at, value, None)
                except GradError as error:
                    self._refuse(error, i.span)
                    return
            self._lists.put(receiver, at, value)
        elif isinstance(receiver, Value) and receiver.shape:
            self._applied("set_at", [receiver, value, index], {}, i.span)
            if self._recording:
                receiver.link = joined((receiver.link, linked([value])))
        else:
            self._out_of_sight([value])

    def _set_attribute(self, i: ir.SetAttribute, slots: Slots) -> None:
        receiver, value = self._read(i.receiver, slots), self._read(i.value, slots)
        self._out_of_sight([value])
        if i.name == "data":
            shapes = getattr(receiver, "shape", None), getattr(value, "shape", None)
            self._replaced = self._replaced or None in shapes or shapes[0] != shapes[1]
        if i.name == "requires_grad" and isinstance(receiver, Value):
            receiver.link = LINKED

    def _unpack(self, i: ir.Unpack, slots: Slots) -> None:
        value, n = self._read(i.value, slots), len(i.targets)
        self._check_items(value, i.span)
        item, count = self._items(value)
        if count is not None and count != n:
            message = f"{count} values cannot be unpacked into {n} names"
            self._refuse(run_error("wrong-count", message), i.span)
        items = value.items if isinstance(value, List) else value
        parts = items if isinstance(items, (list, tuple)) and len(items) == n else [item] * n
        for target, part in zip(i.targets, parts, strict=True):
            slots[target] = part

    def _built(self, kind: str, items: list[Any]) -> Any:
        if kind == "list":
            return self._lists.new(items)
        if kind != "slice":
            return tuple(items)
        parts = [static(plain(item)) for item in items]
        return unknown() if UNSURE in parts else constant(slice(*parts))

    # --- calls -------------------------------------------------------------------------

    def _call(self, i: ir.Call, slots: Slots) -> Any:
        function = self._read(i.function, slots)
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        return self._called_with(function, args, keywords, i.span)

    def _called_with(
        self, function: Any, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """What a call of a function that is a value gives."""
        if isinstance(function, ir.Builtin):
            return self._applied(function.name, args, keywords, span)
        if isinstance(function, _Derivative) and not keywords:
            return self._differentiated(function, args, span)
        if isinstance(function, _Closure):
            return self._follow(function, args, keywords, span)
        if isinstance(function, (List, tuple)) or getattr(function, "shape", None) is not None:
            message = f"{kind_of(_example(function))} is not a function"
            self._refuse(run_error("not-callable", message), span)
        self._out_of_sight([*args, *keywords.values()])
        self._lists.lose_all()
        return unknown(linked([*args, *keywords.values()]))

    def _follow(
        self, function: _Closure, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """Go through a function's body."""
        parameters = function.function.parameters
        names = [p.name for p in parameters]
        given = {**function.defaults, **dict(zip(names, args, strict=False)), **keywords}
        fits = len(args) <= len(names) and set(given) == set(names)
        self._called += 1
        if not fits or self._depth >= _DEEPEST or self._called > _MOST_CALLS:
            self._out_of_sight([*args, *keywords.values()])
            self._lists.lose_all()
            return unknown(linked([*args, *keywords.values()]))
        inner = function.slots.new_child()
        for parameter in parameters:
            inner[parameter.slot] = given[parameter.name]
        self._depth += 1
        self._way.append(call_note(self._line(span)))
        self._returned.append([])
        ways = self.block(function.function.body, inner)
        self._way.pop()
        self._depth -= 1
        returned = self._returned.pop()
        if _Ways.ON in ways:
            returned.append(constant(None))
        return self._lists.all_merged(returned)

    def _derivative(self, name: str, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        """What a transform of a function gives: a function, or its derivative at a point."""
        function, *points = args
        if name in ("grad", "value_and_grad") or not (points or keywords):
            return _Derivative(name, function, points or keywords)
        if keywords:
            self._out_of_sight([function])
            return unknown()
        several = points[0] if type(points[0]) is tuple else (points[0],)
        self._differentiated(_Derivative(name, function, ()), [*several], span)
        return unknown(linked(points))

    def _differentiated(self, made: _Derivative, args: list[Any], span: Span) -> Any:
        """The derivative of a function at the first argument."""
        point, *others = args or [unknown()]
        if made.others:
            self._out_of_sight([made.function])
            return unknown(linked(args))
        before, self._recording = self._recording, True
        found = self._called_with(made.function, [self._point(point), *others], {}, span)
        self._recording = before
        self._tell_flat(linked([found]))
        if made.name in _SCALAR and not isinstance(made.function, _Derivative):
            tensor = stand_in(found)
            if tensor is not None:
                self._ask(lambda: members.seed(tensor, None, "grad"), span)
        link = linked(args)
        like = made.name == "grad" and isinstance(point, Value)
        return Value(point.shape, "float64", link) if like else unknown(link)

    def _point(self, value: Any) -> Any:
        """What a function that is differentiated gets."""
        if isinstance(value, (List, tuple)):
            items = value.any if isinstance(value, List) else value
            if isinstance(value, List) and all(getattr(v, "shape", None) == () for v in items):
                return stacked(plain(value)) if value.items is not None else unknown(LINKED)
            made = [self._point(v) for v in items]
            if isinstance(value, List) and value.items is None:
                return self._lists.new(None, made[0])
            return self._lists.new(made)
        shape = value.shape if isinstance(value, Value) else None
        return Value(shape, "float64", LINKED)

    def _own(self, rule: _Rule, args: list[Any], span: Span) -> Any:
        """What an own function gives: its `forward`, unrecorded, with a derivative of its own."""
        forward = rule.methods.get("forward")
        if forward is None:
            return unknown(linked(args))
        given = [(stacked(plain(a)) if type(plain(a)) is list else a) or unknown() for a in args]
        link = linked(args)
        before, self._recording = self._recording, False
        found = self._follow(forward, [unknown(), *given], {}, span)
        self._recording = before
        own = Link(link.varies, link.smooth) if before else Link()
        parts = found if type(found) is tuple else (found,)
        made = tuple(
            Value(p.shape, p.dtype, own) if isinstance(p, Value) else unknown(own) for p in parts
        )
        return made if type(found) is tuple else made[0]

    def _out_of_sight(self, values: Sequence[Any]) -> None:
        """Values are kept by what is not followed: functions among them may run at any time."""
        self._lists.lose(tuple(values))
        if any(isinstance(v, _FUNCTIONS) for v in values):
            self._lists.lose_forever()

    # --- methods -----------------------------------------------------------------------

    def _method(self, i: ir.Method, slots: Slots) -> Any:
        receiver = self._read(i.receiver, slots)
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        if isinstance(receiver, List):
            return self._list_method(receiver, i.name, args, i.span)
        if isinstance(receiver, _Rule) and i.name == "apply" and not keywords:
            return self._own(receiver, args, i.span)
        if isinstance(receiver, _Rule) and i.name in receiver.methods:
            return self._follow(receiver.methods[i.name], args, keywords, i.span)
        self._out_of_sight([*args, *keywords.values()])
        if not isinstance(receiver, Value):
            return unknown(linked([receiver]))
        found = self._tensor_method(receiver, i.name, args, keywords, i.span)
        return found if self._recording else _steady(found)

    def _list_method(self, receiver: List, name: str, args: list[Any], span: Span) -> Any:
        match name, args:
            case "append", [item]:
                self._lists.append(receiver, item)
                return constant(None)
            case "extend", [more]:
                item, count = self._items(more)
                for part in _parts(more) or ([] if count == 0 else [item]):
                    if _parts(more):
                        self._lists.append(receiver, part)
                    else:
                        self._lists.extend(receiver, part)
                return constant(None)
            case "pop", _:
                at = static(args[0]) if args else -1
                if receiver.items is not None and type(at) is int:
                    items = list(receiver.items)
                    if not self._ask(
                        lambda: members.call(self._session, None, items, "pop", (at,), {}),
                        span,
                    ):
                        return unknown()
                return self._lists.pop(receiver, at)
        if name not in members.names_of([]):
            self._ask(lambda: members.call(self._session, None, [], name, (), {}), span)
        self._out_of_sight([receiver])
        return unknown()

    def _attribute(self, i: ir.GetAttribute, slots: Slots) -> Any:
        receiver = self._read(i.receiver, slots)
        if isinstance(receiver, List):
            self._ask(lambda: members.get(self._session, [], i.name), i.span)
        return _attribute(receiver, i.name)

    def _tensor_method(
        self, x: Value, name: str, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        tensor = stand_in(x)
        params = [static(a) for a in args]
        if tensor is not None and name in _SHAPE_METHODS and UNSURE not in params and not keywords:
            asked = self._ask(
                lambda: members.call(self._session, None, tensor, name, params, {}), span
            )
            if asked and name != "item":
                return _constants(asked[0])
        match name:
            case "backward":
                weights = stand_in(args[0]) if args else None
                if tensor is not None and not keywords and (weights is not None or not args):
                    self._ask(lambda: members.seed(tensor, weights, name), span)
                self._tell_flat(x.link)
                return constant(None)
            case "requires_grad_":
                if x.dtype in ("int64", "bool") and not (args or keywords) and tensor is not None:
                    self._ask(lambda: members.call(self._session, None, tensor, name, (), {}), span)
                x.link = LINKED
            case "detach":
                return Value(x.shape, x.dtype)
            case "item":
                return Value((), x.dtype, x.link.cut())
            case "to" | "type" | "long" | "float" | "double":
                return self._cast(x, name, params, span)
        return x if name in _KEEPING else unknown()

    def _cast(self, x: Value, name: str, params: list[Any], span: Span) -> Any:
        asked = [dtype_name(p) for p in params if isinstance(p, DType)]
        dtype = _CASTS.get(name) or (asked[0] if len(asked) == len(params) == 1 else None)
        made = Value(x.shape, dtype, x.link)
        return _flat(made, name, span, [x]) if dtype in ("int64", "bool") else made

    def _ask(self, question: Callable[[], Any], span: Span) -> tuple[Any] | None:
        """The answer to a question that the shape alone decides, None where it is refused."""
        try:
            return (question(),)
        except GradError as error:
            self._refuse(error, span)
            return None

    # --- branches and loops ------------------------------------------------------------

    def _truth(self, value: Any, span: Span) -> Any:
        """The truth of a condition where it is known, else UNSURE."""
        if isinstance(value, List):
            return UNSURE if value.items is None else bool(value.items)
        if type(value) is tuple:
            return bool(value)
        if not isinstance(value, Value):
            return UNSURE
        tensor = stand_in(value)
        if tensor is not None and tensor.data.size != 1:
            self._ask(lambda: self._session.truth(tensor), span)
        return UNSURE if value.known is UNSURE else bool(value.known)

    def _decided(self, value: Any, span: Span) -> Any:
        """The truth of a condition on which a branch or loop goes one way or another."""
        if self._recording and isinstance(value, Value) and value.link.varies:
            self._warn(
                "branch-on-input",
                "a branch on what is differentiated: the gradient ignores a jump between its sides",
                span,
                "that is right where the sides meet; if they do not, no derivative is",
            )
        return self._truth(value, span)

    def _branch(self, i: ir.Branch, slots: Slots) -> _Ways:
        value = self._read(i.test, slots)
        short = self._is_short_circuit(i)
        truth = (self._truth if short else self._decided)(value, i.test.span)
        if truth is not UNSURE:
            return self.block(i.then if truth else i.orelse, slots)
        before = dict(slots.maps[0])
        sides = []
        ways = _Ways.NONE
        for body in (i.then, i.orelse):
            _set(slots, before)
            with self._stretch(reached=False):
                found = self.block(body, slots)
            ways |= found
            if _Ways.ON in found:
                sides.append(dict(slots.maps[0]))
        _set(slots, self._any_of(sides))
        if short and isinstance(i.test, ir.Slot):
            both = slots[i.test.index]
            if isinstance(both, Value) and isinstance(value, Value):
                link = joined((both.link, value.link.cut()))
                slots[i.test.index] = Value(both.shape, both.dtype, link, both.known)
        return ways

    def _is_short_circuit(self, i: ir.Branch) -> bool:
        """Whether a branch is that of `and`, `or` or a chain of comparisons: to evaluate what
        follows, into the place that it tests.
        """
        if not isinstance(i.test, ir.Slot) or i.test.index in self._program.variables:
            return False
        sides = [side for side in (i.then, i.orelse) if side]
        at = i.test.index
        return len(sides) == 1 and any(getattr(step, "target", None) == at for step in sides[0])

    def _loop(self, i: ir.For | ir.While, slots: Slots) -> _Ways:
        """Follow a loop turn by turn as long as there is another for sure; then the rest of it."""
        through: Any = None
        if isinstance(i, ir.For):
            through = self._read(i.iterable, slots)
            self._check_items(through, i.iterable.span)
            if isinstance(through, _Each) and self._is_named(i.iterable):
                through = unknown(linked(through.parts))  # something may have gone through it
        ways = _Ways.NONE
        exits: list[State] = []
        done = 0
        with ExitStack() as rest:
            while done < _TURNS and self._turns < _MOST_TURNS:
                if isinstance(i, ir.For):
                    item = self._nth(through, done)
                    truth = UNSURE if item is UNSURE else item is not None
                else:
                    item, truth = None, self._enters(i, slots)
                if truth is not True:
                    break
                done += 1
                self._turns += 1
                self._way.append(turn_note(done, self._line(i.span)))
                turn = self._turn(i, item, slots, entered=True, repeated=False)
                self._way.pop()
                ways |= turn.ways & _Ways.RETURN
                exits += turn.breaks
                if not turn.ends:
                    _set(slots, self._any_of(exits))
                    return ways | _Ways.ON if exits else ways
                _set(slots, self._any_of(turn.ends))
                if turn.breaks or _Ways.RETURN in turn.ways:
                    rest.enter_context(self._stretch(reached=False))
            ways |= self._rest(i, through, done, slots)
        if _Ways.ON in ways:
            exits.append(dict(slots.maps[0]))
        _set(slots, self._any_of(exits))
        return ways | _Ways.ON if exits else ways

    def _rest(self, i: ir.For | ir.While, through: Any, done: int, slots: Slots) -> _Ways:
        """Follow a loop until what is known no longer changes; then once more, to tell. `done`
        items have had their turn.
        """
        item, turns = unknown(), None
        if isinstance(i, ir.For):
            item, turns = self._items(through)
            turns = None if turns is None else turns - done
        entered = turns > 0 if turns is not None else self._enters(i, slots)
        if entered is False:
            if isinstance(i, ir.While):
                self.block(i.condition, slots)
            return _Ways.ON
        first, lowest = self._lists.count, self._lists.oldest
        self._silent += 1
        for _ in range(_ROUNDS):
            head = dict(slots.maps[0])
            self._lists.oldest = first
            turn = self._turn(i, item, slots, entered=entered is True, repeated=True)
            after = self._any_of([head, *turn.ends])
            settled = {k: head[k] if same(head.get(k), v) else v for k, v in after.items()}
            _set(slots, settled)
            lowest = min(lowest, self._lists.oldest)
            if self._lists.oldest >= first and all(head.get(k) is v for k, v in settled.items()):
                break
        else:
            self._lists.lose_all()
            _set(slots, dict.fromkeys(slots.maps[0], unknown()))
        self._silent -= 1
        self._lists.oldest = lowest
        head = dict(slots.maps[0])
        turn = self._turn(i, item, slots, entered=entered is True, repeated=True)
        exits = turn.breaks
        if isinstance(i, ir.While):
            exits = exits if turn.truth is True else [*exits, turn.tested]
        else:
            exits = [*exits, *turn.ends] if entered else [*exits, *turn.ends, head]
        _set(slots, self._any_of(exits))
        ways = turn.ways & _Ways.RETURN
        return ways | _Ways.ON if exits else ways

    def _turn(
        self, i: ir.For | ir.While, item: Any, slots: Slots, *, entered: bool, repeated: bool
    ) -> _Turn:
        """One turn of a loop that is entered for sure or not; one that stands for any turn if it is
        `repeated`.
        """
        breaks: list[State] = []
        ends: list[State] = []
        truth = UNSURE
        if isinstance(i, ir.While):
            with self._stretch(reached=True) if repeated else nullcontext():
                self.block(i.condition, slots)
                truth = self._decided(self._read(i.test, slots), i.test.span)
        tested = dict(slots.maps[0])
        if isinstance(i, ir.For):
            slots[i.target] = item
        self._leaving.append((breaks, ends))
        with self._stretch(reached=entered) if repeated else nullcontext():
            ways = self.block(i.body, slots)
        self._leaving.pop()
        if _Ways.ON in ways:
            ends.append(dict(slots.maps[0]))
        return _Turn(ways, ends, breaks, tested, truth)

    def _enters(self, i: ir.For | ir.While, slots: Slots) -> Any:
        """Whether a loop's body is gone through at least once; UNSURE if that is not known."""
        if isinstance(i, ir.For):
            return UNSURE
        before = dict(slots.maps[0])
        self._silent += 1
        with self._stretch(reached=False):
            self.block(i.condition, slots)
            truth = self._truth(self._read(i.test, slots), i.test.span)
        self._silent -= 1
        _set(slots, before)
        return truth

    def _is_named(self, operand: ir.Operand) -> bool:
        return isinstance(operand, ir.Slot) and operand.index in self._program.variables

    def _any_of(self, states: Sequence[State]) -> State:
        """What is in the slots in any of the states; a slot of one alone is as it is there."""
        merged: State = {}
        for state in states:
            for slot, value in state.items():
                merged[slot] = self._lists.merged(merged[slot], value) if slot in merged else value
        return merged


# what is known of single values ------------------------------------------------------------------


def _set(slots: Slots, state: State) -> None:
    """Put a state into a function's slots, which functions inside it see, too."""
    own = slots.maps[0]
    own.clear()
    own.update(state)


def _example(value: Any) -> Any:
    """A value of the kind of one, for what asks for no more; None if nothing is known."""
    if isinstance(value, (List, tuple)):
        return [] if isinstance(value, List) else ()
    tensor = stand_in(value)
    if tensor is not None or not isinstance(value, Value):
        return tensor
    if value.known is not UNSURE:
        return value.known
    if value.shape is None:
        return None
    return {"int64": 0, "bool": False}.get(value.dtype or "", 0.0)


def _watched(value: Any, link: Link, floats: bool) -> Any:
    """A default as the input's value: what is differentiated by is a float."""
    if isinstance(value, List) and link.varies and value.items is not None:
        value.items = [_watched(item, link, floats) for item in value.items]
    kept = not isinstance(value, Value) or (value.shape is None and value.known is not UNSURE)
    if kept or not (floats or (link.varies and value.dtype != "int64")):
        return value
    return Value(value.shape, "float64", link)


def _labels(source: Source, operands: Sequence[ir.Operand], args: Sequence[Any]) -> list[Label]:
    """What operands are that are written as names."""
    shown = (
        (o, _example(a)) for o, a in zip(operands, args, strict=False) if isinstance(o, ir.Slot)
    )
    return [operand_label(source, o.span, v) for o, v in shown if isinstance(v, (Tensor, list))]


def _identical(left: Any, right: Any, name: str) -> Any:
    """Whether two values are one, where one of them is None."""
    nones = [isinstance(v, Value) and v.known is None for v in (left, right)]
    if any(nones):
        other = left if nones[1] else right
        if all(nones) or not isinstance(other, Value) or other.shape is not None:
            return constant(all(nones) is (name == "is"))
    return Value((), "bool")


def _attribute(value: Any, name: str) -> Any:
    if not isinstance(value, Value) or value.shape is None:
        return unknown(linked([value]))
    match name:
        case "shape":
            return _constants(value.shape)
        case "ndim":
            return constant(len(value.shape))
        case "T":
            return Value(value.shape[::-1], value.dtype, value.link)
        case "mT" if len(value.shape) > 1:
            *rest, rows, columns = value.shape
            return Value((*rest, columns, rows), value.dtype, value.link)
        case "data":
            return Value(value.shape, value.dtype)
    return unknown()


def _constants(value: Any) -> Any:
    return tuple(map(constant, value)) if isinstance(value, tuple) else constant(value)


def _parts(value: Any) -> list[Any] | None:
    """The items of a list or tuple, if they are known."""
    if isinstance(value, List):
        return None if value.items is None else list(value.items)
    return list(value) if type(value) is tuple else None


def _is_text(value: Any) -> bool:
    return isinstance(value, Value) and type(value.known) is str


def _flat(found: Any, name: str, span: Span, args: Sequence[Any]) -> Any:
    """The value of a flat operation: no gradient goes through it."""
    link = linked(args)
    numbers = all(isinstance(a, Value) and a.dtype in ("int64", "bool") for a in args)
    if not isinstance(found, Value) or not link.smooth or numbers:
        return found
    return Value(
        found.shape, found.dtype, Link(True, False, link.flats | {(name, span)}), found.known
    )


def _steady(found: Any) -> Any:
    """A value that was not recorded."""
    if isinstance(found, tuple):
        return tuple(map(_steady, found))
    return Value(found.shape, found.dtype, known=found.known) if isinstance(found, Value) else found
