"""A program that is valid in both languages, and what is asked about it."""

from __future__ import annotations

import random
import re
from typing import Any

from gradcli.record import Record

TYPES = {"float64": "float", "float32": "float", "int64": "int", "bool": "bool"}


class Input(Record):
    """A value that a program starts from. `declared` says that gradcli reads it as a `param`."""

    __slots__ = ("name", "data", "dtype", "grad", "declared")
    name: str
    data: Any
    dtype: str
    grad: bool
    declared: bool

    def assigned(self) -> str:
        """The line that makes it in PyTorch. A number that is given is a number."""
        if self.declared and not self.grad and not isinstance(self.data, list):
            return f"{self.name} = {self.data}"
        dtype = "" if self.dtype == "float64" else f", dtype=torch.{self.dtype}"
        grad = ", requires_grad=True" if self.grad else ""
        return f"{self.name} = torch.tensor({self.data}{dtype}{grad})"

    def line(self) -> str:
        """Its first line in gradcli."""
        if not self.declared:
            return self.assigned()
        word = "param" if self.grad else "input"
        sizes = shape(self.data)
        brackets = f"[{', '.join(map(str, sizes))}]" if sizes else ""
        return f"{word} {self.name}: {TYPES[self.dtype]}{brackets} = {self.data}"


class Program(Record):
    """A program.

    Fields:
        inputs: What it starts from.
        body: Its text, whose last line is the result.
        cotangent: The weight of each element of a result that is no scalar.
        order: The highest derivative that is asked for; 3: all second ones, each by itself.
    """

    __slots__ = ("inputs", "body", "cotangent", "order")
    inputs: tuple[Input, ...]
    body: str
    cotangent: Any
    order: int

    @property
    def text(self) -> str:
        """Its text in gradcli."""
        return "\n".join([*(i.line() for i in self.inputs), self.body])

    @property
    def for_pytorch(self) -> str:
        """Its text in PyTorch."""
        return "\n".join([*(i.assigned() for i in self.inputs), self.body])

    def but(self, **changes: Any) -> Program:
        """The program with other fields."""
        return Program(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    @property
    def in_float64(self) -> Program:
        """The program with float64 in the place of float32."""
        inputs = [
            Input(i.name, i.data, i.dtype.replace("32", "64"), i.grad, i.declared)
            for i in self.inputs
        ]
        return self.but(inputs=tuple(inputs), body=self.body.replace("float32", "float64"))

    def moved(self, rng: random.Random, step: float) -> Program:
        """The program with its floating inputs moved a little."""
        inputs = [
            Input(i.name, _shaken(i.data, rng, step), i.dtype, i.grad, i.declared)
            if i.dtype.startswith("float")
            else i
            for i in self.inputs
        ]
        return self.but(inputs=tuple(inputs))

    @property
    def wrt(self) -> list[str]:
        """The names that it is differentiated by: inputs that it does not assign again."""
        again = set(re.findall(r"^ *(\w+) (?:[-+*/@%&|^]|\*\*|//)?= ", self.body, re.MULTILINE))
        return [i.name for i in self.inputs if i.grad and i.name not in again]

    @property
    def rtol(self) -> float:
        """How far its numbers may be apart, relative to the largest beside them."""
        narrow = self.for_pytorch.replace("float64", "")
        if "float16" in narrow or "half" in narrow:
            return 3e-3
        return 3e-4 if "float" in narrow else 1e-8

    @property
    def hooked(self) -> bool:
        """Whether a hook may change its gradient, which forward mode does not see."""
        return "_hook(" in self.body

    def direction(self) -> dict[str, Any]:
        """A direction of the names that it is differentiated by."""
        found, at = {}, 0
        for i in self.inputs:
            if i.name in self.wrt:
                found[i.name], at = _waves(i.data, at)
        return found


def shape(data: Any) -> list[int]:
    """The sizes of nested lists."""
    sizes = []
    while isinstance(data, list):
        sizes.append(len(data))
        data = data[0] if data else None
    return sizes


def flat(data: Any) -> list[Any]:
    """The numbers of nested lists in a row."""
    return [n for item in data for n in flat(item)] if isinstance(data, list) else [data]


def _shaken(data: Any, rng: random.Random, step: float) -> Any:
    if isinstance(data, list):
        return [_shaken(item, rng, step) for item in data]
    return data + rng.uniform(-step, step)


def _waves(data: Any, at: int) -> tuple[Any, int]:
    """Numbers without a pattern in the form of nested lists."""
    if not isinstance(data, list):
        return (at * 37 % 19 - 9) / 8, at + 1
    made = []
    for item in data:
        wave, at = _waves(item, at)
        made.append(wave)
    return made, at
