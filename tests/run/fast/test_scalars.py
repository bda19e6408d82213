"""The fast path of element-wise ops on numbers and 0-d tensors does what is done without it, and is
taken wherever it can be.
"""

import itertools

import numpy as np
import pytest
from support.checks.oracles import table
from support.processes.taken_down import kept, told

from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.inplace import apply_inplace
from gradcli.engine.run.fast import call, scalars
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.graph import Site
from gradcli.engine.tape.tensor import Number, Tensor, leaf
from gradcli.engine.values.data import Quiet
from gradcli.errors import GradError
from gradcli.source import Span

OPS = [op for op in {id(op): op for op in table().values()}.values() if call.has_fast_path(op)]
SITE = Site(Span(3, 5), "y")


def item(x):
    """A number that is the second result of its node."""
    return Session().do(ops.unbind, [leaf(np.array([0.5, x]))], {"dim": 0})[1]


def part(x):
    """A view of an element."""
    return Session().do(ops.getitem, [leaf(np.array([0.5, x]))], {"index": 1})


def owned(x):
    """The same with memory of its own."""
    return Session().do(ops.clone, [part(x)], {})


def second(x, kind):
    found = kind(x, leaf(np.array([0.5, x])).node)
    found.index = 1
    return found


def hidden(x):
    found = Session().do(ops.neg, [leaf(-x)], {})
    found.node.visible = False
    return found


def changed(x):
    found = Session().do(ops.neg, [leaf(2 - x)], {})
    return apply_inplace(ops.add, found, [2.0], {}, None, recording=True)


KINDS = {
    "float": lambda x: x,
    "int": lambda x: 3,
    "bool": lambda x: True,
    "watched": lambda x: Number(x, leaf(x).node),
    "watched second": lambda x: second(x, Number),
    "unwatched": Number,
    "leaf": leaf,
    "constant": Tensor,
    "second": lambda x: second(x, Tensor),
    "hidden": hidden,
    "changed": changed,
    "int tensor": lambda x: Tensor(3),
    "bool tensor": lambda x: Tensor(True),
    "item": item,
    "part": part,
    "owned": owned,
    "float32": lambda x: leaf(np.asarray(x, np.float32)),
    "vector": lambda x: leaf(np.array([x, 0.3])),
    "list": lambda x: [x],
}
PLAIN = ("float", "int", "bool")
NUMBERS = ("watched", "watched second", "unwatched")
OF_FLOATS = (*NUMBERS, "leaf", "constant", "second", "hidden", "changed", "owned")
VIEWS = ("item", "part")


class Elsewhere(Exception):
    """The fast path does not do it, but another one."""


def to(other):
    def refused(*_):
        raise Elsewhere(other)

    return refused


def outcome(way, session, args):
    before = [*map(kept, args)]
    try:
        found = way(session, SITE, *args)
    except GradError as error:
        return str(error)
    if not isinstance(found, Tensor):
        return type(found), repr(found)
    if type(found) is Number and found.node is not None:  # which nothing changes in place
        found.node.versions, found.node.cells = None, ()
    return told(found, args, before)


def ways(op):
    """The op by its fast path alone, and without it."""
    made = (scalars.unary if len(op.args) == 1 else scalars.binary).__wrapped__
    fast = made(op, to("long"), lambda op: to("of tensors"))

    def general(session, site, *args):
        return call._run(op, session, args, op.params, site)

    return lambda session, site, *args: fast(site)(session, *args), general


def calls(op):
    """Arguments of all kinds, with their kinds and a session that records or not."""
    kinds = KINDS if len(op.args) == 1 or op.name in THOROUGH else SOME
    for named in itertools.product(kinds, repeat=len(op.args)):
        for recording in (True, False):
            session = Session()
            args = [KINDS[k](x) for k, x in zip(named, (0.625, 0.375), strict=False)]
            session.recording = recording
            yield named, recording, session, args


THOROUGH = {"add", "mul", "div", "pow", "atan2", "maximum", "eq", "floor_divide", "remainder"}
SOME = ("float", "int", "watched", "watched second", "leaf", "constant", "second", "part")


@pytest.mark.parametrize("count", [1, 2])
def test_the_fast_path_takes_down_what_is_taken_down_without_it(count):
    wrong, short = [], set()
    for op in OPS:
        if len(op.args) != count:
            continue
        fast, general = ways(op)
        with Quiet():
            for named, recording, session, args in calls(op):
                try:
                    made = outcome(fast, session, args)
                except Elsewhere:
                    continue
                short.add((op.name, named, recording))
                wanted = outcome(general, session, args)
                if made != wanted:
                    wrong.append((op.name, named, recording, made, wanted))
    assert not wrong, f"{len(wrong)}: {wrong[:2]}"
    assert short


def expected(named, recording):
    """The path of a smooth op."""
    if all(k in PLAIN for k in named):
        return "short"
    if "list" in named:
        return "long"
    if len(named) == 2 and any(k in VIEWS for k in named):
        return "long"
    if not all(k in (*PLAIN, *OF_FLOATS) for k in named):
        return "of tensors"
    return "short" if recording or not all(k in (*PLAIN, *NUMBERS) for k in named) else "long"


@pytest.mark.parametrize("name", ["exp", "sin", "neg", "tanh", "add", "mul", "atan2"])
def test_the_path_is_chosen_by_the_kinds_of_the_arguments(name):
    fast, _ = ways(ops[name])
    with Quiet():
        for named, recording, session, args in calls(ops[name]):
            try:
                fast(session, SITE, *args)
                taken = "short"
            except Elsewhere as other:
                taken = str(other)
            assert taken == expected(named, recording), (named, recording)


def test_a_number_and_a_tensor_may_have_a_long_path_of_their_own():
    op = ops.sub
    made = scalars.binary.__wrapped__(op, to("long"), lambda op: to("of tensors"), to("reflected"))
    taken = {}
    for kinds in itertools.product(("float", "int", "watched", "leaf", "int tensor"), repeat=2):
        args = [KINDS[k](x) for k, x in zip(kinds, (0.625, 0.375), strict=True)]
        try:
            made(SITE)(Session(), *args)
        except Elsewhere as other:
            taken[kinds] = str(other)
    own = set(itertools.product(("float", "int"), ("leaf", "int tensor")))
    others = {kinds for kinds in taken if kinds not in own}
    assert {kinds: taken[kinds] for kinds in own} == dict.fromkeys(own, "reflected")
    assert {taken[kinds] for kinds in others} == {"of tensors"}
    assert others >= {("leaf", "int tensor"), ("int tensor", "leaf")}
