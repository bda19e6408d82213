"""NumPy's random numbers: those of a seed are NumPy's to the last bit."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.ops.statics import Statics
from gradcli.engine.run.language.generators import Generator, drawn, seeded, shuffled
from gradcli.engine.run.session.state import RandomNumbers
from gradcli.engine.values.sizes import whole

FAMILY = 352, "NumPy's random numbers"


def _unknown(known: Statics, *args: Any, **options: Any) -> Any:
    return known.unknown()


def _seed(random: RandomNumbers, seed: Any) -> None:
    random.numpy = seeded("RandomState", None if seed is None else whole(seed, "seed"))


seed: Op = host(
    "numpy_random_seed",
    _seed,
    part="random",
    args=("seed",),
    infer=lambda known, seed: known.constant(None),
    doc="`np.random.seed`: the numbers of `np.random` are those of the seed from here on.",
    sees=False,
    source="NumPy: random.seed",
    pure=False,
)


def _draw(name: str, text: str, **fields: Any) -> Op:
    return host(
        f"numpy_random_{name}",
        lambda random, *args, **named: drawn(
            random.numpy, name, args, {k: v for k, v in named.items() if v is not None}
        ),
        part="random",
        args=("*values=None",),
        infer=_unknown,
        doc=f"`np.random.{name}`: {text}.",
        sees=False,
        source=f"NumPy: random.{name}",
        pure=False,
        **fields,
    )


_SIZE = {"size": None}
_PLACED: dict[str, Any] = {"loc": None, "scale": None, **_SIZE}

rand: Op = _draw("rand", "uniform between 0 and 1, of that size")
randn: Op = _draw("randn", "standard normal, of that size")
random: Op = _draw("random", "uniform between 0 and 1", params=_SIZE)
random_sample: Op = _draw("random_sample", "uniform between 0 and 1", params=_SIZE)
standard_normal: Op = _draw("standard_normal", "standard normal", params=_SIZE)
normal: Op = _draw("normal", "normal with mean `loc` and deviation `scale`", params=_PLACED)
laplace: Op = _draw("laplace", "Laplace's with centre `loc` and `scale`", params=_PLACED)
logistic: Op = _draw("logistic", "logistic with centre `loc` and `scale`", params=_PLACED)
lognormal: Op = _draw(
    "lognormal",
    "the exponential of a normal number",
    params={"mean": None, "sigma": None, **_SIZE},
)
uniform: Op = _draw(
    "uniform", "uniform from `low` to `high`", params={"low": None, "high": None, **_SIZE}
)
randint: Op = _draw(
    "randint", "ints from `low` to below `high`", params={"low": None, "high": None, **_SIZE}
)
exponential: Op = _draw("exponential", "exponential", params={"scale": None, **_SIZE})
gamma: Op = _draw("gamma", "gamma", params={"shape": None, "scale": None, **_SIZE})
beta: Op = _draw("beta", "beta", params={"a": None, "b": None, **_SIZE})
binomial: Op = _draw("binomial", "binomial", params={"n": None, "p": None, **_SIZE})
poisson: Op = _draw("poisson", "Poisson's", params={"lam": None, **_SIZE})
multivariate_normal: Op = _draw(
    "multivariate_normal", "normal vectors", params={"mean": None, "cov": None, **_SIZE}
)
permutation: Op = _draw("permutation", "the items, or the ints below a number, in some order")
choice: Op = _draw(
    "choice", "some of the items", params={"a": None, **_SIZE, "replace": None, "p": None}
)

shuffle: Op = host(
    "numpy_random_shuffle",
    lambda random, x: shuffled(random.numpy, x),
    part="random",
    args=("x",),
    infer=lambda known, x: known.constant(None),
    doc="`np.random.shuffle`: puts the items of a list or the rows of a tensor into some order.",
    source="NumPy: random.shuffle",
    pure=False,
)


def _made(kind: str) -> Any:
    def make(random: RandomNumbers, seed: Any) -> Generator:
        given = random.seed if seed is None else whole(seed, "seed")
        return Generator(seeded(kind, given % 2**32 if kind == "RandomState" else given))

    return make


default_rng: Op = host(
    "numpy_random_default_rng",
    _made("default_rng"),
    part="random",
    args=("seed=None",),
    infer=_unknown,
    doc="`np.random.default_rng`: a generator with methods such as `normal` and `integers`.",
    source="NumPy: random.default_rng",
    pure=False,
)
random_state: Op = host(
    "numpy_random_RandomState",
    _made("RandomState"),
    part="random",
    args=("seed=None",),
    infer=_unknown,
    doc="`np.random.RandomState`: a generator with the methods of `np.random`.",
    source="NumPy: random.RandomState",
    pure=False,
)
