"""Attributes and methods of values that are not built-in functions: autograd's and Python's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import prod
from types import GeneratorType
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.code.functions import docstring_of
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives import autograd, hooks
from gradcli.engine.run.derivatives.edges import NAMES as EDGE
from gradcli.engine.run.derivatives.hooks import Handle
from gradcli.engine.run.derivatives.own import OWN_NAMES
from gradcli.engine.run.fast.call import by_name, do_op, twin_by_name
from gradcli.engine.run.language import casts, draws_in_place
from gradcli.engine.run.language.operators import same
from gradcli.engine.run.session import tensor_methods
from gradcli.engine.run.session.evaluator import Evaluator, as_numbers
from gradcli.engine.run.session.saved_tensors import NAMES, PREFIX, saved
from gradcli.engine.run.session.state import Session
from gradcli.engine.run.session.text import library, repr_text
from gradcli.engine.run.session.torch_stream import NAMES as STREAMS
from gradcli.engine.tape.graph import Node, Site, seen
from gradcli.engine.tape.tensor import (
    AccumulateGrad,
    Tensor,
    array_of,
    forget,
    is_said_to_require_grad,
    node_of,
    shared,
    shows_another,
)
from gradcli.engine.values import refusals
from gradcli.engine.values.conversion import can_hold
from gradcli.engine.values.data import NUMBERS, dtype_of, np, plain, shape_of
from gradcli.engine.values.dtypes import DTYPES, DType, dtype_name
from gradcli.engine.values.fields import Fields
from gradcli.engine.values.limits import QUESTION, check_items
from gradcli.engine.values.objects import Object, Shown
from gradcli.engine.values.sizes import Size, whole
from gradcli.errors import RunError, run_error

Member = Callable[..., Any]
_Table = tuple[dict[str, Member], dict[str, Member]]
_END = 2**63 - 1


def get(session: Evaluator, value: Any, name: str) -> Any:
    """`value.name`."""
    if isinstance(value, Fields) and name in value.names:
        return value[value.names.index(name)]
    table = _table(value)
    if table is not None and name in table[0]:
        member = table[0][name]
        return member(session, value) if _asks(member) else member(value)
    if isinstance(value, Node) and name.startswith(PREFIX):
        return saved(value, name)
    if name == "__name__" and callable(value) and isinstance(getattr(value, name, None), str):
        return value.__name__.rpartition(".")[2]
    if name == "__doc__" and callable(value):
        return docstring_of(value)
    raise _unknown(value, name)


def put(session: Evaluator, value: Any, name: str, new: Any) -> None:
    """`value.name = new`."""
    if type(value) is Tensor and name in _SETTERS:
        _SETTERS[name](session, value, new)
        return
    if isinstance(value, Shown):
        return
    raise run_error("unknown-attribute", f"`{name}` of {kind_of(value)} cannot be assigned")


def call(
    session: Session, site: Site | None, value: Any, name: str, args: Any, keywords: Any
) -> Any:
    """`value.name(args)`."""
    table = _table(value)
    if table is not None and name in table[1]:
        member = table[1][name]
        return answer(member, (session, site) if _asks(member) else (), value, name, args, keywords)
    if name == "grad_fn" and isinstance(value, Tensor):
        return autograd.pulled(session, _node(value), *args)
    if table is not None and name in table[0]:
        message = f"`{name}` of {kind_of(value)} is no method"
        raise run_error("not-callable", message, help=f"write `.{name}` without parentheses")
    if ops.is_method(name) and type(value) not in OF_PYTHON:
        return by_name(ops[name], site)(session, value, *args, **keywords)
    if name.endswith("_") and ops.is_method(name[:-1]) and type(value) not in OF_PYTHON:
        return twin_by_name(ops[name[:-1]], site)(session, value, *args, **keywords)
    raise _unknown(value, name)


def answer(
    member: Member, run: tuple[Any, ...], value: Any, name: str, args: Any, keywords: Any
) -> Any:
    """The result of a method from a table, called first with what it needs of the run."""
    try:
        return member(*run, value, *args, **keywords)
    except TypeError as error:
        inside = error.__traceback__ and error.__traceback__.tb_next
        if inside is None:
            message = f"`{name}` cannot be called with these arguments"
            raise run_error("wrong-arity", message) from None
        if inside.tb_next is not None or type(value) not in OF_PYTHON:
            raise
        raise run_error("wrong-type", f"`{name}`: {error}") from None  # by Python's own method


def method_of_python(kind: type, name: str) -> Member | None:
    """The method of values of a type of `OF_PYTHON`, if it needs nothing of the run."""
    member = OF_PYTHON[kind]()[1].get(name)
    return None if member is None or _asks_always(member) else member


def _asks(member: Member) -> bool:
    """True if a member takes the session, and a method the place of its call, before the value."""
    code = getattr(member, "__code__", None)
    return code is not None and code.co_varnames[:1] == ("session",)


_asks_always = cache(_asks)  # of the members of tables, which stay


DRAWS = {
    **dict.fromkeys(("permutation", "random", "random_sample", "standard_normal"), 0),
    **dict.fromkeys(("choice", "exponential", "poisson"), 1),
    **dict.fromkeys(("beta", "binomial", "gamma", "integers", "laplace", "logistic"), 2),
    **dict.fromkeys(("lognormal", "multivariate_normal", "normal", "randint", "uniform"), 2),
    **dict.fromkeys(("rand", "randn")),
}
"""What NumPy's generators of random numbers draw (`generators.py`), with the place of the size,
None where all arguments are the size.
"""

CHANGES_A_LIST = frozenset(
    {"append", "extend", "pop", "insert", "remove", "sort", "reverse", "clear"}
)
"""The methods of lists that change them."""

METHODS_OF_PYTHON = frozenset(
    {
        *CHANGES_A_LIST,
        *("add", "capitalize", "casefold", "center", "clear", "copy", "count", "difference"),
        *("discard", "endswith", "find", "format", "get", "index", "intersection", "isalnum"),
        *("isalpha", "isdecimal", "isdigit", "isdisjoint", "isidentifier", "islower", "isnumeric"),
        *("isspace", "issubset", "issuperset", "isupper", "items", "join", "keys", "ljust"),
        *("lower", "lstrip", "partition", "popitem", "remove", "removeprefix", "removesuffix"),
        *("replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "setdefault"),
        *("split", "splitlines", "startswith", "strip", "swapcase", "symmetric_difference"),
        *("title", "union", "update", "upper", "values", "zfill", "send", "throw", "close"),
    }
)
"""The names of methods of lists, strings, tuples, dictionaries, sets and generators: most are in
the tables of `strings`, `containers` and `iteration`.
"""

UNRECORDED = frozenset(
    {
        *("shape", "ndim", "dtype", "device", "T", "mT", "item", "tolist", "size", "dim"),
        *("numel", "nelement", "element_size", "itemsize", "nbytes", "is_cuda", "stride"),
        *("type", "to", "cpu", "double", "float", "half", "long", "int", "short", "char", "byte"),
        "bool",
        *(METHODS_OF_PYTHON - {"format", "send", "throw", "close"}),
    }
)
"""Members that give the same, whether what came before was recorded or not."""

_OF_FORMS = frozenset(
    {"num_leaves", "num_nodes", "flatten_up_to", "children", "unflatten", "parts_of", "node_keys"}
)
"""Attributes of the form of a tree, as JAX has them."""


def attributes() -> frozenset[str]:
    """Every attribute and method name that some value has."""
    from gradcli.engine.run.language.pictures import NAMES as DRAWN

    names: set[str] = set(_SETTERS) | ops.fields | OWN_NAMES | {*DRAWS, "shuffle"} | NAMES | DRAWN
    names |= STREAMS | _OF_FORMS | {"metadata"}
    names.update(("__name__", "__doc__", "__next__", "power", *EDGE, *_SLICE, "primal", "tangent"))
    for getters, methods in (_TENSOR, _NODE, _LIST, _HANDLE, _FIELDS, _DTYPE):
        names.update(getters, methods)
    return frozenset(names).union(METHODS_OF_PYTHON)


def is_read(name: str) -> bool:
    """True if tensors have an attribute of that name that cannot be called."""
    return name in _TENSOR[0] and name != "grad_fn"


def names_of(value: Any) -> frozenset[str]:
    """Attribute and method names of one value, built-in functions left out."""
    table = _table(value)
    names = () if table is None else (*table[0], *table[1])
    return frozenset(name for name in names if name.isidentifier())


def names_of_kind(kind: str) -> frozenset[str]:
    """Attribute and method names of values of a kind: "tensor", "list", "text" and so on."""
    if kind == "tensor":
        twins = (f"{name}_" for name in ops if ops.is_method(name) and ops[name].memory.inplace)
        own = {*_TENSOR[0], *_TENSOR[1], *filter(ops.is_method, ops), *twins}
        return frozenset(name for name in own if name.isidentifier() and name[0] != "_")
    return names_of(_EMPTY[kind]) if kind in _EMPTY else frozenset()


_EMPTY: dict[str, Any] = {
    "text": "",
    "dictionary": {},
    **{made.__name__: made() for made in (list, tuple, set)},
}
"""A value of each kind that has Python's methods."""


