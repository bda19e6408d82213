"""Describe an op from its entry, as data for a page of documentation or the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from gradcli.engine.ops.catalog import entries, ops
from gradcli.engine.ops.op import Known, Op
from gradcli.engine.ops.pages.formula import cotangents, written
from gradcli.made.ops_in_python import IN_PYTHON
from gradcli.results import Kink, Operation


def operations() -> Iterator[Operation]:
    """Every built-in operation, family by family."""
    for family, title in ops.titles.items():
        module = import_module(f"gradcli.engine.{family}")
        for op in dict.fromkeys(entries(vars(module)).values()):
            yield operation(op, title)


def named(name: str) -> Operation | None:
    """The operation that a program calls by this name; None where there is none."""
    title = ops.titles.get(ops.families.get(name, ""))
    return None if title is None else operation(ops[name], title)


def operation(op: Op, family: str) -> Operation:
    """The description of an op; `family` is the heading that it stands under."""
    parts = (op, *map(ops.__getitem__, op.host.by))
    return Operation(
        name=op.name,
        aliases=op.aliases,
        family=family,
        signature=op.usage,
        meaning=" ".join(op.page.doc.split()),
        derivative=cotangents(op),
        differentiable=op.differentiable or op.value.body is not None or bool(op.host.by),
        kinks=tuple(_kink(op.name, part, k) for part in parts for k in part.page.known()),
        source=op.page.source,
        method=op.method,
        inplace=op.memory.inplace,
        in_python=op.name in IN_PYTHON,
    )


def _kink(name: str, op: Op, known: Known) -> Kink:
    params = [f"{key}={written(value)}" for key, value in known.params.items()]
    call = f"{name}({', '.join([*map(written, known.args), *params])})"
    grads = zip(op.args * len(known.grad) if op.variadic else op.args, known.grad, strict=False)
    gradient = {arg: _plain(grad) for arg, grad in grads if grad is not None}
    return Kink(call=call, cotangent=_plain(known.cotangent), gradient=gradient)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
