"""The columns that a fit compares with: observed values, their deviations and weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import Data, np
from gradcli.errors import Diagnostic, InputError, UsageError, nearest
from gradcli.questions.fitting.asked import Asked
from gradcli.record import Record

if TYPE_CHECKING:
    from gradcli.formats.readers.whole_table import Whole

Parse = Callable[[str, str], Any]
"""The program of an expression, given its text and the option that has it."""


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
        self._program = parse(text, flag)
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

    def of(self, data: Whole) -> Data:
        """Its value at each record.

        Raises:
            InputError: If one is not finite.
            GradError: As of a run.
        """
        if self._program is None:
            found = data.columns[self.text]
        elif self.names:
            columns = {name: data.columns[name] for name in self.names}
            answers = self._program.rows(columns, "run", self._given)
            found = np.asarray(answers.get("result", np.zeros(0)), np.float64)
        else:
            value = self._program.run(self._given).result
            found = np.full(data.count, np.asarray(value, np.float64).ravel()[0])
        if found.shape != (data.count,):
            message = f"{self._flag} `{self.text}` is not one number a record"
            raise InputError(Diagnostic("shape-mismatch", message))
        wrong = ~np.isfinite(found)
        if wrong.any():
            k = int(np.argmax(wrong))
            message = f"`{self.text}` is not finite at {data.place(k)}: {found[k]}"
            raise InputError(Diagnostic("bad-input", message))
        return found


def _parameter(name: str, flag: str) -> UsageError:
    message = f"{flag} names `{name}`, which is a parameter"
    help = f"{flag} is an expression over the columns; if the column `{name}` is meant, `--map`"
    return UsageError(Diagnostic("ambiguous-name", message, help=f"{help} renames it"))


class Observed(Record):
    """What the results of a model are compared with.

    Fields:
        values: The observed values, one array a result.
        sigma: Their standard deviations; None if they are not known.
        weights: What multiplies their squares; None for ones.
    """

    __slots__ = ("values", "sigma", "weights")
    values: list[Data]
    sigma: Data | None
    weights: Data | None

    def scales(self) -> Data:
        """What the differences of each record are multiplied by."""
        found = np.ones(len(self.values[0]) if self.values else 1)
        if self.sigma is not None:
            found = found / self.sigma
        return found if self.weights is None else found * np.sqrt(self.weights)


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
        def made(text: str, flag: str) -> Expression:
            return Expression(text, flag, columns, given, parameters, parse)

        self.observed = [made(text, "--observed") for text in asked.observed]
        self.sigma = None if asked.sigma is None else made(asked.sigma, "--sigma")
        self.weights = None if asked.weights is None else made(asked.weights, "--weights")

    @property
    def every(self) -> list[Expression]:
        """All of them."""
        several = [*self.observed, self.sigma, self.weights]
        return [one for one in several if one is not None]

    @property
    def names(self) -> list[str]:
        """The columns that they read."""
        return list(dict.fromkeys(name for one in self.every for name in one.names))

    def of(self, data: Whole) -> Observed:
        """Their values.

        Raises:
            InputError: If a deviation is not above zero, or a weight below it.
        """
        sigma = None if self.sigma is None else self.sigma.of(data)
        weights = None if self.weights is None else self.weights.of(data)
        if sigma is not None and (wrong := ~(sigma > 0.0)).any():
            k = int(np.argmax(wrong))
            message = f"a standard deviation of {sigma[k]} at {data.place(k)}"
            help = "deviations are above zero; `--weights` of 0 leave records out"
            raise InputError(Diagnostic("bad-input", message, help=help))
        if weights is not None and (wrong := ~(weights >= 0.0)).any():
            k = int(np.argmax(wrong))
            raise InputError(
                Diagnostic("bad-input", f"a weight of {weights[k]} at {data.place(k)}")
            )
        return Observed([one.of(data) for one in self.observed], sigma, weights)
