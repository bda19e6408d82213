"""Lower the checked syntax tree to the ops program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import assert_never

from gradcli.grammar.meaning import contexts, modules
from gradcli.grammar.meaning.expressions import Expressions
from gradcli.grammar.meaning.names import (
    IN_PLACE,
    METHODS_OF_RULES,
    RULE_BASES,
    Names,
    annotated,
    assigned,
    class_scope,
    target_names,
    walk,
)
from gradcli.grammar.syntax import ast
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.source import Source, Span


def lower(
    module: ast.Module, names: Names, source: Source, before: ir.Program | None = None
) -> ir.Program:
    """The ops program of a module that passed the checker.

    Args:
        module: The whole program, or one of its cells.
        names: The names of the whole program.
        source: Its text.
        before: The program of the cells before; the result begins with its instructions.
    """
    return _Lowering(names, source, before).program(module)


class _Lowering(Expressions):
    """The part of the lowering that handles statements."""

    def __init__(self, names: Names, source: Source, before: ir.Program | None) -> None:
        super().__init__(names, before)
        self.source = source
        self.inputs: list[ir.Input] = []
        if before is not None:
            self.out += before.main.body
            self.inputs += before.inputs
        self.ended: list[int | None] = []  # by loop: the slot that is True until `break`
        self.inside = ""  # the names of the enclosing classes, each followed by a point
        self.changes_in_place = not IN_PLACE.isdisjoint(names.members)

    def program(self, module: ast.Module) -> ir.Program:
        body = module.body
        result: ir.Operand | None = None
        output = "result"
        first = self.first_reads(module)
        for name in self.names.free:
            slot = self.function.slots[name]
            needed = name not in self.names.unneeded
            self.input(ir.Input(first[name], slot, name, "free", None, (), [], None, needed, None))
        last = body[-1] if body else None
        if isinstance(last, ast.ExprStatement):
            self.block_into(self.out, body[:-1])
            result = self.expression(last.value)
            if isinstance(last.value, ast.Name):
                output = last.value.id
        else:
            self.block_into(self.out, body)
        whole = Span(0, len(self.source.text))
        main = ir.Function("<program>", (), self.out, self.function.locals, (), whole)
        slots = self.function.slots
        named = (*self.names.free, *self.names.top)
        watchable = {*self.names.free, *self.names.declared, *self.names.once}
        return ir.Program(
            source=self.source,
            main=main,
            names={name: slots[name] for name in dict.fromkeys(named)},
            variables=self.variables,
            inputs=tuple(self.inputs),
            result=result,
            output=output,
            watchable=frozenset(watchable),
            library=modules.library(self.names.imports.values()),
        )

    def first_reads(self, module: ast.Module) -> dict[str, Span]:
        """The place where each free input is read first."""
        found: dict[str, Span] = {}
        if self.names.free:
            for node, _, _ in walk(module):
                if isinstance(node, ast.Name):
                    found.setdefault(node.id, node.span)
        return found

    def input(self, instruction: ir.Input) -> None:
        self.inputs.append(instruction)
        self.emit(instruction)

    # --- statements --------------------------------------------------------------------

    def block(self, body: Sequence[ast.Statement]) -> list[ir.Instruction]:
        made: list[ir.Instruction] = []
        self.block_into(made, body)
        return made

    def block_into(self, out: list[ir.Instruction], body: Sequence[ast.Statement]) -> None:
        outside, self.out = self.out, out
        for statement in body:
            busy = self.function.busy
            self.statement(statement)
            self.function.busy = busy
        self.out = outside

    def apart(self, e: ast.Expr) -> tuple[ir.Body, ir.Operand]:
        """The instructions that evaluate an expression, not yet emitted, and its value."""
        made: ir.Body = []
        outside, self.out = self.out, made
        value = self.expression(e)
        self.out = outside
        return made, value

    def statement(self, s: ast.Statement) -> None:
        match s:
            case ast.Assign():
                self.assign(s)
            case ast.Update():
                self.update(s)
            case ast.ExprStatement():
                if not isinstance(s.value, ast.Literal):
                    self.expression(s.value)
            case ast.If():
                test = self.expression(s.test)
                self.emit(ir.Branch(s.span, test, self.block(s.body), self.block(s.orelse)))
            case ast.While():
                condition, test = self.apart(s.test)
                self.loop(
                    s, lambda: self.emit(ir.While(s.span, condition, test, self.block(s.body)))
                )
            case ast.For():
                iterable = self.expression(s.iterable)

                def turn() -> None:
                    self.block_into(self.out, s.body)

                self.loop(s, lambda: self.turns(s.span, s.target, iterable, turn))
            case ast.Delete():
                for target in s.targets:
                    self.delete(target)
            case ast.Break():
                if self.ended[-1] is not None:
                    self.emit(ir.Copy(s.span, self.ended[-1], ir.Const(False, s.span)))
                self.emit(ir.Break(s.span))
            case ast.Continue():
                self.emit(ir.Continue(s.span))
            case ast.Import():
                self.rebound(s)
            case ast.Pass() | ast.Outer():
                pass
            case ast.Binds():
                self.renamed.update(s.names)
            case ast.Assert():
                self.assertion(s)
            case ast.Return():
                value = ir.Const(None, s.span) if s.value is None else self.expression(s.value)
                self.emit(ir.Return(s.span, value))
            case ast.Def():
                self.definition(s)
            case ast.With():
                self.within(s)
            case ast.Class():
                if self.names.is_rule(s, self.function.scope):
                    self.rule(s)
                else:
                    self.class_by(s)
            case ast.Try():
                self.attempt(s)
            case ast.Raise():
                self.throw(s)
            case ast.Declaration():
                self.declaration(s)
            case _:
                assert_never(s)

    def rebound(self, s: ast.Import) -> None:
        """An import of a name that the program also assigns, lowered to an assignment."""
        for name, alias in s.names:
            bound = alias or name
            scope = self.function.scope
            if not (self.names.is_bound(bound) if scope is None else scope.binds(bound)):
                continue
            slot, value = self.slot_of(bound), self.names.value_of(f"{s.module}.{name}", s.span)
            if slot is not None and value is not None:
                self.emit(ir.Copy(s.span, slot, value))

    def loop(self, s: ast.For | ast.While, make: Callable[[], None]) -> None:
        """A loop with its `else`, which runs if a slot still says that no `break` was met."""
        slot = self.temporary() if s.orelse else None
        self.ended.append(slot)
        if slot is not None:
            self.emit(ir.Copy(s.span, slot, ir.Const(True, s.span)))
        make()
        self.ended.pop()
        if slot is not None:
            self.emit(ir.Branch(s.span, ir.Slot(slot, s.span), self.block(s.orelse), []))

    def assign(self, s: ast.Assign) -> None:
        name = s.targets[0].id if isinstance(s.targets[0], ast.Name) else ""
        top = self.function.scope is None
        if top and len(s.targets) == 1 and self.names.constants.get(name) is s:
            body, default = self.apart(s.value)
            slot = self.function.slots[name]
            self.input(
                ir.Input(s.span, slot, name, "constant", None, (), body, default, True, None)
            )
            return
        if len(s.targets) == 1:
            self.assign_to(s.targets[0], s.value, s.span)
        else:
            value = self.held(s.value)
            for target in s.targets:
                self.store(target, value, s.span)
        if top:
            for target in s.targets:
                for assigned in target_names(target):
                    if self.names.once.get(assigned) is s:
                        self.emit(ir.Watch(s.span, self.function.slots[assigned], assigned))

    def assign_to(self, target: ast.Expr, value: ast.Expr, span: Span) -> None:
        if isinstance(target, ast.Name):
            slot = self.own_slot(target.id)
            made = self.held(value, slot)
            if not (isinstance(made, ir.Slot) and made.index == slot):
                self.emit(ir.Copy(span, slot, made))
            return
        self.store(target, self.held(value), span)

    def delete(self, target: ast.Expr) -> None:
        """`del target`."""
        if isinstance(target, ast.Index):
            receiver = self.expression(target.value)
            self.emit(ir.DeleteItem(target.span, receiver, self.expression(target.index)))
            return
        if isinstance(target, ast.Attribute):
            receiver = self.expression(target.value)
            self.emit(ir.DeleteAttribute(target.span, receiver, target.name))
            return
        assert isinstance(target, ast.Name)
        slot = self.own_slot(target.id)
        self.emit(ir.Delete(target.span, ir.Slot(slot, target.span)))

    def update(self, s: ast.Update) -> None:
        target = s.target
        match target:
            case ast.Name():
                slot = self.own_slot(target.id)
                value = self.expression(s.value)
                self.updated(s, slot, ir.Slot(slot, target.span), value)
            case ast.Attribute():
                receiver = self.expression(target.value)
                old, new = self.temporary(), self.temporary()
                self.emit(ir.GetAttribute(target.span, old, receiver, target.name))
                value = self.expression(s.value)
                self.updated(s, new, ir.Slot(old, target.span), value)
                made = ir.Slot(new, s.span)
                self.emit(ir.SetAttribute(s.span, receiver, target.name, made))
            case ast.Index():
                receiver, index = self.indexed(target)
                old, new = self.temporary(), self.temporary()
                self.emit(ir.Operator(target.span, old, "[]", (receiver, index)))
                value = self.expression(s.value)
                self.updated(s, new, ir.Slot(old, target.span), value)
                self.emit(ir.SetItem(s.span, receiver, index, ir.Slot(new, s.span)))
            case _:
                raise AssertionError(f"{type(target).__name__} cannot be updated")

    def updated(self, s: ast.Update, into: int, old: ir.Operand, value: ir.Operand) -> None:
        """Emit an update. `@=` makes a new value, as in PyTorch, unless a class defines in-place
        methods.
        """
        if s.op == "@" and not self.changes_in_place:
            self.emit(ir.Operator(s.span, into, s.op, (old, value)))
            return
        sign = f"{s.op}=" if self.changes_in_place else s.op
        if modules.library(self.names.imports.values()) == "jax":
            own = ir.Slot(self.temporary(), s.span)
            self.emit(self.application(s.span, own.index, "jax_updated", (old,), ()))
            old = own
            if s.op == "**" and self.has_power_of_jax(s.value):
                self.emit(self.application(s.span, into, "jax_pow", (old, value), ()))
                return
        self.emit(ir.Augment(s.span, into, sign, old, value))

    def assertion(self, s: ast.Assert) -> None:
        test = self.expression(s.test)
        body, message = ([], None) if s.message is None else self.apart(s.message)
        self.emit(ir.Assert(s.span, test, body, message))

    def mode(
        self,
        context: ast.Expr,
        span: Span,
        block: Callable[[], None],
        target: ast.Expr | None = None,
    ) -> ir.Mode:
        """A block in a context; a context that decides at run time is called as the block starts,
        and its value assigned to the target.
        """
        mode = contexts.mode(context, self.names, self.function.scope)
        assert mode is not None
        outside, self.out = self.out, []
        value = self.expression(context) if mode == "kept" else ir.Const(None, span)
        if target is not None:
            self.store(target, value, span)
        block()
        inside, self.out = self.out, outside
        return ir.Mode(span, mode, inside)

    def decorated(self, decorator: ast.Expr, block: Callable[[], None]) -> None:
        """Emit the body of a function that a decorator puts into a context."""
        made = self.mode(decorator, decorator.span, block)
        emits = any(isinstance(i, (ir.Emit, ir.EmitAll)) for i in visit.instructions(made.body))
        if emits and made.mode != "kept":
            made = ir.FrameMode(made.span, made.mode, made.body)
        self.emit(made)

    def within(self, s: ast.With) -> None:
        """A `with` statement: a block in a context, or with an object that manages it."""
        if contexts.mode(s.context, self.names, self.function.scope) is None:
            self.managed(s)
            return
        self.emit(self.mode(s.context, s.span, lambda: self.block_into(self.out, s.body), s.target))

    def managed(self, s: ast.With) -> None:
        """A block between `__enter__` and `__exit__` of an object. `__exit__` gets an exception of
        the block and may end it.
        """
        span = s.context.span
        manager = self.kept(self.expression(s.context))
        nothing = ir.Const(None, span)

        def ask(method: str, *args: ir.Operand) -> ir.Slot:
            found = self.temporary()
            self.emit(ir.Method(span, found, manager, method, args, ()))
            return ir.Slot(found, span)

        entered = ask("__enter__")
        if s.target is not None:
            self.store(s.target, entered, s.target.span)
        ended, error = ir.Slot(self.temporary(), span), ir.Slot(self.temporary(), span)
        self.emit(ir.Copy(span, ended.index, ir.Const(False, span)))
        body = self.block(s.body)
        outside, self.out = self.out, []
        self.emit(ir.Copy(span, ended.index, ir.Const(True, span)))
        kind = self.temporary()
        self.emit(ir.GetAttribute(span, kind, error, "__class__"))
        taken = ask("__exit__", ir.Slot(kind, span), error, nothing)
        self.emit(ir.Branch(span, taken, [], [ir.Raise(span, None)]))
        handler = ir.Handler([], None, error.index, self.out, span)
        self.out = []
        ask("__exit__", nothing, nothing, nothing)
        last: ir.Body = [ir.Branch(span, ended, [], self.out)]
        self.out = outside
        self.emit(ir.Try(s.span, body, (handler,), [], last))

    def attempt(self, s: ast.Try) -> None:
        handlers = []
        body = self.block(s.body)
        for handler in s.handlers:
            busy = self.function.busy
            test, kind = ([], None) if handler.type is None else self.apart(handler.type)
            self.function.busy = busy
            target = self.own_slot(handler.name) if handler.name else self.temporary()
            inside = self.block(handler.body)
            handlers.append(ir.Handler(test, kind, target, inside, handler.span))
        self.emit(ir.Try(s.span, body, tuple(handlers), self.block(s.orelse), self.block(s.last)))

    def throw(self, s: ast.Raise) -> None:
        value = None if s.value is None else self.expression(s.value)
        if s.cause is not None:
            self.expression(s.cause)
        self.emit(ir.Raise(s.span, value))

    def declaration(self, s: ast.Declaration) -> None:
        body, default = ([], None) if s.default is None else self.apart(s.default)
        slots = self.function.slots
        kind = None if s.type is None else (s.type.kind, s.type.sizes)
        sizes = () if s.type is None else s.type.sizes or ()
        bound = tuple((n, slots[n]) for n in sizes if isinstance(n, str) and n in self.names.sizes)
        limits = None
        if s.bounds is not None:
            from gradcli.grammar.meaning import bounds

            limits = tuple(map(bounds.value, s.bounds))
        named = slots[s.name], s.name, s.kind, kind, bound, body, default, True, limits
        self.input(ir.Input(s.span, *named))

    # --- functions ---------------------------------------------------------------------

    def definition(self, s: ast.Def) -> None:
        """A `def` with its decorators."""
        slot = self.own_slot(s.name)
        decorators = self.decorators(s)
        self.emit(ir.Define(s.span, slot, self.define_by(s, "", s.name)))
        self.decorate(decorators, slot)

    def define_by(self, s: ast.Def, context: str, name: str) -> ir.Function:
        """The function of a `def` by a name; decorators that are contexts wrap its body."""
        scope = self.function.scope
        around = [d for d in s.decorators if contexts.mode(d, self.names, scope) is not None]

        def body() -> None:
            self.block_into(self.out, s.body)

        for d in reversed(around):
            body = partial(self.decorated, d, body)
        return self.define(s, f"{self.inside}{name}", context, body)

    def decorators(self, s: ast.Def | ast.Class) -> list[ir.Operand]:
        """The decorators that are called, evaluated before the function or class is made."""
        scope = self.function.scope
        made = [d for d in s.decorators if contexts.mode(d, self.names, scope) is None]
        return [self.kept(self.expression(d)) for d in made]

    def kept(self, operand: ir.Operand) -> ir.Operand:
        """A copy of an operand's value that later assignments do not change."""
        if not isinstance(operand, ir.Slot) or operand.index not in self.variables:
            return operand
        made = self.temporary()
        self.emit(ir.Copy(operand.span, made, operand))
        return ir.Slot(made, operand.span)

    def decorate(self, decorators: Sequence[ir.Operand], slot: int) -> None:
        """Apply decorators to a function or class, the innermost first."""
        for decorator in reversed(decorators):
            made = (ir.Slot(slot, decorator.span),)
            self.emit(ir.Call(decorator.span, slot, decorator, made, ()))

    def class_by(self, s: ast.Class) -> None:
        """A class: its body runs where it stands, on slots of its own."""
        decorators = self.decorators(s)
        bases = tuple(self.expression(base) for base in s.bases)
        function = self.function
        around = function.members, function.owner, function.scope, self.inside
        made = self.hide()
        members = {name: self.hide() for name in dict.fromkeys(assigned(s.body))}
        function.members, function.owner = members, made
        function.scope = class_scope(s, function.scope)
        self.inside = f"{self.inside}{s.name}."
        self.block_into(self.out, s.body)
        function.members, function.owner, function.scope, self.inside = around
        held = tuple((name, ir.Slot(slot, s.span)) for name, slot in members.items())
        if (decorators or bases) and (fields := annotated(s.body)):
            names = ir.Slot(self.hide(), s.span)
            items = tuple(ir.Const(name, s.span) for name in fields)
            self.emit(ir.Build(s.span, names.index, "tuple", items))
            held += (("__annotations__", names),)
        self.emit(ir.DefineClass(s.span, made, s.name, bases, held))
        slot = self.own_slot(s.name)
        self.emit(ir.Copy(s.span, slot, ir.Slot(made, s.span)))
        self.decorate(decorators, slot)

    def rule(self, s: ast.Class) -> None:
        """An own differentiable function with its methods and attributes."""
        scope = self.function.scope
        bases = [b for b in s.bases if self.names.path(b, scope) not in RULE_BASES]
        inherited = tuple(self.kept(self.expression(base)) for base in bases)
        attributes = []
        for part in s.body:
            if isinstance(part, ast.Assign):
                held = self.hide()
                self.emit(ir.Copy(part.span, held, self.expression(part.value)))
                names = (name for target in part.targets for name in target_names(target))
                attributes += [(name, ir.Slot(held, part.span)) for name in names]
        defined = [statement for statement in s.body if isinstance(statement, ast.Def)]
        apart = any(method.name == "setup_context" for method in defined)
        methods = []
        for method in defined:
            has_context = method.params and not (apart and method.name == "forward")
            has_context = has_context and method.name in METHODS_OF_RULES
            context = method.params[0].name if has_context else ""
            name = "backward" if method.name == "vjp" else method.name
            methods.append(self.define_by(method, context, name))
        once = any(contexts.is_once(d) for method in defined for d in method.decorators)
        slot = self.own_slot(s.name)
        made = (s.name, inherited, tuple(methods), tuple(attributes), once)
        self.emit(ir.DefineRule(s.span, slot, *made))
