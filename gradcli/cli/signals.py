"""What the signals of a shell do to the process."""

from __future__ import annotations

import os
import signal
import sys
import time
from _thread import start_new_thread
from typing import Any

_SOON = 0.01  # seconds


def prepare_signals() -> None:
    """Let a reader that leaves end the process silently, and no interrupt get lost."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.unraisablehook = _unraisable


def _unraisable(found: Any) -> None:
    """What Python cannot raise, as in the callback of a weak reference, it writes and forgets. An
    interrupt that came there comes once more.
    """
    if found.exc_type is KeyboardInterrupt:
        start_new_thread(_interrupt_soon, ())  # an interrupt sent from here would come here
    else:
        sys.__unraisablehook__(found)


def _interrupt_soon() -> None:
    time.sleep(_SOON)
    os.kill(os.getpid(), signal.SIGINT)
