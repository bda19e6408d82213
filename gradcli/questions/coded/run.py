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
    Trained,
    Tree,
    Ways,
    specialize,
)
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.report.values import binding, is_data, is_numeric, plain_value
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor, leaf
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
        made = specialize(program, request.shapes, (), wanted, (), plan.tensors, plan.most_inlined)
        self._names = names
        self._params = {i.name for i in program.inputs if i.kind == "param"}
        trees = zip(names, made.outputs, strict=False)
        if request.options.grad_fn and any(
            _has_tensor(t) for n, t in trees if n not in self._params
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
        values = [_value(tree, found) for tree in self._trees]
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


def _tests(tree: Tree, places: Iterator[int]) -> Iterator[int]:
    """The places of the bools in a result that select its form.

    Raises:
        NotCompilable: If a tensor requires grad by itself on one of two paths.
    """
    match tree:
        case Leaf():
            if tree.trained:
                raise NotCompilable("a tensor is a leaf on one of two paths")
            next(places)
        case Trained():
            next(places)
            if tree.grad is not None:
                next(places)
        case Elements():
            for _ in range(tree.count):
                next(places)
        case Items():
            for item in tree.items:
                yield from _tests(item, places)
        case Ways():
            yield next(places)
            yield from _tests(tree.then, places)
            yield from _tests(tree.orelse, places)


def _has_tensor(tree: Tree) -> bool:
    if isinstance(tree, Items):
        return any(map(_has_tensor, tree.items))
    if isinstance(tree, Ways):
        return _has_tensor(tree.then) or _has_tensor(tree.orelse)
    if isinstance(tree, Elements):
        return True
    if isinstance(tree, Trained):
        return not tree.requires_grad
    return isinstance(tree.value, Tensor) if isinstance(tree, Known) else tree.tensor


def _value(tree: Tree, numbers: Iterator[Any]) -> Any:
    """A value of the program."""
    if isinstance(tree, Items):
        return tree.kind(_value(item, numbers) for item in tree.items)
    if isinstance(tree, Known):
        return tree.value
    if isinstance(tree, Elements):
        return Tensor(np.array([next(numbers) for _ in range(tree.count)]).reshape(tree.shape))
    if isinstance(tree, Ways):
        is_first = next(numbers)
        values = _value(tree.then, numbers), _value(tree.orelse, numbers)
        return values[0] if is_first else values[1]
    if isinstance(tree, Trained):
        data = next(numbers)
        made = leaf(data) if tree.requires_grad else Tensor(data)
        made.grad = None if tree.grad is None else Tensor(next(numbers))
        return made
    number = next(numbers)
    return Tensor(number) if tree.tensor else number
