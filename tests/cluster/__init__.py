"""A cluster of real processes, and what goes wrong in one: see `__main__.py`."""
