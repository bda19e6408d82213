"""Programs with `torch.distributions`: densities, moments, entropies, divergences, errors."""

from __future__ import annotations

from ..expressions import fits, floating
from ..writer import Writer
from .formulas import formula, some


def location(w: Writer) -> str:
    x = some(w)
    return w.rng.choice(
        [
            x,
            x,
            f"{x} * 0.5",
            f"torch.sin({x})",
            "0.5",
            "-1",
            "torch.tensor(0.3)",
            "torch.tensor([0.1, -0.4])",
            f"{x}.sum()",
        ]
    )


def scale(w: Writer) -> str:
    """An expression that is positive."""
    x = some(w)
    return w.rng.choice(
        [
            f"torch.exp({x})",
            f"F.softplus({x}) + 0.1",
            f"{x}.abs() + 0.5",
            "1.5",
            "2",
            "torch.tensor(0.7)",
            "torch.tensor([0.5, 1.5])",
            f"torch.exp(0.3 * {x}).mean()",
        ]
    )


def share(w: Writer) -> str:
    """An expression between 0 and 1."""
    x = some(w)
    return w.rng.choice(
        [
            f"torch.sigmoid({x})",
            f"torch.sigmoid({x} * 2) * 0.9 + 0.05",
            "0.3",
            "torch.tensor(0.6)",
            "torch.tensor([0.2, 0.9])",
        ]
    )


def distribution(w: Writer, kind: str | None = None) -> tuple[str, str]:
    """The text that makes one, and its kind."""
    rng = w.rng
    kind = kind or rng.choice(
        ["Normal", "Normal", "Uniform", "Exponential", "Laplace", "Bernoulli", "Categorical"]
    )
    x = some(w)
    match kind:
        case "Normal" | "Laplace":
            given = rng.choice(
                [f"{location(w)}, {scale(w)}", f"loc={location(w)}, scale={scale(w)}"]
            )
        case "Uniform":
            low = location(w)
            given = rng.choice(
                [
                    f"{low}, {low} + {scale(w)}",
                    f"low={low}, high={low} + 2",
                    "-3.0, 3.0",
                    "torch.tensor(-2.0), 4",
                ]
            )
        case "Exponential":
            given = rng.choice([scale(w), f"rate={scale(w)}"])
        case "Bernoulli":
            given = rng.choice([share(w), f"probs={share(w)}", f"logits={x}"])
        case _:
            given = rng.choice(
                [
                    f"torch.softmax({x}.reshape(-1), 0)",
                    f"probs={x}.reshape(-1).abs() + 0.1",
                    f"logits={x}.reshape(-1)",
                    f"logits={x}",
                    "torch.tensor([0.2, 0.3, 0.5])",
                ]
            )
    return f"{rng.choice(['torch.distributions', 'D'])}.{kind}({given})", kind


def made(w: Writer, kind: str | None = None) -> tuple[str, str] | None:
    """The name of a distribution in the program, and its kind."""
    w.statement("import torch.distributions as D") if "D" not in w.scope else None
    text, kind = distribution(w, kind)
    name = w.name("d")
    return (name, kind) if w.statement(f"{name} = {text}") else None


def value(w: Writer, kind: str) -> str:
    """An expression of values that it can take, mostly."""
    x = some(w)
    rng = w.rng
    if rng.random() < 0.04:
        return rng.choice(
            [
                "torch.tensor(-5.0)",
                "torch.tensor(0.5)",
                "torch.tensor(float('nan'))",
                "torch.tensor([1.0, 9.0])",
            ]
        )
    match kind:
        case "Normal" | "Laplace":
            return rng.choice(
                [x, f"{x} * 2", "torch.tensor(0.4)", f"{x}.detach()", f"torch.zeros_like({x})"]
            )
        case "Uniform":
            return rng.choice([f"torch.tanh({x})", "torch.tensor(0.1)", x, f"{x} * 0.1"])
        case "Exponential":
            return rng.choice([f"{x}.abs()", f"torch.exp({x})", "torch.tensor(0.8)", f"{x} ** 2"])
        case "Bernoulli":
            return rng.choice([f"({x} > 0).double()", "torch.tensor(1.0)", "torch.tensor(0.0)"])
    return rng.choice(["torch.tensor(0)", "torch.tensor([0, 0])", "torch.tensor(1)"])


