"""`--safe` against programs that are written to break it: each ends, with the status of a limit or of
what is wrong with it, in the memory that it may take.
"""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from gradcli.machine import resident

SCRIPT = Path(sys.executable).with_name("gradcli")
GRADCLI = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-P", "-m", "gradcli"]

AT_ONCE = {  # programs that are refused before anything large is made: the code
    "zeros(3 * 10**9)": "memory-limit",
    "zeros(10**6, 10**6)": "memory-limit",
    "zeros(2**40, 2**40)": "memory-limit",
    "arange(0, 1, 1e-15)": "memory-limit",
    "linspace(0, 1, 10**12)": "memory-limit",
    "randn(10**10)": "memory-limit",
    "eye(10**6)": "memory-limit",
    "ones(10**5).unsqueeze(0) + ones(10**5).unsqueeze(1)": "memory-limit",
    "outer(ones(10**5), ones(10**5))": "memory-limit",
    "ones(10**5, 1) @ ones(1, 10**5)": "memory-limit",
    "einsum('i,j,k->ijk', ones(10**4), ones(10**4), ones(10**4))": "memory-limit",
    "kron(ones(10**5), ones(10**5))": "memory-limit",
    "diag(ones(10**5))": "memory-limit",
    "pad(ones(3), (0, 10**12))": "memory-limit",
    "ones(3).repeat(10**12)": "memory-limit",
    "ones(3).repeat_interleave(10**12)": "memory-limit",
    "one_hot(tensor([0]), 10**12)": "memory-limit",
    "vander(ones(10**4), 10**6)": "memory-limit",
    "cdist(ones(10**5, 2), ones(10**5, 2))": "memory-limit",
    "combinations(arange(10**4), 5)": "memory-limit",
    "conv1d(ones(1, 1, 10**6), ones(1, 1, 10**5))": "memory-limit",
    "x = ones(10**6)\nfor i in range(60): x = cat([x, x])\nx.sum()": "memory-limit",
    "l = []\nfor i in range(100): l.append(zeros(10**7))\nfor v in l: v += 1": "memory-limit",
    "ones(1).expand(10**12).contiguous()": "work-limit",
    "ones(1).expand(10**6, 10**6).T.reshape(-1)": "memory-limit",
    "ones(1).expand(10**9, 10**9).T.reshape(-1)": "memory-limit",
    "ones(1).expand(10**12).tolist()": "memory-limit",
    "ones(1).expand(10**12)": "memory-limit",
    "x = ones(1).expand(10**12)": "memory-limit",
    "jacobian(lambda v: v * v)(ones(10**5))": "memory-limit",
    "hessian(lambda v: (v * v).sum())(ones(10**5))": "memory-limit",
    "ones(3)[zeros(1).long().expand(10**9)]": "memory-limit",
    "x = zeros(3)\nx[zeros(1).long().expand(10**9)] = 1.0": "memory-limit",
    "ones(1).expand(10**12).unbind()": "memory-limit",
    "ones(1).expand(10**12).sum()": "work-limit",
    "ones(1).expand(10**12) + 1": "work-limit",
    "ones(1).expand(10**12)[::2].max()": "work-limit",
    "ones(1).expand(10**10).cumsum(0)": "work-limit",
    "(ones(1).expand(10**12) == 1).all()": "work-limit",
    "x = tensor(1.0, requires_grad=True)\nx.expand(10**12).sum().backward()": "work-limit",
    "t = 'a' * 3 * 10**7\nt.title()": "memory-limit",
    "t = 'é' * 4 * 10**7\nt.lower()": "memory-limit",
    "f'{1:10000000000}'": "memory-limit",
    "f'{1.5:.2000000000f}'": "memory-limit",
    "w = 10**10\nf'{1:{w}}'": "memory-limit",
    "x = ['a'] * 10**10": "memory-limit",
    "[0.0] * 10**18": "memory-limit",
    "x = []\nx.extend(range(10**12))": "memory-limit",
    "x = ['a']\nx += range(10**12)": "memory-limit",
    "range(10**12)": "memory-limit",
    "x = ('a',)\nfor i in range(60): x = x + x": "memory-limit",
    "a, b = range(10**12)": "wrong-count",
    "10 ** 10 ** 10": "integer-overflow",
    "2 ** 10**9": "integer-overflow",
    "x = 1\nfor i in range(1, 10**6): x = x * i": "integer-overflow",
    "def f(x): return f(x)\nf(1)": "recursion-limit",
    "def f(x): return grad(f)(x)\nf(1.0)": "recursion-limit",
    "f = lambda x: x * x\nfor i in range(1000): f = grad(f)\nf(2.0)": "recursion-limit",
    "f = lambda x: x\nfor i in range(2000): f = (lambda h: lambda x: h(x) + 1)(f)\nf(1)": "recursion-limit",
    "l = ['a']\nl.append(l)\nprint(l)": "recursion-limit",
    "l = ['a']\nl.append(l)\nm = ['a']\nm.append(m)\nl == m": "recursion-limit",
    "l = ['a']\nl.append(l)\nl": "nested-too-deep",
}


@pytest.mark.parametrize(("text", "code"), AT_ONCE.items(), ids=AT_ONCE)
def test_what_cannot_be_done_is_refused_at_once(cli, text, code):
    before = resident()
    status, out, err = cli("run", "-e", text, "--safe", "--max-memory", "100MiB", "-q")
    assert f"error[{code}]" in err
    assert status == (5 if code in ("wrong-count", "integer-overflow", "nested-too-deep") else 6)
    assert out == ""
    assert resident() - before < 150 * 2**20


