"""Run the straight-line beginning of a program before its run, to see whether its tape refuses
anything.

Up to the first branch, no value decides which ops are recorded, what they save, what `backward`
frees and what changes in place. The engine therefore runs this part on the given inputs, or on
stand-ins: what it refuses here, it refuses in every run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.execution.observe import Event, Observer
from gradcli.engine.run.session.state import RandomNumbers, Session
from gradcli.engine.run.session.watched_names import WatchedNames
from gradcli.engine.static.facts import Facts
from gradcli.engine.static.origins import makes_leaf
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import Like
from gradcli.engine.values.data import Quiet, np
from gradcli.errors import Diagnostic, GradError
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Span

MOST_REHEARSED = 2000
"""Instructions of main that are rehearsed."""

_OF_THE_TAPE = frozenset(
    {"backward-twice", "changed-in-place", "leaf-in-place", "unrecorded-view", "view-in-place"}
)
_LARGEST = 2**14  # elements of a value
_EVENTS = 2000
_SIZE = 3  # of a dimension without a known size

_CHANGES = (ir.Augment, ir.Inplace, ir.SetItem)
_STEPS = (
    *(ir.Copy, ir.Operator, ir.Apply, ir.CallBuiltin, ir.Call, ir.Method, ir.GetAttribute),
    *(ir.SetAttribute, ir.Build, ir.Format, ir.Unpack, ir.Return, ir.Assert, ir.Input, ir.Watch),
    *(ir.Mode, ir.Define, ir.DefineRule, *_CHANGES),
)
"""Instructions that act the same for all values, with the blocks and functions in them."""


def rehearsed(
    program: ir.Program, given: Mapping[str, Given], varying: Collection[str], facts: Facts
) -> Diagnostic | None:
    """The error that the tape raises in every run of a program; or, as a warning, the one that it
    raises when the result of a program without branches is differentiated.

    Args:
        program: The program.
        given: Values from outside by name.
        varying: Names that would be differentiated.
        facts: The facts of its values.
    """
    if not _may_be_refused(program, varying):
        return None
    main = program.main
    body = list(_straight(main.body[:MOST_REHEARSED], facts))
    inputs = _stand_ins(body, given)
    if inputs is None:
        return None
    result = program.result if len(body) == len(main.body) else None
    start = ir.Function(main.name, (), body, main.locals, main.captures, main.span)
    named = (program.names, program.variables, program.inputs)
    beginning = ir.Program(
        program.source, start, *named, result, program.output, program.watchable, program.library
    )
    session = Session(watched=WatchedNames(frozenset(varying)), random=RandomNumbers(0))
    try:
        _, found = Executable(beginning).run(session, inputs, _Short())
        value = session.tensor(found)
    except GradError as error:
        return _of_the_tape(error)
    except _Enough:
        return None
    return None if result is None else _slope(session.watched.nodes.values(), value, result.span)


def _slope(points: Collection[Node], value: Any, span: Span) -> Diagnostic | None:
    """The error that the tape raises for the gradient of a result, or None."""
    if not isinstance(value, Tensor):
        return None
    line = Linearized([value], dict.fromkeys(points, Like((), "")))
    try:
        with Quiet():
            line.pull([np.ones(value.shape) if value.shape else 1.0])
    except GradError as error:
        found = _of_the_tape(error)
        if found is not None:
            found.span, found.severity = span, "warning"
            found.notes = (*found.notes, "the program runs; its gradient is refused")
        return found
    return None


def _of_the_tape(error: GradError) -> Diagnostic | None:
    found = error.diagnostics[0]
    return found if found.code in _OF_THE_TAPE else None


class _Enough(Exception):  # no error: the rehearsal ends
    pass


class _Short(Observer):
    """Ends a run after `_EVENTS` events."""

    def event(
        self, number: int, instruction: ir.Instruction | None, given: Sequence[Any], done: Event
    ) -> Any:
        if number > _EVENTS:
            raise _Enough
        return done()


def _may_be_refused(program: ir.Program, varying: Collection[str]) -> bool:
    """True if the program takes gradients, or changes in place a tensor that may have one."""
    changes, leaves = False, bool(varying)
    for i in visit.everything(program):
        if isinstance(i, ir.Method) and i.name == "backward":
            return True
        if isinstance(i, ir.Apply) and i.op == "grad":
            return True
        changes = changes or isinstance(i, _CHANGES) or _is_twin(i)
        leaves = leaves or makes_leaf(i)
    return changes and leaves


def _is_twin(i: ir.Instruction) -> bool:
    return isinstance(i, (ir.Method, ir.CallBuiltin)) and i.name.endswith("_")


def _straight(body: Sequence[ir.Instruction], facts: Facts) -> Iterator[ir.Instruction]:
    """The instructions up to the first that a value decides, or that makes a large one."""
    for i in body:
        if not _is_straight(i, facts):
            return
        yield i


def _is_straight(i: ir.Instruction, facts: Facts) -> bool:
    known = facts.of(i)
    if isinstance(i, ir.For):
        through = None if known is None else known.operands[0].constant
        if not isinstance(through, range):
            return False
    elif not isinstance(i, _STEPS):
        return False
    if known is not None and not isinstance(i, ir.Build) and any(map(_is_large, known.targets)):
        return False
    bodies = [*visit.blocks(i), *(f.body for f in visit.functions(i))]
    return all(_is_straight(inner, facts) for body in bodies for inner in body)


def _is_large(fact: Any) -> bool:
    if fact.kind == "list":
        return fact.items is None or len(fact.items) > _LARGEST
    return fact.shape is not None and math.prod(fact.shape) > _LARGEST


def _stand_ins(
    body: Sequence[ir.Instruction], given: Mapping[str, Given]
) -> dict[str, Given] | None:
    """Values for the inputs that the walk meets, given ones included. None if the form of one is
    unknown.
    """
    found = {}
    for i in body:
        if not isinstance(i, ir.Input):
            continue
        if i.name in given:
            found[i.name] = given[i.name]
        elif i.default is None:
            if i.type is None or Ellipsis in (i.type[1] or ()):
                return None
            element, sizes = i.type
            value = {"float": 1.0, "int": 1, "bool": True}[element]
            shape = tuple(s if isinstance(s, int) else _SIZE for s in sizes or ())
            made = value if sizes is None else np.full(shape, value)
            found[i.name] = Given(made, i.name)
    return found
