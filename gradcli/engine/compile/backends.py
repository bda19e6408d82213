"""Choose the back end: machine code if its library is installed, else Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from gradcli.engine.compile.passes.finite import finite
from gradcli.engine.compile.typed import Listed, NotCompilable, Places, Program
from gradcli.engine.compile.walk import has_arrays

failures_are_errors = False
"""False if the next back end or the interpreter answers where one fails. Tests set it."""

if TYPE_CHECKING:
    from typing import Protocol

    from gradcli.engine.compile.control import Control
    from gradcli.engine.values.data import Data

    class Code(Protocol):
        """Code of a typed program; `made` names its kind; `calls_python` is true if some of it is
        done in Python.
        """

        made: str
        calls_python: bool

        def call(self, inputs: Sequence[float], control: Control) -> tuple[Any, ...]:
            """Return the results for one set of inputs."""

        def rows(self, columns: Sequence[Any], control: Control) -> tuple[Sequence[Any], Any]:
            """Return the results for many sets of inputs, and which sets bailed out."""

        def at(
            self, inputs: Sequence[Any], point: Places, chosen: Places
        ) -> Callable[[Data], Data | None]:
            """Return the function of some elements of the inputs, floats, that gives some of the
            results, or None where the code bails out or takes long.
            """

        def listed(self, inputs: Sequence[Any], point: Places, chosen: Places) -> Listed:
            """Return that function from numbers to numbers, which is faster for few of them."""

        @property
        def source(self) -> str:
            """The text of the code."""


def has_machine_code() -> bool:
    """True if the library that makes machine code is installed."""
    return find_spec("llvmlite") is not None


def code(program: Program) -> Code:
    """Return the code of a typed program, made by the best available back end. It bails out where a
    result is not finite. If one back end fails, the next one makes the code, whose `made` says so.

    Raises:
        NotCompilable: If no back end can make it.
    """
    why = ""
    if has_machine_code():
        try:
            from gradcli.engine.compile.llvm.code import Code as MachineCode

            return MachineCode(finite(program))
        except NotCompilable:
            if not has_arrays(program):
                raise
        except Exception as error:
            why = f", because {failure('machine code', error)}"
    try:
        from gradcli.engine.compile.python.finite import FiniteCode

        made = FiniteCode(program)
    except NotCompilable:
        raise
    except Exception as error:
        raise NotCompilable(failure("Python code", error)) from None
    made.made += why
    return made


def failure(what: str, error: Exception) -> str:
    """Return a text that says what failed, with the error that no program should cause.

    Raises:
        Exception: The error itself, if failures are errors.
    """
    if failures_are_errors:
        raise error
    return f"{what} failed ({type(error).__name__}: {str(error).partition(chr(10))[0]})"
