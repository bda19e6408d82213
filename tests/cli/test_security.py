"""Programs that try to reach out of the language. Each is refused, or does what the language says of
it; none opens, runs or imports anything, which audit.py watches here as in all tests.
"""

import ast
import builtins
import keyword
import re
import sys
from functools import cache

import pytest
from support.programs.generated_programs import aliased, listed, written
from support.programs.grammar_programs import text as grammar_text
from support.programs.sample_programs import ROOT

from gradcli.engine.run.code.counting import Counting, Stepping
from gradcli.engine.run.code.translate import _Translator
from gradcli.engine.run.session.state import Session
from gradcli.engine.tape.tensor import Tensor
from gradcli.errors import GradError
from gradcli.program import load_source
from gradcli.source import Source

BASE = """
x = tensor([1.0, 2.0], requires_grad=True)
def f(a): return a * a
y = f(x)
class A:
    def __init__(self): self.v = 1.0
    def m(self): return self.v
a = A()
def gen():
    yield 1
g = gen()
d = {"a": 1}
try: raise ValueError("v")
except ValueError as err: err = err
"""
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
x.dtype.newbyteorder
x.data.base
x.numpy()
x.storage()
x.untyped_storage()
x.apply_(f)
x.map_(x, f)
type(x).__bases__
type(x).__subclasses__()
type('A', (), [])
'{0.__class__}'.format(x)
'{0[0].__class__}'.format([x])
f'{x.__class__}'
f'{x!r.__class__}'
'a'.encode('rot13')
'a'.__format__('100')
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
super()
memoryview(x)
import sys; sys.exit(3)
import builtins; builtins.open('x')
import gradcli
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

