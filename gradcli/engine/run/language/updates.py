"""`x.at[i].set(v)` and its variants of JAX: a copy of an array that differs in some places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.functions import called
from gradcli.engine.run.language import operators
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Tensor


class Places:
    """`x.at`, and with an index `x.at[i]`."""

    said = "the places of a tensor"
    _members: tuple[dict[str, Any], dict[str, Any]]

    def __init__(self, of: Tensor, index: Any = None, *, chosen: bool = False) -> None:
        self.of = of
        self.index = index
        self.chosen = chosen

    def at(self, session: Evaluator, index: Any) -> Places:
        """`x.at[index]`."""
        return Places(self.of, index, chosen=True)

    def __repr__(self) -> str:
        return "<places>"

    def changed(self, session: Evaluator, site: Site | None, value: Any) -> Any:
        """A copy of the tensor with a value in these places."""
        made = session.do(ops.clone, [self.of], {}, site)
        operators.set_item(session, made, self.index, value, site)
        return made

    def shown(self, session: Evaluator, site: Site | None) -> Any:
        """The elements at the index."""
        return operators.item(session, self.of, self.index, site)


def _add(session: Evaluator, site: Site | None, places: Places, value: Any, **options: Any) -> Any:
    """Adds as often as a place is named."""
    index = places.index if isinstance(places.index, tuple) else (places.index,)
    if all(isinstance(i, Tensor) and i.dtype != "bool" for i in index):
        given = session.operands(ops.index_put, [places.of, value])
        params = {"indices": tuple(i.data for i in index), "accumulate": True}
        return session.do(ops.index_put, given, params, site)
    return _by("add")(session, site, places, value)


def _by(name: str) -> Callable[..., Any]:
    def method(session: Evaluator, site: Site | None, places: Places, value: Any, **o: Any) -> Any:
        given = session.operands(ops[name], [places.shown(session, site), value])
        return places.changed(session, site, session.do(ops[name], given, ops[name].params, site))

    return method


NAMES = {
    "set": lambda session, site, places, value, **options: places.changed(session, site, value),
    "add": _add,
    "get": lambda session, site, places, **options: places.shown(session, site),
    "apply": lambda session, site, places, f, **options: places.changed(
        session, site, called(f, [places.shown(session, site)], "apply")
    ),
    "subtract": _by("sub"),
    "multiply": _by("mul"),
    "mul": _by("mul"),
    "divide": _by("div"),
    "power": _by("pow"),
    "min": _by("minimum"),
    "max": _by("maximum"),
}
Places._members = ({}, NAMES)
