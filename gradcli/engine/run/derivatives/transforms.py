"""Derivatives of functions, as functions: grad, jacobian, hessian, jvp, vjp.

A transform makes each argument a new point of the graph, runs the function and differentiates with
respect to the points. Points are nodes, so transforms of transforms never mix up theirs; a pass is
recorded where something outside may want to differentiate it again. Arguments and results may be
lists and tuples of numbers and tensors: derivatives have their form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.autodiff.linearize import Linearized, zeros
from gradcli.engine.autodiff.paths import lead_elsewhere
from gradcli.engine.autodiff.seeds import seed, seed_of_one
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.functions import NO_KEYWORDS, called, wrong_function
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives.auxiliary import Auxiliary
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Node, Watchpoint
from gradcli.engine.tape.tensor import Number, Tensor, node_of
from gradcli.engine.values.carrier import Like, data_of, like_of
from gradcli.engine.values.data import NUMBERS, dtype_of, np, shape_of
from gradcli.engine.values.objects import parts_of, with_parts
from gradcli.errors import counted, run_error

Function: TypeAlias = Callable[..., Any]

Tree: TypeAlias = Any
"""A value, or a list, tuple or dictionary of trees."""


def mapped(f: Function, tree: Tree) -> Tree:
    """The tree of the results of `f` on each value of a tree."""
    if isinstance(tree, tuple):
        return tuple([mapped(f, item) for item in tree])
    if type(tree) is dict:
        return {key: mapped(f, item) for key, item in tree.items()}
    if type(tree) is list:
        return [mapped(f, item) for item in tree]
    parts = parts_of(tree)
    return f(tree) if parts is None else with_parts(tree, [mapped(f, part) for part in parts])


def values_in(tree: Tree) -> Iterator[Any]:
    """The values of a tree, from left to right."""
    if isinstance(tree, (list, tuple, dict)):
        for item in tree.values() if type(tree) is dict else tree:
            yield from values_in(item)
        return
    parts = parts_of(tree)
    if parts is None:
        yield tree
        return
    for part in parts:
        yield from values_in(part)


NO_TENSOR = "the function must return a number or tensor"
"""How the message about a function begins that returned neither."""


class Traced:
    """One run of a function whose differentiated arguments are points of the graph.

    Args:
        session: The run of the program.
        function: The function.
        given: Its arguments by place.
        argnums: Which of them it is differentiated by.
        by: The transform, as the program calls it.
        keywords: Its arguments by name.

    `arguments` are the trees of values at the points, `out` is the tree of the function's results.
    `connected` is true if anything else in the graph may be differentiated, so that derivatives
    must be recorded. `ruled` is true if a rule of the program's own takes part, which may read
    other values that are differentiated.
    """

    def __init__(
        self,
        session: Session,
        function: Any,
        given: Sequence[Any],
        argnums: Sequence[int],
        by: str,
        keywords: Mapping[str, Any] = NO_KEYWORDS,
    ) -> None:
        self.session = session
        arguments = list(given)
        self.points: dict[Node, Any] = {}
        self._nodes: dict[int, Node] = {}  # by the value there
        for i in argnums:
            arguments[i] = self._points(arguments[i])
        self.arguments = [arguments[i] for i in argnums]
        self.recording = session.recording
        rules = session.passes.rules
        session.recording = True
        session.passes.transforms += 1
        try:
            self.out = self._result(function, called(function, arguments, by, keywords))
        finally:
            session.passes.transforms -= 1
            session.recording = self.recording
        self.ruled = self.recording and session.passes.rules != rules
        made = (node_of(out) for out in values_in(self.out) if isinstance(out, Tensor))
        self.connected = self.recording and lead_elsewhere(
            (node for node in made if node is not None), self.points
        )

    def _points(self, value: Any) -> Tree:
        """Points in the place of a value, in the form of it: a list of numbers is a tensor."""
        if type(value) is list and value and all(type(v) in NUMBERS for v in value):
            return self._point(self.session.tensor(value))
        if isinstance(value, tuple):
            return tuple([self._points(v) for v in value])
        if type(value) is dict:
            return {key: self._points(v) for key, v in value.items()}
        if type(value) is list:
            return [self._points(v) for v in value]
        parts = parts_of(value)
        if parts is None:
            return self._point(value)
        return with_parts(value, [self._points(part) for part in parts])

    def _point(self, value: Any) -> Tensor:
        if type(value) in NUMBERS:
            point: Tensor = Number(float(value))
        elif isinstance(value, Tensor):
            data = value.data
            if not value.dtype.startswith("float"):
                data = data * 1.0
            elif type(data) not in NUMBERS:
                data = data.copy()  # a change in place inside the function stays inside
            point = type(value)(data)
            point.node, point.index = node_of(value), value.index
        else:
            message = f"{kind_of(value)} cannot be differentiated by"
            raise run_error("not-differentiable", message, raises=TypeError)
        node = Watchpoint("", point.node, point.index, None)
        if self.session.keep:
            node.out = point.data
        point.node, point.index = node, 0
        self.points[node] = point
        self._nodes[id(point)] = node
        return point

    def _result(self, function: Any, out: Any) -> Tree:
        """The values that the function returned, as numbers and tensors; a list is its tensor."""
        if isinstance(out, tuple):
            return tuple([self._result(function, item) for item in out])
        if type(out) is dict:
            return {key: self._result(function, item) for key, item in out.items()}
        parts = parts_of(out)
        if parts is not None:
            return with_parts(out, [self._result(function, part) for part in parts])
        out = self.session.tensor(out)
        if not isinstance(out, Tensor) and type(out) not in NUMBERS:
            message = f"{NO_TENSOR}, it returned {kind_of(out)}"
            raise wrong_function(function, "not-differentiable", message)
        return out

    def linearized(self, out: Tree) -> Linearized:
        """A result as a linear map of changes at the points."""
        return Linearized([*values_in(out)], {node: like_of(x) for node, x in self.points.items()})

    def pulled(self, line: Linearized, gs: Sequence[Any]) -> list[Tree]:
        """Gradients by the arguments, in their form, from cotangents of the results."""
        if self._recorded(gs):
            found = line.pull_recorded(gs)
        elif self.ruled:
            found = {x: self._loose(v) for x, v in line.pull_recorded(gs).items()}
        else:
            found = line.pull([data_of(g) for g in gs])
        return self.by_argument({x: as_value(found.get(x), at) for x, at in self.points.items()})

    def pushed(self, line: Linearized, out: Tree, seeds: Mapping[Node, Any]) -> Tree:
        """Tangents of the result `out`, in its form, from those of points."""
        if self._recorded(seeds.values()):
            dots = iter(line.push_recorded(seeds))
            return mapped(lambda value: _connected(as_value(next(dots), value), value), out)
        if self.ruled:
            dots = iter(map(self._loose, line.push_recorded(seeds)))
            return mapped(lambda value: as_value(next(dots), value), out)
        dots = iter(line.push({node: _float(data_of(dot)) for node, dot in seeds.items()}))
        return mapped(lambda value: as_value(next(dots), value), out)

    def _recorded(self, weights: Any) -> bool:
        """True if a product with these is recorded."""
        nodes = (node_of(w) for w in weights if isinstance(w, Tensor))
        return self.connected or (self.recording and any(node is not None for node in nodes))

    def _loose(self, found: Any) -> Any:
        """A derivative, without its history if that leads to the points alone."""
        node = node_of(found) if isinstance(found, Tensor) else None
        elsewhere = node is not None and lead_elsewhere((node,), self.points)
        return found if found is None or elsewhere else data_of(found)

    def by_argument(self, found: Mapping[Node, Any]) -> list[Tree]:
        """The value found for each point, in the form of the arguments."""
        return [mapped(lambda x: found[self._nodes[id(x)]], a) for a in self.arguments]

    def direction(self, dots: Sequence[Tree]) -> dict[Node, Any]:
        """Tangents of the points from those of the arguments."""
        if len(dots) != len(self.arguments):
            raise run_error(
                "wrong-count",
                f"{len(dots)} tangents are given for {len(self.arguments)} arguments",
                raises=RuntimeError,
            )
        pairs = [p for a, dot in zip(self.arguments, dots, strict=True) for p in paired(a, dot)]
        seeds = {}
        for argument, given in pairs:
            dot = self._weight(given, argument, "tangent")
            if type(dot) in NUMBERS:
                dot = float(dot)
            if type(dot) is not float or dot != 0.0:
                seeds[self._nodes[id(argument)]] = dot
        return seeds

    def cotangents(self, given: Tree) -> list[Any]:
        """Cotangents of the results from those that are given, in the form of the results."""
        found = []
        for out, g in paired(self.out, given):
            x = out if isinstance(out, Tensor) else Tensor(out)
            found.append(seed(x, None if g is None else self._weight(g, x, "cotangent"), "vjp"))
        return found

    def _weight(self, given: Any, like: Tensor, what: str) -> Any:
        weight = self.session.tensor(given)
        if not isinstance(weight, Tensor) and type(weight) not in NUMBERS:
            message = f"a {what} must be a number or tensor, got {kind_of(weight)}"
            raises = RuntimeError if isinstance(weight, tuple) else None
            raise run_error("wrong-type", message, raises=raises)
        if shape_of(weight) != like.shape:
            raise run_error(
                "shape-mismatch",
                f"a {what} of shape {list(shape_of(weight))} for a value of shape "
                f"{list(like.shape)}",
            )
        return weight

    def outside(self, out: Tree) -> Tree:
        """A result for the program, without the points if nothing else is connected to it."""
        return out if self.connected else mapped(constant, out)


def constant(x: Any) -> Any:
    """A value without its history."""
    if not isinstance(x, Tensor):
        return x
    return x.data if isinstance(x, Number) else Tensor(x.data)


def paired(tree: Tree, given: Tree) -> Iterator[tuple[Any, Any]]:
    """Yield the values of a tree, each with the value given for it."""
    if type(tree) is dict:
        if type(given) is not dict or given.keys() != tree.keys():
            message = f"{kind_of(given)} given for a dictionary of other keys"
            raise run_error("wrong-count", message, raises=RuntimeError)
        for key, item in tree.items():
            yield from paired(item, given[key])
        return
    parts = parts_of(tree)
    if parts is not None:
        tree, given = parts, parts_of(given)
    if not isinstance(tree, (list, tuple)):
        yield tree, given
        return
    if not isinstance(given, (list, tuple)) or len(given) != len(tree):
        got = len(given) if isinstance(given, (list, tuple)) else kind_of(given)
        message = f"{got} given for {counted(len(tree), 'value')}"
        raise run_error("wrong-count", message, raises=RuntimeError)
    for item, part in zip(tree, given, strict=True):
        yield from paired(item, part)


def _float(data: Any) -> Any:
    if type(data) in NUMBERS:
        return float(data)
    return data if data.dtype.kind == "f" else data.astype(np.float64)


def as_value(found: Any, like: Any) -> Any:
    """A derivative as the same kind of value as its variable; zeros for None."""
    number = not isinstance(like, Tensor) or isinstance(like, Number)
    if found is None:
        return 0.0 if number else Tensor(zeros(like_of(like)))
    if isinstance(found, Tensor):
        if number and type(found) is Tensor and type(found.data) in NUMBERS:
            return Number(found.data, found.node, found.index)
        if not number and type(found) is Number:
            return Tensor(found.data, found.node, found.index)
        return found
    if number and type(found) in NUMBERS:
        return found
    if type(found) not in NUMBERS and not found.flags.writeable:
        found = found.copy()  # repeated elements in one place cannot be changed in place
    return Tensor(found)


def _connected(dot: Any, value: Any) -> Any:
    """A tangent with a graph where the value has one: a slope that is constant has the derivative
    zero, for which a program may ask.
    """
    if (isinstance(dot, Tensor) and node_of(dot) is not None) or not isinstance(value, Tensor):
        return dot
    return ops.where(True, dot, value)


# --- gradients and products ------------------------------------------------------------------


def value_and_grad(
    session: Session,
    function: Any,
    argnums: Any = 0,
    has_aux: Any = False,
    *,
    by: str = "value_and_grad",
) -> Function:
    """A function that returns the value of a scalar function and its gradient. With `has_aux` the
    function returns a pair, and the value comes with the second item of it.
    """

    def value_and_gradient(*args: Any, **keywords: Any) -> Any:
        numbers, single = argument_numbers(argnums, len(args))
        alone = Auxiliary(function, by) if has_aux else function
        traced = Traced(session, alone, args, numbers, by, keywords)
        out = traced.out
        if isinstance(out, (tuple, dict)):
            message = f"the function must return one number, it returned {kind_of(out)}"
            raise wrong_function(function, "not-differentiable", message)
        g = seed_of_one(out if isinstance(out, Tensor) else Tensor(out), by)
        found = traced.pulled(traced.linearized(out), [g])
        value = traced.outside(out)
        if isinstance(alone, Auxiliary):
            value = value, traced.outside(alone.beside)
        return value, found[0] if single else tuple(found)

    return titled(value_and_gradient, by, function, argnums)


def grad(
    session: Session, function: Any, argnums: Any = 0, has_aux: Any = False, *, by: str = "grad"
) -> Function:
    """A function that returns the gradient of a scalar function. With `has_aux` the function
    returns a pair, and the second item of it comes beside the gradient.
    """
    both = value_and_grad(session, function, argnums, has_aux, by=by)

    def gradient(*args: Any, **keywords: Any) -> Any:
        value, found = both(*args, **keywords)
        return (found, value[1]) if has_aux else found

    return titled(gradient, by, function, argnums)


def titled(made: Function, what: str, function: Any, argnums: Any) -> Function:
    """A derivative of a function with autograd's name and text."""
    of = getattr(function, "__name__", "[unknown name]")
    made.__name__ = f"{what}_of_{of}_wrt_argnum_{argnums}"
    made.__doc__ = (
        f"    {what} of function {of} with respect to argument number {argnums}. Takes the\n"
        f"    same arguments as {of} but returns the {what}.\n    "
    )
    return made


