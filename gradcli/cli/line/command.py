"""Make commands from their options and a function that takes the parsed line."""

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from typer.core import TyperArgument, TyperCommand, TyperOption
from typer.main import get_click_type
from typer.models import OptionInfo

from gradcli.cli.line.options import FIELDS, Line
from gradcli.formats.writers.forms import VIEWS, View, alternatives, format_names, suffixes

STATUSES = (
    "Exit status: 0 done, 1 the answer is no, 2 usage, 3 the program, 4 the inputs, "
    "5 while running, 6 a limit; `gradcli help exit-status`."
)


class _Made(TyperCommand):
    """A typer command that calls a function with the parsed line."""

    def __init__(
        self, body: Callable[[Line], None], name: str, view: View | None, **settings: Any
    ) -> None:
        super().__init__(name, **settings)
        self._body = body
        self._forms, self._drawn = (view.forms, view.drawn) if view else ((), ())

    def invoke(self, ctx: Any) -> None:
        given = {name: _as_list(value) for name, value in ctx.params.items()}
        line = Line(whole=ctx.obj, forms=self._forms, drawn=self._drawn, **given)
        if line.watch:
            from gradcli.cli.line.again import watch

            ctx.exit(watch(line))
        self._body(line)


VARIABLE = "_GRADCLI_COMPLETE"
"""The variable by which a shell asks for completions, and for the text that makes it ask."""

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command:
    """A command. Its typer object is made only when the command line names it.

    typer would derive the parameters from a function's annotations; that takes five times as long
    as making them here, and longer than a short command.
    """

    def __init__(self, body: Callable[[Line], None], options: Sequence[str], view: str | None):
        self.name, self.body, self.options = body.__name__, body, options
        self._view = None if view is None else VIEWS[view]
        self.forms = () if self._view is None else self._view.forms

    def build(self) -> TyperCommand:
        """The typer command."""
        return _Made(
            self.body,
            self.name,
            self._view,
            params=[*map(self._parameter, self.options)],
            help=help_text(self.body),
            epilog=STATUSES,
            rich_markup_mode=None,
            context_settings=SETTINGS,
        )

    def _parameter(self, name: str) -> TyperArgument | TyperOption:
        field = FIELDS[name]
        kind: Any = Line.__annotations__[name]
        settings = {"show_default": False, **field.settings}
        if name == "form" and self.forms:
            choices = format_names(self.forms)
            kind, settings["help"] = Literal[choices], f"{alternatives(choices)}."
        if name == "output" and self.forms:
            settings["help"] = (
                f"Write a file, its form by its suffix: {alternatives([*suffixes(self.forms)])}."
            )
            if "restart" in self.options:
                settings["help"] += " With --rows, FOLDER/ has a file for each part of them."
        if kind == _SEVERAL:
            settings |= {"multiple": True} if field.make is TyperOption else {"nargs": -1}
        elif (plain := _without_none(kind)) is int or get_origin(plain) is Literal:
            limits = OptionInfo(min=settings.pop("min", None), max=settings.pop("max", None))
            settings["type"] = get_click_type(annotation=plain, parameter_info=limits)
        names = field.names if field.names is not None else (f"--{name.replace('_', '-')}",)
        return field.make(param_decls=[name, *names], default=field.default, **settings)


_SEVERAL = list[str] | None


def _without_none(kind: Any) -> Any:
    """The type of an option's value if it is given."""
    return get_args(kind)[0] if NoneType in get_args(kind) else kind


def command(*options: str, view: str | None = None) -> Callable[[Callable[[Line], None]], Command]:
    """A command with these options, in this order. `view` is the view of its results, which decides
    its forms of output.
    """
    return lambda body: Command(body, options, view)


def help_text(function: Callable[..., None]) -> str:
    """The function's docstring, marked so that typer does not reflow its examples."""
    return (function.__doc__ or "").replace("    Examples:", "    \b\n    Examples:")


def _as_list(value: Any) -> Any:
    """The list of a repeatable option's values, None if it is empty; any other value unchanged."""
    return (list(value) or None) if isinstance(value, tuple) else value
