"""Programs with `torch.nn`: layers, own modules, losses, states, hooks."""

from __future__ import annotations

from ..expressions import number
from ..writer import NotThere, Writer
from .formulas import lines, some

ACTIVATIONS = (
    "Tanh()", "ReLU()", "Sigmoid()", "GELU()", "SiLU()", "Softplus()", "ELU()", "LeakyReLU(0.1)", "LogSigmoid()", "Identity()",
    "Softmax(dim=-1)", "LogSoftmax(dim=-1)", "Dropout(0.3)", "Hardtanh()", "ReLU6()", "SELU()", "Mish()", "Softsign()", "CELU()",
    "Hardswish()", "Tanhshrink()", "PReLU()", "Hardsigmoid()",
)  # fmt: skip


def start(w: Writer) -> None:
    """The imports, and weights that are the same everywhere."""
    if "filled" in w.scope:
        return
    w.statement("import torch.nn as nn")
    w.statement("none = nn.Identity()")
    w.statement(
        lines(
            "def filled(net, scale=1.0):",
            "    with torch.no_grad():",
            "        for i, p in enumerate(net.parameters()):",
            f"            p.copy_(torch.sin(torch.arange(p.numel()) * 1.7 + i).reshape(p.shape) * {w.rng.choice(['0.5', '0.3', '0.8'])} * scale)",
            "    return net",
        )
    )


def batch(w: Writer) -> tuple[str, int]:
    """An expression of a batch of features, and how many these are."""
    x = some(w)
    n = w.held(x).numel()
    if not n:
        raise NotThere("elements")
    size = w.rng.choice([d for d in (1, 2, 3, 4) if n % d == 0])
    name = w.assign(f"{x}.reshape(-1, {size})")
    if name is None:
        raise NotThere("a batch")
    return name, size


def layers(w: Writer, size: int) -> tuple[str, int]:
    """The text of a Sequential for so many features, and how many it gives."""
    rng, parts = w.rng, []
    for _ in range(rng.randint(1, 3)):
        out = rng.randint(1, 4)
        parts.append(f"nn.Linear({size}, {out}{rng.choice(['', '', ', bias=False'])})")
        size = out
        if rng.random() < 0.7:
            act = rng.choice(ACTIVATIONS)
            parts.append(f"nn.{act}")
        if rng.random() < 0.25:
            parts.append(
                rng.choice(
                    [
                        f"nn.LayerNorm({size})",
                        f"nn.BatchNorm1d({size})",
                        f"nn.LayerNorm({size}, elementwise_affine=False)",
                        f"nn.BatchNorm1d({size}, momentum=0.3)",
                    ]
                )
            )
    return f"nn.Sequential({', '.join(parts)})", size


def told(w: Writer, net: str) -> None:
    """What is printed of a module."""
    w.statement(
        w.rng.choice(
            [f"print({net})", f"print(list({net}.state_dict()))", f"print([(n, tuple(p.shape)) for n, p in {net}.named_parameters()])",
             f"print(sum(p.numel() for p in {net}.parameters()))", f"print([n for n, _ in {net}.named_modules()])", f"print([type(m).__name__ for m in {net}.children()])",
             f"print({net}.training, [m.training for m in {net}.modules()])", f"print([p.grad is None for p in {net}.parameters()])",
             f"print([n for n, _ in {net}.named_children()], [n for n, _ in {net}.named_buffers()])", f"print([p.requires_grad for p in {net}.parameters()])"]
        )
    )  # fmt: skip


