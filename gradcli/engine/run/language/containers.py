"""Dictionaries and sets: their items, methods and operators, as Python's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session import classes
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.values.limits import check_items
from gradcli.engine.values.objects import Object
from gradcli.errors import RunError, run_error

Method = Callable[..., Any]


def hashed(key: Any) -> Any:
    """A value that may be a key of a dictionary or an item of a set.

    Raises:
        RunError: If it can be changed.
    """
    try:
        hash(key)
    except TypeError:
        changing = key
        while type(changing) is tuple:
            changing = next((k for k in changing if not _is_hashable(k)), None)
        raise run_error(
            "wrong-type",
            f"{kind_of(changing)} can be changed and is no key or item of a set",
            help="a tuple can be one" if type(changing) is list else None,
            raises=TypeError(f"unhashable type: '{type(changing).__name__}'"),
        ) from None
    return key


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def unknown_key(key: Any) -> RunError:
    """The error for a key that is not there."""
    from gradcli.engine.run.session.text import repr_text

    return run_error("unknown-key", f"there is no key {repr_text(key)}", raises=KeyError(key))


def get(value: dict[Any, Any], key: Any) -> Any:
    """`value[key]`."""
    if hashed(key) not in value:
        raise unknown_key(key)
    return value[key]


def put(into: dict[Any, Any], key: Any, value: Any) -> None:
    """`into[key] = value`."""
    into[hashed(key)] = value


def delete(value: dict[Any, Any], key: Any) -> None:
    """`del value[key]`."""
    if hashed(key) not in value:
        raise unknown_key(key)
    del value[key]


def pairs(session: Evaluator, value: Any) -> dict[Any, Any]:
    """The dictionary of an argument of `dict` or `update`: a mapping, or an iterable of pairs."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Object) and classes.has(value, "keys"):
        keys = session.items(classes.called(value, "keys", (), {}))
        return {hashed(k): classes.called(value, "__getitem__", (k,), {}) for k in keys}
    found = {}
    for pair in session.iterate(value):
        items = session.items(pair)
        if len(items) != 2:
            raise run_error("wrong-count", f"a pair has 2 items, got {len(items)}")
        found[hashed(items[0])] = items[1]
    return found


def of_items(session: Evaluator, value: Any) -> set[Any]:
    """The set of the items of a value."""
    return {hashed(item) for item in session.items(value)}


# --- methods -------------------------------------------------------------------------------


def _pop(value: dict[Any, Any], key: Any, *default: Any) -> Any:
    if hashed(key) not in value and not default:
        raise unknown_key(key)
    return value.pop(key, *default)


def _popped_pair(value: dict[Any, Any]) -> Any:
    if not value:
        said = KeyError("popitem(): dictionary is empty")
        raise run_error("unknown-key", "the dictionary is empty", raises=said)
    return value.popitem()


def _update(session: Evaluator, value: dict[Any, Any], *others: Any, **named: Any) -> None:
    for other in others:
        value.update(pairs(session, other))
    value.update(named)


def _remove(value: set[Any], item: Any) -> None:
    if hashed(item) not in value:
        raise unknown_key(item)
    value.remove(item)


def _popped(value: set[Any]) -> Any:
    if not value:
        raise run_error("unknown-key", "the set is empty", raises=KeyError("pop from an empty set"))
    return value.pop()


def _each(name: str) -> Method:
    """A method of sets that takes any number of iterables."""
    plain = getattr(set, name)

    return lambda session, site, value, *others: plain(
        value, *(of_items(session, other) for other in others)
    )


DICTIONARIES: dict[str, Method] = {
    "get": lambda d, key, default=None: d.get(hashed(key), default),
    "items": dict.items,
    "keys": dict.keys,
    "values": dict.values,
    "update": lambda session, site, d, *others, **named: _update(session, d, *others, **named),
    "pop": _pop,
    "popitem": _popped_pair,
    "setdefault": lambda d, key, default=None: d.setdefault(hashed(key), default),
    "copy": dict.copy,
    "clear": dict.clear,
}

SETS: dict[str, Method] = {
    "add": lambda s, item: s.add(hashed(item)),
    "remove": _remove,
    "discard": lambda s, item: s.discard(hashed(item)),
    "pop": _popped,
    "copy": set.copy,
    "clear": set.clear,
    **{
        name: _each(name)
        for name in (
            *("union", "intersection", "difference", "symmetric_difference", "update"),
            *("issubset", "issuperset", "isdisjoint"),
        )
    },
}


# --- operators -----------------------------------------------------------------------------

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "|": lambda x, y: x | y,
    "&": lambda x, y: x & y,
    "-": lambda x, y: x - y,
    "^": lambda x, y: x ^ y,
    "<": lambda x, y: x < y,
    "<=": lambda x, y: x <= y,
    ">": lambda x, y: x > y,
    ">=": lambda x, y: x >= y,
}


def operated(sign: str, x: Any, y: Any) -> Any:
    """`x sign y` of dictionaries and sets."""
    both = (type(x), type(y))
    are_sets = sign in _OPERATORS and all(isinstance(v, Set) for v in (x, y))
    if are_sets or (both == (dict, dict) and sign == "|"):
        check_items(len(x) + len(y))
        return _OPERATORS[sign](x, y)
    raise run_error("wrong-type", f"`{sign}` does not take {kind_of(x)} and {kind_of(y)}")


def updated(session: Evaluator, sign: str, x: Any, y: Any) -> Any:
    """`x sign= y` of dictionaries and sets: the first is changed in place."""
    if type(x) is dict and sign == "|":
        x.update(pairs(session, y))
        return x
    made = operated(sign, x, y)
    if type(x) is not set:
        return made
    x.clear()
    x.update(made)
    return x
