"""Programs at edges: zeros of both signs, infinities, nan, the smallest and largest numbers, ties,
kinks, empty tensors and those without dimensions.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch

from .. import statements
from ..expressions import (
    ACTIVATIONS,
    ALONG,
    CORNERED,
    PAIRED,
    SMOOTH,
    WHOLE,
    dim_of,
    fits,
    floating,
    number,
)
from ..program import Input, Program
from ..writer import NotThere, Writer
from .formulas import some

PLAIN = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -3.0)
FAR = (
    float("inf"),
    float("-inf"),
    float("nan"),
    5e-324,
    1e-310,
    1e-16,
    1e100,
    -1e100,
    40.0,
    -40.0,
    1e3,
    -1e3,
    1e8,
    1e-8,
)


class WriterOfEdges(Writer):
    """Writes a program of any numbers, infinite ones too."""

    def keeps(self, found: Any) -> bool:
        """Whether a value is small in size."""
        if isinstance(found, torch.Tensor):
            return found.numel() <= 60
        return not isinstance(found, int) or abs(found) < 2**53


def inputs(w: Writer) -> None:
    """Edges in all shapes."""
    rng = w.rng
    n = rng.choice([1, 2, 2, 3, 3])
    shapes = rng.sample(
        [(), (), (n,), (n,), (n,), (2, n), (n, 1), (0,), (0, n), (1, 1)], rng.randint(1, 3)
    )
    far = rng.random() < 0.5
    for name, sizes in zip("xyz", shapes, strict=False):
        one = Input(
            name, edges(w, sizes, far), "float64", True, rng.random() < 0.2 and 0 not in sizes
        )
        w.given(one)


def edges(w: Writer, sizes: tuple[int, ...], far: bool) -> Any:
    """Numbers at edges in nested lists."""
    if sizes:
        return [edges(w, sizes[1:], far) for _ in range(sizes[0])]
    return w.rng.choice(FAR) if far and w.rng.random() < 0.5 else w.rng.choice(PLAIN)


def alone(w: Writer) -> None:
    x = some(w)
    name = w.rng.choice([*SMOOTH, *CORNERED])
    w.assign(
        w.rng.choice(
            [
                f"torch.{name}({x})",
                f"F.{w.rng.choice(ACTIVATIONS)}({x})",
                f"{x} ** {w.rng.choice(['2', '3', '0.5', '-1', '0', '1', '-0.5', '2.5'])}",
                f"{number(w)} ** {x}",
                f"1 / {x}",
                f"{x}.clamp(0, 1)",
                f"{x}.clamp(-1, 1)",
                f"torch.nan_to_num({x}, nan=1.0, posinf=2.0)",
            ]
        )
    )


def paired(w: Writer) -> None:
    a = some(w)
    one = fits(w, a)
    b = w.pick(lambda x: x.is_floating_point() and one(x)) or a
    w.assign(
        w.rng.choice(
            [
                *PAIRED,
                "{a} / {b}",
                "{a} * {b}",
                "{a} ** {b}",
                "{a} - {b}",
                "{a} % {b}",
                "{a} // {b}",
                "torch.logaddexp2({a}, {b})",
                "torch.heaviside({a}, {b})",
                "torch.where({a} > 0, torch.log({a}), {b})",
                "torch.where({a} > 0, torch.sqrt({a}), 0)",
                "torch.where(torch.isfinite({a}), {a}, {b})",
                "torch.special.xlog1py({a}, {b})",
                "torch.clamp({a}, min={b})",
                "torch.isclose({a}, {b}, equal_nan=True)",
                "{a} * ({b} > 0)",
            ]
        ).format(a=a, b=b)
    )


def whole(w: Writer) -> None:
    x = some(w)
    w.assign(
        w.rng.choice(
            [
                *(f"{x}.{n}()" for n in WHOLE),
                f"{x}.std(unbiased=False)",
                f"{x}.var(correction=0)",
                f"torch.logsumexp({x}.reshape(-1), 0)",
                f"{x}.norm({w.rng.choice(['1', '2', 'math.inf', '0', '3', '0.5'])})",
                f"{x}.reshape(-1).quantile(0.5)",
                f"{x}.nansum()",
                f"{x}.nanmean()",
                f"torch.aminmax({x})[0]",
                f"torch.amax({x}.reshape(-1), 0)",
                f"{x}.argmax()",
                f"{x}.all()",
                f"{x}.any()",
                f"torch.count_nonzero({x})",
                f"torch.linalg.vector_norm({x})",
                f"{x}.nanmedian()",
            ]
        )
    )


def along(w: Writer) -> None:
    x = w.pick(lambda t: t.dim() > 0 and t.is_floating_point())
    if x is None:
        return
    d = dim_of(w, w.held(x))
    name = w.rng.choice(ALONG)
    forms = [f"{x}.norm(2, dim={d})" if name == "norm" else f"{x}.{name}(dim={d})", f"{x}.max(dim={d})[0]", f"{x}.min(dim={d})[1]", f"{x}.sort(dim={d}, stable=True)[0]", f"{x}.argsort(dim={d}, stable=True)", f"{x}.cummax({d})[0]", f"{x}.cummin({d})[0]", f"{x}.logcumsumexp({d})", f"{x}.median(dim={d})[0]", f"{x}.topk(1, dim={d})[0]", f"F.softmax({x}, dim={d})", f"F.log_softmax({x}, dim={d})", f"F.normalize({x}, dim={d})",
             f"{x}.diff(dim={d})", f"{x}.argmax(dim={d})", f"{x}.kthvalue(1, dim={d})[0]", f"{x}.unique()", f"torch.cosine_similarity({x}, {x} + 1, dim={d})", f"F.layer_norm({x}, ({w.held(x).shape[-1]},))", f"{x}.cumsum({d}).clamp(max=2)", f"torch.trapezoid({x}, dim={d})"]  # fmt: skip
    w.assign(w.rng.choice(forms))


def shaped(w: Writer) -> None:
    x = some(w)
    y = some(w)
    w.assign(
        w.rng.choice(
            [
                f"{x}.reshape(-1)[:0]",
                f"torch.cat([{x}.reshape(-1), {y}.reshape(-1)])",
                f"torch.stack([{x}.sum(), {y}.sum()])",
                f"{x}[{x} > 0]",
                f"{x}[{x} == {x}]",
                f"{x}.masked_fill(torch.isnan({x}), 0.0)",
                f"{x}.unsqueeze(0).expand(2, *{x}.shape)",
                f"{x}.reshape(-1, 1) @ {y}.reshape(1, -1)",
                f"{x}.reshape(-1)[[0, 0]]",
                f"{x}.squeeze()",
                f"{x}.flip(0) if {x}.dim() else {x}",
                f"torch.outer({x}.reshape(-1), {y}.reshape(-1))",
                f"{x}.repeat(2)",
                f"torch.zeros(0, 3) + {x}.sum()",
                "torch.ones(0)",
                f"torch.dot({x}.reshape(-1), {x}.reshape(-1))",
            ]
        )
    )


def shown(w: Writer) -> None:
    x = some(w)
    w.statement(
        w.rng.choice(
            [
                f"print({x})",
                f"print({x}.tolist())",
                f"print({x} * 0, -{x})",
                f"print({x}.sum().item())",
                f"print(f'{{{x}.sum().item():.4g}}')",
                f"print({x}.isnan().any(), torch.isinf({x}))",
                f"print({x} == {x}, {x} > 0)",
                f"print({x}.shape, {x}.numel(), {x}.reshape(-1)[:1])",
                f"print(torch.sign({x}))",
                "print(math.inf, -math.inf, math.nan, 0.0 * -1, 1e308 * 10)",
                f"print({x}.max() if {x}.numel() else 'none')",
                f"print(float({x}.sum()) == float({x}.sum()))",
                f"print(max([float({x}.sum()), 1.0]), min([1.0, 0.0, -0.0]))",
            ]
        )
    )


def losses(w: Writer) -> None:
    x = some(w)
    w.assign(
        w.rng.choice(
            [
                f"F.mse_loss({x}, torch.zeros_like({x}))",
                f"F.l1_loss({x}, {x}.detach())",
                f"F.smooth_l1_loss({x}, torch.zeros_like({x}))",
                f"F.huber_loss({x}, {x}.detach() + 1)",
                f"F.binary_cross_entropy_with_logits({x}, torch.ones_like({x}))",
                f"F.cross_entropy({x}.reshape(1, -1), torch.tensor([0]))",
                f"F.softplus({x}).sum()",
                f"F.logsigmoid({x}).sum()",
                f"F.binary_cross_entropy(torch.sigmoid({x}), torch.ones_like({x}))",
                f"F.hinge_embedding_loss({x}, -torch.ones_like({x}))",
                f"F.cosine_similarity({x}.reshape(1, -1), {x}.reshape(1, -1))",
                f"F.pairwise_distance({x}.reshape(1, -1), {x}.detach().reshape(1, -1))",
                f"F.kl_div({x}, torch.zeros_like({x}), reduction='sum')",
                f"F.poisson_nll_loss({x}, torch.ones_like({x}))",
                f"torch.dist({x}, {x}.detach())",
                f"torch.cdist({x}.reshape(-1, 1), {x}.detach().reshape(-1, 1))",
            ]
        )
    )


STATEMENTS = (
    alone,
    alone,
    alone,
    paired,
    paired,
    paired,
    whole,
    whole,
    along,
    along,
    shaped,
    shown,
    losses,
)


def written(seed: Any) -> Program:
    """A program at edges: mostly first derivatives, for second ones at kinks are a matter of choice."""
    w = WriterOfEdges(f"edges {seed}")
    inputs(w)
    for _ in range(w.rng.randint(1, 4)):
        among = (
            (statements.branch, statements.loop, statements.change, statements.view)
            if w.rng.random() < 0.1
            else STATEMENTS
        )
        with suppress(NotThere):
            w.rng.choice(among)(w)
    return w.program(*_result(w), w.rng.choice([0, 0, 1, 1, 2]))


def _result(w: Writer) -> tuple[str, Any]:
    """The last line, and its cotangent."""
    if w.ended:
        return "0.0", None
    names = [n for n in w.tensors(floating) if w.scope[n].requires_grad]
    last = w.rng.choice(names[-2:])
    sizes = list(w.scope[last].shape)
    if w.rng.random() < 0.5 and 0 not in sizes:
        return last, statements.cotangent(w, sizes) if sizes else None
    return f"{last}.sum()", None
