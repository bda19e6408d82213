"""A program as a function of arrays: its value and derivative at one point or at many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, InputError, ProgramError
from gradcli.ir.program import Build, Input, Instruction, Operand, Slot
from gradcli.questions.answers.gradient import gradient
from gradcli.questions.answers.matrix import jacobian
from gradcli.questions.asked.names import candidates, requested
from gradcli.questions.asked.request import Options, Request, not_compiled, request
from gradcli.questions.coded.compiled import Compiled
from gradcli.results import GradResult, JacobianResult

if TYPE_CHECKING:
    from gradcli.questions.asked.loaded import Loaded
    from gradcli.questions.jit import Jit


class Function:
    """Value and derivative of a program's result, by code that is made once.

    It is called with the values of the names that it is differentiated by. They lie along the last
    axis: one for each name, or for each element of a tensor. Other inputs are keywords. A further
    axis in front counts points; an argument without it is the same for all points. Several threads
    may call it at once.

    Fields:
        names: The names that it is differentiated by, in their order.
    """

    def __init__(
        self,
        program: Any,
        loaded: Loaded,
        jit: Jit,
        wrt: str | Sequence[str] | None,
        of: str | None,
    ) -> None:
        inputs = {i.name: i for i in loaded.program.inputs}
        if wrt is None:
            self.names = tuple(name for name in candidates(loaded.program) if name in inputs)
        else:
            self.names = tuple(requested(loaded.program, wrt))
        for name in self.names:
            if name not in inputs:
                raise ProgramError(not_compiled(f"`{name}` is computed and cannot be given", None))
        self._program, self._jit, self._of = program, jit, of
        self._question: Any = gradient
        self._shapes = {name: declared(i) for name, i in inputs.items()}
        self._sizes = [math.prod(self._shapes[name]) for name in self.names]
        given = {*self.names, *(n for n, i in inputs.items() if i.default is None)}
        try:
            self._code(given)
        except ProgramError:
            self._question = jacobian  # of a result that is several numbers
            self._code(given)

    def __reduce__(self) -> Any:
        return _again, (self._program, self.names, self._of)

    def __call__(self, x: Any, /, **inputs: Any) -> tuple[Any, Any]:
        """Value and derivative.

        Args:
            x: Values of `names`, one each along the last axis, of a tensor its elements in their
                order; of a single name a number, too.
            **inputs: Values of other inputs, or arrays with one for each point.

        Returns:
            The value, a float, or an array with one for each point; of a result that is a list or a
            tensor with its items or axes behind. The derivative, which has one more axis behind,
            for the names.

        Raises:
            InputError: If the arguments do not fit.
            GradError: As of `Program.grad`, at the first point at which the program fails.
        """
        given, count = self._columns(x, inputs)
        asked, code = self._code(given.keys())
        columns, fit = code.columns(given)
        numbers, left = code.arrays(asked, columns, len(fit))
        if code.is_whole:
            each = [self._point(code.result([x[i] for x in numbers])) for i in range(len(fit))]
            value, slopes = (np.stack(parts) for parts in zip(*each, strict=True))
        else:
            value, slopes = self._parts(code.result(numbers))
        for i in np.flatnonzero(left | ~fit).tolist():
            point = {name: column[i].tolist() for name, column in given.items()}
            value[i], slopes[i] = self._point(self._interpreted(point))
        if count is None:
            return (value[0] if value.ndim > 1 else value[0].item()), slopes[0]
        return value, slopes

    def value(self, x: Any, /, **inputs: Any) -> Any:
        """The value alone. Arguments as of a call."""
        return self(x, **inputs)[0]

    def derivative(self, x: Any, /, **inputs: Any) -> Any:
        """The derivative alone. Arguments as of a call."""
        return self(x, **inputs)[1]

    def _code(self, given: Iterable[str]) -> tuple[Request, Compiled]:
        like = {name: np.zeros(self._shapes[name]) for name in given if name in self._shapes}
        asked = request(like, {}, Options(), wrt=self.names, of=self._of)
        return asked, self._jit.made(self._question, asked)

    def _columns(self, x: Any, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
        """An array for each input, with a value for each point; None of one point alone."""
        points, width = np.asarray(x, np.float64), sum(self._sizes)
        if points.ndim == 0 and width == 1:
            points = points.reshape(1)
        if points.ndim not in (1, 2) or points.shape[-1] != width:
            shape = list(points.shape)
            message = f"there are {width} numbers to differentiate by, got shape {shape}"
            raise InputError(Diagnostic("shape-mismatch", message))
        parts = np.split(points, np.cumsum(self._sizes)[:-1], -1)
        found = {
            name: part.reshape((*points.shape[:-1], *self._shapes[name]))
            for name, part in zip(self.names, parts, strict=True)
        }
        found |= {name: np.asarray(value) for name, value in inputs.items()}
        own = {name: self._shapes.get(name, ()) for name in found}
        try:
            if any(c.shape[c.ndim - len(own[n]) :] != own[n] for n, c in found.items()):
                raise ValueError("an argument has not the shape of its input")
            heads = [c.shape[: c.ndim - len(own[n])] for n, c in found.items()]
            size: tuple[int, ...] | None = np.broadcast_shapes(*heads)
        except ValueError:
            size = None
        if size is None or len(size) > 1:
            shapes = ", ".join(f"{n} {list(column.shape)}" for n, column in found.items())
            message = f"the arguments are of no one number of points: {shapes}"
            raise InputError(Diagnostic("shape-mismatch", message))
        count = size[0] if size else None
        columns = {n: np.broadcast_to(c, (count or 1, *own[n])) for n, c in found.items()}
        return columns, count

    def _parts(self, found: Any) -> tuple[Any, Any]:
        """Values and derivatives of many points. Each number is an array, with the axis of points
        in front and the names last.
        """
        by_name = found.grad if isinstance(found, GradResult) else found.jacobian
        value = np.asarray(found.value)
        behind = by_name is not getattr(found, "grad", None)  # the axes of a tensor
        sizes = zip(self.names, self._sizes, strict=True)
        parts = [_flat(np.asarray(by_name[n]), value.shape, size, behind) for n, size in sizes]
        slopes = np.concatenate(parts, -1)
        if value.ndim == 2:
            return value.T.copy(), np.moveaxis(slopes, 0, 1).copy()
        return value.copy(), slopes

    def _point(self, found: Any) -> tuple[Any, Any]:
        """Value and derivative of one point, which has the names behind."""
        by_name = found.grad if isinstance(found, GradResult) else found.jacobian
        value = np.asarray(found.value)
        sizes = zip(self.names, self._sizes, strict=True)
        parts = [np.reshape(by_name[n], (*value.shape, size)) for n, size in sizes]
        return value, np.concatenate(parts, -1)

    def _interpreted(self, point: Mapping[str, float]) -> GradResult | JacobianResult:
        ask = self._program.grad if self._question is gradient else self._program.jacobian
        options = Options(compile="never")
        found: GradResult | JacobianResult = ask(
            point, wrt=self.names, of=self._of, options=options
        )
        return found


def declared(i: Input) -> tuple[int, ...]:
    """The declared shape of an input; one without a declared shape is a number."""
    sizes = None if i.type is None else i.type[1]
    if sizes is not None:
        known = tuple(size for size in sizes if isinstance(size, int))
        return known if len(known) == len(sizes) else ()
    return _built(i.default, i.body) if i.type is None else ()


def _built(x: Operand | None, body: Sequence[Instruction]) -> tuple[int, ...]:
    """The shape of a list that is written out."""
    for place in reversed(range(len(body))):  # a slot is used again: the last counts
        made = body[place]
        if isinstance(x, Slot) and getattr(made, "target", None) == x.index:
            if not isinstance(made, Build) or made.kind != "list":
                return ()
            first = made.items[0] if made.items else None
            return len(made.items), *_built(first, body[:place])
    return ()


def _flat(part: Any, head: tuple[int, ...], size: int, behind: bool) -> Any:
    """A derivative by a name. The name's elements are the last axis, after those of the value."""
    if behind:
        return part.reshape(*head, size)
    return np.moveaxis(part.reshape(size, *head), 0, -1)


def _again(program: Any, names: Sequence[str], of: str | None) -> Function:
    made: Function = program.compile(names, of=of)
    return made
