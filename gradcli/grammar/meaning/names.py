"""Resolve the names of a program, for the checker and the lowering.

Scoping is Python's: a name assigned anywhere in a function is local to it. Any other name belongs
to the nearest enclosing function that assigns it, else to the top level, the imports or the
built-ins. In a program without declarations, a name found nowhere is an input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from gradcli.grammar.meaning import modules
from gradcli.grammar.meaning.scopes import Scope
from gradcli.grammar.syntax import ast
from gradcli.ir import program as ir
from gradcli.record import Record
from gradcli.source import Span

if TYPE_CHECKING:
    from gradcli.grammar.meaning.arrays import Arrays
    from gradcli.ir.signature import Signatures

PREFIXES = frozenset({"torch", "F", "math"})
"""Names that stand for modules without an import, unless the program uses them as its own."""

NO_IMPORTS: Mapping[str, str] = {}

RULE_BASES = frozenset(
    {
        *("Function", "torch.autograd.Function", "torch.autograd.function.Function"),
        "torch.autograd.function.InplaceFunction",
    }
)
"""Names of the base class of an own differentiable function."""

METHODS_OF_RULES = ("forward", "setup_context", "backward", "vjp", "jvp")
"""The methods of an own differentiable function that a run or a pass calls."""

IN_PLACE = frozenset(
    f"__i{name}__"
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"),
        *("lshift", "rshift"),
    )
)
"""Methods of classes that `x += y` and its like call."""

_LIBRARY = {"nn": "torch.nn", "optim": "torch.optim"}
"""Modules of the library that need no import."""

Function: TypeAlias = ast.Def | ast.Lambda | ast.Comprehension


def dotted(expr: ast.Expr) -> tuple[str, ...] | None:
    """The names in `a.b.c`, or None for any other expression."""
    names = []
    while isinstance(expr, ast.Attribute):
        names.append(expr.name)
        expr = expr.value
    if not isinstance(expr, ast.Name):
        return None
    names.append(expr.id)
    return tuple(reversed(names))


def full_path(
    expr: ast.Expr, is_bound: Callable[[str], bool], imports: Mapping[str, str] = NO_IMPORTS
) -> str | None:
    """`torch.nn.functional.relu` for any way to write it, with imports resolved. None if the
    expression is not a dotted name, or begins with a name that the program defines.
    """
    names = dotted(expr)
    if names is None or is_bound(names[0]):
        return None
    return ".".join((imports.get(names[0], names[0]), *names[1:]))


def _path(
    expr: ast.Expr, scope: Scope | None, bound: frozenset[str], imports: Mapping[str, str]
) -> str | None:
    """The same where a program binds these names at top level, and a scope its own."""

    def is_bound(name: str) -> bool:
        return name in bound or (scope is not None and scope.binds(name))

    if isinstance(expr, ast.Name):  # most are
        return None if is_bound(expr.id) else imports.get(expr.id, expr.id)
    return full_path(expr, is_bound, imports) if isinstance(expr, ast.Attribute) else None


def builtin_name(
    expr: ast.Expr,
    is_bound: Callable[[str], bool],
    signatures: Signatures,
    imports: Mapping[str, str] = NO_IMPORTS,
) -> str | None:
    """Name of the built-in that a plain or dotted name stands for, or None.

    Args:
        expr: Any expression.
        is_bound: True for a name that the program defines where the expression stands.
        signatures: The built-ins.
        imports: Full paths by imported name (`Names.imports`).
    """
    path = full_path(expr, is_bound, imports)
    return None if path is None else _builtin_of(path, signatures)


def _builtin_of(path: str, signatures: Signatures) -> str | None:
    """Name of the built-in of a full path, or None."""
    module, _, name = path.rpartition(".")
    if module:
        return modules.member(module, name, signatures)
    return name if name in signatures else None


Visit: TypeAlias = tuple[ast.Node, str, Scope | None]
"""A node, how its value is used and the scope in which it stands. It is used as "call" where it is
called, as "base" where an attribute is taken of it, "class" where only a class will do, "mark" of a
block or function in a mode, "kind" in a comparison with `type(x)`, "compared" in another one,
"negated" of a literal behind a minus, "operand" where nothing but a value will do, else "value".
"""


# Nodes that pass on or compare a value of any kind.
_ROLES = {
    **dict.fromkeys((ast.Keyword, ast.List, ast.Tuple, ast.Return, ast.Declaration), "value"),
    **dict.fromkeys((ast.Try, ast.Handler, ast.Raise, ast.Yield), "value"),
    **dict.fromkeys((ast.Set, ast.Dict, ast.Pair), "value"),
    ast.Compare: "compared",
}


class Cells(Record):
    """A program that is made of cells: `grow` is True if more may follow, which may define names
    that functions read.
    """

    __slots__ = ("grow",)
    grow: bool


class Names(Record):
    """What the names of a program stand for.

    Fields:
        top: Names assigned at top level, declared ones and functions included, in order of first
            assignment, those assigned inside blocks too.
        counts: How often each name is assigned at top level, inside blocks too.
        once: Names assigned exactly once, at top level outside any block, with the assignment;
            without functions and declarations. An update (`x += 1`) is an assignment.
        constants: Those of `once` whose value is a constant expression.
        declared: Declared inputs by name, in order.
        sizes: Names of sizes in the types of declared inputs, in order, that are not declared
            inputs themselves.
        free: Inputs of a program without declarations, in order of first reading.
        unneeded: Those of `free` that are read only in functions which the program names nowhere
            outside their own bodies.
        imports: What names bound by imports stand for, as full paths ("torch.nn.functional").
        closed: True if a name that nobody assigns is an error, not an input: in a program that
            declares its inputs or is made of cells.
        members: Attributes and methods of the program's own classes, if it has any; an own
            differentiable function without attributes is none.
        rules: Names of own differentiable functions.
        signatures: The built-ins.
        arrays: What is known of NumPy's arrays, in a program that imports NumPy and PyTorch.
    """

    __slots__ = (
        "top",
        "counts",
        "once",
        "constants",
        "declared",
        "sizes",
        "free",
        "unneeded",
        "imports",
        "closed",
        "members",
        "rules",
        "signatures",
        "arrays",
        "_bound",
    )
    top: tuple[str, ...]
    counts: dict[str, int]
    once: dict[str, ast.Assign]
    constants: dict[str, ast.Assign]
    declared: dict[str, ast.Declaration]
    sizes: tuple[str, ...]
    free: tuple[str, ...]
    unneeded: frozenset[str]
    imports: dict[str, str]
    closed: bool
    members: frozenset[str]
    rules: frozenset[str]
    signatures: Signatures
    arrays: Arrays | None
    _bound: frozenset[str]

    def is_bound(self, name: str, scope: Scope | None = None) -> bool:
        """True if the program defines a name in a scope: it is assigned, declared, a size or an
        input.
        """
        return name in self._bound or (scope is not None and scope.binds(name))

    def of_arrays(self, expr: ast.Attribute, scope: Scope | None) -> str | None:
        """The built-in that an attribute of NumPy's arrays stands for, if `expr` is one of an array
        or NumPy is imported, else None.
        """
        found = modules.of_arrays(expr.name, self.imports.values())
        if found is None and expr.name in modules.OF_ARRAYS_ALONE:
            is_array = self.is_array_beside_tensors(expr.value, scope)
            return modules.OF_ARRAYS_ALONE[expr.name] if is_array else None
        return found

    def is_array_beside_tensors(self, expr: ast.Expr, scope: Scope | None) -> bool:
        """True if an expression is certainly one of NumPy's arrays in a program that imports
        PyTorch, too.
        """
        return self.arrays is not None and self.arrays.has(expr, scope)

    def builtin(self, expr: ast.Expr, scope: Scope | None = None) -> str | None:
        """Name of the built-in that an expression stands for in a scope, or None."""
        path = self.path(expr, scope)
        return None if path is None else _builtin_of(path, self.signatures)

    def twin(self, expr: ast.Expr, scope: Scope | None = None) -> str | None:
        """The in-place method that a function of PyTorch stands for, as `torch.exp_` does, or
        None.
        """
        module, _, name = (self.path(expr, scope) or "").rpartition(".")
        plain = name.removesuffix("_")
        if module not in modules.TORCH or plain == name or plain not in self.signatures:
            return None
        return name if self.signatures[plain].method else None

    def imported(self, expr: ast.Expr, scope: Scope | None = None) -> str | None:
        """Full path of the library's member that an expression names, or None."""
        path = self.path(expr, scope)
        if path is None:
            return None
        root, _, rest = path.partition(".")
        if rest and root in _LIBRARY:
            path = f"{_LIBRARY[root]}.{rest}"
        if modules.is_silent(path) and self._is_drawn(expr, scope):
            return None
        return modules.in_library(path, self.signatures)

    def _is_drawn(self, expr: ast.Expr, scope: Scope | None) -> bool:
        """True for `plt.plot` and `plt.rcParams.update`, which ask the built-in `plt`."""
        while isinstance(expr, ast.Attribute):
            expr = expr.value
            if self.builtin(expr, scope) is not None:
                return True
        return False

    def value_of(self, path: str, span: Span) -> ir.Operand | None:
        """The value that an import of a full path binds, or None."""
        module, _, name = path.rpartition(".")
        builtin = modules.member(module, name, self.signatures)
        if builtin is not None:
            return ir.Builtin(builtin, span)
        found = modules.in_library(path, self.signatures)
        return None if found is None else ir.Imported(found, span)

    def is_rule(self, made: ast.Class, scope: Scope | None = None) -> bool:
        """True if a class is an own differentiable function, directly or by inheritance."""
        return any(
            self.path(base, scope) in RULE_BASES
            or (isinstance(base, ast.Name) and base.id in self.rules)
            for base in made.bases
        )

    def called(self, call: ast.Call, scope: Scope | None = None) -> str | None:
        """Name of the built-in that a call means, or None. Some names mean Python's own function
        for its number of arguments, as in `sum(items, start)` and `math.log(x, base)`.
        """
        path = self.path(call.function, scope)
        own = f"builtins_{path and modules.of_library(path)}".replace(".", "_")
        if own in self.signatures:
            if self.signatures[own].variadic:
                return own
            names = self.signatures[own].positional
            keywords = {keyword.name for keyword in call.keywords}
            if len(call.args) + len(keywords) == len(names) and keywords <= {*names}:
                return own
        return self.builtin(call.function, scope)

    def imported_values(self, statement: ast.Statement) -> Iterator[str]:
        """Names that the imports in a statement bind to values."""
        for name, path in _imports((statement,)):
            if self.value_of(path, statement.span) is not None:
                yield name

    def path(self, expr: ast.Expr, scope: Scope | None = None) -> str | None:
        """Full dotted path of an expression, or None if it begins with a name that the program
        defines.
        """
        return _path(expr, scope, self._bound, self.imports)


