"""Random numbers of JAX: what `jax.random` draws for a key (its default generator, Threefry-2x32).

Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011; how words become numbers is
that of JAX 0.10 with partitionable keys, its default. A key is two words of 32 bits.
"""

from __future__ import annotations

import math
from typing import Any

from gradcli.engine.values.data import np

_TURNS = ((13, 15, 26, 6), (17, 29, 16, 24))

_PARITY = 0x1BD11BDA

_LEAST_BELOW = -1.0 + 2.0**-24  # the float32 next to -1, where JAX begins normal numbers

# erfinv(x) / x by polynomials of -log(1 - x x), near 0 and in the tails (Giles, Approximating the
# erfinv function, GPU Computing Gems 2, 2012), the highest power first.
_NEAR = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def key_of(seed: int) -> tuple[int, int]:
    """The key of `PRNGKey(seed)`."""
    return (seed >> 32) % 2**32 if abs(seed) >= 2**31 else 0, seed % 2**32


def split(key: Any, count: int) -> Any:
    """New keys from one, in rows."""
    return np.stack(_hashed(key, *_places(count)), axis=-1)


def split_each(keys: Any, count: int) -> Any:
    """New keys from each of many keys, the columns of an array: `count` such arrays."""
    high, low = (places[:, None] for places in _places(count))
    return np.stack(_hashed(keys, high, low), axis=1)


def folded(key: Any, number: int) -> Any:
    """A new key from a key and a number."""
    high, low = (np.array([word], np.uint32) for word in key_of(number))
    return np.concatenate(_hashed(key, high, low))


def uniform(key: Any, shape: tuple[int, ...], low: float, high: float, dtype: str) -> Any:
    """Numbers from `low` to below `high`."""
    return _floats(_words(key, shape, 64 if dtype == "float64" else 32), low, high, dtype)


def uniform_each(keys: Any, low: float, high: float, dtype: str) -> Any:
    """A number of each of many keys, which are the columns of an array."""
    zeros = np.zeros(keys.shape[1], np.uint32)
    return _floats(
        _joined(_hashed(keys, zeros, zeros), 64 if dtype == "float64" else 32), low, high, dtype
    )


def _floats(words: Any, low: float, high: float, dtype: str) -> Any:
    """Numbers from `low` to below `high` from words of 32 bits, of 64 for float64."""
    kind: Any = np.float64 if dtype == "float64" else np.float32
    if dtype == "float64":
        words = words >> np.uint64(12) | np.uint64(0x3FF << 52)
    else:
        words = words >> np.uint32(9) | np.uint32(0x7F << 23)
    first, width = kind(low), kind(high) - kind(low)
    # Product and sum are rounded once for float32, as in JAX's code.
    scaled = (words.view(kind) - kind(1)).astype(np.float64) * width + first
    return np.maximum(first, scaled.astype(kind))


def normal(key: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Normal numbers of mean 0 and standard deviation 1: sqrt(2) erfinv of uniform ones."""
    return _bell(uniform(key, shape, _least(dtype), 1.0, dtype), dtype)


def normal_each(keys: Any, dtype: str) -> Any:
    """A normal number of each of many keys, which are the columns of an array."""
    return _bell(uniform_each(keys, _least(dtype), 1.0, dtype), dtype)


def _least(dtype: str) -> float:
    return math.nextafter(-1.0, 0.0) if dtype == "float64" else _LEAST_BELOW


def _bell(drawn: Any, dtype: str) -> Any:
    """Normal numbers from uniform ones between -1 and 1."""
    drawn = drawn.astype(np.float64)
    found = _erfinv(drawn)
    if dtype == "float64":  # two steps of Newton's from six digits to all
        for _ in range(2):
            slope = 2.0 / math.sqrt(math.pi) * np.exp(-found * found)
            found = found + (_complement(found) - (1.0 - np.abs(drawn))) * np.sign(drawn) / slope
    return math.sqrt(2.0) * found


def integers(key: Any, shape: tuple[int, ...], low: int, high: int, dtype: str) -> Any:
    """Ints from `low` to below `high`, of the dtype int32 or int64: two words each, divided with
    remainder.
    """
    bits = 64 if dtype == "int64" else 32
    size = high - low
    above, below = (_words(part, shape, bits).astype(object) for part in split(key, 2))
    carry = (2 ** (bits // 2) % size) ** 2 % 2**bits % size
    return np.asarray((above % size * carry + below % size) % 2**bits % size + low, np.int64)


def permutation(key: Any, count: int) -> Any:
    """The ints below a count in some order: sorted by random words, several times if many."""
    order = np.arange(count)
    for _ in range(math.ceil(3 * math.log(max(count, 1)) / math.log(2**32 - 1))):
        key, part = split(key, 2)
        order = order[np.argsort(_words(part, (count,), 32), kind="stable")]
    return order


def _words(key: Any, shape: tuple[int, ...], bits: int) -> Any:
    found = _joined(_hashed(key, *_places(math.prod(shape))), bits)
    return found.reshape(shape) if shape else found[0]


def _joined(words: tuple[Any, Any], bits: int) -> Any:
    high, low = words
    return high.astype(np.uint64) << np.uint64(32) | low if bits == 64 else high ^ low


def _places(count: int) -> Any:
    """The words of the numbers from 0 to below a count."""
    numbers = np.arange(count, dtype=np.uint64)
    return (numbers >> np.uint64(32)).astype(np.uint32), numbers.astype(np.uint32)


def _hashed(key: Any, high: Any, low: Any) -> Any:
    """The two words of each pair under a key, or under keys, by twenty rounds."""
    first, second = (np.asarray(word, np.uint32) for word in key)
    keys = [first, second, first ^ second ^ np.uint32(_PARITY)]
    with np.errstate(over="ignore"):
        high, low = high + keys[0], low + keys[1]
        for part in range(5):
            for turn in _TURNS[part % 2]:
                high = high + low
                low = low << np.uint32(turn) | low >> np.uint32(32 - turn)
                low = low ^ high
            high, low = (
                high + keys[(part + 1) % 3],
                low + keys[(part + 2) % 3] + np.uint32(part + 1),
            )
    return high, low


def _erfinv(x: Any) -> Any:
    w = -np.log1p(-x * x)
    near, tail = np.polyval(_NEAR, w - 2.5), np.polyval(_TAIL, np.sqrt(np.maximum(w, 5.0)) - 3.0)
    return np.where(w < 5.0, near, tail) * x


def _complement(x: Any) -> Any:
    """1 - erf(|x|) by the C library."""
    return np.vectorize(math.erfc, otypes=[np.float64])(np.abs(x))
