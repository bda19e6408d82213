"""Names of JAX, autograd and `torch.func` besides the transforms."""

from __future__ import annotations

from typing import Any

from gradcli.engine.builtins.trees import filled, leaves_of, with_arrays
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, constant, host
from gradcli.engine.ops.tracing import Tracing
from gradcli.engine.run.code.functions import called, wrong_function
from gradcli.engine.run.derivatives import transforms
from gradcli.engine.run.derivatives.batched import vmap as batched
from gradcli.engine.run.session.state import RandomNumbers
from gradcli.engine.tape.tensor import Number, Tensor, truth
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import dtype_of
from gradcli.engine.values.sizes import flag, whole
from gradcli.errors import run_error

FAMILY = 341, "Functions of functions"


vmap: Op = host(
    "vmap",
    lambda session, function, in_dims, out_dims, randomness, chunk_size: batched(
        session, function, in_dims, out_dims
    ),
    args=("function",),
    params={"in_dims": 0, "out_dims": 0, "randomness": "error", "chunk_size": None},
    doc="The function of batches: it goes through its arguments along `in_dims`, part by part, and "
    "puts the results together along `out_dims`. Random numbers differ from part to part.",
    source="PyTorch: func.vmap",
    keeps=True,
)

jax_vmap: Op = host(
    "jax_vmap",
    lambda session, function, in_dims, out_dims, axis_name, axis_size: batched(
        session, function, in_dims, out_dims, axis_size
    ),
    args=("fun",),
    params={"in_dims": 0, "out_dims": 0, "axis_name": None, "axis_size": None},
    doc="`jax.vmap`: `vmap` by JAX's names.",
    source="JAX: vmap",
    keeps=True,
)


def _jit(session: Any, function: Any, **options: Any) -> Any:
    """The function; without one, as in `@jit(static_argnums=0)`, a decorator that gives it."""
    return (lambda decorated: decorated) if function is None else function


jit: Op = host(
    "jit",
    _jit,
    args=("fun=None",),
    any_name=True,
    doc="The function itself, whatever the settings: `jax.jit`, `torch.compile`, "
    "`torch.jit.script`. Programs are compiled where that pays.",
    source="JAX: jit",
    keeps=True,
)


_RECOMPUTING = frozenset(
    ("use_reentrant", "preserve_rng_state", "determinism_check", "debug", "early_stop")
)
"""Settings of `checkpoint` that mean nothing here."""


def _checkpoint(session: Any, *given: Any, named: Any) -> Any:
    if not given:
        raise run_error("wrong-arity", "`checkpoint` needs a function")
    keywords = {name: value for name, value in named.items() if name not in _RECOMPUTING}
    return called(given[0], given[1:], "checkpoint", keywords)


checkpoint: Op = host(
    "checkpoint",
    _checkpoint,
    args=("*function",),
    any_name=True,
    doc="`torch.utils.checkpoint.checkpoint`: what a function returns. Nothing is done "
    "twice, and no memory saved.",
    source="PyTorch: utils.checkpoint",
    keeps=True,
)


def _elementwise_grad(session: Any, function: Any, argnum: Any) -> Any:
    def total(*args: Any, **keywords: Any) -> Any:
        found = session.tensor(called(function, args, "elementwise_grad", keywords))
        return session.do(ops.sum, [found], {"dim": None, "keepdim": False, "dtype": None})

    made = transforms.grad(session, total, argnum, by="elementwise_grad")
    return transforms.titled(made, "elementwise_grad", function, argnum)


elementwise_grad: Op = host(
    "elementwise_grad",
    _elementwise_grad,
    args=("fun",),
    params={"argnum": 0},
    doc="autograd's: the gradient of the sum of the results, which of a function of each element "
    "is its derivative.",
    source="autograd: elementwise_grad",
    keeps=True,
)


def _grad_of(session: Any, fun: Any, argnum: Any) -> Any:
    both = transforms.value_and_grad(session, fun, argnum, by="grad")

    def gradient(*args: Any, **keywords: Any) -> Any:
        value, found = both(*map(_items_apart, args), **keywords)
        if dtype_of(data_of(value)) == "bool":
            message = "the function must return one number, it returned a bool"
            error = wrong_function(fun, "not-differentiable", message)
            error.raises = TypeError
            raise error
        return found

    return transforms.titled(gradient, "grad", fun, argnum)


def _items_apart(value: Any) -> Any:
    """An argument in which each number of a list is a value by itself, as autograd has it. The
    language takes a list of numbers as a tensor.
    """
    if type(value) is not list:
        return value
    return [Number(v) if type(v) is float else _items_apart(v) for v in value]


