"""Repeating, turning and rolling."""
