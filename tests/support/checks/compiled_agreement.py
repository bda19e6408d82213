"""Compare a program specialized and compiled to Python code with its interpreted run."""

import struct
from math import isnan

import numpy as np
from support.checks.validate_typed import faults

from gradcli.engine.compile.control import Control, Left
from gradcli.engine.compile.differentiate.adjoint import adjoint
from gradcli.engine.compile.differentiate.differentials import certain
from gradcli.engine.compile.python import code as python
from gradcli.engine.compile.specialize.program import Elements, Items, Known, Leaf, Ways, specialize
from gradcli.engine.compile.typed import TYPES, NotCompilable
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.session.text import repr_text
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.errors import GradError, LimitError
from gradcli.ir.inlined import UNROLLED
from gradcli.limits import Limits
from gradcli.program import load
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Options

LIMITS = Limits(steps=20_000)


class Refused(Exception):
    """The program cannot be compiled, for this reason."""


def compiled(program, given, wanted=(None,), watched=(), asked=()):
    """A loaded program specialized for the given inputs.

    Raises:
        Refused: If it cannot be compiled.
    """
    shapes = {n: np.shape(given[n]) if isinstance(given, dict) else () for n in given}
    question = program.loaded.program, shapes, watched, wanted, asked
    reason = ""
    for most in (UNROLLED, 20_000):
        try:
            found = specialize(*question, most_inlined=most)
            break
        except NotCompilable as error:
            reason = error.reason
    else:
        raise Refused(reason)
    assert faults(found.program) == []
    if found.draws:  # `compile/test_draws.py` tests these
        raise Refused("random numbers are drawn")
    return found


def outcome(text, given, wanted=None):
    """Compare both runs of a program: "same" if they agree; "left" if the code bailed out; "long"
    if the interpreter would take too long.

    Raises:
        AssertionError: If they do not agree.
        Refused: If it cannot be compiled.
    """
    program = load(text)
    found = compiled(program, given, (wanted,))
    told = []
    code = python.Code(found.program)
    convert = {"float": float, "int": int, "bool": bool}
    inputs = [convert[entry.value.type](element(given, entry)) for entry in found.inputs]
    try:
        numbers = list(code.call(inputs, Control(echo=told.append)))
    except Left:
        return "left"
    value, printed = interpreted(program, given, wanted)
    if isinstance(value, LimitError):
        return "long"
    assert not isinstance(value, GradError), f"compiled, but interpreted {value}"
    assert "".join(told) == "".join(printed)
    for leaf, number in zip(leaves(found.outputs[0]), numbers, strict=True):
        assert TYPES[type(number)] == leaf.type
    assert bits(filled(found.outputs[0], iter(numbers))) == bits(value)
    return "same"


def element(given, entry):
    """The given number for an input."""
    return np.ravel(given[entry.name])[entry.at].item()


def gradients(text, given, wrt):
    """The bits of a program's gradients, compiled and interpreted.

    Raises:
        Refused: If it cannot be compiled.
        Left: If the code bailed out.
    """
    program = load(text)
    found = compiled(program, given, (None,), wrt, wrt)
    try:
        made = certain(adjoint(found.program, [found.points[name] for name in wrt]))
    except NotCompilable as error:
        raise Refused(error.reason) from None
    assert faults(made) == []
    inputs = [element(given, entry) for entry in found.inputs]
    numbers = python.Code(made).call([*inputs, 1.0], Control())
    answer = program.grad({name: Given(x, name) for name, x in given.items()}, wrt=wrt)
    return bits(numbers[-len(wrt) :]), bits(tuple(answer.grad.values()))


def interpreted(program, given, wanted=None):
    """The value of a name, or the program's result, and the printed texts."""
    values = {name: Given(value, name) for name, value in given.items()}
    try:
        done = program.loaded.execute(values, Options(limits=LIMITS), Watch(()))
    except GradError as error:
        return error, []
    return done.result if wanted is None else done.values[wanted], done.printed


def leaves(tree):
    """The numbers in a result."""
    if isinstance(tree, Leaf):
        return [tree, *_node(tree)]
    if isinstance(tree, Elements):
        return [*[Leaf(tree.type, True)] * tree.count, *_node(tree)]
    if isinstance(tree, Ways):
        return [Leaf("bool", False), *leaves(tree.then), *leaves(tree.orelse)]
    return [leaf for item in tree.items for leaf in leaves(item)] if isinstance(tree, Items) else []


def _node(tree):
    """The place of the name of a tensor's node, if it may have several."""
    return [Leaf("int", False)] if tree.nodes and len(tree.nodes) > 1 else []


def _pass_node(tree, numbers):
    for _ in _node(tree):
        next(numbers)


def filled(tree, numbers):
    """The structure of a result filled with numbers."""
    match tree:
        case Leaf():
            number = next(numbers)
            _pass_node(tree, numbers)
            return Tensor(number) if tree.tensor else number
        case Items():
            return tree.kind([filled(item, numbers) for item in tree.items])
        case Known():
            return tree.value
        case Elements():
            found = [next(numbers) for _ in range(tree.count)]
            _pass_node(tree, numbers)
            return Tensor(np.array(found).reshape(tree.shape))
        case Ways():
            is_first = next(numbers)
            values = filled(tree.then, numbers), filled(tree.orelse, numbers)
            return values[0] if is_first else values[1]
    raise AssertionError(tree)


def bits(value):
    """A key that differs for values that differ in any bit."""
    if isinstance(value, Number):
        return bits(value.data)
    if isinstance(value, Tensor):
        return "tensor", repr_text(value) if value.shape else bits(np.asarray(value.data).item())
    if type(value) is float:
        return "nan" if isnan(value) else struct.pack("d", value)
    if isinstance(value, (list, tuple)):
        return type(value), [bits(item) for item in value]
    return type(value), value if type(value) in TYPES else repr_text(value)
