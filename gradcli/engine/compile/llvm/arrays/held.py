"""Decides which small arrays of code are held as a number for each element, and reads and stores
single elements.

Numbers put together, and what is added up from single elements, are held so, and the results of
arithmetic on vectors that one vector operation could hold. An array in memory is taken apart where
it meets them, if it has few elements. All other arrays stay in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcli.engine.compile.llvm.arrays.elements import FEW, MOST, Elements, Exact, filled
from gradcli.engine.compile.llvm.arrays.steps import Copy, Node
from gradcli.engine.compile.llvm.arrays.symbolic import Steps, Symbolic
from gradcli.engine.compile.llvm.emit.writer import SIZES, WIDE, Number, Writer
from gradcli.engine.compile.typed import Do, dtype_and_shape, is_array
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet

_TOGETHER = ("stack", "assembled")
_KINDS = {"float64": "float", "bool": "bool"}


class Held:
    """The arrays that are held as numbers, by the number of their value, and the elements that have
    been loaded from memory.

    What is loaded or stored in a block is known in that block and those inside, no longer.
    """

    def __init__(self, w: Writer, steps: Steps) -> None:
        self._w = w
        self._steps = steps
        self._code = Exact(w)
        self._of: dict[int, Elements] = {}
        self._loaded: dict[tuple[Node, int], Number] = {}
        self._stored: dict[int, Symbolic] = {}
        self._scopes: list[tuple[list[tuple[Node, int]], list[int]]] = [([], [])]

    def get(self, value: int) -> Elements | None:
        """The elements of a value that is held so."""
        return self._of.get(value)

    def put(self, value: int, x: Elements) -> None:
        """Record the elements of a value."""
        self._of[value] = x

    @contextmanager
    def block(self) -> Iterator[None]:
        """Forget at its end what has been loaded and stored inside."""
        self._scopes.append(([], []))
        yield
        loaded, stored = self._scopes.pop()
        for key in loaded:
            del self._loaded[key]
        for number in stored:
            del self._stored[number]

    def element(self, x: Symbolic) -> Number:
        """Load an array without dimensions, whose memory the code emitted so far has written."""
        node, at = x.source, x.offset
        assert isinstance(node, Node)
        if (node, at) not in self._loaded:
            w = self._w
            place = w.put(f"getelementptr i8, ptr {node.at}, i64 {at}") if at else node.at
            self._loaded[node, at] = w.read_element(node.type, place)
            self._scopes[-1][0].append((node, at))
        return self._loaded[node, at]

    def apart(self, x: Symbolic) -> Elements:
        """The elements of a vector, whose memory the code emitted so far has written."""
        items = np.empty(x.shape, object)
        for at in np.ndindex(x.shape):
            items[at] = self.element(x[(*at, ...)])
        return Elements(self._code, x.type, items)

    def stored(self, value: int) -> Symbolic | None:
        """An array that is held as numbers, in memory; None if it is not held so."""
        if value not in self._of:
            return None
        if value not in self._stored:
            self._stored[value] = self._as_stored(self._of[value])
            self._scopes[-1][1].append(value)
        return self._stored[value]

    def in_memory(self) -> dict[int, Symbolic]:
        """The arrays that are held as numbers and also stored, by the number of their value."""
        return self._stored

    def _as_stored(self, x: Elements) -> Symbolic:
        root = x.items
        while root.base is not None and not root.flags.c_contiguous:
            root = root.base
        node = Node(x.type, root.shape)
        node.certain = x.certain
        whole = self._steps.whole(node)
        for at in np.ndindex(root.shape):
            to = whole[tuple(slice(k, k + 1) for k in at)].part()
            self._steps.steps.append(Copy(node, to, root[at]))
        if root is x.items:
            return whole
        size = SIZES[x.type]
        lies = np.lib.stride_tricks.as_strided
        first = (x.items.ctypes.data - root.ctypes.data) // root.itemsize
        flat = whole.ghost.reshape(-1)[first:]
        strides = [s // root.itemsize * size for s in x.items.strides]
        return Symbolic(self._steps, node, lies(flat, x.shape, strides), whole.ghost)

    def done(self, i: Do, args: Sequence[Any], apart: Callable[[Symbolic], Elements]) -> Any:
        """The elements of the result of an op on vectors or numbers, if it is to be held so, else
        None.

        Args:
            i: The instruction.
            args: `Elements`, symbols and known values.
            apart: What takes an array in memory apart.
        """
        dtype, shape = dtype_and_shape(i.target.type)
        count = math.prod(shape)
        if len(shape) > 1 or dtype not in _KINDS or count > MOST:
            return None
        if not self._is_wanted(i, args, count) or not self._works(i, args, _KINDS[dtype], shape):
            return None
        with Quiet():
            return self._value(i, [self._taken(x, apart) for x in args])

    def _works(self, i: Do, args: Sequence[Any], type: str, shape: tuple[int, ...]) -> bool:
        """True if single elements give the result of an op, tried with unknown ones."""
        code = Exact(Writer(""))
        unknown = [
            Elements(code, x.type, filled(x.shape, Number("%x", x.type)))
            if isinstance(x, Elements | Symbolic)
            else x
            for x in args
        ]
        try:
            with Quiet():
                found = self._value(i, unknown)
        except Exception:  # memory serves where single elements do not
            return False
        return isinstance(found, Elements) and (found.shape, found.type) == (shape, type)

    def _is_wanted(self, i: Do, args: Sequence[Any], count: int) -> bool:
        """True if an op makes an array of numbers, or does something with one."""
        symbols = [x for x in args if isinstance(x, Symbolic)]
        nodes = [x for x in symbols if isinstance(x.source, Node)]
        held = [x for x in args if isinstance(x, Elements)]
        most = MOST if i.op == ops.add.name and any(x.is_sparse for x in held) else FEW
        if any(x.ndim > 1 or x.size > MOST for x in symbols) or any(x.size > most for x in nodes):
            return False
        if held or (0 < count < WIDE and any(x.ndim for x in nodes) and _is_plain(i)):
            return True
        if not is_array(i.target.type) or any(x.ndim for x in symbols):
            return False
        return (i.op in _TOGETHER and count <= FEW) or i.op == ops.unindex.name

    def _taken(self, x: Any, apart: Callable[[Symbolic], Elements]) -> Any:
        """An argument as an array of numbers; what is known stays as it is."""
        if not isinstance(x, Symbolic):
            return x
        if isinstance(x.source, Number):
            return Elements(self._code, x.type, filled(x.shape, x.source))
        return apart(x)

    def _value(self, i: Do, args: Sequence[Any]) -> Any:
        op, params = ops[i.op], dict[str, Any](i.params)
        if op in (ops.copied, ops.detached):
            return args[0]
        if i.op in _TOGETHER:
            dtype, _ = dtype_and_shape(i.target.type)
            first = next(x for x in args if isinstance(x, Elements))
            return np.stack([first.symbol(x).astype(dtype) for x in args])
        assert op.value.array is not None
        return op.value.array(*args, **params)


def _is_plain(i: Do) -> bool:
    """True for an op on vectors that may be arithmetic."""
    op = ops[i.op]
    return bool(op.value.exact) and is_array(i.target.type) and not op.memory.view
