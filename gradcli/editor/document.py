"""A program in an editor, with what is known of it as it is."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from gradcli.editor.definitions import Definition, definitions, known_at
from gradcli.errors import Diagnostic, GradError
from gradcli.grammar.syntax.layout import Token
from gradcli.grammar.syntax.recovery import readable_tokens
from gradcli.program import check_source, load_source
from gradcli.source import Source
from gradcli.views import KnownValue


class Document:
    """The text of a program.

    Fields:
        source: Its text.
        values: What is known of its values; of the last text that could be loaded if this one
            cannot.
    """

    def __init__(self, source: Source, earlier: Document | None = None) -> None:
        self.source = source
        self.values: list[KnownValue] = [] if earlier is None else earlier.values
        try:
            self.values = load_source(source).known_values()
            self.is_current = True
        except GradError:
            self.is_current = False

    @cached_property
    def findings(self) -> tuple[Diagnostic, ...]:
        """The errors and warnings of `gradcli check`."""
        return check_source(self.source, {}).findings

    @cached_property
    def definitions(self) -> list[Definition]:
        """The places where names are made."""
        return definitions(self.source.text)

    @cached_property
    def tokens(self) -> list[Token]:
        """The tokens, also of a text that does not parse."""
        return [*readable_tokens(self.source.text)]

    def name_at(self, offset: int) -> tuple[Token, bool] | None:
        """The name at an offset, and True if it is that of an attribute: it follows a dot."""
        start: Token = ("", "", 0, 0)
        for before, token in pairwise((start, *self.tokens)):
            if token[0] == "NAME" and token[2] <= offset <= token[3]:
                return token, before[1] == "."
        return None

    def known_at(self, offset: int) -> dict[str, Definition]:
        """The program's names that are known at an offset."""
        return known_at(self.definitions, offset)

    def definition(self, offset: int) -> Definition | None:
        """The definition of the name at an offset."""
        found = self.name_at(offset)
        if found is None or found[1]:
            return None
        return self.known_at(offset).get(found[0][1])

    def value_of(self, name: str, offset: int) -> KnownValue | None:
        """What is known of a name at an offset: where it is read or made there, else elsewhere."""
        named = [value for value in self.values if value.name == name]
        here = [v for v in named if self.is_current and v.span.start <= offset <= v.span.end]
        known = [value for value in here or named if value.kind is not None]
        return min(known, key=lambda v: v.span.end - v.span.start if here else 0, default=None)

    def value_at(self, offset: int) -> KnownValue | None:
        """What is known of the smallest expression around an offset."""
        if not self.is_current:
            return None
        around = [v for v in self.values if v.span.start <= offset <= v.span.end and not v.name]
        return min(around, key=lambda v: v.span.end - v.span.start, default=None)
