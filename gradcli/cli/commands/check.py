"""`gradcli check`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from gradcli.cli.line.arguments import split_files, split_names
from gradcli.cli.line.command import command
from gradcli.cli.line.inputs import load_source
from gradcli.cli.line.options import MESSAGES, PROGRAM, Line
from gradcli.cli.line.output import Target, choose, decided, look
from gradcli.cli.terminal.failures import usage
from gradcli.cli.terminal.messages import report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gradcli.errors import Diagnostic
    from gradcli.program import Given
    from gradcli.results import CheckResult

    Listing = Callable[[Any, Mapping[str, Given], Any, Sequence[Diagnostic]], str]


@command(
    *(*PROGRAM, "wrt", "of", "mode", "ignore", "ir", "stage"),
    *("form", "json", "output", "quiet", *MESSAGES),
    view="findings",
)
def check(line: Line) -> None:
    """Find mistakes in programs without running them.

    The status is 1 for warnings, 3 for errors.

    Examples:
      gradcli samples -o .
      gradcli check *.grad --ignore branch-on-input --diagnostics concise
      gradcli check logistic.grad -i exam.csv -f github
      gradcli check cooling.grad --ir
      gradcli check cooling.grad --code typed --wrt k
    """
    from gradcli.program import check_source
    from gradcli.results import Findings

    target = decided(choose(line), line.forms)
    names = split_names(line.wrt, "--wrt")
    ignored = _ignored(line)
    listing = _listing(line, target)
    programs = list(_programs(line))
    results = {s: check_source(s, given, wrt=names, of=line.of) for s, given in programs}
    findings = {source: _left(result, ignored) for source, result in results.items()}
    every = [f for found in findings.values() for f in found]
    shown = [f for f in every if f.severity == "error" or not line.quiet]
    if listing is not None:
        report(shown, form=line.diagnostics, color=line.color)
        target.write("".join(listing(*program, names, every) for program in programs))
    else:
        inputs = [(source.name, i) for source, found in results.items() for i in found.inputs]
        if line.diagnostics == "json" and target.is_text:
            target = Target("diagnostics", target.path, target.color)
        found = Findings(tuple(every), tuple(shown), tuple(inputs))
        target.write(target.content(found, look(line, target)))
    if every:
        raise typer.Exit(3 if any(f.severity == "error" for f in every) else 1)


def _listing(line: Line, target: Target) -> "Listing | None":
    """The function that prints a stage of the program, if --ir or --code asks for one."""
    from gradcli.program import ops_text, stage_text

    option = "--code" if line.stage else "--ir"
    if line.ir and line.stage:
        raise usage("`--ir` and `--code` exclude each other")
    if line.mode != "auto" and not line.stage:
        raise usage("`--mode` needs `--code`")
    if not (line.ir or line.stage):
        return None
    if target.form in ("json", "github"):
        raise usage(f"`{option}` prints text, not {target.form}")
    stage = line.stage
    if stage is None:
        return lambda source, given, names, _: ops_text(source, given, names)

    def staged(source: Any, given: "Mapping[str, Given]", names: Any, found: Any) -> str:
        if any(f.severity == "error" for f in found):
            return ""
        return stage_text(source, given, stage, names, line.of, line.mode)

    return staged


def _programs(line: Line) -> "Iterator[tuple[Any, Mapping[str, Given]]]":
    """The programs, each with its values; several programs get none."""
    files, texts = split_files(line.arguments or ())
    if len(files) > 1 and (texts or line.values_file is not None):
        raise usage("values need a single program", f"check `{files[0]}` by itself")
    if len(files) > 1 and (line.ir or line.stage):
        raise usage(f"`{'--ir' if line.ir else '--code'}` needs a single program")
    if len(files) < 2:
        yield load_source(line)
        return
    for file in files:
        yield load_source(Line(**{**vars(line), "arguments": [file]}))


def _ignored(line: Line) -> frozenset[str]:
    """The codes of warnings to leave out."""
    codes = frozenset(split_names(line.ignore, "--ignore") or ())
    if codes:
        from gradcli.codes import CODES
        from gradcli.errors import nearest

        for code in sorted(codes):
            if code not in CODES:
                raise usage(f"there is no code `{code}` to ignore", nearest(code, CODES))
    return codes


def _left(result: "CheckResult", ignored: frozenset[str]) -> "list[Diagnostic]":
    return [f for f in result.findings if f.severity == "error" or f.code not in ignored]
