"""Programs with `torch.optim`: optimizers, groups, schedulers, several steps."""

from __future__ import annotations

import re

from ..expressions import number
from ..statements import leaf
from ..writer import NotThere, Writer
from .formulas import formula, lines, some
from .networks import batch, layers, start


def settings(w: Writer, *found: str) -> str:
    """Some of the settings, each with a comma before."""
    return "".join(f", {s}" for s in w.rng.sample(found, w.rng.randint(0, min(3, len(found)))))


def optimizer(w: Writer, params: str) -> str:
    """The text that makes an optimizer."""
    rng = w.rng
    lr = rng.choice(["0.1", "0.01", "0.5", "0.03", "1e-3"])
    momentum = rng.choice(
        [
            "",
            ", momentum=0.9",
            ", momentum=0.5, weight_decay=0.01",
            ", momentum=0.9, nesterov=True",
            ", momentum=0.8, dampening=0.3",
            ", weight_decay=0.1",
            ", maximize=True",
        ]
    )
    return rng.choice(
        [f"optim.SGD({params}, lr={lr}{momentum})", f"optim.SGD({params}, lr={lr}{momentum})", f"optim.Adam({params}, lr={lr}{settings(w, 'betas=(0.8, 0.9)', 'eps=1e-3', 'weight_decay=0.1', 'amsgrad=True', 'maximize=True')})",
         f"optim.AdamW({params}, lr={lr}{settings(w, 'betas=(0.5, 0.99)', 'weight_decay=0.2', 'amsgrad=True', 'eps=1e-6')})", f"optim.RMSprop({params}, lr={lr}{settings(w, 'alpha=0.9', 'eps=1e-4', 'momentum=0.5', 'centered=True', 'weight_decay=0.05')})",
         f"optim.Adagrad({params}, lr={lr}{settings(w, 'lr_decay=0.1', 'weight_decay=0.1', 'initial_accumulator_value=0.3', 'eps=1e-5')})", f"optim.Adadelta({params}{settings(w, 'lr=0.5', 'rho=0.8', 'eps=1e-3', 'weight_decay=0.1')})",
         f"optim.Adamax({params}{settings(w, 'lr=0.05', 'betas=(0.7, 0.9)', 'eps=1e-4', 'weight_decay=0.1')})"]
    )  # fmt: skip


def scheduler(w: Writer, opt: str) -> str:
    """The text that makes a scheduler."""
    rng = w.rng
    return rng.choice(
        [f"optim.lr_scheduler.StepLR({opt}, step_size={rng.randint(1, 2)}, gamma=0.5)", f"optim.lr_scheduler.MultiStepLR({opt}, milestones=[1, {rng.randint(2, 3)}], gamma=0.3)", f"optim.lr_scheduler.ExponentialLR({opt}, gamma=0.9)",
         f"optim.lr_scheduler.LambdaLR({opt}, lambda k: 1 / (k + 1))", f"optim.lr_scheduler.LambdaLR({opt}, lr_lambda=lambda k: 0.95 ** k)", f"optim.lr_scheduler.LinearLR({opt}, start_factor=0.5, total_iters={rng.randint(1, 4)})",
         f"optim.lr_scheduler.CosineAnnealingLR({opt}, T_max={rng.randint(1, 4)}{rng.choice(['', ', eta_min=0.01'])})"]
    )  # fmt: skip


def parameters(w: Writer) -> tuple[str, list[str], str]:
    """What is optimized, the names of it, and an expression of it that keeps one shape."""
    x = w.pick(leaf)
    if x is None:
        raise NotThere("a leaf")
    p = w.name("w")
    forms = [
        f"{x}.detach().clone().requires_grad_()",
        f"torch.nn.Parameter({x}.detach() * 0.5)",
        f"torch.full_like({x}, 0.7).detach().requires_grad_()",
    ]
    if not w.statement(f"{p} = {w.rng.choice(forms)}"):
        raise NotThere("a parameter")
    names = [p]
    if w.rng.random() < 0.4:
        q = w.name("w")
        if w.statement(
            f"{q} = {w.rng.choice(['torch.tensor(0.5, requires_grad=True)', 'torch.ones(2, requires_grad=True)'])}"
        ):
            names.append(q)
    whole = " + ".join(n if n == p else f"{n}.sum()" for n in names)
    return f"[{', '.join(names)}]", names, whole


