"""The elements of an argument that each element of an op's result depends on.

All of it follows from the op's entry. An op that works on each element by itself says so. The rule
of a linear op reads no value, so that it can be tried: if each element of the result comes from one
element of the argument, or each element of the argument goes to one of the result, numbers in their
places show which. Of any other op the elements meet along the dimensions that its entry or its
parameter `dim` names. Without these it is dense: each element of its result depends on all of the
argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from gradcli.engine.compile.sparsity.sets import Array
from gradcli.engine.values.carrier import like_of
from gradcli.engine.values.data import Data, dtype_of, np, shape_of
from gradcli.engine.values.sizes import axes
from gradcli.record import Record

_CLOSE = 1e-9  # relative; a wrong guess is off by the order of one


class Passage(Record):
    """How sets pass from an argument to a result.

    Fields:
        into: the group of each element of the argument, -1 for none; None if each is its own.
        groups: the number of groups.
        out_of: the group that each element of the result gets its set from, -1 for none; None if
            each gets that of its number.
        kind: "moved" if numbers in the places of the elements show it, "dense" if the op has no
            pattern, so that all elements meet, else "".
    """

    __slots__ = ("into", "groups", "out_of", "kind")
    into: Data | None
    groups: int
    out_of: Data | None
    kind: str

    @property
    def has_any(self) -> bool:
        """True if anything passes."""
        places = self.out_of if self.into is None else self.into
        return places is None or bool((places >= 0).any())

    def passed(self, sets: Array) -> Array:
        """The sets of the result, as far as they come from the argument with these."""
        if self.into is not None:
            sets = sets.into(self.into, self.groups)
        return sets if self.out_of is None else sets.out_of(self.out_of)


_SAME = Passage(None, 0, None, "")


class Use:
    """An op and its arguments, some of which are known.

    Args:
        op: The op.
        args: The values of known arguments; of others, zeros of their shape and dtype; None for
            those that are left out.
        known: Which arguments are known.
        params: The parameters.
        out: Zeros of the shape and dtype of its result; a tuple for several results.
    """

    def __init__(
        self,
        op: Any,
        args: Sequence[Any],
        known: Sequence[bool],
        params: Mapping[str, Any],
        out: Any,
    ) -> None:
        self.op, self.args, self.known, self.params, self.out = op, args, known, params, out
        self.outs = out if type(out) is tuple else (out,)

    def passage(self, k: int, t: int = 0) -> Passage | None:
        """How sets pass from argument number `k` to result number `t`; None if they do not."""
        rules = self.op.derivatives.partials or self.op.derivatives.vjp
        rule = rules[0 if self.op.variadic else k]
        if rule is None or rule == 0.0:
            return None
        size, out = shape_of(self.args[k]), shape_of(self.outs[t])
        if self.op.elementwise:
            return _broadcast(size, out)
        found = self._tried(k, t) if self._is_linear(k) else None
        if found is not None:
            return found if found.has_any else None
        if math.prod(size) == math.prod(out) == 1:
            return _SAME
        along = self._meeting(k, len(size))
        is_alone = len(self.args) == 1
        return (None if along is None else _along(along, size, out, is_alone)) or _dense(size, out)

    def _is_linear(self, k: int) -> bool:
        """True if the rule of an argument reads nothing but ints and bools that are known."""
        tape = self.op.tape
        if tape.saves_out:
            return False
        if self.op.variadic:
            return not any(tape.saves)
        return all(
            self.known[j] and not dtype_of(self.args[j]).startswith("float")
            for j, reads in enumerate(tape.reads[k])
            if reads
        )

    def elsewhere(self, k: int, t: int, found: Passage) -> Passage:
        """The passage of the same op with other ints, from the one with which its elements moved:
        the same elements of the smaller side move, to or from other places.
        """
        if found.into is None:
            numbers = self._pushed(k, t, np.arange(1.0, found.groups + 1))
            return Passage(None, found.groups, numbers.astype(np.int64) - 1, "moved")
        numbers = self._pulled(k, np.arange(1.0, found.groups + 1))
        return Passage(numbers.astype(np.int64) - 1, found.groups, None, "moved")

    def _tried(self, k: int, t: int) -> Passage | None:
        """The passage of a linear op that moves elements, or adds them up."""
        size, out = math.prod(shape_of(self.args[k])), math.prod(shape_of(self.outs[t]))
        if out <= size or type(self.out) is tuple:
            return self._out_of(k, t, size) or self._into(k, out)
        return self._into(k, out) or self._out_of(k, t, size)

    def _out_of(self, k: int, t: int, size: int) -> Passage | None:
        """The passage if each element of the result comes from at most one of the argument."""
        found = _sources(lambda x: self._pushed(k, t, x), size)
        if found is None:
            return None
        places, kind = found
        return _SAME if _is_identity(places, size) else Passage(None, size, places, kind)

    def _into(self, k: int, out: int) -> Passage | None:
        """The passage if each element of the argument goes to at most one of a single result."""
        if type(self.out) is tuple:
            return None
        found = _sources(lambda g: self._pulled(k, g), out)
        if found is None:
            return None
        places, kind = found
        return _SAME if _is_identity(places, out) else Passage(places, out, None, kind)

    def _pushed(self, k: int, t: int, x: Data) -> Data:
        """The result's tangent for a tangent of one argument."""
        dots: list[Any] = [None] * len(self.args)
        dots[k] = _like(self.args[k], x)
        found = self.op.push(dots, self.out, self.args, self.params)
        return _flat(found[t] if type(found) is tuple else found, self.outs[t])

    def _pulled(self, k: int, g: Data) -> Data:
        """The cotangent of one argument for a cotangent of the result."""
        wanted = [j == k for j in range(len(self.args))]
        read = () if self.op.variadic else self.op.tape.reads[k]
        pairs = zip_longest(self.args, read[: len(self.args)], fillvalue=False)
        args = [a if a is None or is_read else like_of(a) for a, is_read in pairs]
        found = self.op.pull(_like(self.out, g), self.out, args, self.params, wanted)[k]
        return _flat(found, self.args[k])

    def _meeting(self, k: int, ndim: int) -> tuple[int, ...] | None:
        """The dimensions of an argument along which its elements meet; None if all may."""
        meets = self.op.derivatives.meets
        if meets:
            return tuple([d % ndim for d in meets[k] if d >= -ndim]) or (0,)
        if "dim" not in self.op.params or len(self.args) != 1:
            return None
        return axes(self.params.get("dim", self.op.defaults.get("dim")), ndim)


