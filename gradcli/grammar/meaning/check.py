"""Checks of names, calls and placement before anything runs. All findings come at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from gradcli.errors import Diagnostic, Label, nearest
from gradcli.grammar.meaning import contexts, modules
from gradcli.grammar.meaning.arity import (
    Callee,
    arity_faults,
    fits_by_place,
    of_builtin,
    of_function,
    parted,
)
from gradcli.grammar.meaning.names import (
    PREFIXES,
    RULE_BASES,
    Names,
    analyse,
    assigned,
    assigned_attributes,
    dotted,
    function_scope,
    is_mark,
    mentioned,
    names_later,
    outer_names,
    walk,
)
from gradcli.grammar.meaning.placement import parameter_faults, placement_faults, target_faults
from gradcli.grammar.meaning.scopes import Scope
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.faults import Fault
from gradcli.grammar.syntax.literals import LARGEST, too_large
from gradcli.grammar.syntax.parser import reads
from gradcli.source import Source, Span

if TYPE_CHECKING:
    from gradcli.ir.signature import Signatures


def check(
    module: ast.Module,
    source: Source,
    signatures: Signatures,
    given: frozenset[str],
    names: Names | None = None,
) -> list[Diagnostic]:
    """All faults of a program's names, calls and placement, in the order of the text.

    Args:
        module: The program.
        source: Its text.
        signatures: The built-ins.
        given: Names given from outside.
        names: The result of `analyse`, if it is known already.
    """
    if names is None:
        names = analyse(module, signatures, given)
    faults = [
        *placement_faults(module, names, source),
        *_Expressions(module, names, source).faults(),
        *_too_early(module.body, None, names, ()),
    ]
    tried = list(_tried(module)) if faults else []
    faults = [f for f in faults if f.code not in _CATCHABLE or not any(_is_in(f, s) for s in tried)]
    targets = [fault.span for fault in faults if fault.code == "bad-assignment"]
    faults = [f for f in faults if f.span in targets or not any(_is_in(f, t) for t in targets)]
    faults.sort(key=lambda fault: fault.span)
    if any(fault.instead is not None for fault in faults):
        from gradcli.grammar.syntax.mending import offer

        offer(faults, source.text, reads)
    return [fault.diagnostic(source) for fault in faults]


_CATCHABLE = frozenset({"bad-operand", "not-callable", "bad-attribute", "wrong-arity"})
"""Faults that are errors of a run as well: a program may provoke them in a `try`."""


def _tried(module: ast.Module) -> Iterator[Span]:
    """The statements whose errors a handler of the program may catch."""
    for node, _, _ in walk(module):
        if isinstance(node, ast.Try) and node.handlers:
            yield from (statement.span for statement in node.body)


def _is_in(fault: Fault, span: Span) -> bool:
    return span.start <= fault.span.start and fault.span.end <= span.end


_FAULTLESS = (ast.Assign, ast.Update, ast.ExprStatement, ast.Compare, ast.Unary)
"""Common nodes that have no faults of their own."""


class _Expressions:
    """Findings in the expressions of a program."""

    def __init__(self, module: ast.Module, names: Names, source: Source) -> None:
        self.source = source
        self.module = module
        self.names = names
        self.functions = dict(_functions(module, names))

    @cached_property
    def own_attributes(self) -> frozenset[str]:
        """Attributes that the program itself sets, such as those of its `ctx`."""
        return self.names.members.union(assigned_attributes(self.module))

    @cached_property
    def module_names(self) -> frozenset[str]:
        """Names to which the program assigns a module."""
        return frozenset(
            name
            for name, statement in self.names.once.items()
            if modules.is_package(self.names.path(statement.value) or "")
        )

    @cached_property
    def has_objects(self) -> bool:
        """True if there may be objects: of the program's classes, the library's, or exceptions."""
        return bool(self.names.members) or any(
            isinstance(node, (ast.Try, ast.Raise))
            or (isinstance(node, (ast.Name, ast.Attribute)) and self.names.imported(node, scope))
            for node, _, scope in walk(self.module)
        )

    @cached_property
    def never_reached(self) -> frozenset[int]:
        """Ids of the nodes in functions and methods that the program mentions nowhere, or only in
        others of these.
        """
        nodes = [node for node, _, _ in walk(self.module)]
        owners: dict[int, ast.Def] = {}  # of each node the innermost such function
        for f in nodes:
            if isinstance(f, ast.Def) and self.is_plain(f) and not self.is_asked(f.name):
                owners.update((id(node), f) for node, _, _ in walk(f) if node is not f)
        said: dict[int | None, set[str | None]] = {}
        for node in nodes:
            owner = owners.get(id(node))
            key = None if owner is None else id(owner)
            said.setdefault(key, set()).add(mentioned(node))
        named: dict[str | None, set[int]] = {}
        for f in owners.values():
            named.setdefault(f.name, set()).add(id(f))
        pending = [*said.get(None, ())]
        while pending:
            for reached in named.pop(pending.pop(), ()):
                pending += said.get(reached, ())
        return frozenset(node for node, owner in owners.items() if owner.name in named)

    def is_plain(self, f: ast.Def) -> bool:
        """True if no decorator calls a function: marks such as `no_grad` only wrap it."""
        return all(map(is_mark, f.decorators))

    def is_asked(self, method: str) -> bool:
        """True if Python or the library may call a method of that name."""
        return method.startswith("__") or self.names.signatures.is_member(method)

    @cached_property
    def names_later(self) -> bool:
        """True if some attributes may get their names only when the program runs."""
        paths = (
            self.names.imported(node, scope)
            for node, _, scope in walk(self.module)
            if isinstance(node, (ast.Name, ast.Attribute))
        )
        return any(names_later(node) for node, _, _ in walk(self.module)) or any(
            path is not None and self.names.signatures.names_later(path) for path in paths
        )

    def faults(self) -> Iterator[Fault]:
        """The faults, in no order."""
        is_bound = self.names.is_bound
        faultless: set[tuple[str, str]] = set()  # free names in their roles
        for node, role, scope in walk(self.module):
            if isinstance(node, ast.Name):
                if is_bound(node.id, scope) or (node.id, role) in faultless:
                    continue
                found = [*self.free_name(node, role, scope)]
                yield from found
                if not found:
                    faultless.add((node.id, role))
            elif isinstance(node, ast.Binary):
                if node.op == "^" or _is_string(node.left) or _is_string(node.right):
                    yield from _operands(node, self.source.text)
            elif isinstance(node, ast.Literal):
                if type(node.value) is int and node.value > LARGEST and role != "negated":
                    yield too_large(node.span, str(node.value))
            elif not isinstance(node, _FAULTLESS):
                yield from self.of_node(node, role, scope)

    def free_name(self, node: ast.Name, role: str, scope: Scope | None) -> Iterator[Fault]:
        """Faults of a name that is not bound where it stands."""
        if role != "class" and self.is_base(node, scope):
            yield _base_as_value(node)
        elif not self.is_known(node, scope):
            yield from self.name(node, role, scope)

    def of_node(self, node: ast.Node, role: str, scope: Scope | None) -> Iterator[Fault]:
        """Faults of a node that is neither a name nor an operator."""
        match node:
            case ast.Attribute() if role != "class" and self.is_base(node, scope):
                yield _base_as_value(node)
            case ast.Attribute():
                yield from self.attribute(node, role, scope)
            case ast.Call():
                yield from self.call(node, scope)
            case ast.Lambda():
                yield from parameter_faults(node.params)
            case ast.Named():
                yield from target_faults(node.target, scope, self.names)
            case ast.Comprehension():
                for clause in node.clauses:
                    yield from target_faults(clause.target, scope, self.names)
                for part in _yields(node.element):
                    message = "`yield` is not allowed in a comprehension"
                    start = part.span.start
                    yield Fault("misplaced-statement", message, start, start + len("yield"))
            case ast.Yield() | ast.YieldFrom() if scope is None or scope.kind == "class":
                start = node.span.start
                message = "`yield` is outside a function"
                yield Fault("misplaced-statement", message, start, start + len("yield"))
            case ast.Def():
                yield from parameter_faults(node.params)
                inner = function_scope(node, scope)
                yield from _too_early(node.body, inner, self.names, node.params)
            case _:
                pass

    def name(self, node: ast.Name, role: str, scope: Scope | None) -> Iterator[Fault]:
        """Faults of a name that the program does not define."""
        name = node.id
        builtin = self.names.builtin(node, scope)
        if builtin is not None:
            yield from self.use(builtin, node, role)
        elif role == "base" and self.is_module(name):
            return
        elif self.is_module(name):
            module, _, imported = self.names.imports.get(name, name).rpartition(".")
            path = f"{module}.{imported}" if module else imported
            if module and not modules.is_package(path):
                message = f"`{imported}` of `{module}` is not part of the language"
                yield Fault("unknown-name", message, *node.span)
                return
            yield _of_module(name, path, node.span)
        else:
            yield self.unknown(node, role, scope)

    def attribute(self, node: ast.Attribute, role: str, scope: Scope | None) -> Iterator[Fault]:
        path = self.names.path(node, scope)
        if role == "mark":
            in_torch = path is not None and path.rpartition(".")[0] in modules.TORCH
            if path is not None and not in_torch and self.is_module(_root(node)):
                yield self.unknown_in_module(node, path)
            return
        if path is not None and self.is_module(_root(node)):
            if role == "base" or self.is_known(node, scope):
                return
            builtin = self.names.builtin(node, scope)
            if builtin is not None:
                yield from self.use(builtin, node, role)
                return
            if role == "call" and self.names.twin(node, scope) is not None:
                return
            if not self.is_behind(node.value, scope):
                yield self.unknown_in_module(node, path)
                return
        yield from self.member(node, role, scope)

    def use(self, builtin: str, node: ast.Expr, role: str) -> Iterator[Fault]:
        """A fault if a built-in function is an operand: it can only be called or passed on."""
        if self.names.signatures[builtin].constant:
            return
        plain = isinstance(node, ast.Name)
        if role not in ("operand", "base") and not (role == "compared" and plain):
            return  # `x.dtype == torch.float` compares with a type
        message = f"`{builtin}` is a built-in function here, not a value"
        help: str | None
        closed = self.names.closed
        help = f"declare it: `input {builtin}`" if closed else f"give it a value: `{builtin}=...`"
        yield Fault("builtin-as-value", message, *node.span, help=help if plain else None)

    def is_known(self, node: ast.Expr, scope: Scope | None) -> bool:
        """True if a path names the base of own functions, `super`, or a member of the library."""
        path = self.names.path(node, scope)
        return path in RULE_BASES or path == "super" or self.names.imported(node, scope) is not None

    def is_base(self, node: ast.Name | ast.Attribute, scope: Scope | None) -> bool:
        """True if a path names the base of own functions."""
        name = self.names.imports.get(node.id, node.id) if isinstance(node, ast.Name) else node.name
        return name.endswith("Function") and self.names.path(node, scope) in RULE_BASES

    def is_behind(self, node: ast.Expr, scope: Scope | None) -> bool:
        """True if a path names a member of a module, or an attribute of one."""
        while isinstance(node, (ast.Attribute, ast.Name)):
            if self.names.builtin(node, scope) is not None or self.is_known(node, scope):
                return True
            if isinstance(node, ast.Name):
                break
            node = node.value
        return False

    def is_module(self, name: str) -> bool:
        return name in PREFIXES or name in self.names.imports

    def unknown(self, node: ast.Name, role: str, scope: Scope | None) -> Fault:
        from gradcli.grammar.meaning import foreign

        name, signatures = node.id, self.names.signatures
        known = list(self.names.top) + list(self.names.sizes)
        while scope is not None:
            known += scope.names
            scope = scope.outer
        if role == "class":
            message = f"there is no class `{name}`"
        elif role == "call":
            message = f"`{name}` is called and never defined"
        elif self.names.closed:
            message = f"`{name}` is never given a value"
        else:
            message = f"`{name}` is not a value"
        called = role == "call"
        written = foreign.function(name) if called else foreign.constant(name)
        if role == "base" and modules.is_module(f"torch.{name}"):
            written = f"torch.{name}"
        if written is not None:
            help, instead = f"write `{written}`", (node.span, written)
            return Fault("unknown-name", message, *node.span, help=help, instead=instead)
        if role == "base" and foreign.module(name):
            message = f"`{name}` is a module of Python and not part of the language"
            help = "write the built-in functions without it: `exp(x)`"
            return Fault("unknown-name", message, *node.span, help=help)
        if called and foreign.of_python(name):
            message = f"`{name}` of Python is not part of the language"
            return Fault("unknown-name", message, *node.span, help=foreign.way_out(name))
        kinds = (False,) if called else (True,) if role == "operand" else (True, False)
        own = frozenset(n for n in known if not (called and self.is_number(n, scope)))
        known += signatures.names()
        found = nearest(
            name,
            known,
            lambda n: n in own or (n in signatures and bool(signatures[n].constant) in kinds),
        )
        return Fault("unknown-name", message, *node.span, help=found)

    def unknown_in_module(self, node: ast.Attribute, path: str) -> Fault:
        start = node.span.end - len(node.name)
        module, _, name = path.rpartition(".")
        if modules.is_package(path):
            return _of_module(path, path, node.span)
        from gradcli.grammar.meaning import foreign

        message = f"`{name}` of `{module}` is not part of the language"
        help = foreign.way_out(path) or nearest(name, modules.names(module, self.names.signatures))
        return Fault("unknown-name", message, start, node.span.end, help=help)

    def member(self, node: ast.Attribute, role: str, scope: Scope | None) -> Iterator[Fault]:
        name, signatures = node.name, self.names.signatures
        if name in signatures.attributes:
            return
        if name in signatures and signatures[name].method:
            return
        if name in self.own_attributes or (self.has_objects and signatures.is_member(name)):
            return
        if modules.shows(self.names.imports.values()):
            return
        if self.is_refused(node.value, scope):
            return
        start = node.span.end - len(name)
        if name in signatures:
            kind = "a method" if role == "call" else "an attribute"
            message = f"`{name}` is a function, not {kind}"
            yield Fault("bad-attribute", message, start, node.span.end, help=f"write `{name}(...)`")
            return
        if self.names_later or id(node) in self.never_reached:
            return
        others = frozenset((*signatures.attributes, *self.own_attributes))
        known = (*others, *signatures.names())
        help = nearest(name, known, lambda n: n in others or signatures[n].method)
        yield Fault("bad-attribute", f"no value has `{name}`", start, node.span.end, help=help)

    def call(self, node: ast.Call, scope: Scope | None) -> Iterator[Fault]:
        function = node.function
        signatures = self.names.signatures
        builtin = self.names.called(node, scope)
        if builtin is not None and signatures[builtin].constant:
            yield self.called_constant(builtin, function)
        elif builtin is not None:
            if fits_by_place(node, signatures[builtin]):  # most do
                return
            plain, _ = parted(node, signatures[builtin])
            yield from arity_faults(plain, of_builtin(signatures[builtin]))
        elif (twin := self.names.twin(function, scope)) is not None:
            yield from arity_faults(node, of_builtin(signatures[twin.removesuffix("_")]))
        elif self.names.path(function, scope) == "super":
            if scope is None or scope.kind != "method":
                message = "`super` works only in a method of a class"
                yield Fault("bad-class", message, *node.span)
            elif len(node.args) not in (0, 2) or node.keywords:
                yield Fault("wrong-arity", "`super` takes no arguments", *node.span)
        elif isinstance(function, ast.Name):
            callee = self.callee(function.id, scope)
            if callee is not None:
                yield from arity_faults(node, callee)
            elif self.is_number(function.id, scope):
                message = f"`{function.id}` is a number and cannot be called"
                assigned = Label(self.names.constants[function.id].span, "it is assigned here")
                yield Fault("not-callable", message, *function.span, labels=(assigned,))
        elif isinstance(function, ast.Attribute):
            method = function.name
            if method in self.names.members or self.names.imported(function, scope) is not None:
                return
            method = self.names.of_arrays(function, scope) or method
            if method in signatures and method not in signatures.attributes:
                yield from arity_faults(node, of_builtin(signatures[method]), method=True)
        elif isinstance(function, ast.Call):
            if contexts.sets_mode(function, self.names, scope):
                message = "what sets a mode gives no function; it can stand behind `with` and `@`"
                help = "`no_grad()(f)` and `enable_grad()(f)` give the function in a mode"
                yield Fault("not-callable", message, *function.span, help=help)
        elif not isinstance(function, (ast.Index, ast.Lambda, ast.IfElse)):
            help = None
            number = isinstance(function, ast.Literal) and isinstance(function.value, (int, float))
            if number or isinstance(function, ast.Binary):
                help = "for a product write `*`"
            message = f"{_kind(function)} cannot be called"
            yield Fault("not-callable", message, *function.span, help=help)

    def is_refused(self, base: ast.Expr, scope: Scope | None) -> bool:
        """True for a name of a module that is no value, which is refused where it is read."""
        from gradcli.grammar.meaning import foreign

        if not isinstance(base, ast.Name):
            return False
        unbound = not self.names.is_bound(base.id, scope)
        return base.id in self.module_names or (unbound and foreign.module(base.id))

    def called_constant(self, builtin: str, function: ast.Expr) -> Fault:
        """The fault of a call of a built-in that is no function."""
        kind, help = self.names.signatures[builtin].constant, None
        name = ".".join(dotted(function) or (builtin,))
        if kind == "a dtype":
            help = f"a value is converted by `tensor(x, dtype={builtin})`"
        message = f"`{name}` is {kind} and cannot be called"
        return Fault("not-callable", message, *function.span, help=help)

    def callee(self, name: str, scope: Scope | None) -> Callee | None:
        """The signature of a top-level `def` whose name has no other meaning, or None."""
        if scope is not None and scope.binds(name):
            return None
        return self.functions.get(name)

    def is_number(self, name: str, scope: Scope | None) -> bool:
        if scope is not None and scope.binds(name):
            return False
        statement = self.names.constants.get(name)
        return (
            statement is not None
            and isinstance(statement.value, ast.Literal)
            and isinstance(statement.value.value, (int, float))
        )


def _base_as_value(node: ast.Name | ast.Attribute) -> Fault:
    message = "own functions inherit from this; it is not a value"
    return Fault("builtin-as-value", message, *node.span)


def _of_module(name: str, path: str, span: Span) -> Fault:
    """The fault of a module that stands where a value is needed."""
    help = f"`import {path} as NAME` gives it another name"
    return Fault("unknown-name", f"`{name}` is a module here, not a value", *span, help=help)


def _functions(module: ast.Module, names: Names) -> Iterator[tuple[str, Callee]]:
    for statement in module.body:
        if isinstance(statement, ast.Def) and names.counts[statement.name] == 1:
            if any(contexts.mode(d, names, None) is None for d in statement.decorators):
                continue  # a decorated function may take other arguments
            yield statement.name, of_function(statement)


def _yields(element: ast.Expr | ast.Pair) -> Iterator[ast.Expr]:
    """The `yield`s directly in the element of a comprehension."""
    for node, _, scope in walk(element, _HERE):
        if isinstance(node, (ast.Yield, ast.YieldFrom)) and scope is _HERE:
            yield node


_HERE = Scope(frozenset(), None, "function", None)


def _root(node: ast.Expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _kind(node: ast.Expr) -> str:
    """The kind of an expression, in words."""
    match node:
        case ast.Literal(value=bool() | int() | float()):
            return "a number"
        case ast.Literal(value=str()) | ast.FString():
            return "a string"
        case ast.Literal(value=None):
            return "`None`"
        case ast.Literal():
            return "`...`"
        case ast.List():
            return "a list"
        case ast.Tuple():
            return "a tuple"
        case ast.Dict():
            return "a dictionary"
        case ast.Set():
            return "a set"
        case ast.Comprehension():
            return f"a {node.kind}"
        case _:
            return "the result of an operator"


def _operands(node: ast.Binary, text: str) -> Iterator[Fault]:
    """Literal operands that the operator can never take."""
    sides = (node.left, node.right)
    strings = [side for side in sides if _is_string(side)]
    if (not strings and node.op != "^") or (node.op == "%" and sides[0] in strings):
        return
    numbers = [s for s in sides if isinstance(s, ast.Literal) and isinstance(s.value, (int, float))]
    if node.op == "^" and any(type(n.value) is float for n in numbers):
        message = "`^` is exclusive or and takes no floats"
        sign = text.index("^", node.left.span.end)
        instead = (Span(sign, sign + 1), "**")
        yield Fault("bad-operand", message, *node.span, help="a power is `**`", instead=instead)
    elif (
        strings
        and node.op == "*"
        and len(strings) == 1
        and not (numbers and type(numbers[0].value) is float)
    ):
        return  # `*` repeats it
    elif strings and node.op != "+":
        yield Fault("bad-operand", f"`{node.op}` takes no strings", *node.span)
    elif strings and numbers:
        message = "`+` takes two strings or two numbers, not one of each"
        yield Fault("bad-operand", message, *node.span, help="`str(x)` is the text of a number")


def _is_string(node: ast.Expr) -> bool:
    return isinstance(node, ast.FString) or (
        isinstance(node, ast.Literal) and isinstance(node.value, str)
    )


# --- names that are read too early ---------------------------------------------------------------


def _too_early(
    body: tuple[ast.Statement, ...],
    scope: Scope | None,
    names: Names,
    params: tuple[ast.Param, ...],
) -> Iterator[Fault]:
    """Reads of a local name before the first statement that assigns it."""
    first: dict[str, int] = {}
    for number, statement in enumerate(body):
        if isinstance(statement, (ast.Assign, ast.Update)):  # most are
            made = assigned((statement,))
        else:
            made = chain(assigned((statement,)), names.imported_values(statement))
        for name in made:
            first.setdefault(name, number)
    for name in (*(param.name for param in params), *outer_names(body)):
        first.pop(name, None)
    told: set[str] = set()
    last = max(first.values(), default=-1)
    for number, statement in enumerate(body[: last + 1]):
        simple = isinstance(statement, (ast.Assign, ast.Update, ast.Declaration))
        for node, _, where in walk(statement, scope):
            if not isinstance(node, ast.Name) or where is not scope or node.id in told:
                continue
            at = first.get(node.id, -1)
            if at > number or (at == number and simple):
                told.add(node.id)
                yield _read_too_early(node, body[at], names)
        if isinstance(statement, ast.Update) and isinstance(statement.target, ast.Name):
            target = statement.target
            if first.get(target.id) == number and target.id not in told:
                told.add(target.id)
                yield _read_too_early(target, statement, names)


def _read_too_early(node: ast.Name, assignment: ast.Statement, names: Names) -> Fault:
    message = f"`{node.id}` is read before it is assigned"
    labels = []
    if assignment.span.start > node.span.start:
        span = Span(assignment.span.start, assignment.span.start + 1)
        labels.append(Label(span, f"`{node.id}` is first assigned here"))
    notes = []
    if node.id in names.signatures:
        notes.append(f"the program assigns `{node.id}`, so it is not the built-in")
    return Fault("used-before-assigned", message, *node.span, labels=labels, notes=notes)
