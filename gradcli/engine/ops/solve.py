"""Determinants, inverses and linear equations."""
