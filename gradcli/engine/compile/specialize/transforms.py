"""Derivatives that a program takes of its own functions. The interpreter's versions are
`transforms` and `functional` in `engine.run.derivatives`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from gradcli.engine.compile.specialize.tracing.differentiated import (
    Call,
    Followed,
    number_in,
    numbers_in,
)
from gradcli.engine.compile.specialize.tracing.jacobians import Matrices
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    Cell,
    Closure,
    Transform,
    Vector,
    is_known,
    is_number,
    is_whole,
    number_type,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.derivatives.transforms import (
    Tree,
    argument_numbers,
    mapped,
    paired,
    several,
    values_in,
)
from gradcli.engine.tape.tensor import Tensor
from gradcli.ir import program as ir

OfFunction: TypeAlias = Callable[[Sequence[Any], Mapping[str, Any]], Any]
"""What gives something for arguments by place and by name."""


class Transforms:
    """The derivatives in one program; `call` calls a function of the program."""

    def __init__(self, trace: Trace, call: Call) -> None:
        self._trace = trace
        self._call = call

    # --- gradients and products --------------------------------------------------------------

    def value_and_grad(self, function: Any, argnums: Any = 0) -> Transform:
        """Return a function that gives the value of a scalar function and its gradient."""

        def both(args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            numbers, single = self._argnums(argnums, len(args))
            run = self._followed(function, args, numbers, keywords)
            if isinstance(run.out, tuple) or not _is_float(run.out):
                raise self._trace.refused("a function is differentiated that gives no float")
            found = run.pulled([1.0])
            return run.value(), found[0] if single else tuple(found)

        return self._function(function, both)

    def grad(self, function: Any, argnums: Any = 0) -> Transform:
        """Return a function that gives the gradient of a scalar function."""
        both = self.value_and_grad(function, argnums)
        return Transform(lambda args, keywords: both.call(args, keywords)[1])

    def grad_and_value(self, function: Any, argnums: Any = 0) -> Transform:
        """Return a function that gives the gradient and the value."""
        both = self.value_and_grad(function, argnums)
        return Transform(lambda args, keywords: both.call(args, keywords)[::-1])

    def vjp(self, function: Any, primals: Sequence[Any]) -> Any:
        """Return the value of a function, and a function from its cotangent to those of the
        primals.
        """
        run = self._followed(function, primals, range(len(primals)))

        def pullback(args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            if len(args) != 1 or keywords:
                raise self._trace.refused("what `vjp` returns takes the cotangent alone")
            return tuple(run.pulled(self._cotangents(run.out, args[0])))

        return run.value(), Transform(pullback)

    def jvp(self, function: Any, primals: Any, dots: Any) -> Any:
        """Return the value of a function and its derivative along a direction."""
        primals, dots = several(primals), several(dots)
        along = self._direction(primals, dots)
        run = self._followed(function, primals, range(len(primals)))
        (found,) = run.pushed([along])
        return run.value(), run.by_result(found)

    # --- matrices ----------------------------------------------------------------------------

    def jacobian(self, function: Any, argnums: Any, mode: str) -> Transform:
        """Return a function that gives the Jacobian by "reverse" or "forward" mode."""

        def at(args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
            numbers, single = self._argnums(argnums, len(args))
            return self._matrix(self._followed(function, args, numbers, keywords), mode, not single)

        return self._function(function, at)

    def hessian(self, function: Any, argnums: Any = 0) -> Transform:
        """Return a function that gives the second derivatives."""
        return self.jacobian(self.jacobian(function, argnums, "reverse"), argnums, "forward")

    def _matrix(self, run: Followed, mode: str, by_tuple: bool) -> Tree:
        """Return the Jacobian of a call, with the structure of the result and, inside, of the
        arguments.
        """
        if run.has_arrays:
            return Matrices(self._trace, run).matrix(mode, by_tuple)
        count, width = len(numbers_in(run.arguments)), len(numbers_in(run.out))
        if mode == "forward":
            columns = run.pushed([{k: 1.0} for k in range(count)])
            rows = [run.by_argument([column[k] for column in columns]) for k in range(width)]
        else:
            units = ([1.0 if i == k else None for i in range(width)] for k in range(width))
            rows = [run.pulled(unit) for unit in units]
        left = iter(rows)

        def by_arguments(out: Any) -> Any:
            if not isinstance(out, Vector):
                found = next(left)
            else:
                run.hold_last("a matrix is put together")
                each = [next(left) for _ in out.numbers]
                found = [self._together(run, out.shape, parts) for parts in zip(*each, strict=True)]
            return tuple(found) if by_tuple else found[0]

        return mapped(by_arguments, run.out)

    def _together(self, run: Followed, shape: Sequence[int], parts: Sequence[Tree]) -> Tree:
        """Join the derivatives of the elements of a tensor into one tensor."""
        numbers = iter(zip(*map(numbers_in, parts), strict=True))

        def joined(part: Any) -> Any:
            inner = part.shape if isinstance(part, Vector) else ()
            columns = [next(numbers) for _ in numbers_in(part)]
            found = [column[k] for k in range(len(parts)) for column in columns]
            return self._trace.tensors.made(found, (*shape, *inner), visible=run.visible)

        return mapped(joined, parts[0])

    # --- at inputs: `torch.autograd.functional` ------------------------------------------------

    def with_leaves(self, inputs: Any, create_graph: Any = False, **options: Any) -> Any:
        """Return these transforms, for inputs that PyTorch's functions make no leaves of: that the
        program can see.
        """
        if create_graph is not False:
            for x in values_in(several(inputs)):
                if isinstance(x, Tensor) or not all(map(self._is_recorded, numbers_in(x))):
                    raise self._trace.refused("inputs that are made leaves")
        return self

    def _is_recorded(self, number: Any) -> bool:
        return isinstance(number, Symbol) and self._is_node(number)

    def vjp_at(self, function: Any, inputs: Any, v: Any, **options: Any) -> Any:
        """Return the result of a function, and the product of a cotangent with its Jacobian."""
        run = self._at(function, inputs)
        found = run.pulled(self._cotangents(run.out, v))
        return self._left((run.value(), _like(inputs, found)), **options)

    def jvp_at(self, function: Any, inputs: Any, v: Any, **options: Any) -> Any:
        """Return the result of a function, and the product of its Jacobian with a direction."""
        along = self._direction(several(inputs), self._directions(inputs, v))
        run = self._at(function, inputs)
        (found,) = run.pushed([along])
        return self._left((run.value(), run.by_result(found)), **options)

    def hvp_at(self, function: Any, inputs: Any, v: Any, **options: Any) -> Any:
        """Return the result of a scalar function, and the product of its Hessian with a
        direction.
        """
        numbers = [*range(len(several(inputs)))]
        along = self._direction(several(inputs), self._directions(inputs, v))
        run = self._at(self.value_and_grad(function, numbers), inputs)
        (found,) = run.pushed([along])
        _, made = run.by_result(found)
        return self._left((run.value()[0], _like(inputs, made)), **options)

    def jacobian_at(self, function: Any, inputs: Any, mode: str = "reverse", **options: Any) -> Any:
        """Return the Jacobian, with the structure of the results and, inside, of the inputs."""
        made = self._matrix(self._at(function, inputs), mode, isinstance(inputs, tuple))
        return self._left(made, **options)

    def hessian_at(self, function: Any, inputs: Any, mode: str = "forward", **options: Any) -> Any:
        """Return the second derivatives of a scalar function, with the structure of the inputs
        twice.
        """
        form = isinstance(inputs, tuple)
        slopes = self.grad(function, [*range(len(inputs))] if form else 0)
        return self._left(self._matrix(self._at(slopes, inputs), mode, form), **options)

    def _at(self, function: Any, inputs: Any) -> Followed:
        given = several(inputs)
        return self._followed(function, given, range(len(given)))

    def _left(self, found: Tree, create_graph: Any = False, strict: Any = False) -> Tree:
        """Return a derivative for the program: constants, unless it asks for a graph."""
        if not is_known((create_graph, strict)) or strict:
            raise self._trace.refused("a derivative with options that depend on the path")
        return found if create_graph else mapped(self._constant, found)

    def _constant(self, value: Any) -> Any:
        if isinstance(value, Vector):
            numbers = [*map(self._trace.cut, value.numbers)]
            return self._trace.tensors.made(numbers, value.shape, visible=False)
        if isinstance(value, Cell):
            return self._trace.cell(self._trace.cut(value.number))
        return self._trace.cut(value)

    def _directions(self, inputs: Any, v: Any) -> Sequence[Any]:
        """Return the direction, which may be left out if there is only one."""
        if v is None:
            if isinstance(inputs, (list, tuple)):
                raise self._trace.refused("a direction is left out")
            return (1.0,)
        if isinstance(inputs, tuple) and not isinstance(v, tuple):
            raise self._trace.refused("another number of directions than inputs")
        return several(v)

    # --- shared steps --------------------------------------------------------------------------

    def _function(self, function: Any, call: OfFunction) -> Transform:
        if not isinstance(function, (Closure, Transform, ir.Builtin)):
            raise self._trace.refused("a derivative of what is no function")
        return Transform(call)

    def _followed(
        self,
        function: Any,
        args: Sequence[Any],
        numbers: Sequence[int],
        keywords: Mapping[str, Any] | None = None,
    ) -> Followed:
        if len({*numbers}) < len(numbers):
            raise self._trace.refused("a derivative by one argument twice")
        return Followed(self._trace, self._call, function, args, numbers, keywords or {})

    def _argnums(self, argnums: Any, count: int) -> tuple[Sequence[int], bool]:
        if not is_known(argnums):
            raise self._trace.refused("a derivative by arguments known only at run time")
        return argument_numbers(argnums, count)

    def _cotangents(self, out: Tree, given: Tree) -> list[Any]:
        """Return the cotangents of the results from given ones of the same structure."""
        return [x for value, g in paired(out, given) for x in self._weights(value, g)]

    def _direction(self, primals: Sequence[Tree], dots: Sequence[Tree]) -> dict[int, Any]:
        """Return the tangents of the points by place, from those of the arguments."""
        if len(dots) != len(primals):
            raise self._trace.refused("another number of tangents than arguments")
        trees = zip(primals, dots, strict=True)
        seeds = {}
        pairs = [p for a, dot in trees for p in paired(a, dot)]
        weights = [(given, x) for value, given in pairs for x in self._weights(value, given)]
        for k, (given, dot) in enumerate(weights):
            if not is_number(given):
                seeds[k] = dot
                continue
            if isinstance(dot, Symbol) and not self._is_node(dot):
                self._trace.leave(ops.eq(dot, 0.0), "a tangent is zero")
            if isinstance(dot, Symbol) or dot != 0.0:
                seeds[k] = dot
        return seeds

    def _is_node(self, dot: Symbol) -> bool:
        return self._trace.connections.is_node(self._trace.links(operand(dot)))

    def _weights(self, value: Any, given: Any) -> Sequence[Any]:
        """Return the tangents or cotangents of the numbers in a value."""
        value, given = (
            self._trace.tensors.of_known(x) if isinstance(x, Tensor) and x.shape else x
            for x in (value, given)
        )
        if is_whole(value):
            if not is_whole(given) or (given.shape, given.dtype) != (value.shape, value.dtype):
                raise self._trace.refused("a tangent or cotangent is of another shape")
            return [given.number]
        if not isinstance(value, Vector):
            return [1.0 if given is None else self._weight(given)]
        if not isinstance(given, Vector) or (given.shape, given.type) != (value.shape, "float"):
            raise self._trace.refused("a tangent or cotangent is of another shape")
        return given.numbers

    def _weight(self, given: Any) -> Any:
        """Return a tangent or cotangent as a float."""
        number = number_in(given)
        if not is_number(number) or (isinstance(given, Cell) and number_type(number) != "float"):
            raise self._trace.refused("a tangent or cotangent is no float")
        if number_type(number) == "float":
            return number
        return ops.mul(number, 1.0) if isinstance(number, Symbol) else float(number)


def _is_float(out: Any) -> bool:
    """True for a single float."""
    return not isinstance(out, Vector) and number_type(number_in(out)) in ("float", "float64[]")


def _like(inputs: Any, found: Any) -> Any:
    """Return a tuple with a value for each input, or the only value."""
    return tuple(found) if isinstance(inputs, tuple) else found[0]