def test_what_a_library_takes_while_it_works_counts(forked):
    # in a process of its own: what another test has let go of may be taken again, and costs nothing
    done = forked.run(
        "run", "-e", "svd(ones(2500, 2500))", "--safe", "--max-memory", "100MiB", "-q"
    )
    assert (done.returncode, done.stdout) == (6, b"")
    assert b"error[memory-limit]" in done.stderr


def test_a_view_of_any_size_is_printed(cli):
    status, out, err = cli("run", "-e", "print(ones(1).expand(10**12))", "--safe")
    assert (status, out) == (0, "tensor([1., 1., 1.,  ..., 1., 1., 1.])\n"), err


@pytest.mark.parametrize("form", ["plain", "json", "csv", "tsv"])
@pytest.mark.parametrize("limit", ["--max-memory=20MiB", "--time-limit=50ms"])
def test_an_answer_that_is_large_is_written_within_the_limits(forked, form, limit):
    # in a process of its own: what another test has let go of may be taken again, and costs nothing
    done = forked.run("run", "-e", "rand(10**6)", "--safe", limit, "-f", form, "-q")
    assert (done.returncode, done.stdout) == (6, b"")
    assert b"-limit]: " in done.stderr


UNFOLLOWED = [  # what a check would follow for ever, or through more than memory holds
    "x = ['a'] * 10**10\n[0.0] * 10**18",
    "x = 'a'\nfor i in range(60): x = x + x",
    "x = ('a',)\nfor i in range(60): x = x + x",
    "x = [1, 'a']\nfor i in range(60): x = x + x",
    "x = ['a']\nfor i in range(60): x += x\nfor i in range(60): x.extend(x)",
    "l = [1.0]\nfor i in range(30): l = [l, l]\ntensor(l)",
    "l = ['a']\nfor i in range(30): l = (l, l)\nl == l",
    "x = ones(10**6).unbind()\nlen(x)",
    "l = [1.0] * 10**7\ntensor(l)",
    "for i in range(10**18): x = 1\nwhile True: x = 2",
]


@pytest.mark.parametrize("text", UNFOLLOWED)
def test_a_check_ends(cli, text):
    assert cli("check", "-e", text, "-q")[0] in (0, 1)


IN_TIME = {  # programs that go on for ever, in loops and in single operations
    "a loop": "while True: pass",
    "a counted loop": "for i in range(10**18): pass",
    "loops of pairs": "for i, j in zip(range(10**12), range(10**12)): pass",
    "a list that grows": "l = []\nfor x in range(10**12): l.append(x)",
    "a list that grows as it is gone through": "l = ['a']\nfor x in l: l.append(x)",
    "a list of pairs": "l = []\nl.extend(enumerate(range(10**12)))",
    "a search": "'a' in range(10**12)",
    "a sum": "sum(range(10**12))",
    "a tensor of a range": "tensor(range(10**12))",
    "calls without an end": "def f(n): return n if n < 2 else f(n - 1) + f(n - 2)\nf(100)",
    "a long text of lists": "l = [1.0]\nfor i in range(60): l = [l, l]\nprint(l)",
    "a tensor of lists": "l = [1.0]\nfor i in range(60): l = [l, l]\ntensor(l)",
    "the text of an exception": "l = ('a',)\nfor i in range(60): l = (l, l)\nraise ValueError(l)",
    "the text of a key": "l = ('a',)\nfor i in range(60): l = (l, l)\nraise KeyError(l)",
    "the text of an assertion": "l = ('a',)\nfor i in range(60): l = (l, l)\nassert False, l",
    "a comparison of lists": "l = ['a']\nfor i in range(60): l = [l, l]\nl == l",
    "a value of tuples": "l = ('a',)\nfor i in range(60): l = (l, l)\nl",
    "rows of a view": "for v in ones(1).expand(10**12): pass",
    "a graph that grows": "x = tensor(1.0, requires_grad=True)\nwhile True: x = x * 1.0001\nx",
}


@pytest.mark.parametrize("text", IN_TIME.values(), ids=IN_TIME)
def test_what_does_not_end_is_stopped(cli, text):
    status, out, err = cli("run", "-e", text, "--safe", "--time-limit", "20ms", "-q")
    assert (status, out) == (6, ""), err
    assert "error[time-limit]: the time limit of 0.02 s is reached" in err


GROWING = {  # programs that take memory little by little, until it is over
    "a graph": "x = tensor(1.0, requires_grad=True)\nwhile True: x = x * 1.0001\nx.backward()",
    "a list": "l = []\nwhile True: l.append([1.0])",
    "a text": "s = 'a'\nwhile True: s = s + f'{s}a'",
    "closures": "l = []\nwhile True: l.append(lambda x: l)",
    "small tensors": "l = []\nwhile True: l.append(ones(100))",
    "a list of pairs": "l = []\nl.extend(enumerate(range(10**12)))",
    "parts of a tensor": "l = []\nwhile True: l.extend(ones(10**5).unbind())",
    "texts of lists": "s = 'a'\nfor i in range(60): s = str([s, s])",
}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            text, id=name, marks=() if name in ("a graph", "texts of lists") else pytest.mark.long
        )
        for name, text in GROWING.items()
    ],
)
def test_what_grows_is_stopped(text):
    def bounded():
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))

    done = subprocess.run(
        [
            *GRADCLI,
            "run",
            "-e",
            text,
            "--safe",
            "--max-steps",
            "1e12",
            "--max-memory",
            "20MiB",
            *("--time-limit", "1h"),  # a busy machine must not come to it first
            *("--compile", "never"),  # code of an endless loop keeps no graph
            "-r",
        ],
        check=False,
        capture_output=True,
        timeout=600,
        preexec_fn=bounded,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 6
    assert b"error[memory-limit]" in done.stderr[-2000:]
    assert b"Traceback" not in done.stderr
