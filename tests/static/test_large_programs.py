"""Work and memory of checking programs of many statements."""

import gc

from gradcli.engine.static.facts import fact
from gradcli.engine.static.value import number
from gradcli.program import load


def test_a_large_program_is_checked_without_garbage_collection():
    """Its trees and facts have few cycles; looking through them took a quarter of the time."""
    text = "input x = 1.0\n" + "".join(f"y{k % 9} = x * {k}.5 + 1\n" for k in range(4_000)) + "y1\n"
    seen = []
    before = gc.get_threshold()

    def count(phase, info):
        seen.append(phase)

    gc.callbacks.append(count)
    gc.set_threshold(700, 10, 10)
    try:
        load(text).check()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(count)
    assert len(seen) < 40  # 250 without


def test_numbers_share_what_is_alike():
    assert number("float64").memory is number("int64").memory
    one = number("float64")
    assert fact(one) is fact(one)
