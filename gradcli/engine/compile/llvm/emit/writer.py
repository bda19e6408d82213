"""Write the LLVM text of a function."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import Any

TYPES = {"float": "double", "int": "i64", "bool": "i1"}
"""LLVM's types of numbers."""
IN_MEMORY = {"float": "double", "int": "i64", "bool": "i8"}
"""LLVM's types of the elements of arrays."""
SIZES = {"float": 8, "int": 8, "bool": 1}
"""Bytes of an element of an array."""
WIDE = 8
"""Elements of an array that code takes at once."""

RARE = ", !prof !0"

_SMALL = 40  # lines of a function that LLVM may inline


def llvm_type(type: str) -> str:
    """LLVM's type of a value; an array is an address."""
    return TYPES.get(type, "ptr")


def vector_type(type: str, width: int) -> str:
    """LLVM's type of so many numbers at once: of one number its own."""
    return f"<{width} x {type}>" if width > 1 else type


class Number:
    """A number that is unknown until the code runs: its LLVM name or constant, and its type."""

    __slots__ = ("text", "type")

    def __init__(self, text: str, type: str) -> None:
        self.text = text
        self.type = type


class Writer:
    """Writes instructions in static single-assignment form, block by block.

    Fields:
        block: the label of the open block.
        ended: True if it has its last instruction.
        leave: the label of the code that bails out.
        leaves: True if any code jumps there.
    """

    def __init__(self, leave: str) -> None:
        self.lines: list[str] = []
        self.block = "entry"
        self.ended = False
        self.leave = leave
        self.leaves = False
        self.blocks = 1
        self._names = 0

    def name(self) -> str:
        """An unused name."""
        self._names += 1
        return f"%t{self._names}"

    def label(self) -> str:
        """An unused label."""
        self._names += 1
        return f"b{self._names}"

    def do(self, line: str) -> None:
        """Emit an instruction without a result."""
        self.lines.append(f"  {line}")

    def put(self, instruction: str) -> str:
        """Emit an instruction, and return the name of its result."""
        name = self.name()
        self.lines.append(f"  {name} = {instruction}")
        return name

    def number(self, type: str, instruction: str) -> Number:
        """Emit an instruction whose result is a number of a type."""
        return Number(self.put(instruction), type)

    def read_element(self, type: str, at: str) -> Number:
        """Load a number from an element of an array."""
        if type == "bool":
            return self.number("bool", f"trunc i8 {self.put(f'load i8, ptr {at}')} to i1")
        return self.number(type, f"load {llvm_type(type)}, ptr {at}")

    def write_element(self, x: Number, at: str) -> None:
        """Store a number in an element of an array."""
        text = self.put(f"zext i1 {x.text} to i8") if x.type == "bool" else x.text
        self.do(f"store {IN_MEMORY[x.type]} {text}, ptr {at}")

    def fill(self, array: str, type: str, items: Iterable[object]) -> None:
        """Store items in an array, from its first element on."""
        for k, item in enumerate(items):
            at = self.put(f"getelementptr {type}, ptr {array}, i64 {k}")
            self.do(f"store {type} {item}, ptr {at}")

    def array(self, name: str, type: str, items: Sequence[object]) -> None:
        """Make an array of items under a name."""
        self.do(f"{name} = alloca [{len(items)} x {type}]")
        self.fill(name, type, items)

    def splat(self, type: str, text: str) -> str:
        """A vector that has a number in all places."""
        of = type[1:-1].partition(" x ")[2]
        first = self.put(f"insertelement {type} poison, {of} {text}, i64 0")
        places = f"<{WIDE} x i32> zeroinitializer"
        return self.put(f"shufflevector {type} {first}, {type} poison, {places}")

    def start(self, label: str) -> None:
        """Open a block."""
        self.lines.append(f"{label}:")
        self.block = label
        self.blocks += 1
        self.ended = False

    def go(self, label: str) -> None:
        """End the block with a jump."""
        self.do(f"br label %{label}")
        self.ended = True

    def branch(self, test: str, yes: str, no: str, weights: str = "") -> None:
        """End the block with a branch."""
        self.do(f"br i1 {test}, label %{yes}, label %{no}{weights}")
        self.ended = True

    def rare(self, test: str, label: str) -> None:
        """Jump to a label if the test is true, which is rare."""
        on = self.label()
        self.branch(test, label, on, RARE)
        self.start(on)

    def phi(self, type: str, ways: Sequence[tuple[str, str]]) -> str:
        """Merge values at the start of a block: a text for each block that jumps here."""
        known = {text for text, _ in ways}
        if len(known) == 1 and not next(iter(known)).startswith("%"):
            return known.pop()
        return self.put(f"phi {type} " + ", ".join(f"[ {x}, %{block} ]" for x, block in ways))

    def fail(self, test: str) -> None:
        """Bail out if the test is true."""
        self.leaves = True
        self.rare(test, self.leave)

    def called(self, name: str, type: str, args: Sequence[str]) -> Number:
        """Call a function that returns a number and a flag, and bail out if the flag is set."""
        pair = f"{{{TYPES[type]}, i1}}"
        both = self.put(f"call {pair} {name}({', '.join(args)})")
        self.fail(self.put(f"extractvalue {pair} {both}, 1"))
        return self.number(type, f"extractvalue {pair} {both}, 0")

    def function(self, types: Sequence[str], result: Number, pair: bool) -> Definition:
        """The finished function, with parameters `%a0` and so on. With `pair` it returns the result
        and a flag: true if it bailed out.
        """
        inline = len(self.lines) <= _SMALL
        given = TYPES[result.type]
        if pair:
            both = f"{{{given}, i1}}"
            value = self.put(f"insertvalue {both} zeroinitializer, {given} {result.text}, 0")
            self.do(f"ret {both} {value}")
            self.start(self.leave)
            none = self.put(f"insertvalue {both} zeroinitializer, i1 true, 1")
            self.do(f"ret {both} {none}")
            given = both
        else:
            self.do(f"ret {given} {result.text}")
        takes = ", ".join(f"{TYPES[t]} %a{i}" for i, t in enumerate(types))
        return Definition(given, takes, (*self.lines, "}"), inline)


