"""Programs that try to reach out of the language. Each is refused, or does what the language says of
it; none opens, runs or imports anything, which audit.py watches here as in all tests.
"""

import ast
import builtins
import keyword
import re
from functools import cache

import pytest
from generated_programs import aliased, listed, written
from grammar_programs import text as grammar_text
from sample_programs import ROOT

from gradcli.engine.run.counting import Counting, Stepping
from gradcli.engine.run.translate import _Translator
from gradcli.errors import GradError
from gradcli.program import load_source
from gradcli.source import Source

BASE = "x = tensor([1.0, 2.0], requires_grad=True)\ndef f(a): return a * a\ny = f(x)\n"
RULE = "class F(Function):\n    def forward(ctx, a): {}\n    def backward(ctx, g): {}\nF.apply(x)"

REFUSED = r"""
x.__class__
x.__dict__
x.__doc__
x.__getattribute__('shape')
x.__reduce__()
x.__setstate__(1)
(1).__class__
'a'.__class__
[].__class__.__base__.__subclasses__()
f.__globals__
f.__code__.co_consts
f.__defaults__
(lambda: 0).__closure__
y.grad_fn.__class__
y.grad_fn.next_functions[0][0].__class__
x.shape.__class__
x.dtype.type
x.data.base
x.numpy()
x.storage()
x.untyped_storage()
x.data_ptr()
x.apply_(f)
x.map_(x, f)
type(x).__bases__
type(x).__subclasses__()
type('A', (), [])
'{0.__class__}'.format(x)
'{0[0].__class__}'.format([x])
'%s' % x
f'{x.__class__}'
f'{x!r.__class__}'
'a'.encode('rot13')
'a'.__format__('100')
getattr(x, 'shape')
setattr(x, 'grad', 1)
delattr(x, 'grad')
vars()
globals()
locals()
eval('1')
exec('1')
compile('1', '', 'eval')
open('/etc/passwd')
open('/etc/passwd').read()
__import__('os')
__import__('os').system('true')
__builtins__.open('/etc/passwd')
__builtins__['open']
__loader__.load_module('os')
breakpoint()
exit()
quit()
help()
input('x')
object()
super()
memoryview(x)
import os
import sys; sys.exit(3)
import subprocess as s
import builtins; builtins.open('x')
import importlib
import ctypes
import gradcli
from os import system
from gradcli import program
import numpy as np; np.load('x')
import numpy as np; np.fromfile('x')
import torch; torch.load('x')
import torch; torch.save(x, 'y')
import torch; torch.os.system('true')
import torch; torch.sys.modules
import torch; torch.__builtins__
import math; math.__loader__
torch.from_file('/etc/passwd')
torch.hub.load('a')
torch.utils.cpp_extension.load('a')
torch.classes.load_library('a')
torch.ops.load_library('a')
print(x, file='/tmp/out')
with open('x') as g: pass
class G(object): __slots__ = 1
class G(Function, metaclass=type): pass
class open: __del__ = print
class A: __class__ = 1
class A: pass; A.mro()
class A: f = A.__subclasses__
async def g(): pass
try: x
raise x
global x
del x
exec 'x'
@session
%1
`id`
$(id)
!id
sin.__module__
print.__self__
__debug__ = 1
f(__debug__=x)
tensor.__init__
""".strip().splitlines()

WIDE = str.maketrans({chr(n): chr(n + 0xFEE0) for n in range(ord("a"), ord("z") + 1)})
"""Letters that Python's own compiler would take for the plain ones."""

REFUSED += [
    f"{'eval'.translate(WIDE)}('1')",
    f"{'open'.translate(WIDE)}('/etc/passwd')",
    f"__{'import'.translate(WIDE)}__('os')",
    f"x.__{'class'.translate(WIDE)}__",
    f"x.{'storage'.translate(WIDE)}()",
]

RULES = [
    ("return a.__class__", "return g"),
    ("return ctx.__class__", "return g"),
    ("return ctx.fields", "return g"),
    ("ctx.save_for_backward(a); return a", "return ctx.saved_tensors[0].__class__"),
    ("ctx.call = a; return ctx.call.__globals__", "return g"),
    ("return F.forward.__globals__", "return g"),
    ("return F.apply.__self__", "return g"),
]


ALL = [*REFUSED, *(RULE.format(*rule) for rule in RULES)]


