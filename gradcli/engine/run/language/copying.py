"""`copy.deepcopy`: a value with copies of all that it holds, each thing copied once."""

from __future__ import annotations

from types import GeneratorType
from typing import Any

from gradcli.engine.ops.catalog import ops
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives import autograd
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.objects import Object
from gradcli.errors import run_error


def deep_copy(session: Session, value: Any) -> Any:
    """A copy of a value and of all that it holds; values that cannot change are shared."""
    try:
        return _copied(session, value, {})
    except RecursionError:
        message = f"{kind_of(value)} is nested too deeply to be copied"
        raise run_error("bad-argument", message) from None


def _copied(session: Session, value: Any, known: dict[int, tuple[Any, Any]]) -> Any:
    """A deep copy; `known` maps the identity of each original to its copy."""
    if id(value) in known:
        return known[id(value)][1]
    made: Any = value
    if isinstance(value, Tensor):
        made = _tensor(session, value, known)
    elif type(value) is tuple:
        made = tuple([_copied(session, item, known) for item in value])
    elif type(value) is list:
        made = []
        known[id(value)] = value, made
        made += [_copied(session, item, known) for item in value]
    elif type(value) is set:
        made = {_copied(session, item, known) for item in value}
    elif type(value) is dict:
        made = {}
        known[id(value)] = value, made
        made.update((k, _copied(session, item, known)) for k, item in value.items())
    elif isinstance(value, Object):
        made = type(value).__new__(type(value))
        known[id(value)] = value, made
        made.__dict__.update(_copied(session, value.__dict__, known))
    elif isinstance(value, GeneratorType):
        raise run_error("wrong-type", "a generator cannot be copied")
    known[id(value)] = value, made
    return made


def _tensor(session: Session, value: Tensor, known: dict[int, tuple[Any, Any]]) -> Tensor:
    """A leaf on memory of its own, with a copy of its gradient."""
    if value.requires_grad and not value.is_leaf and not session.transparent:
        raise run_error(
            "bad-argument",
            "only leaves can be copied by `deepcopy`, and this tensor has been computed",
            help="`x.detach().clone()` copies its values",
        )
    recording, session.recording = session.recording, session.transparent
    made: Tensor = session.do(ops.clone, [value], {})
    session.recording = recording
    if hasattr(value, "parameter"):
        made.parameter = True
    if value.requires_grad and not session.transparent:
        autograd.set_requires_grad(session, made, True)
    if value.grad is not None:
        made.grad = _copied(session, value.grad, known)
    return made
