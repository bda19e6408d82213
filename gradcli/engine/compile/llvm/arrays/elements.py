"""Small arrays held as a number for each element, in no memory.

NumPy's functions act on them element by element, as far as any way to do that has the same bits.
Views, joins and changes are those of a NumPy array of the numbers, done when code is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.compile.llvm.arrays.maps import exact
from gradcli.engine.compile.llvm.emit.inner_loops import BY_EXPONENT, TYPE_OF, Noted, types_of
from gradcli.engine.compile.llvm.emit.writer import Number, Writer, constant
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.sum_order import Tree, sum_order
from gradcli.engine.compile.typed import DTYPES

_FLOATS = ("float",) * 3
_ZERO = "0x0000000000000000"  # as `constant` writes 0.0

FEW = 16
"""Elements up to which an array in memory is taken apart where it meets single numbers."""

MOST = 64
"""Elements of an array that is held as numbers: most of them zeros, or added to such an array."""


class Exact:
    """Emits exact functions of numbers. Sums with 0.0 that change nothing are left out."""

    def __init__(self, w: Writer) -> None:
        self._w = w
        self._unlike = {_ZERO}  # texts of numbers that are not -0.0, so that adding 0.0 is nothing

    def done(self, function: Any, types: tuple[str, ...], args: Sequence[Number]) -> Number:
        """The result of a function; `types` are those of the arguments, then of the result."""
        texts = [x.text for x in args]
        if function is np.add and types[-1] == "float" and not self._unlike.isdisjoint(texts):
            if _ZERO in texts and self._unlike.issuperset(texts):
                return args[texts[0] == _ZERO]
            made = exact(self._w, function, types, texts)
            self._unlike.add(made)
            return Number(made, "float")
        return Number(exact(self._w, function, types, texts), types[-1])


class Elements(Noted):
    """An array of numbers, or a view of one: `items` has a `Number` at each place. What it cannot
    do raises an error, such as a function that is not in a table.

    Fields:
        certain: True if the interpreter's array has this array's layout.
    """

    __slots__ = ("certain", "code", "items", "type")

    def __init__(self, code: Exact, type: str, items: Any, certain: bool = True) -> None:
        self.code = code
        self.type = type
        self.items = items
        self.certain = certain

    @property
    def shape(self) -> tuple[int, ...]:
        return self.items.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return self.items.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self.items.size  # type: ignore[no-any-return]

    @property
    def is_sparse(self) -> bool:
        """True if most elements are known, as in zeros around a single number."""
        unknown = [x for x in self.items.flat if x.text.startswith("%")]
        return 2 * len(unknown) < int(self.items.size)

    @property
    def flags(self) -> Any:
        return self.items.flags

    @property
    def dtype(self) -> Any:
        return np.dtype(DTYPES[self.type])

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: Any) -> Elements:
        found = self.items[index]
        return self._of(found if isinstance(found, np.ndarray) else filled((), found))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.items[index] = self.symbol(value).astype(self.dtype).items

    def reshape(self, *shape: Any, **options: Any) -> Elements:
        return self._of(self.items.reshape(*shape, **options))

    def copy(self, order: str = "C") -> Elements:
        return Elements(self.code, self.type, self.items.copy(order))

    def sum(self, axis: Any = None, keepdims: Any = False) -> Elements:
        """The sum of a vector, in NumPy's order."""
        if axis not in (None, 0, (0,)) or self.type != "float" or self.items.strides[0] < 0:
            raise Untranslatable("a sum of other things than all elements of a vector of floats")

        def gather(tree: Tree) -> Number:
            if isinstance(tree, int):
                return self.items[tree]  # type: ignore[no-any-return]  # a number
            return self.code.done(np.add, _FLOATS, [*map(gather, tree)])

        (count,) = self.shape
        zero = Number(_ZERO, "float")
        total = self.code.done(np.add, _FLOATS, [zero, gather(sum_order(count))])
        return Elements(self.code, "float", filled((1,) if keepdims else (), total))

    def cast(self, type: str) -> Elements:
        return self.mapped("cast", (self.type, type), [self])

    def done(self, ufunc: Any, args: Sequence[Any]) -> Elements:
        symbols = [self.symbol(x) for x in args]
        types = types_of(ufunc, tuple(x.type for x in symbols))
        given = [x.astype(DTYPES[t]) for x, t in zip(symbols, types, strict=False)]
        return self.mapped(ufunc, types, given)

    def mapped(self, function: Any, types: tuple[str, ...], args: Sequence[Elements]) -> Elements:
        """The result of an element-wise function; `types` are those of the arguments, then of the
        result.
        """
        given: Sequence[Any] = np.broadcast_arrays(*(x.items for x in args))
        found = np.empty(given[0].shape, object)
        for at in np.ndindex(found.shape):
            found[at] = self.code.done(function, types, [x[at] for x in given])
        return Elements(self.code, types[-1], found)

    def symbol(self, x: Any) -> Elements:
        """An argument of a NumPy function as such an array."""
        if isinstance(x, Elements):
            return x
        data = np.asarray(x)
        found = np.empty(data.shape, object)
        for at in np.ndindex(data.shape):
            found[at] = constant(data[at].item())
        return Elements(self.code, TYPE_OF[data.dtype], found)

    def _of(self, items: Any) -> Elements:
        return Elements(self.code, self.type, items, self.certain)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _FUNCTIONS[function](self, *args, **options)

    def __pow__(self, exponent: Any) -> Any:
        is_plain = type(exponent) in (int, float) and self.type == "float"
        return BY_EXPONENT[exponent](self) if is_plain else np.power(self, exponent)


