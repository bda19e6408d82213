"""A command line from its options to its answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradcli.cli.line.arguments import split_names
from gradcli.cli.line.inputs import load
from gradcli.cli.line.options import Line
from gradcli.cli.line.output import Target, choose, resolve_auto
from gradcli.cli.rows.query import Query, Question
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import Telling
from gradcli.cli.terminal.terminal import print_message
from gradcli.errors import Diagnostic, GradError
from gradcli.formats.writers.forms import Parts
from gradcli.limits import Limits, chosen

if TYPE_CHECKING:
    from gradcli.cli.line.records import Batch
    from gradcli.program import Options, Program
    from gradcli.render.text import Line as Drawn
    from gradcli.results import Derivative, Kinked, Several


class Inquiry:
    """What a command line asks for.

    Fields:
        telling: How warnings are told.
        target: Where the answer goes, and in which form.
        names: Those of --wrt.
        shown: Those of --show.
        records: Those of --rows.
        limits: What each run may take.
        program: The program, once it is loaded.
        inputs: The values that it is given.

    Raises:
        UsageError: If options contradict each other.
    """

    def __init__(self, line: Line, forms: Sequence[str]) -> None:
        self._line = line
        self.telling = Telling(line.quiet, line.diagnostics, line.color)
        self.target = choose(line, forms)
        self.names = split_names(line.wrt, "--wrt")
        self.shown = split_names(line.show, "--show")
        self.records = _records(line)
        self.limits = _limits(line)

    def load(self) -> Program:
        """The program that the line names."""
        self.program, self.inputs = load(self._line, self.records)
        return self.program

    def settings(self, echo: Callable[[str], None] = print_message, **more: Any) -> Options:
        """How the line wants the program to be run."""
        from gradcli.program import Options

        line = self._line
        return Options(
            seed=line.seed,
            echo=echo,
            check_nan=line.check_nan,
            graph=line.graph,
            kinks=line.kinks,
            limits=self.limits,
            stuck=self._give_up,
            verbose=line.verbose,
            compile=line.compile,
            remark=self._remark,
            **more,
        )

    def _remark(self, said: Diagnostic) -> None:
        """Say something about the work, to one who wants to know more."""
        if self._line.verbose:
            said.severity = "note"
            self.telling.warn([said])

    def _give_up(self, error: GradError) -> None:
        """End the process at a limit that is reached in a call which cannot be stopped."""
        self.telling.report(error.diagnostics)
        os._exit(error.status)

    def answer(self, settings: Options, name: str, **asked: Any) -> None:
        """Ask for derivatives at the inputs, or at every row, and write them: the question is a
        method of the program, and what it is asked beside them and the results that --of names.
        """
        query = self._query(name, asked)
        if query.name == "several":
            refuse_kinks(settings.kinks, "several results")
        if self.records is not None:
            refuse_kinks(settings.kinks, "--rows")
            self.answer_rows(query, settings, _parts)
            return
        target = resolve_auto(self.target)
        if target.form not in WITH_KINKS:
            refuse_kinks(settings.kinks, f"{target.form} output")

        def answer() -> tuple[Derivative | Several, str | bytes]:
            result: Derivative | Several = query(self.inputs, settings)
            return result, self._content(result, target)

        result, content = self.program.within(settings, answer)
        target.write(content)
        self.telling.warn(result.warnings)

    def _query(self, name: str, asked: Mapping[str, Any]) -> Query:
        of = split_names(self._line.several, "--of")
        if of is None or len(of) == 1:
            return Query(self.program, name, {"of": of and of[0], **asked})
        return Query(self.program, "several", {"question": name, "of": of, **asked})

    def _content(self, result: Derivative | Several, target: Target) -> str | bytes:
        found = getattr(result, "kinks", None)
        if target.form == "human":
            from gradcli.render.derivatives import derivative_view

            precision = self._line.precision
            view = derivative_view(result, precision=precision, width=target.width)
            return target.draw(view if found is None else [*view, [], *drawn(found, target)])
        if found and target.form == "plain":
            from gradcli.formats.writers.plain import fields_plain, kinks_plain

            return fields_plain(_parts(result).fields()) + kinks_plain(found)
        return target.whole(_parts(result))

    def answer_rows(
        self,
        query: Query,
        settings: Options,
        parts: Callable[[Any], Parts],
        right: Callable[[Any], bool] = lambda result: True,
    ) -> None:
        """Ask the question of every row, and write each answer from its parts; the status is 1 if
        one is not right.
        """
        from gradcli.cli.rows.rows import answer_rows

        assert self.records is not None, "no --rows"
        asked = Question(query, settings, self.program, self.inputs, parts, right)
        answer_rows(asked, self.records, self.target, self.telling)


WITH_KINKS = ("human", "plain", "json", "ndjson")


def refuse_kinks(kinks: bool, beside: str) -> None:
    """Refuse --kinks where no form of output has room for them."""
    if kinks:
        raise usage(f"`--kinks` does not go with {beside}")


def drawn(found: Sequence[Kinked], target: Target) -> list[Drawn]:
    """The kinks as a person sees them."""
    from gradcli.render.kinks import kinks_view

    return kinks_view(found, width=target.width)


def _parts(result: Derivative | Several) -> Parts:
    from gradcli.formats.texts.fields import derivative, fields

    def json() -> dict[str, str]:
        from gradcli.formats.texts.json_text import json_fields

        return json_fields(result)

    return Parts(lambda: fields(result), lambda: derivative(result), json)


def _limits(line: Line) -> Limits:
    """The limits that the options and the environment set.

    Raises:
        UsageError: If one is written wrongly.
    """
    given = {
        "steps": line.max_steps,
        "seconds": line.time_limit,
        "memory": line.max_memory,
        "depth": line.max_depth,
    }
    try:
        found = chosen(given, os.environ, safe=line.safe)
    except ValueError as error:
        raise usage(str(error)) from None
    return found.among(line.jobs)


def _records(line: Line) -> Batch | None:
    """The records that the options name; None without --rows.

    Raises:
        UsageError: If an option stands without --rows.
        InputError: If the file cannot be read or has no header.
    """
    if not line.rows:
        told = (line.columns, line.keep, line.renamed, line.missing, line.separator)
        if any(told) or (line.decimal, line.on_error, line.jobs) != (".", "stop", 1):
            raise usage(
                "`--columns`, `--keep`, `--map`, `--na`, `--separator`, `--decimal`, `--on-error` "
                "and `--jobs` go with `--rows`"
            )
        return None
    from gradcli.cli.line.records import batch

    return batch(line, line.rows)