@pytest.mark.parametrize(
    "text", [*ALL[::2], *(pytest.param(t, marks=pytest.mark.long) for t in ALL[1::2])]
)
def test_a_way_out_is_refused(text, cli):
    text = text if text.startswith(("import", "from")) else f"{BASE}{text}"
    status, out, err = cli("run", "-e", text)
    assert (status, out) in [(3, ""), (4, ""), (5, "")], (out, err)
    assert "gradcli/" not in err, err


HARMLESS = [
    ("ctx.__class__ = 1; return a * 1", "[1.0,2.0]"),
    ("ctx.__dict__ = 1; return a * ctx.__dict__", "[1.0,2.0]"),
    ("ctx.fields = 1; return a * ctx.fields", "[1.0,2.0]"),
]


@pytest.mark.parametrize(("text", "result"), HARMLESS)
def test_what_looks_like_a_way_out_is_a_name_as_any(text, result, cli):
    assert cli("run", "-e", BASE + RULE.format(text, "return g"))[1] == f"{result}\n"


NO_NAMES = {*keyword.kwlist, "__debug__"}
AWKWARD = [
    *(n for n in dir(builtins) if n not in NO_NAMES and not n.endswith(("Error", "Warning"))),
    *("__builtins__", "__name__", "__file__", "session", "inputs", "main", "locals_", "self", "_"),
]


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 4))]
)
def test_a_name_of_pythons_own_is_a_name_as_any(first):
    """Nothing of Python's own shines through, not even where the name has no value yet."""
    for name in AWKWARD[first::4]:
        late = f"def f(): return {name}\n{name} = 2.0\nf() + {name}"
        assert load_source(Source("t.grad", late)).run().result == 4.0, name
        never = f"if x > 0: {name} = 1.0\n{name} * 1.0"
        with pytest.raises(GradError) as found:
            load_source(Source("t.grad", never), frozenset("x")).run({"x": -1.0})
        assert found.value.status in (3, 4, 5), name


# the code that a program becomes ------------------------------------------------------------------

OURS = re.compile(r"[@%][\w% .]*")
PLACE = re.compile(r"\d+ \d+")


@cache
def programs():
    """Texts of all kinds."""
    texts = [path.read_text("utf-8") for path in sorted((ROOT / "samples").glob("*.grad"))]
    texts += [path.read_text("utf-8") for path in sorted((ROOT / "tests/golden/ir").glob("*.grad"))]
    texts += [make(seed) for seed in range(8) for make in (lambda n: written(n)[0], listed)]
    texts += [aliased(seed)[0] for seed in range(8)] + [grammar_text(seed) for seed in range(40)]
    strings = (
        'a = "__import__(\'os\')"\nb = f"{1:>5} {a} \\x00"\nprint(a, b, "@session", end="%1")\na'
    )
    return [*texts, strings, "x = 1.0\n" * 2001]  # the last of two parts


def test_the_code_of_a_program_holds_no_text_of_its_but_names():
    """What is no name of the program is the engine's own; a text of the program is a constant, which
    Python compares, prints and joins but never reads as code.
    """
    seen = 0
    for text in programs():
        try:
            loaded = load_source(Source("t.grad", text), frozenset("xyab"))
        except GradError:
            continue
        seen += 1
        for counting in (Counting, Stepping):
            check_code(loaded._loaded.program, counting)
    assert seen > 40


def check_code(program, counting):
    names = {"<lambda>", *program.variables.values(), *re.findall(r"\w+", program.source.text)}
    for node in (n for part in _Translator(program, counting).parts() for n in ast.walk(part)):
        if isinstance(node, ast.Name):
            assert is_name(node.id, names), node.id
        elif isinstance(node, ast.Attribute):
            counter = isinstance(node.value, ast.Name) and node.value.id == "@counters"
            assert counter or node.attr == "__class__", node.attr
        elif isinstance(node, ast.FunctionDef):
            assert is_name(node.name, names), node.name
        elif isinstance(node, ast.arg):
            assert is_name(node.arg, names), node.arg
        elif isinstance(node, ast.keyword):
            assert node.arg in names, node.arg
        assert not isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.JoinedStr))
        assert not isinstance(node, (ast.Delete, ast.Await, ast.Yield, ast.Starred))


def is_name(text, names):
    """Whether a name is the engine's own, the program's, or that of a method of its rules."""
    return OURS.fullmatch(text) is not None or all(part in names for part in text.split("."))