def loop(w: Writer) -> None:
    """Several steps of one optimizer, with a scheduler or without."""
    rng = w.rng
    w.statement("import torch.optim as optim")
    given, names, whole = parameters(w)
    other = some(w)
    if rng.random() < 0.3 and len(names) > 1:
        given = (
            f"[{{'params': [{names[0]}]}}, {{'params': {names[1]}, 'lr': 0.2}}]"
            if rng.random() < 0.5
            else f"[{{'params': {names[0]}, 'weight_decay': 0.1}}, {{'params': [{names[1]}]}}]"
        )
    opt, sched, loss = w.name("opt"), w.name("sched"), w.name()
    if not w.statement(f"{opt} = {optimizer(w, given)}"):
        return
    with_schedule = rng.random() < 0.45 and w.statement(f"{sched} = {scheduler(w, opt)}")
    clear = rng.choice(
        [f"{opt}.zero_grad()", f"{opt}.zero_grad()", f"{opt}.zero_grad(set_to_none=False)", "pass"]
    )
    shown = rng.choice(
        [
            "pass",
            f"print(round({loss}.item(), 4))",
            f"print([g['lr'] for g in {opt}.param_groups])",
            f"print({sched}.get_last_lr())" if with_schedule else "pass",
            f"print({names[0]})",
            f"if i == 1:\n        {opt}.param_groups[0]['lr'] = 0.05",
        ]
    )
    w.statement(
        lines(
            f"for i in range({rng.randint(1, 5)}):", f"    {clear}", f"    {loss} = (({formula(w, ['(' + whole + ')'], (), 1)}) ** 2).sum() + (({whole}) * {rng.choice([other + '.detach().sum()', number(w)])}).sum()", f"    {loss}.backward()",
            rng.choice(["", f"    torch.nn.utils.clip_grad_norm_([{', '.join(names)}], 1.0)"]), f"    {opt}.step()", f"    {sched}.step()" if with_schedule else "", f"    {shown}",
        )
    )  # fmt: skip
    if rng.random() < 0.3:
        w.statement(
            rng.choice(
                [
                    f"print({opt})",
                    f"print(sorted({opt}.state_dict()))",
                    f"print([sorted(k for k in g if k in ('lr', 'params', 'weight_decay')) for g in {opt}.param_groups])",
                    f"print(len({opt}.param_groups))",
                    f"print(type({opt}).__name__)",
                ]
            )
        )
    w.assign(
        rng.choice(
            [
                f"({names[0]} * {other}).sum()",
                f"{names[0]}.detach() * {other}",
                f"sum(p.sum() for p in {given if given.startswith('[w') else '[' + ', '.join(names) + ']'}) * {other}",
            ]
        )
    )


def by_closure(w: Writer) -> None:
    """Steps that call a closure, LBFGS among them."""
    rng = w.rng
    w.statement("import torch.optim as optim")
    _, names, whole = parameters(w)
    other, opt, f = some(w), w.name("opt"), w.name("closure")
    made = rng.choice(
        [
            f"optim.LBFGS([{names[0]}], lr={rng.choice(['1', '0.5', '0.1'])}, max_iter={rng.randint(1, 5)}{rng.choice(['', ', history_size=2'])})",
            optimizer(w, f"[{', '.join(names)}]"),
        ]
    )
    if not w.statement(f"{opt} = {made}"):
        return
    w.statement(lines(f"def {f}():", f"    {opt}.zero_grad()", f"    loss = (({whole} - {number(w)}) ** 2).sum() + 0.1 * (({formula(w, [names[0]], (), 1)}) ** 2).sum()", "    loss.backward()", "    return loss"))  # fmt: skip
    t = w.name()
    w.statement(f"for _ in range({rng.randint(1, 3)}):\n    {t} = {opt}.step({f})")
    w.statement(f"print(round({f}().item(), 3))")
    w.assign(f"{names[0]} * {other}")