def _table(value: Any) -> _Table | None:
    if isinstance(value, Tensor):
        return _TENSOR
    if isinstance(value, Node):
        return _NODE
    if type(value) in NUMBERS and library() != "torch":
        return _NUMBER
    if type(value) in OF_PYTHON:
        return OF_PYTHON[type(value)]()
    if isinstance(value, Handle):
        return _HANDLE
    if isinstance(value, Fields):
        return _FIELDS
    if type(value) is DType:
        return _DTYPE
    table: _Table | None = getattr(value, "_members", None)
    return table


def _unknown(value: Any, name: str) -> RunError:
    if type(value) in NUMBERS and name in ("grad", "backward", "requires_grad_", "requires_grad"):
        return run_error(
            "unknown-attribute",
            f"a number has no `{name}`",
            help="`tensor(3.0, requires_grad=True)` makes a tensor that has",
        )
    if name in ("__enter__", "__exit__"):
        message = "`with` needs `no_grad()` or an object that has `__enter__` and `__exit__`, got "
        return run_error("bad-context", f"{message}{kind_of(value)}")
    table = _table(value)
    own = table is not None and name in table[1]
    built_in = ops.is_method(name)
    if own or (built_in and (isinstance(value, Tensor) or type(value) in NUMBERS)):
        message = f"`{name}` is a method of {kind_of(value)} and has parentheses behind it"
        return run_error("unknown-attribute", message, help=f"write `.{name}()`")
    if type(value) is list and (name in _TENSOR[0] or name in _TENSOR[1]):
        return run_error(
            "unknown-attribute", f"a list has no `{name}`", help="`tensor([...])` makes a tensor"
        )
    return run_error("unknown-attribute", f"{kind_of(value)} has no `{name}`")


