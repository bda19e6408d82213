"""Programs that are made of cells: those of a notebook or page, and those that a prompt adds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gradcli.cpython import NESTED, Room, Uncollected
from gradcli.engine.run.language.names import Builtins
from gradcli.errors import Diagnostic, ProgramError
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import Cells, Names, analyse
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.parser import parse_cell
from gradcli.ir import program as ir
from gradcli.questions.cells import CellRun, Step
from gradcli.questions.notebook import Notebook
from gradcli.questions.program import Program
from gradcli.record import Record
from gradcli.source import Cell, Source, Span

__all__ = [
    "CellRun",
    "Growth",
    "Loaded",
    "Step",
    "load_cells",
    "notebook_of",
    "program_of",
    "tree_of",
]


class Loaded(Record):
    """A program that is made of cells, once it is loaded.

    Fields:
        steps: The cells before the first one that is refused, all if none is.
        refusal: Why a cell is refused; None if none is.
    """

    __slots__ = ("steps", "refusal")
    steps: tuple[Step, ...]
    refusal: ProgramError | None


def load_cells(source: Source, given: frozenset[str] = frozenset()) -> Loaded:
    """A program of all cells of a source. The names of all of them are known to each: a function
    may read what a later cell assigns.

    Args:
        source: Its text, with cells.
        given: Names that will be given from outside.
    """
    bodies, errors = _parsed(source)
    module = _joined(source, bodies)
    builtins = Builtins()
    with Uncollected(), Room(NESTED):
        names = analyse(module, builtins, given, Cells(grow=False))
        findings = [] if errors else check(module, source, builtins, given, names)
        errors += [finding for finding in findings if finding.severity == "error"]
        good = _before(errors, source.cells)
        steps: list[Step] = []
        for cell, body in zip(source.cells, bodies[:good], strict=False):
            before = steps[-1].program.loaded.program if steps else None
            steps.append(_step(source, names, cell, body, before))
    return Loaded(tuple(steps), ProgramError(*errors) if errors else None)


def program_of(source: Source, given: frozenset[str] = frozenset()) -> Program:
    """The program of all cells of a source, as one.

    Raises:
        ProgramError: If a cell is refused; the error has all findings.
    """
    loaded = load_cells(source, given)
    if loaded.refusal is not None:
        raise loaded.refusal
    return Program(source, _whole(source, loaded))


def notebook_of(
    source: Source, given: frozenset[str], load: Callable[[Source, frozenset[str]], Program]
) -> Notebook:
    """The program of all cells of a source, whose `run` shows each. If a cell is refused, those
    before it still run.

    Args:
        source: Its text, with cells.
        given: Names that will be given from outside.
        load: Makes the program of a `%%grad` cell, which is one of its own.
    """
    loaded = load_cells(source, given)
    return Notebook(source, _whole(source, loaded), loaded.steps, loaded.refusal, load)


def tree_of(source: Source) -> ast.Module:
    """The syntax tree of all cells.

    Raises:
        ProgramError: If a cell does not parse; the error has all that are wrong there.
    """
    bodies, errors = _parsed(source)
    if errors:
        raise ProgramError(*errors)
    return _joined(source, bodies)


def _joined(source: Source, bodies: Sequence[tuple[ast.Statement, ...]]) -> ast.Module:
    return ast.Module(Span(0, len(source.text)), tuple(s for body in bodies for s in body))


def _whole(source: Source, loaded: Loaded) -> ir.Program:
    """The program of the cells that are not refused."""
    if loaded.steps:
        return loaded.steps[-1].program.loaded.program
    nothing = ast.Module(Span(0, 0), ())
    return lower(nothing, analyse(nothing, Builtins(), frozenset()), source)


class Growth:
    """A program that grows by what a person types.

    Fields:
        source: All of its text.
        step: The last cell; None before the first.
    """

    def __init__(self, name: str) -> None:
        self.source = Source(name, "")
        self.step: Step | None = None
        self._body: tuple[ast.Statement, ...] = ()

    def added(self, text: str) -> Growth:
        """The program with one more cell.

        Functions may read names that nobody has assigned yet: they look them up when they run.

        Raises:
            ProgramError: If the cell is refused; the error has all its findings.
        """
        start = len(self.source.text)
        lines = text if text.endswith("\n") else text + "\n"
        last = self.source.cells[-1] if self.source.cells else None
        number = 1 if last is None else last.number + 1
        cell = Cell(start, start + len(lines), number, f"cell {number}", 1, 0)
        source = Source(self.source.name, self.source.text + lines, 1, (*self.source.cells, cell))
        body = parse_cell(source, cell).body
        module = ast.Module(Span(0, len(source.text)), self._body + body)
        builtins = Builtins()
        before = None if self.step is None else self.step.program.loaded.program
        grown = Growth(source.name)
        grown.source, grown._body = source, module.body
        with Room(NESTED):
            names = analyse(module, builtins, frozenset(), Cells(grow=True))
            findings = check(module, source, builtins, frozenset(), names)
            own = [f for f in findings if f.span is None or f.span.start >= start]
            errors = [finding for finding in own if finding.severity == "error"]
            if errors:
                raise ProgramError(*errors)
            grown.step = _step(source, names, cell, body, before)
        return grown


def _parsed(source: Source) -> tuple[list[tuple[ast.Statement, ...]], list[Diagnostic]]:
    """The statements of each cell, none of one that does not parse; and all errors."""
    bodies: list[tuple[ast.Statement, ...]] = []
    errors: list[Diagnostic] = []
    for cell in source.cells:
        try:
            bodies.append(parse_cell(source, cell).body)
        except ProgramError as error:
            bodies.append(())
            errors += error.diagnostics
    return bodies, errors


def _before(errors: Sequence[Diagnostic], cells: Sequence[Cell]) -> int:
    """The number of cells before the first that has an error."""
    first = min((e.span.start for e in errors if e.span is not None), default=None)
    if first is None:
        return 0 if errors else len(cells)
    return sum(cell.end <= first for cell in cells[:-1]) if cells else 0


def _step(
    source: Source,
    names: Names,
    cell: Cell,
    body: tuple[ast.Statement, ...],
    before: ir.Program | None,
) -> Step:
    """A cell with these statements, after the program before it."""
    made = lower(ast.Module(Span(cell.start, cell.end), body), names, source, before)
    behind = source.text[body[-1].span.end : cell.end].lstrip() if body else ""
    return Step(Program(source, made), cell.number, not behind.startswith(";"))
