"""Errors that the command line itself finds."""

from __future__ import annotations

import errno

from gradcli.errors import Diagnostic, LimitError, UsageError


def usage(message: str, help: str | None = None) -> UsageError:
    """A wrong option, argument or name."""
    return UsageError(Diagnostic("usage", message, help=help))


def unreadable(name: str, reason: str, help: str | None = None) -> UsageError:
    """A FILE that cannot be read."""
    return UsageError(
        Diagnostic("unreadable-file", f"cannot read {name}: {_lower_first(reason)}", help=help)
    )


def unwritable(name: str, reason: str) -> UsageError:
    """Output that cannot be written."""
    return UsageError(
        Diagnostic("unwritable-output", f"cannot write {name}: {_lower_first(reason)}")
    )


def bug(error: Exception) -> Diagnostic:
    """The diagnostic of a bug in gradcli."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = f" at {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else ""
    return Diagnostic(
        "bug",
        f"a bug in gradcli: {type(error).__name__}: {error}{where}",
        help="please report it to gradcli's authors, with the program and the command",
    )


_LACKING = (
    "failed to map segment",  # of an import
    "can't start new thread",
    "error return without exception set",  # of a call for whose frame Python 3.11 gets no memory
)


def lacks_memory(error: BaseException) -> bool:
    """True if an error or its cause is that the system has no more memory or no more threads."""
    found: BaseException | None = error
    while found is not None:
        lacking = isinstance(found, OSError) and found.errno == errno.ENOMEM
        if lacking or isinstance(found, MemoryError) or any(s in str(found) for s in _LACKING):
            return True
        found = found.__cause__ or found.__context__
    return False


def not_started(error: OSError) -> LimitError:
    """The error for the process beside this one that the system does not start."""
    reason = _lower_first(error.strerror or str(error))
    message = f"no process can be started that ends this one at its limits: {reason}"
    return LimitError(Diagnostic("memory", message))


def out_of_memory() -> Diagnostic:
    """The diagnostic for lack of memory."""
    return Diagnostic("memory", "out of memory")


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