def network(w: Writer) -> None:
    """A network that is trained."""
    start(w)
    rng = w.rng
    w.statement("import torch.optim as optim")
    x, size = batch(w)
    net, opt, loss = w.name("net"), w.name("opt"), w.name()
    text, _ = layers(w, size)
    if re.search("Dropout|Norm", text) or not w.statement(f"{net} = filled({text})"):
        return
    given = rng.choice(
        [
            f"{net}.parameters()",
            f"{net}.parameters()",
            f"[p for n, p in {net}.named_parameters() if 'weight' in n]",
            f"[{{'params': {net}[0].parameters(), 'lr': 0.05}}]",
            f"list({net}.parameters())[:1]",
        ]
    )
    if not w.statement(f"{opt} = {optimizer(w, given)}"):
        return
    w.statement(lines(f"for i in range({rng.randint(1, 4)}):", f"    {rng.choice([opt, net])}.zero_grad()", f"    {loss} = F.mse_loss({net}({x}.detach()), torch.zeros(1).expand_as({net}({x}.detach())) + 0.5)", f"    {loss}.backward()", f"    {opt}.step()",
                      rng.choice(["", f"    print(round({loss}.item(), 3))"])))  # fmt: skip
    w.assign(f"{net}({x})")
    w.statement(f"print([round(p.sum().item(), 3) for p in {net}.parameters()])")


def resumed(w: Writer) -> None:
    """The state of an optimizer, saved and loaded, groups that are added, errors of settings."""
    rng = w.rng
    w.statement("import torch.optim as optim")
    _, names, _ = parameters(w)
    other, opt, again, p = some(w), w.name("opt"), w.name("opt"), names[0]
    made = optimizer(w, f"[{p}]")
    if not w.statement(f"{opt} = {made}"):
        return
    step = f"({p} ** 2).sum().backward()\n    {opt}.step()"
    w.statement(f"for i in range({rng.randint(1, 3)}):\n    {opt}.zero_grad()\n    {step}")
    kind = rng.randrange(4)
    if kind == 0:
        w.statement(
            f"{again} = {made}\n{again}.load_state_dict({opt}.state_dict())\n({p} * 3).sum().backward()\n{again}.step()"
        )
    elif kind == 1 and len(names) > 1:
        w.statement(
            f"{opt}.add_param_group({{'params': [{names[1]}], 'lr': 0.3}})\n({p}.sum() * {names[1]}.sum()).backward()\n{opt}.step()"
        )
        w.statement(f"print(len({opt}.param_groups), [g['lr'] for g in {opt}.param_groups])")
    elif kind == 2:
        bad = rng.choice(
            [
                f"optim.SGD([{p}], lr=-1.0)",
                "optim.Adam([], lr=0.1)",
                f"optim.SGD([{p}], lr=0.1, nesterov=True)",
                f"optim.SGD([{p} * 2], lr=0.1)",
                f"optim.Adam([{p}], betas=(1.0, 0.9))",
                f"optim.RMSprop([{p}], alpha=-1)",
                f"optim.Adagrad([{p}], lr=-0.1)",
            ]
        )
        w.statement(f"try:\n    {bad}\nexcept Exception as e:\n    print(type(e).__name__)")
    else:
        low, sched = w.name(), w.name("sched")
        w.statement(
            f"{sched} = optim.lr_scheduler.ReduceLROnPlateau({opt}, patience={rng.randint(0, 2)}, factor=0.5{rng.choice(['', ', cooldown=1', ', min_lr=0.02'])})"
        )
        w.statement(
            f"for {low} in [1.0, 0.9, {rng.choice(['0.95', '0.8', '1.2'])}, 1.1, 1.0]:\n    {sched}.step({low})\n    print({opt}.param_groups[0]['lr'])"
        )
    w.assign(f"({p} * {other}).sum()")


STATEMENTS = (loop, loop, loop, loop, by_closure, network, network, resumed)
