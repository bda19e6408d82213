"""The number of random programs that tests try: in every run, and with `pytest -m long`."""

from __future__ import annotations

import pytest


def chunks(few: int, many: int, size: int) -> list:
    """First numbers of chunks of seeds: `few` seeds in every run, those up to `many` by hand."""
    usual = list(range(0, few, size))
    return [*usual, *(pytest.param(n, marks=pytest.mark.long) for n in range(few, many, size))]
