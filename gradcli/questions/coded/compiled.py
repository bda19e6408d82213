"""Code that answers one question about a program for any numbers that its inputs may have."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, TypeVar

from gradcli.cpython import Uncollected
from gradcli.engine.compile import backends
from gradcli.engine.compile.budget import Budget
from gradcli.engine.compile.control import MOST, Control, Left, nowhere
from gradcli.engine.compile.specialize.program import Tensors
from gradcli.engine.compile.specialize.tracing.scalarized import PickingVectors, Vectors
from gradcli.engine.compile.typed import (
    DTYPES,
    Block,
    If,
    Loop,
    ManyItems,
    NotCompilable,
    Program,
    TooLarge,
    bytes_of,
    dtype_and_shape,
    is_array,
    type_of,
)
from gradcli.engine.compile.walk import values
from gradcli.engine.run.execution.inputs import check_complete, check_names
from gradcli.engine.run.session.state import RandomNumbers
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import NUMBERS, Quiet, np
from gradcli.engine.values.limits import Reached, meter
from gradcli.errors import Diagnostic, GradError, LimitError
from gradcli.ir import program as ir
from gradcli.ir.inlined import UNROLLED
from gradcli.ir.visit import everything, instructions
from gradcli.questions.asked.limited import Limited
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request, not_compiled
from gradcli.questions.coded import lowerings
from gradcli.questions.coded.given import ENDS, elements, typed
from gradcli.questions.coded.lowered import Lowered, Plan

Code = TypeVar("Code")

_ELEMENT = 32  # bytes of a number in an array, and of its text or object
_EXACT = 2.0**53  # below which a float is one int alone
_MOST_INLINED = 20_000  # instructions of an unrolled loop where nothing else can be code
_NUMBERS = {"f": float, "i": int, "b": bool}  # by the kind of a dtype


class Many:
    """Code with a request, that of many answers."""

    def __init__(self, prepared: Compiled, request: Request, limited: Limited) -> None:
        self._prepared = prepared
        self._request = request
        self._limited = limited
        self._bounded = prepared.bounded

    @property
    def types(self) -> list[type]:
        """The types of the numbers that an answer is made of: float, int or bool."""
        return self._prepared.types

    @property
    def is_free(self) -> bool:
        """True if the code runs without Python's lock, so that threads make it faster."""
        return not self._prepared.code.calls_python

    def numbers(self, values: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...] | None]:
        """The numbers of the answers for values of the inputs by name, None where a question has to
        be asked by itself: all of them if together they take what one of them may.
        """
        options = self._request.options
        try:
            found = self._limited.within(
                options, lambda: self._prepared.numbers(self._request, values)
            )
        except LimitError:
            return [None] * len(values)
        if self._bounded:
            columns = {n: [v[n] for v in values if n in v] for n in self._bounded}
            place = self._outside({n: c for n, c in columns.items() if len(c) == len(values)})
            if place is not None:
                found[place] = None
        return found

    def arrays(self, columns: Mapping[str, Any]) -> tuple[list[Any], list[int]] | None:
        """The numbers of many answers as arrays, and at which places a question has to be asked by
        itself; None if all have to.

        Args:
            columns: Arrays of floats, with the rows first, of some inputs; the others have the
                values of the request.
        """
        options = self._request.options
        try:
            found = self._limited.within(
                options, lambda: self._prepared.together(self._request, columns)
            )
        except LimitError:
            return None
        place = self._outside(columns) if self._bounded and found is not None else None
        if found is not None and place is not None:
            results, left = found
            return results, sorted({*left, place})
        return found

    def _outside(self, columns: Mapping[str, Any]) -> int | None:
        """The first row with a value outside of its bounds, if none has been found before: the
        question that is asked of it has the warning.
        """
        from gradcli.questions.remarks.outside import first_outside

        known = [name for name in self._bounded if name in columns]
        places = [first_outside(columns[name], self._bounded[name]) for name in known]
        found = [place for place in places if place is not None]
        if not found:
            return None
        self._bounded = {}
        return min(found)

    def result(self, numbers: Sequence[Any]) -> Any:
        """The answer from its numbers."""
        return self._prepared.result(self._prepared.grouped(numbers))


