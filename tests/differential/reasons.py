"""Why something is refused, in a word that is the same for gradcli and PyTorch."""

from __future__ import annotations

import re

_BY_CODE = {  # gradcli's codes that say more than PyTorch's texts tell
    "unknown-name": "missing-input",
    "bad-index": "index",
    "index-out-of-range": "index",
    "dtype-mismatch": "dtype",
    "needs-float": "dtype",
    "bad-argument": "argument",
    "bad-attribute": "argument",
    "not-callable": "argument",
    "not-a-leaf": "argument",
    "not-differentiable": "argument",
    "not-iterable": "argument",
    "unknown-attribute": "argument",
    "wrong-arity": "argument",
    "wrong-count": "argument",
    "wrong-type": "argument",
    "shape-mismatch": "shape",
}
_BY_TEXT = (  # the first that is found in what PyTorch says
    ("modified by an inplace operation", "changed-in-place"),
    ("indexing tensors could not be broadcast", "shape"),
    ("Replacement index .* out of range", "bad-format"),
    ("view size is not compatible", "argument"),
    ("bad operand type for unary .: 'float'|only implemented on integer and Boolean", "dtype"),
    ("^RuntimeError: ZeroDivisionError", "division-by-zero"),
    ("leaf Variable that requires grad", "leaf-in-place"),
    ("backward through the graph a second time", "backward-twice"),
    ("can be implicitly created only for scalar outputs", "needs-cotangent"),
    ("not( to)? have been used in the graph", "unused-input"),
    (
        "requires_grad is not set|does not require grad|has requires_grad=False|doesn't require gradient",
        "no-graph",
    ),
    ("A view was created in no_grad mode", "unrecorded-view"),
    ("function that returns multiple views|created inside a custom Function", "view-in-place"),
    ("Boolean value of Tensor with .* is ambiguous", "ambiguous-condition"),
    (
        "to have non-zero size|no identity|non-empty|numel\\(\\) == 0|reduction dim",
        "empty-reduction",
    ),
    ("more than one element of the written-to tensor", "overlapping-memory"),
    (
        "exceeds dimension size|out of bounds|out of range|must be tensors used as indices|IndexError|index is out",
        "index",
    ),
    ("^UnboundLocalError", "used-before-assigned"),
    ("^KeyError", "unknown-key"),
    ("^ZeroDivisionError", "division-by-zero"),
    ("^StopIteration", "no-item"),
    ("^AssertionError", "assertion-failed"),
    ("^FrozenInstanceError", "argument"),
    ("^NameError", "missing-input"),
    (
        "dtype|same scalar type|with two bool tensors|on a bool tensor|[Ff]loating|result type|expected scalar type|can't be cast",
        "dtype",
    ),
    ("shape|size|dimension|square|must match|broadcast", "shape"),
    ("^(TypeError|AttributeError|ValueError)", "argument"),
)


def same(ours: str, theirs: str) -> bool:
    """Whether two refusals have one reason: a word for it, or an exception that the program raises."""
    raised = re.match(r"unhandled-exception: \S+ `(\w+)`", ours)
    if raised:
        return theirs.partition(":")[0] == raised[1]
    return of_gradcli(ours) == of_pytorch(theirs)


def of_gradcli(refusal: str) -> str:
    """The word for a refusal of gradcli's, which begins with its code."""
    code = refusal.partition(":")[0]
    return _BY_CODE.get(code, code)


def of_pytorch(refusal: str) -> str:
    """The word for a refusal of PyTorch's; where none is known its first line."""
    for pattern, word in _BY_TEXT:
        if re.search(pattern, refusal):
            return word
    return refusal.split("\n", maxsplit=1)[0]
