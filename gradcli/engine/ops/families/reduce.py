"""Reductions: sums, products, spread, truth."""

from __future__ import annotations

from collections.abc import Iterator
from math import nan
from typing import Any

from gradcli.engine.numerics import exact
from gradcli.engine.ops.binding import check_params, static
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.families import points
from gradcli.engine.ops.families.along import (
    DIMS,
    count_over,
    dim_samples,
    floats,
    reshaped,
    shaped,
    spread,
)
from gradcli.engine.ops.op import Op, bad, host, known, op, sample
from gradcli.engine.ops.promotion import floating, summed, truth
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.conversion import converted
from gradcli.engine.values.data import INT64_MAX, NUMBERS, Data, np
from gradcli.engine.values.dtypes import dtype_name, floating_name
from gradcli.engine.values.objects import Object
from gradcli.engine.values.sizes import Shape, axes, flag, number, reduced
from gradcli.errors import run_error

FAMILY = 90, "Sums and other reductions"

# sum, mean, prod ----------------------------------------------------------------------------------


def _numbered(name: str) -> Any:
    """PyTorch numbers the nodes of a reduction: 0 of everything, 1 along dimensions."""

    def node(args: tuple[Any, ...], params: dict[str, Any]) -> str:
        everything = params.get("dim") is None and not params.get("keepdim")
        return f"{name}Backward{0 if everything else 1}"

    return node


def _reduce(x: Data, dim: Any, keepdim: Any, dtype: Any, reduction: str) -> Data:
    x = shaped(x)
    keep = {"axis": axes(dim, x.ndim), "keepdims": bool(keepdim)}
    name = dtype_name(dtype)
    if name is not None:
        x = converted(x, name)
    if x.dtype.kind in "ib":
        out = exact.folded(reduction, x, **keep)
        return out if name is None else np.asarray(out).astype(name)
    return getattr(np, reduction)(x, **keep)


