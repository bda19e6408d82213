"""Run a function of ops on plain data of known shapes as a sequence of calls.

The function, such as a rule of an entry, runs once with values that record the ops. For other
values of the same shapes and dtypes, these steps suffice: they compute no shape again, and an op
that is one call of NumPy is one step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NoReturn, TypeAlias

from gradcli.engine.ops.direct import one_call
from gradcli.engine.ops.extent import FEW
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, SCALARS, Data, dtype_of, np, plain, shape_of
from gradcli.engine.values.limits import check_memory

Function: TypeAlias = Callable[..., Any]
Steps: TypeAlias = tuple[Function, Function, Function]
"""Steps as functions of the given values. They overwrite `NOTHING`; their own `TEMPORARIES`, which
needs contiguous arrays; or the `FIRST` given value as well.
"""

_Made: TypeAlias = tuple[Function, tuple[int, ...], int]
"""A function, the places of its arguments and that of its result."""

NOTHING, TEMPORARIES, FIRST = range(3)

Taken: TypeAlias = tuple[Any, tuple[int, ...], dict[str, Any]]
"""An op, the places of its arguments, and its parameters."""


class _NotSteps(Exception):
    """The function does something that a list of steps cannot express."""


_NUMBERS = frozenset({float, int})


class Written(Carrier):
    """A value that notes each op it passes through; its data stays hidden from the function."""

    __slots__ = ("_sheet", "data", "place")

    def __init__(self, sheet: _Sheet, place: int, data: Data) -> None:
        self._sheet = sheet
        self.place = place
        self.data = data

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self.data)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        return dtype_of(self.data)

    @property
    def is_number(self) -> bool:
        return type(self.data) in NUMBERS

    @property
    def in_order(self) -> bool:
        raise _NotSteps

    def avoid(self, number: float) -> NoReturn:
        raise _NotSteps

    def undivided(self) -> NoReturn:
        raise _NotSteps

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Do the op and note it as a step."""
        return self._sheet.do(op, args, params)


