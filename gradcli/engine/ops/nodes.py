"""Names of recorded nodes that depend on the arguments, as PyTorch gives them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.values.data import NUMBERS


def by_number(
    at: int, number: str, other: str
) -> Callable[[Sequence[Any], Mapping[str, Any]], str]:
    """The name `number` where argument `at` is a number and no tensor, else `other`."""
    return lambda args, params: number if type(args[at]) in NUMBERS else other


def of_pair(name: str) -> Callable[[Sequence[Any], Mapping[str, Any]], str]:
    """The name with 1 behind it where the first of two arguments is a number, 2 where the second
    is, and 0 of tensors.
    """

    def node(args: Sequence[Any], params: Mapping[str, Any]) -> str:
        if type(args[1]) in NUMBERS:
            return f"{name}2(input)"
        return f"{name}1(other)" if type(args[0]) in NUMBERS else f"{name}0"

    return node