def vjp(
    session: Session, function: Any, primals: Sequence[Any], has_aux: Any = False
) -> tuple[Any, ...]:
    """The value of a function, and the function from its cotangent to those of the primals. With
    `has_aux` the function returns a pair, and the second item of it comes last.
    """
    alone = Auxiliary(function, "vjp") if has_aux else function
    traced = Traced(session, alone, primals, range(len(primals)), "vjp")
    line = traced.linearized(traced.out)

    def pullback(*cotangents: Any) -> Any:
        if len(cotangents) != 1:
            raise run_error(
                "wrong-arity",
                f"what `vjp` returns takes 1 argument, the cotangent, got {len(cotangents)}",
            )
        return tuple(traced.pulled(line, traced.cotangents(cotangents[0])))

    if isinstance(alone, Auxiliary):
        return traced.outside(traced.out), pullback, traced.outside(alone.beside)
    return traced.outside(traced.out), pullback


def jvp(
    session: Session, function: Any, primals: Any, dots: Any, has_aux: Any = False
) -> tuple[Any, ...]:
    """The value of a function and its derivative in a direction; with `has_aux` behind them what
    the function returns beside its value.
    """
    primals, dots = several(primals), several(dots)
    if len(primals) != len(dots):
        raise run_error("wrong-count", f"{len(dots)} tangents are given for {len(primals)} primals")
    alone = Auxiliary(function, "jvp") if has_aux else function
    traced = Traced(session, alone, primals, range(len(primals)), "jvp")
    out, seeds = traced.out, traced.direction(dots)
    found = traced.outside(out), traced.pushed(traced.linearized(out), out, seeds)
    return (*found, traced.outside(alone.beside)) if isinstance(alone, Auxiliary) else found


