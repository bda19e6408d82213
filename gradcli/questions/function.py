"""A program as a function of arrays: its value and derivative at one point or at many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, InputError, ProgramError
from gradcli.questions.gradient import gradient
from gradcli.questions.matrix import jacobian
from gradcli.questions.not_compilable import refusal
from gradcli.questions.prepared import Prepared
from gradcli.questions.request import Options, Request, request
from gradcli.questions.wanted import candidates, named
from gradcli.results import GradResult, JacobianResult

if TYPE_CHECKING:
    from gradcli.questions.compiling import Compiling
    from gradcli.questions.loaded import Loaded


class Function:
    """Value and derivative of a program's result, by code that is made once.

    It is called with the values of the names that it is differentiated by, one each along the last
    axis, and with those of other inputs by their names. An axis in front is one of many points: any
    argument may have it, what does not is the same for all. Several threads may call it at once.

    Fields:
        names: The names that it is differentiated by, in their order.
    """

    def __init__(
        self,
        program: Any,
        loaded: Loaded,
        compiling: Compiling,
        wrt: str | Sequence[str] | None,
        of: str | None,
    ) -> None:
        inputs = {i.name: i for i in loaded.program.inputs}
        if wrt is None:
            self.names = tuple(name for name in candidates(loaded.program) if name in inputs)
        else:
            self.names = tuple(named(loaded.program, wrt))
        for name in self.names:
            if name not in inputs:
                raise ProgramError(refusal(f"`{name}` is computed and cannot be given", None))
        self._program, self._compiling, self._of = program, compiling, of
        self._question: Any = gradient
        given = {*self.names, *(n for n, i in inputs.items() if i.default is None)}
        try:
            self._code(given)
        except ProgramError:
            self._question = jacobian  # of a result that is several numbers
            self._code(given)

    def __reduce__(self) -> Any:
        return _again, (self._program, self.names, self._of)

    def __call__(self, x: Any, **inputs: Any) -> tuple[Any, Any]:
        """Value and derivative.

        Args:
            x: Values of `names`, one each along the last axis; of a single name a number, too.
            **inputs: Values of other inputs, numbers or arrays with one for each point.

        Returns:
            The value, a float, or an array with one for each point; of a result that is a list with
            its items along the last axis. The derivative, which has one more axis behind, for the
            names.

        Raises:
            InputError: If the arguments do not fit.
            GradError: As of `Program.grad`, at the first point at which the program fails.
        """
        given, count = self._columns(x, inputs)
        asked, code = self._code(given.keys())
        columns, fit = code.columns(given)
        numbers, left = code.arrays(asked, columns, len(fit))
        value, slopes = self._parts(code.result(numbers))
        for i in np.flatnonzero(left | ~fit).tolist():
            point = {name: column[i].item() for name, column in given.items()}
            value[i], slopes[i] = self._parts(self._interpreted(point))
        if count is None:
            return (value[0] if value.ndim > 1 else value[0].item()), slopes[0]
        return value, slopes

    def value(self, x: Any, **inputs: Any) -> Any:
        """The value alone. Arguments as of a call."""
        return self(x, **inputs)[0]

    def derivative(self, x: Any, **inputs: Any) -> Any:
        """The derivative alone. Arguments as of a call."""
        return self(x, **inputs)[1]

    def _code(self, given: Iterable[str]) -> tuple[Request, Prepared]:
        asked = request(dict.fromkeys(given), {}, Options(), wrt=self.names, of=self._of)
        return asked, self._compiling.made(self._question, asked)

    def _columns(self, x: Any, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], int | None]:
        """An array for each input, with a value for each point; None of one point alone."""
        points, width = np.asarray(x, np.float64), len(self.names)
        if points.ndim == 0 and width == 1:
            points = points.reshape(1)
        if points.ndim not in (1, 2) or points.shape[-1] != width:
            message = f"there are {width} names to differentiate by, got shape {list(points.shape)}"
            raise InputError(Diagnostic("shape-mismatch", message))
        found = {name: points[..., k] for k, name in enumerate(self.names)}
        found |= {name: np.asarray(value) for name, value in inputs.items()}
        try:
            (*size,) = np.broadcast_shapes(*(column.shape for column in found.values()))
        except ValueError:
            size = [0, 0]
        if len(size) > 1:
            shapes = ", ".join(f"{n} {list(column.shape)}" for n, column in found.items())
            message = f"the arguments are of no one number of points: {shapes}"
            raise InputError(Diagnostic("shape-mismatch", message))
        count = size[0] if size else None
        columns = {n: np.broadcast_to(column, (count or 1,)) for n, column in found.items()}
        return columns, count

    def _parts(self, found: Any) -> tuple[Any, Any]:
        """Value and derivative with the axis of points in front, the names behind."""
        by_name = found.grad if isinstance(found, GradResult) else found.jacobian
        slopes = np.stack([np.asarray(by_name[name]) for name in self.names], -1)
        value = np.asarray(found.value)
        if value.ndim == 2:
            return value.T.copy(), np.moveaxis(slopes, 0, 1).copy()
        return value.copy(), slopes

    def _interpreted(self, point: Mapping[str, float]) -> GradResult | JacobianResult:
        ask = self._program.grad if self._question is gradient else self._program.jacobian
        options = Options(compile="never")
        found: GradResult | JacobianResult = ask(
            point, wrt=self.names, of=self._of, options=options
        )
        return found


def _again(program: Any, names: Sequence[str], of: str | None) -> Function:
    made: Function = program.compile(names, of=of)
    return made
