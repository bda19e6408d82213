"""Dense matrices of derivatives as sparse ones, in which all entries count."""

from __future__ import annotations

from typing import Any

from gradcli.engine.values.data import np
from gradcli.results import (
    Coo,
    HessianResult,
    JacobianResult,
    SparseHessianResult,
    SparseJacobianResult,
)


def full_jacobian(dense: JacobianResult, reason: str) -> SparseJacobianResult:
    """All entries of a Jacobian, of which nobody knows where it is zero, with the reason."""
    height = int(np.size(dense.value))
    blocks = {name: _whole(x, height) for name, x in dense.jacobian.items()}
    width = sum(block.shape[1] for block in blocks.values())
    return SparseJacobianResult(
        output=dense.output,
        value=dense.value,
        jacobian=blocks,
        mode=dense.mode,
        products=width if dense.mode == "forward" else height,
        dense=(_whole_program(reason),),
        printed=dense.printed,
        warnings=dense.warnings,
    )


def full_hessian(dense: HessianResult, reason: str) -> SparseHessianResult:
    """All entries of second derivatives, as `full_jacobian` gives those of first ones."""
    sizes = {name: int(np.size(slope)) for name, slope in dense.grad.items()}
    rows = (dense.hessian or {}).items()
    return SparseHessianResult(
        output=dense.output,
        value=dense.value,
        grad=dense.grad,
        hessian={n: {m: _whole(x, sizes[n]) for m, x in row.items()} for n, row in rows},
        mode=dense.mode,
        products=sum(sizes.values()),
        dense=(_whole_program(reason),),
        printed=dense.printed,
        warnings=dense.warnings,
    )


def _whole_program(reason: str) -> str:
    return f"the program: {reason}"


def _whole(found: Any, height: int) -> Coo:
    """All entries of a matrix of this height."""
    data = np.asarray(found, np.float64).ravel()
    width = len(data) // max(height, 1)
    row, column = np.divmod(np.arange(len(data)), max(width, 1))
    return Coo((height, width), row, column, data)
