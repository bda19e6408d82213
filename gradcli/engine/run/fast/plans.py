"""The fast path of ops on float64 tensors: plans that depend on shapes only.

The second time an op runs on tensors of the same shapes, the same ones connected to the graph, a
plan is made. It holds the function that computes the value and what its node saves; the first pass
back adds the steps of its rules. A plan gives the same results as `apply` and skips the checks that
its shapes settle. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from gradcli.engine.ops.direct import one_call
from gradcli.engine.ops.extent import FEW, check_result
from gradcli.engine.ops.op import Op
from gradcli.engine.ops.steps import Steps, function_of, ops_of, written
from gradcli.engine.run.session.evaluator import Evaluator
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import (
    Number,
    OpNode,
    Tensor,
    asked,
    counter,
    keep_result,
    node_of,
    placed,
    planned,
    share,
)
from gradcli.engine.values.carrier import SCALAR, like_of
from gradcli.engine.values.data import np
from gradcli.engine.values.memory import in_order

Function: TypeAlias = Callable[..., Any]
"""Does an op, called with the session, the site and the arguments."""

_EXACT = 2**53  # ints below are floats as they are
_MANY = 256  # plans of one op or place; a program with more has no use for them


class Plan:
    """The fast path of an op on arguments of known shapes.

    Fields:
        value: computes the result on plain data.
        keeps_layout: true if a contiguous result already has the layout that the op's entry asks
            for.
        large: true if each call checks that there is memory for the result.
        like: shape and dtype of the result.
        saved: by argument, the part that a node keeps if no rule reads its value: shape, dtype of a
            tensor, a number itself.
        picked: from the arguments followed by `saved`, picks those that a node keeps: arguments
            whose values the rules read. None if they read none.
        arrays: the places of the arrays that the rules read.
        guarded: the places of the tensors that must not change before the rules have run.
        fresh: true if the cotangents that the rules return share no memory with anything but the
            cotangent that they are given.
    """

    __slots__ = (
        *("_shown", "_wanted", "arrays", "fresh", "guarded", "keeps_layout", "large", "like"),
        *("picked", "pulls", "saved", "value"),
    )

    def __init__(
        self,
        op: Op,
        args: Sequence[Any],
        params: Mapping[str, Any],
        result: Tensor,
        edges: Sequence[Any],
        *,
        is_call: bool,
        by_type: bool,
    ) -> None:
        data = [x.data if isinstance(x, Tensor) else x for x in args]
        self.value = function_of(op, data, params, result.data)
        self.large = any(np.size(x) > FEW for x in (*data, result.data))
        self.keeps_layout = op.memory.layouts[0] is in_order or result.ndim < 2
        self.like = like_of(result.data)
        self._wanted = tuple([under is not None for under in edges])
        recorded = op.differentiable and any(self._wanted)
        tensors = [i for i, x in enumerate(args) if isinstance(x, Tensor) and recorded]
        constants = [i for i, x in enumerate(args) if not isinstance(x, Tensor)]
        reads = asked(op, op.tape.reads, op.tape.saves, edges) if tensors else ()
        guards = reads
        if tensors and op.tape.guards is not None:
            guards = asked(op, op.tape.guards, op.tape.guarded, edges)
        kept = [i for i in tensors if reads[i]]
        self.arrays = [i for i in kept if type(data[i]) is np.ndarray]
        self.guarded = [i for i in tensors if guards[i] and type(args[i]) is Tensor]
        self.saved = tuple([like_of(x.data) if isinstance(x, Tensor) else x for x in args])
        kept += constants if by_type else []
        places = [i if i in kept else len(args) + i for i in range(len(args))]
        self.picked = _picked(places) if kept else None
        self.fresh = is_call
        self._shown = [] if by_type else [2 + i for i in constants]
        self.pulls: dict[Any, Steps | None] = {}

    def pull(self, node: OpNode, g: Any, wanted: tuple[bool, ...] | None) -> Sequence[Any]:
        """Return the cotangents of the wanted edges of a node; None stands for all edges. It runs
        the first time, and for rules that have no steps.
        """
        key: Any = type(g) if wanted is None else (type(g), wanted)
        each = wanted or self._wanted

        def rules(g: Any, out: Any, *data: Any) -> Sequence[Any]:
            return node.op.pull(g, out, data, node.params, each)

        if key not in self.pulls:
            found = written(rules, [g, node.out, *node.data], self._shown)
            if found is not None:
                pulled, self.pulls[key] = found
                return pulled
            self.pulls[key] = None
        return rules(g, node.out, *node.data)


class Parts:
    """The ops that an op consists of, run one after the other, each by its own plans."""

    __slots__ = ("_constants", "_steps")

    def __init__(self, steps: Sequence[tuple[Function, Sequence[int]]], constants: Any) -> None:
        self._steps = steps
        self._constants = constants

    def do(self, session: Evaluator, site: Site | None, args: Sequence[Any]) -> Any:
        """Return the result. Only its own node carries the variable that it is assigned to."""
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
    """Return the function that does an op with these parameters by plans.

    Args:
        op: The op.
        params: Its parameters.
        general: Does it on arguments for which there is no plan.
        part: Makes the function that does one of the ops that it consists of.
    """
    array, double = np.ndarray, np.dtype(np.float64)
    plans: dict[Any, Plan | Parts | None] = {}
    is_view, takes_floats = op.memory.view, not op.memory.view
    saves_out, guards_out, records = op.tape.saves_out, op.tape.guards_out, op.differentiable
    tells = saves_out or guards_out
    call_of_numpy = _one_call(op, params)
    is_call = call_of_numpy is not None  # on contiguous arrays: the result needs no check
    by_type = isinstance(call_of_numpy, np.ufunc)  # such a function treats all numbers alike

    def call(session: Evaluator, site: Site | None, *args: Any) -> Any:
        recording = session.recording
        if session.keep or session.packing or (not recording and (is_view or session.inference.on)):
            return general(session, site, *args)
        known: list[Any] = []
        data: list[Any] = []
        edges: list[Any] = []
        outputs: list[int] = []
        connected = visible = False
        for x in args:
            kind = type(x)
            if kind is Tensor or (kind is Number and is_call):
                a = x.data
                if type(a) is array and a.dtype is double:
                    shape = a.shape
                    if is_call and len(shape) != 1 and not (shape and a.flags.c_contiguous):
                        return general(session, site, *args)
                    known.append(shape)
                elif type(a) is float and takes_floats:
                    known.append(kind)
                else:
                    return general(session, site, *args)
                under = x.node if x.view is None else node_of(x)
                data.append(a)
                outputs.append(x.index)
                if under is None or not recording:
                    edges.append(None)
                    known.append(None)
                else:
                    edges.append(under)
                    connected = True
                    visible = visible or under.visible
            elif by_type and (kind is float or (kind is int and -_EXACT < x < _EXACT)):
                known.append(kind)
                data.append(x)
                edges.append(None)
                outputs.append(0)
            elif (kind is int or kind is float) and x:
                known.append((kind, x))
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
        if plan.large:
            check_result(op, data, params)
        out = plan.value(*data)
        if type(out) is not float and not (
            is_call
            or (
                plan.keeps_layout
                and out.base is None
                and out.flags.c_contiguous
                and out is not data[0]
                and out is not data[-1]
            )
        ):
            out = placed(op, out, data, 0)
        result = Tensor(out)
        if connected and records:
            saved = held = plan.saved
            pick = plan.picked
            if pick is not None:
                saved, held = pick((*args, *saved)), pick((*data, *saved))
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
                plan,
            )
            for i in plan.arrays:
                x = args[i]
                (x.version or counter(x)).keep(node, i)
            if plan.guarded:
                node.guards = tuple([args[i] for i in plan.guarded])
                node.versions = tuple([x.version.saved() if x.version else 0 for x in node.guards])
            if type(out) is float:
                node.out = out
                node.like = SCALAR
                if guards_out:
                    keep_result(node, op, result)
            elif tells:
                version = counter(result)
                if saves_out:
                    node.out = out
                    node.held = (version,)
                    version.keep(node, -1)
                if guards_out:
                    node.cells = (version,)
                    node.versions = (*(node.versions or ()), version.count)
            result.node = node
        if is_view:
            share(result, args[0], op, params, None)
        return result

    def learn(
        key: Any, edges: Sequence[Any], session: Evaluator, site: Site | None, args: Sequence[Any]
    ) -> Any:
        """Do the op by the general path, and make a plan the second time."""
        result = general(session, site, *args)
        if key in plans:
            if not (_is_float64_tensor(result) and (is_call or _are_small(args, result))):
                pass
            elif op.value.body is not None:
                plans[key] = _parts(op, args, params, part)
            elif _is_recorded_as(op, result):
                plans[key] = Plan(op, args, params, result, edges, is_call=is_call, by_type=by_type)
        elif len(plans) < _MANY:
            plans[key] = None
        return result

    return call


def _picked(places: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function that takes the values at these indices."""
    return itemgetter(*places) if len(places) > 1 else lambda values: (values[places[0]],)


