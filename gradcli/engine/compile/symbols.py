"""Symbols: carriers that emit an instruction for each op. The rules in the ops' entries run on them
unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from gradcli.engine.compile.result_type import result_type, result_types, type_along
from gradcli.engine.compile.typed import (
    DTYPES,
    TYPES,
    Do,
    DoSeveral,
    Instruction,
    Leave,
    NotCompilable,
    Operand,
    Placed,
    PlacedSeveral,
    Value,
    along,
    array_type,
    directions,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.internal.whole import Constant
from gradcli.engine.ops.op import Op
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import SCALARS, np
from gradcli.source import Span

_TYPES = {dtype: name for name, dtype in DTYPES.items()}


class Builder:
    """Writes a typed program. New instructions go to the end of the innermost open block.

    Fields:
        span: the program text of the next instructions.
        do_type: the class of instructions for ops on arrays: `Do` if results have the memory layout
            of plain data, `Placed` if that of tensors.
        plain: the numbers of values that are always plain data.
        graph: the program's own graph, if it takes gradients itself.
    """

    def __init__(self, span: Span, first: int = 0, do_type: type[Do] = Do) -> None:
        self.span = span
        self.do_type = do_type
        self.plain: set[int] = set()
        self.graph: Any = None
        self._first = first
        self._next = first
        self._open: list[list[Instruction]] = []
        self._of_floats: dict[str, str] = {}  # the types of ops on floats

    def value(self, type: str) -> Value:
        """Return a new value for an instruction to define."""
        made = Value(self._next, type)
        self._next += 1
        return made

    def symbol(self, type: str) -> Symbol:
        """Return a new value as a symbol."""
        return Symbol(self.value(type), self)

    def add(self, instruction: Instruction) -> None:
        """Append an instruction."""
        self._open[-1].append(instruction)

    @property
    def innermost(self) -> list[Instruction]:
        """The innermost open block."""
        return self._open[-1]

    @contextmanager
    def block(self) -> Iterator[list[Instruction]]:
        """Open an inner block; the list has its instructions when it is closed."""
        body: list[Instruction] = []
        with self.inside(body):
            yield body

    @contextmanager
    def inside(self, body: list[Instruction]) -> Iterator[None]:
        """Write to the end of a block."""
        self._open.append(body)
        try:
            yield
        finally:
            self._open.pop()

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Emit an op on numbers and symbols."""
        if op.value.body is not None:
            return op.value.body(*args, **params)
        if not params and op.value.number is not None and are_floats(args):
            return self._on_floats(op, args)
        if any(map(_goes_along, args)):
            return self._along_directions(op, args, params)
        if any(map(is_whole, args)):
            return self.on_arrays(op, args, params)
        if (
            op.value.number is None
            and op.memory.view
            and op.statics.shape is not None
            and op.statics.shape((), **params) == ()
        ):
            return ops.copied(args[0])  # a node of its own if the op folds
        if op.value.number is None:
            return self.on_arrays(op, args, params)
        target = self.value(self._number_type(op, args, params))
        self._noted(target, args)
        self.add(Do(self.span, target, op.name, tuple(map(argument, args)), tuple(params.items())))
        return Symbol(target, self)

    def _on_floats(self, op: Op, args: Sequence[Any]) -> Any:
        """Emit an op on floats, without parameters."""
        target = self.value(self._type_of_floats(op, args))
        self._noted(target, args)
        self.add(Do(self.span, target, op.name, tuple([argument(a) for a in args]), ()))
        return Symbol(target, self)

    def _type_of_floats(self, op: Op, args: Sequence[Any]) -> str:
        """Return the type of an op's value on floats, which the op alone decides."""
        type_ = self._of_floats.get(op.name)
        if type_ is None:
            type_ = self._of_floats[op.name] = self._number_type(op, args, {})
        return type_

    def _number_type(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> str:
        """Return the type of an op's value on numbers."""
        dtype = op.statics.dtype(*args, **params) if callable(op.statics.dtype) else None
        if dtype not in _TYPES:
            raise NotCompilable(f"the type of `{op.name}` depends on its values", self.span)
        return _TYPES[dtype]

    def on_arrays(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Emit an op on arrays and numbers."""
        params = {**op.defaults, **params}
        given = [*map(self.whole, args)]
        if isinstance(op.statics.dtype, list):
            return self._several(op, given, params)
        target = self.value(result_type(op, given, params, self.span))
        operands = tuple(map(argument, given))
        do_type = Do if self._noted(target, given) else self.do_type
        self.add(do_type(self.span, target, op.name, operands, tuple(params.items())))
        return Symbol(target, self)

    def _several(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> tuple[Any, ...]:
        targets = tuple(map(self.value, result_types(op, args, params, self.span)))
        are_plain = [self._noted(target, args) for target in targets]
        is_placed = self.do_type is Placed and not all(are_plain)
        do_type = PlacedSeveral if is_placed else DoSeveral
        operands = tuple(map(argument, args))
        self.add(do_type(self.span, targets, op.name, operands, tuple(params.items())))
        return tuple([Symbol(target, self) for target in targets])

    def _along_directions(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Emit an op along several directions."""
        params = {**op.defaults, **params}
        given = [*map(self.whole, args)]
        wide = tuple(map(_goes_along, given))
        (count,) = {directions(x.type) for x in given if _goes_along(x)}
        known = (("of", op.name), ("wide", wide), ("known", tuple(params.items())))
        operands = tuple(map(argument, given))
        if isinstance(op.statics.dtype, list):
            types = result_types(op, given, params, self.span)
            several = [along(array_type(*dtype_and_shape(t)), count) for t in types]
            targets = tuple(map(self.value, several))
            self.add(DoSeveral(self.span, targets, ops.along_directions.name, operands, known))
            return tuple([Symbol(target, self) for target in targets])
        target = self.value(type_along(op, given, params, count, self.span))
        self.add(Do(self.span, target, ops.along_directions.name, operands, known))
        return Symbol(target, self)

    def _noted(self, target: Value, args: Sequence[Any]) -> bool:
        """Record the target as plain data if all arguments are. True if they are."""
        for x in args:
            if isinstance(x, Symbol) and not self._is_plain(x):
                return False
        self.plain.add(target.number)
        return True

    def _is_plain(self, x: Symbol) -> bool:
        value = None if x.recorded else x.value
        if not isinstance(value, Value):
            return False
        number = value.number
        return number in self.plain or (number < self._first and not is_array(x.type))

    def cut(self, number: Any) -> Any:
        """Return the same number, detached from derivatives."""
        return number

    def is_in_order(self, x: Any) -> bool:
        """True if a value is contiguous in memory."""
        if is_whole(x) and not _goes_along(x):
            raise NotCompilable("the layout of a tensor is not known", self.span)
        return True

    def is_dense(self, x: Symbol) -> bool:
        """True if an array is certainly contiguous."""
        return False

    def whole(self, x: Any) -> Any:
        """Return a value, a known array as a symbol."""
        return self.held(x) if _is_data(x) else x

    def merged(self, x: Symbol) -> Symbol:
        """Return values along several directions as one array, another value as it is."""
        return self._regarded(x, array_type(*dtype_and_shape(x.type))) if _goes_along(x) else x

    def divided(self, x: Symbol) -> Symbol:
        """Return an array as values along directions, which its first axis counts."""
        dtype, (count, *shape) = dtype_and_shape(x.type)
        return self._regarded(x, along(array_type(dtype, shape), count))

    def _regarded(self, x: Symbol, type: str) -> Symbol:
        target = self.value(type)
        self.add(Do(self.span, target, ops.regarded.name, (x.value,), ()))
        return Symbol(target, self)

    def repeated(self, x: Operand, count: int) -> Value:
        """Return a value repeated along several directions."""
        target = self.value(along(type_of(x), count))
        self.add(Do(self.span, target, ops.repeated.name, (x,), (("count", count),)))
        return target

    def any(self, test: Any) -> Operand:
        """Emit whether a test is true anywhere."""
        test = self.merged(test) if isinstance(test, Symbol) else test
        return operand(ops.any(test) if is_whole(test) else test)

    def held(self, data: Any) -> Symbol:
        """Emit a known array."""
        found = Constant(data)
        target = self.value(array_type(found.dtype, data.shape))
        self.plain.add(target.number)
        self.add(Do(self.span, target, ops.held.name, (), (("of", found),)))
        return Symbol(target, self)

    def known(self, x: Operand) -> Any:
        """Return an operand as a rule reads it."""
        return Symbol(x, self) if isinstance(x, Value) else x


class Symbol(Carrier):
    """An unknown number or array, or a batch of them along directions, which rules treat as one.
    Its builder emits the ops on it. `recorded`: the interpreter would record the value.
    """

    __slots__ = ("_builder", "_recorded", "value")

    def __init__(self, value: Value, builder: Builder, recorded: bool = False) -> None:
        self.value = value
        self._builder = builder
        self._recorded = recorded

    @property
    def recorded(self) -> bool:
        return self._recorded

    @property
    def type(self) -> str:
        """The type of its value."""
        return self.value.type

    @property
    def is_number(self) -> bool:
        return self.type in DTYPES

    @property
    def shape(self) -> tuple[int, ...]:
        if self.type in DTYPES:
            return ()
        _, shape = dtype_and_shape(self.type)
        return shape[1:] if directions(self.type) else shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        type_ = self.type
        return DTYPES[type_] if type_ in DTYPES else dtype_and_shape(type_)[0]

    @property
    def in_order(self) -> bool:
        return self._builder.is_in_order(self)

    @property
    def is_dense(self) -> bool:
        """True for an array that is certainly contiguous."""
        return self._builder.is_dense(self)

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        return self._builder.do(op, args, params)

    def avoid(self, number: float) -> None:
        builder = self._builder
        test = builder.any(builder.do(ops.eq, (self, number), {}))
        builder.add(Leave(builder.span, test, "a derivative is special at a number"))

    def undivided(self) -> None:
        reason = "a product of vectors is differentiated twice, or by forward mode"
        raise NotCompilable(reason, self._builder.span)

    def __bool__(self) -> bool:
        raise self._asked()

    def __array__(self, *args: Any, **named: Any) -> Any:
        raise self._asked()

    def __eq__(self, other: object) -> bool:
        raise self._asked()

    __hash__ = None  # type: ignore[assignment]  # equal to what, is not known before the code runs

    def _asked(self) -> NotCompilable:
        return NotCompilable("a rule asks for a value", self._builder.span)

    def __repr__(self) -> str:
        return f"Symbol(%{self.value.number})"


def is_whole(x: Any) -> bool:
    """True for an array, known or unknown."""
    return is_array(x.type) if isinstance(x, Symbol) else _is_data(x)


def are_floats(args: Sequence[Any]) -> bool:
    """True if all arguments are single floats, known or unknown."""
    return all((x.type if isinstance(x, Symbol) else TYPES.get(type(x))) == "float" for x in args)


def _goes_along(x: Any) -> bool:
    """True for a batch along directions."""
    return isinstance(x, Symbol) and directions(x.type) > 0


def _is_data(x: Any) -> bool:
    if isinstance(x, Symbol) or type(x) in SCALARS:  # asked without loading NumPy
        return False
    return isinstance(x, np.ndarray)


def operand(x: Any) -> Operand:
    """Return a number or symbol as an operand."""
    if isinstance(x, Symbol):
        return x.value
    if type(x) in (float, int, bool):
        return x  # type: ignore[no-any-return]  # seen in the line above
    raise NotCompilable(f"an op reads a value that is not a number: {type(x).__name__}")


def argument(x: Any) -> Operand | None:
    """Return an argument of an op as an operand; None if it is left out."""
    return None if x is None else operand(x)
