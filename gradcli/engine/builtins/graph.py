"""`torch.autograd.graph` and `torch.autograd.forward_ad`: places of the recorded graph, what is
done when passes come there, and tensors with tangents.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.ops.op import Op, host
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.derivatives import duals, hooks
from gradcli.engine.run.derivatives.edges import gradient_edge, gradient_edge_of
from gradcli.engine.run.derivatives.hooks import register_multi_grad_hook
from gradcli.engine.tape.tensor import Tensor, shared
from gradcli.errors import run_error

FAMILY = 343, "The recorded graph"


get_gradient_edge: Op = host(
    "get_gradient_edge",
    gradient_edge_of,
    args=("tensor",),
    doc="`torch.autograd.graph.get_gradient_edge`: where the gradient by a tensor comes. An edge "
    "may stand for a tensor in `torch.autograd.grad` and `torch.autograd.backward`.",
    source="PyTorch: autograd.graph.get_gradient_edge",
    pure=False,
)

gradient_edge_: Op = host(
    "GradientEdge",
    gradient_edge,
    args=("node", "output_nr", "ownership_token=None"),
    doc="The edge to result `output_nr` of a node, such as `x.grad_fn`.",
    source="PyTorch: autograd.graph.GradientEdge",
    pure=False,
)

multi_grad_hook: Op = host(
    "register_multi_grad_hook",
    register_multi_grad_hook,
    args=("tensors", "fn"),
    params={"mode": "all"},
    keeps=True,
    doc="Runs a function when a pass has come to tensors: on the list of all their gradients, None "
    'for those that it did not come to, or with `mode="any"` on the first.',
    source="PyTorch: autograd.graph.register_multi_grad_hook",
    pure=False,
)


push_saved_hooks: Op = host(
    "push_saved_tensors_hooks",
    hooks.push_saved_hooks,
    args=("pack_hook", "unpack_hook"),
    infer=lambda known, *functions: known.constant(None),
    doc="Lets functions pack and unpack what nodes save from here on; `with "
    "torch.autograd.graph.saved_tensors_hooks(pack, unpack)` does it for a block.",
    source="PyTorch: autograd.graph.saved_tensors_hooks",
    pure=False,
)

pop_saved_hooks: Op = host(
    "pop_saved_tensors_hooks",
    hooks.pop_saved_hooks,
    infer=lambda known: known.constant(None),
    doc="Ends what `push_saved_tensors_hooks` began last.",
    source="PyTorch: autograd.graph.saved_tensors_hooks",
    pure=False,
)


def _refuse_saved_hooks(session: Any, message: Any) -> None:
    if message is None and session.packing_refused:
        session.packing_refused.pop()
    elif message is not None:
        session.packing_refused.append(str(message))


refuse_saved_hooks: Op = host(
    "refuse_saved_tensors_hooks",
    _refuse_saved_hooks,
    args=("message=None",),
    infer=lambda known, message: known.constant(None),
    doc="Lets hooks of saved tensors raise an error with the message from here on, without one "
    "ends that; `with torch.autograd.graph.disable_saved_tensors_hooks(message)` does it for a "
    "block.",
    source="PyTorch: autograd.graph.disable_saved_tensors_hooks",
    pure=False,
)


def _increment_version(session: Any, tensor: Any) -> None:
    several = tensor if isinstance(tensor, (list, tuple)) else (tensor,)
    for x in several:
        if not isinstance(x, Tensor):
            raise run_error("wrong-type", f"`increment_version` needs a tensor, got {kind_of(x)}")
        shared(x).count += 1


increment_version: Op = host(
    "increment_version",
    _increment_version,
    args=("tensor",),
    infer=lambda known, tensor: known.constant(None),
    doc="Counts a change in place of a tensor: a backward pass then refuses nodes that saved it "
    "before.",
    source="PyTorch: autograd.graph.increment_version",
    pure=False,
)

# tensors with tangents --------------------------------------------------------------------------

_FORWARD = "PyTorch: autograd.forward_ad"

dual_level: Op = host(
    "dual_level",
    duals.enter,
    part="passes",
    infer=lambda known: known.constant(0),
    doc="Behind `with`: inside, `make_dual` gives tensors tangents. The only level is 0.",
    source=f"{_FORWARD}.dual_level",
    aliases=("enter_dual_level",),
    pure=False,
)

exit_dual_level: Op = host(
    "exit_dual_level",
    duals.leave,
    part="passes",
    args=("level=None",),
    infer=lambda known, level: known.constant(None),
    doc="Ends what `enter_dual_level` began.",
    source=f"{_FORWARD}.exit_dual_level",
    pure=False,
)

make_dual: Op = host(
    "make_dual",
    duals.make,
    args=("tensor", "tangent", "level=None"),
    doc="A tensor with a tangent: what is made of it has one, too, by forward mode.",
    source=f"{_FORWARD}.make_dual",
    pure=False,
)

unpack_dual: Op = host(
    "unpack_dual",
    duals.unpack,
    args=("tensor", "level=None"),
    doc="The tensor as it is, and its tangent, None if it has none: `(primal, tangent)`.",
    source=f"{_FORWARD}.unpack_dual",
    pure=False,
)
