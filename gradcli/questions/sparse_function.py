"""A program as a function of one point that gives value and sparse derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from math import prod
from typing import TYPE_CHECKING, Any

from gradcli.engine.compile.control import nowhere
from gradcli.engine.compile.typed import is_array
from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, ProgramError, UsageError
from gradcli.questions.asked.request import Options, Request, given_values, not_compiled, request
from gradcli.questions.asked.sizes import split
from gradcli.questions.asked.sparse_plan import Plan
from gradcli.questions.coded.compiled import Compiled, compile_question
from gradcli.questions.coded.pointwise import numbered
from gradcli.questions.coded.sparse import Products
from gradcli.questions.coded.sparse_pattern import planned
from gradcli.questions.function import Function, data_of, point_of
from gradcli.results import Coo, SparseHessianResult, SparseJacobianResult

if TYPE_CHECKING:
    from gradcli.questions.asked.loaded import Loaded

_QUESTIONS = {1: "sparse_jacobian", 2: "sparse_hessian"}


class SparseFunction:
    """Value and sparse derivatives of a program's result at a point.

    It is called with the values of the names that it is differentiated by, one behind the other, as
    a `Function`; other inputs are keywords. With data bound, where the entries are is found once.

    Fields:
        names: The names that it is differentiated by, in their order.
        order: 1 for the Jacobian, 2 for gradient and Hessian.
    """

    def __init__(
        self,
        program: Any,
        loaded: Loaded,
        wrt: str | Sequence[str] | None,
        of: str | None,
        order: int,
    ) -> None:
        if order not in _QUESTIONS:
            message = f"`order` of sparse derivatives is 1 or 2, got {order!r}"
            raise UsageError(Diagnostic("usage", message))
        self.values = Function(program, loaded, wrt, of, 0)
        self.names, self.order = self.values.names, order
        self._program, self._loaded, self._of = program, loaded, of
        self._codes: dict[Any, Compiled] = {}  # the last one

    def __reduce__(self) -> Any:
        return _again, (self._program, self.names, self._of, self.order)

    def __repr__(self) -> str:
        what = "Jacobian" if self.order == 1 else "gradient and Hessian"
        return f"<SparseFunction of {', '.join(self.names)} -> value and sparse {what}>"

    def __call__(self, x: Any, /, **inputs: Any) -> Any:
        """Value and derivatives, as of `bind(**inputs)(x)`."""
        return self.bind(**inputs)(x)

    def bind(self, **data: Any) -> SparseBound:
        """The function of the point alone, with these values of the other inputs, which are copied.

        Args:
            **data: Numbers, lists or arrays by name.

        Raises:
            InputError: If a name is no input or an input has no value, or has another shape.
            ProgramError: If there can be no code for such data.
        """
        copies = {name: data_of(name, value).copy("C") for name, value in data.items()}
        return SparseBound(self, copies)

    def value(self, x: Any, /, **inputs: Any) -> Any:
        """The value alone; no derivative is computed."""
        return self.values(x, **inputs)

    def question(self, values: Mapping[str, Any]) -> tuple[Request, Compiled]:
        """The request for values of these shapes, and the code that answers it.

        Raises:
            ProgramError: If there can be none.
        """
        asked = request(values, {}, Options(), wrt=self.names, of=self._of)
        plan = planned(self._loaded, asked, self.order)
        if plan.plan is None:
            raise ProgramError(not_compiled(plan.reason, None))
        asked = asked.changed(question=plan)
        key = frozenset(asked.shapes.items()), plan.key
        code = self._codes.get(key)
        if code is None:
            found = compile_question(self._loaded, _QUESTIONS[self.order], asked)
            if isinstance(found, Diagnostic):
                raise ProgramError(found)
            code = found
        self._codes = {key: code}
        if code.lowered.draws:
            raise ProgramError(not_compiled("random numbers are drawn", None))
        return asked, code

    def interpreted(self, values: Mapping[str, Any]) -> SparseJacobianResult | SparseHessianResult:
        """The answer for these values by the interpreter."""
        ask = getattr(self._program, _QUESTIONS[self.order])
        given = {name: np.asarray(value).tolist() for name, value in values.items()}
        found: SparseJacobianResult | SparseHessianResult = ask(
            given, wrt=self.names, of=self._of, options=Options(compile="never")
        )
        return found


class SparseBound:
    """Value and sparse derivatives at a point. `SparseFunction.bind` makes it, with its own data.

    Fields:
        names: The names that a point is made of, in their order.
    """

    def __init__(self, function: SparseFunction, data: Mapping[str, Any]) -> None:
        self.names = function.names
        self._function, self._data = function, data
        self._sizes = {name: value.shape for name, value in data.items()}
        self._values = function.values.bind(**data)
        self._width = function.values.width(self._sizes)
        if self._width is not None:
            self._prepare(self._width)

    def __reduce__(self) -> Any:
        return SparseBound, (self._function, self._data)

    def __repr__(self) -> str:
        data = f" with {', '.join(self._data)}" if self._data else ""
        return f"<SparseBound{data}: {self._function!r}>"

    def __call__(self, x: Any, /) -> Any:
        """Value and derivatives at a point.

        Args:
            x: The values of `names`, of tensors their elements in order.

        Returns:
            The value and the Jacobian, whose rows are the elements of the value; of `order=2` the
            value, the gradient and the Hessian. The matrix is a `scipy.sparse.csr_array`, without
            SciPy a `gradcli.results.Coo`.

        Raises:
            InputError: If the point has not as many numbers as the names have elements.
            GradError: As of `Program.grad`.
        """
        x = self._fitted(x)
        found = self._shortly(x)
        lead, values = self._slowly(x) if found is None else found
        value = lead[: prod(self._shape)].reshape(self._shape)
        whole = value if value.ndim else value.item()
        matrix = self._matrix(values)
        if self._function.order == 1:
            return whole, matrix
        return whole, lead[prod(self._shape) :], matrix

    def value(self, x: Any, /) -> Any:
        """The value alone; no derivative is computed."""
        return self._values(x)

    def derivative(self, x: Any, /) -> Any:
        """The first derivative: the Jacobian, or of `order=2` the gradient."""
        return self(x)[1]

    @property
    def pattern(self) -> Any:
        """The matrix with True at its entries, such as `least_squares` takes as `jac_sparsity`.

        Raises:
            InputError: If the sizes are not known before there is a point.
        """
        if self._width is None:
            message = "the sizes of the point are not known yet"
            raise InputError(Diagnostic("shape-mismatch", message, help="call it at a point first"))
        return self._matrix(np.ones(len(self._plan.pattern.rows), np.bool_))

    def _prepare(self, width: int) -> None:
        """Find the entries for points of so many numbers, and make the code."""
        self._width = width
        self._shapes = self._function.values.shapes(self._sizes, (width,))
        values = {**self._data, **split(np.zeros(width), self.names, self._shapes)}
        self._asked, self._code = self._function.question(values)
        self._plan: Plan = self._asked.question.plan
        lowered = self._code.lowered
        assert isinstance(lowered, Products), "sparse derivatives"
        self._shape = lowered.shape
        self._ends = np.searchsorted(self._plan.pattern.rows, np.arange(self._height + 1))
        self._calls = self._prepared(lowered)

    @property
    def _height(self) -> int:
        """The number of rows."""
        return prod(self._shape) if self._function.order == 1 else self._width or 0

    def _prepared(self, lowered: Products) -> list[tuple[Callable[[Data], Data | None], Any]]:
        """For each color a function of the point alone, and the entries that it gives; that of the
        first begins with the value, and the gradient. There is none if the interpreter has all
        answers.
        """
        inputs = self._code.inputs(self._asked)
        if inputs is None or lowered.program.texts:
            return []
        point = _places(lowered, self.names)
        numbers, places = numbered(self._code)
        lead = [*np.ravel(lowered.value(numbers))]
        if self._function.order == 2:
            lead += [*lowered.joined(numbers, lowered.before)]
        products, calls = lowered.products(numbers), []
        for color, more in enumerate(lowered.directions(self._asked)):
            chosen, entries = lead if color == 0 else [], []
            for group, product in zip(self._plan.groups, products, strict=True):
                if color < group.count:
                    shown = slice(group.ends[color], group.ends[color + 1])
                    chosen = [*chosen, *product[group.at[shown]]]
                    entries.append(group.entries[shown])
            at = self._code.code.at([*inputs, *more], point, [places[int(k)] for k in chosen])
            if at is None:
                return []
            calls.append((at, np.concatenate(entries) if entries else np.zeros(0, np.int64)))
        return calls

    def _shortly(self, x: Data) -> tuple[Data, Data] | None:
        """Value and gradient, and the entries; None where short calls of code do not give them."""
        values, lead = np.empty(len(self._plan.pattern.rows)), None
        for at, entries in self._calls:
            found = at(x)
            if found is None:
                return None
            if lead is None:
                lead = found[: len(found) - len(entries)]
            values[entries] = found[len(found) - len(entries) :]
        return None if lead is None else (lead, values)

    def _slowly(self, x: Data) -> tuple[Data, Data]:
        """The same by a call of the code that may take long, or by the interpreter."""
        values = {**self._data, **split(x, self.names, self._shapes)}
        inputs = {**self._asked.inputs, **given_values(values, {})}
        found = None
        if not self._code.lowered.program.texts:
            found = self._code.answer(self._asked.changed(inputs=inputs), nowhere)
        if found is None:
            found = self._function.interpreted(values)
        lead = [np.ravel(found.value)]
        if isinstance(found, SparseHessianResult):
            lead += [np.ravel(found.grad[name]) for name in self.names]
        return np.concatenate(lead), found.matrix().data

    def _fitted(self, x: Any) -> Data:
        """A point as an array of the right shape."""
        x = point_of(x)
        if self._width is None and x.ndim == 1:
            self._prepare(x.size)
        if x.ndim == 0 and self._width == 1:
            return x.reshape(1)
        if x.shape != (self._width,):
            message = self._function.values.wanted(self._sizes, x.shape)
            raise InputError(Diagnostic("shape-mismatch", message))
        return x

    def _matrix(self, values: Data) -> Any:
        """The matrix with these entries."""
        pattern = self._plan.pattern
        shape = (self._height, self._width or 0)
        if find_spec("scipy") is None:
            return Coo(shape, pattern.rows, pattern.columns, values)
        sparse = import_module("scipy.sparse")
        return sparse.csr_array((values, pattern.columns, self._ends), shape=shape)


def _places(lowered: Products, names: Sequence[str]) -> list[tuple[int, int]]:
    """The places of a point's numbers among the inputs of the code."""
    found, k = {}, 0
    for name, type_, shape in lowered.inputs:
        count = prod(shape)
        if is_array(type_):
            found[name] = [(k, element) for element in range(count)]
            k += 1
        else:
            found[name] = [(k + element, 0) for element in range(count)]
            k += count
    return [place for name in names for place in found[name]]


def _again(program: Any, names: Sequence[str], of: str | None, order: int) -> SparseFunction:
    made: SparseFunction = program.compile(names, of=of, order=order, sparse=True)
    return made