def used(w: Writer, net: str, x: str) -> None:
    """Its value, and what a pass leaves in its parameters."""
    rng = w.rng
    if rng.random() < 0.35:
        w.statement(
            rng.choice([f"{net}.eval()", f"{net}.eval()\n{net}.train()", f"{net}.train(False)"])
        )
    elif "Dropout" in "".join(w.lines):
        w.statement(f"{net}.eval()")
    y = w.assign(f"{net}({x})")
    if y is None:
        return
    if rng.random() < 0.6:
        loss = w.assign(loss_of(w, y))
        if loss and w.statement(f"{loss}.backward({rng.choice(['', 'retain_graph=True'])})"):
            w.statement(
                f"print([None if p.grad is None else round(p.grad.sum().item(), 4) for p in {net}.parameters()])"
            )
            g = w.name()
            w.statement(rng.choice([
                f"{net}.zero_grad()", f"{net}.zero_grad(set_to_none=False)", f"{g} = nn.utils.clip_grad_norm_({net}.parameters(), 0.5)", f"{g} = next({net}.parameters()).grad.clone()",
                f"{g} = torch.cat([p.grad.reshape(-1) for p in {net}.parameters() if p.grad is not None])",
                f"with torch.no_grad():\n    for p in {net}.parameters():\n        if p.grad is not None:\n            p -= 0.1 * p.grad",
                f"nn.utils.clip_grad_value_({net}.parameters(), 0.1)",
            ]))  # fmt: skip
            w.assign(f"{net}({x})")
    told(w, net)


LOSSES = ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")


def loss_of(w: Writer, y: str) -> str:
    """A number made of an output, by some loss."""
    rng = w.rng
    held = w.held(y)
    n = held.shape[-1]
    rows = held.numel() // n if n else 0
    more = rng.choice(["", "reduction='sum'", "reduction='mean'"])
    labels = (
        f"torch.tensor({[rng.randrange(n) for _ in range(rows)]})"
        if n and rows
        else "torch.tensor(0)"
    )
    signs = f"torch.tensor({[rng.choice([-1.0, 1.0]) for _ in range(rows)]})"
    return rng.choice(
        [f"nn.{rng.choice(LOSSES)}({more})({y}, torch.zeros_like({y}) + 0.3)", f"nn.CrossEntropyLoss({more})({y}.reshape({rows}, {n}), {labels})", f"nn.NLLLoss({more})(F.log_softmax({y}.reshape({rows}, {n}), dim=1), {labels})",
         f"nn.BCEWithLogitsLoss({more})({y}, torch.sigmoid({y}).detach())", f"nn.BCELoss({more})(torch.sigmoid({y}), torch.full_like({y}, 0.3))", f"nn.KLDivLoss(reduction='{rng.choice(['sum', 'batchmean', 'mean'])}')(F.log_softmax({y}, dim=-1), torch.full_like({y}, 0.25))",
         f"nn.PoissonNLLLoss({more})({y}, torch.ones_like({y}))", f"F.gaussian_nll_loss({y}, torch.zeros_like({y}), torch.full_like({y}, 0.7))", f"nn.SoftMarginLoss({more})({y}, torch.ones_like({y}))",
         f"F.hinge_embedding_loss({y}, -torch.ones_like({y}))", f"F.cosine_embedding_loss({y}.reshape({rows}, {n}), torch.ones({rows}, {n}), {signs})", f"F.margin_ranking_loss({y}, torch.zeros_like({y}), torch.ones_like({y}))",
         f"nn.CrossEntropyLoss(label_smoothing=0.1)({y}.reshape({rows}, {n}), {labels})", f"(({y}) ** 2).sum()", f"F.cross_entropy({y}.reshape({rows}, {n}), {labels}, reduction='sum')",
         f"nn.CrossEntropyLoss(weight=torch.linspace(0.5, 1.5, {n}))({y}.reshape({rows}, {n}), {labels})"]
    )  # fmt: skip


def sequential(w: Writer) -> None:
    start(w)
    x, size = batch(w)
    net = w.name("net")
    text, _ = layers(w, size)
    if w.statement(f"{net} = filled({text})"):
        used(w, net, x)


