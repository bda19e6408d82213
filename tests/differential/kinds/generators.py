"""Programs with generators: `yield`, `yield from`, `send`, `throw`, `close`, comprehensions."""

from __future__ import annotations

from ..expressions import number
from ..writer import Writer
from .formulas import condition, formula, lines, pair, some


def simple(w: Writer) -> None:
    """A generator of tensors, and what takes from it."""
    rng, (a, b) = w.rng, pair(w)
    g, turns = w.name("g"), rng.randint(0, 4)
    step = rng.choice(
        [
            f"u = {formula(w, ['u'], ['i', 'k'])}",
            f"if {condition(w, 'u')}:\n            u = u * 0.5\n        else:\n            u = u + k",
        ]
    )
    leave = rng.choice(
        [
            "",
            "",
            "        if i == 2:\n            return",
            "        if i == 1:\n            continue",
            "        if i == 3:\n            break",
        ]
    )
    w.statement(lines(f"def {g}(u, k={number(w)}, n={turns}):", f"    for i in range({rng.choice(['n', 'n', '1, n'])}):", f"        {step}", leave,
                      f"        yield {rng.choice(['u', 'u', 'u * k', 'u + i'])}"))  # fmt: skip
    call = f"{g}({a})"
    forms = [f"sum({call})", f"sum({call}, {b})", f"sum(u * i for i, u in enumerate({call}))", f"torch.stack(list({g}({a}, n=2))).sum(0)",
             f"sum(u * v for u, v in zip({call}, {g}({b}, 0.5)))", f"next({call}, {b})", f"next({call})", f"sum(list({call})[1:])",
             f"sum(map(torch.sin, {call}))", f"sum(u for u in {call} if {condition(w, 'u')})", f"sum([u.sum() for u in {call}])",
             f"[*{call}][-1]", f"torch.cat([u.reshape(-1) for u in {g}({a}, n=3)])", f"max(u.sum() for u in {g}({a}, n=2))",
             f"sum(u.sum() * v for u, v in zip({call}, range(5)))", f"torch.stack(tuple({g}({b}, n=2)))[0]",
             f"{{i: u for i, u in enumerate({g}({a}, n=2))}}[1]"]  # fmt: skip
    for _ in range(rng.randint(1, 3)):
        w.assign(rng.choice(forms))
    tests = [f"any(bool((u > 1).any()) for u in {call})", f"all(bool((u < 2).all()) for u in {call})", f"len(list({call}))",
             f"[round(u.sum().item(), 3) for u in {call}]", f"sorted(round(u.sum().item(), 3) for u in {call})",
             f"sum(1 for _ in {call})", f"list({call}) == []", f"type({call}).__name__"]  # fmt: skip
    w.statement(f"print({rng.choice(tests)})")
    if rng.random() < 0.4:
        t, it = w.name(), w.name("it")
        w.statement(f"{it} = {call}")
        w.statement(
            f"{t} = {b}\nfor u in {it}:\n    {t} = {formula(w, [t, 'u'], (), 1)}\n    {rng.choice(['break', 'pass', f'if {condition(w, t)}: break'])}"
        )
        w.assign(f"sum({it}, {t})")
        w.statement(f"print(next({it}, 'done'))")


def talking(w: Writer) -> None:
    """`send`, `throw`, `close`, and what a generator does then."""
    rng, (a, b) = w.rng, pair(w)
    g, it = w.name("g"), w.name("it")
    w.statement(
        lines(
            f"def {g}(u):", "    got = None", "    try:", f"        for i in range({rng.randint(2, 5)}):",
            *(["            try:", "                got = yield u", "            except ValueError as e:", "                print('in', repr(e))", "                got = u * 2"]
              if rng.random() < 0.5 else ["            got = yield u"]),
            "            if got is not None:", f"                u = {formula(w, ['u', 'got'], (), 1)}",
            f"            else:\n                u = {formula(w, ['u'], (), 1)}",
            *(["    finally:", "        print('closed', got is None)"] if rng.random() < 0.6 else ["    except ZeroDivisionError:", "        print('never')"]),
            rng.choice(["", "    return u * 3"]),
        )
    )  # fmt: skip
    w.statement(f"{it} = {g}({a})")
    w.assign(f"next({it})")
    for _ in range(rng.randint(1, 4)):
        t = w.name()
        w.statement(rng.choice([
            f"{t} = {it}.send({b})", f"{t} = {it}.send(None)", f"{t} = next({it}, {a})", f"{it}.close()",
            f"try:\n    {t} = {it}.throw(ValueError('thrown'))\nexcept ValueError as e:\n    print(repr(e))",
            f"try:\n    {t} = {it}.throw(KeyError('k'))\nexcept (KeyError, StopIteration) as e:\n    print(type(e).__name__)",
            f"try:\n    {t} = {it}.send({b} * 0.5)\nexcept StopIteration:\n    {t} = {a}",
        ]))  # fmt: skip
    w.statement(f"print(len(list({it})))")


