"""String formatting by `%`."""

from __future__ import annotations

import re
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.text import ascii_text, repr_text, text
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.limits import check_text, joined_text
from gradcli.errors import run_error

_FIELD = r"%(?:\((.*?)\))?([-#0 +]*)(\*|\d+)?(\.(?:\*|\d+)?)?[hlL]?(.)"


def formatted(template: str, given: Any) -> str:
    """`template % given`."""
    values = list(given) if type(given) is tuple else [given]
    taken = 0
    keyed = False
    found: list[str] = []
    end = 0

    def next_value() -> Any:
        nonlocal taken
        taken += 1
        if taken > len(values):
            message = f"the text has more fields than the {len(values)} values"
            said = TypeError("not enough arguments for format string")
            raise run_error("bad-format", message, raises=said)
        return values[taken - 1]

    for field in re.finditer(_FIELD, template, re.DOTALL):
        found.append(_plain(template[end : field.start()]))
        end = field.end()
        key, flags, width, precision, kind = field.groups()
        if kind == "%":
            found.append("%")
            continue
        form = f"%{flags}"
        for sign, part in (("", width), (".", (precision or "").lstrip("."))):
            size = _size(next_value()) if part == "*" else part
            check_text(abs(int(size or 0)))
            form += f"{sign}{size}" if size is not None and (sign == "" or precision) else ""
        if key is not None:
            if type(given) is not dict:
                raise run_error("wrong-type", "fields with names need a dictionary")
            keyed = True
            value = given[key] if key in given else _no_key(key)
        else:
            value = next_value()
        found.append(_written(form, kind, value))
    found.append(_plain(template[end:]))
    if taken < len(values) and not keyed and not (type(given) is dict and not taken):
        said = TypeError("not all arguments converted during string formatting")
        message = f"the text has {taken} fields for {len(values)} values"
        raise run_error("bad-format", message, raises=said)
    return joined_text("", found)


def _no_key(key: str) -> Any:
    raise run_error("bad-format", f"there is no key {key!r}", raises=KeyError(key))


def _plain(part: str) -> str:
    if "%" in part:
        raise run_error("bad-format", "a `%` stands alone", help="write `%%` for the character")
    return part


def _size(value: Any) -> int:
    """The width or precision that a value gives for `*`."""
    size = _number(value, "*")
    if not isinstance(size, int):
        message = f"`*` of a text needs an int, got {kind_of(value)}"
        raise run_error("wrong-type", message, raises=TypeError("* wants int"))
    return size


def _number(value: Any, kind: str) -> Any:
    """The number of a value for a field."""
    data = data_of(value)
    if type(data) not in NUMBERS and getattr(data, "size", 0) == 1:
        data = data.item()
    if type(data) not in NUMBERS:
        raise run_error("wrong-type", f"`%{kind}` needs a number, got {kind_of(value)}")
    return data


def _written(form: str, kind: str, value: Any) -> str:
    """One value, by `form` and `kind`."""
    if kind in "sra":
        shown = {"s": text, "r": repr_text, "a": ascii_text}[kind](value)
        return str(f"{form}s" % shown)
    if kind == "c" and type(value) is str:
        plain: Any = value
    elif kind in "diouxXeEfFgGc":
        plain = _number(value, kind)
    else:
        raise run_error("bad-format", f"there is no field `%{kind}`")
    try:
        return str(f"{form}{kind}" % plain)
    except (TypeError, ValueError, OverflowError) as error:
        message = f"the field `{form}{kind}` does not fit {repr_text(value)}"
        raise run_error("bad-format", message, raises=error) from None
