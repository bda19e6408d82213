"""Objects of the classes that a program, or the library, makes, and those that it only shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Object:
    """Base of the program's classes. They are Python's classes, so that Python finds their methods
    for operators, calls and conversions. `run.session.classes` gives programs their attributes.
    """


class TreeForm:
    """How objects of a class are nodes of a tree.

    Fields:
        flatten: gives the parts of an object, and what it needs besides to be made again.
        unflatten: makes one of that and of parts.
    """

    __slots__ = ("flatten", "unflatten")

    def __init__(self, flatten: Callable[..., Any], unflatten: Callable[..., Any]) -> None:
        self.flatten = flatten
        self.unflatten = unflatten


def parts_of(value: Any) -> list[Any] | None:
    """The parts of an object whose class is registered as a node of trees; None of any other."""
    form = getattr(type(value), "_tree_form", None) if isinstance(value, Object) else None
    return None if form is None else [*form.flatten(value)[0]]


def with_parts(value: Any, parts: Sequence[Any]) -> Any:
    """An object such as `value`, which has parts, with others."""
    form = type(value)._tree_form
    return form.unflatten(form.flatten(value)[1], tuple(parts))


class Shown:
    """Base of what a program only shows, as plots: objects that have every attribute and method,
    take every item, and can be called and unpacked. `run.language.pictures` says what each gives.
    """

    __slots__ = ()

    def spread(self, names: int) -> list[Any]:
        """What as many names get when the object is unpacked into them."""
        raise NotImplementedError
