"""Calls during specialization: the program's own functions are inlined; built-ins act by their
entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradcli.engine.compile import typed
from gradcli.engine.compile.specialize.binding import Draw
from gradcli.engine.compile.specialize.generators import Read, as_list, only_computes
from gradcli.engine.compile.specialize.tracing.branches import chosen, selected
from gradcli.engine.compile.specialize.tracing.control_flow import NEXT, RESULT, Follower
from gradcli.engine.compile.specialize.tracing.differentiated import numbers_in
from gradcli.engine.compile.specialize.tracing.dynamic_text import Texts
from gradcli.engine.compile.specialize.tracing.liveness import Liveness
from gradcli.engine.compile.specialize.tracing.trace import Trace
from gradcli.engine.compile.specialize.tracing.values import (
    LEAF,
    MOST_ITEMS,
    Cell,
    Closure,
    Conflict,
    Context,
    Each,
    Either,
    Frame,
    Own,
    Range,
    Text,
    Transform,
    Vector,
    is_known,
    is_number,
    is_whole,
    kinds,
    number_type,
    taken,
)
from gradcli.engine.compile.symbols import Symbol, operand
from gradcli.engine.compile.typed import GoesBack, is_array
from gradcli.engine.ops.binding import bind, bind_host
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op
from gradcli.engine.run.fast import call
from gradcli.engine.run.language import attributes
from gradcli.engine.run.language.members import UNRECORDED
from gradcli.engine.run.session import library
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import AccumulateGrad, Tensor, node_of
from gradcli.engine.values.conversion import whole
from gradcli.engine.values.data import NUMBERS, np
from gradcli.engine.values.dtypes import DTYPES, dtype_name
from gradcli.engine.values.fields import Fields
from gradcli.ir import program as ir
from gradcli.ir import visit

if TYPE_CHECKING:
    from gradcli.engine.compile.specialize.dictionaries import Dictionaries
    from gradcli.engine.compile.specialize.own_rules import OwnFunctions
    from gradcli.engine.compile.specialize.transforms import Transforms

DEEPEST = 100
"""Calls within each other that are followed."""

_OF_TYPE = {"float": 1.0, "int": 1, "bool": True}
_OF_DTYPE = {typed.DTYPES[type_]: one for type_, one in _OF_TYPE.items()}


_OF_BACKWARD = ("gradient", "retain_graph", "create_graph", "inputs")
"""The parameters of `x.backward()`."""


class Calls:
    """The calls of one program.

    Args:
        session: Computes calls of known values.
        changes: True for a function that captures a name which may get another value.
        drawn: Returns an input for random numbers that a function draws.
    """

    def __init__(
        self,
        follower: Follower,
        trace: Trace,
        session: Session,
        texts: Texts,
        changes: Callable[[Closure], bool],
        drawn: Callable[[Draw], Any],
    ) -> None:
        self._drawn = drawn
        self._do = follower
        self._trace = trace
        self._session = session
        self._texts = texts
        self._changes = changes
        self._depth = 0
        self._listed: dict[int, ir.Function | None] = {}  # generators, by identity

    @cached_property
    def transforms(self) -> Transforms:
        """The transforms that differentiate functions."""
        from gradcli.engine.compile.specialize.transforms import Transforms

        self._trace.transforms = True
        return Transforms(self._trace, self.call)

    @cached_property
    def dictionaries(self) -> Dictionaries:
        """The dictionaries."""
        from gradcli.engine.compile.specialize.dictionaries import Dictionaries

        return Dictionaries(self._trace)

    @cached_property
    def own(self) -> OwnFunctions:
        """The functions with their own rules."""
        from gradcli.engine.compile.specialize.own_rules import OwnFunctions

        return OwnFunctions(self._trace, self.call, self._changes)

    # --- functions of the program ----------------------------------------------------------

    def call(self, function: Any, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """The value of a call."""
        if isinstance(function, ir.Builtin):
            return self.by_name(ops[function.name], args, keywords)
        if isinstance(function, Transform):
            return function.call(args, keywords)
        if not isinstance(function, Closure):
            raise self._trace.refused("a called function is not one of the program")
        code = function.function
        if visit.is_generator(code):
            return self._generated(function, args, keywords)
        given = self._bound(function, args, keywords)
        frame = Frame(function.frame, Liveness(code, frozenset()), self._trace.tick())
        frame.slots.update(given)
        frame.outer = visit.written_around(code)
        self._trace.steps += 1
        self._depth += 1
        self._trace.deepest = max(self._trace.deepest, self._depth)
        if self._depth > DEEPEST:
            raise self._trace.refused(f"recursion of `{code.name}` depends on values")
        span = self._trace.span
        try:
            flow = self._do.block(code.body, frame)
        finally:
            self._depth -= 1
        self._trace.span = span
        if isinstance(flow, Symbol):
            return Conflict(f"`{code.name}` ends without `return` on one of two paths")
        return None if flow == NEXT else frame.slots[RESULT]

    def _generated(
        self, function: Closure, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> Each:
        """The items of a generator, which must not change before they are taken."""
        code = function.function
        if id(code) not in self._listed:
            self._listed[id(code)] = as_list(code)
        listed = self._listed[id(code)]
        if listed is None:
            raise self._trace.refused(f"the generator `{code.name}` does more than compute items")
        found = self.call(Closure(listed, function.frame, function.defaults), args, keywords)
        if type(found) is not list:
            raise self._trace.refused("the items of a generator depend on the path")
        given = (*args, *keywords.values(), *function.defaults.values(), found)
        read = Read(function.frame, code.captures, given)
        return Each([*found], [(read, tuple(read))])

    def _bound(
        self, function: Closure, args: Sequence[Any], keywords: Mapping[str, Any]
    ) -> dict[int, Any]:
        parameters = function.function.parameters
        if any(p.kind == "**" for p in parameters):
            raise self._trace.refused(f"`{function.function.name}` takes any number of arguments")
        by_place = [p.name for p in parameters if not p.kind]
        given = dict(zip(by_place, args, strict=False))
        rest = {p.name: tuple(args[len(by_place) :]) for p in parameters if p.kind == "*"}
        is_too_long = len(args) > len(by_place) and not rest
        if is_too_long or not (given | rest).keys().isdisjoint(keywords):
            raise self._trace.refused(f"`{function.function.name}` takes other arguments")
        given = {**function.defaults, **given, **keywords, **rest}
        if given.keys() != {p.name for p in parameters}:
            raise self._trace.refused(f"`{function.function.name}` takes other arguments")
        return {p.slot: given[p.name] for p in parameters}

    def imported(self, path: str) -> Any:
        """Return a function of the library, if its file defines no classes; else None."""
        file = library.file(path)
        if file is None:
            return None
        body = library.program(file).main.body
        if any(isinstance(i, ir.DefineClass) for i in body):
            return None
        return self.library(path)

    def library(self, path: str) -> Any:
        """Return a function of the library by its full path."""
        file = library.file(path)
        assert file is not None
        program = library.program(file)
        frame = Frame(None, Liveness(program.main, frozenset()), self._trace.tick())
        self._do.block(program.main.body, frame)
        return frame.slots[program.names[path.rpartition(".")[2]]]

    def moves(self, value: Any) -> bool:
        if is_known(value):
            return False
        return any(self._trace.links(operand(x)).may for x in numbers_in(value))

    # --- built-ins -------------------------------------------------------------------------

    def apply(self, op: Op, named: Mapping[str, Any], arguments: ir.Named) -> Any:
        """Apply a built-in to arguments bound to parameter names."""
        if op.host.pure and op.host.transform is None and all(map(is_known, named.values())):
            self._check_short(op, named.values())
            function = call.bound(op, arguments, Site(self._trace.span, ""))
            found = self._known(function, *named.values())
            if not isinstance(found, Iterator):
                return found
        return self._bound_op(op, lambda: bind(op, (), named))

    def by_name(self, op: Op, args: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """Apply a built-in to arguments as written."""
        if (
            op.host.pure
            and op.host.transform is None
            and all(map(is_known, (*args, *keywords.values())))
        ):
            self._check_short(op, args)
            function = call.by_name(op, Site(self._trace.span, ""))
            found = self._known(function, *args, **keywords)
            if not isinstance(found, Iterator):
                return found
        return self._bound_op(
            op, lambda: (bind_host if op.host.call is not None else bind)(op, args, keywords)
        )

    def _check_short(self, op: Op, values: Iterable[Any]) -> None:
        """Refuse to go through a long range while code is made."""
        if not op.host.gathers or op.host.by_ends:
            return
        if any(type(value) is range and value[MOST_ITEMS:] for value in values):
            raise self._trace.refused(f"`{op.name}` of too many items")

    def _known(self, function: Callable[..., Any], /, *args: Any, **keywords: Any) -> Any:
        """The interpreter's result for known arguments."""
        given = [self.spoken(a) for a in args]
        named = {name: self.spoken(a) for name, a in keywords.items()}
        return self._adopted(function(self._session, *given, **named))

    def spoken(self, value: Any) -> Any:
        """The interpreter's value of a built-in, also in a tuple; any other value as it is."""
        if type(value) is tuple and any(isinstance(item, ir.Builtin) for item in value):
            return tuple(map(self.spoken, value))
        if not isinstance(value, ir.Builtin):
            return value
        functions = self._session.functions
        if value.name not in functions:
            functions[value.name] = call.value(ops[value.name], self._session)
        return functions[value.name]

    def _adopted(self, value: Any) -> Any:
        """The specializer's value for one of the interpreter."""
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(map(self._adopted, value))
        if not isinstance(value, Tensor):
            return value
        node, trace = node_of(value), self._trace
        if type(value.data) not in NUMBERS:
            if node is None:
                return value
            if trace.graph is None and not trace.differentiates:
                raise GoesBack("a tensor with dimensions requires grad", trace.span)
            found = trace.tensors.of_known(value, visible=True)
            if isinstance(found, Vector):
                found.node = LEAF
                return found
            found.frozen, found.leaf = False, True  # it has just been made
            return found if trace.graph is None else trace.graph.leaf(found)
        made = trace.cell(value.data, visible=node is not None)
        made.leaf = type(node) is AccumulateGrad
        return trace.graph.leaf(made) if made.leaf and trace.graph is not None else made

    def _bound_op(self, op: Op, bound: Callable[[], tuple[Sequence[Any], Any]]) -> Any:
        args, params = bound()
        if op.host.call is not None:
            return self._hosted(op, args, params)
        if op.host.on_items is not None and isinstance(args[0], Each):
            args = [[*map(taken, self._do.items(args[0]))], *args[1:]]
        if op.host.on_items is not None and isinstance(args[0], (list, tuple)):
            found = op.host.on_items(self, args[0], params, None)
            if found is not None:
                return found
        for a in args:
            if not is_number(a) and not isinstance(a, (Cell, Vector, Tensor)) and a is not None:
                raise self._trace.refused(f"`{op.name}` of a value that is not a number")
        return self._trace.tensors.owned(op, self._trace.do(op, args, params), args)

    def _hosted(self, op: Op, args: Sequence[Any], params: Mapping[str, Any]) -> Any:
        if op.host.traced is None:
            reason = f"`{op.name}`" + (
                " draws random numbers"
                if not op.host.pure
                else " of a value known only at run time"
            )
            raise self._trace.refused(reason)
        try:
            return op.host.traced(self, *args, **params)
        except (TypeError, ValueError):
            raise self._trace.refused(f"`{op.name}` of these arguments") from None

    def refused(self, reason: str) -> Exception:
        return self._trace.refused(reason)

    @property
    def graph(self) -> Any:
        if self._trace.graph is None:
            raise GoesBack("what was recorded is gone back through", self._trace.span)
        return self._trace.graph

    def drawn(
        self, draw: Callable[..., Any], args: Sequence[Any], params: Mapping[str, Any]
    ) -> Any:
        trace = self._trace
        if trace.depth > 1:
            raise trace.refused("random numbers are drawn in a branch or a loop")
        if not all(map(is_known, (*args, *params.values()))):
            raise trace.refused("random numbers of a value known only at run time are drawn")
        return self._drawn(lambda random: draw(random, *args, **params))

    def are_tensors(self, value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return bool(value) and all(map(self.are_tensors, value))
        return isinstance(value, (Cell, Vector, Tensor))

    # --- the host of the ops' entries ------------------------------------------------------

    def do(self, op: Op, args: Sequence[Any], params: Mapping[str, Any], site: Any = None) -> Any:
        """Do an op on numbers and tensors."""
        return self._trace.do(op, args, params)

    def operands(self, op: Op, args: Sequence[Any], site: Any = None) -> Sequence[Any]:
        """Return the arguments of an op as numbers and tensors."""
        for a in args:
            if not is_number(a) and not isinstance(a, (Cell, Vector, Tensor)):
                raise self._trace.refused(f"`{op.name}` of a value that is not a number")
        return args

    def text(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> Text:
        return self._texts.text(make, values)

    def tell(self, make: Callable[[Sequence[Any]], str], values: Sequence[Any]) -> None:
        self._texts.tell(make, values)

    def items(self, value: Any) -> Sequence[Any]:
        return self._do.items(value)

    def gathered(self, value: Any) -> Sequence[Any] | None:
        return [*map(taken, self._do.items(value))] if isinstance(value, Each) else None

    def mapped(self, function: Any, iterables: Sequence[Any]) -> Each:
        """The results of a function that only computes; nothing it reads may change meanwhile."""
        if isinstance(function, Closure):
            computes = only_computes(function.function)
            frame, captures = function.frame, function.function.captures
        else:
            computes = isinstance(function, ir.Builtin) and ops[function.name].host.pure
            frame, captures = None, ()
        if not computes:
            raise self._trace.refused("a function of `map` does more than compute")
        sources = [s for value in iterables if isinstance(value, Each) for s in value.sources]
        given = [[*map(taken, self._do.items(value))] for value in iterables]
        found = [self.call(function, items, {}) for items in zip(*given, strict=False)]
        held = Read(frame, captures, (*iterables, *found))
        return Each(found, [*sources, (held, tuple(held))])

    def each(self, items: Iterable[Any], of: Sequence[Any]) -> Each:
        lists = [value for value in of if type(value) in (list, dict)]
        inner = [source for value in of if isinstance(value, Each) for source in value.sources]
        return Each(list(items), [*inner, *((value, tuple(value)) for value in lists)])

    def range(self, bounds: Sequence[Any]) -> Range:
        start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
        whole = all(is_number(x) and number_type(x) == "int" for x in (start, stop))
        if not whole or type(step) is not int or step == 0 or not 1 <= len(bounds) <= 3:
            raise self._trace.refused("a range of a step known only at run time")
        return Range(start, stop, step)

    def like(self, value: Any) -> Any:
        if isinstance(value, Symbol):
            return _OF_TYPE[number_type(value)]
        if isinstance(value, (Cell, Vector)):
            one = _OF_DTYPE[value.dtype]
            return Tensor(np.full(value.shape, one) if value.shape else one)
        if is_known(value):
            return self.spoken(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.like, value))
        raise self._trace.refused("the kind of a value known only at run time")

    def number(self, value: Any) -> Any:
        if is_number(value) or is_whole(value):
            return value
        raise self._trace.refused("numbers are mixed with something else")

    def less(self, a: Any, b: Any) -> Any:
        if isinstance(a, Either):
            parts = self.less(a.then, b), self.less(a.orelse, b)
            return chosen(self._trace, a.test, *parts)
        if isinstance(b, Either):
            parts = self.less(a, b.then), self.less(a, b.orelse)
            return chosen(self._trace, b.test, *parts)
        for x in (a, b):
            if not is_number(x) and not (isinstance(x, Cell) and not is_whole(x)):
                raise self._trace.refused("`<` of a value that is not a number")
        return self._trace.truth(self._trace.do(ops.lt, [a, b], {}))

    def hold_ordered(self, value: Any) -> None:
        for part in kinds(value).values():
            number = part.number if isinstance(part, Cell) else part
            if is_number(number) and number_type(number) == "float":
                test = ops.ne(number, number)
                self._trace.leave(test, "nan is put into order")

    def chosen(self, test: Any, a: Any, b: Any) -> Any:
        return selected(self._trace, test, a, b)

    def cut(self, number: Any) -> Any:
        return self._trace.cut(number)

    def converted(self, value: Any, dtype: str) -> Any:
        number = value.number if isinstance(value, Cell) else value
        if dtype == "bool":
            return self._trace.truth(number)
        if not is_number(number):
            raise self._trace.refused("a number is made of what is none")
        if type(number) in NUMBERS:
            return self._known(_CONVERTED[dtype], number)
        type_ = number_type(number)
        if dtype == "int64":
            return number if type_ == "int" else (
                ops.add(number, 0) if type_ == "bool" else ops.math_trunc(number)
            )  # fmt: skip
        if type_ != "float":
            return ops.mul(number, 1.0)
        return self._trace.cut(number) if isinstance(value, Cell) else number

    def cell(self, value: Any, dtype: Any, leaf: Any) -> Any:
        if isinstance(value, (list, Vector)):
            return self._vector(value, dtype, leaf)
        number = self._trace.cut(value.number if isinstance(value, Cell) else value)
        if not is_number(number) or type(leaf) is not bool:
            raise self._trace.refused("a tensor is made of a value that is not a number")
        if dtype is not None and dtype_name(dtype) != typed.DTYPES[number_type(number)]:
            raise self._trace.refused("a tensor is made of another dtype")
        if leaf and number_type(number) != "float":
            raise self._trace.refused("a tensor that requires grad is of floats")
        made = self._trace.cell(number, visible=leaf)
        made.leaf = leaf
        if leaf and self._trace.graph is not None:
            self._trace.graph.leaf(made)
        return made

    def _vector(self, value: Any, dtype: Any, leaf: Any) -> Vector:
        """Return a new tensor made from a list of numbers and 0-d tensors, or from another
        tensor.
        """
        numbers = value.numbers if isinstance(value, Vector) else value
        cut = [self._trace.cut(x.number if isinstance(x, Cell) else x) for x in numbers]
        if dtype is not None or leaf or not all(map(is_number, cut)):
            raise self._trace.refused("a tensor is made of a value that is not a number")
        if len({number_type(x) for x in cut}) > 1:  # the others become floats
            cut = [x if number_type(x) == "float" else ops.mul(x, 1.0) for x in cut]
        shape = value.shape if isinstance(value, Vector) else (len(cut),)
        made: Vector = self._trace.tensors.made(cut, shape, visible=False)
        return made

    # --- attributes and methods --------------------------------------------------------------

    def method(self, receiver: Any, name: str, args: Sequence[Any], keywords: Any) -> Any:
        """Return the result of `receiver.name(args)`."""
        if isinstance(receiver, (Own, Context)):
            return self.own.method(receiver, name, args, keywords)
        if type(receiver) is dict:
            return self.dictionaries.method(receiver, name, args, keywords)
        if type(receiver) is list:
            return self._of_list(receiver, name, args, keywords)
        if isinstance(receiver, Cell):
            left = _OF_BACKWARD[len(args) :]
            match name, args:
                case "backward", _ if len(args) <= 4 and keywords.keys() <= {*left}:
                    return self.graph.backward_of(receiver, *args, **keywords)
                case ("requires_grad_", []) | ("requires_grad_", [True]) if not keywords:
                    return self.graph.required(receiver)
                case "zero_grad", []:
                    return self.graph.set_gradient(receiver, None)
        if isinstance(receiver, Cell) and not keywords:
            match name, args:
                case "zero_", []:
                    return self._filled(receiver, 0)
                case (("fill_" | "copy_"), [value]) if is_number(value) or isinstance(value, Cell):
                    return self._filled(receiver, value)
        if is_whole(receiver):
            match name, args:
                case (("double" | "float"), []) if receiver.dtype == "float64":
                    return receiver
                case "detach", []:
                    return self._detached(receiver)
                case "copy", []:
                    return self._trace.do(ops.clone, [receiver], {})
                case "item", [] if math.prod(receiver.shape) == 1:
                    number = receiver.number
                    if receiver.shape:
                        number = ops.reshape(receiver, shape=()).number
                    return self._trace.cut(self._unboxed(number))
                case (("size" | "dim" | "numel" | "nelement"), _):
                    like = self.like(receiver)
                    site = Site(self._trace.span, "")
                    return self._known(attributes.method, site, like, name, args, keywords)
        elif isinstance(receiver, Cell):
            match name, args:
                case (("item" | "tolist"), []):
                    return self._trace.cut(receiver.number)
                case (("double" | "float"), []) if number_type(receiver.number) == "float":
                    return receiver
                case "detach", []:
                    return self._detached(receiver)
                case (("dim" | "numel"), []):
                    return int(name == "numel")
        if isinstance(receiver, (Cell, Vector)) and name in ops and ops[name].method:
            return self.by_name(ops[name], [receiver, *args], keywords)
        if is_known([receiver, *args, *keywords.values()]) and name in UNRECORDED:
            return self._known(
                attributes.method, Site(self._trace.span, ""), receiver, name, args, keywords
            )
        raise self._trace.refused(f"`.{name}()` of a value known only at run time")

    def _of_list(self, items: list[Any], name: str, args: Sequence[Any], keywords: Any) -> Any:
        self._trace.touch(items)
        match name, args:
            case "append", [item] if not keywords:
                items.append(item)
                return None
            case "extend", [more] if not keywords:
                items.extend(map(taken, self._do.items(more)))
                return None
            case "pop", [] | [_] if not keywords:
                at = args[0] if args else -1
                if type(at) is int and -len(items) <= at < len(items):
                    return items.pop(at)
        raise self._trace.refused(f"`.{name}()` of a list with these arguments")

    def _filled(self, x: Cell, value: Any) -> Cell:
        """Do `x.fill_(value)`."""
        number = value.number if isinstance(value, Cell) else value
        is_plain = not (self._trace.recording and x.visible) and is_number(number)
        if is_plain and number_type(x.number) == "float" and not is_array(number_type(number)):
            self._trace.put_in(x, self.converted(value, "float64"))
        else:
            self._trace.change(ops.fill, x, [value])
        return x

    def _unboxed(self, number: Any) -> Any:
        """Return the number in an array without dimensions."""
        return self._trace.on_arrays(ops.unboxed, [number], {}) if is_array(number.type) else number

    def _detached(self, x: Cell) -> Cell:
        made = self._trace.cell(self._trace.cut(x.number))
        made.frozen = made.whole = True  # they share memory
        made.base = x, x.number
        return made

    def attribute(self, receiver: Any, name: str) -> Any:
        """Return `receiver.name`."""
        if isinstance(receiver, (Own, Context)):
            return self.own.attribute(receiver, name)
        if isinstance(receiver, Fields) and name in receiver.names:
            return receiver[receiver.names.index(name)]
        if isinstance(receiver, Cell):
            match name:
                case "grad":
                    return self.graph.gradient(receiver)
                case "is_leaf" if receiver.visible is not None:
                    return receiver.is_leaf or not receiver.visible
        if is_whole(receiver):
            match name:
                case "requires_grad" if receiver.visible is not None:
                    return receiver.visible
                case "T":
                    dims = tuple(reversed(range(receiver.ndim)))
                    return self._trace.do(ops.permute, [receiver], {"dims": dims})
                case "mT" if receiver.ndim > 1:
                    return self._trace.do(ops.transpose, [receiver], {"dim0": -2, "dim1": -1})
        if (isinstance(receiver, Vector) or is_whole(receiver)) and name in _OF_LIKE:
            return self._known(attributes.get, self.like(receiver), name)
        if isinstance(receiver, Cell):
            match name:
                case "data":
                    return self._detached(receiver)
                case "requires_grad" if receiver.visible is not None:
                    return receiver.visible
                case "is_leaf" if not receiver.visible and receiver.visible is not None:
                    return True
                case "ndim":
                    return 0
                case "dtype":
                    return DTYPES[receiver.dtype]
        elif is_known(receiver) and (name in UNRECORDED or not isinstance(receiver, Tensor)):
            return self._known(attributes.get, receiver, name)
        raise self._trace.refused(f"`.{name}` of a value known only at run time")


_OF_LIKE = {"shape", "ndim", "dtype"}
"""Attributes of a tensor that its shape and dtype tell."""

_CONVERTED: dict[str, Callable[..., Any]] = {
    "int64": lambda session, number: whole(number),
    "float64": lambda session, number: float(number),
}
