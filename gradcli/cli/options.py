"""The options that commands share, each declared once."""

from enum import StrEnum
from typing import Annotated

import typer

from gradcli.cli import completion

# No `from __future__ import annotations` here or in the commands: typer would evaluate each
# annotation from its text, which takes longer than all the rest that it does.


class FormatName(StrEnum):
    """What the output looks like; `auto` is human on a terminal and plain elsewhere."""

    AUTO = "auto"
    HUMAN = "human"
    PLAIN = "plain"
    JSON = "json"
    NDJSON = "ndjson"
    CSV = "csv"
    TSV = "tsv"


class ListFormatName(StrEnum):
    """What a list looks like; `auto` is human on a terminal and plain elsewhere."""

    AUTO = "auto"
    HUMAN = "human"
    PLAIN = "plain"
    JSON = "json"


class ModeName(StrEnum):
    """The mode that a derivative is made by; `auto` is the one that costs less."""

    AUTO = "auto"
    FORWARD = "forward"
    REVERSE = "reverse"


class GraphFormatName(StrEnum):
    """What a graph looks like; `auto` is tree."""

    AUTO = "auto"
    TREE = "tree"
    DOT = "dot"
    JSON = "json"


class OnErrorName(StrEnum):
    """What a bad row does."""

    STOP = "stop"
    SKIP = "skip"
    RECORD = "record"


class ColorChoice(StrEnum):
    """Whether to colour; `auto` asks the terminal and the environment."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


class DiagnosticsForm(StrEnum):
    """How messages are written."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"


Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FILE] [NAME=VALUE]...",
        help="The program, - or nothing for standard input, and its inputs.",
        show_default=False,
        autocompletion=completion.inputs,
    ),
]
Expressions = Annotated[
    list[str] | None,
    typer.Option("-e", "--expression", metavar="TEXT", help="A line of program; repeatable."),
]
ValuesFile = Annotated[
    str | None,
    typer.Option(
        "-i",
        "--input",
        metavar="FILE",
        help="Values by name: a JSON object, a CSV of columns, what gradcli printed; - reads them.",
    ),
]
Rows = Annotated[
    str | None,
    typer.Option(
        "--rows",
        metavar="FILE",
        help="One run for each record of a CSV, TSV or JSON lines; - reads them.",
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,..", help="Names of the columns of a CSV without a header."),
]
OnError = Annotated[
    OnErrorName,
    typer.Option(
        "--on-error",
        metavar="WHAT",
        help="A bad row: stop, skip or record.",
        show_default=False,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(min=1, max=256, metavar="N", help="Processes for --rows (1).", show_default=False),
]
Wrt = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,..",
        help="Differentiate by these names; repeatable.",
        autocompletion=completion.watchable,
    ),
]
Of = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Take this top-level name as the result.",
        autocompletion=completion.names,
    ),
]
Cotangent = Annotated[
    str | None,
    typer.Option(metavar="VALUE", help="Weights of a result that is not scalar."),
]
Tangent = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Direction by this name; repeatable, zero by the others.",
        autocompletion=completion.tangents,
    ),
]
Mode = Annotated[
    ModeName,
    typer.Option(
        metavar="MODE", help="auto (the cheaper), forward or reverse.", show_default=False
    ),
]
Order = Annotated[
    int,
    typer.Option(
        min=1,
        max=2,
        metavar="N",
        help="Highest derivatives to check (1).",
        show_default=False,
    ),
]
Diagonal = Annotated[bool, typer.Option("--diagonal", help="Only the Hessian's diagonal.")]
Show = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,..",
        help="Print these names; repeatable.",
        autocompletion=completion.names,
    ),
]
Graph = Annotated[bool, typer.Option("--graph", help="Also draw the recorded graph.")]
Format = Annotated[
    FormatName,
    typer.Option(
        "-f",
        "--format",
        metavar="FORM",
        help="auto, human, plain, json, ndjson, csv or tsv.",
        show_default=False,
    ),
]
ListFormat = Annotated[
    ListFormatName,
    typer.Option(
        "-f", "--format", metavar="FORM", help="auto, human, plain or json.", show_default=False
    ),
]
GraphFormat = Annotated[
    GraphFormatName,
    typer.Option(
        "-f", "--format", metavar="FORM", help="auto, tree, dot or json.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Raw = Annotated[bool, typer.Option("-r", "--raw", help="Print numbers only, one a line.")]
Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write a file, its form by its suffix."),
]
Precision = Annotated[
    int,
    typer.Option(
        min=1, max=17, metavar="N", help="Significant digits for people (6).", show_default=False
    ),
]
CheckNan = Annotated[
    bool, typer.Option("--check-nan", help="Make a result that is not finite an error.")
]
Seed = Annotated[
    int | None, typer.Option(min=0, metavar="N", help="Make random numbers repeatable.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No warnings.")]
# Commands take --verbose and leave it: it is about errors, which `__main__` reports.
Verbose = Annotated[
    bool, typer.Option("-v", "--verbose", help="Say more where gradcli itself fails.")
]
Color = Annotated[
    ColorChoice,
    typer.Option(metavar="WHEN", help="auto, always or never.", show_default=False),
]
Diagnostics = Annotated[
    DiagnosticsForm,
    typer.Option(
        metavar="FORM", help="Form of messages: full, concise or json.", show_default=False
    ),
]
