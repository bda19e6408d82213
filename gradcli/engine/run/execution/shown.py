"""The text with which a notebook shows the value of a cell: what IPython's `pretty` makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradcli.engine.run.language.pictures import Canvas
from gradcli.engine.run.session.text import repr_text
from gradcli.engine.values.objects import Object

_WIDTH = 79  # cells in a line of IPython's output
_MOST = 1000  # items of a container that IPython shows

_LEFT_OUT = "<left out>"  # of libraries that only show things

_BRACKETS: dict[Any, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    dict: ("{", "}"),
}


def shown_text(value: Any, nested: int = 0, column: int = 0) -> str:
    """The text of a value. A list, tuple, set or dictionary that is too long for a line has an item
    in each line.

    Args:
        value: The value.
        nested: How many containers it is in; its further lines are indented by as many blanks.
        column: The column at which its text begins.
    """
    kind = type(value)
    if is_drawn(value):
        return ""
    if kind not in _BRACKETS or not value:
        return repr_text(value).replace("\n", "\n" + " " * nested)
    whole = repr_text(value) if len(value) <= _MOST else ""
    if whole and "\n" not in whole and column + len(whole) <= _WIDTH:
        return whole
    opening, closing = _BRACKETS[kind]
    inside = f",\n{' ' * (nested + 1)}".join(_items(value, nested + 1))
    comma = "," if kind is tuple and len(value) == 1 else ""
    return f"{opening}{inside}{comma}{closing}"


def is_drawn(value: Any) -> bool:
    """True for a part of a plot, or a list of some: a notebook shows the plot itself."""
    if type(value) in (list, tuple):
        return bool(value) and all(map(is_drawn, value))
    return type(value) is Canvas or (isinstance(value, Object) and repr_text(value) == _LEFT_OUT)


def _items(value: Any, nested: int) -> Iterator[str]:
    for number, item in enumerate(value):
        if number == _MOST:
            yield "..."
            return
        if type(value) is dict:
            name = f"{repr_text(item)}: "
            yield name + shown_text(value[item], nested, nested + len(name))
        else:
            yield shown_text(item, nested, nested)
