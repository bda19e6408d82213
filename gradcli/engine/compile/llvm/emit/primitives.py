"""Emit calls of ops' values on numbers."""

from __future__ import annotations

import ctypes
from _thread import get_ident
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.compile.llvm.emit.definitions import Call, defined, piece
from gradcli.engine.compile.llvm.emit.libm import BOTH, STORES, address_of, address_of_both
from gradcli.engine.compile.llvm.emit.scalars import name_of
from gradcli.engine.compile.llvm.emit.writer import (
    TYPES,
    Definition,
    Number,
    Steps,
    Writer,
    constant,
)
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.ops.catalog import ops

if TYPE_CHECKING:
    from gradcli.engine.compile.llvm.emit.loops import Loops

_NO_FLOAT = 0x7FF867ADC11D0001
_NO_INT = -(2**63) + 0x67AD
_NO_BOOL = 2
"""A Python function that raises returns one of these to machine code: the bits of a nan and an int
that no op returns. If one did, the code would only bail out without need.
"""

BOTH_PLACES = ("%both0", "%both1")
"""The variables of a function in which a call stores the values of two functions."""

_CLASSES = {"float": float, "int": int, "bool": bool}
_IN_C: dict[str, Any] = {
    "float": ctypes.c_double,
    "int": ctypes.c_longlong,
    "bool": ctypes.c_longlong,
}


class Primitives:
    """Calls of functions on numbers. A function with a scalar form is defined once for each
    combination of argument types, and of constants if its form depends on them. Any other function
    is called in Python.

    Fields:
        lines: definitions of the functions that the module calls.
        loops: the functions that call NumPy's inner loops, None if there are none.
        kept: Python functions wrapped by ctypes for C.
        raised: by thread: an exception in them that must not be swallowed.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.loops: Loops | None = None
        self.kept: list[Any] = []
        self.raised: dict[int, BaseException] = {}
        self._known: dict[Any, _Primitive] = {}
        self._plain: dict[Any, _InPlace] = {}
        self._names: dict[Definition, str] = {}

    def write(self, w: Writer, call: Call) -> Number:
        """Emit a call of a function and return its value."""
        plain = self._plain.get(call.of_types)
        if plain is not None:
            return plain.call(w, call.args)
        if not call.types:
            return _constant(w, call)
        key = call.key
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._make(call)
        return known.call(w, call.args)

    def write_both(self, w: Writer, functions: Sequence[str], x: Number) -> list[Number] | None:
        """Emit two functions of a float, by name, as one call, which stores the values in
        `BOTH_PLACES`, variables of the function that is written; None if the C library has no such
        call.
        """
        swapped = tuple(functions) not in BOTH
        first, second = functions[::-1] if swapped else functions
        address = address_of_both(first, second)
        if address is None:
            return None
        said = "".join(f", ptr {place}" for place in BOTH_PLACES)
        outside = f"inttoptr (i64 {address} to ptr)"
        w.do(f"call void {outside}(double {x.text}{said}) {STORES}")
        made = [w.number("float", f"load double, ptr {place}") for place in BOTH_PLACES]
        return made[::-1] if swapped else made

    def _make(self, call: Call) -> _Primitive:
        if call.function in (ops.alone.value.number, ops.inner_product.value.number):
            return self._by_loops(call)
        function, args, params, type = call.function, call.args, call.params, call.type
        numbers = [a if a is None or isinstance(a, Number) else constant(a) or a for a in args]
        found = defined(Call(function, numbers, params, type))
        takes_constants = found is not None and found.is_plain
        if not takes_constants:
            found = defined(call)
        if found is None:
            return self._in_python(call)
        for name in found.pieces:
            self._name(piece(name), name_of(name), "")
        if found.steps is not None:
            made = _InPlace(found.steps, type, takes_constants)
            if takes_constants:
                self._plain[call.of_types] = made
            return made
        name = self._name(found.definition, f"@p{len(self._names)}")
        return _Written(name, type, found.bails, takes_constants)

    def _name(self, found: Definition, name: str, attributes: str | None = None) -> str:
        """The name of a function in the module; a new function is added under `name`."""
        if found not in self._names:
            self._names[found] = name
            self.lines += found.named(name, attributes)
        return self._names[found]

    def _by_loops(self, call: Call) -> _Primitive:
        """A function that calls NumPy's inner loops, for one element of an op on arrays or for an
        inner product.
        """
        inner = Writer("leave")
        types = call.types
        names = iter([Number(f"%a{i}", t) for i, t in enumerate(types)])
        given = [next(names) if isinstance(a, Number) else a for a in call.args]
        loops = self._with_loops()
        try:
            result = (
                loops.product(inner, given)
                if call.function is ops.inner_product.value.number
                else self._alone(inner, given, **call.params)
            )
        except Untranslatable:
            return self._in_python(call)
        made = inner.function(types, result, inner.leaves)
        return _Written(self._name(made, f"@p{len(self._names)}"), call.type, inner.leaves)

    def _alone(
        self, w: Writer, args: Sequence[Any], of: str, wide: Sequence[bool], known: Any = ()
    ) -> Number:
        """Emit the value of the op `of` on arrays for one element."""
        try:
            return self._with_loops().call(w, ops[of].value.array, args, wide, dict(known))
        except Untranslatable:
            raise NotCompilable(f"`{of}` of a tensor with dimensions") from None

    def _with_loops(self) -> Loops:
        from gradcli.engine.compile.llvm.emit.loops import Loops

        if self.loops is None:
            self.loops = Loops()
        return self.loops

    def _in_python(self, call: Call) -> _Primitive:
        function, type, types = call.function, call.type, call.types
        template = list(call.args)
        given_at = [k for k, a in enumerate(template) if isinstance(a, Number)]
        known = dict(call.params)
        raised, wanted = self.raised, _CLASSES[type]
        room = _IN_C[type]
        failed: Any = {"float": _FAILED, "int": _NO_INT, "bool": _NO_BOOL}[type]
        bools = [i for i, t in enumerate(types) if t == "bool"]

        def value(*given: Any) -> None:
            room.from_address(given[-1]).value = computed(given[:-1])

        def computed(given: tuple[Any, ...]) -> Any:
            try:
                if bools:
                    given = tuple(bool(x) if i in bools else x for i, x in enumerate(given))
                if len(given) < len(template):
                    numbers = dict(zip(given_at, given, strict=True))
                    given = tuple(numbers.get(k, a) for k, a in enumerate(template))
                r = function(*given, **known)
            except Exception:
                return failed
            except BaseException as other:  # raised again in the calling thread
                raised[get_ident()] = other
                return failed
            return r if r.__class__ is wanted else failed

        made = ctypes.CFUNCTYPE(None, *(_IN_C[t] for t in types), ctypes.c_void_p)(value)
        self.kept.append(made)
        name = f"@python{len(self.kept)}"
        self.lines += _text(name, address_of(made), type, types)
        return _Called(name, type)


_FAILED = ctypes.c_double.from_buffer(ctypes.c_uint64(_NO_FLOAT)).value


class _Primitive:
    def call(self, w: Writer, args: Sequence[Number | float | None]) -> Number:
        raise NotImplementedError


class _Written(_Primitive):
    """A function defined in the module."""

    def __init__(self, name: str, type: str, bails: bool, takes_constants: bool = False) -> None:
        self.name = name
        self.type = type
        self.bails = bails
        self.takes_constants = takes_constants

    def call(self, w: Writer, args: Sequence[Number | float | None]) -> Number:
        numbers = [constant(a) or a for a in args] if self.takes_constants else args
        said = [f"{TYPES[a.type]} {a.text}" for a in numbers if isinstance(a, Number)]
        if self.bails:
            return w.called(self.name, self.type, said)
        return w.number(self.type, f"call {TYPES[self.type]} {self.name}({', '.join(said)})")


class _InPlace(_Primitive):
    """Instructions in place of a call."""

    def __init__(self, steps: Steps, type: str, takes_constants: bool) -> None:
        self._steps = steps
        self._type = type
        self._takes_constants = takes_constants

    def call(self, w: Writer, args: Sequence[Number | float | None]) -> Number:
        steps, texts = self._steps, []
        for a in args:
            if isinstance(a, Number):
                texts.append(a.text)
            elif self._takes_constants and (found := constant(a)) is not None:
                texts.append(found.text)
        texts += [w.name() for _ in range(steps.names)]
        if steps.text:
            w.lines.append(steps.text.format(*texts))
        return Number(steps.result.format(*texts), self._type)


class _Called(_Primitive):
    """A Python function, called by a function of the module. The call takes Python's lock."""

    def __init__(self, name: str, type: str) -> None:
        self.name = name
        self.type = type

    def call(self, w: Writer, args: Sequence[Number | float | None]) -> Number:
        said = ", ".join(_argument(w, a) for a in args if isinstance(a, Number))
        given = "double" if self.type == "float" else "i64"
        r = w.put(f"call {given} {self.name}({said}) nounwind")
        if self.type == "float":
            bits = w.put(f"bitcast double {r} to i64")
            w.fail(w.put(f"icmp eq i64 {bits}, {_NO_FLOAT}"))
            return Number(r, "float")
        w.fail(w.put(f"icmp eq i64 {r}, {_NO_INT if self.type == 'int' else _NO_BOOL}"))
        return Number(r, "int") if self.type == "int" else w.number("bool", f"trunc i64 {r} to i1")


