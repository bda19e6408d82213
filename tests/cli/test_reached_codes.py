"""Every code of the table is reached by a test: by a wrong input, by what warns, or by the tests
that it names.
"""

import re

import pytest
from support.processes.house import ROOT
from support.programs.bad_files import BAD_FILES
from support.programs.bad_inputs import bad_inputs

from gradcli.codes import CODES

VIEW = """x = tensor([1.0, 2.0], requires_grad=True)
y = x * 1
with no_grad():
    z = y[0:1]
z *= 2
"""
RULE = """class F(Function):
  def forward(ctx, x): return x * 2
  def backward(ctx, g): return g
F.apply(x)
"""
LEAF = """def f():
    x = tensor(1.0, requires_grad=True)
    return (x * 2).grad_fn.next_functions[0][0]
f().variable
"""
SWITCHED = "x = tensor(1.0, requires_grad=True)\ny = x * 2\ny.requires_grad = False"

BENT = "param a: float[2] = [1, 2]\ninput x\na.sum() * x"
FLAT = "param k = 1.0\ninput x\na * (1 - exp(-k * x))"
FIT = ["fit", "--rows", "d.csv", "--observed", "y"]

REACHED = {
    "bitwise-power": ["run", "-e", "x = 3\nx ^ 2"],
    "branch-on-input": ["check", "-e", "input x = 1.0\ny = 0\nif x > 0: y = x\ny"],
    "decimal-comma": ["run", "-e", "x", "x=1,5"],
    "no-return": ["run", "-e", "def f(x): x ** 2\nf(3)"],
    "not-found": ["root", "x ** 2 + 1", "x=1"],
    "no-sensitivity": ["root", "(x - a) ** 2", "x=2", "a=2", "--wrt", "x", "--sensitivity", "a"],
    "bad-covariance": ["propagate", "-e", "x", "x=2+/-1", "--correlation", "x,x=0.3"],
    "monte-carlo": ["propagate", "exp(x)", "x=0+/-1", "--monte-carlo", "200", "--seed", "1"],
    "no-uncertainty": ["propagate", "-e", "x", "x=2"],
    "not-linear": ["propagate", "exp(x)", "x=0+/-1"],
    "normal-coverage": ["propagate", "x * y", "x=1(1):dof=3", "y=1(1)", "--correlation", "x,y=0.1"],
    "plus-minus": ["run", "-e", "x", "x=20+-0.2"],
    "unused-uncertainty": ["run", "-e", "x", "x=20+/-0.2"],
    "code-made": ["run", "-e", "input x = 1.0\nx * 2", "--compile", "always", "-v"],
    "flat-operation": ["check", "-e", "input x = 1.0\nround(x)"],
    "float-equality": ["check", "-e", "input x = 1.0\nx == 0.3"],
    "input-at-default": ["run", "-e", "input x = 1\ninput y = 2\nx", "--rows", "p.csv"],
    "list-arithmetic": ["run", "-e", "a = [1, 2]\nb = [3, 4]\na + b"],
    "memory-limit": ["run", "-e", "zeros(2 ** 40, 2 ** 40)"],
    "nested-too-deep": ["run", "-e", f"print({'-' * 300}1)"],
    "no-leaf": ["run", "-e", LEAF],
    "no-solution": ["run", "-e", "root(lambda x: x ** 2 + 1, 1.0)"],
    "not-a-leaf": ["run", "-e", SWITCHED],
    "not-compilable": ["run", "-e", "gradcheck(sin, (x,))", "x=1.0", "--compile", "always"],
    "nothing-recorded": ["graph", "-e", "input x = 1.0\nx.detach()"],
    "ambiguous-name": [*FIT, "-e", "param x\ninput y\nx * y"],
    "at-bound": [*FIT, "-e", "param a: float in [0, 1] = 0.5", "-e", "input x\na * x"],
    "groups-left-out": [*FIT, "-e", BENT, "--by", "x", "--on-error", "skip"],
    "no-profile-end": [*FIT, "-e", "param a = 1.0", "-e", FLAT, "--profile"],
    "non-finite-start": [*FIT, "-e", "param a = -1.0", "-e", "input x\nlog(a * x)"],
    "not-converged": [*FIT, "-e", "param a = 9.0\ninput x\nexp(a*x)", "--max-evaluations", "2"],
    "not-told": [*FIT, "-e", "param a = 1.0\nparam b = 1.0\ninput x\na * b * x"],
    "nothing-to-fit": [*FIT, "-e", "input x\nx"],
    "too-few-records": [*FIT, "-e", "param a: float[9] = zeros(9)\ninput x\na.sum() * x"],
    "inference-tensor": ["run", "-e", "with inference_mode(): x = ones(2)\nx += 1"],
    "outside-bounds": ["run", "-e", "param k: float in [0, 10] = 0.1", "-e", "k", "k=20"],
    "overlapping-memory": ["run", "-e", "x = ones(1).expand(3)\nx += 1"],
    "plots-left-out": ["run", "-e", "import matplotlib.pyplot as plt", "-e", "plt.plot([1])"],
    "pytorch-nan": ["grad", "-e", "where(x > 0, log(x), 0)", "x=0", "--check-nan"],
    "recursion-limit": ["run", "-e", "def f(n): return f(n)\nf(0)", "--max-depth", "10"],
    "rows-left-out": ["run", "-e", "assert x > 2", "--rows", "p.csv", "--on-error", "skip"],
    "singular-derivative": ["run", "-e", "root(lambda x: (x - 1) ** 3, 2.0)"],
    "step-limit": ["run", "-e", "while True: pass", "--max-steps", "10"],
    "time-limit": ["run", "-e", "while True: pass", "--time-limit", "0.001"],
    "unrecorded-view": ["run", "-e", VIEW],
    "view-in-place": ["run", "-e", "(tensor([1.0], requires_grad=True) * 1).unbind()[0].add_(1)"],
    "unused-name": ["check", "-e", "y = 2\ny = 3\ny"],
    "work-limit": ["run", "-e", "ones(1).expand(10 ** 12).sum()"],
    "wrong-derivative": ["gradcheck", "-e", RULE, "--rows", "p.csv"],
}

