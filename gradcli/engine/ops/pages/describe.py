"""What an op's entry says, as data for a page of documentation or an answer on the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from gradcli.engine.ops.build import FAMILIES
from gradcli.engine.ops.pages.formula import cotangents, written
from gradcli.engine.ops.registry import Known, Op, entries, ops
from gradcli.results import Kink, Operation

_TITLES = {
    "special": "Error and gamma functions",
    "special_scipy": "Special functions of the extra `special`",
    "statistics": "Statistics",
    "ordering": "Sorting and searching",
    "arrange": "Repeating, turning and rolling",
    "diagonal": "Diagonals and triangles",
    "scatter": "Writing elements at places",
    "product": "Products",
    "solve": "Determinants, inverses and linear equations",
    "decompose": "Decompositions of matrices",
    "matrix_function": "Functions and norms of matrices",
    "loss": "Losses",
    "layer": "Layers and distances",
    "convolution": "Convolution and pooling",
    "activation": "Activations",
    "nn": "Neural networks",
    "python": "Python's own",
    "linalg": "Matrix products and transposes",
    "create": "Making tensors",
    "random": "Random numbers",
    "transforms": "Transforms of functions",
    "extreme": "Largest and smallest",
    "reduce": "Sums and other reductions",
    "norm": "Norms and distances",
    "shape": "Shapes",
    "join": "Joining and splitting",
    "index": "Picking elements",
    "compare": "Comparison and logic",
    "choice": "Choice and clamping",
}


def operations() -> Iterator[Operation]:
    """Every built-in operation, family by family."""
    for family in FAMILIES:
        if ".internal." not in family:
            module = import_module(f"gradcli.engine.{family}")
            for op in dict.fromkeys(entries(vars(module)).values()):
                yield operation(op, family)


def named(name: str) -> Operation | None:
    """The operation that a program calls by this name; None where there is none."""
    family = ops.families.get(name, ".internal.")
    return None if ".internal." in family else operation(ops[name], family)


def operation(op: Op, family: str) -> Operation:
    """What the entry says."""
    family = family.rpartition(".")[2]
    parts = (op, *map(ops.__getitem__, op.by))
    return Operation(
        name=op.name,
        aliases=op.aliases,
        family=_TITLES.get(family, family.capitalize()),
        signature=op.usage,
        meaning=" ".join(op.doc.split()),
        derivative=cotangents(op),
        differentiable=op.differentiable or op.body is not None or bool(op.by),
        kinks=tuple(_kink(op.name, part, k) for part in parts for k in part.known()),
        source=op.source,
        method=op.method,
        inplace=op.inplace,
    )


def _kink(name: str, op: Op, known: Known) -> Kink:
    params = [f"{key}={written(value)}" for key, value in known.params.items()]
    call = f"{name}({', '.join([*map(written, known.args), *params])})"
    grads = zip(op.args * len(known.grad) if op.variadic else op.args, known.grad, strict=False)
    gradient = {arg: _plain(grad) for arg, grad in grads if grad is not None}
    return Kink(call=call, cotangent=_plain(known.cotangent), gradient=gradient)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
