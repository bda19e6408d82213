"""Transcripts of a shell in which gradcli is one program of several."""

import shutil

import pytest

SQUARE = "param x = 3.0\nx ** 2\n"

TRANSCRIPTS = {  # script: standard output
    "the exit status decides": (
        "if gradcli run -e 'assert x > 0' x=-1 -q 2>/dev/null; then echo yes; else echo no $?; fi",
        ["no 1"],
    ),
    "a value from another run": (
        'gradcli run f.grad x="$(gradcli grad f.grad x=2 -r)"',
        ["16.0"],
    ),
    "a vector from jq": (
        'gradcli grad -e "sum(v ** 2)" "v=$(echo \'{"v": [1, 2]}\' | jq -c .v)" -r',
        ["2.0\n4.0"],
    ),
    "columns": ("gradcli grad f.grad | cut -f 2", ["9.0\n6.0"]),
    "JSON in a file": ("gradcli grad f.grad -o g.json && jq -c .grad g.json", ['{"x":6.0}', '{"x":6}']),
    "a long list of values ends with its reader": (
        "gradcli run -e 'for i in range(1000000): print(i)' | head -2; echo ${PIPESTATUS[0]}",
        ["0\n1\n141"],
    ),
    "printed lines do not mix with the answer": (
        "gradcli grad -e 'print(1)' -e 'x ** 2' x=2 -r 2>/dev/null",
        ["4.0"],
    ),
    "a file that is not there": ("gradcli run g.grad 2>&1 >/dev/null | cut -d: -f 2; ", [" error[unreadable-file]"]),
    "a program as an argument": ("gradcli run - x=2 < f.grad", ["4.0"]),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with a program."""
    (tmp_path / "f.grad").write_text(SQUARE)
    return tmp_path


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript(name, folder, forked):
    script, expected = TRANSCRIPTS[name]
    if "jq " in script and shutil.which("jq") is None:
        pytest.skip("jq is not installed")
    done = forked.shell(script, folder)
    assert done.stderr == "", f"{script}: {done.stderr}"
    assert done.stdout.removesuffix("\n") in expected, f"{script}: {done.stdout!r} for {expected}"