def module(w: Writer) -> None:
    """A module of the program's own."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    n, net = w.name("Net"), w.name("net")
    hidden = rng.randint(1, 3)
    act = rng.choice(["torch.tanh", "F.relu", "torch.sigmoid", "F.silu", "self.act"])
    ways = rng.choice([
        f"        return self.second({act}(self.first(u)))", f"        return self.second({act}(self.first(u))) + u", f"        for part in self.parts:\n            u = {act}(part(u))\n        return u * self.scale",
        "        h = self.first(u)\n        if self.training:\n            h = h * 2\n        return self.second(h) * self.shift", f"        return self.dict['a']({act}(u)) + self.dict['b'](u)", f"        return {act}(F.linear(u, self.weight)) @ self.weight",
        "        self.seen.mul_(0.5).add_(u.detach().mean())\n        return self.second(self.first(u)) - self.seen",
    ])  # fmt: skip
    w.statement(
        lines(
            f"class {n}(nn.Module):", "    def __init__(self, size, hidden):", f"        {rng.choice(['super().__init__()', f'super({n}, self).__init__()'])}", "        self.first = nn.Linear(size, hidden)",
            f"        self.act = nn.{rng.choice(ACTIVATIONS[:10])}", "        self.second = nn.Linear(hidden, size)", "        self.parts = nn.ModuleList([nn.Linear(size, size) for _ in range(2)])",
            "        self.dict = nn.ModuleDict({'a': nn.Linear(size, size), 'b': nn.Linear(size, size, bias=False)})", "        self.scale = nn.Parameter(torch.tensor(1.5))", "        self.weight = nn.Parameter(torch.ones(size, size))",
            "        self.register_buffer('shift', torch.tensor(0.5))", "        self.register_buffer('seen', torch.zeros(()))", *(["        self.second.weight = nn.Parameter(torch.ones(size, hidden))"] if rng.random() < 0.2 else []),
            "    def forward(self, u):", ways,
        )
    )  # fmt: skip
    if not w.statement(f"{net} = filled({n}({size}, {hidden}))"):
        return
    if rng.random() < 0.3:
        w.statement(rng.choice([f"for p in {net}.first.parameters():\n    p.requires_grad = False", f"{net}.first.requires_grad_(False)", f"{net}.second.weight.requires_grad_(False)",
                                f"{net}.apply(lambda m: nn.init.constant_(m.weight, 0.2) if isinstance(m, nn.Linear) else None)", f"nn.init.zeros_({net}.first.bias)", f"nn.init.eye_({net}.weight)"]))  # fmt: skip
    used(w, net, x)
    if rng.random() < 0.4:
        other = w.name("net")
        w.statement(f"{other} = {n}({size}, {hidden})\n{other}.load_state_dict({net}.state_dict())")
        w.assign(f"{other}({x})")
        w.statement(
            f"print(all(bool((a == b).all()) for a, b in zip({net}.parameters(), {other}.parameters())))"
        )


def normalized(w: Writer) -> None:
    """Layers with statistics, in training and not."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    net = w.name("net")
    made = rng.choice([f"nn.BatchNorm1d({size})", f"nn.BatchNorm1d({size}, momentum={rng.choice(['0.5', 'None'])})", f"nn.BatchNorm1d({size}, affine=False)", f"nn.BatchNorm1d({size}, track_running_stats=False)", f"nn.LayerNorm({size}, eps=1e-3)",
                       f"nn.LayerNorm([{size}])", f"nn.BatchNorm1d({size}, eps=0.1)"])  # fmt: skip
    if not w.statement(f"{net} = {rng.choice(['filled(' + made + ')', made])}"):
        return
    for _ in range(rng.randint(1, 3)):
        w.statement(rng.choice([f"{net}.eval()", f"{net}.train()", "pass", f"{net}.zero_grad()"]))
        w.assign(
            rng.choice(
                [
                    f"{net}({x})",
                    f"{net}({x} * 2 + 1)",
                    f"{net}({x}).sum(0)",
                    f"({net}({x}) ** 2).mean()",
                ]
            )
        )
    told(w, net)
    if "BatchNorm" in made:
        w.statement(f"print({net}.running_mean, {net}.running_var, {net}.num_batches_tracked)")
    w.statement(f"print(dict({net}.state_dict()))")