# --- tensors -------------------------------------------------------------------------------


def _detach(x: Tensor) -> Tensor:
    made = Tensor(array_of(x))
    made.version = shared(x)
    return made


def _detach_(session: Session, site: Site | None, x: Tensor) -> Tensor:
    """A leaf requires grad no more; a computed tensor has no history any more."""
    if session.transparent:
        return x
    if shows_another(x):
        raise run_error(
            "not-a-leaf",
            "a view cannot be detached in place: its history is that of the tensor it shows",
            help="use `detach()`, which gives another tensor on the same memory",
        )
    if x.is_leaf:
        autograd.set_requires_grad(session, x, False)
    else:
        forget(x)
    return x


def _item(session: Evaluator, site: Site | None, x: Tensor) -> Any:
    if type(x.data) not in NUMBERS and x.data.size != 1:
        raise run_error(
            "shape-mismatch",
            f"`item` needs a tensor of one element, got shape {list(x.shape)}",
            help="`tolist()` gives all of them",
        )
    found = _tolist(session, site, x)
    while type(found) is list:
        found = found[0]
    return found


def _tolist(session: Evaluator, site: Site | None, x: Tensor) -> Any:
    if session.transparent and node_of(x) is not None:
        return as_numbers(x)
    if type(x.data) in NUMBERS:
        return x.data
    check_items(x.data.size, _IN_LIST)
    return x.data.tolist()


_IN_LIST = 32  # bytes of a number in a list


