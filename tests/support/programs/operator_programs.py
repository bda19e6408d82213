"""Programs that apply every operator of the language to values of every kind.

Each prints its values, then a line for each operator: the answer or `refused`. They are valid in
Python and PyTorch as well, which give the expected answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

NUMBERS = ("1", "-3", "0", "True", "2.5", "-0.0", "nan")
LISTS = ("[]", "[1]", "[1, 2]", "[0.5]")
"""Lists of numbers, which are tensors to arithmetic."""
OTHERS = ("'a'", "'ab'", "''", "()", "(1,)", "(1, 2)", "(1, 3)", "(1, 2, 0)", "('a', 1)", "(nan,)",
          "None", "{1}", "{1, 2}", "set()", "{'a': 1}", "{'b': 2}", "['a']", "[[1], 2]",
          "range(3)")  # fmt: skip
PYTHONS = (*NUMBERS, *LISTS, *OTHERS)
TENSORS = ("tensor(2.0)", "tensor(3)", "tensor([1.0, -2.0])", "tensor([2, 3])",
           "tensor([True, False])", "tensor([[1.0, 2.0], [3.0, 4.0]])", "tensor([1.0, 2.0, 0.5])",
           "tensor([0.5, 2.0], dtype=float32)", "tensor([1.0, 2.0], requires_grad=True)")  # fmt: skip
BESIDE = ("2", "0.5", "True", "'a'", "None")
"""What meets the tensors, but for each other."""

ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>")
ORDER = ("<", "<=", ">", ">=")
BINARY = (*ARITHMETIC, *ORDER, "==", "!=", "is", "is not", "in", "not in", "and", "or")
UPDATES = tuple(f"{sign}=" for sign in ARITHMETIC)
UNARY = ("+", "-", "~", "not")

PLACES = ("0", "1", "-1", "9", "-9", "1.0", "True", "'a'", "None", "(0,)", "(0, 1)", "...",
          *(f"{start}:{stop}" for start in ("", "1", "-2", "-9") for stop in ("", "0", "3", "-1", "9")),
          *(f"{part}:{step}" for part in (":", "1:4", "-1:0") for step in ("2", "-1", "-2", "0", "None")),
          "1.0:", ":'a'", "::None")  # fmt: skip
"""What stands between the brackets of an item or a slice."""
TENSOR_PLACES = ("0", "-1", "9", "1.0", "'a'", "None", "...", "(0, 1)", "1:", ":, 0", "-1, :1", "..., 1:",
                 ":1, None", "0:2:3", "[0, 1]", "[True, False]", "tensor(0)", "tensor([1, 0])",
                 "tensor([True, False])", "tensor([0.5])", "0, [1, 0]", "[[0, 1], [1, 0]]")  # fmt: skip
SEQUENCES = ("'hello'", "(10, 20, 30, 40)", "[10, 20, 30, 40]", "range(5)", "1", "2.5", "None", "{1}",
             "{'a': 1, 1: 2, (0,): 3, None: 4}")  # fmt: skip


def of_python() -> dict[str, str]:
    """Programs on values of Python."""
    mutable = ("[10, 20, 30, 40]", "{'a': 1, 1: 2}", "(1, 2)", "'ab'", "5")
    return {
        "binary": binary(product(PYTHONS, PYTHONS)),
        "updates": updates(product([*NUMBERS[::2], *LISTS, *OTHERS[::2]], [*NUMBERS, *OTHERS])),
        "as written": as_written(),
        "unary": unary(PYTHONS),
        "conditional": conditional(PYTHONS),
        "chains": chains(["0", "1", "2.5", "nan", "(1, 2)"]),
        "items": items(SEQUENCES, PLACES),
        "changes": changes(mutable, (*PLACES[:12], *PLACES[12::3]), ("7", "[7, 8]")),
    }


def of_tensors() -> dict[str, str]:
    """Programs on tensors."""
    pairs = [*product(TENSORS, (*TENSORS, *BESIDE)), *product(BESIDE, TENSORS)]
    return {
        "binary": binary(pairs),
        "updates": updates(pairs),
        "unary": unary(TENSORS),
        "conditional": conditional(TENSORS),
        "chains": chains(["tensor(1.0)", "tensor(2)", "1.5", "tensor([1.0, 2.0])"]),
        "items": items(TENSORS, TENSOR_PLACES),
        "changes": changes(TENSORS[2:6], TENSOR_PLACES, ("7", "tensor([7, 8])")),
    }


def as_written() -> str:
    """`+` and `*` with a list display on one side."""
    values = (*LISTS, "['a']", "(1, 2)", "2", "True", "0", "-1")
    text = ""
    for x, y in product(values, values):
        if "[" in x + y:
            cases = (_case(f"{sign} as written", f"v = {x} {sign} {y}", "[v]") for sign in "+*")
            text += _shown(f"[{x}, {y}]") + "".join(cases)
    return text


def binary(pairs: Iterable[tuple[str, str]], signs: Sequence[str] = BINARY) -> str:
    """`x sign y`."""
    made = ", ".join(f"({x}, {y})" for x, y in pairs)
    cases = "".join(_case(sign, f"v = x {sign} y", "[v]") for sign in signs)
    return f"for x, y in [{made}]:\n{_indented(_shown('[x, y]') + cases)}"


def updates(pairs: Iterable[tuple[str, str]], signs: Sequence[str] = UPDATES) -> str:
    """`x sign y`, and the value under another name of x afterwards."""
    made = ", ".join(f"lambda: ({x}, {y})" for x, y in pairs)
    does = "x, y = make(); same = x; x {} y"
    is_same = "type(x).__name__ in ('list', 'dict', 'set', 'Tensor') and x is same"
    cases = "".join(_case(s, does.format(s), f"[x, same, {is_same}]") for s in signs)
    return f"for make in [{made}]:\n{_indented(_shown('make()') + cases)}"


def unary(values: Iterable[str]) -> str:
    """A sign before a value."""
    cases = "".join(_case(sign, f"v = {sign} x", "[v]") for sign in UNARY)
    return f"for x in [{', '.join(values)}]:\n{_indented(_shown('[x]') + cases)}"


def conditional(values: Iterable[str]) -> str:
    """A value as a condition."""
    texts = ("'yes' if x else 'no'", "not x", "x and 'more'", "x or 'else'", "not not x and 1")
    cases = "".join(_case(text.replace("'", ""), f"v = {text}", "[v]") for text in texts)
    return f"for x in [{', '.join(values)}]:\n{_indented(_shown('[x]') + cases)}"


def chains(values: Iterable[str]) -> str:
    """Comparisons of three and four values, and which of these were evaluated."""
    signs = (("<", "<"), ("<", ">"), ("==", "!="), ("<=", ">="), ("!=", "is"), ("is not", "in"))
    asked = [f"s(x) {a} s(y) {b} s(z)" for a, b in signs]
    asked.append("s(x) < s(y) <= s(z) != s(x)")
    cases = "".join(_case(text, f"seen = []; v = {text}", "[v, seen]") for text in asked)
    made = ", ".join(f"({x}, {y}, {z})" for x, y, z in product(values, repeat=3))
    return f"""
