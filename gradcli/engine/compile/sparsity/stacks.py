"""Stacks of a typed program while it is followed.

What one of two sides pushes, nobody knows which, becomes one frame: its values are joined place by
place, counted from the top. The branch that goes back takes the frame as a whole. Turns whose
number nobody knows leave one frame without an end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any, TypeAlias

Values: TypeAlias = tuple[Any, ...]
Joined: TypeAlias = Callable[[Any, Any], Any]

_PUSHED, _JOINED, _ENDLESS = range(3)


class Unfollowed(Exception):
    """A program cannot be followed: the pushes and pops of its paths do not fit together."""


class _Frame:
    """Values that were pushed, the last one last, and of which kind they are: of one push, joined
    from two sides, or standing for any number of pushes.
    """

    __slots__ = ("kind", "pushed")

    def __init__(self, pushed: Sequence[Values], kind: int = _PUSHED) -> None:
        self.pushed = pushed
        self.kind = kind


class Stacks:
    """All stacks of a program."""

    def __init__(self) -> None:
        self._own: dict[int, list[_Frame]] = defaultdict(list)

    def push(self, stack: int, values: Values) -> None:
        """Push values."""
        self._own[stack].append(_Frame((values,)))

    def push_endless(self, stack: int, values: Values) -> None:
        """Push values any number of times."""
        self._own[stack].append(_Frame((values,), _ENDLESS))

    def pop(self, stack: int) -> Values:
        """Take the values from the top.

        Raises:
            Unfollowed: If nobody knows which they are.
        """
        own = self._own[stack]
        if not own or own[-1].kind != _PUSHED:
            raise Unfollowed
        return own.pop().pushed[0]

    def pop_endless(self, stack: int) -> Values:
        """Take what any number of turns has pushed."""
        own = self._own[stack]
        if not own or own[-1].kind != _ENDLESS:
            raise Unfollowed
        return own.pop().pushed[0]

    def is_endless(self, stack: int) -> bool:
        """True if any number of turns has pushed what is at the top."""
        top = self.frame(stack, 0)
        return top is not None and top.kind == _ENDLESS

    def depth(self, stack: int) -> int:
        """The number of frames that were pushed here."""
        return len(self._own[stack])

    def cut(self, stack: int, depth: int) -> None:
        """Drop what has been pushed above a depth."""
        if len(self._own[stack]) < depth:
            raise Unfollowed
        del self._own[stack][depth:]

    def frame(self, stack: int, depth: int) -> _Frame | None:
        """The frame at a depth, which is 0 at the top; None if there is none."""
        own = self._own[stack]
        return own[-1 - depth] if depth < len(own) else None

    def drop(self, stack: int, count: int) -> None:
        """Drop frames from the top."""
        own = self._own[stack]
        del own[len(own) - count :]

    def settle(self, then: Side, orelse: Side, joined: Joined) -> None:
        """Do what two sides have done, of which one is taken.

        Raises:
            Unfollowed: If they do not leave these stacks alike.
        """
        for stack in {*then.touched, *orelse.touched}:
            taken = max(then.taken[stack], orelse.taken[stack])
            then.hold_done(stack, taken)
            orelse.hold_done(stack, taken)
            self.drop(stack, taken)
            (mine, is_endless), (others, are_endless) = then.pushed(stack), orelse.pushed(stack)
            values = [_joined(a, b, joined) for a, b in zip_longest(mine, others)]
            if values:
                kind = _ENDLESS if is_endless or are_endless else _JOINED
                self._own[stack].append(_Frame(values[::-1], kind))


class Side(Stacks):
    """The stacks as one of two sides sees them. Those below do not change.

    Fields:
        taken: for each stack, how many frames below it has taken as a whole.
    """

    def __init__(self, below: Stacks) -> None:
        super().__init__()
        self._below = below
        self.taken: dict[int, int] = defaultdict(int)
        self._inside: dict[int, int] = defaultdict(int)  # values taken from the next frame

    @property
    def touched(self) -> set[int]:
        """The stacks that it has changed."""
        return {*self._own, *self.taken, *self._inside}

    def pop(self, stack: int) -> Values:
        if self._own[stack]:
            return super().pop(stack)
        frame = self._below.frame(stack, self.taken[stack])
        if frame is None or frame.kind == _ENDLESS:
            raise Unfollowed
        self._inside[stack] += 1
        values = frame.pushed[-self._inside[stack]]
        if self._inside[stack] == len(frame.pushed):
            self._inside[stack] = 0
            self.taken[stack] += 1
        return values

    def pop_endless(self, stack: int) -> Values:
        if self._own[stack]:
            return super().pop_endless(stack)
        frame = self._below.frame(stack, self.taken[stack])
        if frame is None or frame.kind != _ENDLESS:
            raise Unfollowed
        self.taken[stack] += 1
        return frame.pushed[0]

    def frame(self, stack: int, depth: int) -> _Frame | None:
        own = len(self._own[stack])
        if depth < own:
            return super().frame(stack, depth)
        return self._below.frame(stack, depth - own + self.taken[stack])

    def drop(self, stack: int, count: int) -> None:
        own = min(count, len(self._own[stack]))
        super().drop(stack, own)
        self.taken[stack] += count - own

    def hold_done(self, stack: int, taken: int) -> None:
        """Refuse a side that has not come to the end of so many frames below. It may have left
        values to the other side that only this has pushed.
        """
        left = taken - self.taken[stack]
        if left == 0 and not self._inside[stack]:
            return
        frame = self._below.frame(stack, self.taken[stack])
        if left != 1 or frame is None or frame.kind == _PUSHED:
            raise Unfollowed

    def pushed(self, stack: int) -> tuple[list[Values], bool]:
        """The values that it has pushed, the last first, and True if any number of times.

        Raises:
            Unfollowed: If there are others beside those.
        """
        own = self._own[stack]
        endless = any(frame.kind == _ENDLESS for frame in own)
        if endless and len(own) > 1:
            raise Unfollowed
        return [values for frame in reversed(own) for values in reversed(frame.pushed)], endless


def _joined(a: Values | None, b: Values | None, joined: Joined) -> Values:
    """The values that one side has pushed, or the other."""
    if a is None or b is None:
        return a or b or ()
    return tuple(map(joined, a, b))
