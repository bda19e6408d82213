"""Random statements, and programs of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch

from .expressions import expression, fits, floating, index, number
from .program import Input, Program, shape
from .writer import NotThere, Writer, WriterOfNumbers

Write = Callable[[Writer], object]
TIMES = 14  # tries for one statement
MOST = 16  # elements of inputs whose second derivatives are asked for one by one


def written(seed: Any) -> Program:
    """A random program."""
    w = Writer(seed)
    inputs(w)
    write(w, KINDS)
    order = w.rng.choice([0, 0, 0, 1, 1, 2, 3])
    return w.program(*result(w), min(order, 2) if elements(w) > MOST else order)


def written_of_numbers(seed: Any) -> Program:
    """A random program of numbers and tensors without dimensions."""
    w = WriterOfNumbers(seed)
    numbers(w)
    write(w, OF_NUMBERS)
    names = w.tensors(floating)[-4:]
    forms = ["{x}", "{x} * {x}", "torch.sin({x})", "{x} * 1.3"]
    text = " + ".join(w.rng.choice(forms).format(x=x) for x in names)
    return w.program("0.0" if w.ended else text, None, w.rng.choice([0, 1, 2, 3]))


def write(w: Writer, among: Sequence[Write]) -> None:
    """Random statements, of a few kinds."""
    kinds = [assign, assign, assign, *(w.rng.choice(among) for _ in range(3))]
    for _ in range(w.rng.randint(2, 6)):
        with suppress(NotThere):
            w.rng.choice(kinds)(w)


def elements(w: Writer) -> int:
    """How many numbers a program is differentiated by."""
    return sum(math.prod(shape(i.data)) for i in w.inputs if i.grad)


def inputs(w: Writer) -> None:
    """Numbers, vectors and matrices of sizes that meet."""
    rng = w.rng
    n, m = (rng.choice([1, 2, 2, 3, 3, 4]) for _ in range(2))
    if rng.random() < 0.05:
        n = 0
    declared = rng.random() < 0.3
    shapes = rng.sample([(), (), (n,), (n,), (m,), (n, m), (m, n), (n, n), (1, n), (2, n, m)], 3)
    for name, sizes in zip("xyz", shapes[: rng.randint(1, 3)], strict=False):
        dtype = "float32" if rng.random() < 0.06 and not declared else "float64"
        grad = rng.random() < 0.9 or name == "x"
        w.given(Input(name, values(w, sizes, dtype), dtype, grad, declared))
    if rng.random() < 0.3:
        dtype = rng.choice(["int64", "int64", "bool", "float64"])
        sizes = rng.choice(shapes)
        w.given(Input("k", values(w, sizes, dtype), dtype, False, declared and 0 not in sizes))


def numbers(w: Writer) -> None:
    """Numbers, and tensors without dimensions."""
    rng = w.rng
    declared = rng.random() < 0.5
    for name in "xyz"[: rng.randint(1, 3)]:
        w.given(Input(name, values(w, (), "float64"), "float64", True, declared))
    if rng.random() < 0.4:
        dtype = rng.choice(["int64", "bool", "float64"])
        w.given(Input("k", values(w, (), dtype), dtype, False, True))


def values(w: Writer, sizes: tuple[int, ...], dtype: str) -> Any:
    """Random numbers in nested lists, sometimes at ties and corners."""
    if sizes:
        return [values(w, sizes[1:], dtype) for _ in range(sizes[0])]
    if dtype == "bool":
        return w.rng.random() < 0.5
    if dtype == "int64":
        return w.rng.randint(-1, 3)
    return round(w.rng.uniform(-2, 2), 2)


def result(w: Writer) -> tuple[str, Any]:
    """The last line, and the cotangent that it needs."""
    if w.ended:
        return "0.0", None
    names = w.tensors(floating)
    last = ([n for n in names if grown(w.scope[n])] or names)[-4:]
    sizes = list(w.scope[last[-1]].shape)
    if w.rng.random() < 0.3 and 0 not in sizes:
        return last[-1], cotangent(w, sizes) if sizes else None
    forms = ["{x}.sum()", "({x} * {x}).sum()", "{x}.sin().sum()", "({x} * 1.3).sum()",
             "({x}.reshape(-1) @ torch.linspace(0.5, 1.5, {n}).to({x}.dtype))"]  # fmt: skip
    terms = [w.rng.choice(forms).format(x=x, n=w.scope[x].numel()) for x in last]
    return " + ".join(terms), None


def cotangent(w: Writer, sizes: list[int]) -> Any:
    """Weights of a result's elements."""
    if sizes:
        return [cotangent(w, sizes[1:]) for _ in range(sizes[0])]
    return round(w.rng.uniform(-1, 1.5), 2)


