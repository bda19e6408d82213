"""One run of a program: what is on while it runs, and the language's own way with values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any
from weakref import WeakSet

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.ops.promotion import always_double
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.list_tensors import of_numbers, ragged
from gradcli.engine.tape.graph import (
    GONE,
    LIVE,
    SPENT,
    Node,
    Site,
    Watchpoint,
    Whole,
    seen,
    settle,
)
from gradcli.engine.tape.tensor import (
    AccumulateGrad,
    Number,
    Tensor,
    apply,
    array_of,
    composed,
    cut,
    node_of,
    part,
    shared,
    unrecorded,
)
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, SCALARS, np
from gradcli.engine.values.fields import VIEWS, Fields
from gradcli.engine.values.limits import QUESTION, Counters, check_items
from gradcli.engine.values.objects import Object
from gradcli.errors import Diagnostic, RunError, run_error
from gradcli.limits import DEFAULT, Limits

NOTHING: Mapping[str, Any] = {}


class Session:
    """The state of one run.

    Fields:
        recording: off inside `no_grad`.
        transforms: how many functions are being differentiated by others at this point.
        watched: top-level names that the command differentiates; `watchpoints` gets their nodes
            and `points` the values that they hold there; `leaves` are those that hold a leaf which
            requires grad.
        asked: those that the user has named, whose ints are made floats.
        keep: keep every recorded value, for the graph.
        subject: then also the tensor that `backward` was called on last, with its cotangent.
        echo: takes each text that the program prints, line ends included.
        moved: plain data that take the place of what watched names hold: of a run elsewhere.
        transparent: `no_grad`, `detach` and their like cut nothing, to tell what they cut.
        own_calls: is told each call of an own function: the function, its arguments, its place.
        functions: built-ins that the program uses as values, by name.
        warnings: what is to be said of the run, the first of each code.
        stream: which of the seed's streams of random numbers this run takes.
        counters: what it has left of steps and calls.
        plots: who draws what the program plots (`pictures.Plots`), None where nobody does.
        ending: what is to be done at the end of the pass that is under way.
        duals: tangents of dual tensors, by their points; None outside `dual_level`.
        anomaly: passes of the program refuse a node that gives nan.
    """

    def __init__(
        self,
        *,
        watched: frozenset[str] = frozenset(),
        asked: frozenset[str] = frozenset(),
        recording: bool = True,
        keep: bool = False,
        seed: int | None = None,
        stream: int = 0,
        echo: Callable[[str], None] = lambda text: None,
        moved: Mapping[str, Any] = NOTHING,
        transparent: bool = False,
        own_calls: Callable[[Any, Sequence[Any], Site | None], None] | None = None,
        limits: Limits = DEFAULT,
        plots: Any = None,
        patience: Callable[[], int] | None = None,
    ) -> None:
        self.counters = Counters(limits, patience)
        self.moved = moved
        self.transparent = transparent
        self.plots = plots
        self.own_calls = own_calls
        self.recording = recording
        self.transforms = 0
        self.watched = watched
        self.asked = asked
        self.watchpoints: dict[str, tuple[Node, int]] = {}
        self.points: dict[str, Any] = {}
        self.leaves: set[str] = set()
        self._retained: WeakSet[Tensor] | None = None
        self._held: list[tuple[str, Tensor]] = []
        self.keep = keep
        self.subject: tuple[Tensor, Any] | None = None
        self.ending: list[Callable[[], Any]] = []
        self.duals: dict[Node, Any] | None = None
        self.anomaly = False
        self.echo = echo
        self._seed = seed
        self.stream = stream
        self.functions: dict[str, Callable[..., Any]] = {}
        self.warnings: dict[str, Diagnostic] = {}
        self._rng: Any = None
        self._numpy_rng: Any = None
        self._python_rng: Any = None

    def left(self, retain: bool) -> int:
        """What a `backward` of the program leaves of the nodes that it visits: what it frees may
        still be needed for another derivative.
        """
        if retain:
            return LIVE
        return SPENT if self.watched or self.keep or self.transforms > 0 else GONE

    def warn(self, code: str, message: str, help: str, site: Site | None) -> None:
        """Say what may be wrong at a place of the program, unless the same has been said."""
        if site is not None and code not in self.warnings:
            self.warnings[code] = Diagnostic(
                code, message, None, site.span, help=help, severity="warning"
            )

    def retain(self, x: Tensor) -> None:
        """Keep the gradient of a tensor that is no leaf, in each pass of the program's."""
        if self._retained is None:
            self._retained = WeakSet()
        self._retained.add(x)

    @property
    def retained(self) -> list[Tensor]:
        """The tensors, no leaves, that keep their gradient in each pass of the program's."""
        return [*(self._retained or ())]

    # --- random numbers ----------------------------------------------------------------

    @property
    def seed_used(self) -> int:
        """The seed that was given, or else drawn at its first use."""
        if self._seed is None:
            self._seed = int.from_bytes(os.urandom(8))
        return self._seed

    @property
    def rng(self) -> Any:
        """The run's NumPy `Generator`, made at its first use."""
        if self._rng is None:
            self.seed(self.seed_used, self.stream)
        return self._rng

    def seed(self, seed: int, stream: int = 0) -> None:
        """Start the random numbers anew at a stream of a seed."""
        from gradcli.engine.numerics.generator import generator

        self._rng = generator(seed, stream)

    @property
    def numpy_rng(self) -> Any:
        """The generator of `np.random`, at the run's seed until the program gives it one."""
        if self._numpy_rng is None:
            seed = [self.seed_used % 2**32, self.stream % 2**32]
            self._numpy_rng = np.random.RandomState(seed)
        return self._numpy_rng

    @numpy_rng.setter
    def numpy_rng(self, rng: Any) -> None:
        self._numpy_rng = rng

    @property
    def python_rng(self) -> Any:
        """The generator of Python's `random`, at the run's seed until the program gives it one."""
        if self._python_rng is None:
            from random import Random

            self._python_rng = Random(self.seed_used + (self.stream << 64))
        return self._python_rng

    # --- doing ops ---------------------------------------------------------------------

    def do(
        self, op: Op, args: Sequence[Any], params: Mapping[str, Any], site: Site | None = None
    ) -> Any:
        """An op on the program's values: numbers stay numbers where the op has a value on them."""
        if op.value.body is not None:
            out = self._composite(op, args, params, site)
        elif any(isinstance(a, Tensor) for a in args):
            if not self.recording:
                out = unrecorded(op, args, params)
            else:
                if self.keep:
                    self.mark(args)
                out = apply(op, args, params, site)
        else:
            out = op.evaluate(args, params)
            if type(out) is tuple:
                out = tuple(map(Tensor, out))
            elif op.value.number is None or not all(type(a) in SCALARS for a in args):
                out = Tensor(out)
        if QUESTION.default_dtype != "float64":
            return self._in_default_dtype(op, args, params, out)
        return out

    def _in_default_dtype(
        self, op: Op, args: Sequence[Any], params: Mapping[str, Any], out: Any
    ) -> Any:
        """Results where the default dtype is not float64: floats made of no tensor of floats get
        it, unless they were asked for or the op gives float64 of anything.
        """
        given = params.get("dtype") is not None or op.statics.dtype is always_double
        if given or any(map(_is_of_floats, args)):
            return out
        return _each(out, lambda made, i: self.in_default_dtype(made))

    def in_default_dtype(self, value: Any) -> Any:
        """A tensor of floats that the program writes."""
        name = QUESTION.default_dtype
        if type(value) is not Tensor or value.dtype != "float64" or name == "float64":
            return value
        return self.do(ops.cast, [value], {"dtype": name})

    def mark(self, args: Sequence[Any]) -> None:
        """Let the ops on these arguments keep their values."""
        for a in args:
            node = node_of(a) if isinstance(a, Tensor) else None
            if node is not None:
                node.keeps = True
                if isinstance(node, AccumulateGrad):
                    node.out = _copied(a.data)  # as it is now: a step of training changes it

    def as_one(self, op: Op, site: Site | None) -> Site | None:
        """The place of what is one op to the program and several nodes, which a picture of the
        graph draws as one.
        """
        if site is None or not self.keep:
            return site
        return Site(site.span, site.variable, Whole(op.name, False))

    def _composite(
        self, op: Op, args: Sequence[Any], params: Mapping[str, Any], site: Site | None
    ) -> Any:
        given = args
        if not self.recording:
            if op.memory.view and type(args[0]) is Tensor:
                array_of(args[0])  # memory that the view can share
            args = [_unconnected(a) if isinstance(a, Tensor) else a for a in args]
        if self.keep:
            self.mark(args)
            site = self.as_one(op, site)
        before = {n for a in args if isinstance(a, Tensor) and (n := node_of(a)) is not None}
        out = _each(composed(op, args, params), _wrapped)
        if not op.memory.view:
            out = _each(out, lambda made, i: _owned(op, made, args, i))
        elif args is not given:
            out = _each(out, lambda made, i: _attached(made, args, given))
        for made in out if type(out) is tuple else (out,):
            if site is not None and isinstance(made, Tensor):
                settle(made.node, before, site)
        return out

    # --- the language's way with values ------------------------------------------------

    def tensor(self, value: Any, site: Site | None = None) -> Any:
        """A list as the tensor of its items, recorded; anything else as it is."""
        if type(value) is not list:
            return value
        made = of_numbers(value)
        if made is not None:
            return self.in_default_dtype(made)
        items = [self.tensor(item, site) for item in value]
        if not all(isinstance(item, Tensor) or type(item) in NUMBERS for item in items):
            raise ragged(value)
        try:
            return self.do(ops.stack, items, {"dim": 0}, site)
        except RunError as error:
            raise ragged(value) from error

    def operands(self, op: Op, args: Sequence[Any], site: Site | None = None) -> list[Any]:
        """The arguments of an op as numbers and tensors, lists made tensors.

        Raises:
            RunError: If one is neither number nor tensor, where the op needs one of these.
        """
        for a in args:
            if not isinstance(a, Tensor) and type(a) not in NUMBERS:
                break
        else:
            return list(args)
        found = [self.tensor(a, site) if type(a) is list else a for a in args]
        required = len(found) if op.variadic else len(op.args) - op.optional
        for i, a in enumerate(found):
            if isinstance(a, Tensor) or type(a) in NUMBERS or (a is None and i >= required):
                continue
            name = op.args[min(i, len(op.args) - 1)]
            raise run_error(
                "wrong-type", f"`{op.name}` needs a number or tensor as `{name}`, got {kind_of(a)}"
            )
        return found

    def iterate(self, value: Any) -> Iterable[Any]:
        """What a `for` over the value goes through: items, or a tensor's rows."""
        if isinstance(value, Object):
            from gradcli.engine.run.session.iteration import items

            return items(value)
        if type(value) in _ITERABLE or isinstance(value, (Fields, Iterator, tuple)):
            return value  # type: ignore[no-any-return]  # known by its type
        if type(value) is Tensor:
            if value.ndim == 0:
                raise run_error("not-iterable", "a 0-d tensor has no items to go through")
            return self._rows(value)
        raise run_error(
            "not-iterable",
            f"{kind_of(value)} has no items to go through",
            help="`range(n)` counts from 0 to n - 1" if type(value) is int else None,
        )

    def items(self, value: Any) -> list[Any]:
        """What it goes through, together."""
        found = self.iterate(value)
        if isinstance(found, Sized):
            check_items(len(found))
            return list(found)
        # one by one in Python, which can be stopped: nobody knows how many there are
        return [item for item in found]  # noqa: C416

    def _rows(self, value: Tensor) -> Iterator[Any]:
        for i in range(value.shape[0]):
            yield self.do(ops.getitem, [value], {"index": i})

    # --- what the command differentiates -----------------------------------------------

    def watch(self, name: str, value: Any) -> Any:
        """The value of a top-level name, made a point to differentiate at if it is watched."""
        if name not in self.watched:
            return value
        if name in self.moved:
            value = _in_place_of(value, self.moved[name])
        if type(value) is list:
            watched = self.watch(name, self.tensor(value))
            return as_numbers(watched) if name in self.watchpoints else value
        watched = value
        if type(value) is float or (type(value) is int and name in self.asked):
            watched = Number(float(value))
        elif type(value) is Number:  # another name may hold the same number
            watched = Number(value.data, value.node, value.index)
        elif (
            isinstance(value, Tensor)
            and value.dtype.startswith(("int", "uint"))
            and name in self.asked
        ):
            watched = Tensor(value.data * 1.0)
        if not isinstance(watched, Tensor) or not watched.dtype.startswith("float"):
            return value
        self._held.append((name, watched))
        node = node_of(watched)
        if type(seen(node)) is AccumulateGrad:
            self.leaves.add(name)
        if type(node) is AccumulateGrad and (node, 0) not in self.watchpoints.values():
            self._point(name, node, watched)
            return watched
        point = Watchpoint(name, node, watched.index, None)
        point.out = _copied(watched.data) if self.keep else None
        watched.node, watched.index = point, 0
        self._point(name, point, watched)
        return watched

    def watch_computed(self, name: str, value: Any) -> Any:
        """Likewise for a name that is no input. Unasked for, only a leaf that requires grad is one,
        from then on: what the program computes is not what it depends on.
        """
        if name in self.asked:
            return self.watch(name, value)
        if name in self.watched and type(value) is Tensor:
            if type(seen(node_of(value))) is AccumulateGrad:
                return self.watch(name, value)
            self._held.append((name, value))
        return value

    def leaf_changed(self, x: Tensor) -> None:
        """A tensor requires grad from now on, or no more: top-level names may hold it."""
        for name, value in self._held:
            if value is not x:
                continue
            if not x.requires_grad:
                self.leaves.discard(name)
                continue
            self.leaves.add(name)
            if name not in self.points and x.node is not None:
                self._point(name, x.node, x)

    def _point(self, name: str, node: Node, x: Tensor) -> None:
        self.watchpoints[name] = (node, 0)
        self.points[name] = Tensor(_copied(x.data))


