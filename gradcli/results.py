"""Results of commands, which renderers and the Python API receive: plain, frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from gradcli.errors import Diagnostic
from gradcli.record import Record
from gradcli.source import Source

if TYPE_CHECKING:
    from typing import Self

Value: TypeAlias = Any
"""A Python number, bool, str or None, a list or tuple of values, or a NumPy array whose dtype is
one of the language. A 0-d float64 tensor is a Python float."""


class Place(int):
    """The place of a number among all numbers of an answer, in which it stands for that number."""


class _Annotated(type):
    """Metaclass that gives each class of results a slot for each annotated field.

    Other records list their slots, because a metaclass makes `isinstance` four times as slow and
    passes over a program test the kinds of instructions often.
    """

    def __new__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> _Annotated:
        types = members.get("__annotations__", {})
        own = (n for n, kind in types.items() if not kind.startswith("ClassVar"))
        return super().__new__(cls, name, bases, {"__slots__": (*own,), **members})


class Result(Record, metaclass=_Annotated):
    """Base of the results: records that cannot be changed, whose fields are their annotations."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"`{name}` of a {type(self).__name__} cannot be changed")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, name) for name in self._fields)

    def __repr__(self) -> str:
        """The fields that are not empty; of long ones only the beginning."""
        shown = ((name, getattr(self, name)) for name in self._fields)
        parts = (f"{n}={_short(v)}" for n, v in shown if not _is(v, self._defaults.get(n, _NONE)))
        return f"{type(self).__name__}({', '.join(parts)})"


_NONE = object()
_MANY = 6


def _is(value: object, default: object) -> bool:
    return type(value) is type(default) and value == default


def _short(value: object) -> str:
    if isinstance(value, tuple) and len(value) > _MANY:
        return f"({value[0]!r}, ... {len(value):,} in all)"
    return repr(value)


class Look(Result):
    """Settings for showing a result.

    Fields:
        precision: Significant digits of numbers for people.
        width: Cells in a line for people.
        terminal: Cells in a line of the terminal; None without one.
        verbose: True to show everything.
        values: Values in the JSON of a graph: "full", "summary" for large arrays, or "none".
        nodes: The most nodes of a graph to draw.
        depth: The most steps from the result to draw; None for all.
        unfold: Turns of each loop that are drawn one by one.
        partials: True to show the partial derivatives at the edges of a graph.
        diagnostics: The form of findings: "full" or "concise".
        source: The program.
    """

    precision: int
    width: int
    terminal: int | None
    verbose: bool
    values: str
    nodes: int
    depth: int | None
    unfold: int
    partials: bool
    diagnostics: str
    source: Source | None


class Answer(Result):
    """Base of everything that a command shows. A view is a part of a result with a name, under
    which `formats.writers.forms` has its parts and `render.looks` the functions that draw it.

    Fields of a class:
        view: The name of the view of the result itself.
        is_verdict: True if `right` is all that a script needs: -q then leaves out the text.
    """

    view: ClassVar[str]
    is_verdict: ClassVar[bool] = False

    @property
    def views(self) -> tuple[str, ...]:
        """The views of this answer, in the order in which they are shown."""
        return (self.view,)

    @property
    def right(self) -> bool | None:
        """The answer to a yes-or-no question; None for any other question."""
        return None


class Shown(Answer):
    """Base of the results that answer a question. `Program` gives each of them the function that
    draws it, so that `print` shows the same as the command.
    """

    __slots__ = ("_draw",)

    def drawn_by(self, draw: Callable[[Any, str], str]) -> None:
        """Keep the function that draws this result, given a form."""
        object.__setattr__(self, "_draw", draw)

    def warned(self, more: tuple[Diagnostic, ...]) -> Self:
        """Put further warnings in front of those of this result, and return it."""
        object.__setattr__(self, "warnings", (*more, *getattr(self, "warnings", ())))
        return self

    def drawn(self, form: str) -> str | None:
        """The result in a form; None without a function that draws it."""
        draw = getattr(self, "_draw", None)
        return None if draw is None else draw(self, form)

    def __str__(self) -> str:
        text = self.drawn("human")
        return repr(self) if text is None else text

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What a notebook shows: the same as the command."""
        printer.text(repr(self) if cycle else str(self))

    def to_json(self) -> str:
        """The JSON that the command prints."""
        text = self.drawn("json")
        assert text is not None, "a program has given this answer"
        return text

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, with arrays and tuples as lists."""
        found: dict[str, Any] = _plain(self)
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, (Result, Diagnostic)):
        fields = ("code", "message") if isinstance(value, Diagnostic) else value._fields
        return {name: _plain(getattr(value, name)) for name in fields}
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


