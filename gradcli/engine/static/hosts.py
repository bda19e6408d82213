"""Infer the results of built-ins that work on the program's own values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradcli.engine.ops.binding import bind_host
from gradcli.engine.ops.op import Op
from gradcli.engine.run.session.state import Session
from gradcli.engine.static.inference import stacked, stand_in, static
from gradcli.engine.static.kinds import Each, parts
from gradcli.engine.static.lists import linked, plain
from gradcli.engine.static.value import (
    LINKED,
    NEW,
    UNLINKED,
    UNSURE,
    Value,
    constant,
    number,
    tensor,
    unknown,
)
from gradcli.engine.values import refusals
from gradcli.engine.values.data import NUMBERS, is_whole
from gradcli.engine.values.dtypes import dtype_name
from gradcli.ir import program as ir


class Ahead(Session):
    """The session of a walk over a program before a run; `unsettled` if the default dtype may
    change.
    """

    unsettled = False


def hosted(op: Op, args: Sequence[Any], keywords: Mapping[str, Any], session: Ahead) -> Any:
    """The result of a host, by its `infer`.

    Raises:
        GradError: If it fails for all possible values.
    """
    assert op.statics.infer is not None, f"`{op.name}` does not say what it gives"
    bound, params = bind_host(op, args, keywords)
    return op.statics.infer(Known(session), *bound, **params)


class Known:
    """The `Statics` of one walk over a program."""

    def __init__(self, session: Ahead) -> None:
        self._session = session

    def static(self, value: Any) -> Any:
        return static(plain(value))

    def items(self, value: Any) -> list[Any] | None:
        return parts(value)

    def tensor(self, value: Any) -> Any:
        given = plain(value)
        if isinstance(given, (list, tuple)):
            return stacked(given) or unknown(linked([given]))
        if type(given) in NUMBERS:
            return constant(given)
        return given if isinstance(given, Value) else unknown()  # of a function, an iterator

    def of_numbers(self, value: Any) -> Any:
        given = plain(value)
        return self.tensor(_singles(given) if isinstance(given, (list, tuple)) else given)

    def dtype(self, asked: Any, other: str | None) -> str | None:
        if isinstance(asked, ir.Builtin):
            return dtype_name(asked.name)
        name = static(asked)
        return None if name is UNSURE else dtype_name(name) or other

    def constant(self, value: Any) -> Any:
        return constant(value)

    def unknown(self, *of: Any) -> Any:
        return unknown(linked(of))

    def text(self) -> Any:
        return Value(kind="text", memory=frozenset())

    def number(self, dtype: str | None, *of: Any) -> Any:
        return number(dtype, linked(of).cut())

    def same_number(self, value: Any, dtype: str | None) -> Any:
        return number(dtype, linked([value]))

    def made(self, shape: Any, dtype: str | None, leaf: Any = False) -> Any:
        if leaf is not True:
            return tensor(shape, dtype)
        if dtype is not None and is_whole(dtype):
            raise refusals.needs_float(dtype)
        return tensor(shape, dtype, LINKED)

    def itself(self, value: Any) -> Any:
        link = UNLINKED if value.kind == "number" else value.link
        memory = None if value.memory is None else value.memory | NEW
        return value if value.kind == "tensor" else tensor(value.shape, value.dtype, link, memory)

    def like(self, value: Any, shape: Any, dtype: str | None) -> Any:
        link, kind = linked([value]), value.kind if isinstance(value, Value) else "tensor"
        smooth = link.cut() if is_whole(dtype) else link
        return Value(shape, dtype, smooth, kind=kind, memory=NEW)

    def each(self, values: Sequence[Any], start: Any) -> Any:
        first = None if start is None else static(start)
        return unknown(linked(values)) if first is UNSURE else Each([*values], first)

    def may_record(self) -> None:
        self._session.recording = True

    def may_set_default_dtype(self) -> None:
        self._session.unsettled = True

    def default_dtype(self) -> str | None:
        return None if self._session.unsettled else "float64"

    def tried(self, call: Callable[..., Any], value: Any) -> Any:
        data = self.static(value)
        if type(data) in NUMBERS or isinstance(data, str):
            return constant(call(self._session, data))
        shaped = stand_in(value)
        if shaped is not None:
            call(self._session, shaped)
        return None


def _singles(items: Any) -> Any:
    """The items of a list, tensors of one element as numbers."""
    return [
        _singles(v)
        if isinstance(v, (list, tuple))
        else tensor((), v.dtype, v.link)
        if isinstance(v, Value) and v.shape and set(v.shape) == {1}
        else v
        for v in items
    ]
