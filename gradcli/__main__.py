"""The console entry: one boundary around all commands."""

from __future__ import annotations

import gc
import os
import sys

# All other imports wait for `main`, where an interrupt during them is caught.

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.cli.watch.table import Table


# Threads of NumPy's products wait for each other longer than small products take, and what they
# add up depends on how many there are: one, unless the user has said how many. Large products are
# cut in pieces that are done at the same time (engine/numerics/products.py).
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")

# Limits that a process beside holds the command to. It is forked before anything else is imported,
# as long as the memory is small and there is one thread: what only looks like an option counts.
_LIMITING = ("--safe", "--time-limit", "--max-memory")
_LIMITING_VARIABLES = ("GRADCLI_TIME_LIMIT", "GRADCLI_MAX_MEMORY")


def main() -> None:
    """Run the command line of this process and exit with its status.

    All output has been written by then, and nothing waits to be closed: the process ends without
    Python's taking itself apart, which takes a fifth of the time of a short command.
    """
    gc.disable()  # a short life makes few cycles, and looking for them takes its tenth part
    if not any(name in os.environ for name in _THREADS):
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        os.environ.setdefault("GRADCLI_NUM_THREADS", "all")
    # pyarrow's own allocator asks for huge pages, of which a batch fills a part: the kernel clears
    # them whole, which costs 0.15 s for 10^6 rows
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    signals = None
    try:
        from gradcli.cli.terminal.signals import Signals
        from gradcli.cpython import is_importing, is_of_program, leave_out, make_room

        signals = Signals(is_importing, is_of_program)
        make_room()
        leave_out("pandas")  # pyarrow would import it, which takes a third of a second
        arguments = sys.argv[1:]
        status = _run(arguments, _watched(arguments))
    except KeyboardInterrupt:
        status = 130
    except MemoryError:  # at the start or the end: there is none to say more with
        os.write(2, b"gradcli: error[memory]: out of memory\n")
        status = 6
    if signals is not None:
        # not by a call, at the start of which one more interrupt could be raised
        signals.over = True
        signals.restore()
    _flush()  # what an interrupt has left written in part
    if signals is not None:
        signals.finish()
    os._exit(status)


def _flush() -> None:
    from contextlib import suppress

    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, full or not there
            stream.flush()


def _watched(arguments: Sequence[str]) -> Table | None:
    """The table in which this process tells what it does, if another one watches it."""
    asked = any(argument.startswith(_LIMITING) for argument in arguments)
    if not (asked or any(map(os.environ.get, _LIMITING_VARIABLES))) or not hasattr(os, "fork"):
        return None
    from gradcli.cli.watch.watcher import watched

    return watched(arguments)


def _run(arguments: Sequence[str], table: Table | None = None) -> int:
    """Exit status of a command line, its errors reported. A watched process has a table."""
    from typing import Any

    import typer

    from gradcli.cli.terminal.failures import bug, lacks_memory, out_of_memory
    from gradcli.cli.terminal.messages import report_ending
    from gradcli.cli.terminal.terminal import check_colour, output_failure, prepare_streams
    from gradcli.errors import GradError

    prepare_streams()
    usage_error: Any = typer.BadParameter.__base__  # typer does not export it
    try:
        check_colour()
        from gradcli.cli.app import run

        return run(list(arguments), table)
    except GradError as error:
        diagnostics, status = error.diagnostics, error.status
    except usage_error as error:
        from gradcli.cli.usage import usage_diagnostic

        diagnostics, status = (usage_diagnostic(error, arguments),), 2
    except typer.Abort:
        return 130
    except Exception as error:
        if lacks_memory(error):
            diagnostics, status = (out_of_memory(),), 6
        elif isinstance(error, OSError):  # commands tell which of their files; this is the stream
            diagnostics, status = output_failure(error).diagnostics, 2
        else:
            if "-v" in arguments or "--verbose" in arguments:
                import traceback

                traceback.print_exc()
            diagnostics, status = (bug(error),), 70
    report_ending(diagnostics, arguments)
    return status


if __name__ == "__main__":
    main()
