"""Make the function that calls a built-in at a place of the program; a run passes its session."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, TypeAlias

from gradcli.engine.ops.binding import bind, bind_host, check_params, needs_no_binding, static
from gradcli.engine.ops.op import REQUIRED, Op
from gradcli.engine.run.fast import scalars
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site, settle
from gradcli.engine.tape.tensor import Tensor, node_of
from gradcli.engine.values.fields import VIEWS
from gradcli.engine.values.objects import Object
from gradcli.errors import RunError, run_error
from gradcli.ir.program import Const, Named

Function: TypeAlias = Callable[..., Any]
"""A call site of the program as a function of the session and the operands' values."""


# with arguments that are bound to their names ----------------------------------------------------


def bound(op: Op, arguments: Named, site: Site | None) -> Function:
    """Return the op for a call site; it takes the arguments' values in the order of the site.

    Element-wise ops on numbers, the steps of scalar loops, get a fast path of their own.
    """
    names = tuple(name for name, _ in arguments)
    if op.host.call is None and names == op.args and has_fast_path(op):
        return by_place(op, site)
    if not _is_complete(op, names):
        free = by_name(op, site)
        return lambda session, *values: free(session, **dict(zip(names, values, strict=True)))
    gather = _gathered(op, names)
    parameters = _parameters(op, arguments)
    if op.host.call is not None:
        host = of_host(op)
        if names == op.args and not op.params:
            return _placed(host, site) if op.host.by and site is not None else host

        def on_values(session: Evaluator, *values: Any) -> Any:
            return host(session, *gather(values), **parameters(values))

        return _placed(on_values, site) if op.host.by and site is not None else on_values

    fixed = _fixed(op, arguments)
    if fixed is None:
        return lambda session, *values: _run(op, session, gather(values), parameters(values), site)
    with_these = _with(op, fixed)
    if names == op.args:
        return partial(_at, with_these, site)

    return lambda session, *values: with_these(session, site, *gather(values))


def twin(op: Op, arguments: Named, site: Site | None) -> Function:
    """Return the method `name_`, which does the op in place; it refuses each call if none."""
    if not op.memory.inplace:
        return lambda session, *values: _refuse_inplace(op)
    names = tuple(name for name, _ in arguments)
    plain = bound(op, arguments, site)
    if not _is_complete(op, names):
        return plain
    first = names.index(op.args[0])
    gather = _gathered(op, names)
    parameters = _parameters(op, arguments)

    def update(session: Evaluator, *values: Any) -> Any:
        if type(values[first]) is not Tensor:
            return plain(session, *values)
        params = parameters(values)
        x, *rest = gather(values)
        return changed(op, session, x, rest, params, site)

    return update


def _is_complete(op: Op, names: Sequence[str]) -> bool:
    """True if all required arguments are there: a signature cannot say so where both kinds mix."""
    required = [*op.args[: len(op.args) - op.optional]]
    required += [name for name, default in op.params.items() if default is REQUIRED]
    return all(name in names for name in required)


def _gathered(op: Op, names: Sequence[str]) -> Callable[[Sequence[Any]], list[Any]]:
    """A function that takes the op's arguments from the values; omitted ones are None."""
    count = len(op.args)
    if tuple(names[:count]) == op.args:
        return lambda values: [*values[:count]]
    places = [names.index(name) if name in names else -1 for name in op.args]

    return lambda values: [None if at < 0 else values[at] for at in places]


def _parameters(op: Op, arguments: Named) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """A function that takes the op's parameters from the values. Constant parameters are checked
    once.
    """
    fixed = _fixed(op, arguments)
    if fixed is not None:
        return lambda values: fixed
    written, varying = _written(op, arguments)

    def parameters(values: Sequence[Any]) -> dict[str, Any]:
        params = dict(written)
        for name, at in varying:
            params[name] = static(values[at])
        check_params(op, params)
        return params

    return parameters


def _fixed(op: Op, arguments: Named) -> dict[str, Any] | None:
    """The op's parameters if all are written as valid constants, else None."""
    written, varying = _written(op, arguments)
    if varying:
        return None
    try:
        check_params(op, written)
    except RunError:
        return None  # the call itself refuses them
    return written


