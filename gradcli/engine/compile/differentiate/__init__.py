"""Derivatives of typed programs, again as typed programs."""
