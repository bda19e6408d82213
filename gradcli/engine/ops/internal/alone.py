"""The value of an op on a single element, equal to the last digit to that of the op on arrays.
NumPy's array functions and the C library differ in some last digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED, Op, op, sample
from gradcli.engine.values.carrier import Carrier
from gradcli.engine.values.data import Quiet, dtype_of, np, shape_of
from gradcli.engine.values.sizes import broadcast
from gradcli.errors import GradError


class Element(Carrier):
    """A number in a rule. A `wide` one is an element of an array: an op on it gives the element
    that the op on arrays gives, and it has the rules of the op on elements.
    """

    __slots__ = ("_value", "_wide")

    def __init__(self, value: Any, wide: bool = True) -> None:
        self._value = value
        self._wide = wide

    @property
    def shape(self) -> tuple[int, ...]:
        return shape_of(self._value)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> str:
        return dtype_of(self._value)

    @property
    def recorded(self) -> bool:
        return isinstance(self._value, Carrier) and self._value.recorded

    def apply(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.value.body is not None:
            return op.value.body(*args, **params)
        inside = list(map(_inside, args))
        wide = tuple(isinstance(x, Element) and x._wide for x in args)
        if not any(wide) or op.value.is_exact(*inside, **params):
            return Element(op(*inside, **params), any(wide))
        return Element(alone(*inside, of=op.name, wide=wide, known=tuple(params.items())))

    def avoid(self, number: float) -> None:
        if isinstance(self._value, Carrier):
            self._value.avoid(number)


def _inside(x: Any) -> Any:
    return x._value if isinstance(x, Element) else x


def _elements(values: Sequence[Any], wide: Sequence[bool]) -> list[Any]:
    return [
        Element(x, w) if w or isinstance(x, Carrier) else x
        for x, w in zip(values, wide, strict=True)
    ]


Known: TypeAlias = Sequence[tuple[str, Any]]


def _number(*numbers: Any, of: str, wide: Sequence[bool], known: Known = ()) -> Any:
    arrays = [np.array([x]) if w else x for x, w in zip(numbers, wide, strict=True)]
    with Quiet():
        return ops[of].value.array(*arrays, **dict(known)).item()


@cache
def stands_alone(of: str, wide: Sequence[bool], known: Known) -> bool:
    """True if the result of an op on arrays for one element depends neither on the other elements
    nor on its place, with the functions that NumPy has on this machine.
    """
    numbers = [_TRIED[i:] + _TRIED[:i] for i in range(len(wide))]
    columns: list[Any] = [np.array(n) if w else n[0] for n, w in zip(numbers, wide, strict=True)]
    try:
        with Quiet():
            whole = ops[of].value.array(*columns, **dict(known))
            parts = [
                ops[of].value.array(
                    *(c[k : k + 1] if w else c for c, w in zip(columns, wide, strict=True)),
                    **dict(known),
                )
                for k in range(len(_TRIED))
            ]
    except (GradError, TypeError, ValueError):
        return False
    return bool(whole.tobytes() == np.concatenate(parts).tobytes())


_ZEROS = (0.0, -0.0, 0.0)
_NUMBERS = (0.1, 0.75, -0.37, 33.3, -2.6, 0.9, 1.3, -1.0, 7.2, 0.013, 1.0, -0.3)
_TRIED = (*_ZEROS, *_NUMBERS, *_ZEROS, *_NUMBERS, *_ZEROS)


def _shape(*shapes: Any, of: str, wide: Sequence[bool], known: Known = ()) -> Any:
    return broadcast(*shapes)


def _pulled(
    g: Any, out: Any, i: int, *args: Any, of: str, wide: Sequence[bool], known: Known = ()
) -> Any:
    wanted = [k == i for k in range(len(args))]
    read = _elements(args, wide)
    return _inside(ops[of].pull(Element(g), Element(out), read, dict(known), wanted)[i])


def _pushed(
    dot: Any, out: Any, i: int, *args: Any, of: str, wide: Sequence[bool], known: Known = ()
) -> Any:
    dots = [Element(dot) if k == i else None for k in range(len(args))]
    return _inside(ops[of].push(dots, Element(out), _elements(args, wide), dict(known)))


alone: Op = op(
    "alone",
    args=("*numbers",),
    params={"of": REQUIRED, "wide": REQUIRED, "known": ()},
    doc="Result of the op `of`, with parameters, for arrays, the arguments that are `wide`, and "
    "numbers, of a single element of the arrays.",
    number=_number,
    array=lambda *arrays, of, wide, known=(): ops[of].value.array(*arrays, **dict(known)),
    shape=_shape,
    dtype=lambda *args, of, wide, known=(): ops[of].statics.dtype(*args, **dict(known)),
    vjp=(_pulled,),
    jvp=(_pushed,),
    saves=("numbers", "out"),
    samples=lambda: (
        sample([0.5, -1.0], of="tanh", wide=(True,)),
        sample([0.5, 2.0], [1.5, 3.0], of="pow", wide=(True, True)),
    ),
)
