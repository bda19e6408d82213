"""Evaluate and differentiate small program files."""

__version__ = "0.1.0"
