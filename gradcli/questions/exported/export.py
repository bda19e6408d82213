"""A program and its derivatives as source code in another language."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import prod
from pathlib import PurePath
from typing import Any

from gradcli.cpython import Uncollected
from gradcli.engine.compile.export import checks
from gradcli.engine.compile.export.languages import c, latex, python
from gradcli.engine.compile.export.remarks import Remarks
from gradcli.engine.compile.export.unit import Given as Parameter
from gradcli.engine.compile.export.unit import Question, Unit, unit
from gradcli.engine.compile.specialize.program import Tensors
from gradcli.engine.compile.specialize.tracing.arrays import Arrays
from gradcli.engine.compile.specialize.tracing.scalarized import Vectors
from gradcli.engine.compile.typed import (
    NUMBERS_IN,
    NotCompilable,
    Program,
    TooLarge,
    dtype_and_shape,
)
from gradcli.engine.compile.walk import values
from gradcli.engine.run.execution.inputs import Given, check_complete, check_names
from gradcli.engine.tape.tensor import Tensor
from gradcli.engine.values.data import Quiet, np
from gradcli.errors import Diagnostic, GradError, ProgramError, UsageError
from gradcli.ir.program import Branch, Choice, For, Input, While
from gradcli.ir.visit import everything
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.names import Watch, unknown_output
from gradcli.questions.asked.request import Options, Request
from gradcli.questions.coded.lowered import Plan
from gradcli.questions.exported import any_size
from gradcli.questions.exported.by_size import decided_by_size
from gradcli.questions.exported.lowerings import (
    OfWholeArrays,
    Plain,
    PlainDerivative,
    PlainHessian,
    PlainRun,
    PlainValue,
)
from gradcli.questions.exported.results import results

_ORDERS: Sequence[Sequence[type[Plain]]] = (
    (PlainValue, PlainRun),
    (PlainDerivative,),
    (PlainHessian,),
)
"""By the order of derivatives: the questions, of which the first that compiles is written."""

_SUFFIXES = (".c", ".py", ".tex")


def export(
    loaded: Loaded, request: Request, of: Sequence[str], order: int, file: str, by: str
) -> dict[str, str]:
    """The files of source code, by name.

    Args:
        loaded: The program.
        request: Values of inputs, of which the type and shape count; names to differentiate by.
        of: Top-level names; none for the program's result.
        order: The highest order of derivatives, 0, 1 or 2.
        file: The name of the file, whose suffix tells the language.
        by: Who has written the files, as they say.

    Raises:
        ProgramError: If the program has no source code; the message says why and where.
        UsageError: If the suffix is unknown, or a name.
    """
    path = PurePath(file)
    if path.suffix not in _SUFFIXES:
        known = ", ".join(_SUFFIXES)
        message = f"`{file}` does not tell a language: known suffixes are {known}"
        raise UsageError(Diagnostic("usage", message))
    name = name_of(loaded, path)
    if path.suffix == ".py":
        made = written(loaded, request, of, order, name, python.RESERVED)
        return {file: python.source(made, by)}
    if path.suffix == ".tex":
        made = written(loaded, request, of, order, name, latex.RESERVED)
        with _refusing(loaded, request):
            return {file: _latex(loaded, made, by)}
    made = written(loaded, request, of, order, name, c.RESERVED)
    head = path.with_suffix(".h")
    return {
        str(path): c.source(made, by, head.name),
        str(head): c.header(made, by, head.name),
    }


def _latex(loaded: Loaded, made: Unit, by: str) -> str:
    """The text in LaTeX. A refusal has the place of the program's first loop or branch."""
    try:
        return latex.source(made, by)
    except NotCompilable as error:
        every = everything(loaded.program)
        spans = [i.span for i in every if isinstance(i, (For, While, Branch, Choice))]
        raise NotCompilable(error.reason, min(spans, key=lambda s: s.start, default=None)) from None


def checked(
    program: Any, request: Request, of: Sequence[str], order: int, file: str, by: str
) -> dict[str, str]:
    """The files of source code, and a test of the function with the program's answers at three
    points. Arguments and errors as of `export`.
    """
    loaded, path = program.loaded, PurePath(file)
    if path.suffix == ".tex":
        raise UsageError(Diagnostic("usage", "LaTeX has no test", help="leave out `--check`"))
    files = export(loaded, request, of, order, file, by)
    words = python.RESERVED if path.suffix == ".py" else c.RESERVED
    made = written(loaded, request, of, order, name_of(loaded, path), words)
    given = {name: x.value for name, x in _samples(loaded, request).items()}
    given.update((name, value) for name, value in made.fixed if name in loaded.program.names)
    points = [*_points(program, made, given, request, of)]
    if not points:
        message = "the program has no finite answer at the points of a test"
        raise ProgramError(Diagnostic("not-compilable", message, help="give values of its inputs"))
    beside = path.with_name(f"{path.stem}_test{path.suffix}")
    if path.suffix == ".py":
        text = checks.in_python(made, points, path.stem, by)
    else:
        text = checks.in_c(made, points, path.with_suffix(".h").name, by)
    return {**files, str(beside): text}


