"""Free names are needed if what reads them may run: at top level, or in a function that is named.
An import binds its name at its line.
"""

import pytest

from gradcli.errors import InputError, ProgramError
from gradcli.program import check_source, load
from gradcli.source import Source

UNNEEDED = {
    "a method that is never named": "class A:\n    def f(self): return B\n",
    "a function that is never named": "def f(): return B\n",
    "a function that names itself": "def f(n): return B if n == 0 else f(n - 1)\n",
    "a method that names itself": "class A:\n    def f(self): return B + self.f()\n",
    "a method that Python calls": "class A:\n    def __add__(self, o): return B\n",
    "a property": "class A:\n    @property\n    def f(self): return B\n",
    "a static method": "class A:\n    @staticmethod\n    def f(): return B\n",
    "a lambda in it": "def f(): return lambda: B\n",
    "a comprehension in it": "def f(): return [B for i in range(3)]\n",
    "several of them": "def f(): return B\ndef g(): return B + 1\n",
}
NEEDED = {
    "at top level": "x = 1 if True else B\n",
    "called": "def f(): return B\ny = 1 if True else f()\n",
    "passed on": "def f(): return B\ng = f\n",
    "named by another": "def f(): return B\ndef g(): return f()\n",
    "a method that is named": "class A:\n    def f(self): return B\ny = 1 if True else A().f()\n",
    "named as text": "class A:\n    def f(self): return B\nname = 'f'\n",
    "decorated": "def d(f): return f\n@d\ndef f(): return B\n",
    "in the body of a class": "class A:\n    k = B\n",
    "a default": "def f(x=B): return x\n",
    "in both": "def f(): return B\nx = B\n",
    "a comprehension": "x = [B for i in []]\n",
    "a lambda": "g = lambda: B\n",
}


@pytest.mark.parametrize("case", UNNEEDED)
def test_a_name_read_where_nothing_leads_may_be_missing(case):
    program = load(f"{UNNEEDED[case]}7.0\n")
    assert program.run().result == 7.0
    assert program.required == ()
    assert program.run(B=3.0).result == 7.0
    findings = check_source(Source("t", f"{UNNEEDED[case]}7.0\n"), {}).findings
    [told] = [f for f in findings if f.code == "missing-input"]
    assert told.severity == "warning"
    assert not check_source(Source("t", "def f(): return B\nf\n"), {"B": 1}).findings


@pytest.mark.parametrize("case", NEEDED)
def test_a_name_that_may_be_read_is_needed(case):
    program = load(f"{NEEDED[case]}7.0\n")
    assert program.required == ("B",)
    with pytest.raises(InputError, match="input `B` has no value"):
        program.run()
    assert program.run(B=3.0).result == 7.0


def test_a_function_that_runs_after_all_says_what_is_missing():
    program = "class A:\n    def __add__(self, o): return B + o\nA() + 1\n"
    with pytest.raises(InputError, match=r":2:34: input `B` has no value"):
        load(program).run()
    assert load(program).run(B=3.0).result == 4.0


def test_what_is_called_and_never_defined_is_refused_anywhere():
    with pytest.raises(ProgramError, match="called and never defined"):
        load("class A:\n    def f(self): return nothing()\n1\n")


IMPORTED = {
    "from math import exp\nexp = exp(1.0)\nexp": 2.718281828459045,
    "from math import sqrt as r\nr = r(4.0) + r(9.0)\nr": 5.0,
    "from torch.optim import SGD\nSGD = [SGD]\nlen(SGD)": 1,
    "def f():\n    from math import sqrt\n    sqrt = sqrt(4.0)\n    return sqrt\nf()": 2.0,
    "if True:\n    from math import sqrt\nsqrt = sqrt(4.0)\nsqrt": 2.0,
    "try:\n    from math import sqrt\nexcept ImportError:\n    sqrt = None\nsqrt(4.0)": 2.0,
    "from functools import partial\nfrom torch.autograd.gradcheck import gradcheck\n"
    "gradcheck = partial(gradcheck, eps=1e-6)\n"
    "gradcheck(lambda x: x ** 2, (tensor(2., requires_grad=True),))": True,
}


@pytest.mark.parametrize("program", IMPORTED)
def test_an_import_binds_its_name_first(program):
    assert load(f"{program}\n").run().result == IMPORTED[program]


@pytest.mark.parametrize("program", ["exp = exp(0.0)", "def f():\n    exp = exp(0.0)\nf()"])
def test_without_an_import_it_is_read_too_early(program):
    with pytest.raises(ProgramError, match="read before it is assigned"):
        load(f"{program}\n")
