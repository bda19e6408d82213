"""A program as a function of one point, whose other inputs have been given once and for all."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError
from gradcli.questions.asked.sizes import split

if TYPE_CHECKING:
    from gradcli.questions.function import Function


class Bound:
    """Value and derivatives at one point. `Function.bind` makes it, with data of its own. Several
    threads may call it at once.

    Fields:
        names: The names that a point is made of, in their order.
    """

    def __init__(self, function: Function, data: Mapping[str, Any]) -> None:
        self.names = function.names
        self._function, self._data = function, data
        self._shape: tuple[int, ...] | None = None
        width = function.width(self._sizes)
        if width is not None:
            self._prepare(width)

    def __reduce__(self) -> Any:
        return Bound, (self._function, self._data)

    def __repr__(self) -> str:
        data = f" with {', '.join(self._data)}" if self._data else ""
        return f"<Bound{data}: {self._function!r}>"

    def __call__(self, x: Any, /, out: Any = None) -> Any:
        """Value and derivatives at a point.

        Args:
            x: The values of `names`, of tensors their elements in order; of a single number a
                number, too.
            out: An array that takes the derivative; of `order=2` two, for the gradient and the
                Hessian.

        Returns:
            As of a `Function` at one point.

        Raises:
            InputError: If the point has not as many numbers as the names have elements.
            GradError: As of `Program.grad`.
        """
        x = np.asarray(x, np.float64)
        if x.shape != self._shape:
            x = self._fitted(x)
        found = None if self._at is None else self._at(x)
        if found is None:
            found = self._slowly(x)
        answer = self._code.answer(found)
        return answer if out is None else _put(answer, out)

    def value(self, x: Any, /) -> Any:
        """The value alone; no derivative is computed. Arguments as of a call."""
        return self._values(x)

    @cached_property
    def _values(self) -> Bound:
        return Bound(self._function.values, self._data)

    @property
    def _sizes(self) -> dict[str, tuple[int, ...]]:
        return {name: value.shape for name, value in self._data.items()}

    def _prepare(self, width: int) -> None:
        """Make the code for points of so many numbers."""
        self._shapes = self._function.shapes(self._sizes, (width,))
        self._code = self._function.code(self._shapes)
        self._at = self._code.at(self._data)
        self._shape = (width,)

    def _fitted(self, x: Data) -> Data:
        """A point that has not the right shape yet."""
        if self._shape is None and x.ndim == 1:
            self._prepare(x.size)
        if x.ndim == 0 and self._shape == (1,):
            return x.reshape(1)
        if x.shape != self._shape:
            raise InputError(
                Diagnostic("shape-mismatch", self._function.wanted(self._sizes, x.shape))
            )
        return x

    def _slowly(self, x: Data) -> Data:
        """The numbers of the answer where a short call of the code has none: it takes longer, or
        the interpreter has to answer.
        """
        values = {**self._data, **split(x, self.names, self._shapes)}
        found = self._code.once(values)
        return self._function.interpreted(values) if found is None else found


def _put(answer: Any, out: Any) -> Any:
    """An answer whose derivatives have been written into arrays that are there."""
    value, *derivatives = answer
    several = out if isinstance(out, (tuple, list)) else (out,)
    for array, derivative in zip(several, derivatives, strict=True):
        array[...] = derivative
    return value, *several
