"""Hand-written typed programs for both back ends."""

from gradcli.engine.compile.typed import Block, Do, If, Leave, Loop, Pop, Program, Push, Tell, Value
from gradcli.source import Span

AT = Span(0, 0)


class Hand:
    """Writes instructions and numbers their values."""

    def __init__(self, *types):
        self.next = 0
        self.inputs = tuple(self.value(t) for t in types)

    def value(self, type="float"):
        self.next += 1
        return Value(self.next - 1, type)


def do(target, op, *args, **params):
    return Do(AT, target, op, args, tuple(params.items()))


def sum_of_sines():
    """y = sin(x y) + y, repeated n times from y on: y and its derivatives by x and the first y,
    with a hand-written backward pass.
    """
    h = Hand("float", "float", "int")
    x, first, n = h.inputs
    y, p, s, after = (h.value() for _ in range(4))
    i, more, again = h.value("int"), h.value("int"), h.value("bool")
    turn = (do(p, "mul", x, y), do(s, "sin", p), do(after, "add", s, y), do(more, "add", i, 1),
            do(again, "lt", more, n), Push(AT, 0, (y, p)))  # fmt: skip
    last, turns = h.value(), h.value("int")
    forth = Loop(AT, (last, h.value("int")), turns, (y, i), (first, 0),
                 Block(turn, (again, after, more)))  # fmt: skip
    g, gx, k = h.value(), h.value(), h.value("int")
    old, product, slope, inner, part, sum_x, through, sum_y = (h.value() for _ in range(8))
    next_k, on = h.value("int"), h.value("bool")
    turn = (Pop(AT, 0, (old, product)), do(slope, "cos", product), do(inner, "weigh", g, slope),
            do(part, "weigh", inner, old), do(sum_x, "add", gx, part),
            do(through, "weigh", inner, x), do(sum_y, "add", g, through),
            do(next_k, "add", k, 1), do(on, "lt", next_k, turns))  # fmt: skip
    by_y, by_x = h.value(), h.value()
    back = Loop(AT, (by_y, by_x, h.value("int")), h.value("int"), (g, gx, k), (1.0, -0.0, 0),
                Block(turn, (on, sum_y, sum_x, next_k)))  # fmt: skip
    return Program(h.inputs, Block((forth, back), (last, by_x, by_y)), ())


def turns(body=lambda h: (), texts=()):
    """A loop of n turns with a body, whose number of turns is an input."""
    h = Hand("int")
    i, more, again, out, count = (h.value(t) for t in ("int", "int", "bool", "int", "int"))
    inner = (*body(h, i), do(more, "add", i, 1), do(again, "lt", more, h.inputs[0]))
    loop = Loop(AT, (out,), count, (i,), (0,), Block(inner, (again, more)))
    return Program(h.inputs, Block((loop,), (count,)), texts)


def telling(*marks):
    """A loop that prints its turn and a third of it."""

    def body(h, i):
        third, odd = h.value(), h.value("bool")
        return (do(third, "div", i, 3), do(odd, "ne", i, 0), Tell(AT, 0, (i, third, odd)))

    return turns(body, ("{} {} {}".format,))


def filling():
    """A loop that pushes two numbers on a stack in each turn."""
    return turns(lambda h, i: (Push(AT, 5, (i, 1.5)),))


def nested(depth):
    """Nested branches of a depth: the first x above its bound is doubled."""
    h = Hand("float")
    (x,) = h.inputs
    inner = Block((), (x,))
    for k in range(depth):
        test, out, twice = h.value("bool"), h.value(), h.value()
        beyond = do(test, "gt", x, float(k))
        sides = inner, Block((do(twice, "add", x, x),), (twice,))
        inner = Block((beyond, If(AT, (out,), test, *sides)), (out,))
    return Program(h.inputs, inner, ())


def chain(length):
    """x + 1, repeated."""
    h = Hand("float")
    values = [h.inputs[0]]
    body = []
    for _ in range(length):
        values.append(h.value())
        body.append(do(values[-1], "add", values[-2], 1.0))
    return Program(h.inputs, Block(tuple(body), (values[-1],)), ())


def guarded():
    """A square root that bails out below zero."""
    h = Hand("float", "int", "bool")
    x, n, flag = h.inputs
    below, root, same = h.value("bool"), h.value(), h.value("bool")
    body = (do(below, "lt", x, 0.0), Leave(AT, below, "below zero"), do(root, "sqrt", x),
            do(same, "logical_not", flag))  # fmt: skip
    return Program(h.inputs, Block(body, (root, n, same)), ())


def in_python():
    """A value that machine code gets from Python in each turn of a loop."""
    return turns(lambda h, i: (do(h.value(), "lgamma", i),))
