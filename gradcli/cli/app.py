"""The whole command line."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gradcli import __version__
from gradcli.cli.line.command import SETTINGS, VARIABLE, Command, help_text
from gradcli.cli.terminal.terminal import write_message, write_output

if TYPE_CHECKING:
    from gradcli.cli.watch.table import Table

_MODULES = {
    "run": "gradcli.cli.commands.run",
    "grad": "gradcli.cli.commands.grad",
    "jvp": "gradcli.cli.commands.products",
    "vjp": "gradcli.cli.commands.products",
    "jacobian": "gradcli.cli.commands.matrices",
    "hessian": "gradcli.cli.commands.matrices",
    "hvp": "gradcli.cli.commands.products",
    "gradcheck": "gradcli.cli.commands.gradcheck",
    "propagate": "gradcli.cli.commands.propagate",
    "minimize": "gradcli.cli.commands.solve",
    "root": "gradcli.cli.commands.solve",
    "check": "gradcli.cli.commands.check",
    "graph": "gradcli.cli.commands.graph",
    "trace": "gradcli.cli.commands.trace",
    "plot": "gradcli.cli.commands.plot",
    "fit": "gradcli.cli.commands.fit",
    "serve": "gradcli.cli.commands.serve",
    "fmt": "gradcli.cli.commands.fmt",
    "lsp": "gradcli.cli.commands.interactive",
    "repl": "gradcli.cli.commands.interactive",
    "export": "gradcli.cli.commands.export",
    "ops": "gradcli.cli.commands.ops",
    "explain": "gradcli.cli.commands.explain",
    "samples": "gradcli.cli.commands.samples",
    "completion": "gradcli.cli.shells",
    "help": "gradcli.cli.help",
}
"""The module of each command, in which it has the command's name."""


class _Commands(TyperGroup):
    """A group whose commands are built when they are named."""

    def list_commands(self, ctx: object) -> list[str]:
        return commands()

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        return build(cmd_name) if cmd_name in _MODULES else None


def build(name: str) -> TyperCommand:
    """The command of a name alone: building all takes longer than using one."""
    found: Command = getattr(import_module(_MODULES[name]), name)
    return found.build()


def run(arguments: list[str], table: "Table | None" = None) -> int:
    """Run a command line, and return its exit status. A watched process has a table.

    Raises:
        GradError: The error that ends the command, or typer's if the line cannot be parsed.
    """
    name = arguments[0] if arguments else ""
    whole = _Whole(table, arguments)
    if name not in _MODULES or VARIABLE in os.environ:
        return whole.run(arguments)
    command = build(name)  # without the group, which is only needed for help and its own options
    path = f"gradcli {name}"
    return command.main(arguments[1:], prog_name=path, standalone_mode=False, obj=whole) or 0


def commands() -> list[str]:
    """The names of all commands."""
    return list(_MODULES)


class _Whole:
    """The command line as typer's context passes it to each command."""

    def __init__(self, table: "Table | None", arguments: list[str]) -> None:
        self.table, self.arguments = table, arguments

    def names(self) -> list[str]:
        return commands()

    def run(self, arguments: list[str]) -> int:
        return app(arguments, prog_name="gradcli", standalone_mode=False, obj=self) or 0


app = typer.Typer(cls=_Commands, context_settings=SETTINGS, rich_markup_mode=None)


def _print_version(wanted: bool) -> None:
    if wanted:
        write_output(f"gradcli {__version__}\n")
        raise typer.Exit


def _root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "-V",
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Evaluate and differentiate .grad programs.

    Examples:
      gradcli grad 'x ** 2 + 3 * x' x=2
      gradcli samples cooling -o .
      gradcli run cooling.grad k=0.2
      gradcli grad cooling.grad --wrt k
      echo 'x ** 2 + 3 * x' | gradcli grad x=2
    """
    if context.invoked_subcommand is None:
        write_message(f"{context.get_help()}\n")
        raise typer.Exit(2)


def app_help() -> str:
    """The help of the whole command line, before the lists of options and commands."""
    return help_text(_root)


app.callback(invoke_without_command=True, help=app_help())(_root)
