"""Programs of one kind: statements of the kind, and some of all kinds between them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .. import statements
from ..program import Program
from ..writer import NotThere, Writer
from . import (
    classes,
    distributions,
    dtypes,
    edges,
    exceptions,
    generators,
    networks,
    optimizers,
    views,
)

BETWEEN = 0.25  # of the statements are of no kind
UNCHANGING = (statements.assign, statements.scalars, statements.listed, statements.branch, statements.function, statements.gradients, statements.transform)  # fmt: skip
KINDS: dict[str, tuple[statements.Write, ...]] = {
    "classes": classes.STATEMENTS,
    "exceptions": exceptions.STATEMENTS,
    "generators": generators.STATEMENTS,
    "nn": networks.STATEMENTS,
    "optim": optimizers.STATEMENTS,
    "distributions": distributions.STATEMENTS,
    "dtypes": dtypes.STATEMENTS,
    "views": views.STATEMENTS,
    "edges": edges.STATEMENTS,
}


def writing(kind: str) -> Callable[[Any], Program]:
    """What writes the program of a seed."""
    if kind == "edges":
        return edges.written

    def written(seed: Any) -> Program:
        w = Writer(f"{kind} {seed}")
        between = UNCHANGING if kind in ("nn", "optim") else statements.KINDS
        statements.inputs(w)
        for _ in range(w.rng.randint(1, 4)):
            among = between if w.rng.random() < BETWEEN else KINDS[kind]
            with suppress(NotThere):
                w.rng.choice(among)(w)
        order = w.rng.choice([0, 0, 0, 1, 1, 2, 3])
        most = statements.elements(w) > statements.MOST
        return w.program(*statements.result(w), min(order, 2) if most else order)

    return written
