"""`torch.autograd.forward_ad`: tensors with tangents.

A dual tensor is a new point of the graph that the program does not see. The graph gives the tangent
of a value when the program unpacks it.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.autodiff.linearize import Linearized
from gradcli.engine.autodiff.paths import lead_elsewhere
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.state import Passes, Session
from gradcli.engine.tape.graph import Watchpoint
from gradcli.engine.tape.tensor import Tensor, array_of, node_of, shared
from gradcli.engine.values.carrier import data_of, like_of
from gradcli.engine.values.fields import Named
from gradcli.errors import run_error

NAMES = ("primal", "tangent")
"""Fields of an unpacked dual tensor."""


class Tangent:
    """The tangent of a dual tensor, and how often its memory had been changed when it was given."""

    __slots__ = ("changes", "given")

    def __init__(self, given: Tensor) -> None:
        self.given = given
        self.changes = shared(given).count

    def unchanged(self) -> Tensor:
        """The tangent, which values made of the dual tensor depend on."""
        if shared(self.given).count != self.changes:
            message = (
                "the tangent of a dual tensor was changed in place after values were made of it"
            )
            raise run_error("changed-in-place", message, help="change a `clone()` of the tangent")
        return self.given


def enter(passes: Passes) -> int:
    """Begin a level of dual tensors; there is one, of number 0."""
    if passes.duals is not None:
        raise run_error("bad-context", "levels of dual tensors do not nest")
    passes.duals = {}
    return 0


def leave(passes: Passes, level: Any = None) -> None:
    """End the level: tensors have no tangents any more."""
    if passes.duals is None:
        raise run_error("bad-context", "there is no level of dual tensors to leave")
    passes.duals = None


def make(session: Session, tensor: Any, tangent: Any, level: Any = None) -> Tensor:
    """`make_dual(tensor, tangent)`."""
    if session.passes.duals is None:
        help = "write `with torch.autograd.forward_ad.dual_level():` around it"
        raise run_error("bad-context", "a dual tensor is made inside a `dual_level`", help=help)
    _refuse_unrecorded(session)
    for x in (tensor, tangent):
        if not isinstance(x, Tensor):
            raise run_error("wrong-type", f"`make_dual` needs tensors, got {kind_of(x)}")
        if not x.dtype.startswith("float"):
            raise run_error("needs-float", f"`make_dual` needs tensors of floats, got {x.dtype}")
    if tensor.shape != tangent.shape:
        shapes = f"{list(tangent.shape)} for a tensor of shape {list(tensor.shape)}"
        raise run_error("shape-mismatch", f"a tangent of shape {shapes}")
    if tensor.dtype != tangent.dtype:
        message = f"a tangent of dtype {tangent.dtype} for a tensor of dtype {tensor.dtype}"
        raise run_error("dtype-mismatch", message)
    made = Tensor(array_of(tensor))
    made.version = shared(tensor)
    point = Watchpoint("", node_of(tensor), tensor.index, None)
    if session.keep:
        point.out = made.data
    made.node = point
    session.passes.duals[point] = Tangent(tangent)
    return made


def _refuse_unrecorded(session: Session) -> None:
    """Refuse tangents if nothing is recorded: they would be wrong."""
    if session.passes.duals is not None and not session.recording:
        message = "tangents are those of recorded steps, and here nothing is recorded"
        raise run_error("bad-context", message, help="leave `no_grad` out inside a `dual_level`")


def unpack(session: Session, tensor: Any, level: Any = None) -> Named:
    """`unpack_dual(tensor)`: the tensor without its tangent, and the tangent or None."""
    _refuse_unrecorded(session)
    if not isinstance(tensor, Tensor):
        raise run_error("wrong-type", f"`unpack_dual` needs a tensor, got {kind_of(tensor)}")
    tangent = _tangent(session, tensor)
    primal = tensor
    if tangent is not None and not tensor.requires_grad:
        primal = Tensor(array_of(tensor))
        primal.version = shared(tensor)
    made = Named.__new__(Named, "UnpackedDualTensor", NAMES, (primal, tangent))
    assert isinstance(made, Named)
    return made


def _tangent(session: Session, tensor: Tensor) -> Any:
    seeds = session.passes.duals
    if not seeds or node_of(tensor) is None:
        return None
    node = node_of(tensor)
    assert node is not None
    if node in seeds:
        return seeds[node].given
    points = {point: like_of(tangent.given) for point, tangent in seeds.items()}
    line = Linearized([tensor], points)
    if len(line.unused) == len(points):
        return None
    dots = {
        point: tangent.unchanged() for point, tangent in seeds.items() if point not in line.unused
    }
    recorded = session.recording and (
        any(node_of(dot) is not None for dot in dots.values()) or lead_elsewhere([node], points)
    )
    if recorded:
        (dot,) = line.push_recorded(dots)
    else:
        (dot,) = line.push({point: data_of(dot) for point, dot in dots.items()})
    if dot is None:
        return None
    return dot if isinstance(dot, Tensor) else Tensor(dot)
