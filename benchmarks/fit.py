"""Fits: a short one and a hundred groups as whole processes, a million records, and NIST's
problems, beside SciPy's `curve_fit` and lmfit.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import of_children, race, table
from gradcli.program import Options, fit, load_source
from gradcli.source import Source

RECORDS = 1_000_000
GROUPS = 100
GROUPED = "a * exp(-k * t)"
FORMULA = "a * exp(-k * t) + c + d * t"
STARTS = {"a": 1.0, "k": 1.0, "c": 0.0, "d": 0.0}
MISRA = """10.07 77.6
14.73 114.9
17.94 141.1
23.93 190.8
29.61 239.9
35.18 289.0
40.02 332.8
44.82 378.4
50.76 434.8
55.05 477.3
61.01 536.8
66.40 593.1
75.47 689.1
81.78 760.0
"""
CURVE_FIT = """
import numpy as np
from scipy.optimize import curve_fit
y, x = np.loadtxt("misra.txt").T
print(curve_fit(lambda x, a, b: a * (1 - np.exp(-b * x)), x, y, (500, 1e-4)))
"""
LMFIT = """
import lmfit, numpy as np
y, x = np.loadtxt("misra.txt").T
model = lmfit.Model(lambda x, a, b: a * (1 - np.exp(-b * x)))
print(model.fit(y, x=x, a=500, b=1e-4).fit_report())
"""
BY_PANDAS = """
import numpy as np, pandas as pd
from scipy.optimize import curve_fit

def model(t, a, k):
    return a * np.exp(-k * t)

def slopes(t, a, k):
    e = np.exp(-k * t)
    return np.stack([e, -a * t * e], 1)

for site, rows in pd.read_csv("groups.csv").groupby("site"):
    t, y = rows["t"].to_numpy(), rows["y"].to_numpy()
    found, covariance = curve_fit(model, t, y, (2.0, 0.1), jac=slopes)
    print(site, *found, *np.sqrt(np.diag(covariance)))
"""


def main() -> None:
    """Print all comparisons."""
    with tempfile.TemporaryDirectory() as folder:
        print(short(Path(folder)))
        print(groups(Path(folder)))
        print(many(Path(folder)))
    print(nist())


def short(folder: Path) -> str:
    """A fit of two parameters to fourteen records, by new processes."""
    (folder / "misra.txt").write_text(MISRA, "utf-8")
    (folder / "misra.csv").write_text("y,x\n" + MISRA.replace(" ", ","), "utf-8")
    python = [sys.executable, "-c"]
    data = ["--rows", "misra.csv", "--observed", "y", "b1=500", "b2=1e-4"]
    commands = {
        "import scipy.optimize": [*python, "import scipy.optimize"],
        "gradcli fit": [
            *(sys.executable, "-m", "gradcli", "fit", "b1 * (1 - exp(-b2 * x))", *data)
        ],
        "scipy.optimize.curve_fit": [*python, CURVE_FIT],
    }
    has_lmfit = importlib.util.find_spec("lmfit") is not None
    if has_lmfit:
        commands["lmfit"] = [*python, LMFIT]
    work = {name: _process(command, folder) for name, command in commands.items()}
    timings = race(work, 5, of_children)
    title = "Misra1a, whole processes, processor time"
    note = "" if has_lmfit else _WITHOUT
    return table(title, timings, "milliseconds", 1e3, "import scipy.optimize") + note


_WITHOUT = "  lmfit is not installed, and left out\n"


def _process(command: list[str], folder: Path) -> Callable[[], object]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    return lambda: subprocess.run(
        command, check=True, capture_output=True, cwd=folder, env=environment
    )


def groups(folder: Path) -> str:
    """A fit to each of a hundred groups of 20 to 50 records, by new processes. The peer is a loop
    over pandas' groups that calls SciPy with exact slopes, written by hand.
    """
    rng = np.random.default_rng(1)
    lines = ["site,t,y"]
    for site in range(GROUPS):
        a, k = 2.0 + rng.random(), 0.1 + 0.2 * rng.random()
        for t in np.sort(10.0 * rng.random(rng.integers(20, 51))):
            y = a * np.exp(-k * t) + 0.05 * rng.standard_normal()
            lines.append(f"s{site:03d},{t:.6g},{y:.6g}")
    (folder / "groups.csv").write_text("\n".join([*lines, ""]), "utf-8")
    data = ["--rows", "groups.csv", "--observed", "y", "a=2", "k=0.1"]
    command = [sys.executable, "-m", "gradcli", "fit", GROUPED, *data]
    commands = {
        "import scipy.optimize": [sys.executable, "-c", "import scipy.optimize"],
        "all records, one fit": command,
        "gradcli fit --by": [*command, "--by", "site"],
    }
    has_pandas = importlib.util.find_spec("pandas") is not None
    if has_pandas:
        commands["pandas, curve_fit, slopes"] = [sys.executable, "-c", BY_PANDAS]
    timings = race({n: _process(c, folder) for n, c in commands.items()}, 3, of_children)
    title = f"{GROUPS} groups of 20 to 50 records, two parameters, whole processes, processor time"
    note = "" if has_pandas else "  pandas is not installed, and left out\n"
    return table(title, timings, "milliseconds", 1e3, "import scipy.optimize") + note


def many(folder: Path) -> str:
    """A fit of four parameters to a million records: the processor time of one evaluation, beside
    that of one pass of `grad --rows`.
    """
    rng = np.random.default_rng(0)
    t = 10.0 * rng.random(RECORDS)
    y = 3 * np.exp(-0.4 * t) + 1.5 + 0.2 * t + 0.05 * rng.standard_normal(RECORDS)
    np.savetxt(folder / "big.csv", np.stack([t, y], 1), "%.8g", ",", header="t,y", comments="")
    given = [f"{name}={x}" for name, x in STARTS.items()]
    command = [sys.executable, "-m", "gradcli"]
    grad = [*command, "grad", FORMULA, *given, "--wrt", "a,k,c,d", "--rows", "big.csv"]
    whole = [*command, "fit", FORMULA, *given, "--observed", "y", "--rows", "big.csv"]
    commands = {"one pass of grad --rows": grad, "the whole fit": whole}
    timings = race({n: _process(c, folder) for n, c in commands.items()}, 2, of_children)
    program = load_source(Source("<text>", FORMULA), frozenset({*STARTS, "t"}))
    found = fit(
        program, {"t": t, "y": y}, STARTS, observed=["y"], options=Options(compile="always")
    )
    each = timings["the whole fit"].least / found.evaluations
    note = (
        f"  {found.evaluations} evaluations, at most {each * 1e3:.0f} ms each, reading included\n"
    )
    title = f"{RECORDS:,} records, four parameters, whole processes, processor time"
    return table(title, timings, "milliseconds", 1e3, "one pass of grad --rows") + note


def nist() -> str:
    """How many of NIST's 54 fits have the certified parameters to six digits."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    from support.models.nist import problems

    right = dict.fromkeys(_PEERS, 0)
    for problem in problems().values():
        columns = dict(zip(problem.columns, np.array(problem.records, float).T, strict=True))
        if "z" in columns:
            columns["y"] = np.log(columns["y"])
        for start in problem.starts:
            for name, found in _PEERS.items():
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    values = found(problem.formula, columns, start)
                off = np.abs(np.asarray(values) / problem.values - 1)
                right[name] += bool(np.max(off) < 1e-6)
    lines = [f"  {name:34}{count:11d} of 54" for name, count in right.items()]
    return "\n".join(["NIST's fits with six digits of all parameters", *lines, ""])


