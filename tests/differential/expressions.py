"""Random expressions, written for the tensors that there are."""

from __future__ import annotations

from collections.abc import Callable

import torch

from .writer import Test, Writer

SMOOTH = [
    "sin",
    "cos",
    "tanh",
    "sigmoid",
    "exp",
    "atan",
    "sinh",
    "expm1",
    "log1p",
    "sqrt",
    "log",
    "rsqrt",
    "reciprocal",
    "square",
    "erf",
    "asinh",
    "cosh",
    "tan",
    "acos",
    "asin",
    "log2",
    "log10",
    "exp2",
    "erfc",
    "lgamma",
    "digamma",
    "sinc",
    "logit",
    "acosh",
    "atanh",
]
CORNERED = [
    "abs",
    "relu",
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "frac",
    "neg",
    "positive",
    "nan_to_num",
]
ACTIVATIONS = [
    "softplus",
    "silu",
    "gelu",
    "elu",
    "selu",
    "celu",
    "leaky_relu",
    "hardtanh",
    "relu6",
    "hardswish",
    "hardsigmoid",
    "logsigmoid",
    "softsign",
    "tanhshrink",
    "mish",
    "hardshrink",
    "softshrink",
]
WHOLE = ["sum", "mean", "prod", "std", "var", "norm", "amax", "amin", "max", "min", "median"]
ALONG = [
    "sum",
    "mean",
    "prod",
    "std",
    "var",
    "norm",
    "logsumexp",
    "amax",
    "amin",
    "cumsum",
    "cumprod",
    "softmax",
    "log_softmax",
]
PAIRED = (
    "torch.maximum({a}, {b})", "torch.minimum({a}, {b})", "torch.atan2({a}, {b})",
    "torch.hypot({a}, {b})", "torch.where({a} > {b}, {a}, {b} * 2)", "torch.logaddexp({a}, {b})",
    "torch.fmod({a}, {b})", "torch.remainder({a}, {b})", "torch.lerp({a}, {b}, 0.3)",
    "torch.fmax({a}, {b})", "torch.addcmul({a}, {a}, {b}, value=0.5)", "torch.copysign({a}, {b})",
    "torch.xlogy({a}, {b})", "torch.pow(torch.exp({a}), {b})", "torch.float_power({a}, 2)",
    "torch.add({a}, {b}, alpha=2)", "torch.sub({a}, {b}, alpha=0.5)", "torch.div({a}, {b})",
    "F.mse_loss({a}, {b})", "F.l1_loss({a}, {b})", "F.smooth_l1_loss({a}, {b})",
    "F.huber_loss({a}, {b}, delta=0.7)", "torch.dist({a}, {b})", "torch.fmin({a}, {b})",
)  # fmt: skip


def expression(w: Writer, depth: int = 1) -> str | None:
    """The text of some expression of tensors."""
    forms: list[Callable[[Writer, int], str | None]] = [
        smooth, smooth, smooth, cornered, arithmetic, arithmetic, arithmetic, arithmetic, paired,
        whole, along, shaped, shaped, indexed, indexed, product, joined, linear_algebra, chosen,
        compared, cast, layered, made, ordered,
    ]  # fmt: skip
    return w.rng.choice(forms)(w, depth)


def operand(w: Writer, depth: int, test: Test | None = None) -> str | None:
    """A tensor of a kind: a name, or an expression in brackets."""
    if depth > 0 and w.rng.random() < 0.35:
        text = expression(w, depth - 1)
        found = None if text is None else w.expression(text)
        if isinstance(found, torch.Tensor) and (test is None or test(found)):
            return f"({text})"
    return w.pick(test)


def number(w: Writer) -> str:
    """A number as it is written."""
    return w.rng.choice(["2", "0.5", "3", "-1.5", "0.1", "1", "-2", "0.3", "1.7"])


def floating(x: torch.Tensor) -> bool:
    return x.is_floating_point()


def ranked(x: torch.Tensor) -> bool:
    return x.dim() > 0


def matrix(x: torch.Tensor) -> bool:
    return x.dim() == 2 and x.is_floating_point()


