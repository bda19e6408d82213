"""Programs specialized and run as Python code, beside the interpreter: bit for bit."""

import random
import tracemalloc
from itertools import product

import pytest
from support.checks.amounts import chunks
from support.checks.by_family import by_family
from support.checks.compiled_agreement import Refused, compiled, gradients, interpreted, outcome
from support.programs.sample_programs import SAMPLES
from support.programs.scalar_programs import Writer

from gradcli.engine.compile.control import Left
from gradcli.engine.compile.text import text
from gradcli.engine.ops.catalog import ops
from gradcli.errors import GradError, ProgramError
from gradcli.program import load

GIVEN = {"x": 0.7, "b": -1.25, "n": 3}
HEAD = "input x = 0.7\ninput b = -1.25\ninput n: int = 3\n"


def agrees(body, given=GIVEN):
    return outcome(HEAD + body, given)


PROGRAMS = {
    "known things are gone": "k = 3\nxs = [k, k + 1]\nlen(xs) * x + xs[1]",
    "a branch": "if x > b:\n    y = x\nelse:\n    y = b * 2\ny",
    "a branch without an else": "y = x\nif x > b:\n    y = y * 2\ny",
    "a name that both sides make": "if x > b:\n    t = 1\n    y = x * t\nelse:\n    y = 2.0\ny",
    "a name that one side makes": "if x > b:\n    y = 2.0\ny",
    "a side that raises nothing": "y = x\nif x > 100:\n    assert False\ny",
    "several returns": "def f(a):\n    if a > 1:\n        return a\n    if a < 0:\n        return -a\n"
    "    return a * 2\n[f(x), f(b), f(3.0)]",
    "a return in a loop": "def f(a):\n    for i in range(100):\n        if a > 50:\n"
    "            return a * i\n        a = a * 2 + 1\n    return a\n[f(x), f(b)]",
    "a return in a loop in a loop": "def f(a):\n    for i in range(60):\n        for j in range(n):\n"
    "            if a > 50:\n                return a * i + j\n            a = a * 2 + 1\n"
    "    return a\n[f(x), f(b)]",
    "a loop": "y = x\nfor i in range(500):\n    y = sin(x * y) + y\ny",
    "a loop of no turn": "y = x\nfor i in range(n - 3):\n    y = y * 2\ny",
    "a range with a step": "y = x\nfor i in range(n * 40, n, -7):\n    y = y * 0.5 + i\n[y, i]",
    "the variable of a loop behind it": "for i in range(n + 50):\n    y = x * i\n[y, i]",
    "a while": "y = x\nk = 0\nwhile abs(y) < 100:\n    y = y * 1.5\n    k += 1\n[y, k]",
    "a while that is known": "k = 0\ny = x\nwhile k < 5:\n    k += 1\n    y = y * k\n[y, k]",
    "a while that leaves in the middle": "y = x\nwhile True:\n    y = y + 1\n    if y > 9:\n"
    "        break\n    if y < 5:\n        continue\n    y = y * 1.01\ny",
    "a break of a known loop": "y = x\nfor i in range(4):\n    y = y * 2\n    if y > 2:\n"
    "        break\n[y, i]",
    "an int that becomes a float": "y = 0\nfor i in range(300):\n    y = y + x * i\ny",
    "None before the first turn": "best = None\nfor i in range(200):\n    y = sin(x * i)\n"
    "    if best is None or y > best:\n        best = y\nbest",
    "swaps": "a, c = x, b\nfor i in range(100):\n    a, c = c, a + c * 0.01\n[a, c]",
    "nested loops": "y = x\nfor i in range(n):\n    for j in range(i + 40):\n        y = sin(y) + j\ny",
    "a name of the turn before": "last = x\nfor i in range(90):\n    if i > 0:\n"
    "        last = last + t\n    t = sin(last) * i\nlast",
    "tuples go round": "p = (x, b)\nfor i in range(90):\n    p = (p[1], p[0] * 0.5 + i)\np",
    "lists go round": "p = [x, b]\nfor i in range(90):\n    p = [p[1], p[0] * 0.5 + i]\np",
    "a list that is changed": "p = [x, b]\nq = p\nfor i in range(90):\n    p[0] = p[1] + i\n"
    "    p[1] = p[0] * 0.5\n[q, p]",
    "a list in a branch": "p = [x]\nq = p\nif x > b:\n    p[0] = 2.0\n    y = p[0]\nelse:\n"
    "    y = q[0]\n[q, y]",
    "append and pop": "p = []\nfor i in range(3):\n    p.append(x * i)\np.pop()\n[p, len(p)]",
    "lists are joined": "p = [] + [x] + [b]\np += [n]\n[p, [x] * 3]",
    "unpacking": "a, (c, d) = x, (b, n)\n[c, d, a]",
    "enumerate and zip": "y = 0\nfor i, (p, q) in enumerate(zip([x, b], (b, 2.0))):\n"
    "    y += i * p + q\ny",
    "pairs of what is known": "y = x\nfor i, k in enumerate([1, 2, 5]):\n    y = y * k + i\ny",
    "closures": "k = x\nf = lambda a, c=k: a * c + k\nk = b\n[f(2.0), f(x, 3), f(a=1)]",
    "a function of functions": "def twice(f, a):\n    return f(f(a))\ntwice(lambda t: t * x + 1, b)",
    "recursion that ends": "def power(a, k):\n    if k == 0:\n        return 1\n"
    "    return a * power(a, k - 1)\npower(x, 6)",
    "conditions of all kinds": "[x and b, x > 0 and b > 0, x < 0 or b < 0, not x, 0 < x < 1, "
    "x if n else b, n == 3, x != b, n in (1, 3), x is b]",
    "conversions": "[int(x * 10), float(n), bool(x), round(b), round(x, 1), int(x > 0), abs(b), "
    "max(x, b), min(x, b, n), isinstance(x, float)]",
    "operators": "[x + n, x - n, n / 2, n // 2, n % 2, x // b, x % b, n ** 2, x ** 2, 2 ** n, -n, "
    "+x, n & 1, n | 4, n ^ 7, ~n]",
    "built-ins as values": "f = sin\ng = [cos, f]\nsum((f(x), g[0](b), g[1](n)))",
    "texts": "s = f'{x:.3f} of {n!r}'\nprint(s + '!', x, [x, (b,)], sep=', ')\nprint()\n"
    "print(str(x), end='')\nx",
    "texts of a loop": "for i in range(n + 30):\n    print(i, x * i)\n    if i > 5:\n        break\nx",
    "0-d tensors": "t = tensor(x) * 2\nt += b\ns = t\ns -= 1\n[t, s, t.item(), t > 0, 1 / t, t / 2]",
    "tensors in a loop": "t = tensor(0.0)\nu = t\nfor i in range(90):\n    t += x * i\n[u, t]",
    "a tensor in a branch": "t = tensor(x)\nu = t\nif x > b:\n    t += 1\nelse:\n    t *= 2\n[t, u]",
    "another tensor in each turn": "t = tensor(0.0)\nfor i in range(90):\n    t = t + x * i\nt",
    "the text of a tensor": "t = tensor(x)\nprint(t, f'{t:.2f}', t * n)\nt",
    "no_grad": "with no_grad():\n    y = x * 2\n    if x > b:\n        y = y + b\ny",
    "detach": "t = tensor(x)\n[t.detach() * 2, t.data, t.ndim, float(t)]",
    "composites": "[mse_loss(tensor(x), tensor(b)), positive(x)]",
    "an int on one way, a float on the other": "if x > b:\n    y = 1\nelse:\n    y = x\n"
    "print(y, f'{y}')\n[y, y * 2, y / 2, y // 2, not y, y or 3, y == 1, max(y, 0), isinstance(y, int)]",
    "a function that gives an int or a float": "def f(t):\n    if t > 0:\n        return t\n"
    "    return 0\ny = f(x) + f(b)\n[y, f(b), f(f(x))]",
    "an int that some turn makes a float": "y = 0\nfor i in range(n + 40):\n    if i * x > -b:\n"
    "        y = y + x * i\n[y, y + 1, y * x]",
    "an int that a while makes a float": "y = 0\nk = 0\nwhile y < 5 and k < 50:\n    k += 1\n"
    "    if y > 2:\n        y = y + x\n    else:\n        y = y + 1\ny",
    "a number or a tensor": "t = tensor(x)\nu = t\ny = 1.0\nif x > b:\n    y = t\ny += 2\n"
    "print(y)\n[t, u, y, y * 3]",
    "a closure over an int or a float": "y = 0\nif x > 0:\n    y = x\ng = lambda t: t + y\n"
    "z = x if y > 0.5 else y\n[g(1), g(y), z, [y, z]]",
    "a tensor on the memory of another": "t = tensor(x)\nu = t.detach()\nt += 1\nu.item() + t.item()",
    "the same in both": "if x > b:\n    f = sin\nelse:\n    f = sin\nf(x)",
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_gives_the_same(body):
    assert agrees(body) == "same"
    agrees(body, {"x": -3.5, "b": 2.0, "n": 0})  # which may leave


def test_what_is_differentiated_is_a_float():
    """What is an int on the way that is taken is left, as what it is has no derivative."""
    body = f"{HEAD}y = 0\nif x > 0:\n    y = y + x * b\ny * 2"
    found, wanted = gradients(body, GIVEN, ["x", "b"])
    assert found == wanted
    with pytest.raises(Left):
        gradients(body, {**GIVEN, "x": -1.0}, ["x", "b"])


@pytest.mark.parametrize(
    "body",
    [
        "y = 0\nfor i in range(n - 3):\n    y = y + x\ny",  # an int that no turn makes a float
        "if x > 1:\n    y = 2.0\ny",
        "if x > 1:\n    y = 2.0\ndef f():\n    return y if b > 0 else 1.0\ng = f() + y\ng",
        "for i in range(n - 3):\n    y = x * i\ny",
        "assert x > 1\nx",
        "n ** int(b)",
        "int(x / 0)",
        "y = n + 9223372036854775800\ny * n",
        "n // 0 + x",
    ],
)
def test_what_the_interpreter_has_to_tell_is_left(body):
    assert agrees(body) == "left"


TRANSFORMS = {
    "a gradient": "f = lambda t: sin(t * b) * exp(t)\ngrad(f)(x) * x",
    "gradients of gradients": "f = lambda t: sin(t) * exp(t)\ng = grad(grad(f))(x)\ng * b",
    "by several arguments": "def f(t, s):\n    if t > s:\n        return t * s\n"
    "    return t ** 2 + s\nv, g = value_and_grad(f, (0, 1))(x, b)\nv + g[0] * 2 + g[1]",
    "by a name around it, too": "def f(t):\n    g = lambda s: s * s * t * b\n"
    "    return grad(g)(t) * t\ngrad(f)(x)",
    "under no_grad": "f = lambda t: t * t * x\nwith no_grad():\n    y = grad(f)(x)\n"
    "y * b + grad(f)(x)",
    "in a loop": "y = x\nfor i in range(40):\n"
    "    y = y - 0.1 * grad(lambda t: (t - b) ** 2 + sin(t * n))(y)\ny",
    "in a while": "y = x + 1\nwhile abs(y * y + b) > 1e-9:\n"
    "    v, s = value_and_grad(lambda t: t * t + b)(y)\n    y = y - v / s * x\ny",
    "of a function with a branch": "def f(t):\n    return t * b if t > 0 else t * t\n"
    "grad(f)(x) + x * grad(f)(-x)",
}


@pytest.mark.parametrize("body", TRANSFORMS.values(), ids=TRANSFORMS)
def test_derivatives_inside_a_program(body):
    """The value, and the gradient of a program that takes some itself."""
    assert agrees(body) == "same"
    found, wanted = gradients(HEAD + body, GIVEN, ["x", "b"])
    assert found == wanted


def test_derivatives_of_tensors_and_constants():
    assert (
        agrees(
            "t = tensor(x)\n[grad(lambda s: s * s)(t) * 2, grad(sin)(x), grad(lambda s: 3.0)(x)]"
        )
        == "same"
    )
    assert (
        agrees("g = grad(lambda t: t ** 3)\n[g(x), g(2), grad_and_value(lambda t: t * n)(x)]")
        == "same"
    )


REFUSED = {
    "p = [x, b]\ny = 0.0\nfor q in p:\n    p[1] = 3.0 * x\n    y = y + q\ny": "a list is changed while "
    "a loop goes over it",
    "p = [1.0, 2.0]\ny = x\nfor i, q in enumerate(p):\n    p[1] = x\n    y = y + q\ny": "a list is "
    "changed while a loop goes over it",
    "p = [x, b]\nz = zip(p, p)\np[0] = b\ny = 0\nfor q, r in z:\n    y = y + q * r\ny": "a list is "
    "changed while a loop goes over it",
    "t = randn(2)\nx": "random numbers are drawn",
    "y = [x]\nif x > b:\n    y = 1.0\ny": "`y` holds something else on each of two paths",
    "y = 0\nif x > 0:\n    y = x\nif b > 0:\n    y = tensor(2.0)\ny": "`y` is one of more than two "
    "kinds of numbers",
    "p = []\nfor i in range(n):\n    p.append(x)\np": "a list gets another length on a path that depends on values",
    "def f(a):\n    return f(a * 2) if a < 9 else a\nf(x)": "recursion of `f` depends on values",
    "def f(a):\n    if a > 0:\n        return a\nf(x)": "`f` ends without `return` on one of two paths",
    "t = tensor(x, requires_grad=True)\ny = t * 2\ny.register_hook(print)\ny": "`.register_hook()` "
    "of a value known only at run time",
    "t = tensor(x) * 2\ny = t * b\nt += 1\ny": "a tensor is changed in place that a derivative reads",
    "xs = []\ndef f(t):\n    xs.append(t)\n    return t\ngrad(f)(x)": "a function that is "
    "differentiated changes what is outside",
    "grad(lambda t: [t, t])(x)": "a function is differentiated that gives no number",
    "xs = [x, [n]]\nxs[n]": "a value holds something else on each of two paths",
    "y = x\nfor i in range(0, 9, n):\n    y += 1\ny": "a range of a step known only at run time",
    "p = [1.0, x] + [b, 2.0]\nq = p + p\nx": "`+` of lists of numbers adds their items as tensors",
    "vector = [1.0, 2.0] + [0.0, 1.0] * x\nx": "`*` of a value that is not a number",
    "t = tensor(x) if x > b else tensor(2.0)\nu = t\nfor i in range(n):\n    u = u * 2\n    t += 1\nu": "a tensor is changed in place that others may hold",
}


@pytest.mark.parametrize("body", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_compiled_says_why(body):
    with pytest.raises(Refused) as refused:
        agrees(body)
    assert str(refused.value) == REFUSED[body]


def test_a_loop_does_not_grow_with_its_turns():
    sizes = [
        len(
            text(
                compiled(
                    load(f"{HEAD}y = x\nfor i in range({n}):\n    y = y * x\ny"), GIVEN
                ).program
            )
        )
        for n in (1000, 1001, 9999)
    ]
    assert sizes[0] == sizes[1] == sizes[2]


TURNS = {  # programs of N turns or items
    "a loop": "for i in range(N):\n    x = x * 0.5",
    "a loop that does nothing": "for i in range(N): pass",
    "a loop backwards": "for i in range(N, 0, -3):\n    x = x * 0.5 + i",
    "a loop that ends early": "for i in range(N):\n    x = x * 0.5\n    if x < 1e-3: break",
    "a loop in a loop": "for i in range(N):\n    for j in range(N):\n        x = x * 0.5 + j",
    "a loop that counts itself": "i = 0\nwhile i < N:\n    i += 1\n    x = x * 0.5",
    "enumerate": "for i, j in enumerate(range(N)):\n    x = x * 0.5",
    "zip": "for i, j in zip(range(N), range(N)):\n    x = x * 0.5",
    "a sum": "x = x * sum([i for i in range(N)])",
    "a test": "x = x * (n in range(N))",
    "a list": "k = [1.0, 2.0] * N",
    "pairs of pairs": "k = (1, 2)\nfor i in range(40): k = (k, k)",
}


@pytest.mark.parametrize("body", TURNS.values(), ids=TURNS)
def test_making_code_takes_no_memory_that_grows_with_turns(body):
    peaks = {}
    for turns in (1_000, 300_000):  # the first one loads what is loaded once
        program = load(HEAD + body.replace("N", str(turns)) + "\nx")
        tracemalloc.start()
        try:
            compiled(program, GIVEN)
        except Refused:
            pass
        finally:
            peaks[turns] = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    lists = 16 * 300_000 if body == TURNS["a list"] else 0  # the interpreter's own
    assert peaks[300_000] < peaks[1_000] + 2**20 + lists


def test_points():
    """Watched names: an input itself, a copy where another name may hold the same number."""
    program = load("input x = 0.7\ninput k = 2\nparam p = 1.0\ny = x\nz = y * k\nz * p")
    found = compiled(program, ["x"], (None,), ["x", "p", "y", "k", "z"], ["y", "k"])
    assert list(found.points) == ["x", "k", "p", "y"]
    assert text(found.program) == (
        "inputs %0: float\n"
        "%1: float = copied(2.0)\n"
        "%2: float = copied(1.0)\n"
        "%3: float = copied(%0)\n"
        "%4: float = mul(%3, %1)\n"
        "%5: float = mul(%4, %2)\n"
        "give %5\n"
    )


def test_cuts():
    """No derivative goes through what is done under `no_grad` or taken out of a tensor."""
    body = "t = tensor(x)\nwith no_grad():\n    y = x * 2\nfloat(t * 3) + y"
    found = compiled(load(f"input x = 0.7\n{body}"), ["x"])
    assert text(found.program).count("detached") == 3


SAMPLES_OF_NUMBERS = {
    *("black_scholes", "decay", "gauge_block", "kepler", "newton", "no_grad", "orbit", "pendulum"),
    *("polynomial", "rat43", "two_bodies", "two_paths"),
}
SAMPLES_THAT_TRAIN = {"linear"}
SAMPLES_THAT_LEAVE = {"kepler"}  # `root` is solved by the interpreter
SAMPLES_OF_SHORT_VECTORS = {
    "cooling",
    "decay",
    "exponential_fit",
    "logistic",
    "rat43",
    "rosenbrock",
}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_samples(sample):
    body = sample.read_text("utf-8")
    if sample.stem in SAMPLES_OF_NUMBERS | SAMPLES_OF_SHORT_VECTORS | SAMPLES_THAT_TRAIN:
        assert outcome(body, {}) == "same"
    elif sample.stem in SAMPLES_THAT_LEAVE:
        assert outcome(body, {}) == "left"
    else:
        with pytest.raises(Refused):
            outcome(body, {})


NUMBERS = {"float": 0.7, "int": 2, "bool": True}
ENTRIES = [
    name
    for name in ops
    if ops[name].name == name
    and ".internal." not in ops.families[name]
    and 1 <= len(ops[name].args) <= 3
    and ops[name].host.transform is None
]


def calls(name):
    """Programs that call an op with numbers and with tensors."""
    for kinds in product(NUMBERS, repeat=len(ops[name].args)):
        head = "".join(f"input x{i}: {k} = {NUMBERS[k]}\n" for i, k in enumerate(kinds))
        for wrapped in product((False, True), repeat=len(kinds)):
            args = [f"tensor(x{i})" if w else f"x{i}" for i, w in enumerate(wrapped)]
            given = {f"x{i}": NUMBERS[kind] for i, kind in enumerate(kinds)}
            yield f"{head}{name}({', '.join(args)})\n", given


def check_calls(name, programs):
    for body, given in programs:
        try:
            outcome(body, given)
        except ProgramError:  # it needs other arguments
            continue
        except Refused:
            special = ops[name].value.number is None or "tensor(" in body or "bool" in body
            assert special or isinstance(interpreted(load(body), given)[0], GradError)


@by_family(n for n in ENTRIES if ops[n].value.number is not None)
def test_an_op_on_numbers_and_tensors(name):
    programs = list(calls(name))
    check_calls(name, [programs[0], programs[2 ** len(ops[name].args) - 1]])


@pytest.mark.long
@by_family(ENTRIES)
def test_an_op_on_all_kinds(name):
    check_calls(name, calls(name))


@pytest.mark.parametrize("first", chunks(90, 2000, 30))
def test_random_programs(first):
    found = []
    for seed in range(first, first + 30):
        rng = random.Random(seed)
        given = {"x": rng.uniform(-2, 2), "b": -1.25, "n": rng.randint(0, 7)}
        try:
            found.append(outcome(Writer(seed).program(), given))
        except Refused:
            found.append("refused")
        except GradError:  # it is no program
            continue
    assert found.count("refused") <= len(found) // 5
