"""The results of ops on symbolic arrays, which record the steps that make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradcli.engine.compile.llvm.arrays.by_op import BY_OP, SAME, check_layout
from gradcli.engine.compile.llvm.arrays.steps import Copy, Node
from gradcli.engine.compile.llvm.arrays.symbolic import Steps, Symbolic
from gradcli.engine.compile.llvm.emit.writer import Number
from gradcli.engine.compile.scalar.errors import Untranslatable
from gradcli.engine.compile.typed import Do, DoSeveral, is_array, type_of
from gradcli.engine.ops.catalog import ops
from gradcli.engine.values.data import Quiet


def value(steps: Steps, i: Do | DoSeveral, args: Sequence[Any]) -> Any:
    """What an op's NumPy function gives for symbols.

    Raises:
        Untranslatable: If the function needs their values.
    """
    try:
        with Quiet():
            return _of_symbols(steps, i, args)
    except Exception as error:  # it needs values; symbols have only shapes and types
        raise Untranslatable(f"`{i.op}` of arrays: {error}") from None


def _of_symbols(steps: Steps, i: Do | DoSeveral, args: Sequence[Any]) -> Any:
    op, params = ops[i.op], dict[str, Any](i.params)
    if op in SAME or (op is ops.along_directions and ops[params["of"]] in SAME):
        return args[0]
    if op is ops.held:
        return params["of"].data
    if op is ops.owned:
        check_layout(ops[params["by"]], args[0], args, params["index"])
        return args[0]
    if op in BY_OP:
        return BY_OP[op](steps, *args, **params)
    if op is ops.assembled:
        return _assembled(steps, args, params["size"])
    if op is ops.stack and not any(getattr(x, "ndim", 0) for x in args):
        return _assembled(steps, args, (len(args),))
    assert op.value.array is not None
    return op.value.array(*args, **params)


def _assembled(steps: Steps, args: Sequence[Any], shape: Sequence[int]) -> Symbolic:
    """An array whose elements are the given numbers."""
    numbers = [steps.symbol(x) for x in args]
    kind = numbers[0].type
    target = Node(kind, shape)
    flat = steps.whole(target).reshape(-1)
    for k, x in enumerate(numbers):
        if x.type != kind:
            raise Untranslatable("numbers of several types")
        source = x.source if isinstance(x.source, Number) else x.part()
        steps.steps.append(Copy(target, flat[k : k + 1].part(), source))
    return steps.whole(target)


def is_on_arrays(i: Do) -> bool:
    """True for an op with an array among its operands, or one that works on arrays alone."""
    types = map(type_of, (i.target, *i.args))
    return ops[i.op].value.number is None or any(map(is_array, types))
