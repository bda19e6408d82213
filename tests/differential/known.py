"""The differences from PyTorch that are on purpose: docs/kinks.md gives the reason for each by its
name.
"""

from __future__ import annotations

import math
import random
import re
from typing import Any

from .answers import Facts, is_refusal
from .compare import Difference, difference, same, same_value
from .program import Program, flat, shape

REFUSALS = (  # who refuses, what is said of it, and the name of the difference
    ("PyTorch", "derivative for .* is not implemented", "PyTorch has no derivative"),
    ("PyTorch", "Subtraction, the `-` operator, with a bool", "PyTorch has no derivative"),
    ("PyTorch", "Autograd not support dtype", "an int that requires grad"),
    ("PyTorch", "not implemented for|Found dtype .* but expected", "PyTorch has no derivative"),
    ("PyTorch", "Expected LU and B to have the same dtype", "PyTorch has no derivative"),
    ("PyTorch", "some elements of the input tensor and the", "written from its own memory"),
    ("PyTorch", "function that returns multiple views", "one of several views"),
    ("PyTorch", "more than one element of the written-to", "one element shown as several"),
    ("PyTorch", "source and destination dtypes match", "PyTorch takes less"),
    ("PyTorch", "expected dtype .* for `|did not match", "PyTorch takes less"),
    ("PyTorch", "must be Tensor, not|Boolean inputs not supported", "PyTorch takes less"),
    ("PyTorch", "stack expects a non-empty TensorList", "PyTorch takes less"),
    ("gradcli", "several elements of this expanded tensor", "an expanded tensor is changed"),
    ("gradcli", "^integer-overflow", "an int beyond 64 bits"),
    ("gradcli", "raised to a negative integer power", "an int to a negative power"),
    ("gradcli", "^missing-input|^unknown-name.*(value|defined)", "a name that nothing assigns"),
)
REFUSALS_OF = (  # likewise, and of which text
    ("gradcli", "^changed-in-place", "kron(", "changed through data"),
    ("gradcli", "^no-graph", "prod(", "connected by a slope of zero"),
    ("gradcli", "cannot lie over this memory", "torch.func.jac", "a Jacobian in another order"),
    ("gradcli", "^leaf-in-place", "] = ", "wrong in two ways"),
    ("gradcli", "^dtype-mismatch.* is not defined on floats", "= ", "wrong in two ways"),
    ("gradcli", "there is no int for -?(nan|inf)", "", "an int of nan"),
    ("gradcli", "^empty-reduction.*median", "median", "a median of no ints"),
    ("gradcli", "^index-out-of-range.*size 0", "index_fill", "an index into nothing"),
    ("gradcli", "^backward-twice.*(IndexSelect|UnsafeView)", "Upsample", "what Upsample saves"),
    (
        "PyTorch",
        "could not infer output dtype|support(s)? floating point and",
        "",
        "PyTorch takes less",
    ),
    ("PyTorch", "vector_norm: Expected a floating", "norm(", "PyTorch takes less"),
    (
        "PyTorch",
        "must have the same dtype|to have the same dtype, but got",
        "",
        "PyTorch takes less",
    ),
    (
        "PyTorch",
        "Type promoting not supported|mixed dtype|match weight dtype",
        "",
        "PyTorch takes less",
    ),
    ("PyTorch", "must be tuple of ints, not int", "full(", "PyTorch takes less"),
    ("PyTorch", "Negation, .* on a bool tensor", "atan2", "PyTorch has no derivative"),
)
OTHER_NODES = (  # the node here and in PyTorch, and of which text where that matters
    (".*", "AsStridedBackward0", ""),  # a view that is made anew, for its base has changed
    ("SelectBackward0", "UnbindBackward0", "for "),
    ("(Un)?[Ss]queezeBackward.|T(ranspose)?Backward0", "CopySlices", r"(squeeze|t|transpose)_\("),
    ("CloneBackward0", ".*", r"diff\("),  # of nothing, which is its argument
    ("AliasBackward0", "SliceBackward0", "narrow|tensor_split"),
    ("FillBackward0", "FillBackward[23]|ZeroBackward0", r"fill_|zero_|fill\("),
    ("FillBackward[01]", "FillBackward3|CopyBackwards", r"fill_|copy_"),
    ("SortBackward0", "SortBackward1", "stable=True"),
    ("HeavisideBackward0", "NotImplemented", ""),
    ("MedianBackward0", "NanmedianBackward0", "nanmedian"),
    ("LinalgVectorNormBackward0", "NormBackward1", "pairwise_distance"),
    ("TanhshrinkBackward0", "SubBackward0", "tanhshrink"),
    ("SumBackward1", "(Mul|Div)Backward1", "trapezoid"),
    ("ViewBackward0", "SqueezeBackward4", "quantile"),
    ("ViewBackward0", "Am..Backward0", "matrix_norm"),
    ("ViewBackward0", ".*", "einsum"),
    ("SoftsignBackward0", "DivBackward0", "softsign"),
    ("FloorDivideBackward0", "NotImplemented", ""),
    (".*", ".*", r"\bnn\.|\bD\.|distributions"),  # the library's functions, in the language
    ("ViewBackward0", "UnsafeViewBackward0|ReshapeAliasBackward0", ""),
    (".*", ".*", r"torch\.func\.|functional\.|autograd\.grad"),  # derivatives by other formulas
)
SECOND = {"hvp", "hessian"}
CHANGED_SINCE = "has been modified by an inplace operation"
NOISE = 1e-13
LOST = 1e-10  # of a derivative of shares near 1
SINGLE = 1e-7  # how far a constant in single precision is from what it stands for
TRIGAMMA = 1e-6  # how far a slope of PyTorch's is off, of which trigamma is a part


