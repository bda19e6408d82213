"""The fast path of any op on tensors of float64: what is known of it by their shapes.

When an op has been done twice on tensors of the same shapes, of which the same are connected, a
plan is made: which function gives its value, what its node saves, and in the first pass back what
its rules do. What is done by a plan is what `apply` does for values of any kind, without looking at
what cannot be: a test holds the two ways together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.ops.extent import FEW
from gradcli.engine.ops.op import Op
from gradcli.engine.ops.steps import function_of, ops_of, written
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import (
    OpNode,
    Tensor,
    asked,
    counter,
    keep_result,
    node_of,
    placed,
    planned,
    share,
    version_of,
)
from gradcli.engine.values.carrier import SCALAR, like_of
from gradcli.engine.values.data import Data, np
from gradcli.engine.values.memory import in_order

Function: TypeAlias = Callable[..., Any]
"""Does an op, called with the session, the site and the arguments."""

_MANY = 256  # plans of one op or place; a program with more has no use for them


class Plan:
    """What is known of an op on arguments of some shapes. `value` gives its value on plain data and
    `lies` tells that this lies as it should where it is in order; `kept` are the places of the
    arguments that its rules read, `guarded` of those that it refuses changes of, `saved` what is
    left of the others.
    """

    __slots__ = ("guarded", "kept", "lies", "like", "pulls", "saved", "value", "wanted")

    def __init__(
        self,
        op: Op,
        args: Sequence[Any],
        params: Mapping[str, Any],
        result: Tensor,
        edges: Sequence[Any],
    ) -> None:
        data = [x.data if type(x) is Tensor else x for x in args]
        self.value = function_of(op, data, params, result.data)
        self.lies = (
            op.memory.layouts[0] is in_order or type(result.data) is float or result.ndim == 1
        )
        self.like = like_of(result.data)
        self.wanted = [under is not None for under in edges]
        recorded = op.differentiable and any(self.wanted)
        tensors = [i for i, x in enumerate(args) if type(x) is Tensor and recorded]
        reads = asked(op, op.tape.reads, op.tape.saves, edges) if tensors else ()
        self.kept = [i for i in tensors if reads[i]]
        guards = reads
        if tensors and op.tape.guards is not None:
            guards = asked(op, op.tape.guards, op.tape.guarded, edges)
        self.guarded = [i for i in tensors if guards[i]]
        self.saved = tuple([like_of(x.data) if type(x) is Tensor else x for x in args])
        self.pulls: dict[type, Callable[[list[Any]], Sequence[Any]] | None] = {}

    def pull(self, g: Any, node: OpNode) -> Sequence[Any]:
        """The cotangents of a node's edges."""
        kind = type(g)
        try:
            steps = self.pulls[kind]
        except KeyError:
            return self._first(g, node)
        if steps is None:
            return node.op.pull(g, node.out, node.data, node.params, self.wanted)
        return steps([g, node.out, *node.data])

    def _first(self, g: Any, node: OpNode) -> Sequence[Any]:
        """The same, with the steps taken down."""

        def rules(g: Any, out: Any, *data: Any) -> Sequence[Any]:
            return node.op.pull(g, out, data, node.params, self.wanted)

        found = written(rules, [g, node.out, *node.data])
        if found is None:
            self.pulls[type(g)] = None
            return rules(g, node.out, *node.data)
        pulled, self.pulls[type(g)] = found
        return pulled


class Parts:
    """What is known of an op made of others: which it does one after the other, each by its own
    plans.
    """

    __slots__ = ("_constants", "_steps")

    def __init__(self, steps: Sequence[tuple[Function, Sequence[int]]], constants: Any) -> None:
        self._steps = steps
        self._constants = constants

    def do(self, session: Session, site: Site | None, args: Sequence[Any]) -> Any:
        """The result; only its own node has the variable that it goes to."""
        values = [*args]
        constants = self._constants
        inside = Site(site.span, "", site.whole) if site is not None and site.variable else site
        last = len(self._steps) - 1
        for i, (function, places) in enumerate(self._steps):
            while len(values) in constants:
                values.append(constants[len(values)])
            given = [values[place] for place in places]
            values.append(function(session, site if i == last else inside, *given))
        return values[-1]


