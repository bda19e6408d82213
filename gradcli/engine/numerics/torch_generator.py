"""Random numbers of PyTorch: for a seed the numbers that PyTorch draws on a processor."""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.values.data import np

_BLOCK = 624  # words between two changes of the generator's state

_SINGLY = 16  # of so many normal numbers on PyTorch draws them in blocks of that size

_LONG = 2**28  # ranges of ints from this size on take two words


class TorchGenerator:
    """The Mersenne Twister, whose words become numbers as in PyTorch (ATen/core and
    ATen/native/cpu, `DistributionsHelper.h` and `DistributionTemplates.h`; version 2.13).

    A float32 takes one word and a float64 two, so that the two dtypes draw different numbers.

    Args:
        seed: Stream 0 of a seed is what `torch.manual_seed(seed)` begins: its lowest 32 bits count.
        stream: Further streams, independent of the first.
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        words = [(number >> 32 * at) % 2**32 for number in (seed, stream) for at in (0, 1)]
        self._twister = np.random.RandomState(words if stream else words[0])
        self._drawn: Any = np.zeros(0, np.uint32)  # a block of words
        self._at = 0  # how many of them are used up
        self._next_normal: float | None = None

    def uniform(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Numbers from 0 to below 1: multiples of 2**-24, or of 2**-53 if the dtype is float64."""
        if not shape:
            return self._one_uniform(dtype)
        count = math.prod(shape)
        if dtype == "float64":
            found = (self._pairs(count) % np.uint64(2**53)) * 2.0**-53
        else:
            found = (self._words(count) % np.uint32(2**24)) * 2.0**-24
        return _shaped(found, shape)

    def normal(self, shape: tuple[int, ...], dtype: str) -> Any:
        """Normal numbers of mean 0 and standard deviation 1, by the method of Box and Muller."""
        if not shape:
            return self._one_normal()
        count = math.prod(shape)
        if count < _SINGLY:
            return _shaped(np.array([self._one_normal() for _ in range(count)]), shape)
        found = np.empty(count)
        whole = count - count % _SINGLY
        uniform = self.uniform((count,), dtype)
        found[:whole] = _by_blocks(uniform[:whole])
        if whole < count:  # PyTorch draws the last 16 anew
            found[-_SINGLY:] = _by_blocks(self.uniform((_SINGLY,), dtype))
        return _shaped(found, shape)

    def exponential(self, shape: tuple[int, ...]) -> Any:
        """Exponential numbers of rate 1."""
        return -np.log1p(-self.uniform(shape, "float64"))

    def integers(self, low: int, high: int, shape: tuple[int, ...]) -> Any:
        """Ints from `low` to below `high`, at most 2**64 of them."""
        size = high - low
        return self.remainders(size, shape, 64 if size >= _LONG else 32) + low

    def remainders(self, size: int, shape: tuple[int, ...], bits: int) -> Any:
        """Words of 32 or 64 bits, divided by a size with remainder."""
        count = math.prod(shape)
        words = self._pairs(count) if bits == 64 else self._words(count).astype(np.uint64)
        found = words % np.uint64(size) if size < 2**64 else words
        return _shaped(found.astype(np.int64), shape)

    def permutation(self, count: int) -> Any:
        """The ints below a count in some order, by the method of Fisher and Yates."""
        order = list(range(count))
        swaps = self._words(max(count - 1, 0)) % np.arange(count, 1, -1, dtype=np.uint32)
        for at, ahead in enumerate(swaps.tolist()):
            other = at + ahead
            order[at], order[other] = order[other], order[at]
        return np.array(order, np.int64)

    def places(self, weights: Any, count: int, *, again: bool) -> Any:
        """Places in a matrix of weights, `count` in each row, as `multinomial` draws them."""
        if again and count > 1:
            ends = np.cumsum(weights, axis=1)
            ends /= ends[:, -1:]
            drawn = self.uniform((len(weights), count), "float64")
            pairs = zip(ends, drawn, strict=True)
            return np.array([np.searchsorted(end, row) for end, row in pairs], np.int64)
        # The first of exponential clocks with these rates to ring.
        found = weights / self.exponential(weights.shape)
        return np.argsort(-found, axis=1, kind="stable")[:, :count]

    def _one_uniform(self, dtype: str) -> float:
        if dtype == "float64":
            return (self._word() % 2**21 * 2**32 + self._word()) * 2.0**-53
        return self._word() % 2**24 * 2.0**-24

    def _one_normal(self) -> float:
        """A normal number; its twin waits for the next call."""
        if self._next_normal is not None:
            found, self._next_normal = self._next_normal, None
            return found
        turn, size = self._one_uniform("float64"), self._one_uniform("float64")
        radius, angle = math.sqrt(-2.0 * math.log1p(-size)), 2.0 * math.pi * turn
        self._next_normal = radius * math.sin(angle)
        return radius * math.cos(angle)

    def _pairs(self, count: int) -> Any:
        words = self._words(2 * count).astype(np.uint64)
        return words[0::2] << np.uint64(32) | words[1::2]

    def _word(self) -> int:
        """The next word of 32 bits."""
        if self._at == len(self._drawn):
            self._draw(_BLOCK)
        self._at += 1
        return int(self._drawn.item(self._at - 1))

    def _words(self, count: int) -> Any:
        """The next words of 32 bits."""
        short = count - (len(self._drawn) - self._at)
        if short > 0:
            self._draw(max(short, _BLOCK))
        self._at += count
        return self._drawn[self._at - count : self._at]

    def _draw(self, count: int) -> None:
        """Draw words behind those that are left."""
        drawn = self._twister.randint(0, 2**32, count, np.uint32)
        self._drawn, self._at = np.concatenate([self._drawn[self._at :], drawn]), 0


def _shaped(found: Any, shape: tuple[int, ...]) -> Any:
    """Numbers in a shape: one alone is no array."""
    return found.reshape(shape) if shape else found[0]


def _by_blocks(uniform: Any) -> Any:
    """Normal numbers of uniform ones, whose first eight of each 16 are radii, the others angles."""
    sizes, turns = uniform.reshape(-1, 2, _SINGLY // 2).transpose(1, 0, 2)
    radius, angle = np.sqrt(-2.0 * np.log(1.0 - sizes)), 2.0 * math.pi * turns
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)
