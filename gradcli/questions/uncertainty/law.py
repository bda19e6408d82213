"""The law of propagation of uncertainty at first and second order.

With C the covariance of the inputs, g and H gradient and Hessian, the variance is g'Cg at first
order, and at second order g'Cg + tr(HCHC)/2 + g'C grad(tr HC), which holds for normal inputs; the
mean is tr(HC)/2 away from the value. C is a square, of directions: d_k, the columns of its root. So
all sums need only the gradient's first and second derivative along each of them.

The same functions serve numbers and the symbols that code is made of, so that both have the same
bits.

Source: JCGM 100:2008, 5.1.2 with its note; Mekid and Vaja, Measurement 41 (2008) 600.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf, prod
from typing import Any

from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.ops.catalog import ops
from gradcli.engine.tape.graph import Node
from gradcli.engine.values.data import Data, np
from gradcli.questions.uncertainty.joint import Joint, Matrix
from gradcli.record import Record

FEW = 16  # numbers with an uncertainty that are taken one by one
DIFFERENCE = 0.05  # of the uncertainty, by which the orders may differ
SHIFT = 0.1  # of the uncertainty, by which the mean may be away from the value
LOW, HIGH, LINEAR, FACTOR, DOF = 5, 6, 7, 9, 10
LEAD = 11
"""How many numbers of a result stand before those of the inputs, five each; and places of some."""

Direction = dict[int, Any]
"""A direction: its parts by the places of the inputs, without zeros."""


def directions(uncertainties: Sequence[Any], factor: Matrix | None) -> list[Direction]:
    """The columns of the root of the covariance of inputs."""
    if factor is None:
        return [{k: u} for k, u in enumerate(uncertainties)]
    pairs = [*enumerate(zip(uncertainties, factor, strict=True))]
    return [{i: ops.mul(u, row[k]) for i, (u, row) in pairs if row[k]} for k in range(len(factor))]


class Change(Record):
    """The derivatives of a result that the law needs.

    Fields:
        slopes: The gradient.
        bends: For each direction, its derivative along it.
        turns: For each direction, its second derivative along it.
    """

    __slots__ = ("slopes", "bends", "turns")
    slopes: Sequence[Any]
    bends: Sequence[Sequence[Any]]
    turns: Sequence[Sequence[Any]]


class Sums(Record):
    """What the law says of a result.

    Fields:
        first, second: Its variance at either order.
        shift: How far its mean is away from its value.
        covariances: Its covariance with each input, at first order.
    """

    __slots__ = ("first", "second", "shift", "covariances")
    first: Any
    second: Any
    shift: Any
    covariances: Sequence[Any]


def sums(along: Sequence[Direction], change: Change) -> Sums:
    """The sums of the law over directions."""
    slopes = [_dot(d, change.slopes) for d in along]
    first = _total([ops.mul(s, s) for s in slopes])
    bends = [[_dot(d, bend) for d in along] for bend in change.bends]
    trace = _total([row[k] for k, row in enumerate(bends)])
    square = _total([ops.mul(b, b) for row in bends for b in row])
    covariances = [
        _total([ops.mul(d[i], s) for d, s in zip(along, slopes, strict=True) if i in d])
        for i in range(len(change.slopes))
    ]
    turn = _total(
        [ops.mul(c, q) for row in change.turns for c, q in zip(covariances, row, strict=True)]
    )
    second = ops.add(ops.add(first, ops.mul(0.5, square)), turn)
    return Sums(first, second, ops.mul(0.5, trace), covariances)


def numbers(
    value: Any,
    inputs: Sequence[Any],
    uncertainties: Sequence[Any],
    slopes: Sequence[Any],
    found: Sums,
    factor: float,
    joint: Joint,
) -> list[Any]:
    """The numbers of a result: value, uncertainty, that of first and of second order, shift of the
    mean, both ends of the interval, whether both orders agree, the variance of first order, the
    coverage factor and degrees of freedom; then for each input its value, uncertainty, sensitivity,
    contribution and share of that variance. `report.covered` has the ends for finite degrees of
    freedom.

    Args:
        value: The value.
        inputs: The values of the inputs.
        uncertainties: Their standard uncertainties.
        slopes: The gradient.
        found: The sums of the law.
        factor: The coverage factor of the normal distribution.
        joint: The uncertainties: if they are not normal, the first order is the answer.
    """
    first, second = ops.sqrt(found.first), ops.sqrt(found.second)
    uncertainty = second if joint.are_normal else first
    wide = ops.mul(factor, uncertainty)
    near = ops.le(ops.abs(ops.sub(second, first)), ops.mul(DIFFERENCE, first))
    centred = ops.le(ops.abs(found.shift), ops.mul(SHIFT, uncertainty))
    ends = (ops.sub(value, wide), ops.add(value, wide))
    linear = ops.logical_and(near, centred)
    lead = [value, uncertainty, first, second, found.shift, *ends, linear, found.first]
    lead += [factor, effective_dof(joint, slopes, found)]
    several = zip(inputs, uncertainties, slopes, found.covariances, strict=True)
    for x, u, slope, covariance in several:
        part = ops.div(ops.mul(slope, covariance), found.first)
        lead += [x, u, slope, ops.mul(ops.abs(slope), u), part]
    return lead


def effective_dof(joint: Joint, slopes: Sequence[Any], found: Sums) -> Any:
    """The degrees of freedom of a result's uncertainty by the formula of Welch and Satterthwaite; 0
    for unlimited ones, nan or infinite where none of the limited ones has a part in it.

    Source: JCGM 100:2008, G.4.1.
    """
    if joint.groups is None or not joint.has_finite:
        return 0.0
    parts = []
    for places, dof in joint.groups:
        if dof != inf:
            variance = _total([ops.mul(slopes[k], found.covariances[k]) for k in places])
            share = ops.div(variance, found.first)
            parts.append(ops.div(ops.mul(share, share), dof))
    return ops.div(1.0, _total(parts))


def _dot(d: Direction, row: Sequence[Any]) -> Any:
    return _total([ops.mul(part, row[i]) for i, part in d.items()])


def _total(terms: Sequence[Any]) -> Any:
    return reduce(ops.add, terms) if terms else 0.0


# by the interpreter -------------------------------------------------------------------------------


def few(slopes: Slopes, uncertainties: Sequence[float], factor: Matrix | None, mode: str) -> Sums:
    """The sums for a recorded gradient, direction by direction."""
    along = directions(uncertainties, factor)
    bends, turns = [], []
    for d in along:
        dots = _dots(slopes, d)
        bend = slopes.along(dots, mode)
        bends.append(flat(bend))
        turns.append(flat(bend.along(dots, mode)))
    return sums(along, Change(flat(slopes), bends, turns))


def many(slopes: Slopes, uncertainties: Sequence[float], matrix: Matrix | None) -> Sums:
    """The sums for a recorded gradient by whole blocks of the matrix of second derivatives; without
    correlations in the memory of some of its columns.
    """
    u, g = np.array(uncertainties), np.array(flat(slopes))
    scaled = u * g if matrix is None else np.array(matrix) @ (u * g)
    covariances = u * scaled
    turned = slopes.along(_dots(slopes, dict(enumerate(covariances.tolist()))), "forward")
    trace = square = turn = 0.0
    if matrix is None:
        for start, block in slopes.columns():
            place, part = np.arange(len(block)), block * u * u[start : start + len(block), None]
            trace += float(part[place, start + place].sum())
            square += float((part * part).sum())
        for start, block in turned.columns():
            place = np.arange(len(block))
            part = block[place, start + place] * u[start : start + len(block)] ** 2
            turn += float(part.sum())
    else:
        bends = _whole(slopes) * u[:, None] * u @ np.array(matrix)
        trace, square = float(np.trace(bends)), float((bends * bends.T).sum())
        turn = float((_whole(turned) * u[:, None] * u * np.array(matrix)).sum())
    first = max(float(u * g @ scaled), 0.0)
    return Sums(first, first + 0.5 * square + turn, 0.5 * trace, covariances.tolist())


def _whole(slopes: Slopes) -> Data:
    return np.concatenate([block for _, block in slopes.columns()])


def flat(slopes: Slopes) -> list[float]:
    """The gradient's numbers, point by point."""
    return [x for part in slopes.data().values() for x in _listed(part)]


def _listed(part: Data) -> list[float]:
    return part.ravel().tolist() if hasattr(part, "ravel") else [part]


def _dots(slopes: Slopes, direction: Direction) -> dict[Node, Any]:
    """A direction by the points that it moves."""
    found, start = {}, 0
    for node, like in slopes.points.items():
        places = range(start, start := start + prod(like.shape))
        if any(i in direction for i in places):
            own = [direction.get(i, 0.0) for i in places]
            found[node] = np.array(own).reshape(like.shape) if like.shape else own[0]
    return found