Shown._fields = ()  # `_draw` is not a field


class Binding(Result):
    """A top-level name after the run.

    Fields:
        name: The name.
        value: Its value.
        grad: Its `.grad`; None if it has none.
        grad_fn: The printed name of its `grad_fn`, or "".
        requires_grad: True if it is a leaf that requires grad.
    """

    _defaults: ClassVar[dict[str, Any]] = {"grad": None, "grad_fn": "", "requires_grad": False}
    name: str
    value: Value
    grad: Value
    grad_fn: str
    requires_grad: bool


class GraphNode(Result):
    """An op that the run recorded, or an input.

    Fields:
        id: The number of the node.
        op: The built-in's name, such as "mul"; "" for an input.
        name: PyTorch's name of the node, such as "MulBackward0" or "AccumulateGrad"; "Input" for a
            value that is differentiated without being a leaf tensor.
        variable: The program's name for the result, `x[0]` for an item of a list, or "".
        shape: The shape of the value.
        value: The value.
        grad: The derivative of the root with respect to it; None if not reached.
        line, column: The place in the program, from 1; 0 for none.
        count: The number of recorded ops that it stands for.
        expression: The text of the program there, shortened if very long; "" for an input.
        part_of: The newest node of the call of an op that consists of several nodes, this one
            among them; None for other nodes.
        whole: The name of that op.
    """

    _defaults: ClassVar[dict[str, Any]] = {
        "count": 1,
        "expression": "",
        "part_of": None,
        "whole": "",
    }
    id: int
    op: str
    name: str
    variable: str
    shape: tuple[int, ...]
    value: Value
    grad: Value
    line: int
    column: int
    count: int
    expression: str
    part_of: int | None
    whole: str


class GraphEdge(Result):
    """Node `source` used the result of node `target` as its argument number `input` (from 0)."""

    source: int
    target: int
    input: int


class Details(Result):
    """More about a node: the values that it saved, by the names of its op's arguments, and by
    operand its partials and what it adds to their `grad`.
    """

    saved: tuple[tuple[str, Value], ...]
    partials: tuple[tuple[int, Value], ...]
    flows: tuple[tuple[int, Value], ...]


class Graph(Result):
    """The recorded graph behind a result: nodes from the root down, each before its operands.
    `missing` is the reason why nodes have no `grad`, or ""; `details` has more about some nodes.
    """

    _defaults: ClassVar[dict[str, Any]] = {"missing": "", "details": {}}
    root: int
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    missing: str
    details: dict[int, Details]


class Kinked(Result):
    """An operation that was evaluated at a corner, jump or tie.

    Fields:
        op: Its name in the program.
        line, column: Its place in the program.
        argument: The name of the operand.
        index: The element of the operand that is at the kink.
        at: The value of that element.
        left, right: The derivatives to either side.
        chosen: The derivative that gradcli takes.
        jump: The values to either side; None if they are equal.
        turns: The turns of loops and the calls in which it was evaluated.
        pytorch_nan: True if PyTorch's `backward` gives nan here, where gradcli gives a number.
            A `run` takes no derivative, and so does not tell.
    """

    op: str
    line: int
    column: int
    argument: str
    index: tuple[int, ...]
    at: float
    left: Value
    right: Value
    chosen: Value
    jump: tuple[Value, Value] | None
    turns: tuple[str, ...]
    pytorch_nan: bool


