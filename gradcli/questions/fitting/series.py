"""One result of a model beside what it is compared with, record by record."""

from __future__ import annotations

from collections.abc import Iterator

from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError
from gradcli.questions.fitting.data import Observed
from gradcli.questions.fitting.model import Model
from gradcli.record import Record


class Series(Record):
    """One result of a model beside what it is compared with.

    Fields:
        model: The result.
        observed: What it is compared with.
    """

    __slots__ = ("model", "observed")
    model: Model
    observed: Observed

    def compared(self, point: Data, number: int) -> Iterator[tuple[Data, Data]]:
        """The residuals and their slopes at the records of a part that count, scaled by deviations
        and weights, some at a time. A result without observed values is its own residuals.

        Raises:
            InputError: If the result has another number of values than there are records.
        """
        records = self.observed.part(number)
        count = records.start
        for first, (values, slopes, *_) in self.model.blocks(point, records):
            if self.observed.values is None:
                yield values, slopes
                continue
            count = first + len(values)
            part = slice(first, count)
            wanted = self.observed.values[part]
            if len(values) != len(wanted):
                raise self._other_count(count)
            if self.observed.is_plain:
                yield values - wanted, slopes
                continue
            scales = self.observed.scales(part)
            both = (values - wanted) * scales, slopes * scales[:, None]
            used = scales > 0.0
            yield both if used.all() else (both[0][used], both[1][used])
        if self.observed.values is not None and count != records.stop:
            raise self._other_count(count)

    def _other_count(self, count: int) -> InputError:
        text = f"the model gives {count} values for {len(self.observed.values)} records"
        return InputError(Diagnostic("shape-mismatch", text))

    def bend(self, point: Data, number: int) -> Data:
        """Half of the Hessian of the sum of the squares of a part's residuals."""
        width = len(point)
        found = np.zeros((width, width))
        for first, (values, slopes, *_) in self.model.blocks(point, self.observed.part(number)):
            part = slice(first, first + len(values))
            residuals, scales = values, np.ones(len(values))
            if self.observed.values is not None:
                scales = self.observed.scales(part)
                residuals = (values - self.observed.values[part]) * scales
            scaled = slopes * scales[:, None]
            found += scaled.T @ scaled
            found += self.model.bend(point, part, residuals * scales)
        return found
