"""What the library has by full paths: exceptions, and modules written in the language."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run import exceptions
from gradcli.engine.run.session import Session


def has(path: str) -> bool:
    """Whether there is something of that path."""
    return exceptions.is_name(path)


def value(path: str, session: Session) -> Any:
    """What has that path, made by this run where it is the first that asks for it."""
    return exceptions.named(path)