_ITERABLE = frozenset({list, range, str, dict, set, *VIEWS})


def _in_place_of(value: Any, data: Any) -> Any:
    """Moved data as a value of the kind of the one that it replaces: a list, a number, or the same
    tensor, which other names may hold, too.
    """
    if type(value) is list:
        return data.tolist()
    if not isinstance(value, Tensor):
        return data
    data = _copied(data)  # the program may change it in place
    if type(value) is Number or value.view is not None:
        return type(value)(data, value.node, value.index)
    value.data = data
    return value


def as_numbers(x: Tensor) -> Any:
    """A tensor as a number or a list (of lists) of numbers, which are connected to it."""
    if x.ndim == 0:
        return Number(float(x.data), node_of(x), x.index)
    return [as_numbers(apply(ops.getitem, [x], {"index": i}, None)) for i in range(x.shape[0])]


def _copied(data: Any) -> Any:
    return data if type(data) in NUMBERS else data.copy()


def _unconnected(x: Tensor) -> Tensor:
    """The same value on the same memory, outside the graph."""
    made = type(x)(x.data)
    if type(x.data) not in NUMBERS:
        made.version = shared(x)
    return made


def _owned(op: Op, made: Any, args: Sequence[Any], i: int = 0) -> Any:
    """A result of an op made of others, on memory that no argument lies on."""
    if not isinstance(made, Tensor):
        return made
    if any(made is a for a in args):
        made = ops.clone(made)
    part(made, args)
    if op.memory.layouts and made.ndim:
        layout = op.memory.layouts[min(i, len(op.memory.layouts) - 1)]
        made.data = layout(made.data, [data_of(a) for a in args])
    return made


def _attached(made: Any, copies: Sequence[Any], args: Sequence[Any]) -> Any:
    """A view that was made of an unconnected copy of an argument as a view of the argument."""
    for copy, a in zip(copies, args, strict=True):
        if made is copy:
            return a
        view = made.view if isinstance(made, Tensor) else None
        while view is not None and view.of is not copy:
            view = view.of.view
        if view is not None:
            view.hang(a)
            cut(made)
    return made


def _is_of_floats(value: Any) -> bool:
    return isinstance(value, Tensor) and not value.is_number and value.dtype.startswith("float")


def _each(out: Any, do: Callable[[Any, int], Any]) -> Any:
    """What is done with each result, of which there may be several, with names or without."""
    if not isinstance(out, tuple):
        return do(out, 0)
    made = (do(one, i) for i, one in enumerate(out))
    return Fields(out.name, out.names, made) if isinstance(out, Fields) else tuple(made)


def _wrapped(made: Any, i: int) -> Any:
    return made if isinstance(made, Tensor) or type(made) in NUMBERS else Tensor(made)
