"""The results of a program and their derivatives by its parameters, record by record or at once.

The interpreter answers while that is cheap, then compiled code; both give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import prod
from time import perf_counter
from typing import Any

from gradcli.engine.values.data import Data, np
from gradcli.errors import (
    AssertionFailed,
    Diagnostic,
    GradError,
    InputError,
    ProgramError,
    RunError,
)
from gradcli.questions.asked.request import Options

_BLOCK = 8192  # records that are answered together
_FEW = 64  # as long as there may be code soon
_WORTH = 0.2  # assumed seconds of compiling, with the import of LLVM


class Layout:
    """How a point, a list of numbers, is made of parameters.

    Fields:
        names: The parameters.
        shapes: Their shapes.
        width: How many numbers a point has.
        labels: The name of each number: `a`, `b[0]`, `w[1, 2]`.
    """

    def __init__(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.names = [*shapes]
        self.shapes = dict(shapes)
        self.width = sum(map(prod, shapes.values()))
        self.labels = [
            f"{name}[{', '.join(map(str, place))}]" if shape else name
            for name, shape in shapes.items()
            for place in np.ndindex(*shape)
        ]

    def values(self, point: Data) -> dict[str, Any]:
        """The parameters' values: floats, or nested lists."""
        return {name: part.tolist() for name, part in self.arrays(point).items()}

    def arrays(self, point: Data) -> dict[str, Any]:
        """The numbers of a point by parameter, in its shape."""
        found, at = {}, 0
        for name, shape in self.shapes.items():
            size = prod(shape)
            found[name] = point[at : at + size].reshape(shape)
            at += size
        return found

    def mask(self, names: Sequence[str]) -> Data:
        """True at the numbers of some parameters."""
        return self.joined({n: np.full(s, n in names) for n, s in self.shapes.items()})

    def joined(self, parts: Mapping[str, Any]) -> Data:
        """The numbers of all parameters, one behind the other."""
        return np.concatenate([np.asarray(parts[name]).ravel() for name in self.names])

    def square(self, parts: Mapping[str, Mapping[str, Any]]) -> Data:
        """Second derivatives by two parameters each, as one matrix."""
        return np.concatenate(
            [
                np.concatenate(
                    [np.reshape(parts[n][m], (prod(self.shapes[n]), -1)) for m in self.names], 1
                )
                for n in self.names
            ]
        )


class Asker:
    """A program that is asked for one result and its derivatives, by one or another way; several
    models share it, and so its code.

    Args:
        program: The program.
        of: The top-level name of the result; None for the program's result.
        names: The parameters.
        order: 1 for values and slopes, 2 for second derivatives of a scalar, too.
        options: How to run.

    Fields:
        program, of, order, options: As given.
        spent: The seconds that the interpreter has taken.
        refused: True if there is no code.
        fits: How many fits are asked for, of which the interpreter may make a few.
    """

    def __init__(
        self, program: Any, of: str | None, names: Sequence[str], order: int, options: Options
    ) -> None:
        self.program, self.of, self.order, self.options = program, of, order, options
        self.spent = 0.0
        self.fits = 1
        self.refused = options.compile == "never"
        self._names = names
        self._function: Any = None
        self._twice: Any = None

    @property
    def wants_code(self) -> bool:
        """True if code pays."""
        is_worth = self.options.compile == "always" or self.spent * self.fits > _WORTH
        return not self.refused and is_worth

    def function(self) -> Any:
        """The program as a function, by code.

        Raises:
            ProgramError: If there is none.
        """
        if self._function is None:
            self._function = self.program.compile(self._names, of=self.of, order=self.order)
        return self._function

    def twice(self) -> Any:
        """The program as a function with second derivatives. Errors as of `function`."""
        if self._twice is None:
            self._twice = self.program.compile(self._names, of=self.of, order=2)
        return self._twice


