"""The built-in names and how they may be called, as the grammar wants to know them."""

from __future__ import annotations

from functools import cached_property

from gradcli.engine.ops.binding import signature
from gradcli.engine.ops.catalog import ops
from gradcli.ir.signature import Signature

OF_OBJECTS = frozenset(
    {"__class__", "__dict__", "__init__", "__name__", "args", "deleter", "getter", "setter"}
)
"""Attributes of all objects, classes, exceptions and properties."""


_MODULES = (
    *("torch.", "collections.", "argparse.", "contextlib.", "silent.", "tqdm.", "warnings."),
    *("autograd.", "jax.", "numpy.", "scipy.", "torchdiffeq."),
    *("operator.", "os.", "pytest.", "abc.", "sys.", "logging.", "weakref."),
    *("bisect.", "enum.", "functools.", "heapq.", "itertools.", "statistics.", "string.", "types."),
    "typing.NamedTuple",
)
"""Modules that the library has parts of."""


class Builtins:
    """The built-ins of the engine."""

    def __init__(self) -> None:
        self._signatures: dict[str, Signature] = {}

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in ops and not ops.is_internal(name)

    def __getitem__(self, name: str) -> Signature:
        found = self._signatures.get(name)
        if found is None:
            found = self._signatures[name] = signature(ops[name])
        return found

    def in_library(self, path: str) -> bool:
        """True if the library has a member with that full path."""
        if not (path.startswith(_MODULES) or path[:1].isupper() or path == "object"):
            return False
        from gradcli.engine.run.session.library import has

        return has(path)

    def exported(self, module: str) -> list[str]:
        """The names that the library has in a module."""
        if not f"{module}.".startswith(_MODULES):
            return []
        from gradcli.engine.run.session.library import names_in

        return names_in(module)

    def is_member(self, name: str) -> bool:
        """True if an object, or a member of the library, has an attribute of that name."""
        from gradcli.engine.run.session.library import is_member

        return name in OF_OBJECTS or is_member(name)

    def names_later(self, path: str) -> bool:
        """True if something of the library has attributes that are named when a program runs."""
        from gradcli.engine.run.session.library import names_later

        return names_later(path)

    def names(self) -> list[str]:
        """Every built-in name."""
        return [name for name in ops if not ops.is_internal(name)]

    @cached_property
    def attributes(self) -> frozenset[str]:
        """Attribute names that are not built-in functions."""
        from gradcli.engine.run.language import members

        twins = (f"{name}_" for name in self.names())
        return members.attributes().union(twins)

    @cached_property
    def of_python(self) -> frozenset[str]:
        """Names of methods of Python's own values, which may be built-in functions, too, and of
        those that draw in place, as `bernoulli_`, whose built-in function has no in-place variant.
        """
        from gradcli.engine.run.language import draws_in_place, members

        return members.METHODS_OF_PYTHON.union(draws_in_place.METHODS)


class AllBuiltins(Builtins):
    """The built-ins with the internal ones, which the library's own programs may name."""

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in ops
