"""Results as named values: the one form that lines, tables, CSV and arrays are made of."""

from __future__ import annotations

from typing import TypeAlias

from gradcli.results import (
    GradResult,
    HessianResult,
    HvpResult,
    JacobianResult,
    JvpResult,
    RunResult,
    Value,
    VjpResult,
)

Derivatives: TypeAlias = (
    GradResult | VjpResult | JvpResult | JacobianResult | HessianResult | HvpResult
)


def fields(result: RunResult | Derivatives) -> dict[str, Value]:
    """The result's value by its name, then the derivatives: `loss`, `grad.w`, `hessian.w.b`."""
    if isinstance(result, RunResult):
        return {} if result.result is None else {result.output: result.result}
    grad = result.grad if isinstance(result, HessianResult) else {}
    return {
        result.output: result.value,
        **{f"grad.{name}": value for name, value in grad.items()},
        **derivative(result),
    }


def derivative(result: Derivatives) -> dict[str, Value]:
    """What the command was asked for, by name."""
    match result:
        case JvpResult():
            return {"jvp": result.jvp}
        case HessianResult(hessian=dict(hessian)):
            return {f"hessian.{a}.{b}": v for a, row in hessian.items() for b, v in row.items()}
        case HessianResult():
            return {f"diagonal.{name}": v for name, v in (result.diagonal or {}).items()}
        case GradResult():
            found, kind = result.grad, "grad"
        case VjpResult():
            found, kind = result.vjp, "vjp"
        case JacobianResult():
            found, kind = result.jacobian, "jacobian"
        case HvpResult():
            found, kind = result.hvp, "hvp"
    return {f"{kind}.{name}": value for name, value in found.items()}
