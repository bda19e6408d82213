"""What a command returns and a renderer takes: plain, frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gradcli.errors import Diagnostic

Value: TypeAlias = Any
"""A Python number, bool, str or None, a list or tuple of values, or a NumPy array whose dtype is
float64, float32, int64 or bool. A 0-d float64 tensor is a Python float."""


@dataclass(frozen=True)
class Binding:
    """A top-level name after the run: its value, its `.grad` (None if it has none), the printed
    name of its `grad_fn` (or ""), and whether it is a leaf that requires grad.
    """

    name: str
    value: Value
    grad: Value = None
    grad_fn: str = ""
    requires_grad: bool = False


@dataclass(frozen=True)
class GraphNode:
    """An op that the run recorded, or an input. `op` is the built-in's name ("mul"; "" for an
    input), `name` PyTorch's name of the node ("MulBackward0", "AccumulateGrad"; "Input" for a
    value that is differentiated without being a leaf tensor), `variable` the program's name for
    the result or "", `grad` the derivative of the root with respect to it (None if not reached),
    line and column from 1 (0: no place), `count` how many recorded ops it stands for.
    """

    id: int
    op: str
    name: str
    variable: str
    shape: tuple[int, ...]
    value: Value
    grad: Value
    line: int
    column: int
    count: int = 1


@dataclass(frozen=True)
class GraphEdge:
    """Node `source` used the result of node `target` as its argument number `input` (from 0)."""

    source: int
    target: int
    input: int


@dataclass(frozen=True)
class Graph:
    """The recorded graph behind a result: nodes from the root down, each before what it uses."""

    root: int
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]


@dataclass(frozen=True)
class RunResult:
    """What `gradcli run` found. `result` is None when the program ends in no value."""

    output: str
    result: Value
    bindings: tuple[Binding, ...]
    printed: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    graph: Graph | None = None

    @property
    def values(self) -> dict[str, Value]:
        """Top-level names and their values, in program order."""
        return {b.name: b.value for b in self.bindings}

    @property
    def grad(self) -> dict[str, Value]:
        """The `.grad` of the names that have one."""
        return {b.name: b.grad for b in self.bindings if b.grad is not None}


@dataclass(frozen=True)
class GradResult:
    """Value of the output and its derivative by each name, shaped as the name's value. `inputs`
    holds those values, for the table that a person sees.
    """

    output: str
    value: Value
    grad: dict[str, Value]
    inputs: dict[str, Value] = field(default_factory=dict)
    printed: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class GraphResult:
    """What `gradcli graph` found."""

    output: str
    value: Value
    graph: Graph
    printed: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
