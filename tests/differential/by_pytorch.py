"""What PyTorch tells about a program."""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
    """The names that a program finds. `detached` gives a tensor without a graph, `looked` with its
    history looked at.
    """

    def detached(value: Any) -> Any:
        return value.detach() if isinstance(value, torch.Tensor) else value

    def looked(x: Any) -> Any:
        with suppress(RuntimeError):  # PyTorch does not go on with it
            str(getattr(x, "grad_fn", ""))  # which is made anew where the base has changed
        return x

    def show(*values: Any) -> None:
        printed.extend(" ".join(map(str, values)).split("\n"))

    made = {"detached": detached, "looked": looked}
    numbers = {"inf": math.inf, "nan": math.nan}
    modules = {"torch": torch, "F": F, "math": math, "__name__": "__main__"}
    return {**modules, "print": show, **numbers, **made}


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
def replacing(replaced: Mapping[tuple[Any, str], Any]) -> Iterator[None]:
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
    return replacing(
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
            block = torch.stack(parts) if parts else torch.zeros(0, dtype=point.dtype)
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
    if isinstance(found, list | tuple) and not hasattr(found, "_fields"):
        return listed(value(i) for i in found)
    if type(found) in SCALARS:
        return [SCALARS[type(found)], [], [found]]
    return None


SCALARS = {bool: "bool", int: "int64", float: "float64"}


# --- PyTorch in another way ----------------------------------------------------------------------


class _OnCopies(torch.overrides.TorchFunctionMode):
    """Has every function, but views, take copies and give a copy, so that nothing which it saves
    lies on the program's memory; a change in place is one to such a copy.
    """

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(function, "__name__", "")
        if _GOES_ON.search(name):
            return function(*args, **kwargs)
        if name in ("__setitem__", "copy_", "fill_", "zero_"):
            return (
                function(*args[:-1], _cloned(args[-1]), **kwargs) if args[1:] else function(*args)
            )
        if (change := _CHANGES.search(name)) is not None:
            instead = getattr(torch.Tensor, f"__{change[1]}__" if change[1] else change[2])
            return args[0].copy_(_cloned(instead(*_cloned(args), **_cloned(kwargs))))
        made = function(*args, **kwargs)
        given = _tensors((args, kwargs))
        if not given or any(x._is_view() or any(x is a for a in given) for x in _tensors(made)):
            return made
        return _cloned(function(*_cloned(args), **_cloned(kwargs)))


_GOES_ON = re.compile(
    "grad|backward|hook|lambda|__repr__|__format__|__[gs]et__|^(clone|detach|tolist|item)$"
)
_CHANGES = re.compile("^__i(add|sub|mul|truediv|pow)__$|^([a-z0-9_]*[a-z0-9])_$")


def _tensors(x: Any) -> list[torch.Tensor]:
    """The tensors in a value."""
    if isinstance(x, dict):
        x = list(x.values())
    if isinstance(x, list | tuple):
        return [t for item in x for t in _tensors(item)]
    return [x] if isinstance(x, torch.Tensor) else []


def _cloned(x: Any) -> Any:
    """A value with copies in the place of its tensors."""
    if isinstance(x, dict):
        return {name: _cloned(item) for name, item in x.items()}
    if isinstance(x, list | tuple) and _tensors(x):
        made = [_cloned(item) for item in x]
        return tuple(made) if isinstance(x, tuple) else made
    return x.clone() if isinstance(x, torch.Tensor) else x


def ask_on_copies(program: Program) -> Facts:
    """Ask where nothing that a function saves is changed in place."""
    plainly = run

    def on_copies(text: str, names: Scope) -> tuple[Scope, Any]:
        with _OnCopies():
            return plainly(text, names)

    with replacing({(sys.modules[__name__], "run"): on_copies}):
        return ask(program)


def ask_with_own_gradients(program: Program) -> Facts:
    """Ask where a gradient lies on memory of its own: no element is shown as several."""
    grad, of_function = torch.autograd.grad, torch.func.grad
    backward = torch.autograd.backward

    def to_own_memory(of: torch.Tensor, *args: Any, **more: Any) -> None:
        new = [x for x in _leaves(of) if x.grad is None]
        backward(of, *args, **more)
        for x in new:
            x.grad = None if x.grad is None else x.grad.clone()

    with replacing(
        {
            (torch.autograd, "backward"): to_own_memory,
            (torch.autograd, "grad"): lambda *args, **more: tuple(
                g if g is None else g.contiguous() for g in grad(*args, **more)
            ),
            (torch.func, "grad"): lambda f: lambda *args: of_function(f)(*args).contiguous(),
        }
    ):
        return ask(program)


def ask_with_matrices_in_order(program: Program) -> Facts:
    """Ask where what `jacfwd` and the like give lies in memory as it is read."""
    functions = {name: getattr(torch.func, name) for name in ("jacfwd", "jacrev", "hessian")}
    in_order: Any = {
        (torch.func, name): lambda f, of=of: lambda x: of(f)(x).contiguous()
        for name, of in functions.items()
    }
    with replacing(in_order):
        return ask(program)


def _leaves(x: torch.Tensor) -> list[torch.Tensor]:
    """The leaves that a tensor was made of."""
    seen, nodes, found = set(), [x.grad_fn], []
    while nodes:
        node = nodes.pop()
        if node is not None and node not in seen:
            seen.add(node)
            found += [node.variable] if hasattr(node, "variable") else []
            nodes += [under for under, _ in node.next_functions]
    return found


def ask_with_slopes_by_arguments(program: Program) -> Facts:
    """Ask where the slopes of `tanh`, `sigmoid` and `softmax` are made of the argument, not of the
    result.
    """

    def tanh(x: torch.Tensor) -> torch.Tensor:
        return 1 - 2 / (torch.exp(2 * x) + 1)

    def sigmoid(x: torch.Tensor) -> torch.Tensor:
        return 1 - 1 / (torch.exp(x) + 1)

    def softmax(x: torch.Tensor, dim: int) -> torch.Tensor:
        shares = torch.exp(x - x.detach().amax(dim, keepdim=True))
        return shares / shares.sum(dim, keepdim=True)

    made = {"tanh": tanh, "sigmoid": sigmoid, "softmax": softmax}
    with replacing({(place, n): f for n, f in made.items() for place in (torch, torch.Tensor, F)}):
        return ask(program)


def ask_with_powers_by_logarithms(program: Program) -> Facts:
    """Ask, on copies, where a power with an exponent that moves is made of its logarithm: in
    PyTorch's derivative nothing comes through at the exponent 0.
    """
    power = torch.Tensor.__pow__

    def by_logarithm(x: torch.Tensor, y: Any) -> torch.Tensor:
        moves = isinstance(y, torch.Tensor) and y.requires_grad and bool((x > 0).all())
        return torch.exp(y * torch.log(x)) if moves else power(x, y)

    with replacing({(torch.Tensor, name): by_logarithm for name in ("__pow__", "pow")}):
        return ask_on_copies(program)


def ask_with_layers_in_parts(program: Program) -> Facts:
    """Ask where `layer_norm` is made of means: its own derivatives of higher order lose digits."""

    def layer_norm(
        x: torch.Tensor, shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5
    ) -> Any:
        dims = tuple(range(-len(shape), 0))
        rest = x - x.mean(dims, keepdim=True)
        found = rest / ((rest * rest).mean(dims, keepdim=True) + eps).sqrt()
        found = found if weight is None else found * weight
        return found if bias is None else found + bias

    with replacing({(F, "layer_norm"): layer_norm}):
        return ask(program)


def ask_with_connected_slopes(program: Program) -> Facts:
    """Ask where a derivative by forward mode requires grad if the value does."""
    jvp, hessian = torch.func.jvp, torch.func.hessian
    jacobians = {name: getattr(torch.func, name) for name in ("jacfwd", "jacrev")}

    def connected(slope: Any, value: Any) -> Any:
        return slope if slope.requires_grad else torch.where(torch.tensor(True), slope, value)

    def with_value(f: Any, points: Any, dots: Any) -> Any:
        out, dot = jvp(f, points, dots)
        return out, connected(dot, out)

    with replacing(
        {
            (torch.func, "jvp"): with_value,
            **{
                (torch.func, name): lambda f, of=of: lambda x: connected(of(f)(x), f(x).sum())
                for name, of in jacobians.items()
            },
            (torch.func, "hessian"): lambda f: (
                lambda x: connected(hessian(f)(x), torch.func.grad(f)(x).sum())
            ),
        }
    ):
        return ask(program)
