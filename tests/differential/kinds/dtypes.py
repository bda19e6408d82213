"""Programs with all dtypes: promotion, casts, changes in place, printing."""

from __future__ import annotations

import torch

from ..expressions import floating
from ..writer import NotThere, Writer
from .formulas import attempted, some

FLOATS = ("float64", "float32", "float16")
INTS = ("int64", "int32", "int16", "int8", "uint8")
ALL = (*FLOATS, *INTS, "bool")
NUMBERS = ("2", "0.5", "-1", "True", "3", "1.5", "7", "-2.5")


def numbers(w: Writer, dtype: str, size: int) -> str:
    """A list of numbers that a dtype holds."""
    rng = w.rng
    if dtype == "bool":
        return str([rng.random() < 0.5 for _ in range(size)])
    if dtype in INTS:
        return str([rng.randint(0 if dtype == "uint8" else -4, 6) for _ in range(size)])
    return str([rng.choice([-2.0, -0.5, 0.25, 1.0, 1.5, 3.0, 0.1]) for _ in range(size)])


def made(w: Writer, among: tuple[str, ...] = ALL, size: int | None = None) -> str:
    """The name of a new tensor of some dtype."""
    rng = w.rng
    dtype = rng.choice(among)
    n = size or rng.choice([1, 2, 3])
    grad = ", requires_grad=True" if dtype in FLOATS and rng.random() < 0.25 else ""
    whole = numbers(w, dtype, n)
    x = some(w)
    forms = [f"torch.tensor({whole}, dtype=torch.{dtype}{grad})", f"torch.tensor({whole}, dtype=torch.{dtype}{grad})", f"torch.tensor({numbers(w, dtype, 1)[1:-1]}, dtype=torch.{dtype}{grad})",
             f"torch.ones({n}, dtype=torch.{dtype})", f"torch.arange({n}, dtype=torch.{dtype if dtype != 'bool' else 'int16'})", f"torch.full(({n},), {rng.choice(['1', '2'])}, dtype=torch.{dtype})",
             f"{x}.to(torch.{dtype})", f"torch.zeros_like({x}, dtype=torch.{dtype})", f"torch.tensor([{whole}], dtype=torch.{dtype})"]  # fmt: skip
    text = rng.choice(forms)
    if dtype == "uint8" and ".to(" in text:
        text = f"{x}.abs().to(torch.uint8)"
    name = w.assign(text)
    if name is None:
        raise NotThere("a tensor")
    return name


def two(w: Writer) -> tuple[str, str]:
    """Names of two tensors that broadcast, of any dtypes."""
    a = w.pick() if w.rng.random() < 0.4 else made(w)
    if a is None:
        raise NotThere("a tensor")
    sizes = w.held(a).shape
    others = [n for n in w.tensors() if _meet(w.held(n).shape, sizes)]
    if others and w.rng.random() < 0.6:
        return a, w.rng.choice(others)
    n = sizes[-1] if len(sizes) else None
    return a, made(w, size=n or 1)


def _meet(a: torch.Size, b: torch.Size) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False))