grad_by_argnum: Op = host(
    "grad_by_argnum",
    _grad_of,
    args=("fun",),
    params={"argnum": 0},
    doc="Returns a function which gives the gradient by argument `argnum`: autograd's `grad`.",
    source="autograd: grad",
    keeps=True,
)


def _replayed(session: Any, fun: Any) -> Any:
    from gradcli.engine.run.derivatives.replay import Replayed

    return Replayed(session, fun)


replayed: Op = host(
    "autograd_replayed",
    _replayed,
    args=("fun",),
    doc="autograd's `const_graph`: a function that runs once. Later calls do the steps again that "
    "depended on its arguments.",
    source="autograd: misc.tracers.const_graph",
    keeps=True,
)


def _value_and_grad_of(session: Any, fun: Any, argnum: Any) -> Any:
    both = transforms.value_and_grad(session, fun, argnum)

    def value_and_gradient(*args: Any, **keywords: Any) -> Any:
        return both(*map(_items_apart, args), **keywords)

    return transforms.titled(value_and_gradient, "value_and_grad", fun, argnum)


value_and_grad_by_argnum: Op = host(
    "value_and_grad_by_argnum",
    _value_and_grad_of,
    args=("fun",),
    params={"argnum": 0},
    doc="autograd's `value_and_grad`: the function that gives value and gradient by argument "
    "`argnum`.",
    source="autograd: value_and_grad",
    keeps=True,
)


def _hvp_of(session: Any, fun: Any, argnum: Any) -> Any:
    slopes = transforms.grad(session, fun, argnum, by="hessian_vector_product")

    def product(*given: Any) -> Any:
        *args, v = given
        at = transforms.argument_numbers(argnum, len(args))[0][0]

        def along(x: Any) -> Any:
            return slopes(*args[:at], x, *args[at + 1 :])

        return transforms.jvp(session, along, args[at], v)[1]

    return product


hessian_vector_product: Op = host(
    "hessian_vector_product",
    _hvp_of,
    args=("fun",),
    params={"argnum": 0},
    doc="autograd's: the function of the arguments and a vector behind them that gives the "
    "product of the Hessian with it.",
    source="autograd: hessian_vector_product",
    keeps=True,
)


def _make_vjp(session: Any, fun: Any, argnum: Any) -> Any:
    def at(*args: Any) -> Any:
        i = transforms.argument_numbers(argnum, len(args))[0][0]
        value, pull = transforms.vjp(
            session, lambda x: called(fun, [*args[:i], x, *args[i + 1 :]], "make_vjp"), [args[i]]
        )
        return lambda g: pull(g)[0], value

    return at


make_vjp: Op = host(
    "make_vjp",
    _make_vjp,
    args=("fun",),
    params={"argnum": 0},
    doc="autograd's: at a point the function from a cotangent to the gradient, and the value.",
    source="autograd: make_vjp",
    keeps=True,
)


def _make_jvp(session: Any, fun: Any, argnum: Any) -> Any:
    def at(*args: Any) -> Any:
        i = transforms.argument_numbers(argnum, len(args))[0][0]

        def along(x: Any) -> Any:
            return called(fun, [*args[:i], x, *args[i + 1 :]], "make_jvp")

        return lambda v: transforms.jvp(session, along, args[i], v)

    return at


make_jvp: Op = host(
    "make_jvp",
    _make_jvp,
    args=("fun",),
    params={"argnum": 0},
    doc="autograd's: at a point the function from a tangent to value and derivative.",
    source="autograd: make_jvp",
    keeps=True,
)


isbox: Op = host(
    "autograd_isbox",
    lambda session, x: isinstance(x, Tensor) and x.recorded,
    args=("x",),
    infer=lambda known, x: known.unknown(),
    doc="autograd's: true of a value that is being differentiated.",
    source="autograd: tracer.isbox",
)


def _configured(random: RandomNumbers, name: Any, value: Any) -> None:
    if name == "jax_enable_x64":
        random.precision = "float64" if flag(value, name) else "float32"


jax_config_update: Op = host(
    "jax_config_update",
    _configured,
    part="random",
    traced=lambda code, *given: code.drawn(_configured, given, {}),
    args=("name", "value"),
    infer=lambda known, *given: known.constant(None),
    doc="Floats are float64 whatever it says; after `jax_enable_x64` random numbers are JAX's of "
    "float64.",
    sees=False,
    source="JAX: config.update",
    pure=False,
)

