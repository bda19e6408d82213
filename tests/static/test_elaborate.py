"""What `elaborate` knows of a program, held against what its runs do, instruction by instruction."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from support.checks.amounts import chunks
from support.programs.generated_programs import written
from support.programs.lesson_cases import read
from support.programs.sample_programs import SAMPLES, shortened

from gradcli.engine.run.execution import execute
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.session.state import RandomNumbers, Session
from gradcli.engine.static.elaborate import elaborate
from gradcli.engine.static.value import UNSURE
from gradcli.engine.tape.tensor import Number, Tensor
from gradcli.engine.values.data import NUMBERS, dtype_of, shape_of
from gradcli.errors import GradError
from gradcli.ir import program as ir
from gradcli.ir import visit
from gradcli.program import load_source
from gradcli.source import Source

KINDS = {str: "text", type(None): "none", list: "list", range: "range", slice: "slice"}


def kind(value):
    """The kind of a value of a run, None where the test does not tell."""
    if type(value) in NUMBERS or isinstance(value, Number):
        return "number"
    if isinstance(value, Tensor):
        return "tensor"
    if isinstance(value, tuple):
        return "tuple"
    return KINDS.get(type(value), "function" if callable(value) else None)


def observed(program):
    """The program with a `Watch` of what an instruction takes before it and of what it gives behind
    it, and the instructions.
    """
    watched = list(visit.everything(program))
    number = {id(i): n for n, i in enumerate(watched)}
    for function in list(visit.all_functions(program.main)):
        bodies = [function.body]
        while bodies:
            body = bodies.pop()
            made = []
            for i in body:
                n = number.get(id(i))
                if n is None:  # one of a loop's target, put there below
                    made.append(i)
                    continue
                own = {slot.index for slot in visit.reads(i)}.intersection(function.locals)
                if not isinstance(i, ir.While | ir.Define | ir.DefineRule | ir.Input | ir.Try):
                    made += [ir.Watch(i.span, slot, f"<{n}") for slot in sorted(own)]
                written = () if isinstance(i, ir.Try) else visit.writes(i)
                behind = [ir.Watch(i.span, slot, f">{n}") for slot in written]
                bodies += visit.blocks(i)
                made.append(i)
                if isinstance(i, ir.For):
                    i.body[:0] = behind
                else:
                    made += behind
            body[:] = made
    return watched


def array(value):
    data = value.data if isinstance(value, Tensor) else None
    return data if isinstance(data, np.ndarray) else None


def elaborated(program, given=None):
    values = {n: Given(v, n) for n, v in (given or {}).items()}
    return elaborate(program, program.source, values, [], [], program.result)


def checked(text, given=None):
    """Hold what is known of a program against one run of it; how many values were seen."""
    source = Source("p", text)
    values = {n: Given(v, n) for n, v in (given or {}).items()}
    program = lowered(source, frozenset(values))
    facts = elaborated(program, given).facts
    instructions = observed(program)
    seen = []
    taken = {}

    def watch(session, name, value):
        n = int(name[1:])
        if name[0] == "<":
            taken[n] = [*taken.get(n, ()), value][-8:]
            return value
        seen.append((n, value))
        i, known = instructions[n], facts.of(instructions[n])
        where = (
            f"{text}\nline {source.position(i.span.start)[0]}: {type(i).__name__} gave {value!r}"
        )
        assert known is not None, f"{where}\nand is taken for never reached"
        assert any(fits(value, fact) for fact in known.targets), f"{where}\nnot {known.targets}"
        met = array(value)
        for other in taken.pop(n, ()):
            if met is None or array(other) is None or not np.shares_memory(met, array(other)):
                continue
            assert any(may_share(a, b) for a in known.operands for b in known.targets), (
                f"{where}\non the memory of an operand {other!r}, not {known}"
            )
        return value

    names = {
        "@watch": lambda session, name, value: (
            watch(session, name, value) if name[0] in "<>" else value
        )
    }
    with suppress(GradError), mock.patch.dict(execute.PROVIDED, names):
        Executable(program).run(
            Session(random=RandomNumbers(0)), values
        )  # up to where it fails it holds
    return seen, facts


def may_share(a, b):
    """Whether two facts allow that the values lie on one memory."""
    if a.items is not None:
        return any(may_share(item, b) for item in a.items)
    return a.memory is None or b.memory is None or not a.memory.isdisjoint(b.memory)


def fits(value, fact):
    """Whether a value of a run is one of those that a fact allows."""
    found = kind(value)
    if found is not None and fact.kind not in (None, found):
        return False
    data = value.data if isinstance(value, Tensor) else value
    if found in ("number", "tensor"):
        if fact.shape not in (None, tuple(shape_of(data))):
            return False
        if fact.dtype not in (None, dtype_of(data)):
            return False
    told = found in ("number", "text", "none", "range", "slice") and fact.constant is not UNSURE
    if told and repr(fact.constant) != repr(data):
        return False
    if fact.items is not None and found in ("list", "tuple"):
        return len(fact.items) == len(value) and all(map(fits, value, fact.items))
    return True


def lowered(source, given):
    return load_source(source, given).loaded.program


def tells(fact, operands):
    """Whether all is known of a result; its kind only where those of the operands are."""
    told = None not in (fact.dtype, fact.shape, fact.memory)
    return told and (fact.kind is not None or not all(o.kind for o in operands))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_what_is_known_of_a_sample_is_so(path):
    seen, _ = checked(shortened(path))
    assert seen


@pytest.mark.parametrize("seed", chunks(25, 500, 1))
def test_what_is_known_of_a_generated_program_is_so(seed):
    text, given = written(seed)
    seen, facts = checked(text, given)
    assert seen
    unknown = [
        (type(i).__name__, text[i.span.start : i.span.end], known)
        for i, known in facts
        if isinstance(i, ir.Operator | ir.Apply | ir.Augment)
        and not all(tells(f, known.operands) for f in known.targets)
    ]
    assert not unknown, f"{text}\n{unknown[:3]}"


CASES = {
    "names that functions assign": "n = 1\nl = [1]\ndef f():\n    global n, l\n    n = ones(2)\n    l = [n]\nf()\nn + 1\nl[0]\ndef g():\n    k = 0\n    def h():\n        nonlocal k\n        k = k + ones(2)\n        return k\n    h()\n    return k\ng()\nfor i in range(3): f()\nn",
    "comprehensions": "x = ones(2)\nl = [x * i for i in range(3) if i]\nd = {i: v for i, v in "
    "enumerate(l)}\ns = {i % 2 for i in range(4)}\nt = sum(v for v in l)\nd[1] + l[0] + t",
    "a list that a comprehension keeps": "l = [1]\nm = [l for i in range(2)]\nm[0].append(ones(2))\nl[1]",
    "a generator gone through later": "x = [1.0]\ng = (v * 2 for v in x)\nx.append(ones(2))\n"
    "for v in g: w = v\nw",
    "stars": "def f(a, *b, k=1, **n): return a, b, k, n\nf(1, 2, k=ones(2), z=3)[2]\nl = [1, 2.0]\n"
    "f(*l)[1]\nf(*l, **{'k': 'a'})[2]\na, *b = [1, 2.0, ones(2)]\nz = [*b, *l, a]\n(z, *z)[0]",
    "what a dictionary holds is changed": "d = {'a': [1]}\nl = d['a']\nl.append(ones(2))\nd['a'][1]\n"
    "e = {'f': lambda v: v + 1}\ne['f'](2.0)\ne['f'](ones(2))\ne['x'] = ones(2)\ne['x'] += 1\ne['x']",
    "lists changed by methods": "l = [3, 1.5]\nl.sort()\nl[0]\nl.insert(0, ones(2))\nl[0]\nl.reverse()\n"
    "del l[0]\nl[0:1] = ['a', 2]\nl[0]\nm = list(l)\nm.append(1)\nm[0]",
    "strings": "s = '%d' % 3\nt = s * 2 + 'a'.upper()\nu = '{}'.format(1)\nv = t.split('3')\nv[0]\nlen(t)",
    "names that are deleted": "x = 1\ndel x\nx = ones(2)\nx + 1",
    "what python gives": "l = sorted([2, 1])\na = max(l)\nb = any(l)\nc = max(ones(2))\nd = all(ones(2) > 0)\n"
    "e = max(1, 2.0)\nf = divmod(7, 2)\nlist(map(lambda v: v * ones(2), l))[0]",
    "a number or a tensor": "x = tensor(2.0)\ny = 2.0\nz = x if x > y else y\nz * y",
    "a carried value that changes kind": "y = 0\nfor i in range(3): y = y + tensor(1.0)\ny",
    "one function on numbers and tensors": "def f(a): return a * 2\nf(1)\nf(1.0)\nf(ones(2))",
    "a number changed in place": "x = 1\nx += 0.5\ny = tensor(1.0)\nz = y\nz += 1\ny",
    "views": "x = ones(2, 3)\ny = x.T\nz = y[0]\nz += 1\nw = x.reshape(-1)\nv = w[[0]]\nv * z[0]",
    "rows of a loop": "for r in ones(2, 3): r *= 2\nr",
    "tensors in a list": "p = [ones(2), ones(3)]\nq = p\nq.append(p[0])\nfor t in q: t += 1\nq[2]",
    "a list of which anything may be": "p = [1]\nwhile len(p) < 5: p.append(p[0] * 1.5)\np[-1]",
    "a function in a list": "p = [lambda a: a + 1]\np[0](2.0)\np[0](ones(2))",
    "a function kept by a hook": (
        "def h(g): return g * 2\nx = ones(2, requires_grad=True)\nx.register_hook(h)\n"
        "(x * x).sum().backward()\nh(3)\nx.grad"
    ),
    "an own function as a value": (
        "class F(Function):\n    def forward(ctx, a): return a * 2\n"
        "    def backward(ctx, g):\n        h = g * 2\n        return h\n"
        "f = F.apply\nx = ones(2, requires_grad=True)\nf(x).sum().backward()\nf(2.0)"
    ),
    "a transform": "def f(a):\n    b = a * a\n    return b.sum()\ngrad(f)(ones(2))\ngrad(lambda a: a * a)(2)",
    "a function called in ways not followed": (
        "def f(n, a): return a if n == 0 else f(n - 1, a * 1.5)\nf(30, 1)\nf(20, ones(2))"
    ),
    "memory exchanged": "x = ones(2)\ny = ones(2)\nx.data = y\nz = x[0:1]\nz += 1\nx + y",
    "as it is, or new": "x = ones(2)\ny = as_tensor(x)\nz = as_tensor(3.0)\nw = x.double()\ny[0]",
    "text and nothing": "s = 'a'\ns = s + 'b'\nt = f'{s} {1.5}'\nu = None\nu is None",
    "several results": "v, i = ones(2, 3).max(dim=1)\na, b = v\na + b\ns = ones(4).split(2)\ns[0]",
    "ints, floats, bools": "a = 7 // 2\nb = a / 2\nc = a > 1\nd = tensor([1, 2]) > 1\ne = d & c\nd.sum()",
    "float32": "x = ones(2, dtype=float32)\ny = x * 2.0\nz = y + ones(2)\nx.sum()",
    "dtypes without dimensions": (
        "b = tensor(True)\ny = b + b\nn = tensor(2) ** tensor(3)\nz = tensor(1/3, dtype=float32)\n"
        "u = z + 1/3\nv = z + tensor(1/3)\nw = (b * 2, z * n, z.int(), z > 0, ones(2) * z)\nw[1]"
    ),
    "a branch that no run takes": "input c = 1.0\nx = 1\nif c > 2: x = ones(2)\nx",
}


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_what_is_known_of_a_program_is_so(text):
    seen, _ = checked(text)
    assert seen


LESSONS = Path(__file__).parents[1] / "run" / "reference"
OBJECTS = [
    pytest.param(case.program, id=case.name)
    for name in ("classes", "exceptions", "networks")
    for case in read(LESSONS / f"{name}.txt")
]


@pytest.mark.parametrize("text", OBJECTS)
def test_what_is_known_of_a_program_with_classes_is_so(text):
    seen, _ = checked(text)
    assert seen


def known_of(text, written):
    """What is known of the result of the instruction that is written so."""
    program = lowered(Source("p", text), frozenset())
    facts = elaborated(program).facts
    (found,) = {
        (f.kind, f.dtype, f.shape)
        for i, known in facts
        if text[i.span.start : i.span.end] == written and not isinstance(i, ir.Watch)
        for f in known.targets
    }
    return found


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("x = tensor(2.0)\nx * 3", "x * 3", ("tensor", "float64", ())),
        ("x = 2.0\nx * 3", "x * 3", ("number", "float64", ())),
        ("x = 2\nx * 3", "x * 3", ("number", "int64", ())),
        ("x = 2\nx / 3", "x / 3", ("number", "float64", ())),
        ("x = ones(2, 3)\nx.sum()", "x.sum()", ("tensor", "float64", ())),
        ("x = ones(2, 3)\nx.sum().item()", "x.sum().item()", ("number", "float64", ())),
        ("param k = 1\nk * 2", "k * 2", ("tensor", "float64", ())),
        ("input k: float[3]\nk * 2", "k * 2", ("tensor", "float64", (3,))),
        ("x = ones(2, 3) > 0\nx.sum(dim=0)", "x.sum(dim=0)", ("tensor", "int64", (3,))),
        ("add(tensor([1, 2]), 3, alpha=0.5)", "add(tensor([1, 2]), 3, alpha=0.5)", ("tensor", "float64", (2,))),
    ],
    ids=str,
)  # fmt: skip
def test_the_result_of_an_instruction_is_known(text, written, expected):
    assert known_of(text, written) == expected


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("input x = [1, 2]\nx + 1", [[3, 4], [3.0, 4.0], np.array([1])]),
        ("input x = [1.0, 2.0]\nx + 1", [[3, 4], 3, [[1.5]]]),
        ("input x = [True, False]\nx & x", [[1, 0], [False]]),
        ("param x = [1, 2]\nx * 2", [[3, 4.5], 3]),
        ("input x = 1.0\nx * 2", [np.array(3), np.float32(2.5), True]),
        ("input x = 1\nx * 2", [3, 3.0]),
        ("x = [1, 2]\nx[0]", [[3, 4, 5], (3, 4), np.array([1, 2])]),
        ("x = (1, 2)\nx[0]", [(3, 4), [3]]),
        ("x = 'a'\nx + 'b'", ["c"]),
    ],
)
def test_what_is_known_of_inputs_is_so(text, values):
    for given in [{}, *({"x": value} for value in values)]:
        seen, _ = checked(text, given)
        assert seen, given
