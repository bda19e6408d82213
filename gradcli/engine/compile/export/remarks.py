"""The program's own comments, which go along with its source code."""

from __future__ import annotations

from gradcli.source import Source, Span

_LEFT_OUT = "expect:"


class Remarks:
    """The comments of a program; each is given once.

    Fields:
        head: the lines of the comment that the program begins with.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        lines = source.text.splitlines()
        self.head: list[str] = []
        while lines[len(self.head) :] and lines[len(self.head)].startswith("#"):
            self.head.append(lines[len(self.head)].lstrip("#").strip())
        self._own: dict[int, str] = {}
        self._behind: dict[int, str] = {}
        for k, line in enumerate(lines[len(self.head) :], len(self.head)):
            code, sign, said = line.partition("#")
            if not sign or "'" in code or '"' in code:
                continue
            if said.strip().startswith(_LEFT_OUT):
                break
            (self._behind if code.strip() else self._own)[k + source.first] = said.strip()

    def before(self, span: Span) -> tuple[str, ...]:
        """The comments on the line of a span and right above it."""
        if (not self._own and not self._behind) or span.start == span.end:
            return ()
        line, _ = self._source.position(span.start)
        found: list[str] = []
        above = line - 1
        while above in self._own:
            found.insert(0, self._own.pop(above))
            above -= 1
        if line in self._behind:
            found.append(self._behind.pop(line))
        return tuple(found)

    def of_input(self, span: Span) -> str:
        """The comment on the line of an input."""
        line, _ = self._source.position(span.start)
        return self._behind.pop(line, "")