def analyse(
    module: ast.Module,
    signatures: Signatures,
    given: frozenset[str],
    cells: Cells | None = None,
) -> Names:
    """Find out what the names of a program stand for.

    Args:
        module: The program, as parsed; it need not be right.
        signatures: The built-ins.
        given: Names given from outside. In a program without declarations such a name is an input
            where it is read, even if it is a built-in's.
        cells: If the program is made of cells, what is known of them.
    """
    counts: dict[str, int] = {}
    for name in (*assigned(module.body), *_assigned_inside(module.body, "global")):
        counts[name] = counts.get(name, 0) + 1
    imports = dict(_imports(module.body))
    starred = {*imported_whole(module.body)}
    for name in imports:  # an import to a name that the program assigns is an assignment
        if name in counts:
            counts[name] += 1
    for whole in starred:
        for name in (*modules.names_of_others(whole), *signatures.exported(whole)):
            imports.setdefault(name, f"{whole}.{name}")
    if modules.library(imports.values()) == "jax" and "abs" not in counts:
        imports.setdefault("abs", "jax.numpy.abs")  # an array's own, with another slope at 0
    declared: dict[str, ast.Declaration] = {}
    for statement in module.body:
        if isinstance(statement, ast.Declaration):
            declared.setdefault(statement.name, statement)
    sizes = tuple(dict.fromkeys(s for d in declared.values() for s in _sizes(d)))
    sizes = tuple(size for size in sizes if size not in declared)

    once: dict[str, ast.Assign] = {}
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in target_names(target):
                    if counts[name] == 1:
                        once[name] = statement

    owned = frozenset((*counts, *sizes))
    free: tuple[str, ...] = ()
    closed = bool(declared) or cells is not None
    if cells is not None and cells.grow:
        later = tuple(_later(module, owned.union(imports), signatures))
        counts.update(dict.fromkeys(later, 2))
        owned = owned.union(later)
    if not closed:
        free = tuple(_free(module, owned.union(imports), signatures, given))
    bound = owned.union(free)
    constants = {
        name: statement
        for name, statement in once.items()
        if any(isinstance(t, ast.Name) and t.id == name for t in statement.targets)
        and _is_constant(statement.value, bound, signatures, imports)
    }
    top = tuple(counts)
    unneeded = frozenset(_unneeded(module, free))
    named = (top, counts, once, constants, declared, sizes, free, unneeded, imports, closed)
    classes = [*_classes(module)]
    rules = _rules(classes, imports)
    own = _members(module, classes, rules)
    members = frozenset((*own, *modules.methods(imports.values())))
    arrays = None
    if modules.has_arrays(imports.values()) and modules.library(imports.values()) == "torch":
        from gradcli.grammar.meaning.arrays import Arrays

        arrays = Arrays(
            module.body,
            counts,
            _counts_inside,
            lambda function: function_scope(function, None),
            lambda expr, scope: _path(expr, scope, bound, imports),
        )
    return Names(*named, members, rules, signatures, arrays, bound)