class Compiled:
    """Code for one question.

    Fields:
        lowered: the question as a typed program.
        remark: a note about it for `verbose`.
        bounded: the bounds of the inputs that have some.
    """

    def __init__(
        self,
        loaded: Loaded,
        lowering: type[Lowered],
        request: Request,
        budget: Budget | None = None,
    ) -> None:
        start = perf_counter()
        self._loaded = loaded
        serves = _is_alone if backends.has_machine_code() else None
        self.lowered, self.code = coded(loaded, lowering, request, backends.code, serves, budget)
        self._bytes = sum(bytes_of(v.type) for v in values(self.lowered.program))
        self._results = [dtype_and_shape(type_of(x)) for x in self.lowered.program.block.results]
        self._of_row = _ELEMENT * sum(math.prod(shape) for _, shape in self._results)
        self.remark = remark(perf_counter() - start, self.code)
        self.bounded = loaded.bounded
        self._has_failed = False

    def answer(self, request: Request, echo: Callable[[str], None]) -> Any:
        """The answer to the question; None where the interpreter has it."""
        printed: list[str] = []

        def tell(text: str) -> None:
            printed.append(text)
            echo(text)

        inputs = self.inputs(request)
        if inputs is None:
            return None
        calls = self._calls(request, inputs, tell)
        try:
            return self.lowered.answer(request, calls, lambda: _lines(printed))
        except Left:
            return None

    def _calls(
        self, request: Request, inputs: Sequence[Any], tell: Callable[[str], None]
    ) -> Iterator[tuple[Any, ...]]:
        """The numbers of all calls that the answer takes; the first one prints.

        Raises:
            Left: Where the interpreter has the answer.
        """
        for more in self.lowered.directions(request):
            numbers = self.call(request, [*inputs, *more], tell)
            if numbers is None:
                raise Left("the interpreter has the answer")
            yield numbers
            tell = nowhere

    def inputs(self, request: Request) -> list[Any] | None:
        """The numbers of the inputs and of the points that have one of their own; None if one is
        none that the program can have.
        """
        values = {name: given.value for name, given in request.inputs.items()}
        values |= self._drawn(request) | self.lowered.further(request)
        found = typed(self.lowered.inputs, values)
        return None if found is None else [*found, *self.lowered.constants]

    def _drawn(self, request: Request) -> dict[str, Any]:
        """The random numbers of a run, drawn as it would."""
        if not self.lowered.draws:
            return {}
        random = RandomNumbers(request.options.seed, request.options.stream)
        found = [(name, draw(random)) for name, draw in self.lowered.draws]
        return {name: x.data for name, x in found if isinstance(x, Tensor)}

    def call(
        self, request: Request, inputs: Sequence[Any], echo: Callable[[str], None] = nowhere
    ) -> tuple[Any, ...] | None:
        """The numbers for these inputs; None where the interpreter has the answer."""
        turns = self.lowered.effort.turns(request.options.limits)
        if turns is None or self._has_failed or self._is_too_large():
            return None
        try:
            numbers = self.code.call(inputs, self._control(turns, echo))
        except Left:
            return None
        except Reached:
            raise self._stopped() from None
        except (GradError, OSError):  # of a limit, and of the file that a text is written to
            raise
        except Exception as error:
            self._fail(request, error)
            return None
        return _settled(numbers)

    def _fail(self, request: Request, error: Exception) -> None:
        """Leave all further answers to the interpreter, and remark why."""
        reason = backends.failure(f"running {self.code.made}", error)
        self._has_failed = True
        request.options.remark(not_compiled(reason, None))

    def _is_too_large(self) -> bool:
        """True if the arrays of the code may take more memory than there is."""
        found = meter()
        return self._bytes > found.large and self._bytes > found.left

    def _are_too_many(self, count: int) -> bool:
        """True if so many answers together may take more memory than there is."""
        needed = self._bytes + count * self._of_row
        found = meter()
        return needed > found.large and needed > found.left

    def _more(self, request: Request) -> list[Any] | None:
        """The numbers of the request; None if they do not have the program's shapes."""
        try:
            return [*self.lowered.more(request)]
        except Left:
            return None

    def _control(self, turns: int, echo: Callable[[str], None] = nowhere) -> Control:
        """The limits of a call. It asks for the free memory only before it takes much."""
        found = meter()
        return Control(turns, found.large, echo, lambda: found.left, lambda: found.whole)

    def _stopped(self) -> LimitError:
        """The error of code that was stopped from outside, at the first loop that it has."""
        found = meter()
        found.seen = True
        assert found.reached is not None, "stopped without a reason"
        loop = _first_loop(self.lowered.program.block)
        if loop is not None:
            found.reached.source, found.reached.span = self._loaded.source, loop.span
        return LimitError(found.reached)

    def numbers(
        self, request: Request, values: Sequence[Mapping[str, Any]]
    ) -> list[tuple[Any, ...] | None]:
        """The numbers of the answers for values of the inputs by name, None where the interpreter
        has one.
        """
        turns = self.lowered.effort.turns(request.options.limits)
        if self.lowered.program.texts or turns is None or self._more(request) is None:
            return [None] * len(values)
        rows = [typed(self.lowered.inputs, value) for value in values]
        there = [row for row in rows if row is not None]
        if not there or self._are_too_many(len(there)):
            return [None] * len(values)
        columns = [np.array(column) for column in zip(*there, strict=True)]
        results, left = self.arrays(request, columns, len(there), turns)
        elements = (column.tolist() for column in _flat(results))
        found = zip(zip(*elements, strict=True), left.tolist(), strict=True)
        answers: list[tuple[Any, ...] | None] = []
        for row in rows:
            numbers, gone = ((), True) if row is None else next(found)
            answers.append(None if gone else numbers)
        return answers

    def arrays(
        self, request: Request, columns: Sequence[Any], count: int, turns: int = MOST
    ) -> tuple[list[Any], Any]:
        """The numbers of many answers as arrays, and where the interpreter has the answer.

        Args:
            request: What is asked.
            columns: An array of `count` values of each input.
            count: How many answers there are.
            turns: How many turns of loops each of them may take.
        """
        behind = [*self.lowered.constants, *self.lowered.more(request)]
        more = [np.broadcast_to(x, (count, *np.shape(x))) for x in behind]
        control = self._control(turns)
        if self._has_failed:
            return self._none(count)
        try:
            results, left = self.code.rows([*columns, *more], control)
        except (GradError, Left):
            raise
        except Exception as error:
            self._fail(request, error)
            return self._none(count)
        for k in self.lowered.tests:
            left |= ~results[k]
        return list(results), left

    def _none(self, count: int) -> tuple[list[Any], Any]:
        """The numbers of answers that the interpreter has, all of them."""
        empty = [np.zeros((count, *shape), dtype) for dtype, shape in self._results]
        return empty, np.ones(count, np.bool_)

    def together(
        self, request: Request, columns: Mapping[str, Any]
    ) -> tuple[list[Any], list[int]] | None:
        """The numbers of many answers as arrays, and where the interpreter has the answer; None if
        it has all. Arguments as of `Many.arrays`.
        """
        turns = self.lowered.effort.turns(request.options.limits)
        count = len(next(iter(columns.values())))
        if self.lowered.program.texts or turns is None or self._are_too_many(count):
            return None
        given, odd = {}, np.zeros(count, np.bool_)
        for name, type_, shape in self.lowered.inputs:
            if name in columns:
                given[name] = columns[name]
                if given[name].shape[1:] != shape:
                    return None
                if type_ == "float":
                    bad = np.isnan(given[name])
                else:
                    bad = ~(np.abs(given[name]) < _EXACT)
                odd |= bad.reshape(count, -1).any(axis=1)
                continue
            several = elements(request.inputs[name].value, shape)
            if several is None:
                return None
            given[name] = np.broadcast_to(np.array(several).reshape(shape), (count, *shape))
        inputs, fit = self.columns(given)
        results, left = self.arrays(request, inputs, count, turns)
        return _flat(results), np.flatnonzero(left | odd | ~fit).tolist()

    def columns(self, given: Mapping[str, Any]) -> tuple[list[Any], Any]:
        """The arrays of the inputs as the program has them, and where they can be so."""
        fit = np.ones(len(next(iter(given.values()))), np.bool_)
        found = []
        for name, type_, _ in self.lowered.inputs:
            if is_array(type_):
                dtype, _ = dtype_and_shape(type_)
                whole = np.ascontiguousarray(given[name])
                fit &= _is_of(whole, dtype)
                found.append(whole.astype(dtype))
                continue
            for column in given[name].reshape(len(fit), -1).T:
                fit &= _fits(column, type_)
                there = column if type_ == "float" else np.where(fit, column, 0)
                found.append(there.astype(DTYPES[type_]))
        return found, fit

    @property
    def types(self) -> list[type]:
        """The types of the numbers of an answer; for an array, of each element."""
        return [
            type_
            for dtype, shape in self._results
            for type_ in [_NUMBERS[np.dtype(dtype).kind]] * math.prod(shape)
        ]

    def grouped(self, numbers: Sequence[Any]) -> list[Any]:
        """Numbers of any types, as numbers and arrays of them."""
        found, start = [], 0
        for _, shape in self._results:
            end = start + math.prod(shape)
            part = numbers[start:end]
            found.append(np.array(part).reshape(shape) if shape else part[0])
            start = end
        return found

    def result(self, found: Sequence[Any]) -> Any:
        """The answer that numbers and arrays are."""
        return self.lowered.result(found, ())


