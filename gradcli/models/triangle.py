"""Residuals and their Jacobian at a point, reduced to a triangle block by block.

The QR factors of [J r] hold all that a step, its end and the errors need: J'J = R'R, J'r = R'z, and
the sum of squares is |z|^2 + rest^2. J'J itself is never formed, since that squares the condition.

Source: Bjorck, Numerical Methods for Least Squares Problems (1996), sections 2.4 and 6.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from math import hypot, sqrt
from sys import float_info
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

_MOST = 1e13
"""The most condition at which a direction counts as told: of exactly collinear models 3 % stay
below 1/eps."""
_TOGETHER = 8192  # numbers of a matrix that LAPACK factors by one thread
_FLAT = 1e-13  # of a sum of squares
_LARGEST = 1e150  # its square is finite
_PART = 0.01  # of a direction: a parameter with less is not part of it


class Triangle:
    """The triangular factor of residuals and their Jacobian at a point.

    Fields:
        r: The factor of the Jacobian, p rows and columns.
        z: The residuals along its columns, p numbers.
        rest: The length of the residuals beside them.
        count: How many residuals there are, n.
    """

    def __init__(self, r: Array, z: Array, rest: float, count: int) -> None:
        self.r, self.z, self.rest, self.count = r, z, rest, count

    @property
    def rows(self) -> Array:
        """The factor of the Jacobian and the residuals together, p + 1 rows and columns."""
        last = np.append(np.zeros(len(self.r)), self.rest)
        return np.concatenate([np.column_stack([self.r, self.z]), last[None]])

    @cached_property
    def squares(self) -> float:
        """The sum of the squares of the residuals."""
        return float(self.z @ self.z) + self.rest**2

    @property
    def is_flat(self) -> bool:
        """True if no step can lower the sum of squares by more than its rounding."""
        return self.tangential**2 <= _FLAT * self.squares

    @property
    def gradient(self) -> Array:
        """Half of the gradient of the sum of squares, J'r."""
        found: Array = self.r.T @ self.z
        return found

    def of(self, chosen: Mask) -> Triangle:
        """The triangle of some parameters alone; the others stay where they are."""
        if chosen.all():
            return self
        whole = np.column_stack([self.r[:, chosen], self.z])
        width = whole.shape[1] - 1
        found = _factor(whole, width + 1)
        rest = hypot(float(found[width, width]), self.rest)
        return Triangle(found[:width, :width], found[:width, width], rest, self.count)

    @cached_property
    def directions(self) -> Directions:
        """The directions of the parameters, with what the data tell of each."""
        return Directions(self.r, self.count)

    def step(self) -> Array:
        """The step of Gauss and Newton to the least sum of squares; zero along directions that the
        data do not tell.
        """
        known = self.directions
        turned = known.left.T @ self.z
        return -known.back(np.where(known.is_told, turned, 0.0) / known.lengths)

    @cached_property
    def tangential(self) -> float:
        """The length of the residuals along the directions that the data tell, |Q'r|."""
        known = self.directions
        along = (known.left.T @ self.z)[known.is_told]
        return sqrt(float(along @ along))


class Directions:
    """The singular directions of a triangle whose columns are scaled to length one.

    Fields:
        scales: The lengths of the columns; 1 for a column of zeros.
        lengths: The singular values; 1 where a direction is not told.
        left: The left vectors, in columns.
        right: The right vectors, in rows.
        is_told: True where the data tell a direction.
        condition: The largest singular value over the smallest; inf with a column of zeros.
    """

    def __init__(self, r: Array, count: int) -> None:
        found = np.sqrt((r * r).sum(axis=0))
        self.is_zero: Mask = ~(found > 0.0)
        self.scales: Array = np.where(self.is_zero, 1.0, found)
        self.left, lengths, self.right = np.linalg.svd(r / self.scales)
        most = float(lengths[0]) if len(lengths) else 1.0
        limit = min(1.0 / (max(count, len(r)) * float_info.epsilon), _MOST)
        self.is_told: Mask = lengths * limit > most
        self.lengths: Array = np.where(self.is_told, lengths, 1.0)
        least = float(lengths[-1]) if len(lengths) else 1.0
        self.condition = most / least if least > 0.0 else float("inf")

    @property
    def untold(self) -> Mask:
        """The parameters that have a part in a direction which the data do not tell."""
        parts = np.abs(self.right[~self.is_told])
        found: Mask = self.is_zero | (parts > _PART).any(axis=0)
        return found

    def back(self, along: Array) -> Array:
        """The parameters' changes from changes along the directions."""
        found: Array = (self.right.T @ along) / self.scales
        return found

    def covariance(self) -> Array:
        """The inverse of J'J, on the directions that are told."""
        rows = (self.right.T * np.where(self.is_told, 1.0 / self.lengths, 0.0)) / self.scales[
            :, None
        ]
        found: Array = rows @ rows.T
        return found


def triangle(blocks: Iterable[tuple[Array, Array]], width: int) -> Triangle | None:
    """The triangle of blocks of residuals and Jacobians; None if a number in them, or its square,
    is not finite.

    Args:
        blocks: Residuals, shape (m,), and Jacobians, shape (m, width), in turn.
        width: How many parameters there are.
    """
    found: Array | None = None
    count = 0
    for residuals, jacobian in blocks:
        block = np.concatenate([jacobian, residuals[:, None]], 1)
        if not (np.abs(block) < _LARGEST).all():
            return None
        more = _reduced(block)
        found = _factor(more if found is None else np.concatenate([found, more]), 0)
        count += len(residuals)
    return _triangle(np.zeros((0, width + 1)) if found is None else found, count)


def joined(parts: Iterable[Triangle | None], width: int) -> Triangle | None:
    """The triangle of all parts, joined in their order; None if one is None.

    Args:
        parts: The triangles of the parts.
        width: How many parameters there are.
    """
    found = np.zeros((0, width + 1))
    count = 0
    for part in parts:
        if part is None:
            return None
        found = _factor(np.concatenate([found, part.rows]), 0) if count else part.rows
        count += part.count
    return _triangle(_padded(found, width + 1), count)


def _triangle(found: Array, count: int) -> Triangle:
    width = found.shape[1] - 1
    rows = _padded(found, width + 1)
    return Triangle(
        rows[:width, :width], rows[:width, width], abs(float(rows[width, width])), count
    )


def _reduced(block: Array) -> Array:
    """The triangles of pieces of a block, below each other. Pieces are so small that LAPACK takes
    one thread for each, so that the digits do not depend on the number of threads.
    """
    length, width = block.shape
    each = max(_TOGETHER // width, 2 * width)
    whole = length // each
    if whole < 2:
        return block
    cut = whole * each
    several: Array = np.linalg.qr(block[:cut].reshape(whole, each, width), mode="r")  # type: ignore[assignment]  # of this mode
    return np.concatenate([several.reshape(-1, width), block[cut:]])


def _factor(whole: Array, width: int) -> Array:
    """The triangular factor of a matrix, with rows of zeros up to a width."""
    rows: Array = np.linalg.qr(whole, mode="r")  # type: ignore[assignment]  # of this mode
    return _padded(rows, width)


def _padded(rows: Array, width: int) -> Array:
    """A triangle with rows of zeros for those that fewer residuals than parameters leave out."""
    missing = width - len(rows)
    return rows if missing <= 0 else np.concatenate([rows, np.zeros((missing, width))])