def function_scope(function: Function, outer: Scope | None) -> Scope:
    """The scope of a `def`, `lambda` or comprehension: its parameters and what it assigns."""
    kind = "function" if outer is None or outer.kind == "function" else "method"
    while outer is not None and outer.kind == "class":
        outer = outer.outer
    made = function if isinstance(function, ast.Def) else None
    return Scope(frozenset(local_names(function)), outer, kind, made)


def class_scope(made: ast.Class, outer: Scope | None) -> Scope:
    """The scope of the statements in the body of a class."""
    return Scope(frozenset(assigned(made.body)), outer, "class", None)


def local_names(function: Function) -> tuple[str, ...]:
    """Parameters, then the other names that a function assigns, in order."""
    if isinstance(function, ast.Comprehension):
        targets = (name for clause in function.clauses for name in target_names(clause.target))
        return tuple(dict.fromkeys(targets))
    params = (param.name for param in function.params)
    if isinstance(function, ast.Lambda):
        return tuple(dict.fromkeys((*params, *function.names)))
    outer = {*outer_names(function.body)}
    own = (name for name in assigned(function.body) if name not in outer)
    return tuple(dict.fromkeys((*params, *own)))


def outer_names(body: tuple[ast.Statement, ...]) -> Iterator[str]:
    """Names of enclosing scopes that a function assigns, by `global` and `nonlocal`."""
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Outer):
            yield from statement.names
        elif not isinstance(statement, (ast.Def, ast.Class)):
            pending.extend(reversed(_inner(statement)))


