"""Programs with loops as people write them: `python tests natural_loops --programs N --seed S`.

The kinds stand in `natural_loops.toml`, each with several ways to write its parts. The command asks
every program its value and its derivative by code and by the interpreter. It prints how many are
compiled, why the others are not, and every answer that differs in a bit.
"""

from __future__ import annotations

import argparse
import random
import re
import tomllib
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from gradcli.errors import GradError
from gradcli.program import Options, Program, load

_KINDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
KINDS = {name: text for group in _KINDS.values() for name, text in group.items()}
"""The texts of all kinds, by name."""

ON_PRINCIPLE = frozenset(_KINDS["refused"])
"""The kinds with shapes that depend on values, or graphs that the program looks at."""

_CHOICE = re.compile(r"<<(.*?)>>", re.DOTALL)
_DRAWN = {
    "X": ["x = 0.7", "input x = 0.7", "param x = 0.7", "x = tensor(0.7, requires_grad=True)"],
    "DATA": [
        "y = [1.0, 2.5, 0.5, 3.0, 1.5, 2.0]",
        "y = tensor([1.0, 2.5, 0.5, 3.0, 1.5, 2.0])",
        "y = [1, 3, 2, 5, 4, 6]",
        "input y = [1.0, 2.5, 0.5, 3.0, 1.5, 2.0]",
    ],
    "T": ["5", "20", "100", "300", "n"],
    "K": ["3", "6", "12"],
    "C": ["0.2", "0.5", "0.7"],
}
_SIZES = ["n = 20", "n = 100", "input n: int = 20"]


class Natural(NamedTuple):
    """A program: its kind, its text, the values of its inputs, and the questions that it gets."""

    kind: str
    text: str
    given: dict[str, object]
    questions: tuple[str, ...]


def natural(seed: int) -> Natural:
    """The program of a seed. The kinds take turns."""
    rng = random.Random(seed)
    kind = [*KINDS][seed % len(KINDS)]
    drawn = {name: rng.choice(ways) for name, ways in _DRAWN.items()}
    text = _CHOICE.sub(lambda found: rng.choice(found[1].split("||")), KINDS[kind].strip())
    text = re.sub(r"\$([A-Z]+)", lambda found: drawn[found[1]], text)
    if re.search(r"\bn\b", text) and not re.search(r"\b(n =|n in|input n|def \w+\(.*\bn\b)", text):
        text = f"{rng.choice(_SIZES)}\n{text}"
    given = {
        name: value
        for name, value in {"x": 0.8, "n": 20, "y": [1.2, 2.0, 0.4, 3.5, 1.5, 2.5]}.items()
        if f"input {name}" in text or (name == "x" and "$X" in KINDS[kind])
    }
    return Natural(kind, text + "\n", given, ("run", "grad") if "x" in given else ("run",))


class Outcome(NamedTuple):
    """The reason why a program is not compiled, or "", and what differs between code and a run."""

    reason: str
    differing: str


def outcome(one: Natural) -> Outcome:
    """Ask a program its questions by code and by the interpreter. A run must not end in an error."""
    program = load(one.text)
    for question in one.questions:
        run, code = (_answer(program, question, one.given, when) for when in ("never", "always"))
        told = f"# {question} of {one.kind}\n{one.text}by a run: {run}\nby code: {code}"
        if re.match(r"\w*Error\(", run):
            return Outcome("", told)
        if "not-compilable" in code:
            return Outcome(code.partition("not compiled: ")[2].rstrip(">)\"'"), "")
        if run != code:
            return Outcome("", told)
    return Outcome("", "")


def _answer(program: Program, question: str, given: dict[str, object], when: str) -> str:
    more = {"wrt": "x"} if question == "grad" else {}
    try:
        return repr(getattr(program, question)(given, options=Options(compile=when), **more))
    except GradError as error:
        return repr(error)


def main() -> None:
    """Write programs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", metavar="TEXT", help="print the programs with such a reason")
    given = parser.parse_args()
    asked = [natural(seed) for seed in range(given.seed, given.seed + given.programs)]
    reasons: dict[str, Counter[str]] = defaultdict(Counter)
    differing = 0
    for one in asked:
        found = outcome(one)
        if found.reason:
            reasons[found.reason][one.kind] += 1
            if given.show is not None and given.show in found.reason:
                print(f"# {one.kind}: {found.reason}\n{one.text}")
        if found.differing:
            differing += 1
            print(found.differing)
    for reason, kinds in sorted(reasons.items(), key=lambda entry: -entry[1].total()):
        named = ", ".join(f"{kind} {count}" for kind, count in kinds.most_common())
        print(f"{kinds.total():4} {reason} ({named})")
    refused = sum(kinds.total() for kinds in reasons.values())
    principle = sum(kinds[k] for kinds in reasons.values() for k in kinds if k in ON_PRINCIPLE)
    others, compiled = len(asked) - principle, len(asked) - refused
    print(
        f"{compiled} of {len(asked)} are compiled, {principle} refused on principle; "
        f"{compiled / others:.1%} of the other {others}. {differing} differ"
    )


if __name__ == "__main__":
    main()