def whole_numbers(x: torch.Tensor) -> bool:
    return x.dtype == torch.int64


def dim_of(w: Writer, x: torch.Tensor) -> int:
    """A dimension of a tensor, counted from either end."""
    return w.rng.randrange(-x.dim(), x.dim()) if x.dim() else 0


def smooth(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, floating)
    name = w.rng.choice(SMOOTH[:12] if w.rng.random() < 0.7 else SMOOTH)
    return x and w.rng.choice([f"torch.{name}({x})", f"{x}.{name}()"])


def cornered(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, floating)
    if x is None:
        return None
    if w.rng.random() < 0.5:
        return f"F.{w.rng.choice(ACTIVATIONS)}({x})"
    more = [f"{x}.clamp(-1, 0.5)", f"{x}.clamp(min=0.1)", f"torch.clamp({x}, max=0.6)"]
    return w.rng.choice([*(f"torch.{n}({x})" for n in CORNERED), *more])


def arithmetic(w: Writer, depth: int) -> str | None:
    """An operator between tensors that broadcast, or a tensor and a number."""
    rng = w.rng
    a = operand(w, depth)
    if a is None:
        return None
    if rng.random() < 0.35:
        forms = ["{a} + {n}", "{n} - {a}", "{a} * {n}", "{a} / {n}", "{n} / {a}", "{a} ** 2",
                 "{a} ** 3", "-{a}", "{a} % {n}", "{a} // {n}", "{a} ** 0.5", "{n} ** {a}",
                 "{n} * {a}", "{n} + {a}", "{a} - {n}"]  # fmt: skip
        return rng.choice(forms).format(a=a, n=number(w))
    b = operand(w, depth, fits(w, a))
    forms = ["{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} * {b}", "{a} / {b}", "{a} ** {b}",
             "{a} * {b} + {a}", "({a} + {b}) / 2", "{a} / ({b} ** 2 + 1)"]  # fmt: skip
    return b and rng.choice(forms).format(a=a, b=b)


def fits(w: Writer, a: str) -> Test:
    """Whether a tensor broadcasts with another; rarely anything."""
    shape = w.held(a).shape
    anything = w.rng.random() < 0.02

    def test(x: torch.Tensor) -> bool:
        sizes = zip(reversed(x.shape), reversed(shape), strict=False)
        return anything or all(m == n or 1 in (m, n) for m, n in sizes)

    return test


def paired(w: Writer, depth: int) -> str | None:
    a = operand(w, depth, floating)
    if a is None:
        return None
    one = fits(w, a)
    b = operand(w, depth, lambda x: x.is_floating_point() and one(x))
    return b and w.rng.choice(PAIRED).format(a=a, b=b)


def whole(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, floating)
    return x and f"{x}.{w.rng.choice(WHOLE)}()"


def along(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, lambda x: x.dim() > 0 and x.is_floating_point())
    if x is None:
        return None
    name, dim = w.rng.choice(ALONG), dim_of(w, w.held(x))
    keep = ", keepdim=True" if w.rng.random() < 0.3 and ALONG.index(name) < 9 else ""
    if name == "norm":
        return f"{x}.norm({w.rng.choice(['2', '1', '3'])}, dim={dim}{keep})"
    if w.rng.random() < 0.3:
        pairs = ["max", "min", "median", "sort", "cummax", "cummin"]
        return f"{x}.{w.rng.choice(pairs)}(dim={dim})[0]"
    return w.rng.choice([f"{x}.{name}(dim={dim}{keep})", f"torch.{name}({x}, {dim}{keep})"])