def _counts_inside(function: ast.Def, scope: Scope) -> dict[str, int]:
    """How often a function gives a value to each of its names; a parameter has one."""
    counts: dict[str, int] = {}
    params = (param.name for param in function.params)
    for name in (*params, *assigned(function.body), *_assigned_inside(function.body, "nonlocal")):
        if name in scope.names:
            counts[name] = counts.get(name, 0) + 1
    return counts


def _assigned_inside(body: tuple[ast.Statement, ...], kind: str) -> Iterator[str]:
    """Names that functions inside declare "global" or "nonlocal", twice each, so that they are not
    constant.
    """
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Outer) and statement.kind == kind:
            yield from (name for name in statement.names for _ in range(2))
        pending.extend(reversed(_inner(statement)))


def target_names(target: ast.Expr) -> Iterator[str]:
    """Names that an assignment to a target assigns: none for `x[i]` and `x.grad`."""
    pending = [target]
    while pending:
        expr = pending.pop()
        if isinstance(expr, ast.Name):
            yield expr.id
        elif isinstance(expr, (ast.Tuple, ast.List)):
            pending.extend(reversed(expr.items))
        elif isinstance(expr, ast.Starred):
            pending.append(expr.value)


def is_constant(expr: ast.Expr, names: Names) -> bool:
    """True if a top-level expression has only literals, arithmetic, and operations that are not
    random.
    """
    return _is_constant(expr, names._bound, names.signatures, names.imports)


