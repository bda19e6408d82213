"""What the checker says of names, calls and placement, and what the names of a program are."""

import pytest
from support.programs.grammar_programs import FakeSignatures, source

from gradcli.codes import CODES
from gradcli.errors import GradError
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.names import analyse, is_constant
from gradcli.grammar.syntax.parser import parse
from gradcli.program import load

SIGNATURES = FakeSignatures()


def findings(text, given=frozenset()):
    program = source(text)
    return check(parse(program), program, SIGNATURES, frozenset(given))


GOOD = [
    "x ** 2 + y",
    "sin(x).sum(dim=0, keepdim=True)",
    "sum(x, axis=0, keepdims=True)",
    "torch.sin(x) + F.relu(y) + torch.nn.functional.relu(z) + math.pi",
    "import torch.nn.functional as nnf\nnnf.relu(x)",
    "import torch as T\nT.autograd.Variable(x, requires_grad=True)",
    "from torch.autograd import Variable as V\nV(3.0)",
    "from __future__ import print_function\nfrom torch import *\nimport math",
    "f = sin\nf(2)",
    "def g(f): return f(2)\ng(sin)",
    "[sin, exp]\nFalse",
    "grad(sin)(x)",
    "with torch.no_grad():\n  x\nwith enable_grad(): y",
    "class C(torch.autograd.Function):\n  'doc'\n  @staticmethod\n  def forward(ctx, x):\n    ctx.k = 2\n    return x\n  @staticmethod\n  def backward(ctx, g): return g * ctx.k\nC.apply(x)",
    "def f(n): return 1 if n < 1 else n * f(n - 1)\nf(3)",
    "def f(): return late\nlate = 3\nf()",
    "a = 0\nwhile a < 3: a = a + b; b = 2",
    "input x: float[n]\nx * n",
    "input n: int\ninput x: float[n]\nx * n",
    "e = 3\ne * 2",
    "F * 2 + F.sum()",
    "for i in range(3): t = i\nt",
    "if x: b = 1\nb",
    "'a' + f'{x}'",
    "pi ^ True",
    "x.grad == torch.sin",
    "def f(a, b=2): return a\nf(1); f(1, 2); f(b=1, a=2)",
    "if x:\n  def f(a): return a\nelse:\n  def f(a, b): return a\nf(1, 2)",
    "x.grad\nx.grad.data",
    "lambda x: x\nlambda: y",
    "lst = [1]\nlst.append(2)",
]


@pytest.mark.parametrize("text", GOOD)
def test_nothing_to_say(text):
    assert [(d.code, d.message) for d in findings(text)] == []


