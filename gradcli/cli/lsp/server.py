"""The language server: what the editor says and asks, and the answers."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from gradcli import __version__
from gradcli.cli.lsp import answers
from gradcli.cli.lsp.places import Places
from gradcli.editor.completion import candidates
from gradcli.editor.document import Document
from gradcli.editor.hover import about_operation, hover
from gradcli.editor.layout import laid_out
from gradcli.errors import GradError
from gradcli.source import Source

_PAUSE = 0.2  # seconds without typing before a text is checked


def made(line_length: int) -> LanguageServer:
    """A server for `.grad` files.

    Args:
        line_length: Columns that a line may have after formatting.
    """
    logging.getLogger("pygls").setLevel(logging.ERROR)
    server = LanguageServer(
        "gradcli", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full
    )
    texts = _Texts(server)

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        texts.check(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        document = params.text_document
        await asyncio.sleep(_PAUSE)
        if texts.version(document.uri) == document.version:
            texts.check(document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        texts.forget(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        document, places = texts.at(params.text_document.uri)
        found = hover(document, places.offset(params.position))
        return None if found is None else answers.hover(found, places)

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=[".", "("], resolve_provider=True),
    )
    def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        document, places = texts.at(params.text_document.uri)
        found = candidates(document, places.offset(params.position))
        return [*map(answers.completion, found)]

    @server.feature(lsp.COMPLETION_ITEM_RESOLVE)
    def resolved(item: lsp.CompletionItem) -> lsp.CompletionItem:
        if item.kind in (lsp.CompletionItemKind.Function, lsp.CompletionItemKind.Method):
            item.documentation = answers.about(about_operation(item.label.removesuffix("_")))
        return item

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> lsp.Location | None:
        document, places = texts.at(params.text_document.uri)
        found = document.definition(places.offset(params.position))
        if found is None:
            return None
        return lsp.Location(params.text_document.uri, places.range(found.start, found.end))

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        document, places = texts.at(params.text_document.uri)
        return [*answers.symbols(document.definitions, places)]

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])
    )
    def corrected(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return [*answers.corrections(params.context.diagnostics, params.text_document.uri)]

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        document, places = texts.at(params.text_document.uri)
        source = document.source
        try:
            text = laid_out(source, line_length)
        except GradError as error:
            message = error.diagnostics[0].message
            server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, message))
            return []
        if text == source.text:
            return []
        return [lsp.TextEdit(places.range(0, len(source.text)), text)]

    return server


class _Texts:
    """The open texts, each with what is known of it."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._documents: dict[str, Document] = {}

    def version(self, uri: str) -> int | None:
        """The version of a text that the editor has told last."""
        return self._server.workspace.get_text_document(uri).version

    def at(self, uri: str) -> tuple[Document, Places]:
        """A text as it is now, and the places in it."""
        text = self._server.workspace.get_text_document(uri)
        source = Source(uri.rpartition("/")[2], text.source)
        known = self._documents.get(uri)
        if known is None or known.source.text != source.text:
            known = self._documents[uri] = Document(source, known)
        return known, Places(known.source, text.position_codec)

    def check(self, uri: str) -> None:
        """Tell the editor the findings about a text."""
        document, places = self.at(uri)
        found = [answers.finding(one, uri, places) for one in document.findings]
        self._server.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri, found, self.version(uri))
        )

    def forget(self, uri: str) -> None:
        """Take back the findings about a text that is closed."""
        self._documents.pop(uri, None)
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
