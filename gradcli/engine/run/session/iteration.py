"""Going through objects of the program's classes, and going on with generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.classes import called
from gradcli.engine.run.session.exceptions import named, raised, seen
from gradcli.engine.values.objects import Object
from gradcli.errors import run_error


def items(value: Object) -> Iterator[Any]:
    """The items of a `for` over an object."""
    kind = type(value)
    if hasattr(kind, "__iter__"):
        found = called(value, "__iter__", (), {})
        if isinstance(found, Object):
            return following(found)
        if isinstance(found, Iterator):
            return found
        message = f"`__iter__` of {kind_of(value)} must return what `next` takes, got "
        raise run_error("wrong-type", f"{message}{kind_of(found)}", help="`iter(x)` makes one")
    if hasattr(kind, "__getitem__"):
        return _counted(value)
    raise run_error("not-iterable", f"{kind_of(value)} has no items to iterate over")


def following(value: Object) -> Iterator[Any]:
    """The results of an object's `__next__`, one after the other."""
    while True:
        try:
            item = called(value, "__next__", (), {})
        except Exception as error:
            if isinstance(seen(error), named("StopIteration")):
                return
            raise
        yield item


def _counted(value: Object) -> Iterator[Any]:
    at = 0
    while True:
        try:
            item = called(value, "__getitem__", (at,), {})
        except Exception as error:
            if isinstance(seen(error), named("IndexError")):
                return
            raise
        yield item
        at += 1


# generators -------------------------------------------------------------------------------------


def _gone_on(step: Callable[[], Any]) -> Any:
    """The next item that a generator gives."""
    try:
        return step()
    except StopIteration as error:
        raise run_error("no-item", "there are no more items", raises=error) from None


def _send(it: Any, value: Any) -> Any:
    if value is not None and it.gi_frame is not None and not it.gi_suspended:
        message = "a generator that has not begun takes nothing"
        said = TypeError("can't send non-None value to a just-started generator")
        help = "`next(it)` goes on to its first `yield`"
        raise run_error("wrong-type", message, help=help, raises=said)
    return _gone_on(lambda: it.send(value))


def _close(it: Any) -> None:
    try:
        it.close()
    except RuntimeError as error:
        message = "a generator went on to a `yield` when it was closed"
        help = "end its handler of `GeneratorExit` by `raise` or `return`"
        raise run_error("bad-argument", message, help=help, raises=error) from None


METHODS: dict[str, Callable[..., Any]] = {
    "send": _send,
    "throw": lambda it, error: _gone_on(lambda: it.throw(raised(error))),
    "close": _close,
    "__next__": lambda it: _gone_on(lambda: next(it)),
}
"""The methods of generators."""