BY_NAME = r"""
import os\nos.system("x")
import os\nos.environ
import os\nprint(os)
import os\nf'{os}'
import os\ngetattr(os, 'system')('x')
import os as o\no.popen("x")
import os.path\nos.path.join('a', 'b')
from os import system as s\ns('x')
from os import *\nsystem('x')
import subprocess as s\ns.run(['ls'])
import importlib\nimportlib.import_module('os')
import sys\nsys.modules
import builtins\nbuiltins.eval('1')
import ctypes\nctypes.CDLL(None)
import pickle\npickle.loads('x')
import io\nio.open('x')
import pathlib\npathlib.Path('/etc/passwd').read_text()
import inspect\ninspect.stack()
import gc\ngc.get_objects()
import time\ntime.__loader__
import random\nrandom._os.system('x')
import random\nrandom.Random().__reduce__()
import functools\nfunctools.partial(f).func.__globals__
import copy\ncopy.copy(f).__globals__
import itertools\nitertools.count().__class__
import warnings\nwarnings.sys
import numpy as np\nnp.os.system('x')
import numpy as np\nnp.ctypeslib
import numpy as np\nnp.memmap('x')
import numpy as np\nnp.loadtxt('x')
import numpy as np\nnp.array([1.0]).tofile('x')
import numpy as np\nnp.random.default_rng(0).bit_generator
import pandas as pd\npd.read_csv('x')
import IPython\n1 + IPython.get_ipython().system('x')
import jax\njax.jit(f).__wrapped__
from typing import get_type_hints\nget_type_hints(f)
from torch.utils.data import DataLoader\nDataLoader.__init__.__globals__
getattr(x, '__class__')
getattr(x, '__cla' + 'ss__')
getattr(x, f'__{"dict"}__')
getattr(x, 'data_ptr')
getattr(x, '_node')
getattr(x, 'out=')
getattr(x, 1)
getattr(f, '__globals__')
getattr(lambda: 0, '__code__')
getattr('a', 'format_map')
getattr(g, 'gi_frame')
getattr(err, '__traceback__')
getattr(err, '__cause__')
getattr(A, '__subclasses__')
getattr(A, 'mro')
getattr(A, '__init__').__globals__
getattr(a, 'm').__func__
getattr(a, '__class__').__subclasses__()
getattr(a, '__class__').__class__
getattr(print, '__self__')
getattr(getattr, '__self__')
getattr(y.grad_fn, 'next_functions')[0][0].__class__
list(map(getattr, [x], ['__class__']))
list(map(lambda v: getattr(v, '__globals__'), [f]))
setattr(x, '__class__', 1)
setattr(x, 'version', 1)
setattr(f, '__code__', f)
setattr(A, '__bases__', ())
setattr(a, '__class__', A)
setattr(err, '__traceback__', None)
ValueError.x = 1
object.x = 1
setattr(Exception, 'args', (1,))
err.args = 1
a.__class__ = A
a.__dict__ = {}
a.__class__.__class__
a.__class__.__base__
A.__class__
A.__dict__
A.__mro__
A.__new__(A)
A.m.__code__
a.m.__self__
a.__reduce_ex__(2)
a.__getattribute__('m')
type(A)('X', (), {})
type(A)(f)
type(type(A))('X', (A,), {'__del__': f})
type(a)('a', (), {})
type(a).__base__
type(f)(1)
type(x).__init__.__globals__
type(g).__init__
type('A', (A,), {'b': f})
type.__subclasses__(type)
isinstance(x, type(x).__class__)
class B(type(A)): pass
class B(type(x)): pass
class B(type(f)): pass
class B(type(d)): pass
class B(type): pass
class B(dict): pass
class B(str): pass
class B(Tensor): pass
class B(x.shape): pass
class B(property(f)): pass
property(f).__class__(f)
property(f).fget.__globals__
class B(A):\n    def m(self): return super().__getattribute__('m')\nB().m()
class B(A):\n    def m(self): return super().__class__\nB().m()
class B(A):\n    def m(self): return getattr(super(), '__class__')\nB().m()
class B(A):\n    def m(self): return getattr(super(), '__thisclass__')\nB().m()
class B(A):\n    def m(self): return getattr(super(), '__init__').__globals__\nB().m()
class B(Exception):\n    def m(self): return getattr(super(), 'with_traceback')\nB().m()
class B(object): pass\nB().__class__.__subclasses__()
class B:\n    def __new__(cls): return cls.__subclasses__()
class B:\n    def __getattribute__(self, n): return 1
class B:\n    def __init_subclass__(cls): cls.__mro__
class B:\n    def __reduce_ex__(self, n): return (f, (1.0,))
class B:\n    def __del__(self): print('gone')
class B:\n    def __get__(self, o, t): return t
class B:\n    __class__ = A
class B:\n    def __format__(self, s): return getattr(self.__class__, '__mro__')\nf'{B()}'
class B:\n    def __repr__(self): return getattr(f, '__globals__')\nrepr(B())
class B:\n    def __exit__(self, k, v, t): t.tb_frame\n    def __enter__(self): pass\nwith B(): f(1, 2)
class B:\n    @classmethod\n    def c(cls): return getattr(cls, '__subclasses__')\nB.c()
class B:\n    @property\n    def c(self): return getattr(self.__class__, '__mro__')\nB().c
err.__traceback__
err.__context__
err.with_traceback(None)
err.args.__class__
err.diagnostics
raise SystemExit(3)
raise KeyboardInterrupt
raise BaseException('a')
raise ValueError('a') from f.__globals__
try: x.nothing\nexcept AttributeError as e: e.obj
try: f(1, 2)\nexcept TypeError as e: getattr(e, '__traceback__')
try: raise ValueError(f)\nexcept ValueError as e: e.args[0].__globals__
g.gi_frame.f_back.f_globals
g.gi_code
g.throw(ValueError)
(v for v in [1]).gi_frame
iter([1]).__class__
zip([1]).__reduce__()
range(3).__class__
[v.__class__ for v in [1]]
'{0.__class__}'.format(d)
'{0.__class__.__mro__}'.format(a)
'{0.__class__.__class__}'.format(a)
'{0.__globals__}'.format(f)
'{0[__class__]}'.format(d)
'{0[__class__]}'.format(x)
'{0.gi_frame}'.format(g)
'{0.__traceback__}'.format(err)
'{0.__init__.__globals__}'.format(a)
'{0.m.__func__}'.format(a)
'{v.data.base}'.format(v=x)
'{:{}}'.format(x, x.__class__)
'{0:{0.__class__}}'.format(x)
list(map('{0.__class__}'.format, [x]))
str.format('{0.__class__}', x)
'{a.__class__}'.format_map(d)
'%(__class__)s' % d
'%(a.__class__)s' % d
'%s' % (x.__class__,)
'%c' % x
f'{g.gi_frame}'
f'{x!r:{x.__class__}}'
sorted([x], key=f.__globals__)
sorted([1, 2], key='__class__')
sorted([1, 2], key=getattr)
sorted([f, f], key=lambda v: getattr(v, '__globals__'))
sorted(['a'], key=str.encode)
max([1, 2], key=lambda v: v.__class__)
[3, 1].sort(key=lambda v: v.__class__)
list(filter(lambda v: v.__globals__, [f]))
str.__subclasses__()
int.from_bytes
dict.fromkeys.__self__
object.__subclasses__()
object().__class__.__subclasses__()
d.get.__self__
d.items().mapping
dict(**f.__globals__)
f(**{'__globals__': 1})
f(**{1: x})
print(x, **{'file': '/tmp/out'})
sin(**{'session': 1})
x.sum(**{'session': 1})
x.backward(**{'site': 1})
a.m(**{'self': 1})
d.get(**{'session': 1})
'a'.upper(**{'site': 1})
nn.Linear(1, 1).__class__.__bases__
nn.Linear.__init__.__globals__
optim.SGD([x], 0.1).step.__globals__
torch.nn.__file__
torch.optim.sys
del x\nx
del a.__class__
del f.__globals__
del print\nprint.__self__
@f.__globals__\ndef h(): pass
def h(v=f.__globals__): pass
def h(v: f.__globals__): pass\nh.__annotations__
""".strip().splitlines()
"""What goes through modules, names and classes; `\\n` ends a line."""

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


ALL = [
    *REFUSED,
    *(text.replace(r"\n", "\n") for text in BY_NAME),
    *(f"{RULE}.sum().backward()".format(*rule) for rule in RULES),
]


