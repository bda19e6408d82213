"""A `%%grad` cell: a whole program of its own, which leaves the record of its gradient."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any

from gradcli.errors import Diagnostic, UsageError, nearest
from gradcli.questions.asked.request import Options
from gradcli.questions.program import Program
from gradcli.record import Record
from gradcli.results import Shown
from gradcli.source import Source

_OPTIONS = {
    "-i": "inputs",
    "--input": "inputs",
    "-o": "output",
    "--output": "output",
    "--wrt": "wrt",
    "--of": "of",
    "--seed": "seed",
}


class GradCell(Record):
    """The line of a `%%grad` cell.

    Fields:
        inputs: Names around the cell whose values are given to the program.
        output: The name that gets the record, or "".
        wrt: Names to differentiate by; None for those of `gradcli grad`.
        of: The result; None for the last expression.
        seed: The seed of random numbers; None for none.
    """

    __slots__ = ("inputs", "output", "wrt", "of", "seed")
    inputs: tuple[str, ...]
    output: str
    wrt: tuple[str, ...] | None
    of: str | None
    seed: int | None

    def answer(
        self,
        source: Source,
        values: Mapping[str, Any],
        load: Callable[[Source, frozenset[str]], Program],
        options: Options,
    ) -> Shown:
        """Value and gradient of the program's result; the result of its run if it has none.

        Args:
            source: The program.
            values: What the names of `inputs` stand for around the cell.
            load: Makes a program of its text, given the names of values.
            options: How to run.

        Raises:
            UsageError: If a name of `inputs` has no value there.
            GradError: Of the kind of the failure.
        """
        for name in self.inputs:
            if name not in values:
                help = nearest(name, values)
                message = f"`{name}` in -i of `%%grad` has no value here"
                raise UsageError(Diagnostic("unknown-name", message, help=help))
        given = {name: values[name] for name in self.inputs}
        program = load(source, frozenset(given))
        asked = options.changed(seed=options.seed if self.seed is None else self.seed)
        if self.of is None and program.output is None:
            return program.run(given, options=asked)
        return program.grad(given, wrt=self.wrt, of=self.of, options=asked)


def grad_cell(line: str) -> GradCell:
    """What the options of a `%%grad` line ask for.

    Raises:
        UsageError: If they are wrong.
    """
    found: dict[str, str] = {}
    try:
        words = iter(shlex.split(line))
    except ValueError as error:
        raise _wrong(f"`%%grad {line}` cannot be read: {error}") from None
    for word in words:
        name, equals, value = word.partition("=")
        field = _OPTIONS.get(name)
        if field is None:
            help = nearest(name, _OPTIONS) or "it takes -i NAME,.., -o NAME, --wrt, --of and --seed"
            raise _wrong(f"`%%grad` has no option `{name}`", help)
        value = value if equals else next(words, "")
        if not value:
            raise _wrong(f"`{name}` of `%%grad` needs a value")
        before = f"{found[field]}," if field in found and field in ("inputs", "wrt") else ""
        found[field] = before + value
    if not found.get("seed", "0").isdecimal():
        raise _wrong(f"`--seed {found['seed']}` of `%%grad` is no whole number")
    return GradCell(
        _names(found.get("inputs", "")),
        found.get("output", ""),
        _names(found["wrt"]) if "wrt" in found else None,
        found.get("of"),
        int(found["seed"]) if "seed" in found else None,
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _wrong(message: str, help: str | None = None) -> UsageError:
    return UsageError(Diagnostic("usage", message, help=help))
