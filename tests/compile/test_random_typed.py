"""Random typed programs of all ops: what machine code answers is what Python code answers."""

import random

import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.checks.amounts import chunks
from support.checks.validate_typed import faults
from support.programs.number_cases import NUMBERS, OF_MACHINE_CODE, OPS, bits, cases, random_number

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.llvm.code import Code
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.typed import Block, Do, If, Leave, Loop, Pop, Program, Push, Tell, Value
from gradcli.source import Span

AT = Span(0, 0)
CASES = [*cases(sorted({*OPS} - OF_MACHINE_CODE), NUMBERS)]
CONSTANTS = {"float": (0.5, -1.0, 2.0, 0.0), "int": (0, 1, 2, -3), "bool": (True, False)}


class Writer:
    """Writes a random program; what is in `seen` may be read."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.pairs = 0
        self.types = tuple(self.rng.choice([*NUMBERS]) for _ in range(self.rng.randint(1, 4)))

    def value(self, type):
        self.count += 1
        return Value(self.count - 1, type)

    def program(self):
        inputs = tuple(self.value(t) for t in self.types)
        body, seen = self.body(inputs, 0)
        results = tuple(self.rng.choice(seen) for _ in range(3))
        return Program(inputs, Block(tuple(body), results), ("{} {}".format,))

    def body(self, seen, depth):
        """Instructions, and what may be read behind them."""
        seen, body = [*seen], []
        for _ in range(self.rng.randint(1, 8)):
            way = self.rng.random() if depth < 3 else 1.0
            write = self.branch if way < 0.15 else self.loop if way < 0.25 else self.simple
            written, more = write(seen, depth)
            body += written
            seen += more
        return body, seen

    def operand(self, seen, type):
        known = [v for v in seen if v.type == type]
        if not known or self.rng.random() < 0.1:
            return self.rng.choice(CONSTANTS[type])
        return self.rng.choice(known[-6:])

    def simple(self, seen, depth):
        way = self.rng.random()
        if way < 0.04:
            small = self.value("bool")
            test = Do(AT, small, "lt", (self.operand(seen, "float"), -30.0), ())
            return [test, Leave(AT, small, "very small")], [small]
        if way < 0.1:
            return [Tell(AT, 0, (self.operand(seen, "float"), self.operand(seen, "int")))], []
        case = self.rng.choice(CASES)
        target = self.value(case.kind)
        args = (*(self.operand(seen, t) for t in case.types), *case.left_out)
        return [Do(AT, target, case.name, args, tuple(case.params.items()))], [target]

    def branch(self, seen, depth):
        types = [self.rng.choice([*NUMBERS]) for _ in range(self.rng.randint(0, 3))]
        sides = []
        for _ in range(2):
            body, inner = self.body(seen, depth + 1)
            sides.append(Block(tuple(body), tuple(self.operand(inner, t) for t in types)))
        targets = tuple(map(self.value, types))
        return [If(AT, targets, self.operand(seen, "bool"), *sides)], targets

    def loop(self, seen, depth):
        """Some turns, as many as an int says but for a few; what it pushes a second loop pops."""
        types = [self.rng.choice([*NUMBERS]) for _ in range(self.rng.randint(0, 3))]
        params = [self.value(t) for t in types]
        turn, more, again = self.value("int"), self.value("int"), self.value("bool")
        body, inner = self.body([*seen, *params, turn], depth + 1)
        pushed = tuple(self.operand(inner, t) for t in ("float", "int", "bool"))
        stack = self.pairs
        self.pairs += 1
        last = self.rng.randint(1, 4)
        body += [Push(AT, stack, pushed), Do(AT, more, "add", (turn, 1), ()),
                 Do(AT, again, "lt", (more, last), ())]  # fmt: skip
        following = [self.operand(inner, t) for t in types]
        targets, turns = [self.value(t) for t in types], self.value("int")
        initial = [self.operand(seen, t) for t in types]
        forth = Loop(AT, (*targets, self.value("int")), turns, (*params, turn), (*initial, 0),
                     Block(tuple(body), (again, *following, more)))  # fmt: skip
        return [forth, *self.back(stack, turns)], [*targets, turns]

    def back(self, stack, turns):
        popped = tuple(map(self.value, ("float", "int", "bool")))
        left, less, again = self.value("int"), self.value("int"), self.value("bool")
        total, after = self.value("float"), self.value("float")
        body = (Pop(AT, stack, popped), Do(AT, less, "sub", (left, 1), ()),
                Do(AT, after, "add", (total, popped[0]), ()),
                Do(AT, again, "gt", (less, 0), ()))  # fmt: skip
        ends = (self.value("int"), self.value("float"))
        yield Loop(AT, ends, self.value("int"), (left, total), (turns, -0.0),
                   Block(body, (again, less, after)))  # fmt: skip


def answer(made, inputs):
    told = []
    try:
        return [*map(bits, made.call(inputs, Control(echo=told.append)))], told
    except Left:
        return None


@pytest.mark.parametrize("first", chunks(9, 999, 9))
def test_machine_code_is_python_code(first):
    answered = 0
    for seed in range(first, first + 9):
        writer = Writer(seed)
        program = writer.program()
        assert faults(program) == []
        machine, plain = Code(program), python.Code(program)
        for _ in range(10):
            inputs = tuple(random_number(writer.rng, t) for t in writer.types)
            found = answer(machine, inputs)
            if found is not None:
                answered += 1
                assert found == answer(plain, inputs), (seed, inputs)
    assert answered > 9
