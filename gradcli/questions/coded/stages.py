"""The stages of a question on its way to code, as text."""

from __future__ import annotations

from gradcli.cpython import Uncollected
from gradcli.engine.compile.backends import has_machine_code
from gradcli.engine.compile.typed import NotCompilable
from gradcli.engine.run.execution.inputs import Given, check_complete, check_names
from gradcli.engine.values.data import np
from gradcli.errors import Diagnostic, ProgramError, UsageError
from gradcli.ir.program import Input
from gradcli.questions.asked.loaded import Loaded
from gradcli.questions.asked.request import Request, not_compiled
from gradcli.questions.coded.compiled import coded
from gradcli.questions.coded.lowered import Lowered
from gradcli.questions.coded.lowerings import lowering


def stage(loaded: Loaded, request: Request, name: str) -> str:
    """The text of a stage of the run, or of a derivative that the request names: of the gradient,
    and in a mode of the Jacobian. An input without a value has ones of its declared sizes, else it
    is a number.

    Raises:
        ProgramError: If the question cannot be made into code.
        UsageError: If a package that the stage needs is not installed.
    """
    if name == "llvm" and not has_machine_code():
        message = "machine code needs the package `llvmlite`, which is not installed"
        help = "`pip install 'gradcli[fast]'` installs it; `--code python` needs no package"
        raise UsageError(Diagnostic("missing-extra", message, help=help))
    check_names(request.inputs, loaded.program)
    missing = [i for i in loaded.program.inputs if i.is_missing(request.inputs)]
    samples = {i.name: _sample(i) for i in missing if _has_size(i)}
    request = request.changed(inputs={**request.inputs, **samples})
    check_complete(request.inputs, loaded.program)
    try:
        with Uncollected():
            return _printed(loaded, lowering(_question(request)), request, name)
    except NotCompilable as error:
        place = loaded.place(request.of) if error.span is None else (loaded.source, error.span)
        help = "gradcli interprets what cannot be compiled"
        raise ProgramError(not_compiled(error.reason, help, *place)) from None


def _question(request: Request) -> str:
    """The name of the question's function."""
    if request.mode != "auto":
        return "jacobian"
    return "run" if request.wrt is None and request.of is None else "gradient"


def _has_size(i: Input) -> bool:
    """True if the declaration of an input tells its shape."""
    sizes = None if i.type is None else i.type[1]
    return sizes is None or all(isinstance(size, int) for size in sizes)


def _sample(i: Input) -> Given:
    """A value of an input's declared sizes."""
    sizes = None if i.type is None else i.type[1]
    return Given(np.ones(sizes) if sizes else 1.0, f"a sample of `{i.name}`")


def _printed(loaded: Loaded, lowering: type[Lowered], request: Request, name: str) -> str:
    """The text of a stage; the typed program is the one that Python code is made of."""
    if name == "llvm":
        from gradcli.engine.compile.llvm.lower import Module

        return coded(loaded, lowering, request, Module, lambda made: not made.callbacks)[1].shown
    if name == "typed":
        from gradcli.engine.compile.text import text
    else:
        from gradcli.engine.compile.python.code import text
    return coded(loaded, lowering, request, text, None)[1]
