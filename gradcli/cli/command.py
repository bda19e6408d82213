"""Commands made of a row of the table of options and a function of the line that was given."""

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal

import typer

from gradcli.cli.options import Line
from gradcli.formats.forms import alternatives, format_names


def command(
    *options: str, forms: Sequence[str]
) -> Callable[[Callable[[Line], None]], Callable[..., None]]:
    """A command that takes these options, in this order, and whose --format has these forms."""
    table = Line.__annotations__ | ({"form": _format(forms)} if forms else {})
    row = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=getattr(Line, name), annotation=table[name])
        for name in options
    ]

    def made(body: Callable[[Line], None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            body(Line(**given))

        run.__doc__ = body.__doc__
        run.__signature__ = Signature(row)  # type: ignore[attr-defined]  # typer reads it
        return run

    return made


def _format(forms: Sequence[str]) -> Any:
    names = format_names(forms)
    option = typer.Option(
        "-f", "--format", metavar="FORM", help=f"{alternatives(names)}.", show_default=False
    )
    return Annotated[Literal[names], option]
