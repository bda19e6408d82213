"""Memory of what loops keep for their reverse: taken at once, kept for the next call."""

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="machine code needs the extra `fast`")

from support.programs.typed_programs import filling

from gradcli.engine.compile.control import Control
from gradcli.engine.compile.llvm import run, worker
from gradcli.engine.compile.llvm.code import Code
from gradcli.program import Options, load

HEAD = "input x: float[4]\ninput b\ny, s = x, b\nfor i in range(5000):\n"
KNOWN = {
    "numbers": "    s = s + sin(s) * b\ns",
    "vectors": "    y = sin(y) * b + x\ny.sum() * s",
    "a loop in a loop": "    for j in range(7): s = s + sin(s) * b\ns",
}


@pytest.mark.parametrize("name", KNOWN)
def test_stacks_of_known_length_are_taken_at_once(name, monkeypatch):
    asked, served = [], run.Run._served
    monkeypatch.setattr(
        run.Run, "_served", lambda self, *args: asked.append(args[1]) or served(self, *args)
    )
    function = load(HEAD + KNOWN[name]).compile("b")
    function(np.array([0.001]), x=np.ones(4))
    assert asked
    assert len(asked) == len({*asked})


def test_what_does_not_fit_grows_as_it_is_needed(monkeypatch):
    function, given = load(HEAD + KNOWN["numbers"]).compile("b"), {"x": np.ones(4)}
    expected = function(np.array([0.001]), **given)
    monkeypatch.setattr(run.Run, "_first", lambda self, *args: (0, 0))
    assert [*map(repr, function(np.array([0.002]), **given))] != [*map(repr, expected)]
    assert [*map(repr, function(np.array([0.001]), **given))] == [*map(repr, expected)]


def test_kept_memory_is_used_again_where_it_is_much(monkeypatch):
    """More than a call may take without asking how much there is."""
    taken, realloc = [], run._realloc
    monkeypatch.setattr(run, "_realloc", lambda at, size: taken.append(size) or realloc(at, size))
    made, control = Code(filling()), Control(memory=1 << 16, more=lambda: 1 << 23)
    made.call((100_000,), control)
    before = len(taken)
    made.call((100_000,), control)
    assert len(taken) == before


@pytest.mark.parametrize("turns", [100, 100_000, 2_000_000])
def test_a_thread_is_begun_only_for_long_calls(turns, monkeypatch):
    """Whether a call is long is known before it begins, if the turns are known."""
    threads, ends = [], []
    begin, call = worker.start_new_thread, Code._run
    monkeypatch.setattr(worker, "start_new_thread", lambda *a: threads.append(a) or begin(*a))
    monkeypatch.setattr(Code, "_run", lambda *args: ends.append(args) or call(*args))
    program = load(f"input b\ny = b\nfor i in range({turns}): y = y * y * 0.5 + b\ny")
    program.grad(b=0.1, options=Options(compile="always"))
    assert len(ends) == 1
    assert len(threads) == (turns > 1_000_000)