def _flat(results: Sequence[Any]) -> list[Any]:
    """The columns of the results' elements. Rows are the first axis of each result."""
    return [column for r in results for column in r.reshape(len(r), -1).T]


def _is_of(x: Any, dtype: str) -> bool:
    """True if an array can be one of a dtype."""
    return x.dtype == dtype or (dtype == "float64" and x.dtype.kind in "iub")


def _fits(column: Any, type_: str) -> Any:
    """A mask of the numbers in an array that fit a type."""
    if type_ == "bool":
        return (column == 0) | (column == 1)
    if type_ == "float" or column.dtype.kind != "f":
        return True
    return (column == np.floor(column)) & (np.abs(column) < ENDS[type_])


def remark(seconds: float, code: backends.Code) -> Diagnostic:
    """The note that code was made, with the time it took."""
    more = "" if backends.has_machine_code() else "; the extra `fast` makes machine code"
    return Diagnostic("code-made", f"made {code.made} in {seconds * 1e3:.0f} ms{more}")


def compile_question(
    loaded: Loaded, name: str, request: Request, budget: Budget | None = None
) -> Compiled | Diagnostic:
    """The code for a question, or why there is none: a budget may be used up."""
    lowering = lowerings.lowering(name)
    return tried(loaded, request, lambda: Compiled(loaded, lowering, request, budget))