def walk(node: ast.Node, scope: Scope | None = None) -> Iterator[Visit]:
    """A node and all nodes in it whose values are used, in the order of the text. Contexts,
    decorators that are contexts, and assigned names are left out.
    """
    pending: list[Visit] = [(node, "value", scope)]
    while pending:
        visit = node, _, scope = pending.pop()
        yield visit
        kind = type(node)
        if kind is ast.Name or kind is ast.Literal:
            continue
        if isinstance(node, ast.Binary):  # the most common ones save a generator
            pending.append((node.right, "operand", scope))
            pending.append((node.left, "operand", scope))
        elif isinstance(node, ast.Assign) and names_one(node):
            pending.append((node.value, "value", scope))
        elif isinstance(node, ast.Call):
            pending += [(part, "value", scope) for part in reversed((*node.args, *node.keywords))]
            pending.append((node.function, "call", scope))
        else:
            pending += reversed([*_parts(node, scope)])


def names_one(statement: ast.Statement) -> bool:
    """True if a statement assigns to one name."""
    return (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and type(statement.targets[0]) is ast.Name
    )


def _parts(node: ast.Node, scope: Scope | None) -> Iterator[Visit]:
    """The parts of a node, each with its role and scope."""
    match node:
        case ast.Unary(op="-", operand=ast.Literal() as number):
            yield (number, "negated", scope)
        case ast.Attribute(name="__name__" | "__doc__"):
            yield (node.value, "value", scope)  # a built-in has these
        case ast.Attribute():
            yield (node.value, "base", scope)
        case ast.Lambda() | ast.Def():
            for param in node.params:
                if param.default is not None:
                    yield (param.default, "value", scope)
            if isinstance(node, ast.Def):
                for decorator in node.decorators:
                    if is_mark(decorator):
                        yield from _marked_by(decorator, scope)
                    else:
                        yield (decorator, "call", scope)
            inner = function_scope(node, scope)
            for part in node.body if isinstance(node, ast.Def) else (node.body,):
                yield (part, "value", inner)
        case ast.Comprehension():
            inner = function_scope(node, scope)
            for clause in node.clauses:
                first = clause is node.clauses[0]
                yield (clause.iterable, "operand", scope if first else inner)
                yield from _read_in_target(clause.target, inner)
                for condition in clause.conditions:
                    yield (condition, "operand", inner)
            yield (node.element, "value", inner)
        case ast.Delete():
            for target in node.targets:
                yield from _read_in_target(target, scope)
        case ast.Class():
            for base in node.bases:
                yield (base, "class", scope)
            for decorator in node.decorators:
                yield (decorator, "call", scope)
            inner = class_scope(node, scope)
            for statement in node.body:
                yield (statement, "value", inner)
        case ast.With():
            if not is_mark(node.context):
                yield (node.context, "value", scope)
            else:
                yield from _marked_by(node.context, scope)
            if is_mark(node.context) and isinstance(node.context, ast.Call):
                for given in (*node.context.args, *node.context.keywords):
                    yield (given, "value", scope)
            if node.target is not None:
                yield from _read_in_target(node.target, scope)
            for statement in node.body:
                yield (statement, "value", scope)
        case ast.Handler(type=ast.Name() as kind):
            yield (kind, "class", scope)
            for statement in node.body:
                yield (statement, "value", scope)
        case ast.Raise(value=ast.Name() as kind, cause=None):
            yield (kind, "class", scope)
        case ast.Assign():
            for target in node.targets:
                yield from _read_in_target(target, scope)
            yield (node.value, "value", scope)
        case ast.For():
            yield from _read_in_target(node.target, scope)
            yield (node.iterable, "operand", scope)
            for statement in (*node.body, *node.orelse):
                yield (statement, "value", scope)
        case _:
            role = "kind" if _asks_kind(node) else _ROLES.get(type(node), "operand")
            for name in node._fields:
                value = getattr(node, name)
                for part in value if isinstance(value, tuple) else (value,):
                    if isinstance(part, ast.Node):
                        yield (part, role, scope)


def _asks_kind(node: ast.Node) -> bool:
    """True if a comparison asks for the kind of a value: `type(x) == int`."""
    return isinstance(node, ast.Compare) and any(
        isinstance(part, ast.Call)
        and isinstance(part.function, ast.Name)
        and part.function.id == "type"
        for part in (node.first, *node.rest)
    )


