"""A program as a function of arrays, its value and derivatives at one point or at many, and with
data bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, ProgramError, UsageError
from gradcli.questions.asked.names import candidates, requested
from gradcli.questions.asked.request import Options, not_compiled, request
from gradcli.questions.asked.sizes import Declared, Shape, Shapes, of_point, split, wanted
from gradcli.questions.coded.compiled import compile_question
from gradcli.questions.coded.pointwise import Pointwise, flat
from gradcli.questions.jit import Recent
from gradcli.questions.over import Over, broadcast

if TYPE_CHECKING:
    from gradcli.questions.asked.loaded import Loaded

_MOST_AXES = 2  # of points and their numbers
_MOST = 32  # codes of a function; sizes that change at every call must not fill the memory
_QUESTIONS = (
    ("value",),
    ("gradient", "jacobian"),
    ("cheapest_hessian",),
)  # by order, the first that works
_METHODS = {"gradient": "grad", "jacobian": "jacobian", "cheapest_hessian": "hessian"}
Key: TypeAlias = frozenset[tuple[str, Shape | int]]
"""The shapes of the inputs, and the values of ints that are known."""

_GIVES = ("value", "value and gradient", "value, gradient and Hessian")


class Function:
    """Value and derivatives of a program's result, by code that is made once for each set of sizes.

    It is called with the values of the names that it is differentiated by. They lie along the last
    axis: one for each name, or for each element of a tensor. Other inputs are keywords. A further
    axis in front counts points; an argument without it is the same for all points. Several threads
    may call it at once.

    Fields:
        names: The names that it is differentiated by, in their order.
        order: The order of the highest derivative: 0, 1 or 2.
    """

    def __init__(
        self,
        program: Any,
        loaded: Loaded,
        wrt: str | Sequence[str] | None,
        of: str | None,
        order: int,
    ) -> None:
        if order not in range(len(_QUESTIONS)):
            message = f"`order` is 0, 1 or 2, got {order!r}"
            raise UsageError(Diagnostic("usage", message))
        inputs = [i.name for i in loaded.program.inputs]
        if wrt is None:
            self.names = tuple(name for name in candidates(loaded.program) if name in inputs)
        else:
            self.names = tuple(requested(loaded.program, wrt))
        for name in self.names:
            if name not in inputs:
                raise ProgramError(not_compiled(f"`{name}` is computed and cannot be given", None))
        self.order = order
        self._program, self._loaded, self._of = program, loaded, of
        self._shapes = Shapes(loaded.program.inputs)
        self._needed = [i.name for i in loaded.program.inputs if i.is_missing(())]
        self._codes: dict[Key, Pointwise] = Recent(_MOST)
        self._refused: dict[Key, ProgramError] = Recent(_MOST)
        self._questions = _QUESTIONS[order]
        self._check()

    def __reduce__(self) -> Any:
        return _again, (self._program, self.names, self._of, self.order)

    def __repr__(self) -> str:
        sizes = [f"{name}{_shown(self._shapes.declared[name])}" for name in self.names]
        made = next((code.made for code in self._codes.values()), "no code yet")
        return f"<Function of {', '.join(sizes)} -> {_GIVES[self.order]}; {made}>"

    def __call__(self, x: Any, /, **inputs: Any) -> Any:
        """Value and derivatives.

        Args:
            x: Values of `names`, one each along the last axis, of a tensor its elements in their
                order; of a single name a number, too.
            **inputs: Values of other inputs, or arrays with one for each point.

        Returns:
            The value, a float, or an array with one for each point; of a result that is a list or a
            tensor with its items or axes behind. The derivative, which has one more axis behind,
            for the names. Of `order=2` the Hessian, which has two; of `order=0` the value alone.

        Raises:
            InputError: If the arguments do not fit.
            GradError: As of `Program.grad`, at the first point at which the program fails.
        """
        points = point_of(x)
        if not inputs and points.ndim < 2:
            return self._alone(points)
        if points.ndim == 0:
            points = points.reshape(1)
        data = {name: data_of(name, value) for name, value in inputs.items()}
        if points.ndim > _MOST_AXES:
            raise InputError(Diagnostic("shape-mismatch", self.wanted({}, points.shape)))
        if points.ndim == 1 and all(v.ndim == self._shapes.ndim(n) for n, v in data.items()):
            return self.bind(**data)(points)
        return self._many(points, data)

    def bind(self, **data: Any) -> Bound:
        """The function of the point alone, with these values of the other inputs, which are copied.

        Args:
            **data: Numbers, lists or arrays by name. They bring the sizes that are declared by
                names, `float[n]`.

        Raises:
            InputError: If a name is no input or an input has no value, or has another shape.
            ProgramError: If there can be no code for such data.
        """
        return Bound(self, {name: data_of(name, value).copy("C") for name, value in data.items()})

    def over(self, width: int, **data: Any) -> Over:
        """The function of the point alone for many records, whose columns are prepared once.

        Args:
            width: How many numbers a point has.
            **data: Values of the other inputs, or arrays with one for each record.

        Raises:
            InputError: If the data do not fit.
            ProgramError: If there can be no code for such data.
        """
        return Over(self, width, {name: data_of(name, value) for name, value in data.items()})

    def value(self, x: Any, /, **inputs: Any) -> Any:
        """The value alone; no derivative is computed. Arguments as of a call."""
        return self.values(x, **inputs)

    def derivative(self, x: Any, /, **inputs: Any) -> Any:
        """The first derivative alone. Arguments as of a call.

        Raises:
            UsageError: If `order` is 0.
        """
        if not self.order:
            message = "a function of `order=0` has no derivative"
            raise UsageError(Diagnostic("usage", message, help="compile with `order=1`"))
        return self(x, **inputs)[1]

    @property
    def source(self) -> str:
        """The text of the code that was made last, LLVM's or Python's; "" if there is none yet."""
        return next((code.source for code in reversed(self._codes.values())), "")

    @cached_property
    def values(self) -> Function:
        """The function of the same names that gives the value alone."""
        if self.order == 0:
            return self
        return Function(self._program, self._loaded, self.names, self._of, 0)

    @cached_property
    def _alone(self) -> Bound:
        return self.bind()

    # --- points ------------------------------------------------------------------------------

    def width(self, data: Mapping[str, Shape]) -> int | None:
        """How many numbers a point has, for data of these shapes; None if the point tells it."""
        known = self._shapes.with_data(data)
        shapes = [_whole(known[name]) for name in self.names]
        return None if None in shapes else sum(prod(s) for s in shapes if s is not None)

    def wanted(self, data: Mapping[str, Shape], got: Shape) -> str:
        """What is said of a point of another shape, with data of these shapes."""
        known = self._shapes.with_data(data)
        return wanted({name: known[name] for name in self.names}, got)

    def sizes(self, data: Mapping[str, Data]) -> dict[str, Shape]:
        """The shapes of single values of inputs that may have an axis of points in front."""
        return {n: v.shape[v.ndim - self._shapes.ndim(n) :] for n, v in data.items()}

    def shapes(self, data: Mapping[str, Shape], point: Shape) -> dict[str, Shape]:
        """The shapes of all inputs that are given, for data and a point, or several, of these
        shapes.
        """
        known = self._shapes.with_data(data)
        return {**data, **of_point({name: known[name] for name in self.names}, point)}

    def code(self, shapes: Mapping[str, Shape], data: Mapping[str, Any]) -> Pointwise:
        """The code for inputs of these shapes, made if there is none. If there can be none for any
        ints that data may have, it is made for those that they have.

        Raises:
            ProgramError: If there can be none.
        """
        key: Key = frozenset(shapes.items())
        if self._codes.get(key) is None and self._refused.get(key) is None:
            try:
                made = self._made(shapes, {})
            except ProgramError as error:
                self._refused[key] = error
            else:
                self._codes[key] = made
                return made
        found, refused = self._codes.get(key), self._refused.get(key)
        if found is not None:
            return found
        known = self._shapes.ints({n: x for n, x in data.items() if n not in self.names})
        if not known and refused is not None:
            raise refused
        of_known = key.union(known.items())
        found = self._codes.get(of_known)
        if found is None:
            found = self._made(shapes, known)
            self._codes[of_known] = found
        return found

    def interpreted(self, values: Mapping[str, Any], code: Pointwise) -> Data:
        """Value and derivatives of one point by the interpreter, one behind the other, as this code
        would find them.
        """
        given = {name: np.asarray(value).tolist() for name, value in values.items()}
        options = Options(compile="never")
        if self.order == 0:
            run = self._program.run(given, options=options)
            value = run.result if self._of is None else run.values[self._of]
            return np.asarray(value, np.float64).ravel()
        found = getattr(self._program, _METHODS[self._questions[0]])(
            given, wrt=self.names, of=self._of, options=options, **code.modes
        )
        return flat(found, self.names)

    def _many(self, points: Data, data: dict[str, Any]) -> Any:
        """The answers for many points; one argument at least has an axis of them."""
        shapes = self.shapes(self.sizes(data), points.shape)
        every = broadcast({**split(points, self.names, shapes), **data}, shapes)
        code = self.code(shapes, {n: x for n, x in data.items() if x.ndim == len(shapes[n])})
        found, left = code.many(every)
        for i in np.flatnonzero(left).tolist():
            found[i] = self.interpreted({name: column[i] for name, column in every.items()}, code)
        return code.answer(found)

    def _check(self) -> None:
        """Make the code now if all shapes are known, so that what cannot be made is said at once.

        Raises:
            ProgramError: If there can be none.
        """
        names = {*self.names, *self._needed}
        known = self._shapes.with_data({})
        shapes = {name: _whole(known[name]) for name in names}
        if not self._shapes.are_sure(names) or None in shapes.values():
            return
        try:
            self.code(shapes, {})  # type: ignore[arg-type]
        except ProgramError:
            if not self._shapes.ints(dict.fromkeys(self._needed, 0)):
                raise  # no data can have ints for which there is code

    def _made(self, shapes: Mapping[str, Shape], known: Mapping[str, int]) -> Pointwise:
        like = {name: np.zeros(shape) for name, shape in shapes.items()} | {**known}
        asked = request(like, {}, Options(), wrt=self.names, of=self._of, known=(*known,))
        for question in self._questions:
            found = compile_question(self._loaded, question, asked)
            if isinstance(found, Diagnostic):
                continue
            if found.lowered.draws:
                raise ProgramError(not_compiled("random numbers are drawn", None))
            self._questions = (question,)
            return Pointwise(found, asked, self.names)
        assert isinstance(found, Diagnostic), "a question has been asked"
        raise ProgramError(found)


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
        x = point_of(x)
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
        self._code = self._function.code(self._shapes, self._data)
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
        return self._function.interpreted(values, self._code) if found is None else found


def _put(answer: Any, out: Any) -> Any:
    """An answer whose derivatives have been written into arrays that are there."""
    value, *derivatives = answer
    several = out if isinstance(out, (tuple, list)) else (out,)
    for array, derivative in zip(several, derivatives, strict=True):
        array[...] = derivative
    return value, *several


def _again(program: Any, names: Sequence[str], of: str | None, order: int) -> Function:
    made: Function = program.compile(names, of=of, order=order)
    return made


def point_of(x: Any) -> Data:
    """A point, or several, as an array of floats.

    Raises:
        InputError: If it does not hold numbers, or lists of several lengths.
    """
    try:
        return np.asarray(x, np.float64)
    except (TypeError, ValueError):
        message = f"a point is a list of numbers, or several of one length, got {x!r:.60}"
        raise InputError(Diagnostic("bad-input", message)) from None


def data_of(name: str, value: Any) -> Data:
    """The value of an input as an array.

    Raises:
        InputError: If it does not hold numbers, or lists of several lengths.
    """
    try:
        found = np.asarray(value)
    except ValueError:
        message = f"the lists of `{name}` differ in length"
        raise InputError(Diagnostic("ragged-list", message)) from None
    if found.dtype.kind not in "fiub":
        message = f"`{name}` takes numbers, got {found.dtype.name}"
        raise InputError(Diagnostic("bad-input", message))
    return found


def _whole(shape: Declared) -> Shape | None:
    """A shape whose sizes are all known, else None."""
    found = tuple([size for size in shape if isinstance(size, int)])
    return found if len(found) == len(shape) else None


def _shown(shape: Declared) -> str:
    return f"[{', '.join(map(str, shape))}]" if shape else ""
