"""Abstract values of inputs: those given, and the defaults of the others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gradcli.engine.run.execution.inputs import KINDS, Inputs
from gradcli.engine.static.inference import stacked
from gradcli.engine.static.kinds import example
from gradcli.engine.static.lists import List, plain
from gradcli.engine.static.value import LINKED, NEW, UNSURE, Link, Value, of_data, tensor, unknown
from gradcli.engine.values.data import is_whole
from gradcli.ir import program as ir


def outside(i: ir.Input, inputs: Inputs, varying: Collection[str], default: Any) -> Any:
    """The facts known about an input.

    Args:
        i: Its declaration.
        inputs: The values that are given.
        varying: Names that would be differentiated.
        default: The value of its default, None if it has none or that is not looked at.

    Raises:
        InputError: If a value that is given does not fit.
    """
    floats = i.type is not None and i.type[0] == "float"
    link = LINKED if i.name in varying and (i.type is None or floats) else Link()
    if isinstance(default, List) and i.kind != "constant":
        default = stacked(plain(default)) or (default if i.type is None else unknown(link))
    if i.name in inputs.given:
        return _declared(i, of_data(inputs.bind(i, _example(default)), link))
    if i.default is None:
        dtype = None if i.type is None else KINDS[i.type[0]]
        return _declared(i, Value(_shape(i), dtype, link))
    return _declared(i, _watched(default, link, floats))


def _example(value: Any) -> Any:
    """A value of the form of a default, to convert given values by."""
    if isinstance(value, List):
        return [] if value.items is None else list(map(_example, value.items))
    return tuple(map(_example, value)) if type(value) is tuple else example(value)


def _shape(i: ir.Input) -> tuple[int, ...] | None:
    """The shape that a declaration tells without a value."""
    if i.type is None:
        return None
    sizes = tuple(size for size in i.type[1] or () if isinstance(size, int))
    return sizes if len(sizes) == len(i.type[1] or ()) else None


def _watched(value: Any, link: Link, floats: bool) -> Any:
    """A default as the input's value. A differentiated one is a float."""
    if isinstance(value, List) and link.varies and value.items is not None:
        value.items = [_watched(item, link, floats) for item in value.items]
    kept = not isinstance(value, Value) or (value.shape is None and value.known is not UNSURE)
    if kept or not (floats or (link.varies and not is_whole(value.dtype))):
        return value
    dtype = "float32" if value.dtype == "float32" else "float64"
    return Value(value.shape, dtype, link, kind=value.kind, memory=value.memory)


def _declared(i: ir.Input, value: Any) -> Any:
    """The value as declared: a `param` is a tensor, and so is a value with sizes."""
    sizes = None if i.type is None else i.type[1]
    if not isinstance(value, Value) or (i.kind != "param" and sizes is None):
        return value
    whole = i.kind == "param" and is_whole(value.dtype)
    memory = None if value.memory is None else value.memory | NEW
    dtype = "float64" if whole else value.dtype
    if i.type is not None and 0 in (value.shape or ()) and dtype == "float64":
        dtype = KINDS[i.type[0]]  # a list of no numbers takes any
    return tensor(value.shape, dtype, value.link, memory)
