"""Programs whose traces have golden files, one for each width for people.

`python tests trace_views` writes the golden files anew.
"""

from pathlib import Path

from support.programs.sample_programs import SAMPLES

from gradcli.program import Options, load
from gradcli.render.text import plain_text
from gradcli.render.trace import trace_view

GOLDEN = Path(__file__).parents[2] / "golden" / "trace"
WIDTHS = (40, 80, 120)
QUIET = Options(seed=1)

BOOK = "log(x1) + x1 * x2 - sin(x2)"
LOOP = "input x = 2.0\nfor i in range(120):\n    x = x * 1.001 + sin(i) / 100\nx"
LAYER = """param W = [[0.5, -1.0, 2.0], [1.0, 0.0, 0.25]]
param b = [0.1, 0.2]
input x: float[3] = [1.0, 2.0, 3.0]
softmax(relu(W @ x + b), dim=0)[0]
"""

PROGRAMS = {
    "book": (BOOK, {"x1": 2.0, "x2": 5.0}),
    "both": (BOOK, {"x1": 2.0, "x2": 5.0, "tangents": {"x1": 1.0}}),
    "loop": (LOOP, {}),
    "layer": (LAYER, {}),
    **{
        path.stem: (path.read_text("utf-8"), {})
        for path in SAMPLES
        if path.stem in ("cooling", "newton", "rosenbrock", "two_paths")
    },
}


def traced(name):
    """The trace of a program."""
    text, asked = PROGRAMS[name]
    return load(text).trace(every=False, options=QUIET, **asked)


def view(result):
    """The view for people at each width."""
    views = (trace_view(result, precision=6, width=width) for width in WIDTHS)
    return "".join(f"# {w}\n{plain_text(lines)}" for w, lines in zip(WIDTHS, views, strict=True))


def main():
    """Write the golden files anew."""
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.glob("*.txt"):
        old.unlink()
    for name in PROGRAMS:
        (GOLDEN / f"{name}.txt").write_text(view(traced(name)), "utf-8")


if __name__ == "__main__":
    main()
