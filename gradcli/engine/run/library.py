"""What the library has by full paths: exceptions, and modules written in the language."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run import exceptions


def has(path: str) -> bool:
    """Whether there is something of that path."""
    return exceptions.is_name(path)


def value(path: str) -> Any:
    """What has that path."""
    return exceptions.named(path)
