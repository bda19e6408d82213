"""Infer the results of calls of the program's own functions, and of transforms of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.autodiff.seeds import seed_of_one
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.language.members import CHANGES_A_LIST
from gradcli.engine.run.session.messages import call_note
from gradcli.engine.static.inference import stacked, stand_in
from gradcli.engine.static.kinds import (
    FUNCTIONS,
    Applied,
    Closure,
    Derivative,
    Rule,
    Slots,
    example,
    steady,
)
from gradcli.engine.static.lists import List, linked, plain
from gradcli.engine.static.transfer import Transfer
from gradcli.engine.static.value import Link, Value, constant, unknown
from gradcli.engine.values import refusals
from gradcli.engine.values.data import is_whole
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Span

_DEEPEST = 12  # calls within calls that are followed
_MOST_CALLS = 1000  # followed calls of a program


class Calls:
    """The calls of one walk. `walk` walks a body and returns true if it reaches its end. `depth` is
    the number of calls around the present place.
    """

    def __init__(self, transfer: Transfer, walk: Callable[[ir.Body, Slots], bool]) -> None:
        self.depth = 0
        self._transfer = transfer
        self._findings = transfer.findings
        self._lists = transfer.lists
        self._walk = walk
        self._called = 0
        self._returned: list[list[Any]] = []

    def gives(self, value: Any) -> None:
        """Note a value that the present function returns."""
        if self._returned:
            self._returned[-1].append(value)

    def call(self, function: Any, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        """The result of calling a function that is a value of the program."""
        if isinstance(function, ir.Builtin):
            if self.is_transform(function.name) and args and isinstance(args[0], FUNCTIONS):
                return self.derivative(function.name, args, keywords, span)
            return self._transfer.applied(function.name, args, keywords, span)
        if isinstance(function, Derivative) and not keywords:
            return self._differentiated(function, args, span)
        if isinstance(function, Closure):
            return self.follow(function, args, keywords, span)
        if isinstance(function, Applied) and not keywords:
            return self.own(function.rule, args, span)
        if isinstance(function, (List, tuple)) or getattr(function, "shape", None) is not None:
            self._findings.refuse(refusals.not_callable(kind_of(example(function))), span)
        self._transfer.out_of_sight([*args, *keywords.values()])
        self._lists.lose_all()
        return unknown(linked([*args, *keywords.values()]))

    def follow(
        self, function: Closure, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """Walk a function's body."""
        code = function.function
        given = self._bound(function, args, keywords)
        fits = given is not None and not visit.is_generator(code)
        self._called += 1
        if given is None or not fits or self.depth >= _DEEPEST or self._called > _MOST_CALLS:
            self._lists.lose(function)
            self._transfer.out_of_sight([*args, *keywords.values()])
            self._lists.lose_all()
            return unknown(linked([*args, *keywords.values()]))
        inner = Slots(function.slots)
        for parameter in code.parameters:
            inner.own[parameter.slot] = given[parameter.name]
        told = [] if code.name.startswith("%") else [call_note(self._findings.line(span))]
        self.depth += 1
        self._findings.way += told
        self._returned.append([])
        ends = self._walk(code.body, inner)
        del self._findings.way[len(self._findings.way) - len(told) :]
        self.depth -= 1
        returned = self._returned.pop()
        if ends:
            returned.append(constant(None))
        return self._lists.all_merged(returned)

    def _bound(
        self, function: Closure, args: list[Any], keywords: dict[str, Any]
    ) -> dict[str, Any] | None:
        """The values of the parameters of a function; None if the arguments do not fit."""
        parameters = function.function.parameters
        kinds = {p.kind: p.name for p in parameters if p.kind in ("*", "**")}
        names = [p.name for p in parameters if not p.kind]
        taken = [p.name for p in parameters if p.name not in kinds.values()]
        given = {**function.defaults, **dict(zip(names, args, strict=False))}
        others = {name: value for name, value in keywords.items() if name not in taken}
        given.update((name, value) for name, value in keywords.items() if name in taken)
        if set(given) != set(taken) or not set(names[: len(args)]).isdisjoint(keywords):
            return None
        if len(args) > len(names) and "*" not in kinds:
            return None
        if others and "**" not in kinds:
            return None
        if "*" in kinds:
            given[kinds["*"]] = self._transfer.built("tuple", args[len(names) :])
        if "**" in kinds:
            self._transfer.out_of_sight([*others.values()])
            given[kinds["**"]] = unknown(linked(others.values()))
        return given

    def is_transform(self, name: str) -> bool:
        return name in ops and ops[name].host.transform is not None

    def derivative(self, name: str, args: list[Any], keywords: dict[str, Any], span: Span) -> Any:
        """The result of a transform of a function: a function, or its derivative at a point."""
        function, *points = args
        if name in ("grad", "value_and_grad") or not (points or keywords):
            return Derivative(name, function, points or keywords)
        if keywords:
            self._transfer.out_of_sight([function])
            return unknown()
        several = points[0] if type(points[0]) is tuple else (points[0],)
        self._differentiated(Derivative(name, function, ()), [*several], span)
        return unknown(linked(points))

    def _differentiated(self, made: Derivative, args: list[Any], span: Span) -> Any:
        """The derivative of a function at the first argument."""
        point, *others = args or [unknown()]
        if made.others:
            self._transfer.out_of_sight([made.function])
            return unknown(linked(args))
        before, self._transfer.session.recording = self._transfer.session.recording, True
        found = self.call(made.function, [self._transfer.point(point), *others], {}, span)
        self._transfer.session.recording = before
        self._findings.tell_flat(linked([found]))
        if ops[made.name].host.transform == "scalar" and not isinstance(made.function, Derivative):
            tensor = stand_in(found)
            if tensor is not None:
                self._findings.ask(lambda: seed_of_one(tensor, made.name), span)
        link = linked(args)
        like = made.name == "grad" and isinstance(point, Value)
        if not like:
            return unknown(link)
        dtype = "float64" if is_whole(point.dtype) else point.dtype
        return Value(point.shape, dtype, link, kind=point.kind)

    def own(self, rule: Rule, args: list[Any], span: Span) -> Any:
        """The result of an own function: its `forward`, unrecorded, with its own derivative."""
        forward = rule.methods.get("forward")
        if forward is None:
            return unknown(linked(args))
        given = [(stacked(plain(a)) if type(plain(a)) is list else a) or unknown() for a in args]
        link = linked(args)
        later = [m for name, m in rule.methods.items() if name != "forward"]
        self._lists.lose(tuple(later))
        if any(_may_change_lists(m.function.body) for m in later):
            self._transfer.out_of_sight(later)
        before, self._transfer.session.recording = self._transfer.session.recording, False
        context = [] if "setup_context" in rule.methods else [unknown()]
        found = self.follow(forward, [*context, *given], {}, span)
        self._transfer.session.recording = before
        own = Link(link.varies, link.smooth) if before else Link()
        parts = found if type(found) is tuple else (found,)
        kinds = {p.kind if isinstance(p, Value) else None for p in parts}
        kind = "tensor" if "tensor" in kinds else kinds.pop() if len(kinds) == 1 else None
        made = tuple(
            Value(p.shape, p.dtype, own, kind=kind, memory=p.memory)
            if isinstance(p, Value)
            else unknown(own)
            for p in parts
        )
        return made if type(found) is tuple else made[0]

    def method(
        self, receiver: Any, name: str, args: list[Any], keywords: dict[str, Any], span: Span
    ) -> Any:
        """The result of `receiver.name(args)`, for a method that is no built-in function."""
        of_tensor = ops.is_method(name)
        if of_tensor and isinstance(receiver, Value) and receiver.kind in ("tensor", "number"):
            return self._transfer.applied(name, [receiver, *args], keywords, span)
        if isinstance(receiver, List):
            return self._transfer.list_method(receiver, name, args, span)
        if isinstance(receiver, Rule) and name == "apply" and not keywords:
            return self.own(receiver, args, span)
        if isinstance(receiver, Rule) and name in receiver.methods:
            return self.follow(receiver.methods[name], args, keywords, span)
        self._transfer.out_of_sight([*args, *keywords.values()])
        if not isinstance(receiver, Value) or (self._transfer.objects and receiver.kind is None):
            return unknown(linked([receiver]))
        found = self._transfer.tensor_method(receiver, name, args, keywords, span)
        return found if self._transfer.session.recording else steady(found)


def _may_change_lists(body: ir.Body) -> bool:
    """True if a block, or a function that it calls, changes a list."""
    return any(
        isinstance(i, (ir.SetItem, ir.DeleteItem, ir.Call, ir.SpreadCall, ir.SpreadMethod))
        or (isinstance(i, ir.Method) and i.name in CHANGES_A_LIST)
        for i in visit.instructions(body)
    )
