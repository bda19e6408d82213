"""Exceptions of the program: their names, errors as handlers see them, unhandled ones."""

from __future__ import annotations

import re
from typing import Any

from gradcli.cpython import is_of_program
from gradcli.engine.run.code.naming import kind_of
from gradcli.engine.run.session.classes import misfit, misfit_within, returned
from gradcli.engine.run.session.text import library, repr_text, text
from gradcli.engine.values.limits import joined_text
from gradcli.engine.values.objects import Object
from gradcli.errors import (
    AssertionFailed,
    DepthError,
    Diagnostic,
    GradError,
    LimitError,
    run_error,
)

_BASES = {
    "BaseException": "",
    "GeneratorExit": "BaseException",
    "KeyboardInterrupt": "BaseException",
    "SystemExit": "BaseException",
    "Exception": "BaseException",
    "ArithmeticError": "Exception",
    "FloatingPointError": "ArithmeticError",
    "OverflowError": "ArithmeticError",
    "ZeroDivisionError": "ArithmeticError",
    "AssertionError": "Exception",
    "AttributeError": "Exception",
    "BufferError": "Exception",
    "EOFError": "Exception",
    "ImportError": "Exception",
    "ModuleNotFoundError": "ImportError",
    "LookupError": "Exception",
    "IndexError": "LookupError",
    "KeyError": "LookupError",
    "MemoryError": "Exception",
    "NameError": "Exception",
    "UnboundLocalError": "NameError",
    "OSError": "Exception",
    "ConnectionError": "OSError",
    "FileExistsError": "OSError",
    "FileNotFoundError": "OSError",
    "InterruptedError": "OSError",
    "IsADirectoryError": "OSError",
    "NotADirectoryError": "OSError",
    "PermissionError": "OSError",
    "TimeoutError": "OSError",
    "RuntimeError": "Exception",
    "NotImplementedError": "RuntimeError",
    "RecursionError": "RuntimeError",
    "StopAsyncIteration": "Exception",
    "StopIteration": "Exception",
    "SystemError": "Exception",
    "TypeError": "Exception",
    "ValueError": "Exception",
    "UnicodeError": "ValueError",
    "Warning": "Exception",
    "BytesWarning": "Warning",
    "DeprecationWarning": "Warning",
    "EncodingWarning": "Warning",
    "FutureWarning": "Warning",
    "ImportWarning": "Warning",
    "PendingDeprecationWarning": "Warning",
    "ResourceWarning": "Warning",
    "RuntimeWarning": "Warning",
    "SyntaxWarning": "Warning",
    "UnicodeWarning": "Warning",
    "UserWarning": "Warning",
    "torch.autograd.gradcheck.GradcheckError": "RuntimeError",
}
"""The exceptions that have a name, each with the one that it is a kind of."""

_OF_CODES = {
    "assertion-failed": "AssertionError",
    "unknown-attribute": "AttributeError",
    "index-out-of-range": "IndexError",
    "no-item": "StopIteration",
    "division-by-zero": "ZeroDivisionError",
    "integer-overflow": "OverflowError",
    "wrong-count": "ValueError",
    "bad-format": "ValueError",
    "unknown-key": "KeyError",
    "bad-index": "IndexError",
    "ragged-list": "ValueError",
    "wrong-derivative": "torch.autograd.gradcheck.GradcheckError",
    "used-before-assigned": "NameError",
    **dict.fromkeys(
        ("wrong-type", "wrong-arity", "not-callable", "not-iterable", "bad-class"), "TypeError"
    ),
}
"""Classes of the exceptions that handlers see, by the code of an error that does not tell its own;
`RuntimeError` for others, as PyTorch.
"""

_OF_LIBRARIES = {
    ("numpy", "shape-mismatch"): "ValueError",
    ("jax", "shape-mismatch"): "TypeError",
}
"""Classes that differ in programs with the arrays of a library."""


_IN_PYTHON = re.compile("changed size during iteration|generator raised StopIteration")
"""Errors of Python's own that a program can cause."""


class Thrown(Object, Exception):
    """Base of the exceptions of a program."""

    __module__ = "builtins"

    def __str__(self) -> str:
        """What `print` shows: the only argument, or all of them."""
        return text(self.args[0] if len(self.args) == 1 else self.args) if self.args else ""

    def __repr__(self) -> str:
        """The class with its arguments."""
        return f"{type(self).__name__}({joined_text(', ', map(repr_text, self.args))})"


def _key_text(error: Thrown) -> str:
    return repr_text(error.args[0]) if len(error.args) == 1 else Thrown.__str__(error)


