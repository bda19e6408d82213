"""The text of values: numbers as Python prints them, tensors as PyTorch does by default."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from types import GeneratorType
from typing import Any

from gradcli.engine.tape.tensor import Number, Tensor, is_said_to_require_grad, version_of
from gradcli.engine.values.data import NUMBERS, Data, dtype_of, shape_of
from gradcli.engine.values.dtypes import DType
from gradcli.engine.values.fields import VIEWS, Fields, Named
from gradcli.engine.values.limits import QUESTION, check_text, joined_text
from gradcli.engine.values.objects import Object
from gradcli.engine.values.sizes import Size
from gradcli.errors import run_error

_PREFIX = "tensor("
_UNSAID = frozenset({"int64", "bool"})  # dtypes that the elements tell


class Printing:
    """Print options of tensors, by the names of `set_printoptions`. If `sci_mode` is None, the
    elements decide.
    """

    __slots__ = ("edgeitems", "linewidth", "precision", "sci_mode", "threshold")

    def __init__(
        self,
        precision: int = 4,
        threshold: float = 1000,
        edgeitems: int = 3,
        linewidth: int = 80,
        sci_mode: bool | None = None,
    ) -> None:
        self.precision = precision
        self.threshold = threshold
        self.edgeitems = edgeitems
        self.linewidth = linewidth
        self.sci_mode = sci_mode


USUAL_PRINTING = Printing()


def printing() -> Printing:
    """The current run's settings for printing tensors."""
    return QUESTION.printing or USUAL_PRINTING


def library() -> str:
    """The library whose arrays the current run prints: "torch", "numpy" or "jax"."""
    options = QUESTION.array_printing
    return "torch" if options is None else str(options.library)


def text(value: Any) -> str:
    """The text that `print` shows for a value."""
    if isinstance(value, str):
        return value
    if library() != "torch":
        if type(value) is Tensor:
            from gradcli.engine.run.session.array_text import array_text

            return array_text(value.data)
        if type(value) is DType:
            return value.name
    return object_text(value, str) if isinstance(value, Object) else repr_text(value)