def delegating(w: Writer) -> None:
    """`yield from`, with results, of trees, and of other things than generators."""
    rng, (a, b) = w.rng, pair(w)
    f, g = w.name("g"), w.name("g")
    w.statement(lines(f"def {f}(u, n):", "    total = u * 0", "    for i in range(n):", "        total = total + u * i", f"        yield {formula(w, ['u'], ['i'], 1)}",
                      f"    return {rng.choice(['total', 'total * 2', 'n'])}"))  # fmt: skip
    w.statement(lines(f"def {g}(u):", f"    r = yield from {f}(u, {rng.randint(0, 3)})", f"    yield r * {number(w)}",
                      rng.choice(["", "    yield from [u, u * 2]", f"    yield from (v * 0.5 for v in {f}(u, 2))", "    yield from range(2)", "    yield u"]),
                      rng.choice(["", f"    if {condition(w, 'u')}:\n        yield from {f}(u * 0.5, 1)"])))  # fmt: skip
    w.assign(
        rng.choice(
            [
                f"sum({g}({a}))",
                f"sum({g}({a}), {b})",
                f"list({g}({a}))[-1] * {b}",
                f"sum(v * k for k, v in enumerate({g}({a}), 1))",
            ]
        )
    )
    if rng.random() < 0.5:
        t = w.name("tree")
        w.statement(lines(f"def {t}(node):", "    if isinstance(node, (list, tuple)):", "        for child in node:", f"            yield from {t}(child)",
                          "    elif isinstance(node, dict):", "        for key in sorted(node):", f"            yield from {t}(node[key])",
                          "    else:", "        yield node"))  # fmt: skip
        w.assign(
            f"sum(v * (i + 1) for i, v in enumerate({t}([{a}, ({b}, [{number(w)}]), {{'k': {a}, 'b': [{b}]}}])))"
        )
        w.statement(f"print(list({t}([1, [2, (3,)], {{'z': 4, 'a': []}}, 'x'])))")


def comprehended(w: Writer) -> None:
    """Comprehensions of all kinds, nested, with conditions, over all that `for` goes over."""
    rng, (a, b) = w.rng, pair(w)
    n = rng.randint(1, 4)
    forms = [f"sum([{formula(w, [a], ['k'], 1)} for k in range({n})])", f"sum({a} * i * j for i in range({n}) for j in range(i))",
             f"sum(u * k for k, u in enumerate([{a}, {b}]) if k != {rng.randint(0, 2)})", f"sum({{k: {a} * k for k in range({n})}}.values())",
             f"torch.stack([{a} * k for k in (1, 2)]).mean(0)", f"sum(sum({b} * j for j in range(i)) for i in range(1, {n} + 1))",
             f"sum(({a} if k % 2 else {b}) * k for k in range({n}))", f"sum(v for row in [[{a}, {b}], [{b}]] for v in row)",
             f"sum(f({a}) for f in [torch.sin, lambda u: u * 2, torch.tanh])", f"sum(u.sum() for u in {a}.reshape(-1))",
             f"sum(x * y for x, y in zip({a}.reshape(-1), reversed(range(4))))", f"sum({a} * (lambda q: q * k)(2) for k in range({n}))",
             f"sum(u * v for (u, v), w in [(({a}, 2), 1), (({b}, 3), 2)])"]  # fmt: skip
    w.assign(rng.choice(forms))
    w.assign(rng.choice(forms))
    shown = ["[i * j for i in range(3) for j in range(3) if i != j]", "{i % 3 for i in range(7)}", "{str(k): [k] * k for k in range(3)}", "[[j for j in range(i)] for i in range(4)]",
             "list(zip('abc', range(2)))", "dict(zip('ab', [1, 2]))", "[x for x in 'hello' if x > 'f']", f"[tuple(u.shape) for u in ({a}, {b})]", "sorted({3, 1, 2}, reverse=True)",
             "[*range(3), *(i * i for i in range(3))]", "list(map(lambda p, q: p + q, [1, 2], [3, 4]))", "list(filter(None, [0, 1, '', 'a', [], [0]]))",
             "sum(i for i in range(10) if i % 2 == 0)", "any(i > 3 for i in range(5)), all([])", "{**{'a': 1}, **{k: 2 for k in 'bc'}}"]  # fmt: skip
    w.statement(f"print({rng.choice(shown)})")


