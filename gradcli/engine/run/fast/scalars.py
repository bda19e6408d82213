"""The fast path for element-wise ops on numbers and 0-d tensors: the steps of scalar loops.

It gives the same results as `call` and `apply` and skips the checks that cannot fail for such
values. A test compares the two.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

from gradcli.engine.numerics import ieee
from gradcli.engine.ops.op import Op
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site, Version
from gradcli.engine.tape.tensor import Number, OpNode, Tensor, saved_version
from gradcli.engine.values.carrier import SCALAR
from gradcli.engine.values.data import INT64_MAX, INT64_MIN, NUMBERS

Function: TypeAlias = Callable[..., Any]
Maker: TypeAlias = Callable[[Site | None], Function]
"""Makes the function for a place, which holds its site alone: programs have a million places."""

_TESTS: dict[str, Function] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
"""Python's functions that do the same on numbers as the ops with these signs."""

_EXACT: dict[Function | None, Function] = {
    ieee.add: operator.add,
    ieee.sub: operator.sub,
    ieee.mul: operator.mul,
}
"""Those that do the same as a function of an op, which refuses a result outside of 64 bits."""

_FIRST = (0,)
_FIRSTS = (0, 0)
_SCALARS: tuple[Any, Any] = (SCALAR, SCALAR)


def python_s(op: Op) -> Function | None:
    """Python's function that gives a float where an op does, and a number outside of 64 bits where
    it refuses; None of most ops.
    """
    return _EXACT.get(op.value.number)


@cache
def unary(op: Op, general: Function, of_tensors: Callable[[Op], Function]) -> Maker:
    """Return the maker of a one-argument op. `general` is the general path, called with the site,
    too; `of_tensors` makes the function for tensors with dimensions.
    """
    number = op.value.number
    assert number is not None
    partials = op.derivatives.partials
    params = op.params  # their defaults
    (saves_x,) = op.tape.saves
    ((guards_x,),) = op.tape.reads if op.tape.guards is None else op.tape.guards
    guards_out = op.tape.guards_out
    arrays: Function | None = None

    def at(site: Site | None) -> Function:
        def call(session: Evaluator, x: Any) -> Any:
            nonlocal arrays
            kind = type(x)
            if kind in NUMBERS:
                return number(x)
            if (kind is Number or kind is Tensor) and type(x.data) is float and x.view is None:
                out = number(x.data)
                recording = session.recording
                if (
                    type(out) is float
                    and partials is not None
                    and (kind is Number or not session.packing)
                    and (recording or (kind is Tensor and not session.inference.on))
                ):
                    result = kind(out)
                    under = x.node
                    if under is not None and recording:
                        outputs = _FIRST if x.index == 0 else (x.index,)
                        saved = (x,) if saves_x else (SCALAR,)
                        made = OpNode(op, (under,), outputs, saved, params, under.visible, site)
                        made.out = out
                        made.like = SCALAR
                        if saves_x:
                            made.data = (x.data,)
                        if kind is Tensor:
                            if guards_x:
                                made.guards = (x,)
                                made.versions = (0 if x.version is None else x.version.saved(),)
                            if guards_out:
                                result.version = Version()
                                made.cells = (result.version,)
                                made.versions = (*(made.versions or ()), 0)
                        result.node = made
                    return result
            elif kind is Tensor:
                if arrays is None:
                    arrays = of_tensors(op)
                return arrays(session, site, x)
            return general(session, site, x)

        return call

    return at


@cache
def binary(
    op: Op,
    general: Function,
    of_tensors: Callable[[Op], Function],
    reflected: Function | None = None,
) -> Maker:
    """Return the maker of a two-argument op. `general` and `of_tensors` as in `unary`; `reflected`
    is the general path of a number and a tensor, in this order, if it differs.
    """
    sign, _ = op.page.infix or ("", 0)
    number = _TESTS.get(sign, op.value.number)
    assert number is not None
    exact = python_s(op)
    partials = op.derivatives.partials
    params = op.params  # their defaults
    (left_x, left_y), (right_x, right_y) = op.tape.reads
    guards = op.tape.reads if op.tape.guards is None else op.tape.guards
    (of_left_x, of_left_y), (of_right_x, of_right_y) = guards
    short = partials is not None and not op.tape.saves_out and not op.tape.guards_out
    arrays: Function | None = None

    def at(site: Site | None) -> Function:
        def call(session: Evaluator, x: Any, y: Any) -> Any:
            nonlocal arrays
            kind_x, other = type(x), type(y)
            kind = kind_x
            if kind in NUMBERS:
                if other in NUMBERS:
                    if exact is not None:
                        out = exact(x, y)
                        if type(out) is float or INT64_MIN <= out <= INT64_MAX:
                            return out
                    return number(x, y)
                if reflected is not None and other is Tensor:
                    return reflected(session, site, x, y)
                if not short or (other is not Number and other is not Tensor) or y.view is not None:
                    return general(session, site, x, y)
                a, b = x, y.data
                left, right = None, y.node
                outputs = _FIRSTS if y.index == 0 else (0, y.index)
                kind = other
            else:
                if not short or (kind is not Number and kind is not Tensor) or x.view is not None:
                    return general(session, site, x, y)
                a, left = x.data, x.node
                if other in NUMBERS:
                    b, right = y, None
                    outputs = _FIRSTS if x.index == 0 else (x.index, 0)
                else:
                    if (other is not Number and other is not Tensor) or y.view is not None:
                        return general(session, site, x, y)
                    b, right = y.data, y.node
                    outputs = _FIRSTS if x.index == 0 == y.index else (x.index, y.index)
                    if other is Tensor:
                        kind = Tensor
            if (
                type(b) is not float and (other is Tensor or type(b) not in NUMBERS)
                if type(a) is float
                else type(b) is not float or kind_x is Tensor or type(a) not in NUMBERS
            ):
                if arrays is None:
                    arrays = of_tensors(op)
                return arrays(session, site, x, y)  # which handles the dtypes of integer tensors
            out = number(a, b)
            recording = session.recording
            if (
                type(out) is not float
                or not (recording or (kind is Tensor and not session.inference.on))
                or (kind is Tensor and session.packing)
            ):
                return general(session, site, x, y)
            result = kind(out)
            if recording and (left is not None or right is not None):
                visible = (left is not None and left.visible) or (
                    right is not None and right.visible
                )
                saves_x = (
                    left_x if right is None else right_x if left is None else left_x or right_x
                )
                saves_y = (
                    left_y if right is None else right_y if left is None else left_y or right_y
                )
                saved = _SCALARS
                if saves_x or saves_y or kind_x in NUMBERS or other in NUMBERS:
                    saved = (
                        x if saves_x or kind_x in NUMBERS else SCALAR,
                        y if saves_y or other in NUMBERS else SCALAR,
                    )
                made = OpNode(op, (left, right), outputs, saved, params, visible, site)
                made.out = out
                made.like = SCALAR
                if saves_x or saves_y:
                    made.data = (
                        a if saves_x or kind_x in NUMBERS else SCALAR,
                        b if saves_y or other in NUMBERS else SCALAR,
                    )
                if kind is Tensor:
                    kept = []
                    if kind_x is Tensor and (
                        (left is not None and of_left_x) or (right is not None and of_right_x)
                    ):
                        kept.append(x)
                    if other is Tensor and (
                        (left is not None and of_left_y) or (right is not None and of_right_y)
                    ):
                        kept.append(y)
                    if kept:
                        made.guards = tuple(kept)
                        made.versions = tuple(map(saved_version, kept))
                result.node = made
            return result

        return call

    return at
