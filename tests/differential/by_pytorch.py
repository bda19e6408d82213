"""What PyTorch tells about a program."""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import torch._decomp.decompositions_for_jvp
import torch._dynamo  # at their first use, transforms import this: here, to do it once
import torch.nn.functional as F  # noqa: N812  # programs call it so

from .answers import Facts, is_float, listed
from .program import Program

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
warnings.filterwarnings("ignore")

_RUNS_BACKWARD = re.compile(r"backward\(|autograd\.grad\(")
Scope = dict[str, Any]


def scope(printed: list[str]) -> Scope:
    """The names that a program finds. `kept` gives a tensor on memory of its own, `copied` changes
    one to a value, `detached` gives it without a graph.
    """

    def kept(value: Any) -> Any:
        return value.clone() if isinstance(value, torch.Tensor) else value

    def copied(x: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        return x.copy_(kept(value))

    def detached(value: Any) -> Any:
        return value.detach() if isinstance(value, torch.Tensor) else value

    def show(*values: Any) -> None:
        printed.extend(" ".join(map(str, values)).split("\n"))

    made = {"kept": kept, "copied": copied, "detached": detached}
    return {"torch": torch, "F": F, "math": math, "print": show, **made}


def ask(program: Program) -> Facts:
    """Run it and differentiate it as often as it says."""
    facts: Facts = {}
    printed: list[str] = []
    try:
        found, result = run(program.for_pytorch, scope(printed))
    except Exception as error:
        return {"run": {"refused": f"{type(error).__name__}: {error}"}}
    facts["printed"] = list(printed)
    for name, held in found.items():
        fact = value(held)
        if fact is None:
            continue
        facts[f"value {name}"] = fact
        if isinstance(held, torch.Tensor):
            facts.update(_recorded(name, held))
    facts["result"] = value(result)
    if is_float(facts["result"]) and program.wrt:
        try:
            if _RUNS_BACKWARD.search(program.body):
                with _keeping_graphs():
                    found, result = run(program.for_pytorch, scope([]))
            _derivatives(program, found, result, facts)
        except Exception as error:
            facts["gradient"] = {"refused": f"{type(error).__name__}: {error}"}
    return facts


def run(text: str, names: Scope) -> tuple[Scope, Any]:
    """The names of a program that it made, and its result."""
    tree = ast.parse(text)
    last = tree.body[-1]
    there = set(names)
    result = None
    if isinstance(last, ast.Expr):
        tree.body.pop()
    exec(compile(tree, "<program>", "exec"), names)
    if isinstance(last, ast.Expr):
        result = eval(compile(ast.Expression(last.value), "<result>", "eval"), names)
    return {n: v for n, v in names.items() if n not in there and n != "__builtins__"}, result


@contextmanager
def _with(replaced: Mapping[tuple[Any, str], Any]) -> Iterator[None]:
    """PyTorch with other functions in the place of some."""
    kept = {(module, name): getattr(module, name) for module, name in replaced}
    try:
        for (module, name), function in replaced.items():
            setattr(module, name, function)
        yield
    finally:
        for (module, name), function in kept.items():
            setattr(module, name, function)


def _keeping_graphs() -> Any:
    """What a program's own backward passes would free is kept, as gradcli's commands keep it."""
    backward, grad = torch.autograd.backward, torch.autograd.grad
    return _with(
        {
            (torch.autograd, "backward"): lambda of, g=None, retain=None, create=False, **more: (
                backward(of, g, retain_graph=True, create_graph=create, **more)
            ),
            (torch.autograd, "grad"): lambda *args, **more: grad(
                *args, **{**more, "retain_graph": True}
            ),
        }
    )


def _derivatives(program: Program, names: Scope, result: Any, facts: Facts) -> None:
    wrt = {name: names[name] for name in program.wrt}
    points = list(wrt.values())
    result = torch.as_tensor(result)
    if program.cotangent is None:
        weight = torch.ones_like(result)
    else:
        weight = torch.tensor(program.cotangent, dtype=result.dtype)
    second = program.order >= 2 and not program.hooked
    slopes = _pulled(result, points, weight, graph=second)
    for name, slope in zip(wrt, slopes, strict=True):
        facts[f"gradient {name}"] = value(slope)
    if program.hooked or program.order == 0:
        return
    along = {n: torch.tensor(d).to(wrt[n].dtype) for n, d in program.direction().items()}
    dots = [(s * along[n]).sum() for n, s in zip(wrt, slopes, strict=True)]
    total = sum(dots[1:], dots[0])
    if second:
        for name, product in zip(wrt, _pulled(total, points, torch.ones_like(total)), strict=True):
            facts[f"hvp {name}"] = value(product)
    facts["jvp"] = value(total.item())
    if program.order == 3:
        _second_derivatives(wrt, slopes, facts)


def _second_derivatives(wrt: Scope, slopes: list[torch.Tensor], facts: Facts) -> None:
    """The Hessian in blocks, row by row."""
    points = list(wrt.values())
    for name, slope in zip(wrt, slopes, strict=True):
        one = torch.ones((), dtype=slope.dtype)
        rows = [_pulled(part, points, one) for part in slope.reshape(-1)]
        for i, (other, point) in enumerate(wrt.items()):
            parts = [row[i].reshape(-1) for row in rows]
            block = torch.stack(parts) if parts else torch.zeros(0)
            facts[f"hessian {name} {other}"] = value(block.reshape((*slope.shape, *point.shape)))


def _pulled(
    result: torch.Tensor, points: list[torch.Tensor], weight: torch.Tensor, graph: bool = False
) -> list[torch.Tensor]:
    """Gradients of a result; zeros where there is none."""
    if not result.requires_grad:
        return [torch.zeros_like(p) for p in points]
    found = torch.autograd.grad(
        result, points, weight, create_graph=graph, retain_graph=True, allow_unused=True
    )
    return [torch.zeros_like(p) if g is None else g for p, g in zip(points, found, strict=True)]


def _recorded(name: str, x: torch.Tensor) -> Facts:
    """What is told of a tensor beside its value. PyTorch tells less of one with which it does not go
    on, of several views whose base has been changed; and nothing of the graph of a view made under
    `no_grad`, which it has require grad, as its base does, though no gradient comes there.
    """
    facts: Facts = {} if x.grad is None else {f"grad {name}": value(x.grad)}
    try:
        node = "" if x.grad_fn is None else type(x.grad_fn).__name__
    except RuntimeError:
        return facts
    if x.requires_grad and x.is_leaf and x._is_view() and x._base.requires_grad:
        return facts
    return {**facts, f"requires_grad {name}": x.requires_grad, f"grad_fn {name}": node}


def value(found: Any) -> Any:
    """A value of a program as a fact; None if it is none."""
    if isinstance(found, torch.Tensor):
        found = torch.zeros(found.shape) if found._is_zerotensor() else found.detach()
        return [str(found.dtype)[6:], list(found.shape), found.reshape(-1).tolist()]
    if isinstance(found, list | tuple):
        return listed(value(i) for i in found)
    if type(found) in SCALARS:
        return [SCALARS[type(found)], [], [found]]
    return None


SCALARS = {bool: "bool", int: "int64", float: "float64"}


# --- PyTorch in another way ----------------------------------------------------------------------


def ask_keeping_saved(program: Program) -> Facts:
    """Ask where what backward needs is kept before it is changed in place."""
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        return ask(program)


def ask_with_own_gradients(program: Program) -> Facts:
    """Ask where a gradient lies on memory of its own: no element is shown as several."""
    grad, of_function = torch.autograd.grad, torch.func.grad
    with _with(
        {
            (torch.autograd, "grad"): lambda *args, **more: tuple(
                g if g is None else g.contiguous() for g in grad(*args, **more)
            ),
            (torch.func, "grad"): lambda f: lambda *args: of_function(f)(*args).contiguous(),
        }
    ):
        return ask(program)


def ask_with_connected_slopes(program: Program) -> Facts:
    """Ask where a derivative by forward mode requires grad if the value does."""
    jvp, jacfwd, hessian = torch.func.jvp, torch.func.jacfwd, torch.func.hessian

    def connected(slope: Any, value: Any) -> Any:
        return slope if slope.requires_grad else torch.where(torch.tensor(True), slope, value)

    def with_value(f: Any, points: Any, dots: Any) -> Any:
        out, dot = jvp(f, points, dots)
        return out, connected(dot, out)

    with _with(
        {
            (torch.func, "jvp"): with_value,
            (torch.func, "jacfwd"): lambda f: lambda x: connected(jacfwd(f)(x), f(x).sum()),
            (torch.func, "hessian"): lambda f: (
                lambda x: connected(hessian(f)(x), torch.func.grad(f)(x).sum())
            ),
        }
    ):
        return ask(program)
