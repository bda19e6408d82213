"""From the checked syntax tree to the ops program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from gradcli import ir
from gradcli.grammar import ast
from gradcli.grammar.arity import bind, of_builtin
from gradcli.grammar.names import Names, Scope, function_scope, local_names, target_names, walk
from gradcli.source import Source, Span


def lower(module: ast.Module, names: Names, source: Source) -> ir.Program:
    """The ops program of a module in which the checker has found no error."""
    return _Lowering(names, source).program(module)


class _Function:
    """Slots of one function while its body is lowered. Temporaries are used again as soon as the
    instruction that reads them has been made.
    """

    def __init__(self, scope: Scope | None, outer: _Function | None, context: str) -> None:
        self.scope = scope
        self.outer = outer
        self.context = context  # the ctx parameter of an own function's method, else ""
        self.slots: dict[str, int] = {}
        self.temporaries: list[int] = []
        self.captures: dict[int, None] = {}
        self.busy = 0

    @property
    def locals(self) -> tuple[int, ...]:
        """Its own slots."""
        return (*self.slots.values(), *self.temporaries)


class _Lowering:
    def __init__(self, names: Names, source: Source) -> None:
        self.names = names
        self.source = source
        self.count = 0
        self.variables: dict[int, str] = {}
        self.inputs: list[ir.Input] = []
        self.function = _Function(None, None, "")
        self.out: list[ir.Instruction] = []
        for name in (*names.top, *names.sizes, *names.free):
            self.declare(name)

    def program(self, module: ast.Module) -> ir.Program:
        body = module.body
        result: ir.Operand | None = None
        output = "result"
        first = self.first_reads(module)
        for name in self.names.free:
            slot = self.function.slots[name]
            self.input(ir.Input(first[name], slot, name, "free", None, (), [], None))
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
        )

    def first_reads(self, module: ast.Module) -> dict[str, Span]:
        """Where each free input is read first."""
        found: dict[str, Span] = {}
        if self.names.free:
            for visit in walk(module):
                if isinstance(visit.node, ast.Name):
                    found.setdefault(visit.node.id, visit.node.span)
        return found

    # --- slots -------------------------------------------------------------------------

    def new(self) -> int:
        self.count += 1
        return self.count

    def declare(self, name: str) -> int:
        slots = self.function.slots
        if name not in slots:
            slots[name] = self.new()
            self.variables[slots[name]] = name
        return slots[name]

    def temporary(self) -> int:
        function = self.function
        if function.busy == len(function.temporaries):
            function.temporaries.append(self.new())
        function.busy += 1
        return function.temporaries[function.busy - 1]

    def slot_of(self, name: str) -> int | None:
        inner: list[_Function] = []
        function: _Function | None = self.function
        while function is not None:
            slot = function.slots.get(name)
            if slot is not None:
                for user in inner:
                    user.captures[slot] = None
                return slot
            inner.append(function)
            function = function.outer
        return None

    def emit(self, instruction: ir.Instruction) -> None:
        self.out.append(instruction)

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
                condition: list[ir.Instruction] = []
                outside, self.out = self.out, condition
                test = self.expression(s.test)
                self.out = outside
                self.emit(ir.While(s.span, condition, test, self.block(s.body)))
            case ast.For():
                self.loop(s)
            case ast.Break():
                self.emit(ir.Break(s.span))
            case ast.Continue():
                self.emit(ir.Continue(s.span))
            case ast.Pass() | ast.Import():
                pass
            case ast.Assert():
                self.assertion(s)
            case ast.Return():
                value = ir.Const(None, s.span) if s.value is None else self.expression(s.value)
                self.emit(ir.Return(s.span, value))
            case ast.Def():
                slot = self.slot_of(s.name)
                assert slot is not None
                self.emit(ir.Define(s.span, slot, self.define(s, s.name, "")))
            case ast.With():
                self.emit(ir.Mode(s.span, self.mode(s.context), self.block(s.body)))
            case ast.Class():
                self.rule(s)
            case ast.Declaration():
                self.declaration(s)
            case _:
                assert_never(s)

    def assign(self, s: ast.Assign) -> None:
        name = s.targets[0].id if isinstance(s.targets[0], ast.Name) else ""
        top = self.function.scope is None
        if top and len(s.targets) == 1 and self.names.constants.get(name) is s:
            body: list[ir.Instruction] = []
            outside, self.out = self.out, body
            default = self.expression(s.value)
            self.out = outside
            slot = self.function.slots[name]
            self.input(ir.Input(s.span, slot, name, "constant", None, (), body, default))
            return
        if len(s.targets) == 1:
            self.assign_to(s.targets[0], s.value, s.span)
        else:
            value = self.expression(s.value)
            for target in s.targets:
                self.store(target, value, s.span)
        if top:
            for target in s.targets:
                for assigned in target_names(target):
                    if self.names.once.get(assigned) is s:
                        self.emit(ir.Watch(s.span, self.function.slots[assigned], assigned))

    def assign_to(self, target: ast.Expr, value: ast.Expr, span: Span) -> None:
        if isinstance(target, ast.Name):
            slot = self.slot_of(target.id)
            assert slot is not None
            made = self.expression(value, slot)
            if not (isinstance(made, ir.Slot) and made.index == slot):
                self.emit(ir.Copy(span, slot, made))
            return
        self.store(target, self.expression(value), span)

    def store(self, target: ast.Expr, value: ir.Operand, span: Span) -> None:
        """Put a value where a target says."""
        match target:
            case ast.Name():
                slot = self.slot_of(target.id)
                assert slot is not None
                self.emit(ir.Copy(span, slot, value))
            case ast.Attribute():
                receiver = self.expression(target.value)
                self.emit(ir.SetAttribute(target.span, receiver, target.name, value))
            case ast.Index():
                receiver = self.expression(target.value)
                self.emit(ir.SetItem(target.span, receiver, self.index(target.index), value))
            case ast.Tuple() | ast.List():
                self.unpack(target.items, value, span)
            case _:
                raise AssertionError(f"{type(target).__name__} is no target")

    def unpack(self, items: Sequence[ast.Expr], value: ir.Operand, span: Span) -> None:
        slots = []
        for item in items:
            slot = self.slot_of(item.id) if isinstance(item, ast.Name) else self.temporary()
            assert slot is not None
            slots.append(slot)
        self.emit(ir.Unpack(span, tuple(slots), value))
        for item, slot in zip(items, slots, strict=True):
            if not isinstance(item, ast.Name):
                self.store(item, ir.Slot(slot, item.span), span)

    def update(self, s: ast.Update) -> None:
        target = s.target
        match target:
            case ast.Name():
                slot = self.slot_of(target.id)
                assert slot is not None
                value = self.expression(s.value)
                self.emit(ir.Augment(s.span, slot, s.op, ir.Slot(slot, target.span), value))
            case ast.Attribute():
                receiver = self.expression(target.value)
                old, new = self.temporary(), self.temporary()
                self.emit(ir.GetAttribute(target.span, old, receiver, target.name))
                value = self.expression(s.value)
                self.emit(ir.Augment(s.span, new, s.op, ir.Slot(old, target.span), value))
                made = ir.Slot(new, s.span)
                self.emit(ir.SetAttribute(s.span, receiver, target.name, made))
            case ast.Index():
                receiver, index = self.expression(target.value), self.index(target.index)
                old, new = self.temporary(), self.temporary()
                self.emit(ir.Operator(target.span, old, "[]", (receiver, index)))
                value = self.expression(s.value)
                self.emit(ir.Augment(s.span, new, s.op, ir.Slot(old, target.span), value))
                self.emit(ir.SetItem(s.span, receiver, index, ir.Slot(new, s.span)))
            case _:
                raise AssertionError(f"{type(target).__name__} cannot be updated")

    def loop(self, s: ast.For) -> None:
        iterable = self.expression(s.iterable)
        if isinstance(s.target, ast.Name):
            slot = self.slot_of(s.target.id)
            assert slot is not None
            self.emit(ir.For(s.span, slot, iterable, self.block(s.body)))
            return
        item = self.temporary()
        body: list[ir.Instruction] = []
        outside, self.out = self.out, body
        self.store(s.target, ir.Slot(item, s.target.span), s.target.span)
        self.out = outside
        self.block_into(body, s.body)
        self.emit(ir.For(s.span, item, iterable, body))

    def assertion(self, s: ast.Assert) -> None:
        test = self.expression(s.test)
        body: list[ir.Instruction] = []
        message: ir.Operand | None = None
        if s.message is not None:
            outside, self.out = self.out, body
            message = self.expression(s.message)
            self.out = outside
        self.emit(ir.Assert(s.span, test, body, message))

    def mode(self, context: ast.Expr) -> str:
        path = context.function if isinstance(context, ast.Call) else context
        return path.name if isinstance(path, ast.Attribute) else getattr(path, "id", "")

    def declaration(self, s: ast.Declaration) -> None:
        body: list[ir.Instruction] = []
        default: ir.Operand | None = None
        if s.default is not None:
            outside, self.out = self.out, body
            default = self.expression(s.default)
            self.out = outside
        slots = self.function.slots
        kind = None if s.type is None else (s.type.kind, s.type.sizes)
        sizes = () if s.type is None else s.type.sizes or ()
        bound = tuple((n, slots[n]) for n in sizes if isinstance(n, str) and n in self.names.sizes)
        self.input(ir.Input(s.span, slots[s.name], s.name, s.kind, kind, bound, body, default))

    # --- functions ---------------------------------------------------------------------

    def define(self, made: ast.Def | ast.Lambda, name: str, context: str) -> ir.Function:
        defaults = [None if p.default is None else self.expression(p.default) for p in made.params]
        outer = self.function
        self.function = _Function(function_scope(made, outer.scope), outer, context)
        outside, self.out = self.out, []
        for local in local_names(made):
            self.declare(local)
        slots = self.function.slots
        parameters = tuple(
            ir.Parameter(p.name, slots[p.name], default)
            for p, default in zip(made.params, defaults, strict=True)
        )
        if isinstance(made, ast.Lambda):
            value = self.expression(made.body)
            self.emit(ir.Return(made.body.span, value))
        else:
            self.block_into(self.out, made.body)
        here, self.function = self.function, outer
        body, self.out = self.out, outside
        return ir.Function(name, parameters, body, here.locals, tuple(here.captures), made.span)

    def rule(self, s: ast.Class) -> None:
        methods = []
        for statement in s.body:
            if isinstance(statement, ast.Def):
                context = statement.params[0].name if statement.params else ""
                methods.append(self.define(statement, statement.name, context))
        slot = self.slot_of(s.name)
        assert slot is not None
        self.emit(ir.DefineRule(s.span, slot, s.name, tuple(methods)))

    # --- expressions -------------------------------------------------------------------

    def expression(self, e: ast.Expr, into: int | None = None) -> ir.Operand:
        """The operand that holds the value: `into`, if an instruction makes it, or a temporary."""
        match e:
            case ast.Literal():
                return ir.Const(e.value, e.span)
            case ast.Name():
                return self.name(e)
            case ast.Binary():
                return self.binary(e, into)
            case ast.Unary():
                if e.op == "-" and isinstance(e.operand, ast.Literal):
                    value = e.operand.value
                    if isinstance(value, (int, float)) and not isinstance(value, bool):
                        return ir.Const(-value, e.span)
                return self.operator(e.span, e.op, (e.operand,), into)
            case ast.Compare():
                return self.compare(e, into)
            case ast.Boolean():
                return self.boolean(e)
            case ast.IfElse():
                return self.choice(e)
            case ast.Call():
                return self.call(e, into)
            case ast.Index():
                busy = self.function.busy
                operands = (self.expression(e.value), self.index(e.index))
                target = self.target(busy, into)
                self.emit(ir.Operator(e.span, target, "[]", operands))
                return ir.Slot(target, e.span)
            case ast.Attribute():
                builtin = self.names.builtin(e, self.function.scope)
                if builtin is not None:
                    return ir.Builtin(builtin, e.span)
                busy = self.function.busy
                receiver = self.expression(e.value)
                target = self.target(busy, into)
                self.emit(ir.GetAttribute(e.span, target, receiver, e.name))
                return ir.Slot(target, e.span)
            case ast.List() | ast.Tuple():
                kind = "list" if isinstance(e, ast.List) else "tuple"
                return self.build(e.span, kind, e.items, into)
            case ast.Slice():
                nothing = ast.Literal(e.span, None)
                parts = [nothing if part is None else part for part in (e.start, e.stop, e.step)]
                return self.build(e.span, "slice", parts, into)
            case ast.FString():
                return self.text(e.span, e.parts)
            case ast.Lambda():
                target = self.temporary() if into is None else into
                self.emit(ir.Define(e.span, target, self.define(e, "<lambda>", "")))
                return ir.Slot(target, e.span)
            case _:
                assert_never(e)

    def target(self, busy: int, into: int | None) -> int:
        """Where a result goes once its operands, made since `busy`, have been read."""
        self.function.busy = busy
        return self.temporary() if into is None else into

    def name(self, e: ast.Name) -> ir.Operand:
        slot = self.slot_of(e.id)
        if slot is not None:
            return ir.Slot(slot, e.span)
        builtin = self.names.builtin(e, self.function.scope)
        assert builtin is not None, e.id
        return ir.Builtin(builtin, e.span)

    def operator(
        self, span: Span, sign: str, args: Sequence[ast.Expr], into: int | None
    ) -> ir.Operand:
        busy = self.function.busy
        operands = tuple(self.expression(a) for a in args)
        target = self.target(busy, into)
        self.emit(ir.Operator(span, target, sign, operands))
        return ir.Slot(target, span)

    def binary(self, e: ast.Binary, into: int | None) -> ir.Operand:
        """Left to right down a chain of operators, which may be very long."""
        chain = [e]
        while isinstance(chain[-1].left, ast.Binary):
            chain.append(chain[-1].left)
        busy = self.function.busy
        left = self.expression(chain[-1].left)
        while chain:
            node = chain.pop()
            operands = (left, self.expression(node.right))
            target = self.target(busy, into if not chain else None)
            self.emit(ir.Operator(node.span, target, node.op, operands))
            left = ir.Slot(target, node.span)
        return left

    def compare(self, e: ast.Compare, into: int | None) -> ir.Operand:
        if len(e.ops) == 1:
            return self.operator(e.span, e.ops[0], (e.first, e.rest[0]), into)
        left = self.expression(e.first)
        tests = []
        blocks = [self.out]
        for op, node in zip(e.ops, e.rest, strict=True):
            right = self.expression(node)
            test = ir.Slot(self.temporary(), e.span)
            self.emit(ir.Operator(e.span, test.index, op, (left, right)))
            tests.append(test)
            left, self.out = right, []
            blocks.append(self.out)
        return self.choices(e.span, "chain", tests, blocks)

    def boolean(self, e: ast.Boolean) -> ir.Operand:
        busy = self.function.busy
        tests = []
        blocks = [self.out]
        for value in e.values:
            tests.append(self.expression(value))
            self.function.busy = busy
            self.out = []
            blocks.append(self.out)
        return self.choices(e.span, e.op, tests, blocks)

    def choices(
        self, span: Span, kind: str, tests: Sequence[ir.Operand], blocks: Sequence[ir.Body]
    ) -> ir.Operand:
        """The last of several tests that is come to: each is made in a block of its own, and the
        one behind it is come to if it is true, for "or" if it is false.
        """
        self.out = blocks[0]
        made = self.temporary()
        value = tests[-1]
        steps = zip(tests[:-1], blocks[:-2], blocks[1:], strict=False)
        for test, block, rest in reversed(list(steps)):
            rest.append(ir.Yield(value.span, value))
            here: ir.Body = [ir.Yield(test.span, test)]
            then, orelse = (here, rest) if kind == "or" else (rest, here)
            block.append(ir.Choice(span, made, kind, test, then, orelse))
            value = ir.Slot(made, span)
        return value

    def choice(self, e: ast.IfElse) -> ir.Operand:
        made = self.temporary()
        test = self.expression(e.test)
        blocks: list[ir.Body] = []
        outside, busy = self.out, self.function.busy
        for side in (e.then, e.orelse):
            self.out = []
            value = self.expression(side)
            self.emit(ir.Yield(value.span, value))
            self.function.busy = busy
            blocks.append(self.out)
        self.out = outside
        self.emit(ir.Choice(e.span, made, "if", test, *blocks))
        return ir.Slot(made, e.span)

    def call(self, e: ast.Call, into: int | None) -> ir.Operand:
        busy = self.function.busy
        function = e.function
        builtin = self.names.builtin(function, self.function.scope)
        if builtin is not None:
            args, keywords = self.arguments(e)
            target = self.target(busy, into)
            self.emit(self.application(e.span, target, builtin, args, keywords))
        elif isinstance(function, ast.Attribute):
            receiver = self.expression(function.value)
            args, keywords = self.arguments(e)
            target = self.target(busy, into)
            name = function.name
            if self.is_operation(function):
                self.emit(self.application(e.span, target, name, args, keywords, (receiver,)))
            else:
                self.emit(ir.Method(e.span, target, receiver, name, args, keywords))
        else:
            callee = self.expression(function)
            args, keywords = self.arguments(e)
            target = self.target(busy, into)
            self.emit(ir.Call(e.span, target, callee, args, keywords))
        return ir.Slot(target, e.span)

    def application(
        self,
        span: Span,
        target: int,
        name: str,
        args: tuple[ir.Operand, ...],
        keywords: ir.Named,
        receiver: tuple[ir.Operand, ...] = (),
    ) -> ir.Instruction:
        """A built-in applied, as a method of the receiver if there is one; its arguments bound to
        their names, where the signature tells what they are.
        """
        signatures = self.names.signatures
        inplace = name not in signatures
        op = name.removesuffix("_") if inplace else name
        signature = signatures[op]
        if not signature.variadic:
            bound = bind(of_builtin(signature), args, keywords, receiver)
            if bound.fits:
                kind = ir.Inplace if inplace else ir.Apply
                return kind(span, target, op, tuple(bound.named.items()))
        if signature.aliases.get("self") in (None, *signature.positional[:1]):
            args = (*receiver, *args)
        else:
            keywords = (*(("self", operand) for operand in receiver), *keywords)
        return ir.CallBuiltin(span, target, name, args, keywords)

    def is_operation(self, function: ast.Attribute) -> bool:
        """Whether a method is a built-in function, or the in-place twin of one."""
        base = function.value
        if isinstance(base, ast.Name) and base.id == self.function.context:
            return False
        signatures = self.names.signatures
        for name in (function.name, function.name.removesuffix("_")):
            if name in signatures and signatures[name].method:
                return True
        return False

    def arguments(self, e: ast.Call) -> tuple[tuple[ir.Operand, ...], ir.Named]:
        args = tuple(self.expression(a) for a in e.args)
        return args, tuple((k.name, self.expression(k.value)) for k in e.keywords)

    def build(
        self, span: Span, kind: str, items: Sequence[ast.Expr], into: int | None
    ) -> ir.Operand:
        busy = self.function.busy
        operands = tuple(self.expression(item) for item in items)
        target = self.target(busy, into)
        self.emit(ir.Build(span, target, kind, operands))
        return ir.Slot(target, span)

    def index(self, e: ast.Expr) -> ir.Operand:
        return self.expression(e)

    def text(self, span: Span, parts: Sequence[ast.Literal | ast.Formatted]) -> ir.Operand:
        """An f-string: its parts as text, joined."""
        busy = self.function.busy
        operands: list[ir.Operand] = []
        for part in parts:
            if isinstance(part, ast.Literal):
                operands.append(ir.Const(part.value, part.span))
                continue
            if part.debug:
                operands.append(ir.Const(part.debug, part.span))
            inner = self.function.busy
            value, spec = self.expression(part.value), self.text(part.span, part.spec)
            conversion = part.conversion
            if part.debug and not conversion and not part.spec:
                conversion = "r"
            target = self.target(inner, None)
            self.emit(ir.Format(part.span, target, value, conversion, spec))
            operands.append(ir.Slot(target, part.span))
        if not operands:
            return ir.Const("", span)
        if len(operands) == 1 and isinstance(operands[0], ir.Const):
            return operands[0]
        target = self.target(busy, None)
        self.emit(ir.Build(span, target, "text", tuple(operands)))
        return ir.Slot(target, span)
