"""A program that grows by what a person types, and what the prompt answers."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Callable, Sequence

from gradcli.cells import CellRun, Growth
from gradcli.cli.terminal.failures import unwritable, usage
from gradcli.cli.terminal.messages import report
from gradcli.cli.terminal.terminal import (
    print_output,
    wants_colour,
    width,
    write_message,
    write_output,
)
from gradcli.errors import GradError, listed, nearest
from gradcli.limits import Limits
from gradcli.program import Options, Program
from gradcli.source import Source

_NAME = "<prompt>"

HELP = """\
:graph [NAME]  the recorded graph of a name, or of the last expression
:trace [NAME]  each operation with its value, partials and adjoint
:kinks         operations that were evaluated at a corner, jump or tie
:save FILE     write all lines that succeeded into a file
:help          this list
:quit          leave, as does Ctrl-D
"""


class Conversation:
    """The lines so far, and their run.

    Args:
        seed: Makes random numbers repeatable; None draws one.
        limits: Limits on each line.
        form: The form of messages: "full", "concise" or "json".
        color: "auto", "always" or "never".
    """

    def __init__(self, seed: int | None, limits: Limits, form: str, color: str) -> None:
        self._form, self._color = form, color
        # the same numbers again where `:graph` and others repeat the run
        seed = secrets.randbelow(2**32) if seed is None else seed
        self._silent = Options(seed=seed, limits=limits)
        self._options = self._silent.changed(echo=print_output)
        self._growth, self._run = Growth(_NAME), CellRun({}, self._options)
        self._commands: dict[str, Callable[[str], None]] = {
            ":graph": self._graph,
            ":trace": self._trace,
            ":kinks": self._kinks,
            ":save": self._save,
            ":help": lambda _: write_output(HELP),
        }

    @property
    def source(self) -> Source:
        """The text of all lines that have succeeded."""
        return self._growth.source

    def answer(self, text: str) -> bool:
        """Run a text or do a command, and write what it gives. False if it ends the prompt."""
        word, _, argument = text.strip().partition(" ")
        if word in (":quit", ":q", "quit()", "exit()"):
            return False
        try:
            if word[:1] == ":":
                self._command(word, argument.strip())
            else:
                self._cell(text)
        except KeyboardInterrupt:
            write_message("\ninterrupted\n")
        except GradError as error:
            report(error.diagnostics, form=self._form, color=self._color)
        return True

    def _cell(self, text: str) -> None:
        """Run a cell. If it fails, names and random numbers are as they were before."""
        run = self._run
        before = run.mark()
        try:
            longer = self._growth.added(text)
            step = longer.step
            assert step is not None, "a cell was added"
            result = step.program.within(self._options, lambda: run.cell(step))
        except (GradError, KeyboardInterrupt) as error:
            changed = run.restore(before)
            if isinstance(error, GradError):
                report(error.diagnostics, form=self._form, color=self._color)
            else:
                write_message("\ninterrupted\n")
            if changed:
                names = listed(changed)
                write_message(f"changed in place by this line, and not put back: {names}\n")
            return
        self._growth = longer
        if result.shown:
            print_output(f"{result.shown}\n")
        report(run.warnings(step.program), form=self._form, color=self._color)

    def _command(self, word: str, argument: str) -> None:
        found = self._commands.get(word)
        if found is None:
            near = nearest(word, self._commands)
            raise usage(f"the prompt has no command `{word}`", near or "`:help` lists them")
        found(argument)

    def _program(self) -> Program:
        """The program of all lines.

        Raises:
            UsageError: If there is none yet.
        """
        if self._growth.step is None:
            raise usage("there is no program yet", "type an expression first")
        return self._growth.step.program

    def _graph(self, name: str) -> None:
        result = self._program().graph(of=name or None, options=self._silent)
        self._draw(result, ("graph",), "tree")

    def _trace(self, name: str) -> None:
        result = self._program().trace(of=name or None, options=self._silent)
        self._draw(result, ("trace",), "human")

    def _kinks(self, _: str) -> None:
        result = self._program().run(options=self._silent.changed(kinks=True))
        self._draw(result, ("kinks",), "human")

    def _draw(self, result: object, views: Sequence[str], form: str) -> None:
        from gradcli.render.looks import USUAL, drawn
        from gradcli.render.theme import text_of
        from gradcli.results import Look

        usual = {name: getattr(USUAL, name) for name in USUAL._fields}
        terminal = width(sys.stdout)
        look = Look(**{**usual, "width": terminal or 80, "terminal": terminal})
        lines = drawn(result, views, form, look)
        assert isinstance(lines, list), "these views are lines"
        write_output(text_of(lines, colour=wants_colour(sys.stdout, self._color)))

    def _save(self, path: str) -> None:
        from gradcli.formats.texts.file import write_atomically

        if not path:
            raise usage("`:save` needs the name of a file", "as in `:save model.grad`")
        if os.path.lexists(path):
            raise usage(f"`{path}` is there already", "name another file")
        try:
            write_atomically(path, self.source.text.encode())
        except OSError as error:
            raise unwritable(f"`{path}`", error.strerror or str(error)) from None
        write_message(f"saved `{path}`\n")
