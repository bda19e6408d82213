"""Emits functions that do several element-wise steps in one pass over memory.

Exact arithmetic uses loops of this file's own, eight elements at a time; other functions use
NumPy's inner loops. Results do not depend on the chunk size. A long array is processed in chunks,
so that intermediate results stay in the processor's nearest cache.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gradcli.engine.compile.llvm.arrays.steps import Map, Node, Part
from gradcli.engine.compile.llvm.emit.inner_loops import (
    call_loop,
    gives_same_nan,
    inner_loop,
    library_function,
)
from gradcli.engine.compile.llvm.emit.libm import PURE, STORES
from gradcli.engine.compile.llvm.emit.writer import (
    IN_MEMORY,
    RARE,
    SIZES,
    TYPES,
    WIDE,
    Number,
    Writer,
    vector_type,
)

CHUNK = 512
"""Elements of a chunk: a multiple of every processor's vector width."""

_WATCHED = 1 << 16  # elements above which a loop checks whether to stop


def _said(text: str) -> Callable[..., str]:
    return lambda w, t, args: w.put(f"{text} {t} {', '.join(args)}")


def _intrinsic(name: str) -> Callable[..., str]:
    def call(w: Writer, t: str, args: Sequence[str]) -> str:
        kind = f"v{WIDE}f64" if t.startswith("<") else "f64"
        return w.put(f"call {t} @llvm.{name}.{kind}({t} {args[0]})")

    return call


_FLOAT, _INT, _BOOL = (("float",) * 3, ("int",) * 3, ("bool",) * 3)
_OWN: dict[tuple[Any, ...], Callable[..., str]] = {
    (np.add, *_FLOAT): _said("fadd"),
    (np.subtract, *_FLOAT): _said("fsub"),
    (np.multiply, *_FLOAT): _said("fmul"),
    (np.divide, *_FLOAT): _said("fdiv"),
    (np.add, *_INT): _said("add"),
    (np.subtract, *_INT): _said("sub"),
    (np.multiply, *_INT): _said("mul"),
    (np.negative, *_FLOAT[1:]): _said("fneg"),
    (np.absolute, *_FLOAT[1:]): _intrinsic("fabs"),
    (np.sqrt, *_FLOAT[1:]): _intrinsic("sqrt"),
    (np.square, *_FLOAT[1:]): lambda w, t, args: w.put(f"fmul {t} {args[0]}, {args[0]}"),
    (np.reciprocal, *_FLOAT[1:]): lambda w, t, args: w.put(
        f"fdiv {t} {_splat(w, t, '0x3FF0000000000000')}, {args[0]}"
    ),
    (np.logical_and, *_BOOL): _said("and"),
    (np.logical_or, *_BOOL): _said("or"),
    (np.logical_not, *_BOOL[1:]): lambda w, t, args: w.put(
        f"xor {t} {args[0]}, {_splat(w, t, 'true')}"
    ),
    (np.isnan, "float", "bool"): lambda w, t, args: w.put(f"fcmp uno {t} {args[0]}, {args[0]}"),
    **{
        (function, type_, type_, "bool"): _said(sign)
        for function, of_floats, of_ints in (
            (np.less, "olt", "slt"),
            (np.less_equal, "ole", "sle"),
            (np.greater, "ogt", "sgt"),
            (np.greater_equal, "oge", "sge"),
            (np.equal, "oeq", "eq"),
            (np.not_equal, "une", "ne"),
        )
        for type_, sign in (("float", f"fcmp {of_floats}"), ("int", f"icmp {of_ints}"))
    },
    ("cast", "int", "float"): lambda w, t, args: w.put(f"sitofp {t} {args[0]} to {_like(t, 0)}"),
    ("cast", "bool", "float"): lambda w, t, args: w.put(f"uitofp {t} {args[0]} to {_like(t, 0)}"),
    ("cast", "bool", "int"): lambda w, t, args: w.put(f"zext {t} {args[0]} to {_like(t, 1)}"),
    ("cast", "int", "bool"): lambda w, t, args: w.put(f"icmp ne {t} {args[0]}, {_zero(t)}"),
    ("cast", "float", "bool"): lambda w, t, args: w.put(f"fcmp une {t} {args[0]}, {_zero(t)}"),
}
"""What is exact, by function and types: any way to do it has the same digits."""