block_until_ready: Op = host(
    "block_until_ready",
    lambda session, x: x,
    args=("x",),
    doc="The value itself.",
    source="JAX: block_until_ready",
)


# control flow -----------------------------------------------------------------------------------


def _fori_loop(
    session: Any, lower: Any, upper: Any, body: Any, init: Any, unroll: Any = None
) -> Any:
    value = init
    for i in range(whole(lower, "lower"), whole(upper, "upper")):
        value = called(body, [i, value], "fori_loop")
    return value


fori_loop: Op = host(
    "fori_loop",
    _fori_loop,
    args=("lower", "upper", "body_fun", "init_val"),
    params={"unroll": None},
    doc="`jax.lax.fori_loop`: the value after `value = body(i, value)` for each i.",
    source="JAX: lax.fori_loop",
    keeps=True,
)


def _while_loop(session: Any, test: Any, body: Any, init: Any) -> Any:
    value = init
    while truth(called(test, [value], "while_loop")):
        value = called(body, [value], "while_loop")
    return value


while_loop: Op = host(
    "while_loop",
    _while_loop,
    args=("cond_fun", "body_fun", "init_val"),
    doc="`jax.lax.while_loop`: the value when `cond(value)` is false, after `value = body(value)`.",
    source="JAX: lax.while_loop",
    keeps=True,
)


def _cond(session: Any, pred: Any, true_fun: Any, false_fun: Any, *operands: Any) -> Any:
    return called(true_fun if truth(pred) else false_fun, operands, "cond")


lax_cond: Op = host(
    "lax_cond",
    lambda session, *given: _cond(session, *given) if len(given) > 2 else _too_few(),
    args=("*pred",),
    doc="`jax.lax.cond(pred, f, g, *operands)`: what f gives if pred is true, else what g gives.",
    source="JAX: lax.cond",
    keeps=True,
)


def _too_few() -> Any:
    raise run_error("wrong-arity", "`cond` takes a condition, two functions and their arguments")


def _scan(session: Any, f: Any, init: Any, xs: Any, length: Any, reverse: Any, unroll: Any) -> Any:
    carry, found = init, []
    steps = [None] * whole(length, "length") if xs is None else _rows(session, xs)
    for x in reversed(steps) if reverse else steps:
        pair = called(f, [carry, x], "scan")
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise run_error(
                "wrong-count", "a function of `scan` returns what it carries and a value"
            )
        carry, value = pair
        found.append(value)
    return carry, _together(session, found[::-1] if reverse else found)


def _rows(session: Any, xs: Any) -> list[Any]:
    """The rows of the arrays in a tree, each a tree of its form."""
    form = with_arrays(session, xs)
    columns = [session.items(leaf) for leaf in leaves_of(form)]
    return [filled(form, iter(row)) for row in _beside(columns)]


def _beside(parts: list[Any]) -> list[Any]:
    """The values at the same place of several trees."""
    counts = sorted({len(part) for part in parts})
    if len(counts) > 1:
        message = f"`scan` needs equally many rows of each, got {counts[0]} and {counts[-1]}"
        raise run_error("wrong-count", message, raises=ValueError)
    return [*zip(*parts, strict=True)]


def _together(session: Any, found: list[Any]) -> Any:
    """Values of all rows as arrays, in the form of one."""
    if not found:
        return None
    columns = _beside([[*leaves_of(value)] for value in found])
    stacked = (session.tensor([*map(session.tensor, column)]) for column in columns)
    return filled(found[0], stacked)


scan: Op = host(
    "scan",
    _scan,
    args=("f", "init", "xs=None", "length=None"),
    params={"reverse": False, "unroll": 1},
    doc="`jax.lax.scan`: goes through rows with a value that is carried on, and gives it and what "
    "came of each row.",
    source="JAX: lax.scan",
    keeps=True,
)


# arrays that never change ------------------------------------------------------------------------


def _updated(session: Any, x: Any) -> Any:
    return session.do(ops.clone, [x], {}) if type(x) is Tensor else x


def _updated_by_code(code: Tracing, x: Any) -> Any:
    return code.do(ops.clone, [x], {}) if type(code.like(x)) is Tensor else x


updated: Op = host(
    "jax_updated",
    _updated,
    args=("x",),
    infer=lambda known, x: x,
    traced=_updated_by_code,
    doc="The array that `x += v` changes in a program of JAX's: a copy, since others may hold `x`.",
    source="JAX: immutable arrays",
)

version: Op = constant(
    "jax_version", "0.10.2", "`jax.__version__`: that of the JAX whose meaning its names have."
)
