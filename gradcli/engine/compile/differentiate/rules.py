"""Inlines the program's own derivative rules into the derivative of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gradcli.engine.compile.symbols import Builder
from gradcli.engine.compile.typed import NotCompilable, Operand, Program, Ruled, Value
from gradcli.engine.compile.walk import Inliner, read
from gradcli.record import Record


class Place(Record):
    """The place where a pass writes.

    Fields:
        builder: takes the instructions.
        there: maps an operand of the program to its name at this place.
        stack: makes a new stack.
    """

    __slots__ = ("builder", "there", "stack")
    builder: Builder
    there: Callable[[Operand], Operand]
    stack: Callable[[], int]


def pulled(i: Ruled, gs: Sequence[Operand], place: Place) -> Iterator[tuple[Operand, Operand]]:
    """Yield each argument that gets a cotangent from those of the targets, with the cotangent."""
    found = written(i, possible(i.rule.pull), gs, place)
    return zip([i.args[k] for k in i.rule.given], found, strict=True)


def pushed(i: Ruled, dots: Sequence[Operand], place: Place) -> Iterator[tuple[Value, Operand]]:
    """Yield each target that gets a tangent from those of the arguments, with the tangent."""
    assert i.rule.push is not None
    found = written(i, possible(i.rule.push), dots, place)
    return zip([i.targets[k] for k in i.rule.moved], found, strict=True)


def possible(program: Program | NotCompilable) -> Program:
    """Return the program of a rule.

    Raises:
        NotCompilable: If the rule cannot be compiled.
    """
    if isinstance(program, NotCompilable):
        raise program
    return program


def written(
    i: Ruled,
    program: Program,
    given: Sequence[Operand],
    place: Place,
    seeds: Sequence[Operand] = (),
) -> Sequence[Operand]:
    """Inline the program of a rule and return its results.

    Args:
        i: The instruction that has the rule.
        program: Its inputs are `given`, the targets, the values that the rule reads, and `seeds`.
        given: Its first inputs.
        place: Where to write.
        seeds: Its last inputs.
    """
    wanted = {v.number for v in read(program.block)}
    names: dict[int, Operand] = {}
    start = len(given)
    behind = (*i.targets, *i.reads)
    for k, v in enumerate(program.inputs):
        if v.number in wanted:
            names[v.number] = (
                given[k]
                if k < start
                else place.there(behind[k - start])
                if k < start + len(behind)
                else seeds[k - start - len(behind)]
            )
    copier = Inliner(names, place.builder.value, place.stack, {})
    for instruction in copier.body(program.block.body):
        place.builder.add(instruction)
    return copier.operands(program.block.results)
