"""Dictionaries during specialization: their keys are known, their values may be unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import Each, Entry, is_known
from gradcli.engine.tape.tensor import Tensor


class Dictionaries:
    """The items and methods of the dictionaries of one program."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def key(self, key: Any) -> Any:
        """Return a key, which must be known. A list is none: a run refuses it."""
        if not is_known(key) or isinstance(key, (Tensor, list, dict, set)):
            raise self._trace.refused("a key of a dictionary is known only at run time")
        return key

    def set_item(self, items: dict[Any, Any], key: Any, value: Any) -> None:
        """Do `items[key] = value`."""
        self._trace.touch(items)
        items[self.key(key)] = value

    def method(
        self, items: dict[Any, Any], name: str, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Any:
        """Return the result of `items.name(args)`."""
        match name, args:
            case "keys", [] if not keywords:
                return Each([*items], [(items, (*items,))])
            case "values", [] if not keywords:
                return Each([Entry(items, key) for key in items], [(items, (*items,))])
            case "items", [] if not keywords:
                return Each([(key, Entry(items, key)) for key in items], [(items, (*items,))])
            case "get", [key] | [key, _] if not keywords:
                return items.get(self.key(key), args[1] if len(args) > 1 else None)
            case "copy", [] if not keywords:
                return dict(items)
            case "update", [] | [dict()]:
                self._trace.touch(items)
                items.update(*args, **keywords)
                return None
            case "pop", [key] | [key, _] if not keywords and (
                len(args) > 1 or self.key(key) in items
            ):
                self._trace.touch(items)
                return items.pop(self.key(key), *args[1:])
            case "setdefault", [key, value] if not keywords:
                self._trace.touch(items)
                return items.setdefault(self.key(key), value)
        raise self._trace.refused(f"`.{name}()` of a dictionary with these arguments")