def looked_up(w: Writer) -> None:
    """Embeddings, bilinear layers, dropout that is off, flattening."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    net, places = w.name("net"), [rng.randrange(4) for _ in range(rng.randint(1, 4))]
    made, call = rng.choice([
        (f"nn.Embedding(4, {size}{rng.choice(['', ', padding_idx=0'])})", f"{net}(torch.tensor({places})).sum(0) * {x}"), (f"nn.Embedding(4, {size})", f"F.embedding(torch.tensor([{places}]), {net}.weight)[0].mean(0) + {x}"),
        (f"nn.Bilinear({size}, {size}, 2)", f"{net}({x}, {x})"), ("nn.Flatten()", f"{net}({x}.unsqueeze(-1) * 2)"), ("nn.Dropout(0.5).eval()", f"{net}({x}) * 2"), ("nn.Flatten(0)", f"{net}({x})"), ("nn.Unflatten(1, (-1, 1))", f"{net}({x})"),
        ("nn.Dropout(0.0)", f"{net}({x})"), ("nn.Softmax(dim=0)", f"{net}({x})"), (f"nn.PReLU({size})", f"{net}({x})"),
    ])  # fmt: skip
    if w.statement(f"{net} = filled({made})"):
        y = w.assign(call)
        if y and rng.random() < 0.5:
            w.statement(f"{y}.sum().backward()")
            w.statement(f"print([p.grad for p in {net}.parameters()])")
        told(w, net)


def recurrent(w: Writer) -> None:
    """RNN, LSTM and GRU and their cells."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    net, kind, hidden = w.name("net"), rng.choice(["RNN", "LSTM", "GRU"]), rng.randint(1, 3)
    if rng.random() < 0.35:
        cell = f"nn.{kind}Cell({size}, {hidden}{rng.choice(['', ', bias=False'])})"
        if not w.statement(f"{net} = filled({cell})"):
            return None
        h = w.name()
        if kind == "LSTM":
            c = w.name()
            w.statement(f"{h}, {c} = {net}({x})")
            w.statement(f"{h}, {c} = {net}({x} * 0.5, ({h}, {c}))")
        else:
            w.statement(f"{h} = {net}({x})")
            w.statement(f"{h} = {net}({x} * 0.5, {h})")
        return told(w, net)
    options = rng.sample(
        [", num_layers=2", ", bidirectional=True", ", bias=False", ", batch_first=True"],
        rng.randint(0, 2),
    )
    if kind == "RNN" and rng.random() < 0.4:
        options.append(", nonlinearity='relu'")
    if not w.statement(f"{net} = filled(nn.{kind}({size}, {hidden}{''.join(options)}))"):
        return None
    out, state = w.name(), w.name("s")
    if w.statement(
        f"{out}, {state} = {net}({rng.choice([x, x, x + '.unsqueeze(1)', x + '.unsqueeze(0)'])})"
    ):
        w.statement(
            f"print({out}.shape, {state + '[0].shape' if kind == 'LSTM' else state + '.shape'})"
        )
        w.assign(f"{state}[0] * 2" if kind == "LSTM" else f"{state}.sum() + {out}")
    return told(w, net)


