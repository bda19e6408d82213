"""The table of ops.

A family of entries is imported when a program names one of its ops: `made/ops_index.py`,
which `python -m gradcli.make` writes from the entries, tells which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any


class Entry:
    """Base of the objects that a family's module defines, found by name and alias."""

    __slots__ = ()
    name: str
    aliases: tuple[str, ...]


def entries(namespace: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that a family's module defines, by name and alias.

    A family reaches the ops of another as `ops.name`, so every entry in its module is its own.
    """
    return {
        name: entry
        for entry in namespace.values()
        if isinstance(entry, Entry)
        for name in (entry.name, *entry.aliases)
    }


class Catalog:
    """The table of ops by name: `ops["sin"]`, `ops.sin`. Loads a family when it is named."""

    def __init__(self) -> None:
        self._ops: dict[str, Any] = {}

    @cached_property
    def families(self) -> dict[str, str]:
        """Family of every built-in name."""
        found: dict[str, str] = {}
        for family, names in self._index["families"].items():
            found.update(dict.fromkeys(names.split(), family))
        return found

    @property
    def titles(self) -> dict[str, str]:
        """Headings of the families whose ops programs may name, in the order of the pages."""
        titles: dict[str, str] = self._index["titles"]
        return titles

    @cached_property
    def fields(self) -> frozenset[str]:
        """Names of the fields that results have, `values` and the like."""
        return frozenset(self._index["fields"])

    @cached_property
    def _index(self) -> dict[str, Any]:
        from gradcli.made.ops_index import INDEX

        return INDEX

    def __contains__(self, name: object) -> bool:
        return name in self.families

    def __getitem__(self, name: str) -> Any:
        found = self._ops.get(name)
        if found is None:
            family = import_module(f"gradcli.engine.{self.families[name]}")
            self._ops.update(entries(vars(family)))
            found = self._ops[name]
        return found

    def __getattr__(self, name: str) -> Any:
        """An op of another family, in rules: `ops.where`."""
        if name.startswith("__"):
            raise AttributeError(name)
        found = self[name]
        self.__dict__[name] = found
        return found

    def is_internal(self, name: str) -> bool:
        """True of an op that rules and compiled code name and programs do not."""
        return ".internal." in self.families[name]

    def is_method(self, name: str) -> bool:
        """True if programs may call the op of that name as a method."""
        return name in self and not self.is_internal(name) and bool(self[name].method)

    def __iter__(self) -> Iterator[str]:
        return iter(self.families)


ops = Catalog()