def _one_call(op: Op, params: Mapping[str, Any]) -> Function | None:
    """The NumPy function that alone computes an element-wise op on arrays, or None."""
    return one_call(op) if op.derivatives.partials is not None and params == op.params else None


def _is_float64_tensor(result: Any) -> bool:
    """True if a plan can be made for an op with this result."""
    if type(result) is not Tensor:
        return False
    data = result.data
    return type(data) is float or (type(data) is np.ndarray and bool(data.dtype.char == "d"))


def _are_small(args: Sequence[Any], result: Tensor) -> bool:
    """True if arguments and result are too small to matter for memory."""
    return all(type(x) is not Tensor or np.size(x.data) <= FEW for x in (*args, result))


def _is_recorded_as(op: Op, result: Tensor) -> bool:
    """True if a result is unrecorded, or recorded as that of this op alone."""
    node = result.node
    return node is None or (isinstance(node, OpNode) and node.op is op)


def _parts(
    op: Op, args: Sequence[Any], params: Mapping[str, Any], part: Callable[..., Function]
) -> Parts | None:
    """The ops that an op consists of, or None if it needs a node, a view or a layout of its own."""
    body, memory, tape = op.value.body, op.memory, op.tape
    if body is None or tape.folds or memory.view or memory.layouts or tape.guards is not None:
        return None
    data = [x.data if type(x) is Tensor else x for x in args]
    constants = [i for i, x in enumerate(args) if type(x) is not Tensor]
    found = ops_of(lambda *xs: body(*xs, **params), data, constants)
    if found is None or found[0][-1][0].memory.view:
        return None
    taken, constants_ = found
    steps = [(part(inner, given), places) for inner, places, given in taken]
    return Parts(steps, dict(constants_))


def key_of(params: Mapping[str, Any]) -> Any:
    """A hashable key of parameters, or None if they have none."""
    key = []
    for name, value in params.items():
        part = _key_part(value)
        if part is None:
            return None
        key.append((name, *part))
    return tuple(key)


def params_of(key: Any) -> dict[str, Any]:
    """The parameters of a key."""
    return {name: _value_of(kind, part) for name, kind, part in key}


def _key_part(value: Any) -> tuple[type, Any] | None:
    kind = type(value)
    if kind is slice:
        parts = value.start, value.stop, value.step
        return (kind, parts) if _BOUNDS.issuperset(map(type, parts)) else None
    if kind is tuple:
        inside = tuple(map(_key_part, value))
        return None if None in inside else (kind, inside)
    if kind not in _KEYS or (kind is float and not value):  # zero has two signs
        return None
    return kind, value


def _value_of(kind: type, key: Any) -> Any:
    if kind is slice:
        return slice(*key)
    return tuple(_value_of(*part) for part in key) if kind is tuple else key


_KEYS = frozenset({int, bool, float, str, type(None), type(...)})
_BOUNDS = frozenset({int, type(None)})