seen = []
def s(value):
    seen.append(value)
    return value
for x, y, z in [{made}]:
{_indented(_shown("[x, y, z]") + cases)}"""


def items(values: Iterable[str], places: Iterable[str]) -> str:
    """`x[place]`."""
    cases = "".join(_case(f"[{i}]".replace("'", ""), f"v = x[{i}]", "[v]") for i in places)
    return f"for x in [{', '.join(values)}]:\n{_indented(_shown('[x]') + cases)}"


def changes(values: Iterable[str], places: Iterable[str], given: Iterable[str]) -> str:
    """`x[place] = v`, `x[place] += v` and `del x[place]`."""
    texts = [f"{{}}[{i}] {sign} {v}" for i in places for v in given for sign in ("=", "+=")]
    texts += [f"del {{}}[{i}]" for i in places]
    cases = "".join(
        _case(text.format("").replace("'", ""), f"x = make(); {text.format('x')}", "[x]")
        for text in texts
    )
    makers = ", ".join(f"lambda: {value}" for value in values)
    return f"for make in [{makers}]:\n{_indented(_shown('[make()]') + cases)}"


def _case(asked: str, does: str, shows: str) -> str:
    return f"""try:
    {does}
    print('{asked} ->', str({shows}).replace("\\n", ""))
except Exception: print('{asked} -> refused')
"""


def _shown(values: str) -> str:
    return f"""print(str({values}).replace("\\n", ""))\n"""


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