class Model:
    """One result of a program as a function of its parameters, for some data.

    Args:
        asker: Asks the program.
        layout: The parameters that a point is made of.
        constants: Values of other inputs.
        columns: Values of inputs for each record, arrays or `Stored`; with `whole` the columns
            themselves, arrays.
        count: How many records there are.
        whole: True if the program is asked once, with whole columns.

    Fields:
        failed: The first record at which the program failed, with the error; None if there is none.
    """

    def __init__(
        self,
        asker: Asker,
        layout: Layout,
        constants: Mapping[str, Any],
        columns: Mapping[str, Any],
        count: int,
        *,
        whole: bool,
    ) -> None:
        self._asker, self._layout = asker, layout
        self._constants, self._columns, self._count = constants, columns, count
        self._whole = whole
        self._quiet = asker.options.changed(compile="never", explain=False)
        self._code: Callable[[Data, int, int], tuple[Data, ...]] | None = None
        self.failed: tuple[int, GradError] | None = None

    def blocks(
        self, point: Data, part: slice = slice(None)
    ) -> Iterator[tuple[int, tuple[Data, ...]]]:
        """The number of the first record of each block of a part, with the values, shape (m,), and
        the derivatives, shapes (m, p) and with order 2 (m, p, p). Numbers of records at which the
        program fails are nan; the first of them is in `failed`. Blocks are the same whether there
        is code yet or not, so that sums over them have the same digits.

        Raises:
            GradError: If the program cannot be asked at all.
        """
        self.failed = None
        if self._whole:
            yield 0, self._block(point, 0, max(self._count, 1))
            return
        first, last, _ = part.indices(self._count)
        for start in range(first, last, _BLOCK):
            stop = min(start + _BLOCK, last)
            several = [*self._few(point, start, stop)]
            joined = map(np.concatenate, zip(*several, strict=True))
            yield start, several[0] if len(several) == 1 else tuple(joined)

    def _few(self, point: Data, start: int, stop: int) -> Iterator[tuple[Data, ...]]:
        """A block, in small pieces as long as there may be code soon."""
        while start < stop:
            by_code = self._code is not None or self._asker.refused
            end = stop if by_code else min(start + _FEW, stop)
            yield self._block(point, start, end)
            start = end

    def bend(self, point: Data, part: slice, weights: Data) -> Data:
        """The sum of the second derivatives of some records, each times its weight."""
        values = {**self._constants, **self._layout.values(point)}
        if self._whole or not self._columns:
            return self._bent({**values, **self._columns}, weights)
        columns = self._cut(part)
        if len(weights) > _FEW and not self._asker.refused:
            with suppress(ProgramError, RunError, AssertionFailed):
                plain = {name: np.asarray(value) for name, value in self._constants.items()}
                bends = self._asker.twice()(point, **plain, **columns)[2]
                return np.asarray(np.tensordot(weights, bends, 1))
        found = np.zeros((self._layout.width, self._layout.width))
        for k, weight in enumerate(weights.tolist()):
            row = {name: column[k].tolist() for name, column in columns.items()}
            found += self._bent({**values, **row}, weight)
        return found

    def _cut(self, part: slice) -> dict[str, Data]:
        """The columns of some records."""
        return {name: column[part] for name, column in self._columns.items()}

    def _bent(self, given: Mapping[str, Any], weight: Any) -> Data:
        """The second derivatives of one run, weighed, by the interpreter."""
        names, of, program = self._layout.names, self._asker.of, self._asker.program
        options = self._quiet
        found = program.hessian(given, wrt=names, of=of, cotangent=weight, options=options)
        return self._layout.square(found.hessian)

    def over(self, name: str, count: int) -> tuple[Data, Model]:
        """So many values of a column from its least to its largest, and the model there; of a whole
        column its own values, in order.
        """
        column = self._columns[name]
        if self._whole:
            points, count = np.sort(column), len(column)
        else:
            points = np.linspace(column.min(), column.max(), count)
        columns = {name: points}
        made = Model(self._asker, self._layout, self._constants, columns, count, whole=self._whole)
        return points, made

    def _block(self, point: Data, start: int, stop: int) -> tuple[Data, ...]:
        asker = self._asker
        if self._code is None and asker.wants_code:
            self._code = self._compiled()
        if self._code is not None:
            try:
                return self._code(point, start, stop)
            except ProgramError as error:
                if asker.options.compile == "always":
                    raise
                asker.refused, self._code = True, None
                asker.options.remark(error.diagnostics[0])
            except (RunError, AssertionFailed):  # the interpreter tells at which record
                return self._interpreted(point, start, stop)
        begun = perf_counter()
        found = self._interpreted(point, start, stop)
        asker.spent += perf_counter() - begun
        return found

    # --- code --------------------------------------------------------------------------------

    def _compiled(self) -> Callable[[Data, int, int], tuple[Data, ...]]:
        """The code, as a function of a point and the first and last record; making it may fail at
        its first call.
        """
        bound: dict[tuple[int, int], Callable[[Data], Any]] = {}  # the last records
        plain = {name: np.asarray(value) for name, value in self._constants.items()}
        is_one = self._whole or not self._columns

        def prepared(start: int, stop: int) -> Callable[[Data], Any]:
            function = self._asker.function()
            made: Callable[[Data], Any]
            if is_one:
                made = function.bind(**plain, **self._columns)
            else:
                columns = self._cut(slice(start, stop))
                made = function.over(self._layout.width, **plain, **columns)
            return made

        def answered(point: Data, start: int, stop: int) -> tuple[Data, ...]:
            key = start, stop
            if key not in bound:
                bound.clear()
                bound[key] = prepared(start, stop)
            with np.errstate(all="ignore"):
                return self._many(bound[key](point))

        return answered

    def _many(self, found: Any) -> tuple[Data, ...]:
        """Value and derivatives of several results; one result is a list of one."""
        value, *more = found
        width = self._layout.width
        value = np.atleast_1d(np.asarray(value, np.float64))
        if value.ndim > 1:
            raise self._not_one(value.shape)
        shapes = ((width,), (width, width))
        pairs = zip(more, shapes, strict=False)
        return value, *(np.asarray(part).reshape(len(value), *shape) for part, shape in pairs)

    # --- the interpreter -----------------------------------------------------------------------

    def _interpreted(self, point: Data, start: int, stop: int) -> tuple[Data, ...]:
        values = {**self._constants, **self._layout.values(point)}
        if self._whole or not self._columns:
            found = self._asked({**values, **self._columns}, 0)
            if found is not None:
                return self._many(found)
            return self._none()
        answers = []
        columns = self._cut(slice(start, stop))
        for k in range(stop - start):
            row = {name: column[k].tolist() for name, column in columns.items()}
            found = self._asked({**values, **row}, start + k)
            answers.append(self._none() if found is None else self._many(found))
        return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))

    def _asked(self, given: Mapping[str, Any], record: int) -> tuple[Any, ...] | None:
        """Value and derivatives at one record, or of the whole; None where the program fails."""
        try:
            return self._found(given)
        except (RunError, AssertionFailed) as error:
            if error.diagnostics[0].code == "needs-cotangent":
                text = "the model has several results for one record"
                help = "a model of whole columns declares them, `input x: float[n]`"
                raise InputError(Diagnostic("shape-mismatch", text, help=help)) from None
            self.failed = self.failed or (record, error)
            return None

    def _found(self, given: Mapping[str, Any]) -> tuple[Any, ...]:
        names, of, program = self._layout.names, self._asker.of, self._asker.program
        if self._asker.order == 2:
            twice = program.hessian(given, wrt=names, of=of, options=self._quiet)
            layout = self._layout
            return twice.value, layout.joined(twice.grad), layout.square(twice.hessian)
        if self._whole:
            found = program.jacobian(given, wrt=names, of=of, options=self._quiet)
            head = np.shape(found.value)
            parts = [np.reshape(found.jacobian[n], (*head, -1)) for n in names]
            return found.value, np.concatenate(parts, -1)
        once = program.grad(given, wrt=names, of=of, options=self._quiet)
        return once.value, self._layout.joined(once.grad)

    def _none(self) -> tuple[Data, ...]:
        """Numbers in place of those of a record at which the program fails."""
        width = self._layout.width
        shapes = [(1,), (1, width), (1, width, width)]
        return tuple(np.full(shape, np.nan) for shape in shapes[: self._asker.order + 1])

    def _not_one(self, shape: tuple[int, ...]) -> InputError:
        message = f"the model has results of shape {[*shape]}, not one number a record"
        return InputError(Diagnostic("shape-mismatch", message))
