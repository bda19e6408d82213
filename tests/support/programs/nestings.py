"""Every kind of nesting that a program can have, as deep as one likes."""

from __future__ import annotations

BEFORE = "import numpy as np\nf = lambda *a, **k: 1\nx = [1]\n"
"""What the texts use."""

AROUND = {
    "parentheses": ("(", "1", ")"),
    "lists": ("[", "1", "]"),
    "tuples": ("(", "1", ",)"),
    "sets": ("{", "1", "}"),
    "dictionaries": ("{1: ", "1", "}"),
    "keys": ("{", "1", ": 1}"),
    "merged dictionaries": ("{**", "{}", "}"),
    "stars": ("[*", "[1]", "]"),
    "stars of sets": ("{*", "[1]", "}"),
    "stars of tuples": ("(*", "[1]", ",)"),
    "signs": ("-", "1", ""),
    "bits": ("~", "1", ""),
    "not": ("not ", "1", ""),
    "lambdas": ("lambda: ", "1", ""),
    "defaults": ("lambda a=", "1", ": a"),
    "lambdas that are called": ("(lambda a: a)(", "1", ")"),
    "calls": ("f(", "1", ")"),
    "calls by name": ("f(a=", "1", ")"),
    "calls with stars": ("f(*", "[1]", ")"),
    "calls with two stars": ("f(**", "{}", ")"),
    "operations": ("torch.sin(", "1", ")"),
    "functions of NumPy": ("np.sin(", "1.0", ")"),
    "methods": ("x.append(", "1", ")"),
    "sums": ("sum(", "1", ")"),
    "prints": ("print(", "1", ")"),
    "items": ("[x for x in ", "[1]", "]"),
    "elements": ("[", "1", " for x in [1]]"),
    "conditions": ("[x for x in [1] if ", "1", "]"),
    "generators": ("(x for x in ", "[1]", ")"),
    "generators as arguments": ("f(x for x in ", "[1]", ")"),
    "sums of generators": ("sum(v for v in ", "[1]", ")"),
    "comprehended sets": ("{x for x in ", "[1]", "}"),
    "comprehended dictionaries": ("{x: 1 for x in ", "[1]", "}"),
    "comprehended values": ("{x: ", "1", " for x in [1]}"),
    "indices": ("x[", "0", "]"),
    "indices that are tuples": ("x[", "0", ",]"),
    "slices": ("x[", "0", ":]"),
    "slices of several": ("x[1, 2:", "1", "]"),
    "indices that are choices": ("x[0 if ", "1", " else 2]"),
    "choices by choices": ("(x if ", "1", " else 1)"),
    "choices of choices": ("(", "1", " if 1 else 2)"),
    "choices else": ("x if 0 else ", "1", ""),
    "and": ("1 and (", "1", ")"),
    "or": ("0 or (", "1", ")"),
    "comparisons": ("1 < (", "1", ")"),
    "comparisons of several": ("1 < 2 < (", "1", ")"),
    "membership": ("1 in [", "1", "]"),
    "sums on the right": ("1 + (", "1", ")"),
    "sums on the left": ("(", "1", ") + 1"),
    "powers": ("1 ** ", "1", ""),
    "products of matrices": ("1 @ (", "1", ")"),
    "names of values": ("(y := ", "1", ")"),
    "yielded": ("(yield ", "1", ")"),
    "yielded from": ("(yield from ", "[]", ")"),
    "targets": ("(z, ", "z", ")"),
    "parts of a text": ("[", "1", "]"),
    "of all kinds": ("f([{1: -x[(", "0", ")]}])"),
}
"""Text before, inside and behind each level of an expression."""

AT_ENDS = {
    "yielded": ("def g(): ", ""),
    "yielded from": ("def g(): ", ""),
    "targets": ("", " = x"),
    "parts of a text": ("f'{", "}'"),
}
"""Text before and behind all levels."""

