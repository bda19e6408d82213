"""Python's own functions, and the names that are values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sized
from types import GeneratorType
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, constant, python_host
from gradcli.engine.ops.statics import UNSURE, Statics
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.run.session.evaluator import as_numbers
from gradcli.engine.run.session.text import library, text
from gradcli.engine.tape.graph import Node
from gradcli.engine.tape.tensor import Number, Tensor, node_of, truth
from gradcli.engine.values import dtypes
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.conversion import whole
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.fields import Fields, Named
from gradcli.engine.values.limits import joined_text
from gradcli.engine.values.objects import Object
from gradcli.engine.values.sizes import describe
from gradcli.errors import ErrorText, run_error

FAMILY = 330, "Python's own"

# text -------------------------------------------------------------------------------------------


def _line(values: Iterable[Any], sep: Any, end: Any) -> str:
    """The text that `print` writes."""
    between = " " if sep is None else text(sep)
    return joined_text(between, map(text, values)) + ("\n" if end is None else text(end))


def _parts(values: Iterable[Any], sep: Any, end: Any) -> Iterator[str]:
    """The same, part by part, as Python writes it to a file."""
    for i, value in enumerate(values):
        if i:
            yield " " if sep is None else text(sep)
        yield text(value)
    yield "\n" if end is None else text(end)


def _print(
    output: Any,
    *values: Any,
    sep: Any = " ",
    end: Any = "\n",
    file: Any = None,
    flush: Any = False,
) -> None:
    name = getattr(file, "name", None)
    kind = _STREAMS.get(name) if type(name) is str else None
    if file is None or kind is not None:
        line = _line(values, sep, end)
        output.echo(line if kind is None else kind(line))
    elif isinstance(file, Object) and hasattr(file, "write"):
        for part in _parts(values, sep, end):
            file.write(part)
    else:
        raise run_error(
            "bad-argument",
            f"`file` of `print` needs a method `write`, got {describe(file)}",
            help="`sys.stdout` and `sys.stderr` have one",
            raises=AttributeError,
        )


_STREAMS: dict[str, Callable[[str], str]] = {"<stdout>": str, "<stderr>": ErrorText}
"""What texts are, by the name of the stream to which they are printed."""


def _traced_print(code: Tracing, *values: Any, sep: Any, end: Any, file: Any, flush: Any) -> None:
    if file is not None:
        raise ValueError  # code prints nowhere else, so that there is none
    code.tell(lambda given: _line(given, sep, end), values)


print_: Op = python_host(
    "print",
    _print,
    part="output",
    args=("*values=None",),
    params={"sep": " ", "end": "\n", "file": None, "flush": False},
    infer=lambda known, *values, **options: known.constant(None),
    traced=_traced_print,
    doc="Prints the values with `sep` between them and `end` after them, tensors as PyTorch does. "
    "With `file=sys.stderr` on standard error; other files are objects with a method `write`.",
    pure=False,
    sees=True,
)

str_: Op = python_host(
    "str",
    lambda session, *values: text(values[0]) if values else "",
    args=("*values=None",),
    infer=lambda known, *values: known.text(),
    traced=lambda code, *values: code.text(lambda given: text(given[0]), values),
    doc="The text of a value, as `print` shows it.",
    sees=True,
)


# counting and going through ---------------------------------------------------------------------


def _len(session: Any, value: Any) -> int:
    if type(value) in _PLAINLY_SIZED:
        return len(value)
    if type(value) is Tensor and value.ndim:
        return value.shape[0]
    if _is_sized(value):
        return len(value)
    if isinstance(value, Object) and hasattr(type(value), "__len__"):
        return len(value)  # type: ignore[arg-type]  # it has the method
    kind = "a 0-d tensor" if type(value) is Tensor else describe(value)
    raise run_error("wrong-type", f"{kind} has no length")


_PLAINLY_SIZED = frozenset({list, tuple, str, dict, set})


def _is_sized(value: Any) -> bool:
    return isinstance(value, Sized) and not isinstance(value, Tensor)


def _length(known: Statics, value: Any) -> Any:
    items = known.items(value)
    if items is not None:
        return known.constant(len(items))
    shape, data = getattr(value, "shape", None), known.static(value)
    if shape:
        return known.constant(shape[0])
    return known.constant(len(data)) if isinstance(data, (str, range)) else known.number("int64")


len_: Op = python_host(
    "len",
    _len,
    args=("value",),
    infer=_length,
    traced=lambda code, value: _len(code, value if _is_sized(value) else code.like(value)),
    doc="Number of items of a list, tuple, string or range, of rows of a tensor.",
)


def _integer(value: Any, name: str) -> int:
    data = data_of(value)
    if type(data) is int or type(data) is bool:
        return int(data)
    if hasattr(data, "dtype") and data.size == 1 and data.dtype.kind in "ib":
        return int(data.item())
    raise run_error(
        "wrong-type",
        f"`{name}` needs ints, got {describe(value)}",
        help="`arange` counts by floats, and `int(x)` cuts one off" if _is_float(data) else None,
    )


def _is_float(data: Any) -> bool:
    return type(data) is float or (hasattr(data, "dtype") and data.dtype.kind == "f")


def _range(session: Any, *bounds: Any) -> range:
    if not 1 <= len(bounds) <= 3:
        raise run_error("wrong-arity", f"`range` takes 1 to 3 arguments, got {len(bounds)}")
    ints = [b if type(b) is int else _integer(b, "range") for b in bounds]
    if len(ints) == 3 and ints[2] == 0:
        said = ValueError("range() arg 3 must not be zero")
        raise run_error("bad-argument", "the step of `range` cannot be 0", raises=said)
    return range(*ints)


def _range_of(known: Statics, *bounds: Any) -> Any:
    ints = known.static(bounds)
    return known.unknown() if ints is UNSURE else known.constant(_range(None, *ints))


range_: Op = python_host(
    "range",
    _range,
    args=("*bounds",),
    infer=_range_of,
    traced=lambda code, *bounds: code.range(bounds),
    doc="The ints from `start` (0) on by `step` (1) up to `stop`, without it: `range(stop)` or "
    "`range(start, stop, step)`.",
)


enumerate_: Op = python_host(
    "enumerate",
    lambda session, values, start: iter(
        enumerate(session.iterate(values), _integer(start, "enumerate"))
    ),
    args=("iterable",),
    params={"start": 0},
    infer=lambda known, values, start: known.each([values], start),
    traced=lambda code, values, start: code.each(
        enumerate(code.items(values), _integer(start, "enumerate")), [values]
    ),
    doc="Pairs of a number from `start` on and an item.",
)


def _zip(session: Any, *values: Any, strict: Any = False) -> Iterator[Any]:
    if not truth(strict):
        return zip(*map(session.iterate, values), strict=False)
    lengths = {_len(session, v) for v in values}
    if len(lengths) > 1:
        shown = " and ".join(map(str, sorted(lengths)))
        message = f"`zip` with strict=True got the lengths {shown}"
        raise run_error("shape-mismatch", message, raises=ValueError)
    return zip(*map(session.iterate, values), strict=False)


zip_: Op = python_host(
    "zip",
    _zip,
    args=("*iterables=None",),
    params={"strict": False},
    infer=lambda known, *values, strict: known.each(values, None),
    traced=lambda code, *values, strict: code.each(
        zip(*map(code.items, values), strict=strict is not False), values
    ),
    doc="The first items of all values together, then the second ones, up to the shortest.",
)


# conversions ------------------------------------------------------------------------------------


def _scalar(value: Any, name: str) -> Any:
    """The Python number in a value."""
    data = data_of(value)
    if type(data) in NUMBERS:
        return data
    if hasattr(data, "dtype"):
        if data.size == 1:
            return data.item()
        raise run_error(
            "shape-mismatch",
            f"`{name}` needs one element, got a tensor of shape {list(data.shape)}",
            raises=ValueError,
        )
    raise run_error("wrong-type", f"`{name}` needs a number, got {describe(value)}")


def _int(session: Any, *values: Any) -> int:
    value = values[0] if values else 0
    number = _parsed(value, int, "int") if isinstance(value, str) else _scalar(value, "int")
    return whole(number)


def _float(session: Any, *values: Any) -> Any:
    value = values[0] if values else 0.0
    if isinstance(value, Number):
        return value
    if isinstance(value, str):
        return _parsed(value, float, "float")
    if isinstance(value, Tensor) and session.transparent and node_of(value) is not None:
        return as_numbers(session.do(ops.reshape, [value], {"shape": ()}))
    return float(_scalar(value, "float"))


def _parsed(value: str, kind: Any, name: str) -> Any:
    try:
        return kind(value)
    except ValueError as error:
        raise run_error("bad-argument", f"`{name}` cannot read {value!r}", raises=error) from None


def _scalar_of(call: Any, dtype: str) -> Any:
    """The `infer` function of `int`, `float` or `bool`."""

    def infer(known: Statics, *values: Any) -> Any:
        if not values:
            return known.constant(call(None))
        value = values[0]
        found = known.tried(call, value)
        if found is not None:
            return found
        smooth = dtype == "float64" and getattr(value, "shape", None) == ()
        return known.same_number(value, dtype) if smooth else known.number(dtype, value)

    return infer


int_: Op = python_host(
    "int",
    _int,
    args=("*values=None",),
    doc="The int of a number, cut off towards zero, or of a one-element tensor: a constant. As a "
    "dtype it is int64.",
    flat=True,
    infer=_scalar_of(_int, "int64"),
    traced=lambda code, value: code.converted(value, "int64"),
)

float_: Op = python_host(
    "float",
    _float,
    args=("*values=None",),
    doc="The float of a number, or of a one-element tensor, without its gradient as in PyTorch. As "
    "a dtype it is float64.",
    infer=_scalar_of(_float, "float64"),
    traced=lambda code, value: code.converted(value, "float64"),
)


def _bool(session: Any, *values: Any) -> bool:
    return bool(truth(values[0])) if values else False


bool_: Op = python_host(
    "bool",
    _bool,
    args=("*values=None",),
    infer=_scalar_of(_bool, "bool"),
    traced=lambda code, value: code.converted(value, "bool"),
    doc="The truth of a value: not zero, not empty. As a dtype it is bool.",
)


# what a value is --------------------------------------------------------------------------------


class Kind:
    """A kind of values: what `type(x)` gives and `isinstance(x, kind)` takes."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Kind) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def shown(self) -> str:
        """The name as the program's library writes it."""
        return _SHOWN.get(library(), {}).get(self.name, self.name)

    def __repr__(self) -> str:
        return f"<class '{self.shown}'>"

    def is_made_by(self, function: Any) -> bool:
        """True if a built-in function, such as `int`, names this kind."""
        asked = dtypes.builtin_name(function)
        return callable(function) and _CLASSES.get(asked, asked) == self.name

    _members: tuple[dict[str, Any], dict[str, Any]] = (
        {"__name__": lambda kind: kind.shown.rpartition(".")[2]},
        {},
    )


