"""Random inputs of every kind, none of which may make gradcli fail: see `__main__.py`."""
