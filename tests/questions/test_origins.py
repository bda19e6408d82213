"""Without `--wrt`: the leaves that names hold at the end and that the result depends on by some path
of the program; of a program without leaves the float constants.
"""

import pytest

from gradcli.errors import GradError, UsageError
from gradcli.program import load
from gradcli.questions.asked.request import Options

LEAF = "torch.tensor({}, requires_grad=True)"
TWO = f"import torch\nk = 3.0\na = {LEAF.format('2.0')}\nb = {LEAF.format('5.0')}\n"
FOUND = {
    "k = 3.0\nj = 4.0\nout = k ** 2": ["k"],
    "k = 3.0\nj = 4.0\nout = k ** 2 if j > 3 else k": ["k", "j"],
    f"{TWO}out = a * k": ["a"],
    f"{TWO}out = a * b": ["a", "b"],
    f"{TWO}out = a.detach() * b": ["a", "b"],
    f"{TWO}out = a * 2 if k > 2 else b * 3": ["a", "b"],
    f"{TWO}if k > 5: out = a * 2\nelse: out = b": ["a", "b"],
    f"{TWO}out = b\nif k > 5: out = a * 2": ["a", "b"],
    f"{TWO}def f(x): return x * a\nout = f(3.0)": ["a"],
    f"{TWO}def f(x): return x * a\ndef g(h): return h(2.0)\nout = g(f)": ["a"],
    f"{TWO}def f(x): return x * a\nout = b * 2": ["b"],
    f"{TWO}fs = [lambda x: x * a]\nout = fs[0](1.0)": ["a"],
    f"{TWO}l = []\nl.append(a * 2)\nout = l[0] + 1": ["a"],
    f"{TWO}l = []\nm = l\nl.append(a * 2)\nout = m[0] + 1": ["a"],
    f"{TWO}d = {{}}\nd['x'] = a\nout = d['x'] * 2": ["a"],
    f"{TWO}l = [0.0, 0.0]\nl[0] = a\nout = l[0] * 2": ["a"],
    f"{TWO}out = 0.0\nfor i in range(2): out = out + a": ["a"],
    f"{TWO}out = 0.0\nfor i in range(2):\n    if i == 1: out = b\n    c = a": ["b"],
    f"{TWO}class C:\n    def __init__(self): self.w = a\no = C()\nout = o.w * 2": ["a"],
    f"{TWO}class C:\n    def f(self): return b\nout = C().f() * 2": ["b"],
    f"{TWO}out = 0.0\ndef f():\n    global out\n    out = a * 2\nf()": ["a"],
    f"{TWO}out = sum([x * a for x in [1.0, 2.0]])": ["a"],
    f"{TWO}x, y = a * 2, b * 2\nout = x": ["a", "b"],  # the parts of a tuple are not told apart
    f"{TWO}try: out = a * 2\nexcept ValueError: out = b": ["a", "b"],
    f"{TWO}c = torch.zeros(2)\nc[0] = a\nout = c.sum()": ["a"],
    f"{TWO}c = torch.zeros(())\nc.add_(a)\nout = c * 2": ["a"],
    # however often the name is assigned
    f"{TWO}a = {LEAF.format('7.0')}\nout = a ** 2": ["a"],
    f"{TWO}for i in range(3): a = {LEAF.format('7.0')}\nout = a ** 2": ["a"],
    f"{TWO}out = a * 2\nwith torch.no_grad(): a -= 0.1": ["a"],
    f"{TWO}for i in range(2):\n    out = a * 2\n    with torch.no_grad(): a -= 0.1": ["a"],
    f"{TWO}a = a.detach().requires_grad_()\nout = a * 2": ["a"],
    f"{TWO}def made(): return {LEAF.format('7.0')}\na = made()\nout = a * 2": ["a"],
    f"{TWO}for i in range(2):\n    out = a * 2\n    a = {LEAF.format('1.0')}": ["a"],
}
REFUSED = {
    f"{TWO}out = a ** 2\na = {LEAF.format('7.0')}": "the name holds a later leaf",
    f"{TWO}out = a ** 2\na = 5.0": "the name holds a number",
    f"{TWO}out = k ** 2": "it depends on a constant alone",
    f"import torch\nk = 3.0\nw = [{LEAF.format('2.0')}]\nout = w[0] * k": "a list holds it",
    "import torch.nn as nn\nk = 3.0\nm = nn.Linear(1, 1)\nout = m(tensor([k])).sum()": "a module",
}


@pytest.mark.parametrize("program", FOUND)
def test_a_derivative_is_by_the_leaves_that_the_result_may_depend_on(program):
    loaded = load(program)
    names = FOUND[program]
    assert list(loaded.grad(of="out").grad) == names
    assert list(loaded.vjp(of="out", cotangent=1.0).vjp) == names
    assert list(loaded.jacobian(of="out").jacobian) == names
    assert list(loaded.hessian(of="out").hessian) == names
    assert list(load(f"{program}\nout").grad().grad) == names


@pytest.mark.parametrize("program", FOUND)
def test_compiled_code_finds_the_same_names(program):
    loaded = load(program)
    try:
        found = loaded.grad(of="out", options=Options(compile="always"))
    except GradError as error:
        if error.diagnostics[0].code != "not-compilable":
            raise
        return  # the interpreter answers
    assert list(found.grad) == FOUND[program]


@pytest.mark.parametrize("program", REFUSED)
@pytest.mark.parametrize("question", ["grad", "vjp", "jacobian", "hessian", "gradcheck"])
def test_no_constant_stands_in_for_a_leaf_that_no_name_holds(program, question):
    more = {"cotangent": 1.0} if question == "vjp" else {}
    with pytest.raises(UsageError, match="no leaf that a top-level name still holds"):
        getattr(load(program), question)(of="out", **more)


@pytest.mark.parametrize("k", [1.0, 9.0])
def test_the_names_do_not_depend_on_the_path_of_a_run(k):
    program = f"{TWO}out = b\nif k > 5: out = a * 2"
    assert set(load(program).grad(k=k, of="out").grad) == {"a", "b"}


def test_gradcheck_says_that_a_name_assigned_twice_cannot_be_moved():
    program = f"{TWO}a = {LEAF.format('7.0')}\nout = a ** 2"
    with pytest.raises(Exception, match="`a` is not assigned exactly once"):
        load(program).gradcheck(of="out")


def test_rows_have_the_columns_of_the_question(cli):
    program = f"{TWO}a = {LEAF.format('7.0')}\nout = b\nif k > 5: out = a * k"
    _, out, _ = cli("grad", "-e", program, "--of", "out", "--rows", "-", stdin="k\n1\n9\n")
    assert out.splitlines() == ["out,grad.a,grad.b", "5.0,0.0,1.0", "63.0,9.0,0.0"]