def _like(t: str, k: int) -> str:
    made = ("double", "i64")[k]
    return f"<{WIDE} x {made}>" if t.startswith("<") else made


def _zero(t: str) -> str:
    return "zeroinitializer" if t.startswith("<") else "0.0" if t == "double" else "0"


def _splat(w: Writer, t: str, text: str) -> str:
    """A vector that repeats a number; `t` may be a plain number's type."""
    return w.splat(t, text) if t.startswith("<") else text


def is_exact(function: Any, types: tuple[str, ...]) -> bool:
    """True for an element-wise function that `exact` can do."""
    return function in ("select", np.positive) or (function, *types) in _OWN


def exact(
    w: Writer, function: Any, types: tuple[str, ...], args: Sequence[str], width: int = 1
) -> str:
    """Emit an exact function of so many elements at once; `types` are those of the arguments, then
    of the result.
    """
    if function is np.positive:
        return args[0]
    made = [vector_type(TYPES[t], width) for t in types]
    if function == "select":
        said = (f"{t} {x}" for t, x in zip(made, args, strict=False))
        return w.put(f"select {', '.join(said)}")
    return _OWN[function, *types](w, made[0], args)


def is_own(step: Map) -> bool:
    """True if this file's own loops do the step, not one of NumPy's."""
    return is_exact(step.function, step.types)


