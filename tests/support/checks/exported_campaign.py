"""Compare exported C and Python with gradcli on generated programs, bit by bit.

`python tests exported_campaign [FLAG ...]` compares 500 programs of numbers and 300 of vectors; flags are
those of the C compiler. For `-fno-builtin -fsanitize=address,undefined -fno-sanitize-recover=all -w`, set
`LD_PRELOAD` to the file that `cc -print-file-name=libasan.so` names, and `ASAN_OPTIONS=detect_leaks=0`.
"""

from __future__ import annotations

import math
import random
import re
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from support.checks.exported_c import called, library
from support.programs import scalar_programs, vector_programs

from gradcli.engine.compile.export.languages import c, python
from gradcli.errors import GradError
from gradcli.program import Options, load
from gradcli.questions.asked.request import request
from gradcli.questions.exported.export import written

_BATCH = 40
_WRITERS = {"numbers": scalar_programs.Writer, "vectors": vector_programs.Writer}


class Case:
    """A program with its exported C and Python."""

    def __init__(self, kind: str, seed: int) -> None:
        self.name = f"{kind}_{seed}"
        self.text = _WRITERS[kind](seed).program()
        self.program = load(self.text)
        self.points = _points(self.text, seed)
        asked = request(self.points[0], {}, wrt=["x", "b"])
        self.unit = written(self.program.loaded, asked, [], 1, self.name, c.RESERVED)
        names = {p.of for p in self.unit.parameters}
        fixed = {n: x for n, x in self.points[0].items() if n not in names and type(x) is int}
        self.points = [{**point, **fixed} for point in self.points]
        again = written(self.program.loaded, asked, [], 1, self.name, python.RESERVED)
        self.again = again
        self.python = python.source(again, "tests")

    @property
    def files(self) -> dict[str, str]:
        head = f"{self.name}.h"
        source = c.source(self.unit, "tests", head)
        return {f"{self.name}.c": source, head: c.header(self.unit, "tests", head)}

    def by_c(self, loaded, point):
        """Value and derivatives; None if the function refuses."""
        status, found = called(loaded, self.unit, point)
        assert status in (0, 2), f"{self.text}\nstatus {status}"
        return None if status else [x for out in found.values() for x in out.tolist()]

    def by_python(self, point):
        """Value and derivatives; None if the function refuses."""
        made = {}
        exec(compile(self.python, self.name, "exec"), made)
        given = [np.array(point[p.of]) if p.shape else point[p.of] for p in self.again.parameters]
        try:
            found = made[self.again.name](*given)
        except ArithmeticError:
            return None
        return [x for out in found for x in np.ravel(out).tolist()]

    def by_gradcli(self, point):
        """Value and derivatives; None if they are an error or not finite."""
        options = Options(compile="never")
        try:
            if any(o.name == "jacobian" for o in self.unit.outputs):
                found = self.program.jacobian(point, wrt=["x", "b"], options=options)
                size = np.size(found.value)
                rows = [np.reshape(x, (size, -1)) for x in found.jacobian.values()]
                numbers = [*np.ravel(found.value), *np.concatenate(rows, axis=1).ravel()]
            else:
                found = self.program.grad(point, wrt=["x", "b"], options=options)
                numbers = [found.value, *(x for g in found.grad.values() for x in np.ravel(g))]
        except GradError:
            return None
        return [*map(float, numbers)] if all(map(math.isfinite, numbers)) else None


def _points(text: str, seed: int) -> list[dict[str, object]]:
    """Two points for the inputs that a program declares."""
    rng, points = random.Random(seed), []
    for count in (3, rng.choice([0, 1, 2])):
        point: dict[str, object] = {}
        for name, kind, size in re.findall(r"^input (\w+)(?:: (\w+))?(?:\[(\d+)\])?", text, re.M):
            numbers = [round(rng.uniform(-2, 2), 3) for _ in range(int(size or 1))]
            point[name] = count if kind == "int" else numbers if size else numbers[0]
        points.append(point)
    return points


def compared(kind: str, seeds: range, flags=("-fno-builtin",)) -> Counter[str]:
    """How many answers are the same, refused or different, over generated programs.

    Raises:
        AssertionError: If an answer differs; the message has the program.
    """
    found: Counter[str] = Counter()
    for start in range(seeds.start, seeds.stop, _BATCH):
        cases = []
        for seed in range(start, min(start + _BATCH, seeds.stop)):
            try:
                cases.append(Case(kind, seed))
            except GradError as refused:
                found[f"no source: {refused.diagnostics[0].code}"] += 1
        with TemporaryDirectory() as folder:
            files = {name: text for case in cases for name, text in case.files.items()}
            loaded = library(Path(folder), files, flags)
            for case in cases:
                for point in case.points:
                    found[_agree(case, loaded, point, kind)] += 1
    return found


def _agree(case: Case, loaded, point, kind) -> str:
    expected = case.by_gradcli(point)
    several = {"C": case.by_c(loaded, point), "Python": case.by_python(point)}
    verdicts = {name: _verdict(got, expected, kind) for name, got in several.items()}
    for name, verdict in verdicts.items():
        said = f"{name} of {case.name} at {point}:\n{case.text}\n{several[name]}\n{expected}"
        assert verdict != "different", said
    return " / ".join(dict.fromkeys(verdicts.values()))


def _verdict(got, expected, kind: str) -> str:
    if got is None:
        return "refused by both" if expected is None else "refused with more care"
    if expected is None:
        return "answered with less care"
    if got == expected:  # zeros of any sign
        return "same"
    close = np.allclose(got, expected, rtol=1e-13, atol=1e-15)
    return "close" if kind == "vectors" and close else "different"


def main() -> None:
    """The whole comparison."""
    flags = sys.argv[1:] or ["-fno-builtin"]
    for kind, count in (("numbers", 500), ("vectors", 300)):
        for verdict, times in sorted(compared(kind, range(count), flags).items()):
            sys.stdout.write(f"{kind}: {times} {verdict}\n")


if __name__ == "__main__":
    main()
