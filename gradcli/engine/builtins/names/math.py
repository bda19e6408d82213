"""Functions of Python's `math` on whole numbers, lists and the parts of a float."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

from gradcli.engine.builtins.names.modules import done
from gradcli.engine.numerics import ieee
from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.promotion import is_number
from gradcli.engine.values.data import NUMBERS
from gradcli.engine.values.sizes import number, whole
from gradcli.errors import run_error

FAMILY = 333, "Python's math on whole numbers"


def _as_python(name: str, given: list[Any]) -> Any:
    """The result of Python's function, with its error as the program's."""
    try:
        found = getattr(math, name)(*given)
    except (ValueError, OverflowError, TypeError) as error:
        raise run_error("bad-argument", f"`math.{name}`: {error}", raises=error) from None
    return ieee.whole(found) if type(found) is int else found


def _math(name: str, call: Callable[..., Any], args: tuple[str, ...], doc: str, by: str = "") -> Op:
    return host(
        f"math_{name}",
        call,
        args=args,
        infer=lambda known, *values: known.unknown(*values),
        by=tuple(by.split()),
        sees=False,
        doc=f"`math.{name}`: {doc}.",
        source=f"Python: math.{name}",
    )


def _of_ints(name: str, args: tuple[str, ...], doc: str) -> Op:
    least = sum("=" not in arg for arg in args)

    def call(session: Any, *values: Any) -> Any:
        given = [whole(v, "n") for k, v in enumerate(values) if k < least or v is not None]
        most = max(map(abs, given), default=0)
        if name in ("comb", "factorial", "perm") and most > _MOST:
            raise run_error("integer-overflow", f"`math.{name}` of {most} is outside 64 bits")
        return _as_python(name, given)

    return _math(name, call, args, doc)


_MOST = 10**6

comb: Op = _of_ints("comb", ("n", "k"), "the ways to choose k of n")
factorial: Op = _of_ints("factorial", ("n",), "the product of the ints from 1 to n")
gcd: Op = _of_ints("gcd", ("*integers=None",), "the greatest common divisor")
isqrt: Op = _of_ints("isqrt", ("n",), "the whole part of the square root")
lcm: Op = _of_ints("lcm", ("*integers=None",), "the least common multiple")
perm: Op = _of_ints("perm", ("n", "k=None"), "the ways to choose k of n in order")


def _of_floats(name: str, args: tuple[str, ...], doc: str) -> Op:
    def call(session: Any, *values: Any) -> Any:
        return _as_python(name, [number(v, "x") for v in values])

    return _math(name, call, args, doc)


frexp: Op = _of_floats("frexp", ("x",), "mantissa and exponent, x = m * 2 ** e")
ldexp: Op = _of_floats("ldexp", ("x", "i"), "x * 2 ** i")
modf: Op = _of_floats("modf", ("x",), "fraction and whole part")
nextafter: Op = _of_floats("nextafter", ("x", "y"), "the next float towards y")
ulp: Op = _of_floats("ulp", ("x",), "the distance to the next float")


def _fsum(session: Any, values: Any) -> Any:
    items = [v if is_number(v) else number(v, "values") for v in session.items(values)]
    if all(type(item) in NUMBERS for item in items):
        return _as_python("fsum", [items])
    return reduce(lambda a, b: done(session, "add", a, b), items, 0.0)


def _prod(session: Any, values: Any, start: Any) -> Any:
    first = 1 if start is None else start
    return reduce(lambda a, b: done(session, "mul", a, b), session.items(values), first)


def _dist(session: Any, p: Any, q: Any) -> Any:
    points = session.items(p), session.items(q)
    if len(points[0]) != len(points[1]):
        raise run_error("shape-mismatch", "`math.dist` needs points of as many coordinates")
    apart = [done(session, "sub", a, b) for a, b in zip(*points, strict=True)]
    return reduce(lambda a, b: done(session, "hypot", a, b), apart, 0.0)


fsum: Op = _math("fsum", _fsum, ("values",), "the sum, of numbers without loss on its way", "add")
prod: Op = _math("prod", _prod, ("values", "start=None"), "the product of the items", "mul")
dist: Op = _math("dist", _dist, ("p", "q"), "the distance of two points", "sub hypot")