def shaped(w: Writer, depth: int) -> str | None:
    """A tensor in another shape."""
    rng = w.rng
    x = operand(w, depth)
    if x is None:
        return None
    held = w.held(x)
    d, e = dim_of(w, held), dim_of(w, held)
    sizes = list(held.shape)
    n = held.numel()
    forms = [
        f"{x}.reshape(-1)", f"{x}.flatten()", f"{x}.unsqueeze({rng.randint(0, held.dim())})",
        f"{x}.clone()", f"{x}.squeeze()", f"{x}.expand(2, {', '.join(['-1'] * held.dim())})"
        if held.dim() else f"{x}.expand(2)", f"{x}.view({n})", f"{x}.contiguous()",
        f"{x}.reshape({[s for s in sizes if s != 1]})", f"{x}.view({[*sizes, 1]})",
    ]  # fmt: skip
    if held.dim():
        forms += [
            f"{x}.transpose({d}, {e})", f"{x}.flip({d})", f"torch.roll({x}, 1, {d})",
            f"{x}.repeat({', '.join(map(str, [2] * held.dim()))})", f"{x}.unbind({d})[0]",
            f"{x}.repeat_interleave(2, dim={d})", f"{x}.split(1, dim={d})[-1]",
            f"torch.chunk({x}, 2, dim={d})[0]", f"{x}.narrow({d}, 0, {max(sizes[d] - 1, 0)})",
            f"{x}.movedim({d}, {e})", f"{x}.diff(dim={d})", f"{x}.tile(2)",
            f"F.pad({x}, (1, {rng.randint(0, 2)}))",
        ]  # fmt: skip
    if held.dim() == 2:
        forms += [f"{x}.T", f"{x}.t()", f"{x}.tril()", f"{x}.triu(1)", f"{x}.diagonal()",
                  f"{x}.T.contiguous()", f"{x}.adjoint()", f"{x}.trace()", f"torch.diag({x})", f"{x}.mT",
                  f"{x}.permute(1, 0)", f"torch.rot90({x})", f"{x}.T.reshape(-1)", f"{x}.T.flatten()"]  # fmt: skip
    if held.dim() == 1:
        forms += [f"torch.diag({x})", f"torch.diag_embed({x})", f"{x}[:, None]", f"{x}[None]",
                  f"{x}.unsqueeze(-1)"]  # fmt: skip
    return rng.choice(forms)


def index(w: Writer, x: torch.Tensor, *, assigned: bool = False) -> str:
    """What stands in the brackets of an indexed tensor."""
    rng = w.rng
    if not x.dim():
        return "..." if rng.random() < 0.5 else "None" if not assigned else "()"
    parts = [_index(w, n, assigned) for n in x.shape[: rng.randint(1, x.dim())]]
    if len(parts) < x.dim() and rng.random() < 0.2:
        parts = ["...", *parts] if len(set(x.shape)) == 1 else [*parts, "..."]
    elif rng.random() < 0.08:
        parts.insert(rng.randint(0, len(parts)), "None")
    elif rng.random() < 0.08:
        mask = w.pick(lambda m: m.dtype == torch.bool and m.shape == x.shape)
        return mask or ", ".join(parts)
    return ", ".join(parts)


def _index(w: Writer, n: int, assigned: bool) -> str:
    """One of them; an assignment names no place twice, for which of two stays is not said."""
    rng = w.rng
    low = rng.randint(0, n)
    forms = [":", f"{low}:", f":{low}", "::2", f"{low}:{rng.randint(0, n)}", "-2:", "1:"]
    if n:
        anywhere = [rng.randrange(-n, n) for _ in range(3)]
        places = rng.sample(range(n), min(n, 3)) if assigned else anywhere
        forms += [*map(str, places), str(places[:2]), str(places), str(places[:1]),
                  f"torch.tensor({places[:2]})", f"{[rng.random() < 0.5 for _ in range(n)]}",
                  f"torch.tensor({places[0]})", f"{[[p] for p in places[:2]]}"]  # fmt: skip
    if rng.random() < 0.01:
        return str(n)
    return rng.choice(forms)


