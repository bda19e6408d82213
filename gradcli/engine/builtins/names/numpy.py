"""NumPy's functions that mean something else than the built-ins of their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from gradcli.engine.builtins.create import constant_data, like
from gradcli.engine.ops.binding import static
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, constant, host
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.run.language.joining import Joiner
from gradcli.engine.run.session import classes
from gradcli.engine.run.session.array_text import printed_as
from gradcli.engine.run.session.text import text
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, dtype_of, np, plain, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.objects import Object
from gradcli.engine.values.sizes import Size, axis, broadcast, describe, flag, number, sizes, whole
from gradcli.errors import run_error

FAMILY = 350, "NumPy's own"

_DIMS: dict[str, Any] = {"dim": None, "keepdim": False}

Do = Callable[..., Any]
"""Does an op: on the values of a run, or on what is known of them."""


def of_tensors(name: str, body: Callable[..., Any], *, library: str = "numpy", **fields: Any) -> Op:
    """A function of tensors of another library: `body(do, *tensors, **params)`."""
    optional = sum(arg.endswith("=None") for arg in fields["args"])

    def call(session: Any, *given: Any, **params: Any) -> Any:
        def do(op: Op, *args: Any, **wanted: Any) -> Any:
            return session.do(op, args, {**op.defaults, **wanted})

        tensors = _operands(session, name, given, optional)
        return body(do, *tensors, **{k: static(v) for k, v in params.items()})

    def infer(known: Statics, *given: Any, **params: Any) -> Any:
        values = [g if g is None else known.tensor(g) for g in given]
        options = {k: known.static(v) for k, v in params.items()}
        unsure = any(v is UNSURE for v in options.values())
        if unsure or any(v is not None and None in like(v) for v in values):
            return known.unknown(*given)
        return body(
            lambda op, *args, **wanted: op(*args, **{**op.defaults, **wanted}), *values, **options
        )

    return host(
        f"{library}_{name}",
        call,
        infer=infer,
        source=f"{library}: {name}",
        **fields,
    )


def _operands(session: Any, name: str, given: Sequence[Any], optional: int = 0) -> list[Any]:
    """Arguments as numbers and tensors; of the last, some may be None."""
    found = [session.array(_listed(value)) for value in given]
    for i, value in enumerate(found):
        left_out = value is None and i >= len(found) - optional
        if not (left_out or isinstance(value, Tensor) or type(value) in NUMBERS):
            message = f"`np.{name}` needs a number or tensor, got {describe(value)}"
            raise run_error("wrong-type", message)
    return found


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, (tuple, range)) else value


def as_floats(do: Do, x: Any) -> Any:
    """An array with whole numbers and bools made floats."""
    return x if dtype_of(x).startswith("float") else do(ops.cast, x, dtype="float64")


def _flat(do: Do, x: Any) -> Any:
    return do(ops.reshape, x, shape=(-1,))


# statistics -------------------------------------------------------------------------------------


def _spread_of(op: str) -> Callable[..., Any]:
    def body(do: Do, x: Any, dim: Any, dtype: Any, ddof: Any, keepdim: Any) -> Any:
        return do(ops[op], as_floats(do, x), dim=dim, correction=ddof, keepdim=keepdim)

    return body


_DDOF: dict[str, Any] = {"dim": None, "dtype": None, "ddof": 0, "keepdim": False}

std: Op = of_tensors(
    "std",
    _spread_of("std"),
    args=("input",),
    params=_DDOF,
    doc="`np.std`: the standard deviation, divided by the count less `ddof`, which is 0.",
)
var: Op = of_tensors(
    "var",
    _spread_of("var"),
    args=("input",),
    params=_DDOF,
    doc="`np.var`: the variance, divided by the count less `ddof`, which is 0.",
)


def _extent(do: Do, x: Any, dim: Any, keepdim: Any) -> Any:
    largest = do(ops.amax, x, dim=dim, keepdim=keepdim)
    return do(ops.sub, largest, do(ops.amin, x, dim=dim, keepdim=keepdim))


ptp: Op = of_tensors(
    "ptp",
    _extent,
    args=("input",),
    params=_DIMS,
    doc="`np.ptp`: the largest element less the smallest.",
)


def _quantile(do: Do, x: Any, q: Any, dim: Any, keepdim: Any) -> Any:
    q = do(ops.cast, q, dtype="float64") if dtype_of(q) != "float64" else q
    return do(ops.quantile, as_floats(do, x), q, dim=dim, keepdim=keepdim)


def _percentile(do: Do, x: Any, q: Any, dim: Any, keepdim: Any) -> Any:
    return _quantile(do, x, do(ops.div, q, 100.0), dim, keepdim)


median: Op = of_tensors(
    "median",
    lambda do, x, dim, keepdim: _quantile(do, x, 0.5, dim, keepdim),
    args=("input",),
    params=_DIMS,
    doc="`np.median`: of an even count the mean of the two in the middle.",
)
quantile: Op = of_tensors(
    "quantile",
    _quantile,
    args=("input", "q"),
    params=_DIMS,
    doc="`np.quantile`: the value below which the part `q` of the elements lies.",
)
percentile: Op = of_tensors(
    "percentile",
    _percentile,
    args=("input", "q"),
    params=_DIMS,
    doc="`np.percentile`: the value below which `q` percent of the elements lie.",
)


def _average(do: Do, x: Any, weights: Any, dim: Any, keepdim: Any) -> Any:
    x = as_floats(do, x)
    if weights is None:
        return do(ops.mean, x, dim=dim, keepdim=keepdim)
    if dim is not None and shape_of(weights) != shape_of(x):
        at = axis(dim, len(shape_of(x)))
        size = [1] * len(shape_of(x))
        size[at] = -1
        weights = do(ops.reshape, weights, shape=tuple(size))
    total = do(ops.sum, do(ops.mul, x, weights), dim=dim, keepdim=keepdim)
    spread = do(ops.add, weights, do(ops.mul, x, 0.0)) if dim is None else weights
    return do(ops.div, total, do(ops.sum, spread, dim=dim, keepdim=keepdim))


average: Op = of_tensors(
    "average",
    _average,
    args=("input", "weights=None"),
    params=_DIMS,
    order=("input", "dim", "weights", "keepdim"),
    doc="`np.average`: the mean, weighted if there are weights.",
)


def _running(op: str) -> Callable[..., Any]:
    def body(do: Do, x: Any, dim: Any) -> Any:
        return do(ops[op], _flat(do, x) if dim is None else x, dim=0 if dim is None else dim)

    return body


cumsum: Op = of_tensors(
    "cumsum",
    _running("cumsum"),
    args=("input",),
    params={"dim": None},
    doc="`np.cumsum`: sums of the elements up to each, of the flat array without `axis`.",
)
cumprod: Op = of_tensors(
    "cumprod",
    _running("cumprod"),
    args=("input",),
    params={"dim": None},
    doc="`np.cumprod`: products of the elements up to each, of the flat array without `axis`.",
)


def _sort(do: Do, x: Any, dim: Any) -> Any:
    return do(ops.sort, _flat(do, x) if dim is None else x, dim=-1 if dim is None else dim)[0]


sort: Op = of_tensors(
    "sort",
    _sort,
    args=("input",),
    params={"dim": -1},
    doc="`np.sort`: the elements in order, alone.",
)


# arrangement ------------------------------------------------------------------------------------


def _flip(do: Do, x: Any, dim: Any) -> Any:
    return do(ops.flip, x, dims=tuple(range(len(shape_of(x)))) if dim is None else dim)


flip: Op = of_tensors(
    "flip",
    _flip,
    args=("input",),
    params={"dim": None},
    doc="`np.flip`: the order reversed, in all dimensions without `axis`.",
)


def _repeat(do: Do, x: Any, repeats: Any, dim: Any) -> Any:
    flat = _flat(do, x) if dim is None else x
    return do(ops.repeat_interleave, flat, repeats=repeats, dim=0 if dim is None else dim)


repeat: Op = of_tensors(
    "repeat",
    _repeat,
    args=("input",),
    params={"repeats": REQUIRED, "dim": None},
    doc="`np.repeat`: each element several times; `repeat` of the language repeats the whole.",
)


def _transpose(do: Do, x: Any, axes: Any) -> Any:
    return do(
        ops.permute, x, dims=tuple(reversed(range(len(shape_of(x))))) if axes is None else axes
    )


transpose: Op = of_tensors(
    "transpose",
    _transpose,
    args=("input",),
    params={"axes": None},
    doc="`np.transpose`: the dimensions in reverse, or in the order `axes`.",
)


def _append(do: Do, x: Any, values: Any, dim: Any) -> Any:
    parts = [_flat(do, x), _flat(do, values)] if dim is None else [x, values]
    return do(ops.cat, *parts, dim=0 if dim is None else dim)


append: Op = of_tensors(
    "append",
    _append,
    args=("input", "values"),
    params={"dim": None},
    doc="`np.append`: a new array of the elements of both, flat without `axis`.",
)


def _split(do: Do, x: Any, indices_or_sections: Any, dim: Any) -> Any:
    sections = indices_or_sections
    shape = shape_of(x)
    count = shape[axis(dim, len(shape))] if shape else 0
    if type(sections) is int and count % max(sections, 1):
        message = f"{count} elements cannot be split into {sections} parts"
        raise run_error("shape-mismatch", f"{message} of one size", help="`np.array_split` can")
    return do(ops.tensor_split, x, indices_or_sections=sections, dim=dim)


split: Op = of_tensors(
    "split",
    _split,
    args=("input",),
    params={"indices_or_sections": REQUIRED, "dim": 0},
    doc="`np.split`: parts of one size, so many, or the parts between places.",
)


def _resize(do: Do, x: Any, new_shape: Any) -> Any:
    size = sizes(new_shape, "new_shape")
    check_memory(size)
    count, wanted = prod(shape_of(x)), prod(size)
    if not count and wanted:
        raise run_error("shape-mismatch", "`np.resize` cannot repeat an array of no elements")
    places = np.arange(wanted).reshape(size) % max(count, 1)
    return do(ops.take, x, index=places)


resize: Op = of_tensors(
    "resize",
    _resize,
    args=("a",),
    params={"new_shape": REQUIRED},
    doc="`np.resize`: an array of another size, in which the elements repeat until it is full.",
)


def _meshgrid(session: Any, *vectors: Any, indexing: Any = "xy") -> Any:
    given = _operands(session, "meshgrid", vectors)
    return session.do(ops.meshgrid, given, {"indexing": indexing})


meshgrid: Op = host(
    "numpy_meshgrid",
    _meshgrid,
    args=("*vectors",),
    params={"indexing": "xy"},
    infer=lambda known, *vectors, indexing: known.unknown(*vectors),
    doc="`np.meshgrid`: coordinates of a grid, with rows by the second vector.",
    source="NumPy: meshgrid",
)

nonzero: Op = of_tensors(
    "nonzero",
    lambda do, x: do(ops.nonzero, x, as_tuple=True),
    args=("input",),
    doc="`np.nonzero`, `np.where(x)`: the places of what is not zero, an array a dimension.",
    aliases=("builtins_numpy_where", "builtins_torch_where", "builtins_where"),
)


# products and decompositions --------------------------------------------------------------------


def _dot(do: Do, a: Any, b: Any) -> Any:
    if not shape_of(a) or not shape_of(b):
        return do(ops.mul, a, b)
    if len(shape_of(b)) > 2:
        return do(ops.tensordot, a, b, dims=((-1,), (-2,)))
    return do(ops.matmul, a, b)


dot: Op = of_tensors(
    "dot",
    _dot,
    args=("input", "other"),
    doc="`np.dot`: the product of vectors and matrices; of numbers their product.",
)


def _lstsq(do: Do, a: Any, b: Any, rcond: Any) -> Any:
    a, b = as_floats(do, a), as_floats(do, b)
    if len(shape_of(b)) > 1:
        return tuple(do(ops.lstsq, a, b))
    found = do(ops.lstsq, a, do(ops.unsqueeze, b, dim=-1))
    return (do(ops.squeeze, found[0], dim=-1), *found[1:])


linalg_lstsq: Op = of_tensors(
    "linalg_lstsq",
    _lstsq,
    args=("input", "other"),
    params={"rcond": None},
    doc="`np.linalg.lstsq`: the solution of least squares, and what comes with it.",
)


# small numerical methods ------------------------------------------------------------------------


def _gradient(do: Do, f: Any, *spacings: Any, dim: Any) -> Any:
    """The slopes along one dimension, or a tuple of those along several."""
    f = as_floats(do, f)
    rank = len(shape_of(f))
    named = dim if isinstance(dim, (list, tuple)) else [dim]
    chosen = [*range(rank)] if dim is None else [axis(d, rank) for d in named]
    given = [x for x in spacings if x is not None] or [1.0]
    if len(given) == 1 and not shape_of(given[0]):
        given *= len(chosen)  # one distance for every dimension
    if len(given) != len(chosen):
        message = f"`np.gradient` got places for {len(given)} of {len(chosen)} dimensions"
        raise run_error("bad-argument", message)
    for d in chosen:
        if shape_of(f)[d] < 2:
            message = "`np.gradient` needs two elements along a dimension"
            raise run_error("bad-argument", message, raises=ValueError)
    slopes = tuple(_slopes(do, f, x, d) for x, d in zip(given, chosen, strict=True))
    return slopes[0] if len(slopes) == 1 else slopes


def _slopes(do: Do, f: Any, x: Any, d: int) -> Any:
    """Second-order differences inside, first-order ones at the ends."""
    f_steps = _steps(do, f, d)
    first, last = _only(do, f_steps, d, 0), _only(do, f_steps, d, -1)
    if not shape_of(x):
        both = do(ops.sub, _but(do, f, d, 0, 2), _but(do, f, d, -1, 2))
        inner = do(ops.div, both, do(ops.mul, 2.0, x))
        return do(ops.cat, do(ops.div, first, x), inner, do(ops.div, last, x), dim=d)
    steps = do(ops.reshape, _steps(do, x, 0), shape=(-1, *[1] * (len(shape_of(f)) - d - 1)))
    before, behind = _but(do, steps, 0, -1), _but(do, steps, 0, 0)
    both = do(ops.add, before, behind)
    left = do(ops.neg, do(ops.div, behind, do(ops.mul, before, both)))
    middle = do(ops.div, do(ops.sub, behind, before), do(ops.mul, before, behind))
    right = do(ops.div, before, do(ops.mul, behind, both))
    inner = do(
        ops.add,
        do(
            ops.add,
            do(ops.mul, left, _but(do, f, d, -1, 2)),
            do(ops.mul, middle, _but(do, _but(do, f, d, 0), d, -1)),
        ),
        do(ops.mul, right, _but(do, f, d, 0, 2)),
    )
    first = do(ops.div, first, _only(do, steps, 0, 0))
    return do(ops.cat, first, inner, do(ops.div, last, _only(do, steps, 0, -1)), dim=d)


def _steps(do: Do, x: Any, d: int) -> Any:
    """From each element along a dimension to the next."""
    return do(ops.sub, _but(do, x, d, 0), _but(do, x, d, -1))


def _but(do: Do, x: Any, d: int, end: int, count: int = 1) -> Any:
    """All but the first elements along a dimension, or but the last."""
    kept = slice(count, None) if end == 0 else slice(None, -count)
    return do(ops.getitem, x, index=_along(d, kept))


def _only(do: Do, x: Any, d: int, end: int) -> Any:
    return do(ops.getitem, x, index=_along(d, slice(0, 1) if end == 0 else slice(-1, None)))


def _along(d: int, places: slice) -> tuple[slice, ...]:
    return (*[slice(None)] * d, places)


gradient: Op = of_tensors(
    "gradient",
    _gradient,
    args=("input", "x=None", "y=None", "z=None"),
    params={"dim": None},
    doc="`np.gradient`: slopes along each dimension, at the places `x` (`y`, `z` for the next "
    "dimensions), or at a distance.",
)


def _interp(session: Any, x: Any, xp: Any, fp: Any) -> Any:
    at, places, values = _operands(session, "interp", (x, xp, fp))
    if len(shape_of(places)) != 1 or shape_of(places) != shape_of(values) or not places.shape[0]:
        raise run_error("shape-mismatch", "`np.interp` needs a row of places and one of values")

    def do(op: Op, *args: Any, **wanted: Any) -> Any:
        return session.do(op, args, {**op.defaults, **wanted})

    flat = _interpolated(do, _flat(do, at), places, values)
    return do(ops.reshape, flat, shape=shape_of(at))


def _interpolated(do: Do, x: Any, xp: Any, fp: Any) -> Any:
    """Between two neighbours a line; outside the value at the end."""
    inside = do(ops.clamp, x, do(ops.amin, xp), do(ops.amax, xp))
    found = do(ops.searchsorted, xp, do(ops.detached, inside), right=True)
    above = do(ops.clamp, found, 1, shape_of(xp)[0] - 1)
    below = do(ops.sub, above, 1)
    x0, x1, f0, f1 = (do(ops.take, v, index=static(i)) for v in (xp, fp) for i in (below, above))
    part = do(ops.div, do(ops.sub, inside, x0), do(ops.sub, x1, x0))
    return do(ops.add, f0, do(ops.mul, part, do(ops.sub, f1, f0)))


interp: Op = host(
    "numpy_interp",
    _interp,
    args=("x", "xp", "fp"),
    infer=lambda known, *given: known.unknown(*given),
    doc="`np.interp`: values at x between the values fp at the rising places xp, by lines.",
    source="NumPy: interp",
)


def _polyval(session: Any, p: Any, x: Any) -> Any:
    (x,) = _operands(session, "polyval", (x,))
    value: Any = 0.0
    for coefficient in _operands(session, "polyval", session.items(p)):
        value = session.do(
            ops.add, [session.do(ops.mul, [value, x], {}), coefficient], {"alpha": 1}
        )
    return value


polyval: Op = host(
    "numpy_polyval",
    _polyval,
    args=("p", "x"),
    infer=lambda known, *given: known.unknown(*given),
    doc="`np.polyval`: the polynomial of the coefficients p, the highest first, at x.",
    source="NumPy: polyval",
)


def _row(value: Any, name: str) -> Any:
    """The floats of a row of numbers."""
    data = value if isinstance(value, np.ndarray) else constant_data(_listed(value))
    found = np.array(data, float)
    if found.ndim != 1:
        raise run_error("shape-mismatch", f"`{name}` must have one dimension, got {found.ndim}")
    return found


def _polyfit(session: Any, x: Any, y: Any, deg: Any) -> Any:
    at, values, degree = _row(x, "x"), _row(y, "y"), whole(deg, "deg")
    if len(at) != len(values) or not at.size or degree < 0:
        message = f"`np.polyfit` got {len(at)} places and {len(values)} values"
        raise run_error("shape-mismatch", message)
    if not moves(session, x, y):
        return Tensor(plain(np.polyfit(at, values, degree)))
    x, y = (_float(session, v) for v in _operands(session, "polyfit", (x, y)))
    powers = session.do(ops.vander, [x], {"N": degree + 1, "increasing": False})
    values = session.do(ops.unsqueeze, [y], {"dim": 1})
    found, *_ = session.do(ops.lstsq, [powers, values], ops.lstsq.defaults)
    return session.do(ops.squeeze, [found], {"dim": 1})


def moves(session: Any, *given: Any) -> bool:
    """True if a derivative by one of the values, or by a number in it, may be asked for."""
    return bool(session.recording and _has_graph(given))


_ROWS = (list, tuple)


def _has_graph(items: Sequence[Any]) -> bool:
    return any(
        _has_graph(v) if type(v) in _ROWS else isinstance(v, Tensor) and v.recorded for v in items
    )


polyfit: Op = host(
    "numpy_polyfit",
    _polyfit,
    args=("x", "y", "deg"),
    infer=lambda known, *given: known.unknown(),
    doc="`np.polyfit`: coefficients of the polynomial of least squares.",
    flat=True,
    source="NumPy: polyfit",
)


def _convolve(session: Any, a: Any, v: Any, mode: Any) -> Any:
    first, second = _row(a, "a"), _row(v, "v")
    if not (first.size and second.size):
        raise run_error("shape-mismatch", "`np.convolve` needs elements in both rows")
    if str(mode) not in ("full", "same", "valid"):
        raise run_error("bad-argument", '`mode` is "full", "same" or "valid"', raises=ValueError)
    if not moves(session, a, v):
        return Tensor(plain(np.convolve(first, second, mode)))
    given = _operands(session, "convolve", (a, v))
    long, short = given if len(first) >= len(second) else reversed(given)
    kernel = session.do(ops.flip, [short], {"dims": (0,)})
    rows = [
        session.do(ops.reshape, [_float(session, r)], {"shape": (1, 1, -1)}) for r in (long, kernel)
    ]
    many, few = max(len(first), len(second)), min(len(first), len(second))
    all_ = session.do(ops.conv1d, [*rows, None], {**ops.conv1d.defaults, "padding": few - 1})
    all_ = session.do(ops.reshape, [all_], {"shape": (-1,)})
    start = {"full": 0, "same": (few - 1) // 2, "valid": few - 1}[mode]
    count = {"full": many + few - 1, "same": many, "valid": many - few + 1}[mode]
    return session.do(ops.getitem, [all_], {"index": slice(start, start + count)})


def _float(session: Any, x: Any) -> Any:
    return as_floats(lambda op, *args, **wanted: session.do(op, args, {**op.defaults, **wanted}), x)


convolve: Op = host(
    "numpy_convolve",
    _convolve,
    args=("a", "v"),
    params={"mode": "full"},
    infer=lambda known, *given, **options: known.unknown(),
    doc="`np.convolve`: the convolution of two rows.",
    flat=True,
    source="NumPy: convolve",
)


def _histogram(session: Any, a: Any, bins: Any, range: Any, density: Any) -> Any:
    data = np.array(constant_data(_listed(a)), float)
    if type(bins) is int:
        check_memory(sizes((bins,), "bins"))
    edges = bins if type(bins) is int else _row(bins, "bins")
    try:
        counts, edges = np.histogram(data, edges, static(range), flag(density, "density"))
    except (TypeError, ValueError) as error:
        raise run_error(
            "bad-argument", f"`np.histogram` cannot count: {error}", raises=ValueError
        ) from None
    return Tensor(plain(counts)), Tensor(plain(edges))


histogram: Op = host(
    "numpy_histogram",
    _histogram,
    args=("a",),
    params={"bins": 10, "range": None, "density": False},
    infer=lambda known, a, **options: known.unknown(),
    doc="`np.histogram`: how many elements lie between edges, and the edges; constants.",
    flat=True,
    source="NumPy: histogram",
)


# elements and sizes ------------------------------------------------------------------------------


def _item(session: Any, value: Any) -> Any:
    if type(value) is Tensor and value.view is not None and not value.ndim:
        return session.do(ops.clone, [value], {})
    return value


def _item_of(known: Statics, value: Any) -> Any:
    if getattr(value, "shape", None) != ():
        return value
    return known.like(value, (), value.dtype)


item: Op = host(
    "numpy_item",
    _item,
    args=("x",),
    infer=_item_of,
    traced=lambda code, x: x,
    doc="An element or part of an array, as `t = x[i]` gives it in NumPy: a number by itself.",
    source="NumPy: basic indexing",
)


def _rows(session: Any, value: Any) -> Any:
    holds_arrays = isinstance(value, (list, tuple)) and any(map(_has_rows, value))
    return session.array(value) if holds_arrays else value


def _has_rows(item: Any) -> bool:
    return isinstance(item, (list, tuple)) or bool(isinstance(item, Tensor) and item.ndim)


def _rows_of(known: Statics, value: Any) -> Any:
    if getattr(value, "shape", None) is not None:
        return value
    shape = like(known.tensor(value))[0]
    return known.unknown(value) if shape is None or len(shape) == 1 else known.tensor(value)


def _rows_traced(code: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple)) and any(_has_rows(code.like(item)) for item in value):
        raise code.refused("an array is made of a list")
    return value


rows_of_a_sum: Op = host(
    "numpy_rows",
    _rows,
    args=("x",),
    infer=_rows_of,
    traced=_rows_traced,
    doc="A list or tuple of arrays or rows as an array, else the value itself: what `np.sum` adds.",
    source="NumPy: sum",
)


def _text(value: Any) -> str:
    with printed_as("numpy"):
        return text(value)


text_of_array: Op = host(
    "numpy_text",
    lambda session, x: _text(x),
    args=("x",),
    infer=lambda known, x: known.text(),
    traced=lambda code, x: code.text(lambda given: _text(given[0]), (x,)),
    doc="The text of an array as NumPy prints it, in a program that imports PyTorch, too.",
    source="NumPy: array2string",
)


# what an array is -------------------------------------------------------------------------------


def _shape(session: Any, a: Any) -> Any:
    return Size(shape_of(_operands(session, "shape", (a,))[0]))


def _size(session: Any, a: Any, dim: Any) -> Any:
    if isinstance(a, Object) and dim is None:
        return classes.get(a, "size")
    shape = _shape(session, a)
    if dim is None:
        return int(np.prod(shape))
    if not shape:
        raise run_error("index-out-of-range", "an array without dimensions has no size along one")
    return int(shape[axis(dim, len(shape))])


shape: Op = host(
    "numpy_shape",
    _shape,
    args=("a",),
    infer=lambda known, a: known.unknown(),
    doc="`np.shape`: the size of an array.",
    sees=False,
    source="NumPy: shape",
)
size: Op = host(
    "numpy_size",
    _size,
    args=("a",),
    params={"dim": None},
    infer=lambda known, a, dim: known.number("int64"),
    doc="`np.size`: how many elements an array has, or has along a dimension.",
    sees=False,
    source="NumPy: size",
)
ndim: Op = host(
    "numpy_ndim",
    lambda session, a: len(_shape(session, a)),
    args=("a",),
    infer=lambda known, a: known.number("int64"),
    doc="`np.ndim`: how many dimensions an array has.",
    sees=False,
    source="NumPy: ndim",
)

rows: Op = constant(
    "numpy_r_", Joiner(columns=False), "`np.r_[a, 1:5, b]`: parts one after the other."
)
columns: Op = constant("numpy_c_", Joiner(columns=True), "`np.c_[a, b]`: parts as columns.")
newaxis: Op = constant("numpy_newaxis", None, "`np.newaxis`: None, a new dimension in an index.")

euler_gamma: Op = constant(
    "numpy_euler_gamma", 0.5772156649015329, "`np.euler_gamma`: Euler's constant."
)

version: Op = constant(
    "numpy_version", "2.4", "`np.__version__`: that of the NumPy whose meaning its names have."
)


# assertions -------------------------------------------------------------------------------------


def _assert_close(
    session: Any, actual: Any, desired: Any, rtol: Any, atol: Any, **options: Any
) -> None:
    a, b = (np.array(constant_data(_listed(v)), float) for v in (actual, desired))
    size = broadcast(a.shape, b.shape)
    a, b = np.broadcast_to(a, size), np.broadcast_to(b, size)
    if not np.allclose(a, b, number(rtol, "rtol"), number(atol, "atol"), equal_nan=True):
        difference = float(np.max(np.abs(a - b)))
        raise run_error("assertion-failed", f"arrays differ by up to {difference:.6g}")


def _close(name: str, rtol: float, atol: float, doc: str, **params: Any) -> Op:
    return host(
        name,
        _assert_close,
        args=("actual", "desired"),
        params={"rtol": rtol, "atol": atol, **params},
        infer=lambda known, *given, **options: known.constant(None),
        doc=doc,
        source="NumPy: testing",
        pure=False,
    )


assert_allclose: Op = _close(
    "assert_allclose",
    1e-7,
    0.0,
    "Fails unless two arrays are close: `np.testing.assert_allclose`.",
    err_msg="",
    equal_nan=True,
)
assert_close: Op = _close(
    "assert_close",
    1e-7,
    1e-7,
    "Fails unless two tensors are close: `torch.testing.assert_close`.",
    msg=None,
)
assert_array_equal: Op = _close(
    "assert_array_equal",
    0.0,
    0.0,
    "Fails unless two arrays have the same elements: `np.testing.assert_array_equal`.",
    err_msg="",
)


def _assert_almost(session: Any, actual: Any, desired: Any, decimal: Any) -> None:
    _assert_close(session, actual, desired, 0.0, 1.5 * 10.0 ** -whole(decimal, "decimal"))


assert_almost_equal: Op = host(
    "assert_almost_equal",
    _assert_almost,
    args=("actual", "desired"),
    params={"decimal": 7},
    infer=lambda known, *given, **options: known.constant(None),
    doc="Fails unless two arrays agree to `decimal` places: `np.testing.assert_almost_equal`.",
    source="NumPy: testing",
    aliases=("assert_array_almost_equal",),
    pure=False,
)
