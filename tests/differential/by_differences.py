"""Gradients by central differences of what PyTorch computes, which asks nothing of its graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from . import by_pytorch
from .answers import Facts
from .program import Input, Program

EPS, ATOL, RTOL = 1e-5, 1e-6, 1e-4


def right_by_differences(program: Program, ours: Facts) -> bool:
    """Whether the gradients among the facts are the slopes of PyTorch's values."""
    for name in program.wrt:
        found = ours.get(f"gradient {name}")
        if found is None:
            return False
        try:
            slopes = [(_value(a) - _value(b)) / (2 * EPS) for a, b in _moved(program, name)]
        except Exception:  # whatever PyTorch says of the moved program
            return False
        if not np.allclose(found[2], slopes, rtol=RTOL, atol=ATOL):
            return False
    return True


def right_by_differences_of_gradients(program: Program, ours: Facts) -> bool:
    """Whether the Hessian's product with the program's direction, which is among the facts, is the
    slope of PyTorch's gradients.
    """
    along = program.direction()
    ends = []
    for step in (EPS, -EPS):
        inputs = tuple(
            Input(
                i.name,
                (np.asarray(i.data, float) + step * np.asarray(along[i.name])).tolist(),
                i.dtype,
                i.grad,
                i.declared,
            )
            if i.name in along
            else i
            for i in program.inputs
        )
        ends.append(by_pytorch.ask(program.but(inputs=inputs, order=0)))
    for name in program.wrt:
        above, below = (facts.get(f"gradient {name}") for facts in ends)
        if above is None or below is None or f"hvp {name}" not in ours:
            return False
        slope = (np.asarray(above[2]) - np.asarray(below[2])) / (2 * EPS)
        if not np.allclose(ours[f"hvp {name}"][2], slope, rtol=RTOL, atol=ATOL):
            return False
    return True


def _moved(program: Program, name: str) -> Iterator[tuple[Program, Program]]:
    """The program with each number of an input moved up and down."""
    data = next(i.data for i in program.inputs if i.name == name)
    flat = np.asarray(data, float)
    for place in range(flat.size):
        yield tuple(_with(program, name, flat, place, step) for step in (EPS, -EPS))  # type: ignore[misc]


def _with(program: Program, name: str, data: Any, place: int, step: float) -> Program:
    moved = data.copy()
    moved.reshape(-1)[place] += step
    return program.but(
        inputs=tuple(
            Input(i.name, moved.tolist(), i.dtype, i.grad, i.declared) if i.name == name else i
            for i in program.inputs
        )
    )


def _value(program: Program) -> float:
    """PyTorch's result, weighed by the cotangent."""
    _, result = by_pytorch.run(program.for_pytorch, by_pytorch.scope([]))
    weight = 1.0 if program.cotangent is None else torch.tensor(program.cotangent)
    return float((torch.as_tensor(result).detach() * weight).sum())
