"""Write the LLVM function `call` of a typed program of numbers, instruction by instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.emit.definitions import Call
from gradcli.engine.compile.llvm.emit.primitives import BOTH_PLACES, Primitives
from gradcli.engine.compile.llvm.emit.writer import RARE, Number, Writer, constant, llvm_type
from gradcli.engine.compile.passes.together import shared
from gradcli.engine.compile.typed import (
    Block,
    Blockwise,
    Do,
    DoSeveral,
    If,
    Instruction,
    Leave,
    Loop,
    NotCompilable,
    Operand,
    Pop,
    Program,
    Push,
    Ruled,
    Tell,
    Value,
    type_of,
)
from gradcli.engine.ops.catalog import ops

_WORD = 8


class Body:
    """Emits the LLVM function `call`.

    Fields:
        lines: the text of further functions, which do the steps on arrays.
        entries: the bytes of each entry of a stack with arrays, by the stack's number.
        work: about how many elements of arrays a call computes.
        callbacks: the steps on arrays that Python does.
        blockwise: the instructions whose blocks Python has done.
    """

    def __init__(self, primitives: Primitives, stacks: dict[int, int]) -> None:
        self.w = Writer("leave0")
        self.reasons = [*state.REASONS]
        self.waits = False
        self.tells: list[tuple[int, list[str]]] = []
        self.stacks = stacks
        self.lines: list[str] = []
        self.entries: dict[int, int] = {}
        self.work = 0
        self.callbacks: list[Callable[[int], bool]] = []
        self.blockwise: list[Blockwise] = []
        self._primitives = primitives
        self._numbers: dict[int, Number] = {}
        self._reached = {0}
        self._shared: dict[int, tuple[Do, ...]] = {}
        self._early: set[int] = set()
        self._stores_both = False

    @property
    def size(self) -> int:
        """The bytes that a call needs for arrays."""
        return 0

    def function(self, program: Program) -> list[str]:
        w = self.w
        self._shared = shared(program)
        w.do("%left = alloca i64")
        for k in self.stacks.values():
            w.do(f"%top{k} = alloca ptr")
            w.do(f"store ptr {self.load('ptr', state.of_stack(k, state.BASE))}, ptr %top{k}")
        w.do(f"store i64 {self.load('i64', state.TURNS)}, ptr %left")
        self.enter()
        for k, value in enumerate(program.inputs):
            self.define(value, read_word(w, value.type, slot(w, "%in", k)))
        self.whole(program.block)
        self.note_turns()
        for k in self.stacks.values():
            self._store("ptr", w.put(f"load ptr, ptr %top{k}"), state.of_stack(k, state.TOP))
        w.do("ret i32 0")
        self.complete()
        if self._stores_both:
            w.lines[:0] = [f"  {place} = alloca double" for place in BOTH_PLACES]
        for k in sorted(self._reached):
            w.start(f"leave{k}")
            self._store("i64", str(k), state.REASON)
            w.do("ret i32 1")
        head = "define i32 @call(ptr noalias %in, ptr noalias %out, ptr noalias %state)"
        return [f"{head} nounwind noinline {{", "entry:", *w.lines, "}"]

    def enter(self) -> None:
        """Emit the code at the start of the function."""

    def complete(self) -> None:
        """Insert the code that depends on the whole function."""

    def whole(self, block: Block) -> None:
        """Emit the program's block, and store its results in `%out`."""
        for k, x in enumerate(self.block(block)):
            write_word(self.w, x, slot(self.w, "%out", k))

    def block(self, block: Block) -> list[Number]:
        """Emit a block and return its results."""
        for i in block.body:
            self.instruction(i)
        return [self.operand(x) for x in block.results]

    def define(self, value: Value, number: Number) -> None:
        """Record the number that holds a value."""
        self._numbers[value.number] = number

    def instruction(self, i: Instruction) -> None:
        match i:
            case Do():
                self.do(i)
            case DoSeveral():
                raise NotCompilable(f"`{i.op}` gives several", i.span)
            case If():
                self.choose(i)
            case Loop():
                self.loop(i)
            case Push():
                self.push(i)
            case Pop():
                self.pop(i)
            case Ruled():
                values = [self.operand(x) for x in i.values]
                for target, value in zip(i.targets, values, strict=True):
                    self.define(target, value)
            case Leave():
                self.w.rare(self.operand(i.when).text, self.leave(i.reason))
            case Tell():
                self.tell(i)
            case _:
                raise AssertionError(f"no machine code of {type(i).__name__}")

    def operand(self, x: Operand) -> Number:
        if isinstance(x, Value):
            return self._numbers[x.number]
        found = constant(x)
        if found is None:
            raise NotCompilable("an int is larger than 64 bits")
        return found

    def leave(self, reason: str) -> str:
        """The label of the code that bails out for a reason."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        k = self.reasons.index(reason)
        self._reached.add(k)
        return f"leave{k}"

    def do(self, i: Do) -> None:
        if i.target.number in self._early:
            self._early.remove(i.target.number)
            return
        others = self._shared.get(i.target.number)
        if others and self._together(i, others):
            return
        function = ops[i.op].value.number
        assert function is not None
        args = [self._numbers[a.number] if isinstance(a, Value) else a for a in i.args]
        call = Call(function, args, dict(i.params), i.target.type)
        self._numbers[i.target.number] = self._primitives.write(self.w, call)

    def _together(self, i: Do, others: Sequence[Do]) -> bool:
        """Emit functions of a float as one call; false if the C library has none."""
        (x,) = i.args
        assert isinstance(x, Value)
        names = {j.op: ops[j.op].value.number.__name__ for j in (i, *others)}
        found = self._primitives.write_both(self.w, [*names.values()], self._numbers[x.number])
        if found is None:
            return False
        self._stores_both = True
        numbers = dict(zip(names, found, strict=True))
        for j in (i, *others):
            self._numbers[j.target.number] = numbers[j.op]
        self._early.update(j.target.number for j in others)
        return True

    def choose(self, i: If) -> None:
        w = self.w
        yes, no, on = w.label(), w.label(), w.label()
        w.branch(self.operand(i.test).text, yes, no)
        ways = []
        for label, side in ((yes, i.then), (no, i.orelse)):
            w.start(label)
            results = self.block(side)
            ways.append((results, w.block))
            w.go(on)
        w.start(on)
        for k, target in enumerate(i.targets):
            found = w.phi(llvm_type(target.type), [(xs[k].text, block) for xs, block in ways])
            self.define(target, Number(found, target.type))

    def loop(self, i: Loop) -> None:
        w = self.w
        self.waits = True
        initial, before = self.first(i), w.block
        head, on = w.label(), w.label()
        w.go(head)
        w.start(head)
        turn, turned, names = w.name(), w.name(), [w.name() for _ in i.params]
        hole = len(w.lines)
        for param, name in zip(i.params, names, strict=True):
            self.define(param, Number(name, param.type))
        self._turn()
        again, following, more = self.turn(i)
        w.do(f"{turned} = add i64 {turn}, 1")
        last = w.block
        w.branch(again.text, head, on)
        w.start(on)
        ways = [("i64", turn, "0", turned), *more]
        for param, name, x, y in zip(i.params, names, initial, following, strict=True):
            ways.append((llvm_type(param.type), name, x.text, y.text))
        w.lines[hole:hole] = [
            f"  {name} = phi {type} [ {x}, %{before} ], [ {y}, %{last} ]"
            for type, name, x, y in ways
        ]
        for target, x in zip(i.targets, following, strict=True):
            self.define(target, x)
        self.define(i.turns, Number(turned, "int"))

    def first(self, i: Loop) -> list[Number]:
        """The values of the loop-carried variables in the first turn."""
        return [self.operand(x) for x in i.initial]

    def turn(self, i: Loop) -> tuple[Number, list[Number], list[tuple[str, str, str, str]]]:
        """Emit a turn of a loop.

        Returns:
            The test for another turn, the next values of the loop-carried variables, and further
                carried values of the code: type, name, first value and next value.
        """
        again, *following = self.block(i.body)
        return again, following, []

    def _turn(self) -> None:
        """Count a turn, and bail out if the code must stop."""
        w = self.w
        left = w.put("load i64, ptr %left")
        w.rare(w.put(f"icmp eq i64 {left}, 0"), self.leave(state.STEPS))
        w.do(f"store i64 {w.put(f'sub i64 {left}, 1')}, ptr %left")
        stop = w.put(f"load atomic i8, ptr {self.load('ptr', state.STOP)} monotonic, align 1")
        w.rare(w.put(f"icmp ne i8 {stop}, 0"), self.leave(state.STOPPED))

    def note_turns(self) -> None:
        """Tell Python how many turns are left."""
        self._store("i64", self.w.put("load i64, ptr %left"), state.TURNS)

    def push(self, i: Push) -> None:
        values = [self.operand(x) for x in i.values]
        base = self.room_on(self.stacks[i.stack], _WORD * len(values))
        for k, x in enumerate(values):
            write_word(self.w, x, slot(self.w, base, k))

    def room_on(self, stack: int, need: int) -> str:
        """Push bytes on a stack, which may grow; returns the address of the first byte."""
        w = self.w
        self.waits = True
        top = w.put(f"load ptr, ptr %top{stack}")
        above = w.put(f"getelementptr i8, ptr {top}, i64 {need}")
        end = self.load("ptr", state.of_stack(stack, state.END))
        grow, on, before = w.label(), w.label(), w.block
        w.branch(w.put(f"icmp ugt ptr {above}, {end}"), grow, on, RARE)
        w.start(grow)
        self._store("ptr", top, state.of_stack(stack, state.TOP))
        failed = self.serve(stack, need)
        moved = self.load("ptr", state.of_stack(stack, state.TOP))
        after = w.block
        w.branch(failed, self.leave(state.MEMORY), on)
        w.start(on)
        base = w.put(f"phi ptr [ {top}, %{before} ], [ {moved}, %{after} ]")
        w.do(f"store ptr {w.put(f'getelementptr i8, ptr {base}, i64 {need}')}, ptr %top{stack}")
        return base

    def taken_from(self, stack: int, size: int) -> str:
        """Pop bytes from a stack; returns the address of the first byte."""
        w = self.w
        top = w.put(f"load ptr, ptr %top{stack}")
        base = w.put(f"getelementptr i8, ptr {top}, i64 {-size}")
        w.do(f"store ptr {base}, ptr %top{stack}")
        return base

    def pop(self, i: Pop) -> None:
        base = self.taken_from(self.stacks[i.stack], _WORD * len(i.targets))
        for k, target in enumerate(i.targets):
            self.define(target, read_word(self.w, target.type, slot(self.w, base, k)))

    def tell(self, i: Tell) -> None:
        w = self.w
        self.waits = True
        need = 1 + len(i.args)
        used = self.load("i64", state.USED)
        after = w.put(f"add i64 {used}, {need}")
        full, on, before = w.label(), w.label(), w.block
        room = self.load("i64", state.ROOM)
        w.branch(w.put(f"icmp sgt i64 {after}, {room}"), full, on, RARE)
        w.start(full)
        failed = self.serve(state.FLUSH, need)
        flushed = w.block
        w.branch(failed, self.leave(state.TEXTS), on)
        w.start(on)
        first = w.put(f"phi i64 [ {used}, %{before} ], [ 0, %{flushed} ]")
        words = self.load("ptr", state.WORDS)
        at = w.put(f"getelementptr i64, ptr {words}, i64 {first}")
        site = Number(str(len(self.tells)), "int")
        self.tells.append((i.text, [type_of(x) for x in i.args]))
        for k, x in enumerate([site, *map(self.operand, i.args)]):
            write_word(w, x, slot(w, at, k))
        now = w.put(f"add i64 {first}, {need}")
        address = slot(w, "%state", state.USED)
        w.do(f"store atomic i64 {now}, ptr {address} release, align 8")

    def serve(self, what: int, amount: int | str) -> str:
        """Call `SERVE` with a request and an amount; true if Python refuses."""
        serve = self.load("ptr", state.SERVE)
        self._store("i64", "1", state.REFUSED)
        self.w.do(f"call void {serve}(ptr %state, i64 {what}, i64 {amount})")
        return self.w.put(f"icmp ne i64 {self.load('i64', state.REFUSED)}, 0")

    def load(self, type: str, field: int) -> str:
        return self.w.put(f"load {type}, ptr {slot(self.w, '%state', field)}")

    def _store(self, type: str, x: str, field: int) -> None:
        self.w.do(f"store {type} {x}, ptr {slot(self.w, '%state', field)}")


def slot(w: Writer, base: str, k: int) -> str:
    """The address of a word."""
    return w.put(f"getelementptr i64, ptr {base}, i64 {k}")


def read_word(w: Writer, type: str, address: str) -> Number:
    """Load a number, or the address of an array, from a word."""
    if type == "bool":
        return w.number("bool", f"trunc i64 {w.put(f'load i64, ptr {address}')} to i1")
    return w.number(type, f"load {llvm_type(type)}, ptr {address}")


def write_word(w: Writer, x: Number, address: str) -> None:
    """Store a number, or the address of an array, in a word."""
    if x.type == "bool":
        w.do(f"store i64 {w.put(f'zext i1 {x.text} to i64')}, ptr {address}")
    else:
        w.do(f"store {llvm_type(x.type)} {x.text}, ptr {address}")
