"""Texts from a stream, each of as many lines as it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from gradcli.editor.typing import is_whole


def piped(stream: TextIO) -> Iterator[str]:
    """The texts of a stream."""
    text = ""
    for line in stream:
        text += line
        bare = text.removesuffix("\n")
        if is_whole(bare):
            if bare.strip():
                yield bare
            text = ""
    if text.strip():
        yield text
