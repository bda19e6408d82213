"""The stages in order, one function a question: the only room that knows them all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.cpython import NESTED, Room, Uncollected
from gradcli.engine.run.execution.execute import Executable
from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.run.language.names import Builtins
from gradcli.engine.run.session.state import Session
from gradcli.errors import Diagnostic, InputError, ProgramError, RunError, UsageError, nearest
from gradcli.grammar.meaning.check import check
from gradcli.grammar.meaning.lower import lower
from gradcli.grammar.meaning.names import Names, analyse, is_constant, walk
from gradcli.grammar.syntax import ast
from gradcli.grammar.syntax.parser import parse, parse_expression
from gradcli.grammar.syntax.text import decode
from gradcli.ir import program as ir
from gradcli.limits import Limits
from gradcli.questions.asked.request import Options, given_values
from gradcli.questions.program import Program
from gradcli.results import CheckResult, Declared, Operation
from gradcli.source import Source, Span

if TYPE_CHECKING:
    from gradcli.questions.coded.compiled import Many
    from gradcli.questions.coded.repeated import Repeated
    from gradcli.questions.where import Condition
    from gradcli.views import FitComparison

__all__ = [
    "Given",
    "Limits",
    "Many",
    "Options",
    "Program",
    "Repeated",
    "check_source",
    "constant",
    "decode",
    "is_same",
    "load",
    "load_source",
    "operation",
    "operations",
    "ops_text",
    "stage_text",
]

_SUFFIXES = (".grad", ".ipynb", ".md")  # of files that programs are in
_STARTS = (*"0123456789.+-",)  # of numbers
_WORDS = ("True", "False", "nan", "inf", "pi")  # constants that have a name


def load(program: str | Path) -> Program:
    """A program from a file, or from its text.

    Args:
        program: A path; a string is one if it ends in `.grad`, `.ipynb` or `.md` and has no
            newline, else the program's text. `run` of a notebook or page gives a `NotebookResult`.

    Raises:
        GradError: If the file cannot be read or the program is refused.
    """
    if isinstance(program, Path) or (program.endswith(_SUFFIXES) and "\n" not in program):
        path = Path(program)
        try:
            data = path.read_bytes()
        except OSError as error:
            text = f"cannot read `{path}`: {error.strerror or error}"
            raise UsageError(Diagnostic("unreadable-file", text)) from None
        source = decode(str(path), data)
        if path.suffix != _SUFFIXES[0]:
            from gradcli.formats.notebooks.read import lesson_of

            lesson = lesson_of(source, marked=False)
            return load_source(source) if lesson is None else load_notebook(lesson)
        return load_source(source)
    return load_source(Source("<text>", program))


def load_source(source: Source, given: frozenset[str] = frozenset()) -> Program:
    """A program that has been parsed, checked and lowered.

    Args:
        source: Its text.
        given: Names that will be given from outside; where nothing is declared, such a name is an
            input even if a built-in has it.

    Raises:
        ProgramError: If it is refused; the error has all findings.
    """
    if source.cells:
        from gradcli.cells import program_of

        return program_of(source, given)
    return Program(source, _lowered(parse(source), source, given))


def is_same(first: Source, second: Source) -> bool:
    """True if two texts are the same program, wherever its parts stand. Both must parse.

    Their ops programs are compared; if a text is refused, their syntax trees without docstrings.
    """
    one, other = parse(first), parse(second)
    with Room(NESTED):
        try:
            a, b = _lowered(one, first, frozenset()), _lowered(other, second, frozenset())
            return (a.main, a.result, a.output) == (b.main, b.result, b.output)
        except ProgramError:
            return _without_docstrings(one) == _without_docstrings(other)


def _without_docstrings(module: ast.Module) -> ast.Module:
    """A tree without the strings at the beginning of its bodies, which mean nothing."""
    for node, *_ in walk(module):
        if isinstance(node, ast.Module | ast.Def | ast.Class):
            match node.body:
                case (ast.ExprStatement(value=ast.Literal(value=str())), *rest):
                    node.body = tuple(rest)
    return module


def load_notebook(source: Source, given: frozenset[str] = frozenset()) -> Program:
    """A program that is made of cells, whose `run` shows what each of them gives. Arguments as of
    `load_source`. If a cell is refused, those before it run, and the result tells why.
    """
    from gradcli.cells import notebook_of

    return notebook_of(source, given, load_source)


def _lowered(module: ast.Module, source: Source, given: frozenset[str]) -> ir.Program:
    builtins = Builtins()
    with Uncollected(), Room(NESTED):  # trees have no cycles
        names = analyse(module, builtins, given)
        findings = check(module, source, builtins, given, names)
        errors = [finding for finding in findings if finding.severity == "error"]
        if errors:
            raise ProgramError(*errors)
        return lower(module, names, source)


def check_source(
    source: Source,
    given: Mapping[str, Any],
    wrt: str | Sequence[str] | None = None,
    of: str | None = None,
) -> CheckResult:
    """The result of a static check: faults of names, calls, sizes; steps that cut gradients.

    Args:
        source: Its text.
        given: Values from outside by name; only their shapes count.
        wrt: Names that would be differentiated; None: those that `grad` takes without it.
        of: The top-level name that would be; None: the program's result.
    """
    with Uncollected():  # else the trees would be looked through once they are done with
        return _checked(source, given, wrt, of)


def _checked(
    source: Source,
    given: Mapping[str, Any],
    wrt: str | Sequence[str] | None,
    of: str | None,
) -> CheckResult:
    inputs: tuple[Declared, ...] = ()
    try:
        module = _tree(source)
        inputs = tuple(_declarations(module, source))
        if source.cells:
            program = load_source(source, frozenset(given))
        else:
            program = Program(source, _lowered(module, source, frozenset(given)))
    except ProgramError as error:
        return CheckResult(tuple(error.diagnostics), inputs)
    del module  # the tree is as large as the program of ops
    return program.check(given, wrt=wrt, of=of)


def ops_text(
    source: Source, given: Mapping[str, Any], wrt: str | Sequence[str] | None = None
) -> str:
    """The program of ops of a text, as text, with the known facts of each instruction. It is empty
    if the program is refused. Arguments as of `check_source`.
    """
    try:
        return load_source(source, frozenset(given)).listing(given, wrt=wrt)
    except ProgramError:
        return ""


def stage_text(
    source: Source,
    given: Mapping[str, Any],
    stage: str,
    wrt: str | Sequence[str] | None = None,
    of: str | None = None,
    mode: str = "auto",
) -> str:
    """The text of a stage of compiling a program. Arguments as of `Program.stage` and
    `check_source`.

    Raises:
        ProgramError: If there is no such stage; the message says why.
    """
    loaded = load_source(source, frozenset(given))
    return loaded.stage(stage, given, wrt=wrt, of=of, mode=mode)


def _tree(source: Source) -> ast.Module:
    if source.cells:
        from gradcli.cells import tree_of

        return tree_of(source)
    return parse(source)


def _declarations(module: ast.Module, source: Source) -> Iterator[Declared]:
    from gradcli.questions.asked.declared import declared

    for s in module.body:
        if isinstance(s, ast.Declaration):
            type = None if s.type is None else (s.type.kind, s.type.sizes)
            has_default = s.default is not None
            yield declared(source, s.span, s.name, s.kind, type, has_default=has_default)


def fit(
    program: Program,
    table: Any = None,
    inputs: Mapping[str, Any] | None = None,
    *,
    options: Options | None = None,
    **asked: Any,
) -> Any:
    """The parameters with which a program agrees with data.

    Args:
        program: The program.
        table: The data, as `Program.rows` takes them, or an object with `names` and `read`; None if
            the inputs have them.
        inputs: Values by name: starts of parameters, and constants.
        options: How to run.
        **asked: The fields of `questions.fitting.asked.Asked`, such as `observed=["y"]`.

    Returns:
        A `FitResult`; with `by` `FitGroups`.

    Raises:
        GradError: If it cannot be made.
    """
    from gradcli.questions.fitting.asked import Asked
    from gradcli.questions.fitting.tables import opened

    given, settings = given_values(inputs, {}), options or Options()
    found = None if table is None else opened(table)
    return program.fit(found, given, Asked(**asked), _expression, settings)


def fits(
    programs: Mapping[str, Program],
    table: Any = None,
    inputs: Mapping[str, Any] | None = None,
    *,
    nested: bool = False,
    options: Options | None = None,
    **asked: Any,
) -> FitComparison:
    """The fits of two programs to the same data, to be compared. Arguments as of `fit`.

    Args:
        programs: The programs by name.
        table: The data.
        inputs: Values by name; each program gets those that it has.
        nested: True to test the larger model against the smaller one, which it contains.
        options: How to run.
        **asked: The fields of `questions.fitting.asked.Asked`.

    Raises:
        GradError: If one cannot be made.
    """
    from gradcli.questions.fitting.asked import Asked
    from gradcli.questions.fitting.tables import opened

    given, settings = given_values(inputs, {}), options or Options()
    found = None if table is None else opened(table)
    first = next(iter(programs.values()))
    return first.compared(
        programs, found, given, Asked(**asked), _expression, settings, nested=nested
    )


def _expression(text: str, flag: str, columns: Collection[str]) -> Program:
    """The program of an expression over the columns of a table."""
    return load_source(Source(f"<{flag}>", text), frozenset(columns))


def condition(text: str, columns: Collection[str]) -> Condition:
    """The condition on records in an expression over their columns. A column that it uses as a text
    is a text, any other one a number.

    Raises:
        ProgramError: If it is no expression.
    """
    from gradcli.grammar.meaning.texts import names_of_texts
    from gradcli.questions.where import Joined, Single

    source = Source("<--where>", text)
    tree = parse_expression(source)
    names = load_source(source, frozenset(columns)).inputs
    are_texts = names_of_texts(tree)

    def loaded(node: ast.Expr, names: Collection[str], call: str) -> Program:
        """The program of a part, at its place; its names are declared on a line before it."""
        inputs = [f'input {n} = ""' if n in are_texts else f"input {n}" for n in names]
        before = re.sub(r".", " ", text[: node.span.start])
        part = f"{call}(\n{before}{text[slice(*node.span)]}\n)"
        return load_source(Source(source.name, "; ".join([*inputs, part]), 0))

    def joined(node: ast.Expr) -> Condition:
        if isinstance(node, ast.Boolean):
            return Joined(node.op, [*map(joined, node.values)])
        read = {found.id for found, *_ in walk(node) if isinstance(found, ast.Name)}
        own = [name for name in names if name in read]
        numbers = [name for name in own if name not in are_texts]
        texts = [name for name in own if name in are_texts]
        return Single(loaded(node, own, ""), loaded(node, own, "bool"), numbers, texts)

    with Room(NESTED):
        return joined(tree)


def operations() -> tuple[Operation, ...]:
    """Every built-in operation, family by family."""
    from gradcli.engine.ops.pages import describe

    return tuple(describe.operations())


def operation(name: str) -> Operation:
    """The built-in operation of a name or alias.

    Raises:
        UsageError: If there is none.
    """
    found = _named(name)
    if found is None:
        raise _no_operation(name)
    return found


def search(text: str) -> tuple[Operation, ...]:
    """The built-in operations that match a text: the one of that name, those of a sign such as
    `**`, or all whose names, family or meaning contain each of its words.

    Raises:
        UsageError: If there is none.
    """
    from gradcli.engine.run.language.operators import OPS

    exact = _named(text)
    if exact is not None:
        return (exact,)
    sign = text.removesuffix("=") if text not in ("<=", ">=", "==", "!=") else text
    signed = dict.fromkeys(name for (known, _), name in OPS.items() if known == sign)
    words = text.lower().split()
    found = (
        tuple(map(operation, signed))
        if signed
        else tuple(o for o in operations() if all(word in _said(o) for word in words))
    )
    if not found or not words:
        raise _no_operation(text)
    return found


def _named(name: str) -> Operation | None:
    from gradcli.engine.ops.pages import describe

    bare = name.rpartition(".")[2]
    return describe.named(bare) or describe.named(bare.removesuffix("_"))


def _said(operation: Operation) -> str:
    """All that an operation can be found by."""
    names = (operation.name, *operation.aliases, operation.family, operation.meaning)
    return " ".join(names).lower()


def _no_operation(name: str) -> UsageError:
    near = nearest(name.rpartition(".")[2], Builtins().names())
    help = near or "`gradcli ops` shows them all"
    return UsageError(Diagnostic("unknown-name", f"no operation `{name}`", help=help))


def constant(text: str, name: str, before: str) -> Given:
    """The value of a constant expression from the command line.

    Args:
        text: The expression.
        name: What gets the value.
        before: The text before it in the argument, such as `x=`.

    Raises:
        InputError: If it is none.
    """
    is_short = "(" in text and text.lstrip()[:1] in _STARTS
    if is_short or "+/-" in text or "±" in text or ((":" in text or "%" in text) and "+" in text):
        found = _measured(text, name, before)
        if found is not None:
            return found
    if ":" in text:
        _check_width(text, name, before)
    return Given(_constant(text, name, before), before + text)


def given_in_file(name: str, value: Any, origin: str, printed: Mapping[str, Any]) -> Given:
    """A value of a JSON file with its uncertainty. Arguments as of `asked.given_in_file`."""
    from gradcli.questions.uncertainty import asked

    return asked.given_in_file(name, value, origin, printed)


def measured_rows(
    program: Program,
    fixed: Mapping[str, Given],
    widths: Mapping[str, str],
    correlations: Mapping[tuple[str, str], float],
    covariance: Sequence[Any],
    coverage: float,
) -> Any:
    """The program, to be asked for the uncertainty of its result at many rows. Arguments as of
    `MeasuredRows`, with texts such as `V_err` or `2%` for the uncertainties.
    """
    from gradcli.questions import measured_rows as rows

    return rows.measured_rows(program, fixed, widths, correlations, covariance, coverage)


def widths(texts: Mapping[str, str]) -> dict[str, Any]:
    """The uncertainties in texts such as `0.1`, `2%` or `0.1:uniform`, by name."""
    from gradcli.questions.uncertainty.widths import width

    return {name: width(text) for name, text in texts.items()}


def covariance(numbers: Any, origin: str, dof: float | None) -> Any:
    """The covariances of a file. Arguments as of `asked.covariance_of`."""
    from gradcli.questions.uncertainty.asked import covariance_of

    return covariance_of(numbers, origin, inf if dof is None else dof)


def _measured(text: str, name: str, before: str) -> Given | None:
    """A value with an uncertainty; None if the text is none."""
    from gradcli.questions.uncertainty.spreads import Measured, written
    from gradcli.questions.uncertainty.texts import has_sign, in_sum, uncertain

    origin = before + text
    found = uncertain(text) or (in_sum(text) if ":" in text or "%" in text else None)
    if found is not None:
        value, of = written(found, name, origin, lambda part: _constant(part, name, before))
        return Measured(value, origin, of)
    if not has_sign(text):
        return None
    message = f"`{text.strip()}` is no value with an uncertainty"
    help = "as in `5.0+/-0.1`, `5.0+/-2%`, `'5.00(12)'` or `5.0+/-0.1:uniform`"
    place = Source("<expr>", origin), Span(len(before), len(origin))
    raise InputError(Diagnostic("bad-input", message, *place, help=help))


def _check_width(text: str, name: str, before: str) -> None:
    """Refuse a shape or degrees of freedom behind a value without an uncertainty.

    Raises:
        InputError: Saying what to write.
    """
    from gradcli.questions.uncertainty.texts import without_width

    found = without_width(text)
    if found is None:
        return
    value, suffix = found
    message = f"`{suffix}` says more of an uncertainty, and `{value}` has none"
    what = "0.1 is the half-width" if suffix in (":uniform", ":triangular") else "0.1 is an example"
    help = f"write `{name}={value}+/-0.1{suffix}`; {what}"
    place = Source("<expr>", before + text), Span(len(before), len(before) + len(text))
    raise InputError(Diagnostic("bad-input", message, *place, help=help))


def _constant(text: str, name: str, before: str) -> Any:
    source = Source("<expr>", before + text)
    try:
        expression = parse_expression(source, len(before))
        module = ast.Module(expression.span, (ast.ExprStatement(expression.span, expression),))
        with Room(NESTED):
            names = analyse(module, Builtins(), frozenset())
            if not is_constant(expression, names):
                raise InputError(_not_constant(name, expression, names, source))
        program = _lowered(module, source, frozenset())
        _, value = Executable(program).run(Session(), {})
    except (ProgramError, RunError) as error:
        raise InputError(*error.diagnostics) from None
    return value


_VALUES = (
    "write numbers, lists and arithmetic of these, as in 2.5, pi / 4, [1, 2]; @FILE reads a file"
)


def _not_constant(what: str, expression: ast.Expr, names: Names, source: Source) -> Diagnostic:
    """Why an expression is no constant, at the first name in it that makes it none."""
    signatures = names.signatures
    for node, role, _ in walk(expression):
        if not isinstance(node, ast.Name):
            continue
        builtin, called = names.builtin(node), role == "call"
        message = f"`{node.id}` cannot stand in a value from outside"
        if builtin is not None and signatures[builtin].pure:
            continue
        if builtin is not None:
            return Diagnostic("bad-input", message, source, node.span)
        message = f"`{node.id}` has no value here: the value of {what} is a constant expression"
        if called:
            message = f"`{node.id}` is called and never defined"
        alike = (n for n in signatures.names() if bool(signatures[n].constant) != called)
        help = nearest(node.id, alike if called else (*alike, *_WORDS)) or _VALUES
        return Diagnostic("bad-input", message, source, node.span, help=help)
    message = f"the value of {what} must be a constant expression"
    help = "numbers, lists, arithmetic and built-in functions of these"
    return Diagnostic("bad-input", message, source, expression.span, help=help)
