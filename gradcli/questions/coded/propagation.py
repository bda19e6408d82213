"""The uncertainty of a result as a typed program, for many rows of values and uncertainties."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from gradcli.engine.compile.differentiate.tangent import tangents
from gradcli.engine.compile.passes.simplify import tidy
from gradcli.engine.compile.symbols import Builder, Symbol, operand
from gradcli.engine.compile.typed import Block, Do, NotCompilable, Program, Value, is_array
from gradcli.engine.compile.walk import unused
from gradcli.engine.ops.catalog import ops
from gradcli.questions.asked.request import Request
from gradcli.questions.coded.second_order import SecondOrder
from gradcli.questions.remarks.warnings import unused_input
from gradcli.questions.uncertainty.law import FEW, Change, Direction, directions, numbers, sums
from gradcli.questions.uncertainty.report import Question, propagated, remarks
from gradcli.source import Span
from gradcli.views import PropagateRow

_MOST = FEW  # inputs; the interpreter has another way for more
_NOWHERE = Span(0, 0)


def beside(label: str) -> str:
    """The name of the standard uncertainty of an element, among the inputs of the code."""
    return f"{label}+/-"


class Propagation(SecondOrder):
    """The numbers of `law.numbers`. The standard uncertainties are further inputs of the code."""

    def again(self, program: Program, request: Request) -> Program:
        self._question: Question = request.question
        joint = self._question.joint
        count = len(self.points)
        are_tensors = any(c != 1 for c in joint.counts) or any(
            is_array(v.type) for v in self.points
        )
        if count > _MOST or are_tensors:
            raise NotCompilable("there are many uncertain numbers, or tensors of them")
        moved = [[self.points[i] for i in d] for d in self._along()]
        start = len(program.inputs)
        bent = tangents(program, moved, self.points).program
        turned = tangents(_kept(bent, self._bends(program, bent)), moved).program
        seeds = turned.inputs[start:]
        return self._with_law(program, turned, seeds)

    def _bends(self, program: Program, bent: Program) -> list[Any]:
        """The results of the gradient's program, and its slopes' derivatives along directions."""
        count, size = len(self.points), len(program.block.results)
        several = range(size, size + size * len(self._along()), size)
        parts = [bent.block.results[at + self.before :][:count] for at in several]
        return [*program.block.results, *(x for part in parts for x in part)]

    def _along(self) -> list[Direction]:
        """The directions for unit uncertainties."""
        return directions([1.0] * len(self.points), self._question.joint.factor)

    def _with_law(self, program: Program, turned: Program, seeds: Sequence[Value]) -> Program:
        """A program whose results are the numbers of the law."""
        joint, count = self._question.joint, len(self.points)
        size = len(program.block.results)
        builder = Builder(_NOWHERE, unused(turned))
        with builder.block() as lead:
            given = [builder.symbol("float") for _ in joint.elements]
            along = directions(given, joint.factor)
            parts = [part for d in along for part in d.values()] * 2
            for seed, part in zip(seeds, parts, strict=True):
                builder.add(Do(_NOWHERE, seed, ops.mul.name, (operand(part), 1.0), ()))
        results = [builder.known(x) for x in turned.block.results]
        slopes = results[self.before : size]
        bends = [results[size + k * count :][:count] for k in range(len(along))]
        whole = size + count * len(along)
        turns = [results[whole * (1 + k) + size + k * count :][:count] for k in range(len(along))]
        with builder.block() as law:
            found = sums(along, Change(slopes, bends, turns))
            factor = self._question.factor(inf)
            points = [builder.known(x) for x in self.points]
            made = numbers(results[0], points, given, slopes, found, factor, joint)
        block = Block((*lead, *turned.block.body, *law), tuple(map(operand, made)))
        own = [x.value for x in given if isinstance(x, Symbol)]
        inputs, first = [*program.inputs], len(program.inputs) - len(self.constants) - 1
        inputs[first:first] = own
        self.inputs = [*self.inputs, *((beside(e.label), "float", ()) for e in joint.elements)]
        return tidy(Program(tuple(inputs), block, program.texts), 0)

    def seeds(self, request: Request) -> Sequence[float | None]:
        return self._weights

    def more(self, request: Request) -> list[Any]:
        return []

    def further(self, request: Request) -> dict[str, Any]:
        pairs = zip(request.question.joint.elements, request.question.uncertainties, strict=True)
        return {beside(element.label): u for element, u in pairs}

    def result(self, numbers: Sequence[Any], printed: tuple[str, ...]) -> PropagateRow:
        question = self._question
        found = propagated(self.output, numbers, question.joint)
        return PropagateRow(
            results=(found,),
            single=True,
            covariance={},
            coverage=question.coverage,
            correlated=question.joint.correlation is not None,
            passed=True,
            printed=printed,
            warnings=(
                *(unused_input(self.loaded, name, self.output) for name in self.unused),
                *remarks([found], question.joint),
            ),
        )


def _kept(program: Program, results: Sequence[Any]) -> Program:
    """A program with these results alone, and what they need."""
    block = Block(program.block.body, tuple(results))
    return Program(program.inputs, block, program.texts)
