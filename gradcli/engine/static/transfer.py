"""Transfer functions of operations, items and methods on abstract values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.seeds import seed
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.language import members, operators
from gradcli.engine.static.findings import Findings
from gradcli.engine.static.hosts import Ahead, hosted
from gradcli.engine.static.inference import (
    Remembered,
    bound_result,
    combination,
    indexed,
    is_lasting,
    result,
    stacked,
    stand_in,
    static,
    unbound,
)
from gradcli.engine.static.kinds import (
    FUNCTIONS,
    Each,
    attribute,
    constants,
    example,
    flattened,
    identical,
    is_text,
    parts,
    steady,
)
from gradcli.engine.static.list_operators import ListOperators
from gradcli.engine.static.lists import LARGEST, List, Lists, is_small, linked, plain
from gradcli.engine.static.value import (
    LINKED,
    NEW,
    UNLINKED,
    UNSURE,
    Link,
    Value,
    constant,
    joined,
    number,
    relinked,
    tensor,
    unknown,
    view,
)
from gradcli.engine.tape.tensor import Tensor, truth
from gradcli.engine.values import refusals
from gradcli.engine.values.conversion import can_hold
from gradcli.engine.values.data import is_whole
from gradcli.engine.values.dtypes import DType, dtype_name
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.source import Span

_CERTAIN = frozenset(
    [
        *("shape-mismatch", "index-out-of-range", "bad-argument", "dtype-mismatch", "ragged-list"),
        *("needs-cotangent", "needs-float", "wrong-count", "not-callable", "ambiguous-condition"),
    ]
)
_LONGEST = 10_000  # characters of a text that is followed
_SHAPE_METHODS = frozenset({"size", "dim", "numel", "nelement", "element_size", "item"})
_KEEPING = frozenset({"double", "float", "contiguous", "cpu", "requires_grad_", "detach_"})
_CASTS = {
    **dict.fromkeys(("float", "double"), "float64"),
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "char": "int8",
    "byte": "uint8",
    "half": "float16",
    "bool": "bool",
}


def _is_open(values: Sequence[Any]) -> bool:
    """True if one of the values may be of any kind."""
    return any(isinstance(v, Value) and v.kind is None for v in values)


def _relink(x: Value, link: Link) -> None:
    """Change the link of a tensor. A number has none of the methods that do."""
    if x.kind != "number":
        x.link = link


class Transfer:
    """The effects of the instructions of one walk on values. If the program has classes, an unknown
    value may be one of their `objects`.
    """

    def __init__(self, findings: Findings, lists: Lists, *, objects: bool) -> None:
        self.findings = findings
        self.lists = lists
        self.objects = objects
        self.session = Ahead()
        self.known = Remembered()
        self._on_lists = ListOperators(findings, lists)

    def operated(
        self, sign: str, args: list[Any], span: Span, operands: Sequence[ir.Operand]
    ) -> Any:
        """The result of an operator."""
        made = combination(sign, args) if self.session.recording else None
        found = None if made is None else self.known.result(made)
        if found is None:
            found = self._on_lists.of(sign, args[0], args[1], span) if len(args) == 2 else None
            found = self._plainly(sign, args, span, operands) if found is None else found
            if made is not None and is_lasting(operators.OPS.get((sign, len(args)), sign)):
                self.known.keep(made, found)
        return found

    def updated(
        self, sign: str, args: list[Any], span: Span, operands: Sequence[ir.Operand]
    ) -> Any:
        """The result of an operator that updates its first operand: a list is changed in place."""
        x, y = args
        sign = sign.removesuffix("=")
        found = None
        if isinstance(x, List) or isinstance(y, List):
            found = self._on_lists.update(sign, x, y, self.items(y)[0], span)
        return self._plainly(sign, args, span, operands) if found is None else found

    def _plainly(
        self, sign: str, args: list[Any], span: Span, operands: Sequence[ir.Operand]
    ) -> Any:
        """The result of an operator that neither joins nor repeats lists."""
        name = operators.OPS.get((sign, len(args)), sign)
        return self._asked(lambda: self._of_operator(name, args, span), name, args, span, operands)

    def applied(
        self,
        name: str,
        args: list[Any],
        keywords: dict[str, Any],
        span: Span,
        operands: Sequence[ir.Operand] = (),
    ) -> Any:
        """The result of a built-in; `operands` are the arguments by place as they are written."""
        values = [*args, *keywords.values()]
        return self._asked(
            lambda: self._given(name, args, keywords, span), name, values, span, operands
        )

    def bound(
        self, name: str, named: Mapping[str, Any], span: Span, operands: Sequence[ir.Operand]
    ) -> Any:
        """The result of a built-in for arguments bound to their names."""
        values = [*named.values()]
        made = combination(name, values, named) if self.session.recording else None
        found = None if made is None else self.known.result(made)
        if found is None:
            found = self._asked(
                lambda: self._of_bound(name, named, span), name, values, span, operands
            )
            if made is not None and is_lasting(name):
                self.known.keep(made, found)
        return found

    def _asked(
        self,
        question: Callable[[], Any],
        name: str,
        values: list[Any],
        span: Span,
        operands: Sequence[ir.Operand],
    ) -> Any:
        """The result of a built-in for values. The first of them belong to `operands`."""
        try:
            found = question()
        except GradError as error:
            if error.diagnostics[0].code in _CERTAIN:
                self.findings.refuse(error, span, operands, values)
            return unknown(linked(values) if self.session.recording else Link())
        if self.objects and name in ops and ops[name].host.call is None and _is_open(values):
            return unknown(linked(values))
        if name in ops and ops[name].derivatives.flat:
            found = flattened(found, name, span, values)
        return found if self.session.recording else steady(found)

    def _of_operator(self, name: str, args: list[Any], span: Span) -> Any:
        match name, args:
            case "getitem", [List() | tuple(), _]:
                return self._item_of(args[0], args[1])
            case "getitem", [value, index]:
                return indexed(name, [plain(value)], plain(index))
            case "add", [left, right] if is_text(left) or is_text(right):
                return self._joined(example(left), example(right), span)
            case (("remainder" | "mul"), _) if any(is_text(a) for a in args):
                return Value(kind="text", memory=frozenset())
            case ("remainder", [Value(kind="text"), _]):
                return Value(kind="text", memory=frozenset())
            case "add", [tuple() as left, tuple() as right]:
                if len(left) + len(right) > LARGEST:
                    return self._lost([left, right])
                return self.built("tuple", [*left, *right])
            case "not", [value]:
                truth = self.truth(value, span)
                opposite = number("bool", linked(args).cut())
                return opposite if truth is UNSURE else constant(not truth)
            case "is" | "is not", [left, right]:
                return identical(left, right, name)
            case "eq" | "ne", [List(), other] | [other, List()]:
                if not isinstance(other, Value) or other.kind not in ("tensor", None):
                    return number("bool", linked(args).cut())
                if other.kind is None:
                    return unknown(linked(args))
            case "in" | "not in", _:
                return number("bool", linked(args).cut())
        return self._given(name, args, {}, span)

    def _of_bound(self, name: str, named: Mapping[str, Any], span: Span) -> Any:
        if name in ("eq", "ne"):
            return self._given(name, [*named.values()], {}, span)
        if ops[name].host.call is not None:
            return self._given(name, *unbound(name, named), span)
        return bound_result(name, {k: plain(v) for k, v in named.items()})

    def _given(self, name: str, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        match name, args:
            case (("eq" | "ne"), [Value() as left, Value() as right]):
                self._compared(name, left, right, span)
                if UNSURE not in (left.known, right.known) and None in (left.shape, right.shape):
                    return constant((left.known == right.known) is (name == "eq"))
        if name in ops and ops[name].host.call is not None:
            if ops[name].host.keeps:
                self.out_of_sight([*args, *keywords.values()])
            return hosted(ops[name], args, keywords, self.session)
        return result(name, [plain(a) for a in args], {k: plain(v) for k, v in keywords.items()})

    def _joined(self, left: Any, right: Any, span: Span) -> Any:
        """`left + right` of examples, one of which is a string; unknown if an example is None."""
        if left is None or right is None:
            return unknown()
        if isinstance(left, str) and isinstance(right, str) and len(left) + len(right) > _LONGEST:
            return Value(kind="text", memory=frozenset())
        asked = self.findings.ask(lambda: operators.joined(left, right), span)
        return constant(asked[0]) if asked else unknown()

    def _compared(self, name: str, left: Value, right: Value, span: Span) -> None:
        floats = {left.dtype, right.dtype} & {"float64", "float32", "float16"}
        if floats and UNSURE in (left.known, right.known) and None not in (left.dtype, right.dtype):
            self.findings.warn(
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
            found = operators.item(self.session, items, at, None)
            return self.lists.new(found) if type(found) is list else found
        if type(at) is slice:
            return self.lists.new(None, value.item)
        if isinstance(index, Value) and (at is UNSURE or type(at) is int):
            return self.lists.all_merged(value.any if isinstance(value, List) else value)
        return indexed("getitem", [plain(value)], plain(index))

    def check_items(self, value: Any, span: Span) -> None:
        """Report iteration over a number or 0-d tensor."""
        if isinstance(value, Value) and value.shape == ():
            self.findings.ask(lambda: self.session.iterate(example(value)), span)

    def items(self, value: Any) -> tuple[Any, int | None]:
        """Any item of a value that is iterated over, and the number of items."""
        if isinstance(value, List):
            count = None if value.items is None else len(value.items)
            return self.lists.all_merged(value.any), count
        if type(value) is tuple:
            return self.lists.all_merged(value), len(value)
        if isinstance(value, Each):
            sides = [self.items(part) for part in value.parts]
            known = [count for _, count in sides if count is not None]
            numbers = () if value.start is None else (number("int64"),)
            count = min(known, default=0) if len(known) == len(sides) else None
            return (*numbers, *(item for item, _ in sides)), count
        if isinstance(value, Value) and value.shape:
            return view(value, value.shape[1:]), value.shape[0]
        if isinstance(value, Value) and isinstance(value.known, range):
            return number("int64"), len(value.known)
        return unknown(linked([value])), None

    def nth(self, value: Any, n: int) -> Any:
        """The item of that number, None behind the last one, UNSURE if that is not known."""
        if isinstance(value, Each):
            sides = [self.nth(part, n) for part in value.parts]
            if any(side is None for side in sides):
                return None
            return UNSURE if UNSURE in sides else (*value.numbers(n), *sides)
        items = parts(value)
        if items is not None:
            return items[n] if n < len(items) else None
        if isinstance(value, Value) and isinstance(value.known, range):
            return constant(value.known[n]) if n < len(value.known) else None
        if isinstance(value, Value) and value.shape:
            row = view(value, value.shape[1:])
            return row if n < value.shape[0] else None
        return UNSURE

    def changed(
        self,
        x: Any,
        found: Any,
        span: Span,
        operands: Sequence[ir.Operand],
        values: Sequence[Any],
    ) -> Any:
        """The result of `x += e` and `x.add_(e)` if the op gives `found`: the tensor itself, or
        another number.
        """
        if not isinstance(x, Value) or x.kind == "number":
            return found
        if not x.shape and x.kind != "tensor":
            return self.lists.merged(x, found) if x.kind is None else found
        if isinstance(found, Value):
            if found.shape is not None and x.shape is not None and found.shape != x.shape:
                self.findings.refuse(
                    refusals.outgrown(found.shape, x.shape), span, operands, values
                )
            elif found.dtype and x.dtype and not can_hold(x.dtype, found.dtype):
                self.findings.refuse(refusals.uncast(found.dtype, x.dtype), span, operands, values)
            x.link = joined((x.link, found.link))
        return x

    def turned(self, x: Any, found: Any, *, inside: bool) -> Any:
        """The result of `x.t_()` if the op gives `found`: the tensor itself, of another shape,
        which its other names show, too. `inside` is true in a function that is followed.
        """
        if not isinstance(x, Value) or x.kind == "number":
            return found
        certain = not (inside or self.findings.unsure or self.findings.silent)
        if x.kind == "tensor" and certain and not self.lists.blurred and isinstance(found, Value):
            x.shape, x.fact = found.shape, None
        else:
            self.findings.replaced = True
        return x

    def put(self, receiver: Value, value: Any, index: Any, span: Span) -> None:
        """`receiver[index] = value` of a tensor."""
        values = [receiver, value, index]
        tensors = [plain(receiver), plain(value)]
        self._asked(lambda: indexed("set_at", tensors, plain(index)), "set_at", values, span, ())
        if self.session.recording:
            receiver.link = joined((receiver.link, linked([value])))

    def built(self, kind: str, items: list[Any]) -> Any:
        """A list, tuple, slice or text of items."""
        if kind == "list":
            return self.lists.new(items)
        if kind in ("text", "dict"):
            return unknown()
        if kind == "tuple":
            return tuple(items) if is_small(items) else self._lost(items)
        ends = [static(plain(item)) for item in items]
        return unknown() if UNSURE in ends else constant(slice(*ends))

    def _lost(self, items: Sequence[Any]) -> Value:
        """An unknown value that holds these."""
        self.lists.lose(tuple(items))
        return unknown(linked(items))

    def out_of_sight(self, values: Sequence[Any]) -> None:
        """Note that unknown code keeps the values: functions among them may run at any time."""
        self.lists.lose(tuple(values))
        if any(isinstance(v, FUNCTIONS) for v in values):
            self.lists.lose_forever()

    def list_method(self, receiver: Any, name: str, args: list[Any], span: Span) -> Any:
        """`receiver.name(args)` of a list."""
        if not isinstance(receiver, List):
            self.out_of_sight([receiver, *args])
            return unknown()
        match name, args:
            case "append", [item]:
                self.lists.append(receiver, item)
                return constant(None)
            case "extend", [more]:
                item, count = self.items(more)
                self.lists.extend_by(receiver, None if count is None else parts(more), item)
                return constant(None)
            case "pop", _:
                at = static(args[0]) if args else -1
                if receiver.items is not None and type(at) is int:
                    items = list(receiver.items)
                    if not self.findings.ask(
                        lambda: members.call(self.session, None, items, "pop", (at,), {}),
                        span,
                    ):
                        return unknown()
                return self.lists.pop(receiver, at)
        if name not in members.names_of([]):
            self.findings.ask(lambda: members.call(self.session, None, [], name, (), {}), span)
        self.out_of_sight([receiver, *args])
        return unknown()

    def attribute(self, receiver: Any, name: str, span: Span) -> Any:
        """`receiver.name`."""
        if isinstance(receiver, List):
            self.findings.ask(lambda: members.get(self.session, [], name), span)
        if isinstance(receiver, Value) and receiver.kind == "tensor" and receiver.shape is not None:
            tensor = stand_in(receiver) or Tensor(example(receiver))
            self.findings.ask(lambda: members.get(self.session, tensor, name), span)
        return attribute(receiver, name)

    def tensor_method(
        self, x: Value, name: str, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """`x.name(args)` of a tensor."""
        tensor = stand_in(x)
        params = [static(a) for a in args]
        if x.kind == "tensor" and tensor is not None and members.is_read(name):
            self.findings.ask(lambda: members.call(self.session, None, tensor, name, (), {}), span)
        if tensor is not None and name in _SHAPE_METHODS and UNSURE not in params and not keywords:
            asked = self.findings.ask(
                lambda: members.call(self.session, None, tensor, name, params, {}), span
            )
            if asked and name != "item":
                return constants(asked[0])
        match name:
            case "backward":
                weights = stand_in(args[0]) if args else None
                if tensor is not None and not keywords and (weights is not None or not args):
                    self.findings.ask(lambda: seed(tensor, weights, name), span)
                self.findings.tell_flat(x.link)
                return constant(None)
            case "retain_grad" | "zero_grad":
                return constant(None)
            case "requires_grad_":
                if is_whole(x.dtype) and not (args or keywords) and tensor is not None:
                    self.findings.ask(
                        lambda: members.call(self.session, None, tensor, name, (), {}), span
                    )
                _relink(x, LINKED)
            case "detach_":
                _relink(x, UNLINKED)
            case "detach" | "numpy":
                return relinked(view(x, x.shape), UNLINKED)
            case "item":
                return number(x.dtype, x.link.cut())
            case _ if name in ("to", "type", "astype") or name in _CASTS:
                return self._cast(x, name, params, span)
        return x if name in _KEEPING else unknown()

    def _cast(self, x: Value, name: str, params: list[Any], span: Span) -> Any:
        asked = [dtype_name(p) for p in params if isinstance(p, DType)]
        dtype = _CASTS.get(name) or (asked[0] if len(asked) == len(params) == 1 else None)
        memory = None if x.memory is None else x.memory | NEW
        made = tensor(x.shape, dtype, x.link, memory)
        return flattened(made, name, span, [x]) if is_whole(dtype) else made

    def truth(self, value: Any, span: Span) -> Any:
        """The truth of a condition where it is known, else UNSURE."""
        if isinstance(value, List):
            return UNSURE if value.items is None else bool(value.items)
        if type(value) is tuple:
            return bool(value)
        if not isinstance(value, Value):
            return UNSURE
        tensor = stand_in(value)
        if tensor is not None and tensor.data.size != 1:
            self.findings.ask(lambda: truth(tensor), span)
        return UNSURE if value.known is UNSURE else bool(value.known)

    def point(self, value: Any) -> Any:
        """The argument that a function which is differentiated gets."""
        if type(value) is tuple:
            return tuple([self.point(v) for v in value])
        if isinstance(value, List):
            items = value.any
            if all(getattr(v, "shape", None) == () for v in items):
                return stacked(plain(value)) if value.items is not None else unknown(LINKED)
            made = [self.point(v) for v in items]
            return self.lists.new(None, made[0]) if value.items is None else self.lists.new(made)
        if not isinstance(value, Value):
            return unknown(LINKED)
        dtype = "float64" if is_whole(value.dtype) else value.dtype
        memory = frozenset({self.lists.at})
        return Value(value.shape, dtype, LINKED, kind=value.kind, memory=memory)
