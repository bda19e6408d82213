"""Signatures of built-ins, as the grammar receives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.record import Record


class Signature(Record):
    """The signature of a built-in, for checks before a run.

    Fields:
        positional: parameters that may be given by position; the first `required` of them must be.
        keywords: parameters that may be given by name only.
        variadic, any_name: True if it takes further positional arguments, or any other names.
        gathers: True if it reads a generator to the end before it does anything else.
        aliases: these parameters by their other names.
        constant: what a value is that is no function, such as "a number" of `pi`; "" of a function.
        pure: False if a call has an effect or draws random numbers.
        method: True if `x.name(...)` works, too.
    """

    __slots__ = (
        "name",
        "positional",
        "required",
        "keywords",
        "variadic",
        "any_name",
        "gathers",
        "aliases",
        "constant",
        "pure",
        "method",
    )
    name: str
    positional: tuple[str, ...]
    required: int
    keywords: tuple[str, ...]
    variadic: bool
    any_name: bool
    gathers: bool
    aliases: dict[str, str]
    constant: str
    pure: bool
    method: bool


def written(name: str) -> str:
    """The name under which a program writes a built-in: with the name of a module in front if it
    has a meaning of its own there, or if it is Python's.
    """
    if name.startswith("python_"):
        return name.split("_", 2)[2]
    for module in ("builtins_", "functional_", "func_"):
        if name.startswith(module):
            return name.removeprefix(module)
    return name


if TYPE_CHECKING:  # a protocol takes as long as importing a room
    from typing import Protocol

    class Signatures(Protocol):
        """The built-in names, handed to the checker and the lowering by `program`."""

        def __contains__(self, name: object) -> bool: ...
        def __getitem__(self, name: str) -> Signature: ...
        def names(self) -> list[str]: ...
        def in_library(self, path: str) -> bool:
            """True if the library has a member with that full path, such as `torch.nn.Linear`."""
            ...

        def exported(self, module: str) -> list[str]:
            """The names that the library has in a module."""
            ...

        def names_later(self, path: str) -> bool:
            """True if a member of the library has attributes that are named at run time."""
            ...

        def is_member(self, name: str) -> bool:
            """True if an object, or a member of the library, has an attribute of that name."""
            ...

        @property
        def attributes(self) -> frozenset[str]:
            """Attribute and method names of tensors, lists, graph nodes that are not built-in
            functions (`grad`, `shape`, `backward`, `append`, ...).
            """
            ...

        @property
        def of_python(self) -> frozenset[str]:
            """Names of methods of lists, strings and the like (`sort`, `split`). If a built-in
            function has the same name, the receiver decides which of the two is meant.
            """
            ...