class _Sheet:
    """The steps so far, and the values of all places: first the given ones, then the result of each
    step. Constants count as given.
    """

    def __init__(self, given: Sequence[Any]) -> None:
        self.values = [*given]
        self.constants: list[tuple[int, Any]] = []
        self.steps: list[_Made] = []
        self._done: dict[Any, Any] = {}

    def hidden(self, shown: Collection[int]) -> list[Any]:
        """The given values as values that record the ops on them, except those at `shown`."""
        return [
            Written(self, i, x) if _is_hidden(x) and i not in shown else x
            for i, x in enumerate(self.values)
        ]

    def write(self, data: Any) -> Written:
        self.values.append(data)
        return Written(self, len(self.values) - 1, data)

    def do(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.value.body is not None:
            return op.value.body(*args, **params)
        if any(isinstance(x, Carrier) for x in params.values()):
            raise _NotSteps
        places = tuple(map(self._place, args))
        key: Any = op, places, tuple(params.items())
        try:
            if key in self._done:
                return self._done[key]
        except TypeError:  # a slice or an array among the parameters
            key = None
        data = [self.values[place] for place in places]
        out = op(*data, **params)
        made: Any
        if type(out) is tuple:
            whole = self._add(lambda *xs: op(*xs, **params), places, out)
            made = tuple(self._add(_item(i), (whole.place,), part) for i, part in enumerate(out))
        else:
            is_small = all(np.size(x) <= FEW for x in (*data, out))
            is_call = op.derivatives.partials is not None and one_call(op) is not None
            found = function_of(op, data, params, out) if is_small or is_call else None
            made = self._add(found or (lambda *xs: op(*xs, **params)), places, out)
        if key is not None:
            self._done[key] = made
        return made

    def _add(self, function: Function, places: tuple[int, ...], out: Any) -> Written:
        made = self.write(out)
        self.steps.append((function, places, made.place))
        return made

    def _place(self, x: Any) -> int:
        if isinstance(x, Written):
            return x.place
        if isinstance(x, Carrier) or (type(x) not in NUMBERS and x is not None):
            raise _NotSteps  # an array that might be written over
        place = self.write(x).place
        self.constants.append((place, x))
        return place


class _List(_Sheet):
    """A sheet that also lists the ops that are done, one by one."""

    def __init__(self, given: Sequence[Any]) -> None:
        super().__init__(given)
        self.taken: list[Taken] = []

    def do(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.tape.folds or (op.tape.guards is not None and op.value.body is not None):
            raise _NotSteps  # it shows as a node of its own
        if op.value.body is None:
            self.taken.append((op, tuple(map(self._place, args)), dict(params)))
        return super().do(op, args, params)


def _is_hidden(x: Any) -> bool:
    return type(x) in _NUMBERS or type(x) is np.ndarray


def _item(i: int) -> Function:
    return lambda several: several[i]


def function_of(op: Any, args: Sequence[Data], params: Mapping[str, Any], out: Any) -> Function:
    """A function that computes the op's value on other arguments of the same shapes and dtypes, if
    possible without checking them. `out` is the value on these arguments, which must all be small.
    """
    if SCALARS.issuperset(map(type, args)) and op.value.number is not None:
        return (lambda *xs: op.value.number(*xs, **params)) if params else op.value.number
    found = _directly(op, args, params) if type(out) is float or _is_float64(out) else None
    if found is not None:
        function = found
        return (lambda *xs: float(function(*xs))) if type(out) is float else function
    array = op.value.array
    return lambda *xs: plain(array(*xs, **params))


def _directly(op: Any, args: Sequence[Data], params: Mapping[str, Any]) -> Function | None:
    """NumPy's own function if that alone computes the op's value, else None."""
    if not all(type(x) in (float, int) or _is_float64(x) for x in args):
        return None
    if op.value.of_shapes is not None:
        return op.value.of_shapes(*map(shape_of, args), **params)  # type: ignore[no-any-return]
    return None if params and op.params != params else one_call(op)


def _is_float64(x: Any) -> bool:
    return type(x) is np.ndarray and bool(x.dtype.char == "d")


def written(
    function: Callable[..., Sequence[Any]], given: Sequence[Any], shown: Collection[int] = ()
) -> tuple[Sequence[Any], Steps] | None:
    """Run a function and return its results with the steps that do the same for other values; None
    if it has no such steps. Values other than plain data stay constants, and so do those at the
    positions `shown`, which are the same every time.
    """
    sheet = _Sheet(given)
    try:
        found = function(*sheet.hidden(shown))
        if not all(x is None or isinstance(x, Written) for x in found):
            return None
    except Exception:  # the function raises it again when it runs on real values
        return None
    places = [None if x is None else x.place for x in found]
    return [None if x is None else x.data for x in found], _steps(sheet, len(given), places)


def ops_of(
    function: Callable[..., Any], given: Sequence[Any], shown: Collection[int] = ()
) -> tuple[list[Taken], list[tuple[int, Any]]] | None:
    """The ops that a function calls, the last of which gives its result, and the constants by
    position. None if an op has several results, or the function cannot be recorded. `shown` as in
    `written`.
    """
    sheet = _List(given)
    try:
        found = function(*sheet.hidden(shown))
    except Exception:  # as in `written`
        return None
    places = [place for place, _ in sheet.constants]
    made = [i for i in range(len(given), len(sheet.values)) if i not in places]
    if not isinstance(found, Written) or len(made) != len(sheet.taken) or not made:
        return None
    return (sheet.taken, sheet.constants) if found.place == made[-1] else None


def _steps(sheet: _Sheet, count: int, results: Sequence[int | None]) -> Steps:
    """The steps that compute these positions, as functions of the given values."""
    wanted = {place for place in results if place is not None}
    used: list[_Made] = []
    for step in reversed(sheet.steps):
        if step[2] in wanted:
            wanted.update(step[1])
            used.append(step)
    used.reverse()
    constants = {place: x for place, x in sheet.constants if place in wanted}
    names = {place: f"x{i}" for i, place in enumerate([*range(count), *constants])}
    names.update({made: f"y{i}" for i, (_, _, made) in enumerate(used)})
    over = _written_over(sheet, used, results)
    outside = {f"f{i}": function for i, (function, _, _) in enumerate(used)}
    outside |= {names[place]: x for place, x in constants.items()} | {"check": check_memory}
    given = tuple(f"x{i}" for i in range(count))
    ends = [f"{place if place is None else names[place]}, " for place in results]

    def done(first: int) -> Function:
        lines = []
        for i, (_, places, made) in enumerate(used):
            at = over.get(i, -1)
            args = [names[place] for place in (*places, *((at,) if at >= first else ()))]
            if at < first and np.size(sheet.values[made]) > FEW:
                lines.append(f"check({shape_of(sheet.values[made])})")
            lines.append(f"{names[made]} = f{i}({', '.join(args)})")
        lines.append(f"return ({''.join(ends)})")
        made_of = _function(tuple(outside), given, tuple(lines))
        steps: Function = made_of(*outside.values())
        return steps

    return done(len(sheet.values)), done(1), done(0)


@lru_cache(maxsize=1024)
def _function(outside: Sequence[str], args: Sequence[str], lines: Sequence[str]) -> Function:
    """Makes, of the values of the names outside, the function of the arguments with these lines."""
    body = "".join(f"        {line}\n" for line in lines)
    head = f"def make({', '.join(outside)}):\n    def done({', '.join(args)}):\n"
    made: dict[str, Any] = {}
    exec(f"{head}{body}    return done\n", made)  # of names that are numbered, and shapes
    function: Function = made["make"]
    return function


def _written_over(
    sheet: _Sheet, used: Sequence[_Made], results: Sequence[int | None]
) -> dict[int, int]:
    """Map steps to a value whose last reader they are and whose memory their result can take: that
    of an earlier step, else the first value. All have the same shape.
    """
    last: dict[int, int] = {}
    for i, (_, places, _) in enumerate(used):
        last.update(dict.fromkeys(places, i))
    owned = [0]
    found: dict[int, int] = {}
    for i, (function, places, made) in enumerate(used):
        if not isinstance(function, np.ufunc):
            owned = [p for p in owned if p not in places]  # the result may be a view of it
            continue
        result = sheet.values[made]
        for place in reversed(owned):
            if place not in places or last[place] != i or place in results:
                continue
            before = sheet.values[place]
            if _is_float64(before) and _is_float64(result) and before.shape == result.shape:
                found[i] = place
                break
        owned.append(made)
    return found