def _set_grad(session: Evaluator, x: Tensor, value: Any) -> None:
    if value is not None and (not isinstance(value, Tensor) or value.shape != x.shape):
        raise run_error(
            "shape-mismatch",
            f"`grad` of a tensor of shape {list(x.shape)} must be None or of that shape, got "
            f"{kind_of(value)}",
        )
    if value is not None and value.dtype != x.dtype:
        raise run_error(
            "dtype-mismatch",
            f"`grad` of a tensor of dtype {x.dtype} must have that dtype, got {value.dtype}",
        )
    x.grad = value


def _set_data(session: Evaluator, x: Tensor, value: Any) -> None:
    value = session.tensor(value)
    if not isinstance(value, Tensor):
        raise run_error("wrong-type", f"`data` must be a tensor, got {kind_of(value)}")
    if x.requires_grad and not value.dtype.startswith("float"):
        raise refusals.needs_float(value.dtype)
    x.data = array_of(value)
    x.version = shared(value)


def _filling(name: str) -> Member:
    """`x.fill_(value)` or `x.copy_(value)`: the value, or that of another tensor, everywhere."""

    def method(session: Evaluator, site: Site | None, x: Tensor, value: Any) -> Tensor:
        made = session.tensor(value, site)
        if not isinstance(made, Tensor) and type(made) not in NUMBERS:
            message = f"`{name}` needs a number or tensor, got {kind_of(value)}"
            raise run_error("wrong-type", message)
        return apply_inplace(ops.fill, x, [made], {}, site, recording=session.recording)

    return method


_fill_: Callable[..., Tensor] = _filling("fill_")


def _out(session: Evaluator, site: Site | None, x: Tensor, value: Any) -> Tensor:
    """Write the result of an operation into the tensor `x` by `out=x`."""
    value = session.tensor(value)
    if session.recording and any(isinstance(v, Tensor) and v.requires_grad for v in (x, value)):
        raise run_error(
            "not-differentiable",
            "no gradient goes through `out=`, and a tensor here requires grad",
            help="write `y = ...` instead, or do it under `no_grad`",
        )
    if shape_of(value) != x.shape:
        message = f"a result of shape {list(shape_of(value))} has no room in `out`, whose shape is "
        raise run_error("shape-mismatch", f"{message}{list(x.shape)}")
    if not can_hold(x.dtype, dtype_of(value)):
        message = f"a result of dtype {dtype_of(value)} cannot be put into `out` of {x.dtype}"
        raise run_error("dtype-mismatch", message)
    return _fill_(session, site, x, value)


def _zero_grad(x: Tensor) -> None:
    x.grad = None


def _size(x: Tensor, dim: Any = None) -> Any:
    if dim is None:
        return Size(x.shape)
    at = whole(dim, "dim")
    if not -x.ndim <= at < x.ndim:
        raise run_error("index-out-of-range", f"no dim {at} in shape {list(x.shape)}")
    return x.shape[at]


def _transposed(session: Evaluator, x: Tensor) -> Any:
    dims = tuple(reversed(range(x.ndim)))
    return do_op(ops.permute, session, [x], {"dims": dims}, None)


def _places(x: Tensor) -> Any:
    from gradcli.engine.run.language.updates import Places

    return Places(x)


def _matrix_transposed(session: Evaluator, x: Tensor) -> Any:
    if x.ndim < 2:
        raise run_error("shape-mismatch", f"`mT` needs at least 2 dims, got shape {list(x.shape)}")
    return session.do(ops.transpose, [x], {"dim0": -2, "dim1": -1})