def _made() -> dict[str, type[Thrown]]:
    found: dict[str, type[Thrown]] = {"": Thrown}
    for name, base in _BASES.items():
        own = {"__str__": _key_text} if name == "KeyError" else {}
        class_name = name.rpartition(".")[2]
        found[name] = type(class_name, (found[base],), {**own, "__module__": "builtins"})
    return found


_CLASSES = _made()


def is_name(name: str) -> bool:
    """True if there is an exception of that name."""
    return name in _BASES


def named(name: str) -> type[Thrown]:
    """The exception of a name."""
    return _CLASSES[name]


def raised(value: Any) -> BaseException:
    """The exception that `raise value` raises; for None the one that the program is handling."""
    import sys

    if value is None:
        handled = sys.exception()
        if handled is None or not _is_the_programs(handled):
            message = "there is no exception to raise again"
            none = RuntimeError("No active exception to reraise")
            raise run_error("unhandled-exception", message, raises=none)
        return handled
    made = _made_of(value) if isinstance(value, type) and issubclass(value, Thrown) else value
    if not isinstance(made, Thrown):
        message = f"what is raised must be an exception, got {kind_of(value)}"
        said = TypeError("exceptions must derive from BaseException")
        raise run_error("wrong-type", message, help='write `raise ValueError("...")`', raises=said)
    end = made.__cause__
    return end if isinstance(end, GeneratorExit) else made


def _is_the_programs(handled: BaseException) -> bool:
    """True if code of the program caught an exception, not Python code that runs the program while
    it handles one of its own: the traceback begins in the function that caught.
    """
    trace = handled.__traceback__
    return trace is not None and is_of_program(trace.tb_frame.f_code)


def _made_of(kind: type[Thrown]) -> Thrown:
    """The exception of a class that is raised without arguments."""
    try:
        return kind()
    except TypeError as error:
        raise misfit(error) or error from None


def seen(error: Exception | GeneratorExit) -> Thrown:
    """Return an error as the exception that a handler sees, or raise one that ends the run."""
    if isinstance(error, Thrown):
        return error
    if isinstance(error, GeneratorExit):
        end = named("GeneratorExit")()
        end.__cause__ = error
        return end
    known = error if isinstance(error, GradError) else _of_python(error)
    if known is None or (isinstance(known, LimitError) and not isinstance(known, DepthError)):
        raise error
    kind, args = _kind(known)
    made = named(kind)(*args)
    made.__cause__ = error
    return made


def _kind(error: GradError) -> tuple[str, tuple[Any, ...]]:
    """The class and the arguments of the exception that a handler sees."""
    first = error.diagnostics[0]
    if isinstance(error, DepthError):
        return "RecursionError", ("maximum recursion depth exceeded",)
    raises = error.raises
    if raises is None:
        own = _OF_LIBRARIES.get((library(), first.code))
        return own or _OF_CODES.get(first.code, "RuntimeError"), (first.message,)
    if isinstance(raises, Exception):
        return type(raises).__name__, raises.args
    return raises.__name__, (first.message,)


def _of_python(error: Exception) -> GradError | None:
    """An error that Python finds in the code of the program, as one of a run."""
    if isinstance(error, RecursionError):
        message = "functions call each other, or values hold each other, too deeply to go on"
        return DepthError(Diagnostic("recursion-limit", message))
    if isinstance(error, NameError):
        name = getattr(error, "name", None) or str(error).partition("'")[2].partition("'")[0]
        return run_error("used-before-assigned", f"`{name}` has no value here", raises=error)
    if isinstance(error, RuntimeError) and _IN_PYTHON.search(str(error)):
        return run_error("bad-argument", str(error), raises=error)
    if isinstance(error, TypeError) and (wrong := misfit_within(error)) is not None:
        return wrong
    return returned(error)


def matches(exception: Thrown, kinds: Any) -> bool:
    """True if an exception is one of the classes that a handler names."""
    wanted = kinds if isinstance(kinds, tuple) else (kinds,)
    for kind in wanted:
        if not (isinstance(kind, type) and issubclass(kind, Thrown)):
            message = f"`except` takes classes of exceptions, got {kind_of(kind)}"
            raise run_error("wrong-type", message)
    return isinstance(exception, wanted)


def unhandled(exception: Thrown) -> GradError:
    """The error of a run that ends by an exception."""
    cause = exception.__cause__
    if isinstance(cause, GradError) and cause.diagnostics:
        first = cause.diagnostics[0]
        return type(cause)(Diagnostic(first.code, first.message, help=first.help))
    said = text(exception)
    if isinstance(exception, named("AssertionError")):
        return AssertionFailed(Diagnostic("assertion-failed", said or "the assertion is false"))
    name = type(exception).__name__
    return run_error("unhandled-exception", f"`{name}`: {said}" if said else f"`{name}`")