def several(values: Any) -> tuple[Any, ...]:
    """Arguments that may be given as one."""
    return values if isinstance(values, tuple) else (values,)


# --- matrices --------------------------------------------------------------------------------


def jacobian(
    session: Session,
    function: Any,
    argnums: Any = 0,
    has_aux: Any = False,
    *,
    mode: str,
    by: str = "jacobian",
) -> Function:
    """A function that returns the Jacobian by "reverse" or "forward" mode: in the form of the
    result, then of the arguments; in the shape of an output, then of an argument. With `has_aux`
    the function returns a pair, and the second item of it comes beside the Jacobian.
    """

    def jacobian_at(*args: Any, **keywords: Any) -> Any:
        numbers, single = argument_numbers(argnums, len(args))
        alone = Auxiliary(function, by) if has_aux else function
        traced = Traced(session, alone, args, numbers, by, keywords)
        found = matrix(traced, mode, not single)
        return (found, traced.outside(alone.beside)) if isinstance(alone, Auxiliary) else found

    return titled(jacobian_at, "jacobian", function, argnums)


def matrix(traced: Traced, mode: str, by_tuple: bool) -> Tree:
    """The Jacobian of a run, in the form of its result, then of the one argument or the tuple of
    them.
    """
    rows = iter(_blocks(traced, mode))

    def by_arguments(out: Any) -> Any:
        found = traced.by_argument(next(rows))
        return tuple(found) if by_tuple else found[0]

    return mapped(by_arguments, traced.out)


