"""Objects of the classes that a program, or the library, makes."""

from __future__ import annotations


class Object:
    """Base of the program's classes, which are Python's: operators, calls and conversions find
    their methods by themselves. What the program reaches of one is told by `run.classes`.
    """