def kind_of(value: Any) -> Kind | type:
    """The kind of a value."""
    if isinstance(value, Object):
        return type(value)
    if isinstance(value, type):
        return Kind("type")  # Python's own makes classes of anything
    if isinstance(value, Number):
        value = value.data
    if isinstance(value, Tensor):
        return Kind("torch.Tensor")
    if isinstance(value, GeneratorType):
        return Kind("generator")
    if isinstance(value, Node):
        return Kind(value.name())
    if callable(value):
        return Kind("function")
    if isinstance(value, Fields):
        return Kind(value.name if type(value) is Named else f"torch.return_types.{value.name}")
    name = type(value).__name__
    return Kind({"Size": "torch.Size", "DType": "torch.dtype"}.get(name, name))


_CLASSES = {
    "Size": "torch.Size",
    **dict.fromkeys(("tensor", "Tensor", "FloatTensor", "Variable"), "torch.Tensor"),
}
"""Kinds with another name than the built-in that makes them."""

_SHOWN = {
    "numpy": {"torch.Tensor": "numpy.ndarray", "torch.Size": "tuple"},
    "jax": {"torch.Tensor": "jaxlib._jax.ArrayImpl", "torch.Size": "tuple"},
}
"""Names of kinds in programs with the arrays of a library."""


