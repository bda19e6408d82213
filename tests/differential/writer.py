"""Writes a random program: each statement is tried in PyTorch as it is written, so that the next
ones know what the names hold.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

from . import by_pytorch
from .program import Input, Program

LARGEST = 1e4
REFUSED = 0.02  # of the statements that PyTorch refuses
Test = Callable[[torch.Tensor], bool]


class NotThere(Exception):
    """A statement cannot be written, for something that it needs gives no value."""


class Writer:
    """A program that is being written.

    Fields:
        rng: What chooses.
        scope: The names of the program and what they hold so far.
        lines: Its statements so far.
        functions: Names of its functions of one tensor, and the argument each was tried with.
        frozen: Names that an augmented assignment would make local.
        inside: How many blocks are being written.
        ended: Whether the last statement is one that PyTorch refuses.
    """

    def __init__(self, seed: Any) -> None:
        self.rng = random.Random(seed)
        self.inputs: list[Input] = []
        self.lines: list[str] = []
        self.functions: list[tuple[str, str]] = []
        self.frozen: set[str] = set()
        self.inside = 0
        self.ended = False
        self.count = 0
        self.scope = by_pytorch.scope([])

    # --- names ---------------------------------------------------------------------------------

    def name(self, letter: str = "t") -> str:
        """A new name."""
        self.count += 1
        return f"{letter}{self.count}"

    def tensors(self, test: Test | None = None) -> list[str]:
        """Names of tensors, oldest first."""
        return [
            n
            for n, v in self.scope.items()
            if isinstance(v, torch.Tensor) and usable(v) and (test is None or test(v))
        ]

    def pick(self, test: Test | None = None) -> str | None:
        """The name of a tensor, rather a late one."""
        names = self.tensors(test)
        if not names:
            return None
        size = len(names)
        return names[max(self.rng.randrange(size), self.rng.randrange(size))]

    def held(self, text: str) -> Any:
        """What an expression gives here.

        Raises:
            NotThere: If it gives nothing.
        """
        try:
            return eval(text, self.scope)
        except Exception:
            raise NotThere(text) from None

    # --- statements ----------------------------------------------------------------------------

    def keeps(self, found: Any) -> bool:
        """Whether a value is good to go on with."""
        return small(found)

    def expression(self, text: str) -> Any:
        """What an expression gives, or None if it is refused or too large to go on with."""
        try:
            found = self.held(text)
        except NotThere:
            return None
        return found if self.keeps(found) else None

    def assign(self, text: str) -> str | None:
        """Adds `name = text` and gives the name, if that is a value to go on with."""
        if self.ended:
            return None
        try:
            found = self.held(text)
        except NotThere:
            self.refused(f"{self.name()} = {text}")
            return None
        if not self.keeps(found):
            return None
        name = self.name()
        self.lines.append(f"{name} = {text}")
        self.scope[name] = found
        return name

    def statement(self, line: str) -> bool:
        """Adds a statement, if it can be done and what it makes is to go on with."""
        if self.ended:
            return False
        before = dict(self.scope)
        try:
            exec(line, self.scope)
        except Exception:
            self.again()
            self.refused(line)
            return False
        changed = (v for n, v in self.scope.items() if v is not before.get(n) or touched(v))
        if not all(self.keeps(v) for v in changed):
            self.again()
            return False
        self.lines.append(line)
        return True

    def refused(self, line: str) -> None:
        """A statement that PyTorch refuses: rarely it stays, and ends the program."""
        if not self.inside and not self.ended and self.rng.random() < REFUSED:
            self.lines.append(line)
            self.ended = True

    def block(self, head: str, write: Callable[[], object], *behind: str) -> bool:
        """Adds a statement with a block, whose statements `write` adds, and what stands behind."""
        if self.ended:
            return False
        outside, self.lines = self.lines, []
        functions = list(self.functions)
        self.inside += 1
        try:
            write()
        finally:
            self.inside -= 1
            written, self.lines = self.lines, outside
            self.functions = functions
        self.again()
        return bool(written) and self.statement("\n".join([head, *map(indented, written), *behind]))

    def again(self) -> None:
        """Brings the names to what they hold when nothing but the statements is done."""
        if self.inside:
            return
        fresh = by_pytorch.scope([])
        try:
            for i in self.inputs:
                exec(i.assigned(), fresh)
            exec("\n".join(self.lines), fresh)
        except Exception:
            self.ended = True
        self.scope = fresh

    def given(self, one: Input) -> None:
        """Adds an input."""
        self.inputs.append(one)
        exec(one.assigned(), self.scope)

    def program(self, result: str, cotangent: Any, order: int) -> Program:
        """What has been written."""
        body = "\n".join([*self.lines, result])
        return Program(tuple(self.inputs), body, cotangent, order)


class WriterOfNumbers(Writer):
    """Writes a program of numbers and tensors without dimensions."""

    def keeps(self, found: Any) -> bool:
        """Likewise, and none that has dimensions."""
        if isinstance(found, torch.Tensor) and (found.dim() or found.dtype == torch.float32):
            return False
        return super().keeps(found)


def usable(x: torch.Tensor) -> bool:
    """Whether a tensor is small, and PyTorch goes on with it: it does not with one of several views
    when its base has been changed.
    """
    try:
        return x.numel() <= 40 and (x.is_leaf or True)
    except RuntimeError:
        return False


def touched(found: Any) -> bool:
    """Whether a value may have been changed in place."""
    return isinstance(found, torch.Tensor) and found._version > 0


def small(found: Any) -> bool:
    """Whether a value is good to go on with: finite and not large."""
    if isinstance(found, torch.Tensor):
        if found.numel() > 100:
            return False
        return not found.is_floating_point() or bool((found.detach().abs() < LARGEST).all())
    if isinstance(found, list | tuple):
        return all(small(v) for v in found)
    if isinstance(found, float | int):
        return abs(found) < LARGEST
    return True


def indented(line: str) -> str:
    """A statement in a block."""
    return "    " + line.replace("\n", "\n    ")
