"""Where two answers differ."""

from __future__ import annotations

import math
import re
from typing import Any

from gradcli.record import Record

from . import reasons
from .answers import Facts, is_refusal

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
_FUNCTION = re.compile(r"<function (<lambda>|[\w.]+)( at 0x[0-9a-f]+)?>")
_ADDRESS = re.compile(r" object at 0x[0-9a-f]+")
_DEPTH = re.compile(
    "(maximum recursion depth exceeded)( while calling a Python object| in comparison)"
)
_CALLED = re.compile(r"`([\w.]+)`(?= (missing|takes) \d)")
_NODE = re.compile(r"grad_fn=<\w+>")


class Difference(Record):
    """A fact that the two tell differently; `kind` is what it is about."""

    __slots__ = ("kind", "fact", "gradcli", "pytorch")
    kind: str
    fact: str
    gradcli: Any
    pytorch: Any

    def __str__(self) -> str:
        return f"{self.kind}: {self.fact}\n  gradcli {self.gradcli}\n  PyTorch {self.pytorch}"


def difference(ours: Facts, theirs: Facts, rtol: float) -> Difference | None:
    """The first difference, in the order in which a program makes its facts; names of nodes last."""
    if "bug" in ours:
        last = ours["bug"].strip().split("\n")[-1]
        return Difference(f"bug: {last}", "bug", ours["bug"], theirs.get("run", "answers"))
    for question in ("run", "gradient"):
        a, b = ours.get(question), theirs.get(question)
        if is_refusal(a) and is_refusal(b):
            return _other_reason(question, a, b)
        if is_refusal(a):
            return Difference(f"gradcli refuses {question}: {_reason(a)}", question, a, "answers")
        if is_refusal(b):
            return Difference(f"PyTorch refuses {question}: {_reason(b)}", question, "answers", b)
    for fact in sorted({**theirs, **ours}, key=lambda fact: fact.startswith("grad_fn")):
        kind, _, _ = fact.partition(" ")
        a, b = ours.get(fact), theirs.get(fact)
        if kind in {"grad_fn", "requires_grad"} and (a is None or b is None):
            continue
        if not same(kind, a, b, rtol):
            return Difference(kind, fact, a, b)
    return None


def _other_reason(question: str, ours: Any, theirs: Any) -> Difference | None:
    """That both refuse something, for reasons of different kinds."""
    if reasons.same(ours["refused"], theirs["refused"]):
        return None
    a, b = reasons.of_gradcli(ours["refused"]), reasons.of_pytorch(theirs["refused"])
    return Difference(f"refused for {a}, by PyTorch for {b}", question, ours, theirs)


def _reason(refusal: Any) -> str:
    """The gist of a refusal: its first words, without numbers."""
    words = re.sub(r"[\d\[\]`'\"]+", "", refusal["refused"]).split()
    return " ".join(words[:7])


def refused(facts: Facts) -> bool:
    """Whether something was refused."""
    return is_refusal(facts.get("run")) or is_refusal(facts.get("gradient"))


def same(kind: str, a: Any, b: Any, rtol: float) -> bool:
    """Whether two facts of a kind are the same but for rounding."""
    if kind == "printed":
        return _same_text("\n".join(a), "\n".join(b), rtol)
    if kind == "grad_fn":
        return not a or not b or bool(a == b)  # whether there is one, `requires_grad` tells
    if kind == "requires_grad" or a is None or b is None:
        return bool(a == b)
    return same_value(a, b, rtol)


def same_value(a: Any, b: Any, rtol: float) -> bool:
    """Whether two values are the same but for rounding."""
    if a[0] == "list" or b[0] == "list":
        return (
            a[0] == b[0]
            and len(a[1]) == len(b[1])
            and all(same_value(x, y, rtol) for x, y in zip(a[1], b[1], strict=True))
        )
    if a[:2] != b[:2]:
        return False
    if not a[0].startswith("float"):
        return bool(a[2] == b[2])
    size = max((abs(y) for y in b[2] if math.isfinite(y)), default=0.0)
    return all(_close(x, y, rtol, rtol * (size + 1e-4)) for x, y in zip(a[2], b[2], strict=True))


def _close(x: float, y: float, rtol: float, atol: float) -> bool:
    if x == y or (math.isnan(x) and math.isnan(y)):
        return True
    return math.isfinite(x) and math.isfinite(y) and abs(x - y) <= atol + rtol * abs(y)


def _same_text(a: str, b: str, rtol: float) -> bool:
    """Whether two texts are the same but for names of nodes and functions, addresses and the
    rounding of numbers.
    """
    if a == b:
        return True
    a, b = map(_without_names, (a, b))
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    return all(
        x == y or abs(float(x) - float(y)) <= 1.01 * _last_digit(x) + rtol * abs(float(y))
        for x, y in zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    )


def _without_names(text: str) -> str:
    """A text without names of nodes and functions, addresses, backticks around a method, and what
    Python did too deep.
    """
    for pattern, kept in (
        (_ADDRESS, ""),
        (_NODE, "grad_fn"),
        (_FUNCTION, "function"),
        (_DEPTH, r"\1"),
        (_CALLED, r"\1()"),
    ):
        text = pattern.sub(kept, text)
    return text


def _last_digit(number: str) -> float:
    digits, _, exponent = number.partition("e")
    return float(10.0 ** (int(exponent or 0) - len(digits.partition(".")[2])))
