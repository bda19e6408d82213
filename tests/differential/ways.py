"""Other ways in which PyTorch is asked for what gradcli tells: with other functions of its own, or with
the program written otherwise. Where it then tells the same, the way names the known difference.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import TypeAlias

from . import by_definition, by_pytorch
from .answers import Facts
from .program import Program

Way: TypeAlias = tuple[str, str, Callable[[Program], Facts], Callable[[Program], Program]]
"""A pattern of the texts for which it is taken, the name of the difference, how PyTorch is asked, and
how the program is written.
"""
_DATA_LESSENED = re.compile(r"(\w+)\.data -= (.*)")


def ways(changed: str) -> tuple[Way, ...]:
    """The ways; `changed` is the name of the difference that copies take away."""
    return (
        (
            r"torch\.func",
            "connected by a slope of zero",
            by_pytorch.ask_with_connected_slopes,
            same,
        ),
        (
            r"torch\.func\.",
            "a Jacobian in another order",
            by_pytorch.ask_with_matrices_in_order,
            same,
        ),
        (
            r"(grad|backward)\(",
            "one element shown as several",
            by_pytorch.ask_with_own_gradients,
            same,
        ),
        (
            "tanh|sigmoid|softmax",
            "a slope by the result",
            by_pytorch.ask_with_slopes_by_arguments,
            same,
        ),
        ("stride", "the stride of one element", by_definition.ask_with_own_strides, same),
        ("", changed, by_pytorch.ask_on_copies, same),
        (
            r"\*\*",
            "a second derivative that is not the first's",
            by_pytorch.ask_with_powers_by_logarithms,
            same,
        ),
        (r"\] = |= |_\(|retain_grad", "a view taken for a leaf", by_pytorch.ask, looking),
        (r"\] = |= |_\(", "a view taken for a leaf", by_pytorch.ask_on_copies, looking),
        ("BatchNorm", "statistics changed since", by_definition.ask_with_own_statistics, same),
        ("(?i)layer_?norm", "it depends on rounding", by_pytorch.ask_with_layers_in_parts, same),
        ("(?i)log_?softmax", "it depends on rounding", by_definition.ask_with_sums_of_powers, same),
        (
            "softplus",
            "the threshold of softplus",
            by_definition.ask_with_softplus_to_all_digits,
            same,
        ),
        (
            "cosine_embedding_loss",
            "it depends on rounding",
            by_definition.ask_with_cosines_in_parts,
            same,
        ),
        ("no_grad", "a view made under no_grad", by_pytorch.ask, cutting),
        ("no_grad", "a view made under no_grad", by_pytorch.ask, cutting_uses),
        (r"\.data", "changed through data", by_pytorch.ask, noticing),
        (r"\.data", "changed through data", by_pytorch.ask_on_copies, noticing),
        (
            "expand",
            "an expanded tensor is changed",
            by_definition.ask_without_expanded_changes,
            same,
        ),
        ("clamp", "a bound that wraps around", by_definition.ask_with_wide_bounds, same),
        ("alpha=", "a multiple of a bool", by_definition.ask_with_multiples_of_bools, same),
        ("m(ax|in)imum", "a nan that is chosen", by_definition.ask_with_nan_chosen, same),
        (
            "sign|abs|l1_loss|heaviside",
            "the sign of nan",
            by_definition.ask_with_signs_of_nan,
            same,
        ),
        (r"var|std", "the variance of one element", by_definition.ask_with_moments, same),
        ("norm|cosine", "a norm that overflows", by_definition.ask_with_scaled_norms, same),
        (_INFINITE, "a value at infinity", by_definition.ask_with_limits, same),
        (_OUTSIDE, "a slope where the value is nan", by_definition.ask_with_slopes_of_values, same),
        ("", "several edges at once", by_definition.ask_by_definition, same),
    )


_INFINITE = r"gelu|silu|mish|hardswish|softsign|trapezoid|quantile|\*\*"
_OUTSIDE = "log|xlog|atanh|acosh|asin|acos|elu|hardswish"


def same(program: Program) -> Program:
    """The program as it is."""
    return program


def noticing(program: Program) -> Program:
    """The program in which PyTorch notices what is changed through `.data`."""
    body = _DATA_LESSENED.sub(r"\1.detach().sub_(\2)", program.body)
    return program.but(body=body.replace(".data", ".detach()"))


def looking(program: Program) -> Program:
    """The program, which looks at the history of each value before it changes that value."""
    return program.but(body=ast.unparse(_Looked().visit(ast.parse(program.body))))


class _Looked(ast.NodeTransformer):
    """Looks at a tensor before a statement that writes into it."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                setattr(node, field, [s for statement in block for s in self._looked(statement)])
        return node

    def _looked(self, statement: ast.stmt) -> list[ast.stmt]:
        name = _changed(statement)
        if name is None:
            return [statement]
        look = ast.parse(f"looked({name})").body
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Subscript):
            place, value = ast.unparse(statement.target), ast.unparse(statement.value)
            sign = ast.unparse(statement).removeprefix(place).split("=")[0]
            parts = [f"{name}_ = {place}", f"{name}_ {sign}= {value}", f"looked({name})"]
            return [
                *look,
                *ast.parse("\n".join([*parts, f"{place} = {name}_", f"del {name}_"])).body,
            ]
        return [*look, statement]


def _changed(statement: ast.stmt) -> str | None:
    """The name of the tensor into which a statement writes, or of which it changes a view."""
    match statement:
        case ast.Assign(targets=[ast.Subscript() as place]):
            target: ast.expr = place
        case ast.AugAssign(target=target):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=method, value=target))) if (
            method == "retain_grad" or (method.endswith("_") and not method.startswith("_"))
        ):
            pass
        case _:
            return None
    while not isinstance(target, ast.Name):
        under = getattr(target, "func", None) or getattr(target, "value", None)
        if under is None:
            return None
        target = under
    return target.id


def cutting(program: Program) -> Program:
    """The program in which what is made under `no_grad` is detached."""
    return program.but(body=ast.unparse(_Cut().visit(ast.parse(program.body))))


class _Cut(ast.NodeTransformer):
    inside = False

    def visit_With(self, node: ast.With) -> ast.AST:
        before, self.inside = self.inside, "no_grad" in ast.unparse(node.items[0])
        self.generic_visit(node)
        self.inside = before
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if self.inside and isinstance(node.targets[0], ast.Name):
            node.value = _detached(node.value)
        return node


def cutting_uses(program: Program) -> Program:
    """The program in which what is made under `no_grad` is detached where it is used, but not where
    it is changed, which PyTorch and gradcli refuse.
    """
    tree = ast.parse(program.body)
    made = {
        target.id
        for block in ast.walk(tree)
        if isinstance(block, ast.With) and "no_grad" in ast.unparse(block.items[0])
        for inner in ast.walk(block)
        if isinstance(inner, ast.Assign)
        for target in inner.targets
        if isinstance(target, ast.Name)
    }
    return program.but(body=ast.unparse(_CutUses(made).visit(tree)))


class _CutUses(ast.NodeTransformer):
    def __init__(self, made: set[str]) -> None:
        self.made = made

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return node if _changed(node) in self.made else self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_use = isinstance(node.ctx, ast.Load) and node.id in self.made
        return _detached(node) if is_use else node


def _detached(value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("detached", ast.Load()), [value], [])
