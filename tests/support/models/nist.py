"""The nonlinear problems of NIST's Statistical Reference Datasets: models as a user would write them,
and from nist.txt data, starting values and certified answers.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

MODELS = {
    "Misra1a": ("b1 * (1 - exp(-b2 * x))", (500, 1e-4)),
    "Misra1b": ("b1 * (1 - (1 + b2 * x / 2) ** -2)", (500, 1e-4)),
    "Misra1c": ("b1 * (1 - (1 + 2 * b2 * x) ** -0.5)", (500, 1e-4)),
    "Misra1d": ("b1 * b2 * x * (1 + b2 * x) ** -1", (500, 1e-4)),
    "Chwirut": ("exp(-b1 * x) / (b2 + b3 * x)", (0.1, 0.01, 0.02)),
    "Lanczos": (
        "b1 * exp(-b2 * x) + b3 * exp(-b4 * x) + b5 * exp(-b6 * x)",
        (1.2, 0.3, 5.6, 5.5, 6.5, 7.6),
    ),
    "Gauss": (
        "b1 * exp(-b2 * x) + b3 * exp(-(x - b4) ** 2 / b5 ** 2) + b6 * exp(-(x - b7) ** 2 / b8 ** 2)",
        (97.0, 0.009, 100.0, 65.0, 20.0, 70.0, 178.0, 16.5),
    ),
    "DanWood": ("b1 * x ** b2", (1, 5)),
    "Kirby2": (
        "(b1 + b2 * x + b3 * x ** 2) / (1 + b4 * x + b5 * x ** 2)",
        (2, -0.1, 0.003, -0.001, 1e-5),
    ),
    "Hahn1": (
        "(b1 + b2 * x + b3 * x ** 2 + b4 * x ** 3) / (1 + b5 * x + b6 * x ** 2 + b7 * x ** 3)",
        (10, -1, 0.05, -1e-5, -0.05, 0.001, -1e-6),
    ),
    "Nelson": ("b1 - b2 * x * exp(-b3 * z)", (2, 1e-4, -0.01)),
    "MGH09": ("b1 * (x ** 2 + x * b2) / (x ** 2 + x * b3 + b4)", (25, 39, 41.5, 39)),
    "MGH10": ("b1 * exp(b2 / (x + b3))", (2, 400_000, 25_000)),
    "MGH17": ("b1 + b2 * exp(-x * b4) + b3 * exp(-x * b5)", (50, 150, -100, 1, 2)),
    "Roszman1": ("b1 - b2 * x - atan(b3 / (x - b4)) / pi", (0.1, -1e-5, 1000, -100)),
    "ENSO": (
        "b1 + b2 * cos(2 * pi * x / 12) + b3 * sin(2 * pi * x / 12)"
        " + b5 * cos(2 * pi * x / b4) + b6 * sin(2 * pi * x / b4)"
        " + b8 * cos(2 * pi * x / b7) + b9 * sin(2 * pi * x / b7)",
        (11, 3, 0.5, 40, -0.7, -1.3, 25, -0.3, 1.4),
    ),
    "Thurber": (
        "(b1 + b2 * x + b3 * x ** 2 + b4 * x ** 3) / (1 + b5 * x + b6 * x ** 2 + b7 * x ** 3)",
        (1000, 1000, 400, 40, 0.7, 0.3, 0.03),
    ),
    "BoxBOD": ("b1 * (1 - exp(-b2 * x))", (1, 1)),
    "Rat42": ("b1 / (1 + exp(b2 - b3 * x))", (100, 1, 0.1)),
    "Eckerle4": ("b1 / b2 * exp(-0.5 * ((x - b3) / b2) ** 2)", (1, 10, 500)),
    "Rat43": ("b1 / (1 + exp(b2 - b3 * x)) ** (1 / b4)", (100, 10, 1, 1)),
    "Bennett5": ("b1 * (b2 + x) ** (-1 / b3)", (-2000, 50, 0.8)),
}
"""The formula of each family of problems, and its first starting values."""

FAMILIES = {
    **dict.fromkeys(("Chwirut1", "Chwirut2"), "Chwirut"),
    **dict.fromkeys(("Lanczos1", "Lanczos2", "Lanczos3"), "Lanczos"),
    **dict.fromkeys(("Gauss1", "Gauss2", "Gauss3"), "Gauss"),
}


class Problem(NamedTuple):
    """A problem.

    Fields:
        formula: The model, with parameters b1, b2, ...
        columns: The names of the columns; `y` first.
        records: Their numbers as written.
        starts: Both lists of starting values.
        values, errors: The certified parameters and their standard deviations.
        squares: The certified sum of squares.
    """

    formula: str
    columns: tuple[str, ...]
    records: tuple[tuple[str, ...], ...]
    starts: tuple[tuple[float, ...], tuple[float, ...]]
    values: tuple[float, ...]
    errors: tuple[float, ...]
    squares: float

    @property
    def csv(self) -> str:
        """The data as a user would have them."""
        return "".join(f"{','.join(line)}\n" for line in (self.columns, *self.records))


@cache
def problems() -> dict[str, Problem]:
    """All 27 problems by name."""
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return dict(map(_problem, text.split("\n[")[1:]))


def _problem(text: str) -> tuple[str, Problem]:
    head, *lines = text.rstrip().split("\n")
    name, columns = head.split("] ")
    cells = [line.split() for line in lines]
    told = [[*map(float, c[1:])] for c in cells if c[0] == "b"]
    one, other, values, errors = (tuple(column) for column in zip(*told, strict=True))
    squares = next(float(c[1]) for c in cells if c[0] == "squares")
    records = tuple(tuple(c) for c in cells if c[0] not in ("b", "squares"))
    formula = MODELS[FAMILIES.get(name, name)][0]
    named = tuple(columns.split())
    return name, Problem(formula, named, records, (one, other), values, errors, squares)