def _points(
    program: Any, made: Unit, given: Mapping[str, Any], request: Request, of: Sequence[str]
) -> Iterator[checks.Point]:
    """The points of a test: the given one, and two beside it."""
    for scale, shift in ((1.0, 0.0), (1.125, 0.0625), (0.875, -0.0625)):
        inputs = {
            name: np.asarray(x) * scale + shift if np.asarray(x).dtype.kind == "f" else x
            for name, x in given.items()
        }
        inputs = {n: x.item() if np.ndim(x) == 0 and hasattr(x, "item") else x
                  for n, x in inputs.items()}  # fmt: skip
        try:
            outputs = _answers(program, made, inputs, request.wrt, of)
        except GradError:
            continue
        if all(np.isfinite(x).all() for x in outputs.values()):
            values = {p.of: np.asarray(_value(program, inputs, p.of)) for p in made.parameters}
            yield checks.Point(
                {name: x.ravel().tolist() for name, x in values.items()},
                {name: x.shape for name, x in values.items()},
                {name: x.tolist() for name, x in outputs.items()},
            )


def _value(program: Any, inputs: Mapping[str, Any], name: str) -> Any:
    """The value of a parameter: of an input, or of a leaf that the program makes."""
    return inputs[name] if name in inputs else program.run(inputs).values[name]


def _answers(
    program: Any, made: Unit, inputs: Mapping[str, Any], wrt: Any, of: Sequence[str]
) -> dict[str, Any]:
    """The numbers of the outputs of a function, as gradcli gives them."""
    names = {output.name for output in made.outputs}
    values, rows, blocks = [], [], []
    every: Sequence[str | None] = of or [None]
    for name in every:
        asked = {"of": name}
        if "hessian" in names:
            found = program.hessian(inputs, wrt=wrt, mode="forward", **asked)
            rows.append([np.ravel(x) for x in found.grad.values()])
            blocks = [
                np.concatenate(
                    [np.reshape(x, (np.size(found.grad[n]), -1)) for x in row.values()], axis=1
                )
                for n, row in found.hessian.items()
            ]
        elif "grad" in names:
            found = program.grad(inputs, wrt=wrt, **asked)
            rows.append([np.ravel(x) for x in found.grad.values()])
        elif "jacobian" in names:
            found = program.jacobian(inputs, wrt=wrt, **asked)
            size = np.size(found.value)
            parts = [np.reshape(x, (size, -1)) for x in found.jacobian.values()]
            rows.append([np.concatenate(parts, axis=1).ravel()])
        else:
            found = program.run(inputs)
            values.append(np.ravel(found.result if name is None else found.values[name]))
            continue
        values.append(np.ravel(found.value))
    first = next((n for n in ("grad", "jacobian") if n in names), "")
    outputs = {"value": np.concatenate(values)}
    if first:
        outputs[first] = np.concatenate([x for row in rows for x in row])
    if blocks:
        outputs["hessian"] = np.concatenate(blocks).ravel()
    return {name: np.asarray(x, np.float64) for name, x in outputs.items()}


def name_of(loaded: Loaded, path: PurePath) -> str:
    """The name of the function: that of the program's file, or else of the written one."""
    own = PurePath(loaded.source.name)
    stem = own.stem if own.suffix in (".grad", ".py", ".md", ".ipynb") else path.stem
    return re.sub(r"\W", "_", stem)


def written(
    loaded: Loaded,
    request: Request,
    of: Sequence[str],
    order: int,
    name: str,
    reserved: frozenset[str],
) -> Unit:
    """The program as a function of source code. Arguments and errors as of `export`."""
    program = loaded.program
    check_names(request.inputs, program)
    for output in of:
        if output not in program.names:
            raise unknown_output(output, [*program.names])
    with _refusing(loaded, request), Uncollected(), Quiet():
        names = any_size.free_sizes(loaded.program.inputs, request.inputs)
        if not names:
            return _unit(loaded, request, of, order, name, reserved)
        return _of_any_size(loaded, request, of, order, name, reserved, names)


