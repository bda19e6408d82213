import contextlib
import os
import stat
import sys

import pytest

from gradcli.formats.texts.file import (
    name_fault,
    remove_unfinished,
    replacing,
    write_atomically,
)


def test_a_new_file_has_the_usual_mode(tmp_path):
    path = tmp_path / "out.json"
    before = os.umask(0o027)
    try:
        write_atomically(str(path), b"data")
    finally:
        os.umask(before)
    assert path.read_bytes() == b"data"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.json"]


def test_an_existing_file_keeps_its_mode(tmp_path):
    path = tmp_path / "out.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "real.json").write_bytes(b"old")
    (tmp_path / "link.json").symlink_to("real.json")
    write_atomically(str(tmp_path / "link.json"), b"new")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == b"new"


def test_a_device_is_written_to_and_stays(tmp_path):
    write_atomically(os.devnull, b"data")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_an_interrupt_at_any_instruction_leaves_nothing_behind(tmp_path):
    """The n-th instruction of the code that writes is interrupted, for every n."""
    path = tmp_path / "out.json"
    places = {replacing.__wrapped__.__code__.co_filename, contextlib.__file__}

    def interrupted_at(last):
        """How many instructions were executed until the interrupt, or the end."""
        count = 0

        def trace(frame, event, _):
            nonlocal count
            if frame.f_code.co_filename not in places:
                return None
            frame.f_trace_opcodes = True
            if event == "opcode":
                count += 1
                if count == last:
                    raise KeyboardInterrupt
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            with replacing(str(path)) as file:
                file.write(b"new")
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        return count

    instruction = 0
    while True:
        instruction += 1
        path.write_bytes(b"old")
        count = interrupted_at(instruction)
        assert os.listdir(tmp_path) == ["out.json"], f"interrupted at instruction {instruction}"
        assert path.read_bytes() in (b"old", b"new")
        if count < instruction:
            break
    assert instruction > 100
    assert path.read_bytes() == b"new"


def test_a_failed_replacement_leaves_nothing_behind(tmp_path, monkeypatch):
    path = tmp_path / "out.json"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError("no")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_atomically(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out.json"]


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(OSError, match="directory"):
        write_atomically(str(tmp_path), b"new")


def test_a_file_of_the_temporary_name_is_not_touched(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "urandom", bytes)
    path, other = tmp_path / "out.json", tmp_path / f".out.json.{'00' * 6}-{os.getpid()}.tmp"
    other.write_bytes(b"other")
    with pytest.raises(FileExistsError):
        write_atomically(str(path), b"new")
    assert (other.read_bytes(), os.listdir(tmp_path)) == (b"other", [other.name])


def test_no_other_program_gets_the_open_file(tmp_path):
    with replacing(str(tmp_path / "out.json")) as file:
        assert not os.get_inheritable(file.fileno())


def test_a_long_name_leaves_room_for_a_temporary_one(tmp_path):
    path = tmp_path / ("x" * 255)
    write_atomically(str(path), b"new")
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("x", None),
        ("é", None),
        ("\udcff", None),
        ("a\0b", "the name holds a null character"),
        ("\ud800", "the name holds half a character"),
    ],
)
def test_names_that_no_file_has(name, fault):
    assert name_fault(name) == fault


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_the_files_that_a_process_has_not_finished_can_be_removed(tmp_path):
    (tmp_path / "of another.1.tmp").write_bytes(b"")
    child = os.fork()
    if child == 0:
        with replacing(str(tmp_path / "out.json")):
            os._exit(0)
    os.waitpid(child, 0)
    remove_unfinished(str(tmp_path), child + 1)
    assert len([*tmp_path.iterdir()]) == 2
    remove_unfinished(str(tmp_path), child)
    assert [p.name for p in tmp_path.iterdir()] == ["of another.1.tmp"]
    remove_unfinished(str(tmp_path / "none"), child)
