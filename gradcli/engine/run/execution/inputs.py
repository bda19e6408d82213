"""Convert values from outside to the inputs that the program declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.engine.values.data import NUMBERS, np
from gradcli.errors import Diagnostic, GradError, InputError, Label, listed, nearest
from gradcli.ir.program import Input, Program
from gradcli.record import Record
from gradcli.source import Source

KINDS = {"float": "float64", "int": "int64", "bool": "bool"}
"""The dtypes of values declared as one of these."""

_NAMES = {bool: "bool", int: "int"}
_MOST = 2**63 - 1  # the largest int
_SCALARS = NUMBERS | {Number}


class Given(Record):
    """A value from outside and how the user wrote it, such as `x=2`: a text, or what gives it when
    a message shows it.
    """

    __slots__ = ("value", "origin")
    value: Any
    origin: object


def check_names(given: Mapping[str, Given], program: Program) -> None:
    """Refuse values for names that are not inputs.

    Raises:
        InputError: With all of them, listing the program's inputs.
    """
    known = [i.name for i in program.inputs]
    wrong = [name for name in given if name not in known]
    if wrong:
        raise InputError(*(_unknown(name, given[name], known, program) for name in wrong))


def _unknown(name: str, value: Given, known: Sequence[str], program: Program) -> Diagnostic:
    if name in program.names:
        message = f"`{name}` is computed by the program and cannot be given"
    else:
        message = f"the program has no input `{name}`"
    help = f"its inputs are {', '.join(known)}" if known else "it has no inputs"
    notes = (f"given as {value.origin}",)
    return Diagnostic("unknown-input", message, notes=notes, help=nearest(name, known) or help)


def check_complete(given: Mapping[str, Given], program: Program) -> None:
    """Refuse to run a program without required values.

    Raises:
        InputError: With all that are missing, and the arguments to add.
    """
    missing = [i for i in program.inputs if i.is_missing(given)]
    if not missing:
        return
    first, *others = missing
    names = listed([i.name for i in missing])
    message = f"inputs {names} have no values" if others else f"input {names} has no value"
    labels = [Label(i.span, "") for i in others]
    help = f"add {' '.join(f'{i.name}=VALUE' for i in missing)}"
    raise InputError(
        Diagnostic("missing-input", message, program.source, first.span, labels=labels, help=help)
    )


def missing_input(name: str) -> InputError:
    """The error for a free name that a function reads after all and that has no value."""
    message = f"input `{name}` has no value"
    return InputError(Diagnostic("missing-input", message, help=f"add {name}=VALUE"))


class Inputs:
    """The values given for one run, bound to the program's inputs one after the other.

    A size such as `n` in `float[n]` is bound by the first value that has it and checked against
    every other.
    """

    def __init__(self, given: Mapping[str, Given], source: Source, session: Session) -> None:
        self.given = given
        self.source = source
        self.session = session
        self.sizes: dict[str, tuple[int, str]] = {}

    def needs(self, name: str) -> bool:
        """True if the default of a typed input has to be computed."""
        return name not in self.given

    def size(self, name: str) -> int:
        """The size that a value has bound."""
        return self.sizes[name][0]

    def bind(self, i: Input, default: Any) -> Any:
        """The value of an input: the one given, or its default, checked and converted.

        Raises:
            InputError: If it has the wrong type or shape.
        """
        given = self.given.get(i.name)
        if i.kind != "constant" and type(default) is list and _is_numeric(default):
            default = self.session.tensor(default)
            if i.type is not None and 0 in default.shape:  # no numbers are of any kind
                default = _cast(default, KINDS[i.type[0]])
        if given is None:
            value = default
        else:
            value = self._converted(i, given, default if i.type is None else None)
        if i.type is not None:
            value = self._typed(i, value, given)
        if i.kind == "param":
            value = self._param(i, value)
        if type(value) is int:
            self._count(i, given, value)
        value = self.session.watched.watch(self.session, i.name, value)
        if isinstance(value, Tensor) and value.node is not None and value.node.site is None:
            value.node.site = Site(i.span, i.name)
        return value

    def _converted(self, i: Input, given: Given, default: Any) -> Any:
        """A value from outside in the form that its type asks for, without one its default: a
        number, tensor, list or tuple, of floats unless the type or the default is not.
        """
        kind = i.type[0] if i.type is not None else _kind(default)
        if i.kind == "param" and i.type is None:
            kind = "float"
        value = self._plain(i, given)
        if type(default) is list or type(default) is tuple:
            return self._sequence(i, given, value, default, kind)
        if type(value) is list or type(value) is tuple:
            value = self._stacked(i, given, value)
        if type(default) is str or not (isinstance(value, Tensor) or type(value) in NUMBERS):
            if type(value) is not type(default) or default is None:
                wanted = "a number or tensor" if type(default) is not str else "a string"
                message = f"`{i.name}` needs {wanted}, got {kind_of(value)}"
                raise self._refused(i, "bad-input", message, None, given)
            return value
        value = self._of_kind(i, given, value, kind)
        if (i.type is not None and i.type[1] is None) or type(default) in _SCALARS:
            return self._single(i, given, value)
        return _like(value, default) if isinstance(default, Tensor) else value

    def _plain(self, i: Input, given: Given) -> Any:
        """The given value, an array as a tensor or number; on memory of its own, as other runs may
        use the same value.
        """
        value = _listed(given.value)
        if isinstance(value, Tensor):
            return Tensor(value.data if type(value.data) in NUMBERS else value.data.copy())
        if not hasattr(value, "dtype"):
            return value
        if value.dtype.kind == "u" and value.size and value.max() > _MOST:
            raise self._too_large(i, given)
        return _from_array(value)

    def _stacked(self, i: Input, given: Given, value: Any) -> Any:
        try:
            return self.session.tensor(list(value))
        except GradError as error:
            raise self._refused(i, "bad-input", f"{given.origin}: {error}", None) from None

    def _sequence(self, i: Input, given: Given, value: Any, default: Any, kind: str) -> Any:
        """A value given for a list or tuple, with its numbers converted to a kind."""
        if isinstance(value, Tensor) and value.ndim:
            value = value.data.tolist()
        if type(value) is not list and type(value) is not tuple:
            message = f"`{i.name}` needs {kind_of(default)}, got {kind_of(value)}"
            raise self._refused(i, "bad-input", message, None, given)
        return type(default)(self._item(i, given, item, kind) for item in value)

    def _item(self, i: Input, given: Given, item: Any, kind: str) -> Any:
        if type(item) is list or type(item) is tuple:
            return type(item)(self._item(i, given, inner, kind) for inner in item)
        return self._of_kind(i, given, item, kind)

    def _of_kind(self, i: Input, given: Given, value: Any, kind: str) -> Any:
        """A number or tensor converted to a kind; any other value unchanged."""
        if type(value) in NUMBERS:
            return self._number(i, given, value, kind)
        if not isinstance(value, Tensor):
            return value
        data = value.data
        if type(data) in NUMBERS:
            return Tensor(self._number(i, given, data, kind))
        if kind == "float":
            return Tensor(data if data.dtype.kind == "f" else data.astype(np.float64))
        if kind == "bool":
            if not ((data == 0) | (data == 1)).all():
                raise self._wrong_kind(i, given, kind)
            return Tensor(data.astype(np.bool_))
        if data.dtype.kind == "f":
            if not (data == np.floor(data)).all() or np.isinf(data).any():
                raise self._wrong_kind(i, given, kind)
            if (abs(data) >= 2.0**63).any():
                raise self._too_large(i, given)
        return Tensor(data.astype(np.int64))

    def _single(self, i: Input, given: Given, value: Any) -> Any:
        """The number that a value given for a number is."""
        if type(value) in NUMBERS:
            return value
        if value.shape == ():
            return value.data if type(value.data) in NUMBERS else value.data.item()
        if type(given.value) is tuple:
            help = "write decimals after a point"
        elif i.type is None:
            word = "param" if i.kind == "param" else "input"
            help = f"`{word} {i.name}: float[...]` takes numbers and tensors of any shape"
        else:
            help = None
        raise self._wrong_shape(i, given, "a number", value, help)

    def _number(self, i: Input, given: Given, value: Any, kind: str) -> Any:
        """A number converted to a kind: a whole float is an int, 0 and 1 are bools."""
        try:
            real = float(value)
        except OverflowError:
            raise self._too_large(i, given) from None
        if kind == "float":
            return real
        if kind == "bool" and value in (0, 1):
            return bool(value)
        if kind == "bool" or not real.is_integer():
            raise self._wrong_kind(i, given, kind)
        if not -_MOST - 1 <= int(value) <= _MOST:
            raise self._too_large(i, given)
        return int(value)

    def _too_large(self, i: Input, given: Given) -> InputError:
        return self._refused(
            i, "bad-input", f"`{i.name}` gets an int of more than 64 bits", None, given
        )

    def _typed(self, i: Input, value: Any, given: Given | None) -> Any:
        assert i.type is not None
        kind, sizes = i.type
        if not isinstance(value, Tensor) and type(value) not in NUMBERS:
            raise self._wrong_kind(i, given, kind)
        if kind == "float":
            if type(value) in NUMBERS:
                value = float(value)
            elif isinstance(value, Tensor) and not value.dtype.startswith("float"):
                value = _cast(value, "float64")
        elif _kind(value) != kind:
            raise self._wrong_kind(i, given, kind)
        if sizes is None:
            if isinstance(value, Tensor) and value.shape != ():
                raise self._wrong_shape(i, given, "a number", value, None)
            return value
        if type(value) in NUMBERS:
            value = Tensor(value)
        self._fit(i, given, sizes, value)
        return value

    def _fit(self, i: Input, given: Given | None, sizes: tuple[object, ...], value: Tensor) -> None:
        wrong = misfit(i.name, value.shape, sizes, self.sizes)
        if wrong is not None:
            raise self._refused(i, "shape-mismatch", wrong, None, given)

    def _count(self, i: Input, given: Given | None, value: int) -> None:
        """An int input that is a size, too, is that size."""
        known, by = self.sizes.setdefault(i.name, (value, i.name))
        if known != value:
            message = f"`{i.name}` is {value}, but `{by}` has the size {known} in its place"
            raise self._refused(i, "shape-mismatch", message, None, given)

    def _param(self, i: Input, value: Any) -> Tensor:
        if isinstance(value, Tensor):
            data = value.data
        elif type(value) in NUMBERS:
            data = value
        else:
            raise self._refused(
                i, "bad-input", f"a param is a number or tensor, got {kind_of(value)}", None
            )
        if type(data) in NUMBERS:
            return leaf(float(data))
        return leaf(data if data.dtype.kind == "f" else data.astype(np.float64))

    def _wrong_kind(self, i: Input, given: Given | None, kind: str) -> InputError:
        origin = "its default" if given is None else given.origin
        return self._refused(
            i, "wrong-type", f"`{i.name}` is declared {kind}, which {origin} is not", None
        )

    def _wrong_shape(
        self, i: Input, given: Given | None, wanted: str, value: Tensor, help: str | None
    ) -> InputError:
        message = f"`{i.name}` is declared with {wanted}, got shape {list(value.shape)}"
        return self._refused(i, "shape-mismatch", message, help, given)

    def _refused(
        self, i: Input, code: str, message: str, help: str | None, given: Given | None = None
    ) -> InputError:
        notes = () if given is None else (f"given as {given.origin}",)
        return InputError(Diagnostic(code, message, self.source, i.span, notes=notes, help=help))


def misfit(
    name: str, shape: Sequence[int], sizes: Sequence[object], bound: dict[str, tuple[int, str]]
) -> str | None:
    """Why a shape is not the one that an input declares, or None if it is.

    Args:
        name: The input.
        shape: The shape of its value.
        sizes: The declared sizes: ints, names, or one Ellipsis for any shape.
        bound: Sizes by their names, with the input that has bound them; new ones are added.
    """
    if tuple(sizes) == (Ellipsis,):
        return None
    wanted = f"shape [{', '.join(map(str, sizes))}]"
    other = f"`{name}` is declared with {wanted}, got shape {list(shape)}"
    if len(shape) != len(sizes):
        return other
    for n, size in zip(shape, sizes, strict=True):
        if isinstance(size, int):
            if n != size:
                return other
        elif isinstance(size, str):
            known, by = bound.setdefault(size, (n, name))
            if known != n:
                return f"`{name}` has shape {list(shape)}, but {size} is {known} by `{by}`"
    return None


def _kind(value: Any) -> str:
    """The kind of a value, or of the numbers in it: "float", "int" or "bool"; "float" where there
    is none.
    """
    if isinstance(value, Tensor):
        return value.dtype.rstrip("0123456789")
    if type(value) is list or type(value) is tuple:
        kinds = {_kind(item) for item in value}
        return next((kind for kind in ("float", "int") if kind in kinds or not kinds), "bool")
    return _NAMES.get(type(value), "float")


def _is_numeric(value: Any) -> bool:
    """True if a list holds nothing but numbers and tensors, at any depth."""
    if type(value) is list:
        return all(map(_is_numeric, value))
    return isinstance(value, Tensor) or type(value) in NUMBERS


def _like(value: Any, default: Tensor) -> Tensor:
    """A value given for a tensor is a tensor, and a leaf where the default is one."""
    data = value.data if isinstance(value, Tensor) else value
    if default.requires_grad:
        return leaf(float(data) if type(data) in NUMBERS else data)
    return value if isinstance(value, Tensor) else Tensor(value)


def _cast(value: Tensor, dtype: str) -> Tensor:
    data = value.data
    if type(data) in NUMBERS:
        return Tensor(bool(data) if dtype == "bool" else float(data))
    return Tensor(data.astype(dtype))


def _listed(value: Any) -> Any:
    """A list or tuple with Python values in place of NumPy's; any other value unchanged."""
    if (type(value) is not list and type(value) is not tuple) or set(map(type, value)) <= NUMBERS:
        return value
    return type(value)(
        item.tolist() if hasattr(item, "tolist") and not isinstance(item, Tensor) else _listed(item)
        for item in value
    )


def _from_array(array: Any) -> Any:
    kept = {"f": array.dtype.name if array.dtype.name == "float32" else "float64", "b": "bool"}
    dtype = kept.get(array.dtype.kind, "int64" if array.dtype.kind in "iu" else None)
    if dtype is None:
        return array
    data = np.array(array, dtype, order="C")
    return data.item() if data.ndim == 0 and dtype != "float32" else Tensor(data)