def _sum_directly(x: Shape, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    if dtype is not None:
        return None
    add: Any = np.add.reduce
    dims, keeps = axes(dim, len(x)), bool(keepdim)
    return lambda x: add(x, dims, None, None, keeps)


def _one(x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    """A number as its own sum or product."""
    axes(dim, 0)
    name = dtype_name(dtype)
    if name is None:
        return int(x) if type(x) is bool else x
    return converted(x, name)


def _sum_each(x: Data, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Data:
    dims = tuple(i + 1 for i in axes(dim, x.ndim - 1))
    return np.sum(x, axis=dims, keepdims=bool(keepdim)) if dims else x  # a sum makes -0. 0.


def _items_added(session: Any, items: Any, params: Any, site: Any) -> Any:
    """Python's sum of a list, tuple or range; a list of lists is a tensor."""
    kinds = set(map(type, items)) if type(items) is list else set()
    is_tensor = list in kinds and Tensor not in kinds
    by_default = all(params[name] is value for name, value in sum_.params.items())
    return _added(session, items, 0, site) if by_default and not is_tensor else None


def _added(session: Any, items: Any, start: Any, site: Any = None) -> Any:
    """The items added to a start, one after the other."""
    total, add = start, ops.add.value.number
    if type(items) is range and type(start) is int:
        items = _in_one(items, start)
    one_by_one = isinstance(items, (range, Iterator)) and not isinstance(items, Object)
    for item in items if one_by_one else session.items(items):  # ranges and iterators may be long
        if type(total) is type(item) and isinstance(item, (list, tuple)):
            total = total + item
        elif type(total) in NUMBERS and type(item) in NUMBERS:
            total = add(total, item)
        elif isinstance(total, Object) or isinstance(item, Object):
            total = _by_classes(total, item)
        else:
            args = session.operands(ops.add, [total, item], site)
            total = session.do(ops.add, args, ops.add.params, site)
    return total


def _in_one(items: range, start: int) -> Any:
    """The sum of a range as its only item, if no sum on the way can be beyond 64 bits."""
    if not items:
        return items
    count = (items[-1] - items[0]) // items.step + 1
    if abs(start) + count * max(abs(items[0]), abs(items[-1])) > INT64_MAX:
        return items
    return [count * (items[0] + items[-1]) // 2]


def _by_classes(x: Any, y: Any) -> Any:
    """`x + y`, one of which is an object of the program's classes."""
    try:
        return x + y
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        kinds = " and ".join(f"a `{type(v).__name__}`" for v in (x, y))
        raise run_error("wrong-type", f"`sum` cannot add {kinds}") from None


def _total(code: Any, x: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    if dim not in (None, 0, -1) or keepdim or dtype is not None:
        raise code.refused("a sum along some dimensions")
    return code.total(x)


sum_: Op = op(
    "sum",
    on_items=_items_added,
    gathers=True,
    by_ends=True,
    params={**DIMS, "dtype": None},
    doc="Sum of the elements, or of those along the dimensions `dim`. Ints and bools give an int. "
    "The items of a list, tuple or range are added up, as by Python; a list of lists is a tensor.",
    number=_one,
    by_elements=_total,
    of_shapes=_sum_directly,
    array=lambda x, dim=None, keepdim=False, dtype=None: _reduce(x, dim, keepdim, dtype, "sum"),
    shape=lambda x, dim=None, keepdim=False, dtype=None: reduced(x, dim, keepdim),
    dtype=lambda x, dim=None, keepdim=False, dtype=None: dtype_name(dtype) or summed(x),
    batch=_sum_each,
    vjp=(lambda g, out, x, dim=None, keepdim=False, dtype=None: spread(g, x, dim, keepdim),),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False, dtype=None: sum_(
            dot, dim=dim, keepdim=keepdim
        ),
    ),
    node=_numbered("Sum"),
    samples=lambda: (*dim_samples(), sample([], dim=None), sample([[], []], dim=1)),
    known=lambda: (known([0.0, 1.0], grad=([1.0, 1.0],)),),
    bad=lambda: (
        bad((2, 3), dim=2, says="no dimension 2"),
        bad((2, 3), dim=(0, 0), says="twice"),
        bad((2, 3), dim=0.5, says="integer"),
        bad((2,), dtype="complex64", says="one of float64"),
    ),
)


def _sum_from(session: Any, input: Any, start: Any) -> Any:
    rows = type(input) is list and bool(input) and all(type(item) is list for item in input)
    gone_through = isinstance(input, (list, tuple, range, Iterator, Object))
    if (gone_through or isinstance(start, Tensor)) and not (rows and type(start) is int):
        return _added(session, input, start)
    args, dim = session.operands(sum_, [input]), static(start)
    check_params(sum_, {**sum_.params, "dim": dim})
    return session.do(sum_, args, {**sum_.params, "dim": dim})


def _sum_from_of(known: Statics, input: Any, start: Any) -> Any:
    shape, dim = getattr(input, "shape", None), known.static(start)
    if shape is None or dim is UNSURE:
        return known.unknown(input, start)
    return known.like(input, reduced(shape, dim, False), summed(input))


builtins_sum: Op = host(
    "builtins_sum",
    _sum_from,
    gathers=True,
    by_ends=True,
    args=("input", "start"),
    infer=_sum_from_of,
    by=("sum", "add"),
    doc="A plain `sum` of two arguments: of a list, tuple or range Python's, which adds the items "
    "to `start`; of a tensor the sum along the dimension, or of its rows and a tensor.",
    source="Python",
)


def _average(code: Any, x: Any, dim: Any, keepdim: Any, dtype: Any) -> Any:
    total = _total(code, x, dim, keepdim, dtype)
    return ops.averaged(total, count=x.shape[0])


def _mean(x: Data, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Data:
    x = floats(x).astype(floating_name(dtype) or floats(x).dtype, copy=False)
    total = np.sum(x, axis=axes(dim, x.ndim), keepdims=bool(keepdim))
    return np.divide(total, total.dtype.type(count_over(x.shape, dim)))


def _mean_directly(x: Shape, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    add, count = _sum_directly(x, dim, keepdim, dtype), float(count_over(x, dim))
    return None if add is None else lambda x: np.divide(add(x), count)


mean: Op = op(
    "mean",
    params={**DIMS, "dtype": None},
    doc="Arithmetic mean of the elements, or of those along the dimensions `dim`; nan if there are "
    "none.",
    number=lambda x, dim=None, keepdim=False, dtype=None: float(_one(x, dim)),
    by_elements=_average,
    of_shapes=_mean_directly,
    array=_mean,
    shape=lambda x, dim=None, keepdim=False, dtype=None: reduced(x, dim, keepdim),
    dtype=lambda x, dim=None, keepdim=False, dtype=None: floating_name(dtype) or floating(x),
    vjp=(
        lambda g, out, x, dim=None, keepdim=False, dtype=None: spread(
            ops.div(g, float(count_over(x.shape, dim))), x, dim, keepdim
        ),
    ),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False, dtype=None: mean(
            dot, dim=dim, keepdim=keepdim
        ),
    ),
    node=_numbered("Mean"),
    samples=dim_samples,
    known=lambda: (known([1.0, 2.0], grad=([0.5, 0.5],)), known([], grad=([],))),
    bad=lambda: (
        bad((2, 3), dim=2, says="no dimension 2"),
        bad((2, 3), dim=(0, 0), says="twice"),
        bad((2, 3), dtype="int64", says="must be one of floats"),
    ),
)


def _others(x: Any) -> Any:
    """For each element along the last dimension the product of all the others.

    Made of products of pairs, so that it is exact with zeros among the elements, at every order.
    """
    n = x.shape[-1]
    if n == 1:
        return ops.add(ops.zeros_of(like=x), 1.0)
    h = n // 2
    first, second = _part(x, 0, h), _part(x, h, 2 * h)
    pairs = ops.mul(first, second)
    if n % 2 == 0:
        around = _others(pairs)
        return ops.cat(ops.mul(around, second), ops.mul(around, first), dim=-1)
    around = _others(ops.cat(pairs, _part(x, 2 * h, n), dim=-1))
    pairs, last = _part(around, 0, h), _part(around, h, h + 1)
    return ops.cat(ops.mul(pairs, second), ops.mul(pairs, first), last, dim=-1)


def _part(x: Any, start: int, end: int) -> Any:
    """Elements along the last dimension."""
    return ops.getitem(x, index=(Ellipsis, slice(start, end)))


def _prod_slope(x: Any, dim: Any) -> Any:
    """Derivative of each product with respect to its elements, shaped as x."""
    count = count_over(x.shape, dim)
    if count == 0:
        return ops.zeros_of(like=x)
    gone = axes(dim, len(x.shape))
    order = (*(i for i in range(len(x.shape)) if i not in gone), *gone)
    moved = ops.permute(x, dims=order)
    flat = ops.reshape(moved, shape=(*reduced(x.shape, dim, False), count))
    back = tuple(sorted(range(len(order)), key=order.__getitem__))
    return ops.permute(
        ops.reshape(_others(flat), shape=tuple(x.shape[i] for i in order)), dims=back
    )


prod: Op = op(
    "prod",
    guards=("input", "out"),
    params={**DIMS, "dtype": None},
    doc="Product of the elements, or of those along the dimension `dim`. With zeros among them the "
    "derivatives are exact at every order.",
    source="definition; the derivative is the product of the other elements",
    number=_one,
    array=lambda x, dim=None, keepdim=False, dtype=None: _reduce(x, dim, keepdim, dtype, "prod"),
    shape=lambda x, dim=None, keepdim=False, dtype=None: reduced(x, dim, keepdim),
    dtype=lambda x, dim=None, keepdim=False, dtype=None: dtype_name(dtype) or summed(x),
    vjp=(
        lambda g, out, x, dim=None, keepdim=False, dtype=None: ops.mul(
            spread(g, shaped(x), dim, keepdim), _prod_slope(shaped(x), dim)
        ),
    ),
    jvp=(
        lambda dot, out, x, dim=None, keepdim=False, dtype=None: sum_(
            ops.mul(dot, _prod_slope(shaped(x), dim)), dim=dim, keepdim=keepdim
        ),
    ),
    saves=("input",),
    node=_numbered("Prod"),
    samples=lambda: (
        *dim_samples(),
        sample([0.0, 2.0, 3.0], dim=None),
        sample([[0.0, 2.0], [0.0, 3.0]], dim=0),
        sample([], dim=None),
        sample([1.5, 2.0, -0.5, 0.0, 3.0, 1.0, 2.5], dim=0),
    ),
    known=lambda: (
        known([0.0, 2.0, 3.0], grad=([6.0, 0.0, 0.0],)),
        known([0.0, 0.0, 3.0], grad=([0.0, 0.0, 0.0],)),
    ),
    bad=points.no_dimension,
)


# spread -------------------------------------------------------------------------------------------


SPREAD: dict[str, Any] = {"dim": None, "unbiased": None, "keepdim": False, "correction": None}


class _Spread:
    """The parameters of `var` and `std`, checked and with their defaults filled in."""

    def __init__(
        self,
        dim: Any = None,
        unbiased: Any = None,
        keepdim: Any = False,
        correction: Any = None,
    ) -> None:
        if isinstance(dim, bool):  # var(x, unbiased)
            dim, unbiased = None, dim
        self.dim = dim
        self.keepdim = bool(keepdim)
        self.correction = 1.0 if correction is None else float(number(correction, "correction"))
        if unbiased is not None:
            self.correction = 1.0 if flag(unbiased, "unbiased") else 0.0

    def divisor(self, shape: Shape) -> float:
        """The divisor of the sum of squares."""
        return max(count_over(shape, self.dim) - self.correction, 0.0)

    def shape(self, shape: Shape) -> Shape:
        return reduced(shape, self.dim, self.keepdim)

    def away(self, x: Any) -> Any:
        """Distances from the mean."""
        return ops.sub(x, mean(x, dim=axes(self.dim, len(x.shape)), keepdim=True))

    def slope(self, x: Any, out: Any, root: bool) -> Any:
        """Derivative of the variance, or of its root, with respect to each element."""
        away = self.away(x)
        divisor = self.divisor(x.shape)
        if not root:
            return ops.div(ops.mul(away, 2.0), divisor)
        deviation = spread(out, x, self.dim, self.keepdim)
        none = ops.eq(deviation, 0.0)
        return ops.where(
            none, 0.0, ops.div(away, ops.mul(ops.where(none, 1.0, deviation), divisor))
        )

    def pull(self, g: Any, out: Any, x: Any, root: bool) -> Any:
        x = shaped(x)
        return ops.mul(spread(g, x, self.dim, self.keepdim), self.slope(x, out, root))

    def push(self, dot: Any, out: Any, x: Any, root: bool) -> Any:
        terms = ops.mul(dot, self.slope(shaped(x), out, root))
        return sum_(terms, dim=self.dim, keepdim=self.keepdim)


def _var(x: Data, **params: Any) -> Data:
    x = floats(x)
    asked = _Spread(**params)
    along: dict[str, Any] = {"axis": axes(asked.dim, x.ndim), "keepdims": True}
    count = x.dtype.type(count_over(x.shape, asked.dim))
    away = np.subtract(x, np.divide(np.sum(x, **along), count))
    total = np.sum(np.multiply(away, away), **along)
    variance = np.divide(total, x.dtype.type(asked.divisor(x.shape)))
    return reshaped(variance, asked.shape(x.shape))


def _spread_op(name: str, doc: str, root: bool) -> Op:
    return op(
        name,
        ties=root,
        params=SPREAD,
        doc=doc,
        array=lambda x, **params: np.sqrt(_var(x, **params)) if root else _var(x, **params),
        shape=lambda x, **params: _Spread(**params).shape(x),
        dtype=floating,
        vjp=(lambda g, out, x, **params: _Spread(**params).pull(g, out, x, root),),
        jvp=(lambda dot, out, x, **params: _Spread(**params).push(dot, out, x, root),),
        saves=("input", "out") if root else ("input",),
        samples=lambda: (
            sample([1.0, -2.0, 3.0]),
            sample([1.0, -2.0, 3.0], unbiased=False),
            sample([1.0, -2.0, 3.0], dim=False),
            sample([[1.0, -2.0], [3.0, 4.5]], dim=0),
            sample([[1.0, -2.0], [3.0, 4.5]], dim=1, keepdim=True),
            sample([[1.0, -2.0], [3.0, 4.5]], dim=(0, 1), correction=0),
            sample([[1.0, -2.0], [3.0, 4.5]], dim=None, correction=2, keepdim=True),
            sample([[[1.0, -2.0], [3.0, 4.5]]], dim=-1, unbiased=True),
        ),
        known=lambda: (known([2.0, 2.0], grad=([0.0, 0.0],)), known([3.0], grad=([nan],))),
        bad=points.no_dimension,
    )


var: Op = _spread_op(
    "var",
    "Variance of the elements, or of those along `dim`: the squared distances from the mean, "
    "divided by n - correction (1 by default; 0 with `unbiased=False`).",
    root=False,
)
std: Op = _spread_op(
    "std",
    "Standard deviation of the elements, or of those along `dim`: the square root of `var`; "
    "its gradient is 0 where the elements are equal.",
    root=True,
)


# truth --------------------------------------------------------------------------------------------


def _truth_op(name: str, doc: str) -> Op:
    def array(x: Data, dim: Any = None, keepdim: Any = False) -> Data:
        x = shaped(x)
        found = getattr(np, name)(x, axis=axes(dim, x.ndim), keepdims=bool(keepdim))
        return found.astype(np.uint8) if x.dtype == np.uint8 else found

    return op(
        name,
        params=DIMS,
        doc=doc,
        number=lambda x, dim=None, keepdim=False: bool(x),
        array=array,
        shape=lambda x, dim=None, keepdim=False: reduced(x, dim, keepdim),
        dtype=truth,
        bad=points.no_dimension,
    )


all_: Op = _truth_op(
    "all", "True if all elements, or all along `dim`, are true or not zero; true if there are none."
)
any_: Op = _truth_op(
    "any",
    "True if some element, or some along `dim`, is true or not zero; false if there are none.",
)
