"""The table of all options, from which each command takes its own."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from typer.core import TyperArgument, TyperOption

if TYPE_CHECKING:  # making a protocol takes as long as importing a room
    from typing import Protocol

    from gradcli.cli.watch.table import Table

    class Whole(Protocol):
        """The whole command line, for commands that list or run others.

        Fields:
            table: Where a watched process tells what it does; None for one that is not watched.
            arguments: The words of the line.
        """

        table: Table | None
        arguments: list[str]

        def names(self) -> list[str]:
            """The names of all commands."""

        def run(self, arguments: list[str]) -> int:
            """Run other arguments, and return the exit status."""


class Field:
    """How a field of the line is given: `make` is typer's option or argument, `names` its names
    (None for the field's own), `settings` its settings, `default` its value if it is not given.
    """

    def __init__(
        self,
        make: Callable[..., TyperArgument | TyperOption],
        names: tuple[str, ...] | None,
        default: Any,
        settings: dict[str, Any],
    ) -> None:
        self.make, self.names, self.default, self.settings = make, names, default, settings


def option(*names: str, default: Any = None, **settings: Any) -> Any:
    """A field set by an option."""
    return Field(TyperOption, names or None, default, settings)


def flag(*names: str, **settings: Any) -> Any:
    """A field that an option without a value sets to true."""
    return Field(TyperOption, names or None, False, {"is_flag": True, **settings})


def argument(*, default: Any = None, **settings: Any) -> Any:
    """A field set by an argument."""
    return Field(TyperArgument, (), default, settings)


def completed(what: str) -> Callable[..., list[str]]:
    """A function with which typer completes a word, as `completion.complete` does."""

    def words(ctx: Any, args: list[str], incomplete: str) -> list[str]:
        from gradcli.cli.line.completion import complete

        return complete(what, ctx, incomplete)

    return words


PRECISION = 6
"""Significant digits for people by default."""


class Line:
    """A parsed command line, with a field for each option. Options that a command does not take
    have their defaults. The command's forms set the values and help of `form`.

    Fields:
        whole: The whole command line.
        forms: The forms of output that the command has.
        drawn: Those that are drawn for people.
        takes: The options that the command takes.
    """

    arguments: list[str] | None = argument(
        metavar="[FILE] [NAME=VALUE]...",
        help="The program: a file, its text, - or nothing for standard input. NAME=VALUE gives "
        "an input, NAME=@FILE reads it: .json, .npy, .npz:KEY, .csv:COLUMN, .txt.",
        autocompletion=completed("inputs"),
    )
    served: list[str] | None = argument(
        metavar="FILE... [NAME=VALUE]...",
        help="Programs, named in questions as their files without suffix. NAME=VALUE gives an "
        "input its value for all questions.",
        autocompletion=completed("inputs"),
    )
    formatted: list[str] | None = argument(
        metavar="[FILE|FOLDER]...",
        help="Programs, or folders with .grad files; - or nothing for standard input.",
    )
    name: str | None = argument(
        metavar="[NAME]",
        help="An operation, its sign, or words to search for; all without it.",
        autocompletion=completed("operations"),
    )
    topic: str | None = argument(
        metavar="[COMMAND|PAGE]",
        help="A command, or a page of the documentation; the list of both without it.",
        autocompletion=completed("topics"),
    )
    shell: Literal["bash", "zsh", "fish", "powershell"] = argument(
        default="bash", metavar="SHELL", help="bash, zsh, fish or powershell."
    )
    code: str | None = argument(
        metavar="[CODE]",
        help="The code in the brackets of a message; all of them without it.",
        autocompletion=completed("codes"),
    )
    sample: str | None = argument(
        metavar="[NAME]", help="A sample; all without it.", autocompletion=completed("samples")
    )
    folder: str | None = option(
        "-o", "--output", metavar="FOLDER", help="Write files into this folder."
    )
    socket: str | None = option(
        metavar="PATH", help="Serve clients on a Unix socket, not on standard input."
    )
    expression: list[str] | None = option(
        "-e", "--expression", metavar="TEXT", help="A line of program; repeatable."
    )
    values_file: str | None = option(
        "-i",
        "--input",
        metavar="FILE",
        help="Values by name: a JSON object, an .npz, a CSV of columns, what gradcli printed; "
        "- reads them.",
    )
    ignore_extra: bool = flag("--ignore-extra", help="Ignore names of -i that are not inputs.")
    cells: bool = flag("--cells", help="Lines `# %%` part the program into cells.")
    expect: bool = flag(
        "--expect",
        help="Compare the outputs of cells with the stored ones; status 1 if they differ.",
    )
    watch: bool = flag("--watch", help="Do it again whenever the file changes; Ctrl-C ends it.")
    rows: list[str] | None = option(
        "--rows",
        metavar="FILE",
        help="One run for each record of a CSV, TSV or JSON lines; - reads them; repeatable.",
    )
    columns: list[str] | None = option(
        metavar="NAME,..", help="Names of the columns of a CSV without a header."
    )
    keep: list[str] | None = option(
        metavar="NAME,..", help="Columns that go into the results; all for all."
    )
    renamed: list[str] | None = option(
        "--map", metavar="INPUT=COLUMN", help="The column that gives an input; repeatable."
    )
    where: str | None = option(
        metavar="EXPR", help="Only the records for which this is true, over the columns: 'x > 0'."
    )
    missing: list[str] | None = option(
        "--na", metavar="TEXT,..", help="Cells that stand for nan, as in NA,null."
    )
    separator: str | None = option(
        metavar="SIGN", help="The separator of cells, `tab` for one (a comma)."
    )
    decimal: Literal[".", ","] = option(
        default=".", metavar="SIGN", help="The decimal sign in cells (.)."
    )
    encoding: str | None = option(
        metavar="NAME", help="The encoding of texts, as latin-1 or UTF-16 (UTF-8)."
    )
    on_error: Literal["stop", "skip", "record", "ignore"] = option(
        "--on-error",
        default="stop",
        metavar="WHAT",
        help="A bad row: stop, skip, record; ignore is skip with status 0.",
    )
    jobs: str = option(
        default="1", metavar="N", help="Threads or processes for --rows (1); auto for all cores."
    )
    flat: bool = flag("--flat", help="Kept columns beside the others in JSON, not in `kept`.")
    cluster: str | None = option(
        metavar="ADDRESS",
        help="Answer parts of the rows by the workers of a Dask scheduler, as tcp://HOST:8786; "
        "local:N starts N workers.",
    )
    part_size: str | None = option(
        metavar="SIZE", help="Cut larger CSV, JSON lines and Parquet files into parts, as 256MiB."
    )
    restart: bool = flag("--restart", help="Begin anew in a FOLDER of -o with earlier results.")
    dry_run: bool = flag("--dry-run", help="Only list the parts, and which are done.")
    show: list[str] | None = option(
        metavar="NAME,..", help="Print these names; repeatable.", autocompletion=completed("names")
    )
    ignore: list[str] | None = option(
        metavar="CODE,..", help="Leave out these warnings; repeatable."
    )
    ir: bool = flag("--ir", help="Print the ops program, to which the text is lowered.")
    stage: Literal["typed", "python", "llvm"] | None = option(
        "--code",
        metavar="STAGE",
        help="Print a stage of compiling: typed, python or llvm.",
    )
    elasticity: bool = flag(
        "--elasticity", help="Also the change of the result in per cent for a per cent of each."
    )
    kinks: bool = flag("--kinks", help="Also list operations evaluated at a corner, jump or tie.")
    plots: str | None = option(
        metavar="FOLDER", help="Draw what the program plots into files of this folder."
    )
    graph: bool = flag("--graph", help="Also draw the recorded graph.")
    nodes: int = option(
        default=500, min=1, metavar="N", help="Draw at most N nodes, those near the result (500)."
    )
    depth: int | None = option(min=0, metavar="N", help="Draw at most N steps from the result.")
    unfold: int = option(
        default=0, min=0, metavar="N", help="Draw N turns of each loop one by one (0)."
    )
    partials: bool = flag("--partials", help="Show partial derivatives at the edges.")
    values: Literal["none", "summary", "full"] = option(
        default="full", metavar="WHAT", help="Values in JSON: none, summary or full."
    )
    tangent: list[str] | None = option(
        metavar="NAME=VALUE",
        help="The direction for a name; repeatable, zero for other names.",
        autocompletion=completed("tangents"),
    )
    wrt: list[str] | None = option(
        metavar="NAME,..",
        help="Differentiate by these names; repeatable. Without it by the params, else by the "
        "floats among the inputs and names given.",
        autocompletion=completed("watchable"),
    )
    cotangent: str | None = option(metavar="VALUE", help="Weights of a result that is not scalar.")
    diagonal: bool = flag("--diagonal", help="Only the Hessian's diagonal.")
    sparse: bool = flag("--sparse", help="Only the entries that may differ from zero.")
    mode: Literal["auto", "forward", "reverse"] = option(
        default="auto", metavar="MODE", help="auto (the cheaper), forward or reverse."
    )
    every: bool = flag("--all", help="Show all turns of long loops to a person, too.")
    of: str | None = option(
        metavar="NAME",
        help="Take this top-level name as the result.",
        autocompletion=completed("names"),
    )
    uncertainty: list[str] | None = option(
        metavar="NAME=WHAT,..",
        help="Uncertainties of inputs: a number, 2%, or a column of the rows; repeatable.",
        autocompletion=completed("inputs"),
    )
    correlation: list[str] | None = option(
        metavar="NAME,NAME=R", help="The correlation of two inputs; repeatable."
    )
    covariance: str | None = option(
        metavar="FILE", help="Covariances of inputs: JSON by names, or a CSV with a header."
    )
    coverage: str | None = option(metavar="P", help="The probability of intervals (0.95).")
    monte_carlo: int | None = option(
        "--monte-carlo", min=100, metavar="N", help="Also simulate, with N draws."
    )
    strict: bool = flag("--strict", help="Exit with 1 where Monte Carlo disagrees.")
    over: str | None = option(
        metavar="NAME=FROM:TO[:POINTS]",
        help="The input to go over, its first and last value, and how many points (200).",
        autocompletion=completed("inputs"),
    )
    several: list[str] | None = option(
        "--of",
        metavar="NAME,..",
        help="Take these top-level names as results; repeatable.",
        autocompletion=completed("names"),
    )
    observed: list[str] | None = option(
        metavar="EXPR,..",
        help="What the results are compared with, over the columns: y, or 'log(y)'.",
    )
    maximize: bool = flag("--maximize", help="Find the largest value, not the least.")
    sensitivity: list[str] | None = option(
        metavar="NAME,..",
        help="Also tell how the answer moves with these inputs, all for all; repeatable.",
        autocompletion=completed("inputs"),
    )
    between: str | None = option(
        metavar="LOW:HIGH", help="Two values of the unknown around the root."
    )
    warm: bool = flag("--warm", help="Start each row at the answer to the last.")
    fix: list[str] | None = option(
        metavar="NAME[=VALUE]", help="Hold a parameter, at its start or at VALUE; repeatable."
    )
    bounds: list[str] | None = option(
        metavar="NAME=LOW:HIGH", help="Bounds of a parameter; repeatable, an empty end is none."
    )
    sigma: str | None = option(
        metavar="EXPR", help="Known standard deviations, a column or a number."
    )
    weights: str | None = option(metavar="EXPR", help="What multiplies each square, a column.")
    scale_errors: bool = flag("--scale-errors", help="Scale --sigma by the residuals.")
    loss: Literal["linear", "soft-l1", "huber", "cauchy", "arctan"] = option(
        default="linear",
        metavar="LOSS",
        help="linear (squares), or soft-l1, huber, cauchy, arctan against outliers.",
    )
    loss_scale: str | None = option(
        metavar="X", help="The residual where --loss bends (1.345 deviations)."
    )
    likelihood: bool = flag("--nll", help="The result is a negative log likelihood.")
    exact_hessian: bool = flag("--hessian", help="Errors from all second derivatives.")
    starts: int = option(
        default=1, min=1, max=1_000_000, metavar="N", help="Try N starts and take the best (1)."
    )
    level: str | None = option(metavar="P", help="The level of intervals (0.95).")
    profile: bool = flag("--profile", help="Intervals by refits with one parameter held.")
    most_evaluations: int | None = option(
        "--max-evaluations", min=1, metavar="N", help="Most evaluations of a search (200 (p + 1))."
    )
    by: str | None = option(metavar="COLUMN", help="One fit for each group of records.")
    picture: str | None = option(
        "--plot",
        metavar="FILE",
        help="Draw data, curve and residuals into .svg, .png or .pdf; - draws in the terminal.",
    )
    nested: bool = flag(
        "--nested", help="Of two programs: test whether the larger explains more than chance."
    )
    predict: str | None = option(
        metavar="FILE", help="Write the records with what the model predicts, as .csv or .tsv."
    )
    order: int = option(
        default=1, min=1, max=2, metavar="N", help="Highest order of derivatives to check (1)."
    )
    highest: int = option(
        "--order",
        default=1,
        min=0,
        max=2,
        metavar="N",
        help="Highest order of derivatives to write: 0, 1 or 2 (1).",
    )
    with_check: bool = flag(
        "--check", help="Also write a test, with gradcli's numbers at three points."
    )
    written: str | None = option(
        "-o",
        "--output",
        metavar="FILE",
        help="The file to write: .c (with its header), .py or .tex.",
    )
    only_check: bool = flag(
        "--check", help="Write nothing; list files that would change, with status 1 if any would."
    )
    diff: bool = flag("--diff", help="Write nothing; show what would change, with status 1 if any.")
    line_length: int = option(
        default=88, min=20, max=320, metavar="N", help="Columns of a line (88)."
    )
    form: str = option("-f", "--format", default="auto", metavar="FORM")
    json: bool = flag("--json", help="Short for --format json.")
    raw: bool = flag("-r", "--raw", help="Print numbers only, one a line.")
    output: str | None = option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write a file, its form by its suffix.",
    )
    precision: int = option(
        default=PRECISION, min=1, max=17, metavar="N", help="Significant digits for people (6)."
    )
    check_nan: bool = flag("--check-nan", help="Make a result that is not finite an error.")
    seed: int | None = option(
        min=0, max=2**128 - 1, metavar="N", help="Make random numbers repeatable."
    )
    compile: Literal["auto", "always", "never"] = option(
        default="auto",
        metavar="WHEN",
        help="Compile the program: auto (if it pays), always or never.",
    )
    max_steps: str | None = option(metavar="N", help="Most turns of loops and calls.")
    time_limit: str | None = option(metavar="S", help="Most time: 10 (seconds), 500ms, 2min.")
    max_memory: str | None = option(
        metavar="SIZE", help="Most memory: 512MiB, 2G, or 80% of what is free."
    )
    max_depth: str | None = option(metavar="N", help="Most nested calls (1000).")
    safe: bool = flag("--safe", help="Set all of these limits, for programs from strangers.")
    quiet: bool = flag("-q", "--quiet", help="Print no warnings.")
    verbose: bool = flag(
        "-v", "--verbose", help="Print more about limits, compiling and bugs of gradcli."
    )
    color: Literal["auto", "always", "never"] = option(
        default="auto", metavar="WHEN", help="auto, always or never."
    )
    diagnostics: Literal["full", "concise", "json"] = option(
        default="full", metavar="FORM", help="Form of messages: full, concise or json."
    )

    def __init__(
        self, *, whole: "Whole", forms: tuple[str, ...], drawn: tuple[str, ...] = (), **given: Any
    ) -> None:
        self.whole, self.forms, self.drawn, self.takes = whole, forms, drawn, given.keys()
        self.__dict__.update(_NOT_ASKED)
        self.__dict__.update(given)


FIELDS: dict[str, Field] = {name: getattr(Line, name) for name in Line.__annotations__}
_NOT_ASKED = {name: field.default for name, field in FIELDS.items()}

PROGRAM = ("arguments", "expression", "values_file", "ignore_extra", "cells", "watch")
ROWS = (
    *("rows", "columns", "keep", "where", "renamed", "missing", "separator", "decimal"),
    *("encoding", "on_error", "jobs", "flat", "cluster", "part_size", "restart", "dry_run"),
)
RESULT = (*("form", "json", "raw", "output", "precision", "check_nan", "seed", "compile", "quiet"),)
LIMITS = ("max_steps", "time_limit", "max_memory", "max_depth", "safe")
MESSAGES = ("verbose", "color", "diagnostics")
