"""Check that statements are in allowed places and have the required shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gradcli.errors import Label, nearest
from gradcli.grammar.meaning import contexts, modules
from gradcli.grammar.meaning.names import (
    IN_PLACE,
    METHODS_OF_RULES,
    RULE_BASES,
    Names,
    assigned,
    class_scope,
    function_scope,
    names_one,
)
from gradcli.grammar.meaning.scopes import Scope
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault
from gradcli.record import Record
from gradcli.source import Source, Span

_TYPES = ("float", "int", "bool")
SPECIAL = frozenset(
    f"__{name}__"
    for name in (
        *(
            "init",
            "post_init",
            "call",
            "repr",
            "str",
            "len",
            "bool",
            "iter",
            "next",
            "contains",
            "hash",
        ),
        *("getitem", "setitem", "delitem", "getattr", "setattr"),
        *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv"),
        *("rtruediv", "floordiv", "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "rmatmul"),
        *("neg", "pos", "invert", "abs", "and", "rand", "or", "ror", "xor", "rxor"),
        *("lshift", "rlshift", "rshift", "rrshift"),
        *("eq", "ne", "lt", "le", "gt", "ge", "float", "int", "enter", "exit"),
        *("array_priority", "slots"),
    )
).union(IN_PLACE)
"""Methods that Python calls by themselves, which a class may have, and two attributes that change
nothing: operators ask an object before an array in any case, and attributes need no room.
"""


MOST_NESTED = 300  # nested statements; an `elif` counts as nested in its `if`


MOST_BLOCKS = 20
"""Nested `with` and `try` that Python compiles; what handles an error takes one more."""
_MOST_BLOCKS = {ast.With: MOST_BLOCKS, ast.Try: MOST_BLOCKS - 1}


class _Where(Record):
    """The surroundings of a statement."""

    __slots__ = ("top", "loop", "function", "in_class", "scope", "depth", "blocks")
    top: bool
    loop: bool
    function: bool
    in_class: bool
    scope: Scope | None
    depth: int
    blocks: int

    def within(self, **changes: Any) -> _Where:
        """The surroundings of a statement in a block of this one."""
        around = {name: getattr(self, name) for name in self._fields}
        inside = {"top": False, "in_class": False, "depth": self.depth + 1}
        return _Where(**{**around, **inside, **changes})


def placement_faults(module: ast.Module, names: Names, source: Source) -> Iterator[Fault]:
    """Faults of the statements of a program, except in expressions."""
    outermost = _Where(
        top=True, loop=False, function=False, in_class=False, scope=None, depth=0, blocks=0
    )
    pending = [(statement, outermost) for statement in reversed(module.body)]
    while pending:
        statement, where = pending.pop()
        if names_one(statement):  # most are
            continue
        yield from _statement(statement, where, names, source)
        inside = list(_inner(statement, where))
        most = _MOST_BLOCKS.get(type(statement))
        if most is not None and where.blocks >= most:
            start = statement.span.start
            message = "too many statically nested blocks: `with` and `try`"
            note = f"Python nests them {MOST_BLOCKS} deep"
            help = "put the inner ones into a function"
            word = len("with" if isinstance(statement, ast.With) else "try")
            yield Fault("nested-too-deep", message, start, start + word, notes=(note,), help=help)
        elif inside and where.depth == MOST_NESTED:
            start = statement.span.start
            message = f"statements are nested more than {MOST_NESTED} deep"
            note = "each `elif` is a level more than the one before"
            yield Fault("nested-too-deep", message, start, start + 1, notes=(note,))
        else:
            pending += reversed(inside)


def _inner(statement: ast.Statement, where: _Where) -> Iterator[tuple[ast.Statement, _Where]]:
    body: tuple[ast.Statement, ...]
    match statement:
        case ast.If():
            body, around = (*statement.body, *statement.orelse), where.within()
        case ast.While() | ast.For():
            yield from ((inner, where.within()) for inner in statement.orelse)
            body, around = statement.body, where.within(loop=True)
        case ast.With():
            body, around = statement.body, where.within(blocks=where.blocks + 1)
        case ast.Try():
            body = (*statement.body, *(s for h in statement.handlers for s in h.body))
            body = (*body, *statement.orelse, *statement.last)
            around = where.within(blocks=where.blocks + 1)
        case ast.Def():
            scope = function_scope(statement, where.scope)
            body = statement.body
            around = where.within(loop=False, function=True, scope=scope, blocks=0)
        case ast.Class():
            scope = class_scope(statement, where.scope)
            around = where.within(loop=False, function=False, in_class=True, scope=scope, blocks=0)
            body = statement.body
        case _:
            return
    yield from ((inner, around) for inner in body)


def _statement(
    statement: ast.Statement, where: _Where, names: Names, source: Source
) -> Iterator[Fault]:
    match statement:
        case ast.Break() | ast.Continue():
            if not where.loop:
                word = "break" if isinstance(statement, ast.Break) else "continue"
                message = f"`{word}` is outside a loop"
                yield Fault("misplaced-statement", message, *statement.span)
        case ast.Return():
            if not where.function:
                start = statement.span.start
                message = "`return` is outside a function"
                help = "the last expression of a program is its result"
                yield Fault("misplaced-statement", message, start, start + len("return"), help=help)
        case ast.Outer():
            yield from _outer(statement, where)
        case ast.Declaration():
            yield from _declaration(statement, where, names)
            if statement.bounds is not None or isinstance(statement.default, ast.Compare):
                from gradcli.grammar.meaning import bounds

                yield from bounds.faults(statement, source.text)
        case ast.Assign():
            for target in statement.targets:
                instead = _mended(statement, target, source)
                yield from target_faults(target, where.scope, names, instead)
        case ast.For():
            yield from target_faults(statement.target, where.scope, names)
        case ast.Delete():
            for target in statement.targets:
                yield from _deleted(target, where, names)
        case ast.Update():
            if isinstance(statement.target, (ast.Tuple, ast.List)):
                message = f"`{statement.op}=` has one target, not several"
                yield Fault("bad-assignment", message, *statement.target.span)
            else:
                yield from target_faults(statement.target, where.scope, names)
        case ast.With():
            yield from _context(statement, where, names)
        case ast.Class():
            yield from _class(statement, where, names)
        case ast.Def():
            yield from _decorators(statement, where, names)
        case ast.Try():
            yield from _handlers(statement)
        case ast.Import():
            if not modules.is_known(statement.module):
                message = f"there is no module `{statement.module}`"
                note = "imports name the built-ins only: those of `torch`, `math`, `numpy`, `jax`"
                yield Fault("bad-import", message, *statement.span, notes=(note,))
            elif meant := modules.misspelt(statement.module):
                message = f"there is no module `{statement.module}`"
                help = f"did you mean `{meant}`?"
                yield Fault("bad-import", message, *statement.span, help=help)
            else:
                yield from _imported(statement, names)
        case _:
            pass


def _imported(statement: ast.Import, names: Names) -> Iterator[Fault]:
    """Faults of the names that are imported from a module."""
    from gradcli.grammar.meaning import foreign

    module, signatures = statement.module, names.signatures
    for name, alias in statement.names:
        path = f"{module}.{name}"
        known = (
            name in ("", "*", "once_differentiable", *contexts.NAMES)
            or path in RULE_BASES
            or modules.in_library(path, signatures) is not None
            or modules.has(module, name, signatures)
        )
        of_torch = (
            module.startswith("torch") or modules.is_module(module) or modules.is_module(path)
        )
        is_bound = known and not of_torch and names.is_bound(alias or name)
        if is_bound and names.value_of(path, statement.span) is None:
            message = f"`{name}` of `{module}` is not part of the language"
            note = f"`{alias or name}` would be it from here on"
            yield Fault("bad-import", message, *statement.span, notes=(note,))
        if not known:
            message = f"there is no `{name}` in `{module}`"
            help = foreign.way_out(path) or nearest(name, modules.names(module, signatures))
            yield Fault("bad-import", message, *statement.span, help=help)


def _declaration(statement: ast.Declaration, where: _Where, names: Names) -> Iterator[Fault]:
    name, start = statement.name, statement.span.start
    help: str | None
    if not where.top:
        message = f"`{statement.kind}` is inside a block or function"
        help = "declare inputs at top level"
        yield Fault("bad-declaration", message, start, start + len(statement.kind), help=help)
    first = names.declared.get(name)
    if where.top and first is not statement and first is not None:
        label = Label(Span(first.span.start, first.span.start + len(first.kind)), "the first time")
        message = f"`{name}` is declared twice"
        yield Fault("bad-declaration", message, *statement.span, labels=(label,))
    if statement.type is not None and statement.type.kind not in _TYPES:
        message = f"there is no type `{statement.type.kind}`"
        note = "the types are `float`, `int` and `bool`, and these with sizes: `float[n, 3]`"
        help = nearest(statement.type.kind, _TYPES)
        yield Fault("bad-declaration", message, *statement.type.span, notes=(note,), help=help)


def _mended(statement: ast.Assign, target: ast.Expr, source: Source) -> tuple[Span, str] | None:
    """The corrected text for `f(x) = ...` and `3 = x`."""
    left, value = (source.text[slice(*part.span)] for part in (target, statement.value))
    if len(statement.targets) > 1:
        return None
    if isinstance(target, ast.Literal) and isinstance(statement.value, ast.Name):
        return statement.span, f"{value} = {left}"
    if not (isinstance(target, ast.Call) and isinstance(target.function, ast.Name)):
        return None
    if target.keywords or not all(isinstance(a, ast.Name) for a in target.args):
        return None
    return statement.span, f"def {left}: return {value}"


def target_faults(
    target: ast.Expr, scope: Scope | None, names: Names, instead: tuple[Span, str] | None = None
) -> Iterator[Fault]:
    """Faults of a target of an assignment."""
    pending = [target]
    while pending:
        expr = pending.pop()
        if isinstance(expr, (ast.Tuple, ast.List)):
            stars = [item for item in expr.items if isinstance(item, ast.Starred)]
            pending += [i.value if isinstance(i, ast.Starred) else i for i in expr.items[::-1]]
            if not expr.items:
                yield Fault("bad-assignment", "there is no target to assign to", *expr.span)
            for star in stars[1:]:
                message = "two targets with a `*` cannot share the items"
                yield Fault("bad-assignment", message, *star.span)
        elif isinstance(expr, ast.Attribute) and names.builtin(expr, scope) is not None:
            message = f"`{expr.name}` is part of the language and cannot be assigned to"
            yield Fault("bad-assignment", message, *expr.span)
        elif not isinstance(expr, (ast.Name, ast.Index, ast.Attribute)):
            message = f"{_kind(expr)} cannot be assigned to"
            help = "to compare write `==`" if isinstance(expr, ast.Compare) else None
            yield Fault("bad-assignment", message, *expr.span, help=help, instead=instead)


def _outer(statement: ast.Outer, where: _Where) -> Iterator[Fault]:
    """Faults of the names of `global` and `nonlocal`."""
    if statement.kind == "global":
        return
    around = None if where.scope is None else where.scope.outer
    for name in statement.names:
        if around is None or not around.binds(name):
            message = f"no function around has a name `{name}`"
            help = f"write `global {name}`" if where.function else None
            yield Fault("unknown-name", message, *statement.span, help=help)


def _deleted(target: ast.Expr, where: _Where, names: Names) -> Iterator[Fault]:
    """Faults of a target of `del`."""
    if isinstance(target, (ast.Index, ast.Attribute)):
        return
    if not isinstance(target, ast.Name):
        yield Fault("bad-assignment", "`del` takes names, items and attributes", *target.span)
        return
    own = where.scope.names if where.scope is not None else frozenset(names.top)
    if target.id not in own:
        message = f"`{target.id}` is assigned nowhere in the scope of this `del`"
        yield Fault("unknown-name", message, *target.span)


def _kind(expr: ast.Expr) -> str:
    match expr:
        case ast.Literal() | ast.FString():
            return "a literal"
        case ast.Call():
            return "the result of a call"
        case ast.Lambda():
            return "a function"
        case _:
            return "the result of an operator"


def _context(statement: ast.With, where: _Where, names: Names) -> Iterator[Fault]:
    context = statement.context
    if statement.target is not None:
        yield from target_faults(statement.target, where.scope, names)
    if contexts.mode(context, names, where.scope) is None:
        return
    if not isinstance(context, ast.Call):
        message = "the context is a call"
        yield Fault("bad-context", message, *context.span, help="put `()` after it")
    elif (context.args or context.keywords) and not contexts.is_call(context):
        yield Fault("wrong-arity", "a context takes no arguments", *context.span)


def _class(statement: ast.Class, where: _Where, names: Names) -> Iterator[Fault]:
    if not names.is_rule(statement, where.scope):
        yield from _members(statement)
        return
    methods: dict[str, ast.Def] = {}
    for part in statement.body:
        if isinstance(part, ast.Def):
            yield from _method(part, methods)
            for decorator in part.decorators:
                static = names.path(decorator, where.scope) == "staticmethod"
                known = static or contexts.is_once(decorator)
                if not known and contexts.mode(decorator, names, where.scope) is None:
                    message = "this decorator is not supported here"
                    note = "a method may have `@staticmethod` or `@no_grad()` before it"
                    yield Fault("bad-decorator", message, *decorator.span, notes=(note,))
            methods[part.name] = part
            if {"backward", "vjp"} <= methods.keys():
                message = "`backward` and `vjp` are two names of one method"
                yield Fault("duplicate-name", message, *part.span)
        elif not isinstance(part, (ast.Pass, ast.Assign)) and not _is_docstring(part):
            message = "the body of a class holds its methods and attributes"
            yield Fault("bad-class", message, *part.span)
    inherits = any(names.path(base, where.scope) not in RULE_BASES for base in statement.bases)
    if "forward" not in methods and not inherits:
        end = statement.span.start + len("class")
        message = f"`{statement.name}` has no `forward`"
        yield Fault("bad-class", message, statement.span.start, end)


def _members(statement: ast.Class) -> Iterator[Fault]:
    for part in statement.body:
        fits = isinstance(part, (ast.Def, ast.Class, ast.Pass, ast.Assign))
        if not fits and not _is_docstring(part):
            message = "the body of a class holds its methods and attributes"
            yield Fault("bad-class", message, *part.span)
        for name in assigned((part,)):
            if name.startswith("__") and name.endswith("__") and name not in SPECIAL:
                message = f"`{name}` of a class is not supported here"
                yield Fault("bad-class", message, *part.span, help=nearest(name, SPECIAL))


def _handlers(statement: ast.Try) -> Iterator[Fault]:
    for handler in statement.handlers[:-1]:
        if handler.type is None:
            message = "`except:` takes all exceptions and must be the last"
            start = handler.span.start
            yield Fault("misplaced-statement", message, start, start + len("except"))


def _method(method: ast.Def, before: dict[str, ast.Def]) -> Iterator[Fault]:
    help = nearest(method.name, METHODS_OF_RULES)
    if method.name not in METHODS_OF_RULES and help is not None:
        message = f"a `Function` has no method `{method.name}`"
        note = "its methods are `forward`, `setup_context`, `backward` (or `vjp`) and `jvp`"
        yield Fault("bad-class", message, *method.span, notes=(note,), help=help)
    if method.name in before:
        message = f"`{method.name}` is defined twice"
        yield Fault("duplicate-name", message, *method.span)
    if not method.params and method.name in METHODS_OF_RULES:
        message = f"`{method.name}` has no parameter for its context"
        help = f"write `def {method.name}(ctx, ...):`"
        yield Fault("bad-class", message, *method.span, help=help)


def _is_docstring(statement: ast.Statement) -> bool:
    return (
        isinstance(statement, ast.ExprStatement)
        and isinstance(statement.value, ast.Literal)
        and isinstance(statement.value.value, str)
    )


def _decorators(statement: ast.Def, where: _Where, names: Names) -> Iterator[Fault]:
    for decorator in statement.decorators:
        if not where.in_class and names.path(decorator, where.scope) == "staticmethod":
            message = "`@staticmethod` is not supported here"
            note = "it stands before a method of a class"
            yield Fault("bad-decorator", message, *decorator.span, notes=(note,))


def parameter_faults(params: tuple[ast.Param, ...]) -> Iterator[Fault]:
    """Faults of the parameters of a function."""
    seen: set[str] = set()
    optional: ast.Param | None = None
    for param in params:
        if param.name in seen:
            message = f"the parameter `{param.name}` is named twice"
            yield Fault("duplicate-name", message, *param.span)
        seen.add(param.name)
        if param.kind:
            continue
        if param.default is not None:
            optional = param
        elif optional is not None:
            message = f"`{param.name}` has no default and follows one that has"
            yield Fault("syntax-error", message, *param.span)
