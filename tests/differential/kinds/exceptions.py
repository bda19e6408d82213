"""Programs with exceptions: raised, caught, chained, in loops, of the program and of torch."""

from __future__ import annotations

from ..expressions import number
from ..writer import Writer
from .formulas import condition, formula, lines, some

OF_PYTHON = (
    "ValueError", "KeyError", "TypeError", "RuntimeError", "IndexError", "ZeroDivisionError", "AttributeError",
    "NotImplementedError", "StopIteration", "ArithmeticError", "LookupError", "AssertionError", "OverflowError",
    "Exception", "NameError",
)  # fmt: skip
SORTS = {  # what an exception is, too
    "KeyError": "LookupError", "IndexError": "LookupError", "ZeroDivisionError": "ArithmeticError",
    "OverflowError": "ArithmeticError", "NotImplementedError": "RuntimeError",
}  # fmt: skip


def failing(w: Writer, x: str) -> str:
    """A statement that fails in PyTorch or Python."""
    return w.rng.choice(
        [
            f"{x}.reshape(-1)[{w.rng.randint(50, 90)}]", f"{x} + torch.ones(97)", f"{x} @ torch.ones(53, 2)",
            f"{x}.reshape(-1).view(7, 13)", "{'a': 1}['b']", "[1, 2][5]", "1 // 0", "5 % 0", "int('a')", "float('x')",
            f"getattr({x}, 'nothing_there')", "None + 1", "'a' + 1", "assert False", "assert 1 > 2, 'no'", "next(iter([]))",
            f"torch.cat([{x}.reshape(1, -1), torch.ones(2, 2, 2)])",
             "torch.tensor([1, 2]).requires_grad_()", "torch.ones(3).backward()",
            f"{x}.sum(dim=9)", "torch.tensor([1.0, 2.0]).item()", "[].pop()", "{1, 2}.remove(3)", "[1].index(2)",
            "bool(torch.ones(2))", "torch.ones(2).expand(3)", "raise ValueError('by hand')", "a, b = [1, 2, 3]",
            "a, b = [1]", "torch.stack([torch.ones(2), torch.ones(3)])", "getattr([], 'foo')", "undefined_name + 1", "len(5)",
            "max([])", "'abc'.index('z')", "torch.zeros(2)[torch.tensor([3])]", "torch.arange(3)[1.5]", "iter(3)",
            "for _ in 5: pass", "{}.popitem()", "(lambda u: u)()", "torch.ones(2, 3).T.view(6)", "range(0)[0]",
            "[3, 1][None]", "chr(-1)", "'%d' % 'a'", "'{}'.format()", "(1, 2)[2]", "{[]: 1}", "reversed(3)",
        ]
    )  # fmt: skip


def kinds_of(w: Writer) -> str:
    """What an `except` names."""
    rng = w.rng
    form = rng.randrange(5)
    if form == 0:
        return " " + rng.choice(["Exception", "Exception as e", "BaseException as e"])
    if form == 1:
        return f" ({', '.join(rng.sample(OF_PYTHON, 2))}) as e"
    if form == 2:
        return " " + rng.choice(list(SORTS.values())) + " as e"
    return f" {rng.choice(OF_PYTHON)} as e"


def caught(w: Writer) -> None:
    """An error of torch or Python, caught by its kind or not, with all parts of `try`."""
    rng, x = w.rng, some(w)
    t = w.name()
    told = ["print(type(e).__name__)", "print(isinstance(e, (LookupError, ArithmeticError)))", "pass",
            "print(isinstance(e, RuntimeError), isinstance(e, ValueError))"]  # fmt: skip
    parts = [f"{t} = {x} * 1", "try:", f"    {t} = {formula(w, [x])}"]
    if rng.random() < 0.85:
        parts += [f"    {failing(w, x)}"]
    parts += [f"    {t} = {t} * 2"]
    for _ in range(rng.randint(0, 2)):
        kinds = kinds_of(w)
        parts += [f"except{kinds}:", f"    {t} = {t} + {number(w)}"]
        parts += [f"    {rng.choice(told)}"] if " as " in kinds else []
    if rng.random() < 0.7:
        parts += [
            "except Exception as e:",
            f"    {rng.choice(told)}",
            f"    {t} = {formula(w, [t], (), 1)}",
        ]
    if any(p.startswith("except") for p in parts) and rng.random() < 0.4:
        parts += ["else:", f"    {t} = {t} - {number(w)}"]
    if rng.random() < 0.4 or not any(p.startswith("except") for p in parts):
        parts += ["finally:", f"    {t} = {t} + 0.25", "    print('finally')"]
    w.statement(lines(*parts))


