"""Typed programs in LLVM's language.

The module has two functions: `call` takes numbers of 8 bytes each and gives the results so, `rows`
calls it for each row of columns. Both are told by a state what they may do (`state`).
"""

from __future__ import annotations

from gradcli.engine.compile.llvm import state
from gradcli.engine.compile.llvm.primitives import Primitives
from gradcli.engine.compile.llvm.writer import RARE, TYPES, Number, Writer, constant
from gradcli.engine.compile.typed import (
    Block,
    Do,
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
from gradcli.recursion import Room

_FRAMES = 8  # of Python, for each block within a block
_WORD = 8
_INTRINSICS = (
    "double @llvm.fabs.f64(double)",
    "double @llvm.sqrt.f64(double)",
    "double @llvm.copysign.f64(double, double)",
    "i64 @llvm.abs.i64(i64, i1)",
    "i64 @llvm.ctlz.i64(i64, i1)",
    "{i64, i1} @llvm.sadd.with.overflow.i64(i64, i64)",
    "{i64, i1} @llvm.ssub.with.overflow.i64(i64, i64)",
    "{i64, i1} @llvm.smul.with.overflow.i64(i64, i64)",
)


class Module:
    """A typed program as LLVM's text.

    Fields:
        text: the module.
        reasons: why the code leaves, by the number that it gives.
        primitives: what the code calls.
        tells: for each place that prints the number of its text and the types of its numbers.
        stacks: how many stacks there are.
        length: the number of lines of `call`.
        waits: whether it can take long, or asks for something on its way.
    """

    def __init__(self, program: Program) -> None:
        self.primitives = Primitives()
        depth, stacks = _survey(program.block)
        body = _Body(self.primitives, stacks)
        with Room(_FRAMES * depth + 1000):
            lines = body.function(program)
        self.reasons = body.reasons
        self.waits = body.waits
        self.stacks = len(stacks)
        self.length = len(lines)
        self.tells = body.tells
        self.text = "\n".join(
            [
                *(f"declare {intrinsic}" for intrinsic in _INTRINSICS),
                *self.primitives.functions.lines,
                *(self.primitives.loops.lines if self.primitives.loops else ()),
                *self.primitives.lines,
                *lines,
                *_rows(program),
                '!0 = !{!"branch_weights", i32 1, i32 1048575}',
                "",
            ]
        )


def _survey(block: Block) -> tuple[int, dict[int, int]]:
    """How many blocks are within each other, and a place for each stack by its number."""
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


class _Body:
    """Writes the function `call`."""

    def __init__(self, primitives: Primitives, stacks: dict[int, int]) -> None:
        self.w = Writer("leave0")
        self.reasons = [*state.REASONS]
        self.waits = False
        self.tells: list[tuple[int, list[str]]] = []
        self._stacks = stacks
        self._primitives = primitives
        self._numbers: dict[int, Number] = {}
        self._reached = {0}

    def function(self, program: Program) -> list[str]:
        w = self.w
        w.do("%left = alloca i64")
        for k in self._stacks.values():
            w.do(f"%top{k} = alloca ptr")
            w.do(f"store ptr {self._load('ptr', state.of_stack(k, state.BASE))}, ptr %top{k}")
        w.do(f"store i64 {self._load('i64', state.TURNS)}, ptr %left")
        for k, value in enumerate(program.inputs):
            self._numbers[value.number] = _read(w, value.type, _slot(w, "%in", k))
        results = self.block(program.block)
        for k, x in enumerate(results):
            _write(w, x, _slot(w, "%out", k))
        self._store("i64", w.put("load i64, ptr %left"), state.TURNS)
        w.do("ret i32 0")
        for k in sorted(self._reached):
            w.start(f"leave{k}")
            self._store("i64", str(k), state.REASON)
            w.do("ret i32 1")
        head = "define i32 @call(ptr noalias %in, ptr noalias %out, ptr noalias %state)"
        return [f"{head} nounwind noinline {{", "entry:", *w.lines, "}"]

    def block(self, block: Block) -> list[Number]:
        """Write a block; the numbers that it leaves."""
        for i in block.body:
            self.instruction(i)
        return [self.operand(x) for x in block.results]

    def instruction(self, i: Instruction) -> None:
        match i:
            case Do():
                self.do(i)
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
                    self._numbers[target.number] = value
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
        """The label of the code that leaves for a reason."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        k = self.reasons.index(reason)
        self._reached.add(k)
        return f"leave{k}"

    def do(self, i: Do) -> None:
        function = ops[i.op].number
        assert function is not None
        args = [self._numbers[a.number] if isinstance(a, Value) else a for a in i.args]
        made = self._primitives.call(self.w, function, args, dict(i.params), i.target.type)
        self._numbers[i.target.number] = made

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
            found = w.phi(TYPES[target.type], [(xs[k].text, block) for xs, block in ways])
            self._numbers[target.number] = Number(found, target.type)

    def loop(self, i: Loop) -> None:
        w = self.w
        self.waits = True
        initial, before = [self.operand(x) for x in i.initial], w.block
        head, on = w.label(), w.label()
        w.go(head)
        w.start(head)
        turn, turned, names = w.name(), w.name(), [w.name() for _ in i.params]
        hole = len(w.lines)
        for param, name in zip(i.params, names, strict=True):
            self._numbers[param.number] = Number(name, param.type)
        self._turn()
        again, *following = self.block(i.body)
        w.do(f"{turned} = add i64 {turn}, 1")
        last = w.block
        w.branch(again.text, head, on)
        w.start(on)
        ways = [("i64", turn, "0", turned)]
        for param, name, x, y in zip(i.params, names, initial, following, strict=True):
            ways.append((TYPES[param.type], name, x.text, y.text))
        w.lines[hole:hole] = [
            f"  {name} = phi {type} [ {x}, %{before} ], [ {y}, %{last} ]"
            for type, name, x, y in ways
        ]
        for target, x in zip(i.targets, following, strict=True):
            self._numbers[target.number] = x
        self._numbers[i.turns.number] = Number(turned, "int")

    def _turn(self) -> None:
        """Count a turn, and look whether the code is to stop."""
        w = self.w
        left = w.put("load i64, ptr %left")
        w.rare(w.put(f"icmp eq i64 {left}, 0"), self.leave(state.STEPS))
        w.do(f"store i64 {w.put(f'sub i64 {left}, 1')}, ptr %left")
        stop = w.put(f"load atomic i8, ptr {self._load('ptr', state.STOP)} monotonic, align 1")
        w.rare(w.put(f"icmp ne i8 {stop}, 0"), self.leave(state.STOPPED))

    def push(self, i: Push) -> None:
        w = self.w
        self.waits = True
        values = [self.operand(x) for x in i.values]
        stack = self._stacks[i.stack]
        top = w.put(f"load ptr, ptr %top{stack}")
        need = _WORD * len(values)
        above = w.put(f"getelementptr i8, ptr {top}, i64 {need}")
        end = self._load("ptr", state.of_stack(stack, state.END))
        grow, on, before = w.label(), w.label(), w.block
        w.branch(w.put(f"icmp ugt ptr {above}, {end}"), grow, on, RARE)
        w.start(grow)
        self._store("ptr", top, state.of_stack(stack, state.TOP))
        failed = self._serve(stack, need)
        moved = self._load("ptr", state.of_stack(stack, state.TOP))
        after = w.block
        w.branch(failed, self.leave(state.MEMORY), on)
        w.start(on)
        base = w.put(f"phi ptr [ {top}, %{before} ], [ {moved}, %{after} ]")
        for k, x in enumerate(values):
            _write(w, x, _slot(w, base, k))
        w.do(f"store ptr {w.put(f'getelementptr i8, ptr {base}, i64 {need}')}, ptr %top{stack}")

    def pop(self, i: Pop) -> None:
        w = self.w
        stack = self._stacks[i.stack]
        top = w.put(f"load ptr, ptr %top{stack}")
        base = w.put(f"getelementptr i8, ptr {top}, i64 {-_WORD * len(i.targets)}")
        for k, target in enumerate(i.targets):
            self._numbers[target.number] = _read(w, target.type, _slot(w, base, k))
        w.do(f"store ptr {base}, ptr %top{stack}")

    def tell(self, i: Tell) -> None:
        w = self.w
        self.waits = True
        need = 1 + len(i.args)
        used = self._load("i64", state.USED)
        after = w.put(f"add i64 {used}, {need}")
        full, on, before = w.label(), w.label(), w.block
        room = self._load("i64", state.ROOM)
        w.branch(w.put(f"icmp sgt i64 {after}, {room}"), full, on, RARE)
        w.start(full)
        failed = self._serve(state.FLUSH, need)
        flushed = w.block
        w.branch(failed, self.leave(state.TEXTS), on)
        w.start(on)
        first = w.put(f"phi i64 [ {used}, %{before} ], [ 0, %{flushed} ]")
        words = self._load("ptr", state.WORDS)
        at = w.put(f"getelementptr i64, ptr {words}, i64 {first}")
        site = Number(str(len(self.tells)), "int")
        self.tells.append((i.text, [type_of(x) for x in i.args]))
        for k, x in enumerate([site, *map(self.operand, i.args)]):
            _write(w, x, _slot(w, at, k))
        now = w.put(f"add i64 {first}, {need}")
        address = _slot(w, "%state", state.USED)
        w.do(f"store atomic i64 {now}, ptr {address} release, align 8")

    def _serve(self, what: int, amount: int) -> str:
        """Ask Python for something; whether it refuses."""
        serve = self._load("ptr", state.SERVE)
        said = f"ptr %state, i64 {what}, i64 {amount}"
        return self.w.put(f"icmp ne i64 {self.w.put(f'call i64 {serve}({said})')}, 0")

    def _load(self, type: str, field: int) -> str:
        return self.w.put(f"load {type}, ptr {_slot(self.w, '%state', field)}")

    def _store(self, type: str, x: str, field: int) -> None:
        self.w.do(f"store {type} {x}, ptr {_slot(self.w, '%state', field)}")


def _slot(w: Writer, base: str, k: int) -> str:
    """The address of a word."""
    return w.put(f"getelementptr i64, ptr {base}, i64 {k}")


def _read(w: Writer, type: str, address: str) -> Number:
    if type == "bool":
        return w.number("bool", f"trunc i64 {w.put(f'load i64, ptr {address}')} to i1")
    return w.number(type, f"load {TYPES[type]}, ptr {address}")


def _write(w: Writer, x: Number, address: str) -> None:
    if x.type == "bool":
        w.do(f"store i64 {w.put(f'zext i1 {x.text} to i64')}, ptr {address}")
    else:
        w.do(f"store {TYPES[x.type]} {x.text}, ptr {address}")


def _rows(program: Program) -> list[str]:
    """The function `rows`: it calls `call` for the rows from %first to %end, and gives the first
    row that it has not come to.
    """
    w = Writer("")
    types_in = [v.type for v in program.inputs]
    types_out = [type_of(x) for x in program.block.results]
    columns = [w.put(f"load ptr, ptr {_slot(w, '%columns', k)}") for k in range(len(types_in))]
    results = [w.put(f"load ptr, ptr {_slot(w, '%results', k)}") for k in range(len(types_out))]
    turns, reason = _slot(w, "%state", state.TURNS), _slot(w, "%state", state.REASON)
    allowed = w.put(f"load i64, ptr {turns}")
    stop = w.put(f"load ptr, ptr {_slot(w, '%state', state.STOP)}")
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
        _write(w, _cell(w, type, column), _slot(w, "%in", k))
    done = w.put("call i32 @call(ptr %in, ptr %out, ptr %state)")
    w.do("%mark = getelementptr i8, ptr %left, i64 %row")
    w.do(f"store i8 {w.put(f'trunc i32 {done} to i8')}, ptr %mark")
    w.branch(w.put(f"icmp eq i32 {done}, 0"), "give", "leave")
    w.start("give")
    for k, (type, column) in enumerate(zip(types_out, results, strict=True)):
        _give(w, _read(w, type, _slot(w, "%out", k)), column)
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
    if type == "bool":
        byte = w.put(f"load i8, ptr {w.put(f'getelementptr i8, ptr {column}, i64 %row')}")
        return w.number("bool", f"trunc i8 {byte} to i1")
    return _read(w, type, w.put(f"getelementptr i64, ptr {column}, i64 %row"))


def _give(w: Writer, x: Number, column: str) -> None:
    if x.type == "bool":
        byte = w.put(f"zext i1 {x.text} to i8")
        w.do(f"store i8 {byte}, ptr {w.put(f'getelementptr i8, ptr {column}, i64 %row')}")
    else:
        _write(w, x, w.put(f"getelementptr i64, ptr {column}, i64 %row"))