def itertools(w: Writer) -> None:
    """The functions of `itertools` and `functools`."""
    rng, (a, b) = w.rng, pair(w)
    w.statement("import itertools")
    w.statement("import functools")
    g = w.name("g")
    w.statement(
        lines(
            f"def {g}(u):",
            "    while True:",
            "        yield u",
            f"        u = {formula(w, ['u'], (), 1)} * 0.9",
        )
    )
    forms = [f"sum(itertools.islice({g}({a}), {rng.randint(0, 4)}), {b})", f"sum(u * k for u, k in zip({g}({a}), range(3)))",
             f"functools.reduce(lambda p, q: p * 0.5 + q, itertools.islice({g}({a}), 3))", f"sum(itertools.chain([{a}], itertools.islice({g}({b}), 2)))",
             f"list(itertools.accumulate([{a}, {b}, {a}]))[-1]", f"list(itertools.accumulate([{a}, {b}], lambda p, q: p * q))[1]",
             f"sum(p * q for p, q in itertools.combinations([{a}, {b}, {a} * 2], 2))", f"sum(p - q for p, q in itertools.permutations([{a}, {b}]))",
             f"sum(p * q for p, q in itertools.product([{a}, {b}], [1, 2]))", f"sum(u * k for k, u in zip(itertools.count(1), [{a}, {b}]))",
             f"sum(itertools.islice(itertools.cycle([{a}, {b}]), 3))", f"sum(itertools.repeat({a}, 2))", f"functools.partial(torch.add, {a}, alpha=2)({b})",
             f"sum(u * v for u, v in itertools.zip_longest([{a}, {b}], [1.5], fillvalue=2))", f"functools.reduce(torch.mul, [{a}, {b}, {a}], {number(w)})"]  # fmt: skip
    for _ in range(rng.randint(1, 3)):
        w.assign(rng.choice(forms))
    w.statement(
        f"print({rng.choice(['list(itertools.product([1, 2], repeat=2))', 'list(itertools.combinations(range(4), 3))', 'list(itertools.chain([1], (2,), {3}))', 'list(itertools.accumulate([1, 2, 3]))', 'list(itertools.islice(itertools.count(5, 3), 1, 8, 2))', 'list(itertools.permutations([1, 2, 3], 2))'])})"
    )


def iterated(w: Writer) -> None:
    """Classes that can be iterated over, by a generator or by `__next__`."""
    rng, (a, b) = w.rng, pair(w)
    n, o = w.name("I"), w.name("o")
    if rng.random() < 0.5:
        w.statement(lines(f"class {n}:", "    def __init__(self, u, n):", "        self.u, self.n = u, n", "    def __iter__(self):", "        for i in range(self.n):",
                          f"            yield {formula(w, ['self.u'], ['i'], 1)}"))  # fmt: skip
    else:
        w.statement(lines(f"class {n}:", "    def __init__(self, u, n):", "        self.u, self.n, self.i = u, n, 0", "    def __iter__(self):", f"        {rng.choice(['self.i = 0', 'pass'])}", "        return self",
                          "    def __next__(self):", "        if self.i >= self.n:", "            raise StopIteration", "        self.i += 1", f"        return {formula(w, ['self.u'], ['self.i'], 1)}"))  # fmt: skip
    w.statement(f"{o} = {n}({a}, {rng.randint(0, 3)})")
    for _ in range(2):
        w.assign(
            rng.choice(
                [
                    f"sum({o})",
                    f"sum({o}, {b})",
                    f"sum(u * k for k, u in enumerate({o}))",
                    f"sum(u * v for u, v in zip({o}, {o}))",
                    f"next(iter({o}), {b})",
                    f"sum([*{o}, {b}])",
                ]
            )
        )
    w.statement(f"print(len(list({o})), [tuple(u.shape) for u in {o}])")


