"""Each declaration of an input with each kind of value from outside, as text: the value that the
program gets, or the error.

`python tests given_inputs` writes the golden file anew.
"""

import numpy as np
from support.processes.house import ROOT

from gradcli.errors import GradError
from gradcli.program import load
from gradcli.questions.asked.request import Options

GOLDEN = ROOT / "tests" / "golden" / "given_inputs.txt"
DECLARATIONS = (
    "param x = 1.5", "param x = 2", "param x: float", "param x: float[2] = [1, 2]", "param x: float[...]",
    "input x = 2", "input x = 2.5", "input x = True", "input x = 'a'", "input x = [1.0, 2.0]",
    "input x = [1, 2]", "input x = (1.0, 2)", "input x = [[1], 'a']", "input x = tensor([1, 2])",
    "input x: int", "input x: bool", "input x: float", "input x: float[n]", "input x: float[2, n]",
    "input x: int[...]", "input x: int[2]", "input x: bool[2]", "x = 2", "x = [1.0, 2.0]",
)  # fmt: skip
VALUES = {
    "nothing": None, "2": 2, "2.5": 2.5, "1": 1, "0.0": 0.0, "True": True, "'a'": "a",
    "2 ** 63": 2**63, "-2 ** 63": -(2**63), "10 ** 400": 10**400, "inf": np.inf, "nan": np.nan,
    "[]": [], "[1, 2]": [1, 2], "[1.5, 2]": [1.5, 2], "[True, False]": [True, False], "(1, 2)": (1, 2),
    "[1, 'a']": [1, "a"], "[[1, 2], [3, 4]]": [[1, 2], [3, 4]], "[[1], [2, 3]]": [[1], [2, 3]],
    "array of an int": np.array(3), "array of a float": np.array(2.5),
    "ints": np.array([1, 2]), "whole floats": np.array([1.0, 2.0]), "float32": np.float32([1, 2.5]),
    "bools": np.array([True, False]), "large floats": np.array([2.0**63, 1.0]),
    "floats that are not finite": np.array([np.inf, 1.0]), "uint64": np.array([1, 2], np.uint64),
    "large uint64": np.array([2**63, 1], np.uint64), "no ints": np.zeros(0, np.int64),
    "2 by 1": np.array([[0.5], [1.0]]),
}  # fmt: skip


def outcomes():
    """A line for each declaration and value."""
    for declaration in DECLARATIONS:
        program = load(f"{declaration}\nx")
        for name, value in VALUES.items():
            given = {} if value is None else {"x": value}
            yield f"{declaration}; {name}: {_outcome(program, given)}"


def _outcome(program, given):
    try:
        found = program.run(**given, options=Options(compile="never")).result
    except GradError as e:
        first = e.diagnostics[0]
        words = [f"{first.code}: {first.message}", *([first.help] if first.help else [])]
        return " / ".join(words).replace("\n", " ")
    if hasattr(found, "dtype"):
        return f"{found.dtype} {list(found.shape)} {found.tolist()}".replace("\n", " ")
    return f"{type(found).__name__} {found!r}"


def main():
    """Write the golden file anew."""
    GOLDEN.write_text("".join(f"{line}\n" for line in outcomes()), "utf-8")


if __name__ == "__main__":
    main()
