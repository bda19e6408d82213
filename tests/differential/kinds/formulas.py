"""Random formulas of given names: they keep the shape of a tensor, so that they fit anywhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..expressions import fits, floating, number
from ..known import CHANGED_SINCE, REFUSALS
from ..writer import NotThere, Writer, indented

UNARY = (
    "torch.sin({a})", "torch.tanh({a})", "{a} * {a}", "torch.exp(-({a}) ** 2)", "({a}).cos()",
    "torch.sigmoid({a})", "{a} / (1 + ({a}) ** 2)", "F.softplus({a})", "({a}).abs()", "({a}) ** 3",
    "torch.atan({a})", "torch.relu({a})", "-({a})", "({a}) * 0.5", "F.silu({a})", "({a}).clamp(-1, 1)",
    "torch.where({a} > 0, {a}, 0.1 * ({a}))", "torch.log1p(({a}) ** 2)", "F.elu({a})",
)  # fmt: skip
BINARY = (
    "{a} + {b}", "{a} - {b}", "({a}) * ({b})", "({a}) / (({b}) ** 2 + 1)", "({a}) * 2 + {b}",
    "({a}) * ({b}) - {a}",
)  # fmt: skip


def formula(w: Writer, tensors: Sequence[str], numbers: Sequence[str] = (), depth: int = 2) -> str:
    """A tensor of the shape to which the tensors broadcast."""
    a = w.rng.choice(tensors)
    if depth == 0:
        return a
    if w.rng.random() < 0.5:
        return w.rng.choice(UNARY).format(a=formula(w, tensors, numbers, depth - 1))
    others = [*tensors, *numbers, *numbers, number(w)]
    return w.rng.choice(BINARY).format(
        a=formula(w, tensors, numbers, depth - 1), b=w.rng.choice(others)
    )


def some(w: Writer) -> str:
    """The name of a floating tensor.

    Raises:
        NotThere: If there is none.
    """
    found = w.pick(floating)
    if found is None:
        raise NotThere("a floating tensor")
    return found


def pair(w: Writer) -> tuple[str, str]:
    """The names of two floating tensors that broadcast."""
    a = some(w)
    one = fits(w, a)
    return a, w.pick(lambda x: x.is_floating_point() and one(x)) or a


def condition(w: Writer, x: str) -> str:
    """A test of a tensor's elements."""
    return w.rng.choice(
        [f"{x}.sum() > {number(w)}", f"({x} > 0).any()", f"{x}.mean() < {number(w)}",
         f"{x}.numel() > {w.rng.randint(0, 4)}", f"({x} < 1).all()"]
    )  # fmt: skip


def attempted(w: Writer, text: str) -> None:
    """A statement in a `try`. It is left out where PyTorch refuses what gradcli does on purpose."""
    try:
        exec(text, dict(w.scope))
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        refusals = [CHANGED_SINCE, *(row[1] for row in REFUSALS if row[0] == "PyTorch")]
        if any(re.search(pattern, said) for pattern in refusals):
            return w.again()
    w.again()
    w.statement(f"try:\n{indented(text)}\nexcept RuntimeError:\n    print('refused')")
    return None


def lines(*parts: str) -> str:
    """A text of several lines, without the empty ones."""
    return "\n".join(part for part in parts if part)
