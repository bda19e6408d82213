"""What a function of ops does with plain data of known shapes, as calls one after the other.

The function, such as a rule of an entry, is done once with values that take down which ops they go
through. On others of the same shapes and dtypes these steps are all of it: no shape is worked out
anew, and what is one call of NumPy there is that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

from gradcli.engine.ops.direct import one_call
from gradcli.engine.ops.extent import FEW
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import NUMBERS, SCALARS, Data, dtype_of, np, plain, shape_of

Function: TypeAlias = Callable[..., Any]
Step: TypeAlias = tuple[Function, Any, Any]
"""A function and the places of its arguments: of one, of two, or None and a tuple of them."""


Taken: TypeAlias = tuple[Any, tuple[int, ...], dict[str, Any]]
"""An op, the places of its arguments, and its parameters."""


class _Unsaid(Exception):
    """The function looks at something that steps cannot say."""


class Written(Carrier):
    """A value of which is taken down where it goes; what it is stays hidden from the function."""

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
        raise _Unsaid

    def avoid(self, number: float) -> NoReturn:
        raise _Unsaid

    def undivided(self) -> NoReturn:
        raise _Unsaid

    def apply(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        """Do the op, and take that down."""
        return self._sheet.do(op, args, params)


class _Sheet:
    """The steps so far, and the values of all places: first those that are given, then what each
    step gives. A constant is given, too.
    """

    def __init__(self, given: Sequence[Any]) -> None:
        self.values = [*given]
        self.constants: list[tuple[int, Any]] = []
        self.steps: list[tuple[Function, tuple[int, ...], int]] = []
        self._done: dict[Any, Any] = {}

    def hidden(self) -> list[Any]:
        """What is given, as values that take down where they go."""
        return [
            Written(self, i, x) if type(x) is float or type(x) is np.ndarray else x
            for i, x in enumerate(self.values)
        ]

    def write(self, data: Any) -> Written:
        self.values.append(data)
        return Written(self, len(self.values) - 1, data)

    def do(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.value.body is not None:
            return op.value.body(*args, **params)
        if any(isinstance(x, Carrier) for x in params.values()):
            raise _Unsaid
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
            found = function_of(op, data, params, out) if is_small else None
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
            raise _Unsaid  # an array that might be written over
        place = self.write(x).place
        self.constants.append((place, x))
        return place


class _List(_Sheet):
    """Likewise which ops are done, one by one."""

    def __init__(self, given: Sequence[Any]) -> None:
        super().__init__(given)
        self.taken: list[Taken] = []

    def do(self, op: Any, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.tape.folds or (op.tape.guards is not None and op.value.body is not None):
            raise _Unsaid  # it shows as a node of its own
        if op.value.body is None:
            self.taken.append((op, tuple(map(self._place, args)), dict(params)))
        return super().do(op, args, params)


def _item(i: int) -> Function:
    return lambda several: several[i]


def function_of(op: Any, args: Sequence[Data], params: Mapping[str, Any], out: Any) -> Function:
    """What gives the op's value on others of the same shapes and dtypes, without looking at them
    where it can: that of these, none of which is large, is `out`.
    """
    if SCALARS.issuperset(map(type, args)) and op.value.number is not None:
        return (lambda *xs: op.value.number(*xs, **params)) if params else op.value.number
    found = _directly(op, args, params) if type(out) is float or _is_usual(out) else None
    if found is not None:
        function = found
        return (lambda *xs: float(function(*xs))) if type(out) is float else function
    array = op.value.array
    return lambda *xs: plain(array(*xs, **params))


def _directly(op: Any, args: Sequence[Data], params: Mapping[str, Any]) -> Function | None:
    """NumPy's own function, where that is all."""
    if not all(type(x) is float or _is_usual(x) for x in args):
        return None
    if op.value.of_shapes is not None:
        return op.value.of_shapes(*map(shape_of, args), **params)  # type: ignore[no-any-return]
    return None if params and op.params != params else one_call(op)


def _is_usual(x: Any) -> bool:
    return type(x) is np.ndarray and bool(x.dtype.char == "d")


def written(
    function: Callable[..., Sequence[Any]], given: Sequence[Any]
) -> tuple[Sequence[Any], Callable[[list[Any]], Sequence[Any]]] | None:
    """What a function gives of values, and what does the same with a list of others in their place;
    None where that cannot be said. What is given as something else than plain data stays as it is.
    """
    sheet = _Sheet(given)
    try:
        found = function(*sheet.hidden())
        if not all(x is None or isinstance(x, Written) for x in found):
            return None
    except Exception:  # whatever it is, it comes again where the function is done without this
        return None
    places = [None if x is None else x.place for x in found]
    return [None if x is None else x.data for x in found], _steps(sheet, len(given), places)


def ops_of(
    function: Callable[..., Any], given: Sequence[Any]
) -> tuple[list[Taken], list[tuple[int, Any]]] | None:
    """The ops that a function goes through, the last of which gives its result, each with one
    result of its own, and the constants at their places; None where that cannot be said.
    """
    sheet = _List(given)
    try:
        found = function(*sheet.hidden())
    except Exception:  # likewise
        return None
    places = [place for place, _ in sheet.constants]
    made = [i for i in range(len(given), len(sheet.values)) if i not in places]
    if not isinstance(found, Written) or len(made) != len(sheet.taken) or not made:
        return None
    return (sheet.taken, sheet.constants) if found.place == made[-1] else None


def _steps(
    sheet: _Sheet, count: int, results: Sequence[int | None]
) -> Callable[[list[Any]], Sequence[Any]]:
    """The steps that lead to these places, as a function of the list of what is given."""
    wanted = {place for place in results if place is not None}
    used: list[tuple[Function, tuple[int, ...], int]] = []
    for step in reversed(sheet.steps):
        if step[2] in wanted:
            wanted.update(step[1])
            used.append(step)
    constants = [x for place, x in sheet.constants if place in wanted]
    order = [*range(count)]
    order += [place for place, _ in sheet.constants if place in wanted]
    order += [made for _, _, made in reversed(used)]
    at = {place: i for i, place in enumerate(order)}
    steps: list[Step] = []
    for function, places, _ in reversed(used):
        where = [at[place] for place in places]
        if len(where) == 1:
            steps.append((function, where[0], None))
        elif len(where) == 2:
            steps.append((function, where[0], where[1]))
        else:
            steps.append((function, None, where))
    ends = [None if place is None else at[place] for place in results]

    def done(values: list[Any]) -> Sequence[Any]:
        values += constants
        append = values.append
        for function, i, j in steps:
            if j is None:
                append(function(values[i]))
            elif i is None:
                append(function(*[values[k] for k in j]))
            else:
                append(function(values[i], values[j]))
        return [None if end is None else values[end] for end in ends]

    return done