def _blocks(traced: Traced, mode: str) -> list[dict[Node, Any]]:
    """The parts of the Jacobian, by output and point."""
    line = traced.linearized(traced.out)
    if traced.connected or line.directions(mode) <= 1:
        return (_by_forward if mode == "forward" else _by_reverse)(traced, line)
    outs = values_in(traced.out)
    return [
        {node: _block(part, out, traced.points[node]) for node, part in found.items()}
        for out, found in zip(outs, line.jacobian(mode), strict=True)
    ]


def _block(part: Any, out: Any, point: Tensor) -> Any:
    """A part of the Jacobian as a value: where both are single, of the point's kind."""
    if shape_of(out) == ():
        return as_value(part, point)
    return as_value(part, out) if point.shape == () else Tensor(part)


def _by_reverse(traced: Traced, line: Linearized) -> list[dict[Node, Any]]:
    """The blocks, made row by row."""
    outs = [*values_in(traced.out)]
    found = []
    for k, out in enumerate(outs):
        shape = shape_of(out)
        rows = []
        for unit in _units(like_of(out)):
            weights: list[Any] = [None] * len(outs)
            weights[k] = unit
            rows.append(line.pull_recorded(weights) if traced.connected else line.pull(weights))
        blocks = {
            node: as_value(rows[0].get(node), point)
            if shape == ()
            else _stacked(
                [as_value(r.get(node), point) for r in rows], shape, point.shape, point.dtype, 0
            )
            for node, point in traced.points.items()
        }
        if traced.connected and not rows:
            blocks = {node: _connected(block, ops.sum(out)) for node, block in blocks.items()}
        found.append(blocks)
    return found


