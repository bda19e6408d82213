"""Compare random tensor programs, compiled and interpreted: `python tests tensor_campaign
--programs N --seed S`.

Each program gives its value, gradient, tangents, Hessian products and one matrix. The campaign
counts the answers of code, the reasons why code gave none, and answers that differ in any bit:
there should be none.
"""

from __future__ import annotations

import argparse
from collections import Counter

from support.programs.array_programs import ASKED, MATRICES, Writer, both

from gradcli.program import load


def main() -> None:
    """Write programs, and compare both answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    asked: Counter[str] = Counter()
    compiled: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    differing = 0
    for seed in range(given.seed, given.seed + given.programs):
        writer = Writer(seed)
        text, inputs = writer.program(), writer.given()
        dots = {"tangents": {"x": inputs["x"][::-1], "b": 1.0}}
        matrix = [*MATRICES][seed % len(MATRICES)]
        questions = {name: dots if "vp" in name else {} for name in ASKED}
        questions[matrix] = MATRICES[matrix] | (dots if "vp" in matrix else {})
        program = load(text)
        for question, more in questions.items():
            run, code = both(program, question.split()[0], inputs, **more)
            asked[question] += 1
            if "not-compilable" in code:
                reasons[code.partition("not compiled: ")[2].rstrip(">)")] += 1
                continue
            compiled[question] += 1
            if run != code:
                differing += 1
                print(f"{question} of\n{text}by a run: {run}\nby code: {code}\n")
    for question, count in asked.items():
        print(f"{question}: {compiled[question]} of {count} by code")
    for reason, count in reasons.most_common():
        print(f"{count} interpreted: {reason}")
    print(f"{differing} differ")


if __name__ == "__main__":
    main()