def _of_any_size(
    loaded: Loaded,
    request: Request,
    of: Sequence[str],
    order: int,
    name: str,
    reserved: frozenset[str],
    names: Sequence[str],
) -> Unit:
    """The function for arrays of any size."""
    inputs = loaded.program.inputs

    def of_sizes(sizes: Mapping[str, int]) -> Request:
        own = {i.name: Given(_ones(i, sizes), f"a sample of `{i.name}`")
               for i in inputs if any_size.has_size(i, sizes)}  # fmt: skip
        return request.changed(inputs={**request.inputs, **own})

    def large(sizes: Mapping[str, int], words: frozenset[str]) -> Unit:
        question = _question(loaded, of_sizes(sizes), of, order, Arrays)
        return unit(question, name, words, sizes)

    def known(sizes: Mapping[str, int], words: frozenset[str]) -> Unit:
        return _unit(loaded, of_sizes(sizes), of, order, name, words)

    try:
        place = decided_by_size(loaded.program)
        if place is not None:
            raise NotCompilable("no test may depend on a size alone", place)
        return any_size.of_any_size(names, large, known, reserved)
    except NotCompilable as error:
        _unit(loaded, request, of, order, name, reserved)  # has a reason of its own, if it has none
        (first, *_) = [i.name for i in inputs if any_size.has_size(i, names)]
        raise any_size.OfOneSize(error, first) from None


def _unit(
    loaded: Loaded,
    request: Request,
    of: Sequence[str],
    order: int,
    name: str,
    reserved: frozenset[str],
) -> Unit:
    """The function. Small tensors are their elements if that is possible, others are arrays."""

    def attempt(tensors: Tensors) -> tuple[Unit | None, NotCompilable | None, bool]:
        try:
            question = _question(loaded, request, of, order, tensors)
            are_large = _are_large(question.program)
            return unit(question, name, reserved, {}), None, are_large
        except NotCompilable as error:
            return None, error, False

    arrays, why, are_large = attempt(Arrays)
    if arrays is not None and are_large:
        return arrays
    numbers, of_elements, _ = attempt(Vectors)
    found = numbers or arrays
    if found is None:
        if isinstance(why, OfWholeArrays) and not isinstance(of_elements, TooLarge):
            why = of_elements
        assert why is not None
        for lower in reversed(range(order)):
            try:
                _unit(loaded, request, of, lower, name, reserved)
            except NotCompilable:
                continue
            raise HasLess(why, lower)
        raise why
    return found


class HasLess(NotCompilable):
    """A program has source code for a lower order of derivatives alone."""

    def __init__(self, why: NotCompilable, order: int) -> None:
        super().__init__(why.reason, why.span)
        self.order = order


_FEW = 10  # elements of a tensor that are written one by one


def _are_large(program: Program) -> bool:
    """True if a program has arrays of many elements."""
    sizes = (prod(dtype_and_shape(v.type)[1]) for v in values(program))
    return max(sizes, default=0) > _FEW


@contextmanager
def _refusing(loaded: Loaded, request: Request) -> Iterator[None]:
    """A context that makes an error of the reason why there is no source code."""
    try:
        yield
    except NotCompilable as error:
        source, span = loaded.place(request.of)
        if error.span is not None and error.span.end > error.span.start:
            source, span = loaded.source, error.span
        message = f"cannot be written as source code: {error.reason}"
        found = Diagnostic("not-compilable", message, source, span, help=_way_out(error))
        raise ProgramError(found) from None


def _way_out(error: NotCompilable) -> str:
    if isinstance(error, any_size.OfOneSize):
        return f"give a value of `{error.name}`, as `{error.name}=@FILE`, which sets its size"
    if isinstance(error, HasLess):
        what = "its first derivatives" if error.order else "its value alone"
        return f"`--order {error.order}` writes {what}"
    for words, help in _WAYS:
        if words in error.reason:
            return help
    return "docs/export.md tells what has source code; gradcli itself runs all programs"


_WAYS = (
    ("random", "draw the numbers outside, and give them as inputs"),
    ("class", "write functions and plain names in place of the class"),
    ("recorded", "leave out `backward`: export writes the derivative by itself"),
    ("grad_fn", "leave out `backward` and the graph: export writes the derivative by itself"),
    ("requires grad", "declare an `input`, and name it with --wrt, in place of a leaf"),
    ("loop, a branch", "write `.c` or `.py`, or a formula of the part without it"),
    ("has no result", "end the program with an expression, or name a result with --of"),
)
"""What to write instead, by words of the reason."""


