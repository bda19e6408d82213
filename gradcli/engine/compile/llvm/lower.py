"""Lower a typed program to an LLVM module.

The module has two functions. `call` computes the results for one set of inputs, `rows` those for
each row of columns. Inputs and results are words of 8 bytes. Both take the address of a `state`.
"""

from __future__ import annotations

import re

from gradcli.cpython import Room
from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.emit.body import Body, read_word, slot, write_word
from gradcli.engine.compile.llvm.emit.primitives import Primitives
from gradcli.engine.compile.llvm.emit.writer import RARE, Number, Writer
from gradcli.engine.compile.passes.blocks import in_blocks
from gradcli.engine.compile.passes.checkpoints import checkpointed, kept
from gradcli.engine.compile.passes.recomputed import recomputed
from gradcli.engine.compile.passes.together import moved_together
from gradcli.engine.compile.passes.turns import entries, least_turns
from gradcli.engine.compile.passes.updated import items_read_first
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import (
    Block,
    If,
    Loop,
    NotCompilable,
    Pop,
    Program,
    Push,
    bytes_of,
    is_array,
    type_of,
)
from gradcli.engine.compile.walk import has_arrays

_FRAMES = 8  # Python's recursion limit in nested blocks
_CALL = 32  # lines that take as long as a call
_ELEMENT = 2  # lines that take as long as an element of an array
_INTRINSICS = (
    "double @llvm.fabs.f64(double)",
    "double @llvm.sqrt.f64(double)",
    "<8 x double> @llvm.fabs.v8f64(<8 x double>)",
    "<8 x double> @llvm.sqrt.v8f64(<8 x double>)",
    "double @llvm.copysign.f64(double, double)",
    "i1 @llvm.vector.reduce.or.v8i1(<8 x i1>)",
    "i64 @llvm.abs.i64(i64, i1)",
    "i64 @llvm.ctlz.i64(i64, i1)",
    "{i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)",
    "{i64, i1} @llvm.ssub.with.overflow.i64(i64, i64)",
    "{i64, i1} @llvm.smul.with.overflow.i64(i64, i64)",
)


class Module:
    """A typed program as LLVM text.

    Raises:
        NotCompilable: If LLVM has no code for it.

    Fields:
        text: the module.
        reasons: why the code bails out, by the number in the state.
        primitives: the functions that the code calls.
        tells: for each place that prints, the number of its text and the types of its numbers.
        stacks: an index for each stack by its number.
        length: the number of lines of `call`.
        waits: True if the code has loops or calls `SERVE`.
        turn: the cost of a turn of a loop, at most, in lines.
        turns: a number of turns that a call takes at least.
        keeps: bytes that loops keep for their reverse, as far as their turns are known.
        memory: bytes that a call needs for arrays.
        entries: by the index of a stack: the bytes of an entry with arrays.
        depths: by the index of a stack: how many entries it gets, if that is known.
        callbacks: the steps on arrays that Python does.
        blockwise: the instructions whose blocks Python has done.
    """

    def __init__(self, program: Program) -> None:
        self.primitives = Primitives()
        depth, stacks = _survey(program.block)
        body: Body
        try:
            with _room(depth):
                self.keeps = kept(program) if stacks else 0
                program = recomputed(moved_together(program))
                self.turns = least_turns(program)
                self.depths = {stacks[k]: count for k, count in entries(program).items()}
                if has_arrays(program):
                    from gradcli.engine.compile.llvm.arrays.body import ArrayBody
                    from gradcli.engine.compile.llvm.arrays.carried import apart

                    program, doubtful = apart(items_read_first(program))
                    body = ArrayBody(self.primitives, stacks, program, doubtful)
                else:
                    body = Body(self.primitives, stacks)
                lines = body.function(program)
        except Untranslatable as error:
            raise NotCompilable(f"no machine code of {error}") from None
        self.reasons = body.reasons
        self.waits = body.waits
        self.stacks = stacks
        self.length = len(lines)
        calls = sum(line.count(" call ") for line in lines)
        self.turn = self.length + _CALL * calls + _ELEMENT * body.work
        self.tells = body.tells
        self.memory = body.size
        self.entries = body.entries
        self.callbacks = body.callbacks
        self.blockwise = body.blockwise
        self.text = "\n".join(
            [
                *(f"declare {intrinsic}" for intrinsic in _INTRINSICS),
                *(self.primitives.loops.lines if self.primitives.loops else ()),
                *self.primitives.lines,
                *body.lines,
                *lines,
                *_rows(program),
                '!0 = !{!"branch_weights", i32 1, i32 1048575}',
                "",
            ]
        )

    @property
    def shown(self) -> str:
        """The text with names in place of addresses, which differ between processes."""
        names: dict[str, str] = {}

        def named(found: re.Match[str]) -> str:
            return names.setdefault(found[0], f"@outside{len(names)}")

        return re.sub(r"inttoptr \(i64 \d+ to ptr\)", named, self.text)


