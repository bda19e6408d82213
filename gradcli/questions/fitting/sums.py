"""What a part of the records gives to the sums of a fit: functions that workers call, too.

Each takes a part first; the answers are small, whatever the size of the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, GradError, InputError, RunError
from gradcli.questions.fitting.shares import Frame, Part
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole
    from gradcli.models.triangle import Triangle

_LARGEST = 1e150  # its square is finite


class Compared(Record):
    """What the observed values of one result are, without a model.

    Fields:
        records: How many records have them.
        count: How many of these count.
        largest: The largest of them, scaled.
        log_sigma, log_weight: The sums of the logarithms of deviations and of weights.
        weight, weighted: The sums of weights, and of values times weights.
    """

    __slots__ = (*("records", "count", "largest", "log_sigma", "log_weight", "weight", "weighted"),)
    records: int
    count: int
    largest: float
    log_sigma: float
    log_weight: float
    weight: float
    weighted: float

    def plus(self, other: Compared) -> Compared:
        """Those of both."""
        found = {name: getattr(self, name) + getattr(other, name) for name in self._fields}
        return Compared(**found | {"largest": max(self.largest, other.largest)})


class Facts(Record):
    """What is known of records before a model is asked.

    Fields:
        name: The first file.
        count, left_out: How many there are, and how many were left out.
        first_left: The file and line of the first that was left out, with the reason.
        several_files: True if there are others than that one.
        shapes: The shape of a record in each column of data.
        first: The first record, columns of one; None if there is none.
        compared: What each result is compared with; empty without observed values.
    """

    __slots__ = (
        *(
            "name",
            "count",
            "left_out",
            "first_left",
            "several_files",
            "shapes",
            "first",
            "compared",
        ),
    )
    name: str
    count: int
    left_out: int
    first_left: tuple[str, int, Diagnostic] | None
    several_files: bool
    shapes: Mapping[str, tuple[int, ...]]
    first: Mapping[str, Data] | None
    compared: list[Compared]

    def plus(self, other: Facts) -> Facts:
        """Those of these records and later ones.

        Raises:
            InputError: If their records have other shapes.
        """
        if self.first is not None and other.first is not None:
            for name, shape in self.shapes.items():
                if shape != other.shapes[name]:
                    sizes = sorted((int(np.prod(shape)), int(np.prod(other.shapes[name]))))
                    text = f"the records have {sizes[0]} and {sizes[1]} elements of `{name}`"
                    raise InputError(Diagnostic("bad-input", text))
        known = other if self.first is None else self
        pairs = zip(self.compared, other.compared, strict=True)
        return Facts(
            self.name,
            self.count + other.count,
            self.left_out + other.left_out,
            self.first_left or other.first_left,
            True,
            known.shapes,
            known.first,
            [a.plus(b) for a, b in pairs],
        )


def facts(part: Part) -> Facts:
    """What is known of a part."""
    data, records = part.share.data, part.records
    columns = {name: data.columns[name] for name in part.share.setup.roles.data}
    count = records.stop - records.start
    once = part.number == 0  # records that were left out are counted for all parts of a process
    return Facts(
        data.parts[part.number][0],
        count,
        data.left_out if once else 0,
        data.first_left if once else None,
        len(data.parts) > 1,
        {name: column.shape[1:] for name, column in columns.items()},
        {n: c[records.start : records.start + 1] for n, c in columns.items()} if count else None,
        [*_compared(part)],
    )


def _compared(part: Part) -> Iterator[Compared]:
    for observed in part.share.observed:
        if observed.values is None:
            continue
        records = observed.part(part.number)
        found = Compared(records.stop - records.start, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
        for y, scales, sigma in observed.used(records):
            weights = scales**2
            largest = float(np.max(np.abs(y * scales), initial=0.0))
            sums = np.log(sigma), np.log(weights), weights, y * weights
            more = Compared(0, len(y), largest, *(float(np.sum(column)) for column in sums))
            found = found.plus(more)
        yield found


def about(part: Part, mean: float) -> float:
    """The weighted sum of the squares of what was observed, about a mean."""
    total = 0.0
    for observed in part.share.observed:
        for y, scales, _ in observed.used(observed.part(part.number)):
            total += float(np.sum(scales**2 * (y - mean) ** 2))
    return total


# squares ------------------------------------------------------------------------------------------


class Weighing(NamedTuple):
    """What a robust loss multiplies squares by: the loss, its scale, and where the residuals are
    taken.
    """

    loss: str
    scale: float
    point: Data


def triangle_of(
    part: Part, frame: Frame, point: Data, weighing: Weighing | None
) -> Triangle | None:
    """The triangle of a part at a point; None where it is not finite."""
    from gradcli.models.triangle import triangle

    with np.errstate(all="ignore"):
        return triangle(_weighed(part, frame, point, weighing), len(point))


def _weighed(
    part: Part, frame: Frame, point: Data, weighing: Weighing | None
) -> Iterator[tuple[Data, Data]]:
    """Residuals and slopes, some at a time, scaled and weighted."""
    from gradcli.models.robust import weights

    series = part.series(frame)
    for number, one in enumerate(series):
        if weighing is None:
            yield from one.compared(point, part.number)
            continue
        column, ends = part.share.residuals(frame, weighing.point)[number]
        first = ends[part.number]
        for residuals, slopes in one.compared(point, part.number):
            before = column[first : first + len(residuals)]
            roots = np.sqrt(weights(weighing.loss, before, weighing.scale))
            yield residuals * roots, slopes * roots[:, None]
            first += len(residuals)


def of_residuals(
    part: Part, frame: Frame, point: Data, function: Callable[..., Any], *more: Any
) -> Any:
    """The answer of a function to the residuals of a part at a point, without robust weights."""
    residuals: Iterable[Data] = part.residuals(frame, point)
    return function(residuals, *more)


def bend(part: Part, frame: Frame, point: Data) -> Data:
    """Half of the Hessian of the sum of squares of a part."""
    width = len(point)
    several = (one.bend(point, part.number) for one in part.series(frame))
    return sum(several, np.zeros((width, width)))


# likelihoods --------------------------------------------------------------------------------------


def likelihood_of(part: Part, frame: Frame, point: Data) -> tuple[float, Data, Data]:
    """The sums of value, gradient and Hessian of a part."""
    (series,) = part.series(frame)
    width = len(point)
    value, slope, curvature = 0.0, np.zeros(width), np.zeros((width, width))
    for _, (values, slopes, bends) in series.model.blocks(point, series.observed.part(part.number)):
        value += float(np.sum(values))
        slope += slopes.sum(axis=0)
        curvature += bends.sum(axis=0)
    return value, slope, curvature


# faults -------------------------------------------------------------------------------------------


def fault(part: Part, frame: Frame, point: Data) -> GradError | None:
    """The error for a point at which the model is not finite; None if it is finite here."""
    for one in part.series(frame):
        model, data = one.model, one.observed.data
        for first, (values, *slopes) in model.blocks(point, one.observed.part(part.number)):
            if model.failed is not None:
                place, error = model.failed
                for said in error.diagnostics[:1]:
                    said.notes = (*said.notes, f"at the start, at {_place(data, place)}")
                return error
            rows = [numbers.reshape(len(values), -1) for numbers in (values, *slopes)]
            wrong = ~(np.abs(np.concatenate(rows, 1)) < _LARGEST).all(axis=1)
            if wrong.any():
                k = int(np.argmax(wrong))
                missing = _missing(data, first + k)
                if missing is not None:
                    return missing
                is_value = not abs(values[k]) < _LARGEST
                what = "the model" if is_value else "the derivative of the model"
                text = f"{what} is not finite at the start, at {_place(data, first + k)}"
                help = "give another start, NAME=VALUE, or let `--starts 20` look for one"
                return RunError(Diagnostic("non-finite-start", text, help=help))
    return None


def _missing(data: Whole, record: int) -> InputError | None:
    """The error for a record whose result was observed although an input is missing, if one is."""
    if data.count <= record:
        return None
    names = [name for name, column in data.columns.items() if np.isnan(column[record]).any()]
    if not names:
        return None
    text = f"what was observed at {data.place(record)} has no `{names[0]}` beside it"
    help = "a record may do without what is observed; the result's inputs are all needed"
    return InputError(Diagnostic("bad-input", text, help=help))


def _place(data: Whole, record: int) -> str:
    return data.place(record) if data.count > record else f"record {record}"
