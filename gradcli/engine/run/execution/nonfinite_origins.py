"""Find the op that made the first value that is nan or infinite.

A value that is not finite carries the event that made it of finite ones, and hands it on to all
that is made of it. The event found is thus the one of the answer, not one of a branch that the
answer does not use.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from math import isfinite, isnan
from types import FunctionType
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.execution.finite import (
    WHOLE,
    is_finite,
    is_surely_finite,
    leaves_under,
    made_finite,
    parts_of,
    tensors_of_object,
)
from gradcli.engine.run.execution.observe import Ended, Event, Moment, Observer, present
from gradcli.engine.run.fast.call import has_fast_path
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import np
from gradcli.engine.values.objects import Object
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.record import Record
from gradcli.source import Source

_MOMENTS = 50  # that are kept of the first origins, and of the last
_TRIES = 24  # at which it is asked if the run may end
_MANY = 4096  # values to keep before dropping those that have no other reference

_CHANGES = (ir.Augment, ir.Inplace, ir.SetItem, ir.Method, ir.CallBuiltin)
"""The instructions that may change what they are given."""

IsLost: TypeAlias = Callable[[Any], bool]
"""True if a value is not finite and has an origin."""


class Origin(Record):
    """An event that made a value which is not finite, or else was the first to get one. `outer` is
    true if other events happened in it, as in `grad(f)(x)`.
    """

    __slots__ = ("event", "made", "outer")
    event: int
    made: bool
    outer: bool


class Origins(Observer):
    """The origins of the values of a run that are not finite.

    Args:
        source: The program's text.
        is_answers: True if the origin of the answer is certainly the result of an instruction, the
            first value of the run that is not finite; it is asked at that moment.

    Fields:
        moments: the moments of the first and the last origins, by event, as far as they are known.
        answer: the origin of the answer, with which the run ends; None if it is not certain.
    """

    def __init__(
        self,
        source: Source,
        is_answers: Callable[[ir.Instruction, IsLost], bool] = lambda i, is_lost: False,
    ) -> None:
        super().__init__()
        self.answer: Origin | None = None
        self._is_answers = is_answers
        self.moments: dict[int, Moment] = {}
        self._source = source
        self._held: dict[int, tuple[Any, Origin]] = {}  # the value keeps its id from others
        self._most = _MANY
        self._depth = 0
        self._around: Origin | None = None  # of the arguments of the engine's running function
        self._new: list[Origin] = []  # in the outermost running event
        self._first: Origin | None = None
        self._origins = 0
        self._passes = array("q")  # the events of `backward`
        self._tried: set[int] = set()  # instructions with a result that is not finite

    def observed(
        self, function: Callable[..., Any], instruction: ir.Instruction | None = None
    ) -> Callable[..., Any]:
        general = super().observed(function, instruction)
        if instruction is None or is_backward(instruction):
            return general
        changes = isinstance(instruction, _CHANGES)

        def call(run: Any, *args: Any, **keywords: Any) -> Any:
            """A call, with a fast path for floats."""
            if changes and args and (type(args[0]) is Tensor or isinstance(args[0], Object)):
                return general(run, *args, **keywords)
            self.events += 1
            number, since = self.events, len(self._new)
            self._depth += 1
            out = function(run, *args, **keywords)
            self._depth -= 1
            if not self._new and is_surely_finite(out):
                return out
            return finished(number, since, (*args, *keywords.values()), out)

        def finished(number: int, since: int, given: Sequence[Any], out: Any) -> Any:
            """The result of a call, with its origin noted if it is not finite."""
            kind = type(out)
            data = out.data if kind is Tensor or kind is Number else out
            if data - data != 0.0 if type(data) is float else type(data) not in WHOLE:
                known = self._handed_on(given, out) if len(self._new) == since else None
                if known is None:
                    before = self._origins
                    out = self._noted(number, instruction, given, out, since)
                    if self._origins > before:
                        self._keep_moment(number, instruction, given, out)
                else:
                    out = out + 0.0 if kind is float else out
                    self._note(out, known)
                if self._held:
                    self._end_if_certain(instruction, out)
            if not self._depth and self._new:
                self._new.clear()
            return self._followed(out) if type(out) is FunctionType else out

        number_of = _on_numbers(instruction)
        if number_of is None:
            return call

        def operated(run: Any, a: Any, b: Any) -> Any:
            """A call on two values, with a faster path for numbers: nan stays the object that it
            was, whose origin is known.
            """
            kind, other = type(a), type(b)
            if (kind is float or kind is int) and (other is float or other is int):
                self.events += 1
                out = number_of(a, b)
                if out - out == 0.0:
                    return out
                if kind is float is other and isnan(out) and id(instruction) in self._tried:
                    bad, other_one = (a, b) if isnan(a) else (b, a)
                    handed_on = isnan(bad) and isfinite(other_one) and id(bad) in self._held
                    if handed_on and not self._new:
                        return bad
                return finished(self.events, len(self._new), (a, b), out)
            if changes or (kind is not Tensor and other is not Tensor):
                return call(run, a, b)
            self.events += 1
            out = function(run, a, b)
            if is_surely_finite(out):
                return out
            return finished(self.events, len(self._new), (a, b), out)

        def done(run: Any, x: Any) -> Any:
            """A call on one value, with a faster path for a number."""
            if type(x) is not float:
                return call(run, x)
            self.events += 1
            out = number_of(x)
            return out if out - out == 0.0 else finished(self.events, len(self._new), (x,), out)

        return operated if len(visit.operands(instruction)) == 2 else done

    def event(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        receiver = given[0] if isinstance(instruction, _CHANGES) and given else None
        changes = type(receiver) is Tensor and is_finite(receiver)
        leaves = leaves_under(receiver) if is_backward(instruction) else ()
        if is_backward(instruction):
            self._passes.append(number)
        since, around, origins = len(self._new), self._around, self._origins
        if instruction is None:  # a transform hands copies of its arguments to the function
            self._around = self.of(given) or around
        self._depth += 1
        try:
            out = done()
        finally:
            self._depth -= 1
            self._around = around
        more = []
        changed = changes and not is_finite(receiver)
        if changed:
            more.append(receiver)
            given = given[1:]  # it was finite before the change
        more += [x for leaf in leaves if (x := leaf.grad) is not None and not is_finite(x)]
        if isinstance(instruction, ir.Method):
            held = tensors_of_object(receiver, instruction.name)
            lost = [x for x in held if not is_finite(x) and self._known(x) is None]
            given = (*given, *(x.grad for x in lost))
            more += lost
        out = self._noted(number, instruction, given, out, since, more)
        if self._origins > origins and not changed:
            self._keep_moment(number, instruction, given, out)
        if not self._depth:
            self._new.clear()
        if self._held and instruction is not None:
            self._end_if_certain(instruction, out)
        return out

    def pass_before(self, event: int) -> int:
        """The event of the last `backward` before an event; 0 if there is none."""
        at = bisect_left(self._passes, event)
        return self._passes[at - 1] if at else 0

    def _keep_moment(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], out: Any
    ) -> None:
        """Keep the moment of an origin; of many, that of the first and the last ones."""
        self.moments[number] = present(instruction, given, self._source)(out)
        if len(self.moments) > 2 * _MOMENTS:
            del self.moments[[*self.moments][_MOMENTS]]

    def _end_if_certain(self, instruction: ir.Instruction, out: Any) -> None:
        """End the run if the result of an instruction is not finite and certainly reaches the
        answer, by the only origin so far. It asks once for an instruction: the first value that is
        lost may reach the answer only by one that a loop carries, which comes later.
        """
        first, tried = self._first, self._tried
        if id(instruction) in tried or not self._is_lost(out):
            return
        tried.add(id(instruction))
        is_only = self._origins == 1 and first is not None and first.made
        if is_only and len(tried) <= _TRIES and self._is_answers(instruction, self._is_lost):
            self.answer = first
            raise Ended

    def _is_lost(self, x: Any) -> bool:
        is_value = type(x) is float or isinstance(x, Tensor)
        return is_value and self._known(x) is not None and not is_finite(x)

    def _handed_on(self, given: Sequence[Any], out: Any) -> Origin | None:
        """The origin of a result that is not finite, if it is that of all operands which are not
        finite and have one; None if there are several, or it takes a closer look.
        """
        kind = type(out)
        if not (kind is float or kind is Tensor or kind is Number) or is_finite(out):
            return None
        found = self._known(out)
        if found is not None:
            return found
        for x in given:
            if type(x) is Tensor or type(x) is Number or type(x) is float:
                known = self._known(x) or self._around
                if known is None or known is found or is_finite(x):
                    continue
                if found is not None:
                    return None
                found = known
            elif type(x) not in WHOLE:
                return None
        return found

    def _noted(
        self,
        number: int,
        instruction: ir.Instruction | None,
        given: Sequence[Any],
        out: Any,
        since: int,
        more: Sequence[Any] = (),
    ) -> Any:
        """The result of an event, with the origins noted of what is not finite in it and of `more`
        that the event has changed. `since` is how many of `_new` were there before.
        """
        found = [*(x for x in parts_of(out) if not is_finite(x)), *more]
        if found:
            known = self.of(found)
            if known is None:
                known = self._origin(number, instruction, given, since)
            if type(out) is float and out - out != 0:
                out = out + 0.0  # an object of its own: others may have its value
                found = [out]
            for x in found:
                self._note(x, known)
        return out

    def of(self, value: Any) -> Origin | None:
        """The origin of a value, of several the first; None if all are finite, or none is known."""
        known = (self._known(x) for x in parts_of(value) if not is_finite(x))
        return min((o for o in known if o is not None), key=_age, default=None)

    def _origin(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], since: int
    ) -> Origin:
        """The origin of a non-finite result of an event."""
        bad = [x for x in parts_of(given) if not is_finite(x)]
        if bad:
            known = self._chosen(instruction, given) or self.of(bad) or self._around
            return known or self._begun(Origin(number, False, False))
        if len(self._new) > since:  # inside the function that it called
            return self._new[since]
        made = self._begun(Origin(number, True, self.events > number))
        self._new.append(made)
        return made

    def _begun(self, origin: Origin) -> Origin:
        self._origins += 1
        self._first = self._first or origin
        return origin

    def _chosen(self, instruction: ir.Instruction | None, given: Sequence[Any]) -> Origin | None:
        """Of several given values that are not finite, the origin of the first that decides:
        without it the result would be finite, or it alone makes the result not finite.
        """
        op = _op(instruction)
        known = [self._known(x) for x in given]
        several = {o.event for o in known if o is not None}
        if op is None or len(several) < 2:
            return None
        for at in sorted(several):
            kept = [
                x if o is None or o.event == at else made_finite(x)
                for x, o in zip(given, known, strict=True)
            ]
            if not is_finite(op(*kept)):
                return next(o for o in known if o is not None and o.event == at)
        return None

    def _known(self, x: Any) -> Origin | None:
        held = self._held
        if not isinstance(x, Tensor):
            return held[id(x)][1] if id(x) in held else None
        for key in (x.version, x.data, x):
            if id(key) in held:
                return held[id(key)][1]
        return None if x.view is None else self._known(x.view.of)

    def _note(self, x: Any, origin: Origin) -> None:
        """Note the origin of a value. Arrays are noted by themselves, as a transform wraps them
        anew; a float in a tensor may be one that others have, too.
        """
        if isinstance(x, Tensor):
            if x.version is not None:
                self._held[id(x.version)] = x.version, origin
            if isinstance(x.data, np.ndarray):
                x = x.data
        self._held[id(x)] = x, origin
        if len(self._held) > self._most:
            self._held = {k: v for k, v in self._held.items() if sys.getrefcount(v[0]) > _OURS}
            self._most = 2 * len(self._held) + _MANY


_OURS = 2  # references of ours to a value: from its pair and from `getrefcount`


def _age(origin: Origin) -> tuple[bool, int]:
    return not origin.made, origin.event


def is_backward(instruction: ir.Instruction | None) -> bool:
    """True if an instruction stores gradients at leaves."""
    return isinstance(instruction, ir.Method) and instruction.name == "backward"


def _on_numbers(instruction: ir.Instruction) -> Callable[..., Any] | None:
    """The function of one or two numbers that an instruction calls if it gets such, or None."""
    number: Callable[..., Any] | None = None
    match instruction:
        case ir.Operator() as i if i.operator != "[]" and (i.operator, len(i.args)) in OPS:
            number = ops[OPS[i.operator, len(i.args)]].value.number
        case ir.Apply() as i if has_fast_path(op := ops[i.op]):
            number = op.value.number if tuple(n for n, _ in i.arguments) == op.args else None
    return number


def _op(instruction: ir.Instruction | None) -> Any:
    """The op that an instruction does on its operands, if it can run again."""
    match instruction:
        case ir.Operator() as i if (i.operator, len(i.args)) in OPS:
            return ops[OPS[i.operator, len(i.args)]] if i.operator != "[]" else None
        case ir.Apply() as i if (op := ops[i.op]).host.call is None and op.host.pure:
            names = tuple(name for name, _ in i.arguments)
            return op if names == op.args else None
    return None