def _written(op: Op, arguments: Named) -> tuple[dict[str, Any], list[tuple[str, int]]]:
    """The parameters that are constants or omitted, and the positions of the others."""
    written = dict(op.params)
    varying = []
    for at, (name, operand) in enumerate(arguments):
        if name not in written:
            continue
        if isinstance(operand, Const):
            written[name] = operand.value
        else:
            varying.append((name, at))
    return written, varying


# with arguments as they come ----------------------------------------------------------------------


def by_place(op: Op, site: Site | None) -> Function:
    """Return the op for a call with exactly its arguments by position, as of operators."""
    general = in_order(op)
    if not has_fast_path(op):
        return partial(_at, general, site)
    short = scalars.unary if len(op.args) == 1 else scalars.binary
    return short(op, general, of_tensors)(site)


def _at(general: Function, site: Site | None, session: Evaluator, *args: Any) -> Any:
    return general(session, site, *args)


@cache
def in_order(op: Op) -> Function:
    """Return the op as a function of session, site and exactly its arguments in order."""
    if not needs_no_binding(op):
        return lambda session, site, *args: by_name(op, site)(session, *args)
    if not has_fast_path(op):
        return _unbound(op)

    def call(session: Evaluator, site: Site | None, *args: Any) -> Any:
        if Tensor not in map(type, args):
            return _run(op, session, args, op.params, site)
        return of_tensors(op)(session, site, *args)

    return call


@cache
def of_tensors(op: Op) -> Function:
    """Like `in_order`, for arguments that include a tensor."""
    return _by_plan(op, op.params)


def _by_plan(op: Op, params: Mapping[str, Any]) -> Function:
    from gradcli.engine.run.fast.plans import by_plan

    def general(session: Evaluator, site: Site | None, *args: Any) -> Any:
        return _run(op, session, args, params, site)

    return by_plan(op, params, general, _part)


def _unbound(op: Op) -> Function:
    """Like `in_order`, for an op whose arguments need no binding."""
    return _with(op, op.params)  # their defaults


def _with(op: Op, params: Mapping[str, Any]) -> Function:
    """Like `in_order`, with these parameters. The first tensor makes the plans."""
    planned: Function | None = None

    def call(session: Evaluator, site: Site | None, *args: Any) -> Any:
        nonlocal planned
        if not args or type(args[0]) is not Tensor:
            return _run(op, session, args, params, site)
        if planned is None:
            planned = _by_plan(op, params)
        return planned(session, site, *args)

    return call


def _part(op: Op, params: Mapping[str, Any]) -> Function:
    """A function that does an op which is part of another."""
    return lambda session, site, *args: do_op(op, session, args, params, site)


def do_op(
    op: Op, session: Evaluator, args: Sequence[Any], params: Mapping[str, Any], site: Site | None
) -> Any:
    """The result of an op, with any parameters."""
    if args and type(args[0]) is Tensor:
        from gradcli.engine.run.fast.plans import key_of

        key = key_of(params)
        if key is not None:
            return _keyed(op, key)(session, site, *args)
    return _run(op, session, args, params, site)


@lru_cache(maxsize=4096)
def _keyed(op: Op, key: Any) -> Function:
    """The op with the parameters of this key."""
    from gradcli.engine.run.fast.plans import params_of

    return _with(op, params_of(key))


def has_fast_path(op: Op) -> bool:
    """True if an op on numbers is one call of its function of numbers."""
    return op.value.number is not None and len(op.args) in (1, 2) and needs_no_binding(op)


def by_name(op: Op, site: Site | None) -> Function:
    """Return the op for arguments by position and name, which each call binds."""
    if op.host.call is not None:
        host = of_host(op)

        def on_values(session: Evaluator, /, *args: Any, **keywords: Any) -> Any:
            bound, params = bind_host(op, args, keywords)
            return host(session, *bound, **params)

        return on_values if site is None or not op.host.by else _placed(on_values, site)

    def on_tensors(session: Evaluator, /, *args: Any, **keywords: Any) -> Any:
        bound, params = bind(op, args, keywords)
        return do_op(op, session, bound, params, site)

    return on_tensors


def twin_by_name(op: Op, site: Site | None) -> Function:
    """Return the method `name_` for any arguments, which each call binds."""
    if not op.memory.inplace:
        return lambda session, /, *args, **keywords: _refuse_inplace(op)
    plain = by_name(op, site)

    def update(session: Evaluator, x: Any, /, *args: Any, **keywords: Any) -> Any:
        if type(x) is not Tensor:
            return plain(session, x, *args, **keywords)
        bound, params = bind(op, (x, *args), keywords)
        return changed(op, session, x, bound[1:], params, site)

    return update