# --- plain statements ----------------------------------------------------------------------------


def assign(w: Writer) -> str | None:
    """A new name."""
    for _ in range(TIMES):
        if w.ended:
            break
        text = expression(w, w.rng.choice([0, 1, 1, 2]))
        made = None if text is None else w.assign(text)
        if made:
            return made
    return None


def scalars(w: Writer) -> None:
    """Numbers of Python."""
    x = w.pick(lambda t: t.numel() == 1)
    forms = [
        "3",
        "0.5",
        "2 ** 3",
        "7 // 2 + 0.5",
        "math.sin(0.5)",
        "math.sqrt(2.0) * 2",
        "1 / 3",
        "-7 % 3",
        "math.pi / 2",
        "abs(-2) + 1",
        "max(1, 2.5)",
        "min(3, 2)",
        "round(2.567, 1)",
        "int(3.7)",
        "float(2)",
        "True + 1",
        "1e-3 * 5",
        "5 // 2",
        "sum([1, 2])",
        "len([1, 2])",
    ]
    if x:
        forms += [f"{x}.item()", f"float({x}) * 2", f"int({x})", f"{x}.item() ** 2"]
    name = w.name("c")
    if w.statement(f"{name} = {w.rng.choice(forms)}"):
        t = w.pick(floating)
        if t:
            w.assign(f"{t} {w.rng.choice(['*', '+', '-', '/'])} {name}")


def shown(w: Writer) -> None:
    """Text."""
    x = w.pick()
    if x is None:
        return
    forms = ["print({x})", "print({x}, {x}.shape)", "print({x}.dtype, {x}.requires_grad)",
             "print({x} * 2)", "print({x}.detach())", "print({x}.is_leaf, {x}.dim())",
             "print({x}.tolist())", "print({x}.numel(), {x}.size())", "print(1.5, {x}.sum())",
             "print(f'{{{x}.double().sum().item():.3f}}')", "print({x}.data, 'text')",
             "print(len({x}))", "print({x}.grad)"]  # fmt: skip
    w.statement(w.rng.choice(forms).format(x=x))


def listed(w: Writer) -> None:
    """A list or tuple of tensors."""
    a = w.pick(floating)
    if a is None:
        return
    shape = w.held(a).shape
    b = w.pick(lambda x: x.shape == shape and x.is_floating_point())
    name = w.name("p")
    if not w.statement(f"{name} = [{a}, {b}]"):
        return
    w.statement(f"{name}.append({a} * {b})")
    forms = [f"torch.stack({name})", f"torch.stack({name}).sum(0)", f"{name}[0] + {name}[-1]",
             f"sum({name})", f"torch.cat({name})"]  # fmt: skip
    w.assign(w.rng.choice(forms))
    if w.rng.random() < 0.4:
        u, v = w.name(), w.name()
        w.statement(f"{u}, {v} = {a} + 1, {b} * 2")


# --- in place ------------------------------------------------------------------------------------


def changeable(x: torch.Tensor) -> bool:
    """Whether a tensor may be changed in place."""
    return not (x.is_leaf and x.requires_grad)


def fresh(w: Writer) -> str | None:
    """A tensor that may be changed, rather a new one, which others may show."""
    if w.rng.random() < 0.5:
        x = w.pick(floating)
        return x and w.assign(w.rng.choice([f"{x} * 1", f"{x}.clone()", f"{x} + 0.5"]))
    return w.pick(changeable)


