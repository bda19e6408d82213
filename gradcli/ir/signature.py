"""Signatures of built-ins, as the grammar receives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.record import Record


class Signature(Record):
    """How a built-in may be called, for checks before anything runs.

    `positional` are the names that may be given by place, in order; the first `required` of them
    (by place or by name) must be. `keywords` may be given by name only. `variadic`: further
    positional arguments are taken, `any_name`: arguments by any other name. `gathers`: all that a
    generator gives is taken before anything else is done. `aliases` maps other accepted keyword
    names to these. `constant` marks a name that is a value (`pi`), not a function. `pure` is false
    where calling has an effect or draws random numbers. `method` says whether `x.name(...)` works
    too.
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
    constant: bool
    pure: bool
    method: bool


def written(name: str) -> str:
    """How a program writes a built-in's name: what has a meaning of its own in a module, or as
    Python's, has the module's name in front.
    """
    if name.startswith("python_"):
        return name.split("_", 2)[2]
    for module in ("builtins_", "functional_", "func_"):
        if name.startswith(module):
            return name.removeprefix(module)
    return name


if TYPE_CHECKING:  # making a protocol takes as long as importing a room
    from typing import Protocol

    class Signatures(Protocol):
        """The built-in names, handed to the checker and the lowering by `program`."""

        def __contains__(self, name: object) -> bool: ...
        def __getitem__(self, name: str) -> Signature: ...
        def names(self) -> list[str]: ...
        def in_library(self, path: str) -> bool:
            """True if the library has something of that full path, such as `torch.nn.Linear`."""
            ...

        def names_later(self, path: str) -> bool:
            """True if something of the library has attributes named while a program runs."""
            ...

        def is_member(self, name: str) -> bool:
            """True if an object, or something of the library, has an attribute of that name."""
            ...

        @property
        def attributes(self) -> frozenset[str]:
            """Attribute and method names of tensors, lists, graph nodes that are not built-in
            functions (`grad`, `shape`, `backward`, `append`, ...).
            """
            ...

        @property
        def of_python(self) -> frozenset[str]:
            """Names of methods of lists, strings and the like (`sort`, `split`): where one is a
            built-in function, too, the receiver tells which of the two is meant.
            """
            ...
