"""What may be typed at a place of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradcli.editor.document import Document
from gradcli.engine.run.language import members
from gradcli.engine.run.language.names import Builtins
from gradcli.grammar.syntax.layout import CLOSERS, OPENERS, Token
from gradcli.grammar.syntax.tables import load
from gradcli.ir.signature import written
from gradcli.made.library_index import FILES
from gradcli.record import Record

_WORD = re.compile(r"(?:([\w.]*)\.)?(\w*)\Z")
_DECLARING = ("input", "param")


class Candidate(Record):
    """A word that may be typed.

    Fields:
        word: The word, with the `=` of a keyword argument.
        kind: "function", "method", "attribute", "class", "keyword", "argument", or that of a
            definition, such as "param".
        detail: What is known of it in short; "" if nothing is.
    """

    __slots__ = ("word", "kind", "detail")
    word: str
    kind: str
    detail: str


def candidates(document: Document, offset: int) -> list[Candidate]:
    """The words that may be typed at an offset and begin with what stands before it."""
    text = document.source.text
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if _is_in_text(document, offset):
        return []
    found = _WORD.search(line)
    assert found is not None, "an empty word is always found"
    receiver, begun = found[1], found[2]
    if receiver is not None:
        every = _members(document, receiver, offset)
    else:
        every = [*_arguments(document, offset - len(begun)), *_names(document, offset, begun)]
    kept = {c.word: c for c in reversed(every) if c.word.startswith(begun)}
    return sorted(kept.values(), key=lambda c: (c.kind != "argument", c.word[0] == "_", c.word))


def _is_in_text(document: Document, offset: int) -> bool:
    """True inside a string or a comment."""
    for kind, word, start, end in document.tokens:
        if kind in ("STRING", "FSTRING") and start < offset < end:
            return True
        if kind == "" and word[:1] in "\"'" and start < offset <= end:
            return True
    line = document.source.text[document.source.text.rfind("\n", 0, offset) + 1 : offset]
    return "#" in re.sub(r"\"[^\"]*\"|'[^']*'", "", line)


def _members(document: Document, receiver: str, offset: int) -> list[Candidate]:
    """Attributes and methods of a value, or members of a module."""
    name = receiver.rpartition(".")[2]
    definition = document.known_at(offset).get(receiver.partition(".")[0])
    if name in _MODULES or (definition is not None and definition.kind == "import"):
        return [Candidate(word, "function", "") for word in _of_module(name)]
    value = document.value_of(name, offset) if name else None
    kind = "tensor" if value is None or value.kind in (None, "number") else str(value.kind)
    builtins = Builtins()
    return [
        Candidate(word, "method" if _is_called(word, kind, builtins) else "attribute", "")
        for word in members.names_of_kind(kind)
    ]


_MODULES = {
    **dict.fromkeys(("torch", "F", "linalg", "special", "autograd"), ""),
    **dict.fromkeys(("np", "numpy"), "numpy_"),
    **dict.fromkeys(("jnp", "jax"), "jax_"),
    "math": "math_",
}
"""The usual names of modules, with what stands before the built-ins that differ in them."""


def _of_module(name: str) -> set[str]:
    """The members of a module by its usual name: built-ins, and what the library has."""
    start = _MODULES.get(name, "")
    own = {n.removeprefix(start) for n in Builtins().names() if start and n.startswith(start)}
    inside = (path.rpartition(".")[::2] for path in FILES)
    library = {member for module, member in inside if module.rpartition(".")[2] == name}
    return (
        {*_built_in_names(), *own, *library}
        if name in _MODULES
        else library or {*_built_in_names()}
    )


def _is_called(word: str, kind: str, builtins: Builtins) -> bool:
    return kind != "tensor" or not members.is_read(word) or word in builtins


def _arguments(document: Document, offset: int) -> Iterator[Candidate]:
    """The keyword arguments of the call around an offset."""
    called = _call_around(document.tokens, offset)
    if called is None:
        return
    definition = document.known_at(offset).get(called)
    builtins = Builtins()
    if definition is not None:
        names = definition.parameters
    elif called in builtins:
        signature = builtins[called]
        names = (*signature.positional, *signature.keywords)
    else:
        names = ()
    yield from (Candidate(f"{name}=", "argument", f"argument of {called}") for name in names)


def _call_around(tokens: list[Token], offset: int) -> str | None:
    """The name of what is called by the innermost open bracket before an offset."""
    opened: list[str] = []
    before: Token = ("", "", 0, 0)
    for token in tokens:
        kind, _, start, _ = token
        if start >= offset:
            break
        if kind in OPENERS:
            opened.append(before[1] if kind == "LPAR" and before[0] == "NAME" else "")
        elif kind in CLOSERS and opened:
            opened.pop()
        before = token
    return (opened[-1] or None) if opened else None


def _names(document: Document, offset: int, begun: str) -> Iterator[Candidate]:
    """Names of the program, built-ins and keywords, the first that count first."""
    for name, definition in document.known_at(offset).items():
        if not definition.start <= offset <= definition.end:
            value = document.value_of(name, offset)
            detail = "" if value is None else value.text
            if definition.kind == "function":
                detail = f"{name}({', '.join(definition.parameters)})"
            yield Candidate(name, definition.kind, detail)
    for word in (*filter(str.isalpha, load().fixed), *_DECLARING):
        yield Candidate(word, "keyword", "")
    if begun:
        for word in _built_in_names():
            yield Candidate(word, "function", "")


_OTHERS = ("numpy_", "jax_", "math_", "scipy_", "torch_")
"""How the names of built-ins begin that programs write behind a module."""


def _built_in_names() -> Iterator[str]:
    names = (name for name in Builtins().names() if not name.startswith(_OTHERS))
    return (name for name in names if written(name) == name and name[0] != "_")