class RunResult(Shown):
    """The result of `gradcli run`. `result` is None if the program does not end in a value."""

    view = "run"
    _defaults: ClassVar[dict[str, Any]] = {
        "printed": (),
        "warnings": (),
        "graph": None,
        "kinks": None,
    }
    output: str
    result: Value
    bindings: tuple[Binding, ...]
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]
    graph: Graph | None
    kinks: tuple[Kinked, ...] | None

    @property
    def views(self) -> tuple[str, ...]:
        drawn = () if self.graph is None else ("recorded",)
        return (self.view, *drawn, *_kinks(self.kinks))

    @property
    def values(self) -> dict[str, Value]:
        """Top-level names and their values, in program order."""
        return {b.name: b.value for b in self.bindings}

    @property
    def grad(self) -> dict[str, Value]:
        """The `.grad` of the names that have one."""
        return {b.name: b.grad for b in self.bindings if b.grad is not None}


class Names(RunResult):
    """A run of which only some top-level names are shown."""

    view = "names"


class Derivative(Shown):
    """Base of the results of questions about derivatives. A class adds the fields of its answer
    between `value` and `printed`. All forms of output follow from `question` and `shown`.

    Fields:
        output: The name of the result that was differentiated.
        value: Its value.
        printed: The lines that the program printed.
        warnings: The warnings.

    Fields of a class:
        question: The question's name.
        shown: The fields of its answer, in order: values, values by name or by two names, a text
            such as the mode; None for one that was not asked for. The last that is not a text is
            the one that the question is about.
    """

    view = "derivative"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    question: ClassVar[str]
    shown: ClassVar[tuple[str, ...]]
    output: str
    value: Value
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._fields = tuple(sorted(cls._fields, key=_place))

    @property
    def answer(self) -> dict[str, Any]:
        """The fields of the answer, by name."""
        found = {name: getattr(self, name) for name in self.shown}
        return {name: value for name, value in found.items() if value is not None}


def _place(field: str) -> int:
    """The order of a derivative's fields: result, answer, printed lines, warnings, kinks."""
    order = {"output": 0, "value": 1, "printed": 3, "warnings": 4, "kinks": 5}
    return order.get(field, 2)