BINARY = (
    "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "{a} // ({b} * {b} + 1)", "{a} % ({b} * {b} + 1)", "{a} ** 2", "{a} & {b}", "{a} | {b}", "{a} ^ {b}", "~{a}", "-{a}", "{a} > {b}", "{a} == {b}", "{a} <= {n}",
    "{a} + {n}", "{n} * {a}", "{n} - {a}", "{a} / {n}", "{n} / ({a} * {a} + 1)", "{a} // {n}", "{a} % {n}", "{a} ** {n}", "torch.maximum({a}, {b})", "torch.where({a} > 0, {a}, {b})", "torch.where({b} > 0, {a}, {n})",
    "torch.fmod({a}, {b} * {b} + 1)", "torch.pow({a}, {b} * {b})", "torch.atan2({a}, {b})", "torch.add({a}, {b}, alpha=2)", "torch.eq({a}, {b})", "torch.logical_and({a}, {b})", "torch.true_divide({a}, {b})", "torch.float_power({a}, 2)",
    "torch.div({a}, {b}, rounding_mode='floor')", "torch.div({a}, {b} * {b} + 2, rounding_mode='trunc')", "torch.lerp({a}, {b}, 0.5)", "torch.hypot({a}, {b})", "torch.copysign({a}, {b})", "torch.sub({a}, {b})", "torch.isclose({a}, {b})", "torch.remainder({a}, {n})",
    "torch.cat([{a}.reshape(-1), {b}.reshape(-1)])", "torch.stack([{a}.sum(), {b}.sum()])", "torch.clamp({a}, 0, 2)", "torch.clamp({a}, min=0.5)", "torch.bitwise_and({a}, {b})", "torch.minimum({a}, {b})", "torch.logical_xor({a}, {b})",
)  # fmt: skip
UNARY = (
    "{a}.sum()", "{a}.mean()", "{a}.prod()", "{a}.cumsum(-1)", "{a}.cumprod(-1)", "torch.exp({a})", "torch.sqrt({a}.abs())", "torch.sin({a})", "{a}.abs()", "torch.sign({a})", "torch.floor({a})", "torch.round({a})", "{a}.max()", "{a}.min()", "{a}.argmax()", "{a}.std()", "{a}.var(unbiased=False)", "{a}.norm()", "{a}.any()", "{a}.all()", "{a}.sum(dtype=torch.float64)", "{a}.sum(dtype=torch.int32)",
    "{a}.reshape(-1).sort()[0]", "torch.argsort({a}.reshape(-1), stable=True)", "torch.relu({a})", "F.softmax({a}, dim=-1)", "torch.sigmoid({a})", "{a}.double()", "{a}.half()", "{a}.int()", "{a}.long()", "{a}.short()", "{a}.bool()", "{a}.char()", "{a}.byte()", "{a}.to(torch.float32)", "{a}.to(torch.float16).to(torch.float64)", "{a}.type(torch.float32)", "{a}.type_as(torch.ones(1, dtype=torch.float32))", "{a}.reshape(-1).unique()", "torch.zeros_like({a})",
    "torch.full_like({a}, 1)", "{a}.new_zeros(2)", "{a}.new_tensor([1, 2])", "{a}.count_nonzero()", "{a} @ {a} if {a}.dim() == 1 else {a}.sum()", "torch.dot({a}.reshape(-1), {a}.reshape(-1))", "{a}.reshape(-1).diff()", "{a}.square()", "{a}.reciprocal()", "{a}.neg()", "torch.outer({a}.reshape(-1), {a}.reshape(-1))", "{a}.median()", "{a}.nansum()", "{a}.logsumexp(-1)", "torch.tensor({a}.tolist())", "torch.as_tensor({a})", "{a}.isnan()", "torch.trunc({a})", "torch.frac({a})", "{a}.clone()",
    "torch.reciprocal({a})", "torch.nan_to_num({a})", "{a}.flip(-1)", "F.relu({a}) * 2", "torch.square({a})", "torch.tril({a}.reshape(1, -1))", "torch.expm1({a})", "torch.log1p({a}.abs())", "{a}.repeat(2)", "torch.ones({n2}, dtype={a}.dtype)", "torch.erf({a})", "torch.deg2rad({a})",
)  # fmt: skip


def promoted(w: Writer) -> None:
    a, b = two(w)
    for _ in range(w.rng.randint(1, 4)):
        found = w.assign(w.rng.choice(BINARY).format(a=a, b=b, n=w.rng.choice(NUMBERS)))
        if found and w.rng.random() < 0.5:
            a = found
    if w.rng.random() < 0.5:
        w.statement(f"print(({a}).dtype, {b}.dtype)")


def reduced(w: Writer) -> None:
    a = made(w) if w.rng.random() < 0.7 else w.pick()
    if a is None:
        return
    for _ in range(w.rng.randint(1, 4)):
        found = w.assign(w.rng.choice(UNARY).format(a=a, n2=w.rng.randint(1, 3)))
        if found and w.rng.random() < 0.3:
            a = found


def changed(w: Writer) -> None:
    """Changes in place, of which some do not fit the dtype."""
    a, b = two(w)
    rng = w.rng
    if rng.random() < 0.5:
        a = w.assign(f"{a}.clone()") or a
    n = rng.choice(NUMBERS)
    forms = [f"{a} += {b}", f"{a} -= {n}", f"{a} *= {b}", f"{a} /= {b}", f"{a} //= {n}", f"{a} **= 2", f"{a} %= 3", f"{a}.add_({b})", f"{a}.mul_({n})", f"{a}.copy_({b})", f"{a}.fill_({n})", f"{a}.zero_()", f"{a}[0] = {n}", f"{a}[...] = {b}", f"{a}[{a} > 0] = {n}",
             f"{a} &= {b}", f"{a} |= {b}", f"{a} ^= {b}", f"{a}.clamp_(0, 2)", f"{a}.sqrt_()", f"{a}.abs_()", f"{a}.neg_()", f"{a}.masked_fill_({a} > 1, {n})", f"{a}.div_({b}, rounding_mode='floor')", f"{a}.pow_(2)", f"{a}.sub_({b})", f"{a}.exp_()",
             f"with torch.no_grad():\n    {a} += {b}", f"{a}.index_fill_(0, torch.tensor([0]), {n})", f"{a}.lerp_({b}, 0.5)"]  # fmt: skip
    for _ in range(rng.randint(1, 3)):
        form = rng.choice(forms)
        if rng.random() < 0.4:
            attempted(w, form)
        else:
            w.statement(form)
    w.assign(f"{a} * 1.5")


