"""A program as one function of source code, with what its interface tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Any

from gradcli.engine.compile.export.arrays.body import ArrayBody
from gradcli.engine.compile.export.body import Body
from gradcli.engine.compile.export.names import Names, named
from gradcli.engine.compile.export.operations import Operations
from gradcli.engine.compile.export.remarks import Remarks
from gradcli.engine.compile.export.shared import prepared
from gradcli.engine.compile.export.sweeps import Swept
from gradcli.engine.compile.export.tape import relieved
from gradcli.engine.compile.export.trim import called
from gradcli.engine.compile.export.written import (
    Expression,
    Function,
    Item,
    Statement,
    Variable,
    Whole,
    added,
    names_in,
    names_read,
)
from gradcli.engine.compile.passes.recomputed import read_again
from gradcli.engine.compile.passes.together import moved_together
from gradcli.engine.compile.typed import Do, Program, Value, dtype_and_shape, is_array, type_of
from gradcli.engine.compile.walk import has_arrays, instructions
from gradcli.engine.ops.catalog import ops
from gradcli.record import Record


class Parameter(Record):
    """An input of the function.

    Fields:
        name: its name in the source code.
        of: its name in the program.
        type: the type of its numbers.
        shape: the sizes of an array.
        about: the program's comment on it.
        sizes: the free sizes of the function that it is the first to have.
    """

    __slots__ = ("name", "of", "type", "shape", "about", "sizes")
    name: str
    of: str
    type: str
    shape: tuple[Expression, ...]
    about: str
    sizes: tuple[Variable, ...]


class Said(Sequence[str]):
    """What each of several numbers is, in words that are made when they are asked for.

    Args:
        count: How many they are.
        words: Gives the words of one by its place.
        names: What all of them are, in words without places.
    """

    def __init__(self, count: int, words: Callable[[int], str], names: Sequence[str]) -> None:
        self._count = count
        self._words = words
        self.names = names

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self._words(j) for j in range(*k.indices(self._count))]
        return self._words(range(self._count)[k])


class Run(Record):
    """Numbers that follow each other in an output: the place of the first, its expression, and, if
    they are elements of an array from its beginning on, their count, which is else 0.
    """

    __slots__ = ("at", "value", "count")
    at: Expression
    value: Expression
    count: Expression


class Output(Record):
    """Numbers that the function gives.

    Fields:
        name: their name.
        runs: them, in their order.
        size: how many they are.
        says: what each of them is.
        is_number: True for a single number by its kind, not an array of one.
    """

    __slots__ = ("name", "runs", "size", "says", "is_number")
    name: str
    runs: tuple[Run, ...]
    size: Expression
    says: Said
    is_number: bool

    @property
    def values(self) -> list[Expression]:
        """The numbers, if it is known how many they are."""
        found: list[Expression] = []
        for x, count in ((run.value, run.count) for run in self.runs):
            assert isinstance(count, int)
            own = [x.array, x.type] if isinstance(x, Item) else []
            found += [Item(own[0], k, own[1]) for k in range(count)] or [x]
        return found


def runs(values: Iterable[Expression | Whole]) -> tuple[Run, ...]:
    """Numbers as runs."""
    found: list[Run] = []
    at = 0
    for x in values:
        if not isinstance(x, Whole):
            found.append(Run(at, x, 0))
            at += 1
        elif x.count > _FEW:
            found.append(Run(at, Item(x.array, 0, x.type), x.count))
            at += x.count
        else:
            found += [Run(at + k, Item(x.array, k, x.type), 0) for k in range(x.count)]
            at += x.count
    return tuple(found)


_FEW = 4  # elements of an array that are written one by one


class Tape(Record):
    """The numbers that the tape holds: `fixed`, and at most `per_turn` for each turn of a loop
    whose turns are unknown before.
    """

    __slots__ = ("fixed", "per_turn")
    fixed: Expression
    per_turn: Expression


class Unit(Record):
    """A function of source code.

    Fields:
        name: its name.
        source: the name of the program's file.
        about: the comment that the program begins with.
        parameters: its inputs.
        functions: the functions that it calls, in the order in which they may be defined.
        body: its statements.
        outputs: what it gives: the value, then the derivatives.
        tape: what its tape holds.
        room: how many numbers its arrays in the work memory have.
        work: how many numbers it needs for these and what is fixed on its tape.
        unread: the names of the parameters that nothing reads.
        fixed: the inputs that the source code has only one value of, with it.
        is_exact: True if its digits are gradcli's, with the same C library.
        free: the names of its free sizes, in the order in which they were asked for.
        least: the least that its free sizes may be.
    """

    __slots__ = (
        *("name", "source", "about", "parameters", "functions", "body", "outputs", "tape"),
        *("room", "work", "unread", "fixed", "is_exact", "free", "least"),
    )
    name: str
    source: str
    about: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    functions: tuple[Function, ...]
    body: tuple[Statement, ...]
    outputs: tuple[Output, ...]
    tape: Tape
    room: Expression
    work: Expression
    unread: tuple[str, ...]
    fixed: tuple[tuple[str, float | int | bool], ...]
    is_exact: bool
    free: tuple[str, ...]
    least: int

    @property
    def sizes(self) -> list[Variable]:
        """Its free sizes."""
        return [v for p in self.parameters for v in p.sizes]

    def changed(self, **fields: Any) -> Unit:
        """The function with other values of some fields."""
        return Unit(**{**{name: getattr(self, name) for name in self._fields}, **fields})

    @property
    def head(self) -> list[str]:
        """What is said of the program: its comment, and the values that it has for good."""
        lines = paragraphs(self.about)
        for name, value in self.fixed:
            said = f"`{name}` is {value} in this code, whose form depends on it."
            lines += ["", said] if lines else [said]
        return lines


class Given(Record):
    """An input of the program: its name, shape, type and comment, and its values in order."""

    __slots__ = ("name", "shape", "type", "about", "values")
    name: str
    shape: tuple[int, ...]
    type: str
    about: str
    values: Sequence[Value]


class Results(Record):
    """Numbers that are wanted: a name, their places among the results of the typed program, none
    for those of its matrix, what each of them is, and whether it is a single number by its kind.
    """

    __slots__ = ("name", "places", "says", "is_number")
    name: str
    places: Sequence[int]
    says: Said
    is_number: bool


class Question(Record):
    """What source code is written of.

    Fields:
        program: the typed program with derivatives.
        original: the typed program without.
        variables: the program's names of values of the original.
        first: the number of the first value that belongs to derivatives.
        cotangents: the values that cotangents belong to.
        inputs: the inputs, in the order of the function's parameters.
        known: the constants that are inputs of the typed program, by number.
        outputs: the results.
        remarks: the program's comments.
        source: the name of the program's file.
        fixed: the inputs that the program has only one value of, with it.
        swept: the program with its matrix, if it has one.
    """

    __slots__ = (
        *("program", "original", "variables", "first", "cotangents", "inputs", "known", "outputs"),
        *("remarks", "source", "fixed", "swept"),
    )
    program: Program
    original: Program
    variables: Mapping[int, str]
    first: int
    cotangents: Mapping[int, int]
    inputs: Sequence[Given]
    known: Mapping[int, float | int | bool]
    outputs: Sequence[Results]
    remarks: Remarks
    source: str
    fixed: tuple[tuple[str, float | int | bool], ...]
    swept: Swept | None


def unit(question: Question, name: str, reserved: frozenset[str], sizes: Mapping[str, int]) -> Unit:
    """The function of a question, under a name; `reserved` are the words of the language, `sizes`
    the values that stand for free sizes.

    Raises:
        NotCompilable: If something in the program has no source code.
    """
    asked = question
    places = [k for output in asked.outputs for k in output.places]
    every = instructions(asked.program.block.body)
    again = read_again(moved_together(prepared(asked.program, places)))
    less = relieved(again.program)
    program = less.program
    outputs = {output.name for output in asked.outputs}
    names = Names(reserved | outputs | {"work", "work_size", "used"})
    function = names(name)
    free = tuple([names(size) for size in sizes])
    parameters = []
    known: dict[int, Expression] = {**asked.known}
    for given in asked.inputs:
        made = Parameter(names(given.name), given.name, given.type, given.shape, given.about, ())
        parameters.append(made)
        if given.shape:
            known.update({v.number: Item(made.name, k, given.type)
                          for k, v in enumerate(given.values)})  # fmt: skip
        else:
            known.update({v.number: Variable(made.name, given.type) for v in given.values})
    wishes = named(program, asked.original, asked.variables, asked.first, asked.cotangents)
    if asked.swept is not None:
        wishes |= asked.swept.names
        for number, of in asked.swept.copies.items():
            if of in wishes:
                wishes.setdefault(number, wishes[of])
    counters = {n: wishes.get(of.number) for n, of in again.counters.items()}
    wishes |= {n: name for n, name in counters.items() if name is not None}
    results = iter(program.block.results)
    for output in asked.outputs:
        at = 0
        for x in islice(results, len(output.places)):
            if isinstance(x, Value):
                said = output.says[at].partition("[")[0] if is_array(x.type) else output.says[at]
                wishes.setdefault(x.number, _wish(said))
            at += prod(dtype_and_shape(type_of(x))[1])
    operations = Operations(names, min(sizes.values(), default=0))
    with_arrays = has_arrays(program)
    given_ = less, wishes, names, operations, asked.remarks, asked.first, known
    body = ArrayBody(*given_, asked.swept) if with_arrays else Body(*given_)
    left = iter(body.results)
    made_outputs = []
    for output in asked.outputs:
        count = len(output.says)
        own = islice(left, len(output.places))
        several = runs(own) if output.places else _elements(body.matrix, count)
        made_outputs.append(Output(output.name, several, count, output.says, output.is_number))
    tape = _tape(body)
    return Unit(
        function,
        asked.source,
        tuple(asked.remarks.head),
        tuple(parameters),
        called(operations.functions, body.statements, body.wanted),
        body.statements,
        tuple(made_outputs),
        tape,
        body.room,
        added(tape.fixed, body.room),
        _unread(parameters, body, made_outputs),
        asked.fixed,
        not with_arrays and not any(isinstance(i, Do) and i.op == ops.alone.name for i in every),
        free,
        1,
    )


def _elements(matrix: Item | None, count: int) -> tuple[Run, ...]:
    """The numbers of a matrix."""
    assert matrix is not None
    if count > _FEW:
        return (Run(0, matrix, count),)
    return tuple([Run(k, Item(matrix.array, k, matrix.type), 0) for k in range(count)])


def _wish(said: str) -> str:
    """The name of a result that has none: `d_x` for `d y / d x`."""
    return f"d_{said.rpartition(' / d ')[2]}" if " / d " in said else said


def _tape(body: Body) -> Tape:
    fixed, per_turn = 0, 0
    for count, loops in body.pushes:
        known = [n for n in loops if n is not None]
        if len(known) == len(loops):
            fixed += count * prod(known)
        else:
            per_turn += count
    return Tape(fixed, per_turn)


def _unread(
    parameters: Sequence[Parameter], body: Body, outputs: Iterable[Output]
) -> tuple[str, ...]:
    seen = names_read(body.statements)
    every = [run.value for output in outputs for run in output.runs]
    seen.update(name for x in every for name in names_in(x))
    return tuple([p.name for p in parameters if p.name not in seen])


def paragraphs(lines: Sequence[str]) -> list[str]:
    """Lines joined to paragraphs, which empty lines separate."""
    return " ".join(line or "\n" for line in lines).replace(" \n ", "\n\n").splitlines()