def _sliced(session: Any, *bounds: Any) -> slice:
    if not 1 <= len(bounds) <= 3:
        raise run_error("wrong-arity", f"`slice` takes 1 to 3 arguments, it got {len(bounds)}")
    return slice(*bounds)


slice_: Op = python_host(
    "slice",
    _sliced,
    args=("*bounds",),
    infer=lambda known, *bounds: known.unknown(),
    doc="`slice(stop)`, `slice(start, stop, step)`: what `start:stop:step` is between brackets.",
    sees=True,
)


def _forward(index: Any) -> Any:
    """The index of a tensor, if no step in it is known to be negative."""
    for entry in index if type(index) is tuple else (index,):
        step = entry.step if type(entry) is slice else None
        if type(step) is int and step < 0:
            message = f"the step of a slice must be positive, got {step}"
            help = "`flip(x, 0)` reverses a dimension; a program that imports NumPy takes it"
            raise run_error("bad-index", message, help=help, raises=ValueError)
    return index


def _forward_traced(code: Tracing, value: Any, index: Any) -> Any:
    is_rows = type(value) in (list, tuple, range, str)
    return index if is_rows or type(code.like(value)) is not Tensor else _forward(index)


forward_index: Op = python_host(
    "forward_index",
    lambda session, value, index: _forward(index) if type(value) is Tensor else index,
    args=("value", "index"),
    infer=lambda known, value, index: (
        _forward(index) if getattr(value, "kind", "") == "tensor" else index
    ),
    traced=_forward_traced,
    doc="The index between brackets, with no negative step if the value is a tensor: PyTorch's.",
)

