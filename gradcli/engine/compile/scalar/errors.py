"""What is raised of a function that machine code cannot be made of."""

from __future__ import annotations


class Untranslatable(Exception):
    """Something of a function cannot be said; code calls the function as it is."""