def augmented(op: Op, plain: Function, site: Site | None) -> Function:
    """Return the function of `x += e`: it changes a tensor in place, and replaces any other value
    by the result of `plain`, the operator.
    """
    exact = scalars.python_s(op)

    def update(session: Evaluator, x: Any, value: Any) -> Any:
        if type(x) is float and type(value) is float and exact is not None:
            return exact(x, value)
        if type(x) is not Tensor:
            return plain(session, x, value)
        return changed(op, session, x, [value], op.params, site)

    return update


def value(op: Op, session: Evaluator) -> Callable[..., Any]:
    """The op as a value of the program."""
    free = by_name(op, None)

    def function(*args: Any, **keywords: Any) -> Any:
        return free(session, *args, **keywords)

    function.__name__ = op.name
    function.__doc__ = f"\n    {op.page.doc}\n    "
    return function


def of_host(op: Op) -> Function:
    """The function of a host, which takes the session or the part of it that the host names."""
    assert op.host.call is not None, f"`{op.name}` is no host"
    call, part = op.host.call, op.host.part
    if "requires_grad" in op.params:  # it makes tensors, which belong to the mode of the session
        made = call if part is None else _of_part(call, part)
        return lambda session, *args, **params: _new(session, args, made(session, *args, **params))
    return call if part is None else _of_part(call, part)


def _of_part(call: Function, part: str) -> Function:
    return lambda session, *args, **params: call(getattr(session, part), *args, **params)


def _new(session: Evaluator, args: Sequence[Any], made: Any) -> Any:
    """What a host made, which may be an argument as it is."""
    return made if any(made is a for a in args) else session.new(made)


def _placed(host: Function, site: Site) -> Function:
    """Return a host that does its work by ops; their nodes get the site of its call."""

    def call(session: Evaluator, /, *args: Any, **keywords: Any) -> Any:
        out = host(session, *args, **keywords)
        for x in out if isinstance(out, tuple) else (out,):
            if isinstance(x, Tensor) and x.node is not None:
                settle(x.node, (), site)
        return out

    return call


# execution ----------------------------------------------------------------------------------------


_ITERABLES = (list, tuple, range, dict, set, Iterator, *VIEWS)


def _run(
    op: Op, session: Evaluator, args: Sequence[Any], params: Mapping[str, Any], site: Site | None
) -> Any:
    if op.host.on_items is not None and isinstance(args[0], _ITERABLES):
        found = op.host.on_items(session, args[0], params, session.as_one(op, site))
        if found is not None:
            return found
    for x in args:
        if isinstance(x, Object):
            return _of_objects(op, session, args, params, site)
    operands = session.operands(op, args, site)
    return session.do(op, operands, params, site)


def _of_objects(
    op: Op, session: Evaluator, args: Sequence[Any], params: Mapping[str, Any], site: Site | None
) -> Any:
    from gradcli.engine.run.session.classes import is_sequence, operated

    if op.host.on_items is not None and is_sequence(args[0]):
        return op.host.on_items(session, args[0], params, session.as_one(op, site))
    return operated(op, args, params)


def changed(
    op: Op,
    session: Evaluator,
    x: Tensor,
    rest: Sequence[Any],
    params: Mapping[str, Any],
    site: Site | None,
) -> Tensor:
    """Change a tensor in place to the result of the op, and return it."""
    from gradcli.engine.ops.inplace import apply_inplace, replace, turned

    rest = session.operands(op, [x, *rest], site)[1:]
    recording = session.recording
    if op.value.body is not None:
        return replace(
            x, rest, lambda args: session.do(op, args, params, site), site, recording=recording
        )
    if session.keep:
        session.mark([x, *rest])
    if op.memory.turned is not None:
        return turned(op, x, params, site, recording=recording)
    if not session.packing or not recording:
        return apply_inplace(op, x, rest, params, site, recording=recording)
    before = Tensor(x.data, node_of(x), x.index)
    apply_inplace(op, x, rest, params, site, recording=True)
    session.pack(x, [before, *rest])
    return x


def _refuse_inplace(op: Op) -> None:
    raise run_error("unknown-attribute", f"`{op.name}` does not work in place")
