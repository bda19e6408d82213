"""Print straight-line functions of the written form as LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from gradcli.engine.compile.export.unit import Unit
from gradcli.engine.compile.export.written import (
    Apply,
    Called,
    Expression,
    Item,
    Let,
    Math,
    Remark,
    Variable,
)
from gradcli.engine.compile.typed import NotCompilable

RESERVED: frozenset[str] = frozenset()
_CHOICE, _SUM, _PRODUCT, _POWER, _ATOM = range(5)
_GREEK = frozenset(
    """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau
    upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega""".split()  # noqa: SIM905 - a long list reads better as words
)
_KNOWN = frozenset(["exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"])
_NAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_SIGNS = {
    "lt": "<",
    "le": r"\le",
    "gt": ">",
    "ge": r"\ge",
    "eq": "=",
    "ne": r"\ne",
}


def source(unit: Unit, by: str) -> str:
    """The text of the LaTeX file: an `align*` environment, with a line for each name.

    Raises:
        NotCompilable: If the function has a loop or a branch.
    """
    rows = []
    for s in unit.body:
        if isinstance(s, Let):
            rows.append((_name(s.variable.name), _text(s.value)))
        elif not isinstance(s, Remark):
            raise NotCompilable("a loop, a branch or a test of values has no formula")
    for output in unit.outputs:
        for x, said in zip(output.values, output.says, strict=True):
            left = _derivative(said) if output.name != "value" else _name(said)
            if not isinstance(x, Variable) or _name(x.name) != left:
                rows.append((left, _text(x)))
    lines = [f"    {left} &= {right}" for left, right in rows]
    head = [f"% {unit.name}: written by {by} from {unit.source}.", r"\begin{align*}"]
    return "\n".join([*head, " \\\\\n".join(lines), r"\end{align*}", ""])


def _derivative(said: str) -> str:
    """`d y / d x` as a fraction, `d2 y / d x d z` as one of second order."""
    top, _, below = said.partition(" / ")
    order, _, y = top.partition(" ")
    names = [_name(n) for n in re.split(r"(?:^| )d ", below) if n]
    if len(names) == 1 and " d " not in f" {below} ":
        names = [_name(below.removeprefix("d "))]
    power = "^2" if order == "d2" else ""
    parts = r" \, ".join(rf"\partial {n}" for n in names)
    return rf"\frac{{\partial{power} {_name(y)}}}{{{parts}}}"


def _name(name: str) -> str:
    """A variable: a letter, a Greek letter, or a word with its number as an index."""
    item = re.fullmatch(r"(\w+)\[([\d, ]+)\]", name)
    if item:
        return f"{_name(item[1])}_{{{item[2]}}}"
    derivative = re.fullmatch(r"d_(\w+)", name)
    if derivative:
        return rf"\bar{{{_name(derivative[1])}}}"
    found = re.fullmatch(r"([A-Za-z]+)_?(\d*)_?(\w*)", name)
    if not found:
        return rf"\mathrm{{{_escaped(name)}}}"
    word, number, rest = found.groups()
    index = ", ".join(part for part in (number, _escaped(rest)) if part)
    said = rf"\{word}" if word in _GREEK else word if len(word) == 1 else rf"\mathrm{{{word}}}"
    return said + (f"_{{{index}}}" if index else "")


def _escaped(word: str) -> str:
    return word.replace("_", r"\_")


def _text(x: Expression) -> str:
    return _bound(x)[0]


def _within(x: Expression, least: int) -> str:
    text, level = _bound(x)
    return text if level >= least else rf"\left({text}\right)"


def _bound(x: Expression) -> tuple[str, int]:
    """The text of an expression, and how tightly it binds."""
    match x:
        case Variable(name=name):
            return _name(name), _ATOM
        case Item(array=array, at=at):
            return f"{_name(array)}_{{{_text(at)}}}", _ATOM
        case Math(function=function, args=args):
            return _function(function, args)
        case Called(function=function, args=args):
            inside = ", ".join(map(_text, args))
            return rf"\operatorname{{{_escaped(function)}}}\left({inside}\right)", _POWER
        case Apply(primitive=primitive, args=args):
            return _applied(primitive, args)
    return _constant(x)


def _function(function: str, args: Sequence[Expression]) -> tuple[str, int]:
    if function == "exp":
        return f"e^{{{_text(args[0])}}}", _POWER
    if function == "pow":
        return f"{_within(args[0], _ATOM)}^{{{_text(args[1])}}}", _POWER
    name = _NAMED.get(function, function)
    head = rf"\{name}" if function in _KNOWN or function in _NAMED else rf"\operatorname{{{name}}}"
    return rf"{head}\left({', '.join(map(_text, args))}\right)", _POWER


def _applied(primitive: str, args: Sequence[Expression]) -> tuple[str, int]:
    _, _, name = primitive.partition("_")
    if name in ("add", "sub"):
        sign = {"add": "+", "sub": "-"}[name]
        return f"{_within(args[0], _SUM)} {sign} {_within(args[1], _PRODUCT)}", _SUM
    if name == "mul":
        return _product(*args)
    if name == "div":
        return rf"\frac{{{_text(args[0])}}}{{{_text(args[1])}}}", _PRODUCT
    if name == "neg":
        return f"-{_within(args[0], _PRODUCT)}", _SUM
    if name == "sqrt":
        return rf"\sqrt{{{_text(args[0])}}}", _POWER
    if name == "abs":
        return rf"\left|{_text(args[0])}\right|", _ATOM
    if name in _SIGNS:
        return f"{_text(args[0])} {_SIGNS[name]} {_text(args[1])}", _CHOICE
    if name == "select":
        test, then, orelse = map(_text, args)
        rows = rf"{then} & \text{{if }} {test} \\ {orelse} & \text{{else}}"
        return rf"\begin{{cases}} {rows} \end{{cases}}", _CHOICE
    if primitive in ("int_to_float", "bool_to_float", "bool_to_int"):
        return _bound(args[0])
    raise NotCompilable(f"`{primitive}` has no formula")


def _product(a: Expression, b: Expression) -> tuple[str, int]:
    """A product, with numbers in front and squares as powers."""
    if a == b:
        return f"{_within(a, _ATOM)}^2", _POWER
    if isinstance(b, (int, float)) and not isinstance(a, (int, float)):
        a, b = b, a
    if a == 0:
        return "0", _ATOM
    if a == 1:
        return _bound(b)
    if a == -1:
        return f"-{_within(b, _PRODUCT)}", _SUM
    left, right = _within(a, _PRODUCT), _within(b, _PRODUCT)
    sign = r"\cdot" if right[0].isdigit() else r"\,"
    return f"{left} {sign} {right}", _PRODUCT


def _constant(x: Expression) -> tuple[str, int]:
    if isinstance(x, bool) or not isinstance(x, (int, float)):
        return rf"\mathrm{{{str(x).lower()}}}", _ATOM
    if not math.isfinite(x):
        return {True: r"\infty", False: r"-\infty"}.get(x > 0, r"\mathrm{nan}"), _ATOM
    text = repr(int(x)) if float(x).is_integer() and abs(x) < 1e15 else repr(x)
    mantissa, e, exponent = text.partition("e")
    said = rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if e else text
    return said, _SUM if text.startswith("-") else _PRODUCT if e else _ATOM