def indexed(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, ranked)
    if x is None:
        return None
    held = w.held(x)
    if w.rng.random() < 0.25:
        d = dim_of(w, held)
        n = held.shape[d]
        i = [w.rng.randrange(n) for _ in range(w.rng.randint(1, 3))] if n else []
        places = f"torch.tensor({i})" if i else "torch.tensor([], dtype=torch.int64)"
        forms = [f"{x}.index_select({d}, {places})", f"torch.take({x}, {places})",
                 f"{x}.select({d}, 0)", f"{x}[{x} > 0]", f"torch.masked_select({x}, {x} < 0.5)",
                 f"{x}.masked_fill({x} > 0.2, 1.5)",
                 f"{x}.index_add({d}, {places}, {x}.index_select({d}, {places}))",
                 f"{x}.gather({d}, torch.zeros_like({x}, dtype=torch.int64))",
                 f"{x}.scatter_add({d}, torch.zeros_like({x}, dtype=torch.int64), {x})",
                 f"torch.index_put({x}, ({places},), {x}[{places}], accumulate=True)",
                 f"{x}.index_fill({d}, {places}, 0.5)"]  # fmt: skip
        return w.rng.choice(forms)
    return f"{x}[{index(w, held)}]"


def product(w: Writer, depth: int) -> str | None:
    a = operand(w, depth, lambda x: x.is_floating_point() and 0 < x.dim() < 4)
    if a is None:
        return None
    held = w.held(a)
    if held.dim() == 2 and w.rng.random() < 0.3:
        return w.rng.choice([f"{a} @ {a}.T", f"{a}.T @ {a}", f"torch.einsum('ij,ij->i', {a}, {a})",
                             f"torch.einsum('ij->ji', {a})", f"torch.kron({a}, {a})"])  # fmt: skip
    n, dtype = held.shape[-1], held.dtype

    def meets(x: torch.Tensor) -> bool:
        return x.dtype == dtype and 0 < x.dim() < 3 and x.shape[0] == n

    b = operand(w, depth, meets)
    if b is None:
        return None
    if held.dim() == 1 and w.held(b).dim() == 1:
        return w.rng.choice([f"{a} @ {b}", f"torch.dot({a}, {b})", f"torch.outer({a}, {b})",
                             f"torch.einsum('i,j->ij', {a}, {b})", f"{a}.vdot({b})"])  # fmt: skip
    return w.rng.choice([f"{a} @ {b}", f"torch.matmul({a}, {b})"])


def joined(w: Writer, depth: int) -> str | None:
    a = operand(w, depth)
    if a is None:
        return None
    shape = w.held(a).shape
    b = operand(w, depth, lambda x: x.shape == shape)
    d = dim_of(w, w.held(a))
    forms = ["torch.stack([{a}, {b}])", "torch.stack([{a}, {b}], dim=-1)",
             "torch.hstack([{a}, {b}])", "torch.vstack(({a}, {b}))"]  # fmt: skip
    if len(shape):
        forms += ["torch.cat([{a}, {b}])", "torch.cat([{a}, {b}, {a}], dim={d})"] * 2
    return b and w.rng.choice(forms).format(a=a, b=b, d=d)


def linear_algebra(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, matrix)
    if x is None:
        return None
    n = w.held(x).shape[1]
    m = f"({x}.T @ {x} + 2 * torch.eye({n}))"
    if w.held(x).dtype == torch.float32:
        m = f"({x}.T @ {x} + 2 * torch.eye({n}, dtype=torch.float32))"
    forms = [f"torch.linalg.inv{m}", f"torch.linalg.det{m}", f"torch.linalg.solve({m}, {x}.T)",
             f"torch.linalg.cholesky{m}", f"torch.logdet{m}", f"torch.linalg.norm({x})",
             f"torch.linalg.eigvalsh{m}", f"torch.linalg.slogdet({x})[1]", f"torch.trace({m})",
             f"torch.linalg.matrix_power({x}, 2)", f"torch.linalg.svdvals({x})",
             f"torch.linalg.matrix_norm({x}, 1)", f"torch.linalg.pinv{m}",
             f"torch.matrix_exp(0.3 * {m})"]  # fmt: skip
    return w.rng.choice(forms)


def chosen(w: Writer, depth: int) -> str | None:
    """One of two tensors by a comparison."""
    a = operand(w, depth, floating)
    if a is None:
        return None
    one = fits(w, a)
    b = operand(w, depth, lambda x: x.is_floating_point() and one(x))
    forms = ["torch.where({a} > {n}, {a}, {b})", "torch.where({a} < {b}, {a} * {b}, {n})",
             "{a} * ({a} > {b})", "torch.where({b} > 0, {n}, {a})"]  # fmt: skip
    return b and w.rng.choice(forms).format(a=a, b=b, n=number(w))


