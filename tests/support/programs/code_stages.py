"""Programs with golden files for the stages of their code.

`python tests code_stages` writes the golden files anew.
"""

from pathlib import Path

from gradcli.program import stage_text
from gradcli.source import Source

GOLDEN = Path(__file__).parents[2] / "golden" / "code"

PROGRAMS = {
    "polynomial": "x ** 2 + 3 * x\n",
    "loop": "x = 0.5\ny = x\nfor i in range(1_000):\n    y = sin(y) * 1.5\ny\n",
}
ASKED = {
    "run": {},
    "gradient": {"wrt": "x"},
    "forward": {"wrt": "x", "mode": "forward"},
}
STAGES = ("typed", "python", "llvm")


def cases():
    """The cases: the golden file's name, the program, the stage and the derivative."""
    for program, text in PROGRAMS.items():
        for question, asked in ASKED.items():
            for stage in STAGES:
                if stage != "llvm" or question == "gradient":
                    yield f"{program}-{question}-{stage}.txt", text, stage, asked


def printed(text, stage, asked):
    """The text of a stage of a program."""
    return stage_text(Source("p.grad", text), {}, stage, **asked)


def main():
    """Write the golden files anew."""
    for old in GOLDEN.glob("*.txt"):
        old.unlink()
    for name, text, stage, asked in cases():
        (GOLDEN / name).write_text(printed(text, stage, asked), "utf-8")


if __name__ == "__main__":
    main()