def own(w: Writer) -> None:
    """Own classes of exceptions, with attributes and bases, raised in functions."""
    rng, x = w.rng, some(w)
    base, kind, f, t = w.name("Base"), w.name("Bad"), w.name("f"), w.name()
    w.statement(f"class {base}({rng.choice(OF_PYTHON)}):\n    pass")
    w.statement(
        lines(
            f"class {kind}({base}):",
            rng.choice([
                "    pass", f"    level = {number(w)}",
                "    def __init__(self, message, amount=2.0):\n        super().__init__(message)\n        self.amount = amount",
                "    def __str__(self):\n        return 'told: ' + str(self.args)",
                "    def __init__(self, *args):\n        super().__init__(*args)\n        self.count = len(args)",
            ]),
        )
    )  # fmt: skip
    raised = rng.choice(
        [
            f"{kind}('bad')",
            f"{kind}('bad', 3)",
            kind,
            f"{base}('plain')",
            f"{base}()",
            f"{kind}(u.sum())",
        ]
    )
    w.statement(
        lines(
            f"def {f}(u, deep=1):", "    if deep > 0:", f"        return {f}(u * 0.5, deep - 1) + 1",
            f"    if {condition(w, 'u')}:", f"        raise {raised}", f"    return {formula(w, ['u'])}",
        )
    )  # fmt: skip
    told = ["str(e), repr(e)", "e.args", "type(e).__name__, len(e.args)", f"isinstance(e, {base})",
            "getattr(e, 'amount', None), getattr(e, 'count', 0)", "e", "f'{e}'", "[e.args[:1]]"]  # fmt: skip
    w.statement(
        lines(
            f"{t} = {x}", "try:", f"    {t} = {f}({x}, {rng.randint(0, 3)})", f"except {rng.choice([kind, base, base, 'Exception'])} as e:",
            f"    print({rng.choice(told)})", f"    {t} = {formula(w, [x], (), 1)}",
            *(["else:", f"    {t} = {t} * 3"] if rng.random() < 0.5 else []),
            *(["finally:", f"    {t} = {t} - 1"] if rng.random() < 0.5 else []),
        )
    )  # fmt: skip


def chained(w: Writer) -> None:
    """`raise ... from`, raised again, raised in an `except`."""
    rng, x = w.rng, some(w)
    t = w.name()
    first, second = rng.choice(OF_PYTHON), rng.choice(OF_PYTHON)
    again = rng.choice(
        [
            f"raise {second}('second') from e",
            "raise",
            "raise e",
            f"raise {second}('second') from None",
            f"raise {second}",
        ]
    )
    told = rng.choice(["type(d).__name__, d.args", "repr(d)", "str(d)", "d.args[:1]"])  # fmt: skip
    w.statement(
        lines(
            f"{t} = {x} * 1", "try:", "    try:", f"        {t} = {formula(w, [x])}", f"        raise {first}('first', {number(w)})",
            f"    except {rng.choice([first, SORTS.get(first, 'Exception'), 'Exception'])} as e:", f"        {t} = {t} * 2", f"        {again}",
            *(["    finally:", f"        {t} = {t} + 1"] if rng.random() < 0.5 else []),
            f"except {rng.choice([second, 'Exception', 'Exception'])} as d:", f"    print({told})", f"    {t} = {formula(w, [t], (), 1)}",
        )
    )  # fmt: skip


def looped(w: Writer) -> None:
    """`break`, `continue` and `return` out of the parts of `try`, in loops."""
    rng, x = w.rng, some(w)
    f, t = w.name("f"), w.name()
    leave = [
        "break",
        "continue",
        "pass",
        "return u",
        "raise ValueError('in loop')",
        "u = u * 0.5",
        "raise KeyError(i)",
        "log.append(i)",
    ]
    w.statement(
        lines(
            f"def {f}(u):", "    log = []", f"    for i in range({rng.randint(1, 5)}):", "        try:", f"            u = {formula(w, ['u'], ['i'])}",
            f"            if i == {rng.randint(0, 3)}:", f"                {rng.choice(leave)}", f"            if {condition(w, 'u')}:",
            f"                {rng.choice(leave)}", f"        except {rng.choice(['ValueError', 'KeyError', 'Exception', '(ValueError, KeyError)'])}:",
            "            log.append('caught')", f"            {rng.choice(leave)}",
            *(["        else:", "            log.append('else')", f"            {rng.choice(leave)}"] if rng.random() < 0.4 else []),
            *(["        finally:", "            log.append('finally')", f"            {rng.choice(['pass', 'u = u + 1', 'if i == 2: break', 'if i == 1: return u'])}"]
              if rng.random() < 0.6 else []),
            *(["    else:", "        u = u - 1"] if rng.random() < 0.3 else []), "    print(log)", "    return u",
        )
    )  # fmt: skip
    w.statement(
        f"try:\n    {t} = {f}({x})\nexcept Exception as e:\n    print(repr(e))\n    {t} = {x}"
    )