def _by_forward(traced: Traced, line: Linearized) -> list[dict[Node, Any]]:
    """The blocks, made column by column."""
    outs = [*values_in(traced.out)]
    found: list[dict[Node, Any]] = [{} for _ in outs]
    for node, point in traced.points.items():
        columns = [
            line.push_recorded({node: unit}) if traced.connected else line.push({node: unit})
            for unit in _units(like_of(point))
        ]
        for k, out in enumerate(outs):
            if point.shape == ():
                block = _block(columns[0][k], out, point)
            else:
                parts = [as_value(column[k], out) for column in columns]
                block = _stacked(parts, shape_of(out), point.shape, dtype_of(out), -1)
            found[k][node] = _connected(block, ops.sum(out)) if traced.connected else block
    return found


def _units(like: Like) -> Iterator[Any]:
    """The unit vectors of the space of values of a shape and dtype."""
    if like.shape == () and like.dtype == "float64":
        yield 1.0
        return
    count = int(np.prod(like.shape))
    for i in range(count):
        unit = np.zeros(count, like.dtype)
        unit[i] = 1.0
        yield unit.reshape(like.shape)


def _stacked(
    parts: Sequence[Any], out: tuple[int, ...], given: tuple[int, ...], dtype: str, dim: int
) -> Tensor:
    """Derivatives of single elements, of a dtype, as one tensor of shape `out` + `given`."""
    if not parts:
        return Tensor(np.zeros((*out, *given), dtype))
    stacked = ops.stack(*(p if isinstance(p, Tensor) else Tensor(p) for p in parts), dim=dim)
    return ops.reshape(stacked, shape=(*out, *given))  # type: ignore[no-any-return]  # an op's result


def hessian(session: Session, function: Any, argnums: Any = 0) -> Function:
    """A function that returns the second derivatives: the Jacobian of the Jacobian."""
    first = jacobian(session, function, argnums, mode="reverse", by="hessian")
    second = jacobian(session, first, argnums, mode="forward", by="hessian")
    return titled(second, "hessian", function, argnums)


def argument_numbers(argnums: Any, count: int) -> tuple[list[int], bool]:
    """The indices of the arguments to differentiate by, and true if there is only one."""
    single = not isinstance(argnums, (list, tuple))
    numbers = []
    for i in [argnums] if single else argnums:
        if type(data_of(i)) is not int:
            raise run_error("wrong-type", f"an argument has an int as its number, got {kind_of(i)}")
        number = data_of(i)
        if not -count <= number < count:
            raise run_error("bad-argument", f"there is no argument {number}: {count} are given")
        numbers.append(number % count)
    return numbers, single