class Several(Answer):
    """Answers to one question about several results. It has the fields of one answer, each a
    dictionary by the name of the result.
    """

    view = "derivative"
    answers: tuple[Derivative, ...]

    @property
    def question(self) -> str:
        return self.answers[0].question

    @property
    def output(self) -> dict[str, str]:
        return {found.output: found.output for found in self.answers}

    @property
    def value(self) -> dict[str, Value]:
        return {found.output: found.value for found in self.answers}

    @property
    def answer(self) -> dict[str, Any]:
        """The fields of the answers, by name."""
        names = self.answers[0].answer
        return {name: {a.output: a.answer[name] for a in self.answers} for name in names}

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings of all answers, each once."""
        found = {(w.code, w.message, w.span): w for a in self.answers for w in a.warnings}
        return tuple(found.values())


class ValueResult(Derivative):
    """Value of the output alone."""

    question, shown = "value", ()


class GradResult(Derivative):
    """Value of the output and its derivative by each name, in the shape of the name's value.
    `inputs` has those values, for the table for people.
    """

    question = "grad"
    shown: ClassVar[tuple[str, ...]] = ("grad",)
    _defaults: ClassVar[dict[str, Any]] = {**Derivative._defaults, "kinks": None}
    grad: dict[str, Value]
    inputs: dict[str, Value]
    kinks: tuple[Kinked, ...] | None

    @property
    def views(self) -> tuple[str, ...]:
        return (self.view, *_kinks(self.kinks))


class ElasticityResult(GradResult):
    """A gradient with elasticities: by each name, in the shape of its value, by how many per cent
    the output changes if that number changes by one per cent, x / y dy/dx.
    """

    shown = ("grad", "elasticity")
    elasticity: dict[str, Value]


def _kinks(found: tuple[Kinked, ...] | None) -> tuple[str, ...]:
    """The view of kinks, if they were asked for."""
    return () if found is None else ("kinks",)


class JvpResult(Derivative):
    """Value of the output and, in its shape, its derivative along a direction of the inputs."""

    question, shown = "jvp", ("jvp",)
    jvp: Value


class VjpResult(Derivative):
    """Value of the output and, by each name, the product of a cotangent with its Jacobian."""

    question, shown = "vjp", ("vjp",)
    vjp: dict[str, Value]
    inputs: dict[str, Value]

    @classmethod
    def of(cls, found: GradResult) -> VjpResult:
        """A gradient, named as a product."""
        same = {name: getattr(found, name) for name in ("output", "value", "inputs", "printed")}
        return cls(vjp=found.grad, warnings=found.warnings, **same)


class JacobianResult(Derivative):
    """Value of the output and its Jacobian by each name: the output's shape followed by the
    name's. `mode` is "forward" or "reverse".
    """

    question, shown = "jacobian", ("jacobian", "mode")
    jacobian: dict[str, Value]
    mode: str


class Coo(Result):
    """A sparse matrix by its entries, row by row. Rows and columns are the elements of two values,
    counted from 0 in their order.

    Fields:
        shape: The numbers of rows and of columns.
        row, col: The place of each entry.
        data: Its number, which may be zero.
    """

    shape: tuple[int, int]
    row: Value
    col: Value
    data: Value

    def to_scipy(self) -> Any:
        """The matrix as a `scipy.sparse.coo_array`."""
        from importlib import import_module

        sparse = import_module("scipy.sparse")
        return sparse.coo_array((self.data, (self.row, self.col)), shape=self.shape)


def _beside(blocks: Iterable[Coo]) -> Coo:
    """Blocks side by side, row by row."""
    import numpy as np

    rows, columns, data, width, height = [], [], [], 0, 0
    for block in blocks:
        height = block.shape[0]
        rows.append(block.row)
        columns.append(block.col + width)
        data.append(block.data)
        width += block.shape[1]
    row, col = np.concatenate(rows), np.concatenate(columns)
    order = np.lexsort((col, row))
    return Coo((height, width), row[order], col[order], np.concatenate(data)[order])


def _below(blocks: Iterable[Coo]) -> Coo:
    """Blocks one below the other."""
    import numpy as np

    rows, columns, data, width, height = [], [], [], 0, 0
    for block in blocks:
        width = block.shape[1]
        rows.append(block.row + height)
        columns.append(block.col)
        data.append(block.data)
        height += block.shape[0]
    return Coo((height, width), *map(np.concatenate, (rows, columns, data)))


class SparseJacobianResult(Derivative):
    """Value of the output and the entries of its Jacobian by each name.

    Fields:
        mode: "forward" if it was found column by column, "reverse" if row by row.
        products: The number of products that show all entries.
        dense: What has no pattern, so that all elements there count as dependent on each other.
    """

    view = "sparse"
    question, shown = "jacobian", ("jacobian", "mode", "products", "dense")
    jacobian: dict[str, Coo]
    mode: str
    products: int
    dense: tuple[str, ...]

    def matrix(self) -> Coo:
        """One matrix, with the columns of all names side by side."""
        return _beside(self.jacobian.values())


class HessianResult(Derivative):
    """Value, gradient and second derivatives of a scalar output: `hessian` by two names, the shape
    of the first followed by the second's; or `diagonal` by one name, in its shape. The one that was
    not asked for is None. `mode` is the mode that differentiated the gradient, "forward" or
    "reverse".
    """

    question, shown = "hessian", ("grad", "hessian", "diagonal", "mode")
    grad: dict[str, Value]
    hessian: dict[str, dict[str, Value]] | None
    diagonal: dict[str, Value] | None
    mode: str


class SparseHessianResult(Derivative):
    """Value and gradient of a scalar output, and the entries of its second derivatives by two
    names. The other fields are as of `SparseJacobianResult`.
    """

    view = "sparse"
    question, shown = "hessian", ("grad", "hessian", "mode", "products", "dense")
    grad: dict[str, Value]
    hessian: dict[str, dict[str, Coo]]
    mode: str
    products: int
    dense: tuple[str, ...]

    def matrix(self) -> Coo:
        """One matrix, with the rows and columns of all names one behind the other."""
        return _below(_beside(row.values()) for row in self.hessian.values())


class HvpResult(Derivative):
    """Value, gradient and the product of the Hessian with a direction of the inputs, by name;
    `mode` as of `HessianResult`.
    """

    question, shown = "hvp", ("hvp", "mode")
    grad: dict[str, Value]
    hvp: dict[str, Value]
    mode: str


class Checked(Result):
    """A comparison of derivatives by one input, or by an argument of an own rule.

    Fields:
        input: The name of the input or argument.
        order: 1, or 2 for second derivatives.
        mode: "reverse" or "forward", each compared with central differences; "dot" for a comparison
            of the two modes.
        index: The worst entry: indices of the output, then of the input, before them the number of
            the output if there are several. Empty if a random projection was compared.
        analytic, numeric: Both values of that entry.
        error: Their distance.
        allowed: The allowed distance: `truncation` plus `rounding`.
        truncation, rounding: The distances that these two kinds of error explain.
        passed: True if the check passed.
        note: Why the check says nothing, else "". "kink": there is a corner or jump. "non-finite":
            a value or derivative is not finite. "unsure": no differences are good enough.
            "symmetric": one triangle of a matrix is read, so the matrix was moved symmetrically.
            "cut": `no_grad`, `detach` or the like changed the gradient on purpose.
        line: The line of the input or rule; 0 for none.
    """

    input: str
    order: int
    mode: str
    index: tuple[int, ...]
    analytic: float
    numeric: float
    error: float
    allowed: float
    truncation: float
    rounding: float
    passed: bool
    note: str
    line: int


class GradcheckResult(Shown):
    """The result of `gradcli gradcheck`: checks of the program, and of each own rule alone."""

    view = "checks"
    is_verdict = True
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    passed: bool
    checks: tuple[Checked, ...]
    rules: tuple[Checked, ...]
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    @property
    def right(self) -> bool:
        return self.passed

    @property
    def worst_of_each(self) -> list[Checked]:
        """For each input or argument and each order the check that says most: one that fails, else
        one with a note, else the one with the largest error relative to the allowed one.
        """
        groups: dict[tuple[str, int], list[Checked]] = {}
        for check in (*self.checks, *self.rules):
            groups.setdefault((check.input, check.order), []).append(check)
        return [max(group, key=_weight) for group in groups.values()]

    @property
    def worst(self) -> Checked | None:
        """The worst of all checks; None if nothing was compared."""
        return max(self.worst_of_each, key=_weight, default=None)


def _weight(check: Checked) -> tuple[bool, bool, bool, float]:
    excess = check.error / check.allowed if check.allowed else 0.0
    return not check.passed, bool(check.note), check.mode != "dot", excess


class Declared(Result):
    """An input of a program.

    Fields:
        name: Its name.
        kind: "input", "param", "free" or "constant".
        type: Its written type, or "".
        default: The text of its default, or "".
    """

    name: str
    kind: str
    type: str
    default: str


class CheckResult(Result):
    """The result of a static check: errors and warnings, and the inputs."""

    findings: tuple[Diagnostic, ...]
    inputs: tuple[Declared, ...]


class Findings(Answer):
    """The findings of `gradcli check` in programs: all, those that people are shown, and the
    inputs, each with the name of its file.
    """

    view = "findings"
    findings: tuple[Diagnostic, ...]
    shown: tuple[Diagnostic, ...]
    inputs: tuple[tuple[str, Declared], ...]


class GraphResult(Shown):
    """The result of `gradcli graph`."""

    view = "graph"
    _defaults: ClassVar[dict[str, Any]] = {"printed": (), "warnings": ()}
    output: str
    value: Value
    graph: Graph
    printed: tuple[str, ...]
    warnings: tuple[Diagnostic, ...]

    def _repr_svg_(self) -> str | None:
        """The picture that a notebook shows."""
        return self.drawn("svg")


class Kink(Result):
    """A point at which a derivative is a choice, and the choice: the call, the cotangent (None for
    ones) and the gradient of each argument.
    """

    call: str
    cotangent: Value
    gradient: dict[str, Value]


class Operation(Result):
    """A built-in operation. `derivative` has a formula for the cotangent of each argument in terms
    of g, the result's cotangent; it may be empty for a differentiable one. `in_python` is True if
    compiled code calls its value on numbers in Python.
    """

    name: str
    aliases: tuple[str, ...]
    family: str
    signature: str
    meaning: str
    derivative: dict[str, str]
    differentiable: bool
    kinks: tuple[Kink, ...]
    source: str
    method: bool
    inplace: bool
    in_python: bool


class Operations(Answer):
    """Built-in operations; a single one is shown in full."""

    view = "operations"
    operations: tuple[Operation, ...]