IN_A_ROW = {
    "attributes": ("x", ".a", ""),
    "parts": ("x", "[0]", ""),
    "calls of calls": ("f", "()", ""),
    "methods of methods": ("x", ".copy()", ""),
    "sums in a row": ("1", " + 1", ""),
    "products in a row": ("1", " * -1", ""),
    "lists in a row": ("[1]", " + [1]", ""),
    "powers in a row": ("1", " ** 1", ""),
    "comparisons in a row": ("1", " <= 1", ""),
    "and in a row": ("1", " and 1", ""),
    "or in a row": ("0", " or 0", ""),
    "loops of a comprehension": ("[1", " for x in [1]", "]"),
    "loops of a generator": ("sum(1", " for x in [1]", ")"),
    "conditions of a comprehension": ("[1 for x in [1]", " if 1", "]"),
    "names in a row": ("", "a = ", "1"),
    "branches": ("if 0: pass\n", "elif 0: pass\n", ""),
    "contexts": ("with no_grad()", ", no_grad()", ": pass"),
    "handlers": ("try: pass\n", "except ValueError: pass\n", ""),
    "decorators": ("def d(g): return g\n", "@d\n", "def h(): pass"),
    "texts": ("'a'", " 'a'", ""),
    "formatted texts": ("f'{1}'", " f'{1}'", ""),
    "statements": ("a = 1", "; a", ""),
    "lines": ("", "a = 1\n", ""),
}
"""Text before, of and behind what stands in a row, which a tree may hold inside each other."""

BLOCKS = {
    "if": ("if 1:",),
    "else": ("if 0: pass", "else:"),
    "for": ("for i in [1]:",),
    "else of for": ("for i in []: pass", "else:"),
    "while": ("j = 1", "while j:", " j = 0"),
    "else of while": ("while 0: pass", "else:"),
    "with": ("with no_grad():",),
    "except": ("try: 1 // 0", "except ZeroDivisionError:"),
    "else of try": ("try: 1", "except ValueError: pass", "else:"),
    "finally": ("try: 1", "finally:"),
    "functions": ("def h():",),
    "functions with defaults": ("def h(a=lambda: 1):",),
    "classes": ("class A:",),
}
"""Lines before a block; one that is indented stands in it."""

CLOSED = {"try": ("try:", "except ValueError: pass"), "try finally": ("try:", "finally: pass")}
"""Lines before and behind a block."""

_DEEPEST = {
    19: ("contexts", "except", "else of try", "finally", "try", "try finally"),
    20: ("with",),
    40: ("of all kinds",),
    50: ("parts of a text", "functions in classes"),
    66: ("conditions", "generators as arguments", "sums of generators"),
    99: ("items", "generators", "comprehended sets", "comprehended dictionaries"),
    100: (
        "indices that are tuples",
        "slices of several",
        "indices that are choices",
        "membership",
        "methods of methods",
        "if",
        "else",
        "for",
        "else of for",
        "while",
        "else of while",
        "functions",
        "functions with defaults",
        "classes",
    ),
    197: ("loops of a generator", "conditions of a comprehension"),
    198: ("elements", "comprehended values", "loops of a comprehension"),
    199: (
        "merged dictionaries",
        "stars",
        "stars of sets",
        "stars of tuples",
        "lambdas that are called",
        "calls with stars",
        "calls with two stars",
        "operations",
        "functions of NumPy",
        "methods",
        "yielded from",
    ),
    299: ("branches",),
}
_ENDLESS = (
    "parentheses",
    "sums on the left",
    "sums in a row",
    "products in a row",
    "lists in a row",
    "comparisons in a row",
    "and in a row",
    "or in a row",
    "names in a row",
    "handlers",
    "decorators",
    "texts",
    "formatted texts",
    "statements",
    "lines",
)

NAMES = (*AROUND, *IN_A_ROW, *BLOCKS, *CLOSED, "functions in classes")


def deepest(name: str) -> int | None:
    """The greatest depth that is not refused; None if there is none."""
    if name in _ENDLESS:
        return None
    return next((depth for depth, names in _DEEPEST.items() if name in names), 200)


def nested(name: str, depth: int) -> str:
    """A program that is nested so deep."""
    return BEFORE + _text(name, depth)


def _text(name: str, depth: int) -> str:
    if name in AROUND:
        before, inside, behind = AROUND[name]
        begin, end = AT_ENDS.get(name, ("", ""))
        return begin + before * depth + inside + behind * depth + end
    if name in IN_A_ROW:
        before, each, behind = IN_A_ROW[name]
        return before + each * depth + behind
    if name == "functions in classes":
        return _blocks(("class A:", " def h(s):"), depth, 2)
    if name in CLOSED:
        head, tail = CLOSED[name]
        tails = [" " * level + tail for level in reversed(range(depth))]
        return "\n".join([_blocks((head,), depth, 1), *tails])
    return _blocks(BLOCKS[name], depth, 1)


def _blocks(lines: tuple[str, ...], depth: int, wide: int) -> str:
    found = [" " * (level * wide) + line for level in range(depth) for line in lines]
    return "\n".join([*found, " " * (depth * wide) + "pass"])
