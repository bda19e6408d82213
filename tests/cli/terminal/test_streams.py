"""The standard streams: terminals or not, how wide, in which colours, closed or full."""

import errno
import io
import os
import pydoc
import sys
from itertools import product

import pytest

from gradcli.__main__ import _run
from gradcli.cli.terminal import terminal


class Stream(io.StringIO):
    """A stream that may be a terminal, with a place among the files of the process."""

    def __init__(self, is_terminal=True, place=77):
        super().__init__()
        self.is_terminal, self.place = is_terminal, place

    def isatty(self):
        return self.is_terminal

    def fileno(self):
        return self.place


def closed():
    stream = Stream()
    stream.close()
    return stream


@pytest.mark.parametrize(
    ("stream", "found"),
    [(None, False), (closed(), False), (Stream(False), False), (Stream(), True)],
    ids=["none", "closed", "a file", "a terminal"],
)
def test_a_terminal_is_an_open_stream_that_says_so(stream, found, monkeypatch):
    monkeypatch.setattr(os, "get_terminal_size", lambda place: os.terminal_size((90, 24)))
    assert terminal.is_terminal(stream) is found
    assert terminal.width(stream) == (90 if found else None)


@pytest.mark.parametrize(
    ("columns", "width"), [(0, None), (1, 20), (19, 20), (20, 20), (21, 21), (300, 300)]
)
def test_a_terminal_is_as_wide_as_it_says_but_never_too_narrow(columns, width, monkeypatch):
    asked = []

    def size(place):
        asked.append(place)
        return os.terminal_size((columns, 24))

    monkeypatch.setattr(os, "get_terminal_size", size)
    assert (terminal.width(Stream()), asked) == (width, [77])


def test_a_terminal_that_does_not_tell_its_size_has_none(monkeypatch):
    def refuse(place):
        raise OSError(errno.ENOTTY, "no size")

    monkeypatch.setattr(os, "get_terminal_size", refuse)
    assert terminal.width(Stream()) is None


CHOICES = ("auto", "always", "never")
SAID = (None, "", "1")  # what a variable may be


def test_the_option_decides_about_colour_then_the_variables_in_their_order(monkeypatch):
    variables = ("GRADCLI_COLOR", "NO_COLOR", "FORCE_COLOR", "TERM")
    for said in product((None, "", *CHOICES), SAID, SAID, (None, "dumb", "xterm")):
        for name, value in zip(variables, said, strict=True):
            if value is None:
                monkeypatch.delenv(name, raising=False)
            else:
                monkeypatch.setenv(name, value)
        for choice, is_terminal in product(CHOICES, (False, True)):
            rules = [
                {"always": True, "never": False}.get(choice),
                {"always": True, "never": False}.get(said[0]),
                False if said[1] else None,
                True if said[2] else None,
                is_terminal and said[3] != "dumb",
            ]
            wanted = next(rule for rule in rules if rule is not None)
            found = terminal.wants_colour(Stream(is_terminal), choice)
            assert found is wanted, (choice, is_terminal, said)


@pytest.mark.parametrize(
    ("chosen", "status"), [(None, 0), ("", 0), *((c, 0) for c in CHOICES), ("Always", 2), ("x", 2)]
)
def test_the_environment_names_a_choice_of_colours_that_there_is(chosen, status, cli, monkeypatch):
    if chosen is None:
        monkeypatch.delenv("GRADCLI_COLOR", raising=False)
    else:
        monkeypatch.setenv("GRADCLI_COLOR", chosen)
    assert cli("run", "-e", "1")[0] == status


@pytest.mark.parametrize("given", ["none", "unbuffered", "usual"])
def test_standard_output_is_utf_8_and_goes_to_the_first_place(given, monkeypatch, capfd):
    streams = {
        "none": lambda: None,
        "unbuffered": lambda: io.TextIOWrapper(
            io.FileIO(1, "w", closefd=False), "ascii", write_through=True
        ),
        "usual": lambda: io.TextIOWrapper(
            io.BufferedWriter(io.FileIO(1, "w", closefd=False)), "ascii"
        ),
    }
    monkeypatch.setattr(sys, "stdout", made := streams[given]())
    monkeypatch.setattr(sys, "stderr", None)
    terminal.prepare_streams()
    assert (sys.stdout is made) == (given == "usual")
    terminal.write_output("né\ud800\n")
    assert isinstance(sys.stdout.buffer, io.BufferedWriter)
    assert sys.stderr is None
    assert capfd.readouterr() == ("né\\ud800\n", "")


FAILURES = {
    errno.EBADF: "it is closed",
    errno.ENOSPC: "no space left on device",
    errno.EIO: "input/output error",
}


@pytest.mark.parametrize("command", ["run -e 2", "run -e print(1)", "--version", "help grad"])
@pytest.mark.parametrize("number", FAILURES)
def test_output_that_cannot_be_written_is_an_error_with_its_reason(number, command, monkeypatch):
    class Broken(Stream):
        def write(self, text):
            raise OSError(number, os.strerror(number))

    read, write = os.pipe()
    said = Stream(False)
    monkeypatch.setattr(sys, "stdout", Broken(False, write))
    monkeypatch.setattr(sys, "stderr", said)
    assert _run(command.split()) == 2
    told = f"gradcli: error[unwritable-output]: cannot write standard output: {FAILURES[number]}\n"
    assert said.getvalue() == told
    os.write(write, b"x")  # which by now goes nowhere
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)


def test_a_message_that_cannot_be_written_is_lost_and_nothing_else(monkeypatch):
    class Broken(Stream):
        def write(self, text):
            raise OSError(errno.ENOSPC, "full")

    read, write = os.pipe()
    out = Stream(False)
    monkeypatch.setattr(sys, "stdout", out)
    for broken in (None, Broken(False, write)):
        monkeypatch.setattr(sys, "stderr", broken)
        before = os.listdir("/dev/fd")
        assert _run(["run", "-e", "x = 1.0", "-e", "x / 0", "-r"]) == 0
        assert os.listdir("/dev/fd") == before
    assert out.getvalue() == "inf\ninf\n"
    os.write(write, b"x")  # which by now goes nowhere
    os.close(write)
    assert os.read(read, 1) == b""
    os.close(read)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        *(("stdout", w) for w in (terminal.write_output, terminal.print_output)),
        *(("stderr", w) for w in (terminal.write_message, terminal.print_message)),
    ],
)
def test_what_is_written_is_there_at_once(name, write, monkeypatch):
    held = io.BytesIO()
    monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BufferedWriter(held), "utf-8"))
    write("a text\n")
    assert held.getvalue() == b"a text\n"


@pytest.mark.parametrize(("before", "after"), [(None, "FRX"), ("S", "S")])
def test_the_pager_is_told_to_leave_colours_alone_unless_told_otherwise(before, after, monkeypatch):
    shown = []
    monkeypatch.setenv("LESS", before or "")
    if before is None:
        monkeypatch.delenv("LESS")
    monkeypatch.setattr(pydoc, "pager", lambda text: shown.append((text, os.environ["LESS"])))
    terminal.paged("a page")
    assert shown == [("a page", after)]
