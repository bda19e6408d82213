"""NumPy's functions of elements as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.export.written import Apply, Expression, Math, applied
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.values.data import np

_SIGNS = {
    np.add: "add",
    np.subtract: "sub",
    np.multiply: "mul",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.equal: "eq",
    np.not_equal: "ne",
}
_PLAIN = {
    (np.divide, "float"): "float_div",
    (np.negative, "float"): "float_neg",
    (np.absolute, "float"): "float_abs",
    (np.sqrt, "float"): "float_sqrt",
    (np.isnan, "float"): "float_is_nan",
    (np.logical_and, "bool"): "bool_and",
    (np.logical_or, "bool"): "bool_or",
    (np.logical_not, "bool"): "bool_not",
    (np.invert, "bool"): "bool_not",
    (np.bitwise_and, "bool"): "bool_and",
    (np.bitwise_or, "bool"): "bool_or",
    (np.copysign, "float"): "float_copysign",
}
_CIRCULAR = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_LIBRARY = {
    **{getattr(np, name): name for name in ("cbrt", "exp", "exp2", "expm1")},
    **{getattr(np, name): name for name in ("log", "log2", "log10", "log1p")},
    **{getattr(np, name): name for name in _CIRCULAR},
    **{getattr(np, f"arc{name}"): f"a{name}" for name in _CIRCULAR},
    **{getattr(np, name): name for name in ("floor", "ceil", "trunc", "fmod")},
    np.arctan2: "atan2",
    np.power: "pow",
}
_CASTS = {
    ("int", "float"): "int_to_float",
    ("bool", "float"): "bool_to_float",
    ("bool", "int"): "bool_to_int",
}


def of_elements(function: Any, types: Sequence[str], args: Sequence[Expression]) -> Expression:
    """A NumPy function of elements; `types` are those of the arguments, then of the result.

    Raises:
        NotCompilable: If it has no formula here.
    """
    given = tuple(args)
    kind = types[0]
    if function is np.positive:
        return given[0]
    if function == "select":
        return applied(f"{types[-1]}_select", given)
    if function == "cast":
        return _cast(given[0], kind, types[-1])
    if function in (np.square, np.reciprocal):
        pair = (given[0], given[0]) if function is np.square else (1.0, given[0])
        return Apply("float_mul" if function is np.square else "float_div", pair)
    if function in (np.maximum, np.minimum):
        return combined(function, kind, *given)
    if function is np.isfinite and kind == "float":
        return applied("bool_not", (Apply("float_is_nonfinite", given),))
    if function is np.isinf and kind == "float":
        is_number = Apply("bool_not", (Apply("float_is_nan", given),))
        return Apply("bool_and", (Apply("float_is_nonfinite", given), is_number))
    if function in _SIGNS and kind != "bool":
        name = _SIGNS[function]
        if kind == "int" and name in ("add", "sub"):
            return Apply(f"int_wrapped_{name}", given)
        if kind == "float" or name != "mul":
            return applied(f"{kind}_{name}", given)
    if (function, kind) in _PLAIN:
        return applied(_PLAIN[function, kind], given)
    if function in _LIBRARY:
        return Math(_LIBRARY[function], given)
    raise NotCompilable(f"`{getattr(function, '__name__', function)}` of arrays has no formula")


def combined(function: Any, type: str, x: Expression, y: Expression) -> Expression:
    """A function that reduces arrays, of what there is so far and one more element."""
    if function in (np.maximum, np.minimum):
        sign = "gt" if function is np.maximum else "lt"
        test: Expression = Apply(f"{type}_{sign}", (y, x))
        if type == "float":  # NaN stays
            test = Apply("bool_or", (test, Apply("float_is_nan", (y,))))
        return Apply(f"{type}_select", (test, y, x))
    return of_elements(function, (type, type, type), (x, y))


def _cast(x: Expression, kind: str, to: str) -> Expression:
    if to == "bool":
        return Apply(f"{kind}_ne", (x, 0.0 if kind == "float" else 0))
    if (kind, to) not in _CASTS:
        raise NotCompilable("numbers of this type have no formula")
    return applied(_CASTS[kind, to], (x,))