ellipsis: Op = constant("Ellipsis", ..., "`...`, as an index.")

type_: Op = python_host(
    "type",
    lambda session, value: kind_of(value),
    args=("value",),
    infer=lambda known, value: known.unknown(),
    traced=lambda code, value: kind_of(code.like(value)),
    doc="The kind of a value, such as `<class 'torch.Tensor'>`.",
    sees=True,
)

number: Op = constant(
    "number", Kind("number"), "The kind of all numbers, for `isinstance(x, number)`."
)

name: Op = constant("__name__", "__main__", "The name of the program as a module: `__main__`.")

_KINDS = {
    **dict.fromkeys(("tensor", "Tensor", "Variable"), ("torch.Tensor",)),
    "callable": ("function",),
    "number": ("int", "float", "bool"),
    "int": ("int", "bool"),
    "Size": ("torch.Size",),
}


def _isinstance(session: Any, value: Any, kind: Any) -> bool:
    if isinstance(kind, type):
        return isinstance(value, kind)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    name = getattr(kind_of(value), "name", "")
    for k in kinds:
        if isinstance(k, type):
            if isinstance(value, k):
                return True
            continue
        if getattr(k, "__name__", "") == "Parameter":
            if hasattr(value, "parameter"):
                return True
            continue
        asked = k.name if isinstance(k, Kind) else dtypes.builtin_name(k)
        if asked != "Tensor" and asked.endswith("Tensor") and not isinstance(k, Kind):
            if isinstance(value, Tensor) and value.dtype == dtypes.dtype_name(k):
                return True
            continue
        if asked not in _ASKED and not isinstance(k, Kind):
            raise run_error(
                "bad-argument",
                f"`isinstance` asks for int, float, bool, str, list, tuple, dict, set, number or "
                f"tensor, got {describe(k)}",
                raises=TypeError,
            )
        if name in _KINDS.get(asked, (asked,)) or (asked == "tuple" and isinstance(value, tuple)):
            return True
    return False