def view(w: Writer) -> None:
    """Another name for a tensor or a part of it."""
    x = fresh(w)
    if x is None:
        return
    held = w.held(x)
    forms = [x, f"{x}.view({held.numel()})", f"{x}.reshape(-1)", f"{x}.unsqueeze(0)",
             f"{x}.detach()", f"{x}.flatten()", f"{x}[...]", f"{x}.data", f"{x}.squeeze()"]  # fmt: skip
    if held.dim():
        i = index(w, held)
        forms += [f"{x}[{i}]", f"{x}[{i}]", f"{x}[0]", f"{x}[1:]", f"{x}[::2]", f"{x}.unbind(0)[-1]",
                  f"{x}.narrow(0, 0, 1)", f"{x}.split(1)[0]", f"{x}.select(-1, 0)", f"{x}[-1:]",
                  f"{x}.chunk(2)[-1]", f"{x}.expand(2, {', '.join(['-1'] * held.dim())})"]  # fmt: skip
    if held.dim() == 2:
        forms += [f"{x}.T", f"{x}.T", f"{x}.transpose(0, 1)", f"{x}.diagonal()", f"{x}.T[0]",
                  f"{x}[:, 0]", f"{x}.T.flatten()", f"{x}[:, [0]]", f"{x}.permute(1, 0)"]  # fmt: skip
    y = w.assign(w.rng.choice(forms))
    if y is None:
        return
    change(w, w.rng.choice([x, y]))
    if w.rng.random() < 0.5:
        change(w, w.rng.choice([x, y]))
    if w.rng.random() < 0.5:
        w.assign(f"{x}.sum() * {y}.sum()")


def change(w: Writer, x: str | None = None) -> None:
    """A change in place."""
    x = x or fresh(w)
    for _ in range(TIMES):
        if x is None or w.ended or w.statement(changed(w, x)):
            return


def changed(w: Writer, x: str) -> str:
    rng, held = w.rng, w.held(x)
    other = w.pick(fits(w, x)) or "2"
    if rng.random() < 0.3:
        other = number(w)
    op = rng.choice(["+", "-", "*", "/", "+", "*", "**"])
    if held.dim() and held.shape[0] and rng.random() < 0.12:
        return repeated(w, x)
    if rng.random() < 0.45:
        i = index(w, held, assigned=True)
        part = w.expression(f"{x}[{i}]")
        if part is not None and rng.random() < 0.6:
            sizes = part.shape
            other = w.pick(lambda t: t.shape == sizes) or number(w)
        return f"{x}[{i}] {rng.choice(['', '', op])}= {other}"
    if rng.random() < 0.4 and x not in w.frozen:
        return f"{x} {op}= {other}"
    forms = [f"{x}.mul_({other})", f"{x}.add_({other})", f"{x}.sub_({other}, alpha=2)",
             f"{x}.sin_()", f"{x}.exp_()", f"{x}.zero_()", f"{x}.fill_({number(w)})",
             f"{x}.clamp_(-1, 1)", f"{x}.copy_({other})", f"{x}.tanh_()", f"{x}.neg_()",
             f"{x}.sigmoid_()", f"{x}.div_({other})", f"{x}.relu_()", f"{x}.sqrt_()",
             f"{x}.masked_fill_({x} > 0.5, 0.25)", f"{x}.addcmul_({other}, {other})",
             f"{x}.abs_()", f"{x}.pow_(2)", f"{x}.detach().mul_(2)", f"{x}.data.add_(1)",
             f"{x}.add_({other}, alpha=0.5)", f"{x}.square_()"]  # fmt: skip
    return rng.choice(forms)


def repeated(w: Writer, x: str) -> str:
    """A change of places of which some are named twice: to a number, or by sums, so that it is said
    what they hold.
    """
    n = w.held(x).shape[0]
    places = [w.rng.randrange(-n, n) for _ in range(w.rng.randint(1, 4))]
    where = f"torch.tensor({[p % n for p in places]})"
    added = w.rng.choice([f"{x}[{places}]", f"{x}[{places}] * {number(w)}"])
    forms = [f"{x}[{places}] = {number(w)}", f"{x}[{where}] = {number(w)}",
             f"{x}.index_put_(({where},), {added}, accumulate=True)",
             f"{x}.index_add_(0, {where}, {added})", f"{x}.index_fill_(0, {where}, {number(w)})"]  # fmt: skip
    return w.rng.choice(forms)