class Steps:
    """The instructions of a function without branches, to write in place of a call.

    Fields:
        text: the instructions, with places for the arguments and then for the names of the results.
        names: the number of the names.
        result: the value, with the same places.
    """

    __slots__ = ("names", "result", "text")

    def __init__(self, text: str, names: int, result: str) -> None:
        self.text = text
        self.names = names
        self.result = result


class Definition:
    """A function that a module may define under any name; a small one is inlined at its calls."""

    __slots__ = ("_given", "_inline", "_lines", "_takes")

    def __init__(self, given: str, takes: str, lines: tuple[str, ...], inline: bool) -> None:
        self._given = given
        self._takes = takes
        self._lines = lines
        self._inline = inline

    def named(self, name: str, attributes: str | None = None) -> list[str]:
        """Its lines, under a name."""
        if attributes is None:
            attributes = "alwaysinline" if self._inline else "noinline"
        head = f"define internal {self._given} {name}({self._takes}) nounwind {attributes}"
        return [f"{head} {{", "entry:", *self._lines]

    @property
    def steps(self) -> Steps | None:
        """Its instructions, if it is small and each runs once, in order; else None."""
        *body, last, _ = self._lines
        lines = [line for line in body if not _JOINT.fullmatch(line)]
        names = [made[1] for line in lines if (made := _MADE.match(line))]
        if not self._inline or len(names) < len(lines) or any(" phi " in line for line in lines):
            return None
        takes = self._takes.count("%")
        places = {name: f"{{{takes + k}}}" for k, name in enumerate(names)}
        places |= {f"%a{k}": f"{{{k}}}" for k in range(takes)}

        def with_places(text: str) -> str:
            text = text.replace("{", "{{").replace("}", "}}")
            return _NAME.sub(lambda found: places.get(found[0], found[0]), text)

        result = last.removeprefix(f"  ret {self._given} ")
        return Steps(with_places("\n".join(lines)), len(names), with_places(result))


_JOINT = re.compile(r"  br label %s\d+|s\d+:")
_MADE = re.compile(r"  (%t\d+) = ")
_NAME = re.compile(r"%[at]\d+")


def constant(x: Any) -> Number | None:
    """A Python number in LLVM's notation; None if it is not a number of 64 bits."""
    if type(x) is float:
        return Number(f"0x{struct.pack('>d', x).hex().upper()}", "float")
    if type(x) is bool:
        return Number("true" if x else "false", "bool")
    if type(x) is int and -(2**63) <= x < 2**63:
        return Number(str(x), "int")
    return None
