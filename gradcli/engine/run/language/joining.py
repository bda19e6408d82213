"""NumPy's `np.r_[...]` and `np.c_[...]`."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np, plain, shape_of
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import number
from gradcli.errors import run_error


class Joiner:
    """Joins the parts between brackets as rows or as columns."""

    said = "what joins arrays"

    def __init__(self, *, columns: bool) -> None:
        self.columns = columns

    def __repr__(self) -> str:
        return "np.c_" if self.columns else "np.r_"

    def at(self, session: Evaluator, index: Any) -> Any:
        """The array of all parts."""
        parts = [_part(session, part) for part in (index if isinstance(index, tuple) else (index,))]
        if not self.columns:
            return session.do(ops.cat, _rows(session, parts), {"dim": 0})
        return session.do(ops.cat, [_column(session, part) for part in parts], {"dim": -1})


def _part(session: Evaluator, part: Any) -> Any:
    if type(part) is slice:
        return _range(part)
    found = session.tensor(list(part) if isinstance(part, tuple) else part)
    if not isinstance(found, Tensor) and type(found) not in NUMBERS:
        raise run_error("wrong-type", f"{kind_of(found)} is no part of an array")
    return found


def _range(part: slice) -> Tensor:
    """`a:b:step`; a complex step such as `5j` is not supported."""
    start = 0 if part.start is None else number(data_of(part.start), "start")
    stop = number(data_of(part.stop), "stop")
    step = 1 if part.step is None else number(data_of(part.step), "step")
    if not step:
        raise run_error("bad-argument", "`step` cannot be 0")
    check_memory((max(ceil((stop - start) / step), 0),))
    return Tensor(plain(np.arange(start, stop, step)))


def _rows(session: Evaluator, parts: Sequence[Any]) -> list[Any]:
    return [
        part if shape_of(part) else session.do(ops.reshape, [part], {"shape": (1,)})
        for part in parts
    ]


def _column(session: Evaluator, part: Any) -> Any:
    """A row as a column, a number as one of one element."""
    if len(shape_of(part)) > 1:
        return part
    return session.do(ops.reshape, [part], {"shape": (-1, 1)})
