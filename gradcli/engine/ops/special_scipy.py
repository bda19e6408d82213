"""Special functions whose values SciPy computes: the extra `special`."""
