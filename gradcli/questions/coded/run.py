"""A run as a typed program: the result and the top-level values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from gradcli.engine.compile.passes.finalize import final
from gradcli.engine.compile.specialize.program import (
    Elements,
    Items,
    Known,
    Leaf,
    Told,
    Trained,
    Tree,
    Ways,
    specialize,
)
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.report.values import binding, is_data, is_numeric, plain_value
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, leaf, of_node
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import np
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.lowered import Lowered, Plan, inputs_of
from gradcli.results import RunResult


class Run(Lowered):
    """The result and the top-level values."""

    def __init__(self, loaded: Loaded, request: Request, plan: Plan) -> None:
        program = loaded.program
        names = [*program.names]
        wanted = [*names] if program.result is None else [*names, None]
        how = plan.tensors, plan.most_inlined, plan.budget
        made = specialize(program, request.shapes, (), wanted, (), *how)
        self._names = names
        self._params = {i.name for i in program.inputs if i.kind == "param"}
        trees = zip(names, made.outputs, strict=False)
        self._is_recorded = request.options.grad_fn or loaded.sees_recording
        if request.options.grad_fn and any(
            _is_unnamed(t) for n, t in trees if n not in self._params
        ):
            raise NotCompilable("tensors are shown with the operations that made them")
        self._output = program.output
        self._trees = made.outputs
        places = count()
        self.tests = [k for tree in made.outputs for k in _tests(tree, places)]
        self.program, self.inputs = final(made.program, []), inputs_of(made)
        self.effort = made.effort
        self.draws = made.draws

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> RunResult:
        found = iter(numbers)
        values = [self._value(tree, found) for tree in self._trees]
        named = {**dict(zip(self._names, values, strict=False))}
        for name in self._params:
            if not isinstance(named[name], Tensor) or named[name].node is None:
                named[name] = leaf(data_of(named[name]))
        bindings = tuple(binding(name, value) for name, value in named.items() if is_data(value))
        last = values[-1] if len(values) > len(self._names) else None
        result = Session().tensor(last) if is_numeric(last) else last
        return RunResult(
            output=self._output,
            result=plain_value(result) if is_data(result) else None,
            bindings=bindings,
            printed=printed,
            warnings=(),
            graph=None,
            kinks=None,
        )

    def _value(self, tree: Tree, numbers: Iterator[Any]) -> Any:
        """A value of the program."""
        match tree:
            case Items():
                return tree.kind(self._value(item, numbers) for item in tree.items)
            case Known():
                return tree.value
            case Elements():
                data = np.array([next(numbers) for _ in range(tree.count)]).reshape(tree.shape)
                return self._tensor(data, tree.nodes, numbers)
            case Ways():
                is_first = next(numbers)
                values = self._value(tree.then, numbers), self._value(tree.orelse, numbers)
                return values[0] if is_first else values[1]
            case Told():
                return tree.make(*[next(numbers) for _ in range(tree.count)])
            case Trained():
                data = next(numbers)
                made = leaf(data) if tree.requires_grad else Tensor(data)
                made.grad = None if tree.grad is None else Tensor(next(numbers))
                return made
        number = next(numbers)
        return self._tensor(number, tree.nodes, numbers) if tree.tensor else number

    def _tensor(self, data: Any, nodes: Sequence[str] | None, numbers: Iterator[Any]) -> Tensor:
        """A tensor with its node, or one of the name of its node."""
        several = nodes or ("",)
        name = several[next(numbers) if len(several) > 1 else 0]
        return of_node(data, name if self._is_recorded or name == AccumulateGrad.__name__ else "")


def _tests(tree: Tree, places: Iterator[int]) -> Iterator[int]:
    """The places of the bools in a result that select its form."""
    match tree:
        case Leaf():
            next(places)
            if tree.nodes is not None and len(tree.nodes) > 1:
                next(places)
        case Trained():
            next(places)
            if tree.grad is not None:
                next(places)
        case Elements():
            for _ in range(tree.count + (tree.nodes is not None and len(tree.nodes) > 1)):
                next(places)
        case Told():
            for _ in range(tree.count):
                next(places)
        case Items():
            for item in tree.items:
                yield from _tests(item, places)
        case Ways():
            yield next(places)
            yield from _tests(tree.then, places)
            yield from _tests(tree.orelse, places)


def _is_unnamed(tree: Tree) -> bool:
    """True if a result holds a tensor whose node is not known."""
    if isinstance(tree, Items):
        return any(map(_is_unnamed, tree.items))
    if isinstance(tree, Ways):
        return _is_unnamed(tree.then) or _is_unnamed(tree.orelse)
    if isinstance(tree, Trained):
        return not tree.requires_grad
    return isinstance(tree, (Leaf, Elements)) and tree.nodes is None