def shown(w: Writer) -> None:
    """Printing."""
    a = made(w) if w.rng.random() < 0.7 else w.pick()
    rng = w.rng
    w.statement(
        rng.choice(
            [f"print({a})", f"print({a}.dtype, {a})", f"print([{a}.sum()], {a}.tolist())", f"print({a}.reshape(-1)[0].item())", f"print({a} * 1000000)", f"print({a} / 7)", f"print({a}.type())", f"print({a}.is_floating_point(), {a}.element_size())", f"print({a}.reshape(-1)[:0])",
             f"print(torch.tensor({numbers(w, rng.choice(ALL), 3)}))", "print(torch.tensor([1, 2.5, True]))", "print(torch.tensor([[True, False]]), torch.tensor([1, True]))", f"print({a}.dtype == torch.float64, {a}.dtype is torch.int64)", f"print(torch.tensor({rng.choice(NUMBERS)}).dtype)", f"print({a}.to(torch.float16) / 3)", f"print({a}.to(torch.float32) / 3, {a}.double() / 3)",
             f"print(torch.tensor([1e-5, 1.0, 123456.0], dtype=torch.{rng.choice(FLOATS[:2])}))", f"print(f'{{{a}.reshape(-1)[0].item()}}')", f"print(torch.tensor([1e10, 1.0], dtype=torch.{rng.choice(FLOATS[:2])}))", f"print({a}.bool(), ~{a}.bool())", f"print(int({a}.sum()), float({a}.sum()), bool({a}.sum()))"]
        )
    )  # fmt: skip


def wrapped(w: Writer) -> None:
    """Small ints that overflow, and floats that become ints."""
    rng = w.rng
    dtype = rng.choice(INTS[1:])
    a = w.assign(
        f"torch.tensor({[rng.choice([0, 1, 100, 127, 50]) for _ in range(2)]}, dtype=torch.{dtype})"
    )
    for _ in range(rng.randint(1, 4)):
        w.assign(
            rng.choice(
                [
                    f"{a} + {a}",
                    f"{a} * {a}",
                    f"{a} - 200 + 100",
                    f"-{a}",
                    f"{a} * 3",
                    f"{a}.sum()",
                    f"{a}.prod()",
                    f"{a} ** 2",
                    f"{a}.cumsum(0)",
                    f"{a} // 3",
                    f"{a} % 7",
                    f"{a} / 3",
                    f"{a}.to(torch.int8)",
                    f"{a}.to(torch.uint8)",
                    f"~{a}",
                    f"{a} & 15",
                    f"torch.tensor([1.7, -1.7, 0.5]).to(torch.{dtype if dtype != 'uint8' else 'int8'})",
                    f"({a}.double() * 1.5).to(torch.int32)",
                ]
            )
        )


def differentiated(w: Writer) -> None:
    """Derivatives through casts."""
    rng, x = w.rng, some(w)
    forms = [f"{x}.to(torch.float32).sin().to(torch.float64)", f"{x}.to(torch.float32) * 2", f"{x}.to(torch.float16).sum()", f"({x} * torch.tensor(2, dtype=torch.int8)).sum()", f"{x} * torch.tensor([True])", f"{x}.to(torch.float32) @ {x}.to(torch.float32) if {x}.dim() == 1 else {x}.sum()",
             f"torch.where({x} > 0, {x}, torch.tensor(1, dtype=torch.int32))", f"{x} + torch.ones(1, dtype=torch.float32)", f"torch.cat([{x}.reshape(-1), torch.ones(2, dtype=torch.int64)])", f"{x} ** torch.tensor(2)", f"{x}.double() * {x}.to(torch.float32)", f"{x}.round().to(torch.int64) * {x}", f"torch.stack([{x}.sum(), {x}.to(torch.float32).sum()])", f"{x} * ({x} > 0)", f"{x}.long().double() * {x}"]  # fmt: skip
    y = w.assign(rng.choice(forms))
    if y and rng.random() < 0.4:
        w.statement(
            f"print(torch.autograd.grad(({y} * 1.0).sum(), {w.pick(lambda t: t.is_leaf and t.requires_grad) or x}, retain_graph=True, allow_unused=True)[0])"
        )


def accumulated(w: Writer) -> None:
    """Sums of several dtypes in loops and lists."""
    rng = w.rng
    a, x = made(w), some(w)
    t = w.name()
    w.statement(
        rng.choice(
            [
                f"{t} = 0\nfor u in {a}.reshape(-1):\n    {t} = {t} + u * {rng.choice(NUMBERS)}",
                f"{t} = sum({a}.reshape(-1).tolist())",
                f"{t} = torch.tensor(0, dtype={a}.dtype)\nfor i in range(3):\n    {t} = {t} + i * {rng.choice(['1', '0.5', a + '.sum()'])}",
                f"{t} = max({a}.reshape(-1).tolist()) + {x}.sum()",
                f"{t} = torch.tensor([{a}.sum().item(), 2.5])",
                f"{t} = {x}[{a}.reshape(-1)[:1].long() * 0] if {x}.dim() else {x}",
                f"{t} = round({a}.sum().item(), 2) * {x}",
            ]
        )
    )
    names = w.tensors(floating)
    w.assign(f"{rng.choice(names)} * {a}")


STATEMENTS = (
    promoted,
    promoted,
    promoted,
    reduced,
    reduced,
    changed,
    changed,
    shown,
    wrapped,
    differentiated,
    differentiated,
    accumulated,
)
