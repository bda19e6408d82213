"""Analyses and rewrites of typed programs."""