def _question(
    loaded: Loaded, request: Request, of: Sequence[str], order: int, tensors: Tensors
) -> Question:
    given = _samples(loaded, request)
    asked = request.changed(inputs=given, of=of[0] if len(of) == 1 else None)
    fixed: tuple[tuple[str, Any], ...] = ()
    try:
        made = _lowered(loaded, asked, tensors, of, order)
    except NotCompilable:
        ints = [i.name for i in loaded.program.inputs if _is_int(i, given)]
        if not ints:
            raise
        left = {n: x for n, x in given.items() if n not in ints or n in request.inputs}
        asked = asked.changed(inputs=left, known=[n for n in ints if n in left])
        made = _lowered(loaded, asked, tensors, of, order)
        fixed = tuple([(n, given[n].value) for n in ints])
    if made.draws:
        raise NotCompilable("it draws random numbers", loaded.program.main.span)
    return _asked(loaded, made, of, fixed)


def _lowered(
    loaded: Loaded, asked: Request, tensors: Tensors, of: Sequence[str], order: int
) -> Plain:
    """The typed program of the first question that has one."""
    first, *others = _ORDERS[order]
    try:
        return first(loaded, asked, Plan(tensors, 0, None), of or [None])
    except NotCompilable:
        for other in others:
            with suppress(NotCompilable):
                return other(loaded, asked, Plan(tensors, 0, None), of or [None])
        raise


def _samples(loaded: Loaded, request: Request) -> dict[str, Given]:
    """A value for each input: those that are given, the defaults, or ones."""
    program = loaded.program
    given = dict(request.inputs)
    sizes = any_size.given_sizes(program.inputs, given)
    for i in program.inputs:
        if i.is_missing(given):
            given[i.name] = Given(_ones(i, sizes), f"a sample of `{i.name}`")
    check_complete(given, program)
    left = [i.name for i in program.inputs if i.kind != "constant" and i.name not in given]
    if left:
        options = Options(explain=False, grad_fn=False, limits=request.options.limits)
        with Quiet():
            done = loaded.execute(given, options, Watch(left))
        begun = done.session.watched.points  # the program may assign an input again
        for name in left:
            value = begun.get(name, done.values.get(name))
            value = value.data if isinstance(value, Tensor) else value
            if value is not None:
                given[name] = Given(value, f"the default of `{name}`")
    return given


def _ones(i: Input, values: Mapping[str, int]) -> Any:
    """A value of an input's declared type and sizes; other names of sizes are 3."""
    kind, own = i.type or ("float", None)
    one = {"float": 1.0, "int": 1, "bool": True}[kind]
    if not own:
        return one
    shape = [size if isinstance(size, int) else values.get(str(size), 3) for size in own]
    return np.full(shape, one)


def _is_int(i: Input, given: Mapping[str, Given]) -> bool:
    return i.name in given and type(given[i.name].value) in (int, bool)


def _asked(
    loaded: Loaded, made: Plain, of: Sequence[str], fixed: tuple[tuple[str, Any], ...]
) -> Question:
    specialized, found = made.specialized, made.derivative
    remarks = Remarks(loaded.source)
    variables = dict(specialized.variables)
    names: dict[int, str] = {}
    for entry in specialized.inputs:
        names[entry.value.number] = entry.name
    for name, _ in made.axes():
        held = specialized.arrays.get(name)
        own = (specialized.points[name],) if held is None else held.values
        names.update((v.number, name) for v in own)
    variables = {**names, **variables}
    known: dict[int, float | int | bool] = {}
    several: dict[str, list[Any]] = {}
    constants = iter(made.constants)
    given = {entry.value.number for entry in specialized.inputs}
    for v in made.program.inputs:
        constant = None if v.number in given else next(constants)
        if v.number in names:
            several.setdefault(names[v.number], []).append(v)
        elif constant is not None:
            known[v.number] = constant
    shapes = {e.name: e.shape for e in specialized.inputs} | dict(made.axes())
    spans = {i.name: i.span for i in loaded.program.inputs}
    inputs = []
    for name in [*made.names, *(n for n in several if n not in made.names)]:
        about = remarks.of_input(spans[name]) if name in spans else ""
        values = several[name]
        inputs.append(Parameter(name, shapes[name], _kind(values[0].type), about, values))
    return Question(
        made.program,
        specialized.program,
        variables,
        1 << 60 if found is None else found.first,
        {} if found is None else found.cotangents,
        inputs,
        known,
        [*results(made, of)],
        remarks,
        PurePath(loaded.source.name).name,
        fixed,
        made.swept,
    )


def _kind(type: str) -> str:
    """The type of the numbers of a value."""
    return NUMBERS_IN[dtype_and_shape(type)[0]]
