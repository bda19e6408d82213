"""The error of a function that has no scalar form."""

from __future__ import annotations


class Untranslatable(Exception):
    """A function has no scalar form; compiled code calls it in Python."""
