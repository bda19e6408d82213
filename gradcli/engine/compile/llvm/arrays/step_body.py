"""Emits the steps on whole arrays, unit by unit."""

from __future__ import annotations

from collections.abc import Sequence

from gradcli.engine.compile.llvm.arrays import moves as array_moves
from gradcli.engine.compile.llvm.arrays import places as array_places
from gradcli.engine.compile.llvm.arrays.functions import FUNCTIONS
from gradcli.engine.compile.llvm.arrays.maps import Maps
from gradcli.engine.compile.llvm.arrays.plan import Memory, Unit
from gradcli.engine.compile.llvm.arrays.steps import (
    AddAlong,
    AddRows,
    AtPlaces,
    Call,
    Copy,
    Fold,
    Kernel,
    Locate,
    Map,
    Node,
    Order,
    Part,
    Pick,
    PickAlong,
    PickRows,
    Product,
    Put,
    Recur,
    Scan,
    Step,
)
from gradcli.engine.compile.llvm.arrays.symbolic import Steps
from gradcli.engine.compile.llvm.emit import state
from gradcli.engine.compile.llvm.emit.body import Body, slot, write_word
from gradcli.engine.compile.llvm.emit.primitives import Primitives
from gradcli.engine.compile.llvm.emit.writer import Number, llvm_type
from gradcli.engine.compile.scalar.errors import Untranslatable

_WORD = 8
_LEAST = 2  # steps in machine code that pay for one call back into Python


