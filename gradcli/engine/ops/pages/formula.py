"""The derivative of an op as a formula: its own rules, run on symbols."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, Sample
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import SCALARS, np
from gradcli.engine.values.sizes import broadcast
from gradcli.errors import GradError

_CONSTANTS = {
    math.log(2): "log(2)",
    math.log(10): "log(10)",
    math.pi: "pi",
    2 / math.sqrt(math.pi): "2 / sqrt(pi)",
    math.sqrt(2 / math.pi): "sqrt(2 / pi)",
    1 / math.sqrt(2 * math.pi): "1 / sqrt(2 * pi)",
    math.pi / 180: "pi / 180",
    180 / math.pi: "180 / pi",
}

_UNARY = 8
_ATOM = 10
_LONGEST = 160


class _Unnamed(Exception):
    """A rule uses an operation that programs cannot name."""


class _Extent(tuple[int, ...]):
    """The shape of an argument, known by the argument's name."""

    name: str


class Symbol(Carrier):
    """A value with a name and a shape but no number: ops on it build longer formulas."""

    __slots__ = ("binding", "dtype", "shape", "text")

    def __init__(self, text: str, shape: tuple[int, ...] = (), binding: int = _ATOM) -> None:
        self.text = text
        self.shape = shape
        self.binding = binding
        self.dtype = "float64"

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        """The text as an operand of anything."""
        return _grouped(self, _ATOM)

    def shaped(self, shape: tuple[int, ...]) -> Symbol:
        """The formula with another shape."""
        return Symbol(self.text, shape, self.binding)

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Symbol:
        """The formula of an op on symbols and numbers."""
        shape = _shape(op, args, params)
        own = None if op.page.said is None else op.page.said(*args, **params)
        if own is not None:
            made: Symbol = Symbol(own, shape) if isinstance(own, str) else own.shaped(shape)
            return made
        said = {k: v for k, v in params.items() if v is not op.params.get(k)}
        if op.page.infix is not None and not said:
            return _operation(*op.page.infix, args, shape)
        if ops.is_internal(op.name):
            raise _Unnamed
        words = [*(_grouped(a, 0) for a in args), *(f"{k}={written(v)}" for k, v in said.items())]
        return Symbol(f"{op.name}({', '.join(words)})", shape)


def _operation(sign: str, binding: int, args: Sequence[Any], shape: tuple[int, ...]) -> Symbol:
    """Operands with the sign between them, or before the only one."""
    if len(args) == 1:
        return Symbol(f"{sign}{_grouped(args[0], binding)}", shape, binding)
    if sign == "*" and args[1] == 1.0:
        left: Symbol = args[0]
        return left.shaped(shape)
    right_first = sign == "**"
    sides = _grouped(args[0], binding + right_first), _grouped(args[1], binding + (not right_first))
    return Symbol(f" {sign} ".join(sides), shape, binding)


def cotangents(op: Op) -> dict[str, str]:
    """Formula of each argument's cotangent from g, the cotangent of the result, the arguments and
    the result `out`: its vector-Jacobian product.

    An argument is left out if no rule gives its cotangent, as in an op made of others, or if the
    formula does not fit on a line. Sizes are those of the op's first sample.
    """
    formulas = {
        name: _formula(op, i) for i, name in enumerate(op.args[:1] if op.variadic else op.args)
    }
    return {name: text for name, text in formulas.items() if text is not None}


def _formula(op: Op, place: int) -> str | None:
    rules: Sequence[Any] = op.derivatives.partials or op.derivatives.vjp or (None,) * (place + 1)
    rule = rules[place]
    if rule is None:
        return None
    point = _point(op)
    if point is None:
        return None
    args = [
        _symbol(name, value) for name, value in zip(_names(op, point), point.args, strict=False)
    ]
    params = {**op.defaults, **point.params}
    try:
        shape = _shape(op, args, params)
        many = isinstance(shape, list)
        out = _results("out", op, shape) if many else Symbol("out", shape)
        g = _results("g", op, shape) if many else Symbol("g", shape)
        if op.derivatives.partials is not None:
            found = _weighted(g, rule(out, *args, **params) if callable(rule) else rule)
        else:
            found = (
                rule(g, out, place, *args, **params)
                if op.variadic
                else rule(g, out, *args, **params)
            )
    except (_Unnamed, GradError, TypeError, ValueError, AttributeError, KeyError, IndexError):
        return None  # a rule by cases, which symbols cannot decide
    text = found.text if isinstance(found, Symbol) else written(found)
    return text if len(text) <= _LONGEST else None


def _weighted(g: Any, partial: Any) -> Any:
    """The cotangent times a partial derivative, which may be a constant."""
    if isinstance(partial, Symbol):
        return ops.mul(g, partial)
    return ops.neg(g) if partial == -1.0 else ops.mul(g, float(partial)) if partial else 0.0


def _results(name: str, op: Op, shapes: Sequence[tuple[int, ...]]) -> tuple[Symbol, ...]:
    fields = op.statics.fields or tuple(str(i) for i in range(len(shapes)))
    return tuple(Symbol(f"{name}.{field}", s) for field, s in zip(fields, shapes, strict=True))


def _point(op: Op) -> Sample | None:
    """Shapes and parameters to run the rules with: those of the first sample."""
    return next(iter(op.page.samples()), None)


def _names(op: Op, point: Sample) -> Sequence[str]:
    if not op.variadic:
        return op.args
    return [f"{op.args[0]}[{i}]" for i in range(len(point.args))]


def _symbol(name: str, value: Any) -> Any:
    if value is None:
        return None
    extent = _Extent(np.shape(value))
    extent.name = f"{name}.shape"
    return Symbol(name, extent)


def _shape(op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
    shapes = [() if type(a) in SCALARS else a.shape for a in args]
    if op.statics.shape is not None:
        return op.statics.shape(*shapes, **params)
    return broadcast(*shapes)


def _grouped(value: Any, binding: int) -> str:
    """The text of an operand, in parentheses where it binds less than the place asks for."""
    if not isinstance(value, Symbol):
        text = written(value)
        loose = (text.startswith("-") and binding > _UNARY) or (" " in text and binding > 7)
        return f"({text})" if loose else text
    return f"({value.text})" if value.binding < binding else value.text


def written(value: Any) -> str:
    """A value in a formula."""
    if isinstance(value, Symbol):
        return value.text
    if type(value) is float:
        if -value in _CONSTANTS:
            return f"-({_CONSTANTS[-value]})"
        return _CONSTANTS.get(value) or _decimal(value)
    if isinstance(value, _Extent):
        return value.name
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(written, value))}]"
    return repr(value)


def _decimal(value: float) -> str:
    """A float as short as it can be read back; 1 / 6 as a quotient."""
    text = f"{value:.6g}"
    if float(text) == value or not math.isfinite(value):
        return text
    parts = round(1 / value)
    return f"1 / {parts}" if parts and 1 / parts == value else repr(value)