def _text(name: str, address: int, type: str, types: Sequence[str]) -> list[str]:
    """The definition of a function that calls a Python function. The result comes through memory
    that holds a failure before: an error from outside may end the Python function at its start, and
    what it returns then is not defined.
    """
    given = [f"{'double' if t == 'float' else 'i64'} %a{k}" for k, t in enumerate(types)]
    gives = "double" if type == "float" else "i64"
    failed = {"float": _NO_FLOAT, "int": _NO_INT, "bool": _NO_BOOL}[type]
    return [
        f"define internal {gives} {name}({', '.join(given)}) nounwind {{",
        "  %room = alloca i64",
        f"  store i64 {failed}, ptr %room",
        f"  call void inttoptr (i64 {address} to ptr)({', '.join([*given, 'ptr %room'])})",
        f"  %result = load {gives}, ptr %room",
        f"  ret {gives} %result",
        "}",
    ]


def _argument(w: Writer, a: Number) -> str:
    if a.type == "bool":
        return f"i64 {w.put(f'zext i1 {a.text} to i64')}"
    return f"{TYPES[a.type]} {a.text}"


def _constant(w: Writer, call: Call) -> Number:
    """The value of a call with constants, computed now; code bails out if it has none."""
    try:
        r = call.function(*call.args, **call.params)
    except Exception:
        r = None
    found = constant(r) if r.__class__ is _CLASSES[call.type] else None
    if found is None:
        w.fail("true")
        found = Number("poison", call.type)
    return found