class Maps:
    """Writes the function that does element-wise steps on arrays of `count` elements.

    Args:
        steps: In an order in which they can be done; all arrays have `count` elements.
        kept: The targets that later steps read.

    Fields:
        given: the first parameters: arrays that are read, and numbers. Then come the addresses of
            `kept`, of the scratch memory and of the byte that asks the loop to stop.
        room: bytes of scratch memory.
        watches: True if the loop checks whether to stop; the function then returns True if it did.
    """

    def __init__(self, steps: Sequence[Map], count: int, kept: Sequence[Node]) -> None:
        self.steps = steps
        self.count = count
        self.kept = kept
        self.watches = count > _WATCHED
        self.given: list[Part | Number] = []
        self.room = 0
        self._w = Writer("")
        self._of_stage = self._stages()
        self._made = {id(s.target) for s in steps}
        self._places: dict[int, str] = {id(x): f"%o{k}" for k, x in enumerate(kept)}
        self._in_room: set[int] = set()
        self._tests = self._for_nan()
        self._names: dict[Any, str] = {}
        self._pinned: dict[Any, str] = {}

    def text(self) -> str:
        """The function's text from the first block to the closing brace."""
        w, n = self._w, self.count
        long = n > CHUNK
        self._place()
        for x in (x for s in self.steps for x in s.operands):
            self._take(x)
        calls = max((len(s.types) for s in self.steps if not is_own(s)), default=0)
        if calls:
            w.do(f"%at = alloca [{calls} x ptr]")
            w.do("%count = alloca i64")
        for s in self.steps:
            if not is_own(s):
                self._pin_all(s)
        w.go("chunk")
        w.start("chunk")
        off, length = "0", str(n)
        if long:
            last = "on" if self.watches else "done"
            w.do(f"%off = phi i64 [ 0, %entry ], [ %next, %{last} ]")
            w.do(f"%rest = sub i64 {n}, %off")
            w.do(f"%is_last = icmp ult i64 %rest, {CHUNK}")
            w.do(f"%len = select i1 %is_last, i64 %rest, i64 {CHUNK}")
            off, length = "%off", "%len"
        for stage in range(max(self._of_stage) + 1):
            these = [s for s, k in zip(self.steps, self._of_stage, strict=True) if k == stage]
            own = [s for s in these if is_own(s)]
            if own:
                self._loops(own, off, length)
            for several in _together([s for s in these if not is_own(s)]):
                self._called(several, off, length)
        w.go("done")
        w.start("done")
        if self.watches:
            w.do("%stopped = load atomic i8, ptr %stop monotonic, align 1")
            w.branch(w.put("icmp ne i8 %stopped, 0"), "leave", "on")
            w.start("leave")
            w.do("ret i1 true")
            w.start("on")
        if long:
            w.do(f"%next = add i64 %off, {CHUNK}")
            w.branch(w.put(f"icmp ult i64 %next, {n}"), "chunk", "end")
            w.start("end")
        w.do("ret i1 false")
        return "\n".join(["entry:", *w.lines, "}"])

    def _stages(self) -> list[int]:
        """The stage of each step. In a stage, own loops come before calls of NumPy's loops."""
        found: dict[int, tuple[int, bool]] = {}
        stages = []
        for s in self.steps:
            own = is_own(s)
            stage = 0
            for x in s.operands:
                if isinstance(x, Part) and id(x.node) in found:
                    at, is_called = found[id(x.node)]
                    stage = max(stage, at + (own and is_called))
            found[id(s.target)] = stage, not own
            stages.append(stage)
        return stages

    def _for_nan(self) -> dict[int, Any]:
        """Square roots that are wanted where a test is true alone, as the rules of logarithms have
        them for nan: the key of the test, by the step.
        """
        read = Counter(id(x.node) for s in self.steps for x in s.operands if isinstance(x, Part))
        roots = {id(s.target): s for s in self.steps if s.function is np.sqrt and is_own(s)}
        tests: dict[int, Any] = {}
        for s in self.steps:
            x = s.operands[1] if s.function == "select" else None
            maker = roots.get(id(x.node)) if isinstance(x, Part) else None
            if maker is not None and read[id(maker.target)] == 1 and maker.target not in self.kept:
                tests[id(maker)] = self._key(s.operands[0])
        return tests

    def _place(self) -> None:
        """Give scratch memory to intermediate results that pass from one loop to another."""
        made = {
            id(s.target): (k, is_own(s)) for s, k in zip(self.steps, self._of_stage, strict=True)
        }
        for s, stage in zip(self.steps, self._of_stage, strict=True):
            nodes = [s.target] if not is_own(s) else []
            nodes += [
                x.node
                for x in s.operands
                if isinstance(x, Part) and id(x.node) in made
                if not (is_own(s) and made[id(x.node)] == (stage, True))
            ]
            for node in nodes:
                if id(node) not in self._places:
                    self._places[id(node)] = f"%r{len(self._in_room)}"
                    self._in_room.add(id(node))
                    at = self._places[id(node)]
                    self._w.do(f"{at} = getelementptr i8, ptr %room, i64 {self.room}")
                    self.room += min(self.count, CHUNK) * 8

    def _take(self, x: Part | Number) -> None:
        key = self._key(x)
        if isinstance(x, Part):
            if id(x.node) in self._made or key in self._names:
                return
        elif key in self._names or not x.text.startswith("%"):
            return
        self._names[key] = f"%a{len(self.given)}"
        self.given.append(x)

    def _pin_all(self, s: Map) -> None:
        """Store numbers and strides in memory, where NumPy's loops read them."""
        w = self._w
        steps = []
        for x, t in zip((*s.operands, None), s.types, strict=True):
            is_number = isinstance(x, Number)
            alone = isinstance(x, Part) and not x.shape and self.count > 1
            steps.append(0 if is_number or alone else SIZES[t])
            if isinstance(x, Number) and self._key(x) not in self._pinned:
                held = w.name()
                self._pinned[self._key(x)] = held
                w.do(f"{held} = alloca i64")
                w.write_element(Number(self._names.get(self._key(x), x.text), t), held)
        name = "steps " + " ".join(map(str, steps))
        if name not in self._pinned:
            held = self._pinned[name] = w.name()
            w.array(held, "i64", steps)
        self._pinned[id(s)] = self._pinned[name]

    def _call(self, s: Map, off: str, length: str) -> None:
        """Emit a call of one of NumPy's loops on the chunk."""
        w = self._w
        places = []
        operands = [*s.operands, Part(s.target, 0, s.target.shape, ())]
        for k, (x, t) in enumerate(zip(operands, s.types, strict=True)):
            if isinstance(x, Number):
                base = self._pinned[self._key(x)]
            elif not x.shape and k < len(s.operands):
                base = self._base(x)
            else:
                base = self._element(self._base(x), t, x.node, off, "0")
            places.append(base)
        w.fill("%at", "ptr", places)
        w.do(f"store i64 {length}, ptr %count")
        call_loop(w, inner_loop(s.function, s.types), "%count", self._pinned[id(s)])

    def _called(self, steps: Sequence[Map], off: str, length: str) -> None:
        """Emit calls that do one step, or two that are done together, on the chunk."""
        x, address = steps[0].operands[0], library_function(*(s.function for s in steps))
        if address is not None and isinstance(x, Part) and x.shape:
            self._by_library(address, steps, x, off, length)
            return
        for s in steps:
            self._call(s, off, length)

    def _by_library(
        self, address: int, steps: Sequence[Map], x: Part, off: str, length: str
    ) -> None:
        """Emit calls of a C function, for each element of an array, that does one step or two. If a
        value is nan, and the sign of the function's nan is not NumPy's, NumPy's loops do the chunk
        again.
        """
        w, outside = self._w, f"inttoptr (i64 {address} to ptr)"
        looks = not gives_same_nan(*(s.function for s in steps))
        head, body, on, again, done = (w.label() for _ in range(5))
        i, following, has_nan, more, before = *(w.name() for _ in range(4)), w.block
        w.go(head)
        w.start(head)
        w.do(f"{i} = phi i64 [ 0, %{before} ], [ {following}, %{body} ]")
        if looks:
            w.do(f"{has_nan} = phi i1 [ false, %{before} ], [ {more}, %{body} ]")
        w.branch(w.put(f"icmp ult i64 {i}, {length}"), body, on)
        w.start(body)
        given = w.put(f"load double, ptr {self._element(self._base(x), 'float', x.node, off, i)}")
        nodes = [s.target for s in steps]
        to = [self._element(self._places[id(node)], "float", node, off, i) for node in nodes]
        if len(to) > 1:
            said = "".join(f", ptr {at}" for at in to)
            w.do(f"call void {outside}(double {given}{said}) {STORES}")
        else:
            made = w.put(f"call double {outside}(double {given}) {PURE}")
            w.do(f"store double {made}, ptr {to[0]}")
        if looks:
            found = [w.put(f"load double, ptr {at}") for at in to]
            is_nan = w.put(f"fcmp uno double {found[0]}, {found[-1]}")
            w.do(f"{more} = or i1 {has_nan}, {is_nan}")
        w.do(f"{following} = add i64 {i}, 1")
        w.go(head)
        w.start(on)
        if looks:
            w.branch(has_nan, again, done, RARE)
            w.start(again)
            for s in steps:
                self._call(s, off, length)
            w.go(done)
            w.start(done)

    def _base(self, x: Part) -> str:
        return self._places[id(x.node)] if id(x.node) in self._made else self._names[self._key(x)]

    def _key(self, x: Part | Number) -> Any:
        """A key that is equal for equal operands."""
        if isinstance(x, Number):
            return "number", x.type, x.text
        if id(x.node) in self._made:
            return "made", id(x.node)
        return "of", id(x.node), x.offset, bool(x.shape)

    def _element(self, base: str, type: str, node: Node, off: str, i: str) -> str:
        """The address of element `i` of the chunk."""
        w = self._w
        at = i
        if id(node) not in self._in_room and off != "0":
            at = off if i == "0" else w.put(f"add i64 {off}, {i}")
        return w.put(f"getelementptr {IN_MEMORY[type]}, ptr {base}, i64 {at}")

    def _loops(self, steps: Sequence[Map], off: str, length: str) -> None:
        """Emit loops over the elements: eight at a time, then the remaining ones."""
        n, w = self.count, self._w
        whole = length
        if n % WIDE:
            whole = str(n // WIDE * WIDE) if n <= CHUNK else w.put(f"and i64 {length}, -8")
        if n >= WIDE:
            self._loop(steps, off, "0", whole, WIDE)
        if n % WIDE:
            self._loop(steps, off, whole if n >= WIDE else "0", length, 1)

    def _loop(self, steps: Sequence[Map], off: str, start: str, end: str, width: int) -> None:
        w = self._w
        known: dict[Any, str] = {}
        for s in steps:  # loaded once, ahead of the loop
            for x, t in zip(s.operands, s.types, strict=False):
                if isinstance(x, Number) or not x.shape:
                    self._alone(x, t, width, known)
        head, body, latch, on, before = *(w.label() for _ in range(4)), w.block
        w.go(head)
        w.start(head)
        i, following = w.name(), w.name()
        w.do(f"{i} = phi i64 [ {start}, %{before} ], [ {following}, %{latch} ]")
        w.branch(w.put(f"icmp ult i64 {i}, {end}"), body, on)
        w.start(body)
        for s in steps:
            args = []
            for x, t in zip(s.operands, s.types, strict=False):
                key = self._key(x)
                if key not in known:
                    assert isinstance(x, Part)
                    at = self._element(self._base(x), t, x.node, off, i)
                    known[key] = _load(w, t, at, width)
                args.append(known[key])
            test = known.get(self._tests.get(id(s)))
            made = (
                exact(w, s.function, s.types, args, width)
                if test is None
                else self._rare(s, args, test, width)
            )
            known[("made", id(s.target))] = made
            if id(s.target) in self._places:
                t = s.types[-1]
                at = self._element(self._places[id(s.target)], t, s.target, off, i)
                _store(w, t, made, at, width)
        w.go(latch)
        w.start(latch)
        w.do(f"{following} = add i64 {i}, {width}")
        w.go(head)
        w.start(on)

    def _rare(self, s: Map, args: Sequence[str], test: str, width: int) -> str:
        """Emit a step whose result is wanted where a test is true, which is rare."""
        w, type_ = self._w, vector_type(TYPES[s.types[-1]], width)
        some, on, before = w.label(), w.label(), w.block
        is_wanted = (
            w.put(f"call i1 @llvm.vector.reduce.or.v{WIDE}i1(<{WIDE} x i1> {test})")
            if width > 1
            else test
        )
        w.branch(is_wanted, some, on, RARE)
        w.start(some)
        made = exact(w, s.function, s.types, args, width)
        w.go(on)
        w.start(on)
        return w.put(f"phi {type_} [ {made}, %{some} ], [ {_zero(type_)}, %{before} ]")

    def _alone(self, x: Part | Number, t: str, width: int, known: dict[Any, str]) -> None:
        w, key = self._w, self._key(x)
        if key in known or (isinstance(x, Part) and id(x.node) in self._made):
            return
        if isinstance(x, Number):
            text = self._names.get(key, x.text)
        else:
            text = _load(w, t, self._names[key], 1)
        known[key] = _splat(w, vector_type(TYPES[t], width), text)


def _together(steps: Sequence[Map]) -> Iterator[tuple[Map, ...]]:
    """The steps, two together where the C library computes two functions of an array at once."""
    done: set[int] = set()
    for k, step in enumerate(steps):
        if id(step) in done:
            continue
        ways = (way for other in steps[k + 1 :] for way in ((step, other), (other, step)))
        found = next((way for way in ways if _are_both(*way)), (step,))
        done.update(map(id, found))
        yield found


def _are_both(first: Map, second: Map) -> bool:
    """True if the C library computes two steps on one array in one call."""
    x, y = first.operands[0], second.operands[0]
    if not isinstance(x, Part) or not isinstance(y, Part) or x.node is not y.node:
        return False
    is_same = (x.offset, x.shape) == (y.offset, y.shape) and bool(x.shape)
    return is_same and library_function(first.function, second.function) is not None


def _load(w: Writer, type: str, at: str, width: int) -> str:
    t = vector_type(IN_MEMORY[type], width)
    found = w.put(f"load {t}, ptr {at}, align {SIZES[type]}")
    if type != "bool":
        return found
    return w.put(f"icmp ne {t} {found}, {'zeroinitializer' if width > 1 else '0'}")


def _store(w: Writer, type: str, x: str, at: str, width: int) -> None:
    t = vector_type(IN_MEMORY[type], width)
    if type == "bool":
        x = w.put(f"zext {t.replace('i8', 'i1')} {x} to {t}")
    w.do(f"store {t} {x}, ptr {at}, align {SIZES[type]}")
