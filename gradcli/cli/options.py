"""The options of all commands: one table, from which each command takes its own."""

from typing import Annotated, Any, Literal

import typer

from gradcli.cli import completion

# No `from __future__ import annotations` here or in `command`: typer would evaluate each annotation
# from its text, which takes longer than all the rest that it does.


class Line:
    """What a command line asks for, a field an option; what a command does not take is as if it
    were not asked for. `form` gets its values and help from the forms of the command.
    """

    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE] [NAME=VALUE]...",
            help="The program: a file, its text, - or nothing for standard input. NAME=VALUE gives "
            "an input, NAME=@FILE reads it: .json, .npy, .npz:KEY, .csv:COLUMN, .txt.",
            show_default=False,
            autocompletion=completion.inputs,
        ),
    ] = None
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="An operation, its sign, or words to search for; all without it.",
            show_default=False,
            autocompletion=completion.operations,
        ),
    ] = None
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="[COMMAND|PAGE]",
            help="A command, or a page of the documentation; the list of both without it.",
            show_default=False,
            autocompletion=completion.topics,
        ),
    ] = None
    shell: Annotated[
        Literal["bash", "zsh", "fish", "powershell"],
        typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.", show_default=False),
    ] = "bash"
    sample: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="A sample; all without it.",
            show_default=False,
            autocompletion=completion.samples,
        ),
    ] = None
    folder: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FOLDER", help="Write files into this folder."),
    ] = None
    expression: Annotated[
        list[str] | None,
        typer.Option("-e", "--expression", metavar="TEXT", help="A line of program; repeatable."),
    ] = None
    values_file: Annotated[
        str | None,
        typer.Option(
            "-i",
            "--input",
            metavar="FILE",
            help="Values by name: a JSON object, an .npz, a CSV of columns, what gradcli printed; "
            "- reads them.",
        ),
    ] = None
    ignore_extra: Annotated[
        bool,
        typer.Option("--ignore-extra", help="Pass over names of -i that are no inputs."),
    ] = False
    rows: Annotated[
        list[str] | None,
        typer.Option(
            "--rows",
            metavar="FILE",
            help="One run for each record of a CSV, TSV or JSON lines; - reads them; repeatable.",
        ),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,..", help="Names of the columns of a CSV without a header."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,..", help="Columns that go into the results; all for all."),
    ] = None
    renamed: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="INPUT=COLUMN", help="The column that gives an input; repeatable."
        ),
    ] = None
    missing: Annotated[
        list[str] | None,
        typer.Option("--na", metavar="TEXT,..", help="Cells that stand for nan, as in NA,null."),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(metavar="SIGN", help="What stands between cells, `tab` for one (a comma)."),
    ] = None
    decimal: Annotated[
        Literal[".", ","],
        typer.Option(
            metavar="SIGN", help="What stands before decimals in cells (.).", show_default=False
        ),
    ] = "."
    on_error: Annotated[
        Literal["stop", "skip", "record", "ignore"],
        typer.Option(
            "--on-error",
            metavar="WHAT",
            help="A bad row: stop, skip, record; ignore is skip with status 0.",
            show_default=False,
        ),
    ] = "stop"
    jobs: Annotated[
        int,
        typer.Option(
            min=1, max=256, metavar="N", help="Processes for --rows (1).", show_default=False
        ),
    ] = 1
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,..",
            help="Print these names; repeatable.",
            autocompletion=completion.names,
        ),
    ] = None
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="CODE,..", help="Leave out these warnings; repeatable."),
    ] = None
    ir: Annotated[
        bool, typer.Option("--ir", help="Print the program of ops that the text becomes.")
    ] = False
    kinks: Annotated[
        bool,
        typer.Option("--kinks", help="Also list operations evaluated at a corner, jump or tie."),
    ] = False
    graph: Annotated[bool, typer.Option("--graph", help="Also draw the recorded graph.")] = False
    tangent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Direction by this name; repeatable, zero by the others.",
            autocompletion=completion.tangents,
        ),
    ] = None
    wrt: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,..",
            help="Differentiate by these names; repeatable. Without it by the params, else by the "
            "floats among the inputs and names given.",
            autocompletion=completion.watchable,
        ),
    ] = None
    cotangent: Annotated[
        str | None,
        typer.Option(metavar="VALUE", help="Weights of a result that is not scalar."),
    ] = None
    diagonal: Annotated[bool, typer.Option("--diagonal", help="Only the Hessian's diagonal.")] = (
        False
    )
    mode: Annotated[
        Literal["auto", "forward", "reverse"],
        typer.Option(
            metavar="MODE", help="auto (the cheaper), forward or reverse.", show_default=False
        ),
    ] = "auto"
    of: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Take this top-level name as the result.",
            autocompletion=completion.names,
        ),
    ] = None
    order: Annotated[
        int,
        typer.Option(
            min=1,
            max=2,
            metavar="N",
            help="Highest derivatives to check (1).",
            show_default=False,
        ),
    ] = 1
    form: Annotated[str, typer.Option("-f", "--format", metavar="FORM", show_default=False)] = (
        "auto"
    )
    json: Annotated[bool, typer.Option("--json", help="Short for --format json.")] = False
    raw: Annotated[bool, typer.Option("-r", "--raw", help="Print numbers only, one a line.")] = (
        False
    )
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="Write a file, its form by its suffix."
        ),
    ] = None
    precision: Annotated[
        int,
        typer.Option(
            min=1,
            max=17,
            metavar="N",
            help="Significant digits for people (6).",
            show_default=False,
        ),
    ] = 6
    check_nan: Annotated[
        bool, typer.Option("--check-nan", help="Make a result that is not finite an error.")
    ] = False
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**128 - 1, metavar="N", help="Make random numbers repeatable."),
    ] = None
    compile: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(
            metavar="WHEN",
            help="Make code of the program: auto (where it pays), always or never.",
            show_default=False,
        ),
    ] = "auto"
    max_steps: Annotated[
        str | None, typer.Option(metavar="N", help="At most so many turns of loops and calls.")
    ] = None
    time_limit: Annotated[
        str | None, typer.Option(metavar="S", help="At most so many seconds: 10, 500ms, 2min.")
    ] = None
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="At most so much memory: 512MiB, 2G; of what is free: 80%."
        ),
    ] = None
    max_depth: Annotated[
        str | None, typer.Option(metavar="N", help="At most so many calls in each other (1000).")
    ] = None
    safe: Annotated[
        bool, typer.Option("--safe", help="Limits for the programs of strangers: all of these.")
    ] = False
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No warnings.")] = False
    verbose: Annotated[
        bool,
        typer.Option("-v", "--verbose", help="Say more at a limit and of gradcli's own faults."),
    ] = False
    color: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(metavar="WHEN", help="auto, always or never.", show_default=False),
    ] = "auto"
    diagnostics: Annotated[
        Literal["full", "concise", "json"],
        typer.Option(
            metavar="FORM", help="Form of messages: full, concise or json.", show_default=False
        ),
    ] = "full"

    def __init__(self, **given: Any) -> None:
        self.__dict__.update(given)


PROGRAM = ("arguments", "expression", "values_file", "ignore_extra")
ROWS = (
    *("rows", "columns", "keep", "renamed", "missing", "separator", "decimal", "on_error", "jobs"),
)
RESULT = (*("form", "json", "raw", "output", "precision", "check_nan", "seed", "compile", "quiet"),)
LIMITS = ("max_steps", "time_limit", "max_memory", "max_depth", "safe")
MESSAGES = ("verbose", "color", "diagnostics")
