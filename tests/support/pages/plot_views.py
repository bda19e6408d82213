"""Programs whose curves have golden files, one for each width for people.

`python tests plot_views` writes the golden files anew, with the extra `plot`.
"""

from pathlib import Path

from gradcli.program import Options, load
from gradcli.render.plot import plot_view
from gradcli.render.text import plain_text

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "plot"
WIDTHS = (40, 80, 120)

STEPS = "input x = 1.0  # s\nv = floor(x) + x  # m/s\nv"

PROGRAMS = {  # the program, its input and the range
    "kinks": ("abs(x - 1) + relu(x - 2.5) * x", "x", 0.0, 6.0, {}),
    "jumps": (STEPS, "x", 0.1, 4.9, {}),
    "pole": ("1 / x", "x", -1.0, 1.0, {}),
    "not finite": ("log(x)", "x", -1.0, 3.0, {}),
    "two": ("a = sin(x)\nb = a * exp(-x / 3)", "x", 0.0, 10.0, {"of": ["a", "b"]}),
    "constant": ("x * 0 + 2", "x", 0.0, 1.0, {}),
    "nowhere": ("x * nan", "x", 0.0, 1.0, {}),
    "cooling": ((ROOT / "samples" / "cooling.grad").read_text("utf-8"), "k", 0.01, 1.0, {}),
}


def plotted(name, count=60):
    """The curves of a program."""
    text, over, first, last, asked = PROGRAMS[name]
    at = [first + (last - first) * i / (count - 1) for i in range(count)]
    return load(text).plot(over=over, at=at, options=Options(seed=1), **asked)


def view(result):
    """The view for people at each width."""
    views = (plot_view(result, width=width) for width in WIDTHS)
    return "".join(f"# {w}\n{plain_text(lines)}" for w, lines in zip(WIDTHS, views, strict=True))


def main():
    """Write the golden files anew."""
    GOLDEN.mkdir(exist_ok=True)
    for old in GOLDEN.glob("*.txt"):
        old.unlink()
    for name in PROGRAMS:
        (GOLDEN / f"{name}.txt").write_text(view(plotted(name)), "utf-8")


if __name__ == "__main__":
    main()
