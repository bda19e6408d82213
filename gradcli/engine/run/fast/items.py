"""The fast path for items of Python's own values: `x[i]` and `x[i] = v` of lists and dictionaries.

It gives the same results as the general path, `language.operators`, which makes all messages: what
the fast path does not find or know goes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site
from gradcli.engine.values.data import KEYS, SEQUENCES

Function: TypeAlias = Callable[..., Any]


def getter(general: Function, site: Site | None) -> Function:
    """The function of `x[i]` at a place; `general` is called with the site, too."""

    def get(session: Evaluator, value: Any, index: Any) -> Any:
        kind = type(value)
        if kind in SEQUENCES:
            if type(index) is int:
                try:
                    return value[index]
                except IndexError:
                    pass
        elif kind is dict and type(index) in KEYS:
            try:
                return value[index]
            except KeyError:
                pass
        return general(session, value, index, site)

    return get


def setter(general: Function, site: Site | None) -> Function:
    """The function of `x[i] = v` at a place; `general` is called with the site, too."""

    def put(session: Evaluator, receiver: Any, index: Any, value: Any) -> None:
        kind = type(receiver)
        if kind is list:
            if type(index) is int:
                try:
                    receiver[index] = value
                    return
                except IndexError:
                    pass
        elif kind is dict and type(index) in KEYS:
            receiver[index] = value
            return
        general(session, receiver, index, value, site)

    return put