def by_blocks(program: Program) -> Program:
    """The program with its loops over long vectors done by blocks."""
    with _room(_survey(program.block)[0]):
        return in_blocks(program)


def with_checkpoints(program: Program) -> Program:
    """The program with checkpoints in its loops; the program itself if it has none for them."""
    with _room(_survey(program.block)[0]):
        return checkpointed(program)


def _room(depth: int) -> Room:
    """Room for a walk of blocks that are nested so deep."""
    return Room(_FRAMES * depth + 1000)


def _survey(block: Block) -> tuple[int, dict[int, int]]:
    """The depth of nested blocks, and an index for each stack by its number."""
    deepest, open_blocks = 0, [(block, 1)]
    stacks: dict[int, int] = {}
    while open_blocks:
        inner, depth = open_blocks.pop()
        deepest = max(deepest, depth)
        for i in inner.body:
            if isinstance(i, If):
                open_blocks += [(i.then, depth + 1), (i.orelse, depth + 1)]
            elif isinstance(i, Loop):
                open_blocks.append((i.body, depth + 1))
            elif isinstance(i, Push | Pop):
                stacks.setdefault(i.stack, len(stacks))
    return deepest, stacks


def _rows(program: Program) -> list[str]:
    """The function `rows`: calls `call` for the rows from %first to %end, and returns the first row
    that it has not done.
    """
    w = Writer("")
    types_in = [v.type for v in program.inputs]
    types_out = [type_of(x) for x in program.block.results]
    columns = [w.put(f"load ptr, ptr {slot(w, '%columns', k)}") for k in range(len(types_in))]
    results = [w.put(f"load ptr, ptr {slot(w, '%results', k)}") for k in range(len(types_out))]
    turns, reason = slot(w, "%state", state.TURNS), slot(w, "%state", state.REASON)
    allowed = w.put(f"load i64, ptr {turns}")
    stop = w.put(f"load ptr, ptr {slot(w, '%state', state.STOP)}")
    w.go("head")
    w.start("head")
    w.do("%row = phi i64 [ %first, %entry ], [ %next, %on ]")
    w.branch(w.put("icmp eq i64 %row, %end"), "done", "look")
    w.start("look")
    stopped = w.put(f"icmp ne i8 {w.put(f'load atomic i8, ptr {stop} monotonic, align 1')}, 0")
    w.branch(stopped, "done", "do", RARE)
    w.start("do")
    w.do(f"store i64 {allowed}, ptr {turns}")
    for k, (type, column) in enumerate(zip(types_in, columns, strict=True)):
        write_word(w, _cell(w, type, column), slot(w, "%in", k))
    for k, (type, column) in enumerate(zip(types_out, results, strict=True)):
        if is_array(type):
            write_word(w, _cell(w, type, column), slot(w, "%out", k))
    done = w.put("call i32 @call(ptr %in, ptr %out, ptr %state)")
    w.do("%mark = getelementptr i8, ptr %left, i64 %row")
    w.do(f"store i8 {w.put(f'trunc i32 {done} to i8')}, ptr %mark")
    w.branch(w.put(f"icmp eq i32 {done}, 0"), "give", "leave")
    w.start("give")
    for k, (type, column) in enumerate(zip(types_out, results, strict=True)):
        if not is_array(type):
            found = read_word(w, type, slot(w, "%out", k))
            w.write_element(found, _place(w, type, column))
    w.go("on")
    w.start("leave")
    why = w.put(f"load i64, ptr {reason}")
    number = state.REASONS.index(state.STOPPED)
    w.branch(w.put(f"icmp eq i64 {why}, {number}"), "done", "on", RARE)
    w.start("on")
    w.do("%next = add i64 %row, 1")
    w.go("head")
    w.start("done")
    w.do("ret i64 %row")
    takes = "ptr %columns, ptr %results, ptr %left, i64 %first, i64 %end, ptr %in, ptr %out"
    return [f"define i64 @rows({takes}, ptr %state) nounwind {{", "entry:", *w.lines, "}"]


def _cell(w: Writer, type: str, column: str) -> Number:
    if is_array(type):
        at = w.put(f"mul i64 %row, {bytes_of(type)}")
        return w.number(type, f"getelementptr i8, ptr {column}, i64 {at}")
    return w.read_element(type, _place(w, type, column))


def _place(w: Writer, type: str, column: str) -> str:
    """The address of the row's number in a column."""
    held = "i8" if type == "bool" else "i64"
    return w.put(f"getelementptr {held}, ptr {column}, i64 %row")
