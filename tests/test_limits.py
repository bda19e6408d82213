"""How limits are written, and which of several counts."""

import pytest

from gradcli.limits import DEFAULT, SAFE, Limits, chosen, count, depth, seconds, size

WRITTEN = [
    *((count, text, found) for text, found in [("1", 1), ("10_000", 10_000), ("1e7", 10**7)]),
    *((depth, text, found) for text, found in [("1", 1), ("10000", 10_000)]),
    *((seconds, text, found) for text, found in [("10", 10.0), ("0.5", 0.5), (".5", 0.5)]),
    *((seconds, text, found) for text, found in [("500ms", 0.5), ("2 min", 120.0), ("1h", 3600.0)]),
    *((size, text, found) for text, found in [("1", 1), ("512MiB", 512 * 2**20), ("2G", 2**31)]),
    *((size, text, found) for text, found in [("1.5k", 1536), ("500MB", 5 * 10**8), ("80%", 0.8)]),
]
MISTAKES = [
    *(
        (count, text)
        for text in ["", "0", "-1", "1.5", "x", "1e", "1e999", "9" * 400, "1__0", "_1"]
    ),
    *((depth, text) for text in ["0", "10001", "x"]),
    *((seconds, text) for text in ["", "0", "-1", "nan", "inf", "1y", "1e3", "s"]),
    *((size, text) for text in ["", "0", "-1", "0.5", "1X", "120%", "0%", "%", "MiB", "1 2"]),
]


@pytest.mark.parametrize(("read", "text", "found"), WRITTEN)
def test_a_limit_is_read(read, text, found):
    assert read(text) == found
    assert type(read(text)) is type(found)


@pytest.mark.parametrize(("read", "text"), MISTAKES)
def test_what_is_no_limit_is_refused(read, text):
    with pytest.raises(ValueError, match=r"^a "):
        read(text)


def test_an_option_counts_more_than_safe_and_that_more_than_the_environment():
    none = dict.fromkeys(("steps", "seconds", "memory", "depth"))
    environment = {"GRADCLI_MAX_STEPS": "5", "GRADCLI_MAX_DEPTH": "", "GRADCLI_TIME_LIMIT": "1s"}
    assert chosen(none, {}, safe=False) == DEFAULT
    assert chosen(none, environment, safe=False) == Limits(steps=5, seconds=1.0)
    assert chosen(none, environment, safe=True) == SAFE
    given = {**none, "steps": "7", "memory": "1K"}
    assert chosen(given, environment, safe=False) == Limits(steps=7, seconds=1.0, memory=1024)
    assert chosen(given, environment, safe=True) == Limits(7, 10.0, 1024, 1000)


def test_processes_share_what_is_free_and_have_a_size_each():
    assert Limits(memory=0.8).among(4).memory == 0.2
    assert Limits(memory=1024).among(4).memory == 1024