def _along(
    along: Sequence[int], size: Sequence[int], out: Sequence[int], is_alone: bool
) -> Passage | None:
    """The passage if elements meet along some dimensions, which the result may lack; None if it has
    another shape. The result of an argument that is alone may have fewer dimensions in the place of
    the last ones, as eigenvalues do; beside others an argument is broadcast.
    """
    slices = tuple(1 if d in along else n for d, n in enumerate(size))
    groups = np.arange(math.prod(slices)).reshape(slices)
    into = np.broadcast_to(groups, size).ravel()
    others = tuple(n for d, n in enumerate(size) if d not in along)
    if is_alone and len(others) < len(out) < len(size):
        if {*along} != {*range(len(others), len(size))}:
            return None
        others += (1,) * (len(out) - len(others))
    for shape in (slices, others):
        try:
            places = np.broadcast_to(groups.reshape(shape), out).ravel()
        except ValueError:
            continue
        return Passage(into, groups.size, places, "")
    return None


def _broadcast(size: Sequence[int], out: Sequence[int]) -> Passage:
    """The passage of an argument that is broadcast."""
    if tuple(size) == tuple(out):
        return _SAME
    count = math.prod(size)
    places = np.broadcast_to(np.arange(count).reshape(size), out).ravel()
    return Passage(None, count, places, "")


def _dense(size: Sequence[int], out: Sequence[int]) -> Passage:
    groups, places = np.zeros(math.prod(size), np.int64), np.zeros(math.prod(out), np.int64)
    return Passage(groups, 1, places, "dense")


def _flat(found: Any, like: Any) -> Data:
    """The elements of a tangent or cotangent of a value; zeros if there is none."""
    return np.zeros(math.prod(shape_of(like))) if found is None else np.ravel(found)


def _is_identity(places: Data, count: int) -> bool:
    return len(places) == count and bool((places == np.arange(count)).all())


def _like(x: Any, flat: Data) -> Any:
    """Numbers in the shape of a value."""
    shape = shape_of(x)
    return flat.reshape(shape) if hasattr(x, "shape") else flat.item()


def _sources(linear: Callable[[Data], Data], count: int) -> tuple[Data, str] | None:
    """The place of the one number that each element of a linear function of `count` numbers comes
    from, -1 if it is always zero, and "moved" if it comes unchanged; None if one comes from
    several.
    """
    weights = linear(np.ones(count))
    numbers = linear(np.arange(1.0, count + 1))
    there = weights != 0
    places = np.full(len(weights), -1)
    places[there] = np.rint(numbers[there] / weights[there]).astype(np.int64) - 1
    if places.max(initial=-1) >= count or places[there].min(initial=0) < 0:
        return None
    random = np.random.default_rng(count).uniform(1.0, 2.0, count)
    wanted = np.where(there, weights * random[places], 0.0) if count else weights
    if not (abs(linear(random) - wanted) <= _CLOSE * abs(wanted)).all():
        return None
    return places, "moved" if (weights[there] == 1.0).all() else ""
