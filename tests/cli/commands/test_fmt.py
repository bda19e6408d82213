"""`gradcli fmt`: what it writes, shows and says of files, folders and standard input."""

import os
import re
import shutil
import tomllib

import pytest
from support.processes.house import ROOT

pytestmark = pytest.mark.skipif(shutil.which("ruff") is None, reason="the extra `fmt` is not there")

WRONG, RIGHT = "param a=1;a**2\n", "param a = 1\na**2\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "stdin", "out"),
    [
        ((), WRONG, RIGHT),
        (("-",), WRONG, RIGHT),
        (("-e", "x=1", "-e", "x  "), "", "x = 1\nx\n"),
        (("x**2+1",), "", "x**2 + 1\n"),
        (("--line-length", "20"), "f(aaaaaaaa, bbbbbbbb)", "f(\n    aaaaaaaa,\n    bbbbbbbb,\n)\n"),
        (("--check",), RIGHT, ""),
        (("--diff",), RIGHT, ""),
        ((), "", ""),
    ],
)
def test_a_text_goes_to_standard_output(arguments, stdin, out, cli, here):
    assert cli("fmt", *arguments, stdin=stdin) == (0, out, "")


def test_files_are_changed_where_they_are(cli, here):
    (here / "a.grad").write_text(WRONG)
    (here / "b.grad").write_text(RIGHT)
    before = os.stat("b.grad").st_mtime_ns
    assert cli("fmt", "a.grad", "b.grad") == (0, "", "1 file changed, 1 unchanged\n")
    assert (here / "a.grad").read_text() == RIGHT
    assert os.stat("b.grad").st_mtime_ns == before
    assert cli("fmt", "a.grad", "b.grad", "-q") == (0, "", "")


def test_a_folder_is_all_programs_in_it(cli, here):
    for name in ("z.grad", "in/y.grad", ".hidden/x.grad", "in/data.csv"):
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(WRONG)
    status, out, err = cli("fmt", "--check", ".")
    assert (status, out, err) == (
        1,
        "./z.grad\n./in/y.grad\n",
        "2 files would change, 0 unchanged\n",
    )
    assert (here / "z.grad").read_text() == WRONG


def test_a_difference_is_a_patch(cli, here):
    (here / "a.grad").write_text("x  = 1   \ny=2\nx")
    status, out, _ = cli("fmt", "--diff", "a.grad", "-q")
    assert (status, out.splitlines()[:2]) == (1, ["--- a.grad", "+++ a.grad"])
    assert out.splitlines()[2:] == [
        *("@@ -1,3 +1,3 @@", "-x  = 1   ", "-y=2", "-x", "\\ No newline at end of file"),
        *("+x = 1", "+y = 2", "+x"),
    ]
    status, coloured, _ = cli("fmt", "--diff", "a.grad", "--color", "always")
    assert "\x1b[38;5;29m+x = 1\x1b[0m" in coloured


def test_a_bad_file_does_not_keep_the_others(cli, here):
    (here / "a.grad").write_text("a = (")
    (here / "b.grad").write_text(WRONG)
    status, out, err = cli("fmt", "a.grad", "b.grad", "none.grad", "--diagnostics", "concise")
    assert (status, out) == (3, "")
    assert err == (
        "1 file changed, 0 unchanged\n"
        "a.grad:1:5: error[unclosed-bracket]: `(` is never closed\n"
        "gradcli: error[unreadable-file]: cannot read `none.grad`: no such file or directory\n"
    )
    assert (here / "a.grad").read_text() == "a = ("
    assert (here / "b.grad").read_text() == RIGHT


def test_bytes_before_and_line_ends_stay(cli, here):
    (here / "a.grad").write_bytes("\ufeffa=1\r\nb=2\r\n".encode())
    assert cli("fmt", "a.grad", "-q") == (0, "", "")
    assert (here / "a.grad").read_bytes() == "\ufeffa = 1\r\nb = 2\r\n".encode()


def test_a_file_that_cannot_be_written_is_named(cli, here, monkeypatch):
    (here / "a.grad").write_text(WRONG)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gradcli.formats.texts.file.write_atomically", full)
    status, _, err = cli("fmt", "a.grad")
    assert (status, "cannot write `a.grad`: no space left on device" in err) == (2, True)


def test_a_program_in_two_places_is_refused(cli, here):
    status, _, err = cli("fmt", "a.grad", "-e", "x")
    assert (status, "a program in -e and another in `a.grad`" in err) == (2, True)


def test_hooks_for_pre_commit_call_commands_with_what_they_need():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    assert re.findall(r"^- id: (.*)", text, re.MULTILINE) == ["gradcli-fmt", "gradcli-check"]
    assert re.findall(r"entry: (.*)", text) == ["gradcli fmt", "gradcli check"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = ", ".join(f'"{name}"' for name in extras["optional-dependencies"]["fmt"])
    assert f"additional_dependencies: [{needed}]" in text
