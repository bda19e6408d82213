"""What only some systems have is taken away from the process: commands answer all the same."""

import subprocess
import sys

import pytest

_BARE = """
import builtins, ctypes, io, os, runpy, signal, sys

for name in ("fork", "sched_getaffinity", "sysconf", "register_at_fork", "getuid", "geteuid"):
    delattr(os, name) if hasattr(os, name) else None
for name in (
    *("SIGALRM", "SIGHUP", "SIGPIPE", "setitimer", "getitimer", "pthread_kill", "pthread_sigmask"),
    *("sigwait", "SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK"),
):
    delattr(signal, name) if hasattr(signal, name) else None
for name in ("resource", "fcntl", "termios", "tty", "pty", "pwd", "grp"):
    sys.modules[name] = None  # what imports it finds none
whole, load = io.open, ctypes.CDLL.__init__

def opened(file, *args, **named):
    if str(file).startswith(("/proc", "/sys")):
        raise FileNotFoundError(2, "No such file or directory", file)
    return whole(file, *args, **named)

def loaded(self, name=None, *args, **named):
    if name is None:
        raise OSError("no library without a name")
    load(self, name, *args, **named)

builtins.open = io.open = opened
ctypes.CDLL.__init__ = loaded
sys.argv[:] = ["gradcli", *sys.argv[1:]]
runpy.run_module("gradcli", run_name="__main__")
"""
_LOOP = ("-e", "y = x", "-e", "for i in range(3000): y = sin(y) + x", "-e", "y")
_ENDLESS = ("-e", "y = x", "-e", "while y > 0: y = y + 1.0", "-e", "y")
_ROWS = "x\n" + "".join(f"{i / 8}\n" for i in range(200))
COMMANDS = {
    "run": ("run", "exp(x) * 2", "x=3"),
    "grad": ("grad", "exp(x) * 2", "x=3"),
    **{
        f"{command}, compiled {how}": (command, *_LOOP, "x=0.5", "--compile", how)
        for command in ("run", "grad")
        for how in ("always", "never")
    },
    "rows": ("grad", "x * sin(x)", "--rows", "-", "--compile", "always"),
    "rows, interpreted": ("grad", "x * sin(x)", "--rows", "-", "--compile", "never"),
    "time, compiled": ("run", *_ENDLESS, "x=1", "--time-limit", "0.3", "--compile", "always"),
    "time, interpreted": ("run", *_ENDLESS, "x=1", "--time-limit", "0.3", "--compile", "never"),
    "wrong": ("run", "log(", "x=3"),
}


def _bare(command):
    """A command where all that is missing."""
    return subprocess.run(
        [sys.executable, "-c", _BARE, *command],
        check=False,
        input=_ROWS,
        capture_output=True,
        text=True,
        timeout=60,
    )


def _usual(forked, command):
    """A command on this system."""
    ran = forked.run(*command, stdin=_ROWS)
    ran.stdout, ran.stderr = ran.stdout.decode(), ran.stderr.decode()
    return ran


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_answers_as_on_this_system(command, forked):
    bare, usual = _bare(command), _usual(forked, command)
    assert "Traceback" not in bare.stderr
    if "--time-limit" in command:  # where it is by then is the machine's
        assert "error[time-limit]: the time limit of 0.3 s is reached" in bare.stderr
        assert "error[time-limit]: the time limit of 0.3 s is reached" in usual.stderr
    else:
        assert (bare.stdout, bare.stderr) == (usual.stdout, usual.stderr)
    assert bare.returncode == usual.returncode


def test_jobs_of_code_need_no_processes(forked):
    command = ("grad", "x * sin(x)", "--rows", "-", "--jobs", "2")
    bare, usual = _bare(command), _usual(forked, command)
    assert (bare.returncode, bare.stdout, bare.stderr) == (0, usual.stdout, usual.stderr)


def test_jobs_of_the_interpreter_say_what_they_need():
    command = ("run", "x + 1", "--rows", "-", "--jobs", "2", "--compile", "never")
    bare = _bare(command)
    assert bare.returncode == 2
    assert "needs a system that can fork" in bare.stderr
