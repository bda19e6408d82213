"""Names of variables in source code: the program's where there are some, else short ones."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from gradcli.engine.compile.typed import (
    Do,
    DoSeveral,
    If,
    Instruction,
    Loop,
    Pop,
    Program,
    Push,
    Ruled,
    Value,
)
from gradcli.engine.compile.walk import instructions, renamed

_LETTERS = {"float": "t", "int": "n", "bool": "is"}


class Names:
    """Gives each variable a name of its own.

    Args:
        reserved: Words that the language or its library has.
    """

    def __init__(self, reserved: Collection[str]) -> None:
        self._reserved = reserved
        self._taken: set[str] = set()

    def __call__(self, wish: str) -> str:
        """A name like the wished one; a word of the language gets a `_` at its end."""
        word = re.sub(r"\W", "_", wish) or "x"
        word = word if word.isascii() else re.sub(r"[^0-9A-Za-z_]", "x", word)
        word = f"x{word}" if word[0].isdigit() else word
        word = word.strip("_") or "x" if word.startswith("_") else word
        word = f"{word}_" if word in self._reserved else word
        found, k = word, 1
        while found in self._taken:
            k += 1
            found = f"{word}{'_' if word[-1].isdigit() else ''}{k}"
        self._taken.add(found)
        return found

    def release(self, name: str) -> None:
        """Let a name be given again, behind the block in which it stands for something."""
        self._taken.discard(name)

    def numbered(self, type: str) -> str:
        """A name for a value that has none in the program."""
        k = 1
        while f"{_LETTERS[type]}{k}" in self._taken:
            k += 1
        return self(f"{_LETTERS[type]}{k}")


def named(
    program: Program,
    original: Program,
    variables: Mapping[int, str],
    first: int,
    cotangents: Mapping[int, int],
) -> dict[int, str]:
    """The names of the values of a program, by number, as far as they have some.

    Copies of instructions have the program's names by the places that they come from; what a branch
    or loop passes on has the name of the value. A cotangent of `x` is named `d_x`.

    Args:
        program: The program.
        original: The program without derivatives.
        variables: The names of values in it.
        first: The number of the first value that belongs to derivatives.
        cotangents: The values that cotangents belong to.
    """
    found = {v.number: variables[v.number] for v in program.inputs if v.number in variables}
    found |= {n: name for n, name in variables.items() if n < first}
    places = {
        _place(i): variables[i.target.number]
        for i in instructions(original.block.body)
        if isinstance(i, Do) and i.target.number in variables
    }
    every = [*instructions(program.block.body)]
    for i in every:
        if isinstance(i, Do) and i.target.number < first and _place(i) in places:
            found.setdefault(i.target.number, places[_place(i)])
    _passed_on(every, found)
    for number, of in cotangents.items():
        if of in found and number not in found:
            found[number] = f"d_{found[of]}"
    _passed_on(every, found)
    return found


def _place(i: Do) -> tuple[int, int, str, str]:
    return i.span.start, i.span.end, i.op, i.target.type


def _passed_on(every: list[Instruction], found: dict[int, str]) -> None:
    """Name what a branch, a loop or the tape passes on like the value."""
    pushed = {i.stack: i.values for i in every if isinstance(i, Push)}
    for _ in range(3):
        for i in every:
            pairs = [*renamed(i)] if isinstance(i, (If, Loop)) else []
            if isinstance(i, Pop) and i.stack in pushed:
                pairs = [*zip(pushed[i.stack], i.targets, strict=False)]
            if isinstance(i, Ruled):
                pairs = [*zip(i.values, i.targets, strict=True)]
            for x, v in pairs:
                if isinstance(x, Value) and x.number in found and x.type == v.type:
                    found.setdefault(v.number, found[x.number])
            if isinstance(i, Loop):
                for v, t in zip(i.params, i.targets, strict=True):
                    if t.number in found:
                        found.setdefault(v.number, found[t.number])
                    if v.number in found:
                        found.setdefault(t.number, found[v.number])
            if isinstance(i, DoSeveral):
                continue
