"""`jax.random`: random numbers of keys. They are JAX's for the same key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradcli.engine.builtins.create import made
from gradcli.engine.builtins.names.numpy import moves
from gradcli.engine.numerics import threefry, threefry_gamma
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, np, plain
from gradcli.engine.values.dtypes import dtype_name, is_default
from gradcli.engine.values.limits import check_memory
from gradcli.engine.values.sizes import broadcast, describe, flag, number, sizes, whole
from gradcli.errors import run_error

FAMILY = 342, "Random numbers of keys"


def _op(
    name: str, call: Callable[..., Any], doc: str, *args: str, sees: bool = False, **params: Any
) -> Op:
    """An entry of `jax.random`; `sees` is true if its numbers move with parameters."""
    return host(
        f"jax_random_{name}",
        call,
        args=args,
        params=params,
        doc=f"`jax.random.{name}`: {doc}",
        sees=sees,
        source=f"JAX: random.{name}",
    )


def _key(key: Any) -> tuple[int, int]:
    """The two words of a key."""
    data = data_of(key)
    if getattr(data, "shape", None) != (2,) or data.dtype.kind != "i":
        raise run_error("wrong-type", "a key is what `jax.random.PRNGKey` or `split` gives")
    return int(data[0]) % 2**32, int(data[1]) % 2**32


def _keys(words: Any) -> Tensor:
    return Tensor(np.array(words, np.int64))


def _size(shape: Any) -> tuple[int, ...]:
    size = sizes(shape)
    check_memory(size)
    return size


def _precision(session: Any, dtype: Any) -> str:
    return session.random.precision if is_default(dtype) else str(dtype_name(dtype))


def _tensor(data: Any, dtype: Any = None) -> Tensor:
    found = np.asarray(data)
    return made(
        plain(found.astype(np.float64) if found.dtype.kind == "f" else found), dtype, None, False
    )


def _numbers(session: Any, value: Any) -> Any:
    data = data_of(session.tensor(value))
    if type(data) not in NUMBERS and not hasattr(data, "dtype"):
        raise run_error("wrong-type", f"a number or an array is needed, got {describe(value)}")
    return np.asarray(data, np.float64)


# keys -------------------------------------------------------------------------------------------


def _split(session: Any, key: Any, num: Any) -> Tensor:
    (count,) = sizes((whole(num, "num"),), "num")
    check_memory((count, 2))
    return _keys(threefry.split(_key(key), count))


prng_key: Op = _op(
    "key",
    lambda session, seed: _keys(threefry.key_of(whole(seed, "seed"))),
    "a key from which random numbers are drawn; also `PRNGKey`.",
    "seed",
)
random_split: Op = _op("split", _split, "new keys from one.", "key", num=2)
random_fold_in: Op = _op(
    "fold_in",
    lambda session, key, data: _keys(threefry.folded(_key(key), whole(data, "data"))),
    "a new key from a key and an int.",
    "key",
    "data",
)


# floats -----------------------------------------------------------------------------------------


def _uniform(session: Any, key: Any, shape: Any, dtype: Any, minval: Any, maxval: Any) -> Any:
    precision = _precision(session, dtype)
    shape = () if shape is None else shape
    minval, maxval = (0.0 if minval is None else minval), (1.0 if maxval is None else maxval)
    if moves(session, minval, maxval):
        chances = _tensor(threefry.uniform(_key(key), _size(shape), 0.0, 1.0, precision), dtype)
        width = session.do(ops.sub, [maxval, minval], ops.sub.defaults)
        return session.do(
            ops.add, [session.do(ops.mul, [chances, width], {}), minval], ops.add.defaults
        )
    low, high = float(number(minval, "minval")), float(number(maxval, "maxval"))
    return _tensor(threefry.uniform(_key(key), _size(shape), low, high, precision), dtype)


def _normal(session: Any, key: Any, shape: Any, dtype: Any) -> Tensor:
    return _tensor(threefry.normal(_key(key), _size(shape), _precision(session, dtype)), dtype)


def _exponential(session: Any, key: Any, shape: Any, dtype: Any) -> Tensor:
    drawn = threefry.uniform(_key(key), _size(shape), 0.0, 1.0, _precision(session, dtype))
    return _tensor(-np.log1p(-drawn.astype(np.float64)), dtype)


random_uniform: Op = _op(
    "uniform",
    _uniform,
    "uniform numbers of a key, from `minval` (0) to below `maxval` (1).",
    "key",
    "shape=None",
    "dtype=None",
    "minval=None",
    "maxval=None",
    sees=True,
)
random_normal: Op = _op(
    "normal", _normal, "standard normal numbers of a key.", "key", shape=(), dtype=None
)
random_exponential: Op = _op(
    "exponential", _exponential, "exponential numbers of rate 1.", "key", shape=(), dtype=None
)


def _of_shape(draw: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    def call(session: Any, key: Any, *given: Any, shape: Any, dtype: Any) -> Tensor:
        if moves(session, *given):
            message = f"`jax.random.{name}` has no derivative by its parameters here"
            help = "draw with fixed parameters; in JAX the numbers move with them"
            raise run_error("not-differentiable", message, help=help)
        parameters = [_numbers(session, value) for value in given]
        size = broadcast(*(p.shape for p in parameters)) if shape is None else _size(shape)
        check_memory(size)
        if not all(np.all(p > 0) for p in parameters):
            raise run_error("bad-argument", f"`jax.random.{name}` needs parameters above 0")
        spread = [np.broadcast_to(p, size) for p in parameters]
        return _tensor(draw(_key(key), *spread, _precision(session, dtype)), dtype)

    return call


random_beta: Op = _op(
    "beta",
    _of_shape(threefry_gamma.beta, "beta"),
    "numbers of the beta distribution of a key.",
    "key",
    "a",
    "b",
    sees=True,
    shape=None,
    dtype=None,
)
random_gamma: Op = _op(
    "gamma",
    _of_shape(threefry_gamma.gamma, "gamma"),
    "numbers of the gamma distribution of a key.",
    "key",
    "a",
    sees=True,
    shape=None,
    dtype=None,
)


# ints and choices -------------------------------------------------------------------------------


def _randint(session: Any, key: Any, shape: Any, minval: Any, maxval: Any) -> Tensor:
    size, low, high = _size(shape), whole(minval, "minval"), whole(maxval, "maxval")
    if low >= high:
        raise run_error("bad-argument", f"there is no int from {low} to below {high}")
    return _tensor(threefry.integers(_key(key), size, low, high, _ints(session, low, high)))


def _ints(session: Any, low: int, high: int) -> str:
    """The dtype of ints from `low` to below `high`."""
    short = session.random.precision != "float64" and low >= -(2**31) and high <= 2**31
    return "int32" if short else "int64"


def _bernoulli(session: Any, key: Any, p: Any, shape: Any) -> Tensor:
    chance = _numbers(session, p)
    size = chance.shape if shape is None else _size(shape)
    return Tensor(
        plain(threefry.uniform(_key(key), size, 0.0, 1.0, session.random.precision) < chance)
    )


def _items(session: Any, value: Any, name: str) -> Any:
    """The rows of an array, or the ints below a count."""
    data = data_of(session.tensor(value))
    if type(data) is int:
        check_memory(sizes((data,), name))
        return np.arange(data)
    if not getattr(data, "ndim", 0):
        raise run_error("wrong-type", f"`{name}` is a count or an array")
    return data


def _permutation(session: Any, key: Any, x: Any) -> Tensor:
    items = _items(session, x, "x")
    return Tensor(plain(items[threefry.permutation(_key(key), len(items))]))


def _choice(session: Any, key: Any, a: Any, shape: Any, replace: Any, p: Any) -> Tensor:
    items, size = _items(session, a, "a"), _size(shape)
    count = int(np.prod(size))
    if not flag(replace, "replace") and (p is not None or count > len(items)):
        raise run_error("bad-argument", f"{count} of {len(items)} items cannot be drawn so")
    if not len(items):
        raise run_error("bad-argument", "there is no item to draw")
    if p is not None:
        ends = np.cumsum(_numbers(session, p))
        drawn = 1.0 - threefry.uniform(_key(key), size, 0.0, 1.0, session.random.precision)
        places = np.searchsorted(ends, ends[-1] * drawn)
    elif flag(replace, "replace"):
        kind = _ints(session, 0, len(items))
        places = threefry.integers(_key(key), size, 0, len(items), kind)
    else:
        places = threefry.permutation(_key(key), len(items))[:count].reshape(size)
    return Tensor(plain(np.asarray(items[places])))


def _categorical(session: Any, key: Any, logits: Any, axis: Any, shape: Any) -> Tensor:
    """The place of the largest logit with Gumbel's noise."""
    given = _numbers(session, logits)
    at = whole(axis, "axis") % max(given.ndim, 1)
    if not given.ndim:
        raise run_error("shape-mismatch", "`categorical` needs at least one dimension of logits")
    batch = given.shape[:at] + given.shape[at + 1 :]
    ahead = () if shape is None else _size(shape)[: len(_size(shape)) - len(batch)]
    least = float(np.finfo(session.random.precision).tiny)
    drawn = threefry.uniform(
        _key(key), (*ahead, *given.shape), least, 1.0, session.random.precision
    )
    noise = -np.log(-np.log(drawn.astype(np.float64)))
    return Tensor(plain(np.argmax(given + noise, axis=at - given.ndim)))


random_randint: Op = _op("randint", _randint, "ints of a key.", "key", "shape", "minval", "maxval")
random_bernoulli: Op = _op(
    "bernoulli", _bernoulli, "true with the chance p.", "key", p=0.5, shape=None
)
random_permutation: Op = _op(
    "permutation",
    _permutation,
    "the rows of an array, or the ints below a count, in some order.",
    "key",
    "x",
)
random_choice: Op = _op(
    "choice",
    _choice,
    "rows of an array, or ints below a count, each as likely as its `p`.",
    "key",
    "a",
    shape=(),
    replace=True,
    p=None,
)
random_categorical: Op = _op(
    "categorical",
    _categorical,
    "places, each as likely as the exponential of its logit.",
    "key",
    "logits",
    axis=-1,
    shape=None,
)
