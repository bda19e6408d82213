"""What gradcli knows of a program, in the terms of the language server protocol."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lsprotocol.types import (
    CodeAction,
    CodeActionKind,
    CodeDescription,
    CompletionItem,
    CompletionItemKind,
    Diagnostic,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    DocumentSymbol,
    Hover,
    Location,
    MarkupContent,
    MarkupKind,
    SymbolKind,
    TextEdit,
    WorkspaceEdit,
)

from gradcli import errors
from gradcli.cli.lsp.places import Places
from gradcli.cli.terminal.shipped import folder
from gradcli.editor.completion import Candidate
from gradcli.editor.definitions import Definition

_SEVERITIES = {"error": DiagnosticSeverity.Error, "warning": DiagnosticSeverity.Warning}

_KINDS = {
    "argument": CompletionItemKind.Property,
    "attribute": CompletionItemKind.Field,
    "class": CompletionItemKind.Class,
    "function": CompletionItemKind.Function,
    "import": CompletionItemKind.Module,
    "input": CompletionItemKind.Constant,
    "keyword": CompletionItemKind.Keyword,
    "method": CompletionItemKind.Method,
    "param": CompletionItemKind.Constant,
    "parameter": CompletionItemKind.Variable,
    "variable": CompletionItemKind.Variable,
}

_SYMBOLS = {
    "class": SymbolKind.Class,
    "function": SymbolKind.Function,
    "input": SymbolKind.Constant,
    "param": SymbolKind.Constant,
    "variable": SymbolKind.Variable,
}

_MEANT = re.compile(r"did you mean `(\w+)`\?")


def finding(found: errors.Diagnostic, uri: str, places: Places) -> Diagnostic:
    """An error or warning. Its code links to its explanation in the documentation."""
    span = found.span
    parts = [found.message, *(f"note: {note}" for note in found.notes)]
    related = (
        DiagnosticRelatedInformation(Location(uri, places.range(*label.span)), label.text)
        for label in found.labels
    )
    return Diagnostic(
        range=places.range(0, 0) if span is None else places.range(*span),
        message="\n".join(parts if found.help is None else [*parts, f"help: {found.help}"]),
        severity=_SEVERITIES.get(found.severity, DiagnosticSeverity.Information),
        code=found.code,
        code_description=CodeDescription(f"{_page()}#{found.code}"),
        source="gradcli",
        tags=[DiagnosticTag.Unnecessary] if found.code == "unused-name" else None,
        related_information=[*related] or None,
        data=found.help,
    )


def _page() -> str:
    """The address of the page that explains codes."""
    return (folder("docs") / "errors.md").resolve().as_uri()


def corrections(found: Sequence[Diagnostic], uri: str) -> Iterator[CodeAction]:
    """An action for each finding whose help names the word that was meant."""
    for one in found:
        meant = _MEANT.search(str(one.data or ""))
        if meant is not None:
            edit = WorkspaceEdit({uri: [TextEdit(one.range, meant[1])]})
            title = f"Change to `{meant[1]}`"
            yield CodeAction(title, CodeActionKind.QuickFix, diagnostics=[one], edit=edit)


def completion(candidate: Candidate) -> CompletionItem:
    """A word that may be typed."""
    return CompletionItem(
        candidate.word, kind=_KINDS[candidate.kind], detail=candidate.detail or None
    )


def about(text: str) -> MarkupContent:
    """A text of Markdown."""
    return MarkupContent(MarkupKind.Markdown, text)


def hover(found: tuple[str, int, int], places: Places) -> Hover:
    """What is shown of the text under the pointer."""
    text, start, end = found
    return Hover(about(text), places.range(start, end))


def symbols(definitions: list[Definition], places: Places) -> Iterator[DocumentSymbol]:
    """An outline: declarations, functions, classes, and each top-level name at its first place."""
    whole = [d for d in definitions if d.kind in _SYMBOLS and d.scope[0] == 0]
    first = {d.name: d for d in reversed(whole)}
    for d in sorted(first.values(), key=lambda d: d.start):
        names = f"({', '.join(d.parameters)})" if d.kind == "function" else ""
        around = places.range(d.start, max(d.line_end, d.end))
        yield DocumentSymbol(
            d.name, _SYMBOLS[d.kind], around, places.range(d.start, d.end), detail=names or None
        )
