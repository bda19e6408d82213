"""Steps that compiled code leaves to Python: the op's NumPy function runs on the code's memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.compile.array_calls import function
from gradcli.engine.compile.llvm.arrays.steps import Operand, Part
from gradcli.engine.compile.llvm.arrays.symbolic import Symbolic
from gradcli.engine.compile.llvm.emit.writer import SIZES, Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import DTYPES, Do, dtype_and_shape, is_array, type_of
from gradcli.engine.values.data import Quiet


class Reader:
    """Reads an argument at an address as an array, or as a number if `shape` is None.

    Args:
        type: "float", "int" or "bool".
        size: Bytes at the address.
        offset: Offset of the first element in bytes.
    """

    def __init__(
        self,
        type: str,
        size: int,
        shape: Sequence[int] | None = None,
        strides: Sequence[int] = (),
        offset: int = 0,
    ) -> None:
        self.size = size
        self.is_float = type == "float"
        self._memory = ctypes.c_char * size
        self._is_number = shape is None
        self._lies = (tuple(shape or ()), np.dtype(DTYPES[type]))
        self._from = offset, tuple(strides)

    def read(self, address: int) -> Any:
        """The array or number at an address."""
        memory = self._memory.from_address(address)
        found: Any = np.ndarray(*self._lies, memoryview(memory), *self._from)
        return found.item() if self._is_number else found


class Callback:
    """A step done by a function in Python; its result is copied to an address.

    Args:
        function: Takes arrays and numbers.
        args: A reader of each argument, or the argument itself if it is known.
    """

    def __init__(
        self, function: Callable[..., Any], args: Sequence[Any], shape: Sequence[int], type: str
    ) -> None:
        self._function = function
        self._args = args
        self._gives = tuple(shape), np.dtype(DTYPES[type])
        self.readers = [x for x in args if isinstance(x, Reader)]
        self._words = ctypes.c_int64 * (1 + len(self.readers))

    def __call__(self, words: int) -> bool:
        """True if the step is done; else compiled code bails out. `words` is the address of the
        addresses of the result and of each argument with a reader.
        """
        to, *places = self._words.from_address(words)
        found = self._found(places)
        if found is None:
            return False
        ctypes.memmove(to, found.__array_interface__["data"][0], found.nbytes)
        return True

    def is_in_order(self) -> bool:
        """True if the function's result for random arguments is contiguous, of the right type."""
        numbers = np.random.default_rng(1)
        rooms = [
            numbers.random(-(-r.size // 8)) if r.is_float else np.zeros(r.size, np.int8)
            for r in self.readers
        ]
        return self._found([x.__array_interface__["data"][0] for x in rooms]) is not None

    def _found(self, places: Sequence[int]) -> Any:
        given = iter(places)
        args = [x.read(next(given)) if isinstance(x, Reader) else x for x in self._args]
        try:
            with Quiet():
                found = np.asarray(self._function(*args))
        except Exception:  # the interpreter repeats the run and reports the error
            return None
        is_known = (found.shape, found.dtype) == self._gives and found.flags.c_contiguous
        return found if is_known else None


def callback(i: Do, args: Sequence[Any], type: str) -> tuple[Callback, tuple[Operand, ...]]:
    """A step that computes an op by its function in Python, and the operands that its readers read.
    `args` are symbols or known values, `type` is the type of the result's elements.
    """
    operands: list[Operand] = []
    known: list[Any] = []
    for arg, x in zip(i.args, args, strict=True):
        if not isinstance(x, Symbolic):
            known.append(x)
        elif x.ndim and (isinstance(x.source, Number) or not x.is_certain):
            raise Untranslatable(f"`{i.op}` of an array that may have another layout")
        elif isinstance(x.source, Number):
            operands.append(x.source)
            known.append(Reader(x.type, SIZES[x.type], () if is_array(type_of(arg)) else None))
        else:
            shape = x.shape if is_array(type_of(arg)) else None
            operands.append(Part(x.source, 0, x.shape, x.strides))
            known.append(Reader(x.type, x.source.bytes, shape, x.strides, x.offset))
    _, shape = dtype_and_shape(i.target.type)
    made = Callback(function(i, frozenset()), known, shape, type)
    if not made.is_in_order():
        raise Untranslatable(f"`{i.op}` returns an array that is not contiguous")
    return made, tuple(operands)
