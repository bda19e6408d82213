"""Derivatives of functions, as functions: grad, jacobian, hessian, jvp, vjp.

A transform makes each argument a new point of the graph, runs the function and differentiates with
respect to the points. Points are nodes, so transforms of transforms never mix up theirs; a pass is
recorded where something outside may want to differentiate it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.backward import gradients as pass_back
from gradcli.engine.autodiff.backward import seed
from gradcli.engine.autodiff.linearize import Linearized, shaped
from gradcli.engine.autodiff.paths import lead_elsewhere
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.session import Session, kind_of
from gradcli.engine.tape.graph import Node, Watchpoint
from gradcli.engine.tape.tensor import Number, Tensor, node_of
from gradcli.engine.values.carrier import data_of, like_of
from gradcli.engine.values.data import NUMBERS, np, shape_of
from gradcli.errors import run_error

Function = Callable[..., Any]


class Traced:
    """One run of a function whose differentiated arguments are points of the graph.

    `arguments` are the values at the points (a number, a tensor, or a list or tuple of them for
    each), `out` what the function returned; `connected` whether anything else in the graph may be
    differentiated, so that derivatives have to be recorded.
    """

    def __init__(
        self, session: Session, function: Function, given: Sequence[Any], argnums: Sequence[int]
    ) -> None:
        self.session = session
        if not callable(function):
            raise run_error("not-callable", f"{kind_of(function)} is not a function")
        for i in argnums:
            if not 0 <= i < len(given):
                raise run_error("bad-argument", f"there is no argument {i}: {len(given)} are given")
        arguments = list(given)
        self.points: dict[Node, Any] = {}
        for i in argnums:
            arguments[i] = self._point(arguments[i])
        self.arguments = [arguments[i] for i in argnums]
        outside = session.recording
        session.recording = True
        session.transforms += 1
        try:
            self.out = function(*arguments)
        finally:
            session.transforms -= 1
            session.recording = outside
        made = (node_of(out) for out in self.outputs())
        self.connected = outside and lead_elsewhere(
            (node for node in made if node is not None), self.points
        )

    def _point(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            if type(value) is list and all(type(v) in NUMBERS for v in value):
                return self._point(self.session.tensor(value))
            return [self._point(v) for v in value]
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
            raise run_error("not-differentiable", f"{kind_of(value)} cannot be differentiated by")
        node = Watchpoint("", point.node, point.index, None)
        if self.session.keep:
            node.out = point.data
        point.node, point.index = node, 0
        self.points[node] = point
        return point

    def outputs(self) -> list[Tensor]:
        """The tensors that the function returned."""
        flat: list[Tensor] = []
        stack = [self.out]
        while stack:
            value = stack.pop()
            if isinstance(value, (list, tuple)):
                stack.extend(reversed(value))
            elif isinstance(value, Tensor):
                flat.append(value)
        return flat

    def output(self) -> Any:
        """The one number or tensor that the function returned."""
        out = self.session.tensor(self.out)
        if not isinstance(out, Tensor) and type(out) not in NUMBERS:
            raise run_error(
                "not-differentiable",
                f"the function must return a number or tensor, it returned {kind_of(out)}",
            )
        return out

    def linearized(self, out: Any) -> Linearized:
        """A result as a linear map of changes at the points."""
        return Linearized([out], {node: like_of(x) for node, x in self.points.items()})

    def pulled(self, line: Linearized, g: Any) -> list[Any]:
        """Gradients by the arguments, shaped as they are, from a cotangent of the result."""
        found = line.pull_recorded([g]) if self.connected else line.pull([data_of(g)])
        return [self._gradient(a, found) for a in self.arguments]

    def _gradient(self, argument: Any, found: Mapping[Node, Any]) -> Any:
        if isinstance(argument, list):
            return [self._gradient(a, found) for a in argument]
        return as_value(found.get(self.node(argument)), argument)

    def node(self, argument: Tensor) -> Node:
        """The point that an argument is."""
        return next(node for node, value in self.points.items() if value is argument)

    def pushed(self, line: Linearized, out: Any, dots: Sequence[Any]) -> Any:
        """Tangent of the result `out` from tangents of the arguments."""
        seeds: dict[Node, Any] = {}
        for argument, dot in zip(self.arguments, dots, strict=True):
            self._seed(argument, dot, seeds)
        (dot,) = line.push_recorded(seeds) if self.connected else line.push(seeds)
        return as_value(dot, out)

    def _seed(self, argument: Any, dot: Any, seeds: dict[Node, Any]) -> None:
        if isinstance(argument, list):
            if not isinstance(dot, (list, tuple)) or len(dot) != len(argument):
                raise run_error(
                    "shape-mismatch", f"{kind_of(dot)} as tangent of {len(argument)} values"
                )
            for a, d in zip(argument, dot, strict=True):
                self._seed(a, d, seeds)
            return
        dot = self.session.tensor(dot)
        if shape_of(dot) != argument.shape:
            raise run_error(
                "shape-mismatch",
                f"a tangent of shape {list(shape_of(dot))} for a value of shape "
                f"{list(argument.shape)}",
            )
        if type(dot) in NUMBERS:
            dot = float(dot)
        if type(dot) is float and dot == 0.0:
            return
        seeds[self.node(argument)] = dot if self.connected else _float(data_of(dot))


def _float(data: Any) -> Any:
    if type(data) in NUMBERS:
        return float(data)
    return data if data.dtype.kind == "f" else data.astype(np.float64)


def as_value(found: Any, like: Any) -> Any:
    """A derivative as a value of the kind of what it belongs to; zeros where there is none."""
    number = not isinstance(like, Tensor) or isinstance(like, Number)
    if found is None:
        return 0.0 if number else Tensor(shaped(None, shape_of(like)))
    if isinstance(found, Tensor):
        if number and type(found) is Tensor and type(found.data) in NUMBERS:
            return Number(found.data, found.node, found.index)
        if not number and type(found) is Number:
            return Tensor(found.data, found.node, found.index)
        return found
    if number and type(found) in NUMBERS:
        return found
    return Tensor(found)


def value_and_grad(session: Session, function: Function, argnums: Any) -> Function:
    """A function that returns the value of a scalar function and its gradient."""
    numbers, single = _argnums(argnums)

    def value_and_gradient(*args: Any) -> Any:
        traced = Traced(session, function, args, numbers)
        out = traced.output()
        x = out if isinstance(out, Tensor) else Tensor(out)
        found = traced.pulled(traced.linearized(out), seed(x, None, "grad"))
        return _outside(traced, out), found[0] if single else tuple(found)

    return value_and_gradient


def grad(session: Session, function: Function, argnums: Any) -> Function:
    """A function that returns the gradient of a scalar function."""
    both = value_and_grad(session, function, argnums)
    return lambda *args: both(*args)[1]


def vjp(session: Session, function: Function, primals: Sequence[Any]) -> tuple[Any, Function]:
    """The value of a function, and the function from its cotangent to those of the primals."""
    traced = Traced(session, function, primals, range(len(primals)))
    out = traced.output()
    line = traced.linearized(out)

    def pullback(cotangent: Any) -> Any:
        x = out if isinstance(out, Tensor) else Tensor(out)
        found = traced.pulled(line, seed(x, session.tensor(cotangent), "vjp"))
        return tuple(found)

    return _outside(traced, out), pullback


def jvp(session: Session, function: Function, primals: Any, dots: Any) -> tuple[Any, Any]:
    """The value of a function and its derivative in a direction."""
    primals, dots = _several(primals), _several(dots)
    if len(primals) != len(dots):
        raise run_error("wrong-count", f"{len(dots)} tangents are given for {len(primals)} primals")
    traced = Traced(session, function, primals, range(len(primals)))
    out = traced.output()
    return _outside(traced, out), traced.pushed(traced.linearized(out), out, dots)


def jacobian(session: Session, function: Function, argnums: Any, *, mode: str) -> Function:
    """A function that returns the Jacobian by "reverse" or "forward" mode: shape of the output,
    then shape of the argument.
    """
    numbers, single = _argnums(argnums)

    def jacobian_at(*args: Any) -> Any:
        traced = Traced(session, function, args, numbers)
        out = traced.output()
        line = traced.linearized(out)
        if not traced.connected and line.directions(mode) > 1:
            (found,) = line.jacobian(mode)
            blocks = [_block(traced, a, found, out, mode) for a in traced.arguments]
        else:
            blocks = (_by_forward if mode == "forward" else _by_reverse)(traced, line, out)
        return blocks[0] if single else tuple(blocks)

    return jacobian_at


def _block(traced: Traced, argument: Any, found: Mapping[Node, Any], out: Any, mode: str) -> Any:
    """The part of a Jacobian by one argument, as a value."""
    if isinstance(argument, list):
        return [_block(traced, a, found, out, mode) for a in argument]
    part = found[traced.node(argument)]
    like, other = (out, argument) if mode == "forward" else (argument, out)
    return as_value(part, like) if shape_of(other) == () else Tensor(part)


def _by_reverse(traced: Traced, line: Linearized, out: Any) -> list[Any]:
    """The blocks by the arguments, made row by row."""
    shape = shape_of(out)
    if shape == ():
        return traced.pulled(line, 1.0)
    rows = [traced.pulled(line, unit) for unit in _units(shape)]
    return [
        _stacked([row[k] for row in rows], shape, shape_of(a), 0)
        for k, a in enumerate(traced.arguments)
    ]


def _by_forward(traced: Traced, line: Linearized, out: Any) -> list[Any]:
    """The blocks by the arguments, made column by column."""
    found = []
    for k, argument in enumerate(traced.arguments):
        dots = [as_value(None, a) for a in traced.arguments]
        columns = []
        for unit in _units(argument.shape):
            dots[k] = as_value(unit, argument)
            columns.append(traced.pushed(line, out, dots))
        whole = argument.shape == ()
        found.append(columns[0] if whole else _stacked(columns, shape_of(out), argument.shape, -1))
    return found


def _units(shape: tuple[int, ...]) -> Iterator[Any]:
    """The unit vectors of the space of values of a shape."""
    if shape == ():
        yield 1.0
        return
    count = int(np.prod(shape))
    for i in range(count):
        unit = np.zeros(count)
        unit[i] = 1.0
        yield unit.reshape(shape)


def _stacked(
    parts: Sequence[Any], out: tuple[int, ...], given: tuple[int, ...], dim: int
) -> Tensor:
    """Derivatives of single elements as one tensor of shape `out` + `given`."""
    if not parts:
        return Tensor(np.zeros((*out, *given)))
    stacked = ops.stack(*(p if isinstance(p, Tensor) else Tensor(p) for p in parts), dim=dim)
    return ops.reshape(stacked, shape=(*out, *given))  # type: ignore[no-any-return]  # an op's result


def hessian(session: Session, function: Function, argnums: Any) -> Function:
    """A function that returns the matrix of second derivatives of a scalar function."""
    return jacobian(session, grad(session, function, argnums), argnums, mode="forward")


def hvp(session: Session, function: Function, point: Any, direction: Any) -> tuple[Any, Any]:
    """The value of a scalar function and the product of its Hessian with a direction."""
    both = value_and_grad(session, function, 0)
    traced = Traced(session, both, [point], [0])
    value, slope = traced.out
    line = traced.linearized(slope)
    return _outside(traced, value), traced.pushed(line, slope, [direction])


def _outside(traced: Traced, out: Any) -> Any:
    """A value for the program, without the points if nothing else is connected to it."""
    if traced.connected or not isinstance(out, Tensor):
        return out
    return out.data if isinstance(out, Number) else Tensor(out.data)


def _argnums(argnums: Any) -> tuple[list[int], bool]:
    if isinstance(argnums, (list, tuple)):
        return [int(i) for i in argnums], False
    return [int(argnums)], True


def _several(values: Any) -> Sequence[Any]:
    return values if isinstance(values, tuple) else (values,)


def gradients(
    session: Session,
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    allow_unused: Any = False,
) -> tuple[Any, ...]:
    """`torch.autograd.grad`: gradients of outputs by tensors of the graph, one for each."""
    given = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    wanted = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    weights = (
        list(grad_outputs)
        if isinstance(grad_outputs, (list, tuple))
        else [grad_outputs] * len(given)
    )
    if len(weights) != len(given):
        raise run_error(
            "wrong-count", f"{len(weights)} gradients are given for {len(given)} outputs"
        )
    create = bool(create_graph) or session.transparent
    retain = create if retain_graph is None else bool(retain_graph)
    roots = []
    for out, weight in zip(given, weights, strict=True):
        node = node_of(out) if isinstance(out, Tensor) else None
        if node is None:
            raise run_error(
                "no-graph", "`grad` of a value that does not depend on anything that requires grad"
            )
        g = seed(out, session.tensor(weight), "grad")
        roots.append((node, out.index, g if create else data_of(g)))
    targets = []
    for x in wanted:
        node = node_of(x) if isinstance(x, Tensor) else None
        if node is None:
            raise run_error("no-graph", f"{kind_of(x)} that does not require grad has no gradient")
        targets.append(node)
    found = pass_back(roots, targets, create_graph=create, left=session.left(retain))
    result = []
    for i, (x, node) in enumerate(zip(wanted, targets, strict=True)):
        g = found.get(node)
        if type(g) is list or type(g) is tuple:
            g = g[x.index]
        if g is None and not allow_unused:
            raise run_error(
                "unused-input",
                f"the outputs do not depend on input {i}",
                help="pass allow_unused=True to get None for it",
            )
        result.append(None if g is None else as_value(g, x))
    return tuple(result)