@pytest.mark.parametrize(
    "asked", ["plt.os.listdir('/')", "plt.imread('/etc/passwd')", "plt.figure().canvas.manager"]
)
def test_what_plots_do_not_draw_leads_nowhere(asked, cli):
    text = f"import matplotlib.pyplot as plt\nfor item in {asked}: print(item)\nprint({asked})"
    status, out, err = cli("run", "-e", text)
    assert (status, out) == (0, "<plot>\n")
    assert "plots are left out" in err


@pytest.mark.parametrize(
    "text", [*ALL[::2], *(pytest.param(t, marks=pytest.mark.long) for t in ALL[1::2])]
)
def test_a_way_out_is_refused(text, cli):
    status, out, err = cli("run", "-e", f"{BASE}{text}")
    assert (status, out) in [(3, ""), (4, ""), (5, "")], (out, err)
    assert "gradcli/" not in err, err


OF_PYTHON = [
    cache,
    type,
    property,
    super,
    len,
    "",
    (v for v in ""),
    sys,
    Tensor,
    Session,
    ValueError,
]
HIDDEN = sorted(
    {n for v in OF_PYTHON for n in dir(v) if n.startswith(("_", "gi_", "f", "mro", "with"))}
)
REACHED = f"""
def reached(values, kind):
    for v in values:
        for n in {HIDDEN}:
            found = []
            try: found.append(getattr(v, n))
            except AttributeError: pass
            try: found.append(("{{0." + n + "}}").format(v))
            except AttributeError: pass
            if found: print(kind, n, len(found))
class B(A):
    def behind(self): return super()
reached([a, err, B()], "object")
reached([A, type(err), object], "class")
reached([B().behind()], "super")
reached([x, x.shape, x.dtype, y.grad_fn, x.register_hook(f)], "tensor")
reached([f, gen, print, sin, A.m, a.m, property(f), type(x), type(A)], "function")
reached([g, d, d.items(), "a", 1, 1.5, True, None, [], (), {{1}}, range(3)], "value")
"""


TEXTS = ("__repr__", "__str__")
OF_OBJECTS = ("__class__", "__dict__", "__init__", "__setattr__")
OF_CLASSES = ("__init__", "__name__", "__setattr__")


def test_no_name_of_pythons_own_is_reached(cli):
    """By `getattr` and by `format`, which take any name."""
    status, out, err = cli("run", "-e", f"{BASE}{REACHED}")
    assert (status, err) == (0, "")
    assert {*out.splitlines()} == {
        *(f"object {name} 2" for name in (*TEXTS, *OF_OBJECTS)),
        *(f"class {name} 2" for name in (*TEXTS, *OF_CLASSES)),
        *("super __init__ 1", "super __setattr__ 1"),
        "function __doc__ 2",  # the program's own text, or none
        "function __name__ 2",  # a text
    }


PASSED_OVER = [
    *("import this", "import this as t", "from this import s", "from this import *"),
    *("import os", "import ctypes", "import importlib as i", "from os import system"),
]


@pytest.mark.parametrize("text", PASSED_OVER)
def test_an_import_that_is_passed_over_imports_nothing(text, cli):
    assert cli("run", "-e", text) == (0, "", "")
    assert "this" not in sys.modules


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
            check_code(loaded.loaded.program, counting)
    assert seen > 40


def check_code(program, counting):
    names = {"<lambda>", *program.variables.values(), *re.findall(r"\w+", program.source.text)}
    for node in (n for part in _Translator(program, counting).parts() for n in ast.walk(part)):
        if isinstance(node, ast.Name):
            assert is_name(node.id, names), node.id
        elif isinstance(node, ast.Attribute):
            assert node.attr == "__class__" or is_own(node), node.attr
        elif isinstance(node, ast.FunctionDef):
            assert is_name(node.name, names), node.name
        elif isinstance(node, ast.arg):
            assert is_name(node.arg, names), node.arg
        elif isinstance(node, ast.keyword):
            assert node.arg is None or node.arg in names, node.arg
        elif isinstance(node, ast.ExceptHandler):
            assert node.name is None or OURS.fullmatch(node.name), node.name
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            assert all(is_name(name, names) for name in node.names), node.names
        elif isinstance(node, ast.Delete):
            assert all(isinstance(target, ast.Name) for target in node.targets)
        elif isinstance(node, ast.Starred):
            assert isinstance(node.ctx, ast.Load)
        assert not isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.JoinedStr))
        assert not isinstance(node, (ast.Await, ast.YieldFrom, ast.With, ast.Lambda))


def is_own(node):
    """Whether an attribute is one of the engine's counters, or of a list that only it holds."""
    if not isinstance(node.value, ast.Name):
        return False
    unnamed = re.fullmatch(r"%\d+", node.value.id) is not None
    return node.value.id == "@counters" or (unnamed and node.attr in ("append", "extend"))


def is_name(text, names):
    """Whether a name is the engine's own, the program's, or that of a method of its rules."""
    return OURS.fullmatch(text) is not None or all(part in names for part in text.split("."))
