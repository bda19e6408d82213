"""Record what PyTorch prints: `python tests/autodiff/reference/record.py`, with PyTorch 2.13 installed.

Random programs of hooks, `retain_grad`, updates in place, `backward` with all its options and `grad`
of tensors; `tests/autodiff/test_hooks.py` compares. The same seed gives the same bytes. Left out are
programs in which a hook stands on a result that nobody used (PyTorch calls it with None, which is
not done here), and those that ask for the gradient by a hooked tensor and by what it was made from
in one call (PyTorch leaves the hook out then, and only then).
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import warnings
from pathlib import Path

import torch

HERE = Path(__file__).parent
PROGRAMS = 250
LEAVES = ["x", "y"]


def program(rng: random.Random) -> list[str]:
    """The lines of a random program."""
    lines = [
        "x = torch.tensor([1.0, 2.0], requires_grad=True)",
        "y = torch.tensor([0.5, -1.5], requires_grad=True)",
    ]
    made: list[str] = []
    parts: list[str] = []  # results of an op of several, which PyTorch does not change in place
    for i in range(rng.randint(2, 4)):
        a, b = rng.choice([*LEAVES, *made]), rng.choice([*LEAVES, *made])
        if rng.random() < 0.15:
            lines.append(f"v{i}, w{i} = torch.cat([{a}, {b}]).split(2)")
            parts += [f"v{i}", f"w{i}"]
            made += [f"v{i}", f"w{i}"]
        else:
            lines.append(f"v{i} = {_made_of(a, b, rng)}")
            made.append(f"v{i}")
        for _ in range(rng.randint(0, 2)):
            lines += _done_to(rng.choice([*LEAVES, *made]), made, parts, rng)
    used = [name for name in made if rng.random() < 0.8] or made[-1:]
    lines.append("out = " + " + ".join(f"({n} * {i + 1}).sum()" for i, n in enumerate(used)))
    if rng.random() < 0.2:
        lines.append("out.retain_grad()")
    for _ in range(rng.randint(1, 3)):
        lines += _asked([*LEAVES, *made], rng)
    lines.append("print(" + ", ".join(f"{n}.grad" for n in ["out", *LEAVES, *made]) + ")")
    return lines


def _made_of(a: str, b: str, rng: random.Random) -> str:
    return rng.choice([f"{a} * {b}", f"{a} + 2 * {b}", f"{a} ** 3", f"{a}.sin() * {b}", f"{a} * 3"])


def _done_to(name: str, made: list[str], parts: list[str], rng: random.Random) -> list[str]:
    """Lines that hook, retain or change a tensor."""
    choice = rng.random()
    if choice < 0.3:
        return [f"{name}.retain_grad()"]
    if choice < 0.55:
        return [f"{name}.register_hook(lambda g: g * {rng.choice([2, 10])})"]
    if choice < 0.65:
        return [f"{name}.register_hook(lambda g: print('{name}', g))"]
    if choice < 0.7:
        return [f"h = {name}.register_hook(lambda g: g + 1)", "h.remove()"]
    if name not in made or name in parts:
        return []
    return [f"{name} *= {rng.choice(['3', 'x'])}" if choice < 0.85 else f"{name} += 1"]


def _asked(names: list[str], rng: random.Random) -> list[str]:
    """Lines that differentiate."""
    options = []
    if rng.random() < 0.6:
        options.append("retain_graph=True")
    if rng.random() < 0.35:
        options.append("create_graph=True")
    if rng.random() < 0.7:
        if rng.random() < 0.4:
            options.append(f"inputs=[{', '.join(rng.sample(names, rng.randint(1, 2)))}]")
        lines = [f"out.backward({', '.join(options)})"]
    else:
        options.append("allow_unused=True")
        targets = ", ".join(rng.sample(names, rng.randint(1, 2)))
        lines = [f"print(torch.autograd.grad(out, [{targets}], {', '.join(options)}))"]
    if rng.random() < 0.25:
        lines.append("if x.grad is not None and x.grad.requires_grad: x.grad.sum().backward()")
    return lines


def printed(lines: list[str]) -> str | None:
    """What PyTorch prints, or None where it refuses."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec("\n".join(lines), {"torch": torch})  # a program of this file
        except RuntimeError:
            return None
        except TypeError:  # a hook that got None
            return "None\n"
    return text.getvalue()


def is_known(lines: list[str], text: str | None) -> bool:
    """Whether a program is one of those that are left out."""
    text = text or ""
    hooked = {line.split(".")[0] for line in lines if "register_hook" in line}
    asked = [
        re.findall(r"\w+", line.split("[")[1].split("]")[0]) for line in lines if ".grad(" in line
    ]
    unused = re.search(r"^(\w\d )?None$", text, re.MULTILINE)
    return bool(unused) or any(len(a) == 2 and hooked & {*a} for a in asked)


def main() -> None:
    torch.set_default_dtype(torch.float64)
    rng = random.Random(11)
    rows = []
    while len(rows) < PROGRAMS:
        lines = program(rng)
        text = printed(lines)
        if not is_known(lines, text) and (text is not None or rng.random() < 0.3):
            rows.append(json.dumps([lines, text]))
    (HERE / "hooks.json").write_text("[\n" + ",\n".join(rows) + "\n]\n", "utf-8")


if __name__ == "__main__":
    main()
