"""What not every system has is used only where it has been asked for: each use stands in a table,
with what asks.
"""

import ast
from functools import cache

from support.processes.house import HOUSE, module_text, nodes

UNIX = {  # what Python's documentation says is there on Unix alone, of what a command might use
    "os": {
        *("fork", "forkpty", "register_at_fork", "getuid", "geteuid", "getgid", "getpgid"),
        *("setsid", "setpgid", "killpg", "wait", "wait3", "wait4", "nice", "sysconf", "statvfs"),
        *("sched_getaffinity", "sched_setaffinity", "pipe2", "mkfifo", "chown", "pread", "pwrite"),
        *("O_NONBLOCK", "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "memfd_create", "sendfile"),
        *("ttyname", "openpty", "WIFEXITED", "WEXITSTATUS", "WIFSIGNALED", "WTERMSIG", "uname"),
    },
    "signal": {
        *("SIGALRM", "SIGHUP", "SIGPIPE", "SIGKILL", "SIGCHLD", "SIGUSR1", "SIGUSR2", "SIGXCPU"),
        *("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGQUIT", "alarm", "setitimer", "getitimer", "pause"),
        *("pthread_kill", "pthread_sigmask", "sigwait", "sigtimedwait", "siginterrupt"),
        *("SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK", "ITIMER_REAL", "sigpending"),
    },
    "select": {"poll", "epoll", "kqueue"},
    "time": {"tzset", "clock_gettime"},
}
MODULES = {"resource", "fcntl", "termios", "tty", "pty", "pwd", "grp", "syslog", "readline"}
USES = {  # file, what it uses, what asks whether it is there
    ("cli/terminal/signals.py", "signal.SIGPIPE"): "hasattr(signal",
    ("cli/rows/workers.py", "signal.SIGPIPE"): "if not can_fork():",
    ("cli/rows/workers.py", "signal.SIG_BLOCK"): "if not can_fork():",
    ("cli/rows/workers.py", "signal.SIG_SETMASK"): "if not can_fork():",
    ("cli/rows/workers.py", "signal.SIG_UNBLOCK"): "if not can_fork():",
    ("cli/rows/workers.py", "signal.pthread_sigmask"): "if not can_fork():",
    ("cli/parts/cluster.py", "signal.SIG_BLOCK"): 'hasattr(signal, "pthread_sigmask")',
    ("cli/parts/cluster.py", "signal.SIG_SETMASK"): 'hasattr(signal, "pthread_sigmask")',
    ("cli/parts/cluster.py", "signal.pthread_sigmask"): 'hasattr(signal, "pthread_sigmask")',
    ("cli/parts/lock.py", "fcntl"): 'hasattr(os, "fork")',
    ("machine.py", "os.sched_getaffinity"): 'hasattr(os, "sched_getaffinity")',
    ("machine.py", "os.sysconf"): "except (AttributeError, OSError, ValueError)",
    ("cpython.py", "resource"): "except ImportError",
}

BEHIND = {  # folders and files that are imported only where it has been asked: by which, what asks
    "cli/watch/": (
        {"__main__.py", "cli/rows/workers.py", "cli/serve/sockets.py"},
        'hasattr(os, "fork")',
    ),
    "cli/serve/sockets.py": ({"cli/commands/serve.py"}, 'hasattr(os, "fork")'),
}


def uses(text):
    """What a text uses that not every system has."""
    for node in nodes(text):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in UNIX.get(node.value.id, ()):
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            yield from {node.module} & MODULES
            named = {alias.name for alias in node.names} & UNIX.get(node.module, set())
            yield from {f"{node.module}.{name}" for name in named}


@cache
def texts():
    """The text of each file of the house."""
    return {p.relative_to(HOUSE).as_posix(): module_text(p) for p in HOUSE.rglob("*.py")}


def test_each_use_of_what_only_some_systems_have_is_asked_for():
    found = {(file, use) for file, text in texts().items() for use in uses(text)}
    assert {use for use in found if not use[0].startswith(tuple(BEHIND))} == set(USES)
    assert not {place: asks for place, asks in USES.items() if asks not in texts()[place[0]]}


def imported(text):
    """The modules that a text imports from other modules when it runs, not only for types."""
    only_types = {
        inner
        for node in nodes(text)
        if isinstance(node, ast.If)
        and isinstance(node.test, ast.Name)
        and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    imports = {node for node in nodes(text) if isinstance(node, ast.ImportFrom)}
    return {node.module for node in imports - only_types}


def test_what_only_some_systems_can_import_is_imported_only_there():
    for folder, (files, asks) in BEHIND.items():
        package = "gradcli." + folder.removesuffix(".py").rstrip("/").replace("/", ".")
        using = {
            name
            for name, text in texts().items()
            if not name.startswith(folder)
            and any(f"{module}.".startswith(f"{package}.") for module in imported(text))
        }
        assert using == files
        assert all(asks in texts()[file] for file in files - set(BEHIND))
        assert any(name.startswith(folder) for name in texts())


def test_uses_are_seen():
    assert [*uses("import os\nos.fork()")] == ["os.fork"]
    assert [*uses("def f():\n    import resource")] == ["resource"]
    assert [*uses("from signal import SIGALRM")] == ["signal.SIGALRM"]
    assert [*uses("from os import path, kill")] == []