_ASKED = frozenset(
    {
        *_KINDS,
        *("float", "bool", "str", "list", "tuple", "set", "dict", "range", "NoneType"),
        *("torch.Tensor", "torch.Size", "function"),
    }
)

isinstance_: Op = python_host(
    "isinstance",
    _isinstance,
    args=("value", "kind"),
    infer=lambda known, value, kind: known.number("bool"),
    traced=lambda code, value, kind: _isinstance(code, code.like(value), code.like(kind)),
    doc="True if a value is of a kind: int, float, bool, str, list, tuple, dict, set, number, "
    "tensor, or a `type(x)`.",
    sees=True,
)

id_: Op = python_host(
    "id",
    lambda session, value: id(value),
    args=("value",),
    infer=lambda known, value: known.number("int64"),
    doc="A number that no other value has as long as this one lives.",
    pure=False,
    sees=True,
)


def names_in(value: Any) -> set[str]:
    """The names of a value's attributes and methods."""
    from gradcli.engine.run.language.members import names_of

    names = set(names_of(value))
    if isinstance(value, Tensor):
        for name in filter(ops.is_method, ops):
            names.add(name)
            if ops[name].memory.inplace:
                names.add(f"{name}_")
    if isinstance(value, (Object, type)):
        from gradcli.engine.run.session.classes import names_of as names_of_object

        names.update(names_of_object(value))
    return names


dir_: Op = python_host(
    "dir",
    lambda session, value: sorted(names_in(value)),
    args=("value",),
    infer=lambda known, value: known.unknown(),
    doc="The names of a value's attributes and methods.",
    sees=True,
)


# members of classes -----------------------------------------------------------------------------


def _decorator(name: str, made: type, doc: str) -> Op:
    return python_host(
        name,
        lambda session, function: made(function),
        args=("function",),
        infer=lambda known, function: known.unknown(),
        keeps=True,
        doc=doc,
        sees=True,
    )


staticmethod_: Op = _decorator(
    "staticmethod", staticmethod, "A function of a class that gets no object, as `@staticmethod`."
)
classmethod_: Op = _decorator(
    "classmethod", classmethod, "A method that gets its class, as `@classmethod`."
)
property_: Op = _decorator(
    "property",
    property,
    "An attribute that a method gives, as `@property`; `@NAME.setter` sets it.",
)


# names that are values --------------------------------------------------------------------------

pi: Op = constant("pi", math.pi, "Ratio of a circle's circumference to its diameter.")
tau: Op = constant("tau", math.tau, "2 pi.")
e: Op = constant("e", math.e, "Base of the natural logarithm.")
inf: Op = constant("inf", math.inf, "Infinity.")
nan: Op = constant("nan", math.nan, "Not a number.")

float64: Op = constant(
    "float64", dtypes.FLOAT64, "Floats of 64 bits, the default dtype.", aliases=("double",)
)
float32: Op = constant("float32", dtypes.FLOAT32, "Floats of 32 bits.")
float16: Op = constant("float16", dtypes.DTYPES["float16"], "Floats of 16 bits.", aliases=("half",))
int64: Op = constant("int64", dtypes.INT64, "Ints of 64 bits.", aliases=("long",))
int32: Op = constant("int32", dtypes.DTYPES["int32"], "Ints of 32 bits, which go round.")
int16: Op = constant("int16", dtypes.DTYPES["int16"], "Ints of 16 bits.", aliases=("short",))
int8: Op = constant("int8", dtypes.DTYPES["int8"], "Ints of 8 bits.")
uint8: Op = constant("uint8", dtypes.DTYPES["uint8"], "Ints from 0 to 255.")
