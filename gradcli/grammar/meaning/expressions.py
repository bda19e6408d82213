"""Lower expressions to instructions that put their values into a given slot or a temporary."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import assert_never

from gradcli.grammar.meaning import modules
from gradcli.grammar.meaning.arity import bind, is_spread, of_builtin, parted
from gradcli.grammar.meaning.displays import Displays
from gradcli.grammar.syntax import ast
from gradcli.ir import program as ir
from gradcli.source import Span

_SHOWING = frozenset({"print", "str"})  # built-ins that make texts of their arguments
MOST_NESTED = 20  # tests of one `and`, `or` or comparison that nest in each other's blocks


class Expressions(Displays):
    """The part of the lowering that handles expressions."""

    def expression(self, e: ast.Expr, into: int | None = None) -> ir.Operand:
        """The operand that holds the value: the slot `into` if an instruction makes it, or a
        temporary.
        """
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
                operands = self.indexed(e)
                target = self.target(busy, into)
                self.emit(ir.Operator(e.span, target, "[]", operands))
                return ir.Slot(target, e.span)
            case ast.Attribute():
                builtin = self.names.builtin(e, self.function.scope)
                if builtin is not None:
                    return ir.Builtin(builtin, e.span)
                path = self.names.imported(e, self.function.scope)
                if path is not None:
                    return ir.Imported(path, e.span)
                path = self.names.path(e.value, self.function.scope)
                if (
                    e.name == "__name__"
                    and path
                    and self.names.builtin(e.value, self.function.scope)
                ):
                    return ir.Const(path.rpartition(".")[2], e.span)
                busy = self.function.busy
                receiver = self.expression(e.value)
                target = self.target(busy, into)
                of_array = self.of_arrays(e) if e.name == "size" else None
                if of_array is not None:
                    self.emit(self.application(e.span, target, of_array, (receiver,), ()))
                else:
                    self.emit(ir.GetAttribute(e.span, target, receiver, e.name))
                return ir.Slot(target, e.span)
            case ast.List() | ast.Tuple():
                kind = "list" if isinstance(e, ast.List) else "tuple"
                return self.build(e.span, kind, e.items, into)
            case ast.Set():
                items = self.build(e.span, "list", e.items, None)
                return self.made_of_list(e.span, "set", items, into)
            case ast.Dict():
                return self.dictionary(e)
            case ast.Comprehension():
                return self.comprehension(e, into)
            case ast.Starred():
                raise AssertionError("a star stands alone")
            case ast.Slice():
                nothing = ast.Literal(e.span, None)
                parts = [nothing if part is None else part for part in (e.start, e.stop, e.step)]
                return self.build(e.span, "slice", parts, into)
            case ast.FString():
                return self.text(e.span, e.parts)
            case ast.Yield() | ast.YieldFrom():
                return self.emitted(e, into)
            case ast.Named():
                return self.named(e)
            case ast.Lambda():
                self.renamed.update(e.names)
                target = self.temporary() if into is None else into
                made = self.define(e, "<lambda>", "", lambda: self.returned(e.body))
                self.emit(ir.Define(e.span, target, made))
                return ir.Slot(target, e.span)
            case _:
                assert_never(e)

    def emitted(self, e: ast.Yield | ast.YieldFrom, into: int | None) -> ir.Operand:
        """A `yield`; its value is what the caller sends."""
        busy = self.function.busy
        value = ir.Const(None, e.span) if e.value is None else self.expression(e.value)
        target = self.target(busy, into)
        emit = ir.Emit if isinstance(e, ast.Yield) else ir.EmitAll
        self.emit(emit(e.span, target, value))
        return ir.Slot(target, e.span)

    def named(self, e: ast.Named) -> ir.Operand:
        """The value of `(name := value)`, which the slot of the name gets."""
        value = self.copied(self.held(e.value))
        self.emit(ir.Copy(e.span, self.own_slot(e.target.id), value))
        return value

    def copied(self, value: ir.Operand) -> ir.Operand:
        """A value in a slot of its own: what is named by the slot that it was in may change."""
        made = ir.Slot(self.temporary(), value.span)
        self.emit(ir.Copy(value.span, made.index, value))
        return made

    def name(self, e: ast.Name) -> ir.Operand:
        slot = self.slot_of(e.id)
        if slot is not None:
            value = ir.Slot(slot, e.span)
            return self.copied(value) if e.id in self.renamed else value
        builtin = self.names.builtin(e, self.function.scope)
        if builtin is not None:
            return ir.Builtin(builtin, e.span)
        path = self.names.imported(e, self.function.scope)
        assert path is not None, e.id
        return ir.Imported(path, e.span)

    def operator(
        self, span: Span, sign: str, args: Sequence[ast.Expr], into: int | None
    ) -> ir.Operand:
        busy = self.function.busy
        operands = tuple(self.expression(a) for a in args)
        target = self.target(busy, into)
        self.emit(ir.Operator(span, target, sign, operands))
        return ir.Slot(target, span)

    def binary(self, e: ast.Binary, into: int | None) -> ir.Operand:
        """A chain of binary operators, from left to right and without recursion: it may be very
        long.
        """
        chain = [e]
        while isinstance(chain[-1].left, ast.Binary):
            chain.append(chain[-1].left)
        busy = self.function.busy
        listed = is_list(chain[-1].left)
        left = self.expression(chain[-1].left)
        while chain:
            node = chain.pop()
            listed = node.op in ("+", "*") and (listed or is_list(node.right))
            operands = (left, self.expression(node.right))
            target = self.target(busy, into if not chain else None)
            if node.op == "**" and self.has_power_of_jax(node.right):
                self.emit(self.application(node.span, target, "jax_pow", operands, ()))
            else:
                sign = f"{node.op}[]" if listed else node.op
                self.emit(ir.Operator(node.span, target, sign, operands))
            left = ir.Slot(target, node.span)
        return left

    def has_power_of_jax(self, exponent: ast.Expr) -> bool:
        """True if `**` with an exponent is JAX's, whose derivatives at 0 differ. With a whole
        number they do not, and a class of the program may define its own.
        """
        while isinstance(exponent, ast.Unary):
            exponent = exponent.operand
        if isinstance(exponent, ast.Literal) and isinstance(exponent.value, int):
            return False
        own = not self.names.members.isdisjoint(("__pow__", "__rpow__", "__ipow__"))
        return not own and modules.library(self.names.imports.values()) == "jax"

    def compare(self, e: ast.Compare, into: int | None) -> ir.Operand:
        if len(e.ops) == 1:
            return self.operator(e.span, e.ops[0], (e.first, e.rest[0]), into)
        test = ir.Slot(self.temporary(), e.span)
        left = self.expression(e.first)
        tests = [test] * len(e.ops)
        blocks = [self.out]
        for op, node in zip(e.ops, e.rest, strict=True):
            right = self.expression(node)
            self.emit(ir.Operator(e.span, test.index, op, (left, right)))
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
        """The value of `and`, `or` or a chained comparison: the last test that is evaluated.

        The next test is evaluated if one is true, for "or" if it is false. Its instructions nest in
        the block of the one before; groups of tests keep the nesting shallow.
        """
        self.out = blocks[0]
        made = self.temporary()
        while len(tests) > MOST_NESTED:
            groups = range(0, len(tests), MOST_NESTED)
            tests = [
                self.nested(span, kind, made, tests[g : g + MOST_NESTED], blocks[g:])
                for g in groups
            ]
            blocks = [*(blocks[g] for g in groups), []]
        return self.nested(span, kind, made, tests, blocks)

    def nested(
        self,
        span: Span,
        kind: str,
        made: int,
        tests: Sequence[ir.Operand],
        blocks: Sequence[ir.Body],
    ) -> ir.Operand:
        """The last of a few tests that is evaluated, in the slot `made`."""
        value = tests[-1]
        steps = zip(tests[:-1], blocks, blocks[1:], strict=False)
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
        if is_spread(e):
            return self.spread(e, into)
        busy = self.function.busy
        function = e.function
        builtin = self.names.called(e, self.function.scope)
        if builtin is not None:
            e, out = parted(e, self.names.signatures[builtin])
            args, keywords = self.arguments(self.gathered(e, builtin))
            if builtin == "sum" and self.sums_an_array(e):
                rows = ir.Slot(self.temporary(), e.args[0].span)
                self.emit(self.application(rows.span, rows.index, "numpy_rows", args[:1], ()))
                args = (rows, *args[1:])
            if builtin in _SHOWING:
                args = self.all_shown(e.args, args)
            if out is None:
                target = self.target(busy, into)
                self.emit(self.application(e.span, target, builtin, args, keywords))
            else:
                place, made = self.expression(out), ir.Slot(self.temporary(), e.span)
                self.emit(self.application(e.span, made.index, builtin, args, keywords))
                target = self.target(busy, into)
                self.emit(ir.Method(e.span, target, place, "out=", (made,), ()))
        elif (twin := self.names.twin(function, self.function.scope)) is not None:
            args, keywords = self.arguments(e)
            target = self.target(busy, into)
            self.emit(self.application(e.span, target, twin, args, keywords))
        elif self.names.path(function, self.function.scope) == "super":
            return self.super(e, into)
        elif isinstance(function, ast.Attribute) and not self.is_imported(function):
            receiver = self.expression(function.value)
            name = function.name
            if name == "append" and len(e.args) == 1 and not e.keywords:
                args, keywords = (self.held(e.args[0]),), ()
            else:
                args, keywords = self.arguments(e)
                if name == "format" and _is_plain(function.value):
                    args = self.all_shown(e.args, args)
            target = self.target(busy, into)
            if self.is_operation(function):
                name = self.of_arrays(function) or name
                if name == "numpy_transpose" and len(args) > 1:
                    name = "permute"  # `x.transpose(1, 0)`
                self.emit(self.application(e.span, target, name, args, keywords, (receiver,)))
            else:
                self.emit(ir.Method(e.span, target, receiver, name, args, keywords))
        else:
            callee = self.expression(function)
            args, keywords = self.arguments(e)
            target = self.target(busy, into)
            self.emit(ir.Call(e.span, target, callee, args, keywords))
        return ir.Slot(target, e.span)

    def super(self, e: ast.Call, into: int | None) -> ir.Operand:
        """`super()` in a method of a class, or `super(A, self)`."""
        busy = self.function.busy
        operands = tuple(self.expression(a) for a in e.args)
        if not operands:
            owner, receiver = self.function.owner, self.function.first
            assert owner is not None
            first: ir.Operand = ir.Const(None, e.span)
            if receiver is not None:
                first = ir.Slot(self.capture(receiver), e.span)
            operands = (ir.Slot(self.capture(owner), e.span), first)
        target = self.target(busy, into)
        self.emit(ir.Super(e.span, target, *operands))
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
        """An instruction that applies a built-in, as a method if there is a receiver. The arguments
        are bound to parameters where the signature allows it.
        """
        signatures = self.names.signatures
        inplace = name not in signatures
        op = name.removesuffix("_") if inplace else name
        signature = signatures[op]
        places = signature.positional
        by_place = not (receiver or keywords or signature.variadic)
        if by_place and signature.required <= len(args) <= len(places):  # most are
            kind = ir.Inplace if inplace else ir.Apply
            return kind(span, target, op, tuple(zip(places, args, strict=False)))
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

    def is_imported(self, function: ast.Expr) -> bool:
        """True if a path names a member of the library."""
        return self.names.imported(function, self.function.scope) is not None

    def held(self, e: ast.Expr, into: int | None = None) -> ir.Operand:
        """The value of an expression that the program stores. An element of a NumPy array is
        copied.
        """
        several = isinstance(e, ast.Tuple) and any(isinstance(i, ast.Index) for i in e.items)
        if not (several or isinstance(e, ast.Index)) or not self.copies_items:
            return self.expression(e, into)
        busy = self.function.busy
        if isinstance(e, ast.Tuple):
            if any(isinstance(item, ast.Starred) for item in e.items):
                return self.expression(e, into)
            operands = tuple(self.held(item) for item in e.items)
            target = self.target(busy, into)
            self.emit(ir.Build(e.span, target, "tuple", operands))
            return ir.Slot(target, e.span)
        item = self.expression(e)
        target = self.target(busy, into)
        self.emit(self.application(e.span, target, "numpy_item", (item,), ()))
        return ir.Slot(target, e.span)

    @cached_property
    def copies_items(self) -> bool:
        """True if storing an element of an array copies it."""
        return modules.copies_items(self.names.imports.values())

    def of_arrays(self, e: ast.Attribute) -> str | None:
        """The built-in that an attribute of NumPy's arrays stands for, if NumPy is imported, else
        None.
        """
        own = isinstance(e.value, ast.Name) and e.value.id == self.function.context
        if own or e.name in self.names.members:
            return None
        return self.names.of_arrays(e, self.function.scope)

    def is_operation(self, function: ast.Attribute) -> bool:
        """True if a method is a built-in function or its in-place variant."""
        base = function.value
        if isinstance(base, ast.Name) and base.id == self.function.context:
            return False
        if isinstance(base, ast.Index) and getattr(base.value, "name", "") == "at":
            return False  # `x.at[i].max(v)`
        if function.name in self.names.members:
            return False
        signatures = self.names.signatures
        if function.name in signatures.of_python:
            return False
        for name in (function.name, function.name.removesuffix("_")):
            if name in signatures and signatures[name].method:
                return True
        return False

    def gathered(self, e: ast.Call, builtin: str) -> ast.Call:
        """The call with a list in place of a generator expression that it reads to the end."""
        first = e.args[0] if e.args else None
        is_generator = isinstance(first, ast.Comprehension) and first.kind == "generator"
        if not is_generator or not self.names.signatures[builtin].gathers:
            return e
        assert isinstance(first, ast.Comprehension)
        listed = ast.Comprehension(first.span, "list", first.element, first.clauses)
        return ast.Call(e.span, e.function, (listed, *e.args[1:]), e.keywords)

    def sums_an_array(self, e: ast.Call) -> bool:
        """True for `np.sum` of what may be a list or tuple. Its rows are an array there, which
        Python's `sum` adds one by one.
        """
        path = self.names.path(e.function, self.function.scope)
        of_numpy = path is not None and modules.of_library(path) == "numpy.sum"
        if not of_numpy or not e.args:
            return False
        return is_list(e.args[0]) or not isinstance(e.args[0], (ast.Binary, ast.Unary))

    def all_shown(
        self, args: Sequence[ast.Expr], values: Sequence[ir.Operand]
    ) -> tuple[ir.Operand, ...]:
        """The values of arguments whose texts are shown."""
        return tuple(self.shown(e, value) for e, value in zip(args, values, strict=True))

    def shown(self, e: ast.Expr, value: ir.Operand) -> ir.Operand:
        """The value whose text is shown: an array beside tensors has NumPy's."""
        if not self.names.is_array_beside_tensors(e, self.function.scope):
            return value
        made = ir.Slot(self.temporary(), e.span)
        self.emit(self.application(e.span, made.index, "numpy_text", (value,), ()))
        return made

    def arguments(self, e: ast.Call) -> tuple[tuple[ir.Operand, ...], ir.Named]:
        args = tuple(self.expression(a) for a in e.args)
        return args, tuple((k.name, self.expression(k.value)) for k in e.keywords)

    def spread(self, e: ast.Call, into: int | None) -> ir.Operand:
        """A call with `*` or `**`: its arguments are first collected in a list and a dictionary."""
        busy = self.function.busy
        function = e.function
        builtin = self.names.called(e, self.function.scope)
        before: tuple[ir.Operand, ...] = ()
        method: ir.Operand | None = None
        if builtin is not None:
            callee: ir.Operand = ir.Builtin(builtin, function.span)
        elif isinstance(function, ast.Attribute) and not self.is_imported(function):
            receiver = self.expression(function.value)
            if function.name in self.names.signatures and self.is_operation(function):
                callee, before = ir.Builtin(function.name, function.span), (receiver,)
            else:
                callee, method = receiver, receiver
        else:
            callee = self.expression(function)
        args = self.extended(e.span, e.args, before)
        named = tuple(
            ast.Pair(k.span, ast.Literal(k.span, k.name) if k.name else None, k.value)
            for k in e.keywords
        )
        keywords = self.dictionary(ast.Dict(e.span, named)) if named else None
        target = self.target(busy, into)
        if method is not None and isinstance(function, ast.Attribute):
            self.emit(ir.SpreadMethod(e.span, target, callee, function.name, args, keywords))
        else:
            self.emit(ir.SpreadCall(e.span, target, callee, args, keywords))
        return ir.Slot(target, e.span)

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
            if conversion in ("", "s") and not part.spec and not part.debug:
                value = self.shown(part.value, value)
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

    # --- functions ---------------------------------------------------------------------

    def define(
        self, made: ast.Def | ast.Lambda, name: str, context: str, body: Callable[[], None]
    ) -> ir.Function:
        """The function of a `def` or `lambda`, whose instructions `body` emits."""
        defaults = [None if p.default is None else self.expression(p.default) for p in made.params]

        def parameters() -> tuple[ir.Parameter, ...]:
            slots = self.function.slots
            made_of = tuple(
                ir.Parameter(p.name, slots[p.name], default, p.span, p.kind)
                for p, default in zip(made.params, defaults, strict=True)
            )
            self.function.first = made_of[0].slot if made_of else outer.first
            body()
            return made_of

        outer = self.function
        return self.function_of(made, name, context, parameters)

    def returned(self, e: ast.Expr) -> None:
        """Return the value of an expression."""
        value = self.expression(e)
        self.emit(ir.Return(e.span, value))


_NO_LISTS = frozenset({ast.Name, ast.Literal, ast.Call})


def is_list(e: ast.Expr) -> bool:
    """True if an expression is a list display or comprehension, or a sum or product with one."""
    if type(e) in _NO_LISTS:  # most are
        return False
    pending = [e]
    while pending:
        e = pending.pop()
        if isinstance(e, ast.List) or (isinstance(e, ast.Comprehension) and e.kind == "list"):
            return True
        if isinstance(e, ast.Binary) and e.op in ("+", "*"):
            pending += (e.left, e.right)
    return False


def _is_plain(e: ast.Expr) -> bool:
    """True for the text of a format without anything in its braces but numbers."""
    text = e.value if isinstance(e, ast.Literal) else None
    return isinstance(text, str) and not re.sub(r"\{\d*\}|[^{}]", "", text)
