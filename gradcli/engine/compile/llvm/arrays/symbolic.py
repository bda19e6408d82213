"""Steps on whole arrays, recorded by calling the NumPy functions of ops with `Symbolic` arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.compile.llvm.arrays.steps import (
    AddAlong,
    AddRows,
    Copy,
    Fold,
    Kernel,
    Locate,
    Map,
    Node,
    Operand,
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
    Traced,
)
from gradcli.engine.compile.llvm.emit.inner_loops import BY_EXPONENT, TYPE_OF, Noted, types_of
from gradcli.engine.compile.llvm.emit.writer import Number, constant
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import DTYPES

_MATRIX = 2  # dimensions
_MOST = 1000  # steps of a function of elements
_ORDERED = 256  # elements up to which comparing all pairs is fast
_EXTREMES = (np.maximum, np.minimum)
_LARGE = 1 << 27  # multiplications from which the interpreter splits a product
_FOLDS: dict[Any, tuple[str, float | bool]] = {
    np.add: ("float", 0.0),
    np.multiply: ("float", 1.0),
    np.maximum: ("float", -math.inf),
    np.minimum: ("float", math.inf),
    np.logical_or: ("bool", False),
    np.logical_and: ("bool", True),
}
"""For each function that reduces arrays, their type and the number to start with."""


class Steps:
    """Collects the steps on arrays.

    Args:
        kept: Receives the arrays that the code reads, which must live as long as the code.
        functions: What NumPy's functions other than element by element do to symbols.
        most: The most steps.

    Fields:
        steps: the steps so far.
    """

    def __init__(
        self, kept: list[Any], functions: Mapping[Any, Callable[..., Any]], most: float = math.inf
    ) -> None:
        self.steps: list[Step] = []
        self.kept = kept
        self.functions = functions
        self._most = most
        self._kernels: dict[Any, Traced | Untranslatable] = {}

    def whole(self, node: Node) -> Symbolic:
        """The symbol of an array."""
        return Symbolic(self, node, np.empty(node.shape, DTYPES[node.type]))

    def number(self, number: Number) -> Symbolic:
        """The symbol of a number, which compiled code knows when it runs."""
        if number.type not in DTYPES:
            raise Untranslatable("a number that does not have 64 bits")
        return Symbolic(self, number, np.empty((), DTYPES[number.type]))

    def map(self, function: Any, args: Sequence[Any], types: tuple[str, ...]) -> Symbolic:
        """The result of an element-wise function; `types` are those of its arguments, then of its
        result.
        """
        if len(self.steps) >= self._most:
            raise Untranslatable("a function of elements of very many steps")
        symbols = [self.symbol(x) for x in args]
        shape = np.broadcast_shapes(*(x.shape for x in symbols))
        target = Node(types[-1], shape)
        target.certain = target.ordered = self._is_in_order(symbols, shape)
        operands = [self._as(x, t) for x, t in zip(args, types, strict=False)]
        taken = tuple(self._spread(x, shape) for x in operands)
        self.steps.append(Map(target, function, types, taken))
        return self.whole(target)

    def symbol(self, x: Any) -> Symbolic:
        """The symbol of an argument of a NumPy function."""
        if isinstance(x, Symbolic):
            return x
        if isinstance(x, np.ndarray) and x.ndim:
            return self._held(x)
        if isinstance(x, np.generic | np.ndarray):
            x = x.item()
        found = constant(x)
        if found is None:
            raise Untranslatable("an argument that is not a number of 64 bits")
        return self.number(found)

    def _as(self, x: Any, type: str) -> Symbolic:
        """The symbol of an argument as another type: what is known is converted at once."""
        if isinstance(x, Symbolic):
            return x if x.type == type else x.cast(type)
        return self.symbol(np.asarray(x).astype(DTYPES[type]))

    def _held(self, x: Any) -> Symbolic:
        """The symbol of an array that is known when code is compiled."""
        if x.dtype not in TYPE_OF or not x.size:
            raise Untranslatable("an array of another dtype")
        self.kept.append(x)
        at = x.__array_interface__["data"][0]
        node = Node(TYPE_OF[x.dtype], x.shape, f"inttoptr (i64 {at} to ptr)")
        return Symbolic(self, node, x)

    def in_order(self, x: Symbolic) -> Part:
        """The elements of an array as a contiguous part, copied if they are not contiguous."""
        if isinstance(x.source, Node) and x.ghost.flags.c_contiguous:
            return x.part()
        return self.copy(x, Node(x.type, x.shape))

    def copy(self, x: Symbolic, target: Node) -> Part:
        """Copy all elements of an array to another one."""
        whole = self.whole(target).part()
        source = x.part() if isinstance(x.source, Node) else x.source
        self.steps.append(Copy(target, whole, source))
        return whole

    def pick(self, x: Symbolic, at: Symbolic) -> Symbolic:
        """The part of an array at a place that is known only when the code runs."""
        whole = x.part() if isinstance(x.source, Node) else self.in_order(x)
        target = Node(x.type, x.shape[1:])
        self.steps.append(Pick(target, whole, _place(at)))
        return self.whole(target)

    def put(self, x: Symbolic, at: Symbolic, value: Symbolic) -> Symbolic:
        """A copy of an array with the part at such a place replaced."""
        if x.type != value.type or value.shape not in ((), x.shape[1:]):
            raise Untranslatable("an item of another type or shape")
        target = Node(x.type, x.shape)
        self.copy(x, target)
        source = value.source if isinstance(value.source, Number) else value.part()
        self.steps.append(Put(target, _place(at), source))
        return self.whole(target)

    def pick_rows(self, x: Symbolic, at: Symbolic) -> Symbolic:
        """The parts of a contiguous array at places that are known only when the code runs."""
        if not x.is_in_order or at.type != "int":
            raise Untranslatable("parts of an array that may have another layout")
        target = Node(x.type, (*at.shape, *x.shape[1:]))
        self.steps.append(PickRows(target, self.in_order(x), self.in_order(at)))
        return self.whole(target)

    def add_rows(self, zeros: Symbolic, at: Symbolic, value: Symbolic) -> Symbolic:
        """A copy of an array of zeros to which parts are added at such places."""
        if (zeros.type, at.type) != (value.type, "int") or value.type != "float":
            raise Untranslatable("items of another type")
        target = Node(zeros.type, zeros.shape)
        self.copy(zeros, target)
        taken = self.in_order(value), self.in_order(at)
        self.steps.append(AddRows(target, *taken, target.shape))
        return self.whole(target)

    def pick_known(self, x: Symbolic, index: Any) -> Symbolic:
        """The elements at an index that is known."""
        places = np.arange(x.size).reshape(x.shape)[index]
        flat = self.pick_rows(x.reshape(-1), self.symbol(np.array(places.reshape(-1))))
        return flat.reshape(places.shape)

    def add_at(self, x: Symbolic, places: Any, value: Any) -> None:
        """Add to elements of an array of floats that is still being made, at places that are known;
        one may occur several times.
        """
        if not isinstance(x.source, Node) or x.source.at or x.type != "float":
            raise Untranslatable("a change of an array that is there")
        flat = np.arange(x.source.count)[x.offset // 8 :]
        strides = [s // 8 * flat.itemsize for s in x.strides]
        found = np.lib.stride_tricks.as_strided(flat, x.shape, strides)[places]
        symbol = self.symbol(value)
        source = self.in_order(symbol.spread(found.shape))
        at = self.symbol(np.array(found.reshape(-1)))
        self.steps.append(AddRows(x.source, source, at.part(), (x.source.count,)))

    def pick_along(self, x: Symbolic, at: Symbolic, axis: int) -> Symbolic:
        """Elements at places in one dimension, as `np.take_along_axis` finds them."""
        if at.type != "int" or not x.ndim == at.ndim > 0:
            raise Untranslatable("elements at places of another type or shape")
        target = Node(x.type, at.shape)
        taken = self.in_order(x), self.in_order(at)
        self.steps.append(PickAlong(target, *taken, axis % x.ndim))
        return self.whole(target)

    def add_along(self, shape: Sequence[int], at: Symbolic, g: Symbolic, axis: int) -> Symbolic:
        """Zeros of a shape, to which numbers are added at places in one dimension."""
        if (g.type, at.type) != ("float", "int") or not len(shape) == at.ndim > 0:
            raise Untranslatable("elements at places of another type or shape")
        target = Node(g.type, shape)
        self.copy(self.symbol(np.zeros(())).spread(shape), target)
        source = self.in_order(g.spread(at.shape))
        self.steps.append(AddAlong(target, source, self.in_order(at), axis % len(shape)))
        return self.whole(target)

    def order(self, x: Symbolic, axis: int) -> Symbolic:
        """The places of the elements along a dimension in their order."""
        if x.type == "bool" or not x.ndim > 0 or x.shape[axis] > _ORDERED:
            raise Untranslatable("the order of bools, or of many elements")
        target = Node("int", x.shape)
        self.steps.append(Order(target, self.in_order(x), axis % x.ndim))
        return self.whole(target)

    def locate(self, function: Any, x: Symbolic, axis: int | None, keepdims: bool) -> Symbolic:
        """The places of the largest or smallest elements."""
        if x.type == "bool" or not x.ndim:
            raise Untranslatable("the place of the largest of bools")
        shape = [1] * x.ndim
        if axis is None:
            x, axis, shape = x.reshape(-1), 0, shape if keepdims else []
        else:
            axis %= x.ndim
            ones = [1] if keepdims else []
            shape = [*x.shape[:axis], *ones, *x.shape[axis + 1 :]]
        target = Node("int", shape)
        self.steps.append(Locate(target, function, self.in_order(x), axis))
        return self.whole(target)

    def recur(self, a: Symbolic, b: Symbolic) -> Symbolic:
        """A linear recurrence along the last dimension."""
        shape = np.broadcast_shapes(a.shape, b.shape)
        if (a.type, b.type) != ("float", "float") or not shape:
            raise Untranslatable("a recurrence of other things than floats")
        target = Node("float", shape)
        given = (self.in_order(x.shown(np.broadcast_to(x.ghost, shape))) for x in (a, b))
        self.steps.append(Recur(target, *given))
        return self.whole(target)

    def _spread(self, x: Symbolic, shape: tuple[int, ...]) -> Operand:
        if isinstance(x.source, Number):
            return x.source
        if x.source.count == math.prod(shape) == 1:
            return Part(x.source, 0, x.source.shape, ())
        if not any(s for n, s in zip(x.shape, x.ghost.strides, strict=True) if n > 1):
            return Part(x.source, x.offset, (), ())
        if x.shape != shape:
            x = x.spread(shape)
        return self.in_order(x)

    def _is_in_order(self, symbols: Sequence[Symbolic], shape: tuple[int, ...]) -> bool:
        """True if NumPy's result, whose layout follows the arguments', is contiguous. It is if one
        argument of the result's shape is, whatever the others are.
        """
        if len(shape) < 2 or any(x.shape == shape and x.is_in_order for x in symbols):
            return True
        if not all(x.is_certain or x.is_ordered for x in symbols):
            return False
        at_one_place = [x.ghost if x.is_certain else _at_one_place(x.ghost) for x in symbols]
        return all(map(_result_in_order, ([x.ghost for x in symbols], at_one_place)))

    def fold(self, function: Any, x: Symbolic, axis: Any, keepdims: Any) -> Symbolic:
        """The array reduced along some dimensions, or along all if `axis` is None."""
        type_, first = _FOLDS.get(function, ("", 0.0))
        if x.type != type_:
            raise Untranslatable(f"`{function.__name__}` along dimensions of {x.type}")
        if not isinstance(x.source, Node) or not x.ndim or min(x.ghost.strides) < 0:
            raise Untranslatable("a sum of an array without memory or with negative strides")
        if function in (np.add, np.multiply) and x.ndim > 1 and not x.ghost.flags.c_contiguous:
            raise Untranslatable("a sum of an array that is not contiguous")
        is_known = x.is_certain or (x.is_ordered and axis is None)
        if type_ != "bool" and x.ndim > 1 and not is_known:
            raise Untranslatable("a sum of an array that may have another layout")
        axes = range(x.ndim) if axis is None else axis if type(axis) is tuple else (axis,)
        taken = tuple(sorted({int(k) % x.ndim for k in axes}))
        kept = [1 if k in taken else n for k, n in enumerate(x.shape) if keepdims or k not in taken]
        target = Node(type_, kept)
        number = constant(first)
        assert number is not None
        self.steps.append(Fold(target, function, self.in_order(x), taken, number))
        return self.whole(target)

    def extreme(self, function: Any, x: Symbolic, axis: Any, keepdims: Any) -> Symbolic:
        """The largest or smallest elements along some dimensions, or of all if `axis` is None:
        NumPy starts with the first ones.
        """
        if not x.is_in_order or not isinstance(x.source, Node):
            raise Untranslatable("the largest of an array that may have another layout")
        axes = range(x.ndim) if axis is None else axis if type(axis) is tuple else (axis,)
        taken = {int(k) % x.ndim for k in axes}
        kept = [1 if k in taken else n for k, n in enumerate(x.shape) if keepdims or k not in taken]
        if len(taken) == x.ndim:
            x, taken = x.reshape(-1), {0}
        if len(taken) != 1 or x.type not in ("float", "int"):
            raise Untranslatable(f"`{function.__name__}` along several dimensions")
        (at,) = taken
        target = Node(x.type, kept)
        before = (slice(None),) * at
        first = x[(*before, slice(1))].reshape(kept)
        self.steps.append(Copy(target, self.whole(target).part(), first.part()))
        if x.shape[at] > 1:
            rest = x[(*before, slice(1, None))]
            self.steps.append(Fold(target, function, rest.part(), (at,), None))
        return self.whole(target)

    def scan(self, function: Any, x: Symbolic, axis: int) -> Symbolic:
        """The running sums, products or extremes along a dimension."""
        is_known = x.type == "float" or (x.type == "int" and function in _EXTREMES)
        if not x.is_in_order or not is_known:
            raise Untranslatable("running sums of an array that may have another layout")
        target = Node(x.type, x.shape)
        self.steps.append(Scan(target, function, self.in_order(x), axis % x.ndim))
        return self.whole(target)

    def kernel(self, function: Callable[[Any], Any], key: Any, x: Symbolic) -> Symbolic:
        """A function of each element whose result is contiguous. Its steps are recorded once for
        all arrays of a size.

        Args:
            function: Gives the result for a symbol.
            key: What distinguishes the function from others.
            x: The array.
        """
        count = math.prod(x.shape)
        traced = self._kernels.get((key, count))
        if traced is None:
            try:
                traced = self._traced(function, count)
            except Untranslatable as error:
                traced = error
            self._kernels[key, count] = traced
        if isinstance(traced, Untranslatable):
            raise traced
        target = Node("float", x.shape)
        self.steps.append(Kernel(target, self.in_order(x.astype(np.float64)), traced))
        return self.whole(target)

    def _traced(self, function: Callable[[Any], Any], count: int) -> Traced:
        inner = Steps(self.kept, self.functions, _MOST)
        source = Node("float", (count,), "%x")
        made = function(inner.whole(source))
        maps = tuple([step for step in inner.steps if isinstance(step, Map)])
        if len(maps) < len(inner.steps) or not any(s.target is made.source for s in maps):
            raise Untranslatable("a function of elements that is not element by element")
        return Traced(maps, source, made.source)

    def product(self, a: Symbolic, b: Symbolic) -> Symbolic:
        """The matrix product of matrices or vectors, or of stacks of matrices."""
        least, most = sorted((a.ndim, b.ndim))
        if not least or (least < _MATRIX < most) or (a.type, b.type) != ("float", "float"):
            raise Untranslatable("a product of other things than matrices or vectors of floats")
        stacked = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        columns = b.shape[-1:] if b.ndim > 1 else ()
        target = Node("float", (*stacked, *a.shape[-2:-1], *columns))
        if most == _MATRIX and target.count * a.shape[-1] >= _LARGE:
            raise Untranslatable("a large product of matrices")
        self.steps.append(Product(target, self._laid(a), self._laid(b)))
        return self.whole(target)

    def _laid(self, x: Symbolic) -> Part:
        if not x.is_certain:
            raise Untranslatable("a product of an array that may have another layout")
        if isinstance(x.source, Node):
            return x.part()
        node = self.copy(self.number(x.source), Node(x.type, (1,))).node
        return Part(node, 0, x.shape, x.strides)


class Symbolic(Noted):
    """An array, or a view of one, that records the steps done to it. `ghost` is a NumPy array of
    the same layout; its elements mean nothing.
    """

    __slots__ = ("ghost", "root", "source", "steps")

    def __init__(self, steps: Steps, source: Node | Number, ghost: Any, root: Any = None) -> None:
        self.steps = steps
        self.source = source
        self.ghost = ghost
        self.root = ghost if root is None else root

    @property
    def shape(self) -> tuple[int, ...]:
        return self.ghost.shape  # type: ignore[no-any-return]

    @property
    def strides(self) -> tuple[int, ...]:
        return self.ghost.strides  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return self.ghost.ndim  # type: ignore[no-any-return]

    @property
    def size(self) -> int:
        return self.ghost.size  # type: ignore[no-any-return]

    @property
    def dtype(self) -> Any:
        return self.ghost.dtype

    @property
    def flags(self) -> Any:
        return self.ghost.flags

    @property
    def T(self) -> Symbolic:  # noqa: N802 - NumPy's name
        return self.shown(self.ghost.T)

    @property
    def type(self) -> str:
        return self.source.type

    @property
    def is_certain(self) -> bool:
        """True if the interpreter's array has this array's layout."""
        return isinstance(self.source, Number) or self.source.certain

    @property
    def is_in_order(self) -> bool:
        """True if the interpreter's array is contiguous."""
        return self.is_certain and bool(self.ghost.flags.c_contiguous)

    @property
    def is_ordered(self) -> bool:
        """True if the interpreter's array has strides in proportion to this array's, or all its
        elements at one place. A view of a vector has, whatever the vector's stride is.
        """
        return isinstance(self.source, Number) or self.source.ordered or self.root.ndim < 2

    @property
    def is_like_by_rows(self) -> bool:
        """True if an array that NumPy makes like the interpreter's is contiguous."""
        return (self.is_certain or self.is_ordered) and bool(self.ghost.flags.c_contiguous)

    @property
    def axes_in_memory(self) -> Sequence[int] | None:
        """The dimensions in the order in which the elements lie in memory, the outermost first, if
        that is another order than theirs and there is nothing between the elements.
        """
        axes = sorted(range(self.ndim), key=lambda k: -self.ghost.strides[k])
        is_dense = self.is_certain and self.ghost.transpose(axes).flags.c_contiguous
        return axes if is_dense and not self.ghost.flags.c_contiguous else None

    @property
    def is_whole(self) -> bool:
        """True if it is a whole array, not a view of a part."""
        is_all = isinstance(self.source, Node) and self.size == self.source.count
        return is_all and self.offset == 0 and bool(self.ghost.flags.c_contiguous)

    @property
    def offset(self) -> int:
        found, root = (x.__array_interface__["data"][0] for x in (self.ghost, self.root))
        return found - root  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return len(self.ghost)

    def part(self) -> Part:
        """Its elements as a part of its array."""
        assert isinstance(self.source, Node)
        return Part(self.source, self.offset, self.shape, self.strides)

    def shown(self, ghost: Any) -> Symbolic:
        """A view of the same array with the layout of `ghost`."""
        if np.may_share_memory(ghost, self.root) or isinstance(self.source, Number):
            return Symbolic(self.steps, self.source, ghost, self.root)
        raise Untranslatable("a copy is made")

    def spread(self, shape: Sequence[int]) -> Symbolic:
        """A view in which it is broadcast to a shape."""
        return self.shown(np.broadcast_to(self.ghost, shape))

    def reshape(self, *shape: Any, **options: Any) -> Symbolic:
        ghost = self.ghost.reshape(*shape, **options)
        if np.may_share_memory(ghost, self.root) or isinstance(self.source, Number):
            return self.shown(ghost)
        found = self.steps.in_order(self)
        return Symbolic(self.steps, found.node, np.empty(found.shape, self.dtype)).reshape(*shape)

    def transpose(self, *axes: Any) -> Symbolic:
        return self.shown(self.ghost.transpose(*axes))

    def copy(self, order: str = "C") -> Symbolic:
        if not (self.is_certain or self.is_ordered or order == "C" or self.ndim == 1):
            raise Untranslatable("a copy that may have another layout")
        strides = self.ghost.copy(order).strides
        axes = sorted(range(self.ndim), key=lambda k: -strides[k])  # the outermost first
        laid = self.transpose(axes)
        made = self.steps.whole(self.steps.copy(laid, Node(self.type, laid.shape)).node)
        return made.transpose(np.argsort(axes)) if self.ndim > 1 else made

    def __setitem__(self, index: Any, value: Any) -> None:
        """Store elements in an array that is still being made."""
        to, x = self.shown(self.ghost[index]), self.steps.symbol(value)
        if not isinstance(self.source, Node) or self.source.at or to.type != x.type:
            raise Untranslatable("a change of an array that is there")
        source = x.part() if isinstance(x.source, Node) else x.source
        self.steps.steps.append(Copy(self.source, to.part(), source))

    def __getitem__(self, index: Any) -> Symbolic:
        if type(index) is tuple and not index:
            return self
        ghost = self.ghost[index]
        if ghost.ndim and not np.may_share_memory(ghost, self.root) and ghost.flags.c_contiguous:
            return self.steps.pick_known(self, index)
        return self.shown(ghost)

    def cast(self, type: str) -> Symbolic:
        return self.steps.map("cast", [self], (self.type, type))

    def by_element(self, function: Callable[[Any], Any], key: Any) -> Symbolic:
        """The result of a function of each element; `key` distinguishes it from others."""
        return self.steps.kernel(function, key, self)

    def sum(self, axis: Any = None, keepdims: Any = False) -> Symbolic:
        return self.steps.fold(np.add, self, axis, keepdims)

    def done(self, ufunc: Any, args: Sequence[Any]) -> Symbolic:
        symbols = [self.steps.symbol(x) for x in args]
        if ufunc is np.matmul:
            return self.steps.product(*symbols)
        if ufunc.signature is not None:
            raise Untranslatable(f"`{ufunc.__name__}` of arrays is called")
        types = types_of(ufunc, tuple(x.type for x in symbols))
        return self.steps.map(ufunc, args, types)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        if method == "accumulate" and options.keys() == {"axis"}:
            return self.steps.scan(ufunc, self.steps.symbol(args[0]), options["axis"])
        if method == "at" and ufunc is np.add:
            self.steps.add_at(*args)
            return None
        return super().__array_ufunc__(ufunc, method, *args, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        found = self.steps.functions.get(function)
        if found is None:
            raise Untranslatable(f"`{function.__name__}` of arrays is called")
        return found(self.steps, *args, **options)

    def __pow__(self, exponent: Any) -> Any:
        is_number = type(exponent) is int or type(exponent) is float
        if self.type != "float" or not (is_number or np.ndim(exponent)):
            raise Untranslatable("a power whose exponent is not known")
        known = BY_EXPONENT.get(exponent) if is_number else None
        return np.power(self, exponent) if known is None else known(self)


def _at_one_place(ghost: Any) -> Any:
    """An array like another one whose elements are all at one place."""
    return np.broadcast_to(np.empty((), ghost.dtype), ghost.shape)


def _result_in_order(ghosts: Sequence[Any]) -> bool:
    """True if the result of an element-wise function of such arrays is contiguous."""
    flags = [["readonly"]] * len(ghosts) + [["writeonly", "allocate"]]
    dtypes = [None] * len(ghosts) + [np.dtype(np.bool_)]
    made = np.nditer([*ghosts, None], [], flags, dtypes).operands[-1]  # type: ignore[arg-type]
    return bool(made.flags.c_contiguous)


def _place(at: Symbolic) -> Number:
    if not isinstance(at.source, Number) or at.type != "int":
        raise Untranslatable("a place that is no int")
    return at.source
