"""The prompt in a terminal: history, completion, several lines and highlighting."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from gradcli.cli.repl.conversation import Conversation
from gradcli.cli.terminal.terminal import write_message
from gradcli.editor.completion import candidates
from gradcli.editor.document import Document
from gradcli.editor.typing import is_whole, styles
from gradcli.errors import Diagnostic, UsageError
from gradcli.source import Source

try:
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document as Typed
    from prompt_toolkit.formatted_text import StyleAndTextTuples
    from prompt_toolkit.history import FileHistory, History, InMemoryHistory
    from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
    from prompt_toolkit.lexers import Lexer
    from prompt_toolkit.styles import Style
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "prompt_toolkit":
        raise
    message, help = "`repl` needs prompt_toolkit, which is not installed", None
    help = "pip install 'gradcli[prompt]'"
    raise UsageError(Diagnostic("missing-extra", message, help=help)) from None

_HISTORY = "~/.gradcli_history"
_STYLES = {
    "keyword": "#0087ff bold",  # colours that can be read on white and on black, as in theme.py
    "string": "#00875f",
    "number": "#af5faf",
    "comment": "italic",
}


def typed(conversation: Conversation) -> Iterator[str]:
    """The texts that a person types. Ctrl-C leaves out a line, Ctrl-D ends."""
    session: PromptSession[str] = PromptSession(
        "> ",
        multiline=True,
        prompt_continuation="  ",
        history=_history(),
        completer=_Words(conversation),
        complete_while_typing=False,
        lexer=_Colours(),
        style=Style.from_dict(_STYLES),
        key_bindings=_keys(),
    )
    write_message("gradcli: `:help` lists commands, Ctrl-D leaves\n")
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        if text.strip():
            yield text


def _history() -> History:
    """The lines of earlier sessions, if there is a place for them."""
    path = os.path.expanduser(_HISTORY)
    return FileHistory(path) if os.access(os.path.dirname(path), os.W_OK) else InMemoryHistory()


def _keys() -> KeyBindings:
    """Enter ends a whole text and begins a line in any other; Tab indents or completes."""
    keys = KeyBindings()

    @keys.add("enter")
    def entered(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.is_cursor_at_the_end and is_whole(buffer.text):
            buffer.validate_and_handle()
            return
        line = buffer.document.current_line_before_cursor
        indent = line[: len(line) - len(line.lstrip())]
        buffer.insert_text("\n" + indent + "    " * line.rstrip().endswith(":"))

    @keys.add("tab")
    def tabbed(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state:
            buffer.complete_next()
        elif buffer.document.current_line_before_cursor.strip():
            buffer.start_completion(insert_common_part=True)
        else:
            buffer.insert_text("    ")

    return keys


class _Words(Completer):
    """Completes from the lines so far and the one that is typed."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def get_completions(self, document: Typed, event: CompleteEvent) -> Iterable[Completion]:
        before = self._conversation.source
        text = before.text + document.text
        known = Document(Source("<prompt>", text), Document(before))
        offset = len(before.text) + document.cursor_position
        begun = document.get_word_before_cursor()
        begun = begun if begun.isidentifier() else ""
        for found in candidates(known, offset):
            yield Completion(found.word, -len(begun), display_meta=found.detail)


class _Colours(Lexer):
    """Highlights keywords, numbers, strings and comments."""

    def lex_document(self, document: Typed) -> Callable[[int], StyleAndTextTuples]:
        lines = _coloured(document.text)
        return lambda number: lines[number] if number < len(lines) else []


def _coloured(text: str) -> list[StyleAndTextTuples]:
    """The lines of a text, each as parts with their styles."""
    lines: list[StyleAndTextTuples] = [[]]
    done = 0
    for start, end, style in [*styles(text), (len(text), len(text), "")]:
        for piece, look in ((text[done:start], ""), (text[start:end], f"class:{style}")):
            first, *others = piece.split("\n")
            lines[-1].append((look, first))
            lines += [[(look, other)] for other in others]
        done = end
    return lines
