"""The groups of an op's entry, one for each kind of caller.

Each group is a class. Its annotated fields are keywords of an entry, with their defaults; its
`__init__` computes further fields from keywords. The groups are defined here because the tape reads
them and must not import the ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, TypeAlias

from gradcli.engine.values import memory
from gradcli.engine.values.data import Data

Function: TypeAlias = Callable[..., Any]
Partial: TypeAlias = Function | float
Layout: TypeAlias = Callable[[Data, Sequence[Data]], Data]
Names: TypeAlias = Sequence[str] | Mapping[str, Sequence[str]]
"""Names of arguments and results: for all rules, or for the rule of each argument."""


class Group:
    """A part of an entry: each field has the entry's value, else its default."""

    _defaults: ClassVar[dict[str, Any]]

    def __init_subclass__(cls) -> None:
        fields = vars(cls)
        cls._defaults = {name: fields[name] for name in cls.__annotations__ if name in fields}

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.__dict__.update(self._defaults, **given)


class Value(Group):
    """The computation of an op's value: asked by runs, derivative rules and compiled code.

    Fields:
        number: the value on Python numbers; None if there is none without NumPy.
        array: the value on plain data, with the static parameters by name; a tuple for several
            results.
        body: of an op made of other ops: a function that calls them, see `composite`.
        exact: true if the value and slopes on arrays equal those on their elements to the last
            bit, as in NumPy's basic arithmetic; or `exact(*args, **params)` if that depends on
            the arguments.
        of_shapes: `of_shapes(*shapes, **params)` gives a function that computes the value on
            float64 arrays of these shapes without checks, NumPy's own function if possible; None
            if there is none. A float has the shape ().
        by_elements: how code computes the elements of tensors of known shape,
            `by_elements(code, *args, **params)` with the `Vectors` of a compiled program.
    """

    number: Function | None = None
    array: Function | None = None
    body: Function | None = None
    exact: bool | Callable[..., bool] = False
    of_shapes: Function | None = None
    by_elements: Function | None = None

    def is_exact(self, *args: Any, **params: Any) -> bool:
        """True if the value on these arrays equals that on their elements to the last bit."""
        return self.exact(*args, **params) if callable(self.exact) else self.exact


class Derivatives(Group):
    """The derivative rules of an op: asked by the passes of both modes.

    Fields:
        partials: one per argument, `partial(out, *args, **params)` or a constant: element-wise ops.
        vjp: one per argument, `rule(g, out, *args, **params)`; None: not differentiable there.
            With "*tensors" the one rule is `rule(g, out, i, *args, **params)` for argument i.
        jvp: one per argument, `rule(dot, out, *args, **params)`; with "*tensors" one with i.
        batch: the value of a linear op for several directions in one piece: arguments and result
            have one more axis in front, of size 1 for an argument that all directions share. It
            gives None if it cannot do these arguments.
        chooses: an argument with a zero partial has no part in the result, as the smaller of two in
            their maximum: nothing passes there, even if the cotangent is inf.
        meets: for each argument of an op that is not element-wise, the dimensions along which its
            elements meet in one of the result, counted from the last; others only stand side by
            side. Without it, and without a parameter `dim` that names them, all elements meet.
        flat: constant between jumps, so that the derivative is zero, or the position of something;
            true if all partials are zero.
        ties: not element-wise, and the derivative is a choice if elements of the argument are equal
            or zero.
        triangle: the op reads one triangle of its first argument and assumes that it stays
            symmetric, so that the gradient is symmetric; or the name of the parameter that asks for
            that.
        scales: the rules multiply the cotangent by values that they read, as by an infinite slope.
        finite_in_pytorch: `finite_in_pytorch(*args)` marks the elements at which PyTorch's formula
            gives the first argument a number, though the slope is infinite or not defined; None if
            there are none. Of an element-wise op alone.
        nan_in_pytorch: `nan_in_pytorch(*args)` marks the elements at which PyTorch's formula gives
            nan, and the rules a number. Of an op that is not element-wise
            `nan_in_pytorch(x, **params)` marks elements of its argument.
    """

    partials: tuple[Partial | None, ...] | None = None
    vjp: tuple[Function | None, ...] | None = None
    jvp: tuple[Function | None, ...] | None = None
    batch: Function | None = None
    chooses: bool = False
    meets: tuple[tuple[int, ...], ...] = ()
    flat: bool = False
    ties: bool = False
    triangle: bool | str = False
    finite_in_pytorch: Function | None = None
    nan_in_pytorch: Function | None = None

    def __init__(self, given: Mapping[str, Any], reads: bool) -> None:
        super().__init__(given)
        partials = self.partials or ()
        self.flat = self.flat or (bool(partials) and all(p == 0.0 for p in partials))
        has_rules = self.partials is not None or self.vjp is not None
        self.scales = reads and has_rules and not self.chooses


