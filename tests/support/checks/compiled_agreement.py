"""A program specialized, made Python code and run, beside the interpreter's run of the same."""

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
from gradcli.limits import Limits
from gradcli.program import load
from gradcli.questions.asked.names import Watch
from gradcli.questions.asked.request import Options

LIMITS = Limits(steps=20_000)


class Refused(Exception):
    """The program cannot be compiled: why."""


def compiled(program, given, wanted=(None,), watched=(), asked=()):
    """A loaded program specialized for numbers given to these inputs.

    Raises:
        Refused: If it cannot be.
    """
    try:
        shapes = {n: np.shape(given[n]) if isinstance(given, dict) else () for n in given}
        found = specialize(program._loaded.program, shapes, watched, wanted, asked)
    except NotCompilable as error:
        raise Refused(error.reason) from None
    assert faults(found.program) == []
    if found.draws:  # which `compile/test_draws.py` has
        raise Refused("random numbers are drawn")
    return found


def outcome(text, given, wanted=None):
    """How the two runs of a program agree: "same"; "left" where the code has left; "long" where the
    interpreter would take too long.

    Raises:
        AssertionError: If they do not agree.
        Refused: If it cannot be compiled.
    """
    program = load(text)
    found = compiled(program, given, (wanted,))
    told = []
    code = python.code(found.program)
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
    """The number that is given for an input."""
    return np.ravel(given[entry.name])[entry.at].item()


def gradients(text, given, wrt):
    """The gradients of a program by some inputs: as bits, compiled and interpreted.

    Raises:
        Refused: If it cannot be compiled.
        Left: If the code has left.
    """
    program = load(text)
    found = compiled(program, given, (None,), wrt, wrt)
    try:
        made = certain(adjoint(found.program, [found.points[name] for name in wrt]))
    except NotCompilable as error:
        raise Refused(error.reason) from None
    assert faults(made) == []
    inputs = [element(given, entry) for entry in found.inputs]
    numbers = python.code(made).call([*inputs, 1.0], Control())
    answer = program.grad({name: Given(x, name) for name, x in given.items()}, wrt=wrt)
    return bits(numbers[-len(wrt) :]), bits(tuple(answer.grad.values()))


def interpreted(program, given, wanted=None):
    """The value of a name, or of the program, and what it prints."""
    values = {name: Given(value, name) for name, value in given.items()}
    try:
        done = program._loaded.execute(values, Options(limits=LIMITS), Watch(()))
    except GradError as error:
        return error, []
    return done.result if wanted is None else done.values[wanted], done.printed


def leaves(tree):
    """The numbers of a result."""
    if isinstance(tree, Leaf):
        return [tree]
    if isinstance(tree, Elements):
        return [Leaf(tree.type, True)] * tree.count
    if isinstance(tree, Ways):
        return [Leaf("bool", False), *leaves(tree.then), *leaves(tree.orelse)]
    return [leaf for item in tree.items for leaf in leaves(item)] if isinstance(tree, Items) else []


def filled(tree, numbers):
    """The result with its numbers."""
    match tree:
        case Leaf():
            return Tensor(next(numbers)) if tree.tensor else next(numbers)
        case Items():
            return tree.kind([filled(item, numbers) for item in tree.items])
        case Known():
            return tree.value
        case Elements():
            found = [next(numbers) for _ in range(tree.count)]
            return Tensor(np.array(found).reshape(tree.shape))
        case Ways():
            is_first = next(numbers)
            values = filled(tree.then, numbers), filled(tree.orelse, numbers)
            return values[0] if is_first else values[1]
    raise AssertionError(tree)


def bits(value):
    """What tells values apart to the last bit."""
    if isinstance(value, Number):
        return bits(value.data)
    if isinstance(value, Tensor):
        return "tensor", repr_text(value) if value.shape else bits(np.asarray(value.data).item())
    if type(value) is float:
        return "nan" if isnan(value) else struct.pack("d", value)
    if isinstance(value, (list, tuple)):
        return type(value), [bits(item) for item in value]
    return type(value), value if type(value) in TYPES else repr_text(value)