def repr_text(value: Any) -> str:
    """The text of a value inside a list: like `text`, with strings in quotes."""
    kind = type(value)
    if kind is Tensor:
        if library() == "torch":
            return tensor_text(value)
        from gradcli.engine.run.session.array_text import array_repr

        return array_repr(value.data)
    if isinstance(value, Number):
        return repr(value.data)
    if kind is list:
        return f"[{joined_text(', ', map(repr_text, value))}]"
    if isinstance(value, Named):
        named = zip(value.names, value, strict=True)
        inside = joined_text(", ", (f"{name}={repr_text(item)}" for name, item in named))
        return f"{value.name}({inside})"
    if isinstance(value, Fields):
        fields = zip(value.names, value, strict=True)
        if library() != "torch":
            inside = ", ".join(f"{name}={repr_text(item)}" for name, item in fields)
            name = value.name.removeprefix("linalg_")
            name = name.upper() if len(name) < 4 else name.capitalize()  # `SVDResult`, `EighResult`
            return f"{name}Result({inside})"
        inside = ",\n".join(f"{name}={repr_text(item)}" for name, item in fields)
        return f"torch.return_types.{value.name}(\n{inside})"
    if kind is tuple:
        inside = joined_text(", ", map(repr_text, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if kind is dict or kind is set or kind in VIEWS:
        return _collection(value)
    if isinstance(value, Object):
        return object_text(value, repr)
    if library() != "torch":
        if kind is Size:
            return repr(tuple(value))
        if kind is DType:
            return f"dtype('{value.name}')"
    if kind is GeneratorType:
        name = value.__name__
        return "<generator>" if name.startswith("%") else f"<generator {name}>"
    if callable(value) and hasattr(value, "__name__") and not isinstance(value, type):
        return f"<function {value.__name__}>"
    return repr(value)


def ascii_text(value: Any) -> str:
    """Like `repr_text`, with escapes for non-ASCII characters, as Python's `ascii`."""
    return repr_text(value).encode("ascii", "backslashreplace").decode()


def object_text(value: Object, way: Callable[[Any], str]) -> str:
    """The text of an object by a method of the program, for `str` or `repr`."""
    try:
        return way(value)
    except TypeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        raise run_error(
            "wrong-type", f"`{way.__name__}` needs a method that returns text"
        ) from None


def _collection(value: Any) -> str:
    """A dictionary, a set, or what shows a part of one."""
    kind = type(value)
    if kind is dict:
        pairs = (f"{repr_text(key)}: {repr_text(item)}" for key, item in value.items())
        return f"{{{joined_text(', ', pairs)}}}"
    inside = joined_text(", ", map(repr_text, value))
    if kind is set:
        return f"{{{inside}}}" if value else "set()"
    return f"{kind.__name__}([{inside}])"


def format_value(value: Any, conversion: str = "", spec: str = "") -> str:
    """The text of a value in an f-string: `{value!conversion:spec}`.

    Raises:
        RunError: If the value cannot be written to this format.
    """
    if conversion == "r":
        value = repr_text(value)
    elif conversion == "s":
        value = text(value)
    elif conversion == "a":
        value = ascii_text(value)
    if isinstance(value, Tensor) and value.shape == ():
        value = value.data if type(value.data) in NUMBERS else value.data.item()
    if type(value) not in NUMBERS and not isinstance(value, str):
        if spec:
            raise run_error(
                "bad-format",
                f"the format `{spec}` needs a number, a one-element tensor without dimensions or "
                "a string",
                help="format the items one by one, or leave the format out",
                raises=TypeError,
            )
        return text(value)
    check_text(_width(spec))
    try:
        return format(value, spec)
    except (ValueError, OverflowError) as error:
        message = f"the format `{spec}` does not fit the value {repr_text(value)}"
        raise run_error("bad-format", message, raises=error) from None


def _width(spec: str) -> int:
    """The largest number in a format, which may be a width."""
    digits = "".join(c if c.isdecimal() else " " for c in spec)
    return max((int(n[:18]) for n in digits.split()), default=0)


# tensors ----------------------------------------------------------------------------------------


def tensor_text(x: Tensor) -> str:
    """A tensor as PyTorch prints it: with its dtype where that is not the default one."""
    data = x.data
    shape, dtype, default = shape_of(data), dtype_of(data), QUESTION.default_dtype
    suffixes = []
    if 0 in shape:
        body = "[]"
        if len(shape) != 1:
            suffixes.append(f"size={shape}")
        if dtype != default:
            suffixes.append(f"dtype=torch.{dtype}")
    else:
        body = _elements(data, shape)
        if dtype != default and dtype not in _UNSAID:
            suffixes.append(f"dtype=torch.{dtype}")
    suffixes += _history(x)
    head = "Parameter containing:\n" if hasattr(x, "parameter") else ""
    return head + _with_suffixes(_PREFIX + body, suffixes)


def _history(x: Tensor) -> list[str]:
    """How the text of a tensor shows its place in the graph."""
    if x.is_stale:
        return ["grad_fn=<Invalid>"]
    if x.grad_fn is not None:
        return [f"grad_fn={x.grad_fn!r}"]
    if x.requires_grad or not is_said_to_require_grad(x):
        return ["requires_grad=True"] if x.requires_grad else []
    changed = x.view is not None and x.view.made != version_of(x)
    return ["grad_fn=<Invalid>" if changed else "requires_grad=True"]


def _with_suffixes(body: str, suffixes: list[str]) -> str:
    used = len(body) - body.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > printing().linewidth:
            body += ",\n" + " " * len(_PREFIX) + suffix
            used = len(_PREFIX) + len(suffix)
        else:
            body += ", " + suffix
            used += len(suffix) + 2
    return body + ")"


def _elements(data: Data, shape: tuple[int, ...]) -> str:
    if type(data) in NUMBERS:
        return _Form([data]).of(data)
    cut = [False] * len(shape)
    if data.size > printing().threshold:
        edge = printing().edgeitems
        cut = [n > 2 * edge for n in shape]
        for i, n in enumerate(shape):
            if cut[i]:
                shown = [*range(edge), *range(n - edge, n)]
                data = data[(slice(None),) * i + (shown,)]
    form = _Form(data.ravel().tolist())
    return _nested(data.tolist(), cut, form, len(_PREFIX))


def _nested(items: Any, cut: list[bool], form: _Form, indent: int) -> str:
    if not cut:
        return form.of(items)
    if len(cut) == 1:
        parts = [form.of(item) for item in items]
        if cut[0]:
            parts.insert(printing().edgeitems, " ...")
        per_line = max(1, (printing().linewidth - indent) // (form.width + 2))
        lines = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
    parts = [_nested(item, cut[1:], form, indent + 1) for item in items]
    if cut[0]:
        parts.insert(printing().edgeitems, "...")
    return "[" + ("," + "\n" * (len(cut) - 1) + " " * (indent + 1)).join(parts) + "]"


class _Form:
    """The format of a tensor's elements, common to all of them."""

    def __init__(self, elements: list[Any]) -> None:
        self.floating = bool(elements) and type(elements[0]) is float
        self.integral = True
        self.scientific = printing().sci_mode is True
        self.precision = printing().precision
        self.width = 1
        if not self.floating:
            self.width = max((len(str(x)) for x in elements), default=1)
            return
        usual = [x for x in elements if x != 0 and isfinite(x)]
        if not usual:
            return
        low, high = min(map(abs, usual)), max(map(abs, usual))
        self.integral = all(x.is_integer() for x in usual)
        if printing().sci_mode is None:
            self.scientific = high / low > 1000 or high > 1e8 or low < 1e-4
        self.width = max(len(self.of(x)) for x in usual)

    def of(self, x: Any) -> str:
        if not self.floating:
            written = str(x)
        elif self.scientific:
            written = f"{x:.{self.precision}e}"
        elif self.integral:
            written = f"{x:.0f}." if isfinite(x) else f"{x}"
        else:
            written = f"{x:.{self.precision}f}"
        return written.rjust(self.width)
