"""Products of large matrices are done in pieces, with the same digits by however many threads."""

import _thread
import os
import random
import time
from contextlib import suppress
from threading import Barrier, current_thread

import numpy as np
import pytest
from support.processes.ring import Interrupt, Ring

from gradcli.engine.numerics import products
from gradcli.engine.ops.catalog import ops
from gradcli.errors import RunError
from gradcli.machine import THREADS, processors

SHAPES = [(900, 7, 5), (5, 7, 900), (384, 3, 2), (385, 3, 2), (769, 4, 769), (1, 3, 400)]


@pytest.fixture
def all_large(monkeypatch):
    monkeypatch.setattr(products, "LARGE", 1)


def matrices(m, k, n, dtype=np.float64):
    drawn = np.random.default_rng(m * n)
    return drawn.standard_normal((m, k)).astype(dtype), drawn.standard_normal((k, n), dtype)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", ["CC", "FC", "CF", "FF"])
def test_the_digits_do_not_hang_on_the_number_of_threads(
    shape, order, dtype, all_large, monkeypatch
):
    a, b = (np.asarray(x, order=o) for x, o in zip(matrices(*shape, dtype), order, strict=True))
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv(THREADS, threads)
        found.append(products.product(a, b))
    assert all(x.dtype == dtype and x.flags.c_contiguous for x in found)
    assert {x.tobytes() for x in found} == {found[0].tobytes()}
    np.testing.assert_allclose(found[0], a @ b, rtol=0, atol=50 * np.finfo(dtype).eps)


@pytest.mark.parametrize(("said", "most"), [("all", processors()), ("3", 3), ("1", 1), ("", 1)])
def test_so_many_threads_are_at_work_as_the_environment_says(said, most, all_large, monkeypatch):
    seen, fill, together = set(), products._fill, Barrier(most)

    def noted(piece):
        if current_thread() not in seen:
            seen.add(current_thread())
            together.wait(20)
        fill(piece)

    monkeypatch.setattr(products, "_fill", noted)
    monkeypatch.setenv(THREADS, said)
    products.product(*matrices(4000, 3, 3))
    assert len(seen) == most
    assert current_thread() in seen


def test_what_is_no_number_of_threads_is_told(all_large, monkeypatch):
    monkeypatch.setenv(THREADS, "many")
    with pytest.raises(RunError, match="`GRADCLI_NUM_THREADS=many` is neither a number"):
        ops.matmul.value.array(*matrices(4, 3, 3))


def test_small_products_and_those_of_several_matrices_are_one_call(monkeypatch):
    monkeypatch.setattr(products, "_fill", lambda piece: pytest.fail(f"cut: {piece[0].shape}"))
    products.product(*matrices(400, 3, 400))
    products.product(np.ones((2, 600, 600)), np.ones((600, 600)))


def test_values_that_are_not_finite_pass_without_a_word(all_large, monkeypatch, recwarn):
    monkeypatch.setenv(THREADS, "2")
    a, b = matrices(800, 3, 3)
    a[0, 0], b[0, 0] = np.inf, 0.0
    assert np.isnan(products.product(a, b)[0, 0])
    assert not recwarn


def test_no_interrupt_leaves_a_thread_or_a_part_of_a_product(all_large, monkeypatch):
    """At any moment, half of them in pairs."""
    monkeypatch.setattr(products, "PIECE", 4)
    monkeypatch.setenv(THREADS, "2")
    chance, threads = random.Random(1), _thread._count()
    a, b = matrices(32, 8, 3)
    wanted = products.product(a, b)
    with Ring(products.product) as ring:
        while ring.raised < 600:
            ring.start(chance.uniform(1e-6, 6e-4), chance.choice([0, chance.uniform(1e-6, 2e-4)]))
            with suppress(Interrupt):
                assert (products.product(a, b) == wanted).all()
            ring.over()
    until = time.monotonic() + 20
    while _thread._count() > threads and time.monotonic() < until:
        time.sleep(0.001)
    assert _thread._count() <= threads  # one of another test may have ended


def test_shapes_that_do_not_fit_are_refused_as_ever(all_large):
    with pytest.raises(RunError, match="equal inner sizes, got 3 and 4"):
        ops.matmul.value.array(np.ones((400, 3)), np.ones((4, 400)))


def test_commands_take_all_processors_unless_the_user_has_said(forked):
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    clean = {k: v for k, v in os.environ.items() if k not in (*names, THREADS)}
    program = ["run", "-e", "a = ones(600, 600)", "-e", "(a @ a).sum()"]
    for extra in ({}, {THREADS: "1"}, {"OPENBLAS_NUM_THREADS": "1"}, {THREADS: "no"}):
        done = forked.run(*program, env={**clean, **extra})
        said = done.stdout.decode() or done.stderr.decode()
        expected = "216000000.0" if extra != {THREADS: "no"} else "GRADCLI_NUM_THREADS=no"
        assert expected in said, (extra, said)