MARKS = frozenset(
    {"once_differentiable", "staticmethod", "no_grad", "enable_grad", "inference_mode"}
)
"""Decorators that are no values, as they stand at the end of a dotted name."""


def is_mark(decorator: ast.Expr) -> bool:
    """True for a decorator that calls no function of the program, such as `@torch.no_grad()`."""
    names = dotted(decorator.function if isinstance(decorator, ast.Call) else decorator)
    return names is not None and names[-1] in MARKS


def _marked_by(mark: ast.Expr, scope: Scope | None) -> Iterator[Visit]:
    """The function of a mark such as `@torch.no_grad()`, if it is written with a module."""
    function = mark.function if isinstance(mark, ast.Call) else mark
    if isinstance(function, ast.Attribute):
        yield (function, "mark", scope)


def _read_in_target(target: ast.Expr, scope: Scope | None) -> Iterator[Visit]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for item in target.items:
            yield from _read_in_target(item, scope)
    elif isinstance(target, ast.Starred):
        yield from _read_in_target(target.value, scope)
    elif not isinstance(target, ast.Name):
        yield (target, "value", scope)


def assigned(body: tuple[ast.Statement, ...]) -> Iterator[str]:
    """Names that statements assign in their own scope, in order, with repetitions. Functions,
    classes and declarations assign their names too.
    """
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        match statement:
            case ast.Assign():
                for target in statement.targets:
                    yield from target_names(target)
            case ast.Update():
                yield from target_names(statement.target)
            case ast.For():
                yield from target_names(statement.target)
                pending.extend(reversed((*statement.body, *statement.orelse)))
            case ast.If() | ast.While():
                pending.extend(reversed((*statement.body, *statement.orelse)))
            case ast.With():
                if statement.target is not None:
                    yield from target_names(statement.target)
                pending.extend(reversed(statement.body))
            case ast.Try():
                pending.extend(reversed((*statement.orelse, *statement.last)))
                for handler in reversed(statement.handlers):
                    pending.extend(reversed(handler.body))
                pending.extend(reversed(statement.body))
                yield from (handler.name for handler in statement.handlers if handler.name)
            case ast.Def() | ast.Class() | ast.Declaration():
                yield statement.name
            case ast.Binds():
                yield from statement.names
            case _:
                pass


def annotated(body: tuple[ast.Statement, ...]) -> list[str]:
    """Names with a type annotation in the body of a class, in order."""
    found = []
    for statement in body:
        if isinstance(statement, ast.Declared):
            found.append(statement.name)
        elif isinstance(statement, ast.Annotated) and isinstance(statement.targets[0], ast.Name):
            found.append(statement.targets[0].id)
    return list(dict.fromkeys(found))


def _inner(statement: ast.Statement) -> tuple[ast.Statement, ...]:
    """The statements in the blocks of a statement, also of functions and classes."""
    if isinstance(statement, (ast.Assign, ast.ExprStatement, ast.Update)):  # most are
        return ()
    match statement:
        case ast.If() | ast.While() | ast.For():
            return (*statement.body, *statement.orelse)
        case ast.With() | ast.Def() | ast.Class():
            return statement.body
        case ast.Try():
            handled = (s for handler in statement.handlers for s in handler.body)
            return (*statement.body, *handled, *statement.orelse, *statement.last)
    return ()


def _classes(module: ast.Module) -> Iterator[ast.Class]:
    """The classes that a program defines anywhere, in order."""
    pending = list(reversed(module.body))
    while pending:
        statement = pending.pop()
        pending += reversed(_inner(statement))
        if isinstance(statement, ast.Class):
            yield statement


def _rules(classes: Iterable[ast.Class], imports: Mapping[str, str]) -> frozenset[str]:
    """Names of the classes that are own differentiable functions."""
    found: set[str] = set()
    for made in classes:
        bases = {full_path(base, lambda name: False, imports) for base in made.bases}
        if not (RULE_BASES.isdisjoint(bases) and found.isdisjoint(bases)):
            found.add(made.name)
    return frozenset(found)


