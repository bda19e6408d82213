"""Derivatives of typed programs, which are typed programs, too."""
