"""`torch.Generator`: random numbers of its own, as a value of a program."""

from __future__ import annotations

from typing import Any

from gradcli.engine.run.session.state import RandomNumbers
from gradcli.engine.values.sizes import describe, whole
from gradcli.errors import run_error


def torch_seed(value: Any) -> int:
    """The seed that a program gives to PyTorch's random numbers."""
    number = whole(value, "seed")
    if number < 0:
        raise run_error("bad-argument", f"`seed` cannot be negative, got {number}")
    return number


NAMES = frozenset({"initial_seed", "manual_seed"})
"""The methods of a `TorchStream`."""


_FIRST = 67280421310721  # PyTorch's seed of a generator that is given none


class TorchStream:
    """A generator of PyTorch's: one made by `torch.Generator`."""

    __slots__ = ("numbers", "seed")
    _members: tuple[dict[str, Any], dict[str, Any]] = (
        {"device": lambda value: "cpu"},
        {
            "manual_seed": lambda value, seed: value.begin(torch_seed(seed)),
            "initial_seed": lambda value: value.seed,
        },
    )

    def __init__(self, seed: int = _FIRST) -> None:
        self.begin(seed)

    def begin(self, seed: int) -> TorchStream:
        """Restart the random numbers at a seed."""
        from gradcli.engine.numerics.torch_generator import TorchGenerator

        self.seed = seed
        self.numbers = TorchGenerator(seed)
        return self

    def __repr__(self) -> str:
        return "<torch.Generator>"


def source(random: RandomNumbers, generator: Any) -> Any:
    """The numbers to draw from: those of a generator, or of the run."""
    if generator is None:
        return random.generator
    if not isinstance(generator, TorchStream):
        message = f"`generator` must be a `torch.Generator`, got {describe(generator)}"
        raise run_error("wrong-type", message)
    return generator.numbers