def _members(
    module: ast.Module, classes: Iterable[ast.Class], rules: frozenset[str]
) -> Iterator[str]:
    """Names of attributes and methods, if the program has classes with any."""
    found = False
    for made in classes:
        own = [name for name in assigned(made.body) if name not in METHODS_OF_RULES]
        if made.name not in rules or own:
            found = True
            yield from assigned(made.body)
        yield from annotated(made.body)
    if found:
        yield from assigned_attributes(module)


def assigned_attributes(module: ast.Module) -> Iterator[str]:
    """Names of attributes that a program assigns."""
    for node, _, _ in walk(module):
        targets: tuple[ast.Expr, ...] = ()
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, (ast.Update, ast.For, ast.With)) and node.target is not None:
            targets = (node.target,)
        pending = list(targets)
        while pending:
            target = pending.pop()
            if isinstance(target, ast.Attribute):
                yield target.name
            elif isinstance(target, (ast.Tuple, ast.List)):
                pending += target.items
            elif isinstance(target, ast.Starred):
                pending.append(target.value)
        if isinstance(node, ast.Call):
            yield from _registered(node)


_REGISTERING = frozenset(
    {"add_module", "register_buffer", "register_module", "register_parameter", "setattr"}
)


_DICTIONARIES = frozenset({"ModuleDict", "ParameterDict"})
"""Modules with an attribute for each key of the dictionary that makes them."""


def _registered(call: ast.Call) -> Iterator[str]:
    """The name of the attribute that a call such as `setattr(x, "name", value)` sets, or those of
    `ModuleDict({"name": module})`.
    """
    names = dotted(call.function)
    if (names[-1] if names else getattr(call.function, "id", "")) in _DICTIONARIES and call.args:
        given = call.args[0]
        if isinstance(given, ast.Dict):
            keys = (pair.key for pair in given.pairs)
            yield from (
                k.value for k in keys if isinstance(k, ast.Literal) and type(k.value) is str
            )
        elif isinstance(given, ast.Call):  # `dict(name=module)`
            yield from (keyword.name for keyword in given.keywords if keyword.name)
    if (names[-1] if names else getattr(call.function, "name", "")) in _REGISTERING:
        literals = (a.value for a in call.args if isinstance(a, ast.Literal))
        yield from (value for value in literals if isinstance(value, str))


def names_later(node: ast.Node) -> bool:
    """True if a node sets an attribute whose name is known only at run time."""
    if isinstance(node, ast.Class):
        return any(isinstance(s, ast.Def) and s.name == "__getattr__" for s in node.body)
    if isinstance(node, ast.Call) and getattr(node.function, "id", "") == "setattr":
        return len(node.args) > 1 and not isinstance(node.args[1], ast.Literal)
    return sets_by_key(node)


def sets_by_key(node: ast.Node) -> bool:
    """True if a node is `x.__dict__[name] = value`."""
    targets = node.targets if isinstance(node, ast.Assign) else ()
    return any(
        isinstance(t, ast.Index) and getattr(t.value, "name", "") == "__dict__" for t in targets
    )