def convolved(w: Writer) -> None:
    """Convolutions and pooling."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    net, y = w.name("net"), w.name()
    line = w.rng.random() < 0.5
    shaped = f"{x}.unsqueeze(0)" if line else f"{x}.reshape(1, 1, -1, {size})"
    rows = w.held(x).shape[0]
    made = rng.choice(
        [f"nn.Conv1d({rows}, 2, {rng.randint(1, size)}{rng.choice(['', ', padding=1', ', bias=False', ', stride=2'])})", f"nn.MaxPool1d({rng.randint(1, size)})", f"nn.AvgPool1d({rng.randint(1, size)}, stride=1)"]
        if line else
        [f"nn.Conv2d(1, 2, ({rng.randint(1, rows)}, {rng.randint(1, size)}){rng.choice(['', ', padding=1', ', bias=False', ', dilation=1', ', stride=(1, 2)'])})", f"nn.MaxPool2d(({rng.randint(1, rows)}, {rng.randint(1, size)}))", "nn.AvgPool2d(1)", "nn.AdaptiveAvgPool2d((1, 1))",
         "nn.BatchNorm2d(1)", "nn.Upsample(scale_factor=2)", "nn.Sequential(nn.Conv2d(1, 1, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())"]
    )  # fmt: skip
    if w.statement(f"{net} = filled({made})") and w.statement(f"{y} = {net}({shaped})"):
        if rng.random() < 0.5:
            w.statement(f"({y} ** 2).sum().backward()")
            w.statement(f"print([p.grad for p in {net}.parameters()])")
        told(w, net)


def functional(w: Writer) -> None:
    """Parameters as arguments, and derivatives by them."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    net, params = w.name("net"), w.name("d")
    text, _ = layers(w, size)
    if not w.statement(f"{net} = filled({text}).eval()"):
        return
    w.statement(f"{params} = {{n: p.detach() * 2 for n, p in {net}.named_parameters()}}")
    w.assign(f"torch.func.functional_call({net}, {params}, ({x},))")
    g = w.name("g")
    if w.statement(
        f"{g} = torch.func.grad(lambda d: (torch.func.functional_call({net}, d, ({x},)) ** 2).sum())({params})"
    ):
        w.statement(f"print({{n: tuple(v.shape) for n, v in {g}.items()}})")
        w.assign(f"sum(v.sum() for v in {g}.values())")
    if rng.random() < 0.5:
        w.assign(
            f"torch.cat([v.reshape(-1) for v in torch.autograd.grad(({net}({x}) ** 2).sum(), list({net}.parameters()), create_graph=True, allow_unused=True) if v is not None])"
        )
    if rng.random() < 0.3:
        w.assign(f"torch.nn.utils.parameters_to_vector({net}.parameters())")


def hooked(w: Writer) -> None:
    """Forward hooks, and modules in containers."""
    start(w)
    rng = w.rng
    x, size = batch(w)
    net, h = w.name("net"), w.name("h")
    if not w.statement(
        f"{net} = filled(nn.Sequential(nn.Linear({size}, 2), nn.Tanh(), nn.Linear(2, {size})))"
    ):
        return
    w.statement(f"{h} = {net}{rng.choice(['', '[0]', '[1]'])}." + rng.choice([
        "register_forward_hook(lambda m, i, o: o * 2)", "register_forward_hook(lambda m, i, o: print(type(m).__name__, tuple(o.shape)))", "register_forward_pre_hook(lambda m, i: (i[0] + 1,))", "register_forward_hook(lambda m, i, o: None)",
    ]))  # fmt: skip
    w.assign(f"{net}({x})")
    w.statement(rng.choice([f"{h}.remove()", "pass"]))
    w.assign(
        rng.choice(
            [
                f"{net}({x})",
                f"{net}[0]({x})",
                f"{net}[1:](torch.ones(1, 2)) + {x}",
                f"{net}[-1](torch.ones(2))",
                f"sum(m({x}) for m in nn.ModuleList([{net}, nn.Identity()]))",
            ]
        )
    )
    w.statement(
        rng.choice(
            [
                f"print(len({net}), {net}[1])",
                f"{net}.append(nn.ReLU())\nprint({net})",
                f"{net}[1] = nn.ReLU()\nprint({net})",
                f"print([type(m).__name__ for m in {net}])",
                f"{net}.add_module('last', nn.Sigmoid())\nprint({net})",
            ]
        )
    )
    w.assign(f"{net}({x} * {number(w)})")


STATEMENTS = (
    sequential,
    sequential,
    module,
    module,
    normalized,
    looked_up,
    recurrent,
    recurrent,
    convolved,
    functional,
    hooked,
)
