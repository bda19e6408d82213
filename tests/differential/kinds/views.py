"""Programs with views: chains of them, changes through any of them, with and without a record."""

from __future__ import annotations

import torch

from ..expressions import dim_of, index, number
from ..statements import changed
from ..writer import NotThere, Writer
from .formulas import attempted, formula, some


def base(w: Writer) -> str:
    """A tensor that may be changed, mostly one with dimensions."""
    x = some(w)
    n = w.held(x).numel()
    sizes = w.rng.choice(
        [
            [n],
            [n, 1],
            [1, n],
            *([[2, n // 2], [n // 2, 2]] if n and n % 2 == 0 else []),
            *([[2, 1, n // 2]] if n and n % 2 == 0 else []),
        ]
    )
    forms = [f"{x} * 1", f"{x}.clone()", f"{x} + 0.5", f"({x} * 2).reshape({sizes})", f"{x}.reshape({sizes}).clone()", f"{x}.reshape({sizes}) * 1.5", "torch.arange(6.0).reshape(2, 3)", f"{x}.detach().clone()", f"torch.zeros({sizes})", "torch.linspace(0, 1, 6).view(3, 2).T"]  # fmt: skip
    name = w.assign(w.rng.choice(forms))
    if name is None:
        raise NotThere("a base")
    return name


def shown_as(w: Writer, x: str) -> str:
    """A view of a tensor, or a copy where PyTorch makes one."""
    rng, held = w.rng, w.held(x)
    n, sizes = held.numel(), list(held.shape)
    forms = [
        f"{x}.view(-1)",
        f"{x}.reshape(-1)",
        f"{x}.detach()",
        f"{x}[...]",
        f"{x}.unsqueeze({rng.randint(0, held.dim())})",
        f"{x}.flatten()",
        f"{x}.squeeze()",
        f"{x}.data",
        f"{x}.view({[*sizes, 1]})",
        f"{x}.expand_as({x})",
        f"{x}.contiguous()",
        f"{x}.view_as({x})",
        f"{x}[None]",
        f"{x}.ravel()",
        x,
    ]
    if held.dim():
        d, e = dim_of(w, held), dim_of(w, held)
        i = index(w, held)
        forms += [f"{x}[{i}]", f"{x}[{i}]", f"{x}.select({d}, 0)", f"{x}.narrow({d}, 0, {max(sizes[d] - 1, 0)})", f"{x}.chunk(2, {d})[0]", f"{x}.split(1, {d})[-1]", f"{x}.unbind({d})[0]", f"{x}.transpose({d}, {e})", f"{x}.movedim({d}, {e})", f"{x}[::2]", f"{x}[1:]", f"{x}[-1]", f"{x}.unflatten({d}, (-1, 1))",
                  f"{x}.expand(2, {', '.join(['-1'] * held.dim())})", f"torch.tensor_split({x}, 2, {d})[1]", f"{x}.squeeze({d})", f"{x}.flatten({min(d % held.dim(), 1)})", f"{x}.swapaxes({d}, {e})", f"{x}.reshape({[n // 2, 2] if n % 2 == 0 and n else [n]})"]  # fmt: skip
    if held.dim() >= 2:
        forms += [
            f"{x}.T" if held.dim() == 2 else f"{x}.mT",
            f"{x}.mT",
            f"{x}.diagonal()",
            f"{x}.diagonal(0, -2, -1)",
            f"{x}[:, 0]",
            f"{x}[..., 1:]",
            f"{x}.transpose(0, 1).reshape(-1)",
            f"{x}.mT.flatten()",
            f"{x}.transpose(0, 1).contiguous()",
            f"{x}.flatten(0, 1)",
            f"torch.diagonal({x}, 0)",
        ]
    return rng.choice(forms)


def chain(w: Writer) -> None:
    """Views of views, and changes of any of them."""
    rng = w.rng
    names = [base(w)]
    for _ in range(rng.randint(1, 4)):
        made = w.assign(shown_as(w, rng.choice(names)))
        if made:
            names.append(made)
    for _ in range(rng.randint(1, 4)):
        x = rng.choice(names)
        if not isinstance(w.scope.get(x), torch.Tensor):
            continue
        text = changed(w, x)
        form = rng.randrange(5)
        if form == 0:
            w.statement(f"with torch.no_grad():\n    {text}")
        elif form == 1:
            attempted(w, text)
        else:
            w.statement(text)
        if rng.random() < 0.3:
            w.statement(f"print({rng.choice(names)})")
        if rng.random() < 0.3:
            made = w.assign(shown_as(w, rng.choice(names)))
            names += [made] if made else []
    w.assign(" + ".join(f"({x} * {x}).sum()" for x in rng.sample(names, min(2, len(names)))))


def facts(w: Writer) -> None:
    """What tells a view from a copy."""
    rng = w.rng
    x = base(w)
    y = w.assign(shown_as(w, x))
    if y is None:
        return
    w.statement(
        rng.choice(
            [f"print({y}.stride(), {y}.is_contiguous())", f"print({x}.data_ptr() == {y}.data_ptr())", f"print({y}.shape, {y}.is_leaf)", f"print({y}.requires_grad, {y}.is_contiguous())", f"print({x} is {y}, {x}.T is {x})", f"print({y}.contiguous().stride())", f"print({y}._version, {x}._version)",
             f"print({y}._is_view(), {y}._base is {x})", f"print({y}.view(-1).shape)", f"print({y}.reshape(-1).data_ptr() == {x}.data_ptr())", f"print({y}.clone().stride(), ({y} * 1).stride(), torch.zeros_like({y}).stride())"]
        )
    )  # fmt: skip
    w.statement(changed(w, y))
    w.assign(f"{x} * {number(w)}")


def saved(w: Writer) -> None:
    """A value that backward needs, changed in place before or after."""
    rng, x = w.rng, some(w)
    h, y = w.name(), w.name()
    op = rng.choice(
        [
            "torch.exp",
            "torch.sin",
            "torch.tanh",
            "torch.sqrt",
            "torch.sigmoid",
            "torch.relu",
            "torch.square",
            "torch.cumsum",
            "torch.abs",
        ]
    )
    call = f"{op}({x}.abs() + 0.1)" if op != "torch.cumsum" else f"torch.cumsum({x}.reshape(-1), 0)"
    w.statement(f"{h} = {call}")
    w.statement(
        f"{y} = {rng.choice([f'{h} * {h}', f'{h} + 1', f'{h}.view(-1)', f'torch.exp({h})', f'{h}.clone()', f'{h}[...]', f'{h} * 2'])}"
    )
    z = rng.choice([h, y])
    w.statement(
        rng.choice(
            [
                f"{z} += 1",
                f"{z}.mul_(2)",
                f"{z}.detach().add_(1)",
                f"{z}.zero_()",
                f"{z}.view(-1)[0] = 0.5",
                f"with torch.no_grad():\n    {z}.add_(0.5)",
                f"{z}[...] = 0.3",
                f"{z}.copy_({z} * 2)",
                f"{z}.reshape(-1)[:1].mul_(3)",
            ]
        )
    )
    if rng.random() < 0.5:
        attempted(w, f"({y} * {formula(w, [h], (), 1)}).sum().backward(retain_graph=True)")
    w.assign(rng.choice([f"{y} + {h}", f"({y} * {y}).sum()", f"{y}.sum() * {h}.sum()"]))


def sharing(w: Writer) -> None:
    """`detach`, `data` and `no_grad`, which share memory and no record."""
    rng, x = w.rng, some(w)
    a = w.assign(f"{x} * 1")
    b = a and w.assign(
        rng.choice(
            [
                f"{a}.detach()",
                f"{a}.data",
                f"{a}.detach().view(-1)",
                f"{a}.clone().detach()",
                f"{a}.detach().reshape(-1)",
                f"{a}.detach()[...]",
            ]
        )
    )
    if not a or not b:
        return
    w.statement(
        rng.choice(
            [
                f"{b}.mul_(2)",
                f"{b}.add_(1)",
                f"{b}[...] = 0.7",
                f"{b}.zero_()",
                f"{b} += {b}",
                f"{b}.fill_(1.5)",
            ]
        )
    )
    w.statement(f"print({a}, {b})")
    w.assign(
        rng.choice(
            [f"{a} * {a}", f"{a} + {b}.sum()", f"{b} * 3", f"({a} * {b}.reshape({a}.shape)).sum()"]
        )
    )
    if rng.random() < 0.4:
        w.statement(f"{b}.requires_grad_()")
        w.assign(f"({b} * 2).sum() + {a}.sum()")


def looped(w: Writer) -> None:
    """Rows that a loop changes or reads."""
    rng = w.rng
    x = base(w)
    held = w.held(x)
    if not held.dim():
        return
    row, t = w.name("r"), w.name()
    inside = rng.choice(
        [
            f"{row} *= 2",
            f"{row}.add_(1)",
            f"{row}[...] = {row} * 0.5",
            f"{t} = {t} + {row}.sum()",
            f"{row} = {row} * 3",
            f"{row}.copy_({row}.flip(0)) if {row}.dim() else {row}.zero_()",
        ]
    )
    heads = [
        f"for {row} in {x}:",
        f"for {row} in {x}.unbind(0):",
        f"for {row} in {x}.view({x}.shape):",
        f"for {row} in list({x}):",
        f"for {row} in reversed([*{x}]):",
        f"for {row} in {x}.chunk(2):",
        f"for {row} in {x}.split(1):",
    ]
    w.statement(f"{t} = {x}.sum() * 0\n{rng.choice(heads)}\n    {inside}")
    w.assign(f"({x} * {x}).sum() + {t}")
    i = w.name("i")
    if w.rng.random() < 0.5:
        w.statement(
            f"for {i} in range({x}.shape[0]):\n    {rng.choice([f'{x}[{i}] = {x}[{i}] * {i}', f'{x}[{i}] += {x}[0].detach()', f'{x}[{i}].mul_(2)', f'{x}[-{i} - 1] = 0.5', f'{x}[{i}:].add_({i})', f'{x}[:{i}] *= 0.5'])}"
        )
        w.assign(f"{x}.sum() * {number(w)}")


def derived(w: Writer) -> None:
    """Gradients that are views, and views of gradients."""
    rng = w.rng
    x = w.pick(lambda t: t.is_leaf and t.requires_grad)
    if x is None:
        return
    v = w.assign(f"{x}.view(-1)[::{rng.randint(1, 2)}]")
    if v is None:
        return
    w.statement(f"({v} * {v}).sum().backward({rng.choice(['', 'retain_graph=True'])})")
    g = w.name("g")
    w.statement(
        rng.choice(
            [
                f"{g} = {x}.grad.view(-1)",
                f"{g} = {x}.grad",
                f"{g} = {x}.grad.detach()",
                f"{g} = {x}.grad.clone()",
            ]
        )
    )
    w.statement(
        rng.choice(
            [
                f"{g}.mul_(2)",
                f"{g}[...] = 1",
                f"{x}.grad.zero_()",
                f"({x} * 3).sum().backward()",
                f"{g} += {g}",
                f"{x}.grad = None",
            ]
        )
    )
    w.statement(f"print({x}.grad, {g})")


def refused(w: Writer) -> None:
    """What PyTorch refuses of views."""
    rng, x = w.rng, some(w)
    leaf = w.name()
    w.statement(f"{leaf} = {x}.detach().clone().requires_grad_()")
    bad = rng.choice(
        [
            f"{leaf}.view(-1).add_(1)",
            f"{leaf}[...] = 1",
            f"{leaf}.detach().view(-1).add_(1)",
            f"{leaf}.expand(2, *{leaf}.shape).mul_(2)",
            f"{leaf}.T.view(-1)" if w.held(x).dim() == 2 else f"{leaf}.view(-1).mul_(2)",
            f"with torch.no_grad():\n    {leaf}.view(-1).add_(1)",
            f"with torch.no_grad():\n    v = {leaf}.view(-1)\nv.mul_(2)",
            f"{leaf}.unsqueeze_(0)",
            f"v = ({leaf} * 1).unbind(0)\nv[0].mul_(2)" if w.held(x).dim() else f"{leaf}.zero_()",
            f"v = ({leaf} * 1).view(-1).expand(2, -1)\nv.add_(1)",
        ]
    )
    attempted(w, bad)
    w.statement(f"print({leaf})")
    w.assign(f"({leaf} * {x}).sum()")


STATEMENTS = (chain, chain, chain, chain, facts, saved, saved, sharing, looped, derived, refused)