def cut(w: Writer) -> None:
    """`no_grad`, `detach`, `data`."""
    x = w.pick(floating)
    if x is None:
        return
    kind = w.rng.randrange(4)
    if kind == 0:
        w.block("with torch.no_grad():", lambda: (assign(w), change(w)))
    elif kind == 1:
        w.block("with torch.no_grad():", lambda: w.statement(changed(w, x)))
    elif kind == 2:
        w.assign(f"{x}.detach() * {x}")
    else:
        w.block("with torch.no_grad():",
                lambda: w.block("with torch.enable_grad():", lambda: assign(w)))  # fmt: skip


# --- control -------------------------------------------------------------------------------------


def branch(w: Writer) -> None:
    x = w.pick(floating)
    if x is None:
        return
    test = w.rng.choice([f"{x}.sum() > {number(w)}", f"({x} > 0).any()", f"{x}.mean() <= 0.2",
                         f"{x}.dim() == 1", f"{x}.sum() > 0 and {x}.max() < 1",
                         f"not ({x} > 0).all()"])  # fmt: skip
    name = w.name()
    a, b = (expression(w) for _ in range(2))
    if a and b and w.rng.random() < 0.7:
        w.statement(f"if {test}:\n    {name} = {a}\nelse:\n    {name} = {b}")
    elif a and b:
        w.statement(f"{name} = {a} if {test} else {b}")
    else:
        w.block(f"if {test}:", lambda: change(w))


def loop(w: Writer) -> None:
    """A loop that carries a tensor."""
    x = w.pick(floating)
    carried = x and w.assign(f"{x} * 1")
    if carried is None:
        return
    turns = w.rng.randint(0, 4)
    i = w.name("i")
    rows = w.pick(lambda t: t.dim() > 0 and t.shape[0] <= 4)
    heads = [f"for {i} in range({turns}):", f"for {i} in range(1, {turns + 1}):",
             f"while {i} < {turns}:"]  # fmt: skip
    if rows:
        heads += [f"for {i} in {rows}:"]
    head = w.rng.choice(heads)
    if head.startswith("while"):
        w.statement(f"{i} = 0")
    leave = w.rng.choice(["", "", f"if {carried}.sum() > 3: break", f"if {i} == 1: continue"])

    def body() -> None:
        w.scope[i] = w.held(f"{rows}[0]") if rows and rows in head else 0
        if head.startswith("while"):
            w.statement(f"{i} += 1")
        if leave and rows not in (None, head[len(f"for {i} in ") : -1]):
            w.lines.append(leave)
        forms = [f"{carried} = torch.tanh({carried}) * {number(w)}", f"{carried} = {carried} * 0.5",
                 f"{carried} += {carried} * 0.3", f"{carried} = torch.sin({carried}) + {x}",
                 f"{carried} = {carried} + {i} * 0.1", f"{carried} *= torch.cos({carried})"]  # fmt: skip
        w.statement(w.rng.choice(forms))
        if w.rng.random() < 0.5:
            w.rng.choice([assign, change, shown])(w)
        if w.rng.random() < 0.3:
            text = expression(w, 0)
            w.statement(f"{carried} = {carried} + ({text}).sum()" if text else "pass")

    w.block(head, body)


def function(w: Writer) -> None:
    """A function and a call."""
    a = w.pick(floating)
    if a is None:
        return
    f, p, q = w.name("f"), w.name("p"), w.name("q")
    inside = []

    def body() -> None:
        kept = w.frozen
        w.frozen = set(w.scope)
        w.scope[p], w.scope[q] = w.held(a).clone(), 0.5
        for _ in range(w.rng.randint(0, 2)):
            w.rng.choice([assign, assign, change, branch])(w)
        own = [n for n in w.tensors(floating) if n not in w.frozen]
        value = w.rng.choice(own)
        inside.append(
            w.rng.choice(
                [
                    f"{value} * {q}",
                    f"{value} + {p}",
                    f"{value}.sum()",
                    f"({value} * {value}).sum()",
                    f"torch.sin({value}) * {q}",
                ]
            )
        )
        w.frozen = kept
        w.lines.append(f"return {inside[0]}")

    call = w.rng.choice([f"{f}({a})", f"{f}({a}, 2.0)", f"{f}({a}, {q}=1.5)", f"{f}({f}({a}))"])
    if w.block(f"def {f}({p}, {q}=0.5):", body, f"{w.name()} = {call}"):
        w.functions.append((f, a))


