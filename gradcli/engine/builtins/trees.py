"""Lists, tuples and dictionaries of values, by JAX's and autograd's names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.functions import called
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives import transforms
from gradcli.engine.run.derivatives.custom import Custom
from gradcli.engine.run.derivatives.transforms import Tree
from gradcli.engine.tape.tensor import Tensor, truth
from gradcli.engine.values.data import NUMBERS, shape_of
from gradcli.engine.values.objects import Object, TreeForm, parts_of, with_parts
from gradcli.engine.values.sizes import number, whole
from gradcli.errors import run_error

FAMILY = 344, "Trees of values"


def _parts(tree: Tree) -> list[Any] | None:
    """The items of a tree node, of a dictionary in the order of its keys; None for a leaf."""
    if type(tree) is dict:
        return [tree[key] for key in sorted(tree, key=str)]
    if isinstance(tree, (list, tuple)):
        return [*tree]
    return [] if tree is None else parts_of(tree)


def _nodes(tree: Tree, is_leaf: Any) -> list[Any] | None:
    """The items of a tree node; None for a leaf, which `is_leaf` may say of any value."""
    parts = _parts(tree)
    if parts is None or (is_leaf is not None and truth(called(is_leaf, [tree], "is_leaf"))):
        return None
    return parts


def leaves_of(tree: Tree, is_leaf: Any = None) -> Iterator[Any]:
    """The values of a tree, in order."""
    parts = _nodes(tree, is_leaf)
    if parts is None:
        yield tree
        return
    for part in parts:
        yield from leaves_of(part, is_leaf)


def _rebuilt(tree: Tree, parts: Sequence[Any]) -> Tree:
    """A tree of the same form with other parts."""
    if type(tree) is dict:
        return dict(zip(sorted(tree, key=str), parts, strict=True))
    if isinstance(tree, Object):
        return with_parts(tree, parts)
    return tuple(parts) if isinstance(tree, tuple) else None if tree is None else [*parts]


def _mapped(session: Any, function: Any, trees: Sequence[Tree], is_leaf: Any) -> Tree:
    first = trees[0]
    parts = _nodes(first, is_leaf)
    if parts is None:
        return called(function, trees, "tree_map")
    others = [_parts_beside(session, parts, tree) for tree in trees[1:]]
    if any(part is None or len(part) != len(parts) for part in others):
        raise run_error("wrong-count", "`tree_map` needs trees of one structure", raises=ValueError)
    rows = zip(parts, *(part or () for part in others), strict=True)
    return _rebuilt(first, [_mapped(session, function, row, is_leaf) for row in rows])


def _parts_beside(session: Any, parts: Sequence[Any], tree: Tree) -> list[Any] | None:
    """The items of a tree node; of a tensor beside a list of numbers, whose gradient it may be, its
    elements.
    """
    if isinstance(tree, Tensor) and tree.ndim == 1 and all(type(p) in NUMBERS for p in parts):
        return [*session.items(tree)]
    return _parts(tree)


def _tree_map(session: Any, *given: Any, is_leaf: Any) -> Tree:
    if len(given) < 2:
        raise run_error("wrong-arity", "`tree_map` takes a function and a tree, or several")
    return _mapped(session, given[0], given[1:], is_leaf)


tree_map: Op = host(
    "tree_map",
    _tree_map,
    args=("*f",),
    params={"is_leaf": None},
    doc="`jax.tree.map`: lists, tuples and dictionaries with what a function makes of each value.",
    source="JAX: tree.map",
    keeps=True,
)

tree_leaves: Op = host(
    "tree_leaves",
    lambda session, tree, is_leaf: [*leaves_of(tree, is_leaf)],
    args=("tree", "is_leaf=None"),
    doc="`jax.tree.leaves`: the values in lists, tuples and dictionaries.",
    source="JAX: tree.leaves",
    keeps=True,
)


def _reduced(session: Any, function: Any, tree: Tree, initializer: Any, is_leaf: Any) -> Any:
    leaves = [*leaves_of(tree, is_leaf)]
    leaves = leaves if initializer is None else [initializer, *leaves]
    if not leaves:
        raise run_error("empty-reduction", "`tree_reduce` of no values")
    value = leaves[0]
    for leaf in leaves[1:]:
        value = called(function, [value, leaf], "tree_reduce")
    return value


tree_reduce: Op = host(
    "tree_reduce",
    _reduced,
    args=("function", "tree", "initializer=None", "is_leaf=None"),
    doc="`jax.tree.reduce`: the values of a tree put together two by two.",
    source="JAX: tree.reduce",
    keeps=True,
)


def filled(tree: Tree, leaves: Iterator[Any], is_leaf: Any = None) -> Tree:
    """A tree of the same form with other values."""
    parts = _nodes(tree, is_leaf)
    if parts is None:
        return next(leaves)
    return _rebuilt(tree, [filled(p, leaves, is_leaf) for p in parts])


def with_arrays(session: Any, tree: Tree) -> Tree:
    """A tree in which lists of numbers are the arrays that they stand for."""
    if _is_array(tree):
        return session.tensor(tree)
    parts = _parts(tree)
    return tree if parts is None else _rebuilt(tree, [with_arrays(session, p) for p in parts])


def _is_array(value: Any) -> bool:
    return (
        type(value) is list
        and bool(value)
        and all(type(v) in NUMBERS or _is_array(v) for v in value)
    )


class _Form:
    """The form of a tree: a tree whose leaves do not matter."""

    said = "the form of a tree"
    _members: tuple[dict[str, Any], dict[str, Any]]

    def __init__(self, tree: Tree, is_leaf: Any) -> None:
        self.tree = tree
        self.is_leaf = is_leaf

    def __repr__(self) -> str:
        return f"PyTreeDef({self._text(self.tree)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Form) and _alike(self, self.tree, other, other.tree)

    def __hash__(self) -> int:
        return hash(self.leaves())

    def _text(self, tree: Tree) -> str:
        parts = _nodes(tree, self.is_leaf)
        if parts is None:
            return "*"
        inner = [self._text(part) for part in parts]
        if type(tree) is dict:
            keys = sorted(tree, key=str)
            return f"{{{', '.join(f'{k!r}: {t}' for k, t in zip(keys, inner, strict=True))}}}"
        if isinstance(tree, tuple):
            return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
        if isinstance(tree, list):
            return f"[{', '.join(inner)}]"
        return (
            "None" if tree is None else f"CustomNode({type(tree).__name__}, [{', '.join(inner)}])"
        )

    def leaves(self) -> int:
        """How many leaves there are."""
        return sum(1 for _ in leaves_of(self.tree, self.is_leaf))

    def filled(self, values: list[Any]) -> Tree:
        """The tree with these leaves."""
        if len(values) != self.leaves():
            message = f"{len(values)} values do not fill the tree"
            raise run_error("wrong-count", message, raises=ValueError)
        return filled(self.tree, iter(values), self.is_leaf)

    def up_to(self, tree: Tree) -> list[Any]:
        """The parts of a larger tree that stand where this form has leaves."""
        return [*self._parts_beside(self.tree, tree)]

    def _parts_beside(self, own: Tree, tree: Tree) -> Iterator[Any]:
        parts = _nodes(own, self.is_leaf)
        if parts is None:
            yield tree
            return
        others = _parts(tree)
        if type(own) is not type(tree) or others is None or len(others) != len(parts):
            raise run_error("wrong-count", "the tree does not begin as the form", raises=ValueError)
        for part, other in zip(parts, others, strict=True):
            yield from self._parts_beside(part, other)

    def nodes(self) -> int:
        """How many leaves and nodes there are."""
        return 1 + sum(form.nodes() for form in self.children())

    def parts_of(self, tree: Tree) -> list[Any]:
        """The parts of a tree that is a node."""
        return _parts(tree) or []

    def node_keys(self) -> list[Any]:
        """The keys of a dictionary in the order of the parts."""
        return sorted(self.tree, key=str)

    def children(self) -> list[_Form]:
        """The forms of the parts."""
        parts = _nodes(self.tree, self.is_leaf)
        return [_Form(part, self.is_leaf) for part in parts or ()]


def _alike(a: _Form, left: Tree, b: _Form, right: Tree) -> bool:
    """True if two trees have one form."""
    ours, theirs = _nodes(left, a.is_leaf), _nodes(right, b.is_leaf)
    if ours is None or theirs is None:
        return ours is theirs
    if type(left) is not type(right) or len(ours) != len(theirs):
        return False
    if type(left) is dict and left.keys() != right.keys():
        return False
    return all(_alike(a, p, b, q) for p, q in zip(ours, theirs, strict=True))


_Form._members = (
    {"num_leaves": lambda form: form.leaves(), "num_nodes": lambda form: form.nodes()},
    {
        "unflatten": lambda session, site, form, leaves: form.filled(session.items(leaves)),
        "parts_of": lambda session, site, form, tree: form.parts_of(tree),
        "node_keys": lambda session, site, form: form.node_keys(),
        "flatten_up_to": lambda session, site, form, tree: form.up_to(tree),
        "children": lambda session, site, form: form.children(),
    },
)

tree_flatten: Op = host(
    "tree_flatten",
    lambda session, tree, is_leaf: ([*leaves_of(tree, is_leaf)], _Form(tree, is_leaf)),
    args=("tree", "is_leaf=None"),
    doc="`jax.tree.flatten`: the values of a tree, and its form.",
    source="JAX: tree.flatten",
    keeps=True,
)


def _unflatten(session: Any, treedef: Any, leaves: Any) -> Tree:
    if not isinstance(treedef, _Form):
        raise run_error("wrong-type", "`tree_unflatten` takes the form that `tree_flatten` gives")
    return treedef.filled(session.items(leaves))


tree_unflatten: Op = host(
    "tree_unflatten",
    _unflatten,
    args=("treedef", "leaves"),
    doc="`jax.tree.unflatten`: the tree of a form with these values.",
    source="JAX: tree.unflatten",
    keeps=True,
)


def vector(session: Any, tree: Tree) -> Any:
    """The values of a tree as one row."""
    rows = []
    for leaf in leaves_of(tree):
        value = session.tensor(leaf)
        if not isinstance(value, Tensor) and not isinstance(value, (int, float)):
            raise run_error("wrong-type", f"{kind_of(value)} has no place in a row of numbers")
        rows.append(session.do(ops.reshape, [value], {"shape": (-1,)}))
    return session.do(ops.cat, rows, {"dim": 0}) if rows else session.tensor([])


def from_vector(session: Any, tree: Tree, row: Any) -> Tree:
    """A tree of the form of one with the values of a row."""
    at = 0

    def taken(like: Any) -> Any:
        nonlocal at
        shape = shape_of(session.tensor(like))
        count = 1
        for n in shape:
            count *= n
        part = session.do(ops.getitem, [row], {"index": slice(at, at + count)})
        at += count
        return session.do(ops.reshape, [part], {"shape": shape})

    return filled(tree, map(taken, leaves_of(tree)))


ravel_pytree: Op = host(
    "ravel_pytree",
    lambda session, pytree: (
        vector(session, pytree),
        lambda row: from_vector(session, pytree, row),
    ),
    args=("pytree",),
    doc="`jax.flatten_util.ravel_pytree`: the values of a tree as a row, and the function from a "
    "row to such a tree.",
    source="JAX: flatten_util.ravel_pytree",
    keeps=True,
)


def _ordered(tree: Tree, like: Tree) -> Tree:
    """A tree whose dictionaries have the order of those of another one of the same form."""
    if type(like) is dict:
        return {key: _ordered(tree[key], value) for key, value in like.items()}
    if isinstance(like, (list, tuple)):
        parts = [_ordered(part, beside) for part, beside in zip(tree, like, strict=True)]
        return _rebuilt(like, parts)
    return tree


autograd_flatten: Op = host(
    "autograd_flatten",
    lambda session, value: (
        vector(session, value),
        lambda row: _ordered(from_vector(session, value, row), value),
    ),
    args=("value",),
    doc="autograd's `flatten`: the values of a tree as a row, those of a dictionary in the order "
    "of its keys, and the function from a row to such a tree, whose dictionaries keep their order.",
    source="autograd: misc.flatten",
    keeps=True,
)


def _registered(kind: Any, flatten: Any, unflatten: Any) -> Any:
    """The class, whose objects are nodes of trees from here on."""
    if not (isinstance(kind, type) and issubclass(kind, Object)):
        raise run_error("wrong-type", f"a class of the program is needed, got {kind_of(kind)}")
    kind._tree_form = TreeForm(  # type: ignore[attr-defined]  # what `parts_of` reads
        lambda value: called(flatten, [value], "register_pytree_node"),
        lambda aux, parts: called(unflatten, [aux, parts], "register_pytree_node"),
    )
    return kind


def _register(session: Any, nodetype: Any, flatten_func: Any, unflatten_func: Any) -> None:
    _registered(nodetype, flatten_func, unflatten_func)


def _register_class(session: Any, cls: Any) -> Any:
    def made(aux: Any, parts: Any) -> Any:
        return cls.tree_unflatten(aux, parts)

    return _registered(cls, lambda value: value.tree_flatten(), made)


register_pytree_node: Op = host(
    "register_pytree_node",
    _register,
    args=("nodetype", "flatten_func", "unflatten_func"),
    doc="`jax.tree_util.register_pytree_node`: objects of a class are nodes of trees: "
    "`flatten_func(x)` gives the parts and what else there is, `unflatten_func(else, parts)` an "
    "object.",
    source="JAX: tree_util.register_pytree_node",
    keeps=True,
    pure=False,
)
register_pytree_node_class: Op = host(
    "register_pytree_node_class",
    _register_class,
    args=("cls",),
    doc="`@jax.tree_util.register_pytree_node_class`: likewise of a class with the methods "
    "`tree_flatten` and `tree_unflatten`.",
    source="JAX: tree_util.register_pytree_node_class",
    keeps=True,
    pure=False,
)


# optimizers -------------------------------------------------------------------------------------


def _optimizer(name: str, doc: str, steps: Any, **settings: float) -> Op:
    """Goes from a tree down its gradient `grad(x, i)`; `steps(session, **settings)` gives what
    makes the next row of one, its slope and the turn.
    """

    def call(session: Any, grad: Any, x0: Any, callback: Any, num_iters: Any, **given: Any) -> Tree:
        step = steps(session, **{key: number(value, key) for key, value in given.items()})
        x = vector(session, x0)
        for i in range(whole(num_iters, "num_iters")):
            here = from_vector(session, x0, x)
            slope = called(grad, [here, i], name)
            if callback is not None:
                called(callback, [here, i, slope], name)
            x = step(x, vector(session, slope), i)
        return from_vector(session, x0, x)

    params: dict[str, Any] = {"callback": None, "num_iters": 200 if name == "sgd" else 100}
    params |= settings
    return host(
        f"autograd_{name}",
        call,
        args=("grad", "x0"),
        params=params,
        doc=doc,
        source=f"autograd: misc.optimizers.{name}",
        keeps=True,
    )


def _arithmetic(session: Any) -> Any:
    params: dict[str, dict[str, Any]] = {
        "add": {"alpha": 1},
        "sub": {"alpha": 1},
        "div": {"rounding_mode": None},
    }
    return lambda name, a, b: session.do(ops[name], [a, b], params.get(name, {}))


def _sgd(session: Any, step_size: float, mass: float) -> Any:
    do, velocity = _arithmetic(session), None

    def step(x: Any, g: Any, i: int) -> Any:
        nonlocal velocity
        change = do("mul", g, 1.0 - mass)
        before = do("mul", change, 0.0) if velocity is None else do("mul", velocity, mass)
        velocity = do("sub", before, change)
        return do("add", x, do("mul", velocity, step_size))

    return step


def _rmsprop(session: Any, step_size: float, gamma: float, eps: float) -> Any:
    do, average = _arithmetic(session), None

    def step(x: Any, g: Any, i: int) -> Any:
        nonlocal average
        square = do("mul", g, g)
        before = do("add", do("mul", g, 0.0), 1.0) if average is None else average
        average = do("add", do("mul", before, gamma), do("mul", square, 1 - gamma))
        root = do("add", session.do(ops.sqrt, [average], {}), eps)
        return do("sub", x, do("div", do("mul", g, step_size), root))

    return step


def _adam(session: Any, step_size: float, b1: float, b2: float, eps: float) -> Any:
    do, m, v = _arithmetic(session), 0.0, 0.0

    def step(x: Any, g: Any, i: int) -> Any:
        nonlocal m, v
        m = do("add", do("mul", g, 1 - b1), do("mul", m, b1))
        v = do("add", do("mul", do("mul", g, g), 1 - b2), do("mul", v, b2))
        first, second = (
            do("div", m, 1 - b1 ** (i + 1)),
            do("div", v, 1 - b2 ** (i + 1)),
        )
        root = do("add", session.do(ops.sqrt, [second], {}), eps)
        return do("sub", x, do("div", do("mul", first, step_size), root))

    return step


adam: Op = _optimizer(
    "adam",
    "autograd's `adam(grad, x0)`: goes down by Adam's steps; `grad(x, i)` and `callback(x, i, g)`.",
    _adam,
    step_size=0.001,
    b1=0.9,
    b2=0.999,
    eps=1e-8,
)
sgd: Op = _optimizer(
    "sgd",
    "autograd's `sgd(grad, x0)`: goes down with momentum.",
    _sgd,
    step_size=0.1,
    mass=0.9,
)
rmsprop: Op = _optimizer(
    "rmsprop",
    "autograd's `rmsprop(grad, x0)`: goes down by steps in the measure of the last slopes.",
    _rmsprop,
    step_size=0.1,
    gamma=0.9,
    eps=1e-8,
)


def _fixed_point(session: Any, f: Any, a: Any, x0: Any, distance: Any, tol: Any) -> Any:
    """The x, and as its derivative that of the equation which it solves."""

    def solved(step: Any, start: Any) -> Any:
        before, x = start, called(step, [start], "fixed_point")
        while truth(_above(called(distance, [x, before], "fixed_point"))):
            before, x = x, called(step, [x], "fixed_point")
        return x

    def _above(change: Any) -> Any:
        return session.do(ops.gt, [change, tol], {})

    def pull(args: Sequence[Any], out: Any, g: Any) -> Sequence[Any]:
        def by(a: Any, x: Any) -> Any:
            return called(called(f, [a], "fixed_point"), [x], "fixed_point")

        _, by_x = transforms.vjp(session, lambda x: by(args[0], x), [out])
        _, by_a = transforms.vjp(session, lambda a: by(a, out), [*args])

        def step(w: Any) -> Any:
            return session.do(ops.add, [g, by_x(w)[0]], {"alpha": 1})

        return by_a(solved(step, g))  # type: ignore[no-any-return]  # a tuple of cotangents

    custom = Custom(session, lambda a: solved(called(f, [a], "fixed_point"), x0), (), "fixed_point")
    custom.pull = pull
    return custom(a)


fixed_point: Op = host(
    "autograd_fixed_point",
    _fixed_point,
    args=("f", "a", "x0", "distance", "tol"),
    doc="autograd's: the x that `f(a)(x)` leaves as it is, from x0 on until it changes by no more "
    "than `tol`; its derivative is that of the equation.",
    source="autograd: misc.fixed_points",
    keeps=True,
)