def _imports(body: tuple[ast.Statement, ...]) -> Iterator[tuple[str, str]]:
    """Names that imports bind anywhere in the program, with their full paths."""
    pending = list(reversed(body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.Import):
            module = statement.module
            for name, alias in statement.names:
                if not name:
                    root = module.partition(".")[0]
                    yield (alias, module) if alias else (root, root)
                elif name != "*" and module != "__future__":
                    yield alias or name, f"{module}.{name}"
        else:
            pending.extend(reversed(_inner(statement)))


def imported_whole(body: tuple[ast.Statement, ...]) -> Iterator[str]:
    """Modules of which a program imports all names."""
    for statement in body:
        if isinstance(statement, ast.Import) and ("*", "") in statement.names:
            yield statement.module


def _sizes(declaration: ast.Declaration) -> Iterator[str]:
    if declaration.type is not None:
        for size in declaration.type.sizes or ():
            if isinstance(size, str):
                yield size


def _free(
    module: ast.Module, owned: frozenset[str], signatures: Signatures, given: frozenset[str]
) -> Iterator[str]:
    found: dict[str, bool] = {}  # by name: True if it is read other than before a `.`
    for node, role, scope in walk(module):
        if not isinstance(node, ast.Name) or role in ("call", "class") or node.id in owned:
            continue
        if scope is not None and scope.binds(node.id):
            continue
        if node.id not in given and (node.id in signatures or _is_foreign(node.id)):
            continue
        if signatures.in_library(node.id):
            continue
        found[node.id] = found.get(node.id, False) or role != "base"
    for name, as_value in found.items():
        if as_value or name in given or not (name in PREFIXES or _is_module(name)):
            yield name


def _later(module: ast.Module, owned: frozenset[str], signatures: Signatures) -> Iterator[str]:
    """Names that nobody assigns yet and that functions read, which look them up when they run."""
    found: dict[str, None] = {}
    for node, role, scope in walk(module):
        if not isinstance(node, ast.Name) or scope is None or scope.kind == "class":
            continue
        name = node.id
        if name in owned or scope.binds(name) or name in signatures or name == "super":
            continue
        if name in PREFIXES or name in RULE_BASES or signatures.in_library(name):
            continue
        if not (_is_foreign(name) or (role == "base" and _is_module(name))):
            found[name] = None
    yield from found


def _unneeded(module: ast.Module, free: tuple[str, ...]) -> Iterator[str]:
    """Free names that are read only in functions which the program names nowhere else."""
    nodes = [node for node, _, _ in walk(module)] if free else []
    bodies = [_body(node) for node in nodes if isinstance(node, ast.Def)]
    if not bodies:
        return
    said: dict[str, list[int]] = {}
    for node in nodes:
        if (name := mentioned(node)) is not None:
            said.setdefault(name, []).append(node.span.start)

    def is_named(made: ast.Def, body: Span) -> bool:
        plain = all(is_mark(d) or dotted(d) in _OF_CLASSES for d in made.decorators)
        return not plain or any(not _holds(body, at) for at in said.get(made.name, ()))

    alone = [(body, is_named(made, body)) for made, body in bodies]
    for name in free:
        around = ([b for b in alone if _holds(b[0], at)] for at in said.get(name, ()))
        if all(found and not min(found, key=_length)[1] for found in around):
            yield name


_OF_CLASSES = (("property",), ("classmethod",))


def _body(made: ast.Def) -> tuple[ast.Def, Span]:
    return made, Span(made.body[0].span.start, made.body[-1].span.end)


def mentioned(node: ast.Node) -> str | None:
    """The name that a node may stand for: also an attribute, and a text, by `getattr`."""
    match node:
        case ast.Name(id=name) | ast.Attribute(name=name) | ast.Literal(value=str(name)):
            return name
    return None


def _holds(body: Span, at: int) -> bool:
    return body.start <= at < body.end


def _length(part: tuple[Span, bool]) -> int:
    return part[0].end - part[0].start


def _is_module(name: str) -> bool:
    """True if a name that only occurs before a `.` is a module, not an input."""
    from gradcli.grammar.meaning import foreign

    return modules.is_module(f"torch.{name}") or foreign.module(name)


def _is_foreign(name: str) -> bool:
    """True if a name is a constant of another language, not an input."""
    from gradcli.grammar.meaning import foreign

    return foreign.constant(name) is not None


def _is_constant(
    expr: ast.Expr, bound: frozenset[str], signatures: Signatures, imports: Mapping[str, str]
) -> bool:
    pending: list[ast.Expr] = [expr]
    while pending:
        node = pending.pop()
        match node:
            case ast.Literal():
                pass
            case ast.Unary():
                pending.append(node.operand)
            case ast.Binary():
                pending += (node.left, node.right)
            case ast.Compare():
                pending += (node.first, *node.rest)
            case ast.Boolean():
                pending += node.values
            case ast.List() | ast.Tuple():
                pending += node.items
            case ast.Name() | ast.Attribute():
                name = builtin_name(node, bound.__contains__, signatures, imports)
                if name is None or not signatures[name].constant:
                    return False
            case ast.Call():
                name = builtin_name(node.function, bound.__contains__, signatures, imports)
                if name is None and isinstance(node.function, ast.Attribute):
                    name = node.function.name
                    if name not in signatures or not signatures[name].method:
                        return False
                    pending.append(node.function.value)
                if name is None or signatures[name].constant or not signatures[name].pure:
                    return False
                pending += node.args
                pending += (keyword.value for keyword in node.keywords)
            case _:
                return False
    return True
