"""Large programs: seconds of each stage before the run, and the memory that they take."""

from __future__ import annotations

import gc
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from gradcli.engine.run.code.counting import Counting
from gradcli.engine.run.code.translate import translate
from gradcli.engine.run.language.names import Builtins
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import analyse
from gradcli.grammar.syntax.parser import parse
from gradcli.source import Source

LINE = "y = y * 0.5 + sin(x) * (x - 3.5) ** 2 / 3.0\n"
TEXTS = {
    "10,000 lines of 7 operations": "x = 1.5\ny = x\n" + LINE * 10_000,
    "100,000 terms": "x = 1.5\n" + " + ".join(["x"] * 100_000),
    "100,000 statements": "x = 1.5\ny = x\n" + "y = y + x\n" * 100_000,
    "100,000 functions": "".join(f"def f{i}(a): return a\n" for i in range(100_000)),
}
CHAIN = ("y = y + 1.5", "y = y * x")
MIXED = (
    *("a = sin(b) * c", "b = a * 0.5 + exp(-c)", "c = (a + b) / 3.0", "t = t * a + v"),
    *("a = log(1.0 + b ** 2)", "b += a", "t = relu(t) - 0.1", "c = t.sum() * b"),
    *("if a > 0.5:", "    b = b * 2.0", "for k in range(3):", "    c = c * 0.9 + k"),
)
CHECKED = {"300,000 statements of a chain": CHAIN, "300,000 mixed statements": MIXED}
T = TypeVar("T")


def main() -> None:
    """Print the table."""
    stages = ("parse", "check", "lower", "translate")
    print("large programs, seconds of processor time")
    print(f"  {'':30}{''.join(f'{stage:>11}' for stage in stages)}{'peak, MB':>11}")
    for name, text in TEXTS.items():
        taken: list[float] = []
        _stages(Source("benchmark", text), taken)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"  {name:30}{''.join(f'{seconds:11.2f}' for seconds in taken)}{peak:11.0f}")
    print()
    checks()


def checks() -> None:
    """Whole runs of `gradcli check`: processor time and memory."""
    head = ("input x: float", "input v: float[4]", "y = x", "a = x", "b = x", "c = x", "t = v * x")
    with tempfile.TemporaryDirectory() as folder:
        for name, steps in CHECKED.items():
            file = Path(folder) / "program.grad"
            lines = (steps[k % len(steps)] for k in range(300_000))
            file.write_text("\n".join((*head, *lines, "a + b + c + y + t.sum()")) + "\n", "utf-8")
            command = [sys.executable, "-m", "gradcli", "check", "--quiet", str(file)]
            child = os.posix_spawn(sys.executable, command, os.environ)
            _, _, used = os.wait4(child, 0)
            seconds, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            print(f"  gradcli check, {name}: {seconds:.1f} s, {peak:.0f} MB")
    print()


def _stages(source: Source, taken: list[float]) -> None:
    builtins = Builtins()
    module = _timed(taken, lambda: parse(source))
    names = analyse(module, builtins, frozenset())
    assert not _timed(taken, lambda: check(module, source, builtins, frozenset(), names))
    program = _timed(taken, lambda: lower(module, names, source))
    _timed(taken, lambda: translate(program, Counting))


def _timed(taken: list[float], work: Callable[[], T]) -> T:
    gc.disable()  # as the command does
    start = time.process_time()
    made = work()
    taken.append(time.process_time() - start)
    gc.enable()
    return made