def graded(w: Writer) -> None:
    """Generators that record or do not, and derivatives of what they give."""
    rng, a = w.rng, some(w)
    g = w.name("g")
    kind = rng.randrange(4)
    if kind == 0:
        w.statement(
            lines(
                "@torch.no_grad()",
                f"def {g}(u):",
                f"    yield {formula(w, ['u'])}",
                "    yield torch.is_grad_enabled()",
                "    yield u * 2",
            )
        )
        t = w.name()
        w.statement(
            f"{t}, on, other = {g}({a})\nprint({t}.requires_grad, on, torch.is_grad_enabled())"
        )
        w.assign(f"{t} * {a}")
    elif kind == 1:
        w.statement(
            lines(
                f"def {g}(u):",
                "    with torch.no_grad():",
                f"        held = {formula(w, ['u'])}",
                "    yield held",
                "    yield held * u",
            )
        )
        w.assign(f"sum({g}({a}))")
    elif kind == 2:
        w.statement(
            lines(
                f"def {g}(u, n):",
                "    for i in range(n):",
                f"        u = {formula(w, ['u'], ['i'], 1)}",
                "        yield u",
            )
        )
        w.assign(rng.choice([f"torch.func.grad(lambda q: sum(v.sum() for v in {g}(q, 2)))({a})", f"torch.func.jvp(lambda q: sum({g}(q, 2)), ({a},), (torch.ones_like({a}),))[1]",
                             f"torch.func.jacrev(lambda q: sum({g}(q, 3)))({a})", f"torch.autograd.grad(sum(v.sum() for v in {g}({a}, 2)), {a}, create_graph=True)[0]"]))  # fmt: skip
    else:
        w.statement("import contextlib")
        w.statement(
            lines(
                "@contextlib.contextmanager",
                f"def {g}(u):",
                "    print('enter')",
                "    try:",
                f"        yield {formula(w, ['u'])}",
                "    finally:",
                "        print('leave')",
            )
        )
        t = w.name()
        w.statement(
            f"with {g}({a}) as held:\n    {t} = held * {a}{rng.choice(['', chr(10) + '    print(tuple(held.shape))'])}"
        )


def pipelined(w: Writer) -> None:
    """Generators that feed one another."""
    rng, (a, b) = w.rng, pair(w)
    f, g, h = (w.name("g") for _ in range(3))
    w.statement(lines(f"def {f}(u, n):", "    for i in range(n):", "        yield i, u * i"))
    w.statement(lines(f"def {g}(source):", "    for i, u in source:", f"        if i % 2 == {rng.randint(0, 1)}:", f"            yield {formula(w, ['u'], ['i'], 1)}",
                      *(["        else:", "            yield u - 1"] if rng.random() < 0.5 else [])))  # fmt: skip
    w.statement(
        lines(
            f"def {h}(source):",
            "    last = None",
            "    for u in source:",
            "        if last is not None:",
            f"            yield {formula(w, ['u', 'last'], (), 1)}",
            "        last = u",
        )
    )
    w.assign(f"sum({h}({g}({f}({a}, {rng.randint(1, 6)}))), {b})")
    w.assign(f"sum({g}({f}({b}, {rng.randint(1, 4)})), {a})")


STATEMENTS = (
    simple,
    simple,
    simple,
    talking,
    talking,
    delegating,
    delegating,
    comprehended,
    itertools,
    iterated,
    graded,
    pipelined,
)