def recursion(w: Writer) -> None:
    x = w.pick(floating)
    if x is None:
        return
    f, k = w.name("f"), w.rng.randint(0, 4)
    step = w.rng.choice(["torch.sin({f}(p * 0.9, k - 1)) + p", "p * {f}(torch.cos(p), k - 1)",
                         "{f}(p * p * 0.5, k - 1) + {f}(p * 0.3, k - 2)"]).format(f=f)  # fmt: skip
    w.statement(f"def {f}(p, k):\n    if k <= 0:\n        return p\n    return {step}")
    w.assign(f"{f}({x}, {k})")


def own_function(w: Writer) -> None:
    """A function with an own rule."""
    x = w.pick(floating)
    if x is None:
        return
    name = w.name("Own")
    forward, backward = w.rng.choice([
        ("u * u", "2 * u * g"), ("torch.exp(u)", "torch.exp(u) * g"), ("u.clamp(min=0)", "g * (u > 0)"),
        ("torch.sin(u)", "g * torch.cos(u)"), ("u * 3", "g * 3"), ("u.sum()", "g * torch.ones_like(u)"),
        ("u * 2", "g * 5"),
    ])  # fmt: skip
    w.statement(
        f"class {name}(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, u):\n"
        f"        ctx.save_for_backward(u)\n        return {forward}\n    @staticmethod\n"
        f"    def backward(ctx, g):\n        u, = ctx.saved_tensors\n        return {backward}"
    )
    w.assign(f"{name}.apply({x})")


# --- derivatives inside a program ----------------------------------------------------------------


def leaf(x: torch.Tensor) -> bool:
    return x.is_leaf and x.requires_grad


def grown(x: torch.Tensor) -> bool:
    return x.requires_grad and not x.is_leaf and x.is_floating_point()


def backward(w: Writer) -> None:
    """A pass of the program's own, and what it leaves."""
    x, y = w.pick(leaf), w.pick(grown)
    if x is None or y is None:
        return
    if w.rng.random() < 0.3:
        w.statement(f"{y}.retain_grad()")
    options = w.rng.choice(["", "", "retain_graph=True", "create_graph=True"])
    scalar = w.held(y).numel() == 1 and w.held(y).dim() == 0
    if scalar or w.rng.random() < 0.6:
        loss = y if scalar else f"{y}.sum()"
        w.statement(f"{loss}.backward({options})")
    else:
        w.statement(f"{y}.backward(torch.ones_like({y}){', ' if options else ''}{options})")
    for _ in range(w.rng.randint(1, 3)):
        w.statement(w.rng.choice([
            f"print({x}.grad)", f"{x}.grad.zero_()", f"{x}.grad = None", f"({y} * 1).sum().backward()",
            f"{w.name()} = {x}.grad.clone()", f"{w.name()} = {x}.grad * 2", f"print({y}.grad)",
            f"with torch.no_grad():\n    {x}.sub_(0.1 * {x}.grad)", f"{x}.data -= 0.1 * {x}.grad",
            f"{w.name()} = {x}.grad is None",
        ]))  # fmt: skip


def gradients(w: Writer) -> None:
    """`torch.autograd.grad`, of gradients too."""
    x, y = w.pick(lambda t: t.requires_grad), w.pick(grown)
    if x is None or y is None:
        return
    g = w.name("g")
    options = w.rng.choice(["create_graph=True", "create_graph=True", "retain_graph=True"])
    unused = w.rng.choice(["", ", allow_unused=True"])
    if w.statement(f"{g}, = torch.autograd.grad({y}.sum(), [{x}], {options}{unused})"):
        if w.rng.random() < 0.5:
            h = w.name("g")
            w.statement(f"{h}, = torch.autograd.grad(({g} * {g}).sum(), {x}, create_graph=True)")
        w.assign(w.rng.choice([f"{g} * {x}", f"{g}.sum()", f"({g} ** 2).sum() + {y}.sum()"]))


