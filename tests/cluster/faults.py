"""What goes wrong in a cluster, one function a fault. Each leaves the room as it was."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial

from .processes import FULL_DISK, OTHER_VERSION, WITHOUT_GRADCLI
from .room import BAD, FITS, PARTS, ROWS, Ended, Room


def nothing(room: Room) -> None:
    """No fault: a folder, a stream, and a folder that is done already."""
    ended = room.ask("-o", "out/")
    assert (ended.status, ended.out) == (0, ""), ended.err
    assert "note[cluster-joined]: 2 workers; the dashboard is at http://" in ended.err
    room.check("out")
    before = room.done("out")
    ended = room.ask("-o", "out/")
    assert (ended.status, room.done("out")) == (0, before), ended.err
    ended = room.ask()
    assert (ended.status, ended.out) == (0, room.expected), ended.err


def worker_killed(room: Room) -> None:
    """A worker is killed in the middle of a part: another one does it."""
    client = room.begin("-o", "out/")
    room.cluster.kill_in_a_part(room.folder / "out")
    ended = Ended(client)
    assert ended.status == 0, ended.err
    room.check("out")


def all_workers_killed(room: Room) -> None:
    """One worker after the other is killed; new ones go on."""
    client = room.begin("-o", "out/")
    for _ in range(2):
        room.cluster.kill_in_a_part(room.folder / "out")
    room.cluster.heal()
    ended = Ended(client)
    assert ended.status == 0, ended.err
    room.check("out")


def scheduler_killed(room: Room) -> None:
    """The scheduler is killed: told, and the same command goes on with a new one."""
    client = room.begin("-o", "out/")
    room.first_done("out")
    with room.cluster.held(room.folder / "out"):
        room.cluster.kill_scheduler()
        ended = Ended(client)
    assert ended.status == 6, ended.err
    assert "error[cluster-lost]: the scheduler of the cluster is lost" in ended.err
    assert f"of {PARTS} parts are done in `out/`" in ended.err
    assert "the same command goes on with the others" in ended.err
    room.cluster.heal()
    room.go_on("out", all_noted=_all_noted(room, ended))


def interrupted(sent: signal.Signals, room: Room) -> None:
    """The client is interrupted: what it has done is noted, and the rest is done later."""
    client = room.begin("-o", "out/")
    room.first_done("out")
    with room.cluster.held(room.folder / "out"):
        client.send_signal(sent)
        ended = Ended(client)
    assert ended.status in (128 + sent, -sent), (ended.status, ended.err)
    if sent != signal.SIGKILL:
        assert f"of {PARTS} parts are done in `out/`" in ended.err, ended.err
    room.go_on("out", all_noted=_all_noted(room, ended))


def _all_noted(room: Room, ended: Ended) -> bool:
    """False if a worker has ended a part for which its client no longer waited."""
    return f"{len(room.done('out'))} of {PARTS} parts are done in" in ended.err


def unreadable_part(room: Room) -> None:
    """A part cannot be read: the run ends there, or only this part does; mended, it is done."""
    lake = room.lake("hurt")
    good = (lake / "p5.csv").read_bytes()
    (lake / "p5.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    ended = room.ask("-o", "out/", lake="hurt")
    assert ended.status == 4, ended.err
    assert "p5.csv" in ended.err, ended.err
    ended = room.ask("-o", "skipped/", "--on-error", "skip", lake="hurt")
    assert ended.status == 4, ended.err
    assert len(room.done("skipped")) == PARTS - 1
    assert f"{PARTS - 1} of {PARTS} parts are done in `skipped/`" in ended.err
    (lake / "p5.csv").write_bytes(good)
    room.go_on("out", lake="hurt", all_noted=False)
    ended = room.ask("-o", "skipped/", "--on-error", "skip", lake="hurt")
    assert ended.status == 2, ended.err
    assert "`hurt/p6.csv` do not have the numbers that they had when `skipped/`" in ended.err


def full_disk(room: Room) -> None:
    """The disk of the workers is full: told, nothing half is left, and with room it goes on."""
    room.cluster.heal(0)
    for _ in range(2):
        room.cluster.add_worker(FULL_DISK)
    ended = room.ask("-o", "out/")
    assert ended.status == 2, ended.err
    assert "error[unwritable-output]: cannot write" in ended.err, ended.err
    assert room.done("out") == {}
    room.cluster.heal()
    assert not [*(room.folder / "out").glob(".*.tmp")]
    ended = room.ask("-o", "out/")
    assert ended.status == 0, ended.err
    room.check("out")


def two_clients(room: Room) -> None:
    """A second client of the same folder is refused, and the first is not disturbed."""
    first = room.begin("-o", "out/")
    with room.cluster.held(room.folder / "out"):
        for second in (room.ask("-o", "out/"), room.ask("-o", "out/", "--restart")):
            assert second.status == 2, second.err
            assert f"another gradcli (process {first.pid} on " in second.err
    ended = Ended(first)
    assert ended.status == 0, ended.err
    room.check("out")


def other_version(room: Room) -> None:
    """A worker has another gradcli, or none: refused before anything is written."""
    for change, says in (
        (OTHER_VERSION, "has gradcli 0.0.1, and this one is"),
        (WITHOUT_GRADCLI, "cannot import gradcli"),
    ):
        room.cluster.add_worker(change)
        ended = room.ask("-o", "out/")
        assert ended.status == 2, ended.err
        assert says in ended.err, ended.err
        assert room.done("out") == {}
        room.cluster.heal()


def later_version(room: Room) -> None:
    """A worker with another gradcli joins while parts are answered: its parts are refused."""
    room.cluster.heal(1)
    client = room.begin("-o", "out/")
    room.first_done("out")
    room.cluster.add_worker(OTHER_VERSION)
    ended = Ended(client)
    assert ended.status in (0, 2), ended.err
    if ended.status:
        assert "a worker has gradcli 0.0.1, and the client" in ended.err, ended.err
    room.cluster.heal()
    if ended.status:
        ended = room.ask("-o", "out/")
        assert ended.status == 0, ended.err
    room.check("out")


def fits(room: Room) -> None:
    """No fault: fits have the digits of one process."""
    for asked in FITS:
        one = Ended(room.begin_fit(*asked))
        assert (one.status, one.err) == (0, ""), one.err
        found = Ended(room.begin_fit(*asked, "--cluster", room.cluster.address))
        assert (found.status, found.out) == (0, one.out), found.err


def worker_of_a_fit_killed(room: Room) -> None:
    """A worker is killed while a fit is under way: another one reads its parts."""
    asked = FITS[1]
    one = Ended(room.begin_fit(*asked))
    client = room.begin_fit(*asked, "--cluster", room.cluster.address)
    assert client.stderr is not None
    assert "note[cluster-joined]: 2 workers" in client.stderr.readline()
    room.cluster.kill_worker()
    found = Ended(client)
    assert (found.status, found.out) == (0, one.out), found.err


def late_row(on_error: str, room: Room) -> None:
    """A late row is bad: a folder and a stream have what one process writes."""
    room.lake("late", bad=BAD)
    choice = ("--on-error", on_error)
    one = room.alone(*choice, lake="late")
    stream = room.ask(*choice, lake="late")
    assert (stream.status, stream.out) == (one.status, one.out), stream.err
    assert one.status == (0 if on_error == "ignore" else 4)
    ended = room.ask("-o", "out/", *choice, lake="late")
    assert ended.status == one.status, ended.err
    if on_error == "stop":
        assert "`oops` in column `x` is not a number" in ended.err
        assert f"line {BAD % ROWS + 2} of `late/p5.csv`" in ended.err
        assert "p5.csv" not in room.done("out")
    else:
        room.check("out", one.out)


FAULTS: dict[str, Callable[[Room], None]] = {
    "nothing": nothing,
    "a worker killed in a part": worker_killed,
    "all workers killed": all_workers_killed,
    "the scheduler killed": scheduler_killed,
    "the client interrupted": partial(interrupted, signal.SIGINT),
    "the client terminated": partial(interrupted, signal.SIGTERM),
    "the client killed": partial(interrupted, signal.SIGKILL),
    "a part that cannot be read": unreadable_part,
    "a full disk at the workers": full_disk,
    "two clients": two_clients,
    "a worker with another version": other_version,
    "a worker with another version that joins later": later_version,
    "fits": fits,
    "a worker of a fit killed": worker_of_a_fit_killed,
    **{
        f"a bad late row, --on-error {choice}": partial(late_row, choice)
        for choice in ("stop", "skip", "record", "ignore")
    },
}
