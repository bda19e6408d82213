"""Functions with the program's own derivative rules: emit `forward` without derivatives, and keep
the rules as typed programs for the passes. The interpreter's version is
`engine.run.derivatives.own`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.differentiated import Call, free, number_in
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    Cell,
    Closure,
    Conflict,
    Context,
    Own,
    Transform,
    is_number,
    number_type,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import (
    Block,
    NotCompilable,
    Operand,
    Program,
    Rule,
    Ruled,
    Tell,
    Value,
    is_array,
)
from gradcli.engine.compile.walk import instructions
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError
from gradcli.record import Record

_UNKNOWN = Conflict("whether an argument is differentiated by depends on the path")
_SAVED = Conflict("a result that is marked as not differentiable is saved")


class OwnFunctions:
    """The own functions of one program.

    Args:
        call: Calls a function of the program.
        changes: True for a function that reads an outer name that may have changed when a
            derivative is taken.
    """

    def __init__(self, trace: Trace, call: Call, changes: Callable[[Closure], bool]) -> None:
        self._trace = trace
        self._call = call
        self._changes = changes

    # --- attributes and methods ----------------------------------------------------------------

    def attribute(self, receiver: Own | Context, name: str) -> Any:
        """Return `receiver.name`."""
        if isinstance(receiver, Own):
            if name == "apply":
                return Transform(lambda args, keywords: self.apply(receiver, args, keywords))
            found = receiver.methods.get(name)
        elif name == "saved_tensors":
            return receiver.saved
        elif name == "needs_input_grad":
            return receiver.needs_input_grad
        else:
            found = receiver.fields.get(name)
        if found is None:
            raise self._trace.refused(f"`.{name}` is not there")
        return found

    def method(self, receiver: Own | Context, name: str, args: Sequence[Any], named: Any) -> Any:
        """Return the result of `receiver.name(args)`."""
        if isinstance(receiver, Context) and name == "save_for_backward" and not named:
            self._hold_open(receiver)
            receiver.saved = tuple(args)
            return None
        if isinstance(receiver, Context) and name == "mark_non_differentiable" and not named:
            self._hold_open(receiver)
            receiver.constants = tuple(args)
            return None
        return self._call(self.attribute(receiver, name), args, named)

    def set(self, receiver: Context, name: str, value: Any) -> None:
        """Do `receiver.name = value`."""
        self._hold_open(receiver)
        receiver.fields[name] = value

    def _hold_open(self, context: Context) -> None:
        if self._trace.depth != context.depth:
            raise self._trace.refused("something is put on `ctx` in a branch, a loop or a rule")

    # --- calls ---------------------------------------------------------------------------------

    def apply(self, function: Own, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Return the result of `NAME.apply(args)`."""
        trace = self._trace
        if keywords or not all(map(_is_single, args)):
            raise trace.refused(f"`{function.name}` of a value that is not a number")
        context = Context(tuple(map(self._needs, args)), trace.depth)
        before, trace.recording = trace.recording, False
        out = self._method(function, "forward", context, args)
        trace.recording = before
        outs = out if isinstance(out, tuple) else (out,)
        if not all(map(_is_single, outs)):
            raise trace.refused(f"`forward` of `{function.name}` gives no number")
        numbers = [trace.cut(number_in(x)) for x in outs]
        constants = [number_type(n) != "float" for n in numbers]
        moved = [
            k
            for k, x in enumerate(outs)
            if not constants[k] and not any(x is c for c in context.constants)
        ]
        if moved and before and any(need is not False for need in context.needs_input_grad):
            values = [operand(numbers[k]) for k in moved]
            targets = [self._float() for _ in moved]
            known = dict(zip(moved, targets, strict=True))
            rule, reads = self._rule(function, context, args, outs, known)
            given = tuple([operand(number_in(a)) for a in args])
            made = tuple([t.value for t in targets])
            trace.add(Ruled(trace.span, made, tuple(values), given, reads, rule))
            for k, target in zip(moved, targets, strict=True):
                numbers[k] = target
        if any(isinstance(x, Cell) for x in outs):
            numbers = [trace.cell(number, visible=None) for number in numbers]
        return tuple(numbers) if isinstance(out, tuple) else numbers[0]

    def _needs(self, value: Any) -> Any:
        """Return True if an argument is a node of the graph."""
        links = self._trace.links(operand(number_in(value)))
        if not links.may:
            return False
        return True if self._trace.connections.is_node(links) else _UNKNOWN

    def _method(self, function: Own, name: str, context: Context, args: Sequence[Any]) -> Any:
        if name not in function.methods:
            raise self._trace.refused(f"`{function.name}` has no `{name}`")
        return self._call(function.methods[name], [context, *args], {})

    # --- its rules -----------------------------------------------------------------------------

    def _rule(
        self,
        function: Own,
        context: Context,
        args: Sequence[Any],
        outs: Sequence[Any],
        targets: Mapping[int, Symbol],
    ) -> tuple[Rule, tuple[Operand, ...]]:
        """Return the rule of the results that have derivatives, and the values that it reads."""
        trace = self._trace
        saved = context.saved
        context.saved = tuple([self._connected(x, args, outs, targets) for x in saved])
        gs = {k: self._float() for k in targets}
        dots = [self._float() for _ in args]
        cotangents = [
            trace.cell(gs.get(k, 0.0)) if number_type(number_in(x)) == "float" else None
            for k, x in enumerate(outs)
        ]
        tangents = [
            trace.cell(dot) if number_type(number_in(a)) == "float" else None
            for a, dot in zip(args, dots, strict=True)
        ]
        pull = self._done(function, "backward", context, cotangents, range(len(args)), len(args))
        push: _Done | NotCompilable | None = None
        if "jvp" in function.methods:
            push = self._done(function, "jvp", context, tangents, [*targets], len(outs))
        context.saved = saved
        ends = [t.value for t in targets.values()]
        own = {v.number for v in (*ends, *(x.value for x in (*gs.values(), *dots)))}
        blocks = [done.block for done in (pull, push) if isinstance(done, _Done)]
        found = {v.number: v for block in blocks for v in free(block) if v.number not in own}
        behind = (*ends, *found.values())
        rule = Rule(
            _program(pull, gs.values(), behind),
            pull.places if isinstance(pull, _Done) else (),
            None if push is None else _program(push, dots, behind),
            push.places if isinstance(push, _Done) else (),
        )
        return rule, tuple(found.values())

    def _connected(
        self, value: Any, args: Sequence[Any], outs: Sequence[Any], targets: Mapping[int, Symbol]
    ) -> Any:
        """Return a saved value; for a result, the one that has derivatives."""
        if any(value is a for a in args):
            return value
        place = next((k for k, x in enumerate(outs) if value is x), None)
        if place is None:
            return value
        if place not in targets:
            return _SAVED
        target = targets[place]
        return self._trace.cell(target, visible=None) if isinstance(value, Cell) else target

    def _done(
        self,
        function: Own,
        name: str,
        context: Context,
        given: Sequence[Any],
        kept: Sequence[int],
        count: int,
    ) -> _Done | NotCompilable:
        """Return the instructions of a method and its results in some places, or the reason why it
        cannot be compiled.
        """
        trace = self._trace
        before, span = trace.recording, trace.span
        trace.recording = True
        reason = f"`{name}` of `{function.name}` changes what is outside"
        try:
            with trace.untouched(reason), trace.block() as body:
                if name in function.methods and self._changes(function.methods[name]):
                    reason = f"`{name}` of `{function.name}` reads a name that changes"
                    raise trace.refused(reason)
                out = self._method(function, name, context, given)
                items = [*out] if isinstance(out, tuple) else [out]
                while len(items) > count and items[-1] is None:
                    items.pop()
                if len(items) != count:
                    raise trace.refused(f"`{name}` of `{function.name}` gives another number")
                places = tuple([p for p, k in enumerate(kept) if items[k] is not None])
                results = tuple([self._derivative(items[kept[p]]) for p in places])
            if any(isinstance(i, Tell) for i in instructions(body)):
                raise trace.refused(f"`{name}` of `{function.name}` prints")
            return _Done(Block(tuple(body), results), places)
        except GradError as error:
            return NotCompilable(str(error), trace.span)
        except NotCompilable as error:
            return error
        finally:
            trace.recording, trace.span = before, span

    def _float(self) -> Symbol:
        """Return a new float for an instruction to define."""
        return Symbol(self._trace.value("float"), self._trace)

    def _derivative(self, value: Any) -> Operand:
        number = number_in(value)
        if not is_number(number):
            raise self._trace.refused("a rule gives a value that is not a number")
        if number_type(number) == "float":
            return operand(number)
        return operand(ops.mul(number, 1.0)) if isinstance(number, Symbol) else float(number)


def _is_single(value: Any) -> bool:
    """True for a number or a 0-d tensor."""
    number = number_in(value)
    return is_number(number) and not is_array(number_type(number))


class _Done(Record):
    """The instructions of a method, and the places in which it returns values."""

    __slots__ = ("block", "places")
    block: Block
    places: tuple[int, ...]


def _program(
    done: _Done | NotCompilable, given: Iterable[Symbol], behind: Sequence[Value]
) -> Program | NotCompilable:
    """Return a method as a typed program."""
    if isinstance(done, NotCompilable):
        return done
    return Program((*[x.value for x in given], *behind), done.block, ())
