"""A process beside the command that ends it at a limit, whatever the command is doing.

The watchdog of a run is a thread, and no thread runs while a call holds Python's lock. Where a
limit is asked for, the command therefore runs in a child. Its parent looks at the clock and at the
memory of the child and its workers, and passes on signals and the status.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import NoReturn

from gradcli.cli.terminal.failures import not_started
from gradcli.cli.terminal.terminal import occupy_descriptors, prepare_streams, show_cursor
from gradcli.cli.watch.table import Place, Table
from gradcli.errors import LimitError

_INTERVAL = 0.05  # seconds between two looks
_LATE = 10  # looks in a row at a question whose time is over: the watchdog tells more about it
_LARGE = 2  # likewise if it takes too much memory

_PASSED_ON = {
    getattr(signal, f"SIG{name}")
    for name in ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2", "WINCH", "TSTP", "CONT")
}
_HEARD = _PASSED_ON | {signal.SIGALRM, signal.SIGCHLD}


def watched(arguments: Sequence[str]) -> Table:
    """Fork this process, which has one thread. The child returns, with the table in which it tells
    what it does. The parent watches it, and ends as it ends.

    Args:
        arguments: The command line, which says how errors are shown.
    """
    occupy_descriptors()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, the status is lost
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _HEARD)
    try:
        table = Table()
        child = os.fork()
    except OSError as error:  # the system allows no more processes or descriptors
        _end_with(not_started(error), arguments)
    if child:
        table.lifeline.hold()
        _end(_status(child, table), child, table, arguments)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    table.lifeline.let_go()
    table.lifeline.follow()
    table.command.take()
    return table


# in the parent ------------------------------------------------------------------------------------


def _status(child: int, table: Table) -> int:
    """The status of the child once it has ended; negative for a signal."""
    signal.signal(signal.SIGCHLD, lambda *_: None)  # some systems drop what nobody handles
    signal.setitimer(signal.ITIMER_REAL, _INTERVAL, _INTERVAL)
    looks = [_Looks(place) for place in (table.command, *table.workers)]
    due: list[int] = []
    waiting: list[int] = []
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        number, is_told = _next_signal()
        if number == signal.SIGALRM:
            for heard in due:
                os.kill(child, heard)
            due, waiting = waiting, []
            for look in looks:
                look.again()
        elif number == signal.SIGTSTP:
            os.kill(child, number)
            _stop()
        elif number == signal.SIGCONT:
            os.kill(child, number)
        elif number in _PASSED_ON and not is_told:
            waiting.append(number)  # if all of the group got it, the child is about to end


def _next_signal() -> tuple[int, bool]:
    """The next signal, and true if it is known that the child has got it, too: the terminal sends
    signals to both.
    """
    if hasattr(signal, "sigwaitinfo"):
        heard = signal.sigwaitinfo(_HEARD)
        return heard.si_signo, heard.si_code > 0  # sent by the system, not by a process
    return signal.sigwait(_HEARD), False


def _stop() -> None:
    """Stop this process, as the child, until it is told to go on."""
    os.kill(os.getpid(), signal.SIGTSTP)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP})


class _Looks:
    """Looks at a process. Each has had time to end by itself before it is killed, also if it could
    not run for some time.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._deadline = 0.0
        self._late = self._large = 0

    def again(self) -> None:
        """Look once more, and kill the process if it has been beyond a limit for too long."""
        place = self._place
        if not place.process:
            return
        if self._deadline != place.deadline:  # another question
            self._deadline, self._late = place.deadline, 0
        self._late = self._late + 1 if place.is_late else 0
        self._large = self._large + 1 if place.is_large else 0
        if self._late > _LATE:
            place.end_late()
        elif self._large == _LARGE:
            place.end_large()


def _end(status: int, child: int, table: Table, arguments: Sequence[str]) -> NoReturn:
    """End this process as the child ended: with its status, by its signal, or with the error of the
    limit for which it was killed.
    """
    if status:
        from gradcli.formats.texts.file import remove_unfinished

        for folder in table.folders:
            remove_unfinished(folder, child)
    error = table.command.reached
    if status == -signal.SIGKILL and error is not None:
        show_cursor()  # a progress bar hides it
        _end_with(error, arguments)
    if status < 0:
        _end_by(-status)
    os._exit(status)


def _end_with(error: LimitError, arguments: Sequence[str]) -> NoReturn:
    """End this process with an error."""
    from gradcli.cli.terminal.messages import report_ending

    prepare_streams()
    report_ending(error.diagnostics, arguments)
    os._exit(error.status)


def _end_by(number: int) -> None:
    """End this process by a signal."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))  # the child has written what there is
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
