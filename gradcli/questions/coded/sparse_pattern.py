"""Where the matrix of derivatives of a program has entries, from its typed program."""

from __future__ import annotations

import math
from typing import Any

from gradcli.cpython import Uncollected
from gradcli.engine.compile.sparsity.follow import followed
from gradcli.engine.compile.sparsity.sets import Array, TooMany
from gradcli.engine.compile.sparsity.stacks import Unfollowed
from gradcli.engine.compile.typed import NotCompilable, Program, is_array
from gradcli.engine.values.data import Quiet, np
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.asked.sparse_plan import Asked, Pattern, hessian_plan, jacobian_plan
from gradcli.questions.coded.compiled import coded
from gradcli.questions.coded.derivatives import LoweredDerivatives
from gradcli.questions.coded.given import typed
from gradcli.questions.coded.second_order import SecondOrder


class _First(LoweredDerivatives):
    """A program whose results are to be differentiated."""

    def derived(self, program: Program, request: Request) -> Program:
        return program

    def finished(self, program: Program, request: Request) -> Program:
        return program


class _Second(SecondOrder):
    """A program with its gradient, which is to be differentiated."""

    def again(self, program: Program, request: Request) -> Program:
        return program

    def finished(self, program: Program, request: Request) -> Program:
        return program


def pattern_of(loaded: Loaded, request: Request, order: int) -> Pattern | str:
    """The entries of the first or second derivatives that may differ from zero for any values of
    the names that they are taken by, or the reason why they are not known.
    """
    try:
        with Uncollected(), Quiet():
            lowering = _First if order == 1 else _Second
            lowered, _ = coded(loaded, lowering, request, lambda program: None, None)
            assert isinstance(lowered, LoweredDerivatives), "made by one of these"
            known = _known(lowered, request)
            found, dense = followed(lowered.program, lowered.points, known)
    except NotCompilable as error:
        return error.reason
    except Unfollowed:
        return "its paths are not followed"
    except TooMany:
        return "too many numbers depend on each other"
    shapes = [shape for _, shape in lowered.axes()]
    results = found[: lowered.width] if order == 1 else found[lowered.before :]
    rows, columns = _entries(results)
    return Pattern(
        lowered.names, shapes, lowered.shape if order == 1 else None, rows, columns, dense
    )


def planned(loaded: Loaded, request: Request, order: int) -> Asked:
    """The products for the entries of the first or second derivatives."""
    found = pattern_of(loaded, request, order)
    if isinstance(found, str):
        return Asked(None, found)
    plan = jacobian_plan(found, request.mode) if order == 1 else hessian_plan(found)
    return Asked(plan, "")


def _entries(results: list[Array]) -> tuple[Any, Any]:
    """The entries of the rows of several results, one behind the other."""
    rows, columns, start = [], [], 0
    for sets in results:
        row, column = np.divmod(sets.keys, sets.count)
        rows.append(row + start)
        columns.append(column)
        start += sets.size
    return np.concatenate(rows), np.concatenate(columns)


def _known(lowered: LoweredDerivatives, request: Request) -> dict[int, Any]:
    """The values of the program's inputs, by number, except random numbers.

    Raises:
        Unfollowed: If one cannot have the value that is given.
    """
    values = {name: given.value for name, given in request.inputs.items()}
    drawn = {name for name, _ in lowered.draws}
    known: dict[int, Any] = {}
    at = 0
    for entry in lowered.inputs:
        name, type_, shape = entry
        count = 1 if is_array(type_) else math.prod(shape)
        own = lowered.program.inputs[at : at + count]
        at += count
        if name not in drawn:
            found = typed([entry], values)
            if found is None:
                raise Unfollowed
            known |= {v.number: x for v, x in zip(own, found, strict=True)}
    behind = zip(lowered.program.inputs[at:], lowered.constants, strict=False)
    return known | {v.number: x for v, x in behind}