def densities(w: Writer) -> None:
    found = made(w)
    if found is None:
        return
    d, kind = found
    rng = w.rng
    for _ in range(rng.randint(1, 4)):
        v = value(w, kind)
        forms = [
            f"{d}.log_prob({v})",
            f"{d}.log_prob({v})",
            f"{d}.log_prob({v}).sum()",
            f"{d}.entropy()",
            f"{d}.log_prob({v}).exp()",
        ]
        if kind not in ("Bernoulli", "Categorical"):
            forms += [
                f"{d}.cdf({v})",
                f"{d}.mean",
                f"{d}.variance",
                f"{d}.stddev",
                f"{d}.mean + {d}.stddev",
            ]
            forms += (
                []
                if kind == "Normal"
                else [f"{d}.icdf({share(w)})", f"{d}.cdf({d}.icdf({share(w)}))"]
            )
        elif kind == "Bernoulli":
            forms += [f"{d}.mean", f"{d}.variance", f"{d}.probs * {d}.logits"]
        else:
            forms += [
                f"{d}.probs",
                f"{d}.logits",
                f"{d}.probs @ torch.arange(1.0, {d}.probs.shape[-1] + 1)",
            ]
        w.assign(rng.choice(forms))


def divergences(w: Writer) -> None:
    kind = w.rng.choice(["Normal", "Normal", "Bernoulli", "Categorical", "Exponential"])
    p, q = made(w, kind), made(w, kind)
    if p and q:
        w.assign(
            w.rng.choice(
                [
                    f"D.kl_divergence({p[0]}, {q[0]})",
                    f"torch.distributions.kl_divergence({q[0]}, {p[0]}).sum()",
                    f"D.kl_divergence({p[0]}, {p[0]})",
                ]
            )
        )


def sampled(w: Writer) -> None:
    """Of samples, that are not the same, what is: shapes, graphs, supports."""
    found = made(w)
    if found is None:
        return
    d, _ = found
    size = w.rng.choice(["", "(2,)", "(2, 3)", "[2]"])
    w.statement(w.rng.choice([f"print({d}.sample({size}).shape)", f"print({d}.sample({size}).requires_grad)", f"print({d}.rsample({size}).shape, {d}.rsample().requires_grad)", f"print(bool(torch.isfinite({d}.log_prob({d}.sample({size}))).all()))",
                              f"print(type({d}).__name__)", f"print({d}.sample({size}).dtype)", f"print({d}.sample().is_leaf)"]))  # fmt: skip


def fitted(w: Writer) -> None:
    """Likelihoods as losses."""
    rng = w.rng
    x = some(w)
    w.statement("import torch.distributions as D") if "D" not in w.scope else None
    f = w.name("f")
    w.statement(
        f"def {f}(m, s, data):\n    return {rng.choice(['-', ''])}D.{rng.choice(['Normal', 'Laplace'])}(m, F.softplus(s) + 0.1).log_prob(data).{rng.choice(['sum', 'mean'])}()"
    )
    other = w.pick(lambda t: t.is_floating_point() and fits(w, x)(t)) or x
    w.assign(
        rng.choice(
            [
                f"{f}({x}, {other}, torch.tensor(0.5))",
                f"{f}({x}.mean(), {x}.sum(), {x}.detach())",
                f"torch.func.grad({f})({x}, torch.tensor(1.0), {other})",
                f"torch.func.grad({f}, argnums=1)({x}, torch.tensor(0.2), {other})",
                f"torch.func.hessian({f})({x}.reshape(-1)[:3], torch.tensor(1.0), torch.tensor(0.1))",
            ]
        )
    )
    if rng.random() < 0.4:
        w.assign(
            f"D.Normal(0.0, 1.0).log_prob({formula(w, [x])}).sum() + D.kl_divergence(D.Normal({x}, 0.5), D.Normal(0.0, 1.0)).sum()"
        )
    if rng.random() < 0.3:
        names = w.tensors(floating)
        w.assign(
            f"D.Categorical(logits=torch.stack([{names[0]}.sum(), {names[-1]}.sum(), torch.tensor(0.3)])).log_prob(torch.tensor({rng.randrange(3)}))"
        )


def refused(w: Writer) -> None:
    """Arguments that PyTorch refuses."""
    w.statement("import torch.distributions as D") if "D" not in w.scope else None
    bad = w.rng.choice(["D.Normal(0.0, -1.0)", "D.Bernoulli(1.5)", "D.Exponential(-1.0)", "D.Uniform(2.0, 1.0)", "D.Categorical(torch.tensor([-0.2, 0.5]))", "D.Laplace(0.0, 0.0)", "D.Bernoulli()", "D.Bernoulli(0.5, logits=0.1)", "D.Normal(float('nan'), 1.0)",
                        "D.Exponential(1.0).log_prob(torch.tensor(-1.0))", "D.Bernoulli(0.5).log_prob(torch.tensor(0.5))", "D.Uniform(0.0, 1.0).log_prob(torch.tensor(2.0))", "D.Categorical(torch.tensor([0.5, 0.5])).log_prob(torch.tensor(3))", "D.Normal(0.0, 1.0).log_prob(torch.tensor(float('nan')))"])  # fmt: skip
    w.statement(f"try:\n    print({bad})\nexcept Exception as e:\n    print(type(e).__name__)")


STATEMENTS = (densities, densities, densities, divergences, sampled, fitted, refused)