_TENSOR: tuple[dict[str, Member], dict[str, Member]] = (
    {
        "requires_grad": lambda x: x.requires_grad or is_said_to_require_grad(x),
        "is_leaf": lambda x: x.is_leaf,
        "grad": lambda x: x.grad,
        "grad_fn": lambda x: x.grad_fn,
        "data": lambda session, x: x if session.transparent else _detach(x),
        "shape": lambda x: Size(x.shape),
        "ndim": lambda x: x.ndim,
        "dtype": lambda x: DTYPES[x.dtype],
        "device": lambda x: "cpu",
        "T": _transposed,
        "mT": _matrix_transposed,
        "real": lambda x: x,
        "imag": lambda x: Tensor(plain(np.zeros(x.shape, x.dtype))),
        "at": _places,
        **tensor_methods.ATTRIBUTES,
    },
    {
        "backward": autograd.backward,
        "detach": lambda session, site, x: x if session.transparent else _detach(x),
        "detach_": _detach_,
        "item": _item,
        "tolist": _tolist,
        "requires_grad_": autograd.requires_grad_,
        "zero_": lambda session, site, x: apply_inplace(
            ops.fill, x, [0], {}, site, recording=session.recording
        ),
        "fill_": _fill_,
        "copy_": _filling("copy_"),
        "out=": _out,
        **draws_in_place.METHODS,
        "zero_grad": _zero_grad,
        "retain_grad": autograd.retain_grad,
        "register_hook": hooks.register_hook,
        "register_post_accumulate_grad_hook": hooks.register_post_accumulate_grad_hook,
        "size": _size,
        "type": casts.type_of,
        "to": casts.to,
        "cpu": lambda x: x,
        "cuda": lambda x, *args, **named: casts.check_device("cuda"),
        "astype": casts.astype,
        "block_until_ready": lambda x: x,
        "copy": lambda session, site, x: session.do(ops.clone, [x], {}, site),
        "double": lambda session, site, x: casts.cast(session, x, "float64"),
        "float": lambda session, site, x: casts.cast(session, x, QUESTION.default_dtype),
        "long": lambda session, site, x: casts.cast(session, x, "int64"),
        "int": lambda session, site, x: casts.cast(session, x, "int32"),
        "short": lambda session, site, x: casts.cast(session, x, "int16"),
        "char": lambda session, site, x: casts.cast(session, x, "int8"),
        "byte": lambda session, site, x: casts.cast(session, x, "uint8"),
        "half": lambda session, site, x: casts.cast(session, x, "float16"),
        "bool": lambda session, site, x: casts.cast(session, x, "bool"),
        "dim": lambda x: x.ndim,
        **tensor_methods.METHODS,
    },
)

_SETTERS: dict[str, Member] = {
    "grad": _set_grad,
    "requires_grad": autograd.set_requires_grad,
    "data": _set_data,
}


def _node(x: Tensor) -> Node:
    if x.grad_fn is None:
        raise run_error("not-callable", "`grad_fn` is None, not a function")
    return x.grad_fn


# --- graph nodes, handles and lists ---------------------------------------------------------


def _variable(node: Node) -> Any:
    if isinstance(node, AccumulateGrad):
        if node.variable is None:
            raise run_error("no-leaf", "nothing holds this leaf any more")
        return node.variable
    raise run_error("unknown-attribute", f"only AccumulateGrad has `variable`, not {node.name()}")


_NUMBER: tuple[dict[str, Member], dict[str, Member]] = (
    {
        "shape": lambda x: Size(()),
        "ndim": lambda x: 0,
        "dtype": lambda x: DTYPES[dtype_of(x)],
        "T": lambda x: x,
    },
    {
        "item": lambda x: x,
        "tolist": lambda x: x,
        "copy": lambda x: x,
        "block_until_ready": lambda x: x,
        "astype": lambda session, site, x, dtype: casts.cast(
            session, Tensor(x), dtype_name(dtype) or "float64"
        ),
    },
)
"""Of the numbers that operations of NumPy's and JAX's give, in programs with their arrays."""

_NODE: tuple[dict[str, Member], dict[str, Member]] = (
    {
        "metadata": lambda session, node: session.passes.notes.setdefault(node, {}),
        "next_functions": lambda node: tuple((seen(under), index) for under, index in node.shown),
        "variable": _variable,
    },
    {
        "name": lambda node: node.name(),
        "register_hook": hooks.register_node_hook,
        "register_prehook": hooks.register_prehook,
        "apply": lambda session, site, node, *gs: autograd.pulled(session, node, *gs),
    },
)


_DTYPE: tuple[dict[str, Member], dict[str, Member]] = (
    {
        "name": lambda dtype: dtype.name,
        "type": lambda dtype: dtype,
        "kind": lambda dtype: np.dtype(dtype.name).kind,
        "itemsize": lambda dtype: np.dtype(dtype.name).itemsize,
        "is_floating_point": lambda dtype: dtype.name.startswith("float"),
    },
    {},
)