ELSEWHERE = {
    "bad-notebook": "tests/cli/commands/test_notebooks.py",
    "line-passed-over": "tests/cli/commands/test_notebooks.py",
    "output-differs": "tests/cli/commands/test_notebooks.py",
    "bad-question": "tests/cli/serve/test_questions.py",
    "bug": "tests/cli/commands/test_commands.py",
    "missing-extra": "tests/numerics/test_special.py",
    "not-formatted": "tests/editor/test_layout.py",
    "numbers-in-quotes": "tests/cli/rows/test_row_options.py",
    "cluster-joined": "tests/cli/parts/test_clusters.py",
    "cluster-lost": "tests/cli/parts/test_clusters.py",
    "parts-done": "tests/cli/parts/test_folders.py",
    "worker-lost": "tests/cli/rows/test_rows.py",
}


@pytest.mark.parametrize("code", REACHED)
def test_a_code_is_reached(code, cli, tmp_path, monkeypatch):
    (tmp_path / "p.csv").write_text("x\n1\n")
    (tmp_path / "d.csv").write_text("x,y\n1,2\n2,4.1\n3,5.8\n")
    monkeypatch.chdir(tmp_path)
    _, out, err = cli(*REACHED[code])
    assert f"[{code}]" in out + err, out + err


def test_memory_that_runs_out_is_told(cli, monkeypatch):
    def exhausted(*_):
        raise MemoryError

    monkeypatch.setattr("gradcli.program.load_source", exhausted)
    status, _, err = cli("run", "-e", "1")
    assert (status, err) == (6, "gradcli: error[memory]: out of memory\n")


@pytest.mark.parametrize("code", ELSEWHERE)
def test_the_test_that_reaches_a_code_names_it(code):
    assert re.search(rf"\b{code}\b", (ROOT / ELSEWHERE[code]).read_text("utf-8"))


def test_every_code_is_reached():
    rows = [*bad_inputs(), *BAD_FILES]
    said = {m[1] for row in rows if (m := re.search(r" (?:error|warning)\[(.+?)\]", row.says))}
    left = CODES.keys() - said - REACHED.keys() - ELSEWHERE.keys() - {"memory"}
    assert not left, f"no test reaches {sorted(left)}"
    assert not REACHED.keys() & said, "the table of wrong inputs has them"
