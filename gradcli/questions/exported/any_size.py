"""Source code for arrays of any size: found from samples, and tried at small sizes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.export import sizes
from gradcli.engine.compile.export.bounds import are_in_range
from gradcli.engine.compile.export.languages import python
from gradcli.engine.compile.export.unit import Unit
from gradcli.engine.compile.export.written import Variable
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import np
from gradcli.errors import GradError
from gradcli.ir.program import Input

Write: TypeAlias = "Callable[[Mapping[str, int], frozenset[str]], Unit]"
"""Writes the function for some sizes; the words are those that the language has."""

_SMALL = range(1, 9)
_MORE = 3  # sizes above the least that are tried, too


class OfOneSize(NotCompilable):
    """A program has source code for arrays of one size alone; the input `name` has it."""

    def __init__(self, why: NotCompilable, name: str) -> None:
        super().__init__(f"for arrays of any size, {why.reason}", why.span)
        self.name = name


def free_sizes(inputs: Sequence[Input], given: Mapping[str, Given]) -> list[str]:
    """The names that the sizes of inputs have, but of those with a value, which sets its sizes."""
    names: dict[str, None] = {}
    known: set[str] = set()
    for i in inputs:
        own = [*sizes_of(i).values()]
        names.update(dict.fromkeys(own))
        known.update(() if i.is_missing(given) else own)
    known.update(i.name for i in inputs)
    return [name for name in names if name not in known]


def given_sizes(inputs: Sequence[Input], given: Mapping[str, Given]) -> dict[str, int]:
    """The sizes that given values have, by name."""
    found: dict[str, int] = {}
    for i in inputs:
        shape = np.shape(given[i.name].value) if i.name in given else ()
        found.update((name, shape[k]) for k, name in sizes_of(i).items() if k < len(shape))
        if i.name in given and type(given[i.name].value) is int:
            found[i.name] = given[i.name].value
    return found


def sizes_of(i: Input) -> dict[int, str]:
    """The names of the sizes of an input, by their places."""
    declared = (i.type or ("", ()))[1] or ()
    return {k: x for k, x in enumerate(declared) if isinstance(x, str)}


def has_size(i: Input, names: Container[str]) -> bool:
    """True for an input that has one of these sizes."""
    return any(name in names for name in sizes_of(i).values())


def of_any_size(names: Sequence[str], large: Write, known: Write, words: frozenset[str]) -> Unit:
    """The function for arrays of any size.

    Args:
        names: The names of the sizes.
        large: Writes the function for sizes that stand for free ones.
        known: Writes the function for known sizes.
        words: The words of the language.

    Raises:
        NotCompilable: If its form depends on a size.
    """
    every = sizes.samples(names)
    made = sizes.general([large(sample, words) for sample in every], every)
    tried = made
    if words is not python.RESERVED:
        tried = sizes.general([large(sample, python.RESERVED) for sample in every], every)
    for least in _SMALL:
        if all(_holds(tried, known, sample) for sample in _around(names, least)):
            return made.changed(least=least)
    raise sizes.Differs("the form of the code depends on the size")


def _around(names: Sequence[str], least: int) -> Iterator[Mapping[str, int]]:
    """Small sizes from the least on: equal ones, and one larger than the others."""
    for more in range(_MORE + 1):
        yield dict.fromkeys(names, least + more)
    for name in names if len(names) > 1 else ():
        yield {**dict.fromkeys(names, least), name: least + _MORE}


def _holds(unit: Unit, known: Write, sample: Mapping[str, int]) -> bool:
    """True if a function gives, for these sizes, what one for just these sizes gives."""
    own = dict(zip(unit.free, sample.values(), strict=True))
    if not are_in_range(unit, own):
        return False
    try:
        expected = _called(known(sample, python.RESERVED), sample)
    except (NotCompilable, GradError):
        return False
    found = _called(unit, own)
    if expected is None or found is None:
        return expected is found
    return len(expected) == len(found) and bool(np.allclose(expected, found, rtol=1e-9))


def _called(unit: Unit, sample: Mapping[str, int]) -> Any:
    """The numbers that a function gives; None if it refuses."""
    space: dict[str, Any] = {}
    exec(compile(python.source(unit, ""), unit.name, "exec"), space)
    given = [_value(p.type, [_size(x, sample) for x in p.shape]) for p in unit.parameters]
    try:
        found = space[unit.name](*given)
    except (ArithmeticError, IndexError):
        return None
    several = found if isinstance(found, tuple) else (found,)
    return np.concatenate([np.ravel(x) for x in several])


def _size(x: Any, sample: Mapping[str, int]) -> int:
    return sample[x.name] if isinstance(x, Variable) else int(x)


def _value(type: str, shape: Sequence[int]) -> Any:
    """Numbers between 0.3 and 1.3; small ints, and true."""
    if type != "float":
        return np.ones(shape, np.int64 if type == "int" else bool) if shape else 1
    count = int(np.prod(shape))
    found = 0.3 + (np.arange(1, count + 1) * 0.6180339887 % 1.0).reshape(shape)
    return found if shape else float(found)
