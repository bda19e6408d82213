"""Own derivatives by JAX's and autograd's names."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.functions import parameters
from gradcli.engine.run.derivatives.custom import Custom, give_jvps, give_vjps
from gradcli.engine.values.sizes import describe, whole
from gradcli.errors import run_error

FAMILY = 343, "Own derivatives"


def _custom(name: str) -> Op:
    def call(session: Any, fun: Any, nondiff_argnums: Any, nondiff_argnames: Any) -> Any:
        if fun is None:
            return lambda decorated: call(session, decorated, nondiff_argnums, nondiff_argnames)
        if not callable(fun):
            raise run_error("wrong-type", f"`{name}` takes a function, got {describe(fun)}")
        numbers = [nondiff_argnums] if type(nondiff_argnums) is int else nondiff_argnums
        still = [whole(i, "nondiff_argnums") for i in session.items(numbers)]
        names = [nondiff_argnames] if type(nondiff_argnames) is str else nondiff_argnames
        still += [_place(fun, argument) for argument in session.items(names)]
        return Custom(session, fun, still, name)

    return host(
        name,
        call,
        args=("fun=None",),
        params={"nondiff_argnums": (), "nondiff_argnames": ()},
        doc=f"`jax.{name}`: the function, with a method `def{name[-3:]}` that gives it a rule.",
        source=f"JAX: {name}",
        keeps=True,
    )


def _place(function: Any, name: Any) -> int:
    """The place of an argument among those of a function."""
    known = parameters(function) or ()
    if name not in known:
        raise run_error("bad-argument", f"the function has no argument `{name}`", raises=ValueError)
    return known.index(name)


custom_vjp: Op = _custom("custom_vjp")
custom_jvp: Op = _custom("custom_jvp")

primitive: Op = host(
    "primitive",
    lambda session, fun: Custom(session, fun, (), "primitive"),
    args=("fun",),
    doc="autograd's: the function, which `defvjp` and `defjvp` give rules.",
    source="autograd: extend.primitive",
    keeps=True,
)


def _giving(name: str, give: Any, form: str) -> Op:
    def call(session: Any, *given: Any, argnums: Any) -> None:
        if not given:
            raise run_error("wrong-arity", f"`{name}` needs a function and its rules")
        numbers = None if argnums is None else [*session.items(argnums)]
        give(session, given[0], given[1:], numbers)

    return host(
        name,
        call,
        args=("*fun",),
        params={"argnums": None},
        infer=lambda known, *args, **params: known.constant(None),
        doc=f"autograd's `{name}(f, *rules)`: a rule for each argument, {form}.",
        source=f"autograd: extend.{name}",
        keeps=True,
        pure=False,
    )


defvjp: Op = _giving("defvjp", give_vjps, "`rule(ans, *args)`, gives the function of the cotangent")
defjvp: Op = _giving("defjvp", give_jvps, "`rule(g, ans, *args)`, gives the tangent")