def filled(shape: Sequence[int], number: Number) -> Any:
    """A NumPy array that has a number at each place."""
    found = np.empty(tuple(shape), object)
    found[...] = number
    return found


def _where(self: Elements, test: Any, *ways: Any) -> Elements:
    symbols = [self.symbol(x) for x in ways]
    dtype = np.result_type(*(x.dtype for x in symbols))
    type_ = TYPE_OF[dtype]
    given = [self.symbol(test).astype(np.bool_), *(x.astype(dtype) for x in symbols)]
    return self.mapped("select", ("bool", type_, type_, type_), given)


def _like(value: float) -> Callable[..., Elements]:
    def like(_: Elements, x: Elements, order: str = "K", shape: Any = None) -> Elements:
        number = x.symbol(value).astype(x.dtype).items[()]
        return x._of(filled(x.shape if shape is None else shape, number))

    return like


def _joined(function: Any) -> Callable[..., Elements]:
    def join(self: Elements, parts: Sequence[Any], axis: int = 0, dtype: Any = None) -> Elements:
        symbols: list[Elements] = [self.symbol(x).astype(dtype or self.dtype) for x in parts]
        return symbols[0]._of(function([x.items for x in symbols], axis))

    return join


def _viewed(function: Any) -> Callable[..., Elements]:
    def view(self: Elements, x: Elements, *args: Any, **options: Any) -> Elements:
        return x._of(function(x.items, *args, **options))

    return view


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.ones_like: _like(1.0),
    np.zeros_like: _like(0.0),
    np.concatenate: _joined(np.concatenate),
    np.stack: _joined(np.stack),
    np.sum: lambda _, x, axis=None, keepdims=False: x.sum(axis, keepdims),
    np.copy: lambda _, x, order="K": x.copy(order),
    np.shape: lambda _, x: x.shape,
    np.ndim: lambda _, x: x.ndim,
    np.size: lambda _, x: x.size,
    np.reshape: lambda _, x, shape: x.reshape(shape),
    np.broadcast_to: _viewed(np.broadcast_to),
    np.expand_dims: _viewed(np.expand_dims),
    np.squeeze: _viewed(np.squeeze),
    np.flip: _viewed(np.flip),
    np.moveaxis: _viewed(np.moveaxis),
}
"""What functions of NumPy's other than element by element do to numbers."""
