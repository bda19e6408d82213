"""Sparse matrices of derivatives by the interpreter: one run, and products for all colors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.autodiff.second_order import Slopes
from gradcli.engine.tape.graph import Node
from gradcli.engine.values.batch import Batch, single, together
from gradcli.engine.values.data import Data, np
from gradcli.questions.answers import matrix
from gradcli.questions.answers.full_matrix import full_hessian, full_jacobian
from gradcli.questions.asked.linearized import LinearizedRun, linearize
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request
from gradcli.questions.asked.sparse_plan import Group, Plan
from gradcli.questions.remarks.warnings import second_warnings, warnings
from gradcli.results import SparseHessianResult, SparseJacobianResult

Product = Callable[[Data], Data]
"""Takes directions in the rows of a matrix, and gives the products with them in its rows."""


def sparse_jacobian(loaded: Loaded, request: Request) -> SparseJacobianResult:
    """The entries of the Jacobian; all of them if the request has no plan but a reason."""
    plan = request.question.plan
    if plan is None:
        return full_jacobian(matrix.jacobian(loaded, request), request.question.reason)
    run = linearize(loaded, request)
    product = _columns(run) if plan.mode == "forward" else _rows(run.linearized, 0)
    with loaded.passing():
        values = _entries(plan, [product], run.linearized, request)
    blocks = plan.coo(values)
    found = {name: block.data for name, block in blocks.items()}
    return run.result(
        SparseJacobianResult,
        jacobian=blocks,
        **plan.told,
        warnings=warnings(run, found, run.unused),
    )


def sparse_hessian(loaded: Loaded, request: Request) -> SparseHessianResult:
    """The entries of the matrix of second derivatives, as `sparse_jacobian` gives those of the
    first.
    """
    plan = request.question.plan
    if plan is None:
        return full_hessian(matrix.hessian(loaded, request), request.question.reason)
    run = linearize(loaded, request)
    weight = run.cotangent()
    with loaded.passing():
        slopes = Slopes(run.linearized, weight)
        line = slopes.linearized()
        products = [_rows(line, k) for k in range(len(plan.groups))]
        values = _entries(plan, products, line, request)
    grad, blocks = run.by_name(slopes.data()), plan.coo(values)
    found = {name: {n: part.data for n, part in row.items()} for name, row in blocks.items()}
    return run.result(
        SparseHessianResult,
        grad=grad,
        hessian=blocks,
        **plan.told,
        warnings=second_warnings(run, grad, found),
    )


def _entries(plan: Plan, products: Sequence[Product], line: Linearized, request: Request) -> Data:
    """The values of all entries, group by group."""
    values = np.zeros(len(plan.pattern.rows))
    done = 0
    for group, product in zip(plan.groups, products, strict=True):
        for start, stop in line.spans(group.count):
            request.options.progress(done + start, plan.products)
            found = product(group.seeds(start, stop))
            group.put(found, start, values)
            spoiled = start + np.flatnonzero(~np.isfinite(found).all(1))
            if len(spoiled):
                _singly(group, spoiled, product, line, values)
        done += group.count
    return values


def _singly(group: Group, colors: Data, product: Product, line: Linearized, values: Data) -> None:
    """Find the entries of some colors again, each direction by itself: where a derivative is not
    finite, one direction spoils the entries of all others.
    """
    alone = group.alone(colors)
    for start, stop in line.spans(alone.count):
        alone.put(product(alone.seeds(start, stop)), start, values)


def _columns(run: LinearizedRun) -> Product:
    """Products of a run's Jacobian with directions of its points."""
    line = run.linearized
    (like,) = line.outputs

    def product(seeds: Data) -> Data:
        dots = {node: single(Batch(part)) for node, part in _parts(seeds, line.points)}
        (found,) = line.push(dots)
        return together(found, len(seeds), like).reshape(len(seeds), -1)

    return product


def _rows(line: Linearized, output: int) -> Product:
    """Products of directions of one output with its Jacobian."""
    like = line.outputs[output]

    def product(seeds: Data) -> Data:
        weights: list[Any] = [None] * len(line.outputs)
        weights[output] = single(Batch(seeds.reshape(len(seeds), *like.shape)))
        found = line.pull(weights)
        several = [
            together(found.get(node), len(seeds), point).reshape(len(seeds), -1)
            for node, point in line.points.items()
        ]
        return np.concatenate(several, 1)

    return product


def _parts(seeds: Data, points: Mapping[Node, Any]) -> Iterator[tuple[Node, Data]]:
    """The part of each point in directions of all of them."""
    start = 0
    for node, point in points.items():
        stop = start + math.prod(point.shape)
        yield node, seeds[:, start:stop].reshape(len(seeds), *point.shape)
        start = stop