def compared(w: Writer, depth: int) -> str | None:
    a = operand(w, depth)
    b = a and operand(w, depth, fits(w, a))
    forms = ["{a} > {b}", "{a} <= {n}", "{a} == {b}", "{a} != {n}", "({a} > 0) & ({b} < 1)",
             "~({a} > {n})", "torch.isfinite({a})", "{a}.argmax()", "{a}.to(torch.bool)",
             "torch.logical_or({a}, {b})", "({a} > {n}).sum()", "({a} > 0).all()",
             "torch.isclose({a}, {b})", "torch.argsort({a})", "{a}.count_nonzero()"]  # fmt: skip
    return b and w.rng.choice(forms).format(a=a, b=b, n=number(w))


def cast(w: Writer, depth: int) -> str | None:
    x = operand(w, depth)
    forms = ["{x}.to(torch.float32)", "{x}.double()", "{x}.long()", "{x}.bool()",
             "{x}.to(torch.int64)", "{x}.to(dtype=torch.float64)"]  # fmt: skip
    return x and w.rng.choice(forms).format(x=x)


def layered(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, lambda x: x.is_floating_point() and x.dim() > 0)
    if x is None:
        return None
    n = w.held(x).shape[-1]
    forms = [f"F.softmax({x}, dim=-1)", f"F.log_softmax({x}, dim=0)", f"F.normalize({x}, dim=0)",
             f"F.layer_norm({x}, ({n},))", f"F.cosine_similarity({x}, {x} + 0.5, dim=-1)",
             f"F.softplus({x}, beta=2)", f"F.gelu({x}, approximate='tanh')", f"F.glu({x}, 0)",
             f"F.softmin({x}, dim=0)", f"F.leaky_relu({x}, 0.2)", f"F.elu({x}, alpha=0.7)",
             f"F.binary_cross_entropy_with_logits({x}, torch.sigmoid({x}).detach())",
             f"F.soft_margin_loss({x}, torch.ones_like({x}))",
             f"F.cross_entropy({x}.reshape(1, -1), torch.tensor([0]))"]  # fmt: skip
    return w.rng.choice(forms)


def made(w: Writer, depth: int) -> str | None:
    x = operand(w, depth)
    forms = ["torch.zeros_like({x})", "torch.ones_like({x})", "torch.full_like({x}, 2)",
             "torch.arange(3)", "torch.arange(1, 2, 0.5)", "torch.linspace(0, 1, 3)",
             "torch.eye(2)", "torch.ones(2, dtype=torch.float32)", "torch.tensor([1, 2, 3])",
             "torch.tensor(2.5)", "torch.zeros(2, 3)", "torch.tensor(3)", "torch.tensor(True)",
             "torch.tensor([0.5, -1.0], dtype=torch.float32)", "torch.full((2,), 1.5)",
             "torch.tensor([[1.0, 2.0]])"]  # fmt: skip
    return x and w.rng.choice(forms).format(x=x)


def ordered(w: Writer, depth: int) -> str | None:
    x = operand(w, depth, lambda x: x.dim() > 0 and x.dtype != torch.bool)
    if x is None:
        return None
    d = dim_of(w, w.held(x))
    forms = [f"torch.sort({x}, dim={d})[0]", f"torch.topk({x}, 1, dim={d})[0]",
             f"{x}.kthvalue(1, dim={d})[0]", f"torch.quantile({x}, 0.4)", f"{x}.cumsum({d})",
             f"torch.trapezoid({x}, dim={d})", f"torch.logcumsumexp({x}, {d})", f"{x}.sum()",
             f"torch.count_nonzero({x}, dim={d})", f"{x}.argsort(dim={d})", f"{x}.prod()",
             f"{x}.any()", f"torch.aminmax({x})[1]", f"{x}.var(dim={d}, unbiased=False)",
             f"torch.var_mean({x})[1]", f"{x}.argmin(dim={d})", f"torch.msort({x})"]  # fmt: skip
    return w.rng.choice(forms)
