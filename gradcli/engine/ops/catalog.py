"""The table of ops.

A family of entries is imported when a program names one of its ops: `index.json`, made from the
entries by `python -m gradcli.engine.ops.build`, tells which.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradcli.engine.ops.op import Op


class Catalog:
    """The table of ops by name: `ops["sin"]`, `ops.sin`. Loads a family when it is named."""

    def __init__(self) -> None:
        self._ops: dict[str, Op] = {}
        self._families: dict[str, str] | None = None

    @property
    def families(self) -> dict[str, str]:
        """Family of every built-in name."""
        if self._families is None:
            found = self._index()["families"]
            self._families = {name: f for f, names in found.items() for name in names}
        return self._families

    @property
    def titles(self) -> dict[str, str]:
        """Heading of each family of which programs may name the ops, in the order of the pages."""
        titles: dict[str, str] = self._index()["titles"]
        return titles

    @property
    def fields(self) -> frozenset[str]:
        """Names of the fields that results have, `values` and the like."""
        return frozenset(self._index()["fields"])

    def _index(self) -> dict[str, Any]:
        import json

        index: dict[str, Any] = json.loads(
            Path(__file__).with_name("index.json").read_text("utf-8")
        )
        return index

    def __contains__(self, name: object) -> bool:
        return name in self.families

    def __getitem__(self, name: str) -> Op:
        found = self._ops.get(name)
        if found is None:
            from gradcli.engine.ops.op import entries  # whose rules reach the ops by this table

            family = import_module(f"gradcli.engine.{self.families[name]}")
            self._ops.update(entries(vars(family)))
            found = self._ops[name]
        return found

    def __getattr__(self, name: str) -> Op:
        """An op of another family, in rules: `ops.where`."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self[name]
        self.__dict__[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.families)


ops = Catalog()
