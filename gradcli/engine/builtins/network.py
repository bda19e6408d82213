"""Parts of networks: parameters, and attributes by name."""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives import autograd
from gradcli.engine.run.language import attributes
from gradcli.engine.tape.tensor import Tensor, array_of, shared, truth
from gradcli.errors import run_error

FAMILY = 345, "Networks"

_TORCH = "PyTorch"


def _parameter(session: Any, data: Any, requires_grad: Any) -> Tensor:
    x = session.tensor(data)
    if not isinstance(x, Tensor):
        raise run_error("wrong-type", f"`Parameter` needs a tensor, got {kind_of(data)}")
    made = Tensor(array_of(x))
    made.version = shared(x)
    made.parameter = True
    if truth(requires_grad):
        autograd.set_requires_grad(session, made, True)
    return made


parameter: Op = host(
    "Parameter",
    _parameter,
    args=("data",),
    params={"requires_grad": True},
    infer=lambda known, data, requires_grad: known.unknown(),
    sees=True,
    doc="A leaf on the memory of a tensor that the module with such an attribute counts among its "
    "parameters.",
    source=_TORCH,
    pure=False,
)


def _put(session: Any, value: Any, name: Any, new: Any) -> None:
    attributes.check_name(name)
    attributes.put(session, value, name, new)


setattr_: Op = host(
    "setattr",
    _put,
    args=("value", "name", "new"),
    infer=lambda known, value, name, new: known.constant(None),
    keeps=True,
    sees=True,
    doc="Gives the attribute of that name of an object a value.",
    source="Python",
    pure=False,
)
