"""Error and gamma functions."""