# Text, then line, column, code, message and help of each finding.
BAD = [
    ("y = foo(x)", (1, 5, "unknown-name", "`foo` is called and never defined", None)),
    (
        "relv(x)",
        (1, 1, "unknown-name", "`relv` is called and never defined", "did you mean `relu`?"),
    ),
    ("x = true\nx", (1, 5, "unknown-name", "`true` is not a value", "write `x = True`")),
    ("x = π * 2\nx", (1, 5, "unknown-name", "`π` is not a value", "write `x = pi * 2`")),
    ("dict(a=1)", (1, 1, "unknown-name", "`dict` of Python is not part of the language", None)),
    (
        "special.sin(2.0)",
        (1, 1, "unknown-name", "`special` is not a value", "write `torch.special.sin(2.0)`"),
    ),
    (
        "np.exp(2.0)",
        (
            *(1, 1, "unknown-name", "`np` is a module of Python and not part of the language"),
            "write the built-in functions without it: `exp(x)`",
        ),
    ),
    (
        "torch.nn.Liner(2, 3)",
        (1, 10, "unknown-name", "`Liner` of `torch.nn` is not part of the language", None),
    ),
    ("ln(2.0)", (1, 1, "unknown-name", "`ln` is called and never defined", "write `log(2.0)`")),
    (
        "torch.cuda.is_available()",
        (1, 12, "unknown-name", "`is_available` of `torch.cuda` is not part of the language", None),
    ),
    (
        "f(x, y) = x * y\nx",
        (
            *(1, 1, "bad-assignment", "the result of a call cannot be assigned to"),
            "write `def f(x, y): return x * y`",
        ),
    ),
    (
        "f(x, 2) = x\nx",
        (1, 1, "bad-assignment", "the result of a call cannot be assigned to", None),
    ),
    (
        "input xy\nxz * 2",
        (2, 1, "unknown-name", "`xz` is never given a value", None),
    ),
    (
        "input alpha\nalpa * 2",
        (2, 1, "unknown-name", "`alpa` is never given a value", "did you mean `alpha`?"),
    ),
    (
        "torch.snin(x)",
        (
            1,
            7,
            "unknown-name",
            "`snin` of `torch` is not part of the language",
            "did you mean `sin`?",
        ),
    ),
    (
        "import torch\ntorch",
        (
            *(2, 1, "unknown-name", "`torch` is a module here, not a value"),
            "`import torch as NAME` gives it another name",
        ),
    ),
    *(
        (
            f"import {root}\nm = {path}\nm.foo(3)\nm.SGD",
            (
                *(2, 5, "unknown-name", f"`{path}` is a module here, not a value"),
                f"`import {path} as NAME` gives it another name",
            ),
        )
        for root, path in (
            ("torch", "torch"),
            ("torch.optim", "torch.optim"),
            ("torch", "torch.nn.functional"),
            ("jax", "jax.numpy"),
            ("numpy", "numpy"),
        )
    ),
    ("x.shap", (1, 3, "bad-attribute", "no value has `shap`", "did you mean `shape`?")),
    (
        "x.zeros",
        (1, 3, "bad-attribute", "`zeros` is a function, not an attribute", "write `zeros(...)`"),
    ),
    (
        "y = t * 2",
        (
            1,
            5,
            "builtin-as-value",
            "`t` is a built-in function here, not a value",
            "give it a value: `t=...`",
        ),
    ),
    (
        "input x\nx[t]",
        (
            2,
            3,
            "builtin-as-value",
            "`t` is a built-in function here, not a value",
            "declare it: `input t`",
        ),
    ),
    (
        "if torch.sin: x",
        (1, 4, "builtin-as-value", "`sin` is a built-in function here, not a value", None),
    ),
    (
        "t.grad",
        (
            1,
            1,
            "builtin-as-value",
            "`t` is a built-in function here, not a value",
            "give it a value: `t=...`",
        ),
    ),
    ("sin(1, 2)", (1, 8, "wrong-arity", "`sin` takes 1 argument, got 2", None)),
    ("sin()", (1, 1, "wrong-arity", "`sin` lacks its argument `x`", None)),
    ("range()", (1, 1, "wrong-arity", "`range` lacks its argument `start`", None)),
    ("range(1, 2, 3, 4)", (1, 16, "wrong-arity", "`range` takes 1 to 3 arguments, got 4", None)),
    (
        "sum(x, dimm=0)",
        (1, 8, "wrong-arity", "`sum` takes no argument `dimm`", "did you mean `dim`?"),
    ),
    (
        "x.sum(dimm=0)",
        (1, 7, "wrong-arity", "`sum` takes no argument `dimm`", "did you mean `dim`?"),
    ),
    (
        "sum(x, axis=0, dim=1)",
        (1, 16, "duplicate-name", "the argument `dim` is given twice", None),
    ),
    (
        "sum(x, dim=1, axis=0)",
        (1, 15, "duplicate-name", "the argument `axis` is given twice", None),
    ),
    (
        "sum(x, 0, dim=1)",
        (1, 11, "duplicate-name", "`sum` gets its argument `dim` by position and by name", None),
    ),
    ("def f(a): return a\nf()", (2, 1, "wrong-arity", "`f` lacks its argument `a`", None)),
    (
        "def f(a): return a\nf(1, b=2)",
        (2, 6, "wrong-arity", "`f` takes no argument `b`", None),
    ),
    ("def f(a, a): pass", (1, 10, "duplicate-name", "the parameter `a` is named twice", None)),
    ("lambda a, a: 1", (1, 11, "duplicate-name", "the parameter `a` is named twice", None)),
    (
        "def f(a=1, b): pass",
        (1, 12, "syntax-error", "`b` has no default and follows one that has", None),
    ),
    ("break", (1, 1, "misplaced-statement", "`break` is outside a loop", None)),
    (
        "for i in x: pass\nelse: break",
        (2, 7, "misplaced-statement", "`break` is outside a loop", None),
    ),
    (
        "while x: break\nelse:\n  if y: continue",
        (3, 9, "misplaced-statement", "`continue` is outside a loop", None),
    ),
    (
        "while x:\n  def f(): continue",
        (2, 12, "misplaced-statement", "`continue` is outside a loop", None),
    ),
    (
        "return 3",
        (
            1,
            1,
            "misplaced-statement",
            "`return` is outside a function",
            "the last expression of a program is its result",
        ),
    ),
    (
        "f = 1\nsin(x) = 3",
        (
            2,
            1,
            "bad-assignment",
            "the result of a call cannot be assigned to",
            "write `def sin(x): return 3`",
        ),
    ),
    ("3 = x", (1, 1, "bad-assignment", "a literal cannot be assigned to", "write `x = 3`")),
    (
        "x == y = z",
        (
            1,
            1,
            "bad-assignment",
            "the result of an operator cannot be assigned to",
            "to compare write `==`",
        ),
    ),
    (
        "a, x + 1 = y",
        (1, 4, "bad-assignment", "the result of an operator cannot be assigned to", None),
    ),
    ("() = x", (1, 1, "bad-assignment", "there is no target to assign to", None)),
    ("for 3 in x: y", (1, 5, "bad-assignment", "a literal cannot be assigned to", None)),
    ("a = b = 1\na, b += 1", (2, 1, "bad-assignment", "`+=` has one target, not several", None)),
    ("3(4)", (1, 1, "not-callable", "a number cannot be called", "for a product write `*`")),
    ("'a'(4)", (1, 1, "not-callable", "a string cannot be called", None)),
    ("x = 3\nx(2)", (2, 1, "not-callable", "`x` is a number and cannot be called", None)),
    ("pi()", (1, 1, "not-callable", "`pi` is a number and cannot be called", None)),
    (
        "'a' + 1",
        (
            1,
            1,
            "bad-operand",
            "`+` takes two strings or two numbers, not one of each",
            "`str(x)` is the text of a number",
        ),
    ),
    ("'a' - x", (1, 1, "bad-operand", "`-` takes no strings", None)),
    (
        "x ^ 2.0",
        (1, 1, "bad-operand", "`^` is exclusive or and takes no floats", "write `x ** 2.0`"),
    ),
    ("import nothing as sp", (1, 8, "bad-import", "there is no module `nothing`", None)),
    ("from elsewhere import x", (1, 1, "bad-import", "there is no module `elsewhere`", None)),
    (
        "with open(x): y",
        (
            1,
            6,
            "unknown-name",
            "`open` of Python is not part of the language",
            "a program opens no files: `-i FILE` gives it values by name, `--rows FILE` runs it once "
            "a record, `-o FILE` writes its results",
        ),
    ),
    (
        "with x as 3: y",
        (1, 11, "bad-assignment", "a literal cannot be assigned to", None),
    ),
    (
        "def f():\n  return [(yield i) for i in g]\ng = 1",
        (2, 12, "misplaced-statement", "`yield` is not allowed in a comprehension", None),
    ),
    ("x = yield 3", (1, 5, "misplaced-statement", "`yield` is outside a function", None)),
    (
        "class A:\n  def f(self): return self.lengthe\n  def g(self): return 1\nA().f()",
        (2, 28, "bad-attribute", "no value has `lengthe`", None),
    ),
    ("with no_grad: y", (1, 6, "bad-context", "the context is a call", "put `()` after it")),
    ("with no_grad(1): y", (1, 6, "wrong-arity", "a context takes no arguments", None)),
    (
        "class A(B):\n  def forward(ctx): pass",
        (1, 9, "unknown-name", "there is no class `B`", None),
    ),
    ("def f(): super()", (1, 10, "bad-class", "`super` works only in a method of a class", None)),
    (
        "class A:\n  def __ad__(self): pass",
        (2, 3, "bad-class", "`__ad__` of a class is not supported here", "did you mean `__add__`?"),
    ),
    (
        "class A:\n  if x: pass",
        (2, 3, "bad-class", "the body of a class holds its methods and attributes", None),
    ),
    (
        "try: pass\nexcept: pass\nexcept ValueError: pass",
        (
            2,
            1,
            "misplaced-statement",
            "`except:` takes all exceptions and must be the last",
            None,
        ),
    ),
    ("raise Wrong", (1, 7, "unknown-name", "there is no class `Wrong`", None)),
    ("class A(Function): pass", (1, 1, "bad-class", "`A` has no `forward`", None)),
    (
        "class A(Function):\n  def forward(ctx): pass\n  def bakward(ctx): pass",
        (3, 3, "bad-class", "a `Function` has no method `bakward`", "did you mean `backward`?"),
    ),
    (
        "class A(Function):\n  def forward(): pass",
        (
            2,
            3,
            "bad-class",
            "`forward` has no parameter for its context",
            "write `def forward(ctx, ...):`",
        ),
    ),
    (
        "class A(Function):\n  x\n  def forward(ctx): pass",
        (2, 3, "bad-class", "the body of a class holds its methods and attributes", None),
    ),
    ("@jit\ndef f(): pass", (1, 2, "unknown-name", "`jit` is called and never defined", None)),
    (
        "@staticmethod\ndef f(): pass",
        (1, 2, "bad-decorator", "`@staticmethod` is not supported here", None),
    ),
    ("input a\ninput a", (2, 1, "bad-declaration", "`a` is declared twice", None)),
    (
        "def f():\n  input b",
        (
            2,
            3,
            "bad-declaration",
            "`input` is inside a block or function",
            "declare inputs at top level",
        ),
    ),
    (
        "input c: flot",
        (1, 10, "bad-declaration", "there is no type `flot`", "did you mean `float`?"),
    ),
    ("y = x\nx = 3", (1, 5, "used-before-assigned", "`x` is read before it is assigned", None)),
    ("x = x + 1", (1, 5, "used-before-assigned", "`x` is read before it is assigned", None)),
    ("x += 1", (1, 1, "used-before-assigned", "`x` is read before it is assigned", None)),
    ("sum = sum(x)", (1, 7, "used-before-assigned", "`sum` is read before it is assigned", None)),
    (
        "def f():\n  y = z\n  z = y\n  return z",
        (2, 7, "used-before-assigned", "`z` is read before it is assigned", None),
    ),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_finding(text, expected):
    found = [(*d.place[1:], d.code, d.message, d.help) for d in findings(text)]

    assert found == [expected]
    assert expected[2] in CODES


def test_all_findings_come_at_once_and_in_order():
    text = "break\ny = foo(x)\nsin()\nreturn\nx = 1"

    assert [(*d.place[1:], d.code) for d in findings(text)] == [
        (1, 1, "misplaced-statement"),
        (2, 5, "unknown-name"),
        (2, 9, "used-before-assigned"),
        (3, 1, "wrong-arity"),
        (4, 1, "misplaced-statement"),
    ]


def test_a_given_name_is_an_input_even_if_a_built_in_has_it():
    assert findings("t * 2", {"t"}) == []
    assert [d.code for d in findings("input x\nt * x", {"t"})] == ["builtin-as-value"]


def names(text, given=frozenset()):
    return analyse(parse(source(text)), SIGNATURES, frozenset(given))


@pytest.mark.parametrize(
    ("text", "free"),
    [
        ("x ** 2 + y * x", ("x", "y")),
        ("def f(a): b = a + c; return b\nf(x)", ("c", "x")),
        ("lambda x: x + y", ("y",)),
        ("x = y\nx", ("y",)),
        ("x.grad + sin(w)", ("x", "w")),
        ("F.relu(torch.sin(x)) + math.pi", ("x",)),
        ("F * F.sum()", ("F",)),
        ("pi + e + t(x)", ("x",)),
        ("x[i] = v", ("x", "i", "v")),
        ("for i in xs: i", ("xs",)),
        ("f(x)", ("x",)),
        ("f'{x:{w}}'", ("x", "w")),
        ("import torch\nimport math as m\nfrom torch import sin as s\ns(m.pi)", ()),
        ("input x\nx + y", ()),
        ("with no_grad(): x", ("x",)),
        ("class C(Function):\n  def forward(ctx, x): return x + k\nC.apply(z)", ("k", "z")),
    ],
)
def test_free_inputs(text, free):
    assert names(text).free == free


@pytest.mark.parametrize(
    ("text", "once", "constants"),
    [
        ("x = 3.0", ["x"], ["x"]),
        ("x = y = 2", ["x", "y"], ["x", "y"]),
        ("x = 1\nx = 2", [], []),
        ("x = 1\nx += 2", [], []),
        ("x = 1\nif a: x = 2", [], []),
        ("if a: x = 2", [], []),
        ("x, y = 1, 2", ["x", "y"], []),
        ("x = zeros(2, dtype=torch.pi)", ["x"], ["x"]),
        ("x = tensor([1.0, -2 ** pi], requires_grad=True)", ["x"], ["x"]),
        ("x = zeros(2).sum(dim=0)", ["x"], ["x"]),
        ("x = randn(2)", ["x"], []),
        ("x = sin(randn(2))", ["x"], []),
        ("x = 1\ny = x + 1", ["x", "y"], ["x"]),
        ("f = lambda x: x", ["f"], []),
        ("f = sin", ["f"], []),
        ("def f(): x = 1", [], []),
        ("x = y", ["x"], []),
        ("e = 2\nx = e", ["e", "x"], ["e"]),
        ("for i in range(3): pass", [], []),
        ("import torch\nx = torch.autograd.Variable(torch.tensor([1.0]))", ["x"], ["x"]),
        ("input x\nx = 3", [], []),
    ],
)
def test_names_assigned_once(text, once, constants):
    found = names(text)

    assert (list(found.once), list(found.constants)) == (once, constants)


def test_names_of_a_whole_program():
    found = names(
        "from torch.autograd import Variable as V\n"
        "import torch.nn.functional as nnf\n"
        "input x: float[n, m]\nparam k\ninput n: int\n"
        "if x: y = 1\ndef f(): z = 1\ny = 2"
    )

    assert found.top == ("x", "k", "n", "y", "f")
    assert list(found.declared) == ["x", "k", "n"]
    assert found.sizes == ("m",)
    assert found.imports == {"V": "torch.autograd.Variable", "nnf": "torch.nn.functional"}
    assert found.counts["y"] == 2
    assert [found.is_bound(name) for name in ("x", "m", "z", "V")] == [True, True, False, False]


def test_constant_expressions():
    found = names("a = 1")

    assert is_constant(parse(source("[1, sin(2)]")).body[0].value, found)
    assert not is_constant(parse(source("[a, 2]")).body[0].value, found)


def test_deep_and_long_programs_are_checked_without_a_deep_stack():
    assert findings("+".join(["x"] * 10_000)) == []
    assert findings("if x: y\n" + "elif x: y\n" * 299) == []
    [found] = findings("if x: y\n" + "elif x: y\n" * 5_000)
    assert found.code == "nested-too-deep"
    nested = "".join(" " * i + "if x:\n" for i in range(100)) + " " * 100 + "-" * 190 + "y"
    assert findings(nested) == []


def test_a_word_of_another_language_may_be_given():
    assert not findings("true * 2", frozenset({"true"}))


def test_all_known_mistakes_of_a_line_are_mended_together():
    found = findings("x = 2 * π * ln(3)\nx")
    assert [(d.place[2], d.help) for d in found] == [
        (9, "write `x = 2 * pi * log(3)`"),
        (13, "write `x = 2 * pi * log(3)`"),
    ]


def test_a_line_that_cannot_be_read_is_not_offered():
    assert findings("x = (π +\n  2)\nx")[0].help == "write `pi`"


@pytest.mark.parametrize(
    "text",
    [
        *("torch.sin = 1", "y = torch.sin = 1", "y, torch.relu = 1, 2", "math.pi += 1"),
        *("for torch.sin in range(3): pass", "def f():\n    [torch.sin, y] = [1, 2]\n    return y"),
        *("import math as m\nm.e = 3", "import torch.nn.functional as F\nF.relu = 1"),
    ],
)
def test_what_is_part_of_the_language_is_not_assigned_to(text):
    assert [d.code for d in findings(text)] == ["bad-assignment"], text


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("torch.nn.functionl", "torch.nn.functional"),
        ("torch.optm", "torch.optim"),
        ("jax.nump", "jax.numpy"),
        ("matplotlib.pyplt", "matplotlib.pyplot"),
        ("torch.distributed", None),
        ("torch.backends.cudnn", None),
        ("torch.nn.init", None),
    ],
)
def test_a_module_that_is_one_slip_away_from_a_known_one_is_refused(path, meant):
    found = [(d.code, d.help) for d in findings(f"import {path} as m\n1")]
    assert found == ([("bad-import", f"did you mean `{meant}`?")] if meant else [])


def test_attributes_in_functions_that_the_program_never_mentions_may_be_of_any_name():
    text = """
@torch.no_grad()
def evaluated(model):
    return model.wobble()
def fitted(model):
    return fitted(evaluated(model))
"""
    assert not load(text).check({}).findings
    with pytest.raises(GradError, match="wobble"):
        load(text + "fitted(2)\n")
