"""Counter-based random numbers: a seed has many streams, each of which starts at once."""

from __future__ import annotations

from typing import Any

from gradcli.engine.values.data import np

_WORD = 2**64


class _Key(np.random.bit_generator.ISeedSequence):
    """A seed as the key of Philox, unhashed: NumPy would hash it first, which takes longer than
    everything else.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def generate_state(self, n_words: int, dtype: Any = np.uint64) -> Any:
        """The words of the seed, the lowest first."""
        return np.array([self._seed // _WORD**word % _WORD for word in range(n_words)], dtype)


def generator(seed: int, stream: int) -> np.random.Generator:
    """A generator at the start of a stream: NumPy's Philox with the seed as its key and the
    stream's number as the highest word of its counter.

    Args:
        seed: From 0 to below 2**128.
        stream: From 0 to below 2**64.
    """
    key: Any = _Key(seed)
    bits = np.random.Philox(key)
    if stream:
        start: Any = {
            "bit_generator": "Philox",
            "state": {"counter": (0, 0, 0, stream), "key": (seed % _WORD, seed // _WORD)},
            "buffer": (0, 0, 0, 0),
            "buffer_pos": 4,  # it is used up
            "has_uint32": 0,
            "uinteger": 0,
        }
        bits.state = start
    return np.random.Generator(bits)