def by_plan(
    op: Op, params: Mapping[str, Any], general: Function, part: Callable[..., Function]
) -> Function:
    """The op with these parameters; `general` does it for others than such tensors, and `part`
    makes what does an op that it is made of.
    """
    array, double = np.ndarray, np.dtype(np.float64)
    plans: dict[Any, Plan | Parts | None] = {}
    is_view, takes_floats = op.memory.view, not op.memory.view
    tells, records = op.tape.saves_out or op.tape.guards_out, op.differentiable

    def call(session: Session, site: Site | None, *args: Any) -> Any:
        if session.keep or not session.recording:
            return general(session, site, *args)
        known: list[Any] = []
        data: list[Any] = []
        edges: list[Any] = []
        outputs: list[int] = []
        connected = visible = False
        for x in args:
            if type(x) is Tensor:
                a = x.data
                if type(a) is array and a.dtype is double:
                    known.append(a.shape)
                elif type(a) is float and takes_floats:
                    known.append(float)
                else:
                    return general(session, site, *args)
                under = x.node if x.view is None else node_of(x)
                data.append(a)
                edges.append(under)
                outputs.append(x.index)
                known.append(under is not None)
                if under is not None:
                    connected = True
                    visible = visible or under.visible
            elif (type(x) is int or type(x) is float) and x:
                known.append((type(x), x))
                data.append(x)
                edges.append(None)
                outputs.append(0)
            else:
                return general(session, site, *args)
        key = tuple(known)
        plan = plans.get(key)
        if plan is None:
            return learn(key, edges, session, site, args)
        if isinstance(plan, Parts):
            return plan.do(session, site, args)
        out = plan.value(*data)
        if type(out) is not float and not (
            plan.lies
            and out.base is None
            and out.flags.c_contiguous
            and out is not data[0]
            and out is not data[-1]
        ):
            out = placed(op, out, data, 0)
        result = Tensor(out)
        if connected and records:
            saved = plan.saved
            kept = plan.kept
            if kept:
                args_, data_ = [*saved], [*saved]
                for i in kept:
                    args_[i], data_[i] = args[i], data[i]
                saved, held = tuple(args_), tuple(data_)
            else:
                held = saved
            node = planned(
                op,
                tuple(edges),
                tuple(outputs),
                saved,
                held,
                params,
                visible,
                site,
                plan.like,
                plan.pull,
            )
            for i in kept:
                if type(data[i]) is array:
                    x = args[i]
                    (x.version or counter(x)).keep(node, i)
            if plan.guarded:
                node.guards = tuple([args[i] for i in plan.guarded])
                node.versions = tuple([version_of(x) for x in node.guards])
            if tells:
                keep_result(node, op, result)
            elif type(out) is float:
                node.out = out
                node.like = SCALAR
            result.node = node
        if is_view:
            share(result, args[0], op, params, None)
        return result

    def learn(
        key: Any, edges: Sequence[Any], session: Session, site: Site | None, args: Sequence[Any]
    ) -> Any:
        """Do it the long way, and make a plan if that was done before."""
        result = general(session, site, *args)
        if key in plans:
            if not _is_usual(args, result):
                pass
            elif op.value.body is not None:
                plans[key] = _parts(op, args, params, part)
            elif _is_of(op, result):
                plans[key] = Plan(op, args, params, result, edges)
        elif len(plans) < _MANY:
            plans[key] = None
        return result

    return call


def _is_usual(args: Sequence[Any], result: Any) -> bool:
    """Whether a plan can be made of arguments and result, none of which is a matter of memory."""
    if type(result) is not Tensor or not _is_double(result.data):
        return False
    return all(type(x) is not Tensor or np.size(x.data) <= FEW for x in (*args, result))


def _is_of(op: Op, result: Tensor) -> bool:
    """Whether a result is recorded as that of the op alone, if it is."""
    node = result.node
    return node is None or (isinstance(node, OpNode) and node.op is op)


def _parts(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], part: Callable[..., Function]
) -> Parts | None:
    """The ops that an op is made of, where it shows as nothing but these."""
    body, memory, tape = op.value.body, op.memory, op.tape
    if body is None or tape.folds or memory.view or memory.layouts or tape.guards is not None:
        return None
    data = [x.data if type(x) is Tensor else x for x in args]
    found = ops_of(lambda *xs: body(*xs, **params), data)
    if found is None or found[0][-1][0].memory.view:
        return None
    taken, constants = found
    steps = [(part(inner, given), places) for inner, places, given in taken]
    return Parts(steps, dict(constants))


def _is_double(x: Data) -> bool:
    return type(x) is float or (type(x) is np.ndarray and bool(x.dtype.char == "d"))


def key_of(params: Mapping[str, Any]) -> Any:
    """What tells parameters from others, None where nothing does that can be looked up."""
    key = []
    for name, value in params.items():
        told = _told(value)
        if told is None:
            return None
        key.append((name, *told))
    return tuple(key)


def params_of(key: Any) -> dict[str, Any]:
    """The parameters of a key."""
    return {name: _untold(kind, told) for name, kind, told in key}


def _told(value: Any) -> tuple[type, Any] | None:
    kind = type(value)
    if kind is slice:
        parts = value.start, value.stop, value.step
        return (kind, parts) if _PLACES.issuperset(map(type, parts)) else None
    if kind is tuple:
        inside = tuple(map(_told, value))
        return None if None in inside else (kind, inside)
    if kind not in _TOLD or (kind is float and not value):  # zero has two signs
        return None
    return kind, value


def _untold(kind: type, told: Any) -> Any:
    if kind is slice:
        return slice(*told)
    return tuple(_untold(*part) for part in told) if kind is tuple else told


_TOLD = frozenset({int, bool, float, str, type(None), type(...)})
_PLACES = frozenset({int, type(None)})
