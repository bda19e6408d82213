"""From the ops program to Python code: each function once, positions kept.

Loops, branches, calls and closures become Python's own. An op becomes one call of a function that
is bound to its site. The code object's positions locate a failing op. The session and the inputs
differ from run to run: the main function takes them as arguments and passes them on. The code
contains none of the user's text but names of variables. Names that start with `%` (temporaries) and
`@` (provided by the engine) cannot be written in a program.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CodeType
from typing import Any

from gradcli.cpython import NESTED, PROGRAM, Room
from gradcli.engine.run.code.counting import Counting
from gradcli.engine.run.code.pieces import Pieces, Place
from gradcli.errors import Diagnostic, ProgramError
from gradcli.ir import program as ir
from gradcli.ir.visit import (
    all_functions,
    functions_in,
    instructions,
    is_generator,
    writes,
    written_around,
)
from gradcli.record import Record
from gradcli.source import Span

MOST_BLOCKS = 12  # Python refuses more than 20 nested loops and with-blocks in one function
MAIN = "@main"  # the name of the main program as one Python function
PART = "@part"  # the name of each part of the main program
MOST_TOGETHER = 2000  # instructions of the main program in one Python function


class Code(Record):
    """A translated program: `parts` are its main function, or the functions that are called one
    after the other in its place, `places` is what they call and `constants` which built-in
    constants they read.
    """

    __slots__ = ("parts", "places", "constants")
    parts: tuple[CodeType, ...]
    places: tuple[Place, ...]
    constants: tuple[str, ...]


def translate(program: ir.Program, counting: type[Counting], filename: str = PROGRAM) -> Code:
    """Python code for a program, with the given counting.

    Raises:
        ProgramError: If the program is too large for Python's compiler.
    """
    translator = _Translator(program, counting)
    return _code(translator, translator.parts(), filename)


def translate_cell(
    program: ir.Program, start: int, counting: type[Counting], first: int
) -> tuple[Code, int]:
    """Python code for the last cell of a program, whose variables are globals.

    Args:
        program: The program with this cell and those before it.
        start: The number of instructions of the cells before.
        counting: How the code counts.
        first: The first number of names that the code makes.

    Returns:
        The code, and the first number for the next cell.

    Raises:
        ProgramError: If the cell is too large for Python's compiler.
    """
    translator = _Translator(program, counting, first)
    code = _code(translator, translator.cell(start), PROGRAM)
    return code, max(translator.count, first + len(code.places)) + 1


def _code(translator: _Translator, parts: Iterator[ast.FunctionDef], filename: str) -> Code:
    """The code of functions that a translator makes.

    Raises:
        ProgramError: If they are too large for Python's compiler.
    """
    try:
        with Room(NESTED):
            made = tuple(_compiled(part, filename) for part in parts)
    except (RecursionError, MemoryError, SyntaxError):
        source = translator.program.source
        message = "the program is nested too deeply"
        raise ProgramError(Diagnostic("nested-too-deep", message, source, Span(0, 0))) from None
    return Code(made, tuple(translator.places), tuple(sorted(translator.constants)))


def _compiled(function: ast.FunctionDef, filename: str) -> CodeType:
    module = ast.Module([function], [])
    code = compile(module, filename, "exec", dont_inherit=True, optimize=0)
    return next(c for c in code.co_consts if isinstance(c, CodeType))


class _Translator(Pieces):
    def __init__(self, program: ir.Program, counting: type[Counting], first: int = 0) -> None:
        super().__init__(program, first)
        self.counting = counting(self)
        self.blocks = 0  # nested Python blocks at this point of the current Python function
        self.wrapped = 0  # > 0 inside blocks moved into functions of their own
        self.frame: tuple[str, str] | None = None  # the caller's mode and that of the generator
        self.shared: frozenset[str] = frozenset()  # names of the Python function that are globals
        self.globals: frozenset[int] = frozenset()  # slots of the main program that are globals

    def parts(self) -> Iterator[ast.FunctionDef]:
        """The main function. That of a small program is one Python function with local variables.
        That of a large one is split into several with globals, so that the time and memory of
        Python's compiler stay proportional to the program.
        """
        main, span = self.program.main, self.program.main.span
        if len(main.body) <= MOST_TOGETHER:
            whole = self.python_function(main, MAIN, [], _OF_THE_RUN)
            variables = ast.Call(self.name("@locals", span), [], [], **self.at(span))
            whole.body.append(self.end(variables))
            yield whole
            return
        for start in range(0, len(main.body), MOST_TOGETHER):
            body = main.body[start : start + MOST_TOGETHER]
            yield self.part(body, ends=start + MOST_TOGETHER >= len(main.body))

    def cell(self, start: int) -> Iterator[ast.FunctionDef]:
        """The function of the instructions from a number on, up to the result."""
        yield self.part(self.program.main.body[start:], ends=True)

    def part(self, body: ir.Body, *, ends: bool) -> ast.FunctionDef:
        """The function of a part of the main program, whose variables are globals. The last part
        returns the result.
        """
        main, span = self.program.main, self.program.main.span
        self.shared = frozenset(map(self.variable, main.locals))
        self.globals = frozenset(main.locals)
        part = ir.Function(PART, (), body, main.locals, (), span)
        made = self.python_function(part, PART, [], _OF_THE_RUN, self.shared)
        if ends:
            made.body.append(self.end(self.constant(None, span)))
        return made

    def never(self, function: ir.Function) -> list[ast.stmt]:
        """Assignments that are never made, so that the functions in one find the names of it that
        only they assign.
        """
        inner = [f for outer in functions_in(function.body) for f in all_functions(outer)]
        written = {slot for f in inner for slot in written_around(f)}.intersection(function.locals)
        if not written:
            return []
        span = function.span
        own = {slot for i in instructions(function.body) for slot in writes(i)}
        own.update(param.slot for param in function.parameters)
        names = sorted(map(self.variable, written - own))
        made: list[ast.stmt] = [self.store(n, self.constant(None, span), span) for n in names]
        return [ast.If(self.constant(False, span), made, [], **self.at(span))] if made else []

    def around(self, function: ir.Function) -> list[ast.stmt]:
        """Declarations of names around a function that it assigns."""
        written = written_around(function)
        at = self.at(function.span)
        shared = sorted(map(self.variable, written & self.globals))
        outer = sorted(map(self.variable, written - self.globals))
        made: list[ast.stmt] = [ast.Global(shared, **at)] if shared else []
        return [*made, ast.Nonlocal(outer, **at)] if outer else made

    def end(self, variables: ast.expr) -> ast.stmt:
        """The return statement of the main program: its variables and its result."""
        span = self.program.main.span
        result = self.program.result
        value = self.constant(None, span) if result is None else self.load(result)
        both = ast.Tuple([variables, value], ast.Load(), **self.at(span))
        return ast.Return(both, **self.at(span))

    # --- functions and blocks ----------------------------------------------------------

    def function(
        self, function: ir.Function, name: str, defaults: list[ast.expr]
    ) -> ast.FunctionDef:
        """A function of the program, whose calls are counted."""
        if is_generator(function):  # it is resumed, not called
            return self.python_function(function, name, defaults)
        outside = self.counting.enter(function)
        made = self.python_function(function, name, defaults)
        docstring, *body = made.body
        first, last = self.counting.entered(function.span), self.counting.left(function.span)
        made.body = [docstring, *first, *body, *last]
        self.counting.leave(outside)
        return made

    def python_function(
        self,
        function: ir.Function,
        name: str,
        defaults: list[ast.expr],
        first: tuple[str, ...] = (),
        shared: frozenset[str] = frozenset(),
    ) -> ast.FunctionDef:
        """The Python function of a function's body. The `first` names stand before its parameters.
        The `shared` ones of the names that it assigns are globals.
        """
        outside = self.blocks, self.wrapped, self.shared, self.frame
        self.frame = None
        # a `yield` cannot move into a function of its own
        self.blocks, self.wrapped = (-MOST_BLOCKS if is_generator(function) else 0), 0
        self.shared = shared
        span = function.span
        said = f"\n{function.doc}" if isinstance(function, ir.DocumentedFunction) else ""
        place = ast.Expr(self.constant(f"{span.start} {span.end}{said}", span), **self.at(span))
        inside = self.body(function.body, span)
        declared = [] if shared else [*self.around(function), *self.never(function)]
        body = [place, *declared, *inside]  # its docstring first
        if shared:
            names = {self.variable(slot) for i in instructions(function.body) for slot in writes(i)}
            names &= shared
            body.insert(1, ast.Global(sorted(names), **self.at(span)) if names else place)
        self.blocks, self.wrapped, self.shared, self.frame = outside
        arguments = self.parameters(function, first, defaults)
        return ast.FunctionDef(name, arguments, body, [], **_LATER, **self.at(function.span))

    def body(self, block: list[ir.Instruction], span: Span) -> list[ast.stmt]:
        made = [s for i in block for s in self.statements(i)]
        return made or [ast.Pass(**self.at(span))]

    def block(self, instruction: ir.For | ir.While | ir.Mode) -> list[ast.stmt]:
        """A loop or mode; a loop nested too deeply for Python moves into a function of its own."""
        if self.blocks < MOST_BLOCKS or isinstance(instruction, ir.Mode):
            self.blocks += 2 if isinstance(instruction, ir.Mode) else 1
            made = self._block(instruction)
            self.blocks -= 2 if isinstance(instruction, ir.Mode) else 1
            return made
        span = instruction.span
        outside = self.blocks
        self.blocks, self.wrapped = 0, self.wrapped + 1
        inner = self.block(instruction)
        self.blocks, self.wrapped = outside, self.wrapped - 1
        names = sorted({n.id for s in inner for n in _stores(s)})
        name, result = self.fresh("block"), self.fresh("result")
        never: list[ast.stmt] = [
            self.store(n, self.constant(None, span), span) for n in names
        ]  # so that the outer function has the names
        own = [n for n in names if n not in self.shared]
        shared: list[ast.stmt] = [ast.Nonlocal(own, **self.at(span))] if own else []
        if len(own) < len(names):
            shared.append(ast.Global(sorted({*names} & self.shared), **self.at(span)))
        made_function = ast.FunctionDef(
            name,
            ast.arguments([], [], None, [], [], None, []),
            [*shared, *inner],
            [],
            **_LATER,
            **self.at(span),
        )
        out: list[ast.stmt] = []
        if never:
            out.append(ast.If(self.constant(False, span), never, [], **self.at(span)))
        out += [made_function, self.store(result, self.call(self.name(name, span), span), span)]
        returned = self.name(result, span)
        if self.wrapped == 0:
            returned = ast.Subscript(returned, self.constant(0, span), ast.Load(), **self.at(span))
        has_returned = ast.Compare(
            self.name(result, span), [ast.IsNot()], [self.constant(None, span)], **self.at(span)
        )
        out.append(
            ast.If(has_returned, [ast.Return(returned, **self.at(span))], [], **self.at(span))
        )
        return out

    def _block(self, instruction: ir.For | ir.While | ir.Mode) -> list[ast.stmt]:
        span = instruction.span
        if isinstance(instruction, ir.Mode):
            before = self.fresh("mode")
            enter = self.ask("@enter", span, [self.constant(instruction.mode, span)])
            leave = self.ask("@leave", span, [self.name(before, span)])
            around = self.frame
            if isinstance(instruction, ir.FrameMode):
                self.frame = (before if around is None else around[0], instruction.mode)
            body = self.body(instruction.body, span)
            self.frame = around
            return [
                self.store(before, enter, span),
                ast.Try(
                    body,
                    [],
                    [],
                    [ast.Expr(leave, **self.at(span))],
                    **self.at(span),
                ),
            ]
        turn = f"%turn {span.start} {span.end}"
        count = ast.AugAssign(
            ast.Name(turn, ast.Store(), **self.at(span)),
            ast.Add(),
            self.constant(1, span),
            **self.at(span),
        )
        start = self.store(turn, self.constant(0, span), span)
        head = instruction.iterable if isinstance(instruction, ir.For) else instruction.test
        steps = self.counting.step(head.span)
        if isinstance(instruction, ir.For):
            loop: ast.stmt = ast.For(
                ast.Name(self.variable(instruction.target), ast.Store(), **self.at(span)),
                self.ask("@iterate", instruction.iterable.span, (instruction.iterable,)),
                [count, *steps, *self.body(instruction.body, span)],
                [],
                **self.at(instruction.iterable.span),  # the place of a failing `next`
            )
        else:
            test = instruction.test
            leave_loop: list[ast.stmt] = [ast.Break(**self.at(test.span))]
            done = ast.UnaryOp(ast.Not(), self.truth(test), **self.at(test.span))
            loop = ast.While(
                self.constant(True, span),
                [
                    count,
                    *(s for i in instruction.condition for s in self.statements(i)),
                    ast.If(done, leave_loop, [], **self.at(test.span)),
                    *steps,
                    *self.body(instruction.body, span),
                ],
                [],
                **self.at(span),
            )
        return [start, loop]

    def attempt(self, i: ir.Try) -> list[ast.stmt]:
        """Python's own `try`. A caught error becomes an exception of the program. An error that
        ends the run, such as a limit, passes by the handlers and by `finally`.
        """
        self.blocks += 2
        made = self.body(i.body, i.span)
        if i.handlers:
            made = self.handled(i, made)
        if i.last:
            made = self.finally_done(i, made)
        self.blocks -= 2
        return made

    def handled(self, i: ir.Try, body: list[ast.stmt]) -> list[ast.stmt]:
        """A body with the handlers of its exceptions."""
        span, at = i.span, self.at(i.span)
        depth, caught = self.fresh("depth"), self.fresh("caught")
        counter = ast.Attribute(self.name("@counters", span), "depth", ast.Load(), **at)
        told = [self.name(caught, span), self.name(depth, span)]
        seen = self.ask("@caught", span, told, of="@counters")
        chosen: list[ast.stmt] = [ast.Raise(None, None, **at)]
        for handler in reversed(i.handlers):
            here = self.at(handler.span)
            target = self.variable(handler.target)
            found = self.store(target, self.name(f"{caught} seen", span), handler.span)
            inside = [found, *self.body(handler.body, handler.span)]
            if handler.type is None:
                chosen = inside
                continue
            asked = [self.name(f"{caught} seen", span), self.load(handler.type)]
            fits = self.plainly("@matches", handler.type.span, asked)
            test = [s for inner in handler.test for s in self.statements(inner)]
            chosen = [*test, ast.If(fits, inside, chosen, **here)]
        any_of_them = self.name("@exception", span)
        first = self.store(f"{caught} seen", seen, span)
        taken = ast.ExceptHandler(any_of_them, caught, [first, *chosen], **at)
        orelse = self.body(i.orelse, span) if i.orelse else []
        return [self.store(depth, counter, span), ast.Try(body, [taken], orelse, [], **at)]

    def finally_done(self, i: ir.Try, body: list[ast.stmt]) -> list[ast.stmt]:
        """A body followed by statements that run in any case but the end of the run. Too deep a
        call is no end: a handler further out may catch it.
        """
        span, at = i.span, self.at(i.span)
        goes_on = self.fresh("goes on")
        ended = [self.store(goes_on, self.constant(False, span), span), ast.Raise(None, None, **at)]
        stopped = ast.ExceptHandler(self.name("@end", span), None, ended, **at)
        again = ast.Raise(None, None, **at)
        caught = ast.ExceptHandler(self.name("@deep", span), None, [again], **at)
        inner = ast.Try(body, [caught, stopped], [], [], **at)
        last = ast.If(self.name(goes_on, span), self.body(i.last, span), [], **at)
        return [
            self.store(goes_on, self.constant(True, span), span),
            ast.Try([inner], [], [], [last], **at),
        ]

    def emitted(self, step: ast.stmt, span: Span) -> list[ast.stmt]:
        """A `yield`: in a frame with a mode of its own the caller's mode holds until it goes on."""
        if self.frame is None:
            return [step]
        before, mode = self.frame
        leave = self.ask("@leave", span, [self.name(before, span)])
        enter = self.store(before, self.ask("@enter", span, [self.constant(mode, span)]), span)
        return [
            ast.Expr(leave, **self.at(span)),
            ast.Try([step], [], [], [enter], **self.at(span)),
        ]

    def emitted_all(self, i: ir.EmitAll) -> list[ast.stmt]:
        """A `yield from`, in a frame with a mode of its own item by item."""
        span, target = i.span, self.variable(i.target)
        items = self.ask("@iterate", i.value.span, (i.value,))
        if self.frame is None:
            return [self.store(target, ast.YieldFrom(items, **self.at(span)), span)]
        before, mode = self.frame
        given = [self.constant(mode, span), self.name(before, span), items]
        whole = ast.YieldFrom(self.ask("@through", span, given), **self.at(span))
        at = self.at(span)
        names: list[ast.expr] = [ast.Name(name, ast.Store(), **at) for name in (target, before)]
        return [ast.Assign([ast.Tuple(names, ast.Store(), **at)], whole, **at)]

    # --- instructions ------------------------------------------------------------------

    def statements(self, i: ir.Instruction) -> list[ast.stmt]:
        span = i.span
        match i:
            case ir.Copy():
                return [self.store(self.variable(i.target), self.load(i.value), span)]
            case ir.Operator():
                value = self.ask(self.place(i), span, i.args)
                return [self.store(self.variable(i.target), value, span)]
            case ir.Augment():
                value = self.ask(self.place(i), span, (i.receiver, i.value))
                return [self.store(self.variable(i.target), value, span)]
            case ir.Apply() | ir.Inplace():
                value = self.ask(self.place(i), span, [operand for _, operand in i.arguments])
                return [self.store(self.variable(i.target), value, span)]
            case ir.CallBuiltin():
                value = self.ask(self.place(i), span, i.args, i.keywords)
                return [self.store(self.variable(i.target), value, span)]
            case ir.Call():
                value = self.call(self.callee(i.function), span, i.args, i.keywords)
                return [self.store(self.variable(i.target), value, span)]
            case ir.Method():
                value = self.ask(self.place(i), span, (i.receiver, *i.args), i.keywords)
                return [self.store(self.variable(i.target), value, span)]
            case ir.GetAttribute():
                asked = [self.load(i.receiver), self.constant(i.name, span)]
                value = self.ask(self.place(i), span, asked)
                return [self.store(self.variable(i.target), value, span)]
            case ir.SetAttribute():
                given = [self.load(i.receiver), self.constant(i.name, span), self.load(i.value)]
                return [ast.Expr(self.ask(self.place(i), span, given), **self.at(span))]
            case ir.SetItem():
                value = self.ask(self.place(i), span, (i.receiver, i.index, i.value))
                return [ast.Expr(value, **self.at(span))]
            case ir.SpreadCall():
                function = self.callee(i.function)
                value = self.spread(function, i)
                return [self.store(self.variable(i.target), value, span)]
            case ir.SpreadMethod():
                first = [self.name("@session", span), self.load(i.receiver)]
                function = self.name(self.place(i), span)
                value = self.spread(function, i, first)
                return [self.store(self.variable(i.target), value, span)]
            case ir.Append() | ir.Extend():
                name = type(i).__name__.lower()
                value = self.load(i.value)
                if name == "extend":
                    value = self.ask("@more", span, [self.load(i.receiver), value])
                add = ast.Attribute(self.load(i.receiver), name, ast.Load(), **self.at(span))
                return [ast.Expr(self.call(add, span, [value]), **self.at(span))]
            case ir.Delete():
                deleted = ast.Name(self.variable(i.slot.index), ast.Del(), **self.at(span))
                return [ast.Delete([deleted], **self.at(span))]
            case ir.DeleteItem():
                value = self.plainly("@delete", span, (i.receiver, i.index))
                return [ast.Expr(value, **self.at(span))]
            case ir.DeleteAttribute():
                of = (i.receiver, self.constant(i.name, span))
                value = self.plainly("@delete_attribute", span, of)
                return [ast.Expr(value, **self.at(span))]
            case ir.Emit():
                emitted = ast.Yield(self.load(i.value), **self.at(span))
                return self.emitted(self.store(self.variable(i.target), emitted, span), span)
            case ir.EmitAll():
                return self.emitted_all(i)
            case ir.Build():
                return [self.store(self.variable(i.target), self.build(i), span)]
            case ir.Format():
                asked = [
                    self.load(i.value),
                    self.constant(i.conversion, span),
                    self.load(i.spec),
                ]
                value = self.call(self.name(self.place(i), span), span, asked)
                return [self.store(self.variable(i.target), value, span)]
            case ir.Unpack():
                targets: list[ast.expr] = [
                    ast.Name(self.variable(t), ast.Store(), **self.at(span)) for t in i.targets
                ]
                asked = [self.load(i.value), self.constant(len(targets), span)]
                if i.starred is not None:
                    asked.append(self.constant(i.starred, span))
                value = self.ask("@unpack" if i.starred is None else "@spread", span, asked)
                pattern = ast.Tuple(targets, ast.Store(), **self.at(span))
                return [ast.Assign([pattern], value, **self.at(span))]
            case ir.Branch():
                then = self.body(i.then, span)
                orelse = self.body(i.orelse, span) if i.orelse else []
                return [ast.If(self.truth(i.test), then, orelse, **self.at(i.test.span))]
            case ir.Choice():
                return [self.choice(i)]
            case ir.For() | ir.While() | ir.Mode():
                return self.block(i)
            case ir.Break():
                return [ast.Break(**self.at(span))]
            case ir.Continue():
                return [ast.Continue(**self.at(span))]
            case ir.Return():
                returned = self.load(i.value)
                if self.wrapped:
                    returned = ast.Tuple([returned], ast.Load(), **self.at(span))
                return [*self.counting.left(span), ast.Return(returned, **self.at(span))]
            case ir.Assert():
                return [self.assertion(i)]
            case ir.Define():
                return self.define(i)
            case ir.DefineRule():
                return self.define_rule(i)
            case ir.DefineClass():
                value = self.ask(self.place(i), span, i.bases, i.members)
                return [self.store(self.variable(i.target), value, span)]
            case ir.Super():
                value = self.plainly("@super", span, (i.owner, i.receiver))
                return [self.store(self.variable(i.target), value, span)]
            case ir.Try():
                return self.attempt(i)
            case ir.Raise():
                value = self.constant(None, span) if i.value is None else self.load(i.value)
                return [ast.Raise(self.plainly("@raised", span, [value]), None, **self.at(span))]
            case ir.Input():
                return self.input(i)
            case ir.Watch():
                name = self.variable(i.slot)
                value = self.ask(
                    "@watch", span, [self.constant(i.name, span), self.name(name, span)]
                )
                return [self.store(name, value, span)]
        raise AssertionError(f"no translation of {type(i).__name__}")

    def choice(self, i: ir.Choice) -> ast.stmt:
        """An `if` whose sides put what they yield into the target."""
        sides = []
        for *body, last in (i.then, i.orelse):
            assert isinstance(last, ir.Yield)
            made = [s for inner in body for s in self.statements(inner)]
            if not (isinstance(last.value, ir.Slot) and last.value.index == i.target):
                value = self.load(last.value)
                made.append(self.store(self.variable(i.target), value, last.span))
            sides.append(made)
        then, orelse = sides
        then = then or [ast.Pass(**self.at(i.span))]
        return ast.If(self.truth(i.test), then, orelse, **self.at(i.test.span))

    def assertion(self, i: ir.Assert) -> ast.stmt:
        span = i.span
        message = self.constant(None, span) if i.message is None else self.load(i.message)
        asked = self.plainly("@assertion", span, [message])
        failed = ast.Raise(asked, None, **self.at(span))
        before = [s for inner in i.body for s in self.statements(inner)]
        false = ast.UnaryOp(ast.Not(), self.truth(i.test), **self.at(i.test.span))
        return ast.If(false, [*before, failed], [], **self.at(span))

    def define(self, i: ir.Define) -> list[ast.stmt]:
        function = i.function
        defaults = [self.load(p.default) for p in function.parameters if p.default is not None]
        made = self.function(function, function.name, defaults)
        target = self.variable(i.target)
        if target == function.name:
            return [made]
        return [made, self.store(target, self.name(function.name, i.span), i.span)]

    def define_rule(self, i: ir.DefineRule) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        loaded = []
        for method in i.methods:
            defaults = [self.load(p.default) for p in method.parameters if p.default is not None]
            name = f"{i.name}.{method.name}"
            out.append(self.function(method, name, defaults))
            loaded.append(self.name(name, i.span))
        made = self.ask(self.place(i), i.span, [*i.bases, *loaded], i.attributes)
        return [*out, self.store(self.variable(i.target), made, i.span)]

    def input(self, i: ir.Input) -> list[ast.stmt]:
        span, target = i.span, self.variable(i.target)
        bind = self.place(i)
        default = self.constant(None, span) if i.default is None else self.load(i.default)
        value = self.ask(bind, span, [default], of="@inputs")
        bound: list[ast.stmt] = [self.store(target, value, span)]
        if i.body and i.type is None:  # the default tells the type
            bound = [*(s for inner in i.body for s in self.statements(inner)), *bound]
        elif i.body:
            needs = self.ask("@needs", span, [self.constant(i.name, span)], of="@inputs")
            nothing = self.ask(bind, span, [self.constant(None, span)], of="@inputs")
            without = self.store(target, nothing, span)
            made = [s for inner in i.body for s in self.statements(inner)]
            bound = [ast.If(needs, [*made, *bound], [without], **self.at(span))]
        if not i.needed:
            missing = self.ask("@needs", span, [self.constant(i.name, span)], of="@inputs")
            bound = [ast.If(missing, [ast.Pass(**self.at(span))], bound, **self.at(span))]
        for name, slot in i.sizes:
            size = self.ask("@size", span, [self.constant(name, span)], of="@inputs")
            bound.append(self.store(self.variable(slot), size, span))
        return bound


_OF_THE_RUN = ("@session", "@inputs", "@counters")
_LATER: Any = {"type_params": []} if "type_params" in ast.FunctionDef._fields else {}


def _stores(statement: ast.stmt) -> list[ast.Name]:
    """Names that a statement assigns in its own Python function."""
    found = []
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.append(node)
        if isinstance(node, ast.FunctionDef):
            found.append(ast.Name(node.name, ast.Store()))
            nonlocals = [s for s in node.body if isinstance(s, (ast.Nonlocal, ast.Global))]
            found += [ast.Name(n, ast.Store()) for s in nonlocals for n in s.names]
            continue
        stack.extend(ast.iter_child_nodes(node))
    return found
