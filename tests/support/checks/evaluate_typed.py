"""A plain evaluator of typed programs, the reference for back ends."""

from gradcli.engine.compile.control import Left
from gradcli.engine.compile.typed import Do, If, Leave, Loop, Pop, Push, Tell, Value
from gradcli.engine.ops.catalog import ops


def evaluate(program, inputs, echo=lambda text: None):
    """The results of a typed program for inputs. Raises `Left` if it bails out."""
    run = Run(program.texts, echo)
    run.values.update({v.number: x for v, x in zip(program.inputs, inputs, strict=True)})
    results = run.block(program.block)
    assert not any(run.stacks.values()), "a stack is not empty at the end"
    return results


class Run:
    def __init__(self, texts, echo):
        self.values, self.stacks, self.texts, self.echo = {}, {}, texts, echo
        self.turns = self.held = self.most = 0

    def read(self, xs):
        return tuple(self.values[x.number] if isinstance(x, Value) else x for x in xs)

    def define(self, targets, numbers):
        for target, x in zip(targets, numbers, strict=True):
            assert type(x).__name__ == target.type, f"{x!r} for {target}"
            self.values[target.number] = x

    def block(self, block):
        for i in block.body:
            self.instruction(i)
        return self.read(block.results)

    def instruction(self, i):
        match i:
            case Do():
                found = ops[i.op].value.number(*self.read(i.args), **dict(i.params))
                self.define((i.target,), (found,))
            case If():
                (test,) = self.read((i.test,))
                self.define(i.targets, self.block(i.then if test else i.orelse))
            case Loop():
                again, params, turns = True, self.read(i.initial), 0
                while again:
                    self.define(i.params, params)
                    again, *params = self.block(i.body)
                    turns += 1
                self.define((*i.targets, i.turns), (*params, turns))
            case Push():
                self.stacks.setdefault(i.stack, []).append(self.read(i.values))
                self.held += len(i.values)
                self.most = max(self.most, self.held)
            case Pop():
                self.define(i.targets, self.stacks[i.stack].pop())
                self.held -= len(i.targets)
            case Leave():
                if self.read((i.when,))[0]:
                    raise Left(i.reason)
            case Tell():
                self.echo(self.texts[i.text](*self.read(i.args)))
