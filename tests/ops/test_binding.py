"""Arguments bound by a signature, before a run, are those that the op binds in it. What the first
refuses of a method, the second may take: it is left to the run.
"""

import pytest
from support.checks.by_family import by_family

from gradcli.engine.ops.binding import bind
from gradcli.engine.ops.catalog import ops
from gradcli.engine.ops.op import REQUIRED
from gradcli.engine.run.language.names import Builtins
from gradcli.errors import RunError
from gradcli.grammar.meaning.arity import bind as bind_early
from gradcli.grammar.meaning.arity import of_builtin
from gradcli.program import load

BUILTINS = Builtins()
NAMES = [
    name
    for name in BUILTINS.names()
    if not BUILTINS[name].variadic and not BUILTINS[name].constant and ops[name].name == name
]


def calls(signature):
    """Arguments by position and by name: as few as there may be, all, too many, some by name."""
    places, names = signature.positional, (*signature.positional, *signature.keywords)
    for count in range(len(places) + 2):
        args = tuple(range(1, count + 1))
        yield args, {}
        others = [n for n in names if n not in places[:count]]
        yield args, {n: 10 + i for i, n in enumerate(others)}
        yield args, {n: 10 + i for i, n in enumerate(others[:1])}
        if count and places:
            yield args, {places[0]: 20}
    for alias in signature.aliases:
        yield (), {alias: 30}
        yield tuple(range(1, signature.required)), {alias: 30}


def late(op, args, keywords):
    """What the op binds in a run: all its arguments by name; None where it refuses."""
    try:
        bound, params = bind(op, args, keywords)
    except RunError:
        return None
    return {**dict(zip(op.args, bound, strict=True)), **params}


def early(op, signature, args, keywords, receiver=()):
    """What the lowering binds, with the op's defaults; None where it leaves it to the run."""
    bound = bind_early(of_builtin(signature), args, list(keywords.items()), receiver)
    if not bound.fits:
        return None
    found = {**dict.fromkeys(op.args), **op.params, **bound.named}
    return None if REQUIRED in found.values() else found


@by_family(NAMES)
def test_a_call_is_bound_alike_before_and_in_a_run(name):
    op, signature = ops[name], BUILTINS[name]
    for args, keywords in calls(signature):
        found = early(op, signature, args, keywords)
        assert found in (None, late(op, args, keywords)), f"{name}{args}{keywords}"
        if found is None and not keywords and op.order == ():
            few, many = signature.required, len(signature.positional)
            assert not few <= len(args) <= many, f"{name}{args} is left to the run"


@by_family(n for n in NAMES if BUILTINS[n].method)
def test_a_method_is_bound_alike_before_and_in_a_run(name):
    op, signature = ops[name], BUILTINS[name]
    first = signature.aliases["self"]
    for args, keywords in calls(signature):
        if first in keywords or "self" in keywords:
            continue
        in_order = first == signature.positional[0]
        again = ((99, *args), keywords) if in_order else (args, {"self": 99, **keywords})
        found = early(op, signature, args, keywords, (99,))
        assert found in (None, late(op, *again)), f"x.{name}{args}{keywords}"


@pytest.mark.parametrize("call", ["clamp(2.0, 1.0)", "clamp(2.0, min=1.0)", "clamp(2.0, max=3.0)"])
def test_an_argument_that_may_be_left_out_is_left_out(call):
    assert load(call).run().result == 2.0