def transform(w: Writer) -> None:
    """A transform of a function, nested too."""
    x = w.pick(floating)
    if w.functions and w.rng.random() < 0.6:
        f, x = w.rng.choice(w.functions)
        call = f"{f}(p)"
    else:
        call = w.rng.choice(["p * p", "torch.sin(p)", "p ** 3", "torch.exp(-p * p)", "p.tanh()",
                             "p.cumsum(0)", "p / (p * p + 1)", "torch.softmax(p, 0)"])  # fmt: skip
        other = x and w.pick(fits(w, x))
        call = w.rng.choice([call, call, f"{call} * {other}"])
    if x is None:
        return
    whole, each = f"(lambda p: ({call}).sum())", f"(lambda p: {call})"
    forms = [f"torch.func.grad{whole}({x})", f"torch.func.jacrev{each}({x})",
             f"torch.func.jacfwd{each}({x})", f"torch.func.hessian{whole}({x})",
             f"torch.func.jvp({each}, ({x},), (torch.ones_like({x}),))[1]",
             f"torch.func.vjp({each}, {x})[0]",
             f"torch.func.grad(lambda q: torch.func.grad{whole}(q).sum())({x})",
             f"torch.func.jacfwd(torch.func.grad{whole})({x})",
             f"torch.func.jacrev(torch.func.grad{whole})({x})",
             f"torch.func.jvp(torch.func.grad{whole}, ({x},), (torch.ones_like({x}),))[1]",
             f"torch.func.grad_and_value{whole}({x})[{w.rng.randrange(2)}]",
             f"torch.autograd.functional.jacobian({each}, {x})",
             f"torch.autograd.functional.hessian({whole}, {x})",
             f"torch.autograd.functional.vjp({each}, {x}, torch.ones_like({x}))[1]",
             f"torch.autograd.functional.jvp({each}, {x}, torch.ones_like({x}))[1]",
             f"torch.autograd.functional.hvp({whole}, {x}, torch.ones_like({x}))[1]"]  # fmt: skip
    w.assign(w.rng.choice(forms))


def hook(w: Writer) -> None:
    """A hook, and a pass that runs it."""
    x = w.pick(lambda t: t.requires_grad)
    y = w.pick(grown)
    if x is None or y is None:
        return
    forms = ["lambda g: g * 2", "lambda g: g + 1", "lambda g: None", "lambda g: g.clamp(-1, 1)",
             "lambda g: print(g)", "lambda g: torch.zeros_like(g)"]  # fmt: skip
    handle = w.name("h")
    w.statement(f"{handle} = {x}.register_hook({w.rng.choice(forms)})")
    if w.rng.random() < 0.3:
        w.statement(f"{handle}.remove()")
    z = w.assign(f"{x} * {x}") or y
    if w.rng.random() < 0.6:
        w.statement(f"{w.rng.choice([y, z])}.sum().backward(retain_graph=True)")


def training(w: Writer) -> None:
    """A few steps of descent."""
    x = w.pick(leaf)
    other = x and w.pick(fits(w, x))
    if x is None:
        return
    step = w.rng.choice([f"with torch.no_grad():\n        {x}.sub_(0.1 * {x}.grad)",
                         f"{x}.data -= 0.1 * {x}.grad", f"{x}.data.sub_(0.05 * {x}.grad)",
                         f"with torch.no_grad():\n        {x} -= 0.1 * {x}.grad"])  # fmt: skip
    clear = w.rng.choice(
        [f"{x}.grad.zero_()", f"{x}.grad = None", f"{x}.grad.data.zero_()", "pass"]
    )
    loss = w.name()
    w.statement(
        f"for {w.name('i')} in range({w.rng.randint(1, 3)}):\n"
        f"    {loss} = (({x} - 0.5 * {other}) ** 2).sum()\n    {loss}.backward()\n"
        f"    {step}\n    {clear}"
    )


KINDS: tuple[Write, ...] = (
    assign, scalars, shown, listed, view, view, change, change, cut, branch, loop, loop, function,
    function, recursion, own_function, backward, backward, gradients, gradients, transform,
    transform, hook, training,
)  # fmt: skip
OF_NUMBERS: tuple[Write, ...] = (
    scalars, shown, change, change, cut, branch, branch, loop, loop, loop, function, function,
    recursion, transform, training,
)  # fmt: skip