class Tape(Group):
    """The name and the saved values of an op's recorded call: asked by the tape.

    Fields:
        node: PyTorch's name of the recorded node, or a function (args, params) to it. The arguments
            that PyTorch's node depends on may follow the name, "MseLossBackward0(input, target)";
            without them, they are those that have rules. A composite with a name is one node.
        holds: `holds(**params)`, true if PyTorch saves a parameter, too, such as an index of
            tensors.
        folds: a composite that is recorded as one node.
        reads: for the rule of each argument, which arguments' values it reads. An entry gives their
            names as `saves`, with "out" or names of result fields; shapes are always
            known.
        saves: which arguments' values any rule reads.
        saves_out: true if a rule reads a result.
        guards: for the rule of each argument, which arguments PyTorch saves, if an entry gives
            `guards` because these differ from `saves`: reverse mode refuses to go on if one of them
            has been changed in place.
        guarded: which arguments PyTorch saves for any rule.
        guards_out: true if PyTorch saves a result.
        guarded_fields: which of several results PyTorch saves.
        names: for the rule of each argument, the names of all that is saved here or in PyTorch.
    """

    holds: Callable[..., bool] | None = None
    node: str | Callable[..., str] | None = None

    def __init__(
        self,
        given: Mapping[str, Any],
        args: Sequence[str],
        results: Sequence[str],
        saves: Names,
        guards: Names | None,
        is_composite: bool,
    ) -> None:
        super().__init__(given)
        self.folds = is_composite and self.node is not None
        read_by = _by_rule(saves, args)
        guarded_by = read_by if guards is None else _by_rule(guards, args)
        read, kept = set(chain(*read_by)), set(chain(*guarded_by))
        self.reads, rows = _rows(read_by, args), _rows(guarded_by, args)
        self.saves = tuple(map(any, zip(*self.reads, strict=True)))
        self.saves_out = "out" in read or not read.isdisjoint(results)
        self.guards = None if guards is None else rows
        self.guarded = tuple(map(any, zip(*rows, strict=True)))
        self.guarded_fields = tuple(i for i, name in enumerate(results) if name in kept)
        self.guards_out = "out" in kept or bool(self.guarded_fields)
        self.names = [{*a, *b} for a, b in zip(read_by, guarded_by, strict=True)]


def _by_rule(names: Names, args: Sequence[str]) -> list[Sequence[str]]:
    """The names for the rule of each argument."""
    by_rule = names if isinstance(names, Mapping) else dict.fromkeys(args, names)
    return [by_rule.get(a, ()) for a in args]


def _rows(by_rule: Sequence[Sequence[str]], args: Sequence[str]) -> tuple[tuple[bool, ...], ...]:
    """For the rule of each argument, which arguments are named."""
    return tuple(tuple(a in names for a in args) for names in by_rule)


class Static(Group):
    """The facts about a result before a run: asked by `check` and by the compiler.

    Fields:
        shape: from the shapes of the arguments (and the parameters) to the shape of the result, or
            to a list of shapes for several results; None: the arguments' broadcast shape.
        dtype: rule for the dtype of the result, see `promotion`; for several results one rule for
            all, or a list.
        fields: names of the results if there are several ("values", "indices").
        infer: a host's result from known facts of its arguments, `infer(known, *args, **params)`
            with a `Statics` of `ops/statics.py` in the session's place; by default an unknown value
            that depends on them.
    """

    shape: Function | None = None
    dtype: Function | list[Function]
    fields: tuple[str, ...] = ()
    infer: Function | None = None


class Memory(Group):
    """The memory of results: asked by the tape and by the compiler.

    Fields:
        view: the result shares its first argument's memory if possible; otherwise results have
            memory of their own.
        inplace: the op has a twin `name_` that changes its first argument.
        turned: the op, a view, has a twin `name_` by which a tensor itself shows its memory so:
            PyTorch's name of the node that the twin records, or a function of the parameters to it.
        layouts: the order of the elements of each result that has memory of its own, see `memory`;
            the last is for all further results, none means that the parts of a composite decide.
            An entry gives one or a list as `layout`; by default, results of element-wise ops follow
            their arguments and others are contiguous.
    """

    view: bool = False
    inplace: bool = False
    turned: str | Callable[[Mapping[str, Any]], str] | None = None

    def __init__(
        self,
        given: Mapping[str, Any],
        layout: Layout | list[Layout] | None,
        is_composite: bool,
        is_elementwise: bool,
    ) -> None:
        super().__init__(given)
        self.inplace = self.inplace or self.turned is not None
        if layout is None and is_composite:
            layout = []
        elif layout is None:
            layout = memory.as_arguments if is_elementwise else memory.in_order
        self.layouts = layout if isinstance(layout, list) else [layout]


class Host(Group):
    """A built-in on the program's own values: asked by calls, `check` and the compiler.

    Fields:
        call: the function, `call(session, *args, **params)`, see `host`; None for all other ops.
        part: the part of the session that the function gets in its place, such as `random`.
        traced: records a host's steps if numbers among its arguments are known only when code
            runs, `traced(code, *args, **params)` with a `Tracing` in the session's place.
        on_items: the op on the items of a list, tuple or range,
            `on_items(session, items, params, site)`; returns None if they must become a tensor.
        gathers: consumes all of an iterator before anything else, so that a list may
            replace a generator.
        by_ends: gathers, but takes no time that grows with the items of a range.
        any_name: takes arguments by any name, as the dictionary `named`.
        keeps: its arguments, or its result for them, may be used later on; true by default if it
            makes the derivative of a function.
        pure: depends on nothing but its arguments and changes nothing.
        sees: its result or effect depends on recorded values; true for hosts, unless they
            work by ops or say otherwise.
        transform: makes the derivative of a function: "scalar" of one whose value is a single
            number, "any" of others, too.
        by: names of the ops that a host works by: their derivatives are its own.
    """

    call: Function | None = None
    part: str | None = None
    traced: Function | None = None
    on_items: Function | None = None
    gathers: bool = False
    by_ends: bool = False
    any_name: bool = False
    keeps: bool = False
    pure: bool = True
    sees: bool = False
    transform: str | None = None
    by: tuple[str, ...] = ()
