"""Find the op that made the first value that is nan or infinite.

A value that is not finite carries the event that made it of finite ones, and hands it on to all
that is made of it. The event found is thus the one of the answer, not one of a branch that the
answer does not use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from math import isfinite, isnan
from types import FunctionType
from typing import Any

from gradcli.engine.autodiff.paths import reachable
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.execution.observe import Ended, Event, Moment, Observer, present
from gradcli.engine.run.fast.call import has_fast_path
from gradcli.engine.run.language.operators import OPS
from gradcli.engine.tape.tensor import AccumulateGrad, Number, Tensor, node_of
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, holds_finite, np, squares_are_finite
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.record import Record
from gradcli.source import Source

_WHOLE = frozenset({int, bool})
_MOMENTS = 100  # that are kept
_MANY = 4096  # values to keep before dropping those that have no other reference

_CHANGES = (ir.Augment, ir.Inplace, ir.SetItem, ir.Method, ir.CallBuiltin)
"""The instructions that may change what they are given."""


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
        moments: the moments of the first origins, by event, as far as they are known.
        answer: the origin of the answer, with which the run ends; None if it is not certain.
    """

    def __init__(
        self, source: Source, is_answers: Callable[[ir.Instruction], bool] = lambda i: False
    ) -> None:
        super().__init__()
        self.answer: Origin | None = None
        self._is_answers = is_answers
        self.moments: dict[int, Moment] = {}
        self._source = source
        self._held: dict[int, tuple[Any, Origin]] = {}  # the value keeps its id from others
        self._most = _MANY
        self._depth = 0
        self._new: list[Origin] = []  # in the outermost running event

    def observed(
        self, function: Callable[..., Any], instruction: ir.Instruction | None = None
    ) -> Callable[..., Any]:
        general = super().observed(function, instruction)
        if instruction is None or is_backward(instruction):
            return general
        changes = isinstance(instruction, _CHANGES)

        def call(run: Any, *args: Any, **keywords: Any) -> Any:
            """A call, with a fast path for floats."""
            if changes and args and type(args[0]) is Tensor:
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
            if data - data != 0.0 if type(data) is float else type(data) not in _WHOLE:
                known = self._handed_on(given, data) if len(self._new) == since else None
                if known is None:
                    before, first = len(self._new), not self._held
                    out = self._noted(number, instruction, given, out, since)
                    if len(self._new) > before and len(self.moments) < _MOMENTS:
                        self.moments[number] = present(instruction, given, self._source)(out)
                    if first and self._new and self._is_answers(instruction):
                        self.answer = self._new[-1]
                        raise Ended
                else:
                    out = out + 0.0 if kind is float else out
                    self._note(out, known)
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
                if kind is float is other and isnan(out) and not self._new:
                    bad, other_one = (a, b) if isnan(a) else (b, a)
                    if isnan(bad) and isfinite(other_one) and id(bad) in self._held:
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
        leaves = _leaves_under(receiver) if is_backward(instruction) else ()
        since = len(self._new)
        self._depth += 1
        out = done()
        self._depth -= 1
        more = []
        if changes and not is_finite(receiver):
            more.append(receiver)
            given = given[1:]  # it was finite before the change
        more += [x for leaf in leaves if (x := leaf.grad) is not None and not is_finite(x)]
        out = self._noted(number, instruction, given, out, since, more)
        if not self._depth:
            self._new.clear()
        return out

    def _handed_on(self, given: Sequence[Any], data: Any) -> Origin | None:
        """The origin of the only operand that is not finite, if all operands are floats and so is
        the result.
        """
        found = None
        for x in given:
            inside = x.data if type(x) is Tensor or type(x) is Number else x
            if type(inside) is not float:
                if type(inside) is int:
                    continue
                return None
            if inside - inside != 0.0:
                if found is not None:
                    return None
                found = x
        return None if found is None or type(data) is not float else self._known(found)

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
        found = [*(x for x in _leaves(out) if not is_finite(x)), *more]
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
        known = (self._known(x) for x in _leaves(value) if not is_finite(x))
        return min((o for o in known if o is not None), key=_age, default=None)

    def _origin(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], since: int
    ) -> Origin:
        """The origin of a non-finite result of an event."""
        bad = [x for x in _leaves(given) if not is_finite(x)]
        if bad:
            return self._chosen(instruction, given) or self.of(bad) or Origin(number, False, False)
        if len(self._new) > since:  # inside the function that it called
            return self._new[since]
        made = Origin(number, True, self.events > number)
        self._new.append(made)
        return made

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
                x if o is None or o.event == at else _made_finite(x)
                for x, o in zip(given, known, strict=True)
            ]
            if not is_finite(op(*kept)):
                return next(o for o in known if o is not None and o.event == at)
        return None

    def _known(self, x: Any) -> Origin | None:
        if not isinstance(x, Tensor):
            held, origin = self._held.get(id(x), (None, None))
            return origin if held is x else None
        for key in (x.version, x):
            if key is not None and id(key) in self._held:
                return self._held[id(key)][1]
        return None if x.view is None else self._known(x.view.of)

    def _note(self, x: Any, origin: Origin) -> None:
        self._held[id(x)] = x, origin
        if isinstance(x, Tensor) and x.version is not None:
            self._held[id(x.version)] = x.version, origin
        if len(self._held) > self._most:
            self._held = {k: v for k, v in self._held.items() if sys.getrefcount(v[0]) > _OURS}
            self._most = 2 * len(self._held) + _MANY


_OURS = 2  # references of ours to a value: from its pair and from `getrefcount`


def _age(origin: Origin) -> tuple[bool, int]:
    return not origin.made, origin.event


def is_backward(instruction: ir.Instruction | None) -> bool:
    """True if an instruction stores gradients at leaves."""
    return isinstance(instruction, ir.Method) and instruction.name == "backward"


def _leaves_under(x: Any) -> list[Tensor]:
    """The leaves from which a tensor was made."""
    node = node_of(x) if isinstance(x, Tensor) else None
    below = () if node is None else reachable([node])
    found = (n.variable for n in below if isinstance(n, AccumulateGrad))
    return [leaf for leaf in found if leaf is not None]


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


def is_surely_finite(out: Any) -> bool:
    """True for a number or tensor whose values are finite; it is false for very large ones, too."""
    kind = type(out)
    if kind is Tensor or kind is Number:
        out = out.data
        if type(out) is not float:
            return type(out) in _WHOLE or squares_are_finite(out)
    elif kind is not float:
        return kind is bool or kind is int
    return bool(out - out == 0.0)


def _leaves(value: Any) -> Iterator[Any]:
    """The numbers and tensors in a value."""
    if isinstance(value, Tensor) or type(value) in NUMBERS:
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)


def is_finite(x: Any) -> bool:
    """True if a number or tensor holds neither nan nor infinity."""
    return holds_finite(data_of(x))


def _made_finite(x: Any) -> Any:
    data = data_of(x)
    if type(x) is Number or type(data) in NUMBERS:
        return 1.0
    return Tensor(np.where(np.isfinite(data), data, 1.0))
