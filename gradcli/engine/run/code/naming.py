"""Names of values in messages."""

from __future__ import annotations

from collections.abc import Iterator
from types import GeneratorType
from typing import Any

from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.dtypes import DType
from gradcli.engine.values.objects import Object


def kind_of(value: Any) -> str:
    """A value in the words of a message: `a tensor of shape [2]`, `a string`, ..."""
    if isinstance(value, Object):
        return f"a `{type(value).__name__}`"
    if isinstance(value, type):
        return f"the class `{value.__name__}`"
    if type(value) is Tensor:
        return f"a tensor of shape {list(value.shape)}"
    if isinstance(value, Number) or type(value) in (int, float):
        return "a number"
    names = {
        bool: "a bool",
        str: "a string",
        list: "a list",
        tuple: "a tuple",
        range: "a range",
        dict: "a dictionary",
        set: "a set",
        slice: "a slice",
        DType: "a dtype",
        GeneratorType: "a generator",
        type(None): "None",
        type(...): "`...`",
    }
    if type(value) in names:
        return names[type(value)]
    if callable(value):
        return "a function"
    if isinstance(value, Iterator):
        return "an iterator"
    said: str = getattr(value, "said", "") or with_article(type(value).__name__)
    return said


def with_article(name: str) -> str:
    """The name of a kind of values with its article."""
    return f"{'an' if name[:1] in 'AEIOaeio' else 'a'} {name}"
