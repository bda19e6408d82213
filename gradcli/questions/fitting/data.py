"""The columns that a fit compares with: observed values, their deviations and weights."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, UsageError, nearest
from gradcli.formats.files.stored import Growing, pieces
from gradcli.questions.fitting.asked import Asked
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole

Parse = Callable[[str, str, Collection[str]], Any]
"""The program of an expression, given its text, the option that has it, and names of values."""


_LARGEST = 1e150  # its square is finite


class Expression:
    """An expression over the columns of the data.

    Args:
        text: Its text.
        flag: The option that has it.
        columns: The columns that there are.
        given: Values of other names.
        parse: Makes the program.

    Fields:
        text: Its text.
        names: The columns that it reads.
        inputs: All names that it reads, unless it is a column alone.
    """

    def __init__(
        self,
        text: str,
        flag: str,
        columns: Sequence[str],
        given: Mapping[str, Given],
        parameters: Sequence[str],
        parse: Parse,
    ) -> None:
        self.text, self._flag = text, flag
        self._program: Any = None
        self.inputs: tuple[str, ...] = ()
        if text in columns:
            self.names = [text]
            return
        if text in parameters:
            raise _parameter(text, flag)
        self._program = parse(text, flag, columns)
        self.inputs = inputs = self._program.inputs
        self.names = [name for name in inputs if name in columns]
        self._given = {n: given[n] for n in inputs if n in given and n not in columns}
        for name in inputs:
            if name in parameters:
                raise _parameter(name, flag)
            if name not in columns and name not in given:
                message = f"{flag} reads `{name}`, which is no column of the data"
                help = nearest(name, columns) or f"the columns are {', '.join(columns) or 'none'}"
                raise UsageError(Diagnostic("unknown-name", message, help=help))

    def of(self, data: Whole) -> Any:
        """Its value at each record, a column.

        Raises:
            InputError: If one is not finite.
            GradError: As of a run.
        """
        if self._program is None:
            column = data.columns[self.text]
            first = 0
            for (part,) in pieces(column):
                self._check(part, (len(part),), first, data)
                first += len(part)
            return column
        grown, first = Growing(data.most, self.text), 0
        for lines, *parts in pieces(data.lines, *(data.columns[name] for name in self.names)):
            part = self._part(dict(zip(self.names, parts, strict=True)), len(lines))
            self._check(part, lines.shape, first, data)
            grown.append(part)
            first += len(lines)
        return grown.done()

    def _part(self, columns: Mapping[str, Data], count: int) -> Data:
        """Its value at some records."""
        if self.names:
            answers = self._program.rows(columns, "run", self._given)
            return np.asarray(answers.get("result", np.zeros(0)), np.float64)
        value = self._program.run(self._given).result
        return np.full(count, np.asarray(value, np.float64).ravel()[0])

    def _check(self, part: Data, shape: tuple[int, ...], first: int, data: Whole) -> None:
        """Refuse values of records, from one on, that are no finite numbers.

        Raises:
            InputError: At the first.
        """
        if part.shape != shape:
            message = f"{self._flag} `{self.text}` is not one number a record"
            raise InputError(Diagnostic("shape-mismatch", message))
        wrong = ~np.isfinite(part)
        if wrong.any():
            k = int(np.argmax(wrong))
            message = f"`{self.text}` is not finite at {data.place(first + k)}: {part[k]}"
            raise InputError(Diagnostic("bad-input", message))


def _parameter(name: str, flag: str) -> UsageError:
    message = f"{flag} names `{name}`, which is a parameter"
    help = f"{flag} is an expression over the columns; if the column `{name}` is meant, `--map`"
    return UsageError(Diagnostic("ambiguous-name", message, help=f"{help} renames it"))


class Observed(Record):
    """What one result of a model is compared with. Columns are arrays, or `Stored` ones.

    Fields:
        names: The columns that its values are computed from.
        data: The records that have these.
        values: The observed values; None if the result itself is residuals, or a likelihood.
        sigma: Their standard deviations; None if they are not known.
        weights: What multiplies their squares; None for ones.
    """

    __slots__ = ("names", "data", "values", "sigma", "weights")
    names: Sequence[str]
    data: Whole
    values: Any
    sigma: Any
    weights: Any

    @property
    def is_plain(self) -> bool:
        """True if all records count alike."""
        return self.sigma is None and self.weights is None

    def part(self, number: int) -> slice:
        """The records of a part."""
        ends = [0, *(end for _, end in self.data.parts)]
        return slice(ends[number], ends[number + 1])

    def scales(self, part: slice) -> Data:
        """What the differences of some records are multiplied by; zero for one that is left out."""
        sigma = None if self.sigma is None else self.sigma[part]
        weights = None if self.weights is None else self.weights[part]
        return _scaled(part.stop - part.start, sigma, weights)

    def used(self, part: slice) -> Iterator[tuple[Data, Data, Data]]:
        """The records of a part that count, some at a time: observed values, scales and deviations
        (ones if they are not known).
        """
        columns = [c for c in (self.values, self.sigma, self.weights) if c is not None]
        for parts in pieces(*columns, part=part):
            rest = iter(parts)
            y = next(rest)
            sigma = None if self.sigma is None else next(rest)
            scales = _scaled(len(y), sigma, None if self.weights is None else next(rest))
            chosen = scales > 0.0
            yield y[chosen], scales[chosen], (np.ones(len(y)) if sigma is None else sigma)[chosen]


def _scaled(count: int, sigma: Data | None, weights: Data | None) -> Data:
    """What the differences of records are multiplied by."""
    found = np.ones(count)
    if sigma is not None:
        found = found / sigma
    return found if weights is None else found * np.sqrt(weights)


class Expressions:
    """The expressions of a fit's options."""

    def __init__(
        self,
        asked: Asked,
        columns: Sequence[str],
        given: Mapping[str, Given],
        parameters: Sequence[str],
        parse: Parse,
    ) -> None:
        def made(written: str | Sequence[str] | None, flag: str) -> list[Expression]:
            texts = [written] if isinstance(written, str) else written or ()
            found = [Expression(text, flag, columns, given, parameters, parse) for text in texts]
            if len(found) in (0, len(asked.observed)):
                return found
            if len(found) == 1:
                return found * len(asked.observed)
            text = f"{len(found)} expressions in {flag} for {len(asked.observed)} observed"
            raise UsageError(Diagnostic("usage", text, help="give one, or one for each"))

        self.observed = made(asked.observed, "--observed")
        self.sigma = made(asked.sigma, "--sigma")
        self.weights = made(asked.weights, "--weights")

    @property
    def every(self) -> list[Expression]:
        """All of them."""
        return [*self.observed, *self.sigma, *self.weights]

    @property
    def names(self) -> list[str]:
        """The columns that they read."""
        return list(dict.fromkeys(name for one in self.every for name in one.names))

    @property
    def either(self) -> list[list[str]]:
        """The columns of several observed expressions, of which a record needs one alone."""
        return [one.names for one in self.observed] if len(self.observed) > 1 else []

    def of(self, data: Whole) -> list[Observed]:
        """What each result is compared with.

        Raises:
            InputError: If a deviation is not above zero, or a weight below it.
        """
        if not self.observed:
            return [Observed((), data, None, None, None)]
        return [self._one(k, data) for k in range(len(self.observed))]

    def _one(self, k: int, data: Whole) -> Observed:
        names = self.observed[k].names
        known = data.known(names) if self.either else data
        sigma = self.sigma[k].of(known) if self.sigma else None
        weights = self.weights[k].of(known) if self.weights else None
        if sigma is not None and (bad := _first(sigma, lambda part: ~(part > 0.0))) is not None:
            message = f"a standard deviation of {sigma[bad]} at {known.place(bad)}"
            help = "deviations are above zero; `--weights` of 0 leave records out"
            raise InputError(Diagnostic("bad-input", message, help=help))
        if weights is not None and (bad := _first(weights, lambda part: part < 0.0)) is not None:
            message = f"a weight of {weights[bad]} at {known.place(bad)}"
            raise InputError(Diagnostic("bad-input", message))
        values = self.observed[k].of(known)
        if (bad := _first(values, lambda part: np.abs(part) >= _LARGEST)) is not None:
            message = f"`{self.observed[k].text}` is {values[bad]} at {known.place(bad)}"
            help = f"scale it, as in `--observed '{self.observed[k].text} / 1e300'`"
            text = f"{message}: its square is too large for a float"
            raise InputError(Diagnostic("bad-input", text, help=help))
        return Observed(names, known, values, sigma, weights)


def _first(column: Any, is_wrong: Callable[[Data], Data]) -> int | None:
    """The first record of a column at which something holds; None if there is none."""
    first = 0
    for (part,) in pieces(column):
        wrong = is_wrong(part)
        if wrong.any():
            return first + int(np.argmax(wrong))
        first += len(part)
    return None
