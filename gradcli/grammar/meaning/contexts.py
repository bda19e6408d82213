"""Contexts of `with` and of decorators that switch recording on or off."""

from __future__ import annotations

from gradcli.grammar.meaning import modules
from gradcli.grammar.meaning.names import Names, dotted
from gradcli.grammar.meaning.scopes import Scope
from gradcli.grammar.syntax import ast

_MODES = {name: name for name in ("no_grad", "inference_mode", "enable_grad")}
_CALLS = frozenset({"set_grad_enabled", "set_detect_anomaly", "detect_anomaly", "dual_level"})
"""Built-ins that set a mode of the run; the end of a block restores the former mode."""

NAMES = frozenset(_MODES)
"""Names that may only follow `with` and `@`."""


def mode(context: ast.Expr, names: Names, scope: Scope | None) -> str | None:
    """The effect of a context: "no_grad", "enable_grad", "inference_mode", "normal_mode" for the
    end of that, or "kept" for a call that decides it at run time; None for any other expression.
    """
    function = context.function if isinstance(context, ast.Call) else context
    path = names.path(function, scope)
    if path is None:
        return None
    module, _, name = path.rpartition(".")
    if module and module not in modules.TORCH:
        return None
    if name in _CALLS and isinstance(context, ast.Call):
        return _of_constant(name, context) or "kept"
    if name == "inference_mode" and isinstance(context, ast.Call):
        return _of_inference(context)
    return _MODES.get(name)


def sets_mode(call: ast.Call, names: Names, scope: Scope | None) -> bool:
    """True if a call sets whether steps are recorded, and gives None."""
    path = names.path(call.function, scope) or ""
    return path.rpartition(".")[2] == "set_grad_enabled" and mode(call, names, scope) is not None


def is_once(decorator: ast.Expr) -> bool:
    """True if a decorator is `@once_differentiable`."""
    names = dotted(decorator)
    return names is not None and names[-1] == "once_differentiable"


def is_call(context: ast.Call) -> bool:
    """True if a context calls a built-in, whose signature lists its arguments."""
    names = dotted(context.function)
    return names is not None and names[-1] in {*_CALLS, "inference_mode"}


def _of_constant(name: str, context: ast.Call) -> str | None:
    """The mode that `set_grad_enabled` with a literal sets, else None."""
    match context.args:
        case (ast.Literal(value=bool(on)),) if name == "set_grad_enabled" and not context.keywords:
            return "enable_grad" if on else "no_grad"
    return None


def _of_inference(context: ast.Call) -> str | None:
    """The mode of `inference_mode()` with a literal or nothing, else None: a value decides it."""
    given = [*context.args, *(keyword.value for keyword in context.keywords)]
    match given:
        case []:
            return "inference_mode"
        case [ast.Literal(value=bool(on))]:
            return "inference_mode" if on else "normal_mode"
    return None