def tried(loaded: Loaded, request: Request, make: Callable[[], Code]) -> Code | Diagnostic:
    """The result of `make` for a request, or the reason why it is not compilable.

    Raises:
        InputError: If values are given for names that are no inputs, or some are missing.
    """
    check_names(request.inputs, loaded.program)
    check_complete(request.inputs, loaded.program)
    try:
        with Uncollected(), Quiet():
            return make()
    except NotCompilable as error:
        source = None if error.span is None else loaded.source
        help = "`--compile auto` interprets what cannot be compiled"
        return not_compiled(error.reason, help, source, error.span)
    except GradError:
        raise
    except Exception as error:
        return not_compiled(backends.failure("making code", error), None)


def _first_loop(block: Block) -> Loop | None:
    """The first loop of a block, or of the branches in it."""
    for i in block.body:
        if isinstance(i, Loop):
            return i
        sides = (i.then, i.orelse) if isinstance(i, If) else ()
        for found in map(_first_loop, sides):
            if found is not None:
                return found
    return None


def coded(
    loaded: Loaded,
    lowering: type[Lowered],
    request: Request,
    make: Callable[[Program], Code],
    serves: Callable[[Code], bool] | None,
    budget: Budget | None = None,
) -> tuple[Lowered, Code]:
    """A question, lowered, and `make` of its typed program. Its tensors are arrays if that gives
    code that `serves`; else scalarized if possible; else arrays, whatever the code; and if these
    are not possible, scalarized with branches for all their items. Loops that call functions are
    unrolled only if there is no code otherwise.

    Args:
        loaded: The program.
        lowering: The question's lowering.
        request: What is asked.
        make: Makes code of a typed program.
        serves: True for code of arrays that is as good as code of single numbers; None if none is.
        budget: The work that specializing it may take, in all attempts; None for any.

    Raises:
        NotCompilable: If nothing can be made of any of these.
    """

    def attempt(tensors: Tensors) -> tuple[Lowered, Code] | NotCompilable:
        limits = [UNROLLED, *([_MOST_INLINED] if _calls_in_loops(loaded.program) else [])]
        for most in limits:
            try:
                made = lowering(loaded, request, Plan(tensors, most, budget))
                return made, make(made.program)
            except (TooLarge, ManyItems) as error:
                return error
            except NotCompilable as error:
                found = error
        return found

    last = None
    if serves is not None:
        last = attempt(_arrays())
        if not isinstance(last, NotCompilable) and serves(last[1]):
            return last
    first = attempt(Vectors)
    if not isinstance(first, NotCompilable):
        return first
    last = last or attempt(_arrays())
    if isinstance(last, NotCompilable) and isinstance(first, ManyItems):
        last = attempt(PickingVectors)
        first = last if isinstance(last, NotCompilable) else first
    if not isinstance(last, NotCompilable):
        return last
    raise last if isinstance(first, TooLarge) else first


def _arrays() -> Tensors:
    from gradcli.engine.compile.specialize.tracing.arrays import Arrays

    return Arrays


def _is_alone(code: backends.Code) -> bool:
    """True for code that never calls Python."""
    return not code.calls_python


def _calls_in_loops(program: ir.Program) -> bool:
    """True if a loop calls functions."""
    loops = [i for i in everything(program) if isinstance(i, (ir.For, ir.While))]
    return any(isinstance(i, ir.Call) for i in instructions(loops))


def _settled(numbers: Sequence[Any]) -> tuple[Any, ...]:
    """Numbers and arrays of their own memory; those without dimensions are numbers."""
    return tuple(
        [x if type(x) in NUMBERS else x.copy(order="K") if x.ndim else x.item() for x in numbers]
    )


def _lines(printed: Sequence[str]) -> tuple[str, ...]:
    """The lines that the program printed."""
    return tuple("".join(printed).removesuffix("\n").split("\n")) if printed else ()
