"""Decide which names of a program are parameters, which are data and which are constants."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from gradcli.engine.run.execution.inputs import Given
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, InputError, UsageError, listed, nearest
from gradcli.ir.program import Input, Program
from gradcli.questions.fitting.asked import Asked
from gradcli.record import Record


class Roles(Record):
    """What the names of a program are in a fit.

    Fields:
        estimated: The parameters that are estimated, in the order of the program's declarations, or
            of the values given.
        held: The parameters that are held.
        data: The inputs that columns give.
        missing: Parameters without a start.
        notes: Remarks about names that mean two things.
    """

    __slots__ = ("estimated", "held", "data", "missing", "notes")
    estimated: list[str]
    held: list[str]
    data: list[str]
    missing: list[str]
    notes: list[Diagnostic]


def roles(
    program: Program, given: Mapping[str, Given], columns: Sequence[str], asked: Asked
) -> Roles:
    """The roles of a program's names.

    Args:
        program: The program.
        given: The values of NAME=VALUE and -i.
        columns: The columns of the data.
        asked: What the fit is asked.

    Raises:
        InputError: If a name is a parameter and a column, or an input has neither value nor column.
        UsageError: If --wrt or --fix name no parameter, or nothing is left to estimate.
    """
    known = {i.name: i for i in program.inputs}
    is_declared = any(i.kind in ("param", "input") for i in program.inputs)
    chosen = _chosen(program, given, columns, asked, is_declared)
    _no_columns(chosen, columns, given, asked, is_declared)
    left = [
        i.name
        for i in program.inputs
        if i.name not in chosen and i.name not in columns and i.is_missing(given)
    ]
    missing = [name for name in chosen if known[name].is_missing({*given, *_values(asked.fix)})]
    if not is_declared:
        missing += left
        chosen += left
        left = []
    if left:
        names = listed(left)
        help = f"add {' '.join(f'{name}=VALUE' for name in left)}, or columns of these names"
        raise InputError(Diagnostic("missing-input", f"no column or value for {names}", help=help))
    for name in asked.fix:
        if name not in chosen:
            raise _no_parameter("--fix", name, chosen)
    held = [name for name in chosen if name in asked.fix]
    if asked.wrt is not None:
        for name in asked.wrt:
            if name not in chosen:
                raise _no_parameter("--wrt", name, chosen)
        held = [name for name in chosen if name in asked.fix or name not in asked.wrt]
    estimated = [name for name in chosen if name not in held]
    if not estimated:
        raise _nothing(chosen, is_declared)
    data = [n for n in known if n in columns and n not in chosen and n not in given]
    missing = [name for name in missing if name in estimated or name in held]
    notes = _shadowed(program, columns)
    return Roles(estimated, held, data, missing, notes)


def whole_columns(program: Program, shapes: Mapping[str, Sequence[int]]) -> bool:
    """True if the program takes whole columns: its inputs are declared with one dimension more than
    a record has. A program without data is asked once, too.

    Args:
        program: The program.
        shapes: The shape of a record in each column.

    Raises:
        InputError: If some are and some are not.
    """
    given = [i for i in program.inputs if i.name in shapes]
    whole = [i.name for i in given if _is_vector(i) and not shapes[i.name]]
    record = [i.name for i in given if i.name not in whole]
    if whole and record:
        message = f"{listed(whole)} takes the whole column, and {listed(record)} one value a record"
        help = f"declare `input {record[0]}: float[n]`, so that it takes the whole column, too"
        raise InputError(Diagnostic("shape-mismatch", message, help=help))
    return bool(whole) or not shapes


def starts_wanted(missing: Sequence[str]) -> InputError:
    """The error for parameters without a start."""
    message = f"no start for {listed(missing)}"
    several = " ".join(f"{name}=.." for name in missing)
    help = f"add {several}, or `--starts 20` to try some; a name that is data needs a column"
    return InputError(Diagnostic("missing-input", message, help=help))


def _values(fix: Mapping[str, Any]) -> list[str]:
    return [name for name, value in fix.items() if value is not None]


def _chosen(
    program: Program,
    given: Mapping[str, Given],
    columns: Collection[str],
    asked: Asked,
    is_declared: bool,
) -> list[str]:
    """The parameters: the params; in a program without declarations the free names that are given
    a value, and those of --wrt and --fix.
    """
    if is_declared:
        return [i.name for i in program.inputs if i.kind == "param"]
    free = {i.name for i in program.inputs if i.kind == "free"}
    inputs = {i.name for i in program.inputs}
    starts = [name for name in given if name in free and not _is_data(name, given[name])]
    named = [n for n in (*(asked.wrt or ()), *asked.fix, *asked.bounds) if n in inputs]
    return list(dict.fromkeys([*starts, *named]))


def _is_data(name: str, value: Given) -> bool:
    """True for a list or an array from a file, which holds data and is no start."""
    from_file = not str(value.origin).startswith(f"{name}=")
    return from_file and np.ndim(value.value) > 0


def _no_columns(
    chosen: Sequence[str],
    columns: Collection[str],
    given: Mapping[str, Given],
    asked: Asked,
    is_declared: bool,
) -> None:
    """Refuse names that are a column and a parameter, or a column and a value."""
    named = {"--wrt": asked.wrt or (), "--fix": [*asked.fix], "--bounds": [*asked.bounds]}
    for name in columns:
        flag = next((f for f, names in named.items() if name in names), None)
        if flag is not None:
            message = f"{flag} names `{name}`, which is a column of the data"
        elif name in chosen:
            message = f"`{name}` is a parameter of the program and a column of the data"
        elif name in given:
            message = f"`{name}` is a column of the data and has a value, {given[name].origin}"
        else:
            continue
        help = f"`--map {name}_data={name}` gives the column another name"
        raise InputError(Diagnostic("ambiguous-name", message, help=help))


def _no_parameter(flag: str, name: str, chosen: Sequence[str]) -> UsageError:
    message = f"{flag} names `{name}`, which is no parameter"
    help = nearest(name, chosen) or f"the parameters are {', '.join(chosen) or 'none'}"
    return UsageError(Diagnostic("unknown-name", message, help=help))


def _nothing(chosen: Sequence[str], is_declared: bool) -> UsageError:
    if chosen:
        message, help = "all parameters are held", "leave one out of --fix"
    elif is_declared:
        message, help = "the program has no parameter", "declare `param k = 0.1`"
    else:
        message = "no parameter to estimate"
        help = "give starts, as in `a=2 k=0.1`: free names with a value are the parameters"
    return UsageError(Diagnostic("nothing-to-fit", message, help=help))


def _is_vector(i: Input) -> bool:
    """True if an input is declared with one dimension, so that it takes a whole column."""
    return i.type is not None and i.type[1] is not None and len(i.type[1]) == 1


def _shadowed(program: Program, columns: Collection[str]) -> list[Diagnostic]:
    """A note for each column that has the name of a constant or function that the program reads."""
    from gradcli.engine.run.language.names import Builtins

    inputs, builtins = {i.name for i in program.inputs}, Builtins()
    text = program.source.text
    said = []
    for name in columns:
        if name not in builtins:
            continue
        end = r"\b" if builtins[name].constant else r"\s*\("
        if not re.search(rf"\b{re.escape(name)}{end}", text):
            continue
        if name in inputs:
            message = f"`{name}` in the program is the column of the data, not the built-in"
        else:
            message = f"`{name}` in the program is the built-in, not the column of the data"
        help = f"`--map {name}_data={name}` gives the column another name"
        said.append(Diagnostic("ambiguous-name", message, help=help, severity="note"))
    return said