def explained(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The name of the known difference that a difference is, or None."""
    if found.kind == "grad_fn":
        return _of_nodes(program, found)
    return (
        _of_connections(program, ours, theirs, found)
        or _of_numbers(program, found)
        or _of_tangents(program, ours, theirs, found)
        or _of_constants(program, ours, theirs, found)
        or _of_values(program, found)
        or _of_printed(found)
        or _of_refusals(program, ours, theirs, found)
        or _of_ways(program, ours, theirs, found)
        or _of_rounding(program, found)
        or _of_noise(program, theirs, found)
    )


def _of_connections(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The known difference that it is what something is connected to."""
    if found.kind not in {"requires_grad", "grad"}:
        return None
    if found.kind == "requires_grad" and found.pytorch:
        value = theirs.get(found.fact.replace("requires_grad", "value"))
        if value and not str(value[0]).startswith("float"):
            return "an int that requires grad"
        if "unique(" in program.body:
            return "PyTorch has no derivative"
    if not re.search(r"torch\.func\.|create_graph", program.body):
        return None
    ours, theirs = _but_connections(ours, theirs), _but_connections(theirs, ours)
    rest = difference(ours, theirs, program.rtol)
    if rest is None or (rest != found and explained(program, ours, theirs, rest)):
        return "connected by a slope of zero"
    return None


def _but_connections(facts: Facts, others: Facts) -> Facts:
    """The facts without those of what requires grad, and without a `.grad` of zeros where the others
    have none.
    """
    return {
        name: fact
        for name, fact in facts.items()
        if not name.startswith("requires_grad")
        and not (name.startswith("grad ") and name not in others and not any(fact[2]))
    }


def _of_values(program: Program, found: Difference) -> str | None:
    """The known difference that a difference of values is."""
    if not (_is_one(found.gradcli) and _is_one(found.pytorch)):
        return None
    if found.kind == "value" and _in_single(program, found):
        return "a slope in single precision"
    if found.kind == "value" and "sign(" in program.body and _where_nan_is_zero(found):
        return "the sign of nan"
    zeros = found.kind == "value" and not any(found.gradcli[2]) and found.pytorch[0] == "int64"
    if zeros and "trapezoid" in program.body:
        return "an integral of no samples"
    return None


def _where_nan_is_zero(found: Difference) -> bool:
    """Whether two values are the same but for elements that are nan here and 0 in PyTorch."""
    pairs = zip(found.gradcli[2], found.pytorch[2], strict=True)
    return all(a == b or (math.isnan(a) and (b == 0 or math.isnan(b))) for a, b in pairs)


def _of_printed(found: Difference) -> str | None:
    """The known difference that is how zeros are printed, or what is zero but for rounding."""
    if found.kind != "printed":
        return None
    a, b = (
        re.split(r"[\s,()\[\]]+", re.sub(r"grad_fn=<\w+>", "", "\n".join(lines)))
        for lines in (found.gradcli, found.pytorch)
    )
    if len(a) != len(b):
        return None
    pairs = [*zip(a, b, strict=True)]
    if all(x == y or {x, y} == {"0.0000", "-0.0000"} for x, y in pairs):
        return "the sign of a zero"
    return "it depends on rounding" if all(_close(x, y) for x, y in pairs) else None


def _close(x: str, y: str) -> bool:
    """Whether two words are the same, or numbers that four digits do not tell apart."""
    try:
        a, b = float(x), float(y)
    except ValueError:
        return x == y
    return a == b or abs(a - b) <= 1e-4 * abs(b) + 10 * NOISE


def _of_nodes(program: Program, found: Difference) -> str | None:
    """The known difference that another name of a node is."""
    for here, there, text in OTHER_NODES:
        if (
            re.fullmatch(here, found.gradcli)
            and re.fullmatch(there, found.pytorch)
            and re.search(text, program.body)
        ):
            return "another node"
    return None


def _of_refusals(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The known difference that a refusal is."""
    refusals = (*((*row[:2], "", row[2]) for row in REFUSALS), *REFUSALS_OF)
    for who, pattern, text, name in refusals:
        fact = (theirs if who == "PyTorch" else ours).get(found.fact)
        if text in program.body and is_refusal(fact) and re.search(pattern, fact["refused"]):
            return name
    return None


def _of_numbers(program: Program, found: Difference) -> str | None:
    """The known difference that a difference of numbers is."""
    inside = found.kind == "value" and re.search(r"backward\(|grad\(", program.body)
    if not inside and found.kind not in {"gradient", "jvp", "hvp", "hessian", "grad"}:
        return None
    if not (_is_one(found.gradcli) and _is_one(found.pytorch)):
        return None
    if same_value(*_where_numbers(found.gradcli, found.pytorch), program.rtol):
        return "nothing comes through"
    if _in_single(program, found):
        return "a slope in single precision"
    if same_value(*_where_numbers(found.pytorch, found.gradcli), program.rtol):
        if "logdet" in program.body:
            return "it depends on rounding"
        if found.kind in SECOND and re.search("eig|svd|norm|cond", program.body):
            return "equal eigenvalues"
        if found.kind in SECOND and "**" in program.body:
            return "a second derivative that is not the first's"
    if "gamma(" in program.body and same_value(found.gradcli, found.pytorch, TRIGAMMA):
        return "a trigamma of few digits"
    if found.kind == "jvp" and not any(map(math.isfinite, found.gradcli[2])) and _is_empty(program):
        return "a direction without elements"
    lost = [abs(a - b) for a, b in zip(found.gradcli[2], found.pytorch[2], strict=False)]
    if "softmax" in program.body.lower() and max(lost, default=1.0) <= LOST:
        return "a share near 1"
    return None


def _of_tangents(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The known difference of a tangent: of a value that is nan, or of terms that cancel."""
    if found.kind != "jvp":
        return None
    a, b = found.gradcli[2][0], found.pytorch[2][0]
    if math.isnan(a) and any(map(math.isnan, ours["result"][2])):
        return "the tangent of nan"
    along = program.direction()
    terms = sum(
        abs(g * d)
        for name in along
        for g, d in zip(theirs[f"gradient {name}"][2], flat(along[name]), strict=True)
    )
    cancels = math.isfinite(terms) and abs(a - b) <= program.rtol * terms
    return "it depends on rounding" if cancels else None


def _of_constants(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The known difference of a gradient that gradcli refuses, of a constant, and that is zero in
    PyTorch.
    """
    place = re.match(r"no-graph: <text>:(\d+):", ours.get("run", {}).get("refused", ""))
    if place is None or found.kind.startswith("refused"):
        return None
    line = program.text.split("\n")[int(place[1]) - 1]
    target, _, _ = line.partition(" = ")
    values = [theirs.get(f"value {name}") for name in re.findall(r"\w+", target)]
    zero = values and all(isinstance(v, list) and not any(v[2]) for v in values)
    return "connected by a slope of zero" if zero else None


def _is_empty(program: Program) -> bool:
    """Whether a program is differentiated by a value without elements."""
    return any(not math.prod(shape(i.data)) for i in program.inputs if i.name in program.wrt)


def _is_one(fact: Any) -> bool:
    """Whether a fact is a value: no list of them, no text, and told at all."""
    return isinstance(fact, list) and len(fact) == 3 and isinstance(fact[1], list)


def _in_single(program: Program, found: Difference) -> bool:
    """Whether a difference is no more than PyTorch's 1/6 in single precision."""
    return "hardsigmoid" in program.body.lower() and same_value(
        found.gradcli, found.pytorch, SINGLE
    )


def _of_ways(program: Program, ours: Facts, theirs: Facts, found: Difference) -> str | None:
    """The known difference that there is none of when PyTorch goes another way, or when the program
    is written in another way.
    """
    from .by_differences import right_by_differences
    from .ways import ways

    if found.kind.startswith("PyTorch refuses") and CHANGED_SINCE in found.pytorch["refused"]:
        changed = "PyTorch does not keep what is changed"
    elif ".median(" in program.body:
        changed = "a median of one shown as several"
    else:
        changed = "written from its own memory"
    for text, name, ask, written in ways(changed):
        if re.search(text, program.body):
            asked = written(program)
            if _told(asked, ours, ask(asked)):
                return name
    if found.kind == "gradient" and right_by_differences(program, ours):
        if ".data" in program.body:
            return "changed through data"
        if "BatchNorm" in program.body:
            return "statistics changed since"
        if re.search(r"create_graph|torch\.func\.", program.body):
            return "a second derivative that is not the first's"
    if found.kind.startswith("PyTorch refuses gradient") and right_by_differences(program, ours):
        return changed
    return _of_second(program, ours, found)


def _of_second(program: Program, ours: Facts, found: Difference) -> str | None:
    """The known difference that a difference of second derivatives is."""
    from .by_differences import right_by_differences_of_gradients

    if found.kind not in SECOND:
        return None
    if "logcumsumexp" in program.body:
        return "a second derivative that is not the first's"
    if re.search(r"F\.(elu|selu|celu)\(", program.body) and "0.0" in program.text:
        return "a second derivative of the other side"
    if right_by_differences_of_gradients(program, ours):
        return "a second derivative that is not the first's"
    return None


def _told(program: Program, ours: Facts, theirs: Facts) -> bool:
    """Whether PyTorch tells the same, but for names of nodes and what is known of numbers and
    refusals.
    """
    found = difference(ours, theirs, program.rtol)
    if found is None or found.kind == "grad_fn":
        return True
    return bool(
        _of_connections(program, ours, theirs, found)
        or _of_numbers(program, found)
        or _of_refusals(program, ours, theirs, found)
        or _of_second(program, ours, found)
    )


def _of_rounding(program: Program, found: Difference) -> str | None:
    """The known difference that is the rounding of float32: the same program in float64 has none,
    and its numbers are as near to ours as to PyTorch's.
    """
    if "float32" not in program.for_pytorch or not _is_one(found.gradcli):
        return None
    from . import by_gradcli, by_pytorch

    wide = program.in_float64
    ours, exact = by_gradcli.ask(wide), by_pytorch.ask(wide)
    if not _told(wide, ours, exact) or not _is_one(exact.get(found.fact)):
        return None
    truth = exact[found.fact][2]
    our_error, their_error = (_distance(f, truth) for f in (found.gradcli, found.pytorch))
    return "rounding of float32" if our_error <= 4 * their_error + 1e-6 else None


def _of_noise(program: Program, theirs: Facts, found: Difference) -> str | None:
    """The known difference that hangs on the rounding of a number or on a tie: one of the two tells
    something else when the inputs move by less than rounding does.
    """
    from . import by_gradcli, by_pytorch

    if not isinstance(found.pytorch, list) or not isinstance(theirs.get(found.fact), list):
        return None
    for seed in range(4):
        moved = program.moved(random.Random(seed), NOISE)
        for ask, told in ((by_pytorch.ask, found.pytorch), (by_gradcli.ask, found.gradcli)):
            other = ask(moved).get(found.fact)
            if not isinstance(other, list) or not same(found.kind, other, told, program.rtol):
                return "it depends on rounding"
    return None


def _distance(fact: Any, truth: list[float]) -> float:
    return max((abs(x - y) for x, y in zip(fact[2], truth, strict=True)), default=0.0)


def _where_numbers(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Two values without the elements for which PyTorch alone has nan."""
    if ours is None or theirs is None or ours[:2] != theirs[:2]:
        return ["", [], []], ["none", [], []]
    kept = [
        (a, b)
        for a, b in zip(ours[2], theirs[2], strict=True)
        if math.isnan(a) or not math.isnan(b)
    ]
    return [*ours[:2], [a for a, _ in kept]], [*theirs[:2], [b for _, b in kept]]
