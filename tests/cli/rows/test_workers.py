"""Work that is shared among processes."""

import os
import signal
import sys
from itertools import count as count_from
from time import monotonic, sleep

import pytest

from gradcli.cli.rows.workers import workers
from gradcli.errors import LimitError

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def doubled(item, leave):
    return 2 * item


def refused_at_seven(item, leave):
    if item == 7:
        raise ValueError("seven")
    return item


@pytest.mark.parametrize("together", [1, 3, 64])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_results_keep_the_order_of_the_items(count, together):
    with workers(doubled, count, together) as shared:
        assert list(shared(range(50))) == [2 * k for k in range(50)]
        assert list(shared([])) == []
        assert list(shared(iter([4]))) == [8]


@pytest.mark.parametrize(("count", "together"), [(1, 1), (2, 1), (2, 3)])
def test_two_chunks_of_items_are_read_ahead_for_each_worker(count, together):
    taken = []

    def items():
        for k in count_from(0):
            taken.append(k)
            yield k

    with workers(doubled, count, together) as shared:
        results = shared(items())
        assert next(results) == 0
        end = monotonic() + 60
        most = (2 * count + count) * together  # in the queue, and with the workers
        while len(taken) < most and monotonic() < end:
            sleep(0.01)
        sleep(0.05)  # more would be taken by now
    # besides, one waits for its place in the queue, and one chunk has been answered
    assert most <= len(taken) <= most + together + 1


def test_a_reader_that_leaves_does_not_end_the_process_before_its_workers():
    before = signal.getsignal(signal.SIGPIPE)
    with workers(doubled, 2) as shared:
        assert signal.getsignal(signal.SIGPIPE) is signal.SIG_IGN
        assert list(shared(range(3))) == [0, 2, 4]
    assert signal.getsignal(signal.SIGPIPE) is before


def test_an_error_comes_in_its_place():
    found = []
    with workers(refused_at_seven, 2, 3) as shared, pytest.raises(ValueError, match="seven"):
        found.extend(shared(range(20)))
    assert found == [0, 1, 2, 3, 4, 5, 6]


def test_an_error_of_the_items_comes_behind_them():
    def items():
        yield from range(5)
        raise OSError("no more")

    found = []
    with workers(doubled, 2, 2) as shared, pytest.raises(OSError, match="no more"):
        found.extend(shared(items()))
    assert found == [0, 2, 4, 6, 8]


def test_work_may_end_its_process_and_hand_over_what_it_has():
    def some(item, leave):
        if item % 5 == 3:
            leave(("left", item))
        return item

    with workers(some, 2, 4) as shared:
        found = list(shared(range(20)))
    assert found == [("left", k) if k % 5 == 3 else k for k in range(20)]


def test_a_process_that_is_lost_is_told():
    def lost(item, leave):
        os._exit(1)

    with workers(lost, 1) as shared, pytest.raises(LimitError, match="ended before its work"):
        list(shared([1]))


def test_workers_end_with_the_block():
    def own(item, leave):
        return os.getpid()

    with workers(own, 3, 1) as shared:
        found = {*shared(range(30))}
        assert os.getpid() not in found
        assert 1 <= len(found) <= 3
    for pid in found:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_worker_reads_no_rows_and_has_one_thread():
    def seen(item, leave):
        return os.read(0, 1), signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    with workers(seen, 1) as shared:
        assert list(shared([1])) == [(b"", signal.SIG_IGN, signal.SIG_DFL)]


def test_what_a_worker_says_comes_before_its_result(capsys):
    def saying(item, leave):
        sys.stderr.write(f"item {item}\n")
        return item

    with workers(saying, 2, 1) as shared:
        for item in shared(range(4)):
            assert capsys.readouterr().err == f"item {item}\n"
