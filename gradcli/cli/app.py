"""The command line as a whole."""

from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gradcli import __version__
from gradcli.cli.command import help_text
from gradcli.cli.terminal import write_message, write_output

_MODULES = {
    "run": "gradcli.cli.run",
    "grad": "gradcli.cli.grad",
    "jvp": "gradcli.cli.products",
    "vjp": "gradcli.cli.products",
    "jacobian": "gradcli.cli.matrices",
    "hessian": "gradcli.cli.matrices",
    "hvp": "gradcli.cli.products",
    "gradcheck": "gradcli.cli.gradcheck",
    "check": "gradcli.cli.check",
    "graph": "gradcli.cli.graph",
    "trace": "gradcli.cli.trace",
    "plot": "gradcli.cli.plot",
    "ops": "gradcli.cli.ops",
    "explain": "gradcli.cli.explain",
    "samples": "gradcli.cli.samples",
    "completion": "gradcli.cli.shells",
    "help": "gradcli.cli.help",
}
"""The module of each command, in which it has the command's name."""

_PLAIN: dict[str, Any] = {
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class _Commands(TyperGroup):
    """Commands that are built when they are named: building all takes longer than using one."""

    def list_commands(self, ctx: object) -> list[str]:
        return commands()

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        if cmd_name not in _MODULES:
            return None
        return getattr(import_module(_MODULES[cmd_name]), cmd_name).build()


def commands() -> list[str]:
    """The names of all commands."""
    return list(_MODULES)


app = typer.Typer(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    **_PLAIN,
)


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


app.callback(invoke_without_command=True, help=help_text(_root))(_root)
