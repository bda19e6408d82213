"""docs/kinks.md gives the reason for each difference from PyTorch that the comparison knows."""

import ast
from pathlib import Path

from differential.known import REFUSALS, REFUSALS_OF

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "kinks.md").read_text("utf-8").replace("\n  ", " ")


def texts(node):
    """The texts that an expression may give."""
    match node:
        case ast.Constant(value=str()):
            yield node.value
        case ast.IfExp(body=body, orelse=orelse):
            yield from texts(body)
            yield from texts(orelse)


def returned():
    """The names that `known.py` returns for a difference."""
    for node in ast.walk(ast.parse((HERE / "known.py").read_text("utf-8"))):
        if isinstance(node, ast.Return):
            yield from texts(node.value)


def of_ways():
    """The names of the ways in which PyTorch is asked otherwise; `ways.py` itself needs PyTorch."""
    for node in ast.walk(ast.parse((HERE / "ways.py").read_text("utf-8"))):
        if isinstance(node, ast.Tuple) and len(node.elts) == 4:
            yield from texts(node.elts[1])


def test_every_known_difference_has_its_reason():
    names = {row[-1] for row in (*REFUSALS, *REFUSALS_OF)} | {*returned()} | {*of_ways()}
    assert len(names) > 40
    missing = sorted(name for name in names if f"*{name}*" not in PAGE)
    assert not missing, f"docs/kinks.md does not name {missing}"
