"""Do ops on the values of a program, convert lists to tensors, and iterate over values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.ops.promotion import always_double
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.tape.graph import Inference, Site, Whole, settle
from gradcli.engine.tape.tensor import (
    AccumulateGrad,
    Number,
    Tensor,
    apply,
    array_of,
    composed,
    cut,
    make_inference,
    node_of,
    part,
    shared,
    unrecorded,
)
from gradcli.engine.values.carrier import data_of
from gradcli.engine.values.data import NUMBERS, SCALARS
from gradcli.engine.values.fields import VIEWS, Fields
from gradcli.engine.values.limits import QUESTION, check_items
from gradcli.engine.values.objects import Object, Shown
from gradcli.errors import RunError, run_error

if TYPE_CHECKING:
    from gradcli.engine.tape.packed import Hooks


class Evaluator:
    """Does ops on values of the program; the part of a session that most functions need."""

    def __init__(
        self, *, recording: bool = True, keep: bool = False, transparent: bool = False
    ) -> None:
        self.recording = recording
        self.inference = Inference()
        self.keep = keep
        self.packing: list[Hooks] = []
        self.transparent = transparent

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
        if self.packing and self.recording:
            self.pack(out, args)
        if self.inference.on:
            for made in out if type(out) is tuple or isinstance(out, Fields) else (out,):
                if not any(made is a for a in args):
                    make_inference(made, self.inference)
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

    def new(self, made: Any) -> Any:
        """The new tensor, noted as made in inference mode if that is on."""
        if self.inference.on:
            make_inference(made, self.inference)
        return made

    def pack(self, out: Any, args: Sequence[Any]) -> None:
        """Let the program's hooks pack what the nodes of a result of these arguments have saved."""
        from gradcli.engine.tape.packed import pack_saved

        given = {n for a in args if isinstance(a, Tensor) and (n := node_of(a)) is not None}
        pack_saved(out if isinstance(out, tuple) else (out,), given, self.packing[-1])

    def mark(self, args: Sequence[Any]) -> None:
        """Let the ops on these arguments keep their values."""
        for a in args:
            node = node_of(a) if isinstance(a, Tensor) else None
            if node is not None:
                node.keeps = True
                if isinstance(node, AccumulateGrad):
                    node.out = copied(a.data)  # its present value: training changes it

    def as_one(self, op: Op, site: Site | None) -> Site | None:
        """The site of several nodes that are one op to the program: a picture of the graph draws
        them as one.
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
        """A list as the tensor of its items, recorded; any other value unchanged."""
        return self.array(value, site) if type(value) is list else value

    def array(self, value: Any, site: Site | None = None) -> Any:
        """A list or tuple as the tensor of its items, recorded; any other value unchanged."""
        if not isinstance(value, (list, tuple)):
            return value
        from gradcli.engine.run.session.list_tensors import of_numbers, ragged

        made = of_numbers(value)
        if made is not None:
            return self.in_default_dtype(made)
        items = [self.array(item, site) for item in value]
        if not all(isinstance(item, Tensor) or type(item) in NUMBERS for item in items):
            raise ragged(value)
        try:
            return self.do(ops.stack, items, {"dim": 0}, site)
        except RunError as error:
            raise ragged(value) from error

    def operand(self, value: Any, site: Site | None = None) -> Any:
        """A list as a tensor, and a tuple where the program's arrays are NumPy's or JAX's:
        PyTorch's functions take none.
        """
        if type(value) is not tuple:
            return self.tensor(value, site)
        from gradcli.engine.run.session.text import library

        return value if library() == "torch" else self.array(value, site)

    def operands(self, op: Op, args: Sequence[Any], site: Site | None = None) -> list[Any]:
        """The arguments of an op as numbers and tensors, made by `operand`.

        Raises:
            RunError: If one is neither number nor tensor, where the op needs one of these.
        """
        for a in args:
            if not isinstance(a, Tensor) and type(a) not in NUMBERS:
                break
        else:
            return list(args)
        found = [self.operand(a, site) for a in args]
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
        """The iterable of a `for` over the value: items, or a tensor's rows."""
        if isinstance(value, Object):
            from gradcli.engine.run.session.iteration import items

            return items(value)
        if type(value) in _ITERABLE or isinstance(value, (Fields, Iterator, tuple)):
            return value  # type: ignore[no-any-return]  # known by its type
        if type(value) is Tensor:
            if value.ndim == 0:
                raise run_error("not-iterable", "a 0-d tensor has no items to iterate over")
            return self._rows(value)
        if isinstance(value, Shown):
            return value  # type: ignore[return-value]  # a plot has items
        raise run_error(
            "not-iterable",
            f"{kind_of(value)} has no items to iterate over",
            help="`range(n)` counts from 0 to n - 1" if type(value) is int else None,
        )

    def items(self, value: Any) -> list[Any]:
        """The items of an iteration over the value, as a list."""
        found = self.iterate(value)
        if isinstance(found, Sized):
            check_items(len(found))
            return list(found)
        # one by one in Python, which can be stopped: their number is unknown
        return [item for item in found]  # noqa: C416

    def more(self, receiver: Any, value: Any) -> list[Any]:
        """The items that a list is extended by, which it has room for."""
        found = self.items(value)
        check_items(len(receiver) + len(found))
        return found

    def _rows(self, value: Tensor) -> Iterator[Any]:
        for i in range(value.shape[0]):
            yield self.do(ops.getitem, [value], {"index": i})


_ITERABLE = frozenset({list, range, str, dict, set, *VIEWS})


def as_numbers(x: Tensor) -> Any:
    """A tensor as a number or a list (of lists) of numbers, which are connected to it."""
    if x.ndim == 0:
        return Number(float(x.data), node_of(x), x.index)
    return [as_numbers(apply(ops.getitem, [x], {"index": i}, None)) for i in range(x.shape[0])]


def copied(data: Any) -> Any:
    """Plain data on memory of its own."""
    return data if type(data) in NUMBERS else data.copy()


def _unconnected(x: Tensor) -> Tensor:
    """A copy outside the graph, on the same memory."""
    made = type(x)(x.data)
    if type(x.data) not in NUMBERS:
        made.version = shared(x)
    return made


def _owned(op: Op, made: Any, args: Sequence[Any], i: int = 0) -> Any:
    """A result of a composite op in memory that no argument shares."""
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
    """The results of applying a function to each result of an op, with their names if they have
    any.
    """
    if not isinstance(out, tuple):
        return do(out, 0)
    made = (do(one, i) for i, one in enumerate(out))
    return Fields(out.name, out.names, made) if isinstance(out, Fields) else tuple(made)


def _wrapped(made: Any, i: int) -> Any:
    return made if isinstance(made, Tensor) or type(made) in NUMBERS else Tensor(made)
