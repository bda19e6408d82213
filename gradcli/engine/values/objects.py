"""Objects of the classes that a program, or the library, makes."""

from __future__ import annotations


class Object:
    """Base of the program's classes. They are Python's classes, so that Python finds their methods
    for operators, calls and conversions. `run.session.classes` gives programs their attributes.
    """
