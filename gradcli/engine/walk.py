"""A program run on shapes and dtypes alone: what can be known of it before it runs.

Every value stands for all that it may be. Both sides of a branch are followed and what they leave
is merged; loops are followed until nothing changes. What is not known is silent, so that a finding
is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli import ir
from gradcli.engine.arrays import NUMBERS, dtype_of
from gradcli.engine.call import bind
from gradcli.engine.inputs import misfit
from gradcli.engine.ops.registry import REQUIRED, ops
from gradcli.engine.shapes import (
    FLAT,
    HOSTS,
    UNSURE,
    Value,
    inferred,
    merged,
    of_data,
    stacked,
    static,
    unknown,
    varies_any,
)
from gradcli.engine.unread import unread
from gradcli.errors import Diagnostic, GradError
from gradcli.source import Source, Span

_DEEPEST = 12  # calls within calls that are followed
_ROUNDS = 4  # passes over a loop's body until it is taken as it is
_CERTAIN = frozenset({"shape-mismatch", "index-out-of-range", "bad-argument", "dtype-mismatch"})
_KEEPING = frozenset({"float", "double", "contiguous", "cpu", "requires_grad_", "retain_grad"})
_LEFT = object()  # what becomes of a block that is left before its end
Slots = dict[int, Any]


def examine(
    program: ir.Program, source: Source, given: Mapping[str, Any], varying: Sequence[str]
) -> list[Diagnostic]:
    """What a walk over shapes finds, and what is never read.

    Args:
        program: The program.
        source: Its text.
        given: Values from outside by name.
        varying: Names that would be differentiated.
    """
    walk = _Walk(source, given, varying)
    walk.block(program.main.body, {})
    found = walk.findings + unread(program, source)
    return sorted(found, key=lambda d: d.span.start if d.span else 0)


class _Closure:
    """A function of the program with the slots that it sees."""

    def __init__(self, function: ir.Function, slots: Slots) -> None:
        self.function = function
        self.slots = slots


class _Walk:
    """One walk over a program. `findings` are in the order in which they were met."""

    def __init__(self, source: Source, given: Mapping[str, Any], varying: Sequence[str]) -> None:
        self.source = source
        self.given = given
        self.varying = frozenset(varying)
        self.findings: list[Diagnostic] = []
        self._told: set[tuple[str, int]] = set()
        self._silent = 0
        self._depth = 0
        self._unsure = 0  # blocks around this point that may not be reached
        self._recording = True
        self._sizes: dict[str, tuple[int, str]] = {}  # of `float[n]`, and which input has it
        self._returned: list[list[Any]] = []

    def _tell(self, code: str, message: str, span: Span, help: str | None, severity: str) -> None:
        if not self._silent and (code, span.start) not in self._told:
            self._told.add((code, span.start))
            self.findings.append(
                Diagnostic(code, message, self.source, span, help=help, severity=severity)
            )

    def _warn(self, code: str, message: str, span: Span, help: str) -> None:
        self._tell(code, message, span, help, "warning")

    def _refuse(self, error: GradError, span: Span) -> None:
        first = error.diagnostics[0]
        if first.code in _CERTAIN:
            self._tell(first.code, first.message, span, first.help, "error")

    # --- instructions ------------------------------------------------------------------

    def block(self, body: Sequence[ir.Instruction], slots: Slots) -> Any:
        """`_LEFT` where the block is left for sure, None where it goes on behind it."""
        for instruction in body:
            found = self._do(instruction, slots)
            if found is not None:
                return found
        return None

    def _do(self, i: ir.Instruction, slots: Slots) -> Any:
        match i:
            case ir.Branch():
                return self._branch(i, slots)
            case ir.While():
                return self._loop(i.body, slots, i.condition, i.test, None)
            case ir.For():
                return self._loop(i.body, slots, (), None, (i.target, self._item(i, slots)))
            case ir.Return():
                if self._returned:
                    self._returned[-1].append(self._read(i.value, slots))
                return _LEFT
            case ir.Break() | ir.Continue():
                return _LEFT
            case ir.Mode():
                before, self._recording = self._recording, i.mode == "enable_grad"
                found = self.block(i.body, slots)
                self._recording = before
                return found
            case ir.Assert():
                self._test(i.test, slots)
            case ir.Unpack():
                self._unpack(i, slots)
            case ir.SetItem():
                self._set_item(i, slots)
            case _ if hasattr(i, "target"):
                slots[i.target] = self._value(i, slots)
        return None

    def _value(self, i: ir.Instruction, slots: Slots) -> Any:
        """What an instruction puts into its target."""
        match i:
            case ir.Copy():
                return self._read(i.value, slots)
            case ir.Apply():
                args = [self._read(a, slots) for a in i.args]
                self._look(i, args)
                keywords = {k: self._read(v, slots) for k, v in i.keywords}
                return self._applied(i.op, args, keywords, i.span)
            case ir.Inplace():
                args = [self._read(i.receiver, slots), self._read(i.value, slots)]
                return self._applied(i.op.removesuffix("_"), args, {}, i.span)
            case ir.Call():
                return self._call(i, slots)
            case ir.Method():
                return self._method(i, slots)
            case ir.GetAttribute():
                return _attribute(self._read(i.receiver, slots), i.name)
            case ir.Build():
                return _built(i.kind, [self._read(item, slots) for item in i.items])
            case ir.Define():
                return _Closure(i.function, slots)
            case ir.Input():
                return self._input(i, slots)
        return unknown()

    def _read(self, operand: ir.Operand, slots: Slots) -> Any:
        match operand:
            case ir.Slot():
                if operand.index not in slots:
                    self._unassigned(operand)
                return slots.setdefault(operand.index, unknown())
            case ir.Const():
                return _constant(operand.value)
            case ir.Builtin():
                value = ops[operand.name].constant
                return unknown() if value is REQUIRED else _constant(value)

    def _unassigned(self, operand: ir.Slot) -> None:
        """Tell of a name of the top level that has no value on any way to here. In a loop that is
        seen in its first turn only, when nothing else is told.
        """
        if self._unsure or self._depth:
            return
        name = self.source.text[operand.span.start : operand.span.end]
        message = f"`{name}` is used before it has a value"
        silent, self._silent = self._silent, 0
        self._tell("used-before-assigned", message, operand.span, None, "error")
        self._silent = silent

    def _input(self, i: ir.Input, slots: Slots) -> Any:
        found = self._outside(i, slots)
        sizes = None if i.type is None else i.type[1]
        if sizes and isinstance(found, Value) and found.shape is not None:
            wrong = misfit(i.name, found.shape, sizes, self._sizes)
            if wrong is not None:
                self._tell("shape-mismatch", wrong, i.span, None, "error")
        for name, slot in i.sizes:
            known = self._sizes.get(name)
            slots[slot] = Value((), "int64") if known is None else _constant(known[0])
        return found

    def _outside(self, i: ir.Input, slots: Slots) -> Any:
        """An input's value, the one given or its default."""
        varies = i.name in self.varying and (i.type is None or i.type[0] == "float")
        if i.name in self.given:
            return of_data(self.given[i.name], varies)
        self.block(i.body, slots)
        if i.default is None:
            scalar = i.type is not None and i.type[1] is None
            dtype = None if i.type is None else {"float": "float64", "int": "int64"}.get(i.type[0])
            return Value(() if scalar else None, dtype, varies)
        found = self._read(i.default, slots)
        found = stacked(found) or found
        floats = varies or (i.type is not None and i.type[0] == "float")
        if not isinstance(found, Value) or not floats:
            return found
        if found.dtype == "int64" and i.type is None:
            return found
        return Value(found.shape, "float64", varies)

    # --- ops ---------------------------------------------------------------------------

    def _look(self, i: ir.Apply, args: Sequence[Any]) -> None:
        """Warn of what ends a gradient, or hangs on the last digit."""
        if i.op in ("eq", "ne") and _are_floats(args):
            sign = "==" if i.op == "eq" else "!="
            self._warn(
                "float-equality",
                f"`{sign}` of floats: rounding decides it",
                i.span,
                "compare a distance, as in `abs(a - b) < 1e-9`, or use `isclose`",
            )
        if i.op in FLAT and self._recording and any(map(varies_any, args)):
            self._warn(
                "flat-operation",
                f"`{i.op}` of what is differentiated: the gradient ends here, it is zero",
                i.span,
                "leave it out of what is differentiated, or use a smooth function",
            )

    def _applied(self, name: str, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        varies = self._recording and any(map(varies_any, [*args, *keywords.values()]))
        try:
            found = _known(name, args, keywords, varies)
        except GradError as error:
            self._refuse(error, span)
            return unknown(varies)
        except Exception:  # an entry that reads more than shapes says nothing
            return unknown(varies)
        return found if self._recording else _steady(found)

    def _set_item(self, i: ir.SetItem, slots: Slots) -> None:
        receiver = self._read(i.receiver, slots)
        value = self._read(i.value, slots)
        if isinstance(receiver, Value):
            index = self._read(i.index, slots)
            self._applied("set_at", [receiver, value], {"index": index}, i.span)
            receiver.varies = receiver.varies or varies_any(value)

    def _unpack(self, i: ir.Unpack, slots: Slots) -> None:
        value = self._read(i.value, slots)
        items: Any = [unknown(varies_any(value))] * len(i.targets)
        if isinstance(value, (list, tuple)) and len(value) == len(i.targets):
            items = value
        elif isinstance(value, Value) and value.shape:
            items = [Value(value.shape[1:], value.dtype, value.varies)] * len(i.targets)
        for target, item in zip(i.targets, items, strict=True):
            slots[target] = item

    # --- calls -------------------------------------------------------------------------

    def _call(self, i: ir.Call, slots: Slots) -> Any:
        function = self._read(i.function, slots)
        args = [self._read(a, slots) for a in i.args]
        keywords = {k: self._read(v, slots) for k, v in i.keywords}
        varies = any(map(varies_any, [*args, *keywords.values()]))
        if not isinstance(function, _Closure) or self._depth >= _DEEPEST:
            return unknown(True)
        inner = dict(function.slots)
        parameters = function.function.parameters
        for parameter, value in zip(parameters, args, strict=False):
            inner[parameter.slot] = value
        for parameter in parameters[len(args) :]:
            if parameter.name in keywords:
                inner[parameter.slot] = keywords[parameter.name]
            elif parameter.default is not None:
                inner[parameter.slot] = self._read(parameter.default, function.slots)
        self._depth += 1
        self._returned.append([])
        left = self.block(function.function.body, inner)
        self._depth -= 1
        returned = self._returned.pop()
        if left is None or not returned:
            return unknown(varies)
        found = returned[0]
        for other in returned[1:]:
            found = merged(found, other)
        return found

    def _method(self, i: ir.Method, slots: Slots) -> Any:
        value = self._read(i.receiver, slots)
        if isinstance(value, list) and isinstance(i.receiver, ir.Slot):
            slots[i.receiver.index] = unknown(True)  # it may have been changed
            return unknown(True)
        if isinstance(value, Value):
            if i.name == "requires_grad_":
                value.varies = True
            if i.name in _KEEPING:
                return value
            if i.name == "detach":
                return Value(value.shape, value.dtype)
            if i.name == "item":
                return Value((), value.dtype)
        return unknown()

    # --- branches and loops ------------------------------------------------------------

    def _test(self, operand: ir.Operand, slots: Slots) -> Any:
        """The truth of a condition where it is known, else UNSURE."""
        value = self._read(operand, slots)
        if not isinstance(value, Value):
            return UNSURE
        if value.shape and _count(value.shape) != 1:
            message = f"a condition needs one value, got a tensor of shape {list(value.shape)}"
            help = "reduce it with `.all()`, `.any()` or an index"
            self._tell("ambiguous-condition", message, operand.span, help, "error")
        if value.varies and self._recording:
            self._warn(
                "branch-on-input",
                "a branch on what is differentiated: the gradient ignores a jump between its sides",
                operand.span,
                "that is right where the sides meet; if they do not, no derivative is",
            )
        return UNSURE if value.known is UNSURE else bool(value.known)

    def _branch(self, i: ir.Branch, slots: Slots) -> Any:
        truth = self._test(i.test, slots)
        if truth is not UNSURE:
            return self.block(i.then if truth else i.orelse, slots)
        left, right = dict(slots), dict(slots)
        self._unsure += 1
        ends = self.block(i.then, left), self.block(i.orelse, right)
        self._unsure -= 1
        if None not in ends:
            return _LEFT
        going = [env for env, end in zip((left, right), ends, strict=True) if end is None]
        slots.update(going[0] if len(going) == 1 else _merged_slots(left, right))
        return None

    def _item(self, i: ir.For, slots: Slots) -> Any:
        """What a loop goes through, any of its items."""
        items = self._read(i.iterable, slots)
        if isinstance(items, (list, tuple)) and items:
            item = items[0]
            for other in items[1:]:
                item = merged(item, other)
            return item
        if isinstance(items, Value) and items.shape:
            return Value(items.shape[1:], items.dtype, items.varies)
        if isinstance(items, Value) and isinstance(items.known, range):
            return Value((), "int64")
        return unknown(varies_any(items))

    def _loop(
        self,
        body: Sequence[ir.Instruction],
        slots: Slots,
        condition: Sequence[ir.Instruction],
        test: ir.Operand | None,
        item: tuple[int, Any] | None,
    ) -> None:
        """Follow a loop until what is known no longer changes; then once more, to tell."""

        def turn(state: Slots) -> None:
            self.block(condition, state)
            if test is not None:
                self._test(test, state)
            if item is not None:
                state[item[0]] = item[1]
            self.block(body, state)

        self._silent += 1
        for round in range(_ROUNDS):
            state = dict(slots)
            turn(state)
            after = _merged_slots(slots, state)
            changed = [k for k, v in after.items() if not _same(slots.get(k), v)]
            slots.update(after)
            if not changed:
                break
            if round == _ROUNDS - 1:
                slots.update({k: unknown(True) for k in changed})
        self._silent -= 1
        last = dict(slots)
        turn(last)
        slots.update(_merged_slots(slots, last))


# what is known of single values ------------------------------------------------------------------


def _known(name: str, args: list[Any], keywords: dict[str, Any], varies: bool) -> Any:
    """What a built-in gives, as far as shapes tell.

    Raises:
        GradError: If the sizes cannot fit.
    """
    host = HOSTS.get(name)
    if host is not None:
        return host(args, keywords)
    if name not in ops or ops[name].host is not None or ops[name].constant is not REQUIRED:
        return unknown(varies)
    if name == "getitem" and isinstance(args[0], (list, tuple)):
        at = static(args[1])
        return (
            args[0][at]
            if type(at) is int and -len(args[0]) <= at < len(args[0])
            else unknown(varies)
        )
    if not ops[name].variadic:  # which take a list as their tensors
        args = [stacked(a) or a for a in args]
    bound, params = bind(ops[name], args, keywords)
    bound = [None if isinstance(a, Value) and a.known is None else a for a in bound]
    clean = {k: static(v) for k, v in params.items()}
    if UNSURE in clean.values() or any(a is not None and type(a) is not Value for a in bound):
        return unknown(varies)
    return inferred(ops[name], bound, clean)


def _constant(value: Any) -> Value:
    return (
        Value((), dtype_of(value), False, value) if type(value) in NUMBERS else Value(known=value)
    )


def _attribute(value: Any, name: str) -> Any:
    if not isinstance(value, Value) or value.shape is None:
        return unknown(varies_any(value))
    match name:
        case "shape":
            return tuple(_constant(n) for n in value.shape)
        case "ndim":
            return _constant(len(value.shape))
        case "T" | "mT":
            return Value(value.shape[::-1], value.dtype, value.varies)
        case "data":
            return Value(value.shape, value.dtype)
    return unknown()


def _built(kind: str, items: list[Any]) -> Any:
    if kind == "list":
        return items
    if kind != "slice":
        return tuple(items)
    parts = [static(item) for item in items]
    return unknown() if UNSURE in parts else Value(known=slice(*parts))


def _merged_slots(a: Slots, b: Slots) -> Slots:
    return {k: merged(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k)) for k in {**a, **b}}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Value) and isinstance(b, Value):
        known = a.known is b.known or (type(a.known) is type(b.known) and a.known == b.known)
        return (a.shape, a.dtype, a.varies) == (b.shape, b.dtype, b.varies) and known
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(_same, a, b))
    return a is b


def _are_floats(args: Sequence[Any]) -> bool:
    """Whether values are compared of which one is a float, and not all are known."""
    if not all(isinstance(a, Value) for a in args):
        return False
    floats = any(a.dtype in ("float64", "float32") for a in args)
    return floats and not all(a.known is not UNSURE for a in args)


def _steady(found: Any) -> Any:
    """A value that was not recorded."""
    if isinstance(found, tuple):
        return tuple(map(_steady, found))
    if isinstance(found, Value):
        return Value(found.shape, found.dtype, False, found.known)
    return found


def _count(shape: Sequence[int]) -> int:
    count = 1
    for n in shape:
        count *= n
    return count
