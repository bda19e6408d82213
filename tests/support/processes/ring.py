"""Interrupts at any moment of a function, in this process."""

import signal


class Interrupt(BaseException):
    """What the handler of a signal raises, as for Ctrl-C."""


class Ring:
    """Interrupts a function: once after a first time in seconds, and once more after a gap unless
    that is 0. Signals that come outside of the function are sent again, until `over`.
    """

    def __init__(self, function):
        self.raised = 0
        self._code = function.__code__
        self._gap = 0.0
        self._on = False

    def __enter__(self):
        self._before = signal.signal(signal.SIGALRM, self._ring)
        return self

    def __exit__(self, *_):
        self.over()
        signal.signal(signal.SIGALRM, self._before)

    def start(self, first, gap):
        self._gap = gap
        self._on = True
        signal.setitimer(signal.ITIMER_REAL, first)

    def over(self):
        self._on = False
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _, frame):
        ends = frame.f_code.co_name == "__del__"  # Python drops errors there
        while frame is not None and frame.f_code is not self._code:
            frame = frame.f_back
        if frame is None or ends:
            if self._on:
                signal.setitimer(signal.ITIMER_REAL, 1e-3)
            return
        self.raised += 1
        gap, self._gap = self._gap, 0.0
        signal.setitimer(signal.ITIMER_REAL, gap)
        raise Interrupt
