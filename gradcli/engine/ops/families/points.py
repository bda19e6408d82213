"""Points at which several ops are tested."""

from __future__ import annotations

from gradcli.engine.ops.op import Bad, Sample, bad, sample

Samples = tuple[Sample, ...]


def any_sign() -> Samples:
    """Points of either sign, and 0."""
    return (
        sample(1.5),
        sample(-2.0),
        sample(0.0),
        sample([]),
        sample([1.0]),
        sample([1.0, -2.0, 0.0]),
        sample([[1.0, -2.0], [3.0, 0.5]]),
        sample([[[1e-3]]]),
    )


def positive() -> Samples:
    """Points above 0."""
    return (
        sample(1.5),
        sample(0.2),
        sample(1.0),
        sample([]),
        sample([1.0]),
        sample([1.0, 2.0, 30.0]),
        sample([[1.0, 2.0], [3.0, 0.5]]),
        sample([[[4.0]]]),
    )


def below_one() -> Samples:
    """Points between -1 and 1."""
    return (
        sample(0.3),
        sample(-0.5),
        sample(0.0),
        sample([]),
        sample([0.9]),
        sample([[0.0, 0.25], [-0.75, 0.8]]),
        sample([1e-3, -1e-3, 0.7]),
        sample([[[-0.4]]]),
    )


def off_whole() -> Samples:
    """Points that are no whole numbers or halves."""
    return (
        sample(1.5001),
        sample(-2.3),
        sample(0.4),
        sample([]),
        sample([-0.7]),
        sample([1.2, -2.6, 0.1]),
        sample([[1.3, -2.7], [3.1, 0.6]]),
        sample([[[100.25]]]),
    )


def pairs() -> Samples:
    """Two operands that differ, broadcast in every way."""
    return (
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, -3.0]),
        sample([[1.0, -2.0], [3.0, 0.25]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.5, 4.0]]),
        sample([1.0, 2.0], 3.0),
        sample(2.0, [[-0.5]]),
        sample([], []),
        sample([[[-3.0]]], [3.5]),
    )


def quotients() -> Samples:
    """Two operands whose quotient is no whole number."""
    return (
        sample(5.0, 3.0),
        sample(-5.0, 3.0),
        sample(5.0, -3.0),
        sample([7.5, -7.5], [2.0, -2.0]),
        sample([[7.0, -2.0], [3.0, 0.5]], [4.5, 1.7]),
        sample([[1.0], [2.0]], [[0.3, 1.3, 4.0]]),
        sample(2.0, [[0.7]]),
        sample([], 2.0),
    )


def powers() -> Samples:
    """A positive operand and any other."""
    return (
        sample([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]),
        sample(1.5, 2.5),
        sample(1.5, -2.0),
        sample([1.0, 2.0], [0.5, 3.0]),
        sample([[1.0, 2.0], [3.0, 0.25]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
        sample([1.0, 2.0], 3.0),
        sample(2.0, [[0.5]]),
        sample([], []),
    )


def weights() -> Samples:
    """Any operand, also 0, and a positive one."""
    return (
        sample(1.5, 2.0),
        sample([1.0, -2.0], [0.5, 3.0]),
        sample([[1.0, -2.0], [3.0, 0.0]], [0.5, 1.0]),
        sample([[1.0], [2.0]], [[0.5, 1.0, 4.0]]),
        sample([1.0, 2.0], 3.0),
        sample(-2.0, [[0.5]]),
        sample([], []),
        sample(0.0, 2.0),
    )


def scaled_triples() -> Samples:
    """Three operands and the parameter `value`."""
    return (
        sample(1.0, 3.0, 0.25),
        sample(1.0, 3.0, -0.75, value=2),
        sample([1.0, 2.0], [0.5, -3.0], 0.3),
        sample([1.0, 2.0], [0.5, -3.0], [0.3, 1.5], value=-0.5),
        sample([[1.0], [2.0]], [0.5, 1.0, 4.0], [[0.1], [0.9]]),
        sample(1.0, [[2.0]], 4.0),
        sample([2.0], [2.0], [1.0]),
        sample([], [], 0.5),
    )


def off_corners() -> Samples:
    """Points of either sign away from the corners of activations."""
    return (
        sample(0.3),
        sample(-0.3),
        sample(1e-3),
        sample([1.25, -2.0]),
        sample([[0.25, -1.5], [-2.2, 9.0]]),
        sample([3.5]),
        sample([]),
        sample([[[-1.2], [30.0]]]),
    )


def no_dimension() -> tuple[Bad, ...]:
    """A dimension that a matrix does not have."""
    return (bad((2, 3), dim=2, says="no dimension 2"),)
