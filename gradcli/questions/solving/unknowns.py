"""The unknowns of `minimize` and `root`: their start, the function at a point, sensitivities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError, UsageError, nearest
from gradcli.questions.asked.request import Options
from gradcli.questions.fitting.model import Layout

_DECADES = 1.5  # to either side of a start, where no bound says how far


class Unknowns:
    """The inputs that a command looks for.

    Args:
        program: The `Program`.
        given: The values of the inputs.
        wrt: The names that the user has chosen; None for those that `grad` takes.
        of: The name of the result; None for that of the program.
        options: How to run.

    Fields:
        layout: Their names and shapes.
        start: Their values at the start.

    Raises:
        GradError: If the program cannot be differentiated at the start.
    """

    def __init__(
        self,
        program: Any,
        given: Mapping[str, Given],
        wrt: Sequence[str] | None,
        of: str | None,
        options: Options,
    ) -> None:
        self.program, self.given = program, given
        self.options = options.changed(explain=False, check_nan=False)
        self.quiet = self.options.changed(echo=lambda text: None)
        first = program.jacobian(given, wrt=wrt, of=of, options=self.options)
        values = first.jacobian
        size = np.shape(first.value)
        shapes = {name: np.shape(x)[len(size) :] for name, x in values.items()}
        for name in shapes:
            if name not in program.inputs:
                message = f"`{name}` is computed by the program and cannot be looked for"
                raise UsageError(Diagnostic("unknown-name", message, help="name inputs in --wrt"))
        self.layout = Layout(shapes)
        self.first, self.printed = first, first.printed
        left = [name for name in shapes if name not in given]
        defaults = program.run(given, options=self.quiet).values if left else {}
        parts = {n: given[n].value if n in given else defaults[n] for n in shapes}
        self.start = self.layout.joined(
            {n: np.broadcast_to(np.asarray(x, np.float64), shapes[n]) for n, x in parts.items()}
        )

    @property
    def names(self) -> list[str]:
        """The names."""
        return self.layout.names

    def beginning(self, start: Mapping[str, Any]) -> Data:
        """The start, with some unknowns at other values."""
        return self.layout.joined({**self.layout.arrays(self.start), **start})

    def at(self, point: Data) -> dict[str, Any]:
        """The values of all inputs, with the unknowns at a point."""
        arrays = self.layout.arrays(np.asarray(point, np.float64))
        own = {n: Given(x.item() if x.ndim == 0 else x, n) for n, x in arrays.items()}
        return {**self.given, **own}

    def starts(self, count: int, seed: int | None, lower: Data, upper: Data) -> list[Data]:
        """The start, and further ones: uniform between bounds, else log-uniform around it."""
        random = np.random.Generator(np.random.Philox(seed))
        is_bounded = np.isfinite(lower) & np.isfinite(upper)
        low, high = np.where(is_bounded, lower, 0.0), np.where(is_bounded, upper, 1.0)
        found = [self.start]
        for _ in range(count - 1):
            part, side = random.random(len(self.start)), random.random(len(self.start))
            power = 10.0 ** (_DECADES * (2.0 * part - 1.0))
            around = np.where(self.start == 0.0, 2.0 * part - 1.0, self.start * power)
            around = np.where(side < 0.5, around, -around)
            point = np.where(is_bounded, low + part * (high - low), around)
            found.append(np.clip(point, lower, upper))
        return found

    def others(self, asked: Sequence[str]) -> list[str]:
        """The inputs that the answer's movement is asked by; `all` stands for all floats.

        Raises:
            UsageError: If one is an unknown, or no input.
        """
        left = [name for name in self.program.inputs if name not in self.names]
        if [*asked] == ["all"]:
            return [name for name in left if self._is_float(name)]
        for name in asked:
            if name not in left:
                what = "is looked for" if name in self.names else "is no input of the program"
                help = nearest(name, left) or (f"others are {', '.join(left)}" if left else None)
                message = f"--sensitivity names `{name}`, which {what}"
                raise UsageError(Diagnostic("unknown-name", message, help=help))
        return [*asked]

    def _is_float(self, name: str) -> bool:
        """True if the program can be differentiated by an input."""
        try:
            self.program.jvp(
                self.at(self.start), tangents={name: self._zero(name)}, options=self.quiet
            )
        except GradError:
            return False
        return True

    def _zero(self, name: str) -> Any:
        shape = np.shape(self.given[name].value) if name in self.given else ()
        return np.zeros(shape) if shape else 0.0


def by_names(
    layout: Layout,
    matrix: Data,
    names: Sequence[str],
    shapes: Sequence[tuple[int, ...]],
    told: Data,
) -> dict[str, dict[str, Any]]:
    """The derivatives of the unknowns by other inputs, by two names each: the shape of the first
    followed by the second's; None where an unknown is not told.
    """
    found: dict[str, dict[str, Any]] = {}
    row = 0
    for name, shape in layout.shapes.items():
        size = int(np.prod(shape))
        column = 0
        found[name] = {}
        for other, behind in zip(names, shapes, strict=True):
            width = int(np.prod(behind))
            part = matrix[row : row + size, column : column + width]
            value = part.reshape((*shape, *behind)).tolist()
            found[name][other] = value if told[row : row + size].all() else None
            column += width
        row += size
    return found


def flat_blocks(blocks: Mapping[str, Any], names: Sequence[str], rows: int) -> Data:
    """Derivatives by several names behind each other, a row for each of `rows` numbers."""
    return np.concatenate([np.asarray(blocks[n], np.float64).reshape(rows, -1) for n in names], 1)


def check_number(value: Any, name: str) -> None:
    """Refuse a result that is no single number.

    Raises:
        InputError: With its shape.
    """
    if np.size(value) != 1:
        message = f"`{name}` has shape {[*np.shape(value)]}, and one number is made least"
        raise InputError(Diagnostic("shape-mismatch", message, help="reduce it, as in `sum(...)`"))
