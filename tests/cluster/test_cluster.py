"""A share of what goes wrong in a cluster: all of it is `python -m tests.cluster`."""

import signal

import pytest

pytest.importorskip("distributed")

from . import faults
from .processes import Cluster
from .room import Room

pytestmark = pytest.mark.long  # a cluster takes seconds to start


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """One cluster for all tests."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.fixture
def room(cluster, tmp_path):
    cluster.heal()
    return Room(tmp_path, cluster)


def test_a_cluster_gives_the_bytes_of_one_process(room):
    faults.nothing(room)


def test_fits_have_the_digits_of_one_process(room):
    faults.fits(room)


def test_a_worker_that_is_killed(room):
    faults.worker_killed(room)


def test_a_client_that_is_interrupted(room):
    faults.interrupted(signal.SIGINT, room)