def _by_gradcli(formula: str, columns: dict[str, Any], start: tuple[float, ...]) -> list[float]:
    given = {f"b{k}": x for k, x in enumerate(start, 1)}
    program = load_source(Source("<text>", formula), frozenset({*given, *columns}))
    return [e.value for e in fit(program, columns, given, observed=["y"]).estimates]


def _by_scipy(formula: str, columns: dict[str, Any], start: tuple[float, ...]) -> Any:
    from scipy.optimize import curve_fit

    names = [f"b{k}" for k in range(1, len(start) + 1)]
    code = compile(formula, "<formula>", "eval")

    def model(_: Any, *b: float) -> Any:
        return eval(code, {**_FUNCTIONS, **columns, **dict(zip(names, b, strict=True))})

    try:
        return curve_fit(model, columns["x"], columns["y"], start, maxfev=20_000)[0]
    except RuntimeError:  # no convergence
        return np.full(len(start), np.nan)


def _by_lmfit(formula: str, columns: dict[str, Any], start: tuple[float, ...]) -> Any:
    import lmfit

    given = lmfit.Parameters()
    for k, x in enumerate(start, 1):
        given.add(f"b{k}", value=x)
    code = compile(formula, "<formula>", "eval")

    def residuals(b: Any) -> Any:
        values = {name: one.value for name, one in b.items()}
        return eval(code, {**_FUNCTIONS, **columns, **values}) - columns["y"]

    try:
        found = lmfit.minimize(residuals, given, max_nfev=20_000).params
    except ValueError:  # no finite number
        return np.full(len(start), np.nan)
    return [one.value for one in found.values()]


_FUNCTIONS = {n: getattr(np, n) for n in ("exp", "cos", "sin", "pi")} | {"atan": np.arctan}
_PEERS = {"gradcli fit": _by_gradcli, "scipy.optimize.curve_fit": _by_scipy}
if importlib.util.find_spec("lmfit") is not None:
    _PEERS["lmfit"] = _by_lmfit