_HANDLE: tuple[dict[str, Member], dict[str, Member]] = (
    {},
    {"remove": Handle.remove},
)


@cache
def _of_text() -> _Table:
    from gradcli.engine.run.language.strings import METHODS, filled
    from gradcli.engine.run.session import classes

    def reached(session: Evaluator, value: Any, name: str) -> Any:
        if isinstance(value, (Object, type)):
            return classes.get(value, name)
        return get(session, value, name)

    def form(session: Session, site: Site | None, value: str, *args: Any, **named: Any) -> str:
        return filled(session, value, args, named, partial(reached, session))

    return {}, {**METHODS, "format": form}


@cache
def _of_dictionaries() -> _Table:
    from gradcli.engine.run.language.containers import DICTIONARIES

    return {}, DICTIONARIES


@cache
def _of_sets() -> _Table:
    from gradcli.engine.run.language.containers import SETS

    return {}, SETS


@cache
def _of_generators() -> _Table:
    from gradcli.engine.run.session.iteration import METHODS

    return {}, METHODS


OF_PYTHON: dict[type, Callable[[], _Table]] = {
    list: lambda: _LIST,
    str: _of_text,
    dict: _of_dictionaries,
    set: _of_sets,
    tuple: lambda: ({}, _SEQUENCE),
    Size: lambda: _SIZE,
    slice: lambda: (_SLICE, {}),
    GeneratorType: _of_generators,
}

_SLICE: dict[str, Member] = {
    "start": lambda part: part.start,
    "stop": lambda part: part.stop,
    "step": lambda part: part.step,
}


def _position(session: Evaluator, items: Any, item: Any, absent: ValueError) -> int:
    """The place of the first item that is equal to one; `absent` is seen if there is none."""
    for at, other in enumerate(items):
        if same(session, other, item):
            return at
    raise run_error("bad-argument", f"{repr_text(item)} is not in {kind_of(items)}", raises=absent)


def _index(
    session: Evaluator, site: Site | None, items: Any, item: Any, start: int = 0, stop: int = _END
) -> int:
    part = slice(whole(start, "start"), whole(stop, "stop"))
    said = "tuple.index(x): x not in tuple"
    absent = ValueError(f"{repr_text(item)} is not in list" if type(items) is list else said)
    first, _, _ = part.indices(len(items))
    return first + _position(session, items[part], item, absent)


def _remove(session: Evaluator, site: Site | None, items: list[Any], item: Any) -> None:
    absent = ValueError("list.remove(x): x not in list")
    del items[_position(session, items, item, absent)]


def _sort(
    session: Evaluator,
    site: Site | None,
    items: list[Any],
    *,
    key: Any = None,
    reverse: Any = False,
) -> None:
    from gradcli.engine.run.language.ordering import ordered

    items[:] = ordered(session, items, key, reverse)


def _pop(items: list[Any], index: int = -1) -> Any:
    try:
        return items.pop(index)
    except IndexError as error:
        message = f"nothing to pop at {index} of a list of length {len(items)}"
        raise run_error("index-out-of-range", message, raises=error) from None


_SEQUENCE: dict[str, Member] = {
    "index": _index,
    "count": lambda session, site, items, item: sum(same(session, x, item) for x in items),
}

_SIZE: _Table = ({}, {**_SEQUENCE, "numel": prod})

_FIELDS: _Table = (
    {
        "n_fields": len,
        "n_sequence_fields": len,
        "n_unnamed_fields": lambda values: 0,
    },
    _SEQUENCE,
)
"""Of the named results of an op: PyTorch's are structures, which have no `_fields`."""

_LIST: _Table = (
    {},
    {
        "append": list.append,
        "extend": lambda session, site, items, more: items.extend(session.more(items, more)),
        "pop": _pop,
        "insert": lambda items, at, item: items.insert(at, item),
        "remove": _remove,
        "sort": _sort,
        "reverse": list.reverse,
        "clear": list.clear,
        "copy": list.copy,
        **_SEQUENCE,
    },
)