class StepBody(Body):
    """Emits the steps on arrays of a function `call`.

    Args:
        primitives: The functions that the code calls.
        stacks: An index for each stack by its number.

    Fields:
        memory: the memory of a call.
    """

    def __init__(self, primitives: Primitives, stacks: dict[int, int]) -> None:
        super().__init__(primitives, stacks)
        self.memory = Memory()
        self._done_here = 0
        self._room = self._hole = 0
        self._names: dict[str, str] = {}
        self._offsets: set[int] = set()
        self._kernels: dict[int, tuple[Maps, str]] = {}
        self._steps = Steps(primitives.kept, FUNCTIONS)

    @property
    def size(self) -> int:
        return self.memory.size

    def enter(self) -> None:
        self.w.do(f"%memory = load ptr, ptr {slot(self.w, '%state', state.ARENA)}")
        self._hole = len(self.w.lines)

    def complete(self) -> None:
        if _LEAST * len(self.callbacks) > self._done_here:
            raise Untranslatable("most of the program would run in Python")
        room = self.memory.lasting(self._room)
        self.w.lines[self._hole : self._hole] = [
            f"  %{name} = getelementptr i8, ptr %memory, i64 {at}"
            for name, at in (("room", room), *((f"m{at}", at) for at in sorted(self._offsets)))
        ]

    def _lasting(self, at: int) -> str:
        self._offsets.add(at)
        return f"%m{at}"

    def _address(self, x: Part) -> str:
        """The address of the first element of a part of an array."""
        if not x.offset:
            return x.node.at
        return self.w.put(f"getelementptr i8, ptr {x.node.at}, i64 {x.offset}")

    def _unit(self, unit: Unit) -> None:
        first = unit.steps[0]
        self._done_here += 0 if isinstance(first, Call) else len(unit.steps)
        if isinstance(first, Map):
            self._maps([s for s in unit.steps if isinstance(s, Map)], unit)
            return
        if isinstance(first, Call):
            self._call_back(first)
            return
        if isinstance(first, Pick | Put):
            self._at_place(first)
            return
        if isinstance(first, PickRows | AddRows | PickAlong | AddAlong):
            self._at_places(first)
            return
        if isinstance(first, Kernel):
            self._kernel(first)
            return
        self._moved(first)

    def _moved(self, first: Copy | Fold | Scan | Product | Order | Locate | Recur) -> None:
        """Emit a step: one number is stored, a function is called for all else."""
        if isinstance(first, Copy) and isinstance(first.source, Number) and first.to.count == 1:
            self.w.write_element(first.source, self._address(first.to))
            return
        text, given = self._text(first)
        self.work += first.target.count
        types = [x.type if isinstance(x, Number) else "ptr" for x in given]
        said = [f"{llvm_type(t)} {x.text if isinstance(x, Number) else x.node.at}"
                for t, x in zip(types, given, strict=True)]  # fmt: skip
        takes = ["ptr %o"] + [
            f"{llvm_type(t)} %{name}" for t, name in zip(types, "xy", strict=False)
        ]
        name = self._function("void", ", ".join(takes), text)
        self.w.do(f"call void {name}({', '.join([f'ptr {first.target.at}', *said])})")

    def _call_back(self, step: Call) -> None:
        """Emit a call to Python that does a step, and a bail-out if it fails."""
        w, count = self.w, 1 + len(step.operands)
        self.waits = True
        words = self._lasting(self.memory.lasting(2 * _WORD * count))
        write_word(w, Number(step.target.at, "ptr"), slot(w, words, 0))
        for k, x in enumerate(step.operands, 1):
            at = x.node.at if isinstance(x, Part) else slot(w, words, count + k)
            if isinstance(x, Number):
                write_word(w, x, at)
            write_word(w, Number(at, "ptr"), slot(w, words, k))
        address = w.put(f"ptrtoint ptr {words} to i64")
        failed = self.serve(state.of_callback(step.number), address)
        w.rare(failed, self.leave(state.NUMBER))

    def _at_place(self, step: Pick | Put) -> None:
        """Emit a step at a place that is known only when the code runs."""
        whole = step.source if isinstance(step, Pick) else self._steps.whole(step.target).part()
        there = Node(whole.node.type, whole.shape[1:], self._place(whole, step.at))
        part = Part(there, 0, whole.shape[1:], whole.strides[1:])
        if isinstance(step, Put):
            self._moved(Copy(there, part, step.source))
        else:
            self._moved(Copy(step.target, self._steps.whole(step.target).part(), part))

    def _at_places(self, step: AtPlaces) -> None:
        """Emit a step at places known only when the code runs, and a bail-out if one is out
        of range.
        """
        self.work += max(step.source.count, step.target.count)
        if isinstance(step, PickRows | AddRows):
            text = array_moves.rows(step)
        else:
            text = array_places.along(step)
        name = self._function("i1", "ptr %o, ptr %x, ptr %y", text)
        said = ", ".join(f"ptr {node.at}" for node in (step.target, step.source.node, step.at.node))
        self.w.rare(self.w.put(f"call i1 {name}({said})"), self.leave(state.NUMBER))

    def _place(self, whole: Part, at: Number) -> str:
        """The address of the part of an array at a place, counted from the end if it is negative;
        the code bails out if it is out of range.
        """
        w, count = self.w, whole.shape[0]
        from_end = w.put(f"add i64 {at.text}, {count}")
        is_behind = w.put(f"icmp slt i64 {at.text}, 0")
        place = w.put(f"select i1 {is_behind}, i64 {from_end}, i64 {at.text}")
        w.rare(w.put(f"icmp uge i64 {place}, {count}"), self.leave(state.NUMBER))
        moved = w.put(f"mul i64 {place}, {whole.strides[0]}")
        return w.put(f"getelementptr i8, ptr {self._address(whole)}, i64 {moved}")

    def _text(self, step: Step) -> tuple[str, list[Part | Number]]:
        """The text of the function that does a step, and its arguments."""
        match step:
            case Copy():
                return array_moves.copy(step), [step.source]
            case Fold():
                return array_moves.fold(step), [step.operand]
            case Scan():
                return array_moves.scan(step), [step.operand]
            case Product():
                self.work += step.a.shape[-1] * step.target.count
                return array_moves.product(step), [step.a, step.b]
            case Order():
                self.work += step.operand.shape[step.axis] * step.target.count
                return array_places.order(step), [step.operand]
            case Locate():
                self.work += step.operand.count
                return array_places.locate(step), [step.operand]
            case Recur():
                return array_places.recur(step), [step.a, step.b]
        raise AssertionError(step)

    def _maps(self, steps: Sequence[Map], unit: Unit) -> None:
        kept = [node for node in unit.made() if node.at]
        maps = Maps(steps, unit.count, kept)
        self._mapped(maps, maps.text(), maps.given, kept)

    def _kernel(self, step: Kernel) -> None:
        found = self._kernels.get(id(step.traced))
        if found is None:
            traced = step.traced
            maps = Maps(traced.steps, traced.source.count, [traced.result])
            found = self._kernels[id(traced)] = maps, maps.text()
        self._mapped(*found, [step.operand] * len(found[0].given), [step.target])

    def _mapped(
        self, maps: Maps, text: str, given: Sequence[Part | Number], made: Sequence[Node]
    ) -> None:
        """Emit a call of the function that does element-wise steps."""
        self.work += maps.count * len(maps.steps)
        self._room = max(self._room, maps.room)
        takes, said = [], []
        for k, x in enumerate(given):
            type_ = llvm_type(x.type) if isinstance(x, Number) else "ptr"
            takes.append(f"{type_} %a{k}")
            said.append(f"{type_} {x.text if isinstance(x, Number) else self._address(x)}")
        takes += [f"ptr %o{k}" for k in range(len(made))]
        said += [f"ptr {node.at}" for node in made]
        takes += ["ptr %room", "ptr %stop"]
        said += ["ptr %room", f"ptr {self.load('ptr', state.STOP)}"]
        name = self._function("i1", ", ".join(takes), text)
        stopped = self.w.put(f"call i1 {name}({', '.join(said)})")
        if maps.watches:
            self.waits = True
            self.w.rare(stopped, self.leave(state.STOPPED))

    def _function(self, type: str, takes: str, text: str) -> str:
        """The name of the module's function with this text, added unless it is there already."""
        key = f"{type} {takes}\n{text}"
        if key not in self._names:
            name = self._names[key] = f"@k{len(self._names)}"
            self.lines.append(f"define internal {type} {name}({takes}) nounwind noinline {{")
            self.lines.append(text)
        return self._names[key]