def tensors(w: Writer) -> None:
    """What autograd refuses, caught, and the state that is left."""
    rng, x = w.rng, some(w)
    t, u = w.name(), w.name()
    w.statement(f"{t} = {x}.detach().clone().requires_grad_()")
    bad = rng.choice([
        f"{t}.add_(1)", f"{t} += 1", f"({t} * 2).backward() if {t}.dim() else ({t}.detach() * 2).backward()",
        f"{u}.backward()\n    {u}.backward()", f"torch.exp({t}).mul_(2).sum().backward()",
        f"y = torch.exp({t})\n    y += 1\n    y.sum().backward()", f"torch.autograd.grad({u}, [torch.ones(1, requires_grad=True)])",
        f"{t}.data.add_(1)\n    raise RuntimeError('after')", f"with torch.no_grad():\n        {t} += 1\n        raise ValueError('left')",
        f"{t}.view(-1, 31)", f"{t}.detach().backward()", f"torch.autograd.grad({t}.detach().sum(), {t})", f"{t}.grad.zero_()",
    ])  # fmt: skip
    w.statement(f"{u} = ({formula(w, [t])}).sum()")
    w.statement(
        f"try:\n    {bad}\nexcept {rng.choice(['RuntimeError', 'Exception', 'ValueError', '(RuntimeError, AttributeError, ValueError)'])} as e:\n    print(type(e).__name__)"
    )
    w.statement(f"print(torch.is_grad_enabled(), {t}.grad is None, {t})")
    w.assign(f"{t} * {x}")


def nested(w: Writer) -> None:
    """`try` in `try`, in functions that call one another, with contexts and generators."""
    rng, x = w.rng, some(w)
    f, g, t = w.name("f"), w.name("g"), w.name()
    w.statement(lines(f"def {f}(u, kind):", "    try:", f"        if kind == 0:\n            raise {rng.choice(OF_PYTHON[:5])}('zero')",
                      "        if kind == 1:\n            return u * 2", f"        if kind == 2:\n            {failing(w, 'u')}", f"        return {formula(w, ['u'])}",
                      f"    except {rng.choice(['ValueError', 'LookupError', 'RuntimeError'])}:", f"        return u - {number(w)}", "    finally:",
                      f"        print('left', kind){rng.choice(['', chr(10) + '        if kind == 3: return u * 7'])}"))  # fmt: skip
    w.statement(lines(f"def {g}(u):", "    total = u * 0", f"    for kind in range({rng.randint(1, 4)}):", "        try:",
                      f"            total = total + {f}(u, kind)", "        except Exception as e:", "            print('outer', type(e).__name__)",
                      f"            {rng.choice(['total = total + 1', 'continue', 'break', 'pass'])}",
                      *(["        else:", "            total = total * 1.5"] if rng.random() < 0.5 else []), "    return total"))  # fmt: skip
    w.assign(f"{g}({x})")
    if rng.random() < 0.4:
        w.statement(f"{t} = torch.func.grad(lambda u: {g}(u).sum())({x})")


def uncaught(w: Writer) -> None:
    """An error that ends the program, rarely."""
    if w.rng.random() < 0.15:
        x = some(w)
        w.statement(w.rng.choice([f"print({x})\n{failing(w, x)}", f"raise {w.rng.choice(OF_PYTHON)}('the end')",
                                  f"try:\n    pass\nfinally:\n    {failing(w, x)}"]))  # fmt: skip


STATEMENTS = (
    caught,
    caught,
    caught,
    own,
    own,
    chained,
    chained,
    looped,
    looped,
    tensors,
    nested,
    uncaught,
)
