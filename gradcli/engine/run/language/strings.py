"""Strings: their methods, and `format`, which puts values into them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.language.operators import item
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.run.session.text import format_value
from gradcli.engine.tape.graph import Site
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.limits import check_bytes, check_text, joined_text
from gradcli.errors import run_error

_PLAIN = (
    *("split", "rsplit", "strip", "lstrip", "rstrip", "upper", "lower", "title", "capitalize"),
    *("swapcase", "casefold", "startswith", "endswith", "find", "rfind", "index", "rindex"),
    *("count", "splitlines", "partition", "rpartition", "isdigit", "isalpha", "isalnum"),
    *("isspace", "isupper", "islower", "isnumeric", "isdecimal", "isidentifier"),
    *("removeprefix", "removesuffix"),
)
_CHANGING_CASE = frozenset(("upper", "lower", "title", "capitalize", "swapcase", "casefold"))
_LONG = 10_000  # characters of a text for which there may be too little memory
_FILLING = ("ljust", "rjust", "center", "zfill")


def _argument(value: Any, name: str) -> Any:
    """A value as an argument of the string's method of that name."""
    data = data_of(value)
    if type(data) is tuple:
        return tuple(_argument(item, name) for item in data)
    if data is None or type(data) in (str, int, bool):
        return data
    raise run_error("wrong-type", f"`{name}` of a string does not take {kind_of(value)}")


def _method(name: str) -> Callable[..., Any]:
    plain = getattr(str, name)
    takes_memory = name in _CHANGING_CASE or name in _FILLING

    def call(value: str, *args: Any, **named: Any) -> Any:
        if not takes_memory and not named and all(type(a) is str for a in args):
            try:
                return plain(value, *args)
            except (TypeError, ValueError):
                pass  # the message is made below
        given = [_argument(a, name) for a in args]
        keywords = {key: _argument(a, name) for key, a in named.items()}
        if name in _FILLING and given and type(given[0]) is int:
            check_text(given[0])
        if name in _CHANGING_CASE and len(value) > _LONG:
            check_bytes(_bytes(name, value), f"`{name}` of {len(value):,} characters")
        return _called(name, value, given, keywords)

    return call


def _called(name: str, value: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """The result of a method of Python's strings."""
    method = getattr(str, name)
    try:
        return method(value, *args, **keywords)
    except (TypeError, ValueError, OverflowError) as error:
        code = "wrong-type" if isinstance(error, TypeError) else "bad-argument"
        taken = re.sub(r"\$self(, )?|/(, )?|, /", "", method.__text_signature__ or "")
        notes = (f"it is called as {name}{taken}",) if taken and code == "wrong-type" else ()
        raise run_error(code, f"`{name}`: {_said(error)}", notes=notes, raises=error) from None


def _said(error: Exception) -> str:
    """What Python says of wrong arguments, as the rest of a sentence."""
    if isinstance(error, OverflowError):
        return "the number is too large"
    start = r"^(str\.)?\w+(\(\))?( arg(ument)?)?( \d)? (?=takes|must|first|expected)"
    said = re.sub(start, "", str(error))
    return f"{said[:1].lower()}{said[1:]}"


def _bytes(name: str, value: str) -> int:
    """Bytes that Python takes to change the case of a text: a code point for each character while
    it works, and the result.
    """
    at_once = value.isascii() and name in ("upper", "lower", "casefold")
    return (1 if at_once else 5) * len(value)


def _join(session: Evaluator, site: Site | None, value: str, items: Any) -> str:
    parts = session.items(items)
    for part in parts:
        if type(part) is not str:
            raise run_error(
                "wrong-type",
                f"`join` joins strings, got {kind_of(part)}",
                help="`str(x)` is the text of a value",
            )
    return joined_text(value, parts)


def _replace(value: str, old: Any, new: Any, count: Any = -1) -> str:
    before, after, most = (_argument(value, "replace") for value in (old, new, count))
    if type(before) is str and type(after) is str:
        check_text(len(value) + value.count(before) * len(after))
    made: str = _called("replace", value, (before, after, most), {})
    return made


METHODS: dict[str, Callable[..., Any]] = {
    **{name: _method(name) for name in (*_PLAIN, *_FILLING)},
    "join": _join,
    "replace": _replace,
}


# --- `format` ------------------------------------------------------------------------------

_NAME = r"([^.\[]*)((?:\.[^.\[]+|\[[^\]]+\])*)"
_STEP = r"\.([^.\[]+)|\[([^\]]+)\]"


def filled(
    session: Evaluator,
    template: str,
    args: Sequence[Any],
    named: Mapping[str, Any],
    attribute: Callable[[Any, str], Any],
) -> str:
    """`template.format(*args, **named)`. `attribute` returns an attribute of a value."""
    return _Filling(session, args, named, attribute).text(template, 2)


class _Filling:
    """One call of `format`."""

    def __init__(
        self,
        session: Evaluator,
        args: Sequence[Any],
        named: Mapping[str, Any],
        attribute: Callable[[Any, str], Any],
    ) -> None:
        self._session = session
        self._attribute = attribute
        self._args = args
        self._named = named
        self._next: int | None = 0  # None where fields are numbered

    def text(self, template: str, depth: int) -> str:
        """The template with values in the place of its fields."""
        if depth == 0:
            raise run_error("bad-format", "a format is nested too deep")
        return joined_text("", list(self._parts(template, depth)))

    def _parts(self, template: str, depth: int) -> Iterator[str]:
        from string import Formatter

        try:
            fields = list(Formatter().parse(template))
        except ValueError as error:
            raise run_error("bad-format", f"{error}".lower(), raises=error) from None
        for literal, name, spec, conversion in fields:
            yield literal
            if name is not None:
                value = self._value(name)
                if conversion not in (None, "r", "s", "a"):
                    raise run_error("bad-format", "`!` must be followed by `r`, `s` or `a`")
                inside = self.text(spec, depth - 1) if spec else ""
                yield format_value(value, conversion or "", inside)

    def _value(self, field: str) -> Any:
        found = re.fullmatch(_NAME, field)
        if found is None:
            raise run_error("bad-format", f"the field `{field}` names no value")
        value = self._first(found[1])
        for attribute, index in re.findall(_STEP, found[2]):
            if attribute:
                value = self._attribute(value, attribute)
            else:
                key = int(index) if index.isdecimal() else index
                value = item(self._session, value, key, None)
        return value

    def _first(self, name: str) -> Any:
        if name and not name.isdecimal():
            if name not in self._named:
                message = f"`format` gets no argument `{name}`"
                raise run_error("bad-format", message, raises=KeyError(name))
            return self._named[name]
        if (name == "") == (self._next is None) and self._next != 0:
            raise run_error("bad-format", "some fields are numbered and others are not")
        at = self._next if name == "" else int(name)
        self._next = None if name else (self._next or 0) + 1
        if at is None or at >= len(self._args):
            message = f"`format` gets {len(self._args)} values, too few"
            said = f"Replacement index {at} out of range for positional args tuple"
            raise run_error("bad-format", message, raises=IndexError(said))
        return self._args[at]
