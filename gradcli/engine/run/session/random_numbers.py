"""The random numbers of one run: PyTorch's, NumPy's and Python's by their names."""

from __future__ import annotations

import os
from typing import Any

from gradcli.engine.values.data import np


class RandomNumbers:
    """Generators that begin at a seed, each made at its first use.

    Fields:
        stream: which of the seed's streams this run takes.
    """

    def __init__(self, seed: int | None = None, stream: int = 0) -> None:
        self.stream = stream
        self._seed = seed
        self._generator: Any = None
        self._numpy: Any = None
        self._python: Any = None

    @property
    def seed(self) -> int:
        """The seed that was given, or else drawn at its first use."""
        if self._seed is None:
            self._seed = int.from_bytes(os.urandom(8))
        return self._seed

    @property
    def generator(self) -> Any:
        """NumPy's `Generator`, which PyTorch's names draw from."""
        if self._generator is None:
            self.begin(self.seed, self.stream)
        return self._generator

    def begin(self, seed: int, stream: int = 0) -> None:
        """Start the numbers of PyTorch's names anew at a stream of a seed."""
        from gradcli.engine.numerics.generator import generator

        self._generator = generator(seed, stream)

    @property
    def numpy(self) -> Any:
        """The generator of `np.random`, at the run's seed until the program gives it one."""
        if self._numpy is None:
            seed = [self.seed % 2**32, self.stream % 2**32]
            self._numpy = np.random.RandomState(seed)
        return self._numpy

    @numpy.setter
    def numpy(self, generator: Any) -> None:
        self._numpy = generator

    @property
    def python(self) -> Any:
        """The generator of Python's `random`, at the run's seed until the program gives it one."""
        if self._python is None:
            from random import Random

            self._python = Random(self.seed + (self.stream << 64))
        return self._python
